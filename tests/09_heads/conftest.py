"""Shared by the checks: models created in the kernel and here, from the same code and the same weights.

Where an exercise uses an earlier one, the oracle uses the student's own answer to it, so a mistake doesn't cost points
twice.
"""

from types import SimpleNamespace

import pytest
import torch

from gradekit.checks import assert_shape, assert_varies, for_checks, in_kernel

MODELS = """
import torch
from torch import nn


class Heads(nn.Module):
    '''Its heads put out rows of tables, (layers, heads, vocabulary, d_head), scaled by position; `mix` makes logits of them.

    The heads of later layers are scaled by what the earlier layers put out.
    '''

    def __init__(self, tables, mix):
        super().__init__()
        self.tables, self.mix = tables, mix  # (layers, heads, vocabulary, d_head), (layers, heads, d_head, vocabulary)
        self.layers = nn.ModuleList([nn.Identity() for _ in tables])
        self.num_heads = tables.shape[1]
        self.step = nn.Parameter(torch.tensor(0.1))
        self.gradients, self.modes = [], []

    def forward(self, tokens, edit=None):
        self.gradients.append(torch.is_grad_enabled())
        self.modes.append(self.training)
        scale = 1 + self.step * torch.arange(tokens.shape[1])[:, None]  # (length, 1)
        logits = nn.functional.one_hot(tokens, self.mix.shape[-1]) * 0.5
        for layer, (table, mix) in enumerate(zip(self.tables, self.mix)):
            before = 1 + 0.2 * logits.mean(dim=(1, 2))[:, None, None, None]
            outputs = table[:, tokens].transpose(0, 1) * scale * before  # (batch, heads, length, d_head)
            if edit is not None:
                outputs = edit(layer, outputs)
            logits = logits + torch.einsum("bhld,hdv->blv", outputs, mix)
        weights = torch.zeros(len(self.tables), len(tokens), self.num_heads, tokens.shape[1], tokens.shape[1])
        return logits, weights


def recorded(model):
    return {"gradients": model.gradients, "modes": model.modes}


class Layer(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.weight = nn.Parameter(weight)

    def forward(self, x):
        return torch.tanh(x.cumsum(dim=1) @ self.weight), torch.zeros(len(x), 1, x.shape[1], x.shape[1])


class Norm(nn.Module):
    def forward(self, x):
        return x / (0.1 + x.abs().mean(dim=-1, keepdim=True))


class Stack(nn.Module):
    '''A model with an embedding, layers that return a pair, a norm and an output layer.'''

    def __init__(self, table, weights, out):
        super().__init__()
        self.embedding = nn.Embedding.from_pretrained(table)
        self.layers = nn.ModuleList([Layer(weight) for weight in weights])
        self.norm = Norm()
        self.unembed = nn.Linear(*reversed(out.shape))
        self.unembed.weight = nn.Parameter(out)
        self.unembed.bias = nn.Parameter(torch.linspace(-1, 1, len(out)))
        self.num_heads = 1

    def forward(self, tokens, edit=None, start=0):
        x = self.embedding(tokens)
        for layer in self.layers:
            x = x + layer(x)[0]
        return self.unembed(self.norm(x)), torch.zeros(len(self.layers), len(tokens), 1, *tokens.shape[1:] * 2)


class Plain(nn.Module):
    '''A Stack whose `unembed` is a function, not a module.'''

    def __init__(self, table, weights, out):
        super().__init__()
        stack = Stack(table, weights, out)
        self.embedding, self.layers, self.norm, self.last = stack.embedding, stack.layers, stack.norm, stack.unembed
        self.num_heads = 1

    def unembed(self, x):
        return self.last(x)

    forward = Stack.forward


def without_gradients(function, *arguments):
    with torch.no_grad():
        return function(*arguments)
"""


#: The models, in the student's kernel.
models = in_kernel(MODELS)


@pytest.fixture(scope="session")
def own_models():
    """The same models, in the grader."""
    names: dict = {}
    exec(MODELS, names)
    return SimpleNamespace(**names)


@for_checks
def assert_other_axes_stay(reference, draw, /, score_of, periods=1):
    """Fail unless each table of weights gets the same score among others as on its own; lengths are `periods` times a size."""
    layers, batch, heads, size = draw.sizes(4)
    for shape in [(heads,), (batch, heads), (layers, batch, heads)]:
        weights = torch.softmax(draw.normal(*shape, periods * size, periods * size), dim=-1)
        score = score_of(weights, size)
        assert_shape(score, shape, name="score", context=f"for weights of shape {tuple(weights.shape)}")
        assert_varies(score, name="score")
        last = tuple(size - 1 for size in shape)
        for place in [(0,) * len(shape), last]:
            reference.assert_same(
                score[place],
                score_of(weights[place], size),
                rule="A table must have the same score among others as on its own",
                name="score",
                key=f"{len(shape)} {place == last}",
            )
