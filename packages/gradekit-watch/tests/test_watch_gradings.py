"""The runs behind `gradekit watch`: all assignments share the workers, which end when a file has changed."""

import contextlib
import os
import shutil

import pytest

from gradekit.grading.autograde import GradingOptions
from gradekit.grading.running_course import RunningCourse
from gradekit_watch.waiting import Gradings

from .watching import RIGHT

_NOTE_PROCESS = """
import os
from pathlib import Path

with (Path(__file__).parents[2] / "processes.txt").open("a") as file:
    file.write(f"{os.getpid()} ")
"""
NAMES = ["01_double", "02_other"]


@pytest.fixture
def course(generated):
    """A course with two assignments, in which ada has handed in both, and whose checks note who imports them."""
    generated.checks.write_text(_NOTE_PROCESS + generated.checks.read_text())
    for folder in ("source", "tests"):
        shutil.copytree(generated.root / folder / NAMES[0], generated.root / folder / NAMES[1])
    done = generated.run("nbgrader", "generate_assignment", NAMES[1])
    assert done.returncode == 0, done.stderr
    (generated.root / "processes.txt").unlink()
    handed_in = generated.hand_in("ada", generated.answer(RIGHT)).parent
    shutil.copytree(handed_in, handed_in.with_name(NAMES[1]))
    return generated


@pytest.fixture
def grade(course):
    """Grade ada's submission of an assignment, without the result cache."""
    running = RunningCourse.open(course.root)
    with contextlib.closing(Gradings(running, GradingOptions(1, fresh=True))) as runs:

        def run(name: str) -> float:
            (graded,) = runs.of(running.assignment(name)).grade(["ada"])
            return graded.notebooks[0].cached.result.earned

        yield run


def workers(course) -> set[int]:
    """The processes that have imported checks, and are not this one."""
    path = course.root / "processes.txt"
    found = {int(number) for number in path.read_text().split()}
    path.unlink()
    return found - {os.getpid()}


@pytest.mark.thorough
def test_assignments_are_graded_by_the_same_workers(course, grade):
    assert [grade(name) for name in [*NAMES, *NAMES]] == [10, 10, 10, 10]
    assert len(workers(course)) == 1


@pytest.mark.slow
def test_changed_checks_get_new_workers(course, grade):
    grade(NAMES[0])
    before = workers(course)
    course.checks.write_text(course.checks.read_text().replace("x + x", "x + x + 1"))
    assert grade(NAMES[0]) == 7
    assert grade(NAMES[1]) == 10
    after = workers(course)
    assert len(after) == 1
    assert after != before
