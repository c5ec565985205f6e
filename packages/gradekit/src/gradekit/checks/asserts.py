"""Assertions about values, shapes, exceptions and gradients. Each fails with a sentence that says how they differ."""

import re
from collections.abc import Callable, Collection, Sequence
from typing import Any, NoReturn

import numpy as np
import pytest

from gradekit.codecs import ATOL, RTOL, Tolerance, codec_of, describe
from gradekit.course import CourseError
from gradekit.course.printing import shortened
from gradekit.inside.arrays import Array, Numpy, as_numpy, is_array, is_float, noun, to_numpy
from gradekit.relations import WrongShape, WrongValue
from gradekit.session.values import Call, CheckOutcome, Gradients, SideEffects, StudentError

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


#: what a call does that leaves gradients `off` or `on` for whatever runs after it
_LEFT = {
    "off": "leaves torch's gradients switched off, so nothing that is computed after it can learn. Write "
    "`with torch.no_grad():` above the lines that need none: it puts back what was there.",
    "on": "was called where torch's gradients were switched off, and leaves them switched on. Write "
    "`with torch.no_grad():` above the lines that need none: it puts back what was there.",
    "graph": "was called under `torch.no_grad()`, and records gradients for its result all the same. Switch none on: that is up "
    "to the caller.",
}
SETS_THE_SEED = (
    "`{name}` sets the random seed each time it is called, so that everything drawn afterwards, such as "
    "dropout, is the same again. Leave the seed to the caller."
)
_LEFT_DTYPE = "changes torch's default dtype for whatever runs after it. Give the tensors that you make a `dtype` of their own."


def points(number: float, see: str = "") -> Any:
    """Mark a check with its points, and with the heading of the notebook that explains it.

    By default that is the nearest heading above the answer cell. The number in front of a heading may be left out.

    Example:
        @points(4, see="Why divide by the root?")
        def test_eps(student, reference): ...
    """
    if callable(number):
        raise TypeError("@points needs the number of points: write @points(2), for example")
    return pytest.mark.points(number, see=see)


def assert_shape(
    value: Any, shape: tuple[int, ...], *old_style: Any, name: str = "", context: str = ""
) -> None:
    """Fail unless `value` is an array of this shape; `name` and `context` are those of `assert_close`.

    Example:
        assert_shape(student.normalized(x), (2, 3, 5), name="output", context="for a batch")
    """
    require_name(name, context, old_style)
    subject = in_words(name, context)
    if not is_array(value):
        fail(f"{subject} is {describe(value)}, but should be {noun()} of shape {tuple(shape)}.")
    if tuple(value.shape) != tuple(shape):
        wrong = WrongShape(tuple(value.shape), tuple(shape))
        fail(f"{subject} has shape {wrong.found}, but should have {wrong.right}.", wrong)


def assert_raises(
    kind: type | str, call: Callable[[], Any], mentions: tuple[object, ...] = (), context: str = "here"
) -> None:
    """Fail unless the call raises an exception of this type, or of a class derived from it that isn't built in.

    Its message must contain each of `mentions`. `context` says where it should be raised.

    Example:
        assert_raises(ValueError, lambda: student.Encoder(width=7), mentions=(7,))
    """
    wanted = kind if isinstance(kind, str) else kind.__name__
    try:
        value = call()
    except StudentError as error:
        if error.outcome != CheckOutcome.FAILED:
            raise
        if wanted not in (error.raised, *error.bases):
            fail(f"It should raise {wanted} {context}. {error}")
        for word in mentions:
            if not re.search(rf"(?<!\d){re.escape(str(word))}(?!\d)", error.text):
                fail(
                    f"The message of the {wanted} should name {word}. It says: {shortened(error.text) or 'nothing'}"
                )
        return
    fail(f"It should raise {wanted} {context}, but it returned {describe(value)}.")


def assert_unchanged(call: Call) -> None:
    """Fail unless the call returned an array or a value of pandas, alone or in a list, and changed no argument in place.

    No call of the exercise may have done so in an earlier check either.

    Example:
        assert_unchanged(student.call("normalized", x))
    """
    if not any(map(_is_data, parts_of(call.value))):
        fail(
            f"`{call.name}` returned {describe(call.value)}, but this check needs a result such as {noun()} or a table."
        )
    call.effects.asked = True
    refuse_effects(call.effects, [call])


def refuse_effects(effects: SideEffects, also: Sequence[Call] = ()) -> None:
    """Fail if one of the calls had side effects: the sentence is about the first."""
    call = next((call for call in [*also, *effects.calls] if call.had_effects), None)
    if call is None:
        return
    effects.told = True
    which = " and ".join(argument_in_words(place, call.parameters) for place in call.changed or call.woken)
    if call.changed:
        table = any(_is_data(part) and not is_array(part) for part in parts_of(call.value))
        kinds: dict[type, str] = {list: "list", dict: "dictionary"}
        kind = kinds.get(type(call.given.get(call.changed[0])), noun().split()[1])
        remedy = "Work on a copy, as in `df = df.copy()`" if table else f"Make a new {kind} instead"
        fail(f"`{call.name}` changed its {which} in place. {remedy}.")
    if call.woken:
        fail(
            f"`{call.name}` got its {which} in evaluation mode and left it in training mode. Leave the mode as it was: "
            "otherwise dropout is on in the next call of the model."
        )
    if call.left:
        fail(f"`{call.name}` {_LEFT.get(call.left[0], _LEFT_DTYPE)}")
    fail(SETS_THE_SEED.format(name=call.name))


def argument_in_words(place: int | str, parameters: Sequence[str]) -> str:
    """How a message refers to an argument, given its keyword or its position."""
    if isinstance(place, str):
        return f"argument `{place}`"
    return f"argument `{parameters[place]}`" if place < len(parameters) else f"argument number {place + 1}"


def parts_of(value: Any) -> Sequence[Any]:
    """What a call returned, as a list."""
    return value if isinstance(value, tuple | list) else [value]


def _is_data(value: Any) -> bool:
    """True for an array, and for a value that another library's codec takes."""
    return not isinstance(value, int | float) and codec_of(value) is not codec_of(None)


def assert_reaches(gradients: Gradients) -> None:
    """Fail unless every float argument and every parameter has a gradient that is not zero everywhere.

    Example:
        assert_reaches(student.gradients("normalized", x))
    """
    entries = [
        (argument_in_words(place, gradients.names), gradient)
        for place, (value, gradient) in enumerate(zip(gradients.arguments, gradients.inputs, strict=True))
        if is_array(value) and is_float(value)
    ]
    entries += [(f"parameter `{name}`", gradient) for name, gradient in gradients.parameters.items()]
    for name, gradient in entries:
        if gradient is None:
            fail(f"No gradient reaches {name}: something between it and the output was detached or left out.")
        values = to_numpy(gradient)
        if np.isnan(values).any():
            fail(f"The gradient of {name} holds NaN.")
        if not values.any():
            fail(f"The gradient of {name} is zero everywhere.")
