"""Plugins of `nbgrader export` that write scores for Canvas, Moodle and Gradescope, or as a plain table.

Students without a grade get an empty field, not a 0.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from nbgrader.api import Assignment as AssignmentEntry
from nbgrader.api import Gradebook, MissingEntry, Student
from nbgrader.plugins import ExportPlugin
from traitlets import Dict, Unicode

from gradekit.course import CourseError
from gradekit.course.cells import exercise_name, is_automatic
from gradekit.course.printing import did_you_mean, quoted
from gradekit.grading.running_course import RunningCourse
from gradekit.report.table import LATE, NOT_IN_GRADEBOOK, Row, class_table, write_rows
from gradekit.session.values import CheckOutcome
from gradekit.verdict.results import STATUSES, CheckResult, Status, SubmissionResult


@dataclass(frozen=True)
class StudentScore:
    """The score of one student in one assignment. `value` is after the late penalty, like nbgrader's score.

    `titles` are the names of the graded cells in text for people.
    """

    student: Student
    row: Row
    maximum: float
    titles: dict[str, str]
    penalty_name: str = LATE

    @property
    def value(self) -> float | None:
        return self.row.total

    @property
    def ungraded(self) -> list[str]:
        """The cells awaiting manual grading, if the submission has a score already."""
        if self.value is None:
            return []
        return [self.titles.get(name, name) if is_automatic(name) else name for name in self.row.waiting]


class Export(ExportPlugin):
    """Accepts `--to`, `--assignment` and `--student`, as nbgrader's own export does."""

    default_name = "grades.csv"
    #: the gradebook's column by which the other program finds students, and the one that it falls back on
    found_by, or_by = "", ""
    columns = Dict(
        value_trait=Unicode(), help="the name of each assignment in the other program, if it differs"
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
            self._warn(name, found)
        if out := sorted(self._left_out):
            self.log.warning(
                "Left out, since they are not in the gradebook (%d): %s", len(out), ", ".join(out)
            )
        graded = [score.student for found in scores.values() for score in found if score.value is not None]
        lost = {student.id for student in graded if self.found_by and not getattr(student, self.found_by)}
        if lost:
            self.log.warning(
                "These students have no %s, so they are only found if their ids are the %s there (%d): %s",
                *(self.found_by, self.or_by, len(lost), ", ".join(sorted(lost))),
            )
        print(f"{destination}: {', '.join(scores) or 'no assignment'}")

    def write(self, destination: Path, scores: dict[str, list[StudentScore]]) -> None:
        """Write the scores of each assignment; all list the same students in the same order."""
        raise NotImplementedError

    def takes(self, row: Row) -> bool:
        """True if the other program can know this student; it may refuse a whole file because of one whom it doesn't."""
        return row.in_gradebook

    @cached_property
    def _left_out(self) -> set[str]:
        return set()

    def column(self, assignment: str) -> str:
        return str(self.columns.get(assignment, assignment))

    @cached_property
    def course(self) -> RunningCourse:
        """It is opened, and not taken from the command, since that finds mistakes in the configuration."""
        course = RunningCourse.open(Path(self.parent.coursedir.root))
        course.folders.db_url = self.parent.coursedir.db_url  # perhaps from the command line
        return course

    def _scores(self, gradebook: Gradebook, name: str) -> Iterator[StudentScore]:
        try:
            entry: AssignmentEntry = gradebook.find_assignment(name)
        except MissingEntry:
            known = [entry.name for entry in gradebook.assignments]
            has = (
                f"it has {', '.join(known)}{did_you_mean(name, known)}"
                if known
                else f"run `nbgrader generate_assignment {quoted(name)} --force` first"
            )
            raise CourseError(f"the gradebook has no {name}; {has}") from None
        students = {student.id: student for student in gradebook.students}
        wanted = {str(student) for student in self.student}
        table = class_table(self.course, self.course.assignment(name))
        for row in table.rows:
            if not self.takes(row):
                self._left_out.add(row.student)
            elif not wanted or row.student in wanted:
                student = students.get(row.student) or Student(id=row.student)
                yield StudentScore(student, row, entry.max_score, table.titles, table.penalty_name)

    def _warn(self, assignment: str, scores: list[StudentScore]) -> None:
        without = Counter(score.row.status for score in scores if score.value is None)
        if without:
            counts = ", ".join(f"{count} {status}" for status, count in without.most_common())
            self.log.warning("%s: no score for %s", assignment, counts)
        if waiting := sum(bool(score.ungraded) for score in scores):
            self.log.warning(
                "%s: scores without the answers awaiting manual grading: %d", assignment, waiting
            )


class TableExport(Export):
    """Names, status, cells awaiting manual grading, and score; no score if nothing was graded."""

    def takes(self, row: Row) -> bool:
        return row.status != NOT_IN_GRADEBOOK

    def write(self, destination: Path, scores: dict[str, list[StudentScore]]) -> None:
        head = ["assignment", "student_id", "last_name", "first_name", "email", "status", "ungraded"]
        head += ["raw_score", "late_submission_penalty", "score", "max_score"]
        rows = [[name, *_fields(score)] for name, found in scores.items() for score in found]
        write_rows(destination, [head, *rows])


class CanvasExport(Export):
    """A CSV file that Canvas's gradebook imports.

    It has only the columns that `lib/gradebook_importer.rb` in github.com/instructure/canvas-lms looks for, because any
    other, such as a status, would become a new assignment. `columns` holds the heading of an assignment in
    Canvas's own export: `{"02_attention": "Attention (4711)"}`.
    """

    default_name = "canvas.csv"
    found_by, or_by = "lms_user_id", "logins"

    def write(self, destination: Path, scores: dict[str, list[StudentScore]]) -> None:
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
        write_rows(destination, [head, possible, *rows])


class MoodleExport(Export):
    """A CSV file for Moodle's "Grades, Import, CSV file" (docs.moodle.org, "Grade import").

    `-` is Moodle's own sign for no grade; an empty field in a new column would count as a grade. The feedback says why.
    """

    default_name = "moodle.csv"
    found_by, or_by = "email", "ID numbers"

    def write(self, destination: Path, scores: dict[str, list[StudentScore]]) -> None:
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
        write_rows(destination, [head, *rows])


class GradescopeExport(Export):
    """Writes `<to>/<assignment>/<student>/results.json` for every submission that has a score."""

    default_name = "gradescope"

    def write(self, destination: Path, scores: dict[str, list[StudentScore]]) -> None:
        for name, found in scores.items():
            for score in found:
                if score.value is None:
                    continue
                results = gradescope_results(score.row.results, score.value, remark(score), score.titles)
                path = destination / name / score.student.id / "results.json"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(
                    json.dumps(results, indent=2, ensure_ascii=False), encoding="utf-8", errors="replace"
                )


def remark(score: StudentScore) -> str:
    """Status, penalty and cells awaiting manual grading, as text for people; may be empty."""
    parts = [score.row.status] if score.row.status != Status.GRADED else []
    if score.value is not None and score.row.penalty:
        why = "for being late"
        if score.penalty_name != LATE:
            why = "since only a share of the points gained by the second chance counts"
        parts.append(f"{score.row.penalty:g} points off {why}")
    if score.ungraded:
        parts.append(f"not graded yet: {', '.join(score.ungraded)}")
    return "; ".join(parts)


def _fields(score: StudentScore) -> list[Any]:
    student, row = score.student, score.row
    penalty = None if score.value is None else row.penalty
    names = [student.id, student.last_name, student.first_name, student.email]
    return [*names, row.status, " ".join(score.ungraded), row.earned, penalty, score.value, score.maximum]


def _last_first(student: Student) -> str:
    return ", ".join(filter(None, [student.last_name, student.first_name])) or student.id


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.10g}"


