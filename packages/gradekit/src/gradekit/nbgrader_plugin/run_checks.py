"""In autograde, second step: run the notebook in a student kernel, and its hidden checks outside of it.

Under `gradekit autograde` this has happened in a worker, and the step takes that result.
"""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.preprocessors import Execute, IgnorePattern
from traitlets import Bool, Bunch, Float, Integer, List, TraitError, Unicode, validate

from gradekit.course import CourseError
from gradekit.course.cells import grade_id, is_test_cell
from gradekit.course.configuration import PerAssignment
from gradekit.course.kernels import SANDBOX
from gradekit.course.printing import printable
from gradekit.nbgrader_plugin.bind import require_bound_once
from gradekit.nbgrader_plugin.course_folders import stop
from gradekit.nbgrader_plugin.exporter import SubmissionExporter
from gradekit.page.check_table import check_output
from gradekit.session.limits import REPEAT_BUDGET, Limits
from gradekit.verdict.results import SubmissionResult

if TYPE_CHECKING:  # imported where it is used: the configuration imports this module in every command
    from gradekit.verdict.job import HowToRun, ScoreRule
    from gradekit.verdict.opened import OpenedNotebook
    from gradekit.verdict.progress import NotebookProgress
    from gradekit.verdict.result_cache import CachedResult, CacheKey
    from gradekit.verdict.tries import RepeatBudget

#: the time that this process has left for second tries, by course and assignment
_budgets: "dict[tuple[Path, str], RepeatBudget]" = {}
#: after this long without a second try, there is a new budget: formgrader's process runs for weeks
_NEW_BUDGET_SECONDS = 3600.0
#: key in the metadata of an autograded notebook: the result. It is written last, so a notebook that has it is complete
RESULT = "gradekit"


