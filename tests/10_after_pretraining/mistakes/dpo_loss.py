"""Wrong answers to exercise 6, `dpo_loss`."""

from gradekit.checks import Mistakes

CHOSEN = "gained_by_chosen = policy_chosen - reference_chosen.detach()"
REJECTED = "gained_by_rejected = policy_rejected - reference_rejected.detach()"
MARGINS = "margins = beta * (gained_by_chosen - gained_by_rejected)"
RETURN = "return -F.logsigmoid(margins).mean(), margins.detach()"

wrong = Mistakes("dpo_")

wrong.about("test_margins")
wrong("no_reference", CHOSEN, "gained_by_chosen = policy_chosen")
wrong.edit(REJECTED, "gained_by_rejected = policy_rejected")
wrong.says("You leave out the reference. The margin counts what has changed since then.")
wrong("reference_added", REJECTED, "gained_by_rejected = policy_rejected + reference_rejected.detach()")
wrong.edit(CHOSEN, "gained_by_chosen = policy_chosen + reference_chosen.detach()")
wrong.says("You add the reference's log-probabilities. A logarithm of a quotient is a difference.")
wrong("exchanged", MARGINS, "margins = beta * (gained_by_rejected - gained_by_chosen)")
wrong.says("Chosen and rejected are the wrong way around: your loss falls if the rejected answer gains.")
wrong.costs("The opposite of what is asked for.")
wrong("gains_added", MARGINS, "margins = beta * (gained_by_chosen + gained_by_rejected)")
wrong.says("You add both gains. The margin is their difference.")
wrong("no_beta", MARGINS, "margins = gained_by_chosen - gained_by_rejected")
wrong.says("You leave out beta.")
wrong("beta_on_the_policy", CHOSEN, "gained_by_chosen = policy_chosen - reference_chosen.detach() / beta")
wrong.edit(REJECTED, "gained_by_rejected = policy_rejected - reference_rejected.detach() / beta")
wrong.says("You multiply only the policy's log-probabilities by beta. It is a factor of the whole margin.")
wrong("beta_outside", MARGINS, "margins = gained_by_chosen - gained_by_rejected")
wrong.edit(RETURN, "return -beta * F.logsigmoid(margins).mean(), margins.detach()")
wrong.says("You multiply the loss by beta. The factor belongs inside, to the margin.")
wrong("quotient", CHOSEN, "gained_by_chosen = policy_chosen / reference_chosen.detach()")
wrong.edit(REJECTED, "gained_by_rejected = policy_rejected / reference_rejected.detach()")
wrong.says("You divide log-probabilities. A logarithm of a quotient is a difference of logarithms.")
wrong.costs("It computes a different function, which is NaN where a log-probability is 0.")

wrong.about("test_loss")
wrong("sum", RETURN, "return -F.logsigmoid(margins).sum(), margins.detach()")
wrong.says("You add up the pairs of the batch. Take their mean.")
wrong("sign", RETURN, "return F.logsigmoid(margins).mean(), margins.detach()")
wrong.says("Your loss is negative. It is *minus* the logarithm of σ.")
wrong("mean_first", RETURN, "return -F.logsigmoid(margins.mean()), margins.detach()")
wrong.says("You take the mean of the margins first. Take the mean of the losses.")
wrong("no_logarithm", RETURN, "return 1 - torch.sigmoid(margins).mean(), margins.detach()")
wrong.says("You return 1 - σ(m). The loss is -log σ(m).")
wrong("margin_as_loss", RETURN, "return -margins.mean(), margins.detach()")
wrong.says("Your loss is minus the margin, without log σ, so it never flattens.")

wrong.about("test_large_margins")
wrong("log_of_sigmoid", RETURN, "return -torch.log(torch.sigmoid(margins)).mean(), margins.detach()")
wrong.says("For a margin of -1000, your σ is 0 and its logarithm infinite. Use F.logsigmoid.")

wrong.about("test_gradients")
wrong("reference_not_detached", CHOSEN, "gained_by_chosen = policy_chosen - reference_chosen")
wrong.edit(REJECTED, "gained_by_rejected = policy_rejected - reference_rejected")
wrong.says("A gradient flows to the log-probabilities of the reference. Detach them.")
wrong("margins_not_detached", RETURN, "return -F.logsigmoid(margins).mean(), margins")
wrong.says("The margins that you return are not cut off from the gradients. Detach them.")
wrong("policy_detached", CHOSEN, "gained_by_chosen = (policy_chosen - reference_chosen).detach()")
wrong.says("The chosen answers get no gradient.")

wrong.about("test_default_and_inputs_unchanged")
wrong("another_default", "beta=0.1):", "beta=1.0):")
wrong.says("Your default for beta isn't 0.1.")
wrong(
    "in_place",
    CHOSEN,
    "reference_chosen *= -1\n    gained_by_chosen = policy_chosen + reference_chosen.detach()",
)
wrong.says("You write into the log-probabilities that were passed in. Leave them as they are.")

wrong.unnamed("Its checks compare values for drawn inputs, of which none are recorded.", "log_of_sigmoid")
