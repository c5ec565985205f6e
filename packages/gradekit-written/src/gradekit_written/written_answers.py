"""What a person reads of a written answer: its text, what else may belong to it, and why it is uncertain.

Answers may be compared with each other by their words only if nothing but words can be in them: one that has a picture,
or that may be in another place, has to be read by itself.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, partial
from pathlib import Path, PurePath
from urllib.parse import unquote

import nbformat
from nbformat import NotebookNode
from nbgrader.api import BaseCell, Comment

from gradekit.course import Assignment
from gradekit.course.cells import (
    ADDRESS,
    DATA,
    Attachments,
    CellKind,
    find_cell,
    grade_id,
    is_answer_cell,
    is_graded_cell,
    picture_in,
)
from gradekit.course.files import files_in, is_letter
from gradekit.grading.grades import grades_of
from gradekit.grading.running_course import RunningCourse
from gradekit.page.displayed import NotShown, Pictures, addresses_in, attached_only, text_and_pictures
from gradekit.submission.extra_files import handed_out_files, own_files
from gradekit.submission.names import squeezed
from gradekit.submission.texts import added_text, prose_in

#: letters of a text that is too short to be sure that it is the answer, rather than a hint where the answer is
LITTLE = 50
_LETTER = re.compile(r"[^\W_]")
#: pictures, and the addresses of links
_NO_WORDS = re.compile(r"!\[[^\]]*\]\([^)]*\)|\]\([^)]*\)|<[^<>]*>|https?://\S+")
_LINK = re.compile(r"\]\(|https?://|<a\s|^\s*\[[^\]]+\]:", re.IGNORECASE | re.MULTILINE)
_MAY_SHOW = re.compile(r"!\[|<img|data:image/|" + re.escape(ADDRESS), re.IGNORECASE)


@dataclass(frozen=True)
class WrittenAnswer:
    """An answer that a person grades. `submission` is the id of the notebook in the gradebook; `score` and `comment` are manual."""

    submission: str
    student: str
    notebook: str
    cell: str
    points: float
    score: float | None
    comment: str = ""


@dataclass(frozen=True)
class Passage:
    """A cell with text of the student's. `where` says where it is, and is empty for the answer itself."""

    cell: NotebookNode
    where: str = ""

    @property
    def text(self) -> str:
        """The source, in which a word stands for the data of each picture."""
        return DATA.sub("(picture)", self.cell.source)

    @property
    def names(self) -> list[str]:
        """The names of the pictures in the cell, as far as they have some."""
        shown = [unquote(address.removeprefix(ADDRESS)) for address in _shown(self.cell)]
        embedded = sum(address.startswith("embedded:") for address in shown)
        drawn = sum(bool(picture_in(data)) for data in _displayed(self.cell))
        return [
            *dict.fromkeys([one for one in shown if not one.startswith("embedded:")]),
            *self.unmentioned,
            *(["a picture in the text itself"] * embedded),
            *(["a picture that the code displayed"] * drawn),
        ]

    @property
    def unmentioned(self) -> list[str]:
        return attached_only(self.cell)


