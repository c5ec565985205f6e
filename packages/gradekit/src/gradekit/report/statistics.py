"""Statistics of a class: of each check, of mistakes, over assignments; and groups of equal wrong answers."""

import ast
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import dedent

import nbformat
import numpy as np

from gradekit.course import Assignment
from gradekit.course.cells import exercise_name, find_cell
from gradekit.course.files import notebooks_in
from gradekit.grading.running_course import RunningCourse
from gradekit.report.table import Check, ClassTable
from gradekit.session.values import CheckOutcome
from gradekit.verdict.results import CheckResult, Status, is_of_message, same_numbers

#: with fewer students, no check gets a warning about its discrimination
ENOUGH_STUDENTS = 20
#: if so many have failed a check and nobody has passed it, the check may be wrong
ENOUGH_TO_FAIL = 2
WEAK_DISCRIMINATION = 0.1
#: how far, in percent, a student must drop against the median of the class to have fallen behind
DROP = 25


@dataclass(frozen=True)
class CheckStatistics:
    """How a class did in one check. `warning` is empty if the check discriminates well."""

    check: Check
    students: int
    passed: int
    discrimination: float | None
    warning: str

    @property
    def difficulty(self) -> float:
        """The share of students who passed: the lower, the harder the check."""
        return self.passed / self.students if self.students else 0.0

    @property
    def never_passed(self) -> bool:
        """True if the check may be wrong, since nobody in a class passes it."""
        return self.passed == 0 and self.students >= ENOUGH_TO_FAIL


@dataclass(frozen=True)
class ExerciseOutcome:
    """How a class did in an exercise: how many passed all its checks, or the scores if a person grades it.

    An unanswered question has the score 0. `waiting` answers need a person. `defended` is None if nobody was asked.
    """

    title: str
    points: float
    passed: int | None
    scores: tuple[float, ...]
    waiting: int
    defended: int | None = None

    @property
    def quartiles(self) -> tuple[float, float, float] | None:
        return quartiles(self.scores) if self.scores else None


@dataclass(frozen=True)
class NamedMistake:
    """A known mistake and the students who made it."""

    sentence: str
    exercise: str
    names: tuple[str, ...]
    students: tuple[str, ...]


@dataclass(frozen=True)
class AssignmentScores:
    """One assignment in the progress of a class; scores in percent."""

    assignment: str
    scores: tuple[float, ...]
    missing: int

    @property
    def quartiles(self) -> tuple[float, float, float]:
        return quartiles(self.scores)


@dataclass(frozen=True)
class FellBehind:
    """A student whose score dropped from the median `before`; `score` is None if nothing was handed in."""

    student: str
    before: float
    score: float | None


def quartiles(scores: Sequence[float]) -> tuple[float, float, float]:
    low, middle, high = np.percentile(scores, (25, 50, 75)).tolist()
    return low, middle, high


def point_biserial(passed: Sequence[bool], scores: Sequence[float]) -> float | None:
    """The point-biserial correlation of a check with a score; None if either is the same for everybody.

    It equals Pearson's correlation with 0 and 1 (Lord and Novick, Statistical Theories of Mental Test Scores, 1968,
    ch. 15).
    """
    if len(set(passed)) < 2 or np.std(scores) < 1e-12:
        return None
    return float(np.corrcoef(passed, scores)[0, 1])


def check_statistics(results: ClassTable) -> list[CheckStatistics]:
    """Difficulty and discrimination of each check.

    A check is correlated with the score in all other checks: with its own points included, it would correlate with
    itself (Henrysson, Psychometrika 28, 1963).
    """
    found = []
    for check in results.checks:
        outcomes = [(m.outcomes[check.key], m.outcomes) for m in results.graded if check.key in m.outcomes]
        passed = [own.outcome == CheckOutcome.PASSED for own, _ in outcomes]
        rest = [sum(other.earned for other in every.values()) - own.earned for own, every in outcomes]
        discrimination = point_biserial(passed, rest)
        warning = _warning(len(passed), sum(passed), discrimination)
        found.append(CheckStatistics(check, len(passed), sum(passed), discrimination, warning))
    return found


