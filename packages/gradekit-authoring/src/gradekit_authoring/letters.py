"""Letters to students whose scores moved in a regrade, as text files and as a table for an LMS."""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry

from gradekit.attempts import AttemptRules, Shows
from gradekit.course import Assignment, CourseError
from gradekit.course.language import FeedbackPage, _, ngettext, speaking
from gradekit.course.printing import defused, printable
from gradekit.grading.running_course import RunningCourse
from gradekit.page.check_table import deadline_of
from gradekit.page.headings import page_titles
from gradekit.report.pages import folder_of
from gradekit.verdict.results import points_in_words, score_in_words
from gradekit_authoring.regrade import CheckMove, Move

_FOLDER, _TABLE = "letters", "letters.csv"
_COLUMNS = ("student", "email", "subject", "text")


@dataclass
class Letters:
    """Writes a letter for each student as soon as the new scores are in the gradebook, so that none is lost.

    `started` names the folder, so letters of an earlier regrade stay apart.
    """

    course: RunningCourse
    assignment: Assignment
    started: datetime
    count: int = 0
    _titles: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._language = FeedbackPage(config=self.course.config).language
        self._rule = AttemptRules(config=self.course.config).of(self.assignment.name)
        with speaking(self._language, self.course.root):
            pass  # a language that can't be used ends the command before anything is graded

    @property
    def folder(self) -> Path:
        return folder_of(self.assignment) / _FOLDER / f"{self.started:%Y-%m-%d_%H%M%S}"

    def write(self, moved: list[Move]) -> None:
        """Write the letter to the student of these moves; none if a person entered these scores."""
        if not moved:
            return
        student = moved[0].student
        with self.course.gradebook() as gradebook:
            moved = [move for move in moved if not _by_hand(gradebook, self.assignment.name, move)]
            deadline = deadline_of(gradebook, self.assignment.name, student)
            email = gradebook.find_student(student).email or ""
        if not moved:
            return
        shows = self._rule.shown(self.started.astimezone(UTC), deadline)
        with speaking(self._language, self.course.root):
            subject = _("%(assignment)s: your score has changed", assignment=self.assignment.name)
            text = "\n".join(letter_lines([self._titled(move) for move in moved], shows))
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / f"{student}.txt").write_text(f"{subject}\n\n{text}\n", encoding="utf-8")
        self._add_row([student, email, subject, text])
        self.count += 1

    def _add_row(self, row: list[str]) -> None:
        path = self.folder / _TABLE
        begins = not path.exists()
        with path.open("a", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            if begins:
                table.writerow(_COLUMNS)
            *cells, text = row
            table.writerow([*(str(defused(cell)) for cell in cells), text])  # a letter begins with no formula

    def _titled(self, move: Move) -> Move:
        if move.notebook not in self._titles:
            try:
                self._titles[move.notebook] = page_titles(self.assignment.released(move.notebook))
            except CourseError:
                self._titles[move.notebook] = {}
        test = move.exercise.rpartition("/")[2]
        return replace(move, exercise=self._titles[move.notebook].get(test, move.exercise))


def letter_lines(moved: list[Move], shows: Shows = Shows.EVERYTHING) -> Iterator[str]:
    """The text of a letter about one student's exercises, which shows no more than the student's page `shows`."""
    yield ngettext(
        "Your submission was graded again, and the score of one exercise has changed.",
        "Your submission was graded again, and the scores of %(exercises)s exercises have changed.",
        len(moved),
        exercises=len(moved),
    )
    for move in moved:
        yield ""
        before = "–" if move.before is None else f"{move.before:g}"
        yield _(
            "%(exercise)s: %(before)s before, %(score)s now.",
            exercise=printable(move.exercise),
            before=before,
            score=score_in_words(move.after, move.points),
        )
        if shows is not Shows.EXERCISES:
            for check in move.checks:
                yield from _about_check(check, shows)
    yield ""
    yield _("Your feedback page has all checks. If you have questions, reply to this letter.")


def _about_check(check: CheckMove, shows: Shows) -> Iterator[str]:
    sentence = printable(check.sentence or check.name, None)
    now = _(check.after) if check.after else _("removed")
    points = points_in_words(check.points if check.after else check.points_before)
    if check.before is None:
        kind = _("new check, %(points)s: %(now)s", points=points, now=now)
    elif check.before != check.after:
        then = _(check.before)
        kind = _("%(points)s: %(then)s before, %(now)s now", points=points, then=then, now=now)
    else:
        then = f"{check.points_before:g}"
        kind = _("worth %(points)s now, %(then)s before", points=points, then=then)
    yield f"- {sentence} ({kind})"
    why = [check.message, check.diagnosis] if shows is Shows.EVERYTHING else [check.diagnosis]
    for line in filter(None, why):
        yield f"  {printable(' '.join(line.split()), None)}"


def _by_hand(gradebook: Gradebook, assignment: str, move: Move) -> bool:
    """True if a person entered this score, which stays, whatever the checks say."""
    test = move.exercise.rpartition("/")[2]
    try:
        grade = gradebook.find_grade(test, move.notebook, assignment, move.student)
    except MissingEntry:
        return False
    return grade.manual_score is not None
