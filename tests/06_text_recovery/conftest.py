"""Shared by the checks: comparison of words and of lists, random corpora, and sacrebleu as the standard for BLEU."""

import pytest
import torch

from gradekit.checks import CheckFailure, StudentError, fail, for_checks, forbid

only_own_code = forbid("sacrebleu", "nltk", "torchmetrics", "torchtext")


@for_checks
def words_of(value):
    """Return the value if it is a list of strings, or fail the check."""
    if isinstance(value, str):
        fail("The result is a single string. Return a list with one string per word.")
    if not isinstance(value, list | tuple):
        fail(f"The result is a {type(value).__name__}, but should be a list of words.")
    if not all(isinstance(word, str) for word in value):
        fail("The list contains entries that are not strings.")
    return list(value)


@for_checks
def assert_words(reference, words_of, /, value, sentence, name="", context=""):
    """Compare words with the recorded ones; the student reads a sentence instead."""
    words = words_of(value)
    try:
        reference.assert_close(words, name=name, context=context)
    except CheckFailure as failure:
        fail(f"{sentence} The result has {len(words)} words.", failure.wrong)


@for_checks
def assert_list(reference, /, value, name, context=""):
    """Compare a list of ids with the recorded one."""
    if isinstance(value, torch.Tensor) and value.dim() == 1:
        value = value.tolist()
    if not isinstance(value, list | tuple):
        fail(f"The result is a {type(value).__name__}, but should be a list of ids.")
    if not all(isinstance(index, int) for index in value):
        fail("The list contains entries that are not integers.")
    reference.assert_close(torch.tensor(list(value), dtype=torch.long), name=name, context=context)


@for_checks
def recorded_corpus(reference, /, label, sentences=6, kinds=5, longest=12):
    """(candidates, references) of random tokens, always the same; the candidates are altered copies."""
    lengths = reference.integers(f"{label}: lengths", 5, longest + 1, (sentences, 2))
    tokens = reference.integers(f"{label}: tokens", 0, kinds, (sentences, longest))
    others = reference.integers(f"{label}: other tokens", 0, kinds, (sentences, longest))
    changed = reference.integers(f"{label}: changed", 0, 5, (sentences, longest)) == 0
    return _corpus(lengths, tokens, others, changed)


@for_checks
def drawn_corpus(draw, /, sentences=6, kinds=5, longest=12):
    """Like `recorded_corpus`, but drawn separately for each submission."""
    lengths = draw.integers(5, longest + 1, (sentences, 2))
    tokens, others = (draw.integers(0, kinds, (sentences, longest)) for _ in range(2))
    return _corpus(lengths, tokens, others, draw.integers(0, 5, (sentences, longest)) == 0)


def _corpus(lengths, tokens, others, changed):
    """Return sentences of tokens such as "t3", which the course's grammar never produces."""

    def sentences(ids, sizes):
        return [[f"t{index}" for index in row[:size]] for row, size in zip(ids.tolist(), sizes, strict=True)]

    written = torch.where(changed, others, tokens)
    return sentences(written, lengths[:, 0].tolist()), sentences(tokens, lengths[:, 1].tolist())


@pytest.fixture
def sacrebleu_score():
    """sacrebleu's result, with .score, .bp, .counts and .totals: one reference per sentence, no smoothing."""
    from sacrebleu.metrics import BLEU

    def score(candidates, references, max_n=4):
        metric = BLEU(tokenize="none", smooth_method="none", force=True, max_ngram_order=max_n)
        joined = [[" ".join(sentence) for sentence in side] for side in (candidates, references)]
        return metric.corpus_score(joined[0], [joined[1]])

    return score


HELPER = """
def parts_of_bleu(modified_precision, brevity_penalty, candidates, references):
    pairs = [(c, r, n) for c, r in zip(candidates, references) for n in (1, 2, 3, 4)]
    pairs.append((["A", "b", "cd"], ["a", "b", "c", "d"], 1))
    lengths = [(3, 13), (5, 10), (99, 100), (12, 10), (4, 4)]
    counts = [float(count) for pair in pairs for count in modified_precision(*pair)]
    return counts + [float(brevity_penalty(*pair)) for pair in lengths]
"""


@pytest.fixture
def assert_bleu(student, reference, number_of, recorded_corpus):
    """Compare a BLEU score with the recorded one. If it is wrong, check first whether its parts are right.

    The parts are the answers to two other exercises, whose checks report what is wrong with them. A wrong part must
    not be diagnosed as a mistake in `corpus_bleu`, which may have the same result.
    """
    parts = []

    def parts_are_right():
        try:
            functions = [student.get(name) for name in ("modified_precision", "brevity_penalty")]
            found = student.define(HELPER).parts_of_bleu(*functions, *recorded_corpus("parts"))
            numbers = torch.tensor(found, dtype=torch.float64)
        except (StudentError, TypeError, ValueError):
            numbers = torch.zeros(1)
        try:
            reference.assert_close(numbers, name="modified_precision", context="and brevity_penalty")
        except CheckFailure:
            return False
        return True

    def check(value, name, context="", atol=6e-3):  # by default, a rounded score costs nothing
        value = number_of("corpus_bleu", value)
        if not parts:
            parts.append(parts_are_right())
        try:
            reference.assert_close(value, name=name, context=context, atol=atol, rtol=0)
        except CheckFailure as failure:
            if parts[0]:
                raise
            fail(
                f"{failure} First fix `modified_precision` or `brevity_penalty`, which `corpus_bleu` is built on."
            )

    return check


@for_checks
def number_of(name, value):
    """Return a float or int, converting a 0-d tensor, or fail the check."""
    if isinstance(value, torch.Tensor) and value.numel() == 1:
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float):
        fail(
            f"`{name}` returned {'None' if value is None else f'a {type(value).__name__}'}. It has to return a number."
        )
    return value


@for_checks
def python_float(number_of, /, name, value):
    """Return a float, or fail the check."""
    number = number_of(name, value)
    if isinstance(value, torch.Tensor):
        fail(f"`{name}` returned a tensor, but should return a Python float: `.item()` converts it.")
    if not isinstance(value, float):
        fail(f"`{name}` returned the int {value}, but should return a Python float: `{value}.0`.")
    return number
