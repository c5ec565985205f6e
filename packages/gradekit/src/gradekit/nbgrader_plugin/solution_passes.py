"""In generate_assignment: run the hidden checks on the solution, before students get an assignment that nobody can solve."""

from pathlib import Path
from typing import TYPE_CHECKING

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Enum

from gradekit.checks.variants import mistakes_of
from gradekit.course import Assignment, CourseError, blank_copy, read_notebook
from gradekit.course.kernels import LIMITED, SANDBOX
from gradekit.nbgrader_plugin.course_folders import configured_course, stop
from gradekit.nbgrader_plugin.run_checks import RunChecks
from gradekit.session.values import CheckOutcome

if TYPE_CHECKING:
    from gradekit.verdict.results import SubmissionResult

#: a slow or busy machine can cause them
_UNCERTAIN = (CheckOutcome.TIMED_OUT, CheckOutcome.KERNEL_DIED)


class SolutionPasses(NbGraderPreprocessor):
    """Stops the command if the solution fails a hidden check. The release stays as it was then."""

    otherwise = Enum(
        ["refuse", "warn"], "refuse", help="what generate_assignment does if the solution loses points"
    ).tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """`nb` has no solutions any more, so the source is read again."""
        names = resources["nbgrader"]
        course = configured_course(self.config)
        path = Path(course.source, names["assignment"], f"{names['notebook']}.ipynb")
        self._require_known_mistakes(course.assignment(names["assignment"]))
        try:
            result = self._result(names["assignment"], path)
        except CourseError as error:
            self.log.warning(f"{path}: the checks could not be run on the solution. {error}")
            return nb, resources
        if result is None:
            return nb, resources
        lost = [(name, check) for name, check in result.named_checks() if check.earned < check.points]
        lines = [
            f"{path}: the solution doesn't pass {name} ({c.outcome}). {c.message}".rstrip()
            for name, c in lost
        ]
        if any(check.outcome not in _UNCERTAIN for _, check in lost) and self.otherwise == "refuse":
            lines.append(
                "Nothing was released: correct the solution or the check. To be warned only: "
                'c.SolutionPasses.otherwise = "warn"'
            )
            stop(self.log, "\n".join(lines))
        for line in lines:
            self.log.warning(line)
        return nb, resources

    def _require_known_mistakes(self, assignment: Assignment) -> None:
        """Grading reads them, too: without this, the first hand-in would show that they can't be read."""
        try:
            mistakes_of(assignment)
        except CourseError as error:
            if self.otherwise == "refuse":
                stop(self.log, f"{error}. Nothing was released.")
            self.log.warning(error)

    def _result(self, name: str, path: Path) -> "SubmissionResult | None":
        """The graded solution, or None if the notebook has no hidden checks."""
        from gradekit.verdict.grade import grade
        from gradekit.verdict.job import GradingJob
        from sandbox_kernel.bubblewrap import sandbox_problem

        assignment = configured_course(self.config).assignment(name)
        source = read_notebook(path)
        if not assignment.bound_cells(path.stem, source.cells):
            return None
        checks = RunChecks(config=self.config)
        trusted = LIMITED if checks.student_kernel == SANDBOX and sandbox_problem() else ""
        how = checks.how_to_run(name, trusted)
        return grade(GradingJob(assignment, path.stem, source, blank_copy(source), how)).result
