"""Answer groups: students with the same wrong output in a check, and the code that they wrote."""

import ast
import hashlib
from dataclasses import dataclass
from textwrap import dedent

import nbformat

from gradekit.course import Assignment
from gradekit.course.cells import exercise_name, find_cell
from gradekit.course.files import notebooks_in
from gradekit.grading.running_course import RunningCourse
from gradekit.report.table import ClassTable
from gradekit.verdict.fingerprint import is_of_message, same_numbers
from gradekit.verdict.results import CheckResult

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
        """The answer cell."""
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
    groups = []
    used: set[str] = set()
    for (exercise, students), found in merged.items():
        named = next((alike.result for alike in found if alike.result.diagnosis), found[0].result)
        checks = tuple(alike.check.split("::")[1] for alike in found)
        id = _unused(f"{exercise_name(exercise)}-{found[0].digest}", used)
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
    free = next(name for name in (id, *numbered) if name not in used)
    used.add(free)
    return free


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
    """An entry for the known mistakes that reproduces this answer; a person adds the name and the sentence.

    Args:
        group: one without a diagnosis.
        source: the answer cell of one of its students.
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
