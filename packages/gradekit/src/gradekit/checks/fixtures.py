"""Functions that checks ask for by name, and helper code of checks in the student's kernel."""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from gradekit.session.proxy import Student


def for_checks(function: Callable[..., Any]) -> Any:
    """Make a fixture of a function, in `conftest.py` or a check file: a check that has its name as a parameter can call it.

    Parameters before a `/` are fixtures that it needs itself; the check passes the others.

    Example:
        @for_checks
        def attention(student, /, width):
            module = student.Attention(width)
            module.load_state(named_weights({"q.weight": (width, width)}))
            return module

        @points(4)
        def test_output(attention, draw):
            assert_shape(attention(6)(draw.normal(2, 5, 6)), (2, 5, 6), name="output")
    """
    parameters = inspect.signature(function).parameters.values()
    needed = [each for each in parameters if each.kind is each.POSITIONAL_ONLY]

    def bound(**fixtures: Any) -> Callable[..., Any]:
        return partial(function, *(fixtures[each.name] for each in needed))

    wanted = inspect.Signature([each.replace(kind=each.KEYWORD_ONLY) for each in needed])
    vars(bound).update(__signature__=wanted, __doc__=function.__doc__)
    return pytest.fixture(name=function.__name__)(bound)


def in_kernel(source: str) -> Any:
    """A fixture: what `source` defines in the student's kernel, as `student.define` returns it.

    Example:
        models = in_kernel("class Twice:\\n    def __call__(self, x):\\n        return 2 * x\\n")

        @points(2)
        def test_takes_any_model(student, models):
            assert_close(student.predict(models.Twice(), 3.0), 6.0, name="prediction")
    """

    @pytest.fixture
    def defined(student: Student) -> Any:
        return student.define(source)

    return defined
