"""Checks of exercise 1: fresh_batch. Samplers and answers are made for the check, so that every draw is known."""

import torch

from coursekit.checks import assert_shape, points

#: sources in the order in which they are drawn
DRAWN = [[3, 4, 5], [6, 7], [8, 3, 9, 4], [5, 5], [7, 8, 9], [4, 6], [9, 3, 3, 8], [6, 4, 7]]


@points(3)
def test_sources_and_their_answers(student, reference, sources):
    """The batch holds the drawn sources, and row i of the targets is the answer to row i of the source."""
    batch = student.fresh_batch(sources.Stream(DRAWN), sources.get("answer"), 4, sources.as_set([]))
    source, targets = batch
    reference.assert_close(source, name="source")
    reference.assert_close(targets, name="targets")


@points(4, see="Learned or memorized?")
def test_no_held_out_source(student, reference, sources):
    """No source of the held-out set gets into the batch, and none but those is left out."""
    held_out = sources.as_set([[6, 7], [4, 6], [3, 4, 5]])
    source, targets = student.fresh_batch(sources.Stream(DRAWN), sources.get("answer"), 5, held_out)
    reference.assert_close(source, name="source")
    reference.assert_close(targets, name="targets")


@points(2, see="Learned or memorized?")
def test_replaced_as_often_as_necessary(student, reference, sources):
    """A held-out source is replaced by another draw, as often as necessary, so that the batch is full."""
    drawn = [[3, 4, 5], *5 * [[6, 7]], [8, 3, 9], *7 * [[6, 7]], [4, 4]]
    held_out = sources.as_set([[6, 7]])
    source, _ = student.fresh_batch(sources.Stream(drawn), sources.get("answer"), 3, held_out)
    assert len(source) == 3, (
        f"The batch has {len(source)} rows instead of 3: replace a held-out source by another one."
    )
    reference.assert_close(source, name="source", context="where most draws are held out")


@points(1, see="Learned or memorized?")
def test_every_batch_is_new(student, reference, sources):
    """The next call draws new sources."""
    stream = sources.Stream(DRAWN)
    student.fresh_batch(stream, sources.get("answer"), 3, sources.as_set([]))
    source, _ = student.fresh_batch(stream, sources.get("answer"), 5, sources.as_set([]))
    reference.assert_close(source, name="source", context="of the second batch")


@points(1)
def test_padded_int64(student, sources):
    """Both tensors are int64, and each is as wide as its own longest row."""
    source, targets = student.fresh_batch(sources.Stream(DRAWN), sources.get("answer"), 4, sources.as_set([]))
    assert_shape(source, (4, 4), name="source")
    assert_shape(targets, (4, 6), name="targets")
    for name, ids in [("source", source), ("targets", targets)]:
        assert ids.dtype == torch.int64, f"`{name}` is {ids.dtype}. Ids are whole numbers, int64."
    assert (source == 0).sum() == 5, "Short sources have to be filled up with PAD = 0."


@points(1)
def test_held_out_set_is_left_alone(student, sources):
    """The held-out set is not changed."""
    held_out = sources.as_set([[6, 7], [4, 6]])
    source, _ = student.fresh_batch(sources.Stream(DRAWN), sources.get("answer"), 4, held_out)
    assert_shape(source, (4, 4), name="source")
    assert sources.size(held_out) == 2, (
        "The held-out set has another size after the call. Only look things up in it."
    )
