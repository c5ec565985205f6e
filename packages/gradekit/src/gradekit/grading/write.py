"""Writing results into the gradebook and autograded/ with nbgrader's own steps, for one submission after another.

The steps run on the notebook itself, which is written once. Those of a class do the same as nbgrader's with less work, and
have the settings of nbgrader's; those that look into the gradebook use the rows that have been read for the submission.
"""

import contextlib
import errno
import json
import os
import shutil
import time
import warnings
from collections.abc import Hashable, Iterator, Mapping, Sequence
from copy import deepcopy
from fnmatch import fnmatchcase
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode, v4
from nbformat.validator import normalize
from nbgrader.api import (
    BaseCell,
    Gradebook,
    GradeCell,
    MissingEntry,
    Notebook,
    SourceCell,
    SubmittedAssignment,
    SubmittedNotebook,
    TaskCell,
)
from nbgrader.apps.baseapp import NbGrader
from nbgrader.converters import Autograde
from nbgrader.converters.base import BaseConverter, NbGraderException
from nbgrader.nbgraderformat import MetadataValidator, ValidationError
from nbgrader.preprocessors import (
    CheckCellMetadata,
    NbGraderPreprocessor,
    OverwriteCells,
    OverwriteKernelspec,
)
from nbgrader.utils import find_all_files, setenv
from sqlalchemy.exc import InterfaceError, OperationalError, SAWarning

from gradekit.course import CourseError
from gradekit.course.files import FOR_EVERYBODY, notebooks_in
from gradekit.course.printing import printable, quoted
from gradekit.grading.autograde import SubmissionProgress
from gradekit.grading.running_course import GradebookAway, RunningCourse
from gradekit.nbgrader_plugin import own_hook
from gradekit.nbgrader_plugin.converters import OneFolder, reason_of, removing_unfinished
from gradekit.nbgrader_plugin.late import refusal
from gradekit.nbgrader_plugin.steps import LatePenalties, SubmissionExporter, before_autograde
from gradekit.verdict.tries import NotebookProgress

#: packages whose steps keep nothing from one notebook to the next; a course's own are made for each, as nbgrader does
_WITHOUT_MEMORY = ("nbgrader", "nbconvert", "gradekit")


