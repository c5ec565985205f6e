"""What the notebooks say about trainings that none of their cells runs: each figure trains again, and compares.

A fact in tests/course/facts that is known in this way says so: by = "figure NAME". The ranges are those of its sentence.
"""

import copy
import math
import multiprocessing
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor, nn

from demos.tasks import (
    SEEDS,
    heads_parts,
    modern_parts,
    recall,
    recovered,
    seq2seq_parts,
    trained_heads,
    trained_reverser,
)
from gradekit.course import Course
from gradekit_authoring.earlier import load_parts


@dataclass(frozen=True)
class Measured:
    """Values, mostly one for each seed, and the range in which all of them must be."""

    what: str
    values: Sequence[float]
    low: float
    high: float

    @property
    def fits(self) -> bool:
        return all(self.low <= value <= self.high for value in self.values)


Figure = Callable[[Course], Iterator[Measured]]
#: called with the number of a layer and the outputs of its heads
Edit = Callable[[int, Tensor], Tensor]
#: by name, which is that of the function
FIGURES: dict[str, Figure] = {}


def figure(measure: Figure) -> Figure:
    FIGURES[measure.__name__] = measure
    return measure


@figure
def longer_sequences(course: Course) -> Iterator[Measured]:
    """01: what a model that reverses sequences of length 3 to 8 does with longer ones."""
    parts = seq2seq_parts(course)
    models = [trained_reverser(parts, seed, parts.sample_numbers, 31)[0] for seed in SEEDS]
    for length, low, high in [(8, 0.98, 1.0), (9, 0.0, 0.2), (10, 0.0, 0.005)]:
        torch.manual_seed(length)
        rows = sorted(parts.hold_out(lambda length=length: parts.sample_numbers(length, length), 300))
        right = [parts.decoded_match(model, rows, parts.reverse) for model in models]
        yield Measured(f"length {length}, exactly right", right, low, high)


@figure
def without_the_shift(course: Course) -> Iterator[Measured]:
    """05: the decoder reads the token that it should write."""
    parts = seq2seq_parts(course)
    losses, right = [], []
    for seed in SEEDS:
        model, held_out, history = trained_reverser(parts, seed, parts.sample_numbers, 31, shift=False)
        losses.append(history[-1])
        right.append(parts.decoded_match(model, held_out, parts.reverse))
    yield Measured("loss at the end", losses, 0.0, 0.05)
    yield Measured("exact match", right, 0.0, 0.01)


@figure
def inferred(course: Course) -> Iterator[Measured]:
    """06: what the model writes is nearly always a text that has these bare words."""
    parts = load_parts(course.assignment("06_text_recovery"), ["originals", "tokenize"])
    possible, articles = [], []
    for seed in SEEDS:
        found = recovered(course, seed)
        pairs = list(zip(found["texts"]["model"], found["held_out"], strict=True))
        fits = [words in map(parts.tokenize, parts.originals(one.frame)) for words, one in pairs]
        possible.append(sum(fits) / len(fits))
        followed = [pair for words, _ in pairs for pair in pairwise(words)]
        articles.append(
            sum(a.lower() in ("a", "an") and (a[-1] == "n") != (b[0] in "aeiou") for a, b in followed)
        )
    yield Measured("texts that have the bare words", possible, 0.95, 1.0)
    yield Measured("a in place of an, or an in place of a", articles, 0, 5)


@figure
def other_seeds(course: Course) -> Iterator[Measured]:
    """08: the recall of the model of 2017 and of that with rotary positions, after 150 steps."""
    parts = modern_parts(course)
    seeds = (1, 2, 3)
    yield Measured("2017", [recall(parts, seed, parts.SmallModel) for seed in seeds], 0.4, 1.0)
    rotary = [recall(parts, seed, lambda: parts.SmallModel(rotary=True)) for seed in seeds]
    yield Measured("rotary positions", rotary, 0.995, 1.0)


@figure
def tales_for_longer(course: Course) -> Iterator[Measured]:
    """08: the loss on new tales of the model with rotary positions."""
    parts = modern_parts(course)
    after = {steps: parts.train_on_tales("", steps, rotary=True)[1] for steps in (100, 300)}
    yield Measured("loss after 300 steps", [after[300]], 0.6, 0.75)
    yield Measured("as a share of that after 100", [after[300] / after[100]], 0.45, 0.55)


