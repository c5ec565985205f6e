"""Shared by the checks: tiny models with given weights, built in the student's kernel."""

import pytest
import torch
import torch.nn.functional as F

from gradekit.checks import assert_close, assert_not_rounded, fail, for_checks, in_kernel

# Their attributes have other names than those of the notebook's models: an answer that reads them doesn't work with others.
TINY = '''
from types import SimpleNamespace

import torch
from torch import nn


class TinyModel(nn.Module):
    """The logits of position i are a row of the table; its number depends on all ids up to i and on their order."""

    def __init__(self, table, scale=1.0, shift=None):
        super().__init__()
        self.own_rows, self.scale, self.inner = nn.Parameter(table.clone()), scale, nn.Identity()
        self.shift = None if shift is None else nn.Parameter(shift.clone())
        self.lengths, self.gradients, self.modes = [], [], []

    def forward(self, input_ids):
        self.lengths.append(input_ids.shape[1])
        self.gradients.append(torch.is_grad_enabled())
        self.modes.append(self.training)
        row = (input_ids * torch.arange(1, input_ids.shape[1] + 1)).cumsum(dim=1) % len(self.own_rows)
        logits = self.scale * self.own_rows[row]
        return SimpleNamespace(logits=self.inner(logits if self.shift is None else logits + self.shift))


class Dropping(TinyModel):
    """A TinyModel with dropout at its end, which notes its logits."""

    def __init__(self, table):
        super().__init__(table)
        self.inner, self.noted = nn.Dropout(0.5), []

    def forward(self, input_ids):
        output = super().forward(input_ids)
        self.noted.append(output.logits.detach().clone())
        return output


def loss_of_the_first_run(model, ids):
    logits = model.noted[0][:, : ids.shape[1] - 1]
    return nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten()).item()


class TinyTokenizer:
    """decode joins tokens and writes a space for each space marker; encode takes the longest matching token."""

    def __init__(self, tokens):
        self.listed = tokens

    def encode(self, text):
        ids, text = [], text.replace(" ", "Ġ")
        while text:
            token = max((token for token in self.listed if text.startswith(token)), key=len)
            ids.append(self.listed.index(token))
            text = text[len(token) :]
        return ids

    def decode(self, ids):
        return "".join(self.convert_ids_to_tokens(torch.as_tensor(ids).flatten().tolist())).replace("Ġ", " ")

    def convert_ids_to_tokens(self, ids):
        return self.listed[ids] if isinstance(ids, int) else [self.listed[int(number)] for number in ids]

    def __call__(self, text, return_tensors=None):
        return SimpleNamespace(input_ids=torch.tensor([self.encode(text)]))


def lengths(model):
    """Return the number of tokens that the model was given in each call."""
    return model.lengths


def with_gradients(model):
    """Return whether gradients were enabled in each call."""
    return model.gradients


def in_training_mode(model):
    """Return whether the model was in training mode in each call."""
    return model.modes


def is_in_training_mode(model):
    return any(part.training for part in model.modules())


def sgd(model, lr, momentum=0.0):
    return torch.optim.SGD(model.parameters(), lr=lr, momentum=momentum)
'''


#: Models, tokenizers and optimizers in the student's kernel: tiny.TinyModel(table), tiny.TinyTokenizer(tokens), ...
tiny = in_kernel(TINY)


@for_checks
def last_logits(table, ids):
    """Compute the logits after the last token, as a TinyModel with this table returns them."""
    row = (ids * torch.arange(1, ids.shape[1] + 1)).sum(dim=1) % len(table)
    return table[row]


@for_checks
def similar(draw, /):
    """Tables of vectors: two of the same shape, and a large one, each as (words, vectors)."""
    for size, width in [(12, 5), (12, 5), (521, 43)]:
        yield [f"word{number}" for number in range(size)], 40 * draw.normal(size, width)


@for_checks
def assert_nearest(read_pairs, /, found, words, target, vectors, left_out):
    """Fail unless the pairs (word, similarity) are those that are nearest to the target; `left_out` are rows."""
    rows, scores = read_pairs(
        found, words, lambda number: float(number) == number, "The similarity should be a number."
    )
    cosines = F.cosine_similarity(target, vectors, dim=-1)
    cosines[left_out] = -torch.inf
    right, context = cosines.topk(len(rows)).values, f"among {len(words)} words"
    assert_close(scores, right, name="similarities", context=context, atol=1e-4)
    assert_not_rounded(float(found[0][1]), right[0].item(), name="similarity")
    assert_close(cosines[rows], right, name="similarities", context=f"of the words, {context},", atol=1e-4)


@pytest.fixture
def tokens():
    """23 tokens: a, Ġb, c, Ġd, …, and pairs of them."""
    single = {letter: "Ġ" * (place % 2) + letter for place, letter in enumerate("abcdefghijklm")}
    pairs = ["ab", "ba", "cd", "de", "ef", "fg", "gh", "hi", "kl", "lm"]
    return [*single.values(), *(single[first] + single[second] for first, second in pairs)]


@for_checks
def assert_int64(value, name):
    """Fail unless a tensor of ids has the dtype of those that were passed in."""
    if value.dtype != torch.int64:
        fail(f"`{name}` has dtype {value.dtype}, but ids stay int64: an embedding takes only integers.")


@for_checks
def assert_evaluated(tiny, /, model):
    """Fail unless a model that was passed in evaluation mode ran in it, without gradients, and stayed in it."""
    if any(tiny.with_gradients(model)):
        fail("The model was run with gradients enabled. Use torch.no_grad().")
    passed = "The model was passed in evaluation mode, "
    if any(tiny.in_training_mode(model)):
        fail(passed + "but run in training mode, so its dropout was on.")
    if tiny.is_in_training_mode(model):
        fail(passed + "and left in training mode, so its dropout is on from now on.")


@for_checks
def read_pairs(found, words, is_number, sentence):
    """Return (rows, similarities) of an answer; `sentence` says what a similarity should be."""
    if not isinstance(found, list | tuple):
        fail("The answer should be a list of pairs (word, similarity).")
    for pair in found:
        if not (isinstance(pair, list | tuple) and len(pair) == 2 and pair[0] in words):
            fail("Every entry of the answer should be a pair (word, similarity), with a word from `words`.")
        if not is_number(pair[1]):
            fail(sentence)
    scores = [float(score) for _, score in found]
    return torch.tensor([words.index(word) for word, _ in found]), torch.tensor(scores)
