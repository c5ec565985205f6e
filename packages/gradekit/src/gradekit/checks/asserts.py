"""Assertions about shapes, exceptions, gradients and names. Each fails with a sentence for the student."""

import ast
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from gradekit.checks.comparison import fail, in_words, require_name
from gradekit.codecs import codec_of, describe
from gradekit.course.cells import exercise_name
from gradekit.course.printing import shortened
from gradekit.inside.arrays import is_array, is_float, noun, to_numpy
from gradekit.relations import WrongShape
from gradekit.session.proxy import Student
from gradekit.session.values import Call, CheckOutcome, Gradients, StudentError
from gradekit.submission.names import mentions, own_names, roundabout
from gradekit.submission.syntax import parse


def points(number: float, see: str = "") -> Any:
    """Mark a check with its points, and with the heading of the notebook that explains it.

    By default that is the nearest heading above the answer cell. The number in front of a heading may be left out.
    """
    if callable(number):
        raise TypeError("@points needs the number of points: write @points(2), for example")
    return pytest.mark.points(number, see=see)


def assert_shape(
    value: Any, shape: tuple[int, ...], *old_style: Any, name: str = "", context: str = ""
) -> None:
    """Fail unless `value` is an array of this shape; `name` and `context` are those of `assert_close`."""
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
    """Fail unless the call returned an array or a value of pandas, alone or in a list, and changed no argument in place."""
    value = call.value
    results = [part for part in (value if isinstance(value, tuple | list) else [value]) if _is_data(part)]
    if not results:
        fail(
            f"`{call.name}` returned {describe(value)}, but this check needs a result such as {noun()} or a table."
        )
    if call.changed:
        which = " and ".join(_argument(place, call.parameters) for place in call.changed)
        remedy = (
            f"Make a new {noun().split()[1]} instead"
            if is_array(results[0])
            else "Work on a copy, as in `df = df.copy()`"
        )
        fail(f"`{call.name}` changed its {which} in place. {remedy}.")


def _argument(place: int | str, parameters: Sequence[str]) -> str:
    """How a message refers to an argument, given its keyword or its position."""
    if isinstance(place, str):
        return f"argument `{place}`"
    return f"argument `{parameters[place]}`" if place < len(parameters) else f"argument number {place + 1}"


def _is_data(value: Any) -> bool:
    """True for an array, and for a value that another library's codec takes."""
    return not isinstance(value, int | float) and codec_of(value) is not codec_of(None)


def assert_reaches(gradients: Gradients) -> None:
    """Fail unless every float argument and every parameter has a gradient that is not zero everywhere."""
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


#: torch's own attention, in all its forms: `forbid(*TORCH_ATTENTION)`
TORCH_ATTENTION = (
    "scaled_dot_product_attention",
    "_scaled_dot_product*",
    "multi_head_attention_forward",
    "_native_multi_head_attention",
    "MultiheadAttention",
)
#: ways into torch below its functions
_BELOW = (
    "torch._C",
    "torch._C.*",
    "torch.ops",
    "torch.ops.*",
    "torch._VF",
    "torch._VF.*",
    "_VariableFunctions*",
)


def forbid(*patterns: str) -> Any:
    """An autouse fixture for `conftest.py`: an answer that uses one of these names fails its checks.

    Only code that the answer depends on counts, in any cell: comparing an answer with a ready-made function is allowed.
    So are functions, methods and variables of the student's own that have such a name.
    Patterns are shell-style, as in `Transformer*`; `torch._C` and `torch.ops` are always forbidden. Determined students
    can get around this, so a cell that uses `exec` or the like is noted for the person who grades.
    """
    everything = (*patterns, *_BELOW)

    @pytest.fixture(autouse=True)
    def only_own_code(request: pytest.FixtureRequest) -> None:
        if request.node.get_closest_marker("points") is None:
            return
        student: Student = request.getfixturevalue("student")
        notes: list[str] = request.getfixturevalue("checking").notes
        for name, source in student.own_code().items():
            if way := roundabout(source):
                note = f"The cell `{name}` uses `{way}`, which can hide what an answer uses: a person should look at it."
                notes += [] if note in notes else [note]
        sources = student.used_code(exercise_name(request.path.stem))
        own = own_names(tuple(sources))
        for source in sources:
            word = mentions(source, everything, own)
            if word:
                fail(
                    f"Your answer uses `{word}`, which does the work for you. Write the computation yourself."
                )

    return only_own_code


def forbid_class(path: str, instead: str = "Write it yourself.") -> Any:
    """An autouse fixture for `conftest.py`: an answer that uses this class of a library fails its checks.

    The student's own class of the same name is allowed, so only imports of the name count, and attributes, as in
    `nn.RMSNorm`; those of `self` don't.

    Args:
        path: the class with its module: "torch.nn.RMSNorm".
        instead: the sentence that ends the message to the student.
    """
    library, *_, name = path.split(".")

    @pytest.fixture(autouse=True)
    def only_own_class(request: pytest.FixtureRequest) -> None:
        if request.node.get_closest_marker("points") is None:
            return
        student: Student = request.getfixturevalue("student")
        for source in student.used_code(exercise_name(request.path.stem)):
            if _takes_class(source, name):
                fail(f"Your answer uses {library}'s own `{name}`. {instead}")

    return only_own_class


def _takes_class(source: str, name: str) -> bool:
    """True if code imports a class from a module, or refers to it there."""
    for node in ast.walk(parse(source) or ast.Module([], [])):
        if isinstance(node, ast.ImportFrom) and name in [imported.name for imported in node.names]:
            return True
        if isinstance(node, ast.Attribute) and node.attr == name and ast.unparse(node.value) != "self":
            return True
    return False