@figure
def one_layer_or_two(course: Course) -> Iterator[Measured]:
    """09: right predictions in the second half, and what the models say in the first half."""
    parts = heads_parts(course)
    one, two = ([trained_heads(course, seed, layers) for seed in SEEDS] for layers in (1, 2))

    def right(models: list[nn.Module]) -> list[float]:
        return [parts.second_half_right(model, parts.PERIOD) for model in models]

    def logits(model: nn.Module, edit: Edit | None = None) -> Tensor:
        with torch.no_grad():
            found: Tensor = model(parts.measured, edit)[0]
        return found

    def first_half(models: list[nn.Module], edit: Edit | None = None) -> list[float]:
        """The losses above that of guessing."""
        losses = [parts.position_losses(logits(model, edit), parts.measured) for model in models]
        return [parts.half_losses(each, parts.PERIOD)[0] - math.log(parts.VOCABULARY) for each in losses]

    def to_first(model: nn.Module) -> float:
        """At the end of the first half, how much likelier the first token is than others that occurred."""
        chances = torch.softmax(logits(model)[:, parts.PERIOD - 1], dim=-1)
        once = chances.gather(1, parts.measured[:, : parts.PERIOD])
        return (once[:, 0].mean() / once[:, 1:].mean()).item()

    whole = first_half(two)
    without = first_half(two, lambda layer, outputs: outputs * 0 if layer == 1 else outputs)
    fall = [before - after for before, after in zip(whole, without, strict=True)]
    yield Measured("one layer, right in the second half", right(one), 0.03, 0.2)
    yield Measured("two layers, right in the second half", right(two), 0.98, 1.0)
    yield Measured("one layer, first token: times as likely", [to_first(model) for model in one], 1.2, 5.0)
    yield Measured("one layer, first half: loss above guessing", first_half(one), 0.0, 1.0)
    yield Measured("two layers, first half: loss above guessing", whole, 0.0, 1.0)
    yield Measured("two layers, less loss without layer 1", fall, 0.1, 1.0)


@figure
def longer_periods(course: Course) -> Iterator[Measured]:
    """09: right predictions at periods and distances that were not trained."""
    parts = heads_parts(course)
    rotary = [trained_heads(course, seed, 2) for seed in SEEDS]
    added = [trained_heads(course, seed, 2, "added") for seed in SEEDS]
    for period, of_rotary, of_added in [(28, (0.7, 0.85), (0.4, 0.6)), (40, (0.25, 0.5), (0.25, 0.5))]:
        for name, models, (low, high) in [("rotary", rotary, of_rotary), ("added", added, of_added)]:
            right = [parts.second_half_right(model, period) for model in models]
            yield Measured(f"{name}, period {period}", right, low, high)
    rotate = parts.rotate
    parts.rotate = lambda x, places: rotate(x, places + 24 * (places >= parts.PERIOD))
    try:
        moved = [parts.second_half_right(model, parts.PERIOD) for model in rotary]
    finally:
        parts.rotate = rotate
    yield Measured("rotary, second half 24 further on", moved, 0.55, 0.9)


class Tuned(NamedTuple):
    who: float
    happy: float
    other: float
    story_loss: float


