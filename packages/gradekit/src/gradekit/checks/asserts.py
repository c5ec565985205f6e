"""Assertions about shapes, exceptions and gradients. Each fails with a sentence for the student."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from gradekit.checks.comparison import fail, in_words, require_name
from gradekit.codecs import codec_of, describe
from gradekit.course.printing import shortened
from gradekit.inside.arrays import is_array, is_float, noun, to_numpy
from gradekit.relations import WrongShape
from gradekit.session.values import Call, CheckOutcome, Gradients, SideEffects, StudentError

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


def assert_raises(kind: type | str, call: Callable[[], Any], mentions: tuple[object, ...] = ()) -> None:
    """Fail unless the call raises an exception of this type, or of a class derived from it that isn't built in.

    Its message must contain each of `mentions`.

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
            fail(f"It should raise {wanted} here. {error}")
        for word in mentions:
            if not re.search(rf"(?<!\d){re.escape(str(word))}(?!\d)", error.text):
                fail(
                    f"The message of the {wanted} should name {word}. It says: {shortened(error.text) or 'nothing'}"
                )
        return
    fail(f"It should raise {wanted} here, but it returned {describe(value)}.")


def assert_unchanged(call: Call) -> None:
    """Fail unless the call returned an array or a value of pandas, alone or in a list, and changed no argument in place.

    No call of the exercise may have done so in an earlier check either.

    Example:
        assert_unchanged(student.call("normalized", x))
    """
    if not any(map(_is_data, _parts(call.value))):
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
    which = " and ".join(_argument(place, call.parameters) for place in call.changed or call.woken)
    if call.changed:
        table = any(_is_data(part) and not is_array(part) for part in _parts(call.value))
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


def _argument(place: int | str, parameters: Sequence[str]) -> str:
    """How a message refers to an argument, given its keyword or its position."""
    if isinstance(place, str):
        return f"argument `{place}`"
    return f"argument `{parameters[place]}`" if place < len(parameters) else f"argument number {place + 1}"


def _parts(value: Any) -> Sequence[Any]:
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
        (_argument(place, gradients.names), gradient)
        for place, (argument, gradient) in enumerate(zip(gradients.arguments, gradients.inputs, strict=True))
        if is_array(argument) and is_float(argument)
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
