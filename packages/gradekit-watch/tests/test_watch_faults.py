"""`gradekit watch` when something goes wrong: one clear line, and nothing is lost, doubled or half written."""

import errno
import hashlib
import os
import random
import shutil
import signal
import time
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace as replaced
from sqlalchemy.exc import OperationalError

from gradekit.attempts import Attempts, Page
from gradekit.grading import write
from gradekit.grading.write import AutogradeOne
from gradekit.nbgrader_plugin import collecting
from gradekit_watch import loop, waiting
from gradekit_watch.pipeline import Pipeline
from gradekit_watch.status import locked, read_status, status_lines

from .watching import (
    FIRST,
    RIGHT,
    TRIPLE,
    WatchedExchange,
    Watching,
    exchange_of,
    nothing,
    pid_of_watch,
    until,
)

KILLS = 12


@pytest.fixture
def exchange(generated, tmp_path):
    return exchange_of(generated, tmp_path / "exchange")


def refused(out: str) -> list[str]:
    return [line for line in out.splitlines() if "refused: " in line or "not graded: " in line]


@pytest.mark.slow
def test_hand_ins_that_are_refused_hold_up_nobody(exchange, capfd):
    exchange.hand_in("..")
    (exchange.hand_in("ben") / "double.ipynb").unlink()
    folder = exchange.hand_in("ada")
    assert exchange.watch() == 1
    lines = refused(capfd.readouterr().out)
    assert len(lines) == 2
    assert "has a student's name that nbgrader can't handle" in lines[0]
    assert lines[1].endswith("ben 01_double: not graded: it has no notebook")
    assert exchange.page(folder)
    status = exchange.status()
    assert [len(status[name]) for name in ("refused", "not_graded")] == [1, 1]
    assert exchange.watch() == 1
    assert [line for line in refused(capfd.readouterr().out) if "refused: " in line] == []


@pytest.mark.slow
def test_hand_ins_for_an_assignment_that_was_removed_wait(exchange, capfd):
    folder = exchange.hand_in("ada")
    removed = exchange.hand_in("ben")
    removed.rename(removed.with_name(removed.name.replace("01_double", "02_gone")))
    assert exchange.watch() == 1
    lines = [line for line in capfd.readouterr().out.splitlines() if "02_gone" in line]
    assert [line.split(" ", 1)[1] for line in lines] == [
        "02_gone: its hand-ins wait: source/ has no such assignment"
    ]
    assert exchange.page(folder)


@pytest.mark.slow
def test_a_hand_in_that_is_deleted_while_it_is_graded_gets_its_page(exchange, capfd, monkeypatch):
    folder = exchange.hand_in("ada")
    copy = shutil.copytree(folder, exchange.root / "copy")
    finish = Pipeline.finish

    def delete_and_finish(pipeline, submission, hand_in):
        shutil.rmtree(folder)
        return finish(pipeline, submission, hand_in)

    monkeypatch.setattr(Pipeline, "finish", delete_and_finish)
    assert exchange.watch() == 0
    assert exchange.page(copy)


@pytest.mark.slow
def test_a_hand_in_that_is_deleted_before_it_is_collected_costs_nothing_else(exchange, capfd, monkeypatch):
    exchange.hand_in("ada", TRIPLE)
    assert exchange.watch() == 0
    gone = exchange.hand_in("ada", RIGHT)
    folder = exchange.hand_in("ben", RIGHT)
    collect = Pipeline.collect

    def delete_and_collect(pipeline, hand_in):
        shutil.rmtree(gone, ignore_errors=True)
        return collect(pipeline, hand_in)

    monkeypatch.setattr(Pipeline, "collect", delete_and_collect)
    capfd.readouterr()
    assert exchange.watch() == 1
    (line,) = refused(capfd.readouterr().out)
    assert line.endswith("ada 01_double: not graded: it was deleted before it was collected")
    assert exchange.page(folder)
    assert "3 * x" in (exchange.course.root / "submitted/ada/01_double/double.ipynb").read_text()


@pytest.mark.slow
def test_an_exchange_that_is_unmounted_for_a_while_is_waited_for(exchange, monkeypatch):
    monkeypatch.setattr(loop, "BLOCKED_SECONDS", 0.1)
    away = exchange.root.with_name("away")
    first = exchange.hand_in("ada")

    def unmount():
        exchange.root.rename(away)

    def mount():
        away.rename(exchange.root)
        exchange.hand_in("ben")

    texts = exchange.keep_watching(
        ("points, page released", unmount),
        ("does not exist; waiting for it", mount),
        ("grading continues", nothing),
        ("points, page released", nothing),
    )
    assert len([text for text in texts if "does not exist" in text]) == 1
    assert exchange.page(first)
    assert exchange.page(exchange.handed_in[1])


