"""Worker processes on this machine: one that dies or hangs costs the class nothing."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from gradekit.grading import workers
from gradekit.grading.workers import Task, local_workers
from gradekit.session.limits import Limits
from gradekit.verdict.opened import GradingJob, HowToRun
from gradekit.verdict.result_cache import key_of

from .needs import mostly_slow

RIGHT, HALF = "def double(x):\n    return 2 * x", "def half(x):\n    return x / 2"
LIMITS = Limits(submission_seconds=60)
#: what stands before a check that does something to its worker
TROUBLE = """
import os, signal, time
from pathlib import Path

FIRST = Path(__file__).with_name("tried.txt")


def first_time():
    new = not FIRST.exists()
    FIRST.touch()
    return new

"""


def tasks(course, count, limits=LIMITS):
    assignment = course.assignment
    notebook, released = course.answer(RIGHT, HALF), assignment.released("double")
    how = HowToRun(limits)
    job = GradingJob(assignment, "double", notebook, released, how)
    key = key_of(job)
    for number in range(count):
        yield Task(f"student-{number}", job, key, None)


def trouble(course, line):
    """Put `line` before the first statement of one check."""
    checks = course.checks.with_name("test_half.py")
    place = '    """Half of nothing."""\n'
    checks.write_text(TROUBLE + checks.read_text().replace(place, f"{place}    {line}\n"))


def earned(outcomes):
    return [outcome and outcome.cached.result.earned for _, outcome in outcomes]


@pytest.mark.slow
def test_every_task_comes_back_once_and_no_worker_is_left(empty_class):
    found = local_workers(2, empty_class.assignment.course)
    outcomes = list(found.run(tasks(empty_class, 5)))
    assert sorted(task.student for task, _ in outcomes) == [f"student-{number}" for number in range(5)]
    assert earned(outcomes) == [15] * 5
    processes = [worker.process for worker in found._workers]
    found.close()
    assert [process for process in processes if process.is_alive()] == []


@pytest.mark.slow
def test_no_more_workers_are_started_than_there_are_tasks(empty_class, monkeypatch):
    started = []
    start = workers._started
    monkeypatch.setattr(workers, "_started", lambda *given: started.append(start(*given)) or started[-1])
    assert list(local_workers(4, empty_class.assignment.course).run(iter([]))) == []
    assert earned(local_workers(4, empty_class.assignment.course).run(tasks(empty_class, 1))) == [15]
    assert len(started) == 1


@pytest.mark.slow
def test_a_killed_worker_is_replaced_and_its_task_done_by_another(empty_class):
    trouble(empty_class, "if first_time(): os.kill(os.getpid(), signal.SIGKILL)")
    outcomes = list(local_workers(1, empty_class.assignment.course).run(tasks(empty_class, 3)))
    assert earned(outcomes) == [15] * 3


@pytest.mark.slow
def test_an_idle_worker_that_was_killed_costs_nothing(empty_class):
    found = local_workers(1, empty_class.assignment.course)
    running = found.run(tasks(empty_class, 3))
    outcomes = [next(running)]
    for worker in found._workers:
        os.kill(worker.process.pid, signal.SIGKILL)
    assert earned([*outcomes, *running]) == [15] * 3


def special(course):
    """A task whose answer a check can recognize by 666."""
    notebook = course.answer(RIGHT, "def half(x):\n    return 333 * x")
    task = next(tasks(course, 1))
    return replace(task, student="special", job=replace(task.job, notebook=notebook))


@pytest.mark.thorough
def test_a_task_that_loses_its_worker_twice_has_no_outcome_and_the_others_have_theirs(empty_class):
    trouble(
        empty_class,
        "if student.half(torch.tensor(2.0)).item() == 666: os.kill(os.getpid(), signal.SIGKILL)",
    )
    given = iter([special(empty_class), *tasks(empty_class, 3)])
    outcomes = {
        task.student: outcome for task, outcome in local_workers(2, empty_class.assignment.course).run(given)
    }
    assert outcomes.pop("special") is None
    assert earned(outcomes.items()) == [15] * 3


@pytest.mark.slow
def test_a_worker_that_hangs_past_its_deadline_is_replaced(empty_class):
    trouble(empty_class, "if student.half(torch.tensor(2.0)).item() == 666: time.sleep(3600)")
    found = local_workers(1, empty_class.assignment.course)
    found.seconds = lambda task: 4 if task.student == "special" else 600
    first, last = tasks(empty_class, 2)
    # the first waits until the worker has started
    outcomes = list(found.run([first, special(empty_class), last]))
    assert earned(outcomes) == [15, None, 15]


@pytest.mark.slow
def test_tasks_that_are_run_alone_never_overlap(empty_class):
    trouble(empty_class, "note('begin'); time.sleep(0.2); note('end')")
    checks = empty_class.checks.with_name("test_half.py")
    note = "def note(text):\n    with FIRST.open('a') as file:\n        file.write(text + '\\n')\n\n\n"
    checks.write_text(checks.read_text().replace("def first_time", note + "def first_time"))
    found = local_workers(2, empty_class.assignment.course)
    assert earned(found.run(tasks(empty_class, 3), alone=True)) == [15] * 3
    found.close()
    assert empty_class.checks.with_name("tried.txt").read_text().split() == ["begin", "end"] * 3


@pytest.mark.thorough
def test_a_worker_in_the_middle_of_a_check_ends_with_the_command_that_is_killed(empty_class):
    trouble(empty_class, "FIRST.write_text(str(os.getpid())); [None for _ in iter(int, 1)]")
    empty_class.hand_in("ada", empty_class.answer(RIGHT, HALF))
    started = empty_class.checks.with_name("tried.txt")
    command = subprocess.Popen(
        [Path(sys.executable).with_name("gradekit"), "autograde", "--workers", "1"],
        cwd=empty_class.root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 120
    while not (started.exists() and started.read_text()):
        assert command.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    worker = psutil.Process(int(started.read_text()))
    command.kill()
    command.wait()
    worker.wait(60)


def alive():
    """The living descendants of this process."""
    children = psutil.Process().children(recursive=True)
    return {child.pid for child in children if child.status() != psutil.STATUS_ZOMBIE}


@pytest.mark.slow
def test_what_a_worker_started_ends_when_the_class_is_given_up(empty_class):
    list(
        local_workers(1, empty_class.assignment.course).run(tasks(empty_class, 1))
    )  # what all workers share stays
    before = alive()
    running = local_workers(1, empty_class.assignment.course).run(tasks(empty_class, 2))
    next(running)
    assert alive() - before
    running.close()
    deadline = time.monotonic() + 60
    while not alive() <= before:  # a kernel ends a moment after its worker
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.parametrize("fault", mostly_slow(["no_such_name", "raise KeyError('x')"]))
def test_an_outcome_reports_a_check_at_fault(empty_class, fault):
    trouble(empty_class, fault)
    ((_, outcome),) = local_workers(1, empty_class.assignment.course).run(tasks(empty_class, 1))
    assert "A check is at fault, not the submission" in outcome.fault
    assert [exercise.grade_id for exercise in outcome.cached.result.exercises] == ["test_double"]
