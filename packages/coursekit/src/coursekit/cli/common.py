"""What the commands share."""

import argparse
from collections.abc import Iterable
from typing import Protocol

from coursekit.course import Assignment, Course, CourseError, refuse_pattern
from coursekit.printing import printable


class Run(Protocol):
    """A command: its exit code, or None for 0."""

    def __call__(self, options: argparse.Namespace) -> int | None: ...


class Commands:
    """The commands of a parser, to which each module adds its own."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self._parsers = parser.add_subparsers(required=True, metavar="command")

    def add(self, name: str, run: Run, text: str) -> argparse.ArgumentParser:
        added = self._parsers.add_parser(name, help=text, description=text)
        added.set_defaults(run=run)
        return added

    def add_for_assignments(self, name: str, run: Run, text: str) -> argparse.ArgumentParser:
        """A command that takes the names of assignments; see `assignments_of`."""
        added = self.add(name, run, text)
        added.add_argument("assignments", nargs="*", metavar="ASSIGNMENT", help="default: all")
        return added


def assignments_of(options: argparse.Namespace) -> list[Assignment]:
    """The assignments that were named, or all.

    Raises:
        CourseError: there is none, or none of that name.
    """
    course = Course(options.course_dir.resolve())
    refuse_pattern(course.root)
    known = {assignment.name: assignment for assignment in course.assignments()}
    if not known:
        raise CourseError(
            f"{course.root / course.source} holds no assignment: run this in the folder of a course, or name it by --course-dir"
        )
    unknown = [name for name in options.assignments if name not in known]
    if unknown:
        raise CourseError(
            f"{course.root / course.source} has no {', '.join(unknown)}; it has {', '.join(known)}"
        )
    return [known[name] for name in options.assignments or known]


def say(lines: Iterable[str]) -> None:
    """Print lines in which names of students and files may be, without what a terminal would obey."""
    for line in lines:
        print(printable(line, None))


def at_least_one(text: str) -> int:
    """A number of workers, for argparse."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 1 on")
    return int(text)
