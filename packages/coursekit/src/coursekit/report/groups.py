"""Answer groups: students whose output on a check is the same wrong one, whether or not the mistake has a name."""

import ast
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from coursekit.checks.fingerprint import same_numbers
from coursekit.checks.results import CheckResult
from coursekit.course import exercise_name
from coursekit.report.collect import ClassResults

#: an answer that nobody shares is told by the student's own page
SMALLEST = 2


@dataclass(frozen=True)
class AnswerGroup:
    """Students with the same wrong answer. `checks` are those of the exercise in which it shows.

    `fingerprint` and `fingerprint_numbers` tell the answer to the first of them from others; see `CheckResult`.
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

    @property
    def cell(self) -> str:
        """The answer cell."""
        return exercise_name(self.exercise)


def answer_groups(results: ClassResults) -> list[AnswerGroup]:
    """The groups of a class, the largest first.

    A group for each check would list the same students again and again, so groups of one exercise with the same
    members are one. Its id is that of the first check, and does not depend on who else is in the class.
    """
    merged: dict[tuple[str, tuple[str, ...]], list[_Alike]] = {}
    for check in results.checks:
        for alike in _alike(check.key, results):
            if len(alike.students) >= SMALLEST:
                merged.setdefault((check.exercise, tuple(alike.students)), []).append(alike)
    groups = []
    used: set[str] = set()
    for (exercise, students), found in merged.items():
        named = next((alike.result for alike in found if alike.result.diagnosis), found[0].result)
        checks = tuple(alike.check.split("::")[1] for alike in found)
        id = _unused(f"{exercise_name(exercise)}-{found[0].digest}", used)
        groups.append(
            AnswerGroup(
                *(id, exercise, checks, students),
                *(
                    found[0].result.message,
                    found[0].result.fingerprint,
                    tuple(found[0].result.fingerprint_numbers),
                ),
                *(named.mistake, named.diagnosis),
            )
        )
    return sorted(groups, key=lambda group: -len(group.students))


@dataclass
class _Alike:
    """The students whose answer to one check is that of `result`, which is the first of them."""

    check: str
    result: CheckResult
    students: list[str]

    @property
    def digest(self) -> str:
        """Three digits of each number, since the last ones may change when the class is graded again."""
        parts = [
            self.check,
            self.result.fingerprint,
            *(f"{number:.3g}" for number in self.result.fingerprint_numbers),
        ]
        return hashlib.sha256("\x00".join(parts).encode()).hexdigest()[:4]


def _alike(check: str, results: ClassResults) -> Iterable[_Alike]:
    """Everybody with a wrong answer to the check, by answer. What has two names is no one answer."""
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


def stub(group: AnswerGroup, source: str) -> str:
    """An entry for `mistakes.py` that grades as this answer does; a person adds name and sentence.

    Args:
        group: one without a name.
        source: the answer cell of one of its students.
    """
    return "\n".join(_stub_lines(group, source))


def _stub_lines(group: AnswerGroup, source: str) -> Iterator[str]:
    yield "Mistake("
    yield f'    "{group.id.replace("-", "_")}",'
    yield f'    cell="{group.cell}",'
    yield f"    source={_literal(source)},"
    yield f"    about={list(group.checks)!r},".replace("'", '"')
    yield '    sentence="What was done. What to do instead.",'
    yield "),"


def _literal(source: str) -> str:
    """The source as Python writes it: over several lines, where that can be read and reads back as it was."""
    readable = f"'''\n{source}\n'''"
    if not all(line.isprintable() for line in source.split("\n")):
        return repr(source)  # control characters would reach a terminal
    try:
        return readable if ast.literal_eval(readable) == f"\n{source}\n" else repr(source)
    except SyntaxError:
        return repr(source)
