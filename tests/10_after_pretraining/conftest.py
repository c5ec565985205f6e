"""Shared by the checks: small models made in the kernel and here, from the same code and the same weights.

Where an exercise uses an earlier one, the oracle uses the student's own answer to it, so a mistake doesn't cost points
twice.
"""

from types import SimpleNamespace

import pytest

from gradekit.checks import in_kernel

MODELS = """
import copy

import torch
from torch import nn


def linear(weight, bias=None):
    '''An nn.Linear with these entries.'''
    layer = nn.Linear(*reversed(weight.shape), bias=bias is not None, dtype=weight.dtype)
    with torch.no_grad():
        layer.weight.copy_(weight)
        if bias is not None:
            layer.bias.copy_(bias)
    return layer


class Inner(nn.Module):
    def __init__(self, width, wide):
        super().__init__()
        self.w_q = nn.Linear(width, width, bias=False)
        self.w_up = nn.Linear(width, wide)
        self.w_down = nn.Linear(wide, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        return x + self.norm(self.w_down(torch.tanh(self.w_up(self.w_q(x)))))


class Nested(nn.Module):
    '''Linear layers at three depths, some in a ModuleList, one in a Sequential; `w_v` is an embedding, `shift` a parameter.'''

    def __init__(self, width, wide, blocks):
        super().__init__()
        self.embedding = nn.Embedding(7, width)
        self.blocks = nn.ModuleList([Inner(width, wide) for _ in range(blocks)])
        self.w_v = nn.Embedding(7, width)
        self.w_q = nn.Linear(width, width)
        self.shift = nn.Parameter(torch.zeros(width))
        self.tail = nn.Sequential(nn.Linear(width, wide), nn.Tanh(), nn.Linear(wide, 7, bias=False))

    def forward(self, ids):
        x = self.embedding(ids) + self.w_v(ids)
        for block in self.blocks:
            x = block(x)
        return self.tail(self.w_q(x) + self.shift)


def two_layers(width, wide):
    return nn.Sequential(nn.Linear(width, wide), nn.Linear(wide, width))


def layers_called_linear(width):
    return nn.ModuleDict({"linear": nn.Linear(width, width), "inner": nn.ModuleDict({"linear": nn.Linear(width, 3)})})


def with_its_own_a(width):
    model = nn.ModuleDict({"linear": nn.Linear(width, width), "other": nn.Module()})
    model.A, model["other"].B = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(2))
    return model


def modes(model):
    '''The modes of the parts that were in the model before: True is training.'''
    own = [part for part in model.modules() if type(part).__name__ not in ("Linear", "LoRALinear")]
    return sorted({part.training for part in own})


def as_function(preference_loss, policy, reference, chosen, rejected, beta):
    '''The result for models that are functions.'''
    return preference_loss(lambda ids: policy(ids), lambda ids: reference(ids), chosen, rejected, beta)


def kinds(model):
    '''The names of all linear layers and of those around them, each with its class.'''
    names = ("Linear", "LoRALinear")
    return {name: type(part).__name__ for name, part in model.named_modules() if type(part).__name__ in names}


def trained(model):
    '''The names of the parameters that require gradients, and how many entries they have.'''
    found = {name: weight.numel() for name, weight in model.named_parameters() if weight.requires_grad}
    return {"names": sorted(found), "number": sum(found.values())}


def merged_unfrozen(merge_lora, model):
    '''The parameters outside of linear layers that require gradients after merging and didn't before.'''
    before = trained(model)["names"]
    merge_lora(model)
    linear = tuple(f"{name}." for name in kinds(model))
    return [name for name in trained(model)["names"] if name not in before and not name.startswith(linear)]


def alphas(model):
    '''For each LoRALinear: what it adds for ones, if all entries of A and B are 1.'''
    added = {}
    for name, part in list(model.named_modules()):
        if type(part).__name__ == "LoRALinear":
            with torch.no_grad():
                part.A.fill_(1.0), part.B.fill_(1.0)
                x = torch.ones(part.linear.in_features)
                added[name] = float((part(x) - part.linear(x))[0]) / part.linear.in_features
    return added


def loses_gradients(add_lora, model, names):
    '''The parameters of a model whose gradients a call changes.'''
    before = dict(model.named_parameters())
    for weight in before.values():
        weight.grad = torch.full_like(weight, 0.5)
    add_lora(model, names, 2, 1.0)
    lost = [name for name, weight in before.items() if weight.grad is None or not (weight.grad == 0.5).all()]
    for weight in before.values():
        weight.grad = None
    return lost


def fill_changes(model, seed):
    '''Draws new entries for all A and B.'''
    generator = torch.Generator().manual_seed(seed)
    for name, weight in sorted(model.named_parameters()):
        if name.rsplit(".", 1)[-1] in ("A", "B"):
            with torch.no_grad():
                weight.copy_(0.3 * torch.randn(weight.shape, generator=generator))


def keeps_its_layer(LoRALinear, layer):
    '''Whether `linear` is the layer that is passed in, and which of that layer's parameters require gradients.'''
    module = LoRALinear(layer, 2, 1.0)
    trained = [name for name, weight in layer.named_parameters() if weight.requires_grad]
    return {"same": module.linear is layer, "trained": trained}


def gradient_of_input(module, x, wanted):
    '''The gradient of x for the sum of the outputs times `wanted`, or None.'''
    x = x.clone().requires_grad_()
    output = module(x)
    if output.requires_grad:
        (output * wanted).sum().backward()
    return x.grad


def runs_of_two_calls(preference_loss, policy, reference, chosen, rejected):
    '''How often each model runs in a second call with the same objects, after the reference has got other weights.'''
    preference_loss(policy, reference, chosen, rejected, 1.0)
    before = len(policy.read), len(reference.read)
    with torch.no_grad():
        reference.table.mul_(2)
    preference_loss(policy, reference, chosen, rejected, 1.0)
    return {"policy": len(policy.read) - before[0], "reference": len(reference.read) - before[1]}


def lists_afterwards(answer_batch, pairs, pad):
    '''The pairs after a call, and the padding.'''
    answer_batch(pairs, pad)
    return pairs


def merged(module):
    return module.merged()


def copied(model):
    return copy.deepcopy(model)


def logits_merged(model, ids):
    '''The logits of a copy in which each LoRALinear is replaced by its own merged().'''
    model = copy.deepcopy(model)
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if type(child).__name__ == "LoRALinear":
                parent._modules[name] = child.merged()
    return model(ids).detach()


def shares_memory(one, other):
    '''Whether a parameter of one module is in the memory of another.'''
    places = {weight.untyped_storage().data_ptr() for weight in other.parameters()}
    return any(weight.untyped_storage().data_ptr() in places for weight in one.parameters())


class Tables(nn.Module):
    '''Logits from a table for each token and a running mean of it; notes how it is called.'''

    def __init__(self, table, mix):
        super().__init__()
        self.table, self.mix = nn.Parameter(table), nn.Parameter(mix)
        self.gradients, self.read = [], []

    def forward(self, ids):
        self.gradients.append(torch.is_grad_enabled())
        self.read.append(ids.tolist())
        x = self.table[ids]
        before = x.cumsum(dim=1) / torch.arange(1, ids.shape[1] + 1)[:, None]
        return x + before @ self.mix


def notes(model):
    return {"gradients": model.gradients, "read": model.read, "training": model.training}


def gradients_of(preference_loss, policy, reference, chosen, rejected, beta):
    '''The gradients of the policy after backward, and whether the reference has one.'''
    loss, margins = preference_loss(policy, reference, chosen, rejected, beta)
    if loss.requires_grad:
        loss.backward()
    return {
        "policy": [weight.grad for weight in policy.parameters() if weight.grad is not None],
        "reference": any(weight.grad is not None for weight in reference.parameters()),
        "margins": bool(margins.requires_grad),
    }


def gradients_of_dpo(dpo_loss, entries, beta):
    '''The gradients of the four inputs, None where there is none, and whether the margins have one.'''
    inputs = [entry.clone().requires_grad_() for entry in entries]
    loss, margins = dpo_loss(*inputs, beta)
    if loss.requires_grad:
        loss.backward()
    return {
        "inputs": [entry.grad for entry in inputs],
        "margins": bool(margins.requires_grad),
        "kept": all(entry.requires_grad for entry in inputs),
    }


def gradient_of_loss(answer_loss, logits, ids, counts):
    '''The gradient of the logits, or None.'''
    logits = logits.clone().requires_grad_()
    loss = answer_loss(logits, ids, counts)
    if loss.requires_grad:
        loss.backward()
    return logits.grad
"""


#: The models, in the student's kernel.
models = in_kernel(MODELS)


@pytest.fixture(scope="session")
def own_models():
    """The same models, in the grader."""
    names: dict = {}
    exec(MODELS, names)
    return SimpleNamespace(**names)
