"""`gradekit watch`: hand-ins are graded as they arrive, and their pages released."""

import json
import os
import time
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from gradekit.grading.running_course import RunningCourse
from gradekit_watch import arrivals, waiting
from gradekit_watch.status import WatchStatus, status_lines

from .watching import FIRST, RIGHT, TRIPLE, exchange_of, nothing


@pytest.fixture
def exchange(generated, tmp_path):
    return exchange_of(generated, tmp_path / "exchange")


def points(out: str) -> list[str]:
    """The lines about graded hand-ins, without their times."""
    return [line.split(" ", 1)[1].split(",")[0] for line in out.splitlines() if " points, " in line]


@pytest.mark.slow
def test_hand_ins_are_graded_in_order_and_each_gets_its_page(exchange, capfd):
    first = exchange.hand_in("ada", TRIPLE)
    other = exchange.hand_in("Zoë van Dijk", RIGHT)
    second = exchange.hand_in("ada", RIGHT)
    assert exchange.watch() == 0
    assert points(capfd.readouterr().out) == [
        "ada 01_double: 3 of 10 points",
        "Zoë van Dijk 01_double: 10 of 10 points",
        "ada 01_double: 10 of 10 points",
    ]
    assert "You took three times the input." in exchange.page(first)
    assert "10 of 15 points" in exchange.page(other)
    assert "Attempt 2" in exchange.page(second)
    assert exchange.score("ada") == exchange.score("Zoë van Dijk") == 10

    assert exchange.watch() == 0
    assert points(capfd.readouterr().out) == []

    third = exchange.hand_in("ada", TRIPLE)
    assert exchange.watch("--json") == 0
    events = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [event["kind"] for event in events] == ["started", "problem", "released", "ended"]
    assert "but it arrived at" in events.pop(1)["text"]  # since the last run
    assert (events[1]["student"], events[1]["points"], events[1]["max_points"]) == ("ada", 3, 10)
    assert "Attempt 3" in exchange.page(third)

    assert exchange.course.gradekit("watch", "--status") == 1  # not running
    assert "last hour: 4 pages" in capfd.readouterr().out
    assert exchange.course.gradekit("watch", "--status", "--json") == 1
    status = json.loads(capfd.readouterr().out)
    assert (status["running"], status["waiting"], len(status["hour"])) == (False, 0, 4)


@pytest.mark.thorough
def test_what_the_instructor_has_graded_before_is_left_alone(exchange, capfd):
    exchange.hand_in("ada", TRIPLE)
    graded = exchange.hand_in("ada", RIGHT)
    with_page = exchange.hand_in("ben", RIGHT)
    for command in ("collect", "generate_feedback", "release_feedback"):
        if command == "generate_feedback":
            exchange.course.run("gradekit", "autograde", "01_double")
        done = exchange.course.run("nbgrader", command, "01_double")
        assert done.returncode == 0, done.stderr
    page = exchange.page(with_page)
    assert page and exchange.page(graded)
    assert exchange.watch() == 0
    assert points(capfd.readouterr().out) == []
    new = exchange.hand_in("ada", TRIPLE)
    assert exchange.watch() == 0
    assert points(capfd.readouterr().out) == ["ada 01_double: 3 of 10 points"]
    assert exchange.page(new)
    assert exchange.page(with_page) == page


@pytest.mark.slow
def test_a_page_beyond_the_attempts_is_held_until_it_is_due(exchange, capfd):
    exchange.settings("c.AttemptRules.attempts = 1")
    now = datetime.now(UTC)
    first = exchange.hand_in("ada", TRIPLE, now - timedelta(minutes=2))
    second = exchange.hand_in("ada", RIGHT, now - timedelta(minutes=1))
    assert exchange.watch() == 0
    assert "page held until" in capfd.readouterr().out
    assert exchange.page(first)
    assert not exchange.page(second)
    assert exchange.score("ada") == 10
    assert (exchange.status()["held"], bool(exchange.status()["next_due"])) == (1, True)
    assert [found["name"] for found in exchange.status()["held_ones"]] == ["ada 01_double"]
    assert exchange.watch() == 0
    assert "the held page" not in capfd.readouterr().out

    attempts = exchange.attempts("ada")
    attempts.add(replace(attempts.records[1], due=now))
    attempts.store()
    assert exchange.watch() == 0
    assert "ada 01_double: the held page was released" in capfd.readouterr().out
    assert "10 of 15 points" in exchange.page(second)
    assert exchange.attempts("ada").records[1].page == "released"
    assert exchange.status()["held"] == 0


