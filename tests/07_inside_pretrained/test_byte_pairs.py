"""Checks of exercise 1: byte-pair encoding, compared with another program and with itself."""

import torch
from bytes_and_pairs import ALPHABET, right_ids, right_join, right_merges

from gradekit.checks import fail, for_checks, forbid_in, in_kernel, points

STORIES = "she sells sea shells; the shells she sells are sea shells, she's sure"
RUNS = "xyxyxyx aaaaa"  # a, a occurs four times, although only two can be joined
TIES = ["abcd", "xyxz xz", "dcbadcba", "cabbage", "zzyyzzyy", "noon moon soon"]
ANY_TEXT = [
    "",
    "a",
    "é",
    "déjà vu",
    "Anna ÉÉ",
    "e\u0301",
    "naïve — 数学 🙂",
    "\x00\t\n\r\n  x",
    "\ufeffend\x7f",
    "\U0010ffff",
    "𝔘𝔫𝔦",
]
CHANGED = """
def after(join_pair, ids, pair, new_id):
    join_pair(ids, pair, new_id)
    return ids


def returns_the_same_list(join_pair, ids, pair, new_id):
    return join_pair(ids, pair, new_id) is ids
"""

only_own_code = forbid_in(
    ["join_pair", "train_merges", "encode", "decode"],
    *(
        "small_models*",
        "smollm*",
        "*BPETokenizer*",
        "*learn_merges",
        "tokenizers*",
        "tiktoken*",
        "*Tokenizer",
    ),
)
helper = in_kernel(CHANGED)


@for_checks
def numbers(value, name="ids"):
    """Return a list of ids, or fail the check."""
    if isinstance(value, torch.Tensor) and value.dim() == 1:
        value = value.tolist()
    if not isinstance(value, list | tuple):
        fail(f"The {name} should be a list, but you return a {type(value).__name__}.")
    if not all(isinstance(number, int) for number in value):
        fail(f"The {name} should be integers, but the list contains something else.")
    return list(value)


@for_checks
def pairs(numbers, /, value):
    """Return a list of merges as tuples, or fail the check."""
    if not isinstance(value, list | tuple):
        fail(f"train_merges should return a list of pairs, but you return a {type(value).__name__}.")
    found = [tuple(numbers(pair, "entries of a pair")) for pair in value]
    if any(len(pair) != 2 for pair in found):
        fail("Every merge should be a pair of two ids, but one has another length.")
    return found


@for_checks
def table(lists):
    """Lists of different lengths as one tensor, filled up with -1: so a wrong one is compared as a whole."""
    width = max(map(len, lists), default=0)
    return torch.tensor([[*row, *[-1] * (width - len(row))] for row in lists], dtype=torch.long)


@for_checks
def drawn_text(draw, /, length):
    return "".join(ALPHABET[place] for place in draw.integers(0, len(ALPHABET), (length,)).tolist())


@points(2, see="Byte-pair encoding")
def test_join_pair(student, reference, numbers, table, draw):
    """join_pair replaces every occurrence of the pair, from left to right, and uses no id twice."""
    cases = [
        ([1, 2, 3, 1, 2, 2, 1], (1, 2), 9),
        ([5, 5, 5, 5, 6, 5, 5, 5], (5, 5), 7),
        ([4, 8, 8, 3, 4, 8], (4, 8), 4),
        ([3, 1, 3, 1, 1, 3], (3, 1), 1),
        ([2, 300, 2, 300], (300, 2), 301),
        ([11, 2, 1, 20, 1, 2, 21, 2], (1, 2), 5),  # ids with the digits of others
        ([12, 121, 12, 12, 1, 2, 12], (12, 12), 1212),
    ]
    found = [numbers(student.join_pair(*case)) for case in cases]
    reference.assert_close(table(found), name="ids", context="of seven lists")
    for kinds in [(0, 1, 2), (1, 11, 111, 300)]:
        ids, pair = (
            [kinds[place] for place in draw.integers(0, len(kinds), (count,)).tolist()] for count in (40, 2)
        )
        assert numbers(student.join_pair(ids, tuple(pair), kinds[-1])) == right_join(
            ids, tuple(pair), kinds[-1]
        ), f"In a random list, your result for the pair {tuple(pair)} is wrong."


@points(1)
def test_join_pair_edges(student, helper, numbers):
    """join_pair works on lists of no or one id, leaves the list that it is given as it is, and always returns a new one."""
    for ids in [[], [5], [5, 6], [6, 6]]:
        found = numbers(student.join_pair(ids, (6, 6), 7))
        assert found == right_join(ids, (6, 6), 7), (
            f"join_pair returns {found} for {ids} and the pair (6, 6)."
        )
    for new_id in (-1, 10**9):
        found = numbers(student.join_pair([6, 6, 5, 6, 6], (6, 6), new_id))
        assert found == [new_id, 5, new_id], (
            f"join_pair returns {found} for [6, 6, 5, 6, 6], the pair (6, 6) and the new id {new_id}."
        )
    ids = [6, 6, 5, 6, 6]
    assert helper.after(student.get("join_pair"), ids, (6, 6), 7) == ids, (
        "join_pair changed the list that it was given. Make a new one."
    )
    for pair in [(6, 6), (5, 5)]:
        assert not helper.returns_the_same_list(student.get("join_pair"), ids, pair, 7), (
            f"For {ids} and the pair {pair}, join_pair returns the list that it was given. Return a new one in each case."
        )


