"""Checks of exercise 1: fresh_batch. The checks bring their own samplers and answers, so that every draw is known."""

import torch

from gradekit.checks import assert_shape, points

#: sources in the order in which they are drawn
DRAWN = [[3, 4, 5], [6, 7], [8, 3, 9, 4], [5, 5], [7, 8, 9], [4, 6], [9, 3, 3, 8], [6, 4, 7]]


def as_drawn(drawn, source, *others):
    """The tensors of a batch, with their rows in the order in which the sources were drawn: any order is right."""
    batch = source, *others
    if not isinstance(source, torch.Tensor) or source.dim() != 2:
        return batch
    places = {tuple(row): place for place, row in reversed(list(enumerate(drawn)))}
    rows = [tuple(token for token in row if token != 0) for row in source.tolist()]
    order = sorted(range(len(rows)), key=lambda row: places.get(rows[row], len(drawn)))
    return [ids[order] if isinstance(ids, torch.Tensor) and len(ids) == len(rows) else ids for ids in batch]


@points(1)
def test_sources_and_their_answers(student, reference, sources):
    """The batch contains the drawn sources, and row i of the targets is the answer to row i of the source."""
    source, targets = student.fresh_batch(sources.Stream(DRAWN), sources.get("answer"), 4, sources.as_set([]))
    source, targets = as_drawn(DRAWN, source, targets)
    reference.assert_close(source, name="source")
    reference.assert_close(targets, name="targets")
    answer = sources.get("other_answer")
    batch = student.fresh_batch(sources.Stream(DRAWN), answer, 4, sources.as_set([]))
    _, targets = as_drawn(DRAWN, *batch)
    reference.assert_close(targets, name="targets", context="of a second call, with another `answer`")

    batch = student.fresh_batch(sources.Stream([[1, 2, 3]]), answer, 1, sources.as_set([]))
    assert [part.tolist() for part in batch] == [[[1, 2, 3]], [[1, 2, 3, 2]]], (
        "If `sample()` returns 1 2 3, and the answer to it is 1 2 3 2, these should be the row of source and the row of targets."
    )
    drawn = [list(range(start, start + 1 + start % 9)) for start in range(3, 303)]
    batch = student.fresh_batch(sources.Stream(drawn), answer, 300, sources.as_set([]))
    assert_shape(batch[0], (300, 9), name="source", context="for batch_size = 300")
    assert_shape(batch[1], (300, 10), name="targets", context="for batch_size = 300")
    for row, (source, target) in enumerate(zip(*(part.tolist() for part in batch), strict=True)):
        own = [[number for number in part if number != 0] for part in (source, target)]
        assert own[1] == [*own[0], 2], (
            f"In a batch of 300, row {row} of the targets isn't the answer to row {row} of the source. Keep both in the same order."
        )


@points(2, see="Learned or memorized?")
def test_no_held_out_source(student, reference, sources):
    """The batch contains no source from the held-out set, and no other source is left out."""
    held_out = sources.as_set([[6, 7], [4, 6], [3, 4, 5]])
    source, targets = student.fresh_batch(sources.Stream(DRAWN), sources.get("answer"), 5, held_out)
    source, targets = as_drawn(DRAWN, source, targets)
    reference.assert_close(source, name="source")
    reference.assert_close(targets, name="targets")
    # only the very same sequence is held out: not one with the same ids, or with the same beginning or end
    drawn = [[4, 3], [3, 4], [6, 7], [7, 6, 7], [6, 7, 7], [6], [4, 3], [7, 6]]
    held_out = sources.as_set([[4, 3], [6, 7]])  # 6 7 is also the answer to 7 6, which is not held out
    source, _ = student.fresh_batch(sources.Stream(drawn), sources.get("in_order"), 5, held_out)
    found = sorted([number for number in row if number] for row in source.tolist())
    right = [[3, 4], [6], [6, 7, 7], [7, 6], [7, 6, 7]]
    assert found == right, (
        f"If 4 3 and 6 7 are held out, and 3 4, 7 6 7, 6 7 7, 6 and 7 6 are drawn, too, the sources should be {right}, but are {found}. "
        "It doesn't matter whether an answer is held out."
    )
    for out, others in [
        ([31, 2], [[3, 1, 2], [3, 12], [7, 7]]),
        ([5, 6, 7, 8, 9, 3, 4], [[5, 6], [5, 6, 7, 8], [5, 6, 7, 8, 9, 3, 5]]),
    ]:
        stream = sources.Stream([others[1], out, others[0], others[2]])
        batch = student.fresh_batch(stream, sources.get("answer"), 3, sources.as_set([out]))
        found = sorted([number for number in row if number] for row in batch[0].tolist())
        assert found == others, (
            f"If {out} is held out, and {others} are drawn, too, these should be the sources, but they are {found}."
        )