def no_space(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "a file")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("where", "name"),
    [(collecting, "_copy"), (AutogradeOne, "write_single_notebook"), (os, "replace")],
    ids=["collecting", "autograding", "recording"],
)
def test_a_full_disk_is_reported_once_and_waited_for(exchange, monkeypatch, where, name):
    monkeypatch.setattr(loop, "BLOCKED_SECONDS", 0.1)
    folder = exchange.hand_in("ada")
    with monkeypatch.context() as full:

        def fill():
            full.setattr(where, name, no_space)

        texts = exchange.keep_watching(
            ("watching", fill), ("No space left on device", full.undo), ("points, page released", nothing)
        )
    assert len([text for text in texts if "No space left" in text]) == 1
    assert not [text for text in texts if "not graded" in text]
    assert exchange.page(folder)
    assert exchange.score("ada") == 10


@pytest.mark.slow
def test_a_gradebook_that_is_away_for_a_while_is_waited_for(exchange, monkeypatch):
    monkeypatch.setattr(loop, "BLOCKED_SECONDS", 0.1)
    monkeypatch.setattr(waiting, "LOOK_SECONDS", 0.3)
    book = exchange.course.root / "gradebook.db"
    away = book.with_name("away.db")
    first = exchange.hand_in("ada")

    def bring_back():
        away.rename(book)
        exchange.hand_in("ben")

    texts = exchange.keep_watching(
        ("points, page released", lambda: book.rename(away)),
        ("gradebook.db does not exist", bring_back),
        ("points, page released", nothing),
    )
    assert not [text for text in texts if "not graded" in text or "hand-ins wait" in text]
    assert exchange.page(first)
    assert exchange.page(exchange.handed_in[1])


@pytest.mark.slow
def test_errors_of_the_database_are_waited_for(exchange, monkeypatch):
    monkeypatch.setattr(loop, "BLOCKED_SECONDS", 0.1)
    monkeypatch.setattr(write, "_AGAIN_SECONDS", 0.0)
    exchange.hand_in("ada")
    with monkeypatch.context() as gone:

        def fail(*_: object) -> None:
            raise OperationalError("SELECT 1", {}, Exception("server closed the connection"))

        texts = exchange.keep_watching(
            ("watching", lambda: gone.setattr(AutogradeOne, "write_single_notebook", fail)),
            ("server closed the connection", gone.undo),
            ("points, page released", nothing),
        )
    assert not [text for text in texts if "not graded" in text]
    assert exchange.score("ada") == 10


def test_a_second_watch_ends_with_one_sentence_that_names_the_first(exchange, capfd):
    root = exchange.course.root
    first = os.fork()
    if first == 0:
        try:
            with locked(root):
                signal.pause()
        finally:  # whatever happens: this is no second pytest
            os._exit(1)
    try:
        until(lambda: pid_of_watch(root) == first)
        assert exchange.watch() == 2
        (line,) = [line for line in capfd.readouterr().err.splitlines() if "already watched" in line]
        assert f"by process {first}: end it first" in line
    finally:
        os.kill(first, signal.SIGKILL)
        os.waitpid(first, 0)
    assert exchange.watch() == 0


def state(exchange: WatchedExchange) -> dict[str, object]:
    """Everything that is left of hand-ins, without times."""
    root = exchange.course.root
    attempts = {
        student: [
            (record.handed_in, record.score, record.page) for record in exchange.attempts(student).records
        ]
        for student in ("ada", "ben", "cleo")
    }
    leftovers = [
        path.name for path in root.rglob("*") if path.suffix in (".replaced", ".removed", ".unfinished")
    ]
    held = list((root / ".gradekit" / "held").glob("*"))
    return {
        "grades": exchange.course.grades(),
        "attempts": attempts,
        "pages": [exchange.page(folder) for folder in exchange.handed_in],
        "submitted": {
            str(path.relative_to(root)): path.read_bytes()
            for path in (root / "submitted").rglob("*")
            if path.is_file()
        },
        "leftovers": leftovers + held,
    }


