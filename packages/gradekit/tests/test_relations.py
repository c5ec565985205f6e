"""How a wrong value relates to the right one: each relation is found, and none is claimed that is not so."""

import time
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from gradekit.codecs import Tolerance
from gradekit.relations import InPlay, WrongShape, WrongValue, in_play, relation_of

from .needs import mostly_thorough

torch = pytest.importorskip("torch", reason="torch is not installed")

SHAPES = [(3, 4, 6), (5, 7), (2, 3, 4, 4), (12,), (4, 4, 4)]
SEEDS = range(4)


def normal(shape, seed):
    return torch.from_numpy(np.random.default_rng([seed, *shape]).standard_normal(shape)).float()


def related(found, right, *arguments, atol=1e-5, rtol=1e-4):
    return relation_of(WrongValue(found, right, Tolerance(atol, rtol)), in_play(arguments))


def softmax(x, axis):
    return torch.softmax(x, axis)


#: a wrong value made of the right one, and what is said of it, for every shape
OF_EVERY_SHAPE = {
    "a factor": (lambda x: 3.7 * x, "the right one times 3.7."),
    "a small factor": (lambda x: x / 3.7, "the right one divided by 3.7."),
    "the sign": (lambda x: -x, "Every entry has the wrong sign."),
    "an offset": (lambda x: x + 0.25, "too large by the same number, 0.25."),
    "an offset below": (lambda x: x - 2, "too small by the same number, 2."),
    "a line": (lambda x: 3 * x + 7, "the right one times 3, plus 7."),
    "1 minus": (lambda x: 1 - x, "Every entry is 1 minus the right one."),
    "exp": (torch.exp, "e to the power of the right one"),
    "square": (torch.square, "the square of the right one"),
    "absolute values": (torch.abs, "none is negative"),
    "relu": (torch.relu, "as after a ReLU"),
    "tanh": (torch.tanh, "hyperbolic tangent"),
    "sigmoid": (torch.sigmoid, "sigmoid of the right one"),
    "inverse": (torch.reciprocal, "1 divided by the right one"),
    "rounded": (torch.round, "rounded to an integer"),
    "two digits": (lambda x: torch.round(x, decimals=2), "rounded to 2 digits"),
    "zeros": (torch.zeros_like, "Every entry is 0."),
    "constant": (lambda x: torch.full_like(x, 0.3), "Every entry is the same number."),
    "reversed": (lambda x: x.flip(0), "reversed along"),
    "shifted": (lambda x: x.roll(1, -1), "shifted by one place towards the end along"),
    "cumulative": (lambda x: x.cumsum(-1), "the sum of all right entries so far along"),
    "first only": (
        lambda x: torch.cat([x[:1], 1.7 + x[1:].abs()]),
        "only the first of",
    ),
    "last missing": (lambda x: x[..., :-1], "the last entry is missing; the rest is right"),
    "first missing": (lambda x: x[..., 1:], "the first entry is missing; the rest is right"),
    "too many": (lambda x: torch.cat([x, x[:1] + 1]), "the last entry should not be there"),
    "an axis in front": (lambda x: x[None], "only an axis of size 1"),
    "flat": (lambda x: x.reshape(2, -1) if x.ndim == 1 else x.flatten(), "only the shape is wrong"),
    "a list": (lambda x: x.tolist(), "only the type is wrong"),
    "nan": (lambda x: torch.where(x > 1, torch.nan, x), "All other entries are right."),
}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", OF_EVERY_SHAPE)
def test_a_relation_is_found_in_every_shape(name, shape):
    change, words = OF_EVERY_SHAPE[name]
    for seed in SEEDS:
        right = normal(shape, seed)
        if name == "first only" and shape == (12,):
            continue  # one right entry may be chance
        if name == "nan" and not (right > 1).any():
            continue
        assert words in related(change(right), right), (name, shape, seed)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_a_relation_is_found_in_every_dtype(dtype):
    right = np.random.default_rng(0).integers(-40, 40, (4, 6)).astype(dtype)
    assert "times 3" in related(right * 3, right)
    assert "wrong sign" in related(-right, right)
    assert "axis 0 and the last axis exchanged" in related(right.T, right)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda x: x.transpose(1, 2), "with axis 1 and the last axis exchanged"),
        (lambda x: x.permute(1, 2, 0), "with its axes in the order 1, 2, 0"),
        (lambda x: x[:, [2, 0, 3, 1]], "another order along axis 1"),
        (lambda x: x.sort(dim=1).values, "sorted along axis 1"),
        (lambda x: x.flatten()[torch.randperm(64)].reshape(4, 4, 4), "in other places"),
        (lambda x: x[:, :1].expand_as(x), "first entry is repeated along axis 1"),
        (lambda x: x.mean(2, keepdim=True).expand_as(x), "right mean along the last axis"),
        (lambda x: x - x.mean(1, keepdim=True), "minus its mean along axis 1"),
        (lambda x: x.mean(1), "averaged along axis 1"),
        (lambda x: x.sum(2, keepdim=True), "summed along the last axis"),
        (lambda x: x[None].expand(3, -1, -1, -1), "repeated along an extra axis"),
        (lambda x: torch.cat([x[:, :3], 2 + x[:, 3:].abs()], 1), "axis 1, only the first 3 of 4 are right"),
        (lambda x: torch.cat([2 + x[:, :3].abs(), x[:, 3:]], 1), "axis 1, only the last of 4 is right"),
        (lambda x: torch.cat([x[:, :1], 2 + x[:, 1:2].abs(), x[:, 2:]], 1), "axis 1, only index 1 is wrong"),
        (lambda x: x.tril() + 9 * torch.ones_like(x).triu(1), "only above the diagonal"),
        (lambda x: x.triu() + 9 * torch.ones_like(x).tril(-1), "only below the diagonal"),
        (lambda x: x + 9 * torch.eye(4), "only on the diagonal"),
        (lambda x: torch.where(x < 0, x - 5 * x * x, x), "only where it should be negative"),
        (lambda x: 2 * x, "times 2, which is √4, and 4 is the size of"),
        (lambda x: 4 * x, "times 4, the size of axis 0 and of axis 1 and of the last axis."),
        (lambda x: 64 * x, "times 64, the number of entries."),
    ],
)
def test_a_relation_of_places_is_found(change, words):
    for seed in SEEDS:
        right = normal((4, 4, 4), seed)
        torch.manual_seed(seed)
        assert words in related(change(right), right)


