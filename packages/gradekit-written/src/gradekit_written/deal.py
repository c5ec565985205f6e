"""Deals out written answers to graders: who reads what, and the lists that say so.

A list is a CSV file for each grader, in which second readers type their scores.
"""

import csv
import math
import random
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path

from gradekit.course import Assignment, CourseError
from gradekit.course.files import write_atomically
from gradekit.course.printing import defused, first_of, printable, quoted
from gradekit.course.rubrics import RubricItem, rubric_items
from gradekit.grading.running_course import RunningCourse
from gradekit.page.displayed import Room
from gradekit.report.pages import save_page
from gradekit_written.answer_pages import (
    AnswerOnPage,
    answer_as_html,
    class_room,
    page_of_answers,
    question_as_html,
)
from gradekit_written.rubrics import numbered_items, rubric_of
from gradekit_written.written_answers import AnswerAsRead, AnswerReader, WrittenAnswer

_FOLDER = "dealt"
#: entry in the column `score` for a first reading, whose scores are in nbgrader's gradebook
_IN_FORMGRADER = "in formgrader"
_FIRST, _SECOND = "first", "second"
_COLUMNS = ("reading", "answer", "points", "score", "items", "link", "text", "notes", "rubric", "submission")
#: an item in the column `rubric`, and numbers of items in the column `items`
_NUMBERED = re.compile(r"(\d{1,3})\. \((\d+(?:\.\d+)?)\) (.*)")
_NUMBERS = re.compile(r"\d{1,3}(?:[\s,;]+\d{1,3})*")
_NAME = re.compile(r"\w[\w.@-]{0,39}")
#: characters of an answer in a list, and of each text on a page
_MAX_TEXT, _MAX_ON_PAGE = 10_000, 200_000
#: pictures or files that are named, and characters of what was typed in a sentence
_MAX_NAMED, _MAX_SHOWN = 10, 60
_ROUNDING = 1e-6


@dataclass(frozen=True)
class SecondScore:
    """The score of a second reading. `items` are the numbers of those given, as typed, in the numbered `rubric`."""

    score: float
    items: str = ""
    rubric: str = ""

    @property
    def numbered(self) -> dict[int, RubricItem]:
        found = map(_NUMBERED.fullmatch, self.rubric.splitlines())
        return {int(one[1]): RubricItem(float(one[2]), one[3]) for one in found if one}

    @property
    def given(self) -> set[RubricItem]:
        numbered = self.numbered
        return {numbered[int(number)] for number in re.findall(r"\d+", self.items)}


#: by submission and answer
Scores = dict[tuple[str, str], SecondScore]


@dataclass(frozen=True)
class Reading:
    """A submission that a grader reads; a `second` reading is only compared with the first."""

    submission: str
    grader: str
    second: bool = False


@dataclass(frozen=True)
class Dealt:
    """The contents of lists.

    Args:
        problems: sentences about rows, or lists, that can't be read, so that their scores are not among these.
        remarks: sentences about what was typed where it doesn't count.
    """

    readings: list[Reading]
    scores: Scores
    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def require_readable(self) -> None:
        """Raise a `CourseError` if a score could not be read, since writing the lists again would remove it."""
        if self.problems:
            raise CourseError(self.problems[0])

    def read(self, answers: Sequence[WrittenAnswer]) -> Iterator[tuple[Reading, WrittenAnswer]]:
        """Each answer with each of its readings."""
        of_submission: dict[str, list[WrittenAnswer]] = {}
        for answer in answers:
            of_submission.setdefault(answer.submission, []).append(answer)
        for reading in self.readings:
            yield from ((reading, answer) for answer in of_submission.get(reading.submission, ()))


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


def deal_out(
    submissions: Collection[str],
    graders: Sequence[str],
    twice: float = 0.0,
    seed: int = 0,
    kept: Iterable[Reading] = (),
) -> list[Reading]:
    """Assign each submission to a grader, and a share of them to a second one as well.

    The same arguments result in the same piles. They differ by at most one submission, unless those that are `kept` do.

    Args:
        twice: the share that two graders read, from 0 to 1, rounded up to whole submissions.
        kept: readings dealt out before, which stay with their graders.

    Raises:
        CourseError: one grader can't read anything twice.
    """
    if twice and len(graders) < 2:
        raise CourseError("--twice needs two graders: name them with --to ann,bob")
    order = sorted(submissions)
    random.Random(seed).shuffle(order)
    dealt = [reading for reading in kept if reading.submission in order]
    piles = Counter(dict.fromkeys(graders, 0))
    piles.update(reading.grader for reading in dealt)
    first = {reading.submission: reading.grader for reading in dealt if not reading.second}
    second = {reading.submission: reading.grader for reading in dealt if reading.second}
    for submission in order:
        if submission not in first:
            free = [grader for grader in graders if grader != second.get(submission)]
            first[submission] = min(free or graders, key=piles.__getitem__)
            piles[first[submission]] += 1
            dealt.append(Reading(submission, first[submission]))
    for _ in range(len(second), math.ceil(twice * len(order) - 1e-9)):
        grader, submission = _next_second(order, graders, piles, first, second)
        second[submission] = grader
        piles[grader] += 1
        dealt.append(Reading(submission, grader, second=True))
    return dealt