class AutogradeOne(OneFolder, Autograde):
    """Does for a submission what `nbgrader autograde --force` does, with notebooks that have been graded before.

    It leaves the same rows, files and permissions, after the same steps with the same settings. But the converter, its
    exporter, nbgrader's steps and the gradebook's queries are made once for a class, and a notebook is written once, after
    its last step: it isn't copied, written and read again in between.

    While a submission is converted, `graded` has its notebooks by name, and `submitted` the notebooks' rows.
    """

    submitted: dict[str, SubmittedNotebook]

    def __init__(self, **options: Any) -> None:
        super().__init__(Path(), **options)
        self.force = True
        self.graded: Mapping[str, NotebookProgress] = {}
        self._steps: dict[tuple[bool, int], Any] = {}
        self.exporter = self.exporter_class(parent=self, config=self.config)

    def convert(self, folder: Path, names: Sequence[str], graded: Mapping[str, NotebookProgress]) -> None:
        """Convert the notebooks with these names, some of which may be missing in the folder.

        Raises:
            Exception: it can't be converted. `failure` says why, if it isn't this one.
        """
        self.graded, self.failure = graded, None
        self.assignments = {str(folder): [str(folder / f"{name}.ipynb") for name in names]}
        with contextlib.chdir(self.coursedir.root):
            try:
                self.convert_notebooks()
            finally:
                if "gradebook" in vars(self):
                    self.gradebook.close()  # its connection; it opens another one when it is used again

    @cached_property
    def gradebook(self) -> Gradebook:
        return Gradebook(self.coursedir.db_url, self.coursedir.course_id)

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """Make the rows and copy the files.

        The student's row is first, other than in nbgrader: one who has a folder in autograded/ and no row was removed from
        the gradebook, and isn't graded any more.
        """
        with self.remembering_failure():
            # what has been read isn't read again in the next moment
            self.gradebook.db().expire_on_commit = False
            submission = self._submission(assignment_id, student_id)
            BaseConverter.init_assignment(self, assignment_id, student_id)  # copies the student's files
            self._copy_source_files(assignment_id, student_id)
            self.submitted = {notebook.name: notebook for notebook in submission.notebooks}
            self.notebooks = [path for path in self.notebooks if Path(path).stem in self.submitted]
            if not self.notebooks:
                raise NbGraderException("the gradebook has none of the notebooks: generate the assignment")
            folder = Path(self._format_source(assignment_id, student_id))
            for name, notebook in self.submitted.items():
                if not (folder / f"{name}.ipynb").exists():
                    for grade in notebook.grades:
                        grade.auto_score, grade.needs_manual_grade = 0, False
                    self.gradebook.db.commit()

    def _submission(self, assignment_id: str, student_id: str) -> SubmittedAssignment:
        timestamp = self.coursedir.get_existing_timestamp(self._format_source(assignment_id, student_id))
        given = {"timestamp": timestamp} if timestamp else {}
        try:
            if self.create_student:
                self.gradebook.update_or_create_student(student_id)
            else:
                self.gradebook.find_student(student_id)
            return self.gradebook.update_or_create_submission(assignment_id, student_id, **given)
        except MissingEntry as error:
            remedy = f"c.Autograde.create_student is False, so run `nbgrader db student add {quoted(student_id)}` first"
            raise NbGraderException(f"{error}{'' if self.create_student else f'. {remedy}'}") from error

    def _copy_source_files(self, assignment_id: str, student_id: str) -> None:
        """Copy the course's files over those of the student."""
        source = self.coursedir.format_path(self.coursedir.source_directory, ".", assignment_id)
        target = self._format_dest(assignment_id, student_id)
        excluded = {os.path.join(source, name) for name in self.exclude_overwriting.get(assignment_id, [])}
        for path in set(find_all_files(source, [*self.coursedir.ignore, "*.ipynb"])) - excluded:
            copy = Path(target, os.path.relpath(path, source))
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.unlink(missing_ok=True)
            shutil.copy(path, copy)

    def convert_single_notebook(self, notebook_filename: str) -> None:
        resources = self.init_single_notebook_resources(notebook_filename)
        names = resources["nbgrader"]
        with self.remembering_failure(), removing_unfinished(self, names):
            notebook, _ = self._converted(v4.new_notebook(), Path(notebook_filename), sanitizing=True)
            folder = self._format_dest(names["assignment"], names["student"])
            written = Path(folder, Path(notebook_filename).name)
            ids = {cell.get("id") for cell in notebook.cells}
            if None in ids or len(ids) < len(notebook.cells):
                _, notebook = normalize(notebook)  # as nbconvert does when it reads what it has written
            try:
                with setenv(NBGRADER_EXECUTION="autograde"):
                    notebook, resources = self._converted(notebook, written, sanitizing=False)
            finally:
                self._sanitizing = True
            nbformat.validate(notebook, relax_add_props=True)
            self.write_single_notebook(self._as_text(notebook), resources)

    def _converted(
        self, notebook: NotebookNode, path: Path, sanitizing: bool
    ) -> tuple[NotebookNode, ResourcesDict]:
        """The notebook after nbgrader's first or second steps, which take it for that in the file `path`."""
        self._sanitizing = sanitizing
        resources = ResourcesDict()
        resources.update(self.init_single_notebook_resources(str(path)))
        resources["metadata"] = ResourcesDict(name=path.stem, path=str(path.parent))
        resources["output_extension"] = self.exporter.file_extension
        for step in list(self._made_steps()):
            notebook, resources = step(notebook, resources)
        return notebook, resources

    def _made_steps(self) -> Iterator[Any]:
        """The steps of one half: nbgrader's are made for the first notebook."""
        half = self.sanitize_preprocessors if self._sanitizing else self.autograde_preprocessors
        for place, step in enumerate(half):
            made = self._steps.get((self._sanitizing, place))
            if made is None:
                made = self._made(IN_A_CLASS.get(step, step))
                if type(made).__module__.partition(".")[0] in _WITHOUT_MEMORY:
                    self._steps[self._sanitizing, place] = made
            yield made

    def _made(self, step: Any) -> Any:
        self.exporter._preprocessors = []  # as nbgrader does
        self.exporter.register_preprocessor(step)
        return self.exporter._preprocessors[0]

    def _as_text(self, notebook: NotebookNode) -> str:
        version = self.exporter.nbformat_version
        same = version == notebook.nbformat  # it has been validated
        text: str = v4.writes_json(notebook) if same else nbformat.writes(notebook, version=version)
        return text if text.endswith("\n") else f"{text}\n"