def test_a_factor_is_recognized_as_a_power_of_a_size():
    right = normal((3, 4, 5), 0)
    inputs = torch.zeros(3, 4, 7), 11
    assert "divided by √7, and 7 is a size of the inputs" in related(right / 7**0.5, right, *inputs)
    assert "times 121, which is 11², and 11 is a size of the inputs" in related(right * 121, right, *inputs)
    assert "divided by 5, the size of the last axis" in related(right / 5, right, *inputs)
    assert related(right * 13, right, *inputs) == "Every entry is the right one times 13."


def test_shares_along_the_wrong_axis():
    scores = normal((3, 4, 6), 0)
    right = softmax(scores, -1)
    assert related(softmax(scores, 1), right) == (
        "Its entries sum to 1 along axis 1, but should along the last axis."
    )
    assert "softmax of the right entries along the last axis" in related(softmax(right, -1), right)
    assert "should sum to 1 along the last axis, and don't" in related(torch.sigmoid(scores), right)


def test_booleans_that_are_exchanged_or_all_the_same_are_recognized():
    right = torch.rand(4, 6, generator=torch.Generator().manual_seed(0)) < 0.5
    assert related(~right, right) == "True and False are exchanged."
    assert related(torch.ones_like(right), right) == "Every entry is True."
    square = torch.ones(6, 6, dtype=torch.bool).tril()
    assert "exchanged" in related(square.T, square)


