"""Shared by the checks: the ban on ready-made attention, oracles, and access to a student's layers.

Known weights are written into the student's module, or its own weights go into the oracle. So only
`assert_created_in_order` depends on a seed, and it fails only on proof of another order.
"""

from dataclasses import dataclass, replace
from itertools import permutations

import torch
import torch.nn.functional as F

from gradekit.checks import (
    TORCH_ATTENTION,
    assert_close,
    assert_reaches,
    assert_right_gradients,
    assert_same_in_each_mode,
    assert_varies,
    fail,
    for_checks,
    forbid,
    in_kernel,
)

only_own_code = forbid(*TORCH_ATTENTION, "Transformer*")


@dataclass
class Layers:
    """Linear layers of a module by name, and the rows of each in the module's parameters."""

    module: object
    places: dict

    def read(self):
        """Return name -> (weight, bias); a layer without a bias has zeros."""
        state = self.module.state()
        found = {}
        for name, (layer, rows) in self.places.items():
            weight = state[f"{layer}.weight"][rows]
            found[name] = weight, state.get(f"{layer}.bias", torch.zeros(len(state[f"{layer}.weight"])))[rows]
        return found

    def write(self, weights):
        """Set the weights by name, and all biases to zero."""
        state = self.module.state()
        values = {}
        for name, (layer, rows) in self.places.items():
            key = f"{layer}.weight"
            values.setdefault(key, state[key].clone())[rows] = weights[name].to(state[key].dtype)
            if f"{layer}.bias" in state:
                values[f"{layer}.bias"] = torch.zeros_like(state[f"{layer}.bias"])
        self.module.load_state(values)


@for_checks
def layers_of(module, **shapes):
    """Find linear layers by name: layers_of(module, q=(3, 6), ...). One layer may hold several, stacked."""
    state = module.state()
    places = {name: (name, slice(None)) for name in shapes if f"{name}.weight" in state}
    missing = [name for name in shapes if name not in places]
    if missing:
        stacked = (sum(shapes[name][0] for name in missing), shapes[missing[0]][1])
        one = [key for key in state if key.endswith("weight") and tuple(state[key].shape) == stacked]
        if len(missing) == 1 or not one:
            fail(f"Your module has no linear layer `self.{missing[0]}`.")
        start = 0
        for name in missing:
            places[name] = (one[0].removesuffix(".weight"), slice(start, start + shapes[name][0]))
            start += shapes[name][0]
    for name, (layer, rows) in places.items():
        shape = tuple(state[f"{layer}.weight"][rows].shape)
        if shape != shapes[name]:
            fail(
                f"`{name}.weight` has shape {shape}, but should have {shapes[name]}: (output width, input width)."
            )
    return Layers(module, {name: places[name] for name in shapes})


@for_checks
def assert_created_in_order(student, /, kind, *sizes, **shapes):
    """Fail if at a fixed seed the layers have the numbers that they get in another order than that of `shapes`.

    Layers that draw their weights in a way of their own have numbers of no order, and pass.
    """
    own = student.call(kind, *sizes, seed=1).value.state()
    if any(f"{name}.weight" not in own for name in shapes):
        return
    for order in permutations(shapes):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(1)
            made = {name: torch.nn.Linear(*reversed(shapes[name])).weight.detach() for name in order}
        if all(torch.equal(own[f"{name}.weight"], weight) for name, weight in made.items()):
            if order != tuple(shapes):
                fail(
                    f"The layers are created in the order {', '.join(order)}, but should be created in the order "
                    f"{', '.join(shapes)}: with the same seed, each gets other numbers."
                )
            return


@for_checks
def oracle(layers, query, key, value, mask=None, heads=1):
    """torch's own attention with the given layers: (layers, query, key, value, mask=None, heads=1).

    The layers are a dict name -> (weight, bias): three for queries, keys and values, and optionally a fourth for
    the output.
    """
    three, last = list(layers.values())[:3], list(layers.values())[3:]
    parts = [F.linear(x, *layer) for x, layer in zip((query, key, value), three, strict=True)]
    parts = [part.unflatten(-1, (heads, -1)).transpose(1, 2) for part in parts]  # (batch, heads, L, d_head)
    mask = None if mask is None else mask.unsqueeze(-3)
    output = F.scaled_dot_product_attention(*parts, attn_mask=mask).transpose(1, 2).flatten(2)
    return F.linear(output, *last[0]) if last else output


@for_checks
def assert_queries_matter(output):
    """Fail if all tokens get the same output, as from a module that returns zeros."""
    if torch.allclose(output, output[..., :1, :]):
        fail("Every token gets the same output, so the output does not depend on the queries.")


