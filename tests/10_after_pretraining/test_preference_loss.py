"""Checks of exercise 7: preference_loss, with the student's own answer_log_probs and dpo_loss."""

import torch
from shared import some_counts

from gradekit.checks import (
    assert_close,
    assert_model_kept,
    assert_same_without_gradients,
    assert_shape,
    assert_unchanged,
    fail,
    for_checks,
    points,
)

VOCABULARY = 6


def batch_of(draw, rows, length, vocabulary=VOCABULARY):
    return draw.integers(0, vocabulary, (rows, length)), some_counts(draw, rows, length)


CHOSEN = (
    torch.tensor([[1, 2, 3, 4, 0], [5, 0, 2, 2, 1], [3, 3, 1, 0, 0]]),
    torch.tensor([[0, 0, 1, 1, 0], [0, 0, 0, 1, 1], [0, 1, 1, 1, 0]]).bool(),
)
REJECTED = (
    torch.tensor([[1, 2, 5, 0, 4, 4, 2], [5, 0, 2, 4, 0, 0, 0], [3, 1, 5, 2, 2, 0, 0]]),
    torch.tensor([[0, 0, 1, 1, 1, 1, 1], [0, 0, 0, 1, 0, 0, 0], [0, 1, 1, 1, 1, 0, 0]]).bool(),
)


@for_checks
def run(student, /, policy, reference, chosen, rejected, beta):
    """The pair that the student returns."""
    found = student.preference_loss(policy, reference, chosen, rejected, beta)
    if not isinstance(found, tuple | list) or len(found) != 2:
        fail("It should return a pair: (loss, margins).")
    assert_shape(found[0], (), name="loss")
    assert_shape(found[1], (len(chosen[0]),), name="margins")
    return found


@for_checks
def right(student, own_models, /, policy, reference, chosen, rejected, beta):
    """Loss and margins with the student's own functions; policy and reference are pairs (table, mix)."""
    found = []
    for tables in (policy, reference):
        model = own_models.Tables(*tables)
        for ids, counts in (chosen, rejected):
            with torch.no_grad():
                found.append(student.answer_log_probs(model(ids), ids, counts))
    return student.dpo_loss(*found, beta)


@for_checks
def tables(draw, /, vocabulary=VOCABULARY):
    """Entries for a model."""
    return 2 * draw.normal(vocabulary, vocabulary), draw.normal(vocabulary, vocabulary)


@points(3, see="The loss")
def test_margins(reference, draw, models, run, right, tables):
    """The margins are those of your dpo_loss for your answer_log_probs of both models and both batches."""
    a, b, c, d = reference.inputs("tables", a=(6, 6), b=(6, 6), c=(6, 6), d=(6, 6))
    _, margins = run(models.Tables(2 * a, b), models.Tables(2 * c, d), CHOSEN, REJECTED, 0.5)
    context = ", minus those with your `answer_log_probs` and `dpo_loss`,"
    reference.assert_close(
        margins - right((2 * a, b), (2 * c, d), CHOSEN, REJECTED, 0.5)[1], name="margins", context=context
    )
    rows, length, longer = draw.sizes(3, low=3)
    for beta in (0.3, 2.0):
        policy, other = tables(), tables()
        chosen, rejected = batch_of(draw, rows, length), batch_of(draw, rows, longer)
        _, margins = run(models.Tables(*policy), models.Tables(*other), chosen, rejected, beta)
        wanted = right(policy, other, chosen, rejected, beta)[1]
        context = f"with beta={beta}, compared with your own functions,"
        assert_close(margins, wanted, name="margins", context=context, atol=1e-4)


