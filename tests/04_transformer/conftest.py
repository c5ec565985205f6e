"""Shared by the checks: the ban on ready-made parts, weights that distinguish all parts, and oracles.

New layer norms are all identical, so every module first gets new weights, derived from their names. The oracle
for a layer is torch's own layer, and for a whole encoder or decoder the student's own layers, called in sequence.
Both use the student's own `FeedForward`, so a mistake in one part does not cost points in the next.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

from gradekit.checks import (
    TORCH_ATTENTION,
    StudentError,
    assert_close,
    assert_dropped_singly,
    assert_right_gradients,
    assert_same_in_each_mode,
    assert_same_without_gradients,
    assert_shape,
    assert_varies,
    fail,
    for_checks,
    forbid,
    forbid_class,
    in_kernel,
    named_weights,
)

only_own_code = forbid(*TORCH_ATTENTION, "TransformerEncoder*", "TransformerDecoder*")
not_the_ready_made_model = forbid_class("torch.nn.Transformer", "Build the model from your own parts.")

ATOL = 1e-4  # allows a different epsilon in the norms


def linear_shapes(prefix, rows, columns):
    return {f"{prefix}.weight": (rows, columns), f"{prefix}.bias": (rows,)}


def layer_shapes(d_model, d_ff, attentions):
    """Return name -> shape of every parameter of a layer with these attentions."""
    shapes = {}
    for attention in attentions:
        for part in "qkvo":
            shapes |= linear_shapes(f"{attention}.w_{part}", d_model, d_model)
    shapes |= linear_shapes("feed_forward.linear1", d_ff, d_model)
    shapes |= linear_shapes("feed_forward.linear2", d_model, d_ff)
    for number in range(len(attentions) + 1):
        shapes |= {f"norm{number + 1}.weight": (d_model,), f"norm{number + 1}.bias": (d_model,)}
    return shapes


def load(module, values):
    """Set the values that the module has parameters for. Missing parameters show in its output."""
    return module.load_state(values, strict=False)


def part_of(values, prefix):
    return {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}


def attentions_of(kind):
    """Return the attention sublayers of an encoder or decoder layer, by its class name."""
    return ["self_attn", "cross_attn"] if kind.startswith("Dec") else ["self_attn"]


@for_checks
def shapes_of(kind, d_model, d_ff):
    """Return name -> shape of the parameters: `shapes_of("EncoderLayer", d_model, d_ff)`."""
    return layer_shapes(d_model, d_ff, attentions_of(kind))


@for_checks
def make_layer(student, /, kind, d_model, num_heads, d_ff, seed=0, norm_first=False, **options):
    """The student's layer with new weights, and torch's layer with the same weights and the student's `FeedForward`.

    `make_layer("EncoderLayer", d_model, num_heads, d_ff, seed=0, ...)` returns (layer, twin).
    """
    order = {"norm_first": True} if norm_first else {}  # post-norm is the default
    layer = student.call(kind, d_model, num_heads, d_ff, **order, **options).value
    student.call(
        kind, d_model, 1, d_ff + 1, dropout=0.9, norm_first=not norm_first
    )  # must have no effect on it
    attentions = attentions_of(kind)
    shapes = layer_shapes(d_model, d_ff, attentions)
    values = named_weights(shapes, seed)
    load(layer, values)
    twin_class = nn.TransformerDecoderLayer if len(attentions) == 2 else nn.TransformerEncoderLayer
    twin = twin_class(d_model, num_heads, d_ff, 0.0, batch_first=True, norm_first=norm_first)
    twin.load_state_dict(torch_names(values, attentions))
    own = student.FeedForward(d_model, d_ff)
    load(own, part_of(values, "feed_forward."))
    twin._ff_block = own

    def run(*inputs):
        with torch.no_grad():
            return twin(*inputs)

    return layer, run


def torch_names(values, attentions):
    """Return the same weights under the names of torch's layers."""
    renamed = {}
    for attention, name in zip(attentions, ["self_attn", "multihead_attn"], strict=False):
        for part in ("weight", "bias"):
            renamed[f"{name}.in_proj_{part}"] = torch.cat(
                [values[f"{attention}.w_{x}.{part}"] for x in "qkv"]
            )
            renamed[f"{name}.out_proj.{part}"] = values[f"{attention}.w_o.{part}"]
    for name, value in values.items():
        if name.split(".")[0] not in attentions:
            renamed[name.removeprefix("feed_forward.")] = value
    return renamed


