"""The command `gradekit`. Its options have the names that nbgrader uses.

Its commands are added by functions that the entry points `gradekit.commands` name: those here, and those of packages that
are installed beside this one. The name of an entry point begins with its place in the list of commands.
"""

import argparse
import contextlib
import gc
import os
import re
import sys
from collections.abc import Sequence
from importlib.metadata import entry_points, version
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NoReturn

from gradekit.cli.common import Command, Commands
from gradekit.course import CourseError
from gradekit.course.printing import did_you_mean, printable

#: objects allocated before the garbage collector runs. Python's default of 700 costs up to a sixth of the time of
#: imports, which make hardly any garbage.
_COLLECT_AFTER = 20_000
_NOT_ON_WINDOWS = frozenset({"fcntl", "grp", "pwd", "resource", "termios"})
_ELSEWHERE = "run it in gradekit's image or in WSL; see `gradekit help sandbox`"
_GROUP = "gradekit.commands"
#: commands that messages and pages name, and the packages that bring them
_COMPANIONS = {
    **dict.fromkeys(("return", "lms", "lti", "requests"), "gradekit-lms"),
    **dict.fromkeys(("similar", "viva", "defend", "written"), "gradekit-integrity"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    # before the course's configuration imports NumPy: a process with several threads can't be forked safely
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    gc.set_threshold(_COLLECT_AFTER, 10, 10)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # in an ASCII locale, names and arrows are escaped
            stream.reconfigure(errors="backslashreplace")
    parser = _parser()
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

    commands: Commands

    def error(self, message: str) -> NoReturn:
        unknown = re.search(r"invalid choice: (['\"])(.*)\1 \(", message)
        if unknown:
            nearest = did_you_mean(unknown[2], self.commands.names)
            _print_error(f"there is no command {unknown[2]}{nearest or '; `gradekit --help` lists all'}")
            self.exit(2)
        super().error(message)


def _parser() -> _Parser:
    parser = _Parser(prog="gradekit", description="Grade notebook courses with hidden checks.")
    parser.add_argument(
        "--version", action=_Version, help="print the versions of gradekit and nbgrader, and exit"
    )
    parser.add_argument(
        "--course-dir",
        type=Path,
        metavar="DIR",
        help="the course's folder; default: as nbgrader is configured, or this one",
    )
    commands = parser.commands = Commands(parser)
    for point in sorted(entry_points(group=_GROUP), key=lambda point: point.name):
        point.load()(commands)
    for name, package in _COMPANIONS.items():
        commands.add_if_missing(name, package)
    return parser
