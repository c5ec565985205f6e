"""Checks of exercise 3: collate."""

import torch

from gradekit.checks import assert_close, assert_fresh, points

PAIRS = [([5, 6], [7, 8, 9, 4, 5, 6]), ([4, 9, 3, 8], [5]), ([7], [6, 3]), ([8, 8, 8], [4, 4, 4])]
WITH_EMPTY = {
    "of a single pair": PAIRS[:1],
    "with an empty source and an empty target": [([], [4]), ([5, 6], []), ([7], [8, 9])],
    "of empty sources": [([], [4]), ([], [5, 6])],
    "of a single pair of empty sequences": [([], [])],
    "of sources that are longer than the targets": [([5, 6, 7, 8, 9], [4]), ([7, 8], [5, 6])],
}
LONG = list(range(4, 64))
MANY = {
    "of three pairs, two of them equal": [([4, 5], [6]), ([7], [8, 9]), ([4, 5], [6])],
    "of twenty pairs, the last one long": [
        *(([number], [number, 5]) for number in range(4, 23)),
        (LONG, LONG[::-1]),
    ],
}


def filled(rows, fill):
    longest = max(map(len, rows))
    return torch.tensor([row + [fill] * (longest - len(row)) for row in rows])


@points(3, see="Batches")
def test_source(student, reference):
    """source contains the sources, filled up with PAD on the right to the length of the longest, which may be 0."""
    source, _ = student.collate(PAIRS)
    reference.assert_close(source, name="source")
    for context, pairs in (WITH_EMPTY | MANY).items():
        reference.assert_close(student.collate(pairs)[0], name="source", context=context)


@points(3, see="Batches")
def test_target(student, reference):
    """target contains the targets, empty ones too, each followed by EOS and filled up with PAD to the length of the longest."""
    _, target = student.collate(PAIRS)
    reference.assert_close(target, name="target")
    for context, pairs in (WITH_EMPTY | MANY).items():
        reference.assert_close(student.collate(pairs)[1], name="target", context=context)


@points(1)
def test_other_symbols(student, reference, draw):
    """The symbols are the arguments pad_idx and eos_idx."""
    source, target = student.collate(PAIRS, pad_idx=31, eos_idx=17)
    reference.assert_close(source, name="source", context="with pad_idx=31")
    reference.assert_close(target, name="target", context="with pad_idx=31 and eos_idx=17")
    pad, end, *ids = draw.sizes(5, low=10, high=99)
    source, target = student.collate([(ids, ids[:1]), (ids[:2], ids)], pad_idx=pad, eos_idx=end)
    assert_close(source, filled([ids, ids[:2]], pad), name="source")
    assert_close(target, filled([[*ids[:1], end], [*ids, end]], pad), name="target")
    large = 2**24 + 1  # float32 can't hold it
    source, target = student.collate(
        [([large, pad, 0], [end, large, pad]), ([3], [4, 0, end])], pad_idx=pad, eos_idx=end
    )
    context = "where the sequences contain 0, pad_idx, eos_idx and a number above 2²⁴"
    assert_close(source, filled([[large, pad, 0], [3]], pad), name="source", context=context)
    assert_close(
        target, filled([[end, large, pad, end], [4, 0, end, end]], pad), name="target", context=context
    )


@points(1)
def test_dtype(student):
    """Both tensors are torch.long, even for a single pair and for empty sequences."""
    for pairs in [PAIRS, *WITH_EMPTY.values()]:
        for name, tensor in zip(["source", "target"], student.collate(pairs), strict=True):
            assert isinstance(tensor, torch.Tensor) and tensor.dtype == torch.long, (
                f"`{name}` should be a tensor of dtype torch.long, but is "
                f"{getattr(tensor, 'dtype', type(tensor).__name__)}{'' if pairs is PAIRS else f' for the pairs {pairs}'}."
            )


@points(2)
def test_pairs_unchanged(student):
    """The input lists keep their values, because the same pair appears in many batches; and a batch keeps its numbers when the next one is made."""
    helper = student.define(
        "import copy\n"
        "def lists_after(collate, pairs):\n"
        "    before = copy.deepcopy(pairs)\n"
        "    collate(pairs)\n"
        "    return pairs == before\n"
    )
    student.collate(PAIRS)  # an error is raised here, with its line in the cell
    assert helper.lists_after(student.get("collate"), PAIRS), (
        "The call changed the lists in `pairs`, which are used again in later batches. Make new lists instead."
    )
    assert_fresh(student, "collate", PAIRS, name="source or target")
