"""The command that explains: help."""

import argparse
from pathlib import Path

from gradekit.cli import Commands
from gradekit.course import CourseError
from gradekit.course.printing import quoted

#: the texts of `gradekit help`, a file for each
_TOPICS = Path(__file__).parent / "topics"


def add(commands: Commands) -> None:
    shown = commands.add("help", _help, "explain a topic: " + ", ".join(_topics()))
    shown.add_argument("topic", nargs="?", metavar="TOPIC", default="")


def _topics() -> list[str]:
    return sorted(path.stem for path in _TOPICS.glob("*.md"))


def _help(options: argparse.Namespace) -> None:
    topics = _topics()
    known = ", ".join(f"`gradekit help {quoted(topic)}`" for topic in topics)
    if not options.topic:
        print(f"The topics are {known}. A command explains itself with --help.")
        return
    if options.topic not in topics:
        raise CourseError(f"the topics are {known}; a command explains itself with --help")
    print((_TOPICS / f"{options.topic}.md").read_text(encoding="utf-8"), end="")
