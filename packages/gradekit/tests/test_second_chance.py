"""After the deadline and the feedback, one more hand-in earns a share of the points that it gains."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from gradekit.attempts import (
    AttemptRecord,
    Attempts,
    Chance,
    Counts,
    NoChance,
    Page,
    Rule,
    Shows,
    attempt_that_counts,
    is_in_time,
)
from gradekit.attempts.attempt_line import NotebookPage, attempt_line
from gradekit.verdict.results import SubmissionResult

from .needs import mostly_thorough

RIGHT = "def double(x):\n    return 2 * x"
TRIPLE = "def double(x):\n    return 3 * x"
#: in the past, so that everything is shown
DEADLINE = (datetime.now(UTC) - timedelta(days=2)).replace(hour=12, minute=0, second=0, microsecond=0)
HOUR = timedelta(hours=1)
HALF = Chance(0.5, timedelta(days=7))
PLUGIN = """
from gradekit.nbgrader_plugin import configure
c = get_config()
c.AssignLatePenalties.plugin_class = "gradekit.nbgrader_plugin.late.SecondChance"
{}
configure(c)
"""


def attempt(
    hours: float, points: float, second: bool = False, penalty: float = 0, due: float = 0
) -> AttemptRecord:
    """An attempt so many hours after the deadline, whose page is due `due` hours later."""
    time = DEADLINE + hours * HOUR
    return AttemptRecord(
        time, {"double": points}, 10, penalty, {}, time + due * HOUR, Page.RELEASED, second_chance=second
    )


def first_of(*records: AttemptRecord, hours: float = 24, rule: Rule | None = None) -> AttemptRecord:
    """The attempt that a hand-in so many hours after the deadline improves on."""
    when = DEADLINE + hours * HOUR
    return HALF.first_attempt(rule or Rule(), Attempts(Path(), records), when, DEADLINE)


def test_the_second_attempt_earns_a_share_of_what_it_gains():
    assert HALF.penalty(6, 10) == 2
    assert Chance(0.25, timedelta()).penalty(6, 10) == 3
    assert Chance(1, timedelta()).penalty(6, 10) == 0
    assert Chance(0, timedelta()).penalty(6, 10) == 4


def test_a_worse_second_attempt_has_no_penalty_and_does_not_count():
    assert HALF.penalty(6, 4) == 0
    first, second = attempt(-1, 6), attempt(24, 4, second=True)
    for counts in Counts:
        assert attempt_that_counts(counts, [first, second]) is first


def test_a_second_attempt_that_is_as_good_counts():
    first, second = attempt(-1, 6), attempt(24, 10, second=True, penalty=4)
    for counts in Counts:
        assert attempt_that_counts(counts, [first, second]) is second


def test_it_improves_on_the_attempt_that_counted_before():
    best, last = attempt(-2, 8), attempt(-1, 6)
    assert first_of(best, last) == last
    assert first_of(best, last, rule=Rule(counts=Counts.BEST)) == best


def test_the_grace_period_belongs_to_the_time_before():
    rule = Rule(grace=HOUR)
    assert is_in_time(rule, DEADLINE + HOUR, DEADLINE)
    assert not is_in_time(rule, DEADLINE + 1.01 * HOUR, DEADLINE)
    assert is_in_time(rule, DEADLINE + 100 * HOUR, None)


@pytest.mark.parametrize(
    ("records", "hours", "reason"),
    [
        ([], 24, "there is no record of an attempt before the deadline"),
        ([attempt(-1, 6)], 7 * 24 + 1, "when the second chance had ended"),
        (
            [attempt(-1, 6), attempt(2, 6, second=True)],
            24,
            "the second chance was used by the hand-in of 14:00 UTC",
        ),
        ([attempt(-1, 6, due=30)], 24, "when the last page from before the deadline is released"),
    ],
)
def test_there_is_one_second_chance_after_the_last_page_and_for_some_days(records, hours, reason):
    with pytest.raises(NoChance, match=reason):
        first_of(*records, hours=hours)


def test_grading_the_second_attempt_again_is_no_third_one():
    first, second = attempt(-1, 6), attempt(24, 8, second=True)
    assert first_of(first, second, hours=24) == first


def sentences(*records: AttemptRecord, number: int, now: float) -> tuple[str, ...]:
    page = NotebookPage(
        "nb", SubmissionResult("graded"), Shows.EVERYTHING, DEADLINE + now * HOUR, DEADLINE, HALF
    )
    line = attempt_line(Attempts(Path(), records), records[number - 1].handed_in, Rule(), page)
    assert line is not None
    return line.sentences


def test_the_last_page_before_the_deadline_offers_the_second_chance():
    offer, counts = sentences(attempt(-1, 6), number=1, now=1)
    assert offer.startswith("You may hand in once more until 12:00 UTC on ")
    assert offer.endswith(": 50% of the points that you gain count.")
    assert counts == "This attempt counts."
    assert sentences(attempt(-1, 6), number=1, now=8 * 24) == ("This attempt counts.",)


def test_the_page_of_the_second_chance_says_in_words_what_came_of_it():
    better = attempt(-1, 6), attempt(24, 10, second=True, penalty=2)
    assert sentences(*better, number=2, now=25) == (
        "This was your second chance: attempt 1 had 6 points, this one has 10 points.",
        "Of what you gained, 2 points will not count.",
        "This attempt counts, with 8 points.",
    )
    worse = attempt(-1, 6), attempt(24, 4, second=True)
    assert sentences(*worse, number=2, now=25) == (
        "This was your second chance: attempt 1 had 6 points, this one has 4 points.",
        "Attempt 1, with 6 points, counts.",
    )


def prepared(course, first: float | None, settings: str = "", source: str = RIGHT) -> None:
    """Ada hands in a day after the deadline; before it, she had `first` points."""
    (course.root / "nbgrader_config.py").write_text(PLUGIN.format(settings))
    with course.gradebook() as book:
        book.update_or_create_assignment("01_double", duedate=DEADLINE.replace(tzinfo=None))
    if first is not None:
        attempts = Attempts.load(course.root, "01_double", "ada")
        attempts.add(attempt(-1, first))
        attempts.store()
    path = course.hand_in("ada", course.answer(source))
    path.with_name("timestamp.txt").write_text(f"{DEADLINE + 24 * HOUR:%Y-%m-%d %H:%M:%S} UTC")


def scores(course) -> tuple[float, float]:
    with course.gradebook() as book:
        submission = book.find_submission("01_double", "ada")
        return submission.score, submission.late_submission_penalty


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "settings", "penalty"),
    mostly_thorough(
        [
            (3, "", 3.5),
            (3, "c.SecondChance.share = 0.25", 5.25),
            (10, "", 0),
            (0, "c.SecondChance.share = 1", 0),
        ]
    ),
)
def test_the_gradebook_has_the_first_points_and_a_share_of_those_gained(generated, first, settings, penalty):
    prepared(generated, first, settings)
    assert generated.gradekit("autograde", "01_double", "--workers", "1") == 0
    assert scores(generated) == (10, penalty)


@pytest.mark.thorough
def test_page_and_table_name_the_second_chance(generated):
    prepared(generated, 3)
    assert generated.gradekit("autograde", "01_double", "--workers", "1") == 0
    attempts = Attempts.load(generated.root, "01_double", "ada")
    attempts.add(attempt(24, 10, second=True, penalty=3.5))
    attempts.store()
    done = generated.run("nbgrader", "generate_feedback", "01_double")
    assert done.returncode == 0, done.stderr
    path = generated.root / "feedback" / "ada" / "01_double" / "double.html"
    page = BeautifulSoup(path.read_text(), "html.parser")
    assert page.select_one(".total b").text == "6.5 of 15 points"
    rows = [[cell.text for cell in row.select("td")] for row in page.select(".points tbody tr")]
    assert ["second chance", "−3.5", "a share of the points gained counts"] in rows
    table = generated.run("gradekit", "table", "01_double").stdout
    assert "second chance" in table and "-3.5" in table


@pytest.mark.slow
def test_without_a_record_nothing_is_written_and_one_sentence_says_why(generated):
    prepared(generated, None)
    done = generated.run("gradekit", "autograde", "01_double", "--workers", "1")
    assert done.returncode == 0, "the student is too late, which is nobody else's trouble"
    assert generated.gradekit("autograde", "01_double", "--workers", "1", "--strict") == 1
    assert "there is no record of an attempt before the deadline" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert not (generated.root / "autograded").exists()
    table = generated.run("gradekit", "table", "01_double").stdout
    assert "ada      not autograded" in table


@pytest.mark.slow
def test_nbgrader_autograde_says_the_same(generated):
    prepared(generated, None)
    done = generated.run("nbgrader", "autograde", "01_double")
    assert done.returncode == 0
    assert (
        "01_double, ada: not graded: there is no record of an attempt before the deadline, which a second chance would "
        "improve on." in done.stderr
    )
    assert "Traceback" not in done.stderr
    assert not (generated.root / "autograded").exists()


@pytest.mark.parametrize("command", ["gradekit autograde 01_double", "nbgrader autograde 01_double"])
@pytest.mark.slow
def test_who_is_too_late_keeps_the_grade_of_before_and_stops_nobody(generated, command):
    prepared(generated, None)
    time = generated.root / "submitted/ada/01_double/timestamp.txt"
    time.write_text(f"{DEADLINE - HOUR:%Y-%m-%d %H:%M:%S} UTC")
    assert generated.run(*command.split()).returncode == 0
    before = generated.autograded("ada")
    prepared(generated, None, source=TRIPLE)
    zoe = generated.hand_in("zoe", generated.answer(RIGHT))
    shutil.copy(generated.root / "autograded/ada/01_double/timestamp.txt", zoe.parent)
    done = generated.run(*command.split())
    assert "ada: not graded: there is no record" in done.stdout + done.stderr
    assert scores(generated) == (10, 0)
    assert generated.autograded("ada") == before
    assert generated.grades()["zoe"]


@pytest.mark.thorough
def test_who_hands_in_in_time_needs_no_record(generated):
    prepared(generated, None)
    path = generated.root / "submitted/ada/01_double/timestamp.txt"
    path.write_text(f"{DEADLINE - HOUR:%Y-%m-%d %H:%M:%S} UTC")
    assert generated.gradekit("autograde", "01_double", "--workers", "1") == 0
    assert scores(generated) == (10, 0)


def test_a_wrong_share_is_one_sentence(generated):
    prepared(generated, 3, "c.SecondChance.share = 2")
    done = generated.run("gradekit", "autograde", "01_double")
    assert done.returncode != 0
    assert "nbgrader_config.py, line 5" in done.stderr and "SecondChance" in done.stderr
