"""What students add to cells that are put back or not run: code that their answers need, and text beside a question."""

import builtins
from collections.abc import Iterable, Set
from dataclasses import dataclass
from difflib import SequenceMatcher

from coursekit.student.definitions import LONGEST, pieces_of
from coursekit.student.reach import needed_names, statements_of

#: characters of one notebook that are searched
_BUDGET = 400_000
_BUILTIN = frozenset(dir(builtins))


@dataclass(frozen=True)
class _Addition:
    text: str
    binds: frozenset[str]
    needs: frozenset[str]
    is_seed: bool


def needed_additions(
    edited: Iterable[tuple[str, str, bool]], sources: Iterable[str], wanted: Set[str], bound: Set[str]
) -> list[str]:
    """For each edited cell the statements that were added to it and that the student's code does not run without.

    Args:
        edited: what was handed in, what was handed out in its place, and whether the exercise asks for all that is
            bound there.
        sources: the student's code that runs.
        wanted: names that the exercises ask for.
        bound: names that are bound without the edited cells.
    """
    left, asked = _BUDGET, set(wanted)
    found: list[list[_Addition]] = []
    for submitted, released, is_answer in edited:
        affordable = len(submitted) <= min(LONGEST, left)
        left -= len(submitted) if affordable else 0
        found.append(_added(submitted, released) if affordable else [])
        asked |= {name for one in found[-1] for name in one.binds if is_answer}
    if not any(found):
        return ["" for _ in found]
    missing = asked - bound
    for source in sources:
        if len(source) <= min(LONGEST, left):
            left -= len(source)
            missing |= needed_names(source) - bound - _BUILTIN
    kept = _needed(found, missing, bound | _BUILTIN)
    return ["\n".join(_with_seeds(additions, kept)) for additions in found]


def _added(submitted: str, released: str) -> list[_Addition]:
    """The top-level statements of a cell that are not those of the released one."""
    theirs, ours = pieces_of(submitted), pieces_of(released)
    matcher = SequenceMatcher(None, [p.shape for p in theirs], [p.shape for p in ours], autojunk=False)
    added = []
    for tag, first, last, _, _ in matcher.get_opcodes():
        for piece in theirs[first:last] if tag != "equal" else ():
            parts = statements_of(piece.text)
            binds = frozenset(name for part in parts for name in part.binds)
            needs = frozenset(name for part in parts for name in part.needs)
            added.append(_Addition(piece.text, binds, needs, piece.is_seed))
    return added


def _needed(found: list[list[_Addition]], missing: set[str], bound: Set[str]) -> set[int]:
    kept: set[int] = set()
    grown = True
    while grown:
        grown = False
        for addition in (one for additions in found for one in additions):
            if id(addition) not in kept and addition.binds & missing:
                kept.add(id(addition))
                missing |= addition.needs - bound
                grown = True
    return kept


def _with_seeds(additions: list[_Addition], kept: set[int]) -> list[str]:
    """The statements that are kept, and the seeds above the last of them: numbers that are drawn depend on these."""
    last = max((place for place, one in enumerate(additions) if id(one) in kept), default=-1)
    return [
        one.text for place, one in enumerate(additions) if id(one) in kept or (one.is_seed and place < last)
    ]


def text_added_to(submitted: str, released: str) -> str:
    """What was written below a text that was handed out."""
    submitted, released = submitted.strip(), released.strip()
    return submitted[len(released) :].strip() if released and submitted.startswith(released) else ""
