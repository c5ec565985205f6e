"""The command `gradekit`, and helpers that its commands share. Options have the names that nbgrader uses.

Its commands are added by functions that the entry points `gradekit.commands` name: those here, and those of packages that
are installed beside this one. The name of an entry point is its place in the list of commands and the commands that it
adds, as in `020_deadline.extend`. Only the module of the command that is run is imported; for `--help` and a shell's
completion, it is all of them. Modules here import anything large only when a command runs, so `--help` is quick.
"""

import argparse
import contextlib
import gc
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import entry_points, version
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self

from gradekit.course import Assignment, CourseError, refuse_pattern
from gradekit.course.kernels import KERNELS
from gradekit.course.printing import did_you_mean, printable

if TYPE_CHECKING:
    from tqdm import tqdm

    from gradekit.grading.running_course import RunningCourse


#: runs a command; returns its exit code, or None for 0
Command = Callable[[argparse.Namespace], int | None]
#: objects allocated before the garbage collector runs. Python's default of 700 costs up to a sixth of the time of
#: imports, which make hardly any garbage.
_COLLECT_AFTER = 20_000
_NOT_ON_WINDOWS = frozenset({"fcntl", "grp", "pwd", "resource", "termios"})
_ELSEWHERE = "run it in gradekit's image or in WSL; see `gradekit help sandbox`"
_GROUP = "gradekit.commands"
#: commands that messages and pages name, and the packages that bring them
_COMPANIONS = {
    **dict.fromkeys(
        (
            "demo",
            "init",
            "learn",
            "audit",
            "record",
            "earlier",
            "standalone",
            "samples",
            "new",
            "doctor",
            "adopt",
            "regrade",
            "revise",
        ),
        "gradekit-authoring",
    ),
    "requests": "gradekit-authoring",
    "watch": "gradekit-watch",
    **dict.fromkeys(("return", "lms", "lti"), "gradekit-lms"),
    **dict.fromkeys(("similar", "viva", "defend"), "gradekit-integrity"),
    **dict.fromkeys(("written", "deal"), "gradekit-written"),
}
#: what one of them needs of the others, since none is on an index
_NEEDED = dict.fromkeys(("gradekit-git", "gradekit-lms"), ("gradekit-watch",))


def main(arguments: Sequence[str] | None = None) -> int:
    # before the course's configuration imports NumPy: a process with several threads can't be forked safely
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    gc.set_threshold(_COLLECT_AFTER, 10, 10)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # in an ASCII locale, names and arrows are escaped
            stream.reconfigure(errors="backslashreplace")
    parser = _parser(_command_in(sys.argv[1:] if arguments is None else arguments))
    if "_ARGCOMPLETE" in os.environ:  # a shell asks for completions
        with contextlib.suppress(ImportError):
            import argcomplete

            argcomplete.autocomplete(parser)  # ends the process
    options = parser.parse_args(arguments)
    run: Command = options.run
    try:
        return run(options) or 0
    except CourseError as error:
        _print_error(str(error))
        return 2
    except KeyboardInterrupt:
        _print_error("stopped. Run the same command again to continue; what has been graded is not lost.")
        return 130
    except BrokenPipeError:  # the reader of the output, such as `head`, has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except ModuleNotFoundError as error:
        if error.name not in _NOT_ON_WINDOWS:
            raise
        _print_error(f"this needs Linux, since gradekit uses `{error.name}`: {_ELSEWHERE}")
        return 2
    except OSError as error:  # its message names the file
        refused = isinstance(error, PermissionError) and error.filename
        remedy = f"{error.filename} can't be read or written: change its permissions."
        _print_error(remedy if refused else str(error))
        return 2


def _print_error(message: str) -> None:
    """Print why the command ended. The message may have several lines, and contain names of students' files."""
    lines = [printable(line, None) for line in message.split("\n")]
    print("gradekit: " + "\n".join(lines), file=sys.stderr)


