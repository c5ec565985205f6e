"""Trains every task, prints one row for each, and fails if the worst seed of any task misses its target."""

import contextlib
import io
import sys
import time
from pathlib import Path

import torch

from demos.documents import document_tasks
from demos.tasks import Task, heads_tasks, modern_tasks, recovery_task, seq2seq_tasks, tuning_tasks
from gradekit.course import Course

COLUMNS = "{:30}{:>7}   {:24}{:>7}{:>9}{:>15}"


def main() -> int:
    torch.set_num_threads(1)
    course = Course(Path(__file__).parents[3])
    print("Measured on held-out data, greedy decoding, one CPU thread; exact match unless stated otherwise\n")
    print(COLUMNS.format("task", "steps", "each seed", "worst", "target", "seconds, each"))
    tasks = [
        *seq2seq_tasks(course),
        recovery_task(course),
        *modern_tasks(course),
        *heads_tasks(course),
        *tuning_tasks(course),
        *document_tasks(course),
    ]
    under = [task.name for task in tasks if not reaches(task)]
    print("\n" + (f"Below target: {', '.join(under)}" if under else "All targets are reached."))
    return 1 if under else 0


def reaches(task: Task) -> bool:
    """Train with each seed and print the row. Return False if the worst seed misses the target."""
    started = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):  # the progress bars
        values = [task.run(seed) for seed in task.seeds]
    seconds = (time.perf_counter() - started) / len(values)
    each, worst = "  ".join(f"{value:.3f}" for value in values), min(values)
    target = "" if task.target is None else f"{task.target:.3f}"
    row = COLUMNS.format(task.name, task.steps, each, f"{worst:.3f}", target, f"{seconds:.1f}")
    print("\n".join([row.rstrip(), *(f"    {note}" for note in task.notes)]), flush=True)
    return task.target is None or worst >= task.target


if __name__ == "__main__":
    sys.exit(main())
