"""What the cells below a test cell changed of the names that a check asked for, as the agent noted it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from gradekit.inside.messages import MessageError
from gradekit.session.replies import Answer, ShortText
from gradekit.session.session import CallTimeout, KernelDied, Session


class How(StrEnum):
    """How the value of a name changed."""

    ASSIGNED = "assigned"
    CHANGED = "changed"
    DELETED = "deleted"


@dataclass(frozen=True)
class NameChange:
    """A name that was changed in the `cell` with this index. `asked` is the same name, or the one that uses it."""

    asked: str
    name: str
    how: How
    cell: int


def changes_below(session: Session, index: int, asked: Sequence[str]) -> list[NameChange] | None:
    """What the cells below the one with this index changed; None if the kernel doesn't say.

    The kernel is the student's: the changes are those that it reports.
    """
    after = max((count for place, count in session.counts.items() if place <= index), default=0)
    below = {count: place for place, count in session.counts.items() if place > index}
    if not session.alive or not below:
        return []
    request = {"do": "changes", "names": list(asked), "after": after}
    with session.off_the_record():
        try:
            reply = session.exchange(
                [request], lambda item: None, lambda value: None, session.limits.call_seconds
            )
            value = reply.value if isinstance(reply, Answer) else []
            found = msgspec.convert(value, list[tuple[ShortText, ShortText, How, int]])
        except (KernelDied, CallTimeout, MessageError, msgspec.ValidationError):
            return None
    return [
        NameChange(start, name, how, below[count])
        for start, name, how, count in found
        if start in asked and name.isidentifier() and count in below
    ]
