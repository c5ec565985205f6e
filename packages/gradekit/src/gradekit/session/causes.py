"""Why a cell did not run: which other cell, above or below it, is the cause."""

import re
from collections.abc import Mapping

from gradekit.session.runner import CellRun, CellState
from gradekit.submission.submission import Submission

#: at the end of a message about what is missing, as `because` writes it: the cell that is the cause, and what became of it
_CAUSE = re.compile(
    r".*\bsince (?:the cell `[^`]+` depends on )?the cell (`[^`]+`),?(?: which)? (.+)", re.DOTALL
)
_MISSING_NAME = re.compile(r"(?:NameError: )?name '(\w+)' is not defined")


def missing_name(error: str) -> str:
    """The name that a NameError is about, given its text; empty if it is another error."""
    found = _MISSING_NAME.match(error)
    return found[1] if found else ""


def failed_definition(name: str, submission: Submission, runs: Mapping[int, CellRun]) -> CellRun | None:
    """The run of the cell that should have defined a name and did not; None if it did, or no cell does."""
    index = submission.defining_cell(name)
    run = runs.get(index) if index is not None else None
    return run if run is not None and run.state is not CellState.OK else None


def root_of(run: CellRun, submission: Submission, runs: Mapping[int, CellRun]) -> CellRun:
    """The failed run that made this one fail: it lacked a name that another failed cell defines, and so on."""
    seen: set[int] = set()
    cause: CellRun | None = run
    while cause is not None and cause.index not in seen:
        run = cause
        seen.add(run.index)
        name = missing_name(run.error) if run.state is CellState.ERROR else ""
        cause = failed_definition(name, submission, runs) if name else None
        if (
            cause is not None and cause.state is CellState.LEFT_OUT
        ):  # its error is about the call that ended the process
            break
    return run


def because(run: CellRun, submission: Submission, runs: Mapping[int, CellRun]) -> str:
    """The end of a sentence about something that is missing, since this run failed: the cause of that failure."""
    root, label = root_of(run, submission, runs), submission.label(run.index)
    if root is run:
        return f"the cell `{label}` {run.description}"
    cause = submission.label(root.index)
    return f"the cell `{label}` depends on the cell `{cause}`, which {root.description}"


def cause_in(message: str) -> re.Match[str] | None:
    """The cell that a message ending in `because` names as the cause, and what became of it."""
    return _CAUSE.fullmatch(message)


def used_above_its_definition(
    run: CellRun, submission: Submission, runs: Mapping[int, CellRun]
) -> tuple[str, int, int] | None:
    """The name that was missing, the cell that lacked it and the first one that defines it, if that is further down.

    In Jupyter, such a notebook works if its cells are run in another order.
    """
    root = root_of(run, submission, runs)
    name = missing_name(root.error) if root.state is CellState.ERROR else ""
    below = submission.first_definition(name) if name else None
    return (name, root.index, below) if below is not None and below > root.index else None