@pytest.mark.thorough
def test_a_watch_that_is_killed_at_any_moment_goes_on_at_the_next_start(exchange, tmp_path, course_at):
    for answers in ((TRIPLE, RIGHT), (RIGHT, TRIPLE)):
        for student, answer in zip(("ada", "ben", "cleo"), (*answers, RIGHT), strict=True):
            exchange.hand_in(student, f"{answer}  # {len(exchange.handed_in)}")
    killed_course = course_at(shutil.copytree(exchange.course.root, tmp_path / "killed" / "course"))
    killed_root = shutil.copytree(exchange.root, tmp_path / "killed" / "exchange")
    killed = WatchedExchange(killed_course, killed_root)
    killed.handed_in = [killed.inbound / folder.name for folder in exchange.handed_in]
    settings = killed_course.root / "nbgrader_config.py"
    settings.write_text(settings.read_text().replace(str(exchange.root), str(killed.root)))

    begun = time.monotonic()
    undisturbed = Watching(exchange)
    undisturbed.join()
    assert undisturbed.code == 0
    seconds = time.monotonic() - begun
    moments = random.Random(0)
    kills = 0
    for _ in range(KILLS):
        if Watching(killed).kill_after(moments.uniform(0.05, 0.4) * seconds):
            kills += 1
        else:  # it was done before: kill the next one earlier
            seconds /= 2
    assert kills >= 3
    last = Watching(killed)
    last.join()
    assert last.code == 0
    expected, found = state(exchange), state(killed)
    assert found == expected
    assert all(expected["pages"])
    assert expected["leftovers"] == []


@pytest.mark.slow
def test_the_folder_that_a_killed_release_has_left_behind_is_removed_at_the_next_start(exchange):
    """The record says that the page is released before the folder where it was held is removed."""
    exchange.hand_in("ada")
    assert exchange.watch() == 0
    (record,) = exchange.attempts("ada").records
    names = f"ada\0{exchange.course.assignment.name}\0{record.handed_in.isoformat()}"
    held = exchange.course.root / ".gradekit" / "held" / hashlib.sha256(names.encode()).hexdigest()[:32]
    assert not held.exists()
    held.mkdir(parents=True)
    before = state(exchange)
    assert exchange.watch() == 0
    assert state(exchange) == before | {"leftovers": []}


@pytest.mark.slow
def test_a_hand_in_that_claims_an_earlier_time_counts_but_is_named(exchange):
    texts = exchange.keep_watching(
        ("watching", lambda: exchange.hand_in("ada")),
        ("points, page released", lambda: exchange.hand_in("ben", when=datetime.now(UTC))),
        ("points, page released", nothing),
    )
    (named,) = [text for text in texts if "but it arrived at" in text]
    assert named.startswith(f"its time is {FIRST:%Y-%m-%d %H:%M} UTC")
    for _ in range(2):  # also after the next run
        status = status_lines(read_status(exchange.course.root), running=False)
        assert f"ada 01_double: {named}" in status
        assert exchange.watch() == 0


@pytest.mark.thorough
def test_what_was_changed_after_it_was_graded_is_not_graded_again(exchange):
    folder, other = exchange.hand_in("ada", TRIPLE), exchange.hand_in("ben", RIGHT)
    assert exchange.watch() == 0
    assert (exchange.score("ada"), exchange.score("ben")) == (3, 10)
    shutil.copy(other / "double.ipynb", folder / "double.ipynb")
    record = Attempts.load(exchange.course.root, "01_double", "ada")
    record.records[:] = [replaced(record.records[0], page=Page.HELD)]
    record.store()  # so that it has to be graded again
    assert exchange.watch() == 1
    (status,) = read_status(exchange.course.root).not_graded
    assert "its notebooks were changed in the exchange after they had been graded" in status.reason
    assert exchange.score("ada") == 3


@pytest.mark.slow
def test_a_file_that_is_no_notebook_has_no_points_in_the_log(exchange, capfd):
    folder = exchange.hand_in("ada")
    (folder / "double.ipynb").write_text("my answer")
    assert exchange.watch() == 1
    assert "ada 01_double: nothing could be graded, page released after" in capfd.readouterr().out
    assert "unreadable" in exchange.page(folder)


@pytest.mark.slow
def test_watch_releases_the_pages_and_says_so_once_for_each_hand_in(generated, tmp_path, capfd):
    exchange = exchange_of(generated, tmp_path / "exchange")
    checks = generated.checks.read_text()
    generated.checks.write_text(
        checks.replace('"""\n', '"""\n    assert student.double(1) == 2, secret_of\n', 1)
    )
    ada, cyd = exchange.hand_in("ada", TRIPLE), exchange.hand_in("cyd", RIGHT)
    assert exchange.watch() == 1
    printed = capfd.readouterr().out
    assert printed.count("A check is at fault") == 1
    assert "secret_of" in printed
    assert "could not be graded automatically" in exchange.page(ada)
    assert "could not be graded automatically" not in exchange.page(cyd)
    assert exchange.watch() == 0
    assert "A check is at fault" not in capfd.readouterr().out
    generated.checks.write_text(checks)
    assert generated.gradekit("regrade", "01_double") == 0
    assert generated.grades()["ada"]["test_double"] == (3, None, False)
