"""Writing results into the gradebook and autograded/, by nbgrader's own converter."""

import warnings
from pathlib import Path
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.apps.baseapp import NbGrader
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from nbgrader.preprocessors import CheckCellMetadata
from sqlalchemy.exc import SAWarning
from traitlets.config import Config

from coursekit.attempt import FAILED
from coursekit.checks.results import KERNEL_DIED, SubmissionResult
from coursekit.grading.autograde import Submission
from coursekit.grading.folders import RunningCourse
from coursekit.kept import Kept
from coursekit.nbgrader_plugin.run import RunChecks


class _OneSubmission(Autograde):
    """`nbgrader autograde` for one folder. nbgrader takes its name for a pattern, and so misses `[ab]`."""

    def __init__(self, folder: Path, **options: Any) -> None:
        super().__init__(**options)
        self._folder = folder

    def init_notebooks(self) -> None:
        self.notebooks = []
        self.assignments = {str(self._folder): sorted(map(str, self._folder.glob("*.ipynb")))}


class Writer:
    """Runs `nbgrader autograde` for one student at a time, with results that are there already.

    Of all commands that grade in this folder, one writes at a time: nbgrader looks whether a student is in the
    gradebook and then adds them, and it removes a folder before it writes it anew.
    """

    def __init__(self, course: RunningCourse) -> None:
        failures: dict[tuple[str, str], str] = {}
        unconfirmed: dict[tuple[str, str], Kept] = {}
        self._failures, self._unconfirmed = failures, unconfirmed

        class TakeResult(RunChecks):
            """Takes results from those that are kept; what is not there is graded here and now."""

            def result_of(self, nb: NotebookNode, resources: ResourcesDict) -> SubmissionResult:
                names = resources["nbgrader"]
                which = names["student"], names["notebook"]
                if which in failures:
                    return SubmissionResult(KERNEL_DIED, notes=[FAILED.format(failures[which])])
                if which in unconfirmed:
                    unconfirmed[which].put_into(nb)
                    return unconfirmed[which].result
                return super().result_of(nb, resources)

            def takes_no_stopped(self) -> bool:
                """False: `force`, which nbgrader needs to write a folder again, says nothing here."""
                return False

            def tell(self, kept: SubmissionResult, resources: ResourcesDict) -> None:
                """Say nothing: the progress bar does."""

        self._course = course
        config = self._config = Config(course.config)
        config.RunChecks.fresh = False
        config.Autograde.force = True
        steps = config.Autograde.autograde_preprocessors
        config.Autograde.autograde_preprocessors = [
            TakeResult if step is RunChecks else step
            for step in steps
            if step is not CheckCellMetadata  # it has just been checked, in the steps before
        ]
        NbGrader.clear_instance()
        NbGrader.instance(config=config)  # from which the hook before autograding knows the folders

    def write(self, submission: Submission, assignment: str) -> list[str]:
        """Write one student's results; gives what went wrong, in one line, or nothing."""
        student, folders = submission.student, self._course.folders
        folder = self._course.submitted(student, assignment)
        if not any(folder.glob("*.ipynb")):
            return []  # nbgrader passes over such a folder, and the table calls it missing
        self._failures |= {(student, n.name): n.failure for n in submission.notebooks if n.failure}
        self._unconfirmed |= {
            (student, n.name): n.kept for n in submission.notebooks if n.kept.result.suspect and not n.failure
        }
        folders.student_id, folders.assignment_id = student, assignment
        with self._course.alone(), warnings.catch_warnings():
            warnings.simplefilter("ignore", SAWarning)  # SQLAlchemy's remarks about nbgrader's own queries
            try:
                _OneSubmission(folder, coursedir=folders, config=self._config, log=self._course.log).start()
            except (NbGraderException, SystemExit) as error:
                return [f"{student}: not written. {str(error).splitlines()[0]}"]
        return []
