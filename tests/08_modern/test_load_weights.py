"""Checks of exercise 9: load_weights, between a file and a model that the checks make up."""

import torch

from gradekit.checks import assert_model_kept, assert_raises, fail, for_checks, points

OUTSIDE = {"token_embd": "embedding", "output_norm": "norm"}
INSIDE = {
    "attn_norm": "norm1",
    "attn_q": "attention.w_q",
    "attn_k": "attention.w_k",
    "attn_v": "attention.w_v",
    "attn_output": "attention.w_o",
    "ffn_norm": "norm2",
    "ffn_gate": "feed_forward.w_gate",
    "ffn_up": "feed_forward.w_up",
    "ffn_down": "feed_forward.w_down",
}

#: A model with the names of the exercise, which needs none of the student's other answers.
MODEL = """
import torch
from torch import nn


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))


class Attention(nn.Module):
    def __init__(self, d_model, heads, groups):
        super().__init__()
        narrow = groups * d_model // heads
        self.w_q, self.w_k, self.w_v, self.w_o = (
            nn.Linear(d_model, width, bias=False) for width in (d_model, narrow, narrow, d_model)
        )


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w_gate, self.w_up = nn.Linear(d_model, d_ff, bias=False), nn.Linear(d_model, d_ff, bias=False)
        self.w_down = nn.Linear(d_ff, d_model, bias=False)


class Block(nn.Module):
    def __init__(self, d_model, heads, groups, d_ff):
        super().__init__()
        self.norm1, self.attention = Norm(d_model), Attention(d_model, heads, groups)
        self.norm2, self.feed_forward = Norm(d_model), FeedForward(d_model, d_ff)


class Model(nn.Module):
    def __init__(self, vocab_size, d_model, heads, groups, d_ff, layers):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList([Block(d_model, heads, groups, d_ff) for _ in range(layers)])
        self.norm = Norm(d_model)
        self.mine = dict(self.named_parameters())


def try_to_load(load_weights, model, tensors):
    '''Returns the message of a ValueError, or "".'''
    try:
        load_weights(model, tensors)
    except ValueError as error:
        return str(error)
    return ""


def same_parameters(model):
    '''Whether the model has the parameters that it was made with.'''
    now = dict(model.named_parameters())
    return now.keys() == model.mine.keys() and all(now[name] is model.mine[name] for name in now)


def separate(load_weights, model, tensors):
    '''Whether the model keeps its weights when the tensors of the file change after they were loaded.'''
    load_weights(model, tensors)
    before = {name: value.clone() for name, value in model.named_parameters()}
    for tensor in tensors.values():
        tensor.zero_()
    return all(torch.equal(value, before[name]) for name, value in model.named_parameters())
"""


@for_checks
def make(student, draw, /, d_model=8, heads=4, groups=2, d_ff=6, layers=2, vocab_size=7):
    """A model, a file that fits it, and the place of each of its tensors: `make(layers=3)`."""
    helper = student.define(MODEL)
    model = helper.Model(vocab_size, d_model, heads, groups, d_ff, layers).eval()
    places = {f"{theirs}.weight": f"{ours}.weight" for theirs, ours in OUTSIDE.items()}
    for number in range(layers):
        for theirs, ours in INSIDE.items():
            places[f"blk.{number}.{theirs}.weight"] = f"blocks.{number}.{ours}.weight"
    shapes = {name: tuple(value.shape) for name, value in model.parameters().items()}
    return helper, model, {name: draw.normal(*shapes[place]) for name, place in places.items()}, places


@points(1, see="A real model")
def test_every_tensor_in_its_place(student, make):
    """Every parameter gets the tensor of the table, in models of any size."""
    for sizes in (
        {},
        {"layers": 11, "d_model": 12, "heads": 6, "groups": 1, "d_ff": 5},
        {"groups": 4, "d_ff": 8},
    ):
        _, model, file, places = make(**sizes)
        student.load_weights(model, file)
        found = model.parameters()
        for name, place in places.items():
            if not torch.equal(found[place], file[name]):
                fail(f"`{place}` is not `{name}` of the file, in a model of {sizes.get('layers', 2)} blocks.")


