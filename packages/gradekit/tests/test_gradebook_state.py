"""A gradebook that can't be used: one sentence before any work is done, and a remedy that works."""

import os
import shutil
import sqlite3
import threading
import time

import pytest
from nbgrader.api import Gradebook

from gradekit.nbgrader_plugin.course_folders import gradebook_problem

from .needs import mostly_thorough

COMMANDS = {
    "autograde": ("gradekit", "autograde", "01_double", "--force"),
    "table": ("gradekit", "table", "01_double"),
    "report": ("gradekit", "report", "01_double"),
    "regrade": ("gradekit", "regrade", "01_double"),
    "deadline": ("gradekit", "deadline", "01_double", "2026-07-09 23:59"),
    "revise": ("gradekit", "revise", "01_double"),
    "nbgrader autograde": ("nbgrader", "autograde", "01_double", "--force"),
    "nbgrader generate_feedback": ("nbgrader", "generate_feedback", "01_double", "--force"),
    "nbgrader generate_assignment": ("nbgrader", "generate_assignment", "01_double", "--force"),
}


def no_database(path):
    path.write_bytes(b"These are my notes. " * 200)


def damaged(path):
    whole = path.read_bytes()
    path.write_bytes(whole[:100] + b"\xff" * 4000 + whole[4100:])


def folder(path):
    path.unlink()
    path.mkdir()


def older(path):
    with sqlite3.connect(path) as database:
        database.execute("UPDATE alembic_version SET version_num = '167914646830'")
        database.execute("ALTER TABLE student DROP COLUMN lms_user_id")


def restore(course, copy):
    path = course.root / "gradebook.db"
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.copy(copy, path)


@pytest.mark.parametrize(
    ("spoil", "words"),
    mostly_thorough(
        [
            (older, "was made by an older version of nbgrader: run `nbgrader db upgrade`"),
            (no_database, "isn't a database: restore the gradebook from a backup"),
            (damaged, "is damaged"),
            (folder, "is a folder: move it away, and restore the gradebook from a backup"),
        ]
    ),
)
@pytest.mark.slow
def test_every_command_says_in_one_sentence_what_is_wrong(graded_class, tmp_path, spoil, words):
    path = graded_class.root / "gradebook.db"
    copy = shutil.copy(path, tmp_path / "backup.db")
    spoil(path)
    for command in COMMANDS.values():
        done = graded_class.run(*command)
        assert done.returncode in (1, 2), command
        assert words in done.stderr and "Traceback" not in done.stderr, (command, done.stderr)
        # nbgrader itself warns of a folder without a notebook
        said = [line for line in done.stderr.splitlines() if "No notebooks were matched" not in line]
        assert len(said) == 1, (command, done.stderr)
    assert graded_class.gradings() == {}, "nothing was graded"
    if spoil is older:
        assert graded_class.run("nbgrader", "db", "upgrade").returncode == 0
    else:
        restore(graded_class, copy)
    assert graded_class.run(*COMMANDS["table"]).returncode == 0
    assert graded_class.run(*COMMANDS["nbgrader generate_feedback"]).returncode == 0


@pytest.mark.parametrize("closed", ["file", "folder"])
def test_a_gradebook_that_can_t_be_written_can_be_read(generated, monkeypatch, closed):
    """Permissions don't bind root, as whom these tests may run."""
    path = generated.root / "gradebook.db"
    refused = path if closed == "file" else path.parent
    allowed = os.access
    monkeypatch.setattr(
        os, "access", lambda place, how: (place != refused and allowed(place, how)) or how == os.R_OK
    )
    url = f"sqlite:///{path}"
    assert f"{refused} can't be written" in gradebook_problem(url, writing=True)
    assert gradebook_problem(url, writing=False) == ""


def test_a_locked_gradebook_is_waited_for_and_then_named(generated, monkeypatch):
    monkeypatch.setattr("gradekit.nbgrader_plugin.course_folders._BUSY_SECONDS", 0.5)
    path = generated.root / "gradebook.db"
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN EXCLUSIVE")
    assert "is locked: another program is writing to it" in gradebook_problem(
        f"sqlite:///{path}", writing=True
    )
    threading.Timer(0.1, other.rollback).start()
    start = time.monotonic()
    assert gradebook_problem(f"sqlite:///{path}", writing=True) == ""
    assert time.monotonic() - start < 5
    other.close()


def test_looking_changes_nothing(generated):
    path = generated.root / "gradebook.db"
    before = path.read_bytes(), path.stat().st_mtime_ns
    assert gradebook_problem(f"sqlite:///{path}", writing=True) == ""
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert not path.with_name("gradebook.db-journal").exists()


@pytest.mark.parametrize("state", ["missing", "empty", "newer"])
def test_what_nbgrader_itself_copes_with_is_no_problem(generated, state):
    path = generated.root / "gradebook.db"
    if state == "newer":
        with sqlite3.connect(path) as database:
            database.execute("UPDATE alembic_version SET version_num = 'ffffffffffff'")
            database.execute("ALTER TABLE student ADD COLUMN pronouns VARCHAR")
    else:
        path.unlink()
        path.touch() if state == "empty" else None
    assert gradebook_problem(f"sqlite:///{path}", writing=True) == ""
    if state == "newer":
        with Gradebook(f"sqlite:///{path}") as gradebook:
            gradebook.add_student("ada")


def test_a_database_that_is_away_is_named_without_its_password():
    problem = gradebook_problem("postgresql+psycopg2://ada:secret@127.0.0.1:1/none", writing=True)
    assert "can't be opened" in problem and "c.CourseDirectory.db_url" in problem
    assert "secret" not in problem and "\n" not in problem