@for_checks
def assert_hidden_like_others(module, x, padding):
    """Fail unless a hidden token, which may still attend to others, gets what a visible one with the same vector gets."""
    x = torch.cat([x[:, :-1], x[:, :1]], dim=1)
    output, context = module(x, padding), "of a hidden token that has the same vector as a visible one"
    assert_close(output[:, -1], output[:, 0], name="output", context=context)


@for_checks
def assert_zeros_without_a_key(module, *inputs):
    """Fail unless a query that may attend to nothing gets zeros, and the others what they get without a mask."""
    before = module(*inputs)
    mask = torch.ones(len(before), before.shape[1], inputs[-1].shape[1], dtype=torch.bool)
    mask[0, 1] = mask[2] = False
    output, lost = module(*inputs, mask), ~mask.any(dim=-1)
    assert_close(
        output[lost], torch.zeros_like(before[lost]), name="output", context="of queries with no key"
    )
    assert_close(output[~lost], before[~lost], name="output", context="of the other queries")
    assert_varies(before, name="output", context="of the other queries")
    for shape in (mask.shape, mask.shape[1:]):
        context = f"if the mask {tuple(shape)} hides everything"
        output = module(*inputs, torch.zeros(shape, dtype=torch.bool))
        assert_close(output, torch.zeros_like(before), name="output", context=context)


@for_checks
def assert_masks_of_each(draw, /, module, *inputs, name="output"):
    """Fail unless each sequence gets what it gets alone with its own mask, for masks of all shapes.

    The inputs are as many sequences as a sequence has tokens, so that no size says which axis of a mask is which.
    """
    size = len(inputs[0])
    for shape in ((size, size), (size, 1, size), (size, size, size)):
        mask = draw.bools(*shape)
        mask[..., 0] = True
        mask[..., 0, 1:] = False  # query 0, or sequence 0, sees only key 0: no mask is symmetric
        if len(shape) == 3:
            mask[0, ..., 1:], mask[1] = False, True
        together = module(*inputs, mask)
        for place in range(size):
            alone = module(
                *(part[place : place + 1] for part in inputs), mask.expand(size, size, size)[place]
            )
            context = f"of sequence {place} of {size}, with a mask {shape}, compared with that of this sequence alone,"
            assert_close(together[place], alone[0], name=name, context=context)
        if len(shape) == 2:
            continue
        own = mask[-1:]  # `alone` was computed with the same mask without its first axis
        context = f"of a single sequence with a mask {tuple(own.shape)}, compared with that for a mask {(size, size)},"
        assert_close(module(*(part[-1:] for part in inputs), own), alone, name=name, context=context)
        twice = module(*(part.repeat(2, 1, 1) for part in inputs), mask.repeat(2, 1, 1))
        context = f"of {2 * size} sequences of {size} tokens with a mask {(2 * size, *shape[1:])}, of which each comes twice,"
        assert_close(twice, together.repeat(2, 1, 1), name=name, context=context)

    shown = torch.zeros(size, inputs[-1].shape[1], dtype=torch.bool)
    shown[:, 0] = True
    large = [300 * part for part in inputs]  # so some scores are far below 0
    alone = module(*(part[:, :1] for part in large))
    context = "for large inputs, with a mask that hides all keys but the first, compared with that of this key alone,"
    found = module(*large, shown)
    assert_close(found, alone.expand(found.shape), name=name, context=context, atol=1e-2)


@for_checks
def assert_the_same_function(draw, helper, /, module, *shapes, name="output"):
    """Fail unless a module without dropout is the same function in each mode, and learns rightly, with and without a mask.

    `shapes` are those of its inputs; the last one has the keys.
    """
    if frozen := helper.frozen(module):
        fail(f"`{frozen}` can't be trained: its `requires_grad` is off.")
    batch, queries, keys = *shapes[0][:2], shapes[-1][1]
    masks = [draw.bools(batch, queries, keys) for _ in range(2)]
    for mask in masks:
        mask[..., 0] = True
    first, second = ([draw.normal(*shape) for shape in shapes] for _ in range(2))
    assert_same_in_each_mode(module, first, second, [*first, masks[0]], [*second, masks[1]], name=name)
    context = "of a second call, after the numbers in the same tensors have changed,"
    for found, right in zip(*helper.after_a_change(module, *first), strict=True):
        assert_close(found, right, name=name, context=context)
    module.to(torch.float64)
    first = [each.double() for each in first]
    for inputs in (first, [*first, masks[0]]):
        assert_right_gradients(module.gradients(*inputs), module, name=name)


