"""The commands of gradekit-integrity."""

import argparse
from collections.abc import Callable

from gradekit.cli import at_least_one


def up_to(most: int) -> Callable[[str], int]:
    """What reads a number from 1 to `most` that is given with an option."""

    def number(text: str) -> int:
        if (found := at_least_one(text)) > most:
            raise argparse.ArgumentTypeError(f"{text} is more than {most}")
        return found

    return number
