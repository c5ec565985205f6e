"""The lists that say who grades which written answers: a CSV file per grader, in which second readers type their scores."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import nbformat

from gradekit.course import Assignment, CourseError
from gradekit.course.cells import find_cell, grade_id, is_answer_cell, nbgrader_metadata
from gradekit.course.files import write_atomically
from gradekit.course.printing import defused, printable, quoted
from gradekit.grading.grades import grades_of
from gradekit.grading.running_course import RunningCourse
from gradekit.report.deal import Reading

_FOLDER = "dealt"
#: entry in the column `score` for a first reading, whose scores are in nbgrader's gradebook
IN_FORMGRADER = "in formgrader"
_FIRST, _SECOND = "first", "second"
_COLUMNS = ("reading", "answer", "points", "score", "link", "text", "submission")
_NAME = re.compile(r"\w[\w.@-]{0,39}")
_MAX_TEXT = 10_000
#: the score of a second reading, by submission and answer
Scores = dict[tuple[str, str], float]


@dataclass(frozen=True)
class WrittenAnswer:
    """An answer that a person grades. `submission` is the id of the notebook in the gradebook; `score` is the manual one."""

    submission: str
    student: str
    notebook: str
    cell: str
    points: float
    score: float | None


@dataclass(frozen=True)
class Dealt:
    """The contents of the lists of an assignment."""

    readings: list[Reading]
    scores: Scores


def _folder_of(assignment: Assignment) -> Path:
    return assignment.course.root / _FOLDER / assignment.name


def answers_to_grade(course: RunningCourse, assignment: Assignment) -> list[WrittenAnswer]:
    """The answers that a person has graded or has to grade; an unanswered question already scores 0."""
    by_hand = {
        (name, grade_id(cell))
        for name in assignment.released_names()
        for cell in assignment.released(name).cells
        if nbgrader_metadata(cell).get("task")
        or (is_answer_cell(cell) and nbgrader_metadata(cell).get("grade"))
    }
    with course.alone(), course.gradebook() as gradebook:
        answers = [
            WrittenAnswer(id, student, notebook, grade.name, grade.max_score, grade.manual_score)
            for student, id, notebook, grade in grades_of(gradebook, assignment.name)
            if (notebook, grade.name) in by_hand
            and (grade.needs_manual_grade or grade.manual_score is not None)
        ]
    # formgrader has nothing to show for a file that isn't a notebook
    return [answer for answer in answers if _was_read(course, assignment, answer)]


def _was_read(course: RunningCourse, assignment: Assignment, answer: WrittenAnswer) -> bool:
    result = course.result(answer.student, assignment.name, answer.notebook)
    return result is None or not result.nothing_graded


def grader_names(text: str) -> list[str]:
    """The names after `--to`, which are also the names of files.

    Raises:
        CourseError: there is none, one is there twice, or one can't be the name of a file.
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    wrong = next((name for name in names if not _NAME.fullmatch(name)), None)
    if wrong is not None or not names:
        raise CourseError(f"--to {quoted(text)}: write the graders' names like ann,bob, without spaces")
    if len({name.lower() for name in names}) < len(names):
        raise CourseError(f"--to {quoted(text)} names somebody twice")
    return names


def read_lists(assignment: Assignment) -> Dealt:
    """Read the lists of an assignment; empty if nothing has been dealt out.

    Raises:
        CourseError: a list can't be read, or a score in it is not a number from 0 to the points of the answer.
    """
    found = Dealt([], {})
    for path in _lists(_folder_of(assignment)):
        seen: dict[Reading, None] = {}
        for submission, cell, second, score in _rows(path):
            seen[Reading(submission, path.stem, second)] = None
            if score is not None:
                found.scores[submission, cell] = score
        found.readings.extend(seen)
    return found


def read_scores(path: Path, dealt: Dealt) -> Scores:
    """The scores of second readings that a grader typed into a copy of a list.

    Raises:
        CourseError: as `read_lists`; or a row isn't one of the second readings, or there is no score at all.
    """
    second = {reading.submission for reading in dealt.readings if reading.second}
    scores: Scores = {}
    for submission, cell, is_second, score in _rows(path):
        if is_second and submission not in second:
            raise CourseError(f"{path}: {printable(submission)} was not dealt out for a second reading")
        if score is not None:
            scores[submission, cell] = score
    if not scores:
        raise CourseError(f"{path} has no score: type them into the column `score` of the rows `{_SECOND}`")
    return scores