@points(2)
def test_loss_and_inputs_unchanged(student, reference, draw, models, run, right, tables):
    """The loss is that of your dpo_loss, models and batches stay as they were, and a second call with others starts afresh."""
    a, b, c, d = reference.inputs("of loss", a=(6, 6), b=(6, 6), c=(6, 6), d=(6, 6))
    loss, _ = run(models.Tables(a, b), models.Tables(c, d), CHOSEN, REJECTED, 0.8)
    gap = loss - right((a, b), (c, d), CHOSEN, REJECTED, 0.8)[0]
    reference.assert_close(gap, name="loss", context=", minus that with your own functions,")
    for rows, length, words in [(2, 4, 6), (1, 6, 6), (2, 4, 6), (1, 520, 43)]:
        policy, other = tables(words), tables(words)
        chosen, rejected = batch_of(draw, rows, length, words), batch_of(draw, rows, length + 1, words)
        both = models.Tables(*policy).eval(), models.Tables(*other).eval()
        loss, _ = run(*both, chosen, rejected, 0.4)
        wanted = right(policy, other, chosen, rejected, 0.4)[0]
        context = f"for {length} and {length + 1} tokens, compared with your own functions,"
        assert_close(loss, wanted, name="loss", context=context, atol=1e-4)
        assert_unchanged(student.call("preference_loss", *both, chosen, rejected, 0.4))
    policy, other = models.Tables(a, b), models.Tables(c, d)
    inputs = policy, other, CHOSEN, REJECTED, 0.8
    assert_same_without_gradients(student.preference_loss, *inputs, name="loss or margins")
    called, _ = models.as_function(student.get("preference_loss"), *inputs)
    assert_close(
        called, student.preference_loss(*inputs)[0], name="loss", context="of models that are functions"
    )
    for model in (policy, other):
        assert_model_kept(
            student, model, lambda: student.call("preference_loss", policy, other, CHOSEN, REJECTED, 0.8)
        )


@points(2, see="The loss")
def test_the_reference_is_frozen(student, draw, models, tables):
    """The reference runs without gradients, gets none, and the policy gets them, unless the caller has switched them off."""
    chosen = draw.integers(0, 3, (3, 5)), torch.ones(3, 5, dtype=torch.bool)
    rejected = draw.integers(3, 6, (3, 4)), torch.ones(3, 4, dtype=torch.bool)
    policy, other = models.Tables(*tables()), models.Tables(*tables())
    found = models.gradients_of(student.get("preference_loss"), policy, other, chosen, rejected, 0.5)
    assert len(found["policy"]) == 2, "The policy gets no gradient, so it can't be trained."
    of_tokens = found["policy"][0].abs().sum(dim=1)
    for ids, name in ((chosen[0], "chosen"), (rejected[0], "rejected")):
        assert (of_tokens[ids[:, :-1].unique()] > 0).all(), (
            f"The policy gets no gradient from the {name} answers."
        )
    assert not found["reference"], "The reference gets a gradient. It is frozen."
    assert not any(models.notes(other)["gradients"]), (
        "The reference runs with gradients. Run it under torch.no_grad()."
    )
    assert not found["margins"], "The margins are not cut off from the gradients."
    policy = models.Tables(*tables())
    student.call("preference_loss", policy, other, chosen, rejected, 0.5, no_grad=True)
    assert not any(models.notes(policy)["gradients"]), (
        "Under torch.no_grad(), the policy runs with gradients. Leave them as the caller has set them."
    )


@points(1)
def test_each_model_runs_once_on_each_batch(student, draw, models, tables):
    """Each model reads the chosen and the rejected batch, once each, and neither is changed."""
    chosen, rejected = batch_of(draw, 2, 5), batch_of(draw, 2, 3)
    policy, other = models.Tables(*tables()), models.Tables(*tables())
    before = [model.state()["table"].clone() for model in (policy, other)]
    student.preference_loss(policy, other, chosen, rejected, 1.0)
    wanted = sorted([chosen[0].tolist(), rejected[0].tolist()])
    for model, name, state in zip((policy, other), ("policy", "reference"), before, strict=True):
        read = sorted(models.notes(model)["read"])
        assert read == wanted, (
            f"The {name} should read the ids of both batches, once each. It was called {len(read)} times."
        )
        assert model.state()["table"].equal(state), f"The weights of the {name} have changed."
        assert models.notes(model)["training"], (
            f"The {name} was in training mode. Leave it in the mode that it had."
        )
    again = models.runs_of_two_calls(student.get("preference_loss"), policy, other, chosen, rejected)
    for name, runs in again.items():
        assert runs == 2, (
            f"In a second call with the same models and batches, the {name} runs {runs} times, and not twice. "
            "Its weights may have changed: keep no log-probabilities between calls."
        )