def exercise_outcomes(results: ClassTable, defended: Mapping[str, int]) -> list[ExerciseOutcome]:
    """A row for each graded cell, in order; `defended` counts those who passed and defended it, by answer cell."""
    checked = {check.exercise for check in results.checks}
    found = []
    for label, points in results.maximum.items():
        scores = [row.points.get(label) for row in results.members if label not in row.waiting]
        passed = sum(
            bool(exercise.checks) and all(check.outcome == CheckOutcome.PASSED for check in exercise.checks)
            for row in results.members
            for known, exercise in row.exercises
            if known == label
        )
        found.append(
            ExerciseOutcome(
                results.titles.get(label, exercise_name(label)),
                points,
                passed if label in checked else None,
                () if label in checked else tuple(score for score in scores if score is not None),
                sum(label in row.waiting for row in results.members),
                defended.get(exercise_name(label.rpartition("/")[2])),
            )
        )
    return found


def _warning(students: int, passed: int, discrimination: float | None) -> str:
    if passed == 0 and students >= ENOUGH_TO_FAIL:
        return "Nobody passes: look at the check, or teach this again."
    if students < ENOUGH_STUDENTS:
        return "Too few students to judge."
    if passed == students:
        return "Everybody passes: the check doesn't discriminate."
    if discrimination is None or abs(discrimination) < WEAK_DISCRIMINATION:
        return "Doesn't discriminate: students who pass do no better elsewhere."
    if discrimination < 0:
        return "Students who do better elsewhere fail it: look at the check."
    return ""


def named_mistakes(results: ClassTable) -> list[NamedMistake]:
    """The known mistakes that students made, the most frequent first; those with the same sentence count as one."""
    made: dict[tuple[str, str], dict[str, set[str]]] = {}
    for member in results.members:
        for key, outcome in member.outcomes.items():
            if outcome.diagnosis:
                who = made.setdefault((key.split("::")[0], outcome.diagnosis), {})
                who.setdefault(outcome.mistake, set()).add(member.student)
    found = [
        NamedMistake(sentence, exercise, tuple(sorted(who)), tuple(sorted(set().union(*who.values()))))
        for (exercise, sentence), who in made.items()
    ]
    return sorted(found, key=lambda mistake: -len(mistake.students))


def progress(so_far: Sequence[ClassTable]) -> list[AssignmentScores]:
    """The scores of each graded assignment, in the order of the course; missing students have none."""
    return [
        AssignmentScores(
            results.assignment,
            tuple(results.scores),
            sum(member.status == Status.MISSING for member in results.members),
        )
        for results in so_far
        if results.scores
    ]


def fell_behind(so_far: Sequence[ClassTable]) -> list[FellBehind]:
    """Students who are much worse, relative to the median of the class, in the last assignment than before.

    A harder assignment, in which the whole class has lower scores, makes nobody fall behind.
    """
    if not so_far[-1].scores:
        return []
    *earlier, last = [results for results in so_far if results.scores]
    before: dict[str, list[tuple[float, float]]] = {}
    for results in earlier:
        middle = float(np.median(results.scores))
        for member in results.members:
            if member.score is not None:
                before.setdefault(member.student, []).append((member.score, member.score - middle))
    found = []
    for member in last.members:
        if member.student in before and (member.score is not None or member.status == Status.MISSING):
            score, standing = np.median(before[member.student], axis=0).tolist()
            now = -np.inf if member.score is None else member.score - float(np.median(last.scores))
            if now < standing - DROP:
                found.append((now - standing, FellBehind(member.student, score, member.score)))
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


#: an answer that nobody shares is only on that student's own page
SMALLEST_GROUP = 2
_MAX_LINES, _MAX_LINE, _MAX_SOURCE = 24, 160, 50_000


@dataclass(frozen=True)
class AnswerGroup:
    """Students with the same wrong output or message; `checks` are the checks of the exercise that they fail.

    `same_output` is False if only the message is known to be the same: the answers may differ. `fingerprint` and `fingerprint_numbers` identify it in the first of them; see `CheckResult`.
    """

    id: str
    exercise: str
    checks: tuple[str, ...]
    students: tuple[str, ...]
    message: str
    fingerprint: str
    fingerprint_numbers: tuple[float, ...]
    mistake: str = ""
    sentence: str = ""
    same_output: bool = True

    @property
    def cell(self) -> str:
        return exercise_name(self.exercise.rpartition("/")[2])

    @property
    def notebook(self) -> str:
        """The name of the notebook, if other notebooks of the assignment have the same grade_id; or else empty."""
        return self.exercise.rpartition("/")[0]


