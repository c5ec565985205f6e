"""Shared by the checks: the ban on ready-made transformers, and fake models, created in the kernel.

The fake models are not trained. They output what the check prescribes, and record how they are used.
"""

from gradekit.checks import TORCH_ATTENTION, fail, for_checks, forbid, in_kernel

only_own_code = forbid(*TORCH_ATTENTION, "TransformerEncoder*", "TransformerDecoder*")

SOURCES = """
import torch


class Stream:
    '''Return the listed sources in order, and start again at the end.'''

    def __init__(self, sources):
        self.sources, self.calls = sources, 0

    def __call__(self):
        self.calls += 1
        return list(self.sources[(self.calls - 1) % len(self.sources)])


def as_set(sources):
    return {tuple(source) for source in sources}


def answer(source):
    '''An answer that is longer than its source, a list, and contains all of it.'''
    return [number + 10 for number in source] + source[:1] + [2]


def other_answer(source):
    return source + [2]


def short_answer(source):
    return [max(source), 2]


def in_order(source):
    return sorted(source)


def calls(stream):
    return stream.calls


def size(held_out):
    return len(held_out)
"""

WATCHED = """
import torch
from torch import nn
from torch.optim.optimizer import register_optimizer_step_post_hook


class Watched(nn.Module):
    '''Logits from a table: a row for the token that is read plus one for the first source token.'''

    def __init__(self):
        super().__init__()
        self.rows = nn.Parameter(torch.sin(torch.arange(81.0)).reshape(9, 9))
        self.read, self.modes, self.moves, self.cleared, self.logits, self.slopes = [], [], [], [], [], []
        self.inner = nn.Dropout(0.0)  # a part with a mode of its own
        self.rows.register_hook(self.remember)
        self.rows.register_post_accumulate_grad_hook(self.compare)
        self.before = self.rows.detach().clone()
        self.start = self.before

    def remember(self, gradient):
        self.gradient = gradient.detach().clone()

    def compare(self, rows):
        self.cleared.append(bool(torch.allclose(rows.grad, self.gradient)))

    def forward(self, source, decoder_input):
        self.modes.append(self.training and self.inner.training)
        self.read.append([source.tolist(), decoder_input.tolist()])
        self.moves.append(float((self.rows.detach() - self.before).abs().max()))
        self.before = self.rows.detach().clone()
        logits = self.rows[decoder_input] + 0.5 * self.rows[source[:, :1]]
        self.logits.append(logits.detach().clone())
        if logits.requires_grad:
            logits.register_hook(lambda slope: self.slopes.append(slope.clone()))
        return logits


class Batches:
    '''A new batch on every call, the same in every run: (source, decoder input, targets), with padding.'''

    def __init__(self):
        self.generator = torch.Generator().manual_seed(5)
        self.given, self.targets = [], []

    def __call__(self):
        source = torch.randint(3, 9, (4, 5), generator=self.generator)
        targets = torch.randint(3, 9, (4, 5), generator=self.generator)
        targets[1, 2:] = 0
        targets[3, 4:] = 0
        decoder_input = torch.randint(0, 9, (4, 5), generator=self.generator)  # whatever it is, the model gets it
        self.given.append([source.tolist(), decoder_input.tolist()])
        self.targets.append(targets)
        return source, decoder_input, targets


def notes(model, batches):
    return {
        "read": model.read, "given": batches.given, "modes": model.modes, "moves": model.moves,
        "cleared": model.cleared, "moved": float((model.rows.detach() - model.start).abs().mean()),
        "logits": model.logits, "targets": batches.targets, "slopes": model.slopes,
    }


def slope_of(sequence_loss, logits, targets):
    '''The gradient of the loss at the logits.'''
    logits = logits.clone().requires_grad_()
    sequence_loss(logits, targets, 0).backward()
    return logits.grad


def updates(train, steps):
    '''Train a model. Return how often its optimizer has changed the weights, and whether they are the last ones and can be trained again.'''
    model, made = Watched(), []
    hook = register_optimizer_step_post_hook(lambda *_: made.append(model.rows.detach().clone()))
    try:
        train(model, Batches(), steps, 0.01)
    finally:
        hook.remove()
    last = bool(made) and torch.equal(model.rows.detach(), made[-1])
    return len(made), last, model.rows.requires_grad


class Pushed(nn.Module):
    '''The logit of token 3 is one number. The targets push it up five times, then down.'''

    def __init__(self):
        super().__init__()
        self.weight, self.seen = nn.Parameter(torch.zeros(())), []

    def forward(self, source, decoder_input):
        self.seen.append(float(self.weight.detach()))
        return self.weight * nn.functional.one_hot(torch.full_like(decoder_input, 3), 6)

    def batch(self):
        ones = torch.ones(2, 3, dtype=torch.int64)
        return ones, ones, ones * (3 if len(self.seen) < 5 else 4)


def pushed_up_then_down(train):
    '''Train it for 12 steps. Return how far it moved in the first five steps, and in the sixth.'''
    model = Pushed()
    train(model, model.batch, 12, 0.05)
    return model.seen[5] - model.seen[0], model.seen[6] - model.seen[5]


class TwoWeights(nn.Module):
    '''The logit of token 3 is a number and a hundredth of another, times `scale`. The targets push both up, in every step.'''

    def __init__(self, scale):
        super().__init__()
        self.weights, self.scale, self.seen = nn.Parameter(torch.zeros(2)), scale, []

    def forward(self, source, decoder_input):
        self.seen.append(self.weights.tolist())
        logit = self.scale * self.weights @ torch.tensor([1.0, 0.01])
        return logit * nn.functional.one_hot(torch.full_like(decoder_input, 3), 6)


def moves_of_two(train, lr, steps):
    '''Train them. Return how far each moved, in each step but the last.'''
    model, ones = TwoWeights(min(1.0, 0.01 / lr)), torch.ones(2, 3, dtype=torch.int64)
    train(model, lambda: (ones, ones, 3 * ones), steps, lr)
    return [[abs(after - before) for before, after in zip(each, each[1:])] for each in zip(*model.seen)]


class Sure(nn.Module):
    '''Its loss is 0 from the beginning.'''

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(()))

    def forward(self, source):
        return 200 * self.weight * nn.functional.one_hot(source, 6)

    def batch(self):
        source = torch.tensor([[3, 4, 5]])
        return source, source


class Three(Sure):
    '''It takes three inputs, and notes them.'''

    def forward(self, *inputs):
        self.seen = [each.tolist() for each in inputs]
        return super().forward(inputs[0])

    def batch(self):
        return torch.tensor([[3, 4]]), torch.tensor([[4, 5]]), torch.tensor([[5, 3]]), torch.tensor([[4, 4]])


def inputs_of_three(train):
    model = Three()
    train(model, model.batch, 2, 0.001)
    return model.seen


def steps_of_a_sure_one(train, steps):
    model = Sure()
    return len(train(model, model.batch, steps, 0.001))


class Reverser(nn.Module):
    '''Logits of four targets from one linear layer over three numbers, which a few steps can train.'''

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3 * 9, 4 * 9)

    def forward(self, source, tokens):
        return self.linear(nn.functional.one_hot(source, 9).flatten(1).float()).view(-1, 4, 9)


def never_moved(train):
    '''Train a model, and return the names of the parameters that are as before.'''
    model = Reverser()
    before = {name: value.detach().clone() for name, value in model.named_parameters()}
    train(model, reversal_batch, 5, 0.05)
    return [name for name, value in model.named_parameters() if torch.equal(value.detach(), before[name])]


def reversal_batch():
    '''A batch for reversing three numbers from 3 to 8.'''
    source = torch.randint(3, 9, (32, 3))
    targets = torch.cat([source.flip(1), torch.full((32, 1), 2)], dim=1)
    return source, torch.cat([torch.ones(32, 1, dtype=torch.int64), targets[:, :-1]], dim=1), targets
"""

