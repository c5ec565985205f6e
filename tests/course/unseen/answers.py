"""What an unseen wrong answer is."""

from dataclasses import dataclass, field

from gradekit.checks.variants import Variant


@dataclass(frozen=True)
class Unseen(Variant):
    """A wrong answer, and what is wrong with it."""

    fault: str = field(kw_only=True)
