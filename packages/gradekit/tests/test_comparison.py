"""Comparing values, and what the student reads about a difference."""

import math
from pathlib import Path

import numpy as np
import pytest

from gradekit.checks.asserts import (
    CheckFailure,
    assert_close,
    assert_differs,
    assert_dropped_singly,
    assert_shape,
    assert_varies,
    describe,
    difference,
    joined,
)
from gradekit.checks.reference import Reference, Store
from gradekit.course import CourseError
from gradekit.inside.arrays import using

torch = pytest.importorskip("torch", reason="torch is not installed")


def test_equal_values_have_no_difference():
    for value in (torch.randn(2, 3), torch.tensor([True, False]), 3, 2.5, True, torch.tensor(float("inf"))):
        assert difference(value, value) is None


def test_inputs_of_another_shape_than_was_recorded_are_the_instructor_s_to_record(tmp_path):
    store = Store(tmp_path / "reference.safetensors", {}, recording=True)
    Reference(store, "test_f").inputs("square", x=(4, 4))
    store.recording = False
    assert Reference(store, "test_f").inputs("square", x=(4, 4))[0].shape == (4, 4)
    with pytest.raises(CourseError, match=r"a different shape than in .*: run `gradekit record"):
        Reference(store, "test_f").inputs("square", x=(3, 4))
    a_student_s_size = Reference(store, "test_f", lambda: True).inputs("square", x=(3, 4))
    assert a_student_s_size[0].shape == (4, 4)


def test_large_integers_are_right_or_wrong():
    assert difference(torch.tensor([50_004]), torch.tensor([50_000])) is not None
    assert difference(50_004, 50_000) is not None
    assert difference(torch.tensor([50_004.0]), torch.tensor([50_000.0])) is None
    for right in (2**53, 2**62, 2**64 - 1, math.factorial(25)):
        assert difference(right, right) is None
        assert difference(right + 1, right) is not None
    for kind in (np.int64, np.uint64):
        assert difference(kind(2**53 + 1), kind(2**53)) is not None
    assert difference(torch.tensor([2**62 + 1]), torch.tensor([2**62])) is not None


def test_a_check_may_allow_integers_to_be_off():
    for right in (1_000, 2**53, math.factorial(25)):
        assert difference(int(1.02 * right), right, rtol=0.05) is None
        assert difference(right + 1, right, atol=20) is None
    assert difference(2**53 + 1, 2**53) == "differs in the last digits of large integers"


def test_text_in_an_array_of_objects_is_text():
    right = np.array(["a", "bc"])
    assert difference(right.astype(object), right) is None
    assert difference(right, right.astype(object)) is None
    assert "wrong" in difference(np.array(["a", "d"], dtype=object), right)


def test_only_a_nan_too_many_is_pointed_at():
    right = torch.tensor([float("nan"), 1.0, 2.0])
    own = torch.tensor([float("nan"), 1.0, float("nan")])
    assert "one of its 3 entries is NaN where a number belongs" in difference(own, right)


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
            "differs by up to about 1; one of its 2 entries is off",
        ),
        (torch.tensor([1.0, float("nan")]), torch.ones(2), "holds NaN: 1 of 2 entries, first at [1]"),
        (torch.tensor([float("inf"), 1.0]), torch.ones(2), "differs by up to about inf"),
        (3.0, 2.0, "differs by about 1"),
        (5, 2, "differs by more than one"),
        (2**63, 5, "differs by more than one"),
        (torch.tensor([4, 2]), torch.tensor([3, 1]), "all of its 2 entries are wrong, each by one"),
        ([1, 2, 4], [1, 2, 3], "is wrong at [2]: that entry differs by one"),
        (
            [1, 2, 3, 5],
            [1, 2, 3, 4],
            "has the right length, but one of its 4 entries is wrong: it differs by one",
        ),
        (
            [1.0, 3.0, 3.0, 5.0],
            [1.0, 2.0, 3.0, 4.0],
            "some of its 4 entries are wrong: the first of these differs by about 1",
        ),
        ([1], [1, 2, 3], "has 1 entry, but should have 3"),
        ([1], [1, 2, 3, 4], "has 1 entry, which is too few"),
        ([1] * 5, [1, 2, 3, 4], "has 5 entries, which is too many"),
        (None, (1, 2), "is None, but should be a tuple of 2"),
        (None, [1, 2, 3, 4], "is None, but should be a list"),
        ({"a": 1}, {"a": 2}, "is wrong at the key `a`: that entry differs by one"),
        (dict.fromkeys("abcd", 0), dict.fromkeys("abcd", 1), "has the right keys, but all of its 4 entries"),
        (
            dict.fromkeys("abcx", 0),
            dict.fromkeys("abcd", 0),
            "has the wrong keys: one of its 4 keys is wrong",
        ),
        (dict.fromkeys("abc", 0), dict.fromkeys("abcd", 0), "lacks a key that it should have"),
    ],
)
def test_the_sentence_names_what_differs(actual, expected, words):
    assert words in difference(actual, expected)


@pytest.mark.parametrize(
    ("name", "context", "words", "key"),
    [
        ("ids", "", "`ids`", "ids"),
        ("ids", "of all words", "`ids` of all words", "ids of all words"),
        ("output", ", less that of torch", "`output`, less that of torch", "output, less that of torch"),
        ("(matched, total)", "of case 1", "`(matched, total)` of case 1", "(matched, total) of case 1"),
        ("", "the table", "The table", "the table"),
    ],
)
def test_the_name_is_code_and_the_context_follows_it(name, context, words, key):
    assert joined(name, context) == key
    with pytest.raises(CheckFailure) as failure:
        assert_close(None, torch.ones(2), name=name, context=context)
    assert str(failure.value) == f"{words} is None, but should be a tensor of shape (2,)."


