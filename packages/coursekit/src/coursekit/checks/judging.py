"""Checks of tests that students write, by trying them on right and wrong implementations."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from coursekit.arrays import as_array
from coursekit.checks.compare import fail
from coursekit.checks.draw import Draw
from coursekit.student.proxy import Student, complaints_about, try_on
from coursekit.student.values import CheckOutcome, Implemented, StudentError


@dataclass(frozen=True)
class Implementation:
    """A function that a student's test is tried on.

    `source` defines it, and runs in a kernel that has no code of the student's. The student's test gets a stub, which is the
    same for all implementations. `wrong` is empty for a right one; otherwise it completes "a function that …", as in
    "divides by d_k".
    """

    source: str
    wrong: str = ""


def assert_judges(
    student: Student,
    test: str,
    function: str,
    implementations: Sequence[Implementation],
    draw: Draw,
    what: str = "a function",
    methods: Sequence[str] = (),
) -> None:
    """Fail unless the student's function `test` accepts all correct implementations and rejects all wrong ones.

    It is called with one after another, in random order, and with each only once, whatever number of checks use it. Every
    source defines its function under the same name. A test rejects an implementation by raising an exception, as `assert` does, or by returning False. `what` is the word
    for an implementation in the message. `methods` are the methods that a test may call of objects which an
    implementation returns; functions that it returns can always be called.
    """
    wanted = [Implemented(function, each.source, tuple(methods)) for each in implementations]
    complaints = complaints_about(student, test)
    for implementation in draw.shuffled(wanted):
        if implementation not in complaints:  # every check tries the right ones
            complaints[implementation] = _complaint(student, test, implementation)
    judged = [(each.wrong, complaints[one]) for each, one in zip(implementations, wanted, strict=True)]
    for wrong, complaint in judged:
        if not wrong and complaint:
            fail(f"`{test}` rejects a correct implementation. {complaint}")
    accepted = [wrong for wrong, complaint in judged if wrong and not complaint]
    if accepted:
        fail(f"`{test}` accepts {what} that {'; and one that '.join(accepted)}.")


def judge(
    test: str,
    function: str,
    right: Sequence[Implementation],
    what: str = "a function",
    methods: Sequence[str] = (),
) -> Any:
    """A fixture for the checks of one exercise, to be named in the check file: `rejects = judge("check_f", "f", RIGHT)`.

    In a check, `rejects(wrong)` fails unless the student's `test` rejects all of `wrong` and accepts all of `right`. `what` and
    `methods` are those of `assert_judges`.
    """

    @pytest.fixture
    def rejects(student: Student, draw: Draw) -> Callable[[Sequence[Implementation]], None]:
        return lambda wrong: assert_judges(student, test, function, [*right, *wrong], draw, what, methods)

    return rejects


def _complaint(student: Student, test: str, implementation: Implemented) -> str:
    """How the test rejected an implementation, a sentence; empty if it accepted it.

    Raises:
        StudentError: there is no such test, or it was not answered, hung or ended the kernel.
    """
    try:
        value = try_on(student, test, implementation).value
    except StudentError as error:
        if error.outcome != CheckOutcome.FAILED or not error.raised:
            raise
        return f"{error}."
    given = as_array(value)
    says_no = given is not None and given.ndim == 0 and str(given.dtype).endswith("bool") and not given
    return f"`{test}` returned False." if says_no else ""
