"""The other steps of autograde, in order: the hook, the exporter, the repair, and after the checks the scores."""

import logging
from copy import deepcopy
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode, v4
from nbgrader.api import BaseCell, Comment, Grade, Gradebook, MissingEntry, SubmittedNotebook
from nbgrader.apps.baseapp import NbGrader
from nbgrader.converters import BaseConverter
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor, SaveAutoGrades
from nbgrader.utils import compute_checksum, determine_grade
from traitlets import TraitError
from traitlets.config import Application

from gradekit.attempts.rules import NoChance
from gradekit.course import Assignment, CourseError, read_notebook, stamp_of
from gradekit.course.added_cells import added_cells
from gradekit.course.cells import grade_id, is_test_cell, nbgrader_metadata
from gradekit.course.configuration import read_configuration
from gradekit.course.doubts import certain_score
from gradekit.course.files import Stamp, files_in
from gradekit.course.kernels import other_language
from gradekit.course.printing import printable, quoted
from gradekit.nbgrader_plugin.bind import require_bound
from gradekit.nbgrader_plugin.converters import make_ready
from gradekit.nbgrader_plugin.course_folders import beside_of, configured_course, stop
from gradekit.nbgrader_plugin.run_checks import FOUND, RESULT, RunChecks
from gradekit.nbgrader_plugin.second_chance import require_chance
from gradekit.page.pictures import has_own_picture
from gradekit.submission.extra_files import handed_out_files, own_files
from gradekit.submission.notebook_file import read_submitted
from gradekit.submission.restore import restored
from gradekit.verdict.results import Status, SubmissionResult

#: the files of an assignment when its checks were last compared with its cells; a server lives for weeks
_checked: dict[tuple[Path, str], Stamp] = {}


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
        stamp = stamp_of(graded)
        if _checked.get((course.root, graded.name)) != stamp:
            require_bound(graded)
            _checked[course.root, graded.name] = stamp
    except (CourseError, TraitError) as error:
        stop(log, str(error))
    present = {Path(path).stem for path in notebooks}
    notebooks.extend(str(folder / f"{name}.ipynb") for name in names if name not in present)


class SubmissionExporter(NotebookExporter):
    """Exports the notebook that `RepairCells` wrote. Before that, it exports an empty one for `RepairCells` to fill.

    So nbgrader never reads a submitted file itself, and an unreadable one can't stop the class.
    """

    parent: BaseConverter

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        make_ready(self.parent)

    def from_filename(
        self, filename: str, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[NotebookNode, dict[str, Any]]:
        path = Path(filename)
        resources = ResourcesDict() if resources is None else resources
        metadata = resources["metadata"] = ResourcesDict(name=path.stem, path=str(path.parent))
        notebook = v4.new_notebook()
        if self._is_repaired(path, resources):
            notebook = read_notebook(path)
        else:
            beside = beside_of(self.parent.coursedir, path.parent, resources["nbgrader"]["assignment"])
            metadata["set_aside"] = beside.notes()
        exported: tuple[NotebookNode, dict[str, Any]] = self.from_notebook_node(notebook, resources, **kw)
        return exported

    def _is_repaired(self, path: Path, resources: dict[str, Any]) -> bool:
        """True in nbgrader's second step, which reads from autograded/ what the first one wrote."""
        folders, names = self.parent.coursedir, resources["nbgrader"]
        written = folders.format_path(folders.autograded_directory, names["student"], names["assignment"])
        return path.parent == Path(written)


class RepairCells(NbGraderPreprocessor):
    """Reads the submission, and restores every cell that nbgrader knows, once, with its original metadata.

    If nothing can be read, the released notebook is used instead and the status says why. Notes about the
    submission go into the notebook's metadata for `RunChecks`.
    """

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        names = resources["nbgrader"]
        try:
            require_chance(self.config, names)
            assignment = configured_course(self.config).assignment(names["assignment"])
            released = assignment.released(names["notebook"])
        except NoChance as reason:
            stop(self.log, f"{names['assignment']}, {printable(names['student'])}: not graded: {reason}")
        except CourseError as error:
            stop(self.log, str(error))
        place = resources["metadata"]
        handed = read_submitted(Path(place["path"], f"{place['name']}.ipynb"), assignment)
        if not RunChecks(config=self.config).enabled:
            from gradekit.session.saved_outputs import put_saved_outputs  # it imports what runs kernels

            put_saved_outputs(handed)
        set_aside = place["set_aside"]
        if handed.notebook is None:
            self.log.warning("%s: %s", names["student"], handed.problem)
            status = Status.MISSING if handed.missing else Status.UNREADABLE
            notebook, found = deepcopy(released), SubmissionResult(status, notes=[handed.problem, *set_aside])
        else:
            beside = _files_beside(Path(place["path"]), assignment)
            added_later = added_cells(assignment.course.root, assignment.name, names["notebook"])
            repaired = restored(handed.notebook, released, beside, added_later)
            notebook = repaired.notebook
            notes = _language_notes(handed.language, released) + handed.notes + repaired.notes
            found = SubmissionResult(Status.UNGRADED, notes=notes + set_aside, doubts=repaired.doubts)
            for note in found.notes:
                self.log.warning("%s: %s", names["student"], note)
        notebook.metadata[FOUND] = found.as_dict()
        return notebook, resources


def _files_beside(folder: Path, assignment: Assignment) -> dict[str, Path]:
    """The student's own files next to a notebook, and in folders there, but for those that were handed out, by name."""
    handed_out = {path.name for path in assignment.handed_out()}
    own = [path for path in own_files(folder, assignment.course.ignore) if path.name not in handed_out]
    return {
        str(file.relative_to(folder)): file
        for path in own
        for file in files_in(path, assignment.course.ignore)
    }


def _language_notes(saved_with: str, released: NotebookNode) -> list[str]:
    """A note if a submission was saved with a kernel of another language than the released notebook's."""
    name, spec = other_language(released.metadata), released.metadata.get("kernelspec", {})
    language = str(spec.get("language") or name) if name else "Python"
    lower = saved_with.casefold()
    if not lower or (lower in (name.casefold(), language.casefold()) if name else "python" in lower):
        return []
    saved_with = printable(saved_with, 40)
    return [f"The notebook was saved with another kernel ({saved_with}); it was graded with {language}."]


class SaveScores(SaveAutoGrades):
    """Writes the scores of the checks into the gradebook, whatever a test cell printed.

    Manual scores and comments stay. A missing or unreadable notebook gets no automatic score and is marked for
    manual grading, and so is a cell whose score is in doubt. The rows of a notebook are read at once and written in one transaction, where nbgrader has one for
    each cell: the shorter it is, the more processes can write.
    """

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        names = resources["nbgrader"]
        assignment = configured_course(self.config).assignment(names["assignment"])
        self._released = {grade_id(cell): cell for cell in assignment.released(names["notebook"]).cells}
        self._handed_out = handed_out_files(assignment.source_folder)
        self.gradebook, self._assignment = Gradebook(names["db_url"]), names["assignment"]
        with self.gradebook:
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
        released = self._released.get(grade_id(cell))
        folder = Path(resources["metadata"]["path"])
        return released is not None and has_own_picture(cell, released, folder, self._handed_out)