@points(2, see="Byte-pair encoding")
def test_merges(student, reference, pairs, table, drawn_text):
    """train_merges joins the most frequent pair each time, counted again after every merge, in a text of any length."""
    found = [pair for text in [STORIES, RUNS] for pair in pairs(student.train_merges(text, 12))]
    reference.assert_close(table(found), name="merges", context="of two texts")
    for text in ["  ab  ab\n  ", 60 * STORIES]:
        found = pairs(student.train_merges(text, 3))
        reference.assert_close(table(found), name="merges", context=f"of a text of {len(text)} characters")
    text = drawn_text(60)
    assert pairs(student.train_merges(text, 9)) == right_merges(text, 9), (
        f"The merges of the random text {text!r} are wrong."
    )


@points(1, see="Byte-pair encoding")
def test_ties(student, reference, pairs, table):
    """Of equally frequent pairs, train_merges takes the one that occurs first in the text."""
    found = [pair for text in TIES for pair in pairs(student.train_merges(text, 2))]
    reference.assert_close(table(found), name="merges", context=f"of {len(TIES)} texts with ties")


@points(1)
def test_number_of_merges(student, pairs):
    """There are n merges, or fewer if the text has become a single id; an empty text has none."""
    for text, n in [("", 3), ("x", 3), ("ab", 4), ("aaaa", 9), ("abcabc", 0), ("abcabc", 2), ("é", 5)]:
        found, right = len(pairs(student.train_merges(text, n))), len(right_merges(text, n))
        assert found == right, (
            f"For the text {text!r} and n={n}, there should be {right} merges, not {found}."
        )


@points(2, see="Byte-pair encoding")
def test_order_of_merges(student, reference, numbers, table):
    """encode applies the merges in their order, wherever in the text their pairs are."""
    b, c, d = map(ord, "bcd")
    cases = [
        ("abcabc", [(b, c), (97, b), (97, 256)]),
        ("abcd bcd", [(c, d), (97, b), (257, 256), (b, 256)]),
        ("aaaaaaa", [(97, 97), (256, 97), (256, 256), (258, 257)]),
        ("abab", [(b, 97), (97, b), (97, 256)]),
        ("abcb", [(b, c), (97, b)]),
        ("aaab", [(97, b), (97, 97), (257, 97)]),
    ]
    found = [numbers(student.encode(*case)) for case in cases]
    reference.assert_close(table(found), name="ids", context="of six texts")


@points(2)
def test_any_text(student, numbers, drawn_text):
    """encode returns the bytes of a text, joined by the merges, for any characters and for an empty text."""
    for text in ANY_TEXT:
        found = numbers(student.encode(text, []))
        assert found == list(text.encode()), (
            f"Without merges, the ids of {text!r} should be its bytes in UTF-8."
        )
    merges = right_merges(drawn_text(150), 25)
    text = drawn_text(50)
    for count in [1, 4, 25]:
        found = numbers(student.encode(text, merges[:count]))
        assert found == right_ids(text, merges[:count]), (
            f"With {count} merges, the ids of a random text are wrong."
        )


@points(1)
def test_round_trip(student, drawn_text):
    """decode returns the text that was encoded, whatever its characters and whatever the merges."""
    merges = right_merges(drawn_text(150) + "naïve — 数学 🙂🙂" * 3, 40)
    others = [(byte, byte) for byte in range(len(merges))]  # as many, but others
    for text in [*ANY_TEXT, drawn_text(60)]:
        for known in [[], merges, others]:
            found = student.decode(right_ids(text, known), known)
            assert isinstance(found, str), (
                f"decode should return a str, but returns a {type(found).__name__}."
            )
            assert found == text, f"The ids of {text!r}, with {len(known)} merges, are decoded as {found!r}."


@points(1)
def test_part_of_a_character(student):
    """decode writes � where the ids begin or end in the middle of a character, and never raises an error."""
    merges = [(0xE6, 0x95), (0x65, 256), (257, 0xB0)]  # e and two thirds of 数, and the whole
    for ids, right in [
        ([256], "�"),
        ([97, 257], "ae�"),
        ([258, 0xB0, 97], "e数�a"),
        ([256, 0xB0], "数"),
        ([0xB0, 97], "�a"),
        ([97, 256, 98], "a�b"),
        ([], ""),
    ]:
        found = student.decode(ids, merges)
        assert found == right, (
            f"With the merges {merges}, {ids} should be decoded as {right!r}, but is {found!r}."
        )


@points(1)
def test_train_encode_decode(student, drawn_text, numbers):
    """The three fit together: a text has fewer ids with more merges, and always comes back."""
    text, before = drawn_text(80), None
    for n in [0, 5, 15]:
        merges = student.train_merges(text, n)
        ids = numbers(student.encode(text, merges))
        assert before is None or len(ids) < before, f"With {n} merges, the text has no fewer ids than before."
        before = len(ids)
        assert student.decode(ids, merges) == text, f"With your {n} merges, a random text does not come back."