def test_a_recorded_value_has_a_key_of_its_own_where_the_check_gives_one(tmp_path):
    store = Store(tmp_path / "reference.safetensors", recording=True)
    reference = Reference(store, "test_x::test_y")
    reference.assert_close(torch.ones(2), name="ids", context="of all words")
    reference.assert_close(torch.ones(2), name="ids", key="first")
    assert list(store.tensors) == [f"test_x::test_y/expected/{key}" for key in ("ids of all words", "first")]
    store.recording = False
    with pytest.raises(CheckFailure, match=r"^`ids` has the right shape"):
        reference.assert_close(torch.zeros(2), name="ids", key="first")
    assert [(seen.key, seen.passed) for seen in reference.observations] == [("first", False)]


@pytest.mark.parametrize(
    "call",
    [
        lambda: assert_close("output", torch.ones(2), torch.ones(2)),
        lambda: assert_close(torch.ones(2), torch.ones(2)),
        lambda: assert_varies("output", torch.ones(2)),
        lambda: assert_shape("output", torch.ones(2), (2,)),
        lambda: Reference(Store(Path()), "x").assert_close("output", torch.ones(2)),
    ],
)
def test_a_check_that_passes_the_name_first_is_at_fault(call):
    with pytest.raises(CourseError, match=r"assert_close\(actual, expected, name=\.\.\., context=\.\.\.\)"):
        call()


def test_numpy_arrays_are_compared_like_tensors():
    one = np.array([[1.0, 2.0], [3.0, np.nan]])
    assert difference(one, one) is None
    assert difference(one[0], torch.tensor([1.0, 2.0])) is None
    assert difference(1.5, np.array(1.5)) is None
    assert difference(torch.ones(2, dtype=torch.bfloat16), torch.ones(2)) is None
    assert "one of its 2 entries is wrong" in difference(np.array([1, 3]), np.array([1, 1]))
    assert describe(one) == "an array of shape (2, 2)"
    with using("numpy"), pytest.raises(CheckFailure, match="should be an array of real numbers"):
        assert_varies(None, name="x")


def test_a_tolerance_may_grow_with_the_position():
    expected = torch.zeros(3)
    actual = torch.tensor([0.0, 0.05, 0.15])
    assert difference(actual, expected, atol=torch.tensor([0.0, 0.1, 0.2])) is None
    assert difference(actual, expected, atol=torch.tensor([0.0, 0.1, 0.1])) is not None


def test_a_failed_comparison_shows_no_value():
    with pytest.raises(CheckFailure) as failure:
        assert_close(torch.tensor([0.123456, 5.0]), torch.tensor([0.123456, 7.654321]), name="output")
    assert "7.654321" not in str(failure.value)
    assert "0.123456" not in str(failure.value)


def test_a_value_is_described_without_its_contents():
    assert describe((torch.ones(2), None, "secret")) == "a tuple of 3 (a tensor of shape (2,), None, a str)"


def test_nan_passes_only_where_the_recorded_value_has_it():
    value = torch.tensor([1.0, float("nan")])
    assert difference(value, value) is None
    with pytest.raises(CheckFailure, match=r"^`output` holds NaN: 1 of 2 entries, first at \[1\]\.$"):
        assert_close(value, value, name="output")
    with pytest.raises(CheckFailure, match="`loss` is NaN"):
        assert_close(float("nan"), float("nan"), name="loss")


def test_nothing_is_broadcast():
    """A row against a column would be a square of 10^10 entries."""
    row, column = torch.zeros(1, 100_000, dtype=torch.uint8), torch.zeros(100_000, 1, dtype=torch.uint8)
    assert "has shape (1, 100000)" in difference(row, column)
    with pytest.raises(CheckFailure, match="has shape"):
        assert_close(row, column, name="output")


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
        assert_varies(value, name="output")


def test_what_varies_passes():
    assert_varies(torch.tensor([1.0, 1.1]), name="output")
    assert_varies(torch.tensor([True, False]), name="mask")
    assert_varies(torch.tensor([1, 2]), name="ids")


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


TOGETHER = {
    "axis 2": torch.tensor([[[0.0, 0.0], [2.0, 2.0]], [[2.0, 2.0], [0.0, 0.0]]]),
    "axis 0": torch.tensor([[0.0, 2.0, 0.0], [0.0, 2.0, 0.0]]),
    "everywhere": torch.zeros(2, 3),
    "nowhere": torch.ones(2, 3),
    "finite numbers": torch.tensor([[0.0, float("nan")], [1.0, 0.0]]),
}


@pytest.mark.parametrize("words", TOGETHER)
def test_numbers_that_are_dropped_together_are_found(words):
    with pytest.raises(CheckFailure, match=words):
        assert_dropped_singly(TOGETHER[words], name="output")


def test_numbers_that_are_dropped_each_on_its_own_pass():
    assert_dropped_singly(torch.tensor([[0.0, 2.0, 0.0], [2.0, 2.0, 0.0]]), name="output")
    assert_dropped_singly(
        torch.tensor([[[0.0, 2.0, 0.0, 2.0]]]), name="output"
    )  # an axis of one place says nothing
