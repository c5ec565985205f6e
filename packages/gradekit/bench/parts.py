"""Where the CPU time of one submission goes, in the grader and in the kernel."""

import ctypes
import time
from copy import deepcopy
from pathlib import Path
from statistics import median
from typing import Any

import psutil
import torch

from bench.folders import ASSIGNMENT, CourseFolder, class_of
from gradekit.grading.autograde import SubmissionProgress
from gradekit.grading.running_course import RunningCourse
from gradekit.grading.write import Writer
from gradekit.nbgrader_plugin.steps import RunChecks
from gradekit.session.kernel import StudentKernel
from gradekit.session.session import Session
from gradekit.verdict.grade import grade
from gradekit.verdict.opened import open_notebook
from gradekit.verdict.result_cache import CachedResult, ResultCache
from gradekit.verdict.tries import NotebookProgress, Try
from sandbox_kernel.sandboxed import SandboxProvisioner
from sandbox_kernel.start import launch_server

_libc = ctypes.CDLL(None, use_errno=True)
_READ, _START, _CELLS, _CHECKS, _END, _CACHE, _WRITE = (
    *("reading, repair and hash", "fork and start of the kernel", "cells"),
    *("checks", "end of the kernel", "result cache", "nbgrader's writing"),
)


class Clock:
    """CPU seconds by part: of this process, and of the kernel while there is one."""

    def __init__(self) -> None:
        self.parts: dict[str, tuple[float, float]] = {}
        self._grader, self._kernel = time.process_time(), 0.0

    def mark(self, part: str, kernel: int = 0) -> None:
        """Count the CPU time since the last mark as that of `part`."""
        grader, in_kernel = time.process_time(), cpu_of(kernel) if kernel else self._kernel
        self.parts[part] = grader - self._grader, in_kernel - self._kernel
        self._grader, self._kernel = time.process_time(), in_kernel


class ClockedSession(Session):
    def __init__(self, clock: Clock, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._clock = clock

    def run_cells(self) -> None:
        if self._kernel is None:
            self._kernel = StudentKernel.start(self.notebook, self.limits, self.kernel_name, self._files)
            self.mark(_START)
        super().run_cells()
        self.mark(_CELLS)

    def mark(self, part: str) -> None:
        assert self._kernel is not None
        assert isinstance(self._kernel.provisioner, SandboxProvisioner)
        started = self._kernel.provisioner._started
        assert started is not None
        self._clock.mark(part, started.pid)


def cpu_of(pid: int) -> float:
    """CPU seconds of a running process, in nanoseconds, where /proc has hundredths of a second."""
    clock = ctypes.c_int()
    if _libc.clock_getcpuclockid(pid, ctypes.byref(clock)) != 0:
        raise ProcessLookupError(pid)
    return time.clock_gettime(clock.value)


def parts(scratch: Path, times: int) -> None:
    """Print the median of each part over `times` right submissions."""
    torch.set_num_threads(1)
    folder = CourseFolder.with_checks(scratch / "parts")
    samples = [sample for sample in class_of(3 * times + 3) if not sample.variants]
    folder.hand_in(samples)
    folder.start_over()
    course = RunningCourse.open(folder.root)
    launch_server(course.layout.hidden)
    time.sleep(5)  # it imports what kernels need
    server = psutil.Process().children(recursive=True)[-1]
    writer = Writer(course)
    before, found = (0.0, 0.0), []
    for number, sample in enumerate(samples):
        found.append(_one(course, writer, sample.student))
        if number == 0:  # the first one imports modules and reads files for all others
            found.clear()
            before = _cpu_of_kernels(server)
    forking, all_kernels = (
        (after - earlier) / len(found) for earlier, after in zip(before, _cpu_of_kernels(server), strict=True)
    )
    _print(found, forking, all_kernels)


def _cpu_of_kernels(server: psutil.Process) -> tuple[float, float]:
    """CPU seconds of the server itself, and of all processes below it that have ended."""
    time.sleep(1)  # the last kernel ends
    times = server.cpu_times()
    return times.user + times.system, times.children_user + times.children_system


def _one(course: RunningCourse, writer: Writer, student: str) -> dict[str, tuple[float, float]]:
    settings = RunChecks(config=course.config)
    assignment, cache = course.assignment(ASSIGNMENT), ResultCache(course.root)
    (name,) = assignment.released_names()
    clock = Clock()
    released = assignment.released(name)
    opened = open_notebook(assignment, course.submitted(student, ASSIGNMENT) / f"{name}.ipynb", released)
    job = opened.job(deepcopy(opened.notebook), released, settings.how_to_run(ASSIGNMENT))
    notebook = NotebookProgress(opened)
    notebook.find(job, cache)
    clock.mark(_READ)
    session = ClockedSession(clock, job.notebook, job.how.limits, job.how.kernel_name)
    graded = grade(job, session=session)
    session.mark(_CHECKS)
    session.close()
    clock.mark(_END)
    assert notebook.key is not None
    notebook.take(Try(CachedResult.of(graded, job.notebook, notebook.key)), cache)
    clock.mark(_CACHE)
    problems = writer.write(SubmissionProgress(student, [notebook]), ASSIGNMENT)
    clock.mark(_WRITE)
    if problems:
        raise RuntimeError(problems[0])
    return clock.parts


def _print(found: list[dict[str, tuple[float, float]]], forking: float, all_kernels: float) -> None:
    print(f"CPU milliseconds of one right submission, median over {len(found)}")
    print(f"{'':36}{'grader':>9}{'kernel':>9}")
    totals = [0.0, 0.0]
    for part in found[0]:
        middles = [1000 * median(parts[part][side] for parts in found) for side in (0, 1)]
        totals = [total + middle for total, middle in zip(totals, middles, strict=True)]
        print(f"{part:36}{middles[0]:9.0f}{middles[1]:9.0f}")
    print(f"{'together':36}{totals[0]:9.0f}{totals[1]:9.0f}")
    others = 1000 * all_kernels - totals[1]
    print("and, on average:")
    print(f"{'the server that forks the kernels':36}{'':9}{1000 * forking:9.0f}")
    print(f"{'implementations, forks, ends of both':36}{'':9}{others:9.0f}")
    print(f"{'altogether':36}{totals[0] + 1000 * (forking + all_kernels):18.0f}")