def _next_second(
    order: Sequence[str],
    graders: Sequence[str],
    piles: Counter[str],
    first: dict[str, str],
    second: dict[str, str],
) -> tuple[str, str]:
    """The grader with the smallest pile, and a submission, read by one person so far, from the largest pile."""
    for grader in sorted(graders, key=piles.__getitem__):
        left = [name for name in order if name not in second and first[name] != grader]
        if left:
            of_each = Counter(first[name] for name in left)
            return grader, max(left, key=lambda name: of_each[first[name]])
    raise AssertionError("with two graders, somebody can read any submission for the second time")


def read_lists(assignment: Assignment) -> Dealt:
    """Read the lists of an assignment; empty if nothing has been dealt out."""
    found = Dealt([], {})
    for path in _lists(assignment):
        try:
            one = _read(path)
        except CourseError as error:
            found.problems.append(str(error))
            continue
        found.readings.extend(one.readings)
        found.scores.update(one.scores)
        found.problems.extend(one.problems)
        found.remarks.extend(one.remarks)
    return found


def read_scores(path: Path, dealt: Dealt) -> Dealt:
    """Read a copy of a list, in which a grader has typed the scores of second readings.

    Raises:
        CourseError: the file, or a score in it, can't be read; or a row isn't one of the second readings, or there is no
            score at all.
    """
    second = {reading.submission for reading in dealt.readings if reading.second}
    found = _read(path)
    found.require_readable()
    for reading in found.readings:
        if reading.second and reading.submission not in second:
            name = printable(reading.submission)
            raise CourseError(f"{path}: {name} was not dealt out for a second reading")
    if not found.scores:
        raise CourseError(f"{path} has no score: type them into the column `score` of the rows `{_SECOND}`")
    return found


def write_lists(
    course: RunningCourse,
    assignment: Assignment,
    dealt: Dealt,
    answers: Sequence[WrittenAnswer],
    address: str,
) -> list[Path]:
    """Write a list for each grader, without names of students, and remove those of others; returns the paths.

    Beside a list is a page of the same name with the answers and their pictures: those of second readings, since a second
    reader must not see in formgrader how an answer has been graded, and those with files beside the notebook, which formgrader doesn't show.
    """
    folder = assignment.course.root / _FOLDER / assignment.name
    rows: dict[str, list[tuple[str, ...]]] = {}
    pages: dict[str, list[AnswerOnPage]] = {}
    rooms: dict[str, Room] = {}
    reader = AnswerReader(course, assignment)
    for reading, answer in dealt.read(answers):
        page = f"{reading.grader}.html"
        kind, score, items, text, rubric = _FIRST, _IN_FORMGRADER, "", "", ""
        with course.write_lock():
            read = reader.read(answer)
        if reading.second:
            known = dealt.scores.get((answer.submission, answer.cell))
            kind, score = _SECOND, "" if known is None else f"{known.score:g}"
            text = _harmless(_cut(read.in_cells, page))
            # the numbers that were typed are those of the rubric beside them
            items = known.items if known else ""
            rubric = known.rubric if known and items else _numbered(assignment, answer)
        on_page = reading.second or bool(read.files)  # formgrader shows no files beside the notebook
        if on_page:
            html = answer_as_html(read, rooms.setdefault(reading.grader, class_room()), _MAX_ON_PAGE)
            shown = AnswerOnPage(kind.capitalize(), answer.submission, answer.cell, html)
            pages.setdefault(reading.grader, []).append(shown)
        notes = _harmless("\n".join(_notes(read, page if on_page else "formgrader")))
        link = f"{address.rstrip('/')}/formgrader/submissions/{answer.submission}"
        cell, points = str(defused(answer.cell)), f"{answer.points:g}"
        row = (kind, cell, points, score, items, link, text, notes, _harmless(rubric), answer.submission)
        rows.setdefault(reading.grader, []).append(row)
    questions = {
        f"{cell} ({notebook}.ipynb)": question_as_html(assignment, notebook, cell)
        for notebook, cell in dict.fromkeys((answer.notebook, answer.cell) for answer in answers)
    }
    paths = []
    for grader in sorted({reading.grader for reading in dealt.readings}):
        table = StringIO()
        csv.writer(table).writerows([_COLUMNS, *rows.get(grader, [])])
        paths.append(folder / f"{grader}.csv")
        write_atomically(paths[-1], table.getvalue())
        if grader in pages:
            title = f"{assignment.name}: answers for {grader}"
            save_page(folder / f"{grader}.html", page_of_answers(title, questions, pages[grader]))
        else:
            (folder / f"{grader}.html").unlink(missing_ok=True)
    for path in set(_lists(assignment)) - set(paths):
        path.unlink()
        path.with_suffix(".html").unlink(missing_ok=True)
    return paths


