"""The tasks of the course, trained with the solutions of its notebooks and measured on held-out data."""

import copy
from collections.abc import Callable
from dataclasses import dataclass, field

import torch

from gradekit.authoring.earlier import load_parts
from gradekit.course import Course

HELD_OUT = 1000
BATCH = 64
SEEDS = (0, 1, 2)


@dataclass(frozen=True)
class Task:
    """Something to train. `run(seed)` returns the measured value; if there is a target, the worst seed has to reach it.

    `run` may add further results to `notes`.
    """

    name: str
    steps: int
    run: Callable[[int], float]
    target: float | None = None
    seeds: tuple[int, ...] = SEEDS
    notes: list[str] = field(default_factory=list)


def seq2seq_tasks(course: Course) -> list[Task]:
    """The three tasks of assignment 5: exact match of greedy decoding on held-out sources."""
    names = """Transformer SortingTransformer train fresh_batch hold_out shift_right expected_of decoded_match
        exact_match pad reverse sample_numbers sample_ten random_sentence build_vocabulary to_ids WORDS BOS"""
    parts = load_parts(course.assignment("05_seq2seq"), names.split())
    vocabulary = parts.build_vocabulary([" ".join(parts.WORDS)])

    def reversal(seed: int, sample: Callable[[], list[int]], vocab_size: int) -> float:
        torch.manual_seed(seed)
        held_out = parts.hold_out(sample, HELD_OUT)

        def make_batch():
            source, targets = parts.fresh_batch(sample, parts.reverse, BATCH, held_out)
            return source, parts.shift_right(targets, parts.BOS), targets

        model = parts.Transformer(vocab_size, vocab_size)
        parts.train(model, make_batch, 500, 5e-3)
        return parts.decoded_match(model, sorted(held_out), parts.reverse)

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


def recovery_task(course: Course) -> Task:
    """Assignment 6: BLEU-4 of greedy decoding on held-out sentences, minus the computed ceiling."""
    parts = load_parts(course.assignment("06_text_recovery"), ["run_recovery"])
    notes: list[str] = []

    def gap(seed: int) -> float:
        found = parts.run_recovery(seed)
        notes.append(
            f"seed {seed}: copy {found['copy']:.1f}, model {found['model']:.1f}, ceiling {found['ceiling']:.1f}"
        )
        return found["model"] - found["ceiling"]

    return Task("text recovery, BLEU - ceiling", 400, gap, -1.0, notes=notes)


def modern_tasks(course: Course) -> list[Task]:
    """Assignment 8: how many colors and things of a story that is told twice are predicted right the second time."""
    names = "SmallModel DecoderOnly train evaluate WORDS"
    parts = load_parts(course.assignment("08_modern"), names.split())
    steps = 150

    def recall(seed: int, make: Callable[[], torch.nn.Module]) -> float:
        torch.manual_seed(seed)
        model = make()
        parts.train(model, "", steps, seed=seed)
        return parts.evaluate(model)[1]

    def decoder_only() -> torch.nn.Module:
        return parts.DecoderOnly(len(parts.WORDS), 64, 4, 2, 168, 2)

    return [
        Task("recall, added positions", steps, lambda seed: recall(seed, parts.SmallModel)),
        Task(
            "recall, rotary positions",
            steps,
            lambda seed: recall(seed, lambda: parts.SmallModel(rotary=True)),
            0.95,
        ),
        Task("recall, decoder-only", steps, lambda seed: recall(seed, decoder_only), 0.95),
    ]


def heads_tasks(course: Course) -> list[Task]:
    """Assignment 9: the best head's induction score, and right predictions in the second half of a repeated sequence.

    One layer has to fail: its score counts as negative, so the target is a limit for the best seed.
    """
    names = "AttentionOnly train measure second_half_right PERIOD"
    parts = load_parts(course.assignment("09_heads"), names.split())

    def trained(seed: int, layers: int, positions: str, steps: int) -> torch.nn.Module:
        torch.manual_seed(seed)
        model = parts.AttentionOnly(layers, positions)
        parts.train(model, "", steps, seed=seed)
        return model

    def score(seed: int, layers: int) -> float:
        return parts.measure(trained(seed, layers, "rotary", 600))["induction"].max().item()

    rotary_notes: list[str] = []
    added_notes: list[str] = []

    def right(seed: int, positions: str, steps: int, notes: list[str]) -> float:
        model = trained(seed, 2, positions, steps)
        longer = "  ".join(
            f"{period}: {parts.second_half_right(model, period):.2f}" for period in (20, 28, 40)
        )
        later = parts.second_half_right(model, parts.PERIOD, 20)
        notes.append(f"seed {seed}: right by period {longer}; from position 20: {later:.2f}")
        return parts.second_half_right(model, parts.PERIOD)

    return [
        Task("induction score, two layers", 600, lambda seed: score(seed, 2), 0.85),
        Task("- induction score, one layer", 600, lambda seed: -score(seed, 1), -0.2),
        Task(
            "second half right, rotary",
            600,
            lambda seed: right(seed, "rotary", 600, rotary_notes),
            0.98,
            notes=rotary_notes,
        ),
        Task(
            "second half right, added",
            900,
            lambda seed: right(seed, "added", 900, added_notes),
            0.98,
            notes=added_notes,
        ),
    ]


