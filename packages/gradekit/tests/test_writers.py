"""Commands that write a class's results: killed midway, and several at once."""

import contextlib
import fcntl
import json
import multiprocessing
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from nbformat import v4

from gradekit.course.files import STATE_FOLDER
from gradekit.grading.autograde import SubmissionProgress
from gradekit.grading.running_course import RunningCourse
from gradekit.grading.write import Writer
from gradekit.report.table import class_table

from .one_notebook import in_progress

RIGHT, HALF = "def double(x):\n    return 2 * x", "def half(x):\n    return x / 2"
STUDENTS = [f"student-{number:02}" for number in range(10)]
COMMAND = ("gradekit", "autograde", "01_double", "--workers", "3")
FORK = multiprocessing.get_context("fork")
#: a step in the middle of nbgrader's writing, when a student's rows exist and the notebook has not been written
STEP = """
import os, signal
from pathlib import Path
from nbgrader.preprocessors import NbGraderPreprocessor

class Step(NbGraderPreprocessor):
    def preprocess(self, nb, resources):
        if resources["nbgrader"]["student"] == "student-04" and not Path("killed").exists():
            Path("killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return nb, resources

c.Autograde.sanitize_preprocessors.append(Step)
"""
PATIENCE_SECONDS = 120
#: in which a process that does not wait for a lock has it
A_MOMENT = 0.5


@pytest.fixture
def course(empty_class):
    for number, student in enumerate(STUDENTS):
        empty_class.hand_in(student, empty_class.answer(f"# {number}\n{RIGHT}", HALF))
    return empty_class


def start(course):
    script = Path(sys.executable).with_name(COMMAND[0])
    return subprocess.Popen(
        [script, *COMMAND[1:]], cwd=course.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def everybody_is_graded(course):
    rows = {row.student: row.status for row in class_table(course.running, course.assignment).rows}
    assert rows == dict.fromkeys(STUDENTS, "graded")
    expected = {"test_double": (10, None, False), "test_half": (5, None, False), "why": (0, None, False)}
    assert course.grades() == dict.fromkeys(STUDENTS, expected)
    for student in STUDENTS:
        path = course.root / "autograded" / student / "01_double" / "double.ipynb"
        assert "gradekit" in json.loads(path.read_text())["metadata"]


@pytest.mark.slow
def test_a_command_that_is_killed_while_it_writes_costs_nothing(course):
    config = course.root / "nbgrader_config.py"
    config.write_text(config.read_text() + STEP)
    assert course.run(*COMMAND).returncode == -signal.SIGKILL
    assert (course.root / "killed").exists()
    done = course.run(*COMMAND)
    assert (done.returncode, done.stdout) == (0, "01_double: 10 graded\n"), done.stderr
    everybody_is_graded(course)


@pytest.mark.thorough
def test_two_commands_at_once_on_sqlite_lose_and_duplicate_nothing(course):
    commands = [start(course), start(course)]
    for command in commands:
        out, err = command.communicate()
        assert (command.returncode, out) == (0, "01_double: 10 graded\n"), err
    everybody_is_graded(course)


def test_each_writer_has_its_own_failures(course):
    with contextlib.chdir(course.root):
        running = RunningCourse.open(course.root)
        first, second = Writer(running), Writer(running)  # of another assignment in the same command
        for writer, student, failure in (
            (first, STUDENTS[0], "it hung"),
            (second, STUDENTS[1], "it died"),
        ):
            notebook = in_progress(course.assignment, "double", v4.new_notebook(), failure=failure)
            assert writer.write(SubmissionProgress(student, [notebook]), "01_double") == []
    notes = [course.autograded(name).metadata["gradekit"]["notes"] for name in STUDENTS[:2]]
    assert ["it hung" in str(notes[0]), "it died" in str(notes[1])] == [True, True]


class Holder:
    """A process that takes a lock and holds it until it is told to let go; it has begun to when this is made."""

    def __init__(self, course):
        self._pipe, theirs = FORK.Pipe()
        self._process = FORK.Process(target=self._hold, args=(theirs, course), daemon=True)
        self._process.start()
        assert self._pipe.poll(PATIENCE_SECONDS) and self._pipe.recv() == "begun"

    @staticmethod
    def _hold(pipe, course):
        pipe.send("begun")
        with course.write_lock():
            pipe.send("held")
            pipe.recv()

    def has_it(self, seconds=PATIENCE_SECONDS):
        """Whether it has the lock, if need be after a while."""
        return self._pipe.poll(seconds)

    def let_go(self):
        self._pipe.send("enough")
        self._process.join(PATIENCE_SECONDS)
        assert self._process.exitcode == 0


@pytest.fixture
def locks(empty_class):
    return RunningCourse.open(empty_class.root)


def waits_for(first, second):
    assert not second.has_it(A_MOMENT)
    first.let_go()
    assert second.has_it()
    second.let_go()


def is_locked(path):
    with path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_nobody_writes_while_a_command_is_alone(locks):
    holder = Holder(locks)
    assert holder.has_it()
    waits_for(holder, Holder(locks))


def test_a_large_class_does_not_keep_a_command_waiting_that_wants_to_write(locks):
    first = Holder(locks)
    assert first.has_it()
    second = Holder(locks)
    give_up = time.monotonic() + PATIENCE_SECONDS
    while not is_locked(locks.root / STATE_FOLDER / "next"):  # until it is the next one
        assert time.monotonic() < give_up
        time.sleep(0.002)
    again = Holder(locks)
    first.let_go()
    assert second.has_it()
    assert not again.has_it(A_MOMENT)
    second.let_go()
    assert again.has_it()
    again.let_go()
