"""The feedback page of an attempt: its line, and what it must not show before the deadline."""

import html
import json
import os
import re
from collections.abc import Iterator
from contextlib import chdir
from datetime import UTC, datetime, timedelta

import pytest
from bs4 import BeautifulSoup
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import v4
from traitlets.config import Config

from gradekit.attempts import AttemptRecord, Attempts, Page, outcomes_of
from gradekit.course.files import written_at
from gradekit.nbgrader_plugin.feedback import FeedbackExporter
from gradekit.nbgrader_plugin.steps import RESULT
from gradekit.verdict.results import CheckResult, ExerciseResult, SubmissionResult

HANDED_IN = datetime(2026, 1, 1, 12, tzinfo=UTC)
#: deadlines, from now
SOON, PAST = timedelta(days=1), timedelta(days=-1)
CONFIG = "from gradekit.nbgrader_plugin import configure\nc = get_config()\n{}\nconfigure(c)\n"
#: parts of a page that only say what the student handed in
_THEIRS = ".answer, details.given"


def feedback(course, settings: str = "", due: timedelta | None = None, student: str = "") -> None:
    (course.root / "nbgrader_config.py").write_text(CONFIG.format(settings))
    with course.gradebook() as book:
        deadline = datetime.now(UTC).replace(tzinfo=None) + due if due else None
        book.update_or_create_assignment("01_double", duedate=deadline)
    chosen = [f"--student={student}"] if student else []
    done = course.run("nbgrader", "generate_feedback", "01_double", "--force", *chosen)
    assert done.returncode == 0, done.stderr


def page(course, student: str) -> BeautifulSoup:
    path = course.root / "feedback" / student / "01_double" / "double.html"
    return BeautifulSoup(path.read_text(), "html.parser")


def text(found: BeautifulSoup) -> str:
    return " ".join(found.get_text(" ").split())


def result(course, student: str) -> SubmissionResult:
    return SubmissionResult.from_dict(course.autograded(student).metadata[RESULT])


def store(course, student: str, *points: float, due: timedelta = timedelta()) -> None:
    """Attempts with these points, an hour apart; the last is the one that was autograded, and passed the most checks."""
    attempts = Attempts.load(course.root, "01_double", student)
    now = outcomes_of(result(course, student))
    before = {exercise: dict.fromkeys(checks, "failed") for exercise, checks in now.items()}
    for hours_ago, earned in enumerate(reversed(points)):
        time = HANDED_IN - timedelta(hours=hours_ago)
        outcomes = before if hours_ago else now
        attempts.add(
            AttemptRecord(time, {"double": earned}, 15, 0, {"double": outcomes}, time + due, Page.RELEASED)
        )
    attempts.store()


def test_without_a_record_the_page_is_as_before(graded_class):
    feedback(graded_class, student="mistake")
    assert page(graded_class, "mistake").select(".attempt") == []
    assert "What changed" not in text(page(graded_class, "mistake"))


@pytest.mark.slow
def test_a_page_that_can_t_be_made_is_made_by_the_next_command_once_the_cause_is_gone(graded_class):
    broken = graded_class.root / ".gradekit/attempts/01_double/mistake.json"
    broken.mkdir(parents=True)
    command = ["nbgrader", "generate_feedback", "01_double", "--student=mistake"]
    done = graded_class.run(*command, "--force")
    assert done.returncode == 1 and "mistake.json can't be read" in done.stderr
    assert not (graded_class.root / "feedback/mistake/01_double").exists()
    broken.rmdir()
    assert graded_class.run(*command).returncode == 0
    assert page(graded_class, "mistake").select(".total")


def test_a_page_says_which_attempt_it_is_and_what_changed(graded_class):
    store(graded_class, "mistake", 3, 8)
    feedback(graded_class, "c.AttemptRules.attempts = 5", student="mistake")
    found = page(graded_class, "mistake")
    (line,) = found.select(".attempt")
    assert text(line) == (
        "Attempt 2. Starting with your next hand-in, you have 5 attempts in 24 hours. This attempt counts unless you hand in "
        "again."
    )
    heading = found.find("h2", string="What changed since attempt 1")
    assert text(heading.find_next("p")) == "5 points more."
    passed = [text(entry) for entry in heading.find_next("ul").select("li")]
    assert "half: Half of an even number." in passed


