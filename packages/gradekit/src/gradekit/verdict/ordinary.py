"""Ordinary test cells: they were run in the student's kernel, and nbgrader's own rule turns their outputs into scores."""

import ast
import re
from collections.abc import Container, Mapping, Sequence
from contextlib import suppress

from nbconvert.filters import strip_ansi
from nbformat import NotebookNode, v4
from nbgrader.utils import determine_grade, has_failed

from gradekit.course.cells import (
    Doubt,
    answer_of,
    decided_by_a_person,
    find_cell,
    grade_id,
    ids_of_test_cells,
    is_answer_cell,
    nbgrader_metadata,
)
from gradekit.course.printing import listed, printable
from gradekit.session.reasons import because, failed_definition, missing_name, used_above_its_definition
from gradekit.session.runner import CellRun, CellState
from gradekit.session.values import CheckOutcome
from gradekit.submission.submission import Submission
from gradekit.verdict.opened import ScoreRule, is_stderr
from gradekit.verdict.results import CheckResult, ExerciseResult, Status, SubmissionResult

#: characters of a message, and of a line of code in it
_MAX_MESSAGE, _MAX_LINE = 500, 100
_SENTENCE = "The tests of this cell pass."
#: the value in the sentence of `_doubt`
_VALUE = re.compile(r" is `([^`]*)`, which is not a score")
#: a number of a library, such as `np.float64(0.0)`
_NUMBER = r"[A-Za-z_][\w.]*\(\[*'?-?(?:\d[\w.+-]*|inf|nan)'?(?:, -?\d+)?\]*(?:, \w+=[^()]*)?\)"
#: what to change in a test cell, by its value
_REMEDIES = {
    r"True|False": "If it is a test, write `assert` before it",
    r"-?\d[\w.+-]*|-?(?:inf|nan)": "Make it a number from 0 to the points of the cell",
    _NUMBER: "If it is the score, write it as `float(...)`",
    r".*": "If the cell should have no value, end its last line with a semicolon",
}
NOT_REACHED = "Some tests of `{}` could not be run, since other code had used up the time or ended the Python process too often"
_AGAIN = decided_by_a_person(
    "The test cell `{}` was run again, because a later one had ended the process, and did better than the first time"
)
_NEVER_RUN = "The test cell `{}` was handed in without having been run, so it has full marks. A person has to look at it."
_ERRORS = {CheckOutcome.TIMED_OUT: "CellTimeoutError", CheckOutcome.KERNEL_DIED: "DeadKernelError"}
_LINE = re.compile(r"(?:Cell In\[\d+\], |In\[\d+\]:? )line (\d+)")


def ordinary_results(
    submission: Submission,
    runs: Mapping[int, CellRun],
    wanted: Container[str],
    rule: ScoreRule,
    earlier: Mapping[int, Sequence[list[NotebookNode]]],
) -> tuple[list[ExerciseResult], list[Doubt]]:
    """The results of the ordinary test cells in `wanted`, and values that are not scores.

    A cell that did not run to its end gets an error as its first output, so that nbgrader's rule counts it as failed.

    Args:
        submission: with the outputs of the run. Only the released notebook is quoted: the other may have hidden tests.
        earlier: outputs of earlier runs, after which another cell ended the process; the worst one counts.
    """
    scored = [
        _result(submission, index, name, runs, rule, earlier.get(index, ()))
        for index, cell in enumerate(submission.notebook.cells)
        if (name := grade_id(cell)) is not None and name in wanted
    ]
    return [result for result, _ in scored], [doubt for _, doubt in scored if doubt]


def result_of_outputs(submission: Submission, ordinary: Container[str], rule: ScoreRule) -> SubmissionResult:
    """The result of a notebook that was not run: its ordinary test cells are scored by the outputs that it has.

    A cell without any has full marks, as in nbgrader, and a doubt. Bound cells are left to a person.
    """
    cells = submission.notebook.cells
    runs = {index: CellRun(index, CellState.OK) for index in range(len(cells))}
    exercises, doubts = ordinary_results(submission, runs, ordinary, rule, {})
    for exercise in exercises:
        cell = find_cell(submission.notebook, exercise.grade_id)
        if cell is not None and not cell.outputs and cell.execution_count is None:
            doubts.append(Doubt(exercise.grade_id, _NEVER_RUN.format(exercise.grade_id)))
    left = [name for name in ids_of_test_cells(cells) if name not in ordinary]
    notes = ["It was not run: scores follow from the outputs in the file that was handed in."]
    if left:
        notes.append(f"A person has to grade what hidden checks would grade: {listed(left)}.")
    status = Status.PARTLY_GRADED if left else Status.GRADED
    return SubmissionResult(status, notes=notes, exercises=exercises, doubts=doubts)


