"""How a difference is told to the student."""

import pytest
import torch

from coursekit.checks.compare import CheckFailure, assert_close, describe, difference, in_words


def test_equal_values_have_no_difference():
    for value in (torch.randn(2, 3), torch.tensor([True, False]), 3, 2.5, True, torch.tensor(float("inf"))):
        assert difference(value, value) is None


def test_booleans_and_integers_compare_as_numbers():
    assert difference(torch.tensor([1, 0]), torch.tensor([True, False])) is None


@pytest.mark.parametrize(
    ("actual", "expected", "words"),
    [
        (None, torch.ones(2), "is None, but should be a tensor of shape (2,)"),
        ([torch.ones(2)], torch.ones(2), "is a list of 1 (a tensor of shape (2,))"),
        (torch.ones(2, 1), torch.ones(2), "has shape (2, 1), but should have (2,)"),
        (
            torch.tensor([1.0, 3.0]),
            torch.tensor([1.0, 1.0]),
            "differs by up to 2 at [1]; 1 of 2 entries are off",
        ),
        (torch.tensor([1.0, float("nan")]), torch.ones(2), "holds NaN: 1 of 2 entries, first at [1]"),
        (torch.tensor([float("inf"), 1.0]), torch.ones(2), "differs by up to inf at [0]"),
        (3.0, 2.0, "differs by up to 1"),
    ],
)
def test_the_sentence_names_what_differs(actual, expected, words):
    assert words in difference(actual, expected)


def test_of_the_name_of_a_value_the_first_word_is_code():
    with pytest.raises(CheckFailure, match=r"^`ids` of all words is None"):
        assert_close("ids of all words", None, torch.ones(2))
    assert in_words("output, less that of torch") == "`output`, less that of torch"


def test_a_tolerance_may_grow_with_the_position():
    expected = torch.zeros(3)
    actual = torch.tensor([0.0, 0.05, 0.15])
    assert difference(actual, expected, atol=torch.tensor([0.0, 0.1, 0.2])) is None
    assert difference(actual, expected, atol=torch.tensor([0.0, 0.1, 0.1])) is not None


def test_a_failed_comparison_shows_no_value():
    with pytest.raises(CheckFailure) as failure:
        assert_close("output", torch.tensor([0.123456, 5.0]), torch.tensor([0.123456, 7.654321]))
    assert "7.654321" not in str(failure.value)
    assert "0.123456" not in str(failure.value)


def test_a_value_is_described_without_its_contents():
    assert describe((torch.ones(2), None, "secret")) == "a tuple of 3 (a tensor of shape (2,), None, a str)"
