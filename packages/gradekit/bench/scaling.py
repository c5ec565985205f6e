"""How many submissions a number of workers grade: by arithmetic, and in a simulation whose workers only sleep.

The command itself is the real one: it reads, restores and hashes submissions, sends them to Dask workers, stores their
results in the cache, and writes the gradebook and autograded/. A worker sleeps as long as grading takes, and returns the
result of a right answer.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import median

from bench.folders import ASSIGNMENT, CourseFolder, own_comment
from gradekit.grading.autograde import ClassGrading, GradingOptions
from gradekit.grading.cluster import DaskWorkers
from gradekit.grading.running_course import RunningCourse
from gradekit.grading.workers import Task
from gradekit.grading.write import Writer
from gradekit.verdict.result_cache import CachedResult, CacheKey, ResultCache
from gradekit.verdict.tries import Try
from gradekit_authoring.samples import Sample

#: how long a simulated worker sleeps, and the folder and submission of the result that it returns
_SECONDS, _RESULT = "GRADEKIT_BENCH_SECONDS", "GRADEKIT_BENCH_RESULT"
_MOST = 200
_WARM_UP, _ONES = 2, 8


def scaling(scratch: Path, counts: Sequence[int], picture: Path | None) -> None:
    """Print submissions per minute for each number of workers, predicted and simulated."""
    folder = CourseFolder.with_checks(scratch / "scaling")
    most = _submissions(max(counts))
    folder.hand_in([Sample(f"{number:04}", full=True, change=own_comment(number)) for number in range(most)])
    folder.start_over()
    seconds, sent = _one(folder)
    serial = 1 / _simulated(folder, 8, 0.0, _submissions(8))
    print(
        f"A worker takes {seconds:.2f} s for a submission, and the command {serial:.3f} s; a notebook and its"
        f" result are {sent / 1024:.0f} KiB."
    )
    print(f"{'workers':>8}{'predicted per minute':>24}{'simulated per minute':>24}")
    found = {}
    for count in counts:
        found[count] = 60 * _simulated(folder, count, seconds, _submissions(count))
        print(f"{count:8}{60 * _predicted(count, seconds, serial):24.0f}{found[count]:24.0f}", flush=True)
    if picture:
        _draw(picture, seconds, serial, found)


def _submissions(count: int) -> int:
    """Enough for `count` workers to be busy most of the time."""
    return 40 + 4 * count


def _predicted(count: float, seconds: float, serial: float) -> float:
    """Submissions per second: as many as the workers grade, or this machine writes, whichever are fewer."""
    return min(count / seconds, 1 / serial)


def _one(folder: CourseFolder) -> tuple[float, int]:
    """Seconds that a worker takes for one submission, and the bytes that are sent; the results stay in the cache."""
    course = RunningCourse.open(folder.root)
    run = ClassGrading(course, folder.assignment, GradingOptions(1))
    times, sizes, before = [], [], time.monotonic()
    for submission in run.grade([f"{number:04}" for number in range(_WARM_UP + _ONES)]):
        now = time.monotonic()
        times.append(now - before)
        before = now
        (notebook,) = submission.notebooks
        handed_in = course.submitted(submission.student, ASSIGNMENT) / f"{notebook.name}.ipynb"
        sizes.append(handed_in.stat().st_size + _stored(folder.root, notebook.key.submission).stat().st_size)
        os.environ[_RESULT] = f"{folder.root}:{notebook.key.submission}"
    run.close()
    return median(times[_WARM_UP:]), int(median(sizes))


def _stored(root: Path, submission: str) -> Path:
    return root / ".gradekit" / "results" / ASSIGNMENT / f"{submission}.json"


def _simulated(folder: CourseFolder, count: int, seconds: float, submissions: int) -> float:
    """Submissions per second with `count` sleeping workers, after the first ones."""
    root, submission = os.environ[_RESULT].rsplit(":", 1)
    kept = _stored(Path(root), submission)
    text = kept.read_text(encoding="utf-8")
    folder.start_over()
    kept.parent.mkdir(parents=True)
    kept.write_text(text, encoding="utf-8")
    course = RunningCourse.open(folder.root)
    times = []
    with _sleepers(count, seconds) as address:
        workers = DaskWorkers(folder.assignment, address, asleep)
        run = ClassGrading(course, folder.assignment, GradingOptions(0, fresh=True), workers)
        writer = Writer(course)
        for submission in run.grade([f"{number:04}" for number in range(submissions)]):
            if problems := writer.write(submission, ASSIGNMENT):
                raise RuntimeError(problems[0])
            times.append(time.monotonic())
    first = max(5, min(count, submissions // 3))
    return (len(times) - first) / (times[-1] - times[first - 1])


@contextmanager
def _sleepers(count: int, seconds: float) -> Iterator[str]:
    """A scheduler with `count` workers in a process of its own; yields its address."""
    environment = os.environ | {_SECONDS: str(seconds)}
    command = [sys.executable, "-m", "bench.sleepers", str(count)]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def asleep(assignment: str, files: bytes, task: Task, own_files: bytes, expected: Mapping[str, str]) -> Try:
    """What a simulated worker does with a task."""
    time.sleep(float(os.environ[_SECONDS]))
    right = _right_answer()
    result = replace(right.result, key=task.key.submission, depends_on=task.key.parts)
    return Try(CachedResult(result, right.outputs))


@cache
def _right_answer() -> CachedResult:
    root, submission = os.environ[_RESULT].rsplit(":", 1)
    found = ResultCache(Path(root)).find(ASSIGNMENT, CacheKey(submission, {}))
    if not found.result.exercises:
        raise RuntimeError("the result to return is not in the cache")
    return found


def _draw(picture: Path, seconds: float, serial: float, found: Mapping[int, float]) -> None:
    import matplotlib.pyplot as plt

    counts = [_MOST ** (step / 500) for step in range(501)]
    figure, axes = plt.subplots(figsize=(7, 4))
    axes.plot(counts, [60 * _predicted(count, seconds, serial) for count in counts], label="predicted")
    axes.plot(list(found), list(found.values()), "o", label="simulated")
    axes.set_xscale("log")
    axes.minorticks_off()
    axes.set(xlabel="workers", ylabel="submissions per minute", ylim=(0, None))
    axes.set_xticks([1, 2, 5, 10, 20, 50, 100, 200], labels=["1", "2", "5", "10", "20", "50", "100", "200"])
    axes.legend(loc="lower right")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.savefig(picture, dpi=100, bbox_inches="tight")
