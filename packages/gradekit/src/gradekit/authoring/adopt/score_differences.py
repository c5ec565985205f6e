"""Finds in two graded notebooks why the scores of plain nbgrader and of gradekit differ."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nbconvert.filters import strip_ansi
from nbformat import NotebookNode

from gradekit.course.cells import find_cell, grade_id
from gradekit.course.printing import printable
from gradekit.session.values import CheckOutcome
from gradekit.submission.names import defined_names
from gradekit.verdict.results import CheckResult, SubmissionResult

_NETWORK = re.compile(
    "name resolution|Name or service not known|Network is unreachable|Max retries exceeded|urlopen error|"
    "gaierror|ConnectionError|ConnectError|No route to host"
)
_FILES = ("FileNotFoundError", "PermissionError", "NotADirectoryError")
_NOTEBOOK = re.compile(r"\.ipynb\b")
_MISSING_NAME = re.compile(r"name '(\w+)' is not defined")
_TIMEOUT = "CellTimeoutError"


@dataclass(frozen=True)
class GradedNotebook:
    """A notebook in autograded/, if there is one, and gradekit's result in it.

    Args:
        failure: why there is no notebook, if the grader's log says so.
    """

    content: NotebookNode | None
    result: SubmissionResult | None = None
    failure: str = ""


def reason(cell: str, nbgrader: GradedNotebook, gradekit: GradedNotebook, is_bound: bool) -> str:
    """A sentence about the cell `cell`, whose two scores differ."""
    result = gradekit.result
    if gradekit.content is None or result is None:
        return "gradekit has not graded this notebook."
    if result.nothing_graded:
        note = f" {result.notes[0]}" if result.notes else ""
        return f"For gradekit its status is {result.status}, without a score; a person decides.{note}"
    if result.is_undecided(cell):
        why = next(doubt.why for doubt in result.doubts if doubt.grade_id == cell)
        return f"For gradekit it is undecided. {why}"
    if nbgrader.content is None:
        return f"nbgrader has not graded this notebook; it stopped with {(nbgrader.failure or 'an error').rstrip('.')}."
    if find_cell(nbgrader.content, cell) is None and find_cell(gradekit.content, cell) is not None:
        return (
            "The student deleted this cell. gradekit restores it; nbgrader does so only with "
            "c.OverwriteCells.add_missing_cells."
        )
    check = _failed_check(result, cell)
    if is_bound:
        return f"gradekit graded it with hidden checks.{_message(check)}"
    theirs, own = (_outputs(notebook.content, cell) for notebook in (nbgrader, gradekit))
    if check and check.outcome is CheckOutcome.TIMED_OUT:
        return f"With gradekit it ran out of time.{_message(check)}"
    if any(output.get("ename") == _TIMEOUT for output in theirs):
        return "With nbgrader it ran out of time."
    if check and check.outcome is CheckOutcome.KERNEL_DIED:
        return f"With gradekit it ended its Python process.{_message(check)}"
    for who, has, lacks in (("nbgrader", theirs, own), ("gradekit", own, theirs)):
        if (line := _stderr(has)) and not _stderr(lacks):
            return f"With {who} it wrote to stderr, which costs its points: {line}"
    return _different_error(nbgrader.content, gradekit.content, cell) or (
        f"gradekit: {_short(own)}; nbgrader: {_short(theirs)}. The code may be random; compare again."
    )


def _different_error(theirs: NotebookNode, own: NotebookNode, cell: str) -> str:
    """A sentence about the cell that raises an exception with one of the graders only; empty if there is none.

    That is the cell itself, or the last such cell above it if its own exception is a NameError: then the cell that was to
    define the name counts.
    """
    errors, own_errors = dict(_errors(theirs)), dict(_errors(own))
    place = next((index for index, other in enumerate(own.cells) if grade_id(other) == cell), -1)
    sources = {number: other.source for number, other in enumerate(own.cells[: place + 1], 1)}
    differing = [n for n, source in sources.items() if (source in errors) != (source in own_errors)]

    def sentence(number: int) -> str:
        source = sources[number]
        if source in own_errors:
            return _in_sandbox(number, *own_errors[source])
        return f"With nbgrader, cell {number} raises {_joined(*errors[source])}."

    if place + 1 in differing:
        ename, evalue = (errors | own_errors)[sources[place + 1]]
        above = differing[:-1]
        if missing := _MISSING_NAME.match(evalue):
            above = [number for number in above if missing[1] in defined_names(sources[number])]
        differing = above if ename == "NameError" and above else [place + 1]
    return sentence(differing[-1]) if differing else ""


def _in_sandbox(number: int, ename: str, evalue: str) -> str:
    """A sentence about an exception that a cell raises in the sandbox only."""
    if ename == "ModuleNotFoundError":
        return f"Cell {number}: {evalue} in the sandbox. Install the package in gradekit's environment (see `gradekit doctor`)."
    if _NETWORK.search(f"{ename} {evalue}"):
        return f"Cell {number} uses the network, which the sandbox doesn't have ({ename})."
    if ename in _FILES and _NOTEBOOK.search(evalue):
        return (
            f"Cell {number} opens a notebook ({_joined(ename, evalue)}). The sandbox has none, not even the one that "
            "is run."
        )
    if ename in _FILES:
        return (
            f"Cell {number} opens a file that the sandbox doesn't have ({_joined(ename, evalue)}). Put it into the "
            "assignment's folder in source/."
        )
    if ename == "MemoryError":
        return f"Cell {number} needs more memory than the sandbox allows; raise c.RunChecks.memory_limit."
    return f"With gradekit, cell {number} raises {_joined(ename, evalue)}."


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
