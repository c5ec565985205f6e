"""The data of a class report beside its page: as CSV for spreadsheets, as JSON for other programs."""

import csv
import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from coursekit.course import Assignment, CourseError
from coursekit.printing import defused
from coursekit.report.groups import AnswerGroup
from coursekit.report.summary import Report

FOLDER = "reports"
_DATA = "report.json"


def folder_of(assignment: Assignment) -> Path:
    return assignment.course.root / FOLDER / assignment.name


def write_data(folder: Path, report: Report) -> None:
    """Write report.json, students.csv (students × checks) and checks.csv."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _DATA).write_text(json.dumps(as_data(report), indent=1), encoding="utf-8")
    results = report.results
    _write_csv(
        folder / "students.csv",
        ["student", "status", "total", "score", "seconds", "handed_in", *(check.key for check in results.checks)],
        (
            [m.student, m.status, m.total, _rounded(m.score), _rounded(m.seconds), m.handed_in]
            + [m.outcomes[check.key].outcome if check.key in m.outcomes else "" for check in results.checks]
            for m in results.members
        ),
    )  # fmt: skip
    _write_csv(
        folder / "checks.csv",
        ["exercise", "check", "points", "students", "passed", "difficulty", "discrimination", "warning"],
        (
            [
                *(found.check.exercise, found.check.name, found.check.points, found.students, found.passed),
                *(_rounded(found.difficulty), _rounded(found.discrimination), found.warning),
            ]
            for found in report.checks
        ),
    )


def as_data(report: Report) -> dict[str, Any]:
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
        "fell_behind": [asdict(one) for one in report.behind],
    }


def groups_in(assignment: Assignment) -> list[AnswerGroup]:
    """The answer groups of the newest report; none if there is no report.

    Raises:
        CourseError: the file can't be read.
    """
    path = folder_of(assignment) / _DATA
    if not path.exists():
        return []
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))["groups"]
        for entry in entries:
            del entry["excerpt"]
        return [
            AnswerGroup(**{key: tuple(v) if isinstance(v, list) else v for key, v in entry.items()})
            for entry in entries
        ]
    except (ValueError, KeyError, TypeError):
        raise CourseError(
            f"{path} can't be read: run `coursekit report {assignment.name}` to write it anew"
        ) from None


def _write_csv(path: Path, heads: list[str], rows: Iterable[list]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(heads)
        writer.writerows([defused(cell) for cell in row] for row in rows)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
