"""`gradekit watch` with an exchange that isn't a folder, through nbgrader's classes for it."""

import os
import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import nbformat
import pytest

from gradekit.grading.running_course import RunningCourse
from gradekit_watch.exchange_store import ExchangeStore, digest_of_files, files_below
from gradekit_watch.polled_exchange import open_polled_way

from .database_exchange import Database
from .watching import FIRST, RIGHT, TRIPLE, WatchedExchange, Watching, nothing, until

SETTINGS = """
import sys
sys.path.append("{}")
c = get_config()
c.CourseDirectory.course_id = "tiny"
c.DatabaseExchange.path = "{}"
c.ExchangePolling.interval = 1
for name in ("ExchangeCollect", "ExchangeList", "ExchangeReleaseFeedback"):
    trait = name[8].lower() + name[9:].replace("Feedback", "_feedback")
    c.ExchangeFactory[trait] = "database_exchange." + name
"""


@dataclass
class OtherExchange(WatchedExchange):
    """The tiny course with an exchange that is a database."""

    @property
    def database(self) -> Database:
        return Database(self.root)

    @property
    def store(self) -> ExchangeStore:
        return ExchangeStore(self.course.root)

    def submit(self, student: str, answer: str = RIGHT, when: datetime | None = None, **files: str) -> str:
        """Hand in, a minute after the last hand-in; returns the time."""
        when = when or FIRST + timedelta(minutes=len(self.handed_in))
        self.handed_in.append(Path(student))
        time = f"{when:%Y-%m-%d %H:%M:%S.%f} UTC"
        notebook = {"double.ipynb": nbformat.writes(self.course.answer(answer))}
        self.database.submit("01_double", student, time, notebook | files)
        return time

    def given(self, student: str) -> list[tuple[str, str]]:
        """The times and scores of the pages that the exchange has."""
        words = ("10 of 15 points", "3 of 15 points")
        pages = ((time, " ".join(page.split())) for time, page in self.database.pages(student))
        return [(time, next((each for each in words if each in page), "")) for time, page in pages]


@pytest.fixture
def exchange(generated, tmp_path):
    path = tmp_path / "exchange.db"
    Database(path)
    found = OtherExchange(generated, path)
    found.settings(SETTINGS.format(Path(__file__).parent, path))
    return found


def refused(out: str) -> list[str]:
    return [line.split(" ", 1)[1] for line in out.splitlines() if "refused: " in line]


@pytest.mark.slow
def test_each_hand_in_gets_its_page(exchange, capfd):
    first = exchange.submit("ada", TRIPLE)
    other = exchange.submit("Zoë [ab]")
    assert exchange.watch() == 0
    out = capfd.readouterr().out
    assert "watching database_exchange.ExchangeCollect, asked every 1 seconds" in out
    assert "ada 01_double: 3 of 10 points, page on its way to the exchange after" in out
    assert exchange.given("ada") == [(first, "3 of 15 points")]
    assert exchange.given("Zoë [ab]") == [(other, "10 of 15 points")]

    second = exchange.submit("ada")
    assert exchange.watch() == 0
    assert exchange.given("ada") == [(first, "3 of 15 points"), (second, "10 of 15 points")]
    (page,) = (page for time, page in exchange.database.pages("ada") if time == second)
    assert "Attempt 2" in page
    (notebook,) = exchange.database.rows("SELECT submitted FROM pages WHERE timestamp = ?", first)
    assert "3 * x" in notebook[0]  # some exchanges know a page by the notebook that was handed in
    assert exchange.score("ada") == 10

    capfd.readouterr()
    assert exchange.watch() == 0
    assert " points, " not in capfd.readouterr().out
    assert len(exchange.given("ada")) == 2 and not exchange.store.pages()


@pytest.mark.thorough
def test_a_hand_in_that_a_later_one_replaced_before_it_could_be_collected_is_named(exchange, capfd):
    exchange.submit("ada")
    assert exchange.watch() == 0
    exchange.submit("ben", TRIPLE)
    later = exchange.submit("ben")
    capfd.readouterr()
    assert exchange.watch() == 0
    sentence = "The hand-in at 12:01 UTC on 10 January was replaced by this one before it could be collected, so it has no page."
    assert f"ben 01_double: {sentence}" in capfd.readouterr().out
    assert exchange.given("ben") == [(later, "10 of 15 points")]
    assert sentence in " ".join(exchange.database.pages("ben")[0][1].split())


