"""Fails a check if a call leaves a model in another condition than it was in."""

from collections.abc import Callable

from gradekit.checks.comparison import fail
from gradekit.session.module import Module
from gradekit.session.proxy import Student
from gradekit.session.values import Call

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


def assert_model_kept(student: Student, model: Module, call: Callable[[], Call]) -> None:
    """Fail unless a call leaves a model's weights, modes, gradients and hooks, and what is frozen in it, as they were.

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
            before, after = ("training", "evaluation") if training else ("evaluation", "training")
            fail(_SENTENCES[kind].format(call=made.name, name=name, before=before, after=after))
