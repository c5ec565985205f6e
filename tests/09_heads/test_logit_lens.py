"""Checks of exercise 8: logit_lens, on a small model with other layers and another norm."""

import torch

from gradekit.checks import (
    assert_close,
    assert_differs,
    assert_model_kept,
    assert_shape,
    assert_varies,
    fail,
    for_checks,
    points,
)

SLOPES = """
import torch


def slopes(function, model, tokens):
    try:
        function(model, tokens).pow(2).sum().backward()
    except RuntimeError as error:
        return str(error)
    return {name: each.grad for name, each in model.named_parameters() if each.requires_grad}
"""
TOKENS = torch.tensor([[0, 4, 2, 1, 5], [3, 3, 5, 0, 2]])


def weights(normal, layers, vocabulary=6, width=4):
    return normal(vocabulary, width), normal(layers, width, width), normal(vocabulary, width)


@for_checks
def lens(student, models, /, values, tokens):
    """The student's views, without gradients."""
    return student.logit_lens(models.Stack(*values), tokens).detach()


@points(4, see="What would it say now?")
def test_every_depth(reference, draw, lens, own_models):
    """The views are norm and unembed applied after the embedding and after each layer."""
    values = reference.inputs("model", table=(6, 4), layers=(3, 4, 4), out=(6, 4))
    reference.assert_close(lens(values, TOKENS), name="views")
    table, layers, out = weights(draw.normal, 9)
    views = lens((table, layers, out), TOKENS)
    assert_shape(views, (10, *TOKENS.shape, 6), name="views", context="with 9 layers")
    for depth in range(10):
        right = own_models.Stack(table, layers[:depth], out)(TOKENS)[0].detach()
        context = f"after {depth} of 9 layers"
        assert_close(views[depth], right, name="view", context=context, atol=1e-4)


@points(3)
def test_more_layers_more_views(reference, draw, lens):
    """Any number of layers works, and further layers don't change the views before them."""
    table, layers, out = weights(draw.normal, 4, vocabulary=8, width=5)
    for batch, length in [(3, 4), (1, 7), (2, 1)]:
        tokens = draw.integers(0, 8, (batch, length))
        whole = lens((table, layers, out), tokens)
        assert_shape(whole, (5, batch, length, 8), name="views", context="with 4 layers")
        assert_varies(whole, name="views")
        for number in (1, 2):
            fewer = lens((table, layers[:number], out), tokens)
            context = f"with {number} layer{'s' * (number > 1)}"
            assert_shape(fewer, (number + 1, batch, length, 8), name="views", context=context)
            reference.assert_same(
                whole[: number + 1],
                fewer,
                rule="Layers that come later must not change the views before them",
                name="views",
                key=f"{number} {batch}",
            )


@points(2, see="What would it say now?")
def test_last_view_is_the_model(student, models, draw, lens, own_models):
    """The last view equals the logits of the model, and the first comes from the embedding alone."""
    for tokens, words in [(TOKENS, 6), (draw.integers(0, 43, (1, 521)), 43)]:
        values = weights(draw.normal, 3, words)
        model = own_models.Stack(*values)
        views = lens(values, tokens)
        context = f"for tokens of shape {tuple(tokens.shape)}, compared with the logits of the model,"
        assert_close(views[-1], model(tokens)[0].detach(), name="last view", context=context, atol=1e-4)
        alone = model.unembed(model.norm(model.embedding(tokens))).detach()
        context = (
            f"for tokens of shape {tuple(tokens.shape)}, compared with norm and unembed of the embedding,"
        )
        assert_close(views[0], alone, name="first view", context=context)

    values = weights(draw.normal, 3)
    for context, model, own in [
        (
            "of a model in float64",
            models.Stack(*values).to(torch.float64),
            own_models.Stack(*values).double(),
        ),
        ("of a model whose `unembed` is a function", models.Plain(*values), own_models.Plain(*values)),
    ]:
        views, right = student.logit_lens(model, TOKENS).detach(), own(TOKENS)[0].detach()
        assert views.dtype == right.dtype, (
            f"The logits {context} are {right.dtype}, but the views are {views.dtype}."
        )
        context = f"{context}, compared with its logits,"
        assert_close(views[-1], right, name="last view", context=context, atol=1e-4)


@points(1)
def test_nothing_changes(student, models, draw, own_models):
    """The model and the tokens keep their values, a second call returns the same, and gradients flow through the views to the model."""
    model = models.Stack(*weights(draw.normal, 2))
    assert_model_kept(student, model, lambda: student.call("logit_lens", model, TOKENS))
    call = student.call("logit_lens", model.eval(), TOKENS)
    assert not call.changed, "The tokens were changed in place."
    again = student.logit_lens(model, TOKENS).detach()
    assert_close(again, call.value.detach(), name="views", context="of a second call")
    model.load_state({"unembed.weight": 2 * model.state()["unembed.weight"]})
    trained = student.logit_lens(model, TOKENS).detach()
    assert_differs(trained, again, "The same model with other weights has the same views. Is something kept?")
    other = student.logit_lens(model, TOKENS[:, :2]).detach()
    assert_shape(other, (3, 2, 2, 6), name="views", context="of a shorter text, after a longer one,")

    values = weights(draw.normal, 2)
    model, own = models.Stack(*values), own_models.Stack(*values)
    found = student.define(SLOPES).slopes(student.get("logit_lens"), model, TOKENS)
    if isinstance(found, str):
        fail(f"No gradients can be computed from the views: {found}")
    x, views = own.embedding(TOKENS), []
    for layer in [None, *own.layers]:
        x = x if layer is None else x + layer(x)[0]
        views.append(own.unembed(own.norm(x)))
    right = torch.stack(views)
    again = student.logit_lens(model, TOKENS).detach()
    if again.shape == right.shape and torch.allclose(again, right.detach(), atol=1e-4):
        right.pow(2).sum().backward()
        for name, parameter in own.named_parameters():
            if parameter.requires_grad:
                gradient = found[name]
                if gradient is None:
                    fail(f"No gradient reaches the model's `{name}` from the views.")
                assert_close(
                    gradient,
                    parameter.grad,
                    name=name,
                    context=", or rather its gradient,",
                    rtol=1e-3,
                    atol=1e-3,
                )
