"""The command `coursekit`; flags are named as nbgrader names them."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from coursekit.cli import checks, course, grading, reports
from coursekit.cli.common import Commands
from coursekit.course import CourseError
from coursekit.printing import printable


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        return options.run(options) or 0
    except CourseError as error:
        _complain(str(error))
        return 2
    except KeyboardInterrupt:
        print(
            "coursekit: stopped. What is done is kept; the same command goes on from here.", file=sys.stderr
        )
        return 130
    except BrokenPipeError:  # whoever read the output, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:  # its message names the file
        _complain(str(error))
        return 2


def _complain(message: str) -> None:
    """Say why the command ended; a message may be several lines, and name files of students."""
    lines = [printable(line, None) for line in message.split("\n")]
    print("coursekit: " + "\n".join(lines), file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="coursekit", description="Grading of notebook courses by hidden checks."
    )
    parser.add_argument("--course-dir", type=Path, default=Path.cwd(), help="folder with nbgrader_config.py")
    commands = Commands(parser)
    for module in (grading, reports, checks, course):
        module.add(commands)
    return parser
