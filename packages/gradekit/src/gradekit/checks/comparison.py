"""Compares a submission's values with the right ones, and says how the two differ."""

from collections.abc import Collection
from typing import Any, NoReturn

import numpy as np

from gradekit.codecs import ATOL, RTOL, Tolerance, codec_of, describe
from gradekit.course import CourseError
from gradekit.inside.arrays import Array, Numpy, as_numpy, noun
from gradekit.relations import WrongShape, WrongValue

_SIGNATURES = (
    "use assert_close(actual, expected, name=..., context=...) and "
    "reference.assert_close(actual, name=..., context=...)"
)

#: evidence that a student's test rejects every correct implementation, which has many causes
REJECTS_ALL = "rejects every correct implementation"


class CheckFailure(AssertionError):
    """A check did not pass. The message is for the student: it shows no input and no right value.

    `wrong` is the value or shape at fault and the right one, if the check compared two of them. `evidence` is compared
    with that of a known mistake in place of the message, if the message shows less than the check found out.

    Example:
        try:
            assert_varies(output, name="output")
        except CheckFailure:
            fail("The output is the same everywhere: is the last layer missing?")
    """

    def __init__(
        self, sentence: str, wrong: WrongValue | WrongShape | None = None, evidence: str = ""
    ) -> None:
        super().__init__(sentence)
        self.wrong = wrong
        self.evidence = evidence


def fail(sentence: str, wrong: WrongValue | WrongShape | None = None, evidence: str = "") -> NoReturn:
    """Fail the check with a sentence for the student.

    Example:
        fail("Every token gets the same output, so the output does not depend on the input.")
    """
    raise CheckFailure(sentence, wrong, evidence)


def difference(
    actual: Any, expected: Any, atol: "float | Array" = ATOL, rtol: float = RTOL, ignore: Collection[str] = ()
) -> str | None:
    """How `actual` differs from `expected`, in the words of the codec of `expected`; None if it does not.

    Numbers are close if |actual - expected| <= atol + rtol * |expected|; integers have no relative tolerance by default.
    Booleans and integers count as numbers, complex numbers do not. NaN equals NaN here, since a recorded value may
    contain it. `atol` may be an array that broadcasts to the shape; nothing else is broadcast.
    """
    return codec_of(expected).difference(actual, expected, Tolerance(atol, rtol, ignore))


def assert_close(
    actual: Any,
    expected: Any,
    *old_style: Any,
    name: str = "",
    context: str = "",
    atol: "float | Array" = ATOL,
    rtol: float = RTOL,
    ignore: Collection[str] = (),
) -> None:
    """Fail unless `actual` equals `expected` within the tolerance.

    NaN in an array fails, even where `expected` is NaN. If `expected` comes from the student too, two equal
    constants would pass: see `assert_varies`.

    Args:
        name: what the student calls the value, shown as code: "weights". Empty if it has no name in the notebook.
        context: the words that follow the name in a sentence: "at temperature 2".
        ignore: properties that may differ between two pandas values: "dtypes", "row order", "column order", "index", "names".

    Example:
        assert_close(student.normalized(x), F.layer_norm(x, (5,)), name="output", context="for a batch")
    """
    require_name(name, context, old_style)
    text = difference(actual, expected, atol, rtol, ignore) or codec_of(actual).nan(actual)
    if text:
        fail(sentence(name, context, text), WrongValue(actual, expected, Tolerance(atol, rtol, ignore)))


def assert_varies(value: Any, *old_style: Any, name: str = "", context: str = "", atol: float = ATOL) -> None:
    """Fail unless `value` is an array of finite numbers that are not all the same.

    For a check that compares two of the student's values: both may be the same zeros, or NaN. `name` and `context` are
    those of `assert_close`.

    Example:
        assert_varies(output, name="output")
    """
    require_name(name, context, old_style)
    subject = in_words(name, context)
    found = as_numpy(value)
    if found is None or found.ndim == 0 or found.dtype.kind == "c":
        fail(f"{subject} is {describe(value)}, but should be {noun()} of real numbers.")
    found = found.astype(np.float64)
    if not np.isfinite(found).all():
        fail(f"{subject} holds {'NaN' if np.isnan(found).any() else 'infinity'}.")
    if found.size < 2 or found.max() - found.min() <= atol:
        fail(f"{subject} is the same number everywhere, so it does not depend on the input.")


def assert_dropped_singly(value: Any, *, name: str = "", context: str = "") -> None:
    """Fail unless dropout decided for each number on its own: along every axis, some are 0 where others aren't.

    `value` is what dropout made of numbers other than 0, an array of real numbers that is large enough for chance not to
    matter. `name` and `context` are those of `assert_close`.

    Example:
        assert_dropped_singly(layer.train()(torch.ones(4, 20, 8)), name="output", context="in training")
    """
    subject, found = in_words(name, context), as_numpy(value)
    if found is None or found.dtype.kind not in "iuf" or not np.isfinite(found).all():
        fail(f"{subject} is {describe(value)}, but should be {noun()} of finite numbers.")
    dropped = found == 0
    if dropped.all() or not dropped.any():
        fail(
            f"{subject} is 0 {'everywhere' if dropped.all() else 'nowhere'}, but dropout should drop some of its numbers."
        )
    for axis, size in enumerate(dropped.shape):
        if size > 1 and (dropped == dropped.take([0], axis)).all():
            fail(
                f"{subject}: numbers are dropped together, all along axis {axis} or none. Dropout should decide for each "
                "number on its own."
            )


def assert_differs(value: Any, other: Any, sentence: str, atol: float = 1e-6) -> None:
    """Fail with `sentence` unless two arrays of finite numbers and of the same shape differ.

    For an output that must change when the input does. `not value.allclose(other)` would accept NaN.

    Example:
        assert_differs(model(swapped), model(ids), "Two swapped tokens change nothing: the positions are missing.")
    """
    one, two = _real_numbers(value), _real_numbers(other)
    if one.shape != two.shape:
        fail(f"Two outputs that should have the same shape have {one.shape} and {two.shape}.")
    if np.allclose(one, two, rtol=1e-5, atol=atol):
        fail(sentence)


def require_name(name: str, context: str, old_style: tuple[Any, ...]) -> None:
    """Raise CourseError if a check still passes the name first, or no name at all."""
    if old_style or not (name or context):
        raise CourseError(f"a check passes no name=, or passes the name first: {_SIGNATURES}")


def sentence(name: str, context: str, text: str) -> str:
    """A whole sentence about the value, which `text` completes; it may end with a question."""
    return f"{in_words(name, context)} {text}{'' if text.endswith('?') else '.'}"


def joined(name: str, context: str) -> str:
    """The name and its context as one text."""
    return (name + context if context.startswith(",") else f"{name} {context}").strip()


def in_words(name: str, context: str) -> str:
    """The beginning of a sentence about the value: "`weights` at temperature 2"."""
    if name:
        return joined(f"`{name}`", context)
    return context[0].upper() + context[1:]


def _real_numbers(value: Any) -> Numpy:
    found = as_numpy(value)
    if found is None or found.dtype.kind == "c" or not np.isfinite(found).all():
        fail(
            "Two outputs are compared here, and one of them contains NaN or infinity, or no real numbers at all."
        )
    return found.astype(np.float64)
