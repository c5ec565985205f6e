"""Shared by the checks: the ban on ready-made parts, known weights, and caches and models created in the kernel.

The oracle for a module is the formula with the student's own smaller parts, so a mistake in `rotate` does not cost
points again in `CausalAttention`, and one in `RMSNorm` not in `Block`.
"""

from contextlib import suppress

import pytest
import torch
import torch.nn.functional as F

from gradekit.checks import (
    TORCH_ATTENTION,
    StudentError,
    assert_close,
    assert_varies,
    fail,
    for_checks,
    forbid,
    forbid_class,
    named_weights,
    probe,
)

only_own_code = forbid(*TORCH_ATTENTION, "Transformer*", "rms_norm", "_fused_rms_norm*")
not_the_ready_made_norm = forbid_class("torch.nn.RMSNorm", "Write the norm yourself.")


def attention_shapes(d_model, heads, groups, prefix=""):
    """Return name -> shape of the parameters of `CausalAttention`."""
    narrow = (groups * d_model // heads, d_model)
    return {
        f"{prefix}w_q.weight": (d_model, d_model),
        f"{prefix}w_k.weight": narrow,
        f"{prefix}w_v.weight": narrow,
        f"{prefix}w_o.weight": (d_model, d_model),
    }


def block_shapes(d_model, heads, groups, d_ff, prefix=""):
    """Return name -> shape of the parameters of `Block`."""
    return {
        f"{prefix}norm1.weight": (d_model,),
        f"{prefix}norm2.weight": (d_model,),
        f"{prefix}feed_forward.w_gate.weight": (d_ff, d_model),
        f"{prefix}feed_forward.w_up.weight": (d_ff, d_model),
        f"{prefix}feed_forward.w_down.weight": (d_model, d_ff),
    } | attention_shapes(d_model, heads, groups, f"{prefix}attention.")


@pytest.fixture
def shapes_of():
    """Return name -> shape of the parameters of "CausalAttention" or "Block"."""
    return {"CausalAttention": attention_shapes, "Block": block_shapes}


@for_checks
def inputs_of_any_size(draw, /, length, width, *batch):
    """Yield inputs with other numbers of axes: one, more, a single long text, and five axes with large numbers."""
    yield draw.normal(width)
    yield draw.normal(*batch, length, width)
    yield draw.normal(1, 521, width)
    yield 40 * draw.normal(2, 1, 2, length, width)


@for_checks
def write(module, values):
    """Set weights of a module by name. Fails if one is missing or has another shape.

    A bias that the exercise doesn't ask for becomes 0: only the checks of the parameters report it.
    """
    state = module.state()
    for name, value in values.items():
        if name not in state:
            fail(f"Your module has no parameter `{name}`. The table above the exercise has the names.")
        if state[name].shape != value.shape:
            fail(
                f"`{name}` has shape {tuple(state[name].shape)}, but should have {tuple(value.shape)}: "
                "(output width, input width) for a linear layer."
            )
    biases = {name: 0 * value for name, value in state.items() if name.endswith("bias")}
    return module.load_state(biases | {name: value.to(state[name].dtype) for name, value in values.items()})


@for_checks
def renew(write, /, module, shapes, seed=0):
    """Give the named parameters new values, derived from their names; return these."""
    values = named_weights(shapes, seed)
    write(module, values)
    return values


@for_checks
def assert_double(value):
    """Fail unless a value is float64. It may have been computed in float32, as some models do in norm and softmax."""
    if value.dtype != torch.float64:
        fail(f"For float64 inputs, the output is {value.dtype}.")
    assert_varies(value, name="output")


def attention_formula(q, k, v, mask=None):
    """Return the output and the weights of attention in groups of neighboring heads."""
    k, v = (part.repeat_interleave(q.shape[1] // part.shape[1], dim=1) for part in (k, v))
    scores = q @ k.mT / q.shape[-1] ** 0.5
    weights = (scores if mask is None else scores.masked_fill(~mask, -torch.inf)).softmax(dim=-1)
    return weights @ v, weights


def causal_formula(x, weights, heads, groups):
    """Return the output of `CausalAttention` for the weights, by name."""
    length, d_head = x.shape[1], x.shape[-1] // heads
    angles = torch.arange(length)[:, None] * 10000.0 ** (-torch.arange(0, d_head, 2) / d_head)
    q, k, v = (
        F.linear(x, weights[f"w_{name}.weight"]).unflatten(-1, (number, -1)).transpose(1, 2)
        for name, number in [("q", heads), ("k", groups), ("v", groups)]
    )

    def turned(part):
        first, second = part[..., 0::2], part[..., 1::2]
        pairs = first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos()
        return torch.stack(pairs, dim=-1).flatten(-2)

    mask = torch.ones(length, length, dtype=torch.bool).tril()
    output, _ = attention_formula(turned(q), turned(k), v, mask)
    return F.linear(output.transpose(1, 2).flatten(2), weights["w_o.weight"])


def block_formula(x, weights, heads, groups):
    """Return the output of `Block` for the weights, by name."""
    attention = {name.removeprefix("attention."): value for name, value in weights.items()}
    x = x + causal_formula(
        F.rms_norm(x, x.shape[-1:], weights["norm1.weight"], 1e-6), attention, heads, groups
    )
    y = F.rms_norm(x, x.shape[-1:], weights["norm2.weight"], 1e-6)
    gate, up, down = (weights[f"feed_forward.w_{name}.weight"] for name in ("gate", "up", "down"))
    return x + F.linear(F.silu(F.linear(y, gate)) * F.linear(y, up), down)


def model_formula(ids, weights, heads, groups, layers):
    """Return the logits of `DecoderOnly` for the weights, by name."""
    x = weights["embedding.weight"][ids]
    for number in range(layers):
        prefix = f"blocks.{number}."
        own = {name.removeprefix(prefix): w for name, w in weights.items() if name.startswith(prefix)}
        x = block_formula(x, own, heads, groups)
    return F.rms_norm(x, x.shape[-1:], weights["norm.weight"], 1e-6) @ weights["embedding.weight"].T


@pytest.fixture
def formulas():
    """The formulas of the exercises, which gradients pass through, by name."""
    return {
        "grouped_attention": attention_formula,
        "CausalAttention": causal_formula,
        "Block": block_formula,
        "DecoderOnly": model_formula,
    }


@for_checks
def assert_right_gradients(found, formula, *inputs, weights=None):
    """Fail unless the gradients are those of a formula, so that none is computed in part.

    `formula` takes the inputs, and then the weights by name, if there are any. If its value is another one, this is for
    the checks of values to say.
    """
    leaves = [part.clone().requires_grad_() if part.is_floating_point() else part for part in inputs]
    kind = found_dtype(found) if weights else None
    named = {name: value.to(kind, copy=True).requires_grad_() for name, value in (weights or {}).items()}
    right = formula(*leaves, named) if named else formula(*leaves)
    values, rights = (part if isinstance(part, tuple | list) else (part,) for part in (found.value, right))
    for value, wanted in zip(values, rights, strict=True):
        if value.shape != wanted.shape or not value.double().allclose(wanted.double(), rtol=1e-3, atol=1e-4):
            return
    sum((part * probe(part)).sum() for part in rights).backward()
    entries = [
        (f"argument {place}", gradient, leaf.grad)
        for place, (gradient, leaf) in enumerate(zip(found.inputs, leaves, strict=True), start=1)
        if leaf.requires_grad
    ]
    entries += [(f"`{name}`", found.parameters.get(name), leaf.grad) for name, leaf in named.items()]
    for name, gradient, wanted in entries:
        if gradient is not None:
            context = f"the gradient of {name}, compared with that of the formula,"
            assert_close(gradient, wanted, context=context, atol=1e-3, rtol=1e-3)


def found_dtype(found):
    return next(iter(found.parameters.values())).dtype


HEADS = """
def as_heads(x):
    # an equal tensor that was split into heads by a transposition, so that it isn't contiguous
    return x.transpose(-3, -2).contiguous().transpose(-3, -2)


def of_heads(function, heads, *others):
    return function(*map(as_heads, heads), *others)
"""


@pytest.fixture
def of_heads(student):
    """Calls a function of the student's with heads that were split by a transposition: `of_heads("rotate", [x], positions)`."""
    helper = student.define(HEADS)
    return lambda name, heads, *others: helper.of_heads(student.get(name), heads, *others)


CACHES = """
import torch
from torch import nn


class KVCache:
    def __init__(self):
        self.k = self.v = None

    @property
    def length(self):
        return 0 if self.k is None else self.k.shape[2]

    def append(self, k, v):
        self.k = k if self.k is None else torch.cat([self.k, k], dim=2)
        self.v = v if self.v is None else torch.cat([self.v, v], dim=2)
        return self.k, self.v


def derive_from(cache):
    '''Makes the caches of this helper instances of the notebook's class as well, of which `cache` is one.'''
    global KVCache
    KVCache = type("KVCache", (KVCache, type(cache)), {})


def filled(keys, values):
    '''A list of caches with the given keys and values.'''
    caches = [KVCache() for _ in keys]
    for cache, k, v in zip(caches, keys, values):
        if k is not None:
            cache.append(k, v)
    return caches


def cut(k, v, length):
    '''A list with a cache whose keys and values are the first positions of longer tensors.'''
    return filled([k[:, :, :length]], [v[:, :, :length]])


def in_pieces(module, x, sizes, number=None):
    '''Reads x piece by piece with one cache, or with a list of caches: the outputs, joined, and the last cache's k and v.'''
    caches = [KVCache() for _ in range(number or 1)]
    outputs = []
    with torch.no_grad():
        for piece in x.split(sizes, dim=1):
            outputs.append(module(piece, caches if number else caches[0]))
    lengths = [cache.length for cache in caches]
    return torch.cat(outputs, dim=1), caches[-1].k, caches[-1].v, lengths


def in_turn(module, x, other, sizes):
    '''Reads two texts in turn, each with its own cache: the outputs of the first.'''
    one, two, outputs = KVCache(), KVCache(), []
    with torch.no_grad():
        for piece, between in zip(x.split(sizes, dim=1), other.split(sizes, dim=1)):
            outputs.append(module(piece, one))
            module(between, two)
    return torch.cat(outputs, dim=1)


class with_cache(nn.Module):
    '''Reads a text in three pieces with new caches, each time: a cache, or a list of `number`.'''

    def __init__(self, module, number=None):
        super().__init__()
        self.module, self.number = module, number

    def forward(self, x):
        caches = [KVCache() for _ in range(self.number or 1)]
        caches = caches if self.number else caches[0]
        return torch.cat([self.module(piece, caches) for piece in (x[:, :2], x[:, 2:3], x[:, 3:])], dim=1)


class Script(nn.Module):
    '''Predicts the tokens of a script, (batch, steps), one column per call, and records how it is called.

    The first column is predicted until the whole prompt, `prompt` positions, has been read.
    '''

    def __init__(self, script, vocab, blocks, prompt, size=1.0, rival=0.9985):
        super().__init__()
        self.size, self.rival = size, rival
        self.weight = nn.Parameter(torch.ones(1))
        self.blocks = nn.ModuleList([nn.Identity() for _ in range(blocks)])
        self.script, self.vocab, self.prompt = script, vocab, prompt
        self.step = self.seen = 0
        self.read, self.modes, self.grad, self.caches, self.lengths = [], [], [], [], []

    def forward(self, ids, caches=None):
        step = min(self.step, self.script.shape[1] - 1)
        self.seen += ids.shape[1]
        self.step += self.seen >= self.prompt
        self.read.append(ids.tolist())
        self.modes.append(any(part.training for part in self.modules()))
        self.grad.append(torch.is_grad_enabled())
        self.caches.append([id(cache) for cache in caches or []])
        self.lengths.append([cache.length for cache in caches or []])
        for cache in caches or []:
            new = torch.zeros(len(ids), 1, ids.shape[1], 1)
            cache.append(new, new)
        right = self.script[:, step]
        logits = torch.zeros(*ids.shape, self.vocab)  # so flat that a drawn token is hardly ever the likeliest
        logits[:, :-1, 0] = 1.5  # what the other positions predict, even more surely
        # nearly as likely: what the other rows write, and a token that only this row finds likely
        logits[:, -1, right] = 0.8
        logits[torch.arange(len(ids)), -1, (right - 1) % self.vocab] = self.rival
        logits[torch.arange(len(ids)), -1, right] = 1.0
        return self.size * logits


def restart(model):
    model.step = model.seen = 0
    for noted in notes(model).values():
        noted.clear()


def in_training(model):
    return any(part.training for part in model.modules())


def notes(model):
    names = "read modes grad caches lengths".split()
    return {name: getattr(model, name) for name in names}
"""


@pytest.fixture
def caches(student):
    """Caches and a scripted model in the student's kernel, and functions that use them."""
    helper = student.define(CACHES)
    with suppress(StudentError):
        helper.derive_from(student.KVCache())
    return helper