def write_lists(
    course: RunningCourse,
    assignment: Assignment,
    dealt: Dealt,
    answers: Sequence[WrittenAnswer],
    address: str,
) -> list[Path]:
    """Write a list for each grader, without names of students, and remove those of others; returns the paths."""
    folder = _folder_of(assignment)
    of_submission: dict[str, list[WrittenAnswer]] = {}
    for answer in answers:
        of_submission.setdefault(answer.submission, []).append(answer)
    paths = []
    for grader in sorted({reading.grader for reading in dealt.readings}):
        rows = [
            row
            for reading in dealt.readings
            if reading.grader == grader
            for answer in of_submission.get(reading.submission, [])
            for row in [_row(course, assignment, reading.second, answer, dealt.scores, address)]
        ]
        path = folder / f"{grader}.csv"
        table = StringIO()
        csv.writer(table).writerows([_COLUMNS, *rows])
        write_atomically(path, table.getvalue())
        paths.append(path)
    for path in set(_lists(folder)) - set(paths):
        path.unlink()
    return paths


def _lists(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.csv") if _NAME.fullmatch(path.stem))


def _row(
    course: RunningCourse,
    assignment: Assignment,
    second: bool,
    answer: WrittenAnswer,
    scores: Scores,
    address: str,
) -> list[object]:
    link = f"{address.rstrip('/')}/formgrader/submissions/{answer.submission}"
    known = scores.get((answer.submission, answer.cell))
    score = ("" if known is None else f"{known:g}") if second else IN_FORMGRADER
    text = _text_of(course, assignment, answer) if second else ""
    reading = _SECOND if second else _FIRST
    return [reading, defused(answer.cell), f"{answer.points:g}", score, link, text, answer.submission]


def _text_of(course: RunningCourse, assignment: Assignment, answer: WrittenAnswer) -> str:
    """The answer, for those who must not see in formgrader how it has been graded."""
    path = course.autograded(answer.student, assignment.name) / f"{answer.notebook}.ipynb"
    if not path.is_file():
        return ""
    cell = find_cell(nbformat.read(path, as_version=4), answer.cell)
    lines = str(cell.source)[:_MAX_TEXT].split("\n") if cell is not None else [""]
    return "\n".join([str(defused(lines[0])), *(printable(line, None) for line in lines[1:])])


def _rows(path: Path) -> Iterator[tuple[str, str, bool, float | None]]:
    """Submission, answer, whether it is a second reading, and its score if there is one."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(f"{path} can't be read: {error}") from None
    # spreadsheets in many countries write semicolons
    delimiter = ";" if text.partition("\n")[0].count(";") > text.partition("\n")[0].count(",") else ","
    rows = csv.DictReader(text.splitlines(keepends=True), delimiter=delimiter)
    missing = {"reading", "answer", "points", "score", "submission"} - set(rows.fieldnames or ())
    if missing:
        raise CourseError(
            f"{path} has no column {', '.join(sorted(missing))}: it isn't a list of `gradekit deal`"
        )
    for row in rows:
        second = row["reading"] == _SECOND
        score = _score(path, rows.line_num, row) if second else None
        yield row["submission"] or "", row["answer"] or "", second, score


def _score(path: Path, line: int, row: Mapping[str, str]) -> float | None:
    text, points = (row["score"] or "").strip().replace(",", "."), row["points"].replace(",", ".")
    if not text:
        return None
    try:
        score, most = float(text), float(points)
    except ValueError:
        score, most = -1.0, 0.0
    if not 0 <= score <= most:
        raise CourseError(
            f"{path}, line {line}: the score {printable(text)} is not a number from 0 to {printable(points)}"
        )
    return score


def counts(readings: Iterable[Reading], grader: str) -> tuple[int, int]:
    """How many submissions a grader reads, and how many of them for the second time."""
    own = [reading for reading in readings if reading.grader == grader]
    return len(own), sum(reading.second for reading in own)
