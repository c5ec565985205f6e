"""The same class through plain nbgrader and through gradekit, in turn."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.folders import GRADEKIT, NBGRADER, CourseFolder, class_of
from bench.meter import Metered, Usage
from bench.table import HEAD, median_and_range, row

NO_DEMOS = 'c.Execute.skip_cells_with_tag = "demo"\n'


@dataclass(frozen=True)
class Way:
    """A way to grade a number of submissions."""

    name: str
    submissions: int
    run: Callable[[], Usage]


def compare(scratch: Path, count: int, plain_count: int, turns: int) -> None:
    """Print what plain nbgrader and gradekit take for the course's own assignment.

    Each process of plain nbgrader grades one submission after another, so `plain_count` of them are enough to measure
    its speed.
    """
    samples, cores = class_of(count), os.cpu_count() or 1
    one = CourseFolder.plain(scratch / "one", NO_DEMOS)
    with_demos = CourseFolder.plain(scratch / "with-demos")
    split = [CourseFolder.plain(scratch / f"split-{number}", NO_DEMOS) for number in range(cores)]
    ours = CourseFolder.with_checks(scratch / "ours")
    ours.hand_in(samples)
    for folder in (one, with_demos):
        folder.hand_in(samples[:plain_count])
    for number, folder in enumerate(split):
        folder.hand_in(samples[:plain_count][number::cores])
    print(f"\n{count} submissions; plain nbgrader: {plain_count} of them")
    take_turns(
        [
            Way("gradekit autograde", count, lambda: ours.run(*GRADEKIT, "autograde", "--fresh")),
            Way(f"{cores} x nbgrader, no demos", plain_count, lambda: _without_demos(split)),
            Way("nbgrader autograde, no demos", plain_count, lambda: _without_demos([one])),
            Way("nbgrader autograde", plain_count, lambda: with_demos.run(*NBGRADER, "autograde")),
        ],
        turns,
    )


def alone(scratch: Path, turns: int) -> None:
    """Print what a single submission takes, by a command that starts for it, as on a hub that grades each hand-in."""
    ours, plain = CourseFolder.with_checks(scratch / "ours"), CourseFolder.plain(scratch / "plain", NO_DEMOS)
    for folder in (ours, plain):
        folder.hand_in(class_of(1))
    print("\nOne submission")
    take_turns(
        [
            Way("gradekit autograde", 1, lambda: ours.run(*GRADEKIT, "autograde", "--fresh")),
            Way("nbgrader autograde, no demos", 1, lambda: _without_demos([plain])),
        ],
        turns,
    )


def take_turns(ways: Sequence[Way], turns: int) -> None:
    """Print a row for each run, the medians, and how many times as fast the first way is as each of the others."""
    found: dict[str, list[Usage]] = {way.name: [] for way in ways}
    print(HEAD, flush=True)
    for _ in range(turns):
        for way in ways:
            found[way.name].append(way.run())
            print(row(way.name, found[way.name][-1], way.submissions), flush=True)
    print("\nmedian (range)")
    for way in ways:
        usages = found[way.name]
        print(
            f"{way.name}: {median_and_range([u.seconds for u in usages])} s,"
            f" {median_and_range([60 * way.submissions / u.seconds for u in usages])} submissions per minute,"
            f" {median_and_range([u.cpu / way.submissions for u in usages], '.2f')} CPU s each,"
            f" {median_and_range([u.peak for u in usages], '.0f')} MiB"
        )
    first, *others = ways
    for way in others:
        pairs = list(zip(found[first.name], found[way.name], strict=True))
        share = first.submissions / way.submissions
        speed = median_and_range([share * other.seconds / mine.seconds for mine, other in pairs])
        cpu = median_and_range([share * other.cpu / mine.cpu for mine, other in pairs])
        print(
            f"{first.name}, compared with {way.name}: {speed} times as fast, 1/{cpu} of the CPU time",
            flush=True,
        )


def side_by_side(folders: Sequence[CourseFolder], *command: str) -> Usage:
    """Grade what is in each folder with a process of its own, all at once.

    Raises:
        RuntimeError: some submissions are not graded.
    """
    for folder in folders:
        folder.start_over()
    running = [Metered([*command, folder.name], folder.root, folder.log) for folder in folders]
    usages = [metered.wait() for metered in running]
    for folder in folders:
        folder.require_graded()
    return Usage(
        0,
        max(usage.seconds for usage in usages),
        sum(usage.cpu for usage in usages),
        sum(usage.peak for usage in usages),
    )


def _without_demos(folders: Sequence[CourseFolder]) -> Usage:
    usage = side_by_side(folders, *NBGRADER, "autograde")
    for notebook in (notebook for folder in folders for notebook in folder.autograded()):
        for cell in notebook.cells:
            if "demo" in cell.metadata.get("tags", []) and cell.get("execution_count"):
                raise RuntimeError("nbgrader ran a demo cell despite its settings")
    return usage


def scale(scratch: Path, counts: list[int]) -> None:
    """Print the cost of classes of several sizes."""
    print(f"\nClasses of several sizes\n{HEAD}", flush=True)
    smallest: tuple[int, Usage] | None = None
    for count in counts:
        folder = CourseFolder.with_checks(scratch / f"scale-{count}")
        folder.hand_in(class_of(count))
        usage = folder.run(*GRADEKIT, "autograde", "--fresh")
        print(row(f"gradekit autograde, {count} submissions", usage, count), flush=True)
        if smallest:
            more = count - smallest[0]
            seconds, cpu = usage.seconds - smallest[1].seconds, usage.cpu - smallest[1].cpu
            print(f"    each beyond {smallest[0]}: {seconds / more:.2f} s, {cpu / more:.2f} CPU s")
        smallest = smallest or (count, usage)