def _result(
    submission: Submission,
    index: int,
    name: str,
    runs: Mapping[int, CellRun],
    rule: ScoreRule,
    earlier: Sequence[list[NotebookNode]],
) -> tuple[ExerciseResult, Doubt | None]:
    cell = submission.notebook.cells[index]
    stopped = _stopped(runs.get(index))
    if stopped:
        cell.outputs.insert(0, _error(*stopped))
    elif runs[index].state is CellState.ERROR and not any(map(_is_error, cell.outputs)):
        cell.outputs.append(_error(CheckOutcome.FAILED, runs[index].error))
    shown = find_cell(submission.released, name)
    points = float(nbgrader_metadata(cell)["points"])
    tries = (cell.outputs, *earlier)
    counted, *others = (rule.counted(NotebookNode(cell, outputs=outputs)) for outputs in tries)
    earned, doubt = _earned(counted, points), _doubt(name, counted, points)
    worst = min(others, key=lambda other: _earned(other, points), default=counted)
    if _earned(worst, points) < earned:
        counted, earned, doubt = worst, _earned(worst, points), Doubt(name, _AGAIN.format(name))
    if index not in runs:
        doubt = Doubt(name, decided_by_a_person(NOT_REACHED.format(name)))
    outcome = _outcome(counted, earned, points)
    message = _message(counted, outcome, earned, shown)
    if stopped:
        outcome, message = stopped
    elif outcome is CheckOutcome.FAILED:
        outcome, message = _not_the_test_s(submission, name, counted, runs) or (outcome, message)
    credit = 0.0 if outcome is CheckOutcome.PASSED else earned
    check = CheckResult(name, _sentence(shown), points, outcome, message, credit=credit)
    return ExerciseResult(name, [check], ordinary=True), doubt


def _earned(counted: NotebookNode, points: float) -> float:
    try:
        return float(determine_grade(counted)[0])
    except (ValueError, KeyError, TypeError):  # nbgrader would stop here
        return points


def _doubt(name: str, counted: NotebookNode, points: float) -> Doubt | None:
    """A doubt if nbgrader's rule awards full marks for a value that is not a score."""
    deciding = next((o for o in counted.outputs if _is_error(o) or is_stderr(o) or _is_value(o)), None)
    if deciding is None or not _is_value(deciding) or not points:
        return None
    text = str(deciding.get("data", {}).get("text/plain", ""))
    with suppress(ValueError):
        if 0 <= float(text) <= points:
            return None
    value = f"`{_plain(text)[:_MAX_LINE]}`" if text and "`" not in text else "an object without text"
    why = (
        f"The value of the test cell `{name}` is {value}, which is not a score between 0 and {points:g}, so the "
        "cell has full marks. A person has to look at it."
    )
    return Doubt(name, why, stands_by=True)


def remedy_for(doubt: Doubt) -> str:
    """What an instructor can change in a test cell whose value is not a score, with the value; see `_doubt`."""
    match = _VALUE.search(doubt.why)
    value = match[1] if match else ""
    remedy = next(text for pattern, text in _REMEDIES.items() if re.fullmatch(pattern, value, re.DOTALL))
    return f"such as `{value}`. {remedy}" if value else remedy


def _not_the_test_s(
    submission: Submission, name: str, counted: NotebookNode, runs: Mapping[int, CellRun]
) -> tuple[CheckOutcome, str] | None:
    """Outcome and message if a test cell failed because another cell was not answered, or did not run."""
    answer = answer_of(submission.notebook, name)
    cell = find_cell(submission.notebook, answer)
    if cell is not None and is_answer_cell(cell) and submission.is_untouched(answer):
        return CheckOutcome.NOT_ANSWERED, submission.not_answered(answer)
    error = next(filter(_is_error, counted.outputs), None)
    missing = missing_name(error.evalue) if error is not None and error.ename == "NameError" else ""
    run = failed_definition(missing, submission, runs) if missing else None
    if run is None:
        return None
    if run.state is CellState.LEFT_OUT:
        return CheckOutcome.BLOCKED, run.error
    return CheckOutcome.BLOCKED, f"`{missing}` is missing, since {because(run, submission, runs)}."