def test_a_record_of_another_time_is_not_this_attempt(graded_class):
    store(graded_class, "mistake", 8)
    (graded_class.root / "autograded/mistake/01_double/timestamp.txt").write_text("2026-01-01 12:00:01 UTC")
    feedback(graded_class, student="mistake")
    assert page(graded_class, "mistake").select(".attempt") == []


@pytest.mark.slow
@pytest.mark.parametrize("ahead", [0, 86_400])
def test_without_a_timestamp_the_time_at_which_the_notebook_arrived_counts(graded_class, ahead):
    """Its own time may be ahead, if it comes from a computer in another time zone."""
    notebook = graded_class.root / "submitted/blank/01_double/double.ipynb"
    own = datetime.now(UTC).timestamp() + ahead
    os.utime(notebook, (own, own))
    arrived = datetime.fromtimestamp(written_at(notebook.stat()), UTC)
    attempts = Attempts.load(graded_class.root, "01_double", "blank")
    attempts.add(AttemptRecord(arrived, {"double": 0}, 15, 0, {}, arrived, Page.RELEASED))
    attempts.store()
    feedback(graded_class, student="blank")
    assert text(page(graded_class, "blank").select_one(".attempt")).startswith("Attempt 1.")


def test_a_wrong_rule_stops_the_command_with_one_sentence(graded_class):
    config = graded_class.root / "nbgrader_config.py"
    config.write_text(CONFIG.format("c.AttemptRules.attempts = -1"))
    done = graded_class.run("nbgrader", "generate_feedback", "01_double", "--force")
    assert done.returncode != 0
    assert "AttemptRules" in done.stderr and "Traceback" not in done.stderr


def failed_checks(course) -> Iterator[tuple[str, CheckResult]]:
    for path in sorted((course.root / "autograded").glob("*/*/double.ipynb")):
        stored = json.loads(path.read_text())["metadata"][RESULT]
        for exercise in SubmissionResult.from_dict(stored).exercises:
            yield from ((path.parts[-3], check) for check in exercise.checks if check.outcome != "passed")


def verdicts(course, student: str) -> str:
    """All text of the page that the student has not written, with what attributes and comments hold."""
    found = page(course, student)
    for theirs in found.select(_THEIRS):
        theirs.decompose()
    return " ".join(html.unescape(str(found)).replace("<code>", "`").replace("</code>", "`").split())


def is_in(part: str, shown: str) -> bool:
    return " ".join(part.split()) in shown


@pytest.mark.slow
@pytest.mark.parametrize("due", [None, pytest.param(SOON, marks=pytest.mark.slow), PAST])
def test_all_messages_are_shown_without_a_rule_and_after_the_deadline(graded_class, due):
    rule = "" if due is not PAST else "c.AttemptRules.shows = 'exercises'"
    feedback(graded_class, rule, due)
    found = list(failed_checks(graded_class))
    assert len(found) > 10
    for student, check in found:
        shown = verdicts(graded_class, student)
        for part in (check.sentence, check.message, check.relation, check.diagnosis):
            assert is_in(part, shown), (student, part)


@pytest.mark.parametrize("due", [pytest.param(None, marks=pytest.mark.slow), SOON])
@pytest.mark.parametrize("shows", ["sentences", "exercises"])
def test_before_the_deadline_no_message_and_no_value_is_on_the_page(graded_class, shows, due):
    for student in ("mistake", "floor"):
        store(graded_class, student, 1, 2)
    feedback(graded_class, f"c.AttemptRules.shows = '{shows}'", due)
    for student, check in failed_checks(graded_class):
        shown = verdicts(graded_class, student)
        values = re.findall(r"-?\d+\.\d+|\([\d, ]+\)", check.message)
        numbers = map(str, check.fingerprint_numbers)
        for part in filter(None, (check.message, check.relation, *values, *numbers, check.fingerprint)):
            assert not is_in(part, shown), (student, part)
        assert is_in(check.sentence, shown) == (shows == "sentences"), (student, check.sentence)
        assert is_in(check.diagnosis, shown) == (shows == "sentences" or not check.diagnosis)


