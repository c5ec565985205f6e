"""In autograde, in order: the hook, the exporter, the repair, the checks, and the scores.

Under `gradekit autograde`, the checks have been run in a worker, and their step takes that result. What runs checks is
imported where it is used: the configuration imports this module in every command.
"""

import contextlib
import logging
import sys
import time
from collections.abc import Iterator
from copy import deepcopy
from fnmatch import fnmatchcase
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbconvert.exporters import NotebookExporter
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode, v4
from nbgrader.api import BaseCell, Comment, Grade, Gradebook, MissingEntry, SubmittedNotebook
from nbgrader.apps.baseapp import NbGrader
from nbgrader.converters import BaseConverter
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import (
    AssignLatePenalties,
    Execute,
    IgnorePattern,
    NbGraderPreprocessor,
    SaveAutoGrades,
)
from nbgrader.utils import compute_checksum, determine_grade
from traitlets import Bool, Bunch, Float, Integer, List, TraitError, Unicode, validate
from traitlets.config import Application

from gradekit.course import CourseError, read_notebook
from gradekit.course.cells import certain_score, find_cell, grade_id, is_test_cell, nbgrader_metadata
from gradekit.course.configuration import PerAssignment, read_configuration
from gradekit.course.kernels import SANDBOX
from gradekit.course.printing import printable, quoted
from gradekit.nbgrader_plugin.bind import require_bound_once
from gradekit.nbgrader_plugin.converters import OneFolder, make_ready, removing_unfinished
from gradekit.nbgrader_plugin.course_folders import beside_of, configured_course, stop
from gradekit.page.check_table import check_output
from gradekit.session.limits import REPEAT_BUDGET, Limits
from gradekit.submission.extra_files import handed_out_files
from gradekit.verdict.opened import HowToRun, OpenedNotebook, ScoreRule, open_notebook
from gradekit.verdict.results import SubmissionResult

if TYPE_CHECKING:
    from gradekit.verdict.result_cache import CachedResult, CacheKey
    from gradekit.verdict.tries import NotebookProgress, RepeatBudget


#: the time that this process has left for second tries, by course and assignment
_budgets: "dict[tuple[Path, str], RepeatBudget]" = {}
#: after this long without a second try, there is a new budget: formgrader's process runs for weeks
_NEW_BUDGET_SECONDS = 3600.0
#: key in the metadata of an autograded notebook: the result. It is written last, so a notebook that has it is complete
RESULT = "gradekit"
#: one of these is in each text that shows a picture
_OF_PICTURES = ("![", "<")


