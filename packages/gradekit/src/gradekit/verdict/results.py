"""Results of grading a submission: plain data that is written into the autograded notebook."""

from collections.abc import Iterator
from dataclasses import dataclass, field, is_dataclass
from enum import StrEnum
from typing import Any

import msgspec

from gradekit.course.cells import Doubt
from gradekit.course.language import N_, ngettext
from gradekit.session.values import CheckOutcome

#: version of the stored form of a result; one of another version is graded again
_SCHEMA = 5

#: how a check ends if code was stopped or ended its process, and how the fingerprint of such code begins
NO_OUTPUT = (CheckOutcome.TIMED_OUT, CheckOutcome.KERNEL_DIED)
#: how the fingerprint of a check without a value begins; answers with equal messages may differ
MESSAGE = "message: "


class Status(StrEnum):
    """The outcome of grading a notebook.

    A new one also needs a sentence in `STATUSES`, a place in `SEVERITY` if the notebook could be read, and a rule in
    `gradekit.verdict.grade.status_of`.
    """

    UNGRADED = ""
    GRADED = N_("graded")
    PARTLY_GRADED = N_("partly graded")
    TIMED_OUT = N_("timed out")
    KERNEL_DIED = N_("kernel died")
    UNREADABLE = N_("unreadable")
    MISSING = N_("missing")


#: of notebooks that could be read, from harmless to severe
SEVERITY = (Status.GRADED, Status.PARTLY_GRADED, Status.TIMED_OUT, Status.KERNEL_DIED)

#: the meaning of each status, in a sentence
STATUSES = {
    Status.GRADED: N_("Every check finished."),
    Status.PARTLY_GRADED: N_(
        "A cell of the notebook did not run, so the checks that need it could not run either."
    ),
    Status.TIMED_OUT: N_(
        "Some of the code ran out of time and was stopped. The rest was graded, as far as it could still be run."
    ),
    Status.KERNEL_DIED: N_(
        "Some of the code ended its Python process. The rest was graded, as far as it could still be run."
    ),
    Status.UNREADABLE: N_("The file could not be read as a notebook. Nothing was graded."),
    Status.MISSING: N_("The notebook was not handed in. Nothing was graded."),
}


def points_in_words(points: float) -> str:
    return ngettext("%(points)s point", "%(points)s points", points, points=f"{points:g}")


def score_in_words(score: float, points: float) -> str:
    numbers = {"score": f"{score:g}", "points": f"{points:g}"}
    return ngettext("%(score)s of %(points)s point", "%(score)s of %(points)s points", points, **numbers)


@dataclass
class CheckResult:
    """The result of one check.

    `see` is the heading of the notebook that explains it; if empty, the one above the answer. `tried` describes in words
    and shapes what it tried, `relation` how a wrong value relates to the right one, if it does.
    `mistake` is the id of the known mistake that it is attributed to, `diagnosis` the sentence about it. `try_it` are
    lines that fail on this answer, too, for the student to run. `fingerprint` and `fingerprint_numbers` identify a
    wrong answer (see `gradekit.verdict.diagnosis`); they are not for students. `credit` is the number of points that a
    check earned without passing.
    """

    name: str
    sentence: str
    points: float
    outcome: CheckOutcome
    message: str = ""
    diagnosis: str = ""
    mistake: str = ""
    seconds: float = 0.0
    fingerprint: str = ""
    fingerprint_numbers: list[float] = field(default_factory=list)
    see: str = ""
    credit: float = 0.0
    relation: str = ""
    tried: str = ""
    try_it: str = ""

    @property
    def earned(self) -> float:
        return self.points if self.outcome == CheckOutcome.PASSED else self.credit


