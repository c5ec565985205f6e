"""The key: which pages were given out, their right options, and what was marked. It stays in the course folder."""

import contextlib
import random
import secrets
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from gradekit.course import Assignment, CourseError
from gradekit.course.files import STATE_FOLDER, write_atomically
from gradekit.course.operating_system import locked_file
from gradekit_integrity.defend.closed import ClosedQuestion
from gradekit_integrity.defend.proving import DefenseSheet, code_hash

LETTERS = "ABCD"
#: the end of notes that answers which can be marked resolve
TO_A_PERSON = "so a person has to ask."
EARLIER = f"answers an earlier page, {TO_A_PERSON}"
#: the note of a page that nobody has answered
NO_FILE = "No file defense.json has come yet, so nothing was marked."


class GivenQuestion(msgspec.Struct, frozen=True):
    """A question as it was given out: its options in their order, and the letter of the right one.

    Args:
        kind, about: as in `ClosedQuestion`.
    """

    notebook: str
    cell: str
    line: int
    text: str
    calls: tuple[tuple[str, tuple[str, ...]], ...]
    options: tuple[str, ...]
    right: str
    kind: str = ""
    about: str = ""

    def asks(self, one: ClosedQuestion) -> bool:
        """True for the same text, or the same kind of question about the same place, whatever its inputs are."""
        same_place = (self.kind, self.line, self.about) == (one.kind, one.line, one.about)
        return (self.notebook, self.cell) == (one.notebook, one.cell) and (
            same_place or self.text == one.text
        )


class Issued(msgspec.Struct):
    """A sheet that a student was given.

    Args:
        id: unguessable, and in the student's file of answers.
        code: for each exercise, as `<notebook>/<cell>`, the hash of the answer that was asked about.
        seen: the same for all exercises that were looked at, also those with too few questions.
        due: when answers are late, in UTC; None for never.
        right: for each exercise, how many answers are right; None until they were marked. Then it stays.
        timed: the answers that were marked came before `due`, if there is one; False if nothing says when they came.
        notes: why a person has to look, in sentences, by where the files were: a folder, or empty for beside hand-ins.
        deducted: the points that were taken off in the gradebook, by `<notebook>/<test cell>`.
        writing: those that were being written there. If that was interrupted, the gradebook has either of the two.
    """

    id: str
    student: str
    seed: str
    issued: datetime
    questions: list[GivenQuestion]
    code: dict[str, str]
    seen: dict[str, str] = {}
    due: datetime | None = None
    right: dict[str, int] | None = None
    timed: bool = False
    notes: dict[str, list[str]] = {}
    deducted: dict[str, float] = {}  # msgspec copies it
    writing: dict[str, float] = {}

    @property
    def all_notes(self) -> list[str]:
        return list(dict.fromkeys(note for notes in self.notes.values() for note in notes))

    def numbers_of(self, exercise: str) -> list[int]:
        """The numbers of the questions about an exercise, counted from 1."""
        return [
            number for number, one in enumerate(self.questions, 1) if f"{one.notebook}/{one.cell}" == exercise
        ]

    def is_defended(self, exercise: str) -> bool:
        """True if at least two of three answers are right: by guessing, one in six would have them."""
        right = (self.right or {}).get(exercise, 0)
        return 3 * right >= 2 * len(self.numbers_of(exercise))


