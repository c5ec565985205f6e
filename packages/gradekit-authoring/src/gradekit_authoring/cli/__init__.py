"""The commands of gradekit-authoring."""

from gradekit.cli import CommandParser


def add_arrays(parser: CommandParser) -> None:
    parser.add_argument(
        "--arrays",
        choices=("numpy", "torch"),
        help="the library that the assignment computes with; default: torch, if it is installed",
    )
