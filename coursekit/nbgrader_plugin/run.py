"""In autograde, second step: the notebook runs in a student kernel, and the hidden checks give the verdict."""

import sys

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.preprocessors import Execute
from traitlets import Float, Integer, Unicode

from coursekit.checks.results import SubmissionResult
from coursekit.checks.run import grade
from coursekit.course import CourseError, grade_id, is_test_cell
from coursekit.nbgrader_plugin.folders import course_of, stop
from coursekit.nbgrader_plugin.repair import RESULT
from coursekit.nbgrader_plugin.verdict import verdict_output
from coursekit.student.session import Limits


class RunChecks(Execute):
    """Takes the place of nbgrader's Execute, whose `timeout` is the limit for one cell."""

    call_timeout = Float(5, help="seconds that one call of a student's function may take").tag(config=True)
    memory_limit = Integer(2048, help="MiB of memory that a student kernel may use").tag(config=True)
    student_kernel = Unicode("coursekit", help="kernelspec in which submissions run").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        names = resources["nbgrader"]
        kept = SubmissionResult.from_dict(nb.metadata[RESULT])
        if not kept.status:
            assignment = course_of(self.config).assignment(names["assignment"])
            limits = Limits(self.timeout or 30, self.call_timeout, memory=self.memory_limit)
            try:
                kept = grade(
                    assignment,
                    nb,
                    names["notebook"],
                    assignment.released(names["notebook"]),
                    limits,
                    kernel_name=self.student_kernel,
                    notes=kept.notes,
                ).result
            except CourseError as error:
                stop(self.log, str(error))
        for cell in nb.cells:
            if is_test_cell(cell):
                cell.outputs.insert(0, verdict_output(kept, grade_id(cell)))
        nb.metadata[RESULT] = kept.as_dict()
        resources[RESULT] = kept
        points = f"{kept.earned:g} points in {kept.seconds:g} s" if kept.exercises else "nothing to grade"
        print(
            f"{names['assignment']}  {names['student']}: {kept.status}, {points}", file=sys.stderr, flush=True
        )
        return nb, resources
