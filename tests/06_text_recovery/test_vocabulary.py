"""Checks of exercise 2: Vocabulary. A helper calls its methods inside the kernel."""

import torch

from gradekit.checks import for_checks, in_kernel, points

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
# only one check depends on which id a word has; the words of the others occur at least twice
WITH_CAPITALS = [["owl", "See", "two"], ["two", "Owl", "."], ["see", "owl", "<", "mouse"], ["mouse", "two"]]


helper = in_kernel(HELPER)


@for_checks
def ids_of(helper, /, vocabulary, *words):
    """The id of each word, encoded on its own."""
    found = [helper.encode(vocabulary, [word]) for word in words]
    assert all(isinstance(ids, list) and ids for ids in found), "The ids of one word are not a list."
    return [ids[0] for ids in found]


@points(5, see="From words to ids")
def test_ids_of_words(student, helper, assert_list):
    """Every word has its own id, starting at 4, in alphabetical order: that of `sorted`, with capitals first."""
    vocabulary = student.Vocabulary(WITH_CAPITALS)
    words = sorted({word for sentence in WITH_CAPITALS for word in sentence})
    assert_list(helper.encode(vocabulary, words), name="ids", context="of all words")
    assert_list(
        helper.encode(vocabulary, ["two", "owl", "Owl", "two", "."]), name="ids", context="of a sentence"
    )


@points(2)
def test_length(student, helper, reference):
    """len counts every id once, including the four symbols."""
    for context, sentences in {"": SENTENCES, "of a smaller one": SENTENCES[:2]}.items():
        length = helper.length(student.Vocabulary(sentences))
        reference.assert_close(length, name="len", context=context)
    many = [f"w{number}" for number in range(3000)]
    for what, sentences in {
        "the sentences []": [],
        "the sentences [[], ['owl'], []]": [[], ["owl"], []],
        "a sentence of 3000 different words": [many],
    }.items():
        length, right = helper.length(student.Vocabulary(sentences)), 4 + sum(map(len, sentences))
        assert length == right, f"For {what}, len should be {right}, but is {length}."


@points(3)
def test_unknown_words(student, helper, ids_of, assert_list):
    """encode returns 3 for a word that is not in the vocabulary, and does not add the word."""
    vocabulary = student.Vocabulary(SENTENCES)
    words = ["owl", "fox", "see", "Owl", "fox", "ow"]
    own = dict(zip(["owl", "see"], ids_of(vocabulary, "owl", "see"), strict=True))
    for again in ["", ", asked again"]:
        ids = helper.encode(vocabulary, words)
        if isinstance(ids, list) and len(ids) == len(words):  # 0 for a known word with its own id
            ids = [0 if own.get(word) == index else index for word, index in zip(words, ids, strict=True)]
        assert_list(ids, name="ids", context=f"in which 0 is a known word{again}")
    assert helper.length(vocabulary) == helper.length(student.Vocabulary(SENTENCES)), (
        "Encoding unknown words changed the length of the vocabulary. It must not grow."
    )


@points(3)
def test_min_count(student, helper, assert_list, reference):
    """With min_count, only words that occur at least that often in all sentences together get an id, without gaps."""
    sentences = [*SENTENCES, ["fox", "fox", "fox"], ["owl", "bee", "bee"]]
    for least in [2, 3, 4]:
        vocabulary = student.Vocabulary(sentences, min_count=least)
        ids = helper.encode(vocabulary, [*WORDS, "fox", "bee"])
        if isinstance(ids, list):
            first = min([index for index in ids if index != 3], default=3)
            known = sorted(index - first + 1 for index in ids if index != 3)
            reference.assert_close(known, name="ids", context=f"from 1, for min_count={least}")
            ids = [3 if index == 3 else 1 for index in ids]
        assert_list(ids, name="ids", context=f"in which 1 is a known word, for min_count={least}")
        reference.assert_close(helper.length(vocabulary), name="len", context=f"for min_count={least}")
    vocabulary = student.Vocabulary([["Fox", "bee"], ["fox", "bee"]], min_count=2)
    ids = helper.encode(vocabulary, ["Fox", "fox", "bee"])
    if isinstance(ids, list):
        ids = [3 if index == 3 else 1 for index in ids]
    context = "in which 1 is a known word, where Fox and fox occur once each, for min_count=2"
    assert_list(ids, name="ids", context=context)


@points(2)
def test_decode_undoes_encode(student, helper, ids_of, assert_words):
    """decode returns the words that were passed to encode, and neither changes the list that it is given."""
    vocabulary = student.Vocabulary(SENTENCES)
    words = ["two", "mouse", "see", "two", "owl", "mouse"]
    sentence = "Six words come back different when they are encoded and decoded."
    call = helper.call("decode", vocabulary, ids_of(vocabulary, *words))
    assert_words(call.value, sentence, name="words")
    marked = helper.call("decode", vocabulary, [1, *ids_of(vocabulary, "owl"), 2, 0])
    for name, each in [
        ("decode", call),
        ("decode", marked),
        ("encode", helper.call("encode", vocabulary, words)),
    ]:
        assert not each.changed, f"`{name}` changed the list that it was given. Make a new one."


@points(3)
def test_decode_and_symbols(student, helper, ids_of, assert_words):
    """decode stops before the first EOS, leaves out PAD and BOS wherever they are, and writes UNK as <unk>."""
    vocabulary = student.Vocabulary(SENTENCES)
    owl, see, two = ids_of(vocabulary, "owl", "see", "two")
    cases = {
        "BOS and PAD": [1, see, 0, owl, 1, 0, two, 0],
        "EOS": [two, see, 2, owl, 2, two, 0],
        "UNK": [3, see, 3, 3, 2],
        "nothing": [2, see, 0],
        "an empty list": [],
    }
    for what, ids in cases.items():
        words = helper.decode(vocabulary, ids)
        assert_words(words, f"The decoded words are wrong (case: {what}).", context=what)


@points(1)
def test_decode_takes_a_tensor(student, helper, ids_of, assert_words, words_of):
    """decode also accepts a 1-D tensor, and returns the words that it returns for the same ids in a list."""
    vocabulary = student.Vocabulary(SENTENCES)
    owl, two, see = ids_of(vocabulary, "owl", "two", "see")
    words = helper.decode(vocabulary, torch.tensor([owl, two, see, two]))
    assert_words(words, "The words decoded from a tensor of ids are wrong.", name="words")
    ids = [1, owl, 0, 3, two, 2, see, 0]
    assert words_of(helper.decode(vocabulary, torch.tensor(ids))) == words_of(
        helper.decode(vocabulary, ids)
    ), "For ids with PAD, BOS, UNK and EOS, decode returns other words if they are in a tensor."


@points(1)
def test_two_vocabularies(student, helper, ids_of):
    """Two vocabularies don't affect each other."""
    first = student.Vocabulary(SENTENCES)
    before, length = helper.encode(first, WORDS), helper.length(first)
    decoded = helper.decode(first, before)
    second = student.Vocabulary([["bee", "bee", "zoo", "zoo"]])
    assert helper.encode(first, WORDS) == before and helper.length(first) == length, (
        "The first vocabulary changed when the second was created."
    )
    assert helper.decode(first, before) == decoded, (
        "The first vocabulary decodes its ids as other words since the second was created."
    )
    zoo, owl = ids_of(second, "zoo", "owl")
    assert zoo != 3, "The second vocabulary does not know its own words."
    assert owl == 3, "The second vocabulary knows a word of the first."