def gradescope_results(
    results: Sequence[SubmissionResult],
    score: float,
    remark: str = "",
    titles: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The content of Gradescope's `results.json`.

    The format is documented at gradescope-autograders.readthedocs.io: "Autograder Specifications", "Output format".

    Args:
        results: one for each notebook of the submission.
        score: replaces the sum of the tests, since it includes written answers and penalties.
        remark: a line for the student.
        titles: the names of the exercises, by grade_id.
    """
    lines = [remark, *(STATUSES[result.status] for result in results)]
    lines += [note for result in results for note in result.all_notes]
    exercises = [exercise for result in results for exercise in result.exercises]
    names = [(titles or {}).get(each.grade_id, exercise_name(each.grade_id)) for each in exercises]
    return {
        "score": score,
        "execution_time": round(sum(result.seconds for result in results), 3),
        "output": "\n".join(filter(None, lines)),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [
            _gradescope_test(f"{number}.{place}", name, check)
            for number, (name, exercise) in enumerate(zip(names, exercises, strict=True), 1)
            for place, check in enumerate(exercise.checks, 1)
        ],
    }


def _gradescope_test(number: str, exercise: str, check: CheckResult) -> dict[str, Any]:
    mistake = f"Likely mistake: {check.diagnosis}" if check.diagnosis else ""
    why = check.outcome if check.outcome not in (CheckOutcome.PASSED, CheckOutcome.FAILED) else ""
    return {
        "name": f"{exercise}: {check.sentence}",
        "number": number,
        "score": check.earned,
        "max_score": check.points,
        "status": "passed" if check.outcome == CheckOutcome.PASSED else "failed",
        "output": "\n".join(filter(None, [why, check.message, check.relation, mistake])),
        "output_format": "text",
        "visibility": "visible",
    }
