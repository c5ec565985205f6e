"""The folders of a course, its notebooks, and the check files that bind their test cells."""

import glob
import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from gradekit.course.cells import CellKind, grade_id, ids_of_test_cells, is_test_cell, nbgrader_metadata
from gradekit.course.files import Stamp, beside_notebooks, files_in, files_stamp
from gradekit.course.printing import quoted
from sandbox_kernel.environment import WorkingFiles

if TYPE_CHECKING:  # importing nbformat takes most of a second, and some users only need the paths
    from nbformat import NotebookNode

#: known wrong answers and other right answers: each a module of a checks folder, or a folder with modules
CATALOGUES = ("mistakes", "alternatives")
#: modules of a checks folder that are never checks of a cell, whatever its grade_id
NOT_CHECKS = ("conftest", *CATALOGUES, "equivalent", "try_it", "viva", "__init__")
#: the file in a checks folder with the recorded values
RECORDED = "reference.safetensors"
#: in place of a name, to make a pattern of a path; no path contains it
ANY = "\0"


class CourseError(Exception):
    """Something in the instructor's files is wrong. The message names the file and the cell, and says what to do."""

    @classmethod
    def of_records(cls, path: Path, error: Exception) -> "CourseError":
        """The recorded values of an assignment can't be read."""
        return cls(f"{path} can't be read ({error}): run `gradekit record {quoted(path.parent.name)}`")


@dataclass(frozen=True)
class Course:
    """The folders of one course; the defaults are nbgrader's.

    Args:
        structure: nbgrader's `directory_structure`.
        ignore: patterns of files next to the notebooks that students don't get.
        not_overwritten: by assignment, handed-out files that a student may replace (`Autograde.exclude_overwriting`).
        exchange: nbgrader's exchange. Others are rarely below /usr, and other folders aren't visible in a kernel anyway.
    """

    root: Path
    source: str = "source"
    release: str = "release"
    tests: str = "tests"
    structure: str = "{nbgrader_step}/{student_id}/{assignment_id}"
    ignore: tuple[str, ...] = (".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback")
    not_overwritten: tuple[tuple[str, tuple[str, ...]], ...] = ()
    exchange: str = "/usr/local/share/nbgrader/exchange"

    @property
    def hidden(self) -> tuple[str, ...]:
        """What no kernel sees: the course, and the exchange with everybody's hand-ins."""
        return str(self.root.resolve()), str(Path(self.exchange).resolve())

    def assignment(self, name: str) -> "Assignment":
        return Assignment(self, name)

    def assignments(self) -> list["Assignment"]:
        folder = self.folder(self.source, ANY)
        pattern = Path(*(glob.escape(part).replace(ANY, "*") for part in folder.parts), "*.ipynb")
        place = next(index for index, part in enumerate(folder.parts) if ANY in part)
        before, _, after = folder.parts[place].partition(ANY)
        names = {Path(path).parts[place] for path in glob.glob(str(pattern))}
        return [self.assignment(name.removeprefix(before).removesuffix(after)) for name in sorted(names)]

    def folder(self, step: str, assignment: str) -> Path:
        """The folder of an assignment in a step that has no students, such as `source`."""
        below = self.structure.format(nbgrader_step=step, student_id=".", assignment_id=assignment)
        return self.root / below