class RunChecks(Execute):
    """Replaces nbgrader's Execute, whose `timeout` stays the limit for one cell.

    Timeouts are seconds of CPU time, summed over all processes of the kernel. Code that sleeps or waits is stopped
    after twice its limit in real time, and any code after twenty times.
    """

    parent: SubmissionExporter

    call_timeout = Float(
        Limits.call_seconds, min=0.1, help="CPU seconds that one call of a student's function may use"
    ).tag(config=True)
    submission_timeout = Float(
        Limits.submission_seconds, min=1, help="CPU seconds that a whole notebook with its checks may use"
    ).tag(config=True)
    repeat_budget = Float(
        REPEAT_BUDGET,
        min=0,
        help="seconds per assignment for second tries: submissions whose code was stopped while it waited, or "
        "whose kernel died, are graded again, alone",
    ).tag(config=True)
    preload = List(
        Unicode(),
        help="statements to run in every kernel before the notebook, such as `import torch._dynamo`; warm kernels "
        "run them once for all. List what the course's code only imports when it is used",
    ).tag(config=True)
    memory_limit = Integer(Limits.memory, min=512, help="MiB of memory that a student kernel may use").tag(
        config=True
    )
    per_assignment = PerAssignment(
        "timeout",
        "call_timeout",
        "submission_timeout",
        "memory_limit",
        "preload",
        help='other limits for single assignments, such as {"05_seq2seq": {"call_timeout": 20}}',
    ).tag(config=True)
    student_kernel = Unicode(SANDBOX, help="kernelspec in which submissions run").tag(config=True)
    cold_fallback = Bool(
        True,
        help="start a kernel as a new process, in the same sandbox, where it can't be forked from the warm server; "
        "if False, nothing is graded there",
    ).tag(config=True)
    stderr_costs_points = Bool(
        True,
        help="whether anything that an ordinary test cell writes to stderr, such as a warning, costs it all its "
        "points, as in nbgrader itself",
    ).tag(config=True)
    fresh = Bool(False, help="grade everything again, without the result cache").tag(config=True)

    @validate("timeout")
    def _sensible_timeout(self, proposal: Bunch) -> int | None:
        seconds: int | None = proposal.value
        if seconds is not None and seconds <= 0 and seconds != -1:
            raise TraitError("c.Execute.timeout must be more than 0 seconds, or -1 for no limit of a cell")
        return seconds

    def limits_of(self, assignment: str) -> Limits:
        """The limits for submissions of an assignment. As in nbgrader, a timeout of None or -1 is none for a cell."""
        settings = RunChecks.per_assignment.of(self, assignment)
        seconds = settings["timeout"]
        return Limits(
            seconds if seconds and seconds > 0 else settings["submission_timeout"],
            settings["call_timeout"],
            submission_seconds=settings["submission_timeout"],
            memory=settings["memory_limit"],
            preload=tuple(settings["preload"]),
            cold_fallback=self.cold_fallback,
        )

    def how_to_run(self, assignment: str, kernel_name: str = "") -> "HowToRun":
        """How submissions of an assignment are run and scored; `kernel_name` replaces the configured one."""
        from gradekit.verdict.job import HowToRun

        kernel_name = kernel_name or self.student_kernel
        return HowToRun(self.limits_of(assignment), kernel_name, self._score_rule())

    def _score_rule(self) -> "ScoreRule":
        from gradekit.verdict.job import ScoreRule

        ignore = IgnorePattern(config=self.config)
        return ScoreRule(self.stderr_costs_points, ignore.pattern if ignore.enabled else "")

    def __call__(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Also without running (`--no-execute`), there is a result to write."""
        return self.preprocess(nb, resources)

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        opened, result = self.parent.opened, self.parent.opened.result
        if not result.status:
            try:
                graded = (
                    self._graded(nb, resources["nbgrader"]["student"])
                    if self.enabled
                    else self._result_without_running(nb)
                )
            except CourseError as error:
                stop(self.log, str(error))
            graded.put_outputs_into(nb)
            result = opened.with_graded(graded.result)
            source = opened.assignment.source_folder
            graded.written.put_into(Path(resources["metadata"]["path"]), opened.folder, source)
        for cell in nb.cells:
            if is_test_cell(cell):
                cell.outputs.insert(0, check_output(result, grade_id(cell) or "", nb))
        nb.metadata[RESULT] = result.as_dict()
        resources[RESULT] = result
        if not self.parent.for_command:
            _print_result(result, resources["nbgrader"])
        return nb, resources

    def _graded(self, nb: NotebookNode, student: str) -> "CachedResult":
        """The result of the notebook as the steps before this one have left it."""
        from gradekit.verdict.progress import NotebookProgress, grade_here
        from gradekit.verdict.result_cache import ResultCache

        opened = self.parent.opened
        before = self.parent.graded(opened.name)
        if before and (before.failure or _is_of(before, opened, nb)):
            return before.outcome
        assignment = opened.assignment
        root = assignment.course.root
        job = opened.job(nb, assignment.released(opened.name), self.how_to_run(assignment.name))
        cache, notebook = ResultCache(root), NotebookProgress(opened)
        notebook.find(job, cache, self.fresh, self._is_forced)
        if before and before.key and notebook.key:
            if before.key == notebook.key:
                return before.outcome
            sentence = _graded_again(student, opened.name, before.key, notebook.key)
            print(f"\n{sentence}", file=sys.stderr, flush=True)  # below the progress bar
        require_bound_once(assignment)
        grade_here(notebook, job, cache, self._budget(root, assignment.name))
        if notebook.fault:
            self.parent.faults.setdefault(notebook.fault, []).append(student)
        return notebook.outcome

    def _result_without_running(self, nb: NotebookNode) -> "CachedResult":
        """The result that follows from the outputs in the submitted file."""
        from gradekit.submission.submission import Submission
        from gradekit.verdict.ordinary import result_of_outputs
        from gradekit.verdict.result_cache import CachedResult

        opened = self.parent.opened
        released = opened.assignment.released(opened.name)
        ordinary = opened.assignment.ordinary_cells(opened.name, nb.cells)
        return CachedResult(result_of_outputs(Submission(nb, released), ordinary, self._score_rule()))

    def _budget(self, root: Path, assignment: str) -> "RepeatBudget":
        from gradekit.verdict.tries import RepeatBudget

        budget = _budgets.get((root, assignment))
        if budget is None or time.monotonic() - budget.last_used > _NEW_BUDGET_SECONDS:
            budget = _budgets[root, assignment] = RepeatBudget(self.repeat_budget)
        return budget

    @property
    def _is_forced(self) -> bool:
        """True with `--force`: code that was stopped, or that ended its process, is graded again."""
        return any(self.config[name].get("force") is True for name in ("Autograde", "BaseConverter"))


def _is_of(before: "NotebookProgress", opened: "OpenedNotebook", nb: NotebookNode) -> bool:
    """True if this is the notebook that was graded before; a step of the course may have changed its cells."""
    from gradekit.verdict.result_cache import digest_of_notebook

    return (
        before.opened is opened and before.key is not None and before.key.notebook == digest_of_notebook(nb)
    )


def _graded_again(student: str, notebook: str, before: "CacheKey", now: "CacheKey") -> str:
    """A sentence about a notebook that isn't the one that was graded."""
    parts = [name for name in now.parts | before.parts if now.parts.get(name) != before.parts.get(name)]
    return (
        f"{printable(student)}: {printable(notebook)}.ipynb was graded again, since it is not what was graded before "
        f"(different: {', '.join(parts) or 'checks'}). It has just changed, or a step of c.Autograde changes its cells"
    )


def _print_result(result: SubmissionResult, names: dict[str, str]) -> None:
    """Print a line for each notebook, and one for each score that a person has to look at."""
    points = f"{result.earned:g} points in {result.seconds:g} s" if result.exercises else "nothing to grade"
    line = f"{names['assignment']}  {names['student']}: {result.status}, {points}"
    for text in (line, *(f"  {doubt.why}" for doubt in result.doubts)):
        print(printable(text, None), file=sys.stderr, flush=True)
