"""Deadlines are shown as they are understood, and a day is a day of the course's time zone."""

from datetime import UTC, datetime, timedelta

import pytest
from nbgrader.utils import parse_utc
from traitlets import TraitError

from gradekit.course import CourseError
from gradekit.course.course_time import CourseTime

BERLIN = CourseTime(zone="Europe/Berlin")
#: the last hour before the clocks change
AUTUMN = datetime(2026, 10, 24, 21, 59, tzinfo=UTC)  # 23:59 CEST; the next 23:59 is 25 hours later
SPRING = datetime(2026, 3, 28, 22, 59, tzinfo=UTC)  # 23:59 CET; the next 23:59 is 23 hours later


@pytest.mark.parametrize(
    ("deadline", "hours", "days"),
    [
        (AUTUMN, 0, 0),
        (AUTUMN, 0.01, 1),
        (AUTUMN, 24.5, 1),  # half past eleven the next evening
        (AUTUMN, 25, 1),
        (AUTUMN, 25.1, 2),
        (AUTUMN, 49, 2),
        (SPRING, 22.9, 1),
        (SPRING, 23, 1),
        (SPRING, 23.1, 2),
        (datetime(2026, 6, 1, 12, tzinfo=UTC), 24, 1),
        (datetime(2026, 6, 1, 12, tzinfo=UTC), 24.1, 2),
        (datetime(2026, 10, 25, 0, 30, tzinfo=UTC), 0.75, 1),  # 02:30 CEST, then 02:15 CET
        (AUTUMN, -5, 0),
    ],
)
def test_a_day_ends_at_the_time_of_the_deadline_even_when_the_clocks_change(deadline, hours, days):
    assert BERLIN.days_late(deadline, deadline + timedelta(hours=hours)) == days


def test_in_utc_every_day_has_24_hours():
    assert CourseTime().days_late(AUTUMN, AUTUMN + timedelta(hours=24)) == 1
    assert CourseTime().days_late(AUTUMN, AUTUMN + timedelta(hours=24, seconds=1)) == 2


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-09 23:59", "2026-03-09 22:59"),
        ("2026-07-09 23:59", "2026-07-09 21:59"),
        ("2026-03-09 23:59 UTC", "2026-03-09 23:59"),
        ("2026-07-09 23:59 America/New_York", "2026-07-10 03:59"),
        ("2026-07-09 23:59 +0200", "2026-07-09 21:59"),
        ("2026-07-09 23:59:00 -05:30", "2026-07-10 05:29"),
        ("2026-07-09T23:59", "2026-07-09 21:59"),
    ],
)
def test_a_deadline_is_read_in_the_course_s_zone_or_in_the_one_that_it_names(text, moment):
    assert BERLIN.read(text) == datetime.fromisoformat(moment).replace(tzinfo=UTC)


@pytest.mark.parametrize("zone", ["CEST", "EDT", "MESZ", "berlin", "+2", "+9999"])
def test_a_zone_that_is_not_understood_is_refused(zone):
    with pytest.raises(CourseError, match="there is no time zone"):
        BERLIN.read(f"2026-07-09 23:59 {zone}")


@pytest.mark.parametrize(
    "text",
    [
        *("tomorrow", "23:59", "2026-02-30 23:59", ""),
        *("9999-12-31 23:59 -14:00", "0001-01-01 00:00 +14:00", "9999-12-31 23:59 America/New_York"),
    ],
)
def test_what_is_no_time_is_refused(text):
    with pytest.raises(CourseError, match="isn't a date and a time"):
        BERLIN.read(text)


@pytest.mark.parametrize(
    ("text", "advised"),
    [
        ("2026-03-29 02:30", "2026-03-29 03:30"),
        ("2026-03-29 02:30 Europe/Berlin", "2026-03-29 03:30"),
        ("2026-03-08 02:00 America/New_York", "2026-03-08 03:00"),
    ],
)
def test_a_time_that_the_clocks_skip_is_refused_with_one_that_is_read(text, advised):
    with pytest.raises(CourseError, match=f"doesn't exist.*Write a time such as {advised}"):
        BERLIN.read(text)
    BERLIN.read(text.replace(text[:16], advised))


def test_a_time_that_comes_twice_is_the_first():
    assert BERLIN.read("2026-10-25 02:30") == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)


def test_plain_nbgrader_reads_such_zones_as_something_else():
    """So what it stored is shown. If one of these fails, nbgrader has learned to read them."""
    assert parse_utc("2026-07-09 23:59:00 EDT") == datetime(2026, 7, 9, 23, 59)
    assert parse_utc("2026-07-09 23:59:00 +0200") == datetime(2026, 7, 9, 23, 55, 40)


def test_a_zone_that_does_not_exist_is_a_wrong_setting():
    with pytest.raises(TraitError, match="isn't a time zone"):
        CourseTime(zone="Europe/Nowhere")


