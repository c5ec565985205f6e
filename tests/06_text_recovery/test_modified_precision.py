"""Checks of exercise 4: modified_precision, compared with sacrebleu's counts."""

import torch

from gradekit.checks import describe, fail, points


def two_numbers(value):
    """Return (matched, total) as a tensor of integers, or fail the check."""
    if isinstance(value, torch.Tensor):
        value = value.tolist()
    if not isinstance(value, list | tuple) or len(value) != 2:
        fail(
            f"`modified_precision` returned {describe(value)}, but has to return two numbers: the pair (matched, total)."
        )
    if not all(isinstance(number, int | float) and number == int(number) for number in value):
        fail("`matched` and `total` are counts, so both have to be integers.")
    return torch.tensor([int(number) for number in value])


def counts_of(student, cases):
    """Return (matched, total) of each case as one tensor (cases, 2)."""
    return torch.stack([two_numbers(student.modified_precision(*case)) for case in cases])


@points(4, see="BLEU: how good is a sentence?")
def test_counts(student, reference, recorded_corpus, drawn_corpus, sacrebleu_score):
    """matched and total equal the counts of sacrebleu for n from 1 to 6."""
    pairs = list(zip(*recorded_corpus("corpus"), strict=True))
    found = [
        [two_numbers(student.modified_precision(candidate, meant, n)) for n in range(1, 7)]
        for candidate, meant in pairs
    ]
    found = torch.stack([torch.stack(row) for row in found])  # (pairs, 6, 2)
    reference.assert_close(
        found, name="(matched, total)", context=f"of {len(pairs)} pairs, each for n = 1 to 6,"
    )
    for candidate, meant in zip(*drawn_corpus(sentences=3), strict=True):
        judge = sacrebleu_score([candidate], [meant], max_n=6)
        for n in range(1, 7):
            found = two_numbers(student.modified_precision(candidate, meant, n)).tolist()
            assert found == [judge.counts[n - 1], judge.totals[n - 1]], (
                f"For n = {n} and a pair of random sentences, your counts {tuple(found)} differ from sacrebleu's."
            )
    for meant, right in [("a b c d", [4, 4]), ("a b x d", [3, 4]), ("a y b z", [2, 4])]:
        found = two_numbers(student.modified_precision(["a", "b", "c", "d"], meant.split(), 1)).tolist()
        assert found == right, (
            f"For n = 1, the candidate a b c d and the reference {meant}, the counts should be {tuple(right)}, but are "
            f"{tuple(found)}. Is something kept between two calls?"
        )


@points(1)
def test_integers(student):
    """Both counts are integers, also where nothing matches."""
    for candidate, n in [("a b a", 1), ("x", 1), ("a b", 4)]:
        pair = student.modified_precision(candidate.split(), ["a", "c", "b"], n)
        two_numbers(pair)
        for name, number in zip(["matched", "total"], pair, strict=True):
            if isinstance(number, float) or getattr(number, "is_floating_point", bool)():
                fail(f"`{name}` is a float, but should be an integer: it is a count.")


@points(3, see="BLEU: how good is a sentence?")
def test_clipping(student, reference):
    """A word that the candidate repeats counts at most as often as it occurs in the reference."""
    cases = [
        ("a a a b a", "b a c a", 1),
        ("x y x y x y", "x y z x y", 2),
        ("k k k k k k", "k k k", 3),
        ("a b", "b a a a b b", 1),
    ]
    cases = [(candidate.split(), meant.split(), n) for candidate, meant, n in cases]
    reference.assert_close(counts_of(student, cases)[:, 0], name="matched", context="of 4 pairs")


@points(3, see="BLEU: how good is a sentence?")
def test_total(student, reference):
    """total is the number of n-grams in the candidate, for any reference, and 0 if the candidate is shorter than n."""
    cases = {
        "longer than the reference": (7, 3, 2),
        "shorter": (3, 8, 2),
        "shorter than n": (2, 6, 4),
        "one shorter than n": (3, 6, 4),
        "as long as n": (4, 9, 4),
    }
    lengths = [
        ([f"w{i % 3}" for i in range(candidate)], [f"w{i % 3}" for i in range(meant)], n)
        for candidate, meant, n in cases.values()
    ]
    reference.assert_close(
        counts_of(student, lengths)[:, 1], name="total", context=f"of candidates that are {', '.join(cases)},"
    )
    empty = [([], ["a", "b"], 1), (["a", "b"], [], 1)]
    context = "of an empty candidate, and an empty reference,"
    reference.assert_close(counts_of(student, empty), name="(matched, total)", context=context)


@points(2)
def test_order_and_place(student, reference):
    """An n-gram is n adjacent tokens in order, and its position in the sentence does not matter."""
    cases = [
        ("d c b a", "a b c d", 2),
        ("a b x c d", "a b c d", 2),
        ("c d a b", "a b c d", 2),
        ("a c e", "a b c d e", 3),
    ]
    cases = [(candidate.split(), meant.split(), n) for candidate, meant, n in cases]
    reference.assert_close(counts_of(student, cases)[:, 0], name="matched", context="of 4 pairs")


@points(2)
def test_tokens_as_they_are(student, reference):
    """Tokens are compared whole and as they are: "The" is not "the", "cats" not "cat", and "," is a token like others."""
    cases = [
        (["a", "b"], ["ab", "bc"], 1),
        (["cats", "see"], ["cat", "sees"], 1),
        (["a", ",", "b", "?", "!"], ["a", ",", "b", "?", "!"], 2),
        (["The", "cat"], ["the", "cat"], 1),
        (["ab", "c"], ["a", "bc"], 2),
        (["ab", "cd"], ["ba", "dc"], 1),
        (["a", "."], ["a", "!"], 1),
        (["don't", "t"], ["don", "t"], 1),
    ]
    reference.assert_close(counts_of(student, cases)[:, 0], name="matched", context="of 8 pairs")