@for_checks
def make_stack(
    student, /, kind, vocab_size, d_model, num_heads, d_ff, num_layers, max_seq_len, seed=0, **options
):
    """The student's `Encoder` or `Decoder` with new weights, and the same steps made of the student's own layers.

    `make_stack("Encoder", vocab_size, d_model, num_heads, d_ff, num_layers, max_seq_len, seed=0, ...)` returns
    (module, steps), and `steps(ids, ...)` also takes what each layer gets after its first input.
    """
    sizes = (d_model, num_heads, d_ff)
    module = student.call(kind, vocab_size, *sizes, num_layers, max_seq_len, **options).value
    norm_first = options.get("norm_first", False)
    others = {"pad_idx": 1, "dropout": 0.9, "norm_first": not norm_first}
    student.call(
        kind, vocab_size + 1, d_model, 1, d_ff, 1, max_seq_len + 1, **others
    )  # must have no effect on it
    kind = f"{kind}Layer"
    shapes = {"embedding.weight": (vocab_size, d_model)}
    for number in range(num_layers):
        for name, shape in layer_shapes(d_model, d_ff, attentions_of(kind)).items():
            shapes[f"layers.{number}.{name}"] = shape
    state = module.state()
    if not any(name.startswith("layers.0.") for name in state):
        fail(
            "The parameters of the layers were not found. Keep the layers in an nn.ModuleList called `layers`."
        )
    final = [name for name in state if not name.startswith(("embedding.", "layers.", "positions."))]
    shapes |= {name: (d_model,) for name in final if tuple(state[name].shape) == (d_model,)}
    values = named_weights(shapes, seed)
    module.load_state({name: value for name, value in values.items() if name in state})

    def steps(ids, *others):
        x = values["embedding.weight"][ids] * math.sqrt(d_model) + sinusoids(ids.shape[1], d_model)
        layer = student.call(kind, *sizes, norm_first=norm_first).value
        for number in range(num_layers):
            own = part_of(values, f"layers.{number}.")
            load(layer, own)
            x = layer(x, *others)
        if norm_first:
            gamma = next((values[name] for name in final if name.endswith("weight") and name in values), None)
            beta = next((values[name] for name in final if name.endswith("bias") and name in values), None)
            x = F.layer_norm(x, (d_model,), gamma, beta)
        return x

    return module, steps


@for_checks
def assert_all_dropped(make_stack, /, kind, *inputs):
    """Fail unless with dropout=1 only the norms of an `Encoder` or `Decoder` are left in training: nothing is added to zeros."""
    for norm_first in (False, True):
        module, _ = make_stack(kind, 11, 6, 3, 20, 2, 13, dropout=1.0, norm_first=norm_first)
        state, norms = module.state(), 3 if kind == "Decoder" else 2
        names = [f"layers.{layer}.norm{number + 1}" for layer in range(2) for number in range(norms)]
        if norm_first:
            vectors = [
                name for name in state if tuple(state[name].shape) == (6,) and not name.startswith("layers.")
            ]
            names = [name.removesuffix(".weight") for name in vectors if name.endswith(".weight")]
        right = torch.zeros(6)
        for name in names:
            if f"{name}.weight" not in state or f"{name}.bias" not in state:
                return  # this is for the checks of the parameters
            right = F.layer_norm(right, (6,), state[f"{name}.weight"], state[f"{name}.bias"])
        output = module.train()(*inputs)
        output = output[0] if kind == "Encoder" else output
        context = f"in training with dropout=1 (norm_first={norm_first}), where all that is added is dropped,"
        name = "memory" if kind == "Encoder" else "output"
        assert_close(output, right.expand(output.shape), name=name, context=context, atol=1e-3)