class SubmissionExporter(NotebookExporter):
    """Exports the notebook that `RepairCells` wrote. Before that, it exports an empty one for `RepairCells` to fill.

    So nbgrader never reads a submitted file itself, and an unreadable one can't stop the class. `opened` is the notebook
    under way, of which `RepairCells` makes a note here for `RunChecks`: nbgrader itself passes on only what it writes.
    """

    parent: BaseConverter
    opened: OpenedNotebook

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        make_ready(self.parent)

    def from_filename(
        self, filename: str, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[NotebookNode, dict[str, Any]]:
        path = Path(filename)
        resources = ResourcesDict() if resources is None else resources
        resources["metadata"] = ResourcesDict(name=path.stem, path=str(path.parent))
        notebook = read_notebook(path) if self._is_repaired(path, resources) else v4.new_notebook()
        with removing_unfinished(self.parent, resources["nbgrader"]):
            exported: tuple[NotebookNode, dict[str, Any]] = self.from_notebook_node(notebook, resources, **kw)
        return exported

    @property
    def for_command(self) -> bool:
        """True if a command of gradekit converts, which has graded before and reports what goes wrong."""
        return isinstance(self.parent, OneFolder)

    def graded(self, name: str) -> "NotebookProgress | None":
        """The notebook as the command has graded it; None if it has not."""
        found: NotebookProgress | None = self.parent.graded.get(name) if self.for_command else None
        return found

    @contextlib.contextmanager
    def gradebook(self, url: str) -> Iterator[Gradebook]:
        """The gradebook that the command has open for the submission, or a new one."""
        if self.for_command:
            yield self.parent.gradebook
        else:
            with Gradebook(url) as gradebook:
                yield gradebook

    def _is_repaired(self, path: Path, resources: dict[str, Any]) -> bool:
        """True in nbgrader's second step, which reads from autograded/ what the first one wrote."""
        folders, names = self.parent.coursedir, resources["nbgrader"]
        written = folders.format_path(folders.autograded_directory, names["student"], names["assignment"])
        return path.parent == Path(written)


def before_autograde(assignment: str, student: str, notebooks: list[str]) -> None:
    """nbgrader's pre_convert_hook: check the course, and make sure that no expected notebook is skipped.

    nbgrader skips a submission without a notebook of the expected name. The expected paths are added to
    `notebooks`, so that `SubmissionExporter` and `RepairCells` can report what is wrong.
    """
    app = Application.instance() if Application.initialized() else None
    log = app.log if app else logging.getLogger(__name__)
    # in formgrader, the application is Jupyter's server
    config = app.config if isinstance(app, NbGrader) else read_configuration(Path.cwd()).config
    folder = Path(notebooks[0]).parent
    course = configured_course(config)
    graded = course.assignment(folder.name if set(assignment) & set("*?[") else assignment)
    try:
        RunChecks(config=config)  # raises if a setting is invalid
        wanted = CourseDirectory(config=config).notebook_id  # set by `--notebook`
        names = [name for name in graded.released_names() if fnmatchcase(name, wanted)]
        require_bound_once(graded)
    except (CourseError, TraitError) as error:
        stop(log, str(error))
    present = {Path(path).stem for path in notebooks}
    notebooks.extend(str(folder / f"{name}.ipynb") for name in names if name not in present)


#: functions of other packages that may lessen what they took off a grade, and commit: of (assignment, student, grade)
_DEDUCTIONS = "gradekit.deductions"


class RepairCells(NbGraderPreprocessor):
    """Opens the submission, unless the command that converts it has done so, and puts the restored notebook here.

    If nothing can be read, the released notebook is used instead, and the page says why.
    """

    parent: SubmissionExporter

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        names = resources["nbgrader"]
        try:
            opened = self.parent.opened = self._opened(names, Path(resources["metadata"]["path"]))
        except CourseError as error:
            stop(self.log, str(error))
        for note in opened.result.notes:
            self.log.warning("%s: %s", names["student"], note)
        return deepcopy(opened.notebook), resources

    def _opened(self, names: dict[str, str], folder: Path) -> OpenedNotebook:
        graded = self.parent.graded(names["notebook"])
        if graded is not None and graded.opened.is_current:
            return graded.opened
        assignment = configured_course(self.config).assignment(names["assignment"])
        notes = beside_of(self.parent.parent.coursedir, folder, assignment.name).notes()
        place, released = folder / f"{names['notebook']}.ipynb", assignment.released(names["notebook"])
        unrun = not RunChecks(config=self.config).enabled
        return open_notebook(assignment, place, released, set_aside=notes, saved_outputs=unrun)


class SaveScores(SaveAutoGrades):
    """Writes the scores of the checks into the gradebook, whatever a test cell printed.

    Manual scores and comments stay. A missing or unreadable notebook gets no automatic score and is marked for
    manual grading, and so is a cell whose score is in doubt. The rows of a notebook are read at once and written in one transaction, where nbgrader has one for
    each cell.
    """

    parent: SubmissionExporter

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        names = resources["nbgrader"]
        self._assignment = names["assignment"]
        with self.parent.gradebook(names["db_url"]) as self.gradebook:
            found = self.gradebook.find_submission_notebook(
                names["notebook"], names["assignment"], names["student"]
            )
            self._grades: dict[str, Grade] = self._rows_of(found, Grade)
            self._comments: dict[str, Comment] = self._rows_of(found, Comment)
            for index, cell in enumerate(nb.cells):
                self.preprocess_cell(cell, resources, index)
            self.gradebook.db.commit()
            self._lessen_deductions(found, names["student"])
        return nb, resources

    def _lessen_deductions(self, notebook: SubmittedNotebook, student: str) -> None:
        """Have other packages look at what they took off from these scores, which are in the gradebook now."""
        rows = self.gradebook.db.query(Grade).filter(
            Grade.notebook_id == notebook.id, Grade.extra_credit < 0, Grade.manual_score.is_(None)
        )
        if not (found := rows.populate_existing().all()):
            return
        assignment = configured_course(self.config).assignment(self._assignment)
        try:
            for point in entry_points(group=_DEDUCTIONS):
                lessen = point.load()
                for grade in found:
                    lessen(assignment, student, grade)
        except CourseError as error:
            self.log.warning("A deduction was left as it is: %s", error)

    def _rows_of(self, notebook: SubmittedNotebook, kind: type[Any]) -> dict[str, Any]:
        """A submitted notebook's grades or comments, by grade id."""
        rows = self.gradebook.db.query(BaseCell.name, kind).join(kind, kind.cell_id == BaseCell.id)
        return {name: row for name, row in rows.filter(kind.notebook_id == notebook.id)}

    def _row(self, rows: dict[str, Any], cell: NotebookNode) -> Any:
        name = grade_id(cell) or ""
        if name not in rows:
            raise MissingEntry(
                f"the gradebook has no row for {name}: run `gradekit revise {quoted(self._assignment)}` first"
            )
        return rows[name]

    def _add_score(self, cell: NotebookNode, resources: ResourcesDict) -> None:
        result: SubmissionResult = resources[RESULT]
        grade = self._row(self._grades, cell)
        name = grade_id(cell) or ""
        if is_test_cell(cell) or result.nothing_graded:
            exercise = result.exercise(name)
            earned = exercise.earned if exercise else None
        else:
            earned, _ = determine_grade(cell, self.log)
            if earned == 0 and self._is_picture(cell, resources):
                earned = None
        undecided = result.is_undecided(name)
        grade.auto_score = certain_score(earned, undecided)
        grade.needs_manual_grade = undecided or grade.auto_score is None or grade.manual_score is not None

    def _add_comment(self, cell: NotebookNode, resources: ResourcesDict) -> None:
        metadata, comment = nbgrader_metadata(cell), self._row(self._comments, cell)
        unchanged = metadata.get("checksum") == compute_checksum(cell) and not metadata.get("task")
        result: SubmissionResult = resources[RESULT]
        # without a notebook to grade, nothing says what was answered
        unchanged = unchanged and not (result.nothing_graded or result.is_undecided(grade_id(cell) or ""))
        unchanged = unchanged and not self._is_picture(cell, resources)
        comment.auto_comment = "No response." if unchanged else None
        if metadata.get("task"):  # nbgrader lists a task only once, and keeps its 0 for a missing notebook
            grade = self._row(self._grades, cell)
            grade.auto_score, grade.needs_manual_grade = None, True

    def _is_picture(self, cell: NotebookNode, resources: ResourcesDict) -> bool:
        """True for an answer of which only the picture was replaced."""
        assignment = self.parent.opened.assignment
        released = find_cell(assignment.released(resources["nbgrader"]["notebook"]), grade_id(cell) or "")
        if released is None:
            return False
        attached = cell.get("attachments") or released.get("attachments")
        if not attached and not any(mark in cell.source for mark in _OF_PICTURES):
            return False
        from gradekit.page.displayed import has_own_picture

        folder = Path(resources["metadata"]["path"])
        return has_own_picture(cell, released, folder, handed_out_files(assignment.source_folder))


class LatePenalties(AssignLatePenalties):
    """Takes nothing from a notebook of which nothing could be graded: a person who gives points for it can see that it is late.

    nbgrader itself has no penalty for a missing notebook, and doesn't grade an unreadable one.
    """

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        self._nothing_graded = resources[RESULT].nothing_graded
        changed: tuple[NotebookNode, ResourcesDict] = super().preprocess(nb, resources)
        return changed

    def _check_late_penalty(self, notebook: SubmittedNotebook, penalty: float) -> float:
        return 0.0 if self._nothing_graded else float(super()._check_late_penalty(notebook, penalty))


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

    def how_to_run(self, assignment: str, kernel_name: str = "") -> HowToRun:
        """How submissions of an assignment are run and scored; `kernel_name` replaces the configured one."""
        return HowToRun(self.limits_of(assignment), kernel_name or self.student_kernel, self._score_rule())

    def _score_rule(self) -> ScoreRule:
        ignore = IgnorePattern(config=self.config)
        return ScoreRule(self.stderr_costs_points, ignore.pattern if ignore.enabled else "")

    def __call__(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Also without running (`--no-execute`), there is a result to write."""
        return self.preprocess(nb, resources)

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        opened, result = self.parent.opened, self.parent.opened.result
        if not result.status:
            try:
                graded = self._graded(nb, resources) if self.enabled else self._from_saved_outputs(nb)
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

    def _graded(self, nb: NotebookNode, resources: ResourcesDict) -> "CachedResult":
        """The result of the notebook as the steps before this one have left it."""
        from gradekit.verdict.result_cache import ResultCache, digest_of_notebook
        from gradekit.verdict.tries import NotebookProgress, fault_lines, grade_here

        opened, before = self.parent.opened, self.parent.graded(self.parent.opened.name)
        student = resources["nbgrader"]["student"]
        key = before.key if before and before.opened is opened else None
        # a step of the course may have changed its cells
        if before and (before.failure or (key and key.notebook == digest_of_notebook(nb))):
            return before.outcome
        assignment, root = opened.assignment, opened.assignment.course.root
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
        for line in fault_lines({notebook.fault: [student]} if notebook.fault else {}, assignment.name):
            self.log.error("%s", line)
        return notebook.outcome

    def _from_saved_outputs(self, nb: NotebookNode) -> "CachedResult":
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
