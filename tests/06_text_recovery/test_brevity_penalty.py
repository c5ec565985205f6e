"""Checks of exercise 5: brevity_penalty."""

import math

import torch

from gradekit.checks import assert_close, points


def penalties(student, number_of, lengths):
    """Return the penalty for each pair of lengths as one tensor."""
    found = [number_of("brevity_penalty", student.brevity_penalty(*pair)) for pair in lengths]
    return torch.tensor(found, dtype=torch.float64)


@points(3, see="Too short")
def test_too_short(student, reference, number_of, drawn_corpus, sacrebleu_score):
    """If c < r, the penalty is e^(1 - r / c)."""
    found = penalties(student, number_of, [(5, 10), (90, 100), (3, 13), (99, 100), (1, 2), (1, 9), (2, 25)])
    context = "for 5 tokens of 10, 90 of 100, 3 of 13, 99 of 100, 1 of 2, 1 of 9 and 2 of 25"
    reference.assert_close(found, name="penalties", context=context, atol=1e-7)
    small = number_of("brevity_penalty", student.brevity_penalty(1, 30)) / math.exp(-29)
    assert_close(
        torch.tensor(small), torch.tensor(1.0), name="penalty", context="for 1 token of 30, divided by e⁻²⁹,"
    )
    least = number_of("brevity_penalty", student.brevity_penalty(1, 700))
    assert 0 <= least < 1e-300, f"For 1 token of 700, the penalty should be nearly 0, but is {least:g}."
    candidates, references = drawn_corpus()
    candidates = [candidate[:-3] for candidate in candidates]
    lengths = [sum(map(len, side)) for side in (candidates, references)]
    found = number_of("brevity_penalty", student.brevity_penalty(*lengths))
    assert_close(
        found,
        sacrebleu_score(candidates, references).bp,
        name="penalty",
        context=", compared with sacrebleu,",
        atol=1e-7,
    )


@points(1)
def test_python_float(student, python_float):
    """The penalty is a Python float, with and without a penalty."""
    for lengths in [(5, 10), (10, 5), (4, 4), (0, 4), (0, 0)]:
        python_float("brevity_penalty", student.brevity_penalty(*lengths))


@points(3, see="Too short")
def test_never_above_one(student, reference, number_of):
    """If c is larger than r, the penalty is 1: extra length is neither penalized nor rewarded here."""
    found = penalties(student, number_of, [(10, 5), (101, 100), (7, 1), (3, 0)])
    reference.assert_close(
        found, name="penalties", context="for 10 tokens of 5, 101 of 100, 7 of 1 and 3 of 0"
    )


@points(1)
def test_equal_lengths(student, reference, number_of):
    """For equal lengths, the penalty is 1, even for two empty corpora."""
    context = "for 1 token of 1 and 8 of 8"
    reference.assert_close(penalties(student, number_of, [(1, 1), (8, 8)]), name="penalties", context=context)
    (empty,) = penalties(student, number_of, [(0, 0)]).tolist()
    assert empty == 1, (
        f"For two lengths of 0 your penalty is {empty:g}. Nothing is missing, so it should be 1."
    )


@points(2, see="Too short")
def test_nothing_written(student, reference, number_of):
    """For a candidate without tokens, the penalty is 0, without a division by zero."""
    found = penalties(student, number_of, [(0, 1), (0, 12)]).tolist()
    assert found == [0, 0], (
        f"Your penalty is {found[0]:g} for 0 tokens of 1, and {found[1]:g} for 0 of 12. It should be 0 for both."
    )
