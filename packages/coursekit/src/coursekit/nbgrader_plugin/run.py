"""In autograde, second step: the notebook runs in a student kernel, and the hidden checks give the verdict."""

import sys
from dataclasses import replace
from pathlib import Path

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.preprocessors import Execute
from traitlets import Bool, Bunch, Float, Integer, List, TraitError, Unicode, validate

from coursekit.attempt import REPEAT_BUDGET, RepeatBudget, grade_unless_cached
from coursekit.checks.results import SubmissionResult
from coursekit.course import CourseError, grade_id, is_test_cell
from coursekit.kernels import SANDBOX
from coursekit.nbgrader_plugin.folders import course_of, stop
from coursekit.nbgrader_plugin.repair import FOUND
from coursekit.nbgrader_plugin.verdict import verdict_output
from coursekit.printing import printable
from coursekit.result_cache import GradingJob, ResultCache
from coursekit.student.limits import Limits

#: what is left for second tries in this process, by course and assignment
_budgets: dict[tuple[Path, str], RepeatBudget] = {}
#: the result in an autograded notebook; written last, so that one that has it is complete
RESULT = "coursekit"


class RunChecks(Execute):
    """Takes the place of nbgrader's Execute, whose `timeout` is the limit for one cell.

    Timeouts are seconds of processor time, used by all processes of the kernel. Code that sleeps ends after twice
    its limit, and everything after twenty times.
    """

    call_timeout = Float(
        Limits.call_seconds,
        min=0.1,
        help="seconds of processor time that one call of a student's function may use",
    ).tag(config=True)
    submission_timeout = Float(
        Limits.submission_seconds,
        min=1,
        help="seconds of processor time that a whole notebook with its checks may use",
    ).tag(config=True)
    repeat_budget = Float(
        REPEAT_BUDGET,
        min=0,
        help="seconds of an assignment for second tries of what was stopped while it waited, or ended its kernel",
    ).tag(config=True)
    preload = List(
        Unicode(),
        help="statements that are run in every kernel before the notebook, once in the server of warm ones; for "
        "what the course's code imports only when it is used, such as `import torch._dynamo`",
    ).tag(config=True)
    memory_limit = Integer(Limits.memory, min=512, help="MiB of memory that a student kernel may use").tag(
        config=True
    )
    student_kernel = Unicode(SANDBOX, help="kernelspec in which submissions run").tag(config=True)
    fresh = Bool(False, help="don't use the result cache").tag(config=True)

    @validate("timeout")
    def _time_there_is(self, proposal: Bunch) -> int | None:
        if proposal.value is not None and proposal.value <= 0:
            raise TraitError("c.Execute.timeout must be more than 0 seconds")
        return proposal.value

    @property
    def limits(self) -> Limits:
        return Limits(
            self.timeout or Limits.cell_seconds,
            self.call_timeout,
            submission_seconds=self.submission_timeout,
            memory=self.memory_limit,
            preload=tuple(self.preload),
        )

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        kept = SubmissionResult.from_dict(nb.metadata.pop(FOUND))
        if not kept.status:
            try:
                result = self.result_of(nb, resources)
                kept = replace(result, notes=kept.notes + result.notes)
            except CourseError as error:
                stop(self.log, str(error))
        for cell in nb.cells:
            if is_test_cell(cell):
                cell.outputs.insert(0, verdict_output(kept, grade_id(cell), nb))
        nb.metadata[RESULT] = kept.as_dict()
        resources[RESULT] = kept
        self.tell(kept, resources)
        return nb, resources

    def result_of(self, nb: NotebookNode, resources: ResourcesDict) -> SubmissionResult:
        """Grade the notebook, whose code cells get the outputs of the run."""
        names = resources["nbgrader"]
        course = course_of(self.config)
        assignment = course.assignment(names["assignment"])
        released = assignment.released(names["notebook"])
        return grade_unless_cached(
            GradingJob(assignment, names["notebook"], nb, released, self.limits, self.student_kernel),
            ResultCache(course.root),
            _budgets.setdefault((course.root, assignment.name), RepeatBudget(self.repeat_budget)),
            lambda cached: not (self.fresh or (self.takes_no_stopped() and cached.stopped)),
        )

    def takes_no_stopped(self) -> bool:
        """True if `--force` was given: what was stopped, or ended its process, is graded again."""
        return any(self.config[name].get("force") is True for name in ("Autograde", "BaseConverter"))

    def tell(self, kept: SubmissionResult, resources: ResourcesDict) -> None:
        """One line for each notebook."""
        names = resources["nbgrader"]
        points = f"{kept.earned:g} points in {kept.seconds:g} s" if kept.exercises else "nothing to grade"
        line = f"{names['assignment']}  {names['student']}: {kept.status}, {points}"
        print(printable(line, None), file=sys.stderr, flush=True)