@dataclass
class ExerciseResult:
    """The results of the checks of one test cell, in the order of the file. `key` is a hash of everything they depend on.

    An `ordinary` test cell has no checks; the run of the cell counts as one.
    """

    grade_id: str
    checks: list[CheckResult] = field(default_factory=list)
    key: str = ""
    ordinary: bool = False

    @property
    def points(self) -> float:
        return sum(check.points for check in self.checks)

    @property
    def earned(self) -> float:
        return sum(check.earned for check in self.checks)

    @property
    def right(self) -> bool:
        return all(check.outcome == CheckOutcome.PASSED for check in self.checks)

    @property
    def unanswered(self) -> bool:
        return bool(self.checks) and all(check.outcome == CheckOutcome.NOT_ANSWERED for check in self.checks)


@dataclass
class SubmissionResult:
    """The result of one notebook of a submission.

    `seed` replays the checks that draw their inputs. `key` is a hash of everything that the result depends on, and
    `depends_on` has its parts. `kernel` is the kernelspec in which it ran, and `cold_because` says why a kernel could not
    be forked and was started cold. `suspect` names what a second try may not confirm (see `gradekit.verdict.tries`). `doubts`
    are about its graded cells, also those without checks, such as written answers.
    """

    status: Status
    notes: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    exercises: list[ExerciseResult] = field(default_factory=list)
    seed: int = 0
    seconds: float = 0.0
    kernel: str = ""
    cold_because: str = ""
    key: str = ""
    depends_on: dict[str, str] = field(default_factory=dict)
    suspect: list[str] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)

    def exercise(self, grade_id: str) -> ExerciseResult | None:
        return next((exercise for exercise in self.exercises if exercise.grade_id == grade_id), None)

    def named_checks(self) -> Iterator[tuple[str, CheckResult]]:
        """All checks, with their names as `<grade_id>::<check>`."""
        for exercise in self.exercises:
            for check in exercise.checks:
                yield f"{exercise.grade_id}::{check.name}", check

    @property
    def all_notes(self) -> list[str]:
        """The notes on the submission and the doubts about its cells, each sentence once."""
        return list(dict.fromkeys([*self.notes, *(doubt.why for doubt in self.doubts)]))

    def is_undecided(self, grade_id: str) -> bool:
        """True if a person has to decide on the score of a graded cell."""
        return any(doubt.grade_id == grade_id and not doubt.stands_by for doubt in self.doubts)

    @property
    def earned(self) -> float:
        return sum(exercise.earned for exercise in self.exercises)

    @property
    def nothing_graded(self) -> bool:
        """True if there was nothing to grade, or the grader failed: a 0 would say that the answers are wrong."""
        return not self.exercises and self.status != Status.GRADED

    def as_dict(self) -> dict[str, Any]:
        """The stored form, with its schema version."""
        values: dict[str, Any] = msgspec.to_builtins(self)
        return {"schema": _SCHEMA} | values

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "SubmissionResult":
        """Read the stored form.

        Raises:
            ValueError: it has another schema version, or a field is unknown, missing or of the wrong type.
        """
        result, stored = msgspec.convert(values, cls), dict(values)
        if stored.pop("schema", None) != _SCHEMA or not _has_all_fields(stored, result):
            raise ValueError("a result of another version")
        return result


def _has_all_fields(stored: Any, read: Any) -> bool:
    """True if what was stored has the fields of this version, no more and no fewer. msgspec fills in defaults."""
    if isinstance(read, list):
        return all(map(_has_all_fields, stored, read))
    if not is_dataclass(read):
        return True
    same = stored.keys() == read.__dataclass_fields__.keys()
    return same and all(_has_all_fields(part, getattr(read, name)) for name, part in stored.items())


def is_of_message(fingerprint: str) -> bool:
    """True if the fingerprint identifies what the student read, but not what the answer returned."""
    return fingerprint.startswith((MESSAGE, *NO_OUTPUT))


def same_numbers(one: list[float], other: list[float]) -> bool:
    """True if the numbers of two fingerprints are equal within the tolerance of the check."""
    return len(one) == len(other) and all(abs(a - b) <= 1 for a, b in zip(one, other, strict=True))