@pytest.mark.slow
def test_hand_ins_that_can_not_be_collected_hold_up_nobody_and_are_tried_again(exchange, capfd):
    exchange.settings("c.ExchangePolling.timeout = 3")
    faults = {
        "ben": ("fails", "The exchange is tired"),
        "cleo": ("raises", "RuntimeError: what nobody has thought of"),
        "dan": ("exits", "the exchange gives up"),
        "eve": ("dies", "its process ended (-9)"),
        "fay": ("logs", "An error occurred"),
        "gus": ("hangs", "there was no answer within 3 seconds (c.ExchangePolling.timeout)"),
    }
    for student, (kind, _) in faults.items():
        exchange.submit(student)
        exchange.database.fault("collect", kind, student)
    good = {student: exchange.submit(student) for student in ("ada", "hal")}
    assert exchange.watch() == 1
    lines = refused(capfd.readouterr().out)
    for student, (_, why) in faults.items():
        assert any(
            f"{student} 01_double: refused: the hand-in could not be collected: {why}" in each
            for each in lines
        )
    assert len(lines) == len(faults)
    assert not any("Traceback" in line for line in lines)
    assert all(exchange.given(student) == [(time, "10 of 15 points")] for student, time in good.items())

    exchange.database.mend()
    assert exchange.watch() == 0
    assert all(len(exchange.given(student)) == 1 for student in [*faults, *good])
    assert exchange.status()["refused"] == []


@pytest.mark.thorough
def test_pages_that_the_exchange_does_not_take_are_named_and_given_later(exchange, capfd):
    for student, kind in {"ben": "fails", "cleo": "raises"}.items():
        exchange.submit(student)
        exchange.database.fault("release", kind, student)
    exchange.submit("dan")
    assert exchange.watch() == 1
    ben, cleo = refused(capfd.readouterr().out)
    words = "ben 01_double: refused: the page for 2026-01-10 12:00:00 UTC was not released: The exchange is tired. It is tried again"
    assert words in ben
    assert "12:01:00 UTC was not released: RuntimeError: what nobody has thought of" in cleo
    assert [len(exchange.given(student)) for student in ("ben", "cleo", "dan")] == [0, 0, 1]
    exchange.database.mend()
    assert exchange.watch() == 0
    assert " points, " not in capfd.readouterr().out
    assert [len(exchange.given(student)) for student in ("ben", "cleo", "dan")] == [1, 1, 1]


@pytest.mark.thorough
def test_an_exchange_that_is_away_for_a_while_is_waited_for_and_what_it_gave_is_graded(exchange):
    away = exchange.root.with_name("away")
    exchange.submit("ada")

    def leave():
        exchange.root.rename(away)

    def come_back():
        away.rename(exchange.root)
        exchange.submit("ben")

    texts = exchange.keep_watching(
        ("points, page", leave),
        (f"can't be asked for hand-ins: ConnectionError: no exchange at {exchange.root}", come_back),
        ("the exchange answers again", nothing),
        # the page of ada may have been on its way when the exchange went away
        ("points, page", lambda: until(lambda: all(map(exchange.given, ("ada", "ben"))))),
    )
    assert len([text for text in texts if "can't be asked" in text]) == 1
    assert [len(exchange.given(student)) for student in ("ada", "ben")] == [1, 1]


@pytest.mark.thorough
def test_what_was_collected_before_the_command_was_killed_is_graded_once(exchange, capfd):
    time = exchange.submit("ada")
    source = open_polled_way(RunningCourse.open(exchange.course.root), exchange.course.root, ()).source
    source.start(once=False)
    try:
        until(lambda: bool(exchange.store.polled.asked))
    finally:
        source._process.kill()  # as it is when the command is killed
    away = exchange.root.rename(exchange.root.with_name("away"))
    assert exchange.watch() == 1
    out = capfd.readouterr().out
    assert "the exchange can't be asked for hand-ins" in out
    assert "ada 01_double: 10 of 10 points" in out
    away.rename(exchange.root)
    assert exchange.watch() == 0
    assert " points, " not in capfd.readouterr().out
    assert exchange.given("ada") == [(time, "10 of 15 points")]
    assert len(exchange.attempts("ada").records) == 1