@for_checks
def assert_float64(output):
    """Fail unless the output is float64 and has more precision than float32."""
    if output.dtype != torch.float64:
        fail(f"For float64 inputs, the output is {output.dtype}.")
    assert_varies(output, name="output")
    if torch.equal(output, output.float().double()):
        fail("The output is float64, but it was computed in float32.")


@for_checks
def assert_learns_without_a_key(module, *inputs):
    """Fail if a query that may attend to nothing makes a gradient NaN. If the output is NaN, another check says so."""
    mask = torch.ones(inputs[0].shape[1], inputs[-1].shape[1], dtype=torch.bool)
    mask[1] = False
    gradients = module.gradients(*inputs, mask)
    outputs = gradients.value if isinstance(gradients.value, tuple | list) else (gradients.value,)
    if any(output.isnan().any() for output in outputs):
        return
    found = dict(enumerate(gradients.inputs)) | gradients.parameters
    if any(gradient is not None and gradient.isnan().any() for gradient in found.values()):
        fail(
            "Where a query may attend to nothing, gradients are NaN, though the output isn't. Replacing NaN afterwards "
            "doesn't help them: no NaN may be computed on the way."
        )


@for_checks
def assert_learns(gradients):
    """Fail unless gradients reach the inputs and all parameters.

    The bias of the keys is excepted: it adds the same number to all scores of a query, which the softmax
    cancels, so its true gradient is zero.
    """
    parameters = {
        name: gradient
        for name, gradient in gradients.parameters.items()
        if not name.endswith(("k.bias", "k_bias"))
    }
    assert_reaches(replace(gradients, parameters=parameters))


HELPERS = """
import torch
from torch import nn
import torch.nn.functional as F


class Head(nn.Module):
    def __init__(self, input_dim, key_dim, output_dim):
        super().__init__()
        self.input_dim, self.key_dim, self.output_dim = input_dim, key_dim, output_dim
        self.q = nn.Linear(input_dim, key_dim)
        self.k = nn.Linear(input_dim, key_dim)
        self.v = nn.Linear(input_dim, output_dim)

    def forward(self, x, mask=None):
        return F.scaled_dot_product_attention(self.q(x), self.k(x), self.v(x), attn_mask=mask)


class HeadWithoutDefault(Head):
    def forward(self, x, mask):
        if mask is not None:
            raise TypeError(f"the head got a {type(mask).__name__} as its mask")
        return super().forward(x, mask)


class DroppingHead(Head):
    def forward(self, x, mask=None):
        return F.dropout(super().forward(x, mask), 0.5, self.training)


class Heads(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        d_head = d_model // num_heads
        self.attn_modules = nn.ModuleList([Head(d_model, d_head, d_head) for _ in range(num_heads)])
        self.linear = nn.Linear(d_model, d_model)


class Fused(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.d_model, self.num_heads, self.d_head = d_model, num_heads, d_model // num_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))


def of_itself(module, x, number, *mask):
    '''One tensor for all inputs of a module, of which it has this number.'''
    return module(*[x] * number, *mask)


def after_a_change(module, *inputs):
    '''What a module returns for tensors that have changed since a first call, and for new ones with the same numbers.'''
    module(*inputs)
    for each in inputs:
        each.copy_(each.flip(-1))
    results = [module(*inputs), module(*[each.clone() for each in inputs])]
    return [list(result) if isinstance(result, (tuple, list)) else [result] for result in results]


def missing(module, x):
    '''What a TypeError says about an argument that is missing or no None, or "".'''
    try:
        module(x)
    except TypeError as error:
        return str(error)
    return ""


def in_a_module_list(heads):
    return nn.ModuleList(heads)


def frozen(*modules):
    '''The first parameter that can't be trained, or an empty text.'''
    named = [pair for module in modules for pair in module.named_parameters()]
    return next((name for name, parameter in named if not parameter.requires_grad), "")


class RunningSum(nn.Module):
    def forward(self, x):
        return x.cumsum(dim=1)


class Squares(nn.Module):
    def forward(self, x):
        return x**2 + x


class Dropping(nn.Module):
    def forward(self, x):
        return F.dropout(x, 0.5, self.training)


class Among(nn.Module):
    def forward(self, x):
        return torch.softmax(x @ x.transpose(1, 2), dim=-1) @ x


class Places(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.table = table

    def forward(self, x):
        return x + self.table
"""


#: Our own modules in the student's kernel, to pass to the student's functions.
helper = in_kernel(HELPERS)
