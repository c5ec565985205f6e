"""The other steps of autograde, in order: the hook, the repair, and after the checks the scores."""

import logging
from copy import deepcopy
from fnmatch import fnmatchcase
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.api import BaseCell, Comment, Grade, MissingEntry, SubmittedNotebook
from nbgrader.apps.baseapp import NbGrader
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor, SaveAutoGrades
from nbgrader.utils import compute_checksum, determine_grade
from traitlets import TraitError
from traitlets.config import Application

from gradekit.course import CourseError
from gradekit.course.cells import find_cell, grade_id, is_test_cell, nbgrader_metadata
from gradekit.course.configuration import read_configuration
from gradekit.course.doubts import certain_score
from gradekit.course.printing import quoted
from gradekit.nbgrader_plugin.bind import require_bound_once
from gradekit.nbgrader_plugin.course_folders import beside_of, configured_course, stop
from gradekit.nbgrader_plugin.exporter import SubmissionExporter
from gradekit.nbgrader_plugin.run_checks import RESULT, RunChecks
from gradekit.page.displayed import has_own_picture
from gradekit.submission.extra_files import handed_out_files
from gradekit.verdict.opened import OpenedNotebook, open_notebook
from gradekit.verdict.results import SubmissionResult


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


#: functions of other packages that may lessen what they took off a grade: of (assignment, student, grade)
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
        return open_notebook(
            assignment,
            folder / f"{names['notebook']}.ipynb",
            assignment.released(names["notebook"]),
            set_aside=beside_of(self.parent.parent.coursedir, folder, assignment.name).notes(),
            saved_outputs=not RunChecks(config=self.config).enabled,
        )


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
        return nb, resources

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
        if grade.manual_score is None and (grade.extra_credit or 0.0) < 0:
            of = configured_course(self.config).assignment(self._assignment)
            try:
                for point in entry_points(group=_DEDUCTIONS):
                    point.load()(of, resources["nbgrader"]["student"], grade)
            except CourseError as error:
                self.log.warning("A deduction was left as it is: %s", error)

    def _add_comment(self, cell: NotebookNode, resources: ResourcesDict) -> None:
        metadata, comment = nbgrader_metadata(cell), self._row(self._comments, cell)
        unchanged = metadata.get("checksum") == compute_checksum(cell) and not metadata.get("task")
        result: SubmissionResult = resources[
            RESULT
        ]  # without a notebook to grade, nothing says what was answered
        unchanged = unchanged and not (result.nothing_graded or result.is_undecided(grade_id(cell) or ""))
        unchanged = unchanged and not self._is_picture(cell, resources)
        comment.auto_comment = "No response." if unchanged else None
        if metadata.get("task"):  # nbgrader's 0 for a missing notebook would stay when it is handed in
            grade = self._row(self._grades, cell)
            if grade.auto_score is not None:
                grade.auto_score, grade.needs_manual_grade = None, grade.manual_score is None

    def _is_picture(self, cell: NotebookNode, resources: ResourcesDict) -> bool:
        """True for an answer of which only the picture was replaced."""
        assignment = self.parent.opened.assignment
        released = find_cell(assignment.released(resources["nbgrader"]["notebook"]), grade_id(cell) or "")
        folder = Path(resources["metadata"]["path"])
        handed_out = handed_out_files(assignment.source_folder)
        return released is not None and has_own_picture(cell, released, folder, handed_out)