@cache
def tuned(course: Course, seed: int) -> dict[str, Tuned]:
    """10: what one pretrained model can do after each kind of training."""
    names = """pretrained tuned_on_answers tuned_on_preferences add_lora merge_lora who_right ending_shares story_loss
        DIALOGUES PREFERENCES"""
    parts = load_parts(course.assignment("10_after_pretraining"), names.split())
    base = parts.pretrained(seed)
    models = {}
    models["answers"] = parts.tuned_on_answers(copy.deepcopy(base), parts.DIALOGUES, 100, 2e-3, "", seed)
    every_layer = ["w_q", "w_k", "w_v", "w_o", "w_gate", "w_up", "w_down"]
    for name, layers, rank in [
        ("LoRA, queries and values", ["w_q", "w_v"], 4),
        ("LoRA, every layer", every_layer, 1),
    ]:
        torch.manual_seed(seed)
        models[name] = copy.deepcopy(base)
        parts.add_lora(models[name], layers, rank, 2 * rank)
        parts.tuned_on_answers(models[name], parts.DIALOGUES, 100, 1e-2, "", seed)
        parts.merge_lora(models[name])
    imitating, policy = (copy.deepcopy(models["answers"]) for _ in range(2))
    winners = [chosen for chosen, _ in parts.PREFERENCES]
    models["imitation"] = parts.tuned_on_answers(imitating, winners, 50, 5e-4, "", seed)
    models["DPO"] = parts.tuned_on_preferences(policy, parts.PREFERENCES, 50, 3e-4, 3.0, "", seed)[0]
    found = {}
    for name, model in models.items():
        happy, *_, other = parts.ending_shares(model)
        found[name] = Tuned(parts.who_right(model), happy, other, parts.story_loss(model))
    return found


@figure
def lora(course: Course) -> Iterator[Measured]:
    """10: fine-tuning with LoRA, compared with all weights."""
    each = [tuned(course, seed) for seed in SEEDS]
    some = [found[name] for found in each for name in ("LoRA, queries and values", "LoRA, every layer")]
    whole = [found["answers"] for found in each]
    yield Measured("LoRA, who", [model.who for model in some], 0.7, 0.95)
    yield Measured("all weights, who", [model.who for model in whole], 0.7, 0.95)
    yield Measured("LoRA, other endings", [model.other for model in some], 0.15, 0.5)
    yield Measured("all weights, other endings", [model.other for model in whole], 0.05, 0.25)
    yield Measured("LoRA, story loss", [model.story_loss for model in some], 0.7, 1.05)
    yield Measured("all weights, story loss", [model.story_loss for model in whole], 1.0, 1.2)


@figure
def preferences(course: Course) -> Iterator[Measured]:
    """10: happy endings after DPO, compared with imitation."""
    each = [tuned(course, seed) for seed in SEEDS]
    yield Measured("DPO with β = 3, happy", [found["DPO"].happy for found in each], 0.7, 0.85)
    yield Measured("imitation, happy", [found["imitation"].happy for found in each], 0.35, 0.55)


def step_of_a_large_model(course: Course, with_lora: bool) -> tuple[float, float, float]:
    """Return processor seconds of a step and of its forward pass, and the GB of this process at most."""
    torch.set_num_threads(1)
    parts = load_parts(course.assignment("10_after_pretraining"), ["DecoderOnly", "add_lora", "answer_loss"])
    model = parts.DecoderOnly(49152, 576, num_heads=9, num_groups=3, d_ff=1536, num_layers=30)
    if with_lora:
        model.requires_grad_(False)
        parts.add_lora(model.blocks[-4:], ["w_q", "w_v"], rank=8, alpha=16)
    optimizer = torch.optim.Adam(weight for weight in model.parameters() if weight.requires_grad)
    ids, counts = torch.randint(49152, (1, 100)), torch.arange(100)[None] >= 80
    steps, forward = [], []
    for _ in range(3):
        started = time.process_time()
        loss = parts.answer_loss(model(ids), ids, counts)
        forward.append(time.process_time() - started)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        steps.append(time.process_time() - started)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # in KiB on Linux
    return min(steps), min(forward), peak * 1024 / 1e9


@figure
def large(course: Course) -> Iterator[Measured]:
    """10: steps of a model of the size of SmolLM2-135M, on one thread, each in a process of its own."""
    found = []
    for with_lora in (True, False):
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as alone:
            found.append(alone.submit(step_of_a_large_model, course, with_lora).result())
    (step, forward, memory), (whole_step, whole_forward, whole_memory) = found
    yield Measured("LoRA, seconds for a step, on our machine", [step], 0.0, 1.0)
    yield Measured("LoRA, GB", [memory], 0.8, 1.3)
    yield Measured("all weights, step in steps of LoRA", [whole_step / step], 2.5, 5.0)
    yield Measured("all weights, GB", [whole_memory], 3.0, 4.0)
    yield Measured("all weights, forward pass in those of LoRA", [whole_forward / forward], 0.7, 1.4)
