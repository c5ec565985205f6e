"""What checks ask for by name, code of theirs in the student's kernel, and checks of tests that students write.

Those are judged by trying them on right and wrong implementations.
"""

import inspect
import math
import random
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import pytest

from gradekit.checks.asserts import REJECTS_ALL, fail
from gradekit.course import CourseError
from gradekit.inside.arrays import as_array
from gradekit.session.proxy import Student, complaints_about, try_on
from gradekit.session.values import CheckOutcome, Implemented, StudentError


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


def named_weights(shapes: Mapping[str, tuple[int, ...]], seed: int = 0) -> dict[str, Any]:
    """A tensor for each parameter, from its name and shape: the same for the same seed, and different for every name.

    Vectors are near 1 if they are called weight, as in a norm, and near 0 otherwise; new norms are all the same, so a check
    can't tell which one is used. Matrices keep the size of what they multiply.

    Example:
        module.load_state(named_weights({"linear.weight": (5, 3), "linear.bias": (5,), "norm.weight": (5,)}))
    """
    import torch

    values = {}
    for name, shape in shapes.items():
        generator = torch.Generator().manual_seed(zlib.crc32(f"{seed}/{name}".encode()))
        noise = torch.randn(shape, generator=generator)
        if len(shape) == 1:
            values[name] = 0.3 * noise + (1 if name.endswith("weight") else 0)
        else:
            values[name] = noise / math.sqrt(shape[1])
    return values


#: not the seed of the submission, which its code can compute
_UNKNOWN = random.SystemRandom()


@dataclass(frozen=True)
class Implementation:
    """A function that a student's test is tried on.

    `source` defines it, and runs in a kernel that has no code of the student's. The student's test gets a stub, which is the
    same for all implementations. `wrong` is empty for a right one; otherwise it completes "a function that …", as in
    "divides by d_k".

    Example:
        RIGHT = [Implementation("def double(x):\\n    return 2 * x\\n")]
    """

    source: str
    wrong: str = ""


class Implementations:
    """Wrong implementations, written one after another below the check that rejects them, as edits of a right one.

    Example:
        wrong = Implementations("def double(x):\\n    return 2 * x\\n")

        wrong.about("test_other_factors")
        wrong("triples the number", "2 * x", "3 * x")
        wrong("returns the number as it is", "2 * ")
    """

    def __init__(self, source: str) -> None:
        """`source` is the right one."""
        self._source, self._about = source, ""
        self._written: list[tuple[str, str, list[tuple[str, str]]]] = []

    def about(self, check: str) -> None:
        """The check that should reject each of the following ones."""
        self._about = check

    def __call__(self, wrong: str, old: str = "", new: str = "") -> Self:
        """Begin the next one: `wrong` completes "a function that …", and `old` is replaced, if there is an `old`."""
        self._written.append((self._about, wrong, []))
        return self.edit(old, new) if old else self

    def edit(self, old: str, new: str = "") -> Self:
        """Replace a text that occurs in the right one exactly once. Without `new`, leave it out, or see `to`."""
        self._edits().append((old, new))
        return self

    def to(self, new: str) -> Self:
        """Say what the last edit puts in place of its text, where both are too long for one line."""
        edits = self._edits()
        if not edits or edits[-1][1]:
            raise CourseError(f"`to({new!r})` needs an edit before it that only says what to replace")
        edits[-1] = edits[-1][0], new
        return self

    def rejected_by(self, check: str) -> list[Implementation]:
        """Those that a check should reject.

        Raises:
            CourseError: there are none, or an edit doesn't fit.
        """
        found = [self._edited(wrong, edits) for about, wrong, edits in self._written if about == check]
        if not found:
            raise CourseError(f"no wrong implementation is about {check}")
        return found

    def __iter__(self) -> Iterator[Implementation]:
        return iter([self._edited(wrong, edits) for _, wrong, edits in self._written])

    def _edits(self) -> list[tuple[str, str]]:
        if not self._written:
            raise CourseError("begin an implementation with what is wrong with it")
        return self._written[-1][2]

    def _edited(self, wrong: str, edits: Sequence[tuple[str, str]]) -> Implementation:
        source = self._source
        for old, new in edits:
            if source.count(old) != 1:
                raise CourseError(f"{old!r} must occur exactly once in the implementation that {wrong}")
            source = source.replace(old, new)
        return Implementation(source, wrong)