class Key(msgspec.Struct):
    """All pages of an assignment, the latest of each student last.

    Args:
        strangers: sentences about files of nobody, by where they were, as in `Issued.notes`.
    """

    sheets: list[Issued] = []
    strangers: dict[str, list[str]] = {}

    def latest(self) -> dict[str, Issued]:
        return {sheet.student: sheet for sheet in self.sheets}

    def may_have_taken(self, student: str, place: str) -> set[float]:
        """The points that may be off at a student's test cell, as `<notebook>/<test cell>`."""
        mine = [sheet for sheet in self.sheets if sheet.student == student]
        return {amounts.get(place, 0.0) for sheet in mine for amounts in (sheet.deducted, sheet.writing)}

    def taken_from(self, student: str) -> dict[str, float]:
        """What is off at a student's test cells, whichever page it was for."""
        mine = [sheet for sheet in self.sheets if sheet.student == student]
        return {place: points for sheet in mine for place, points in sheet.deducted.items() if points}

    def set_taken(self, student: str, place: str, points: float) -> None:
        """Note what is off there, beside the latest sheet of the student."""
        for sheet in self.sheets:
            if sheet.student == student:
                sheet.deducted.pop(place, None)
                sheet.writing.pop(place, None)
        if points:
            self.latest()[student].deducted[place] = points

    def has_asked(self, student: str, code: Mapping[str, str], one: ClosedQuestion) -> bool:
        """True if an earlier page of the student asked this about the same code, given its hashes by exercise."""
        place = f"{one.notebook}/{one.cell}"
        return any(
            given.asks(one)
            for sheet in self.sheets
            if sheet.student == student and place in sheet.code and sheet.code[place] == code.get(place)
            for given in sheet.questions
        )

    def places(self) -> set[tuple[str, str]]:
        """The exercises that the latest sheets are about or looked at, as notebook and cell."""
        found = {place for sheet in self.latest().values() for place in (*sheet.code, *sheet.seen)}
        return {(book, cell) for book, _, cell in (place.partition("/") for place in found)}


def issue(
    sheet: DefenseSheet, seed: str, now: datetime, due: datetime | None, seen: Mapping[str, str]
) -> Issued:
    """Put the options in an order that follows from the seed, and give the sheet an id."""
    draw = random.Random(f"{seed} order")
    questions = [_as_asked(one, draw) for found in sheet.questions.values() for one in found]
    code = {f"{book}/{cell}": code_hash(sheet.sources[book, cell]) for book, cell in sheet.questions}
    return Issued(secrets.token_hex(8), sheet.student, seed, now, questions, code, dict(seen), due)


def _as_asked(one: ClosedQuestion, draw: random.Random) -> GivenQuestion:
    options = [one.right, *one.wrong]
    draw.shuffle(options)
    letter = LETTERS[options.index(one.right)]
    return GivenQuestion(
        *(one.notebook, one.cell, one.line, one.text, one.calls, tuple(options), letter, one.kind, one.about)
    )


def key_path(assignment: Assignment) -> Path:
    return assignment.course.root / STATE_FOLDER / "defense" / f"{assignment.name}.json"


def read_key(assignment: Assignment) -> Key:
    """The key; empty if nothing was given out yet.

    Raises:
        CourseError: it is damaged.
    """
    path = key_path(assignment)
    try:
        return msgspec.json.decode(path.read_bytes(), type=Key)
    except FileNotFoundError:
        return Key()
    except (ValueError, RecursionError):
        raise CourseError(
            f"{path} can't be read: take it from a backup, or remove it and give out new pages"
        ) from None


@contextlib.contextmanager
def changing_key(assignment: Assignment) -> Iterator[Key]:
    """The key, which is stored at the end of the block. Meanwhile, no other process changes it, nor what is taken off.

    Raises:
        CourseError: as `read_key`.
    """
    path = key_path(assignment)
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked_file(path.with_suffix(".lock")):
        key = read_key(assignment)
        yield key
        store_key(assignment, key)


def store_key(assignment: Assignment, key: Key) -> None:
    path = key_path(assignment)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, msgspec.json.format(msgspec.json.encode(key), indent=1).decode())
    path.chmod(0o600)


def with_other_code(key: Key, students: Sequence[str], code: Mapping[str, Mapping[str, str]]) -> list[str]:
    """The students who have no sheet, or whose code has changed since in what the sheet is about."""
    latest = key.latest()
    return [
        student
        for student in students
        if student not in latest
        or any(
            code.get(student, {}).get(place, found) != found
            for place, found in (latest[student].code | latest[student].seen).items()
        )
    ]


def without_sheet(key: Key, students: Sequence[str], code: Mapping[str, Mapping[str, str]]) -> list[str]:
    """The students who have no sheet about these exercises as they are now, given the hashes by student and exercise."""
    latest = key.latest()
    return [
        student
        for student in students
        if student not in latest
        or any(latest[student].seen.get(place) != found for place, found in code.get(student, {}).items())
    ]