def doubt_about_order(
    submission: Submission, runs: Mapping[int, CellRun], exercise: ExerciseResult
) -> Doubt | None:
    """A doubt if an exercise lost points because of the order of the student's cells, which Jupyter may run in another.

    A test cell that ran above its answer says nothing about it, and neither does code above what defines its names.
    """
    if exercise.right or exercise.unanswered:
        return None
    test, answer = exercise.grade_id, submission.answer_to(exercise.grade_id)
    place, at = submission.place_of(answer), submission.place_of(test)
    if exercise.ordinary and place is not None and at is not None and place > at:
        what = f"The answer cell `{answer}` is below its test cell `{test}`, which ran before it"
        return Doubt(test, decided_by_a_person(what))
    for index in (place, at if exercise.ordinary else None):
        run = runs.get(index) if index is not None else None
        if run is not None and (found := used_above_its_definition(run, submission, runs)):
            name, used, defined = found
            what = (
                f"The cell `{submission.label(used)}` needs `{name}`, which only a cell below it defines "
                f"(`{submission.label(defined)}`)"
            )
            return Doubt(test, decided_by_a_person(what))
    return None


def _stopped(run: CellRun | None) -> tuple[CheckOutcome, str] | None:
    """Why a cell did not run to its end; None if it did."""
    if run is None or run.state is CellState.LEFT_OUT:
        return CheckOutcome.BLOCKED, "The cell was not run, since earlier code had ended the Python process."
    if run.state in (CellState.TIMED_OUT, CellState.KERNEL_DIED):
        return CheckOutcome(run.state), f"The cell {run.description}."
    return None


def _outcome(counted: NotebookNode, earned: float, points: float) -> CheckOutcome:
    if 0 < earned < points:
        return CheckOutcome.PARTLY_PASSED
    failed = has_failed(counted) if points == 0 else earned == 0
    return CheckOutcome.FAILED if failed else CheckOutcome.PASSED


def _message(counted: NotebookNode, outcome: CheckOutcome, earned: float, shown: NotebookNode | None) -> str:
    """Why the cell has not earned all its points, in a line or two."""
    if outcome is CheckOutcome.PASSED:
        return ""
    if outcome is CheckOutcome.PARTLY_PASSED:
        return f"The value of the cell is {earned:g}."
    for output in counted.outputs:
        if _is_error(output):
            what = f"{output.ename}: {output.evalue}" if output.evalue else output.ename
            return _ended(f"{_plain(what)}{_place(output, counted, shown)}")
        if is_stderr(output):
            first = next((line for line in output.text.splitlines() if line.strip()), "")
            return _ended(f"The cell wrote to stderr, which costs its points: {_plain(first)}")
    return "The value of the cell is 0."


def _place(error: NotebookNode, cell: NotebookNode, shown: NotebookNode | None) -> str:
    """The line of the test cell that failed, if students can see it."""
    found = _LINE.search(strip_ansi("\n".join(error.traceback)))
    lines = cell.source.split("\n")
    number = int(found[1][:6]) if found else 0
    line = lines[number - 1].strip() if 0 < number <= len(lines) else ""
    visible = shown is not None and line in (one.strip() for one in shown.source.split("\n"))
    return f" in `{printable(line, _MAX_LINE)}`" if line and visible and "`" not in line else ""


def _sentence(shown: NotebookNode | None) -> str:
    """The sentence about what the cell tests: the text at its beginning, if there is one."""
    words = list[str]()
    with suppress(SyntaxError, ValueError):
        words = (ast.get_docstring(ast.parse(shown.source)) or "").split() if shown is not None else []
    return _ended(printable(" ".join(words), _MAX_MESSAGE)) if words else _SENTENCE


def _ended(text: str) -> str:
    """The text as a sentence, with a mark at its end."""
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _error(outcome: CheckOutcome, message: str) -> NotebookNode:
    if outcome is CheckOutcome.FAILED:
        ename, _, evalue = message.partition(": ")
    else:
        ename, evalue = _ERRORS.get(outcome, "NotRunError"), message
    output: NotebookNode = v4.new_output(
        "error", ename=ename, evalue=evalue, traceback=[f"{ename}: {evalue}"]
    )
    return output


def _is_error(output: NotebookNode) -> bool:
    return bool(output.output_type == "error")


def _is_value(output: NotebookNode) -> bool:
    return bool(output.output_type == "execute_result")


def _plain(text: str) -> str:
    return printable(" ".join(strip_ansi(text[: 2 * _MAX_MESSAGE]).split()), _MAX_MESSAGE)
