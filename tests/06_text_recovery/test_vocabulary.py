"""Checks of exercise 2: Vocabulary. A helper calls its methods inside the kernel."""

import pytest
import torch

from coursekit.checks import points

HELPER = """
def encode(vocabulary, words):
    return vocabulary.encode(words)

def decode(vocabulary, ids):
    return vocabulary.decode(ids)

def length(vocabulary):
    return len(vocabulary)
"""
SENTENCES = [
    ["owl", "see", "mouse"], ["mouse", "sleep"], ["see", "ant", "two", "mouse", "two"], ["zebra", "find", "owl", "mouse"],
]  # fmt: skip
WORDS = sorted({word for sentence in SENTENCES for word in sentence})


@pytest.fixture
def helper(student):
    return student.define(HELPER)


@points(5, see="From words to ids")
def test_ids_of_words(student, helper, assert_list):
    """Every word has its own id, starting at 4, in alphabetical order."""
    vocabulary = student.Vocabulary(SENTENCES)
    assert_list(helper.encode(vocabulary, WORDS), name="ids", context="of all words")
    assert_list(
        helper.encode(vocabulary, ["two", "owl", "find", "two", "ant"]), name="ids", context="of a sentence"
    )


@points(2)
def test_length(student, helper, reference):
    """len counts every id once, including the four symbols."""
    for context, sentences in {"": SENTENCES, "of a smaller one": SENTENCES[:2]}.items():
        length = helper.length(student.Vocabulary(sentences))
        reference.assert_close(length, name="len", context=context)


@points(3)
def test_unknown_words(student, helper, assert_list):
    """encode returns 3 in place of a word that is not in the vocabulary, and does not add the word."""
    vocabulary = student.Vocabulary(SENTENCES)
    unknown = ["owl", "fox", "see", "Owl", "fox", "ow"]
    assert_list(helper.encode(vocabulary, unknown), name="ids")
    assert_list(helper.encode(vocabulary, unknown), name="ids", context=", asked again")
    assert helper.length(vocabulary) == helper.length(student.Vocabulary(SENTENCES)), (
        "Encoding unknown words changed the length of the vocabulary. It must not grow."
    )


@points(3)
def test_min_count(student, helper, assert_list, reference):
    """With min_count, only words that occur at least that often in all sentences together get an id, without gaps."""
    for least in [2, 3]:
        vocabulary = student.Vocabulary(SENTENCES, min_count=least)
        assert_list(helper.encode(vocabulary, WORDS), name="ids", context=f"for min_count={least}")
        reference.assert_close(helper.length(vocabulary), name="len", context=f"for min_count={least}")


@points(2)
def test_decode_undoes_encode(student, helper, assert_words):
    """decode returns the words that were passed to encode."""
    vocabulary = student.Vocabulary(SENTENCES)
    words = ["two", "mouse", "see", "two", "owl", "zebra"]
    ids = helper.encode(vocabulary, words)
    assert words == helper.decode(vocabulary, ids), "decode(encode(words)) is not the same as words."
    assert_words(
        helper.decode(vocabulary, [11, 4, 4, 7]),
        "The words decoded from four ids are wrong.",
        name="words",
    )


@points(3)
def test_decode_and_symbols(student, helper, assert_words):
    """decode stops before the first EOS, leaves out PAD and BOS wherever they are, and writes UNK as <unk>."""
    vocabulary = student.Vocabulary(SENTENCES)
    cases = {
        "BOS and PAD": [1, 5, 0, 6, 1, 0, 7, 0],
        "EOS": [4, 5, 2, 6, 2, 7, 0],
        "UNK": [3, 5, 3, 3, 2],
        "nothing": [2, 5, 0],
    }
    for what, ids in cases.items():
        words = helper.decode(vocabulary, ids)
        assert_words(words, f"The decoded words are wrong (case: {what}).", context=what)


@points(1)
def test_decode_takes_a_tensor(student, helper, assert_words):
    """decode also accepts a 1-D tensor."""
    words = helper.decode(student.Vocabulary(SENTENCES), torch.tensor([1, 6, 3, 8, 2, 5, 0]))
    assert_words(words, "The words decoded from a tensor of ids are wrong.", name="words")


@points(1)
def test_two_vocabularies(student, helper, assert_list):
    """Two vocabularies don't affect each other."""
    first = student.Vocabulary(SENTENCES)
    before = helper.length(first)
    second = student.Vocabulary([["bee", "zoo"]])
    assert_list(helper.encode(first, WORDS), name="ids", context="of the first")
    assert_list(helper.encode(second, [*WORDS, "zoo"]), name="ids", context="of the second")
    assert helper.length(first) == before, "The first vocabulary changed when the second was created."
