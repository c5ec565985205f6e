"""Reads files of answers, which students can fill with anything, and marks them."""

import os
import re
import stat
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

import msgspec

from gradekit.course.operating_system import open_safely
from gradekit.course.printing import printable
from gradekit_integrity.defend.records import EARLIER, LETTERS, TO_A_PERSON, Issued, Key

ANSWER_FILE = "defense.json"
#: a file of 30 answers has 500 bytes
_MOST_BYTES = 10_000
_MOST_FILES = 5_000
_LATE = "came after the time that the page names"
_SHEET = re.compile(r'"sheet"\s*:\s*"\s*(\w{1,40})')
#: what editors make of the quotes of a file that is written by hand
_QUOTES = str.maketrans(dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb", '"'))


class _Answers(msgspec.Struct):
    sheet: Annotated[str, msgspec.Meta(max_length=40)]
    answers: Annotated[
        dict[Annotated[str, msgspec.Meta(max_length=4)], Annotated[str, msgspec.Meta(max_length=4)]],
        msgspec.Meta(max_length=100),
    ]


@dataclass(frozen=True)
class AnswerFile:
    """A file of answers; `student` is the one in whose submission it is, or empty for a file from elsewhere."""

    path: Path
    student: str = ""
    handed_in: datetime | None = None


class Unusable(ValueError):
    """A file of answers can't be marked. The message continues the name of the file; `sheet` is the id in it, if any."""

    def __init__(self, why: str, sheet: str = "") -> None:
        super().__init__(why)
        self.sheet = sheet


def read_answers(path: Path) -> tuple[str, dict[str, str]]:
    """The id of the sheet, and the letters by number.

    Raises:
        Unusable: it isn't such a file.
    """
    text = _text_of(path)
    try:
        read = msgspec.json.decode(text, type=_Answers)
    except (ValueError, RecursionError):
        named = _SHEET.search(text)
        raise Unusable("isn't a file of answers as the page saves it", named[1] if named else "") from None
    return read.sheet.strip(), {number: letter.strip().upper() for number, letter in read.answers.items()}


def is_of_another_kind(path: Path) -> bool:
    """True for a file that nobody meant as answers: neither its name nor its text looks like that."""
    name = path.name.casefold()
    if "defense" in name or name.endswith(".json"):
        return False
    try:
        text = _text_of(path).casefold()
    except Unusable:
        return True
    return "sheet" not in text or "answers" not in text


def _text_of(path: Path) -> str:
    """The text of a short file; empty if its encoding isn't known.

    Raises:
        Unusable: it can't be read, or is too long.
    """
    try:
        with open_safely(path) as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise Unusable("isn't an ordinary file")
            if found.st_size > _MOST_BYTES:
                raise Unusable(f"is {found.st_size:,} bytes long, too long for a few letters")
            content = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise Unusable(f"can't be read ({error.strerror})") from None
    utf16 = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        return content.decode("utf-16" if utf16 else "utf-8-sig").translate(_QUOTES)
    except ValueError:
        return ""


def answer_files_in(folder: Path) -> Iterator[AnswerFile]:
    """The files with answers in a folder, such as an LMS exports them."""
    count = 0
    for top, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if not name.startswith("."):
                count += 1
                if count > _MOST_FILES:
                    return
                yield AnswerFile(Path(top, name))


def unclear_sheets(files: Sequence[AnswerFile], key: Key, current: dict[str, str]) -> set[str]:
    """The ids of sheets that several files answer differently, where nothing says which of them came first."""
    latest = {sheet.id: sheet for sheet in key.latest().values() if sheet.right is None}
    found: dict[str, set[tuple[str, ...]]] = {}
    for file in files:
        try:
            id, answers = read_answers(file.path)
        except Unusable:
            continue
        sheet = latest.get(id)
        usable = sheet is not None and file.student in ("", sheet.student)
        if sheet is not None and usable and not _problem(sheet, answers, file, current):
            found.setdefault(id, set()).add(tuple(answers[number] for number in sorted(answers)))
    return {id for id, kinds in found.items() if len(kinds) > 1}


def mark_file(
    file: AnswerFile, key: Key, current: dict[str, str], unclear: Collection[str] = ()
) -> tuple[str, str]:
    """Mark a file, if it answers the latest sheet of its student, and that for the first time.

    Args:
        current: by `<student>/<notebook>/<cell>`, the hash of the code as it is handed in now.
        unclear: the ids of sheets that are left to a person.

    Returns:
        whom it concerns, if that is known, and why a person has to look, in a sentence; empty if it was marked.
    """
    name = printable(file.path.name, 80)
    try:
        id, answers = read_answers(file.path)
    except Unusable as error:
        student = file.student or next((one.student for one in key.sheets if one.id == error.sheet), "")
        return student, f"{name} {error}, {TO_A_PERSON}"
    sheet = next((one for one in key.sheets if one.id == id), None)
    if sheet is None:
        return file.student, f"{name} names a page that was not given out, {TO_A_PERSON}"
    if file.student and sheet.student != file.student:
        return file.student, f"{name} answers the page of {printable(sheet.student)}, {TO_A_PERSON}"
    latest = key.latest()[sheet.student]
    if sheet is not latest:
        return sheet.student, f"{name} {EARLIER}"
    problem = _problem(sheet, answers, file, current)
    if problem:
        # answers from elsewhere may count, but somebody has to decide whether these came too late
        end = "so a person has to decide." if problem == _LATE else TO_A_PERSON
        return sheet.student, f"{name} {problem}, {end}"
    if sheet.id in unclear:
        why = "and another file have different answers, and nothing says which came first"
        return sheet.student, f"{name} {why}, {TO_A_PERSON}"
    right = {exercise: _right(sheet, exercise, answers) for exercise in sheet.code}
    if sheet.right is None:
        sheet.right, sheet.timed = right, file.handed_in is not None
    elif right != sheet.right:
        return sheet.student, f"{name} has other answers than the first time, which count."
    return sheet.student, ""


def _problem(sheet: Issued, answers: dict[str, str], file: AnswerFile, current: dict[str, str]) -> str:
    numbers = [str(number) for number in range(1, len(sheet.questions) + 1)]
    unknown = [number for number in answers if number not in numbers]
    letters = {
        number: LETTERS[: len(one.options)] for number, one in zip(numbers, sheet.questions, strict=True)
    }
    strange = [
        n for n in numbers if (letter := answers.get(n)) and not (len(letter) == 1 and letter in letters[n])
    ]
    missing = [number for number in numbers if not answers.get(number)]
    if unknown or strange:
        return f"has no such option as {printable(str(answers[(unknown + strange)[0]]), 10)}"
    if missing:
        return f"leaves {len(missing)} of {len(numbers)} questions open"
    if sheet.due and file.handed_in and file.handed_in > sheet.due and not sheet.timed:
        return _LATE
    changed = [
        place for place, code in sheet.code.items() if current.get(f"{sheet.student}/{place}", code) != code
    ]
    if changed and sheet.right is None:
        return "is about code that has changed since"
    return ""


def _right(sheet: Issued, exercise: str, answers: dict[str, str]) -> int:
    return sum(answers[str(n)] == sheet.questions[n - 1].right for n in sheet.numbers_of(exercise))
