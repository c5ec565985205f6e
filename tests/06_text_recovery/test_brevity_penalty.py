"""Checks of exercise 5: brevity_penalty."""

from coursekit.checks import assert_close, points


@points(4, see="Too short")
def test_too_short(student, reference, number_of, drawn_corpus, sacrebleu_score):
    """If c < r, the penalty is e^(1 - r / c)."""
    for c, r in [(5, 10), (90, 100), (3, 13), (99, 100), (1, 2)]:
        found = number_of("brevity_penalty", student.brevity_penalty(c, r))
        reference.assert_close(found, name="penalty", context=f"for {c} tokens of {r}", atol=1e-7)
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


@points(3, see="Too short")
def test_never_above_one(student, reference, number_of):
    """If c is larger than r, the penalty is 1: extra length is neither penalized nor rewarded here."""
    for c, r in [(10, 5), (101, 100), (7, 1), (3, 0)]:
        found = number_of("brevity_penalty", student.brevity_penalty(c, r))
        reference.assert_close(found, name="penalty", context=f"for {c} tokens of {r}")


@points(1)
def test_equal_lengths(student, reference, number_of):
    """For equal lengths, the penalty is 1, even for two empty corpora."""
    for c in [1, 8, 0]:
        found = number_of("brevity_penalty", student.brevity_penalty(c, c))
        reference.assert_close(found, name="penalty", context=f"for {c} tokens of {c}")


@points(2, see="Too short")
def test_nothing_written(student, reference, number_of):
    """For a candidate without tokens, the penalty is 0, without a division by zero."""
    for r in [1, 12]:
        found = number_of("brevity_penalty", student.brevity_penalty(0, r))
        reference.assert_close(found, name="penalty", context=f"for 0 tokens of {r}")
