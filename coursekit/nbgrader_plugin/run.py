"""In autograde, second step: the notebook runs in a student kernel, and the hidden checks give the verdict."""

import sys
from dataclasses import replace

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.preprocessors import Execute
from traitlets import Bool, Bunch, Float, Integer, TraitError, Unicode, validate

from coursekit.checks.results import SubmissionResult
from coursekit.course import CourseError, grade_id, is_test_cell
from coursekit.kept import Results, grade_unless_kept
from coursekit.kernels import SANDBOXED
from coursekit.nbgrader_plugin.folders import course_of, stop
from coursekit.nbgrader_plugin.repair import FOUND
from coursekit.nbgrader_plugin.verdict import verdict_output
from coursekit.printing import printable
from coursekit.student.runner import Limits

#: the result in an autograded notebook; written last, so that one that has it is complete
RESULT = "coursekit"


class RunChecks(Execute):
    """Takes the place of nbgrader's Execute, whose `timeout` is the limit for one cell."""

    call_timeout = Float(5, min=0.1, help="seconds that one call of a student's function may take").tag(
        config=True
    )
    submission_timeout = Float(600, min=1, help="seconds that a whole notebook with its checks may take").tag(
        config=True
    )
    memory_limit = Integer(2048, min=512, help="MiB of memory that a student kernel may use").tag(config=True)
    student_kernel = Unicode(SANDBOXED, help="kernelspec in which submissions run").tag(config=True)
    fresh = Bool(False, help="take no result from those that were kept").tag(config=True)

    @validate("timeout")
    def _time_there_is(self, proposal: Bunch) -> int | None:
        if proposal.value is not None and proposal.value <= 0:
            raise TraitError("c.Execute.timeout must be more than 0 seconds")
        return proposal.value

    @property
    def limits(self) -> Limits:
        return Limits(
            self.timeout or 30, self.call_timeout, self.submission_timeout, memory=self.memory_limit
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
        return grade_unless_kept(
            Results(course.root),
            assignment,
            nb,
            names["notebook"],
            released,
            self.limits,
            self.student_kernel,
            self.fresh,
        )

    def tell(self, kept: SubmissionResult, resources: ResourcesDict) -> None:
        """One line for each notebook."""
        names = resources["nbgrader"]
        points = f"{kept.earned:g} points in {kept.seconds:g} s" if kept.exercises else "nothing to grade"
        line = f"{names['assignment']}  {names['student']}: {kept.status}, {points}"
        print(printable(line, None), file=sys.stderr, flush=True)
