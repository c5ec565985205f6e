"""The tasks of the course, trained with the solutions of its notebooks and measured on held-out data."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from gradekit.course import Course
from gradekit_authoring.earlier import load_parts

HELD_OUT = 1000
BATCH = 64
SEEDS = (0, 1, 2)


@dataclass(frozen=True)
class Task:
    """Something to train. `run(seed)` returns the measured value; if there is a target, the worst seed has to reach it."""

    name: str
    steps: int
    run: Callable[[int], float]
    target: float | None = None
    seeds: tuple[int, ...] = SEEDS


def seq2seq_parts(course: Course) -> ModuleType:
    names = """Transformer SortingTransformer train fresh_batch hold_out shift_right expected_of decoded_match
        exact_match pad reverse sample_numbers sample_ten random_sentence build_vocabulary to_ids WORDS BOS"""
    return load_parts(course.assignment("05_seq2seq"), names.split())


def trained_reverser(
    parts: ModuleType,
    seed: int,
    sample: Callable[[], list[int]],
    vocab_size: int,
    shift: bool = True,
) -> tuple[torch.nn.Module, list[tuple[int, ...]], list[float]]:
    """Train a model to reverse what `sample` draws. Return it, the sources that it hasn't seen, and the losses."""
    torch.manual_seed(seed)
    held_out = parts.hold_out(sample, HELD_OUT)

    def make_batch() -> tuple[Tensor, Tensor, Tensor]:
        source, targets = parts.fresh_batch(sample, parts.reverse, BATCH, held_out)
        return source, parts.shift_right(targets, parts.BOS) if shift else targets, targets

    model = parts.Transformer(vocab_size, vocab_size)
    losses = parts.train(model, make_batch, 500, 5e-3)
    return model, sorted(held_out), losses


def seq2seq_tasks(course: Course) -> list[Task]:
    """The three tasks of assignment 5: exact match of greedy decoding on held-out sources."""
    parts = seq2seq_parts(course)
    vocabulary = parts.build_vocabulary([" ".join(parts.WORDS)])

    def reversal(seed: int, sample: Callable[[], list[int]], vocab_size: int) -> float:
        model, held_out, _ = trained_reverser(parts, seed, sample, vocab_size)
        right: float = parts.decoded_match(model, held_out, parts.reverse)
        return right

    def sorting(seed: int) -> float:
        torch.manual_seed(seed)
        held_out = parts.hold_out(parts.sample_ten, HELD_OUT)
        model = parts.SortingTransformer(vocab_size=23, embed_dim=32, seq_length=10)
        parts.train(model, lambda: parts.fresh_batch(parts.sample_ten, sorted, BATCH, held_out), 800, 1e-2)
        with torch.no_grad():
            predicted = model.eval()(parts.pad(sorted(held_out))).argmax(dim=-1)
        return parts.exact_match(predicted, parts.expected_of(sorted(held_out), sorted))

    def sample_sentence() -> list[int]:
        return parts.to_ids(parts.random_sentence(), vocabulary)

    return [
        Task("integer reversal", 500, lambda seed: reversal(seed, parts.sample_numbers, 31), 0.99),
        Task("word reversal", 500, lambda seed: reversal(seed, sample_sentence, len(vocabulary)), 0.99),
        Task("sorting", 800, sorting, 0.98),
    ]


@cache
def recovered(course: Course, seed: int) -> dict[str, Any]:
    """What `run_recovery` of assignment 6 returns."""
    parts = load_parts(course.assignment("06_text_recovery"), ["run_recovery"])
    found: dict[str, Any] = parts.run_recovery(seed)
    return found


def recovery_task(course: Course) -> Task:
    """Assignment 6: BLEU-4 of greedy decoding on held-out sentences, minus the computed ceiling."""

    def gap(seed: int) -> float:
        found = recovered(course, seed)
        return found["model"] - found["ceiling"]

    return Task("text recovery, BLEU - ceiling", 400, gap, -1.0)


def modern_parts(course: Course) -> ModuleType:
    names = "SmallModel DecoderOnly train evaluate train_on_tales WORDS"
    return load_parts(course.assignment("08_modern"), names.split())


def recall(parts: ModuleType, seed: int, make: Callable[[], torch.nn.Module]) -> float:
    """How many colors and things of a story that is told twice a model predicts right, after 150 steps."""
    torch.manual_seed(seed)
    model = make()
    parts.train(model, "", 150, seed=seed)
    share: float = parts.evaluate(model)[1]
    return share


def modern_tasks(course: Course) -> list[Task]:
    """Assignment 8: the recall with added and with rotary positions, and of the whole model."""
    parts = modern_parts(course)

    def rotary() -> torch.nn.Module:
        return parts.SmallModel(rotary=True)

    def decoder_only() -> torch.nn.Module:
        return parts.DecoderOnly(len(parts.WORDS), 64, 4, 2, 168, 2)

    return [
        Task("recall, added positions", 150, lambda seed: recall(parts, seed, parts.SmallModel)),
        Task("recall, rotary positions", 150, lambda seed: recall(parts, seed, rotary), 0.95),
        Task("recall, decoder-only", 150, lambda seed: recall(parts, seed, decoder_only), 0.95),
    ]


@cache
def heads_parts(course: Course) -> ModuleType:
    names = "AttentionOnly train measure measured second_half_right position_losses half_losses PERIOD VOCABULARY rotate"
    return load_parts(course.assignment("09_heads"), names.split())


@cache
def trained_heads(course: Course, seed: int, layers: int, positions: str = "rotary") -> torch.nn.Module:
    """A model of assignment 9, trained for as long as there."""
    parts = heads_parts(course)
    torch.manual_seed(seed)
    model: torch.nn.Module = parts.AttentionOnly(layers, positions)
    parts.train(model, "", {"rotary": 600, "added": 900}[positions], seed=seed)
    return model


def heads_tasks(course: Course) -> list[Task]:
    """Assignment 9: the best head's induction score, and right predictions in the second half of a repeated sequence.

    One layer has to fail: its score counts as negative, so the target is a limit for the best seed.
    """
    parts = heads_parts(course)

    def score(seed: int, layers: int) -> float:
        return parts.measure(trained_heads(course, seed, layers))["induction"].max().item()

    def right(seed: int, positions: str) -> float:
        return parts.second_half_right(trained_heads(course, seed, 2, positions), parts.PERIOD)

    return [
        Task("induction score, two layers", 600, lambda seed: score(seed, 2), 0.85),
        Task("- induction score, one layer", 600, lambda seed: -score(seed, 1), -0.2),
        Task("second half right, rotary", 600, lambda seed: right(seed, "rotary"), 0.98),
        Task("second half right, added", 900, lambda seed: right(seed, "added"), 0.98),
    ]
