"""The files of a class report: a page, CSV for spreadsheets, and JSON for other programs."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gradekit.course import Assignment, CourseError
from gradekit.course.cells import exercise_name
from gradekit.course.printing import printable, quoted
from gradekit.page.check_table import code_marked
from gradekit.report.contents import ClassReport
from gradekit.report.groups import AnswerGroup
from gradekit.report.pages import folder_of, page_environment, save_page
from gradekit.report.table import write_rows

_PAGE, _DATA = "report.html", "report.json"
_TEMPLATES = Path(__file__).parent / "templates"
#: how many the page shows; report.json has all
_MAX_GROUPS, _MAX_MISTAKES, _MAX_NAMES, _SLOWEST = 30, 25, 12, 5


def write_page(folder: Path, report: ClassReport) -> Path:
    """Write the page into the folder; returns its path.

    Raises:
        CourseError: a library for the figures is not installed.
    """
    path = folder / _PAGE
    save_page(path, report_as_html(report))
    return path


def report_as_html(report: ClassReport) -> str:
    """The page, with its figures embedded and all text from students escaped. It has no scripts and no links out."""
    from gradekit.report import charts  # needs the extra `report`

    environment = page_environment(_TEMPLATES)
    environment.filters |= {
        "percent": lambda value: "–" if value is None else f"{value:.0f} %",
        "plain": lambda value: "–" if value is None else f"{value:g}",
        "marked": code_marked,
        "exercise": exercise_name,
        "printable": printable,
        "quoted": quoted,
    }
    environment.globals["some_of"] = _some_of
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


def write_data(folder: Path, report: ClassReport) -> None:
    """Write report.json, students.csv (students × checks) and checks.csv."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _DATA).write_text(json.dumps(as_data(report), indent=1), encoding="utf-8")
    keys = [check.key for check in report.results.checks]
    students: list[list[Any]] = [["student", "status", "total", "score", "seconds", "handed_in", *keys]]
    for member in report.results.members:
        row: list[Any] = [member.student, member.status, member.total]
        row += [_rounded(member.score), _rounded(member.seconds), member.handed_in]
        row += [member.outcomes[key].outcome if key in member.outcomes else "" for key in keys]
        students.append(row)
    write_rows(folder / "students.csv", students)
    checks: list[list[Any]] = [
        ["exercise", "check", "points", "students", "passed", "difficulty", "discrimination", "warning"]
    ]
    for found in report.checks:
        row = [found.check.exercise, found.check.name, found.check.points, found.students, found.passed]
        checks.append([*row, _rounded(found.difficulty), _rounded(found.discrimination), found.warning])
    write_rows(folder / "checks.csv", checks)


def as_data(report: ClassReport) -> dict[str, Any]:
    """The report as plain values."""
    results = report.results
    return {
        "assignment": results.assignment,
        "maximum": results.maximum,
        "waiting": results.waiting,
        "statuses": dict(report.statuses),
        "students": [
            {
                "student": member.student,
                "status": member.status,
                "total": member.total,
                "score": member.score,
                "seconds": member.seconds,
                "handed_in": member.handed_in.isoformat() if member.handed_in else None,
                "checks": {key: outcome.outcome for key, outcome in member.outcomes.items()},
            }
            for member in results.members
        ],
        "checks": [asdict(found) | {"difficulty": found.difficulty} for found in report.checks],
        "mistakes": [asdict(mistake) for mistake in report.mistakes],
        "groups": [asdict(entry.group) | {"excerpt": entry.excerpt} for entry in report.groups],
        "progress": [
            {"assignment": stage.assignment, "quartiles": stage.quartiles, "missing": stage.missing}
            for stage in report.stages
        ],
        "graders": asdict(report.graders) if report.graders else None,
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
        return [_group(entry) for entry in json.loads(path.read_text(encoding="utf-8"))["groups"]]
    except (ValueError, KeyError, TypeError):
        raise CourseError(
            f"{path} can't be read: run `gradekit report {quoted(assignment.name)}` to write it again"
        ) from None


def _group(entry: dict[str, Any]) -> AnswerGroup:
    del entry["excerpt"]
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()
    }
    return AnswerGroup(**values)


def _some_of(students: Sequence[str]) -> str:
    more = len(students) - _MAX_NAMES
    return ", ".join(map(printable, students[:_MAX_NAMES])) + (f" and {more} more" if more > 0 else "")


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
