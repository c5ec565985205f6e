"""Nothing is gained by ending the process: code that is right only in another draw gets no points by itself."""

import random
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

from gradekit.course import Course
from gradekit.course.kernels import LIMITED
from gradekit.session.limits import Limits
from gradekit.verdict.opened import GradingJob, HowToRun
from gradekit.verdict.result_cache import CachedResult, ResultCache
from gradekit.verdict.results import CheckResult, ExerciseResult, SubmissionResult
from gradekit.verdict.tries import Try, settled

from .one_notebook import grade
from .test_ordinary import answer, checking

#: the first kernel draws badly, and all others well: without a sandbox, code can leave a file behind
DRAW = """
import os, pathlib
drawn = pathlib.Path({!r})
lucky = drawn.exists()
drawn.touch()
"""


@pytest.fixture
def graded(tmp_path: Path):
    """Grades a notebook of these cells, with a second try if it is needed."""

    def run(*cells) -> SubmissionResult:
        assignment = Course(tmp_path).assignment("ps")
        notebook = v4.new_notebook(cells=[v4.new_code_cell(DRAW.format(str(tmp_path / "drawn"))), *cells])
        released = nbformat.from_dict(notebook)
        released.cells[1].source = "# YOUR CODE HERE\nraise NotImplementedError()"
        for folder in (assignment.source_folder, assignment.release_folder):
            folder.mkdir(parents=True, exist_ok=True)
            nbformat.write(notebook, folder / "one.ipynb")
        how = HowToRun(Limits(cell_seconds=5, call_seconds=5), LIMITED)
        job = GradingJob(assignment, "one", notebook, released, how)
        return grade(job, ResultCache(tmp_path)).result

    return run


def points(result: SubmissionResult) -> dict[str, float]:
    return {exercise.grade_id: exercise.earned for exercise in result.exercises}


@pytest.mark.slow
def test_an_answer_that_dies_at_first_and_is_right_then_is_undecided(graded):
    result = graded(
        answer("def double(x):\n    return 2 * x if lucky else os._exit(1)", "double"),
        checking("assert double(1) == 2", "test_double"),
    )
    assert points(result) == {"test_double": 0}
    (doubt,) = result.doubts
    assert doubt.why == (
        "`test_double` was graded twice, because some of the code was stopped or ended its process (it ended the Python "
        "process), and only once earned some of its points. A person will decide how many points this gets."
    )


@pytest.mark.thorough
def test_an_answer_that_always_dies_has_no_points_and_nobody_has_to_look(graded):
    result = graded(
        answer("def double(x):\n    os._exit(1)", "double"),
        checking("assert double(1) == 2", "test_double"),
    )
    assert (points(result), result.doubts, result.status) == ({"test_double": 0}, [], "kernel died")


@pytest.mark.thorough
def test_a_later_test_that_ends_the_process_gives_an_earlier_one_no_second_draw(graded):
    result = graded(
        answer("def double(x):\n    return 2 * x if lucky else x\ndef other():\n    lucky or os._exit(1)"),
        checking("assert double(1) == 2", "test_double", 9),
        checking("other()", "test_other", 1),
    )
    assert points(result) == {"test_double": 0, "test_other": 0}
    assert {doubt.grade_id for doubt in result.doubts} == {"test_double", "test_other"}


def test_half_the_draws_are_worth_half_the_points():
    """Whatever code does when it doesn't like a draw, the points that it gets by itself are those of one draw."""
    draws, full = random.Random(1), 0
    for _ in range(2000):
        first, second = (_try(draws.random() < 0.5) for _ in range(2))
        final = settled(first, second) if first.again else first
        full += final.earned == 1
    assert abs(full / 2000 - 0.5) < 0.05


def test_giving_up_one_exercise_to_die_early_gains_the_others_little():
    """The code ends the process in the first exercise when it doesn't like the draw; the second one has another."""
    draws, full = random.Random(1), 0
    for _ in range(2000):
        tries = []
        for _ in range(2):
            died = draws.random() < 0.5
            tries.append(_sacrifice(died, not died or draws.random() < 0.5))
        final = settled(*tries) if tries[0].again else tries[0]
        assert final.cached is not None
        right = final.cached.result.exercise("test_y")
        full += right.earned == 1 and not final.cached.result.is_undecided("test_y")
    assert full / 2000 < 0.6, "0.56 expected; what both tries earn counted as certain, it was 0.69"


def _sacrifice(died: bool, right: bool) -> Try:
    checks = [
        CheckResult("test_it", "It works.", 1, "kernel died" if died else "passed"),
        CheckResult("test_it", "It works.", 1, "passed" if right else "failed"),
    ]
    exercises = [
        ExerciseResult(name, [check]) for name, check in zip(("test_x", "test_y"), checks, strict=True)
    ]
    status, suspect = ("kernel died", ["it ended"]) if died else ("graded", [])
    return Try(CachedResult(SubmissionResult(status, exercises=exercises, suspect=suspect)), again=died)


def _try(lucky: bool) -> Try:
    check = CheckResult("test_it", "It works.", 1, "passed" if lucky else "kernel died")
    result = SubmissionResult(
        "graded", exercises=[ExerciseResult("test_x", [check])], suspect=[] if lucky else ["it ended"]
    )
    return Try(CachedResult(result), again=not lucky)