@pytest.mark.thorough
def test_nothing_is_lost_or_doubled_when_it_is_killed_again_and_again(exchange):
    times = {student: [exchange.submit(student, TRIPLE)] for student in ("ada", "ben", "cleo")}
    random.seed(5)
    for number in range(8):
        if number == 3:
            times["ada"].append(exchange.submit("ada"))
        Watching(exchange).kill_after(random.uniform(0, 6))
    assert exchange.watch() == 0
    for student, handed_in in times.items():
        assert sorted(time for time, _ in exchange.given(student))[-1] == handed_in[-1]
        records = exchange.attempts(student).records
        assert len(records) == len({record.handed_in for record in records}) == len(exchange.given(student))
    assert exchange.score("ada") == 10
    assert not exchange.store.pages() and not any(exchange.store.unfinished.glob("*"))


@pytest.mark.thorough
def test_what_the_instructor_graded_before_is_left_alone(exchange, capfd):
    for student in ("ada", "ben"):
        exchange.submit(student)
    for command in ("nbgrader collect", "gradekit autograde", "nbgrader generate_feedback"):
        done = exchange.course.run(*command.split(), "01_double")
        assert done.returncode == 0, done.stderr
    assert exchange.watch() == 0
    assert " points, " not in capfd.readouterr().out
    exchange.submit("ada", TRIPLE)
    assert exchange.watch() == 0
    assert "ada 01_double: 3 of 10 points" in capfd.readouterr().out
    assert [len(exchange.given(student)) for student in ("ada", "ben")] == [1, 0]


def test_links_in_a_hand_in_are_left_out_and_named(tmp_path):
    folder = tmp_path / "hand-in"
    (folder / "below").mkdir(parents=True)
    (folder / "double.ipynb").write_text("{}")
    (folder / "below" / "secret").symlink_to("/etc/passwd")
    (folder / "away").symlink_to("/etc")
    os.mkfifo(folder / "pipe")
    assert [path.name for path in files_below(folder)] == ["away", "double.ipynb", "pipe", "secret"]
    before = digest_of_files(folder)
    (folder / "double.ipynb").write_text("{ }")
    assert digest_of_files(folder) != before


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('c.ExchangeFactory.collect = "no_such_module.Collect"', "c.ExchangeFactory.collect can't be used: "),
        ("c.ExchangePolling.interval = 0", "c.ExchangePolling: The value of the 'interval' trait"),
        ("c.ExchangePolling.timeout = 'x'", "c.ExchangePolling: The 'timeout' trait"),
        (
            "c.ExchangePolling.intervall = 5",
            "there is no setting c.ExchangePolling.intervall. Did you mean `interval`?",
        ),
    ],
)
def test_settings_that_can_not_work_are_named_at_once(exchange, capfd, line, words):
    exchange.settings(line)
    assert exchange.watch() == 2
    assert words in capfd.readouterr().err


def test_classes_that_can_do_nothing_are_named(exchange, capfd):
    for name in ("collect", "list", "release_feedback"):
        kind = f"Exchange{name.title().replace('_', '')}"
        exchange.settings(f"c.ExchangeFactory.{name} = 'nbgrader.exchange.abc.{kind}'")
    assert exchange.watch() == 1
    words = (
        "the exchange can't be asked for hand-ins: its class can't do this. It is asked again every 1 seconds"
    )
    assert words in capfd.readouterr().out


@pytest.mark.thorough
def test_those_after_many_hand_ins_that_can_not_be_collected_have_their_turn(exchange, capfd):
    for number in range(12):
        exchange.submit(f"bad{number:02}")
        exchange.database.fault("collect", "fails", f"bad{number:02}")
    exchange.submit("good")
    texts = exchange.keep_watching(
        ("points, page", exchange.database.mend), *[("points, page", nothing)] * 12
    )
    assert len([text for text in texts if "could not be collected" in text]) == 12
    assert len([text for text in texts if "points, page" in text]) == 13


@pytest.mark.thorough
def test_a_class_that_only_logs_that_nothing_could_be_read_is_named_and_asked_again(exchange, capfd):
    exchange.submit("ada")
    exchange.database.fault("collect", "logs")
    assert exchange.watch() == 1
    assert "the exchange can't be asked for hand-ins: An error occurred." in capfd.readouterr().out
    assert exchange.store.polled.asked == set()
    exchange.database.mend()
    assert exchange.watch() == 0
    assert len(exchange.given("ada")) == 1