def tuning_tasks(course: Course) -> list[Task]:
    """Assignment 10: right answers to who a story is about, and happy endings after preferences, more than by imitation.

    The last one is the share of DPO minus that of fine-tuning on the chosen answers alone, both from the same model.
    """
    names = """pretrained tuned_on_answers tuned_on_all_tokens tuned_on_preferences add_lora merge_lora who_right
        ending_shares story_loss DIALOGUES PREFERENCES"""
    parts = load_parts(course.assignment("10_after_pretraining"), names.split())
    every_layer = ["w_q", "w_k", "w_v", "w_o", "w_gate", "w_up", "w_down"]
    tuned: dict[int, torch.nn.Module] = {}
    bases: dict[int, torch.nn.Module] = {}
    masked_notes: list[str] = []
    lora_notes: list[str] = []
    preference_notes: list[str] = []

    def noted(notes: list[str], seed: int, name: str, model: torch.nn.Module) -> list[float]:
        shares: list[float] = parts.ending_shares(model)
        kinds = " ".join(f"{share:.2f}" for share in shares)
        notes.append(
            f"seed {seed}: {name}: who {parts.who_right(model):.2f}, endings {kinds}, story loss {parts.story_loss(model):.2f}"
        )
        return shares

    def masked(seed: int) -> float:
        bases[seed] = parts.pretrained(seed)
        everything = copy.deepcopy(bases[seed])
        parts.tuned_on_all_tokens(everything, parts.DIALOGUES, 100, 2e-3, "", seed)
        noted(masked_notes, seed, "all tokens count", everything)
        tuned[seed] = copy.deepcopy(bases[seed])
        parts.tuned_on_answers(tuned[seed], parts.DIALOGUES, 100, 2e-3, "", seed)
        noted(masked_notes, seed, "answers count", tuned[seed])
        right: float = parts.who_right(tuned[seed])
        return right

    def lora(seed: int, layers: list[str], rank: int) -> float:
        torch.manual_seed(seed)
        model = copy.deepcopy(bases[seed])
        parts.add_lora(model, layers, rank, 2 * rank)
        parts.tuned_on_answers(model, parts.DIALOGUES, 100, 1e-2, "", seed)
        parts.merge_lora(model)
        noted(lora_notes, seed, f"{len(layers)} layers of rank {rank}", model)
        right: float = parts.who_right(model)
        return right

    def preferred(seed: int) -> float:
        winners = [chosen for chosen, _ in parts.PREFERENCES]
        imitating = parts.tuned_on_answers(copy.deepcopy(tuned[seed]), winners, 50, 5e-4, "", seed)
        imitated = noted(preference_notes, seed, "imitation", imitating)
        gaps = {}
        for beta in (0.1, 3.0):
            model, _ = parts.tuned_on_preferences(
                copy.deepcopy(tuned[seed]), parts.PREFERENCES, 50, 3e-4, beta, "", seed
            )
            gaps[beta] = noted(preference_notes, seed, f"β = {beta:g}", model)[0] - imitated[0]
        return gaps[3.0]

    return [
        Task("who, answers count", 100, masked, 0.7, notes=masked_notes),
        Task("who, LoRA of queries and values", 100, lambda seed: lora(seed, ["w_q", "w_v"], 4), 0.7),
        Task("who, LoRA of every layer", 100, lambda seed: lora(seed, every_layer, 1), 0.7, notes=lora_notes),
        Task("happy endings, DPO - imitation", 50, preferred, 0.1, notes=preference_notes),
    ]
