"""What the notebooks state about their corpora, and about the functions that students' tests are tried on."""

import ast
import itertools
import random
import runpy
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from gradekit.course import Course
from gradekit_authoring.earlier import load_parts

from .facts import notebook_of

COURSE = Course(Path(__file__).parents[2])


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def parts_of(name, *names):
    return load_parts(COURSE.assignment(name), names)


def tried(name, file):
    """A file of tests/NAME: `RIGHT` and `wrong` implementations, on which students' tests are tried."""
    return SimpleNamespace(**runpy.run_path(str(COURSE.root / "tests" / name / file)))


def made(implementation, function):
    namespace = {}
    exec(implementation.source, namespace)
    return namespace[function]


# ------------------------------------------------------------------------------- 04: causal functions


def moves(function, x, values):
    """For each token of x that is changed, the largest moves of outputs that may not depend on it."""
    before = function(x)
    for row, place, value in itertools.product(range(len(x)), range(x.shape[1]), values):
        changed = x.clone()
        changed[row, place] = value
        moved = (function(changed) - before).abs()
        moved[row, place:] = 0
        yield moved.max().item()


def test_every_function_that_is_not_causal_moves_a_forbidden_output():
    functions = tried("04_transformer", "causal_functions.py")
    torch.manual_seed(0)
    for wrong, _ in itertools.product(functions.wrong, range(2)):
        assert max(moves(made(wrong, "f"), torch.randn(2, 6, 4), (-9.0, 9.0))) > 0.01, wrong.wrong


def test_outputs_of_causal_functions_hardly_move():
    functions = tried("04_transformer", "causal_functions.py")
    torch.manual_seed(0)
    for right, length in itertools.product(functions.RIGHT, (6, 20)):
        x = 20 * torch.rand(3, length, 4) - 10
        assert max(moves(made(right, "f"), x, (-10.0, 10.0))) < 0.001, right.source


# ----------------------------------------------------------------------------------------- 08: readers


def readings(new_reader, x, ways):
    """For each way to cut, the largest difference from reading x at once, while another text is read in turn."""
    whole = new_reader()(x)
    for lengths in ways:
        read, read_another = new_reader(), new_reader()
        outputs = []
        for piece in x.split(lengths, dim=1):
            outputs.append(read(piece))
            read_another(torch.randn(piece.shape))
        yield (torch.cat(outputs, dim=1) - whole).abs().max().item()


def test_every_fault_of_a_reader_shows_in_a_text_of_twelve_tokens():
    readers = tried("08_modern", "readers.py")
    torch.manual_seed(0)
    for wrong, _ in itertools.product(readers.wrong, range(5)):
        ways = ([1] * 12, [5, 4, 3])
        assert max(readings(made(wrong, "new_reader"), torch.randn(2, 12, 4), ways)) > 0.01, wrong.wrong


def test_right_readers_hardly_differ_however_a_text_is_cut():
    readers = tried("08_modern", "readers.py")
    torch.manual_seed(0)
    for right, _ in itertools.product(readers.RIGHT, range(20)):
        ways = ([1] * 20, [5, 12, 3], [19, 1], [1, 19])
        assert max(readings(made(right, "new_reader"), torch.randn(3, 20, 4), ways)) < 0.001, right.source


# --------------------------------------------------------------------------------- 06: the corpus


@pytest.fixture(scope="module")
def recovery():
    names = "random_sentence originals preprocess corpus_bleu tokenize LEMMAS"
    return parts_of("06_text_recovery", *names.split())


@pytest.fixture(scope="module")
def sentences(recovery):
    rng = random.Random(0)
    return [recovery.random_sentence(rng) for _ in range(15_000)]


def test_short_sentences_come_up_more_than_once(sentences):
    assert Counter(sentence.text for sentence in sentences)["She waited near the river."] > 1


def test_the_originals_of_a_frame_are_all_texts_with_its_bare_words(recovery, sentences):
    frames = {}
    for sentence in sentences[:4000]:
        bare = recovery.preprocess(sentence.text, recovery.LEMMAS)
        assert frames.setdefault(tuple(bare), sentence.frame) == sentence.frame
        for text in recovery.originals(sentence.frame):
            assert recovery.preprocess(text, recovery.LEMMAS) == bare