@dataclass(frozen=True)
class Assignment:
    """One assignment of a course."""

    course: Course
    name: str

    @property
    def checks(self) -> Path:
        """The folder of the hidden checks."""
        return self.course.root / self.course.tests / self.name

    @property
    def conftests(self) -> tuple[Path, ...]:
        """The `conftest.py` files that pytest reads for the hidden checks; they may not exist."""
        return self.checks.with_name("conftest.py"), self.course.root / "conftest.py"

    @property
    def source_folder(self) -> Path:
        return self.course.folder(self.course.source, self.name)

    @property
    def release_folder(self) -> Path:
        return self.course.folder(self.course.release, self.name)

    def source_notebooks(self) -> list[Path]:
        return sorted(self.source_folder.glob("*.ipynb"))

    def handed_out(self) -> list[Path]:
        """Files and folders that students get with the notebooks, which may open or import them."""
        return beside_notebooks(self.source_folder, self.course.ignore)

    def working_files(self, own_files: Sequence[Path] = ()) -> WorkingFiles:
        """The files next to a submission when it runs; those that were handed out replace files of the same name.

        The course is hidden from every kernel that starts with them.

        A student's own version of a file that may be replaced counts, and all of the folder that it is in.
        """
        last = [path for path in own_files if self.is_replaceable(path.name)]
        paths = [str(path) for path in (*own_files, *self.handed_out(), *last)]
        return WorkingFiles(paths, self.course.ignore, self.course.hidden)

    def is_replaceable(self, path: str) -> bool:
        """Whether a student may replace a file, or files in a folder, that were handed out; `path` is where it is."""
        names = dict(self.course.not_overwritten).get(self.name, ())
        return Path(path).parts[0] in {Path(name).parts[0] for name in names if name}

    def released(self, notebook: str) -> "NotebookNode":
        """The notebook that students got.

        Raises:
            CourseError: the assignment has not been generated yet.
        """
        path = self.release_folder / f"{notebook}.ipynb"
        if not path.exists():
            raise CourseError(
                f"{path} does not exist: run `nbgrader generate_assignment {quoted(self.name)} --force` first"
            )
        return read_notebook(path)

    def released_names(self) -> list[str]:
        return sorted(path.stem for path in self.release_folder.glob("*.ipynb"))

    def notebook_of(self, grade_id: str) -> Path:
        """The source notebook that has the cell `grade_id`.

        Raises:
            CourseError: none of the assignment's notebooks has it.
        """
        for name, grade_ids in self._grade_ids.items():
            if grade_id in grade_ids:
                return self.source_folder / f"{name}.ipynb"
        raise CourseError(
            f"{self.checks / grade_id}.py belongs to no cell: "
            f"no notebook of {self.course.source}/{self.name} has a cell with grade_id `{grade_id}`"
        )

    def kind_of(self, notebook: str, cell: "NotebookNode") -> CellKind | None:
        """The kind of a cell in the notebook called `notebook`; None if nbgrader doesn't know the cell."""
        found, name = nbgrader_metadata(cell), grade_id(cell)
        if not name:
            return None
        if found.get("task"):
            return CellKind.TASK
        if found.get("grade") and found.get("solution"):
            return CellKind.MANUAL
        if is_test_cell(cell):
            return CellKind.BOUND if self.check_file(notebook, name) else CellKind.ORDINARY
        if found.get("grade"):
            return CellKind.UNSUPPORTED
        if found.get("solution"):
            return CellKind.ANSWER
        return CellKind.GIVEN if found.get("locked") else None

    def check_file(self, notebook: str, grade_id: str) -> Path | None:
        """The check file of a test cell; None if it has none, so that the cell is ordinary.

        The file is `<notebook>/<grade_id>.py` or `<grade_id>.py` in the checks folder. If test cells of several
        notebooks share a grade_id, only the first form binds them.
        """
        own, shared = self.checks / notebook / f"{grade_id}.py", self.checks / f"{grade_id}.py"
        if grade_id in NOT_CHECKS:
            return None
        if own.is_file():
            return own
        return shared if shared.is_file() and not self.is_shared(grade_id) else None

    def catalogue(self, name: str) -> list[Path]:
        """The modules of one of the `CATALOGUES`: `<name>.py`, or the sorted ones of the folder `<name>`.

        Modules whose names begin with `_` are left out: they hold what the others share.

        Raises:
            CourseError: there are both.
        """
        file, folder = self.checks / f"{name}.py", self.checks / name
        modules = sorted(path for path in self.catalogued() if path.parent == folder)
        if not file.exists():
            return [path for path in modules if not path.name.startswith("_")]
        if modules:
            raise CourseError(
                f"{file} and the folder {folder} both exist: remove one, or move the file into the folder"
            )
        return [file]

    def module_for(self, name: str, cell: str) -> Path:
        """The module of one of the `CATALOGUES` that an entry about the answer cell `cell` belongs in."""
        file, folder = self.checks / f"{name}.py", self.checks / name
        return folder / f"{cell}.py" if any(path.parent == folder for path in self.catalogue(name)) else file

    def catalogued(self) -> set[Path]:
        """All modules in the folders of the `CATALOGUES`; a folder with the name of a notebook holds its checks instead."""
        notebooks = {path.stem for path in self._notebooks()}
        folders = (self.checks / name for name in CATALOGUES if name not in notebooks)
        return {path for folder in folders for path in folder.glob("*.py")}

    def data_of_checks(self) -> list[Path]:
        """The files beside the checks, in folders too, that are neither modules nor recorded values: checks may read them."""
        left_out = ("*.py", RECORDED, "__pycache__", ".*")
        return list(files_in(self.checks, left_out)) if self.checks.is_dir() else []

    def name_in_records(self, file: Path) -> str:
        """The name of a check file in recorded values: `<grade_id>`, or `<notebook>:<grade_id>` in a folder."""
        return ":".join(file.relative_to(self.checks).with_suffix("").parts)

    def bound_cells(self, notebook: str, cells: "Iterable[NotebookNode]") -> dict[str, Path]:
        """The check files of the test cells that have one, by grade_id, in the order of the notebook."""
        found = ((name, self.check_file(notebook, name)) for name in ids_of_test_cells(cells))
        return {name: path for name, path in found if path}

    def ordinary_cells(self, notebook: str, cells: "Iterable[NotebookNode]") -> list[str]:
        """The grade_ids of the test cells without checks, in the order of the notebook."""
        return [name for name in ids_of_test_cells(cells) if not self.check_file(notebook, name)]

    def is_shared(self, grade_id: str) -> bool:
        """True if test cells of several notebooks have the same `grade_id`."""
        return len(self._notebooks()) > 1 and len(self.notebooks_with_test(grade_id)) > 1

    def notebooks_with_test(self, grade_id: str) -> list[str]:
        """The names of the notebooks that have a test cell `grade_id`."""
        return [name for name, grade_ids in self._test_ids.items() if grade_id in grade_ids]

    def _notebooks(self) -> list[Path]:
        """The source notebooks; in a course without them, the released ones."""
        return self.source_notebooks() or sorted(self.release_folder.glob("*.ipynb"))

    @cached_property
    def _test_ids(self) -> dict[str, set[str]]:
        return {path.stem: set(ids_of_test_cells(read_notebook(path).cells)) for path in self._notebooks()}

    @cached_property
    def _grade_ids(self) -> dict[str, set[str]]:
        return {
            path.stem: {name for cell in read_notebook(path).cells if (name := grade_id(cell))}
            for path in self._notebooks()
        }


