"""What is said of exceptions is so: each sentence is tried on the exception that torch or Python really raises."""

import math

import pytest

from gradekit.relations.plain import meaning_of, sizes_relation, unpacking_relation

torch = pytest.importorskip("torch", reason="torch is not installed")
F = torch.nn.functional


def of(function):
    """What is said of the exception that the function raises."""
    try:
        function()
    except Exception as error:
        return meaning_of(type(error).__name__, str(error))
    raise AssertionError("nothing was raised")


def in_place():
    x = torch.ones(3, requires_grad=True)
    x *= 2


def without_mask(q, mask):
    return q, mask


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (in_place, "changed in place"),
        (lambda: torch.ones(()).backward(), "depends on no parameter"),
        (lambda: [3] in {(3,)}, "a list is not allowed. A tuple is."),
        (lambda: without_mask(1), "called without 'mask'"),
        (lambda: without_mask(1, 2, 3), "called with 3 arguments, but takes 2"),
        (lambda: torch.ones(3).item(), "reduce it first"),
        (lambda: float(torch.ones(3)), "reduce it first"),
        (lambda: 1 if torch.ones(3) else 2, "one truth value"),
        (lambda: torch.ones(2, 3) @ torch.ones(3, 2).double(), "Two dtypes"),
        (lambda: F.linear(torch.ones(2, 3).double(), torch.ones(2, 3)), "Two dtypes"),
        (lambda: F.dropout((1, 2)), "A tensor is needed here, but it got a tuple."),
        (lambda: torch.relu(None), "A tensor is needed here, but it got None."),
        (lambda: (1, 2).shape, "expects something with `shape`, but got a tuple"),
        (lambda: (1, 2) + 3.5, ""),  # Python's own message says it
        (lambda: 3.5 + [1], "can't combine a float with a list"),
        (lambda: math.log(0), "logarithm or root"),
        (lambda: 1 / 0, "divisor is 0"),
        (lambda: {"a": 1}["b"], "'b' is not a key of the dict"),
        (lambda: {"a": 1}["the b"], ""),  # it may be a sentence of the student's own
        (lambda: F.embedding(torch.tensor([9]), torch.ones(3, 2)), "too large for the embedding table"),
        (lambda: F.cross_entropy(torch.ones(2, 3, 5), torch.ones(2, 3).long()), "axis 1 of the logits"),
        (lambda: torch.nn.Linear(2, 3).load_state_dict({"x": torch.ones(3)}), "different names or shapes"),
        (lambda: [].pop(), ""),
        (lambda: int("x"), ""),
    ],
)  # fmt: skip
def test_an_exception_is_explained(function, words):
    text = of(function)
    assert words in text if words else text == ""


def test_sizes_in_a_message_are_found_in_the_arguments():
    x, y = torch.zeros(2, 4, 6), torch.zeros(2, 3, 7)
    with pytest.raises(RuntimeError) as caught:
        F.linear(y, torch.zeros(5, 6))
    text = sizes_relation(str(caught.value), [("x", x), ("y", y)])
    assert "7 is the size of the last axis of `y`" in text
    assert "6 is the size of the last axis of `x`" in text
    with pytest.raises(RuntimeError) as caught:
        torch.zeros(5) + torch.zeros(4)
    assert (
        sizes_relation(str(caught.value), [("order", torch.zeros(4))])
        == "In this call, 4 is the size of `order`."
    )


def test_nothing_is_said_of_sizes_that_no_argument_has_or_that_many_have():
    message = "The size of tensor a (4) must match the size of tensor b (5) at non-singleton dimension 0"
    assert sizes_relation(message, [("x", torch.zeros(2, 3)), ("n", 4)]) == ""
    assert sizes_relation(message, [(name, torch.zeros(4, 4)) for name in "xyz"]) == ""
    assert sizes_relation("'4' is not a key", [("x", torch.zeros(4))]) == ""
    assert sizes_relation("Error(s) in loading state_dict: size mismatch (4)", [("x", torch.zeros(4))]) == ""


def unpacked(value):
    one, other = value
    return one, other


def test_a_check_that_expected_several_values_says_how_many():
    with pytest.raises(ValueError, match="unpack") as caught:
        unpacked(torch.zeros(3, 4))
    text = unpacking_relation(caught.value, torch.zeros(3, 4))
    assert text.startswith("2 values should come back") and "(3, 4)" in text
    with pytest.raises(AttributeError) as caught:
        (1, 2).shape  # noqa: B018
    assert (
        unpacking_relation(caught.value, (1, 2)) == "A single value should come back, but it is a tuple of 2."
    )
    assert unpacking_relation(caught.value, torch.zeros(2)) == ""
    assert unpacking_relation(ValueError("another"), torch.zeros(2)) == ""
