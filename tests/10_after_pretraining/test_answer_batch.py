"""Checks of exercise 1: answer_batch."""

import torch
from shared import dialogues

from gradekit.checks import assert_close, assert_shape, fail, for_checks, points

PAIRS = [([4, 7, 1], [2, 5]), ([3], [8, 6, 4, 1]), ([5, 2], [7]), ([6, 1, 8, 2, 3], [4, 4])]


@for_checks
def run(student, /, pairs, pad):
    """The pair that the student returns."""
    found = student.answer_batch(pairs, pad)
    if not isinstance(found, tuple | list) or len(found) != 2:
        fail("It should return two tensors: (ids, counts).")
    shape = (len(pairs), max(len(prompt) + len(answer) for prompt, answer in pairs))
    for value, name in zip(found, ["ids", "counts"], strict=True):
        if not isinstance(value, torch.Tensor):
            fail(f"`{name}` should be a tensor, but is a {type(value).__name__}.")
        assert_shape(value, shape, name=name)
    return found


def right_batch(pairs, pad):
    """Return ids and counts, entry by entry."""
    longest = max(len(prompt) + len(answer) for prompt, answer in pairs)
    ids = torch.full((len(pairs), longest), pad)
    counts = torch.zeros(len(pairs), longest)
    for row, (prompt, answer) in enumerate(pairs):
        for place, number in enumerate([*prompt, *answer]):
            ids[row, place] = number
            counts[row, place] = float(place >= len(prompt))
    return ids, counts


@points(3, see="Only the answer counts")
def test_ids(reference, draw, run):
    """Each row is a prompt, then its answer, then padding."""
    ids, _ = run(PAIRS, 9)
    reference.assert_close(ids, name="ids")
    large = [([2**24 + 1, 5], [2**31 + 3]), ([7], [2**24 + 3])]
    ids, _ = run(large, 2**24 + 5)
    assert ids.tolist() == right_batch(large, 2**24 + 5)[0].tolist(), (
        "Ids above 2 ** 24 come out as other ids. Are they floats in between?"
    )
    for pad in (0, 11):
        pairs = dialogues(draw, 5)
        pairs = [*pairs, pairs[1], pairs[0], pairs[1]]  # a pair may occur again
        ids, _ = run(pairs, pad)
        assert_close(ids, right_batch(pairs, pad)[0], name="ids", context=f"with pad={pad}")


@points(3, see="Only the answer counts")
def test_counts(reference, draw, run):
    """The tokens of the answers count, with the last one, and nothing else does."""
    _, counts = run(PAIRS, 9)
    reference.assert_close(counts.float(), name="counts")
    long = [(list(range(41)), list(range(530))), ([3], [5, 1])]
    for pairs in (dialogues(draw, 1), dialogues(draw, 4), long):
        _, counts = run(pairs, 10)
        assert_close(counts.float(), right_batch(pairs, 10)[1], name="counts")


@points(1)
def test_pad_within_a_dialogue(reference, run):
    """An id that equals `pad` counts within an answer, and doesn't in a prompt."""
    pairs = [([3, 0, 3], [0, 3, 0, 0]), ([0], [1]), ([0, 0, 0], [3])]
    for pad in (0, 3):
        ids, counts = run(pairs, pad)
        reference.assert_close(
            counts.float(), name="counts", context=f"with pad={pad}, which also occurs in prompts and answers"
        )
        assert_close(ids, right_batch(pairs, pad)[0], name="ids", context=f"with pad={pad}")


@points(1)
def test_types_and_lists_unchanged(student, models, run):
    """`ids` are int64, `counts` are boolean, and the lists keep their entries."""
    ids, counts = run(PAIRS, 0)
    assert ids.dtype == torch.int64, f"`ids` should be int64, but are {ids.dtype}."
    assert counts.dtype == torch.bool, f"`counts` should be boolean, but are {counts.dtype}."
    after = models.lists_afterwards(student.get("answer_batch"), PAIRS, 0)
    assert [[list(prompt), list(answer)] for prompt, answer in after] == [[p, a] for p, a in PAIRS], (
        "The lists that were passed in have changed. Build new ones."
    )