def assert_judges(
    student: Student,
    test: str,
    function: str,
    implementations: Sequence[Implementation],
    what: str = "a function",
    methods: Sequence[str] = (),
    others: Sequence[Implementation] = (),
) -> None:
    """Fail unless the student's function `test` accepts all correct implementations and rejects all wrong ones.

    It is called with each in an order that nothing in the student's kernel can know. Every source defines its function
    under the same name. A test rejects an implementation by raising an exception, as `assert` does, or by returning False.

    Args:
        what: the word for an implementation in the message.
        methods: those that a test may call of objects which an implementation returns; functions that it returns can
            always be called.
        others: implementations of other checks, which are tried among these, so that their place says nothing either.
            None is tried again.
    """
    wanted = [Implemented(function, each.source, tuple(methods)) for each in implementations]
    together = [*wanted, *(Implemented(function, each.source, tuple(methods)) for each in others)]
    complaints = complaints_about(student, test)
    if not others:  # a test that counts its calls would know the wrong ones, if only they were new
        complaints.clear()
    for implementation in _UNKNOWN.sample(together, len(together)):
        if implementation not in complaints:
            complaints[implementation] = _complaint(student, test, implementation)
    judged = [(each.wrong, complaints[one]) for each, one in zip(implementations, wanted, strict=True)]
    for _, complaint in judged:
        if isinstance(complaint, StudentError):
            raise complaint
    right = [complaint for wrong, complaint in judged if not wrong]
    if any(right):
        refused = ", ".join(str(place) for place, complaint in enumerate(right) if complaint)
        fail(
            f"`{test}` rejects a correct implementation. {next(filter(None, right))}",
            evidence=REJECTS_ALL if all(right) else f"rejects these correct implementations: {refused}",
        )
    accepted = [wrong for wrong, complaint in judged if wrong and not complaint]
    if accepted:
        fail(f"`{test}` accepts {what} that {'; and one that '.join(accepted)}.")


def judge(
    test: str,
    function: str,
    right: Sequence[Implementation],
    what: str = "a function",
    methods: Sequence[str] = (),
    wrong: Sequence[Sequence[Implementation]] | Implementations = (),
) -> Any:
    """A fixture for the checks of one exercise, to be named in the check file: `rejects = judge("check_f", "f", RIGHT)`.

    In a check, `rejects(some)` fails unless the student's `test` rejects all of `some` and accepts all of `right`. With the
    lists of all checks in `wrong`, each implementation is tried once for all of them; otherwise, every check tries the
    right ones again. If `wrong` are `Implementations`, `rejects()` is about those of its check. `what` and `methods` are
    those of `assert_judges`.

    Example:
        rejects = judge("check_double", "double", RIGHT, wrong=wrong)

        @points(1)
        def test_other_factors(rejects):
            \"""It accepts correct functions, and rejects those that multiply by another number.\"""
            rejects()
    """
    every = list(wrong) if isinstance(wrong, Implementations) else [each for some in wrong for each in some]
    others = [*right, *every] if every else []

    @pytest.fixture
    def rejects(student: Student, request: pytest.FixtureRequest) -> Callable[..., None]:
        def judged(some: Sequence[Implementation] = ()) -> None:
            if isinstance(wrong, Implementations) and not some:
                some = wrong.rejected_by(request.node.originalname)
            assert_judges(student, test, function, [*right, *some], what, methods, others)

        return judged

    return rejects


def _complaint(student: Student, test: str, implementation: Implemented) -> str | StudentError:
    """How the test rejected an implementation, a sentence; empty if it accepted it.

    An error that is none of the test's own, such as that it hung, concerns only the checks of this implementation.

    Raises:
        StudentError: there is no such test, it was not answered, or the kernel has ended.
    """
    try:
        value = try_on(student, test, implementation).value
    except StudentError as error:
        if error.outcome == CheckOutcome.TIMED_OUT:
            return error
        if error.outcome != CheckOutcome.FAILED or not error.raised:
            raise
        return f"{error}."
    given = as_array(value)
    says_no = given is not None and given.ndim == 0 and str(given.dtype).endswith("bool") and not given
    return f"`{test}` returned False." if says_no else ""
