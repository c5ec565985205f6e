"""The works that are compared, of this and earlier classes, and the text that everybody was given."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nbformat import NotebookNode

from gradekit.course import Assignment, CourseError, read_notebook
from gradekit.course.cells import grade_id, is_answer_cell
from gradekit.course.printing import printable, quoted
from gradekit.grading.running_course import RunningCourse
from gradekit.submission.names import squeezed
from gradekit.submission.notebook_file import read_submitted
from gradekit.submission.restore import restored
from gradekit_integrity.similar.fingerprints import fingerprints
from gradekit_integrity.similar.tokens import MAX_COMPARED_CHARACTERS, TokenLine, code_lines, text_lines

#: the most characters in all cells of a work that are compared
MAX_WORK_CHARACTERS = 200_000
#: the exercise of cells that students added
OTHER_CELLS = "other cells"


@dataclass(frozen=True)
class AnswerLine:
    """A line of a cell and its fingerprints."""

    cell: int
    line: TokenLine
    fingerprints: frozenset[int]


@dataclass
class Work:
    """One student's own text in an assignment: the cells that differ from those handed out, by exercise.

    `owner` is the same for works that may be alike: those of a group, and of one student in several years. `origin` is
    the folder of an earlier work; empty in this class.
    """

    student: str
    owner: str
    origin: str = ""
    #: the exercise of each cell
    labels: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    lines: list[AnswerLine] = field(default_factory=list)
    #: by exercise
    fingerprints: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))

    @property
    def name(self) -> str:
        """The name of the work on the page."""
        return f"{self.student} ({self.origin})" if self.origin else self.student


@dataclass(frozen=True)
class Given:
    """Text of the course itself, in released notebooks and solutions, which is no sign that two works are related."""

    sources: frozenset[str]
    fingerprints: frozenset[int]


class Reader:
    """Reads works; `problems` has a sentence for each that can't be compared, or not completely."""

    def __init__(self, assignment: Assignment, groups: Mapping[str, str] | None = None) -> None:
        """
        Args:
            assignment: the one whose notebooks are read.
            groups: the group of each student who handed in with others.
        """
        self._assignment = assignment
        self._groups = groups or {}
        self._names = assignment.released_names() or [path.stem for path in assignment.source_notebooks()]
        self._lines: dict[tuple[str, str], list[tuple[TokenLine, frozenset[int]]]] = {}
        self._released = {name: assignment.released(name) for name in assignment.released_names()}
        every = assignment.course.assignments()
        self.given = given_by([*every[: every.index(assignment)], assignment])
        self.problems: list[str] = []

    def of_class(self, course: RunningCourse) -> Iterator[Work]:
        """The works in `submitted/`."""
        for student in course.handed_in(self._assignment.name):
            folder = course.submitted(student, self._assignment.name)
            paths = [folder / f"{name}.ipynb" for name in self._names]
            owner = self._groups.get(student, student)
            yield from self._read(Work(student, owner), paths, self._assignment)

    def of_folder(self, folder: Path) -> Iterator[Work]:
        """Works of an earlier class: STUDENT/ASSIGNMENT/*.ipynb, STUDENT/*.ipynb, *.ipynb, or a course with `submitted/`.

        Raises:
            CourseError: the folder has no notebooks of the assignment.
        """
        root = folder / "submitted" if (folder / "submitted").is_dir() else folder
        found: dict[str, list[Path]] = {}
        for path in sorted(root.rglob("[!.]*.ipynb")):
            *above, name = path.relative_to(root).parts
            if any(part.startswith(".") for part in (*above, name)):
                continue
            if len(above) < 2 or self._assignment.name in above[1:]:
                found.setdefault(above[0] if above else path.stem, []).append(path)
        if not found:
            raise CourseError(
                f"{folder} has no notebooks of {self._assignment.name}: name a folder with "
                f"STUDENT/{quoted(self._assignment.name)}/*.ipynb, STUDENT/*.ipynb or *.ipynb"
            )
        origin = printable(str(folder))
        for student, paths in found.items():
            yield from self._read(Work(student, self._groups.get(student, student), origin), paths, None)

    def _read(self, work: Work, paths: Iterable[Path], assignment: Assignment | None) -> Iterator[Work]:
        readable = False
        for path in paths:
            submitted = read_submitted(path, assignment)
            if submitted.notebook is None:
                self.problems.append(f"{printable(work.name)} is not compared: {submitted.problem}")
            else:
                readable = True
                self.add(work, submitted.notebook, path.stem)
        if readable:
            yield work

    def add(self, work: Work, notebook: NotebookNode, name: str = "") -> None:
        """Add the cells of the notebook `name` to a work."""
        released = self._released.get(name) or next(iter(self._released.values()), None)
        ids = set(map(grade_id, notebook.cells))
        if released is not None and not ids.issuperset(_answers(released)):
            notebook = restored(
                notebook, released
            ).notebook  # an answer may be in another cell, or lack its mark
        total = sum(map(len, work.sources))
        for number, cell in enumerate(notebook.cells, 1):
            if not squeezed(cell.source) or squeezed(cell.source) in self.given.sources:
                continue
            found = grade_id(cell)
            label = f"{name}: {found}" if found and len(self._names) > 1 else found or f"cell {number}"
            total += len(cell.source)
            if len(cell.source) > MAX_COMPARED_CHARACTERS or total > MAX_WORK_CHARACTERS:
                self.problems.append(
                    f"{printable(work.name)} is compared in part: {printable(label)} is very long."
                )
            if total <= MAX_WORK_CHARACTERS:
                self._add(work, label if found else OTHER_CELLS, cell.cell_type, cell.source)

    def _add(self, work: Work, label: str, kind: str, source: str) -> None:
        key = kind, source
        if key not in self._lines:  # many students leave a cell as it is, or have the same short answer
            self._lines[key] = [
                (line, fingerprints(line) - self.given.fingerprints) for line in _lines(kind, source)
            ]
        place = len(work.sources)
        work.labels.append(label)
        work.sources.append(source)
        for line, found in self._lines[key]:
            work.lines.append(AnswerLine(place, line, found))
            if found:
                work.fingerprints[label].update(found)


def given_by(assignments: Iterable[Assignment]) -> Given:
    """The text of a course's assignments: their notebooks, including solutions, and the modules beside them."""
    sources: set[str] = set()
    found: set[int] = set()
    for assignment in assignments:
        released = (assignment.release_folder / path.name for path in assignment.source_notebooks())
        cells = [
            (cell.cell_type, cell.source)
            for path in (*assignment.source_notebooks(), *(path for path in released if path.exists()))
            for cell in read_notebook(path).cells
        ]
        modules = (path for path in assignment.handed_out() if path.suffix == ".py")
        cells += [("code", path.read_text(encoding="utf-8", errors="replace")) for path in modules]
        for kind, source in cells:
            sources.add(squeezed(source))
            for line in _lines(kind, source):
                found |= fingerprints(line)
    return Given(frozenset(sources), frozenset(found))


def _answers(released: NotebookNode) -> set[str | None]:
    return {grade_id(cell) for cell in released.cells if is_answer_cell(cell)}


def _lines(kind: str, source: str) -> list[TokenLine]:
    return code_lines(source) if kind == "code" else text_lines(source)
