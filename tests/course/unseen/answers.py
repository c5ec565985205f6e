"""What an unseen wrong answer is."""

from dataclasses import dataclass, field

from coursekit.checks.variants import Variant


@dataclass(frozen=True)
class Unseen(Variant):
    """A wrong answer, and what is wrong with it.

    `true_names` are the known mistakes whose sentences are true of it; they were entered by a person who had read the
    result. Every other name that it gets is false.
    """

    fault: str = field(kw_only=True)
    true_names: tuple[str, ...] = field(default=(), kw_only=True)