def test_right_only_where_a_mask_hides_nothing():
    mask = torch.ones(3, 4, 4, dtype=torch.bool)
    mask[1, 2, 0] = mask[2, :2, 1] = False
    right = normal((3, 4, 6), 0)
    rows = ~mask.all(-1, keepdim=True)
    found = torch.where(rows, right + 1 + right.abs(), right)
    assert "queries from which the mask hides no key" in related(found, right, mask)
    weights = normal((3, 4, 4), 1)
    assert "only where the mask is True" in related(torch.where(mask, weights, 7.7), weights, mask)


@pytest.mark.parametrize(
    ("found", "right", "words"),
    [
        (torch.tensor(50.0), 0.5, "percent"),
        (-0.7316245, 0.7316245, "wrong sign"),
        (float(np.exp(1.7316245)), 1.7316245, "e to the power"),
        (0.7316245 * 12, 0.7316245, "times 12, a size of the inputs"),
        (0.7316245 / 84, 0.7316245, "divided by 7 · 12, sizes of the inputs"),
        (2.0, 0.731, ""),
        (3, -3, ""),
        (0.25, 0.5, ""),
    ],
)
def test_single_numbers_have_only_striking_relations(found, right, words):
    text = related(found, right, torch.zeros(7, 12))
    assert words in text if words else text == ""


@pytest.mark.parametrize(
    ("found", "right", "words"),
    [
        ("the cat sat on", "The cat sat on", "upper and lower case"),
        ("the cat  sat\n", "the cat sat", "spaces or line breaks"),
        ("thecatsat", "the cat sat", "spaces"),
        ("the cat, sat.", "the cat sat", "punctuation"),
        ("sat cat the", "the cat sat", "reverse order"),
        ("cat the sat", "the cat sat", "another order"),
        ("the cat sat", "the cat sat down", "ends too early"),
        ("the cat sat <eos>", "the cat sat", "continues after it"),
        ("a dog ran", "the cat sat", ""),
        ([5, 9, 4, 7, 1, 2], (5, 9, 4, 7, 1, 2), "only the type of the whole"),
        ([2, 1, 7, 4, 9, 5], [5, 9, 4, 7, 1, 2], "reverse order"),
        ([9, 4, 7, 1, 2, 8], [5, 9, 4, 7, 1, 2, 8], "first entry is missing"),
        ([5, 9, 4, 7, 1, 2], [5, 9, 4, 7, 1, 2, 8], "last entry is missing"),
        ([1, 5, 9, 4, 7, 8, 2], [5, 9, 4, 7, 8, 2], "an extra entry at the beginning"),
        ([5, 9, 4, 7, 8, 2, 2], [5, 9, 4, 7, 8, 2], "an extra entry at the end"),
        ([0, 5, 9, 4, 7, 8], [5, 9, 4, 7, 8, 2], "shifted by one place towards the end"),
        ([6, 10, 5, 8, 9, 3, 12, 2], [5, 9, 4, 7, 8, 2, 11, 1], "too large by the same number, 1"),
        (["b", "a", "c", "d", "e", "f", "g"], list("abcdefg"), "another order"),
        (list("abacdef"), list("abcdef"), "more than once"),
        (list("abcdef"), list("abacdef"), "only once"),
        (["5", "9", "4", "7", "8", "2"], [5, 9, 4, 7, 8, 2], "wrong type, such as [0], which is a str and should be an int"),
        (["the", "cat", "sat", "on", "it"], ["The", "cat", "Sat", "on", "it"], "upper and lower case"),
        ({0: "cat", 1: "dog", 2: "ape", 3: "hen"}, {"cat": 0, "dog": 1, "ape": 2, "hen": 3}, "Keys and values are exchanged"),
        ({"cat": 1, "dog": 2, "ape": 3, "hen": 4, "owl": 5, "eel": 6, "bee": 7}, {"cat": 0, "dog": 1, "ape": 2, "hen": 3, "owl": 4, "eel": 5, "bee": 6}, "too large by the same number, 1"),
        ({"cat": 0, "dog": 1}, {"Cat": 0, "Dog": 1}, "upper and lower case"),
        ({"cat": 0, "dog": 1}, {"cat": 0, "dog": 1, "ape": 2, "hen": 3}, "the others are missing"),
        ([7, 3], [3, 7], ""),
        (["x"], ["y"], ""),
        ({}, {"cat": 0, "dog": 1, "ape": 2}, ""),
    ],
)  # fmt: skip
def test_a_relation_of_text_lists_and_dicts_is_named_if_it_is_striking(found, right, words):
    text = related(found, right)
    assert words in text if words else text == ""