SCRIPTED = """
import torch
from torch import nn
import torch.nn.functional as F


class Scripted(nn.Module):
    '''Writes a script, (batch, steps): the most likely token at each step.

    The logits of every other position are for a token of its own, which is not in the script there.
    The memory says which row of the batch it belongs to, so that rows that have ended may be left out.
    '''

    def __init__(self, script, vocab):
        super().__init__()
        self.script, self.vocab = script, vocab
        self.read, self.modes, self.grad, self.masks, self.encoded = [], [], [], [], 0
        self.encoding = {"training": False, "grad": False}
        self.inner = nn.Dropout(0.0)  # a part with a mode of its own

    def encode(self, source):
        self.encoded += 1
        self.encoding["training"] |= self.training or self.inner.training
        self.encoding["grad"] |= torch.is_grad_enabled()
        self.mask = (source != 0).unsqueeze(1)
        rows = torch.arange(len(source)).unsqueeze(1).expand_as(source)
        return torch.stack([source, rows], dim=-1).float(), self.mask

    def decode(self, tokens, memory, memory_mask):
        self.read.append(tokens.tolist())
        self.modes.append(self.training or self.inner.training)
        self.grad.append(torch.is_grad_enabled())
        of = memory[:, 0, 1].long()  # the rows of the batch
        self.masks.append(memory_mask is not None and torch.equal(memory_mask, self.mask[of]))
        return self.logits(tokens, memory_mask, of)

    def logits(self, tokens, memory_mask, of):
        script = self.script[of]
        step = min(tokens.shape[1], self.script.shape[1]) - 1
        places = torch.arange(tokens.shape[1]).clamp(max=step)
        others = (script[:, places] + 1 + places) % self.vocab  # (batch, length)
        logits = 3.0 * F.one_hot(others, self.vocab) - 5.0
        right, rows = script[:, step], torch.arange(len(tokens))
        logits[:, -1] = -5.0
        # nearly as likely: what the other rows write, and a token that only this row finds likely
        logits[:, -1, self.script[:, step]] = -2.6
        logits[rows, -1, (right + 1) % self.vocab] = -2.0005  # equal in float16
        logits[rows, -1, right] = -2.0
        return logits

    def forward(self, source, tokens):
        return self.decode(tokens, *self.encode(source))


class CountsTheVisible(Scripted):
    '''Writes the number of source positions that its decoder may see, plus 3.'''

    def __init__(self):
        super().__init__(torch.zeros(1, 1, dtype=torch.int64), 12)

    def encode(self, source):
        self.length = source.shape[1]
        return super().encode(source)

    def logits(self, tokens, memory_mask, of):
        everything = torch.full((len(tokens),), self.length)
        visible = everything if memory_mask is None else memory_mask.reshape(len(tokens), -1).sum(dim=1)
        return F.one_hot(visible + 3, 12).float().unsqueeze(1).repeat(1, tokens.shape[1], 1)


def notes(model):
    return {
        "read": model.read, "modes": model.modes, "grad": model.grad, "masks": model.masks,
        "encoded": model.encoded, "training": model.training, "encoding": model.encoding,
    }


def gradients_after(function, *arguments):
    function(*arguments)
    return torch.is_grad_enabled()
"""


SEEDS = """
import torch


def sets_a_seed(function, *arguments):
    torch.manual_seed(7_654_321)
    function(*arguments)
    return torch.initial_seed() != 7_654_321
"""

seeds = in_kernel(SEEDS)


@for_checks
def assert_sets_no_seed(student, seeds, /, name, *arguments):
    """Fail if a call sets torch's random seed: everything that is drawn after it would be the same in every run."""
    if seeds.sets_a_seed(student.get(name), *arguments):
        fail(f"`{name}` sets a random seed. Draw without one: the seed belongs to the caller.")


#: Samplers, answers and held-out sets for calls of `fresh_batch`.
sources = in_kernel(SOURCES)


#: A model that records how it is trained, and batches for it.
watched = in_kernel(WATCHED)


#: Models that write what the check prescribes, and record how they are decoded.
scripted = in_kernel(SCRIPTED)