@points(1, see="A real model")
def test_missing_or_left_over(student, make):
    """A tensor that is missing, renamed, or has no place in the model, and so a file of another number of blocks, raises a ValueError with its name in the file."""
    _, model, file, _ = make()
    for name in ("token_embd.weight", "blk.1.attn_v.weight", "output_norm.weight", "blk.0.ffn_up.weight"):
        rest = {key: value for key, value in file.items() if key != name}
        assert_raises(
            ValueError, lambda rest=rest: student.load_weights(model, rest), (name,), f"without {name}"
        )
    for name in ("blk.2.attn_q.weight", "output.weight", "blk.0.attn_q.bias"):
        more = file | {name: file["blk.0.attn_q.weight"]}
        assert_raises(
            ValueError, lambda more=more: student.load_weights(model, more), (name,), f"with {name} left over"
        )
    for name in (
        "output_norm.weight",
        "blk.1.ffn_up.weight",
    ):  # as many names as before; the message may have either
        renamed = {(f"model.{key}" if key == name else key): value for key, value in file.items()}
        assert_raises(
            ValueError,
            lambda file=renamed: student.load_weights(model, file),
            (name,),
            f"with {name} renamed",
        )
    fewer = {key: value for key, value in file.items() if not key.startswith("blk.1.")}
    assert_raises(ValueError, lambda: student.load_weights(model, fewer), ("blk.1.",), "without a block")
    deeper = file | {key.replace("blk.1.", "blk.2."): value for key, value in file.items()}
    assert_raises(
        ValueError, lambda: student.load_weights(model, deeper), ("blk.2.",), "with a block left over"
    )


@points(1)
def test_wrong_shapes(student, make):
    """A tensor of another shape raises a ValueError with its name, even if it would broadcast, or has as many numbers."""
    _, model, file, _ = make()
    for name, tensor in [
        ("output_norm.weight", file["output_norm.weight"][:1]),
        ("blk.1.ffn_down.weight", file["blk.1.ffn_down.weight"].T.contiguous()),
        ("blk.0.attn_k.weight", file["blk.0.attn_q.weight"]),
        ("token_embd.weight", file["token_embd.weight"][:, :1]),
        ("blk.1.attn_v.weight", file["blk.1.attn_v.weight"][:1]),
        ("blk.0.ffn_up.weight", file["blk.0.ffn_up.weight"][0]),
        ("blk.1.attn_norm.weight", file["blk.1.attn_norm.weight"][None]),
        ("output_norm.weight", file["output_norm.weight"][0]),
        *(
            (name, file[name].T.contiguous())
            for name in (
                "token_embd.weight",
                "blk.0.attn_k.weight",
                "blk.0.attn_v.weight",
                "blk.1.ffn_gate.weight",
            )
        ),
    ]:
        wrong, shape, right = file | {name: tensor}, tuple(tensor.shape), tuple(file[name].shape)
        assert_raises(
            ValueError,
            lambda wrong=wrong: student.load_weights(model, wrong),
            mentions=(name,),
            context=f"if `{name}` has shape {shape} and the parameter {right}",
        )


@points(1)
def test_all_or_nothing(student, make):
    """If one tensor doesn't fit, no weight of the model has changed."""
    helper, model, file, _ = make()
    before = model.parameters()
    last = "blk.1.ffn_down.weight"
    first = "token_embd.weight", "blk.0.attn_norm.weight"
    for wrong in (
        *(file | {name: file[name][:-1]} for name in first),
        {name: value for name, value in file.items() if name != last},
        file | {last: file[last].T.contiguous()},
        file | {"output.weight": file["token_embd.weight"]},
    ):
        if not helper.try_to_load(student.get("load_weights"), model, wrong):
            fail("A file that doesn't fit should raise a ValueError.")
        after = model.parameters()
        for name, value in before.items():
            if not torch.equal(after[name], value):
                fail(f"The file doesn't fit, but `{name}` has changed. Compare everything before you copy.")


@points(1)
def test_copies(student, make):
    """The weights are copied into the model's own parameters, in their dtype, and the file's tensors stay as they are."""
    helper, model, file, places = make()
    model.to(torch.float64)
    for given in (file, {name: tensor.double() / 3 for name, tensor in file.items()}):
        call = student.call("load_weights", model, given)
        assert not call.changed, "`load_weights` changed the tensors of the file."
        if not helper.same_parameters(model):
            fail("The model has new parameters, which an optimizer wouldn't know. Copy into the old ones.")
        found = model.parameters()
        for name, place in places.items():
            if found[place].dtype != torch.float64:
                fail(f"The model is float64, but `{place}` is {found[place].dtype} after loading.")
            if not torch.equal(found[place], given[name].double()):
                rounded = torch.equal(found[place], given[name].float().double())
                fail(
                    f"Model and file are float64, but `{place}` is `{name}` of the file rounded to float32."
                    if rounded
                    else f"`{place}` is not `{name}` of the file."
                )
    model = make()[1]
    assert_model_kept(student, model, lambda: student.call("load_weights", model, file), but=["weights"])
    if not helper.separate(student.get("load_weights"), make()[1], file):
        fail("The model changes when the tensors of the file change: they share memory. Copy the numbers.")