@pytest.mark.slow
def test_rules_for_an_assignment_that_is_not_there_are_named(exchange, capfd):
    exchange.settings('c.AttemptRules.per_assignment = {"01_doubel": {"attempts": 1}}')
    assert exchange.watch() == 0
    assert "has rules for 01_doubel, but source/ has no such assignment" in capfd.readouterr().out


@pytest.mark.slow
def test_after_the_deadline_the_page_is_written_in_full_and_late_hand_ins_are_left(exchange, capfd):
    exchange.settings("c.AttemptRules.shows = 'exercises'", "c.AttemptRules.grace_minutes = 10")
    exchange.set_deadline(datetime.now(UTC) + timedelta(days=1))
    folder = exchange.hand_in("ada", TRIPLE)
    assert exchange.watch() == 0
    assert "You took three times the input." not in exchange.page(folder)

    exchange.set_deadline(FIRST + timedelta(minutes=5))
    in_time = exchange.hand_in("ben", RIGHT, FIRST + timedelta(minutes=14))
    late = exchange.hand_in("cleo", RIGHT, FIRST + timedelta(minutes=16))
    capfd.readouterr()
    assert exchange.watch() == 0
    assert exchange.page(in_time)
    assert not exchange.page(late)
    assert [found["name"] for found in exchange.status()["late_ones"]] == ["cleo 01_double"]
    out = capfd.readouterr().out
    assert "ada 01_double: after the deadline, the page was written again" in out
    assert (
        "cleo 01_double: handed in at 12:16 UTC on 10 January, after the deadline, so it is left to you"
        in out
    )
    assert "You took three times the input." in exchange.page(folder)
    assert exchange.watch() == 0
    assert "the page was written again" not in capfd.readouterr().out


@pytest.mark.thorough
def test_after_a_new_deadline_the_page_of_a_new_attempt_is_written_in_full_again(exchange, monkeypatch):
    monkeypatch.setattr(waiting, "LOOK_SECONDS", 0.3)
    exchange.settings("c.AttemptRules.shows = 'exercises'")
    exchange.set_deadline(FIRST + timedelta(minutes=5))
    exchange.hand_in("ada", TRIPLE)
    again = FIRST + timedelta(minutes=20)

    def extend():
        exchange.set_deadline(datetime.now(UTC) + timedelta(days=1))
        exchange.hand_in("ada", TRIPLE, again)

    exchange.keep_watching(
        ("the page was written again in full", extend),
        ("points, page released", lambda: exchange.set_deadline(again + timedelta(minutes=1))),
        ("the page was written again in full", nothing),
    )
    assert "You took three times the input." in exchange.page(exchange.handed_in[1])


@pytest.mark.thorough
def test_without_a_sandbox_a_hand_in_is_graded_once(generated, capfd, monkeypatch):
    monkeypatch.setattr(arrivals, "FOLDER_SECONDS", 0.2)
    config = generated.root / "nbgrader_config.py"
    config.write_text("".join(line for line in config.open() if "RunChecks" not in line))
    generated.hand_in("ada", generated.answer(RIGHT))
    assert generated.gradekit("watch", "--folder", "--once", "--workers", "1", "--sandbox", "none") == 0
    assert points(capfd.readouterr().out) == ["ada 01_double: 10 of 10 points"]
    assert len(list((generated.root / ".gradekit" / "results" / "01_double").iterdir())) == 1


@pytest.mark.thorough
def test_a_notebook_from_another_time_zone_is_graded_once(generated, capfd, monkeypatch):
    monkeypatch.setattr(arrivals, "FOLDER_SECONDS", 0.2)
    path = generated.hand_in("ada", generated.answer(RIGHT))
    tomorrow = time.time() + 24 * 3600
    os.utime(path, (tomorrow, tomorrow))
    for expected in (["ada 01_double: 10 of 10 points"], []):
        assert generated.gradekit("watch", "--folder", "--once", "--workers", "1") == 0
        assert points(capfd.readouterr().out) == expected


