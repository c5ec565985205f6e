"""Grading of a class is killed midway: its workers, or the command."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from gradekit.report.table import class_table

RIGHT, HALF = "def double(x):\n    return 2 * x", "def half(x):\n    return x / 2"
STUDENTS = [f"student-{number:02}" for number in range(10)]


@pytest.fixture
def course(empty_class):
    for number, student in enumerate(STUDENTS):
        empty_class.hand_in(student, empty_class.answer(f"# {number}\n{RIGHT}", HALF))
        (empty_class.root / "submitted" / student / "01_double" / "numbers.bin").write_bytes(b"copied first")
    return empty_class


def start(course):
    script = Path(sys.executable).with_name("gradekit")
    command = [script, "autograde", "01_double", "--workers", "2"]
    return psutil.Popen(command, cwd=course.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def until(condition, command):
    """Wait until `condition` is true, while the command runs."""
    deadline = time.monotonic() + 120
    while not condition():
        assert command.poll() is None and time.monotonic() < deadline
        time.sleep(0.002)


def workers_of(command):
    """The command's forks, which have its command line."""
    return [child for child in command.children() if line(child) and line(child) == line(command)]


def line(process):
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def written(course):
    """Students with an autograded notebook, and those of whom there are other files only."""
    complete, begun = {}, set()
    for folder in course.root.glob("autograded/*/01_double"):
        path = folder / "double.ipynb"
        if path.exists():
            assert "gradekit" in json.loads(path.read_text())["metadata"]
            complete[path.parts[-3]] = path.stat().st_mtime_ns
        else:
            begun.add(path.parts[-3])
    return complete, begun


def everybody_is_graded(course):
    rows = class_table(course.running, course.assignment).rows
    assert [(row.student, row.status) for row in rows] == [(student, "graded") for student in STUDENTS]
    assert course.grades() == {
        student: {
            "test_double": (10, None, False),
            "test_half": (5, None, False),
            "why": (0, None, False),
        }
        for student in STUDENTS
    }
    assert sorted(written(course)[0]) == STUDENTS
    assert len(course.cached()) == len(STUDENTS)


@pytest.mark.thorough
def test_a_killed_worker_costs_nothing(course):
    command = start(course)
    until(lambda: course.cached(), command)
    workers_of(command)[0].send_signal(signal.SIGKILL)
    out, err = command.communicate()
    assert (command.returncode, out) == (0, "01_double: 10 graded\n"), err
    everybody_is_graded(course)
    assert sum(course.gradings().values()) <= 2 * len(STUDENTS) + 2


@pytest.mark.thorough
def test_a_killed_command_continues_where_it_was(course):
    """It is killed as soon as workers run, once a few results are cached, and while it writes one."""
    moments = {
        "workers": lambda: workers_of(command),
        "cached": lambda: len(course.cached()) >= 3,
        "writing": lambda: written(course)[1],
    }
    for moment in moments.values():
        command = start(course)
        cached, before = course.cached(), written(course)[0]
        until(moment, command)
        family = command.children(recursive=True)
        command.send_signal(signal.SIGKILL)
        command.wait()
        assert cached.items() <= course.cached().items()
        assert before.items() <= written(course)[0].items()
        _, left = psutil.wait_procs(family, timeout=20)
        assert not left
    cached, before = course.cached(), written(course)[0]
    assert 0 < len(before) < len(STUDENTS)
    course.gradings()
    assert course.gradekit("autograde", "01_double", "--workers", "2") == 0
    everybody_is_graded(course)
    assert cached.items() <= course.cached().items()
    assert before.items() <= written(course)[0].items()
    missing = len(STUDENTS) - len(cached)
    assert course.gradings() == ({"test_double": missing, "test_half": missing} if missing else {})
