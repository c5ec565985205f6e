"""Assertions that a right formula also holds in double precision, in any memory layout, in each mode, without gradients, beside
another module and in later calls, that its gradients are right, and that a call leaves a model and the random state as they were."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradekit.checks.asserts import SETS_THE_SEED, argument_in_words, assert_close, fail, in_words, parts_of
from gradekit.codecs import describe
from gradekit.inside.arrays import Array, as_numpy, is_array, is_float, noun, to_numpy
from gradekit.inside.messages import probe
from gradekit.session.proxy import Module, Student
from gradekit.session.values import Call, CheckOutcome, Gradients, StudentError

#: a value that is wrong by more than this share of the largest right one has another fault than its precision
_NEARLY = 0.01
#: no student's code sets this one
_UNLIKELY_SEED = 271_828_183
#: how many digits are left where a step is computed in float32
_FLOAT32_DIGITS = range(6, 10)
_IN_FLOAT32 = (
    "That is what float32 has: a step on the way is computed in it, or a tensor that you make is float32. Give that one the "
    "dtype of the inputs."
)
_ROUNDED = "Is a small number added somewhere, a number cut off, or a constant rounded?"
#: how far inputs and parameters are moved to measure slopes, in float64
_STEP = 1e-6


_CONDITION = """
import copy
import torch

kept = {}


def settle(model, training):
    model.train(training)
    for number, parameter in enumerate(model.parameters()):
        parameter.requires_grad_(training or number > 0)
        parameter.grad = torch.full_like(parameter, 0.5) if training else None
    kept["before"] = copy.deepcopy(condition(model))


def condition(model):
    parameters = dict(model.named_parameters())
    return {
        "weights": dict(model.state_dict()),
        "mode": {name: torch.tensor(part.training) for name, part in model.named_modules()},
        "frozen": {name: torch.tensor(not each.requires_grad) for name, each in parameters.items()},
        "gradients": {name: each.grad for name, each in parameters.items() if each.grad is not None},
        "hooks": {
            f"{name} {kind}": torch.tensor(len(hooks))
            for name, part in model.named_modules()
            for kind, hooks in vars(part).items()
            if kind.endswith("_hooks")
        },
    }


def changed(model):
    now = condition(model)
    return [
        [kind, name]
        for kind, before in kept["before"].items()
        for name in {**before, **now[kind]}
        if name not in before or name not in now[kind] or not torch.equal(before[name], now[kind][name])
    ]