@pytest.mark.thorough
def test_a_notebook_with_another_ending_is_graded(generated, capfd, monkeypatch):
    monkeypatch.setattr(arrivals, "FOLDER_SECONDS", 0.2)
    path = generated.hand_in("ada", generated.answer(RIGHT))
    path.rename(path.with_name("double.ipynb.txt"))
    assert generated.gradekit("watch", "--folder", "--once", "--workers", "1") == 0
    assert points(capfd.readouterr().out) == ["ada 01_double: 10 of 10 points"]


@pytest.mark.slow
def test_a_folder_is_watched_without_an_exchange(generated, capfd, monkeypatch):
    monkeypatch.setattr(arrivals, "FOLDER_SECONDS", 0.2)
    path = generated.hand_in("ada", generated.answer(TRIPLE))
    page = generated.root / "feedback" / "ada" / "01_double" / "double.html"

    def watch():
        return generated.gradekit("watch", "--folder", "--once", "--workers", "1")

    assert watch() == 0
    assert points(capfd.readouterr().out) == ["ada 01_double: 3 of 10 points"]
    assert "You took three times the input." in page.read_text()
    assert watch() == 0
    assert points(capfd.readouterr().out) == []
    path.write_text(path.read_text().replace("3 * x", "2 * x"))
    assert watch() == 0
    assert points(capfd.readouterr().out) == ["ada 01_double: 10 of 10 points"]
    assert "10 of 15 points" in " ".join(page.read_text().split())


@pytest.mark.thorough
def test_in_a_folder_only_a_time_stamp_makes_a_hand_in_late(generated, capfd, monkeypatch):
    monkeypatch.setattr(arrivals, "FOLDER_SECONDS", 0.2)
    with RunningCourse.open(generated.root).gradebook() as book:
        book.update_or_create_assignment("01_double", duedate=FIRST.replace(tzinfo=None))
    for student in ("ada", "ben"):
        path = generated.hand_in(student, generated.answer(RIGHT))
    path.with_name("timestamp.txt").write_text("2026-01-11 12:00:00 UTC")
    generated.gradekit("watch", "--folder", "--once", "--workers", "1")
    out = capfd.readouterr().out
    assert points(out) == ["ada 01_double: 10 of 10 points"]
    assert "ben 01_double: handed in at 12:00 UTC on 11 January, after the deadline" in out


@pytest.mark.thorough
def test_changed_checks_and_settings_are_read_again(exchange):
    course = exchange.course
    checks = course.checks.read_text()
    pages = [exchange.hand_in("ada", TRIPLE)]

    def break_checks():
        course.checks.write_text(f"import nothing\n{checks}")
        pages.append(exchange.hand_in("ben", TRIPLE))

    def change_checks():
        course.checks.write_text(checks.replace("Any size will do.", "Each size will do."))

    def break_settings():
        exchange.settings("c.AttemptRules.attempts = 'many'")

    def change_settings():
        path = course.root / "nbgrader_config.py"
        path.write_text(path.read_text().replace("'many'", "7"))

    def hand_in():
        pages.append(exchange.hand_in("cleo", TRIPLE, datetime.now(UTC) - timedelta(seconds=1)))

    texts = exchange.keep_watching(
        ("points, page released", break_checks),
        ("No module named 'nothing'", change_checks),
        ("points, page released", break_settings),
        ("Until that is fixed, the previous settings are used", change_settings),
        ("the settings have changed", hand_in),
        ("points, page released", nothing),
    )
    assert len([text for text in texts if "No module named" in text]) == 1
    assert "Any size will do." in exchange.page(pages[0])
    assert "Each size will do." in exchange.page(pages[1])
    assert "6 of 7 left" in exchange.page(pages[2])


@pytest.mark.slow
def test_the_status_shows_no_past_moment_in_the_future():
    now = datetime(2026, 11, 25, 12, 5, 20, tzinfo=UTC)
    (line, *_) = status_lines(WatchStatus(started=now, updated=now), running=True)
    assert line.count("12:05 UTC") == 2
