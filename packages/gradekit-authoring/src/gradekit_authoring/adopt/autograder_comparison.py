"""Grades submissions with plain nbgrader and with gradekit, compares every score, and says why two differ."""

import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.filters import strip_ansi
from nbformat import NotebookNode
from nbgrader.api import Gradebook

from gradekit.course import CourseError, refuse_pattern
from gradekit.course.cells import find_cell, grade_id
from gradekit.course.printing import printable, quoted, shortened
from gradekit.grading.grades import grades_of
from gradekit.grading.running_course import RunningCourse
from gradekit.session.values import CheckOutcome
from gradekit.submission.names import defined_names
from gradekit.verdict.results import CheckResult, SubmissionResult
from gradekit_authoring.adopt.copies import CourseCopy, generated, plain_copy

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
    """A notebook in autograded/ and gradekit's result in it, or in the grader's log, the `failure` that left none."""

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
        return f"With nbgrader, cell {number} raises {_in_words(*errors[source])}."

    if place + 1 in differing:
        ename, evalue = (errors | own_errors)[sources[place + 1]]
        above = differing[:-1]
        if missing := _MISSING_NAME.match(evalue):
            above = [number for number in above if missing[1] in defined_names(sources[number])]
        differing = above if ename == "NameError" and above else [place + 1]
    return sentence(differing[-1]) if differing else ""


def _in_sandbox(number: int, ename: str, evalue: str) -> str:
    if ename == "ModuleNotFoundError":
        return f"Cell {number}: {evalue} in the sandbox. Install the package in gradekit's environment (see `gradekit doctor`)."
    if _NETWORK.search(f"{ename} {evalue}"):
        return f"Cell {number} uses the network, which the sandbox doesn't have ({ename})."
    if ename in _FILES and _NOTEBOOK.search(evalue):
        return (
            f"Cell {number} opens a notebook ({_in_words(ename, evalue)}). The sandbox has none, not even the one that "
            "is run."
        )
    if ename in _FILES:
        return (
            f"Cell {number} opens a file that the sandbox doesn't have ({_in_words(ename, evalue)}). Put it into the "
            "assignment's folder in source/."
        )
    if ename == "MemoryError":
        return f"Cell {number} needs more memory than the sandbox allows; raise c.RunChecks.memory_limit."
    return f"With gradekit, cell {number} raises {_in_words(ename, evalue)}."


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
            return _in_words(output.ename, printable(strip_ansi(output.evalue)))
    return "no error"


def _in_words(ename: str, evalue: str) -> str:
    return f"{ename}: {evalue}" if evalue else ename


_SAME = 1e-9  # scores that differ by less are equal
_Progress = Callable[[str], None]
_LOGGED = re.compile(r"^\[[^\]|]+ \| (\w+)\] ", re.MULTILINE)
_FAILED = re.compile(r"There was an error processing assignment: (.+)")
_UNRESPONSIVE = re.compile(r"While processing assignment (.+), the kernel became unresponsive")
#: nbgrader indents a traceback; some classes of packages have other names, such as jupyter_client.kernelspec.NoSuchKernel
_EXCEPTION = re.compile(
    r"^[ \t]*([A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt)\b.*|[a-z_][\w.]*\.[A-Z]\w*[a-z]\w*: .*)",
    re.MULTILINE,
)
#: the points and the automatic score of every graded cell, by student, notebook and cell
_Scores = dict[tuple[str, str, str], tuple[float, float | None]]


@dataclass(frozen=True)
class ScorePair:
    """A student's automatic score of one cell; None if a person has to grade it."""

    student: str
    notebook: str
    cell: str
    points: float
    nbgrader: float | None
    gradekit: float | None
    why: str = ""

    @property
    def equal(self) -> bool:
        if self.nbgrader is None or self.gradekit is None:
            return self.nbgrader is self.gradekit
        return abs(self.nbgrader - self.gradekit) < _SAME


@dataclass
class AutograderComparison:
    """The scores of one assignment by both graders, and how long each took."""

    assignment: str
    workers: int
    scores: list[ScorePair] = field(default_factory=list)
    nbgrader_seconds: float = 0.0
    gradekit_seconds: float = 0.0
    left_out: tuple[str, ...] = ()

    @property
    def different(self) -> list[ScorePair]:
        return [score for score in self.scores if not score.equal]

    def as_dict(self) -> dict[str, Any]:
        scores = [asdict(score) | {"equal": score.equal} for score in self.scores]
        return asdict(self) | {"scores": scores}


def compare_autograders(
    root: Path, names: Sequence[str], workers: int, progress: _Progress
) -> Iterator[AutograderComparison]:
    """Compare the assignments that have submissions, one after the other.

    Plain nbgrader runs students' code on this machine without a sandbox.

    Raises:
        CourseError: there are no submissions, or gradekit failed on all of them.
    """
    refuse_pattern(root)
    course = RunningCourse.open(root)
    names = [name for name in names if course.handed_in(name)]
    if not names:
        raise CourseError(
            f"{course.submitted('x', 'x').parent.parent} has no submission to compare: copy some there, as "
            "<student>/<assignment>/<notebook>.ipynb"
        )
    from sandbox_kernel.folders import HeldFolder  # on Linux only, but a course is listed elsewhere, too

    with HeldFolder("gradekit-compare-") as folder:
        place = folder.resolve()
        plain = plain_copy(course, place / "nbgrader", names)
        for name in names:
            if not generated(plain, name, course.folders.course_id):
                progress(f"{name}: generating it in a copy, since it isn't in the gradebook")
                _generate(plain, course, name)
        ours = plain.plug_in(place / "gradekit")
        for name in names:
            yield _compare_assignment(course, (plain, ours), name, workers, progress)