def test_with_exercises_a_page_has_no_checks_and_no_partial_points(graded_class):
    store(graded_class, "mistake", 1, 8)
    feedback(graded_class, "c.AttemptRules.shows = 'exercises'", SOON, student="mistake")
    found = page(graded_class, "mistake")
    earned = [exercise.earned for exercise in result(graded_class, "mistake").exercises]
    assert 0 < earned[0] < 10 and earned[1] == 5
    assert text(found.select_one(".total")) == "1 of 2 exercises right"
    rows = [text(row) for row in found.select(".points tbody tr")]
    assert rows == ["double – / 10 not right yet", "half 5 / 5 right", "why 0 / 5 not answered"]
    assert [text(part) for part in found.select(".verdict")] == ["double: ✗ not right yet", "half: ✓ right"]
    assert found.select(".gradekit-checks") == []
    assert "What to look at first" not in text(found)
    heading = found.find("h2", string="What changed since attempt 1")
    assert [text(entry) for entry in heading.find_next("ul").select("li")] == ["half"]


@pytest.mark.slow
def test_pages_with_exercises_do_not_tell_two_partly_right_answers_apart(graded_class):
    """One returns wrong values, the other ends its process when a check calls it."""
    feedback(graded_class, "c.AttemptRules.shows = 'exercises'", SOON)
    one, other = (verdicts(graded_class, student).replace(student, "") for student in ("mistake", "exits"))
    assert one == other


def test_until_the_grace_period_ends_no_more_is_shown(graded_class):
    rule = "c.AttemptRules.shows = 'exercises'\nc.AttemptRules.grace_minutes = {}"
    feedback(graded_class, rule.format(25 * 60), PAST, student="mistake")
    assert page(graded_class, "mistake").select(".gradekit-checks") == []
    feedback(graded_class, rule.format(23 * 60), PAST, student="mistake")
    assert page(graded_class, "mistake").select(".gradekit-checks") != []


@pytest.mark.slow
def test_an_extension_moves_the_time_at_which_everything_is_shown(graded_class):
    with graded_class.gradebook() as book:
        book.grant_extension("01_double", "mistake", days=3)
    feedback(graded_class, "c.AttemptRules.shows = 'exercises'", PAST)
    assert page(graded_class, "mistake").select(".gradekit-checks") == []
    assert page(graded_class, "floor").select(".gradekit-checks") != []


def exported(shows: str, course) -> str:
    """The page of an ordinary test cell that printed a secret."""
    mark = {"grade_id": "test_area", "grade": True, "locked": True, "points": 5, "score": 2.5}
    outputs = [
        v4.new_output("stream", text="expected 6.25\n"),
        v4.new_output("execute_result", {"text/plain": "2.5"}),
        v4.new_output("error", ename="AssertionError", evalue="6.25", traceback=["area(2.5) == 6.25"]),
    ]
    cell = v4.new_code_cell("area(2.5)", outputs=outputs, metadata={"nbgrader": mark})
    own = v4.new_code_cell("area(1)", outputs=[v4.new_output("stream", text="my own output\n")])
    check = CheckResult(
        "test_area", "Areas.", 5, "partly passed", "The value of the cell is 2.5.", credit=2.5
    )
    graded = SubmissionResult("graded", exercises=[ExerciseResult("test_area", [check], ordinary=True)])
    notebook = v4.new_notebook(cells=[own, cell], metadata={RESULT: graded.as_dict()})
    names = {"student": "ada", "assignment": "01_double", "notebook": "double", "score": 2.5, "max_score": 5}
    with chdir(course.root):
        exporter = FeedbackExporter(config=Config(AttemptRules={"shows": shows}))
        return exporter.from_notebook_node(notebook, ResourcesDict(nbgrader=names, metadata=ResourcesDict()))[
            0
        ]


def test_an_ordinary_test_cell_shows_what_it_displayed_only_when_everything_is_shown(tiny_course):
    assert "expected 6.25" in exported("everything", tiny_course)
    for shows in ("sentences", "exercises"):
        shown = exported(shows, tiny_course)
        assert "6.25" not in shown and "The value of the cell" not in shown
        assert "my own output" in shown


def test_partial_credit_of_an_ordinary_test_cell_is_not_shown_with_exercises(tiny_course):
    shown = exported("exercises", tiny_course)
    assert "2.5" not in shown
    assert "0 of 1 exercise right" in shown
