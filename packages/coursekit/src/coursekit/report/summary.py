"""All that the class report says, and in a few lines what matters most."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from coursekit.checks.fingerprint import NO_OUTPUT
from coursekit.course import Assignment, CourseError, exercise_name
from coursekit.grading.folders import RunningCourse
from coursekit.report.code import answer_code, excerpt
from coursekit.report.collect import ClassResults, class_results
from coursekit.report.groups import AnswerGroup, answer_groups, stub
from coursekit.report.statistics import (
    ENOUGH_STUDENTS,
    CheckStatistics,
    FellBehind,
    NamedMistake,
    Stage,
    check_statistics,
    fell_behind,
    named_mistakes,
    progress,
    statuses,
)

#: a mistake of at least this share of the class is worth teaching again
RE_TEACH = 0.1
_MOST_MISTAKES, _MOST_STUBS = 5, 2
_LONGEST_STUB = 10_000


@dataclass(frozen=True)
class GroupEntry:
    """An answer group, with the code of one of its students, and the stub for `mistakes.py` if it has no name.

    `before` is how many there were in the report before; None if the group is new.
    """

    group: AnswerGroup
    excerpt: str
    stub: str
    before: int | None

    @property
    def growth(self) -> str:
        more = len(self.group.students) - (self.before or 0)
        if self.before is None or not more:
            return ""
        return f"{abs(more)} {'more' if more > 0 else 'fewer'} than in the report before"


@dataclass(frozen=True)
class Report:
    """All that the page says."""

    results: ClassResults
    checks: list[CheckStatistics]
    mistakes: list[NamedMistake]
    groups: list[GroupEntry]
    stages: list[Stage]
    behind: list[FellBehind]

    @property
    def statuses(self) -> list[tuple[str, int]]:
        return statuses(self.results)

    @property
    def quartiles(self) -> tuple[float, float, float]:
        return tuple(float(value) for value in np.percentile(self.results.scores, (25, 50, 75)))

    @property
    def re_teach(self) -> list[NamedMistake]:
        least = max(2, RE_TEACH * len(self.results.graded))
        return [mistake for mistake in self.mistakes if len(mistake.students) >= least]


def make_report(
    assignment: Assignment, earlier: Iterable[Assignment] = (), sizes_before: dict[str, int] | None = None
) -> Report:
    """Collect what there is to say about an assignment.

    Args:
        assignment: what the report is about.
        earlier: the assignments before it, whose scores show the progress; those not graded yet are left out.
        sizes_before: how many students each answer group had in the report before, by id.

    Raises:
        CourseError: nothing of the assignment was graded.
    """
    results = class_results(assignment)
    if not results.graded or not results.scores:
        raise CourseError(
            f"nothing of {assignment.name} was graded: run `coursekit autograde {assignment.name}` first"
        )
    so_far = [*map(class_results, earlier), results]
    course = RunningCourse.open(assignment.course.root)
    groups = [_entry(course, assignment, group, sizes_before or {}) for group in answer_groups(results)]
    return Report(
        results,
        check_statistics(results),
        named_mistakes(results),
        groups,
        progress(so_far),
        fell_behind(so_far),
    )


def _entry(
    course: RunningCourse, assignment: Assignment, group: AnswerGroup, before: dict[str, int]
) -> GroupEntry:
    source = answer_code(course, assignment, group.students[0], group.cell)
    # an endless loop is no wrong value that a record could name
    fit = (
        bool(source)
        and not group.mistake
        and not group.fingerprint.startswith(NO_OUTPUT)
        and len(source) <= _LONGEST_STUB
    )
    return GroupEntry(
        group,
        excerpt(assignment, group.cell, source),
        stub(group, source) if fit else "",
        before.get(group.id),
    )


def summary_lines(report: Report) -> Iterator[str]:
    """The report in a few lines of text, and the stubs of the largest groups without a name."""
    results = report.results
    low, middle, high = report.quartiles
    yield f"{results.assignment}: " + ", ".join(f"{count} {status}" for status, count in report.statuses)
    yield f"  scores: median {middle:.0f} %, the middle half from {low:.0f} to {high:.0f} %"
    if results.waiting:
        answers = "answer waits" if results.waiting == 1 else "answers wait"
        yield f"  {results.waiting} {answers} to be graded by hand"
    for mistake in report.re_teach[:_MOST_MISTAKES]:
        yield f"  re-teach, {len(mistake.students)} students, {exercise_name(mistake.exercise)}: {mistake.sentence}"
    if len(results.graded) >= ENOUGH_STUDENTS:
        warned = sum(bool(found.warning) for found in report.checks)
        yield f"  {warned} of {len(report.checks)} checks tell students apart badly or not at all"
    unnamed = [entry for entry in report.groups if not entry.group.mistake]
    yield f"  groups of equal wrong answers: {len(report.groups)}, without a name: {len(unnamed)}"
    for entry in [entry for entry in unnamed if entry.stub][:_MOST_STUBS]:
        growth = f", {entry.growth}" if entry.growth else ""
        yield f"  {entry.group.id}, {len(entry.group.students)} students{growth}. For mistakes.py:"
        yield from (f"      {line}" for line in entry.stub.splitlines())
