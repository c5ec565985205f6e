"""How a difference is told to the student."""

import pytest
import torch

from coursekit.checks.compare import (
    CheckFailure,
    assert_close,
    assert_differs,
    assert_varies,
    describe,
    difference,
    in_words,
)


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


def test_nan_passes_only_where_the_recorded_value_has_it():
    value = torch.tensor([1.0, float("nan")])
    assert difference(value, value) is None
    with pytest.raises(CheckFailure, match=r"^`output` holds NaN: 1 of 2 entries, first at \[1\]\.$"):
        assert_close("output", value, value)
    with pytest.raises(CheckFailure, match="`loss` is NaN"):
        assert_close("loss", float("nan"), float("nan"))


def test_nothing_is_broadcast():
    """A row against a column would be a square of 10^10 entries."""
    row, column = torch.zeros(1, 100_000, dtype=torch.uint8), torch.zeros(100_000, 1, dtype=torch.uint8)
    assert "has shape (1, 100000)" in difference(row, column)
    with pytest.raises(CheckFailure, match="has shape"):
        assert_close("output", row, column)


def test_a_complex_number_is_no_real_one():
    assert "complex" in difference(torch.ones(2, dtype=torch.complex64), torch.ones(2))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "is None"),
        (2.5, "should be a tensor"),
        (torch.tensor(2.5), "should be a tensor"),
        (torch.tensor([1, 2j]), "should be a tensor of real numbers"),
        (torch.zeros(3, 2), "same number everywhere"),
        (torch.full((4,), 7), "same number everywhere"),
        (torch.ones(1), "same number everywhere"),
        (torch.empty(0), "same number everywhere"),
        (torch.tensor([1.0, float("nan")]), "holds NaN"),
        (torch.tensor([1.0, float("inf")]), "holds infinity"),
    ],
)
def test_a_constant_does_not_vary(value, words):
    with pytest.raises(CheckFailure, match=words):
        assert_varies("output", value)


def test_what_varies_passes():
    assert_varies("output", torch.tensor([1.0, 1.1]))
    assert_varies("mask", torch.tensor([True, False]))
    assert_varies("ids", torch.tensor([1, 2]))


@pytest.mark.parametrize(
    ("value", "other", "words"),
    [
        (torch.ones(2), torch.ones(2), "^Nothing moves$"),
        (2.0, 2.0, "^Nothing moves$"),
        (torch.full((2,), float("nan")), torch.ones(2), "NaN or infinity"),
        (torch.ones(2), torch.full((2,), float("inf")), "NaN or infinity"),
        (None, torch.ones(2), "no real numbers"),
        (torch.ones(1, 9), torch.ones(9, 1), "should have the same shape"),
    ],
)
def test_what_does_not_differ_fails(value, other, words):
    with pytest.raises(CheckFailure, match=words):
        assert_differs(value, other, "Nothing moves")


def test_what_differs_somewhere_passes():
    assert_differs(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.1]), "Nothing moves")
    assert_differs(1.0, 2, "Nothing moves")