def refuse_pattern(root: Path) -> None:
    """Raise CourseError if nbgrader would read the path of a course folder as a pattern."""
    if not set("*?[]").isdisjoint(str(root)):
        raise CourseError(
            f"{root}: nbgrader reads `*`, `?`, `[` and `]` in this path as a pattern; rename the folder"
        )


def read_notebook(path: Path) -> "NotebookNode":
    """Read one of the instructor's notebooks.

    Raises:
        CourseError: the file is damaged.
    """
    import nbformat

    try:
        notebook: NotebookNode = nbformat.read(path, as_version=4)
        for cell in notebook.cells:  # submissions are read in the same way
            cell.source = cell.source.replace("\r\n", "\n")
    except Exception as error:  # a damaged file can make nbformat raise anything
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise CourseError(f"{path} can't be read as a notebook: restore it ({reason})") from error
    return notebook


def blank_copy(source: "NotebookNode") -> "NotebookNode":
    """A copy of a source notebook without its solutions, as nbgrader releases it."""
    from nbgrader.preprocessors import ClearSolutions

    blank: NotebookNode
    blank, _ = ClearSolutions().preprocess(deepcopy(source), {})
    return blank


def digests_of_records(checks: Path) -> Iterator[tuple[str, list[object]]]:
    """The name of each recorded array with its type, shape and digest, without importing NumPy or torch.

    Raises:
        CourseError: the file is damaged.
    """
    from safetensors import SafetensorError, deserialize

    path = checks / RECORDED
    try:
        for key, array in deserialize(path.read_bytes()) if path.exists() else ():
            yield key, [array["dtype"], array["shape"], hashlib.sha256(array["data"]).hexdigest()]
    except (SafetensorError, OSError) as error:
        raise CourseError.of_records(path, error) from error


def stamp_of(assignment: Assignment) -> Stamp:
    """A stamp that changes when a check, the source or the release of an assignment changes."""
    folders = (assignment.checks, assignment.source_folder, assignment.release_folder)
    return files_stamp([*(path for folder in folders for path in _files(folder)), *assignment.conftests])


def _files(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__" and not name.startswith(".")]
        yield from (Path(place, name) for name in files)