#: how many cells are remembered; a class whose students change their metadata must not fill the memory
_MOST = 10_000


class CheckMetadata(CheckCellMetadata):
    """Remembers valid cells: most are the same in all submissions."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        try:
            _validator().validate_nb(nb)
        except ValidationError:
            super().preprocess(nb, resources)  # it says what is wrong, and raises the same error
        return nb, resources


class _Validator(MetadataValidator):
    """Validates each cell once."""

    def __init__(self) -> None:
        super().__init__()
        self._valid: set[Hashable] = set()

    def validate_cell(self, cell: NotebookNode) -> None:
        if "nbgrader" not in cell.metadata:
            return
        key = cell.cell_type, json.dumps(cell.metadata["nbgrader"], sort_keys=True)
        if key not in self._valid:
            super().validate_cell(cell)
            if len(self._valid) < _MOST:
                self._valid.add(key)


@cache
def _validator() -> _Validator:
    return _Validator()


class SetKernelspec(OverwriteKernelspec):
    """Takes it from the row of the notebook."""

    parent: SubmissionExporter

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        source = _row(self.parent, resources).notebook
        if source.kernelspec and (kernelspec := json.loads(source.kernelspec)):
            nb.metadata["kernelspec"] = kernelspec
        return nb, resources


class SetCells(OverwriteCells):
    """Reads the rows of all cells at once."""

    parent: SubmissionExporter

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        names = resources["nbgrader"]
        self.notebook_id, self.assignment_id = names["notebook"], names["assignment"]
        self.gradebook = _Cells(self.parent.parent.gradebook, _row(self.parent, resources).notebook)
        nb, resources = NbGraderPreprocessor.preprocess(self, nb, resources)
        if self.add_missing_cells:
            nb, resources = self.add_missing_grade_cells(nb, resources)
            nb, resources = self.add_missing_task_cells(nb, resources)
        return nb, resources


class _Cells:
    """A notebook's cells in the gradebook, by the methods with which OverwriteCells asks for them."""

    def __init__(self, gradebook: Gradebook, notebook: Notebook) -> None:
        self._notebook = notebook
        self._sources, graded, tasks = (
            {cell.name: cell for cell in gradebook.db.query(kind).filter(kind.notebook_id == notebook.id)}
            for kind in (SourceCell, GradeCell, TaskCell)
        )
        self._graded = tasks | graded

    def find_notebook(self, notebook: str, assignment: str) -> Notebook:
        return self._notebook

    def find_source_cell(self, name: str, notebook: str, assignment: str) -> SourceCell:
        return _found(self._sources, name)

    def find_graded_cell(self, name: str, notebook: str, assignment: str) -> BaseCell:
        return _found(self._graded, name)


def _found(cells: dict[str, Any], name: str) -> Any:
    if name not in cells:
        raise MissingEntry(f"the gradebook has no cell {name}")
    return cells[name]


class SetLatePenalties(LatePenalties):
    """Leaves out what has no effect: a submission in time has no penalty, unless it had one before."""

    parent: SubmissionExporter

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        found = _row(self.parent, resources)
        if found.late_submission_penalty is not None or found.assignment.total_seconds_late > 0:
            super().preprocess(nb, resources)  # it leaves the notebook as it is
        return nb, resources


def _row(exporter: SubmissionExporter, resources: ResourcesDict) -> SubmittedNotebook:
    """The row of the notebook that is converted."""
    found: SubmittedNotebook = exporter.parent.submitted[resources["nbgrader"]["notebook"]]
    return found