@for_checks
def assert_nothing_cut(module, name, ids, *others):
    """Fail if positions beyond the last one are left out: a longer sequence may raise an error, or have all its vectors."""
    try:
        output = module(ids, *others)
    except StudentError:
        return
    output = output[0] if isinstance(output, tuple | list) else output
    assert_shape(output, (*ids.shape, 6), name=name, context="of more tokens than max_seq_len")


def sinusoids(length, d_model):
    position = torch.arange(length, dtype=torch.float64).unsqueeze(1)
    angle = position / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1).float()


@for_checks
def renew(student, /, module, seed=0):
    """Set every parameter of a module to a new value, derived from its name; return these values by name."""
    own = module.parameters()
    values = named_weights({name: tuple(value.shape) for name, value in own.items()}, seed)
    module.load_state(values)
    return values


@for_checks
def assert_all_learn(gradients):
    """Fail unless a gradient reaches every parameter and every float argument.

    The bias of the keys adds the same number to all scores of a query, so its gradient is zero, up to rounding.
    """
    entries = {f"parameter `{name}`": value for name, value in gradients.parameters.items()}
    if not entries:
        fail("The module has no parameters, so nothing in it can be learned.")
    for place, argument in enumerate(gradients.arguments):
        if isinstance(argument, torch.Tensor) and argument.is_floating_point():
            entries[f"argument number {place + 1}"] = gradients.inputs[place]
    for name, gradient in entries.items():
        if gradient is None:
            fail(f"No gradient reaches {name}: it is not used, or something computed from it was detached.")
        if gradient.isnan().any():
            fail(f"The gradient of {name} contains NaN.")
        if not gradient.any() and not name.endswith("w_k.bias`"):
            fail(f"The gradient of {name} is zero everywhere.")


@for_checks
def assert_double(value):
    """Fail unless a value is float64 and was computed in float64 throughout."""
    if value.dtype != torch.float64:
        fail(f"After `.to(torch.float64)` the output is {value.dtype}.")
    assert_varies(value, name="output")
    if value.equal(value.float().double()):
        fail("The output is float64, but only as precise as float32: an intermediate value was float32.")


IDLE = """
import torch

def without_dropout(module, x):
    module.train()
    found = []
    for name, part in module.named_modules():
        if name.endswith("_attn"):
            run = lambda: part(x, x, x)[0]
        elif name.endswith("feed_forward"):
            run = lambda: part(x)
        else:
            continue
        if torch.equal(run(), run()):
            found.append(name)
    return found
"""

#: `idle.without_dropout(layer, x)`: the names of the sublayers whose own dropout does nothing in training
idle = in_kernel(IDLE)


