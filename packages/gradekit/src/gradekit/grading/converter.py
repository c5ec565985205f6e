"""nbgrader's autograde for one submission after another: its steps run on the notebook itself, which is written once."""

import contextlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode, v4
from nbformat.validator import normalize
from nbgrader.api import Gradebook, MissingEntry, SubmittedAssignment, SubmittedNotebook
from nbgrader.converters import Autograde
from nbgrader.converters.base import BaseConverter, NbGraderException
from nbgrader.utils import find_all_files, setenv

from gradekit.grading.class_steps import IN_A_CLASS
from gradekit.nbgrader_plugin.converters import OneFolder, removing_unfinished
from gradekit.verdict.progress import NotebookProgress

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
            self.gradebook.db().expire_on_commit = (
                False  # what has been read isn't read again in the next moment
            )
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
            raise NbGraderException(str(error)) from error

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
            written = Path(
                self._format_dest(names["assignment"], names["student"]), Path(notebook_filename).name
            )
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
