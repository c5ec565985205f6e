"""What a failed check says that it tried: names and shapes, and none of the inputs."""

import numpy as np
import pytest

from gradekit.session.values import CheckStep, Opaque
from gradekit.verdict.explanation import steps_in_words

Q, K = np.zeros((3, 4, 6), np.float32), np.zeros((3, 5, 6), np.float32)


def call(*args, parameters=(), **kwargs):
    return CheckStep("f", parameters, args, kwargs)


@pytest.mark.parametrize(
    ("tried", "words"),
    [
        ([], ""),
        ([call()], "`f`."),
        ([call(Q, K, parameters=("q", "k"))], "`f` with `q` (3, 4, 6) and `k` (3, 5, 6)."),
        ([call(Q, parameters=("q",), mask=None)], "`f` with `q` (3, 4, 6) and `mask` (None)."),
        ([call(Q.astype(np.float64))], "`f` with (3, 4, 6) in float64."),
        ([call(7, 0.25, "secret")], "`f` with an integer, a number and a string."),
        ([call([1, 2], Opaque(0, "Vocabulary"))], "`f` with a list of 2 and your `Vocabulary`."),
        ([CheckStep("f", ("x",), (Q,), gradients=True)], "the gradients of `f` with `x` (3, 4, 6)."),
        ([CheckStep("scores", variable=True)], "your variable `scores`."),
        ([CheckStep("Net", ("x",), (6,), {"bias": True}, builds=True)], "`Net(6, bias=True)`."),
    ],
)
def test_names_and_shapes_are_shown_and_values_are_not(tried, words):
    assert steps_in_words(tried) == words


def test_of_many_calls_the_last_two_that_differ_are_named():
    tried = [call("text"), call(Q), call(Q), call(K), call(K)]
    assert steps_in_words(tried) == "`f` with (3, 4, 6), then `f` with (3, 5, 6)."


def test_too_long_a_list_of_arguments_is_cut():
    assert steps_in_words([call(*[1] * 10)]).endswith("an integer and ….")