def test_a_part_of_a_tuple():
    right = normal((3, 4), 0), normal((4, 5), 1)
    assert related((right[0], -right[1]), right) == "At [1]: Every entry has the wrong sign."


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_right_value_beside_others_and_one_of_several_alone(shape):
    right, other = normal(shape, 0), normal(shape, 1)
    assert related((other, right), right).startswith("The right value is entry [1] of the tuple")
    assert related([right, other, other], right).startswith("The right value is entry [0] of the list")
    assert related((right, right.clone()), right) == ""  # either may be meant
    assert related((other, other), right) == ""
    assert related(other, (right, other)).startswith("It is what should be at [1] of a tuple of 2")
    assert related(2 * other, (right, other)) == ""
    assert related((torch.tensor(True), torch.tensor(False)), torch.tensor(True)) == ""


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda x: x + torch.tensor([-1.0, 0, 1]).reshape(3, 1, 1), "its mean along axis 0"),
        (lambda x: x.expand(3, 4, 6) / 3, "its sum along axis 0"),
        (lambda x: x - torch.tensor([0.0, 1, 2]).reshape(3, 1, 1), "its largest entry along axis 0"),
    ],
)
def test_a_value_that_was_not_reduced(change, words):
    right = normal((4, 6), 0)
    assert f"The right one is {words}." == related(change(right[None].expand(3, 4, 6)), right)
    number = torch.tensor(1.7316245)
    assert "its mean along its only axis" in related(torch.tensor([0.7316245, 2.7316245]), number)
    assert "its mean" not in related(torch.tensor([0.0, 2.0]), torch.tensor(1.0))
    assert "its mean" not in related(torch.tensor([0.73, 2.73, 8.1]), number)


@pytest.mark.parametrize(
    ("found", "right", "words"),
    [
        ((3, 7), (3, 1, 7), "Only an axis of size 1 is missing."),
        ((3, 1, 1, 7), (3, 1, 7), "Only an axis of size 1 is extra."),
        ((3, 7, 1), (3, 1, 7), "Its axis of size 1 is in the wrong place."),
        ((3, 7, 7), (3, 1, 7), "the size of the last axis along axis 1 as well, where the size should be 1"),
        ((3, 3, 7), (3, 1, 7), "the size of axis 0 along axis 1 as well"),
        ((4, 3, 6), (3, 4, 6), "axis 0 and axis 1 exchanged"),
        ((4, 6, 3), (3, 4, 6), "the right sizes, but in another order"),
        ((3, 5), (3, 5, 11), "the last axis is missing"),
        ((2, 3, 5), (3, 5), "one axis too many: axis 0"),
        ((15, 11), (3, 5, 11), "axis 0 and axis 1 are joined into one"),
        ((6,), (), "a single number, without axes"),
        ((3, 5), (3, 5), ""),
        ((3, 5), (3, 6), ""),
        ((4, 4), (4, 4, 4), ""),  # it can't be said which axis
        ((4, 4, 4), (4, 4), ""),
        ((4, 2, 7), (3, 1, 7), ""),
        ((3, 0), (3, 4), ""),
        ((2, 2, 3), (2, 3, 2), ""),  # equal sizes may be exchanged in two ways
        ((7, 11), (3, 5, 13), ""),
    ],
)
def test_a_relation_of_shapes_is_named_if_it_is_the_only_one(found, right, words):
    text = relation_of(WrongShape(found, right))
    assert words in text if words else text == ""


def test_nothing_is_claimed_of_shapes_whose_sizes_differ():
    random = np.random.default_rng(16)
    for _ in range(2_000):
        found, right = (
            tuple(int(random.choice(sizes)) for _ in range(random.integers(1, 5)))
            for sizes in ([2, 3, 5, 7], [11, 13, 17, 19])
        )
        assert relation_of(WrongShape(found, right)) == ""


