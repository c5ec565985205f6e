"""The format of the printed figures."""

from collections.abc import Sequence
from statistics import median

from bench.meter import Usage

HEAD = f"{'':44}{'seconds':>9}{'per minute':>12}{'CPU s each':>12}{'peak MiB':>10}"


def row(name: str, usage: Usage, submissions: int) -> str:
    """One run: `submissions` were graded."""
    per_minute, each = 60 * submissions / usage.seconds, usage.cpu / submissions
    return f"{name:44}{usage.seconds:9.1f}{per_minute:12.1f}{each:12.2f}{usage.peak:10.0f}"


def median_and_range(values: Sequence[float], form: str = ".1f") -> str:
    return f"{median(values):{form}} ({min(values):{form}} to {max(values):{form}})"