def _notes(read: AnswerAsRead, where: str) -> Iterator[str]:
    """Sentences about an answer: what is uncertain, and what a cell of a table can't show but the page `where` does."""
    yield from read.notes
    if names := read.names:
        yield f"Pictures, which {where} shows: {first_of(names, _MAX_NAMED)}."
    if read.missing:
        yield f"Pictures that were not handed in: {first_of(read.missing, _MAX_NAMED)}."
    if read.files:
        yield f"Handed in beside the notebook (see {where}): {first_of(read.files, _MAX_NAMED)}."


def _cut(text: str, page: str) -> str:
    more = f"\n[{len(text) - _MAX_TEXT:,} more characters: see {page}]" if len(text) > _MAX_TEXT else ""
    return text[:_MAX_TEXT] + more


def _lists(assignment: Assignment) -> list[Path]:
    folder = assignment.course.root / _FOLDER / assignment.name
    return sorted(path for path in folder.glob("*.csv") if _NAME.fullmatch(path.stem))


def _numbered(assignment: Assignment, answer: WrittenAnswer) -> str:
    return numbered_items(rubric_items(rubric_of(assignment, answer.notebook, answer.cell))[0])


def _harmless(text: str) -> str:
    lines = text.split("\n")
    return "\n".join([str(defused(lines[0])), *(printable(line, None) for line in lines[1:])])


def _read(path: Path) -> Dealt:
    """A list, named after its grader.

    Raises:
        CourseError: it can't be read, or it is another file.
    """
    found, seen = Dealt([], {}), dict[Reading, None]()
    for line, row in _rows(path):
        submission, cell = row["submission"], row["answer"]
        second = row["reading"] == _SECOND
        seen[Reading(submission, path.stem, second)] = None
        where = f"{path}, line {line}, answer {printable(cell)} of the submission {printable(submission)}"
        if not second:
            cells = row["score"], row["items"]
            typed = [text for text in cells if text.strip() not in ("", _IN_FORMGRADER)]
            if typed:
                found.remarks.append(
                    f"{where}: {printable(' and '.join(typed), _MAX_SHOWN)} doesn't count, since this is a first reading: "
                    "grade it in formgrader"
                )
            continue
        try:
            score = _score(row)
        except ValueError as error:
            found.problems.append(f"{where}: {error}")
            continue
        if score is None:
            continue
        found.scores[submission, cell] = score
        total = _total(score, row)
        if score.items and abs(score.score - total) > _ROUNDING:
            found.remarks.append(
                f"{where}: the score {score.score:g} counts, although the items {score.items} add up to {total:g}"
            )
    found.readings.extend(seen)
    return found


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The line in which a row begins, and its cells."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = file.read().splitlines(keepends=True)
    except OSError as error:
        raise CourseError(f"{path} can't be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CourseError(f"{path} isn't in UTF-8: save it again as a CSV file in UTF-8") from None
    delimiter = max(",;", key="".join(lines[:1]).count)  # spreadsheets in many countries write semicolons
    rows = csv.DictReader(lines, delimiter=delimiter, restval="")
    missing = {"reading", "answer", "points", "score", "submission"} - set(rows.fieldnames or ())
    if missing:
        raise CourseError(
            f"{path} has no column {', '.join(sorted(missing))}: it isn't a list of `gradekit deal`"
        )
    for row in rows:
        cells = {name: row.get(name, "") for name in _COLUMNS}
        text = "".join(cell for cell in row.values() if isinstance(cell, str))
        spanned = len(f"{text}.".splitlines()) - 1
        yield rows.line_num - spanned, cells


def _score(row: Mapping[str, str]) -> SecondScore | None:
    """The score that was typed, or the sum of the items that were; None if there is neither.

    Raises:
        ValueError: one of the two is wrong. The message continues the place of the row.
    """
    text, points = row["score"].strip().replace(",", "."), row["points"].replace(",", ".")
    typed = SecondScore(0.0, row["items"].strip(), row["rubric"])
    if not text and not typed.items:
        return None
    numbered = typed.numbered
    if typed.items and (
        not _NUMBERS.fullmatch(typed.items) or set(map(int, re.findall(r"\d+", typed.items))) - set(numbered)
    ):
        items = f"the items {printable(typed.items, _MAX_SHOWN)} must be"
        if not numbered:
            raise ValueError(f"{items} empty, since there is no rubric: type the score")
        raise ValueError(f"{items} numbers from 1 to {len(numbered)}, separated by spaces")
    try:
        most = float(points)
        score = float(text) if text else _total(typed, row)
    except ValueError:
        score, most = -1.0, 0.0
    if not 0 <= score <= most:
        wrong = printable(text, _MAX_SHOWN)
        raise ValueError(f"the score {wrong} is not a number from 0 to {printable(points)}")
    return replace(typed, score=score)


def _total(typed: SecondScore, row: Mapping[str, str]) -> float:
    """The points of the items that were typed."""
    return min(float(row["points"].replace(",", ".")), sum(item.points for item in typed.given))