def test_bleu_does_not_tell_a_dog_from_no_dog(recovery):
    reference = recovery.tokenize("Yesterday the old cat saw the dog.")
    for word in ("a", "no"):
        written = recovery.tokenize(f"Yesterday the old cat saw {word} dog.")
        assert recovery.corpus_bleu([written], [reference]) == pytest.approx(59.5, abs=0.05)


# --------------------------------------------------------------------------------- 08: positions


def test_weights_for_neighboring_pairs_fit_pairs_of_halves_if_rows_are_reordered():
    rotate = parts_of("08_modern", "rotate").rotate
    torch.manual_seed(0)
    x, w_q, w_k = torch.randn(12, 32), torch.randn(8, 32), torch.randn(8, 32)
    places, order = torch.arange(12), torch.tensor([0, 2, 4, 6, 1, 3, 5, 7])

    def in_halves(x):
        neighbors = x.unflatten(-1, (2, -1)).transpose(-1, -2).flatten(-2)
        return rotate(neighbors, places).unflatten(-1, (-1, 2)).transpose(-1, -2).flatten(-2)

    scores = rotate(x @ w_q.T, places) @ rotate(x @ w_k.T, places).T
    reordered = in_halves(x @ w_q[order].T) @ in_halves(x @ w_k[order].T).T
    assert torch.allclose(scores, reordered, atol=1e-3)
    assert not torch.allclose(scores, in_halves(x @ w_q.T) @ in_halves(x @ w_k.T).T, atol=1)


def test_moving_a_text_changes_nearly_all_scores_with_added_codes():
    codes = parts_of("08_modern", "PositionalEncoder").PositionalEncoder(32, 200).pe[0]
    torch.manual_seed(0)
    x, w_q, w_k = torch.randn(12, 32), torch.randn(8, 32), torch.randn(8, 32)

    def scores(start):
        placed = x + codes[start : start + 12]
        return (placed @ w_q.T) @ (placed @ w_k.T).T

    assert ((scores(100) - scores(0)).abs() > 0.01).float().mean() > 0.9


# --------------------------------------------------------------------------------- 10: losses


def given_batch():
    """What the answer cell gives: (logits, other, ids, counts)."""
    (cell,) = (cell for cell in notebook_of("10_after_pretraining").cells if cell.id == "check-loss")
    (function,) = ast.parse(cell.source.split("### BEGIN SOLUTION")[0]).body
    given = {"torch": torch}
    exec(compile(ast.Module(function.body, []), "check-loss", "exec"), given)
    return [given[name] for name in ("logits", "other", "ids", "counts")]


def test_every_fault_of_a_loss_shows_in_the_batch_that_the_answer_begins_with():
    """And right losses differ by as much as the exercise says."""
    losses = tried("10_after_pretraining", "losses.py")
    logits, other, ids, counts = given_batch()
    marked = counts.clone()
    marked[:, 0] = True
    predicts = torch.cat([counts[:, 1:], torch.zeros(3, 1, dtype=torch.bool)], dim=1)

    def gaps(implementation):
        loss = made(implementation, "loss")
        whole = loss(logits, ids, counts).item()
        found = torch.zeros(3, 8)
        for row, place in itertools.product(range(3), range(8)):
            changed = logits.clone()
            changed[row, place] = other[row, place]
            found[row, place] = abs(loss(changed, ids, counts).item() - whole)
        return found, abs(loss(logits, ids, marked).item() - whole)

    for right in losses.RIGHT:
        found, at_0 = gaps(right)
        assert found[predicts].min() > 1e-5 and found[~predicts].max() < 1e-6 and at_0 < 1e-6, right.source
    for wrong in losses.wrong:
        found, at_0 = gaps(wrong)
        assert found[predicts].min() < 1e-6 or found[~predicts].max() > 1e-5 or at_0 > 1e-5, wrong.wrong
