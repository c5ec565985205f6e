"""One submission's notebook as a task for a worker process, on this machine or on another."""

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import nbformat

from gradekit.course import Assignment, Course
from gradekit.course.kernels import LIBRARIES, modules_for
from gradekit.grading.workers import Workers
from gradekit.verdict.job import GradingJob, HowToRun
from gradekit.verdict.result_cache import CacheKey
from gradekit.verdict.tries import Try, try_once

#: wall time on top of the submission's own limit after which a worker counts as hung
_SPARE_SECONDS = 120
_one_at_a_time = threading.Lock()


@dataclass(frozen=True)
class Task:
    """A repaired notebook to grade.

    Args:
        assignment: the assignment that it was handed in for, with its files on this machine.
        notebook: its JSON.
        exercises: those that are not in the cache; None means all.
        own_files: the files that the student has put beside the notebook, on this machine.
        wary: for a second try (see `gradekit.verdict.tries`).
    """

    assignment: Assignment
    student: str
    notebook_name: str
    notebook: str
    key: CacheKey
    exercises: tuple[str, ...] | None
    how: HowToRun
    own_files: tuple[Path, ...] = ()
    wary: bool = False


LocalWorkers = Workers[Task, Try]


def carry_out(task: Task) -> Try:
    """Grade one notebook. Threads of a process take turns, since pytest has one state for all of them."""
    with _one_at_a_time:
        try:
            notebook = nbformat.reads(task.notebook, as_version=4)
            released = task.assignment.released(task.notebook_name)
        except Exception as error:
            return Try.failed(error)
        job = GradingJob(task.assignment, task.notebook_name, notebook, released, task.how, task.own_files)
        return try_once(job, task.key, task.exercises, task.wary)


def local_workers(count: int, course: Course, libraries: Iterable[str] = LIBRARIES) -> LocalWorkers:
    """Processes on this machine that grade with kernels from one warm server, and have imported these libraries."""
    modules = ("gradekit.verdict.grade", *({"torch"} & set(libraries)))
    return Workers(carry_out, count, _longest_seconds, course.hidden, modules, modules_for(libraries))


def _longest_seconds(task: Task) -> float:
    return task.how.limits.longest_seconds + _SPARE_SECONDS