class _Version(argparse.Action):
    """Finds out the versions only when they are asked for, since that reads the environment."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **(options | {"nargs": 0}))

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        names = ("gradekit", "sandbox-kernel", "nbgrader")
        print(", ".join(f"{name} {version(name)}" for name in names))
        parser.exit()


class _Parser(argparse.ArgumentParser):
    """Answers a misspelt command with the one that was meant, in one line."""

    commands: "Commands"

    def error(self, message: str) -> NoReturn:
        if unknown := re.search(r"invalid choice: (['\"])(.*)\1 \(", message):
            nearest = did_you_mean(unknown[2], self.commands.names)
            _print_error(f"there is no command {unknown[2]}{nearest or '; `gradekit --help` lists all'}")
            self.exit(2)
        super().error(message)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Names of students count wherever they are; argparse knows only those before the options."""
        options, rest = self.parse_known_args(args, namespace)
        if rest and (
            isinstance(getattr(options, "students", None), list)
            and not any(one.startswith("-") for one in rest)
        ):
            options.students = [*options.students, *rest]
        elif rest:
            self.error(f"unrecognized arguments: {' '.join(rest)}")
        return options


def _parser(only: str = "") -> _Parser:
    """The parser of the command line, with the command `only`; with all if that is empty or no command."""
    parser = _Parser(prog="gradekit", description="Grade notebook courses with hidden checks.")
    parser.add_argument(
        "--version", action=_Version, help="print the versions of gradekit and nbgrader, and exit"
    )
    _add_course_dir(parser)
    commands = parser.commands = Commands(parser)
    points = sorted(entry_points(group=_GROUP), key=lambda point: point.name)
    chosen = [point for point in points if only in point.name.partition("_")[2].split(".")]
    for point in chosen or points:
        point.load()(commands)
    if not chosen:
        for name, package in _COMPANIONS.items():
            commands.add_if_missing(name, package)
    return parser


def _add_course_dir(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--course-dir",
        type=Path,
        metavar="DIR",
        help="the course's folder; default: as nbgrader is configured, or this one",
    )


def _command_in(arguments: Sequence[str]) -> str:
    """The command that these arguments begin with, after options for all commands; empty where help on all is wanted."""
    parser = _Parser(prog="gradekit", add_help=False)
    _add_course_dir(parser)
    parser.add_argument("rest", nargs=argparse.REMAINDER)
    found, others = parser.parse_known_args(arguments)
    return "" if others or not found.rest or "_ARGCOMPLETE" in os.environ else str(found.rest[0])


class CommandParser(argparse.ArgumentParser):
    """The parser of a command, with the options that several commands have."""

    def add_workers(self, what: str = "processes on this machine", at_most: int | None = None) -> None:
        cores = os.cpu_count() or 1
        self.add_argument(
            "--workers",
            type=at_least_one,
            default=min(cores, at_most or cores),
            help=f"{what}; default: the number of cores" + (f", at most {at_most}" if at_most else ""),
        )

    def add_flag(self, name: str, text: str) -> None:
        self.add_argument(name, action="store_true", help=text)

    def add_json(self) -> None:
        self.add_flag("--json", "print one JSON document, for programs")

    def add_names(self, **options: Any) -> None:
        names = self.add_argument("assignments", metavar="ASSIGNMENT", **options)
        names.completer = _assignments_here  # type: ignore[attr-defined]  # for argcomplete

    def add_sandbox(self) -> None:
        self.add_argument(
            "--sandbox", choices=KERNELS, help="`none` for trusted code; default: as configured"
        )


