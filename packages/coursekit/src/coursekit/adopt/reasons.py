"""Why a score of plain nbgrader and one of coursekit differ, found in the two graded notebooks."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nbconvert.filters import strip_ansi
from nbformat import NotebookNode

from coursekit.cells import find_cell
from coursekit.checks.results import CheckResult, SubmissionResult
from coursekit.printing import printable
from coursekit.student.values import CheckOutcome

_NETWORK = re.compile(
    "name resolution|Name or service not known|Network is unreachable|Max retries exceeded|urlopen error|"
    "gaierror|ConnectionError|ConnectError|No route to host"
)
_FILES = ("FileNotFoundError", "PermissionError", "NotADirectoryError")
_TIMEOUT = "CellTimeoutError"


@dataclass(frozen=True)
class GradedNotebook:
    """A notebook in autograded/, if there is one, and coursekit's result in it."""

    content: NotebookNode | None
    result: SubmissionResult | None = None


def reason(cell: str, nbgrader: GradedNotebook, coursekit: GradedNotebook, is_bound: bool) -> str:
    """A sentence about the cell `cell`, whose two scores differ."""
    result = coursekit.result
    if coursekit.content is None or result is None:
        return "coursekit has not graded this notebook."
    if result.nothing_graded:
        note = f" {result.notes[0]}" if result.notes else ""
        return f"For coursekit its status is {result.status}, without a score; a person decides.{note}"
    if nbgrader.content is None:
        return "nbgrader has not graded this notebook; it stopped with an error."
    check = _failed_check(result, cell)
    if is_bound:
        return f"coursekit graded it by hidden checks.{_message(check)}"
    theirs, own = (_outputs(notebook.content, cell) for notebook in (nbgrader, coursekit))
    if check and check.outcome is CheckOutcome.TIMED_OUT:
        return f"With coursekit it ran out of time.{_message(check)}"
    if any(output.get("ename") == _TIMEOUT for output in theirs):
        return "With nbgrader it ran out of time."
    if check and check.outcome is CheckOutcome.KERNEL_DIED:
        return f"With coursekit it ended its Python process.{_message(check)}"
    for who, has, lacks in (("nbgrader", theirs, own), ("coursekit", own, theirs)):
        if (line := _stderr(has)) and not _stderr(lacks):
            return f"With {who} it wrote to stderr, which costs its points: {line}"
    return _different_error(nbgrader.content, coursekit.content) or (
        f"coursekit: {_short(own)}; nbgrader: {_short(theirs)}. The code may be random; compare again."
    )


def _different_error(theirs: NotebookNode, own: NotebookNode) -> str:
    """A sentence about the first cell that raises an exception with one of the graders only."""
    errors, own_errors = dict(_errors(theirs)), dict(_errors(own))
    for number, source in enumerate([cell.source for cell in own.cells], 1):
        before, now = errors.get(source), own_errors.get(source)
        if now and not before:
            return _in_sandbox(number, *now)
        if before and not now and source in (cell.source for cell in own.cells):
            return f"With nbgrader, cell {number} raises {_joined(*before)}."
    return ""


def _in_sandbox(number: int, ename: str, evalue: str) -> str:
    """A sentence about an exception that a cell raises in the sandbox only."""
    if ename == "ModuleNotFoundError":
        return f"Cell {number}: {evalue} in the sandbox. Install the package beside coursekit (`coursekit doctor`)."
    if _NETWORK.search(f"{ename} {evalue}"):
        return f"Cell {number} uses the network, which the sandbox doesn't have ({ename})."
    if ename in _FILES:
        return (
            f"Cell {number} opens a file that the sandbox doesn't have ({_joined(ename, evalue)}). Put it into the "
            "assignment's folder in source/."
        )
    if ename == "MemoryError":
        return f"Cell {number} needs more memory than the sandbox allows; raise c.RunChecks.memory_limit."
    return f"With coursekit, cell {number} raises {_joined(ename, evalue)}."


def _errors(notebook: NotebookNode) -> Iterator[tuple[str, tuple[str, str]]]:
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                yield cell.source, (output.ename, printable(strip_ansi(output.evalue)))


def _outputs(notebook: NotebookNode | None, cell: str) -> list[NotebookNode]:
    found = find_cell(notebook, cell) if notebook is not None else None
    return list(found.get("outputs", [])) if found is not None else []


def _stderr(outputs: list[NotebookNode]) -> str:
    """The first line that was written to stderr, if nothing was raised."""
    if any(output.output_type == "error" for output in outputs):
        return ""
    texts = [str(output.text) for output in outputs if output.get("name") == "stderr"]
    return next((printable(line.strip()) for text in texts for line in text.splitlines() if line.strip()), "")


def _failed_check(result: SubmissionResult, cell: str) -> CheckResult | None:
    exercise = result.exercise(cell)
    checks = exercise.checks if exercise else []
    return next((check for check in checks if check.outcome is not CheckOutcome.PASSED), None)


def _message(check: CheckResult | None) -> str:
    return f" {printable(check.message)}" if check and check.message else ""


def _short(outputs: list[NotebookNode]) -> str:
    for output in outputs:
        if output.output_type == "error":
            return _joined(output.ename, printable(strip_ansi(output.evalue)))
    return "no error"


def _joined(ename: str, evalue: str) -> str:
    return f"{ename}: {evalue}" if evalue else ename
