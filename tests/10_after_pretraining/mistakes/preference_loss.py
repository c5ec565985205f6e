"""Wrong answers to exercise 7, `preference_loss`."""

from gradekit.checks import Mistakes

REFERENCE = (
    "reference_chosen, reference_rejected = log_probs(reference, chosen), log_probs(reference, rejected)"
)
POLICY = "policy_chosen, policy_rejected = log_probs(policy, chosen), log_probs(policy, rejected)"
LOSS = "return dpo_loss(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta)"

wrong = Mistakes("preference_")

wrong.about("test_margins")
wrong(
    "batches_exchanged",
    LOSS,
    "return dpo_loss(policy_rejected, policy_chosen, reference_rejected, reference_chosen, beta)",
)
wrong.says("You exchange the chosen and the rejected answers.")
wrong(
    "models_exchanged",
    LOSS,
    "return dpo_loss(reference_chosen, reference_rejected, policy_chosen, policy_rejected, beta)",
)
wrong.says("You exchange the policy and the reference.")
wrong.costs("Nothing can be trained with it.")
wrong("policy_twice", REFERENCE, REFERENCE.replace("log_probs(reference, ", "log_probs(policy, "))
wrong.says("You never run the reference: all four log-probabilities come from the policy.")
wrong.costs("The margins are always 0.")
wrong("chosen_twice", POLICY, POLICY.replace("log_probs(policy, rejected)", "log_probs(policy, chosen)"))
wrong.edit(REFERENCE, REFERENCE.replace("log_probs(reference, rejected)", "log_probs(reference, chosen)"))
wrong.says("You run the models on the chosen answers twice, and never on the rejected ones.")
wrong.costs("The margins are always 0.")
wrong("beta_left_out", LOSS, LOSS.replace(", beta)", ")"))
wrong.says("You don't pass `beta` on to dpo_loss.")
wrong("everything_counts", "return answer_log_probs(model(ids), ids, counts)")
wrong.to("return answer_log_probs(model(ids), ids, torch.ones_like(counts))")
wrong.says("You let all tokens count. Pass `counts` on.")

wrong.about("test_the_reference_is_frozen")
wrong(
    "order_of_the_arguments",
    LOSS,
    "return dpo_loss(policy_chosen, reference_chosen, policy_rejected, reference_rejected, beta)",
)
wrong.says(
    "The margins are right, but no gradient comes from the rejected answers. Does the policy run on them with gradients, and "
    "is each log-probability at its place in the call of dpo_loss?"
)
wrong("reference_with_gradients", "with torch.no_grad():", "with torch.enable_grad():")
wrong.says("The reference runs with gradients. Run it under torch.no_grad().")
wrong("policy_without_gradients", POLICY, "with torch.no_grad():\n        " + POLICY)
wrong.says("The policy runs without gradients, so it can't be trained.")

wrong.about("test_loss_and_inputs_unchanged")
wrong(
    "loss_twice",
    LOSS,
    "loss, margins = dpo_loss(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta)\n    return 2 * loss, margins",
)
wrong.says("Your loss isn't the one that dpo_loss returns. Return it as it is.")

wrong.about("test_each_model_runs_once_on_each_batch")
wrong("runs_twice", POLICY, "log_probs(policy, chosen)\n    " + POLICY)
wrong.says("You run the policy more than once on the same batch.")