@for_checks
def assert_equals_torch(reference, draw, make_layer, /, kind, norm_first, *inputs):
    """Fail unless a layer returns what torch's layer does, for recorded inputs (2, L, 6), and for drawn ones."""
    layer, twin = make_layer(kind, 6, 3, 5, norm_first=norm_first)
    output = layer(*inputs)
    assert_shape(output, (2, 4, 6), name="output")
    reference.assert_same(
        output,
        twin(*inputs),
        rule="Your layer must return what torch's layer returns with your weights",
        name="output",
        key="output, less that of torch's layer with your weights,",
        atol=ATOL,
    )

    heads, width, d_ff, batch, length, *others = draw.sizes(4 + len(inputs))
    layer, twin = make_layer(kind, heads * width, heads, d_ff, seed=1, norm_first=norm_first)
    x, *memory = (draw.normal(batch, size, heads * width) for size in (length, *others))
    output = layer(x, *memory)
    assert_shape(output, (batch, length, heads * width), name="output")
    context = ", compared with the output of torch's layer with your weights,"
    assert_close(output, twin(x, *memory), name="output", context=context, atol=ATOL)
    longer, context = draw.normal(batch, length + 1, heads * width), "of the next, longer batch" + context
    assert_close(layer(longer, *memory), twin(longer, *memory), name="output", context=context, atol=ATOL)
    layer.eval()
    for name in (
        "in evaluation mode, ",
        "of the next batch of the same shape, ",
    ):  # the memory is as long as the target
        x, *memory = (draw.normal(batch, length, heads * width) for _ in inputs)
        context = name + "compared with the output of torch's layer with your weights,"
        assert_close(layer(x, *memory), twin(x, *memory), name="output", context=context, atol=ATOL)
    single = draw.normal(batch, 1, heads * width)
    context = "for sequences of length 1, compared with the output of torch's layer with your weights,"
    assert_close(layer(single, *memory), twin(single, *memory), name="output", context=context, atol=ATOL)
    long = draw.normal(1, 521, heads * width)
    long[0, 0, 0] = 40
    long[0, 3] = 0  # an ordinary vector, too
    for part in memory:
        part[0, 1] = 0
    one, context = (
        [part[:1] for part in memory],
        ", for a single long sequence, compared with that of torch's layer,",
    )
    assert_close(layer(long, *one), twin(long, *one), name="output", context=context, atol=ATOL)


@for_checks
def assert_masks_hide_keys_only(draw, make_layer, /, kind, norm_first, x, *memory):
    """Fail unless a hidden position is computed like any other, and each call, sequence and query has its own mask."""
    batch, length = x.shape[:2]
    mask = (torch.arange(length) < length - 2).expand(batch, 1, length)
    x = torch.cat([x[:, :-1], x[:, :1]], dim=1)  # the last vector is hidden, and equal to the first
    layer, _ = make_layer(kind, 6, 3, 5, norm_first=norm_first)
    output, context = (
        layer(x, *memory, mask),
        "of a hidden position that has the same vector as a visible one",
    )
    assert_close(output[:, -1], output[:, 0], name="output", context=context, atol=ATOL)
    fresh, _ = make_layer(kind, 6, 3, 5, norm_first=norm_first)
    context = "of a second call with another mask of the same shape, compared with the output of a new layer,"
    others = mask.flip(-1)
    assert_close(
        layer(x, *memory, others), fresh(x, *memory, others), name="output", context=context, atol=ATOL
    )
    unmasked, _ = make_layer(kind, 6, 3, 5, norm_first=norm_first)
    context = "of a call without a mask after one with a mask, compared with the output of a new layer,"
    assert_close(layer(x, *memory), unmasked(x, *memory), name="output", context=context, atol=ATOL)

    mask[0] = True
    mask[1, :, 0] = False
    together = layer(x, *memory, mask)
    for place in range(batch):
        alone = layer(*(part[place : place + 1] for part in (x, *memory, mask)))
        context = f"of sequence {place} of {batch}, compared with that of this sequence alone,"
        assert_close(together[place], alone[0], name="output", context=context, atol=ATOL)
    own = torch.eye(length).roll(1, dims=0).bool() | (draw.bools(batch, length, length))
    output = layer(x, *memory, own)
    for query in range(length):
        same = layer(x, *memory, own[:, query : query + 1])
        context = (
            f"of query {query} with a mask (batch, L, L), compared with that if all queries have its row,"
        )
        assert_close(output[:, query], same[:, query], name="output", context=context, atol=ATOL)
    if memory:
        return  # cross-attention that reads the wrong sequence would fail here, too
    own = torch.ones(length, length, dtype=torch.bool).tril(-1)  # query 0 may attend to nothing
    output = layer(x, *memory, own)
    for query in range(1, length):
        same = layer(x, *memory, own[query].expand(batch, 1, length))
        context = f"of query {query} with a mask (L, L), compared with that if all queries have its row,"
        assert_close(output[:, query], same[:, query], name="output", context=context, atol=ATOL)
    others = torch.cat([x[:, :1], x[:, 1:].flip(-1)], dim=1)
    context = "of a query that may attend to nothing, when the other tokens change,"
    assert_close(layer(others, *memory, own)[:, 0], output[:, 0], name="output", context=context, atol=ATOL)