@points(1, see="Learned or memorized?")
def test_replaced_as_often_as_necessary(student, reference, sources):
    """A held-out source is replaced by another draw, repeatedly if necessary, so that the batch is full; others may repeat."""
    drawn = [[3, 4, 5], *5 * [[6, 7]], [8, 3, 9], *3000 * [[6, 7]], [4, 4]]
    held_out = sources.as_set([[6, 7]])
    source, _ = student.fresh_batch(sources.Stream(drawn), sources.get("answer"), 3, held_out)
    assert len(source) == 3, (
        f"The batch has {len(source)} rows instead of 3: replace each held-out source by another draw."
    )
    (source,) = as_drawn(drawn, source)
    reference.assert_close(source, name="source", context="where most draws are held out")

    held_out = sources.as_set([[6, 7], [3, 4, 5]])
    stream = sources.Stream([[3, 4, 5], [8, 3, 9], [8, 3, 9], [6, 7], [4, 4], [3, 4, 5]])
    source, targets = student.fresh_batch(stream, sources.get("answer"), 7, held_out)
    assert len(source) == len(targets) == 7, (
        f"The batch has {len(source)} rows instead of 7: a source may be in the batch more than once."
    )
    kept = {tuple(row) for row in source.tolist()}
    assert kept == {(8, 3, 9), (4, 4, 0)}, (
        "Of four sources, two of them held out, the batch should have the others."
    )


@points(1, see="Learned or memorized?")
def test_every_batch_is_new(student, sources, assert_sets_no_seed):
    """Every call draws new sources, and sets no random seed."""
    stream = sources.Stream([[number, number + 1] for number in range(3, 300)])
    first, second = (
        student.fresh_batch(stream, sources.get("answer"), size, sources.as_set([]))[0] for size in (3, 5)
    )
    # a call may draw more than it needs, so the second batch need not begin where the first one ended
    assert not set(map(tuple, first.tolist())) & set(map(tuple, second.tolist())), (
        "Two calls returned the same source, although `sample()` never did. Draw new sources in every call."
    )
    assert_sets_no_seed("fresh_batch", stream, sources.get("answer"), 2, sources.as_set([]))


@points(1)
def test_padded_int64(student, sources):
    """Both tensors are int64, and each is as wide as its own longest row."""
    source, targets = student.fresh_batch(sources.Stream(DRAWN), sources.get("answer"), 4, sources.as_set([]))
    assert_shape(source, (4, 4), name="source")
    assert_shape(targets, (4, 6), name="targets")
    batch = student.fresh_batch(sources.Stream(DRAWN), sources.get("short_answer"), 4, sources.as_set([]))
    assert_shape(batch[1], (4, 2), name="targets", context="for answers that are shorter than the sources")
    for name, ids in [("source", source), ("targets", targets)]:
        assert ids.dtype == torch.int64, f"`{name}` is {ids.dtype}. Ids should be int64."
    assert (source == 0).sum() == 5, "Fill up short sources with PAD = 0."


@points(1)
def test_held_out_set_is_left_alone(student, sources):
    """The call does not change the held-out set."""
    held_out = sources.as_set([[6, 7], [4, 6]])
    source, _ = student.fresh_batch(sources.Stream(DRAWN), sources.get("answer"), 4, held_out)
    assert_shape(source, (4, 4), name="source")
    assert sources.size(held_out) == 2, (
        "The size of the held-out set changed during the call. Only look sources up in it."
    )