@dataclass(frozen=True)
class AnswerAsRead:
    """All that is known about an answer.

    Args:
        passages: the answer with what is next to it, in the order of the notebook, and then what may belong to it.
        notes: sentences about the answer, from the result of the notebook.
        files: of the student's, beside the notebook, that may belong to the answer; paths below `folder`.
        folder: of the notebook; None if it is unknown.
        alone: why its words must not be compared with those of others; empty if they may be.
        pictures: digests of its pictures. Only answers with the same ones may be compared.
        blank: nothing was answered.
        missing: names of pictures that its text shows and that aren't there.
    """

    passages: Sequence[Passage]
    notes: Sequence[str] = ()
    files: Sequence[str] = ()
    folder: Path | None = None
    alone: str = ""
    pictures: tuple[str, ...] = ()
    blank: bool = False
    missing: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The names of its pictures that are there."""
        found = (name for passage in self.passages for name in passage.names)
        return [name for name in found if name not in self.missing]

    @property
    def text(self) -> str:
        """The words that may be compared."""
        return "\n\n".join(passage.text for passage in self.passages)

    @property
    def in_cells(self) -> str:
        """All passages, each below a line that says where it is."""
        return "\n\n".join(f"[{one.where}]\n{one.text}" if one.where else one.text for one in self.passages)


def answers_to_grade(course: RunningCourse, assignment: Assignment) -> list[WrittenAnswer]:
    """The answers that a person has graded or has to grade; an unanswered question already scores 0."""
    # formgrader has nothing to show for a file that isn't a notebook
    return [
        one for one in _graded_by_hand(course, assignment) if not _has_no_notebook(course, assignment, one)
    ]


def students_without_notebook(course: RunningCourse, assignment: Assignment) -> list[str]:
    """Those whose written answers `answers_to_grade` leaves out, though a person has to look at what they handed in."""
    found = _graded_by_hand(course, assignment)
    return sorted({one.student for one in found if _has_no_notebook(course, assignment, one)})


def _has_no_notebook(course: RunningCourse, assignment: Assignment, answer: WrittenAnswer) -> bool:
    result = course.result(answer.student, assignment.name, answer.notebook)
    return result is not None and result.nothing_graded


def _graded_by_hand(course: RunningCourse, assignment: Assignment) -> list[WrittenAnswer]:
    by_hand = {
        (name, grade_id(cell))
        for name in assignment.released_names()
        for cell in assignment.released(name).cells
        if assignment.kind_of(name, cell) in (CellKind.TASK, CellKind.MANUAL)
    }
    with course.write_lock(), course.gradebook() as gradebook:
        columns = (Comment.notebook_id, BaseCell.name, Comment.manual_comment)
        texts = gradebook.db.query(*columns).join(BaseCell, BaseCell.id == Comment.cell_id)
        comments = {(notebook, cell): text or "" for notebook, cell, text in texts}
        return [
            WrittenAnswer(
                *(id, student, notebook, grade.name, grade.max_score, grade.manual_score),
                comments.get((id, grade.name), ""),
            )
            for student, id, notebook, grade in grades_of(gradebook, assignment.name)
            if (notebook, grade.name) in by_hand
            and (grade.needs_manual_grade or grade.manual_score is not None)
        ]


class AnswerReader:
    """Reads the answers of an assignment from the autograded notebooks."""

    def __init__(self, course: RunningCourse, assignment: Assignment) -> None:
        self._course, self._assignment = course, assignment
        self._handed_out = handed_out_files(assignment.source_folder)
        self._released = cache(assignment.released)
        self._opened = lru_cache(1)(partial(nbformat.read, as_version=4))  # one notebook has several answers

    def read(self, answer: WrittenAnswer) -> AnswerAsRead:
        """Everything about an answer; a sentence in its place if its notebook is gone."""
        folder = self._course.autograded(answer.student, self._assignment.name)
        path = folder / f"{answer.notebook}.ipynb"
        if not path.is_file():
            gone = "the notebook is gone: run `gradekit autograde` again"  # its path has the student's name
            return AnswerAsRead([], [gone], alone="its notebook is gone")
        result = self._course.result(answer.student, self._assignment.name, answer.notebook)
        notes = []
        if result is not None:
            about = [doubt.why for doubt in result.doubts if doubt.grade_id == answer.cell]
            notes = list(dict.fromkeys([*about, *(n for n in result.notes if f"`{answer.cell}`" in n)]))
        notebook = self._opened(path)
        names = [str(path.relative_to(folder)) for path in self._own_files(folder, notebook, notes)]
        work = _Work(notebook, self._released(answer.notebook), folder, self._handed_out)
        return work.read(answer.cell, notes, names)

    def _own_files(self, folder: Path, notebook: NotebookNode, notes: Sequence[str]) -> Iterator[Path]:
        """The student's files, but for those that the notebook's code writes or reads."""
        code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
        ignored = self._course.folders.ignore
        found = (file for path in own_files(folder, ignored) for file in files_in(path, ignored))
        for file in found:
            in_doubt = any(file.name in note for note in notes)
            unused = in_doubt or file.name not in code
            if file.relative_to(folder) not in self._handed_out and unused and not is_letter(file):
                yield file


@dataclass
class _Work:
    """An autograded notebook, and the released one. `handed_out` are the files in its `folder` that aren't the student's."""

    notebook: NotebookNode
    released: NotebookNode
    folder: Path
    handed_out: frozenset[PurePath]

    @cached_property
    def _texts(self) -> set[str]:
        return {squeezed(cell.source) for cell in self.released.cells}

    @cached_property
    def _ordinary(self) -> dict[str, NotebookNode]:
        return {cell.get("id", ""): cell for cell in self.released.cells if not grade_id(cell)}

    def read(self, name: str, notes: Sequence[str], files: Sequence[str]) -> AnswerAsRead:
        own, original = find_cell(self.notebook, name), find_cell(self.released, name)
        if own is None:
            return AnswerAsRead([], notes, files, self.folder, "the notebook has no such cell")
        is_task = not is_answer_cell(own)
        near = {place: where for place, where in self._near(name).items() if not self._is_copied(place, own)}
        at = next(place for place, cell in enumerate(self.notebook.cells) if cell is own)
        above, below = (
            [self._passage(place, where) for place, where in near.items() if (place < at) is is_above]
            for is_above in (True, False)
        )
        itself = [] if is_task else [Passage(own, "The answer cell" if above else "")]
        passages = [*above, *itself, *below]
        blank = (is_task or self._is_blank(own, original)) and not near
        words = sum(len(_LETTER.findall(_NO_WORDS.sub(" ", passage.text))) for passage in passages)
        unsure = bool(notes) or blank or words < LITTLE
        beside = [one for one in files if unsure and not any(one in passage.text for passage in passages)]
        if unsure:
            next_to_it = self._near(name)
            others = (place for place in self._other_texts(name) if place not in next_to_it)
            where = "The student's text in the cell number {}"
            passages += [self._passage(place, where.format(place + 1)) for place in others]
        pictures, missing = self._digests(passages, original)
        if notes:
            alone = "there is a note about it"
        elif missing:
            alone = "it shows a picture that was not handed in"
        elif pictures and words < LITTLE:
            alone = "it is little else than pictures"
        elif not is_task and blank and (own.get("attachments") or beside or len(passages) > 1):
            alone = "it is empty, and something else may be the answer"
        elif is_task and blank:
            alone = "nothing is next to the task"
        elif words < LITTLE and any(_LINK.search(passage.text) for passage in passages):
            alone = "it is little else than a link"
        elif unsure and not blank and (beside or len(passages) > len(near) + (not is_task)):
            alone = "it is short, and something else may belong to it"
        else:
            alone = ""
        return AnswerAsRead(passages, notes, beside, self.folder, alone, pictures, blank, missing)

    def _is_blank(self, cell: NotebookNode, original: NotebookNode | None) -> bool:
        source = squeezed(cell.source)
        return not source or (original is not None and source == squeezed(original.source))

    def _passage(self, place: int, where: str) -> Passage:
        cell = NotebookNode(self.notebook.cells[place])
        cell["source"] = self._added(cell)
        return Passage(cell, where)

    def _added(self, cell: NotebookNode) -> str:
        """What the student wrote in a cell that isn't marked; empty if it is as it was handed out."""
        if grade_id(cell) or squeezed(cell.source) in self._texts:
            return ""
        original = self._ordinary.get(cell.get("id", ""))
        return added_text(cell.source, original.source) if original is not None else str(cell.source)

    def _is_own(self, cell: NotebookNode) -> bool:
        return (
            not grade_id(cell)
            and cell.get("id") not in self._ordinary
            and squeezed(cell.source) not in self._texts
        )

    def _near(self, name: str) -> dict[int, str]:
        """The places of the student's cells directly above and below an answer, and of text in the given ones next to these."""
        cells = self.notebook.cells
        own = next(place for place, cell in enumerate(cells) if grade_id(cell) == name)
        found = {}
        for step, side in ((-1, "above"), (1, "below")):
            place = own + step
            while 0 <= place < len(cells) and self._is_own(cells[place]):
                found[place] = f"The student's own cell {side}, number {place + 1}"
                place += step
            if 0 <= place < len(cells) and cells[place].cell_type != "code":
                found[place] = f"The student's text in the given cell {side}, number {place + 1}"
        filled = (place for place in found if self._has_content(cells[place]))
        return {place: found[place] for place in sorted(filled)}

    def _is_copied(self, place: int, own: NotebookNode) -> bool:
        """True if the answer cell has the same, since grading has copied it there."""
        cell = self.notebook.cells[place]
        attached = (cell.get("attachments") or {}).keys() <= (own.get("attachments") or {}).keys()
        return attached and cell.cell_type != "code" and self._added(cell).strip() in own.source

    def _has_content(self, cell: NotebookNode) -> bool:
        attached = bool(cell.get("attachments")) and self._is_own(cell)
        return attached or bool(self._added(cell).strip())

    def _other_texts(self, name: str) -> Iterator[int]:
        """The places of all other texts of the student's, but for those next to another answer that isn't empty."""
        taken: set[int] = set()
        for cell in self.notebook.cells:
            other = grade_id(cell)
            is_other = other and other != name and is_graded_cell(cell) and is_answer_cell(cell)
            if other and is_other and not self._is_blank(cell, find_cell(self.released, other)):
                taken |= self._near(other).keys()
        for place, cell in enumerate(self.notebook.cells):
            if place in taken or not self._has_content(cell):
                continue
            if cell.cell_type != "code" or (self._is_own(cell) and prose_in(cell.source).strip()):
                yield place

    def _digests(
        self, passages: Sequence[Passage], original: NotebookNode | None
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Digests of the student's pictures, and the names of those that aren't there."""
        given: Attachments = (original.get("attachments") or {}) if original is not None else {}
        pictures, found, missing = Pictures(self.folder), set[str](), list[str]()
        for passage in passages:
            cell = passage.cell
            attachments: Attachments = cell.get("attachments") or {}
            found |= {_digest(repr(data)) for name, data in attachments.items() if given.get(name) != data}
            found |= {_digest(str(data[picture_in(data)])) for data in _displayed(cell) if picture_in(data)}
            embedded = text_and_pictures(cell.source)[1]
            known = original.source if original is not None else ""
            found |= {_digest(one) for one in embedded if one not in known}
            for address in _shown(cell):
                if address.startswith("embedded:") or address in known:
                    continue
                try:
                    content = pictures.data_at(address, embedded, attachments)
                except NotShown:
                    missing.append(unquote(address.removeprefix(ADDRESS)))
                    continue
                path = None if address.startswith(ADDRESS) else pictures.path_of(address)
                if path is not None and path.relative_to(self.folder) not in self.handed_out:
                    found.add(_digest(content))
        return tuple(sorted(found)), tuple(missing)


def _shown(cell: NotebookNode) -> Iterable[str]:
    may_show = cell.cell_type != "code" and _MAY_SHOW.search(cell.source)
    return addresses_in(cell.source) if may_show else ()


def _displayed(cell: NotebookNode) -> list[NotebookNode]:
    return [output.data for output in cell.get("outputs") or [] if "data" in output]


def _digest(data: str | bytes) -> str:
    return hashlib.sha256(data.encode(errors="replace") if isinstance(data, str) else data).hexdigest()
