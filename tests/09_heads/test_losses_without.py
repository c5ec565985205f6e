"""Checks of exercise 7: losses_without, on small models whose heads are tables, with the student's own earlier functions."""

import torch

from gradekit.checks import (
    StudentError,
    assert_close,
    assert_differs,
    assert_model_kept,
    assert_raises,
    assert_same_without_gradients,
    assert_shape,
    assert_varies,
    fail,
    for_checks,
    points,
)


def weights(draw_or_reference, layers, heads, vocabulary=7, width=3):
    tables = draw_or_reference(layers, heads, vocabulary, width)
    return tables + 0.5, draw_or_reference(layers, heads, width, vocabulary)


@for_checks
def right_table(student, own_models, /, tables, mix, tokens, kind):
    """The losses with the student's own `ablate`, `position_losses` and `half_losses`."""
    model = own_models.Heads(tables, mix)
    rows = []
    for layer in range(len(tables)):
        row = []
        for head in range(tables.shape[1]):

            def edit(number, outputs, layer=layer, head=head):
                return student.ablate(outputs.contiguous(), head, kind) if number == layer else outputs

            logits, _ = model(tokens, edit)
            logits = logits.detach()
            row.append(student.half_losses(student.position_losses(logits, tokens), tokens.shape[1] // 2)[1])
        rows.append(row)
    return torch.tensor(rows)


@for_checks
def table(student, models, /, tables, mix, tokens, *kind):
    """The table that the student returns."""
    model = models.Heads(tables, mix)
    found = student.losses_without(model, tokens, *kind)
    if not isinstance(found, torch.Tensor):
        fail(f"It should return a tensor, but returns a {type(found).__name__}.")
    assert_shape(found, tuple(tables.shape[:2]), name="losses")
    return found


def refuses_unknown_kinds(student, outputs):
    """Whether the student's own `ablate` raises a ValueError that names an unknown kind."""
    try:
        student.ablate(outputs, 1, "noise")
    except StudentError as error:
        return error.raised == "ValueError" and "noise" in error.text
    return False


def sequences(draw, batch, period, vocabulary=7):
    once = draw.integers(0, vocabulary, (batch, period))
    return torch.cat([once, once], dim=1)


TOKENS = torch.tensor([[0, 3, 6, 2] * 2, [5, 1, 4, 0] * 2, [2, 6, 1, 3] * 2])
CONTEXT = ", minus those with your `ablate`, `position_losses` and `half_losses`,"


@points(5, see="From where to why: take it out")
def test_one_head_at_a_time(reference, draw, right_table, table):
    """Each entry is the loss of the second half without one head, and with all others."""
    tables, mix = reference.inputs("model", tables=(2, 2, 7, 3), mix=(2, 2, 3, 7))
    found = table(tables + 0.5, mix, TOKENS, "zero")
    assert_varies(found, name="losses")
    assert_differs(
        found, found.flip(0), "Both rows are the same, so it makes no difference in which layer a head is."
    )
    reference.assert_close(
        found - right_table(tables + 0.5, mix, TOKENS, "zero"), name="losses", context=CONTEXT
    )
    for layers, heads, batch, period, words in [
        (3, 2, 2, 6, 7),
        (1, 3, 1, 3, 7),
        (1, 2, 1, 261, 43),
        (1, 2, 67, 3, 7),
    ]:
        tables, mix = weights(draw.normal, layers, heads, words)
        tokens = sequences(draw, batch, period, words)
        if period == 6:
            tokens = tokens[:, :3].repeat(1, 4)  # rows that repeat themselves within their half
        for kind in ("zero", "mean"):
            found = table(tables, mix, tokens, kind)
            right = right_table(tables, mix, tokens, kind)
            context = f"with kind={kind!r}, compared with {CONTEXT[len(', minus ') :]}"
            assert_close(found, right, name="losses", context=context)


@points(3)
def test_each_head_has_its_place(reference, draw, table):
    """Rows are layers and columns are heads: if the heads of a model change places, their losses do the same."""
    for layers, heads, batch, period in [(1, 4, 2, 5), (9, 1, 1, 3), (2, 11, 4, 6)]:
        tables, mix = weights(draw.normal, layers, heads)
        tokens = sequences(draw, batch, period)
        found = table(tables, mix, tokens, "zero")
        assert_varies(found, name="losses")
        order = torch.arange(heads).roll(1)
        rolled = table(tables[:, order], mix[:, order], tokens, "zero")
        reference.assert_same(
            rolled,
            found[:, order],
            rule="If the heads of a model change places, their losses must do the same",
            name="losses",
            key=f"{layers} {heads}",
        )


@points(2, see="From where to why: take it out")
def test_kind_is_passed_on(student, reference, table):
    """`kind` is passed on to `ablate`, and is "zero" by default."""
    tables, mix = reference.inputs("model", tables=(2, 3, 7, 3), mix=(2, 3, 3, 7))
    (outputs,) = reference.inputs("outputs", x=(2, 3, 4, 5))
    if student.ablate(outputs, 1, "mean").allclose(student.ablate(outputs, 1, "zero")):
        fail("Your `ablate` returns the same for both kinds. Solve exercise 6 first.")
    if refuses_unknown_kinds(student, outputs):
        assert_raises(ValueError, lambda: table(tables + 0.5, mix, TOKENS, "noise"), mentions=("noise",))
    zero, mean, default = (table(tables + 0.5, mix, TOKENS, *kind) for kind in [("zero",), ("mean",), ()])
    assert_differs(
        mean, zero, 'The losses are the same for kind="mean" and kind="zero". Pass `kind` on to `ablate`.'
    )
    reference.assert_same(
        default,
        zero,
        rule='Without a kind, the losses must be those for kind="zero"',
        name="losses",
        key="default",
    )


@points(2)
def test_no_gradients_and_nothing_kept(student, models, draw):
    """No gradients are recorded, the tokens and the model stay as they were, and a second call with another model starts afresh."""
    tables, mix = weights(draw.normal, 2, 2)
    model = models.Heads(tables, mix)
    tokens = sequences(draw, 2, 4)
    assert_model_kept(student, model, lambda: student.call("losses_without", model, tokens))
    model = models.Heads(tables, mix).eval()
    call = student.call("losses_without", model, tokens)
    assert not call.changed, "The tokens were changed in place."
    recorded = models.recorded(model)
    assert not any(recorded["modes"]), "The model was in evaluation mode, but you set it to training mode."
    assert not any(recorded["gradients"]), "Gradients are recorded, but not needed. Use torch.no_grad()."
    first = call.value
    other = student.losses_without(models.Heads(2 * tables, mix), tokens)
    assert_differs(first, other, "Another model has the same losses. Is something kept between two calls?")
    again = student.losses_without(models.Heads(tables, mix), tokens)
    assert torch.allclose(first, again, atol=1e-6), "The same call returns something else the second time."
    assert_same_without_gradients(student.losses_without, models.Heads(tables, mix), tokens, name="losses")
    model.load_state({"step": torch.tensor(0.9)})
    trained = student.losses_without(model, tokens)
    assert_differs(
        trained, first, "The same model with other weights has the same losses. Is something kept?"
    )
