"""What the commands share. Modules here import anything large only when a command runs, so `--help` is quick."""

import argparse
from collections.abc import Iterable
from typing import Protocol

from coursekit.course import Assignment, Course, CourseError, refuse_pattern
from coursekit.printing import printable


class Run(Protocol):
    """Runs a command; returns its exit code, or None for 0."""

    def __call__(self, options: argparse.Namespace) -> int | None: ...


class Commands:
    """The commands of a parser, to which each module adds its own."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self._parsers = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(self, name: str, run: Run, text: str) -> argparse.ArgumentParser:
        added = self._parsers.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        added.set_defaults(run=run)
        return added

    def add_for_assignments(self, name: str, run: Run, text: str) -> argparse.ArgumentParser:
        """Add a command that takes the names of assignments; see `assignments_of`."""
        added = self.add(name, run, text)
        added.add_argument("assignments", nargs="*", metavar="ASSIGNMENT", help="default: all")
        return added


def assignments_of(options: argparse.Namespace) -> list[Assignment]:
    """The assignments named on the command line; all of the course's if none is named.

    Raises:
        CourseError: the course has no assignments, or none of that name.
    """
    course = Course(options.course_dir.resolve())
    refuse_pattern(course.root)
    source = course.root / course.source
    known = {assignment.name: assignment for assignment in course.assignments()}
    if not known:
        raise CourseError(f"{source} has no assignments: run this in a course folder, or use --course-dir")
    unknown = [name for name in options.assignments if name not in known]
    if unknown:
        raise CourseError(f"{source} has no {', '.join(unknown)}; it has {', '.join(known)}")
    return [known[name] for name in options.assignments or known]


def print_lines(lines: Iterable[str]) -> None:
    """Print lines that may contain names of students and files, with escape sequences made visible."""
    for line in lines:
        print(printable(line, None))


def at_least_one(text: str) -> int:
    """Parse a number of workers."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number of at least 1")
    return int(text)