@for_checks
def assert_the_same_function(module, *calls, name="output"):
    """Fail unless a module without dropout is the same function in each mode and without gradients, and has the right ones for the last call."""
    assert_same_in_each_mode(module, *calls, name=name)
    assert_same_without_gradients(module, *calls[-1], name=name)
    module.to(torch.float64)
    last = [part.double() if part.is_floating_point() else part for part in calls[-1]]
    assert_right_gradients(module.gradients(*last), module, name=name)


@for_checks
def assert_parts(student, draw, /, kind):
    """Fail unless a layer has the parameters of its sublayers and norms, and no others."""
    heads, width, d_ff = draw.sizes(3, low=3, high=9)
    layer = getattr(student, kind)(heads * width, heads, d_ff)
    found = {name: tuple(value.shape) for name, value in layer.parameters().items()}
    expected = layer_shapes(heads * width, d_ff, attentions_of(kind))
    for name, shape in expected.items():
        if name not in found:
            fail(f"There is no separate parameter `{name}`: it is missing, or shared with another part.")
        if found[name] != shape:
            fail(f"`{name}` has shape {found[name]}, but should have {shape}.")
    if more := ", ".join(sorted(found.keys() - expected.keys())):
        fail(f"There are more parameters than the layer needs: {more}.")


@for_checks
def assert_drops(reference, make_layer, idle, /, kind, name, x, *others):
    """Fail unless a layer drops in the right places; `name` is that of its first input."""
    layer, _ = make_layer(kind, 6, 3, 20, norm_first=True, dropout=1.0)
    reference.assert_same(
        layer.train()(x, *others),
        x,
        rule=f"With dropout=1, only the residual {name} must be left",
        name="output",
        context="of a pre-norm layer in training",
        key=f"pre-norm output in training with dropout=1, less {name},",
    )
    layer, _ = make_layer(kind, 6, 3, 20, norm_first=False, dropout=1.0)
    state, normed = layer.state(), x
    for number in range(2 + len(others)):
        norm = f"norm{number + 1}"
        if f"{norm}.weight" in state:
            normed = F.layer_norm(normed, (6,), state[f"{norm}.weight"], state[f"{norm}.bias"])
    reference.assert_same(
        layer.train()(x, *others),
        normed,
        rule=f"With dropout=1, only the normalized residual {name} must be left",
        name="output",
        context="of a post-norm layer in training",
        key=f"post-norm output in training with dropout=1, less the normed {name},",
        atol=ATOL,
    )
    for norm_first in (False, True):
        layer, _ = make_layer(kind, 6, 3, 20, norm_first=norm_first, dropout=0.5)
        context = "after eval(), with dropout=0.5, minus that of a second call,"
        gap = layer.eval()(x, *others) - layer(x, *others, seed=1)
        reference.assert_close(gap, name="output", context=context)
    attentions = attentions_of(kind)
    ones = {f"norm{number + 1}.weight": torch.zeros(6) for number in range(len(attentions) + 1)}
    ones |= {name.replace("weight", "bias"): torch.ones(6) for name in ones}
    ones |= {
        "feed_forward.linear1.weight": torch.ones(20, 6) / 6,
        "feed_forward.linear1.bias": torch.zeros(20),
    }
    ones |= {f"{attention}.w_o.weight": torch.zeros(6, 6) for attention in attentions}
    ones |= {"feed_forward.linear2.bias": torch.zeros(6)}
    inputs = [part.repeat(4, 1, 1) for part in (x, *others)]
    layer, _ = make_layer(kind, 6, 3, 20, norm_first=True, dropout=0.75)
    for one in [*attentions, "feed_forward"]:  # the only sublayer that adds something other than 0
        own = {f"{attention}.w_o.bias": torch.full((6,), float(attention == one)) for attention in attentions}
        own |= {"feed_forward.linear2.weight": torch.full((6, 20), float(one == "feed_forward") / 20)}
        added = load(layer, ones | own).train()(*inputs) - inputs[0]
        added = torch.where(added.abs() < ATOL, 0.0, added)
        assert_dropped_singly(added, name=one, context="of 8 sequences in training, as it is added")
        again = layer(*inputs, seed=1) - inputs[0]
        if torch.where(again.abs() < ATOL, 0.0, again).equal(added):
            fail(
                f"Two calls in training drop the same numbers of what {one} adds. Draw in each call which ones are dropped."
            )
        if one != "feed_forward":  # its hidden entries are dropped, too
            kept, context = added[added != 0], f"in training, minus {name}, where {one} returned 1"
            context += " and dropout=0.75 left it,"
            assert_close(kept, torch.full_like(kept, 4.0), name="output", context=context, atol=ATOL)
    layer, _ = make_layer(kind, 6, 3, 20, dropout=0.5)
    if names := ", ".join(idle.without_dropout(layer, x)):
        fail(f"Nothing is dropped inside {names}. Pass the dropout probability on.")
    layer, _ = make_layer(kind, 6, 1, 20, norm_first=True, dropout=0.5)
    each_itself = torch.eye(x.shape[1], dtype=torch.bool)
    inputs = [part.repeat(4, 1, 1)[:, : x.shape[1]] for part in (x, *others)]
    for one in (
        attentions
    ):  # its weights are 1, so 0 or 2 in training, and so is what dropout leaves of 1 in its output
        silent = {f"{other}.w_o.weight": torch.zeros(6, 6) for other in attentions if other != one}
        silent |= {f"{other}.w_o.bias": torch.zeros(6) for other in attentions}
        silent |= {
            "feed_forward.linear2.weight": torch.zeros(6, 20),
            "feed_forward.linear2.bias": torch.zeros(6),
        }
        load(layer, silent)
        masks = [each_itself] * len(inputs)
        calm = layer.eval()(*inputs, *masks) - inputs[0]
        added = layer.train()(*inputs, *masks) - inputs[0]
        if not torch.where(added.abs() < ATOL, 0.0, (added - 4 * calm).abs()).max() < 1e-3:
            fail(
                f"With dropout=0.5, {one} in training should add 0 or 4 times what it adds after eval(), if each position attends to one "
                "alone. Is there dropout in one more place, such as its input?"
            )
        load(layer, named_weights(layer_shapes(6, 20, attentions), 0))
    layer, _ = make_layer(kind, 6, 3, 20, dropout=0.5)
    without, _ = make_layer(kind, 6, 3, 20)
    calm, context = layer.eval()(x, *others), "after eval(), compared with the output without dropout,"
    assert_close(calm, without(x, *others), name="output", context=context)


@for_checks
def assert_size(student, draw, /, kind):
    """Fail unless an encoder or decoder has as many parameters as its layers, its embedding and its norm."""
    vocab_size, width, d_ff, num_layers = draw.sizes(4, low=2, high=9)
    shapes = layer_shapes(2 * width, d_ff, attentions_of(kind))
    layer = sum(torch.Size(shape).numel() for shape in shapes.values())
    for norm_first in (False, True):
        module = getattr(student, kind)(vocab_size, 2 * width, 2, d_ff, num_layers, 9, norm_first=norm_first)
        count = sum(value.numel() for value in module.parameters().values())
        right = vocab_size * 2 * width + num_layers * layer + (4 * width if norm_first else 0)
        if count != right:
            fail(
                f"With {num_layers} layers and norm_first={norm_first}, the {kind.lower()} should have {right} parameters, "
                f"but has {count}."
            )
