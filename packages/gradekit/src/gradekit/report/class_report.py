"""The class report: its contents, a summary of them for the terminal, and its files for people and for programs."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import msgspec

from gradekit.course import Assignment, CourseError
from gradekit.course.cells import exercise_name
from gradekit.course.printing import counted, first_of, printable, quoted
from gradekit.grading.running_course import RunningCourse
from gradekit.page.check_table import code_marked
from gradekit.report.pages import DefenseFound, SimilarityFound, folder_of, page_environment, save_page
from gradekit.report.statistics import (
    ENOUGH_STUDENTS,
    AnswerGroup,
    AssignmentScores,
    CheckStatistics,
    ExerciseOutcome,
    FellBehind,
    NamedMistake,
    answer_code,
    answer_groups,
    check_statistics,
    excerpt,
    exercise_outcomes,
    fell_behind,
    named_mistakes,
    progress,
    quartiles,
    stub,
)
from gradekit.report.table import ClassTable, was_graded, write_rows

_DATA = "report.json"
#: entry points of packages that add a part, as `ReportSection` says
_SECTIONS = "gradekit.report_sections"
#: the part of gradekit-written, and the folder of the lists that it needs
_GRADERS, _DEALT = "graders", "dealt"
_TEMPLATES = Path(__file__).parent / "templates"
#: how many the page shows; report.json has all
_MAX_GROUPS, _MAX_MISTAKES, _MAX_NAMES, _SLOWEST = 30, 25, 12, 5
#: columns of the tables
_OF_STUDENTS = ("student", "status", "total", "score", "seconds", "handed_in")
_OF_CHECKS = ("exercise", "check", "points", "students", "passed", "difficulty", "discrimination", "warning")
#: a mistake that at least this share of the class made is worth teaching again
RE_TEACH = 0.1
#: how many the summary shows
_MAX_RE_TEACH, _MAX_STUBS = 5, 2
_MAX_STUB_SOURCE = 10_000


@dataclass(frozen=True)
class GroupEntry:
    """An answer group, the code of one of its students, and a stub for the known mistakes if its own is unknown.

    `file` is the file for the stub, below the course folder. `before` is the size of the group in the previous report;
    None if the group is new.
    """

    group: AnswerGroup
    excerpt: str
    stub: str
    file: str
    before: int | None

    @property
    def growth(self) -> str:
        more = len(self.group.students) - (self.before or 0)
        if self.before is None or not more:
            return ""
        return f"{abs(more)} {'more' if more > 0 else 'fewer'} than in the previous report"


@dataclass(frozen=True)
class ReportSection:
    """A part of the report that another package adds, by an entry point in the group `gradekit.report_sections`.

    Its value is a function that is called with the course and the assignment, and returns None if there is nothing to say.

    Args:
        name: of the part, in links of the page and in report.json.
        content: a dataclass, which report.json has, and which the template calls `section.content`.
        lines: of the summary.
        template: writes the part of the page, with the macros of report.html.j2.
        complete: False if something had to be left out, which the part names.
    """

    name: str
    title: str
    content: Any
    lines: list[str]
    template: Path
    complete: bool = True


@dataclass(frozen=True)
class ClassReport:
    """All contents of a class report."""

    results: ClassTable
    checks: list[CheckStatistics]
    mistakes: list[NamedMistake]
    groups: list[GroupEntry]
    stages: list[AssignmentScores]
    behind: list[FellBehind]
    sections: list[ReportSection]
    left_out: str = ""
    similar: SimilarityFound | None = None
    defense: DefenseFound | None = None

    @property
    def statuses(self) -> list[tuple[str, int]]:
        return Counter(member.status for member in self.results.members).most_common()

    @property
    def exercises(self) -> list[ExerciseOutcome]:
        defended = self.defense.exercises if self.defense else ()
        return exercise_outcomes(self.results, {one.exercise: one.defended for one in defended if one.marked})

    @property
    def quartiles(self) -> tuple[float, float, float] | None:
        """None if nothing has a score yet, as in an assignment with written answers only."""
        return quartiles(self.results.scores) if self.results.scores else None

    @property
    def re_teach(self) -> list[NamedMistake]:
        least = max(2, RE_TEACH * len(self.results.graded))
        return [mistake for mistake in self.mistakes if len(mistake.students) >= least]


def make_report(
    course: RunningCourse, results: ClassTable, earlier: Iterable[ClassTable] = ()
) -> ClassReport:
    """Collect the contents of the report of an assignment.

    Args:
        results: those of the assignment to report on.
        earlier: those of the assignments before it, for the progress of the class; they may not be graded yet.

    Raises:
        CourseError: nothing in the assignment was graded.
    """
    assignment = course.assignment(results.assignment)
    if not was_graded(course, assignment):
        raise CourseError(
            f"nothing in {assignment.name} was graded: run `gradekit autograde {quoted(assignment.name)}` first"
        )
    so_far = [*earlier, results]
    try:
        before = {group.id: len(group.students) for group in groups_in(assignment)}
    except CourseError:  # the previous report can't be read, and is about to be replaced
        before = {}
    groups = [_entry(course, assignment, group, before) for group in answer_groups(results)]
    points = entry_points(group=_SECTIONS)
    dealt, left_out = assignment.course.root / _DEALT / assignment.name, ""
    if dealt.is_dir() and _GRADERS not in {point.name for point in points}:
        left_out = f"left out: {dealt}, since gradekit-written, which compares the graders, is not installed"
    sections = [point.load()(course, assignment) for point in points]
    return ClassReport(
        results,
        check_statistics(results),
        named_mistakes(results),
        groups,
        progress(so_far),
        fell_behind(so_far),
        [found for found in sections if found is not None],
        left_out,
        SimilarityFound.read(assignment),
        DefenseFound.read(assignment),
    )


def _entry(
    course: RunningCourse, assignment: Assignment, group: AnswerGroup, before: dict[str, int]
) -> GroupEntry:
    source = answer_code(course, assignment, group.students[0], group.cell)
    # without a value there is nothing to record for a mistake
    known = bool(group.mistake) or not group.same_output
    return GroupEntry(
        group,
        excerpt(assignment, group.cell, source),
        stub(group, source) if source and not known and len(source) <= _MAX_STUB_SOURCE else "",
        str(assignment.module_for("mistakes", group.cell).relative_to(assignment.course.root)),
        before.get(group.id),
    )


def summary_lines(report: ClassReport) -> Iterator[str]:
    """The report in a few lines of text, with the stubs of the largest groups without a diagnosis."""
    results = report.results
    yield f"{results.assignment}: " + ", ".join(f"{count} {status}" for status, count in report.statuses)
    if report.quartiles:
        low, middle, high = report.quartiles
        yield f"  scores: median {middle:.0f} %, middle half from {low:.0f} to {high:.0f} %"
    if results.removed:
        yield f"  left out, since they are not in the gradebook anymore: {', '.join(results.removed)}"
    if results.waiting:
        yield f"  awaiting manual grading: {counted(results.waiting, 'answer')}"
    for exercise in report.exercises:
        if exercise.quartiles and exercise.passed is None:
            _, middle, _ = exercise.quartiles
            scores = f"{len(exercise.scores)} scored, median {middle:g} of {exercise.points:g}"
            yield f"  {printable(exercise.title)}: {scores}, {exercise.waiting} to grade"
    for section in report.sections:
        yield from section.lines
    if report.left_out:
        yield f"  {report.left_out}"
    for mistake in report.re_teach[:_MAX_RE_TEACH]:
        yield f"  re-teach, {len(mistake.students)} students, {exercise_name(mistake.exercise)}: {mistake.sentence}"
    for never in (found.check for found in report.checks if found.never_passed):
        yield f"  nobody passes {never.exercise}::{never.name}: look at the check, or teach this again"
    if len(results.graded) >= ENOUGH_STUDENTS:
        warned = sum(bool(found.warning) for found in report.checks)
        yield f"  checks with a warning: {warned} of {len(report.checks)}"
    if report.similar:
        yield f"  similar answers, pairs that stand out: {report.similar.pairs}"
    for one in report.defense.exercises if report.defense else ():
        yield f"  {printable(one.exercise)}: {one.in_words}"
    if not results.checks:
        return
    unnamed = [entry for entry in report.groups if entry.group.same_output and not entry.group.mistake]
    equal = sum(entry.group.same_output for entry in report.groups)
    yield f"  groups of equal wrong answers: {equal}, without a diagnosis: {len(unnamed)}"
    if equal < len(report.groups):
        yield f"  groups with only the same message: {len(report.groups) - equal}"
    for entry in [entry for entry in unnamed if entry.stub][:_MAX_STUBS]:
        growth = f", {entry.growth}" if entry.growth else ""
        yield f"  {entry.group.id}, {len(entry.group.students)} students{growth}. For {entry.file}:"
        yield from (f"      {line}" for line in entry.stub.splitlines())


def write_report(assignment: Assignment, report: ClassReport) -> Path:
    """Write report.html, report.json, students.csv (students × checks) and checks.csv; returns the page's path.

    Raises:
        CourseError: a library for the figures is not installed.
    """
    folder = folder_of(assignment)
    page = folder / "report.html"
    save_page(page, report_as_html(report))
    (folder / _DATA).write_text(json.dumps(_as_data(report), indent=1), encoding="utf-8")
    keys = [check.key for check in report.results.checks]
    students: list[list[Any]] = [
        [m.student, m.status, m.total, _rounded(m.score), _rounded(m.seconds), m.handed_in]
        + [m.outcomes[key].outcome if key in m.outcomes else "" for key in keys]
        for m in report.results.members
    ]
    write_rows(folder / "students.csv", [[*_OF_STUDENTS, *keys], *students])
    checks: list[list[Any]] = []
    for found in report.checks:
        row = [found.check.exercise, found.check.name, found.check.points, found.students, found.passed]
        checks.append([*row, _rounded(found.difficulty), _rounded(found.discrimination), found.warning])
    write_rows(folder / "checks.csv", [list(_OF_CHECKS), *checks])
    return page


def report_as_html(report: ClassReport) -> str:
    """The page, with its figures embedded and all text from students escaped. It has no scripts and no links out."""
    from gradekit.report import charts  # needs the extra `report`

    environment = page_environment(_TEMPLATES, *(section.template.parent for section in report.sections))
    environment.filters |= {
        "percent": lambda value: "–" if value is None else f"{value:.0f} %",
        "plain": lambda value: "–" if value is None else f"{value:g}",
        "marked": code_marked,
        "exercise": exercise_name,
        "printable": printable,
        "quoted": quoted,
    }
    environment.globals["some_of"] = lambda students: first_of(students, _MAX_NAMES)
    graded = report.results.graded
    return environment.get_template("report.html.j2").render(
        report=report,
        results=report.results,
        groups=report.groups[:_MAX_GROUPS],
        mistakes=report.mistakes[:_MAX_MISTAKES],
        scores=charts.score_distribution(report.results) if report.quartiles else None,
        map=charts.outcome_map(report.results) if report.checks else None,
        progress=charts.progress_chart(report.stages) if len(report.stages) > 1 else None,
        time=charts.time_distribution([member.seconds for member in graded]) if graded else None,
        slowest=sorted(graded, key=lambda member: -member.seconds)[:_SLOWEST],
    )


def _as_data(report: ClassReport) -> dict[str, Any]:
    results = report.results
    return {section.name: asdict(section.content) for section in report.sections} | {
        "assignment": results.assignment,
        "maximum": sum(results.maximum.values()),
        "waiting": results.waiting,
        "statuses": dict(report.statuses),
        "students": [
            {name: getattr(member, name) for name in _OF_STUDENTS}
            | {"handed_in": member.handed_in.isoformat() if member.handed_in else None}
            | {"checks": {key: outcome.outcome for key, outcome in member.outcomes.items()}}
            for member in results.members
        ],
        "checks": [asdict(found) | {"difficulty": found.difficulty} for found in report.checks],
        "exercises": [asdict(exercise) for exercise in report.exercises],
        "mistakes": [asdict(mistake) for mistake in report.mistakes],
        "groups": [asdict(entry.group) | {"excerpt": entry.excerpt} for entry in report.groups],
        "progress": [
            {"assignment": stage.assignment, "quartiles": stage.quartiles, "missing": stage.missing}
            for stage in report.stages
        ],
        "fell_behind": [asdict(one) for one in report.behind],
    }


def groups_in(assignment: Assignment) -> list[AnswerGroup]:
    """Read the answer groups of the latest report; none if there is no report.

    Raises:
        CourseError: the file can't be read.
    """
    path = folder_of(assignment) / _DATA
    if not path.exists():
        return []
    try:
        return msgspec.convert(json.loads(path.read_text(encoding="utf-8"))["groups"], list[AnswerGroup])
    except (ValueError, KeyError, TypeError):
        raise CourseError(
            f"{path} can't be read: run `gradekit report {quoted(assignment.name)}` to write it again"
        ) from None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