#: what is used for a step of nbgrader
IN_A_CLASS: dict[type, type] = {
    CheckCellMetadata: CheckMetadata,
    OverwriteKernelspec: SetKernelspec,
    OverwriteCells: SetCells,
    LatePenalties: SetLatePenalties,
}


#: before a second try after an error of the database, which may have restarted
_AGAIN_SECONDS = 1.0


class NoSpace(CourseError):
    """Nothing can be written for anybody."""


class RefusedHandIn(str):
    """A line about a hand-in that the rules of the course don't accept: nothing has failed."""

    __slots__ = ()


class Writer:
    """Does what `nbgrader autograde` does for one student at a time, with results that have been computed before."""

    def __init__(self, course: RunningCourse) -> None:
        self._course = course
        _require_writable(course.autograded(".", "."))
        config = deepcopy(course.config)  # `Config(…)` would share its sections
        config.RunChecks.fresh = False
        config.Autograde.pop("pre_convert_hook", None)
        if own := own_hook(course.config, before_autograde):
            config.Autograde.pre_convert_hook = own
        NbGrader.clear_instance()
        NbGrader.instance(config=config)  # a course's own steps may take their settings from it
        self._converter = AutogradeOne(coursedir=course.folders, config=config, log=course.log)

    def write(self, submission: SubmissionProgress, assignment: str) -> list[str]:
        """Write one student's results; returns a line about what went wrong, if anything did.

        An error of the database gets a second try.

        Raises:
            NoSpace, GradebookAway: nothing can be written for anybody.
        """
        try:
            return self._written(submission, assignment)
        except GradebookAway:
            time.sleep(_AGAIN_SECONDS)
            return self._written(submission, assignment)

    def _written(self, submission: SubmissionProgress, assignment: str) -> list[str]:
        student, folders, converter = submission.student, self._course.folders, self._converter
        folder = self._course.submitted(student, assignment)
        if not notebooks_in(folder):
            return []  # nbgrader skips such a folder, and the table shows it as missing
        folders.student_id, folders.assignment_id = student, assignment
        graded = {notebook.name: notebook for notebook in submission.notebooks}
        expected = self._course.assignment(assignment).released_names()
        names = dict.fromkeys([*expected, *(path.stem for path in notebooks_in(folder))])
        with self._course.write_lock(), warnings.catch_warnings():
            warnings.simplefilter("ignore", SAWarning)  # about nbgrader's own queries
            try:
                if refused := refusal(self._course.config, folders, assignment, student, str(folder)):
                    return [RefusedHandIn(f"{printable(student)}: {refused}")]
                self._course.set_aside(student, assignment)
                converter.convert(
                    folder, [name for name in names if fnmatchcase(name, folders.notebook_id)], graded
                )
            except SystemExit as stopped:  # raised by one of gradekit's steps
                reason = str(stopped).splitlines()[0]
            except Exception as error:  # it must not cost the others their grades
                reason = reason_of(converter.failure or error)
                _require_writing(converter.failure or error, reason)
            else:
                return []
        return [f"{printable(student)}: not written: {reason}"]


def _require_writing(error: BaseException, reason: str) -> None:
    """Raise an error if the failure would repeat for everybody else."""
    again = "then run the same command again; it continues from here."
    full = isinstance(error, OperationalError) and "disk is full" in str(error)
    if full or (isinstance(error, OSError) and error.errno in FOR_EVERYBODY):
        raise NoSpace(f"{reason}. Free some space or make it writable, {again}") from error
    if isinstance(error, OperationalError | InterfaceError):
        raise GradebookAway(
            f"the gradebook can't be written ({reason}). Wait until it can, {again}"
        ) from error


def _require_writable(folder: Path) -> None:
    """Raise CourseError if the folder, or the one in which it would be created, can't be written to."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not existing.is_dir():
        raise CourseError(f"{existing} can't be written: {os.strerror(errno.EEXIST)}")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise CourseError(f"{existing} can't be written: change its permissions")