@pytest.mark.parametrize(
    ("zone", "words"),
    [("UTC", "2026-07-09 21:59 UTC"), ("Europe/Berlin", "2026-07-09 23:59 CEST (21:59 UTC)")],
)
def test_a_moment_is_shown_with_its_zone(zone, words):
    assert CourseTime(zone=zone).in_words(datetime(2026, 7, 9, 21, 59, tzinfo=UTC)) == words


def test_the_command_sets_and_shows_deadlines_and_extensions(graded_class, capsys):
    with (graded_class.root / "nbgrader_config.py").open("a") as file:
        file.write('c.CourseTime.zone = "Europe/Berlin"\n')
    assert graded_class.gradekit("deadline", "01_double") == 0
    assert graded_class.gradekit("deadline", "01_double", "2026-07-09 23:59") == 0
    assert graded_class.gradekit("deadline", "01_double", "2026-07-11 12:00", "--student", "right") == 0
    out = capsys.readouterr().out
    assert "01_double: no deadline\n" in out
    assert "01_double: deadline: 2026-07-09 23:59 CEST (21:59 UTC)\n" in out
    assert "  right: 2026-07-11 12:00 CEST (10:00 UTC)\n" in out
    with graded_class.gradebook() as gradebook:
        assert gradebook.find_assignment("01_double").duedate == datetime(2026, 7, 9, 21, 59)
        assert gradebook.find_submission("01_double", "right").duedate == datetime(2026, 7, 11, 10)
    assert graded_class.gradekit("table", "01_double") == 0
    assert graded_class.gradekit("watch", "--status") == 1
    assert capsys.readouterr().out.count("right: 2026-07-11 12:00 CEST (10:00 UTC)") == 2

    assert graded_class.gradekit("deadline", "01_double", "2026-07-09 23:59 CEST") == 2
    assert graded_class.gradekit("deadline", "01_double", "2026-07-11 12:00", "--student", "nobody") == 2
    err = capsys.readouterr().err
    assert "there is no time zone CEST" in err
    assert "`nbgrader db student add nobody`" in err


def test_an_extension_by_days_ends_at_the_deadline_s_time_of_day(graded_class, capsys):
    with (graded_class.root / "nbgrader_config.py").open("a") as file:
        file.write('c.CourseTime.zone = "Europe/Berlin"\n')
    extend = ["deadline", "01_double", "--student", "right", "--days"]
    assert graded_class.gradekit(*extend, "2") == 2
    assert "has no deadline to extend" in capsys.readouterr().err
    assert graded_class.gradekit("deadline", "01_double", "2026-10-24 23:59") == 0
    assert graded_class.gradekit(*extend, "2") == 0
    assert graded_class.gradekit("extend", "01_double", "right", "--days", "2") == 0, (
        "it counts from the deadline, so the same again changes nothing"
    )
    out = capsys.readouterr().out
    assert out.count("  right: 2026-10-26 23:59 CET (22:59 UTC)\n") == 2, "the clocks change in between"
    assert "`gradekit autograde 01_double --force`" in out
    for wrong, words in [
        (["--days", "2"], "--days needs --student"),
        (["--student", "right"], "--student needs either a TIME or --days"),
        (
            ["2026-10-25 12:00", "--student", "right", "--days", "2"],
            "--student needs either a TIME or --days",
        ),
        (["--student", "rihgt", "--days", "2"], "Did you mean `right`?"),
        (["--student", "right", "--days", "9" * 9], "isn't a date"),
        (["--student", "right", "--days", "9" * 99], "isn't a date"),
    ]:
        assert graded_class.gradekit("deadline", "01_double", *wrong) == 2
        assert words in capsys.readouterr().err


def test_an_extension_for_a_student_who_has_not_handed_in_warns_of_nothing(generated, recwarn):
    with generated.gradebook() as gradebook:
        gradebook.add_student("ada")
    assert generated.gradekit("deadline", "01_double", "2026-03-09 23:59") == 0
    assert generated.gradekit("extend", "01_double", "ada", "--days", "2") == 0
    assert [str(warning.message) for warning in recwarn] == []


def test_a_deadline_that_nbgrader_has_misread_is_noticed(graded_class, capsys):
    done = graded_class.run(
        "nbgrader", "db", "assignment", "add", "01_double", "--duedate=2026-07-09 23:59:00 +0200"
    )
    assert done.returncode == 0
    assert graded_class.gradekit("table", "01_double") == 0
    out = capsys.readouterr().out
    assert "deadline: 2026-07-09 23:55:40 UTC" in out and "Is this right?" in out


def test_the_page_says_when_the_deadline_is_and_when_it_was_handed_in(graded_class):
    graded_class.run("nbgrader", "db", "assignment", "add", "01_double", "--duedate=2026-01-01 11:00:00 UTC")
    done = graded_class.run("nbgrader", "generate_feedback", "01_double", "--student=right")
    assert done.returncode == 0, done.stderr
    page = (graded_class.root / "feedback/right/01_double/double.html").read_text()
    assert "Deadline: 2026-01-01 11:00 UTC." in page
    assert "Handed in: 2026-01-01 12:00 UTC." in page
