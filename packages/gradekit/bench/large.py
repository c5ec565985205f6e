"""A large class, in which two worker processes are killed."""

import os
import signal
import time
from collections import Counter
from pathlib import Path

import psutil
from nbgrader.api import SubmittedAssignment

from bench.folders import ASSIGNMENT, GRADEKIT, CourseFolder, class_of
from bench.meter import Metered
from bench.table import HEAD, row
from gradekit.grading.running_course import RunningCourse
from gradekit.report.table import class_table
from gradekit.submission.notebook_file import read_submitted
from gradekit.submission.restore import restored
from gradekit.verdict.grade import grade, points_of
from gradekit.verdict.opened import GradingJob
from gradekit_authoring.samples import Sample

_PERCENT = (10, 50, 90)
_KILL_AT_PERCENT = (40, 70)
#: number of different mistakes, and of alternatives
_VARIETY = 12
_LOOK_SECONDS = 1


def large(scratch: Path, count: int) -> None:
    """Print the memory at three points, and whether everybody has the expected score.

    Raises:
        RuntimeError: a score is missing or wrong, or fewer workers could be killed.
    """
    folder = CourseFolder.with_checks(scratch / "large")
    samples = class_of(count, _VARIETY)
    folder.hand_in(samples)
    folder.start_over()
    expected = _expected(folder, samples)
    running = Metered([*GRADEKIT, "autograde", "--fresh", ASSIGNMENT], folder.root, folder.log)
    to_kill = _watch(running, folder, count)
    usage = running.wait()
    print(f"{HEAD}\n{row(f'gradekit autograde, {count} submissions', usage, count)}")
    wrong = _wrong(folder, expected)
    if wrong or to_kill:
        raise RuntimeError("\n".join(wrong) or f"{to_kill} workers were not killed")
    print(f"All {count} students have one row with the expected score.")


def _expected(folder: CourseFolder, samples: list[Sample]) -> dict[str, float]:
    """The score of each student: full marks, or what the mistake earns when it is graded alone."""
    assignment = folder.assignment
    (name,) = assignment.released_names()
    released = assignment.released(name)
    full = sum(points_of(released).values())
    of_mistakes: dict[str, float] = {}
    for sample in samples:
        if not sample.full and sample.variants[0].name not in of_mistakes:
            path = folder.root / "submitted" / sample.student / ASSIGNMENT / f"{name}.ipynb"
            notebook = restored(read_submitted(path).notebook, released).notebook
            job = GradingJob(assignment, name, notebook, released)
            of_mistakes[sample.variants[0].name] = grade(job).result.earned
    if max(of_mistakes.values(), default=0) >= full:
        raise RuntimeError("a known mistake earns full marks")
    return {s.student: full if s.full else of_mistakes[s.variants[0].name] for s in samples}


def _watch(running: Metered, folder: CourseFolder, count: int) -> int:
    """Print the memory during the run, and kill workers; returns how many are left to kill."""
    results = folder.root / ".gradekit" / "results" / ASSIGNMENT
    to_look, to_kill = list(_PERCENT), list(_KILL_AT_PERCENT)
    while running.running:
        graded = 100 * (len(os.listdir(results)) if results.exists() else 0) / count
        if to_look and graded >= to_look[0]:
            print(f"{to_look.pop(0)} % graded: {running.pss():.0f} MiB", flush=True)
        if to_kill and graded >= to_kill[0] and (workers := _workers(running)):
            workers[0].send_signal(signal.SIGKILL)
            print(
                f"{graded:.0f} % graded: worker {workers[0].pid}, one of {len(workers)}, is killed",
                flush=True,
            )
            to_kill.pop(0)
        time.sleep(_LOOK_SECONDS)
    return len(to_kill)


def _workers(running: Metered) -> list[psutil.Process]:
    """The worker processes: forks of the command, which have its command line."""
    found = running.descendants()
    return [process for process in found[1:] if _line(process) and _line(process) == _line(found[0])]


def _line(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def _wrong(folder: CourseFolder, expected: dict[str, float]) -> list[str]:
    """What is unexpected in the gradebook and in the table."""
    table = class_table(RunningCourse.open(folder.root), folder.assignment)
    rows = {row.student: row.total for row in table.rows}
    wrong = [f"{s}: {rows.get(s)} points, not {p}" for s, p in expected.items() if rows.get(s) != p]
    wrong += [f"{student} is not in the class" for student in rows.keys() - expected.keys()]
    with RunningCourse.open(folder.root).gradebook() as gradebook:
        entries = Counter(entry.student_id for entry in gradebook.db.query(SubmittedAssignment))
    wrong += [f"{s}: {entries[s]} entries in the gradebook" for s in expected if entries[s] != 1]
    return wrong
