"""The same class through plain nbgrader and through coursekit, in turn."""

from collections.abc import Callable
from pathlib import Path

from bench.folders import COURSEKIT, NBGRADER, CourseFolder, class_of
from bench.meter import Usage
from bench.table import HEAD, median_and_range, row

NO_DEMOS = 'c.Execute.skip_cells_with_tag = "demo"\n'
_PLAIN, _SHORTER, _OURS = (
    "nbgrader autograde",
    "nbgrader autograde, demo cells skipped",
    "coursekit autograde",
)


def compare(scratch: Path, count: int, plain_count: int, turns: int) -> None:
    """Print a row for each run, and how many times as many submissions coursekit grades in a minute.

    Plain nbgrader grades one submission after another, so `plain_count` of them are enough to measure its speed.
    """
    plain, shorter = CourseFolder.plain(scratch / "plain"), CourseFolder.plain(scratch / "shorter", NO_DEMOS)
    ours = CourseFolder.with_checks(scratch / "ours")
    ours.hand_in(class_of(count))
    for folder in (plain, shorter):
        folder.hand_in(class_of(count)[:plain_count])
    ways: dict[str, tuple[int, Callable[[], Usage]]] = {
        _PLAIN: (plain_count, lambda: plain.run(*NBGRADER, "autograde")),
        _SHORTER: (plain_count, lambda: _without_demos(shorter)),
        _OURS: (count, lambda: ours.run(*COURSEKIT, "autograde", "--fresh")),
    }
    found: dict[str, list[Usage]] = {name: [] for name in ways}
    print(f"\n{count} submissions; plain nbgrader: {plain_count} of them\n{HEAD}", flush=True)
    for _ in range(turns):
        for name, (submissions, run) in ways.items():
            found[name].append(run())
            print(row(name, found[name][-1], submissions), flush=True)
    print("\nmedian (range)")
    for name, usages in found.items():
        submissions = ways[name][0]
        print(
            f"{name}: {median_and_range([u.seconds for u in usages])} s,"
            f" {median_and_range([60 * submissions / u.seconds for u in usages])} submissions per minute,"
            f" {median_and_range([u.cpu / submissions for u in usages], '.2f')} CPU s each,"
            f" {median_and_range([u.peak for u in usages], '.0f')} MiB"
        )
    for name in (_PLAIN, _SHORTER):
        ratios = [
            (count / mine.seconds) / (plain_count / other.seconds)
            for mine, other in zip(found[_OURS], found[name], strict=True)
        ]
        print(f"submissions per minute, times those of {name}: {median_and_range(ratios)}")


def _without_demos(folder: CourseFolder) -> Usage:
    usage = folder.run(*NBGRADER, "autograde")
    for notebook in folder.autograded():
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
        usage = folder.run(*COURSEKIT, "autograde", "--fresh")
        print(row(f"coursekit autograde, {count} submissions", usage, count), flush=True)
        if smallest:
            more = count - smallest[0]
            seconds, cpu = usage.seconds - smallest[1].seconds, usage.cpu - smallest[1].cpu
            print(f"    each beyond {smallest[0]}: {seconds / more:.2f} s, {cpu / more:.2f} CPU s")
        smallest = smallest or (count, usage)
