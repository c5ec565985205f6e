"""A student's answers, and the sheet of questions about them."""

from collections.abc import Callable

import pytest

from gradekit.grading.running_course import RunningCourse
from gradekit_integrity.viva.sheets import Sheet, make_sheet, tasks_of

from ...gradekit.tests.conftest import class_original, elsewhere, empty_class, made_once, tiny_original
from ...gradekit.tests.tiny_course import TinyCourse


@pytest.fixture
def ask(empty_class: TinyCourse) -> Callable:
    """The sheet of a student who hands in this answer, and one of the other exercise or none, with all that can be asked."""

    def make(
        answer: str,
        half: str = "",
        count: int = 100,
        seed: int = 0,
        name: str = "ann",
        seconds: float = 5,  # of CPU time; code that only waits is stopped after twice as many
    ) -> Sheet:
        empty_class.hand_in(name, empty_class.answer(answer, half))
        course = RunningCourse.open(empty_class.root)
        course.config.Execute.timeout = course.config.RunChecks.call_timeout = seconds
        (task,) = tasks_of(course, empty_class.assignment, [name])
        return make_sheet(empty_class.assignment, task, count, seed)

    return make
