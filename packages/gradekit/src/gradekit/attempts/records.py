"""Records of a student's attempts at an assignment, in `.gradekit/attempts/<assignment>/<student>.json`."""

import hashlib
import os
from bisect import insort
from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from urllib.parse import quote

import msgspec
from msgspec import Struct

from gradekit.course import CourseError
from gradekit.course.files import STATE_FOLDER, write_atomically
from gradekit.verdict.results import SubmissionResult

#: version of the stored form; a file of another version is read as empty
_SCHEMA = 1
#: bytes of a quoted name; a longer one is cut and gets a hash
_LONGEST = 180
#: the outcomes of the checks of a notebook, by grade_id and by the check's name
Outcomes = dict[str, dict[str, str]]


class Page(StrEnum):
    HELD = "held"
    RELEASED = "released"


class AttemptRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """One attempt.

    Args:
        handed_in: when, with time zone UTC. No two attempts of a student have the same time.
        earned: the automatic points of each notebook, before the penalty. Points from manual grading are not included.
        penalty: points deducted for handing in late.
        notebooks: the outcomes of the checks of each notebook.
        due: when the page may be released.
        final: whether the page was written after the deadline, when it shows everything.
        second_chance: whether it was handed in after the deadline, for a share of the points that it gains.
        digest: of its notebooks as they were graded; empty in records of older versions.
    """

    handed_in: datetime
    earned: dict[str, float]
    max_points: float
    penalty: float
    notebooks: dict[str, Outcomes]
    due: datetime
    page: Page = Page.HELD
    final: bool = False
    second_chance: bool = False
    digest: str = ""

    @property
    def points(self) -> float:
        """The automatic points of all notebooks, before the penalty."""
        return sum(self.earned.values())

    @property
    def score(self) -> float:
        """The points after the penalty, never below 0."""
        return max(0.0, self.points - self.penalty)


class _Stored(Struct, forbid_unknown_fields=True):
    schema: int
    attempts: list[AttemptRecord]


class Attempts:
    """The attempts of one student at one assignment, oldest first."""

    def __init__(self, path: Path, records: Iterable[AttemptRecord] = ()) -> None:
        self._path = path
        self.records: list[AttemptRecord] = sorted(records, key=_time)

    @classmethod
    def load(cls, root: Path, assignment: str, student: str) -> "Attempts":
        """The stored attempts; none if there are none, or the file is damaged or of another schema version.

        Raises:
            CourseError: the file can't be opened.
        """
        path = root / STATE_FOLDER / "attempts" / file_name(assignment) / f"{file_name(student)}.json"
        try:
            stored = msgspec.json.decode(path.read_bytes(), type=_Stored)
        except (FileNotFoundError, msgspec.MsgspecError, UnicodeDecodeError):
            return cls(path)
        except OSError as error:
            raise CourseError(f"{path} can't be read ({error.strerror}): make it readable") from error
        return cls(path, stored.attempts if stored.schema == _SCHEMA else ())

    def at(self, handed_in: datetime) -> AttemptRecord | None:
        return next((record for record in self.records if record.handed_in == handed_in), None)

    def add(self, record: AttemptRecord) -> None:
        """Add an attempt, or replace the one that was handed in at the same time."""
        self.records = [other for other in self.records if other.handed_in != record.handed_in]
        insort(self.records, record, key=_time)

    def store(self) -> None:
        """Write the file atomically, so that a killed command leaves no partial file."""
        write_atomically(self._path, msgspec.json.encode(_Stored(_SCHEMA, self.records)).decode())


def outcomes_of(result: SubmissionResult) -> Outcomes:
    """The part of a notebook's result that a record stores."""
    return {
        exercise.grade_id: {check.name: str(check.outcome) for check in exercise.checks}
        for exercise in result.exercises
    }


def _time(record: AttemptRecord) -> datetime:
    return record.handed_in


def file_name(name: str) -> str:
    """A file name for any name of a student or an assignment; different names have different ones."""
    quoted = quote(os.fsencode(name), safe=" ").replace(".", "%2E")
    if len(quoted) <= _LONGEST:
        return quoted
    return f"{quoted[:_LONGEST]}-{hashlib.sha256(os.fsencode(name)).hexdigest()[:32]}"