def answer_groups(results: ClassTable) -> list[AnswerGroup]:
    """The answer groups of a class, the largest first.

    Groups of the same students in several checks of an exercise are merged. The id comes from the first check and
    doesn't depend on the rest of the class.
    """
    merged: dict[tuple[str, tuple[str, ...]], list[_Alike]] = {}
    for check in results.checks:
        for alike in _alike(check.key, results):
            if len(alike.students) >= SMALLEST_GROUP:
                merged.setdefault((check.exercise, tuple(alike.students)), []).append(alike)
    groups: list[AnswerGroup] = []
    for (exercise, students), found in merged.items():
        named = next((alike.result for alike in found if alike.result.diagnosis), found[0].result)
        checks = tuple(alike.check.split("::")[1] for alike in found)
        id = _unused(f"{exercise_name(exercise)}-{found[0].digest}", {group.id for group in groups})
        first, numbers = found[0].result, tuple(found[0].result.fingerprint_numbers)
        same = first.message, first.fingerprint, numbers, named.mistake, named.diagnosis
        same_output = not all(is_of_message(alike.result.fingerprint) for alike in found)
        groups.append(AnswerGroup(id, exercise, checks, students, *same, same_output))
    return sorted(groups, key=lambda group: -len(group.students))


@dataclass
class _Alike:
    """The students with the same answer to one check; `result` is that of the first."""

    check: str
    result: CheckResult
    students: list[str]

    @property
    def digest(self) -> str:
        """A hash of three digits of each number; later digits may change when the class is graded again."""
        numbers = (f"{number:.3g}" for number in self.result.fingerprint_numbers)
        parts = [self.check, self.result.fingerprint, *numbers]
        return hashlib.sha256("\x00".join(parts).encode()).hexdigest()[:4]


def _alike(check: str, results: ClassTable) -> list[_Alike]:
    """Group the wrong answers to a check; answers with different diagnoses stay apart."""
    by_kind: dict[tuple[str, str], list[_Alike]] = {}
    for member in results.members:
        result = member.outcomes.get(check)
        if result is None or not result.fingerprint:
            continue
        candidates = by_kind.setdefault((result.fingerprint, result.mistake), [])
        numbers = result.fingerprint_numbers
        same = next((c for c in candidates if same_numbers(c.result.fingerprint_numbers, numbers)), None)
        if same:
            same.students.append(member.student)
        else:
            candidates.append(_Alike(check, result, [member.student]))
    return [alike for candidates in by_kind.values() for alike in candidates]


def _unused(id: str, used: set[str]) -> str:
    numbered = (f"{id}-{number}" for number in range(2, len(used) + 3))
    return next(name for name in (id, *numbered) if name not in used)


def answer_code(course: RunningCourse, assignment: Assignment, student: str, cell: str) -> str:
    """The source of an answer cell as it was graded; empty if there is no such cell."""
    for path in notebooks_in(course.autograded(student, assignment.name)):
        found = find_cell(nbformat.read(path, as_version=4), cell)
        if found is not None:
            return str(found.source)
    return ""


def excerpt(assignment: Assignment, cell: str, source: str) -> str:
    """The lines of an answer that the student added to the released cell, shortened."""
    cells = (find_cell(assignment.released(name), cell) for name in assignment.released_names())
    released = next((found.source for found in cells if found is not None), "")
    given = {line.strip() for line in released.splitlines()}
    own = [line for line in source[:_MAX_SOURCE].splitlines() if line.strip() not in given]
    lines = [line[:_MAX_LINE] for line in dedent("\n".join(own)).splitlines()]
    return "\n".join([*lines[:_MAX_LINES], *(["…"] if len(lines) > _MAX_LINES else [])])


def stub(group: AnswerGroup, source: str) -> str:
    """An entry for the known mistakes that reproduces the answer `source` of a group without a diagnosis.

    A person adds the name and the sentence.
    """
    about = ", ".join(f'"{check}"' for check in group.checks)
    return f"""\
wrong.about({about})
wrong("{group.id.replace("-", "_")}").source({_literal(source)})
wrong.says("What was done. What to do instead.")"""


def _literal(source: str) -> str:
    """The source as a Python literal, over several lines if that is readable and evaluates to the same text."""
    readable = f"'''\n{source}\n'''"
    if not all(line.isprintable() for line in source.split("\n")):
        return repr(source)  # control characters would reach a terminal
    try:
        return readable if ast.literal_eval(readable) == f"\n{source}\n" else repr(source)
    except SyntaxError:
        return repr(source)