class Commands:
    """The commands of a parser, to which each module adds its own."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self._parsers = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=CommandParser)

    @property
    def names(self) -> list[str]:
        return list(self._parsers.choices)

    def add(self, name: str, run: Command, text: str) -> CommandParser:
        added = self._parsers.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        added.set_defaults(run=run)
        return added

    def add_if_missing(self, name: str, package: str) -> None:
        """Unless the command is there, say which package brings it, whatever its arguments are."""

        def refuse(options: argparse.Namespace) -> NoReturn:
            raise not_installed(f"{name} is a command", package)

        if name not in self._parsers.choices:
            added = self._parsers.add_parser(name, add_help=False, prefix_chars="\0")
            added.add_argument("arguments", nargs="*")
            added.set_defaults(run=refuse)

    def add_for_assignments(self, name: str, run: Command, text: str) -> CommandParser:
        """Add a command that takes the names of assignments; see `course_and_assignments`."""
        added = self.add(name, run, text)
        added.add_names(nargs="*", help="default: all")
        return added

    def add_for_assignment(self, name: str, run: Command, text: str) -> CommandParser:
        """Add a command that takes the name of one assignment."""
        added = self.add(name, run, text)
        added.add_names(nargs=1)
        return added


def not_installed(what: str, package: str) -> CourseError:
    """Says how to install the package that brings something, such as "x is a command"."""
    folders = " ".join(f"./packages/{each}" for each in (*_NEEDED.get(package, ()), package))
    return CourseError(
        f"{what} of {package}, which is not installed: "
        f"`pip install {folders}` in the folder with gradekit's sources"
    )


def _assignments_here(parsed_args: argparse.Namespace, **_: object) -> list[str]:
    """Names for a shell to complete, from the usual folder: reading the configuration would take a second."""
    return [path.name for path in Path(parsed_args.course_dir or "", "source").glob("[!._]*/")]


def course_of(options: argparse.Namespace) -> "RunningCourse":
    """The course that the command works in: that of `--course-dir`, or the one that nbgrader is configured for."""
    from gradekit.grading.running_course import RunningCourse

    course = RunningCourse.open(options.course_dir)
    refuse_pattern(course.root)
    return course


def course_and_assignments(options: argparse.Namespace) -> "tuple[RunningCourse, list[Assignment]]":
    """The course, and the assignments named on the command line.

    If none is named, it is the configured one, or else all of the course's.

    Raises:
        CourseError: the course has no assignments, or none of that name.
    """
    course, names = course_of(options), [name.rstrip("/") or name for name in options.assignments]
    source = course.layout.folder(course.layout.source, ".")
    known = {assignment.name: assignment for assignment in course.layout.assignments()}
    if not known:
        raise CourseError(
            f"{source} has no assignments: run this in a course folder, or use --course-dir; "
            "`gradekit init` begins a course"
        )
    for name in names:
        refuse_pattern(course.layout.assignment(name).source_folder)
    names = names or list(filter(None, [course.folders.assignment_id])) or list(known)
    if unknown := [name for name in names if name not in known]:
        nearest = did_you_mean(unknown[0], known)
        raise CourseError(f"{source} has no {', '.join(unknown)}; it has {', '.join(known)}{nearest}")
    return course, [known[name] for name in names]


def print_lines(lines: Iterable[str]) -> None:
    """Print lines that may contain names of students and files, with escape sequences made visible."""
    for line in lines:
        print(printable(line, None), flush=True)  # a service may go on, and its output be read meanwhile


def print_json(data: dict[str, Any]) -> None:
    import json

    print(json.dumps(data, indent=2, default=str))


def at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number of at least 1")
    return int(text)


class ProgressLines:
    """Progress where no person watches, in a log or a pipe: a line at the start, then at most one a minute.

    The command itself says how it ended.
    """

    _SECONDS = 60

    def __init__(self, title: str, unit: str, total: int) -> None:
        self._text = f"{title}: {{}} of {total} {unit}s"
        self._done = 0
        self._began = self._last = time.monotonic()
        self._print(self._text.format(0))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Print nothing."""

    def update(self, count: int = 1) -> None:
        self._done += count
        now = time.monotonic()
        if now - self._last >= self._SECONDS:
            self._last = now
            self._print(f"{self._text.format(self._done)} after {now - self._began:.0f} s")

    @staticmethod
    def _print(line: str) -> None:
        print(line, file=sys.stderr, flush=True)


def progress_lines(
    title: str, unit: str, total: int, quiet: bool = False
) -> "tqdm[NoReturn] | ProgressLines":
    """A progress bar on stderr; where that is no terminal, lines. Nothing if it is to be quiet."""
    watched = quiet or sys.stderr.isatty()
    return progress_bar(title, unit, total, quiet) if watched else ProgressLines(title, unit, total)


def progress_bar(title: str, unit: str, total: int | None = None, quiet: bool = False) -> "tqdm[NoReturn]":
    """A progress bar on stderr, if that is a terminal.

    It starts no thread, since a process with threads can't be forked safely.
    """
    from tqdm import tqdm

    tqdm.monitor_interval = 0
    return tqdm(total=total, desc=title, unit=f" {unit}s", disable=quiet or None)