def test_a_column_of_a_table():
    right = pd.DataFrame({"name": list("abcdef"), "mass": [1.5, 2.25, 3.7, 4.1, 5.9, 7.3]})
    found = right.assign(mass=right["mass"] * 1000)
    assert related(found, right) == "In the column `mass`: Every entry is the right one times 1000."
    assert "wrong sign" in related(-right["mass"], right["mass"])


def test_few_witnesses_prove_nothing():
    assert related(torch.tensor([2.0, 4.0]), torch.tensor([1.0, 2.0])) == ""
    assert related(torch.tensor([True, False]), torch.tensor([False, True])) == ""
    assert related([1, 2], [2, 1]) == ""
    assert related(torch.tensor([1, 0, 1]), torch.tensor([0, 1, 0])) == ""


def made_up(random):
    """A right value and a wrong one that has nothing to do with it."""
    shape = tuple(int(size) for size in random.integers(1, 7, random.integers(0, 5)))
    kind = random.integers(0, 10)
    right = random.standard_normal(shape)
    if kind == 6:
        return right + 0.01 * random.standard_normal(shape), right
    if kind == 7:
        return right * random.uniform(0.5, 2, shape), right
    if kind == 8 and shape:
        shares = np.exp(random.standard_normal((2, *shape)))
        return tuple(shares / shares.sum(-1, keepdims=True))
    if kind == 9 and shape:
        return random.standard_normal((shape[-1], shape[-1])) @ right.reshape(-1, shape[-1]).T, right
    both = []
    for _ in range(2):
        if kind == 0:
            both.append(random.standard_normal(shape).astype(np.float32))
        elif kind == 1:
            both.append(random.standard_normal(shape) ** 3)
        elif kind == 2:
            both.append(random.integers(0, 12, shape))
        elif kind == 3:
            both.append(random.random(shape) < 0.5)
        elif kind == 4:
            both.append(random.integers(0, 1000, shape))
        else:
            both.append(random.random(shape).round(2))
    return both


@pytest.mark.slow
@pytest.mark.parametrize("times", mostly_thorough([1_000, 4_000]))
def test_nothing_is_claimed_of_wrong_values_that_have_no_relation(times):
    random = np.random.default_rng(16)
    claims = Counter()
    for _ in range(times):
        found, right = made_up(random)
        sizes = InPlay(frozenset(map(int, random.integers(2, 12, 5))), (random.random((3, 4, 4)) < 0.5,))
        text = relation_of(WrongValue(found, right, Tolerance()), sizes)
        shapes = np.shape(found), np.shape(right)
        if text == relation_of(WrongShape(*shapes)):
            continue  # nothing, or of the shapes alone, which is so whatever the entries are
        if shapes[0] != shapes[1] or not np.allclose(found, right, rtol=1e-4, atol=1e-5):
            claims[text] += 1
    assert claims == {}


def test_nothing_is_claimed_of_plain_values_that_have_no_relation():
    random = np.random.default_rng(16)
    words = [f"{a}{b}" for a in "abcdefgh" for b in ("an", "et", "i", "oo")]
    claims = Counter()
    for turn in range(2_000):
        pair = []
        for _ in range(2):
            length = int(random.integers(1, 9))
            chosen = [words[n] for n in random.integers(0, len(words), length)]
            ids = [int(n) for n in random.integers(0, 12, length)]
            made = [" ".join(chosen), chosen, ids, dict(zip(chosen, ids, strict=True))]
            pair.append(made[turn % 4])
        if pair[0] != pair[1]:
            claims[related(*pair)] += 1
    del claims[""]
    assert claims == {}


def test_it_takes_less_than_20_milliseconds_of_cpu_time():
    right = normal((3, 4, 6), 0)
    found = normal((3, 4, 6), 1)
    related(found, right)  # torch prepares itself
    started = time.process_time()
    for _ in range(40):
        related(found, right, torch.zeros(3, 4, 4, dtype=torch.bool))
    assert (time.process_time() - started) / 40 < 0.020
