"""Wrong answers to exercise 5, `answer_log_probs`."""

from gradekit.checks import Mistakes

LOG_PROBS = "log_probs = torch.log_softmax(logits[:, :-1], dim=-1)"
GATHER = "of_tokens = log_probs.gather(-1, ids[:, 1:, None])[..., 0]"
RETURN = "return (of_tokens * counts[:, 1:]).sum(dim=1)"

wrong = Mistakes("log_probs_")

wrong.about("test_equals_the_formula")
wrong("mean", RETURN, "return (of_tokens * counts[:, 1:]).sum(dim=1) / counts[:, 1:].sum(dim=1).clamp(min=1)")
wrong.says("You take the mean of each answer. Take the sum over its tokens.")
wrong("everything_counts", RETURN, "return of_tokens.sum(dim=1)")
wrong.says("You add up the log-probabilities of all tokens. Only those that count belong to the answer.")
wrong("not_shifted", LOG_PROBS, "log_probs = torch.log_softmax(logits[:, 1:], dim=-1)")
wrong.says("You read the logits at the position of the token itself. The logits before it predict it.")
wrong("mask_not_shifted", RETURN, "return (of_tokens * counts[:, :-1]).sum(dim=1)")
wrong.says("Your mask isn't shifted with the ids: drop the first column of `counts`.")
wrong("sign", RETURN, RETURN.replace("return ", "return -"))
wrong.says("You return minus the log-probabilities. They should be negative, or 0.")
wrong(
    "probabilities", RETURN, RETURN.replace("return (", "return (").replace("sum(dim=1)", "sum(dim=1).exp()")
)
wrong.says("You return probabilities. Return their logarithms.")
wrong("probabilities_added", LOG_PROBS, "log_probs = torch.softmax(logits[:, :-1], dim=-1)")
wrong.says("You add up probabilities. Add up their logarithms.")
wrong("logits_added", LOG_PROBS, "log_probs = logits[:, :-1]")
wrong.says("You add up logits. Apply log_softmax first.")
wrong("softmax_over_positions", LOG_PROBS, "log_probs = torch.log_softmax(logits[:, :-1], dim=1)")
wrong.says("Your softmax runs over the positions. It should run over the vocabulary.")

wrong.about("test_any_sizes")
wrong(
    "log_of_the_softmax",
    LOG_PROBS,
    "log_probs = torch.softmax(logits[:, :-1], dim=-1).clamp(min=1e-30).log()",
)
wrong.says("For large logits, your softmax becomes 0 before you take the logarithm. Use log_softmax.")

wrong.about("test_each_row_on_its_own")
wrong("of_the_batch", RETURN, "return (of_tokens * counts[:, 1:]).sum().expand(len(ids))")
wrong.says("You add up all rows. Every row has its own sum.")
wrong.costs("No row has its own sum, so only a single row is right.")

wrong.about("test_gradients_and_inputs_unchanged")
wrong("detached", RETURN, RETURN + ".detach()")
wrong.says("Your result is cut off from the gradients, so the policy can't be trained with it.")
wrong("counts_changed", LOG_PROBS, "counts[:, 0] = False\n    " + LOG_PROBS)
wrong.says("You write into `counts`. Leave the arguments as they are.")

wrong.unnamed("Its checks compare values for drawn inputs, of which none are recorded.", "log_of_the_softmax")
