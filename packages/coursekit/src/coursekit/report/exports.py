"""Scores for other programs, as plugins of `nbgrader export`: Canvas, Moodle, Gradescope, a plain table.

Who has no grade, gets none here: an empty field and the status say more than a 0.
"""

import csv
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbgrader.api import Assignment as AssignmentEntry
from nbgrader.api import Gradebook, MissingEntry, Student
from nbgrader.plugins import ExportPlugin
from traitlets import Dict, Unicode

from coursekit.course import CourseError
from coursekit.grading.running_course import RunningCourse
from coursekit.printing import defused
from coursekit.report.gradescope import results_of
from coursekit.report.table import Row, class_table


@dataclass(frozen=True)
class Score:
    """One student in one assignment. `value` is what nbgrader calls the score: with the penalty taken off."""

    student: Student
    row: Row
    maximum: float

    @property
    def value(self) -> float | None:
        return self.row.total

    @property
    def ungraded(self) -> list[str]:
        """What is still to be graded, of a submission that has points already."""
        return (
            [] if self.value is None else [name for name, points in self.row.points.items() if points is None]
        )


class Export(ExportPlugin):
    """Takes `--to`, `--assignment` and `--student` as nbgrader's own export does."""

    default_name = "grades.csv"
    columns = Dict(
        value_trait=Unicode(), help="what an assignment is called in the other program; default: its name"
    ).tag(config=True)

    def export(self, gradebook: Gradebook) -> None:
        destination = Path(self.to or self.default_name)
        names = [str(name) for name in self.assignment] or [entry.name for entry in gradebook.assignments]
        try:
            scores = {name: list(self._scores(gradebook, name)) for name in names}
            self.write(destination, scores)
        except (CourseError, OSError) as error:
            self.log.error("%s", error)
            raise SystemExit(1) from None
        for name, found in scores.items():
            self._tell(name, found)
        print(f"{destination}: {', '.join(scores) or 'no assignment'}")

    def write(self, destination: Path, scores: dict[str, list[Score]]) -> None:
        """Write the scores of each assignment; the students of all are the same, in the same order."""
        raise NotImplementedError

    def column(self, assignment: str) -> str:
        return self.columns.get(assignment, assignment)

    @property
    def course(self) -> RunningCourse:
        return RunningCourse.of(self.parent)

    def _scores(self, gradebook: Gradebook, name: str) -> Iterator[Score]:
        try:
            entry: AssignmentEntry = gradebook.find_assignment(name)
        except MissingEntry:
            known = ", ".join(entry.name for entry in gradebook.assignments)
            raise CourseError(f"the gradebook has no {name}; it has {known}") from None
        students = {student.id: student for student in gradebook.students}
        wanted = {str(student) for student in self.student}
        for row in class_table(self.course.assignment(name)).rows:
            if not wanted or row.student in wanted:
                student = students.get(row.student) or Student(id=row.student)
                yield Score(student, row, entry.max_score)

    def _tell(self, assignment: str, scores: list[Score]) -> None:
        without = Counter(score.row.status for score in scores if score.value is None)
        if without:
            counts = ", ".join(f"{count} {status}" for status, count in without.most_common())
            self.log.warning("%s: no score for %s", assignment, counts)
        waiting = sum(bool(score.ungraded) for score in scores)
        if waiting:
            self.log.warning(
                "%s: scores that are without answers that nobody has graded yet: %d",
                assignment,
                waiting,
            )


class TableExport(Export):
    """Names, status, what is still to be graded by hand, and points: none where nothing was graded."""

    def write(self, destination: Path, scores: dict[str, list[Score]]) -> None:
        head = ["assignment", "student_id", "last_name", "first_name", "email", "status", "ungraded"]
        head += ["raw_score", "late_submission_penalty", "score", "max_score"]
        rows = [[name, *_fields(score)] for name, found in scores.items() for score in found]
        _write(destination, [head, *rows])


class CanvasExport(Export):
    """What Canvas's gradebook imports.

    The columns are those that `lib/gradebook_importer.rb` of github.com/instructure/canvas-lms looks for. Any other
    would become a new assignment there, so there is none for the status. `columns` gives the heading that
    Canvas's own export has for an assignment: `{"02_attention": "Attention (4711)"}`.
    """

    default_name = "canvas.csv"

    def write(self, destination: Path, scores: dict[str, list[Score]]) -> None:
        found = list(scores.values())
        head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *map(self.column, scores)]
        possible = ["    Points Possible", "", "", "", ""]
        possible += [_number(each[0].maximum) if each else "" for each in found]
        rows = [
            [_last_first(student), student.lms_user_id, "", student.id, ""]
            + [_number(score.value) for score in of_student]
            for of_student in zip(*found, strict=True)
            for student in [of_student[0].student]
        ]
        _write(destination, [head, possible, *rows])


class MoodleExport(Export):
    """What Moodle's "Grades, Import, CSV file" takes: docs.moodle.org, "Grade import".

    `-` is Moodle's own sign for no grade; an empty field in a new column would count as one. The feedback says why.
    """

    default_name = "moodle.csv"

    def write(self, destination: Path, scores: dict[str, list[Score]]) -> None:
        head = ["First name", "Surname", "ID number", "Email address"]
        for name in scores:
            head += [f"{self.column(name)} (Real)", f"{self.column(name)} (Feedback)"]
        rows = []
        for of_student in zip(*scores.values(), strict=True):
            student = of_student[0].student
            row: list[Any] = [student.first_name, student.last_name, student.id, student.email]
            for score in of_student:
                row += [_number(score.value) or "-", remark(score)]
            rows.append(row)
        _write(destination, [head, *rows])


class GradescopeExport(Export):
    """`<to>/<assignment>/<student>/results.json` for every submission that has a score."""

    default_name = "gradescope"

    def write(self, destination: Path, scores: dict[str, list[Score]]) -> None:
        for name, found in scores.items():
            for score in found:
                if score.value is None:
                    continue
                notebooks = self.course.assignment(name).released_names()
                kept = [self.course.result(score.student.id, name, notebook) for notebook in notebooks]
                results = results_of([each for each in kept if each], score.value, remark(score))
                path = destination / name / score.student.id / "results.json"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(
                    json.dumps(results, indent=2, ensure_ascii=False), encoding="utf-8", errors="replace"
                )


def remark(score: Score) -> str:
    """What a person has to know about a score; empty if there is nothing to say."""
    parts = [score.row.status] if score.row.status != "graded" else []
    if score.value is not None and score.row.penalty:
        parts.append(f"{score.row.penalty:g} points off for being late")
    if score.ungraded:
        parts.append(f"not graded yet: {', '.join(score.ungraded)}")
    return "; ".join(parts)


def _fields(score: Score) -> list[Any]:
    student, row = score.student, score.row
    penalty = None if score.value is None else row.penalty
    names = [student.id, student.last_name, student.first_name, student.email]
    return [*names, row.status, " ".join(score.ungraded), row.earned, penalty, score.value, score.maximum]


def _last_first(student: Student) -> str:
    return ", ".join(filter(None, [student.last_name, student.first_name])) or student.id


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.10g}"


def _write(path: Path, rows: list[list[Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([cell if cell == "-" else defused(cell) for cell in row] for row in rows)
