"""Checks of exercise 8: logit_lens, on a small model with other layers and another norm."""

import pytest
import torch

from coursekit.checks import assert_close, assert_shape, points

TOKENS = torch.tensor([[0, 4, 2, 1, 5], [3, 3, 5, 0, 2]])


def weights(normal, layers, vocabulary=6, width=4):
    return normal(vocabulary, width), normal(layers, width, width), normal(vocabulary, width)


def right_views(model, tokens):
    x = model.embedding(tokens)
    views = [x]
    for layer in model.layers:
        views.append(views[-1] + layer(views[-1])[0])
    return torch.stack([model.unembed(model.norm(view)) for view in views]).detach()


@pytest.fixture
def lens(student, models):
    """The student's views, without gradients."""

    def look(values, tokens):
        return student.logit_lens(models.Stack(*values), tokens).detach()

    return look


@points(5, see="What would it say now?")
def test_every_depth(reference, lens):
    """The views are norm and unembed applied after the embedding and after each layer."""
    values = reference.inputs("model", table=(6, 4), layers=(3, 4, 4), out=(6, 4))
    views = lens(values, TOKENS)
    reference.assert_close(views, name="views")


@points(2)
def test_any_number_of_layers(draw, lens, own_models):
    """Any number of layers, sequences and positions works."""
    for layers, batch, length in [(1, 3, 4), (4, 1, 7), (2, 2, 1)]:
        values = weights(draw.normal, layers, vocabulary=8, width=5)
        tokens = draw.integers(0, 8, (batch, length))
        views = lens(values, tokens)
        assert_shape(views, (layers + 1, batch, length, 8), name="views", context=f"with {layers} layers")
        assert_close(views, right_views(own_models.Stack(*values), tokens), name="views")


@points(2, see="What would it say now?")
def test_last_view_is_the_model(draw, lens, own_models):
    """The last view equals the logits of the model, and the first comes from the embedding alone."""
    values = weights(draw.normal, 3)
    model = own_models.Stack(*values)
    views = lens(values, TOKENS)
    assert_close(
        views[-1],
        model(TOKENS)[0].detach(),
        name="last view",
        context="compared with the logits of the model",
    )
    alone = model.unembed(model.norm(model.embedding(TOKENS))).detach()
    assert_close(
        views[0], alone, name="first view", context="compared with norm and unembed of the embedding"
    )


@points(1)
def test_nothing_changes(student, models, draw):
    """The model and the tokens keep their values, and a second call returns the same."""
    model = models.Stack(*weights(draw.normal, 2))
    before = model.state()
    call = student.call("logit_lens", model, TOKENS)
    assert not call.changed, "The tokens were changed in place."
    after = model.state()
    assert all(after[name].equal(before[name]) for name in before), "The weights of the model were changed."
    again = student.logit_lens(model, TOKENS).detach()
    assert_close(again, call.value.detach(), name="views", context="of a second call")
    other = student.logit_lens(model, TOKENS[:, :2]).detach()
    assert_shape(other, (3, 2, 2, 6), name="views", context="of a shorter text, after a longer one,")
