"""Checks of exercise 4: modified_precision, compared with sacrebleu's counts."""

import torch

from coursekit.checks import fail, points


def two_numbers(value):
    """Return (matched, total) as a tensor of integers, or fail the check."""
    if isinstance(value, torch.Tensor):
        value = value.tolist()
    if not isinstance(value, list | tuple) or len(value) != 2:
        fail("`modified_precision` has to return two numbers: the pair (matched, total).")
    if not all(isinstance(number, int | float) and number == int(number) for number in value):
        fail("`matched` and `total` are counts, so both have to be integers.")
    return torch.tensor([int(number) for number in value])


@points(5, see="BLEU: how good is a sentence?")
def test_counts(student, reference, recorded_corpus, drawn_corpus, sacrebleu_score):
    """matched and total equal the counts of sacrebleu for n from 1 to 4."""
    for number, (candidate, meant) in enumerate(zip(*recorded_corpus("corpus"), strict=True)):
        for n in range(1, 5):
            found = two_numbers(student.modified_precision(candidate, meant, n))
            reference.assert_close(found, name="(matched, total)", context=f"of pair {number}, n = {n}")
    for candidate, meant in zip(*drawn_corpus(sentences=3), strict=True):
        judge = sacrebleu_score([candidate], [meant])
        for n in range(1, 5):
            found = two_numbers(student.modified_precision(candidate, meant, n)).tolist()
            assert found == [judge.counts[n - 1], judge.totals[n - 1]], (
                f"For n = {n} and a pair of random sentences, your counts {tuple(found)} differ from sacrebleu's."
            )


@points(3, see="BLEU: how good is a sentence?")
def test_clipping(student, reference):
    """A word that the candidate repeats counts at most as often as it occurs in the reference."""
    cases = [
        ("a a a b a", "b a c a", 1),
        ("x y x y x y", "x y z x y", 2),
        ("k k k k k k", "k k k", 3),
        ("a b", "b a a a b b", 1),
    ]
    for number, (candidate, meant, n) in enumerate(cases):
        found = two_numbers(student.modified_precision(candidate.split(), meant.split(), n))
        reference.assert_close(found, name="(matched, total)", context=f"of case {number}")


@points(3, see="BLEU: how good is a sentence?")
def test_total(student, reference):
    """total is the number of n-grams in the candidate, for any reference, and 0 if the candidate is shorter than n."""
    cases = {
        "shorter reference": (7, 3, 2),
        "longer reference": (3, 8, 2),
        "too short for n": (2, 6, 4),
        "as long as n": (4, 9, 4),
    }
    for what, (candidate_length, reference_length, n) in cases.items():
        candidate, meant = (
            [f"w{i % 3}" for i in range(length)] for length in (candidate_length, reference_length)
        )
        found = two_numbers(student.modified_precision(candidate, meant, n))
        reference.assert_close(found[1], name="total", context=f", {what}")
    for candidate, meant, what in [([], ["a", "b"], "candidate"), (["a", "b"], [], "reference")]:
        found = two_numbers(student.modified_precision(candidate, meant, 1))
        reference.assert_close(found, name="(matched, total)", context=f"of an empty {what}")


@points(2)
def test_order_and_place(student, reference):
    """An n-gram is n adjacent tokens in order, and its position in the sentence does not matter."""
    cases = [
        ("d c b a", "a b c d", 2),
        ("a b x c d", "a b c d", 2),
        ("c d a b", "a b c d", 2),
        ("a c e", "a b c d e", 3),
    ]
    for number, (candidate, meant, n) in enumerate(cases):
        found = two_numbers(student.modified_precision(candidate.split(), meant.split(), n))
        reference.assert_close(found, name="(matched, total)", context=f"of case {number}")


@points(2)
def test_tokens_as_they_are(student, reference):
    """Tokens are compared whole and as they are: "The" is not "the", and a token is not split into letters."""
    cases = [
        (["The", "cat"], ["the", "cat"], 1),
        (["ab", "c"], ["a", "bc"], 2),
        (["ab", "cd"], ["ba", "dc"], 1),
        (["a", "."], ["a", "!"], 1),
    ]
    for number, (candidate, meant, n) in enumerate(cases):
        found = two_numbers(student.modified_precision(candidate, meant, n))
        reference.assert_close(found, name="(matched, total)", context=f"of case {number}")