def _compare_assignment(
    course: RunningCourse, copies: tuple[CourseCopy, CourseCopy], name: str, workers: int, progress: _Progress
) -> AutograderComparison:
    plain, ours = copies
    found = AutograderComparison(name, workers, left_out=plain.left_out)
    progress(f"{name}: grading with nbgrader")
    start = time.monotonic()
    log = _run(plain, "nbgrader", "autograde", name, "--force")
    found.nbgrader_seconds = time.monotonic() - start
    progress(f"{name}: grading with gradekit")
    start = time.monotonic()
    run = _run(ours, "gradekit", "--course-dir", str(ours.root), "autograde", name, "--workers", str(workers))
    found.gradekit_seconds = time.monotonic() - start
    if run.returncode not in (0, 1):
        lines = [line for line in run.stderr.splitlines() if line.strip()] or ["it printed nothing"]
        reason_given = _in_course(lines[-1].removeprefix("gradekit: "), ours, course)
        raise CourseError(f"{name}: gradekit could not grade it: {reason_given}")
    theirs, own = _scores(plain, course, name), _scores(ours, course, name)
    failures = {path: _in_course(why, plain, course) for path, why in failed_submissions(log.stderr).items()}
    if not theirs and not failures:  # the command itself stopped
        why = _in_course(first_error(log.stderr), plain, course)
        failures = {str(plain.course.submitted(student, name)): why for student, _, _ in own}
    found.scores = list(_joined(copies, name, theirs, own, failures))
    return found


def _joined(
    copies: tuple[CourseCopy, CourseCopy], name: str, theirs: _Scores, own: _Scores, failures: dict[str, str]
) -> Iterator[ScorePair]:
    plain, ours = copies
    assignment = ours.course.assignment(name)
    for student, notebook, cell in sorted(theirs.keys() | own.keys()):
        key = student, notebook, cell
        points, their_score = theirs.get(key, (0.0, None))
        points, own_score = own.get(key, (points, None))
        score = ScorePair(student, notebook, cell, points, their_score, own_score)
        if not score.equal:
            failure = failures.get(str(plain.course.submitted(student, name)), "")
            pair = (
                replace(_read(plain, student, notebook, name), failure=failure),
                _read(ours, student, notebook, name),
            )
            is_bound = assignment.check_file(notebook, cell) is not None
            score = replace(score, why=reason(cell, *pair, is_bound))
        yield score


def _scores(copy: CourseCopy, course: RunningCourse, assignment: str) -> _Scores:
    with Gradebook(copy.gradebook_url, course.folders.course_id) as gradebook:
        return {
            (student, notebook, grade.cell.name): (float(grade.max_score or 0), grade.auto_score)
            for student, _, notebook, grade in grades_of(gradebook, assignment)
        }


def _read(copy: CourseCopy, student: str, notebook: str, assignment: str) -> GradedNotebook:
    path = copy.course.autograded(student, assignment) / f"{notebook}.ipynb"
    content = nbformat.read(path, as_version=4) if path.exists() else None
    return GradedNotebook(content, copy.course.result(student, assignment, notebook))


def _run(copy: CourseCopy, *command: str) -> "subprocess.CompletedProcess[str]":
    """Run a command of this environment in a copy."""
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=copy.root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
    )


def _generate(copy: CourseCopy, course: RunningCourse, name: str) -> None:
    done = _run(copy, "nbgrader", "generate_assignment", name, "--force")
    if done.returncode:
        why = _in_course(first_error(done.stderr), copy, course)
        raise CourseError(f"{name}: `nbgrader generate_assignment {quoted(name)}` fails: {why}")


def _in_course(text: str, copy: CourseCopy, course: RunningCourse) -> str:
    return text.replace(str(copy.root), str(course.root))


def failed_submissions(log: str) -> dict[str, str]:
    """Why each submission failed, by the path of its folder."""
    found = {}
    messages = _messages(log)
    for (_, text), (_, following) in pairwise([*messages, ("", "")]):
        if failed := _FAILED.match(text):
            found[failed[1].strip()] = _exception_in(following) or "an error"
        elif unresponsive := _UNRESPONSIVE.match(text):
            found[unresponsive[1].strip()] = "a kernel that ignored the interrupt after the time limit"
    return found


def first_error(log: str) -> str:
    """The first exception in the log, or else its first error, or else its last line."""
    messages = _messages(log)
    errors = [text for level, text in messages if level in ("ERROR", "CRITICAL")]
    lines = [line for line in log.splitlines() if line.strip()] or ["it printed nothing"]
    exceptions = filter(None, map(_exception_in, errors))
    return next(exceptions, "") or next(map(_first_line, errors), "") or lines[-1]


def _messages(log: str) -> list[tuple[str, str]]:
    starts = list(_LOGGED.finditer(log))
    edges = [*(start.start() for start in starts), len(log)]
    return [(start[1], log[start.end() : end]) for start, end in zip(starts, edges[1:], strict=True)]


def _exception_in(text: str) -> str:
    lines = _EXCEPTION.findall(text) if "Traceback (most recent call last)" in text else []
    return shortened(lines[-1]) if lines else ""


def _first_line(text: str) -> str:
    return shortened(text.strip().split("\n")[0])
