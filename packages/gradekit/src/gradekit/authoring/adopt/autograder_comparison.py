"""Grades the submissions of a course with plain nbgrader and with gradekit, and compares every score."""

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
from nbgrader.api import Gradebook

from gradekit.authoring.adopt.copies import CourseCopy, generated, plain_copy
from gradekit.authoring.adopt.score_differences import GradedNotebook, reason
from gradekit.course import CourseError, refuse_pattern
from gradekit.course.printing import quoted, shortened
from gradekit.grading.grades import grades_of
from gradekit.grading.running_course import RunningCourse

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
    copies: tuple[CourseCopy, CourseCopy],
    name: str,
    theirs: _Scores,
    own: _Scores,
    failures: dict[str, str],
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
    """The text with the folder of the course in place of its copy."""
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
    """The level and the text of each message."""
    starts = list(_LOGGED.finditer(log))
    edges = [*(start.start() for start in starts), len(log)]
    return [(start[1], log[start.end() : end]) for start, end in zip(starts, edges[1:], strict=True)]


def _exception_in(text: str) -> str:
    """The exception that a traceback ends with."""
    lines = _EXCEPTION.findall(text) if "Traceback (most recent call last)" in text else []
    return shortened(lines[-1]) if lines else ""


def _first_line(text: str) -> str:
    return shortened(text.strip().split("\n")[0])
