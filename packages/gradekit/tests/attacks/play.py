"""Playing attacks: those that get along in one class together, the others in a class each."""

import os
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from . import course as courses
from .attack import NBGRADER, NBGRADER_ALONE, NONE, Attack, Case, Turn, goes_ungraded

REPELLED = "repelled"


@cache
def original(nbgrader: bool) -> Path:
    """The course as released; made once."""
    folder = Path(_scratch().name) / ("nbgrader" if nbgrader else "gradekit")
    return courses.build(folder, NBGRADER if nbgrader else "sandbox")


@cache
def _scratch() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="attacked-")


def play(attacks: Sequence[Attack], mode: str, slack: int = 1) -> dict[str, str]:
    """What each attack got in this mode, "" for nothing, or why it was not run, with a dash before.

    Args:
        slack: multiplies the time limits of cells and classes, for attacks that are not about time: on a busy
            machine, `import torch` takes longer than a cell of the canary course may.
    """
    found = {attack.name: f"-{reason}" for attack in attacks if (reason := attack.not_run(mode))}
    todo = [attack for attack in attacks if attack.name not in found]
    # there an attack may get what it wants, and so disturb the others
    apart = mode in (NONE, *NBGRADER_ALONE)
    together = [attack for attack in todo if not (apart and attack.alone) and attack.play is None]
    groups = [together] if together else []
    groups += [[attack] for attack in todo if attack not in together]
    for group in groups:
        found |= _play_class(group, mode, slack)
        if mode not in NBGRADER_ALONE and len(group) > 1:
            # memory and time are those of the whole machine, where others work too: what is real shows again
            measured = [attack for attack in group if found[attack.name].startswith("took ")]
            found |= _play_class(measured, mode, slack) if measured else {}
    return found


def _play_class(attacks: list[Attack], mode: str, slack: int) -> dict[str, str]:
    folder = Path(tempfile.mkdtemp(prefix=f"{mode}-", dir=_scratch().name)) / "course"
    course = courses.copy(original(mode in NBGRADER_ALONE), folder, mode, slack)
    try:
        if attacks[0].play is not None:
            return {attacks[0].name: attacks[0].play(course, mode)}
        course.fill()
        for attack in attacks:
            if attack.hand_in is not None:
                attack.hand_in(course, attack.name)
            else:
                course.hand_in(attack.name, course.answer(attack.source, attack.name))
        turns = course.grade(300 * slack)
        ended = course.all_honest()
        if os.environ.get("ATTACKS_SHOW"):
            print(mode, turns)
        # which one stopped the class shows when each that had no turn has a class of its own
        again = [a for a in attacks if not ended and a.name not in turns and len(attacks) > 1]
        found = {
            attack.name: _judge(
                Case(attack, mode, course, attack.name, _turn(turns, attack, mode), ended or bool(again))
            )
            for attack in attacks
            if attack not in again
        }
    finally:
        course.close()
    for attack in again:
        found |= _play_class([attack], mode, slack)
    return found


def _turn(turns: dict[str, Turn], attack: Attack, mode: str) -> Turn:
    if attack.name in turns:
        return turns[attack.name]
    # nbgrader itself reports nothing about a student: what it used is that of the class
    return turns[""] if mode in NBGRADER_ALONE else Turn(grader=turns[""].grader)


def _judge(case: Case) -> str:
    assert case.attack.witness  # the others have `play`
    got = case.attack.witness(case)
    if got or case.mode in NBGRADER_ALONE:
        return got
    # whatever the attack is about: the class is graded, and each submission gets a result
    return goes_ungraded(case)
