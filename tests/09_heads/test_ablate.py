"""Checks of exercise 6: ablate."""

import torch

from gradekit.checks import (
    assert_any_layout,
    assert_close,
    assert_raises,
    assert_shape,
    assert_varies,
    points,
)


def some_outputs(draw):
    """Yield outputs with a head to replace: first, last, first of others in this shape, of a long text with large numbers, one of many; some outputs are 0."""
    outputs = draw.normal(*draw.sizes(4)) + 1
    yield outputs, 0
    yield outputs, outputs.shape[1] - 1
    yield 2 - outputs, 0
    yield 40 * draw.normal(1, 2, 521, 43) + 9, 1
    outputs = draw.normal(67, 13, 3, 2) + 1
    outputs[::2, :, 0] = 0
    yield outputs, 11


def one_overflow(outputs):
    """The same outputs, with a number in head 0 that is infinite."""
    outputs = outputs.clone()
    outputs[0, 0, 0, 0] = torch.inf
    return outputs


@points(2, see="From where to why: take it out")
def test_zeros(student, reference, draw):
    """With kind="zero", the head is zeros and the others stay as they are."""
    (outputs,) = reference.inputs("square", x=(4, 4, 4, 4))
    reference.assert_close(student.ablate(outputs, 2, "zero"), name="outputs")
    for outputs, head in some_outputs(draw):
        found = student.ablate(outputs, head, "zero")
        assert_shape(found, outputs.shape, name="outputs")
        right = outputs.clone()
        right[:, head] = 0
        context = f"without head {head}, for outputs of shape {tuple(outputs.shape)},"
        assert_close(found, right, name="outputs", context=context)
    found = student.ablate(one_overflow(outputs), 0, "zero")
    context = "where a number of the head was infinite"
    assert_close(found[:, 0], torch.zeros_like(found[:, 0]), name="head 0", context=context)


@points(3, see="From where to why: take it out")
def test_mean(student, reference, draw):
    """With kind="mean", the head is its mean over the batch and all positions, one vector, and the others stay."""
    (outputs,) = reference.inputs("square", x=(4, 4, 4, 4))
    reference.assert_close(student.ablate(outputs + 1, 1, "mean"), name="outputs")
    for outputs, head in some_outputs(draw):
        found = student.ablate(outputs, head, "mean")
        assert_shape(found, outputs.shape, name="outputs")
        right = outputs.clone()
        rows = outputs[:, head].flatten(0, 1)  # (batch * length, d_head)
        right[:, head] = rows.sum(dim=0) / len(rows)
        context = f"with head {head} replaced by its mean, for outputs of shape {tuple(outputs.shape)},"
        assert_close(found, right, name="outputs", context=context)


@points(1)
def test_kinds(student, reference, draw):
    """The default is "zero", and an unknown kind raises a ValueError that names it."""
    outputs = draw.normal(2, 3, 4, 5)
    by_default, zeros = student.ablate(outputs, 1), student.ablate(outputs, 1, "zero")
    assert_varies(by_default, name="outputs")
    reference.assert_same(
        by_default,
        zeros,
        rule='Without a kind, the result must be that for kind="zero"',
        name="outputs",
        key="default",
    )
    assert_raises(ValueError, lambda: student.ablate(outputs, 1, "noise"), mentions=("noise",))
    for kind in ("median", "means", "nonzero", "ero", "", "Mean", "ZERO"):
        assert_raises(
            ValueError, lambda kind=kind: student.ablate(outputs, 0, kind), (kind,), f"for the kind {kind!r}"
        )


@points(2)
def test_a_copy(student, draw):
    """`outputs` keep their values, only the one head is replaced in the result, in their dtype, and any layout in memory works."""
    outputs = draw.normal(2, 3, 4, 5)
    for kind in ("zero", "mean"):
        call = student.call("ablate", outputs, 1, kind)
        assert not call.changed, f"With kind={kind!r}, `outputs` were changed in place. Work on a copy."
        assert_shape(call.value, (2, 3, 4, 5), name="result")
        same = torch.isclose(call.value, outputs)
        assert not same.all(), f"With kind={kind!r}, nothing was replaced."
        assert same.any(), f"With kind={kind!r}, all numbers have changed. Only those of head 1 should."
        for dtype in (torch.float64, torch.float16):
            found = student.ablate(outputs.to(dtype), 1, kind)
            assert found.dtype == dtype, (
                f"With kind={kind!r}, for `outputs` of {dtype}, the result is {found.dtype}."
            )
        assert_any_layout(lambda x, kind=kind, **how: student.ablate(x, 1, kind, **how), outputs)
