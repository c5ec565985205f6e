"""Checks of exercise 7: build_vocabulary, to_ids, to_text."""

import torch

from gradekit.checks import assert_close, describe, points

WORDS = ["<pad>", "<bos>", "<eos>", "<unk>", "we", "read", "Books", "old", "books", "again", "zebras"]
VOCABULARY = {
    "<pad>": 0,
    "<bos>": 1,
    "<eos>": 2,
    "<unk>": 3,
    "read": 4,
    "we": 5,
    "again": 6,
    "old": 7,
    "books": 8,
}
OTHER = {
    word: number for number, word in enumerate([*list(VOCABULARY)[:4], "we", "read", *list(VOCABULARY)[6:]])
}
BIN = """
def grown(to_ids, sentence, vocabulary):
    '''Return how many words a call of to_ids adds to the vocabulary.'''
    before = len(vocabulary)
    to_ids(sentence, vocabulary)
    return len(vocabulary) - before
"""


def ids_of(vocabulary):
    """Return the ids of WORDS in the student's vocabulary; -1 for a missing word."""
    assert isinstance(vocabulary, dict), (
        f"`build_vocabulary` returned a {type(vocabulary).__name__}. It has to return a dictionary."
    )
    return torch.tensor([vocabulary.get(word, -1) for word in WORDS])


@points(1, see="The same with words")
def test_vocabulary(student, reference):
    """First come the special symbols, then the words in order of appearance."""
    vocabulary = student.build_vocabulary(["we read Books", "old books again"])
    reference.assert_close(ids_of(vocabulary), name="ids")
    assert len(vocabulary) == 10, (
        f"4 special symbols and 6 words make 10 entries, but the vocabulary has {len(vocabulary)}."
    )
    found = student.build_vocabulary(["we, read.", "we, read! - 7"])
    right = {**dict(list(VOCABULARY.items())[:4]), "we,": 4, "read.": 5, "read!": 6, "-": 7, "7": 8}
    assert found == right, (
        f"For 'we, read.' and 'we, read! - 7' the vocabulary should be {right}, but is {describe(found)}. A word is anything between spaces."
    )


@points(1)
def test_every_word_once(student, reference):
    """A repeated word keeps its id, and no id is skipped."""
    vocabulary = student.build_vocabulary(["we read books", "we read again", "again we read old books"])
    words = {word: number for word, number in vocabulary.items() if number > 3}
    reference.assert_close(torch.tensor(sorted(words.values())), name="ids", context="of the words, in order")
    assert_close(vocabulary.get("old"), 8, name="id", context="of the last new word")
    found = student.build_vocabulary(["we and we", "so so and we"])
    words = {word: number for word, number in found.items() if number > 3}
    right = {"we": 4, "and": 5, "so": 6}
    assert words == right, (
        f"The ids of the words of 'we and we' and 'so so and we' should be {right}, but are {describe(words)}."
    )


@points(1)
def test_to_ids(student, reference):
    """to_ids returns the ids of the words in order, without BOS and EOS."""
    ids = student.to_ids("books again we old read we", VOCABULARY)
    reference.assert_close(torch.tensor(ids), name="ids")


@points(1, see="The same with words")
def test_unknown_words(student, reference):
    """A word that is not in the vocabulary becomes UNK, and the vocabulary does not grow."""
    ids = student.to_ids("zebras read old Books", VOCABULARY)
    reference.assert_close(torch.tensor(ids), name="ids", context="with unknown words")
    assert student.to_ids("read, books", VOCABULARY) == [3, 8], (
        "In 'read, books' the first word is 'read,', with its comma, and unknown: the ids should be [3, 8]. A word is anything "
        "between spaces."
    )
    grown = student.define(BIN).grown(student.get("to_ids"), "zebras read again", VOCABULARY)
    assert student.to_ids("we read", OTHER) == [4, 5], (
        "With another vocabulary, `to_ids` still returns the ids of the first."
    )
    assert grown == 0, "`to_ids` adds to the vocabulary. It must not: the model has no weights for new words."


@points(1)
def test_to_text(student, reference):
    """to_text returns the words up to the first EOS, without BOS and PAD."""
    for name, ids in {
        "without special symbols": [8, 5, 4],
        "with EOS": [5, 4, 2, 8, 2],
        "with BOS and PAD": [1, 0, 7, 8, 6, 2, 0],
        "with an unknown word": [5, 4, 3, 2],
        "with BOS and PAD between words": [7, 1, 8, 0, 6, 2],
    }.items():
        text = student.to_text(ids, VOCABULARY)
        assert isinstance(text, str), (
            f"`to_text` returned a {type(text).__name__}. It has to return a string."
        )
        reference.assert_close(text, name="text", context=f"of ids {name}")
    text = student.to_text([4, 5], OTHER)
    assert text == "we read", (
        f"With another vocabulary, in which 4 is `we` and 5 is `read`, the text of 4 5 is {text!r}."
    )
    text = student.to_text([5, 3, 3, 4, 3], VOCABULARY)
    assert text == "we <unk> <unk> read <unk>", (
        f"If 5 is `we` and 4 is `read`, the text of 5 3 3 4 3 should be 'we <unk> <unk> read <unk>', but is {text!r}."
    )
    assert student.to_text([], VOCABULARY) == "", "The text of an empty list should be an empty string."


@points(1)
def test_there_and_back(student, draw):
    """A sentence of known words is unchanged after to_ids and to_text."""
    words = [f"w{number}" for number in range(20)]
    vocabulary = student.build_vocabulary([" ".join(words)])
    sentence = " ".join(words[number] for number in draw.integers(0, 20, (7,)).tolist())
    back = student.to_text(student.to_ids(sentence, vocabulary), vocabulary)
    assert back == sentence, (
        "A sentence of known words changes when it is turned into ids and back into text."
    )
