"""What an attack is, and the witnesses that say from outside what it got."""

import re
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat

SANDBOX, COLD, NONE, NBGRADER = "sandbox", "cold", "none", "nbgrader"
#: as nbgrader comes, but with `c.Execute.kernel_name` set to a kernel in a sandbox
NBGRADER_SANDBOXED = "nbgrader-sandboxed-kernel"
#: nbgrader alone, with hidden tests in the notebook
NBGRADER_ALONE = (NBGRADER, NBGRADER_SANDBOXED)
MODES = (SANDBOX, COLD, NONE, *NBGRADER_ALONE)
HARMFUL = "would hurt this machine"
CANARY = re.compile(r"canary-([a-z]+)-[0-9a-f]{12}")

#: an answer that earns nothing by itself
WRONG = "def double(x):\n    return 3 * x\n"


@dataclass
class Turn:
    """What was seen from outside while one submission was graded."""

    line: str = ""  # what autograde reported; empty if it reported nothing
    seconds: float = 0.0
    grader: float = 0.0  # MiB that the grader's process took at most
    taken: float = 0.0  # MiB that the machine's free memory shrank by at most
    processes: int = 0  # that the grader's process had below it at most


@dataclass
class Case:
    """One attack in one mode, after it was played."""

    attack: "Attack"
    mode: str
    course: Any
    student: str
    turn: Turn
    class_ended: bool = True  # the honest students before and behind got their points
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def written(self) -> list[Path]:
        """The files that were written for the student."""
        folders = [self.course.root / kind / self.student for kind in ("autograded", "feedback")]
        return [path for folder in folders for path in folder.rglob("*") if path.is_file()]

    @property
    def text(self) -> str:
        return "\n".join(path.read_text(errors="replace") for path in self.written)

    @property
    def printed(self) -> str:
        """What the kernel put out, as the autograded notebook has it."""
        books = [path for path in self.written if path.suffix == ".ipynb"]
        cells = [cell for book in books for cell in nbformat.read(book, as_version=4).cells]
        return "\n".join(output.get("text", "") for cell in cells for output in cell.get("outputs", []))

    @property
    def page(self) -> str:
        pages = [path for path in self.written if path.suffix == ".html"]
        return "\n".join(path.read_text(errors="replace") for path in pages)

    @property
    def points(self) -> float:
        """What the gradebook gives the student."""
        return self.course.points(self.student)


Witness = Callable[[Case], str]
#: puts a submission into the course of an attack
HandIn = Callable[[Any, str], None]


@dataclass(frozen=True)
class Attack:
    """One submission that tries for something.

    Args:
        name: reads as a verb phrase; the student is called so.
        aim: one sentence, what it tries for.
        witness: gives what it got, in a few words, or nothing.
        source: the answer cell. `@NAME@` stands for a fact of the course (see `facts` in course.py).
        hand_in: puts something else into the submission folder than a notebook with that answer.
        play: an attack that needs more than one submission: it gets (course, mode) and is its own witness.
        proofs: the unprotected modes in which it must get what it tries for.
        unfit: modes in which it makes no sense; NBGRADER stands for both modes of nbgrader alone.
        harmful: it is not run where nothing stops it.
        kernel: it is about the kernel, so pytest runs it cold as well.
        alone: it may disturb others where nothing stops it, or is expected to stop a class.
        slow: it takes seconds in any mode.
    """

    name: str
    aim: str
    witness: Witness | None = None
    source: str = WRONG
    hand_in: HandIn | None = None
    play: Callable[[Any, str], str] | None = None
    proofs: tuple[str, ...] = ()
    unfit: tuple[str, ...] = ()
    harmful: bool = False
    kernel: bool = False
    alone: bool = False
    slow: bool = False

    def not_run(self, mode: str) -> str:
        """Why there is nothing to run in this mode."""
        if (NBGRADER if mode in NBGRADER_ALONE else mode) in self.unfit:
            return "does not apply"
        return f"not run: {HARMFUL}" if self.harmful and mode in (NONE, *NBGRADER_ALONE) else ""


def sees(*kinds: str) -> Witness:
    """A canary of one of these kinds stands in a file that was written for the student."""

    def witness(case: Case) -> str:
        found = {match[1] for match in CANARY.finditer(case.text)} & set(kinds)
        return f"saw the {', '.join(sorted(found))}" if found else ""

    return witness


def earns(case: Case) -> str:
    """Points without a right answer."""
    return f"earned {case.points:g} points" if case.points > 0 else ""


def changes(*patterns: str) -> Witness:
    """A file of the course is not as it was."""

    def witness(case: Case) -> str:
        changed = [name for pattern in patterns for name in case.course.changed(pattern)]
        return f"changed {changed[0]}" if changed else ""

    return witness


def regrades(case: Case) -> str:
    """The gradebook says of another student what the attacker wrote there."""
    with sqlite3.connect(case.course.root / "gradebook.db") as book:
        rows = book.execute("select first_name from student where id = 'bob'").fetchall()
    return "changed the gradebook" if rows and "mallory" in str(rows) else ""


def prints(words: str) -> Witness:
    """The kernel printed these words; only for what can't be seen from outside."""
    return lambda case: f"got {words}" if words in case.printed else ""


def connects(case: Case) -> str:
    """A listener of the test's own heard from the kernel."""
    heard = case.course.heard(case.student)
    return f"reached {heard}" if heard else ""


def leaves_process(case: Case) -> str:
    left = case.course.processes_left(case.student)
    return f"left {len(left)} processes" if left else ""


def leaves_file(case: Case) -> str:
    left = case.course.files_left(case.student)
    return f"left {left[0]}" if left else ""


def ends_victim(case: Case) -> str:
    return "ended another process" if case.course.victim_ended() else ""


def stops_class(case: Case) -> str:
    return "" if case.class_ended else "stopped the class"


def goes_ungraded(case: Case) -> str:
    """Nothing is said about the submission: no status, no page, or the class ended with it."""
    if not case.class_ended:
        return "stopped the class"
    return "" if case.turn.line and case.written else "left no result"


def takes(memory: float = 0, grader: float = 0, processes: int = 0, seconds: float = 0) -> Witness:
    """More than these bounds: MiB of the machine, MiB of the grader, processes, seconds."""

    def witness(case: Case) -> str:
        turn = case.turn
        if memory and turn.taken > memory:
            return f"took {turn.taken:.0f} MiB"
        if grader and turn.grader > grader:
            return f"took {turn.grader:.0f} MiB of the grader"
        if processes and turn.processes > processes:
            return f"ran {turn.processes} processes"
        return f"took {turn.seconds:.0f} s" if seconds and turn.seconds > seconds else ""

    return witness


def writes(mebibytes: float) -> Witness:
    """What was written for the student is larger than that."""

    def witness(case: Case) -> str:
        size = sum(path.stat().st_size for path in case.written) / 2**20
        return f"wrote {size:.0f} MiB" if size > mebibytes else ""

    return witness


def any_of(*witnesses: Witness) -> Witness:
    return lambda case: next((found for witness in witnesses if (found := witness(case))), "")