"""
_SENTENCES = {
    "weights": "`{call}` changed the model's `{name}`. Work on a copy, or put back what was there.",
    "mode": "`{call}` got the model in {before} mode and left a part of it in {after} mode. Leave the mode as it was.",
    "frozen": "`{call}` changed whether the model's parameter `{name}` requires gradients. Leave that as it was: "
    "`torch.no_grad()` needs no parameter to be frozen.",
    "gradients": "`{call}` changed the gradient that the model's parameter `{name}` held. Neither `zero_grad()` nor "
    "`backward()` leaves a model as it was.",
    "hooks": "`{call}` left a hook on the model. Remove it with the handle that registering it returned.",
}


def assert_full_precision(
    actual: Any, right: Array, name: str, context: str = "", digits: int = 10, each: bool = False
) -> None:
    """Fail if a float64 result is nearly right, but not to `digits` digits: something was rounded, or a small number added.

    A result that isn't even nearly right passes, since it is for the check of the formula. One of another dtype fails.
    `right` is computed in float64, and from inputs that show the fault: what float32 represents exactly, such as 1/4, does not.

    Args:
        each: every number has to be right to its own digits, not to those of the largest one. It is for numbers that no
            subtraction makes small, such as the weights of a softmax.

    Example:
        x = draw.normal(2, 5, dtype=torch.float64)
        assert_full_precision(student.normalized(x), F.layer_norm(x, (5,)), name="output")
    """
    found, wanted, value = as_numpy(actual), as_numpy(right), in_words(name, context)
    if found is None or wanted is None:
        fail(f"{value} is {describe(actual)}, but should be {noun()}.")
    if found.dtype != np.float64:
        fail(f"The inputs are float64, but {value} is {str(actual.dtype).removeprefix('torch.')}.")
    if found.shape != wanted.shape or not np.isfinite(found).all():
        return
    off, size = np.abs(found - wanted), np.abs(wanted)
    if off.max(initial=0) >= _NEARLY * size.max(initial=0):
        return
    share = off / np.maximum(size if each else size.max(initial=0), np.finfo(np.float64).tiny)
    worst = float(share.max(initial=0))
    if worst <= 10.0**-digits:
        return
    right_digits = max(int(-np.log10(worst)), 0)
    cause = _IN_FLOAT32 if right_digits in _FLOAT32_DIGITS else _ROUNDED
    how = (
        f"is right only to about {right_digits} digits"
        if right_digits
        else "has a number with no right digit"
    )
    fail(f"The inputs are float64, but {value} {how}. {cause}")


def assert_not_rounded(actual: float, right: float, name: str, digits: int = 5) -> None:
    """Fail if a number is one of at most `digits` decimals, unless the right one is.

    It is for a number that is compared with a tolerance that lets a rounded one pass. What is as close to the right number
    as float32 passes.

    Example:
        x = draw.normal(5)
        assert_not_rounded(float(student.normalized(x)[0]), float(F.layer_norm(x, (5,))[0]), name="output")
    """
    if abs(actual - right) <= 2 * float(np.finfo(np.float32).eps) * abs(right):
        return
    for places in range(digits + 1):
        if actual == round(actual, places) and right != round(right, places):
            fail(
                f"`{name}` is {actual!r}, a number rounded to {places} {'decimal' if places == 1 else 'decimals'}. Return it as it is: "
                "rounding is for printing."
            )


def assert_any_layout(call: Callable[..., Any], *args: Any, name: str = "output") -> None:
    """Fail unless a call returns the same for inputs that aren't contiguous in memory, as after a transposition.

    `call` takes `contiguous=False`, as functions of the student's and modules do.

    Example:
        assert_any_layout(student.normalized, draw.normal(2, 3, 5))
    """
    layout = "for inputs that aren't contiguous in memory, such as transposed ones"
    _assert_same_when(call, args, name, "for contiguous inputs", layout, contiguous=False)


def assert_same_without_gradients(call: Callable[..., Any], *args: Any, name: str = "output") -> None:
    """Fail unless a call returns the same under `torch.no_grad()`, where tensors can be changed in place that otherwise can't.

    The check also fails if the call changes an argument in place there, records gradients, or leaves them switched on. `call` takes
    `no_grad=True`, as functions of the student's and modules do.

    Example:
        assert_same_without_gradients(student.normalized, draw.normal(2, 3, 5))
    """
    usually = "where gradients are recorded"
    _assert_same_when(call, args, name, usually, "under `torch.no_grad()`", no_grad=True)


def _assert_same_when(
    call: Callable[..., Any], args: Sequence[Any], name: str, usually: str, here: str, **how: bool
) -> None:
    """Fail unless a call that is made with `how` returns the same as without; `usually` and `here` say what that means."""
    before = call(*args)
    try:
        after = call(*args, **how)
    except StudentError as error:
        if error.outcome != CheckOutcome.FAILED:
            raise
        fail(f"It works {usually}, but {here}, {error}")
    _assert_same(after, before, name, here)


def _assert_same(after: Any, before: Any, name: str, context: str) -> None:
    """Fail unless two results are the same, or their parts."""
    several = isinstance(before, tuple | list)
    for found, right in zip(after, before, strict=True) if several else [(after, before)]:
        assert_close(found, right, name=name, context=context)


def assert_same_in_each_mode(module: Module, *calls: Sequence[Any], name: str = "output") -> None:
    """Fail unless a module whose mode changes nothing returns the same in training and in evaluation mode.

    Each of `calls` has the arguments of a call. With several of the same shapes, it also fails if the module keeps what it
    computed in an earlier call.

    Example:
        assert_same_in_each_mode(student.Attention(4), (draw.normal(2, 4),), (draw.normal(2, 4),))
    """
    module.train()
    before = [module(*args) for args in calls]
    module.eval()
    for args, right in zip(calls, before, strict=True):
        _assert_same(module(*args), right, name, "in evaluation mode, compared with that in training mode,")
    module.train()


def assert_right_gradients(gradients: Gradients, call: Callable[..., Any], name: str = "output") -> None:
    """Fail unless gradients are the slopes that are measured when inputs, and parameters of a module, move a little.

    A result can be right and its gradients wrong: where something is detached, or changed through `.data`. Inputs and
    parameters have to be float64, without dropout. A result that isn't float64 is for another check.

    Example:
        x = draw.normal(2, 5, dtype=torch.float64)
        assert_right_gradients(student.gradients("normalized", x), student.normalized)
    """
    args = list(gradients.arguments)
    for place, found in enumerate(gradients.inputs):
        if is_array(args[place]) and is_float(args[place]):
            way = probe(args[place])
            ends = [[*args[:place], args[place] + sign * _STEP * way, *args[place + 1 :]] for sign in (1, -1)]
            what = f"The gradient of {argument_in_words(place, gradients.names)}"
            _assert_slope([call(*end) for end in ends], [(found, way)], what, name)
    if isinstance(call, Module):
        state = {key: value for key, value in call.parameters().items() if is_float(value)}
        ways = {key: probe(value) for key, value in state.items()}
        ends = []
        for sign in (1, -1):
            moved = {key: value + sign * _STEP * ways[key] for key, value in state.items()}
            ends.append(call.load_state(moved)(*args))
        call.load_state(state)
        pairs = [(gradients.parameters.get(key), way) for key, way in ways.items()]
        _assert_slope(ends, pairs, "A gradient of the parameters", name)


def _assert_slope(ends: Sequence[Any], gradients: Sequence[tuple[Any, Any]], what: str, name: str) -> None:
    totals = []
    for end in ends:
        parts = [to_numpy(part) for part in parts_of(end) if is_array(part) and is_float(part)]
        if all(part.dtype != np.float64 or np.array_equal(part.astype(np.float32), part) for part in parts):
            return  # that is for a check of the dtype, or of the precision
        totals.append(sum(float((part * probe(part)).sum()) for part in parts))
    slope = (totals[0] - totals[1]) / (2 * _STEP)
    found = sum(float((gradient * way).sum()) for gradient, way in gradients if gradient is not None)
    if not abs(slope - found) <= 1e-3 * max(abs(slope), abs(found), 1e-3):
        fail(
            f"{what} is wrong: it says that `{name}` changes at a rate of {found:.3g} when that moves a little, but it changes at a "
            f"rate of {slope:.3g}. Is something on the way detached, or changed through `.data`?"
        )


def assert_follows_parameters(
    modules: Sequence[Module],
    states: Sequence[dict[str, Array]],
    right: Callable[[dict[str, Array]], Array],
    *args: Any,
    name: str = "output",
    replaced: bool = False,
) -> None:
    """Fail unless each module computes with its own parameters as they are now, in training and in evaluation mode.

    Two modules of the same sizes are given one state each, and exchange them between their calls. `right` returns the right
    output for a state. It is for modules whose mode changes nothing. With `replaced`, the modules' parameters are then replaced,
    as by `module.scale = nn.Parameter(...)`: one that keeps the old ones elsewhere fails.

    Example:
        modules = [student.Affine(3), student.Affine(3)]
        states = [{"scale": draw.normal(3), "shift": draw.normal(3)} for _ in modules]
        assert_follows_parameters(modules, states, lambda state: x * state["scale"] + state["shift"], x)
    """
    for training in (True, False):
        mode = "training" if training else "evaluation"
        for time, given in (("", states), (" again, after its parameters have changed", states[::-1])):
            for module, state in zip(modules, given, strict=True):
                module.load_state(state).train(training)
            for module, state in zip(modules, given, strict=True):
                context = f"of one of two modules in {mode} mode{time},"
                assert_close(module(*args), right(state), name=name, context=context.removesuffix(","))
    if replaced:
        for module, state in zip(modules, states, strict=True):
            output = module.replace_state(state)(*args)
            context = "after its parameters have been replaced by other `nn.Parameter`s"
            assert_close(output, right(state), name=name, context=context)


def assert_model_kept(
    student: Student, model: Module, call: Callable[[], Call], but: Sequence[str] = ()
) -> None:
    """Fail unless a call leaves a model's weights, modes, gradients and hooks, and what is frozen in it, as they were.

    What is in `but` may change: "weights", "mode", "frozen", "gradients" or "hooks".

    The call is made twice: with the whole model in training mode and gradients in its parameters, then in evaluation mode with
    its first parameter frozen.

    Example:
        model = student.Attention(4)
        assert_model_kept(student, model, lambda: student.call("predict", model, torch.ones(4)))
    """
    helper = student.define(_CONDITION)
    for training in (True, False):
        helper.settle(model, training)
        made = call()
        for kind, name in helper.changed(model):
            if kind in but:
                continue
            before, after = ("training", "evaluation") if training else ("evaluation", "training")
            fail(_SENTENCES[kind].format(call=made.name, name=name, before=before, after=after))


_SPOIL = """
import copy
import torch


