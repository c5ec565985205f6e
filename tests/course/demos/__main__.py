"""Trains every task, and every model that a sentence of a notebook is about, with several seeds each.

Prints a row for each task and for each figure, and fails if the worst seed misses a target or leaves the range of a sentence.

`python -m demos NAME ...` runs only those whose names begin so.
"""

import contextlib
import io
import sys
import time
from pathlib import Path

import torch

from demos.documents import document_tasks
from demos.figures import FIGURES, Figure
from demos.tasks import Task, heads_tasks, modern_tasks, recovery_task, seq2seq_tasks
from gradekit.course import Course

COLUMNS = "{:30}{:>7}   {:24}{:>7}{:>9}{:>15}"


def main(beginnings: tuple[str, ...]) -> int:
    torch.set_num_threads(1)
    course = Course(Path(__file__).parents[3])
    tasks = [
        *seq2seq_tasks(course),
        recovery_task(course),
        *modern_tasks(course),
        *heads_tasks(course),
        *document_tasks(course),
    ]
    names = [*(task.name for task in tasks), *FIGURES]
    unknown = [each for each in beginnings if not any(name.startswith(each) for name in names)]
    if unknown:
        print(f"No name begins with {' or '.join(map(repr, unknown))}. There are:", *names, sep="\n    ")
        return 2
    tasks = [task for task in tasks if task.name.startswith(beginnings or ("",))]
    figures = [name for name in FIGURES if name.startswith(beginnings or ("",))]
    missed = []
    if tasks:
        print(
            "Measured on held-out data, greedy decoding, one CPU thread; exact match unless stated otherwise\n"
        )
        print(COLUMNS.format("task", "steps", "each seed", "worst", "target", "seconds, each"))
        missed += [task.name for task in tasks if not reaches(task)]
    if figures:
        print("\nWhat sentences of the notebooks say: the values of all seeds, and the range of the sentence")
        missed += [name for name in figures if not holds(course, name, FIGURES[name])]
    print(
        "\n"
        + (f"Missed: {', '.join(missed)}" if missed else "All targets are reached, and all sentences hold.")
    )
    return 1 if missed else 0


def reaches(task: Task) -> bool:
    """Train with each seed and print the row. Return False if the worst seed misses the target."""
    started = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):  # the progress bars
        values = [task.run(seed) for seed in task.seeds]
    seconds = (time.perf_counter() - started) / len(values)
    each, worst = "  ".join(f"{value:.3f}" for value in values), min(values)
    target = "" if task.target is None else f"{task.target:.3f}"
    row = COLUMNS.format(task.name, task.steps, each, f"{worst:.3f}", target, f"{seconds:.1f}")
    print(row.rstrip(), flush=True)
    return task.target is None or worst >= task.target


def holds(course: Course, name: str, figure: Figure) -> bool:
    """Measure and print the rows. Return False if a value is outside what the sentence says."""
    started = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        found = list(figure(course))
    print(f"\n{name}, {time.perf_counter() - started:.0f} seconds. {figure.__doc__}")
    for row in found:
        values = "  ".join(f"{value:.3f}" for value in row.values)
        print(f"    {row.what:46}{values:48}{row.low:g} to {row.high:g}{'' if row.fits else '   OUTSIDE'}")
    sys.stdout.flush()
    return all(row.fits for row in found)


if __name__ == "__main__":
    sys.exit(main(tuple(sys.argv[1:])))
