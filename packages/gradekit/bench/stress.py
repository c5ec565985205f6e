"""Grade right answers on a busy machine: each must earn all its points.

Other processes keep the processor busy, or students of the class, or both.
"""

import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent

from nbformat import NotebookNode

from bench.busy import busy_processes
from bench.folders import GRADEKIT, CourseFolder, own_comment
from gradekit.checks.variants import alternatives_of
from gradekit.course.cells import find_cell
from gradekit.grading.running_course import RunningCourse
from gradekit.session.values import CheckOutcome
from gradekit.verdict.grade import points_of
from gradekit_authoring.samples import Change, Sample

#: kinds of load: busy processes, students who hog the processor, or both
KINDS = ("busy", "hogs", "both")
#: is put before a hog's answer; the cell waits, so that honest students are graded meanwhile
_HOG = """\
import contextlib, os, subprocess, threading, time
import torch
over = time.monotonic() + {seconds}
def burn():
    x = torch.ones(300, 300)
    while time.monotonic() < over:
        x @ x
with contextlib.suppress(OSError, RuntimeError):  # the limit on processes is reached
    for _ in range(100):
{start}
time.sleep(min(10, {seconds}))
"""
#: what each kind of hog does a hundred times
HOGS = {
    "shells": """\
subprocess.Popen(["timeout", "{seconds}", "sh", "-c", "while :; do :; done"], start_new_session=True)
""",
    "threads": """\
threading.Thread(target=burn, daemon=True).start()
""",
    "forks": """\
if os.fork() == 0:
    os.setsid()
    while time.monotonic() < over:
        pass
    os._exit(0)
""",
}


@dataclass(frozen=True)
class Plan:
    """A class: the solution `rounds` times, a number of alternatives (None: all), and kinds of hogs.

    A hog keeps the processor busy for `hog_seconds` unless it is killed earlier.
    """

    rounds: int
    alternatives: int | None
    hogs: Sequence[str]
    hog_seconds: int

    def honest(self, folder: CourseFolder) -> list[Sample]:
        variants = [None] * self.rounds + alternatives_of(folder.assignment)[: self.alternatives]
        return [
            Sample(
                f"{number:04}-{variant.name.replace('_', '-') if variant else 'solution'}",
                full=True,
                change=own_comment(number),
                variants=(variant,) if variant else (),
            )
            for number, variant in enumerate(variants, 1)
        ]

    def hogging(self, honest: int) -> list[Sample]:
        """Hogs spread among `honest` students, since submissions are graded in the order of the names."""
        places = [honest * part // len(self.hogs) for part in range(len(self.hogs))]
        return [
            Sample(f"{place:04}-z-hog-{kind}", change=_hogging(kind, self.hog_seconds))
            for place, kind in zip(places, self.hogs, strict=True)
        ]


def stress(scratch: Path, name: str, counts: Sequence[int], kinds: Sequence[str], plan: Plan) -> bool:
    """Grade the class of one assignment under each load and print lost points; True if there are none.

    Args:
        counts: numbers of busy processes.
        kinds: of load, out of `KINDS`.
    """
    runs = [(count, kind == "both") for kind in kinds if kind != "hogs" for count in counts]
    runs += [(0, True)] if "hogs" in kinds else []
    nothing_lost = True
    for number, (count, with_hogs) in enumerate(runs):
        folder = CourseFolder.with_checks(scratch / f"{name}-{number}", name)
        honest = plan.honest(folder)
        hogs = plan.hogging(len(honest)) if with_hogs else []
        folder.hand_in([*honest, *hogs])
        folder.start_over()
        words = [f"beside {count} busy processes"] * (not hogs or count > 0)
        load = ", ".join([*words, *[f"with {len(hogs)} hog{'s' * (len(hogs) > 1)}"] * bool(hogs)])
        losses = _graded_beside(folder, honest, count, load)
        print("".join(f"    {loss}\n" for loss in losses), end="", flush=True)
        nothing_lost = nothing_lost and not losses
    return nothing_lost


def _graded_beside(folder: CourseFolder, honest: list[Sample], count: int, load: str) -> list[str]:
    command = [*GRADEKIT, "autograde", "--fresh", folder.name]
    started = time.monotonic()
    with busy_processes(count), folder.log.open("w") as output:
        code = subprocess.run(
            command, cwd=folder.root, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        ).returncode
    if code not in (0, 1):  # 1: the grader failed on a hog
        print(f"{folder.name} {load}: not graded")
        return [f"`gradekit autograde` ended with {code}:\n{folder.log.read_text(errors='replace')[-2000:]}"]
    lost = [losses for sample in honest if (losses := _lost(folder, sample.student))]
    print(
        f"{folder.name} {load}: {len(honest)} honest submissions, {len(honest) - len(lost)} with full marks,"
        f" {time.monotonic() - started:.0f} s"
    )
    return [loss for losses in lost for loss in losses]


def _hogging(kind: str, seconds: int) -> Change:
    start = indent(HOGS[kind].format(seconds=seconds), " " * 8)
    source = _HOG.format(start=start, seconds=seconds)

    def change(notebook: NotebookNode, main: str) -> None:
        cell = find_cell(notebook, main)
        cell.source = f"{source}{cell.source}"

    return change


def _lost(folder: CourseFolder, student: str) -> list[str]:
    """A line for each check that an honest student failed."""
    (name,) = folder.assignment.released_names()
    result = RunningCourse.open(folder.root).result(student, folder.name, name)
    if result is None:
        return [f"{student}: no result; see the output of the command:\n{folder.log.read_text()[-1000:]}"]
    full = sum(points_of(folder.assignment.released(name)).values())
    lines = [
        f"{student}: {exercise.grade_id}::{check.name}, {check.points:g} points, {check.outcome}: {check.message}"
        for exercise in result.exercises
        for check in exercise.checks
        if check.outcome != CheckOutcome.PASSED
    ]
    if result.earned < full and not lines:
        lines = [f"{student}: {result.earned:g} of {full:g} points, {result.status}"]
    return lines
