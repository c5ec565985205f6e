"""Other right answers to exercise 6, `dpo_loss`."""

from gradekit.checks import Alternatives

right = Alternatives("dpo_")

right("softplus").source("""
def dpo_loss(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta=0.1):
    with torch.no_grad():
        before = reference_chosen - reference_rejected
    m = beta * (policy_chosen - policy_rejected - before)
    return F.softplus(-m).mean(), m.detach()
""")

right("binary_cross_entropy").source("""
def dpo_loss(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta=0.1):
    chosen_rewards = beta * (policy_chosen - reference_chosen.detach())
    rejected_rewards = beta * (policy_rejected - reference_rejected.detach())
    logits = chosen_rewards - rejected_rewards
    return F.binary_cross_entropy_with_logits(logits, torch.ones_like(logits)), logits.clone().detach()
""")
