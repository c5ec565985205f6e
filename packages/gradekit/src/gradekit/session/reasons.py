"""Turns what went wrong in the student's process into a sentence for the student, with the cell that is the cause."""

import re
from collections.abc import Mapping

from gradekit.course import CourseError
from gradekit.session.replies import ReplyError
from gradekit.session.runner import NO_INPUT, NO_STDIN, CellRun, CellState
from gradekit.session.session import Session
from gradekit.session.values import CheckOutcome, StudentError
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
        if cause is not None and cause.state is CellState.LEFT_OUT:
            break  # its error is about the call that ended the process
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


class Reasons:
    """Explains errors of one submission by its cells."""

    def __init__(self, session: Session, submission: Submission) -> None:
        self._session = session
        self._submission = submission

    def ran(self, grade_id: str) -> int:
        """The index of a cell that ran without an error.

        Raises:
            StudentError: it was not answered, or it did not run to its end.
            CourseError: the notebook has no such cell, or it is not run while grading.
        """
        index = self._submission.place_of(grade_id)
        run = None if index is None else self._session.runs.get(index)
        if index is None:
            raise CourseError(f"a check asks for the cell `{grade_id}`, which the notebook does not have")
        if self._submission.is_blank(grade_id):
            raise self._not_answered(grade_id)
        if run is None and self._session.deaths:
            raise StudentError(
                f"The cell `{grade_id}` was not run: {self._session.deaths[-1]}.", CheckOutcome.KERNEL_DIED
            )
        if run is None:
            raise CourseError(f"a check asks for the cell `{grade_id}`, which is not run while grading")
        if run.state != CellState.OK:
            raise self._failed(run)
        return index

    def of_error(self, label: str, error: ReplyError, answer_cell: str) -> StudentError:
        """An exception that the agent reported, in a call of `label` by a check of `answer_cell`."""
        kind, message = error.type, error.message.strip()
        message = NO_INPUT if kind == NO_STDIN else message
        if kind == "UndefinedName":
            return self.of_missing(label, answer_cell)
        if kind == "MessageError":
            return StudentError(f"The result of `{label}` can't be used: {message}.", text=message)
        where = self._where(error.lines, label, answer_cell)
        if kind == "NotImplementedError" and where:
            index, line, _ = where
            name = self._submission.label(index)
            if self._submission.is_blank(name):
                return self._not_answered(name)
            if self._submission.has_placeholder(name):
                return StudentError(
                    f"In the cell `{name}`, line {line} is still `raise NotImplementedError()`: delete it.",
                    CheckOutcome.NOT_ANSWERED,
                )
        lacking = missing_name(message) if kind == "NameError" else ""
        if lacking and (failed := failed_definition(lacking, self._submission, self._session.runs)):
            return self._failed(failed, f"`{label}` needs `{lacking}`, which is missing")
        place = ""
        if where:
            index, line, text = where
            place = f" in line {line} of the cell `{self._submission.label(index)}`: `{text}`"
        sentence = f"`{label}` raised {kind}{': ' + message if message else ''}{place}"
        return StudentError(sentence, raised=kind, text=message, bases=error.bases)

    def of_missing(self, name: str, answer_cell: str) -> StudentError:
        """The notebook has no such name after the last cell."""
        index = self._submission.defining_cell(name)
        if index is None:
            index = self._submission.place_of(answer_cell)
        if index is None:
            return StudentError(f"Your notebook defines no `{name}`.")
        label = self._submission.label(index)
        run = self._session.runs.get(index)
        if self._submission.is_blank(label):
            return self._not_answered(label)
        if run is None or run.state == CellState.OK:
            if (deleting := self._submission.deleting_cell(name)) is not None:
                return StudentError(
                    f"`{name}` is gone after the last cell, when the checks run: the cell "
                    f"`{self._submission.label(deleting)}` deletes it (`del {name}`). Remove that line."
                )
            return StudentError(
                f"The cell `{label}` ran, but there is no `{name}` after the last cell, when the checks run."
                if self._submission.defining_cell(name) is not None
                else f"The cell `{label}` defines no `{name}` when the notebook runs top to bottom."
            )
        return self._failed(run, f"`{name}` is missing")

    def _failed(self, run: CellRun, missing: str = "") -> StudentError:
        """The error about a cell that did not run to its end, and about what is `missing` because of it."""
        if run.state is CellState.LEFT_OUT:
            return StudentError(run.error, CheckOutcome.KERNEL_DIED)
        reason = because(run, self._submission, self._session.runs)
        sentence = f"{missing}, since {reason}." if missing else f"{reason[0].upper()}{reason[1:]}."
        state = root_of(run, self._submission, self._session.runs).state
        stopped = state in (CellState.TIMED_OUT, CellState.KERNEL_DIED)
        return StudentError(sentence, CheckOutcome(state) if stopped else CheckOutcome.BLOCKED)

    def _not_answered(self, name: str) -> StudentError:
        return StudentError(self._submission.not_answered(name), CheckOutcome.NOT_ANSWERED)

    def _where(
        self, lines: list[tuple[int, str]], label: str, answer_cell: str
    ) -> tuple[int, int, str] | None:
        likely = self._submission.defining_cell(label), self._submission.place_of(answer_cell)
        for line, text in reversed(lines):
            if (index := self._submission.cell_with_line(line, text, likely)) is not None:
                return index, line, text
        return None