def asked_again(function, args):
    first = function(*args)
    parts = [part.detach() for part in tuple_of(first) if isinstance(part, torch.Tensor)]
    for part in parts:
        spoil(part)
    spoiled = [part.clone() for part in parts]
    again = kept(function(*args))
    overwritten = any(part.nan_to_num().ne(one.nan_to_num()).any().item() for part, one in zip(parts, spoiled))
    for arg in args:
        if isinstance(arg, torch.Tensor) and arg.ndim:
            arg.copy_(arg.flip(-1))
    return again, overwritten, function(*args), function(*copy.deepcopy(args))


def kept(value):
    copies = [part.detach().clone() if isinstance(part, torch.Tensor) else part for part in tuple_of(value)]
    return copies if isinstance(value, (tuple, list)) else copies[0]


def tuple_of(value):
    return value if isinstance(value, (tuple, list)) else [value]


def spoil(result):
    try:
        result.logical_not_() if result.dtype == torch.bool else result.add_(1)
    except RuntimeError:  # such as an expanded tensor, which nobody can change in place
        pass
"""


def assert_fresh(student: Student, function: str, *args: Any, name: str = "result") -> None:
    """Fail unless a function returns the same again after its caller has changed the first result, and leaves that as it is.

    One that stores a tensor and returns it in each call lets a caller spoil all later calls; one that writes each result into
    the same tensor overwrites what its caller still has. One that stores results for the tensors it was given returns an old one
    when their numbers have changed. It is for functions whose result is a new tensor, not for one that may be a view of what it
    was given.

    Example:
        assert_fresh(student, "normalized", draw.normal(2, 5))
    """
    before = student.call(function, *args).value
    again, overwritten, later, right_then = student.define(_SPOIL).asked_again(
        student.get(function), list(args)
    )
    _assert_same(again, before, name, "of a second call, after the first result was changed in place,")
    if overwritten:
        fail(
            f"A second call of `{function}` overwrote the {name} of the first, which its caller still has. Make a new tensor in each call."
        )
    _assert_same(later, right_then, name, "of a call after the numbers in the same tensors have changed,")


def assert_seed_kept(call: Callable[[int], Call]) -> None:
    """Fail if a call that draws random numbers sets torch's seed, for itself and for whatever is drawn after it.

    `call` gets the seed with which it is to make the call. A generator of the function's own passes, and so does a seed that
    is put back.

    Example:
        assert_seed_kept(lambda seed: student.call("normalized", torch.randn(2, 5), seed=seed))
    """
    made = call(_UNLIKELY_SEED)
    if made.seeded:
        fail(SETS_THE_SEED.format(name=made.name))
