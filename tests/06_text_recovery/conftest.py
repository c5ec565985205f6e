"""What the checks share: words as numbers for the record, random corpora, and sacrebleu as the judge of BLEU."""

import zlib

import pytest
import torch

from coursekit.checks import fail, forbid
from coursekit.checks.compare import CheckFailure
from coursekit.student.values import StudentError

only_own_code = forbid("sacrebleu", "nltk", "torchmetrics", "torchtext")


def words_of(value):
    """The value if it is a list of strings; else the check fails."""
    if isinstance(value, str):
        fail("One string came back. Return a list with a string for each word.")
    if not isinstance(value, list | tuple):
        fail(f"A {type(value).__name__} came back, but it should be a list of words.")
    if not all(isinstance(word, str) for word in value):
        fail("Not every entry of the list is a string.")
    return list(value)


@pytest.fixture
def assert_words(reference):
    """Compares words with the recorded ones. Words are recorded as numbers; the student reads a sentence instead."""

    def check(value, sentence, name="", context=""):
        words = words_of(value)
        numbers = torch.tensor([zlib.crc32(word.encode()) for word in words], dtype=torch.long)
        try:
            reference.assert_close(numbers, name=name, context=context, atol=0.4, rtol=0.0)
        except CheckFailure:
            fail(f"{sentence} {len(words)} words came back.")

    return check


@pytest.fixture
def assert_list(reference):
    """Compares a list of ids with the recorded one."""

    def check(value, name, context=""):
        if isinstance(value, torch.Tensor) and value.dim() == 1:
            value = value.tolist()
        if not isinstance(value, list | tuple):
            fail(f"A {type(value).__name__} came back, but it should be a list of ids.")
        if not all(isinstance(index, int) for index in value):
            fail("Not every entry of the list is a whole number.")
        reference.assert_close(torch.tensor(list(value), dtype=torch.long), name=name, context=context)

    return check


@pytest.fixture
def recorded_corpus(reference):
    """(candidates, references) of random tokens, always the same ones: the candidates are changed copies."""

    def make(label, sentences=6, kinds=5, longest=12):
        lengths = reference.integers(f"{label}: lengths", 5, longest + 1, (sentences, 2))
        tokens = reference.integers(f"{label}: tokens", 0, kinds, (sentences, longest))
        others = reference.integers(f"{label}: other tokens", 0, kinds, (sentences, longest))
        changed = reference.integers(f"{label}: changed", 0, 5, (sentences, longest)) == 0
        return _corpus(lengths, tokens, others, changed)

    return make


@pytest.fixture
def drawn_corpus(draw):
    """Like `recorded_corpus`, but drawn anew for each submission."""

    def make(sentences=6, kinds=5, longest=12):
        lengths = draw.integers(5, longest + 1, (sentences, 2))
        tokens, others = (draw.integers(0, kinds, (sentences, longest)) for _ in range(2))
        return _corpus(lengths, tokens, others, draw.integers(0, 5, (sentences, longest)) == 0)

    return make


def _corpus(lengths, tokens, others, changed):
    """Sentences of the names that the grammar would not make, such as "t3"; both have a beginning in common."""

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
    lengths = [(3, 13), (5, 10), (99, 100), (12, 10), (4, 4)]
    counts = [float(count) for pair in pairs for count in modified_precision(*pair)]
    return counts + [float(brevity_penalty(*pair)) for pair in lengths]
"""


@pytest.fixture
def assert_bleu(student, reference, number_of, recorded_corpus):
    """Compares a BLEU with the recorded one. If it is wrong, looks first whether its parts are right.

    They are the answers to two other exercises. What is wrong with them is said there, and is not to be taken for a
    mistake of `corpus_bleu`, which may look just the same.
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

    def check(value, name, context=""):
        value = number_of("corpus_bleu", value)
        if not parts:
            parts.append(parts_are_right())
        try:
            reference.assert_close(value, name=name, context=context)
        except CheckFailure as failure:
            if parts[0]:
                raise
            fail(f"{failure} First mend `modified_precision` or `brevity_penalty`, which it is made of.")

    return check


@pytest.fixture
def number_of():
    """A float or int, a 0-d tensor made a number; else the check fails."""

    def check(name, value):
        if isinstance(value, torch.Tensor) and value.numel() == 1:
            value = value.item()
        if isinstance(value, bool) or not isinstance(value, int | float):
            fail(f"`{name}` returned {'nothing' if value is None else type(value).__name__}, not one number.")
        return value

    return check
