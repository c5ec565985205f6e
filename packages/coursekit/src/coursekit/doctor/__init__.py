"""What this machine and this course folder have, and what to do about what is missing."""

from collections.abc import Iterator
from pathlib import Path

from coursekit.doctor.course import examine_course
from coursekit.doctor.finding import Finding, report_lines
from coursekit.doctor.machine import examine_extras, examine_machine


def examine(root: Path) -> Iterator[Finding]:
    """Look at everything, the machine first; each finding comes as soon as it is there."""
    yield from examine_machine(root)
    yield from examine_course(root)
    yield from examine_extras()


__all__ = ["Finding", "examine", "report_lines"]
