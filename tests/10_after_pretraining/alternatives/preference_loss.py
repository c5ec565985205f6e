"""Other right answers to exercise 7, `preference_loss`."""

from gradekit.checks import Alternatives

right = Alternatives("preference_")

right("four_lines").source("""
def preference_loss(policy, reference, chosen, rejected, beta):
    chosen_ids, chosen_counts = chosen
    rejected_ids, rejected_counts = rejected
    policy_w = answer_log_probs(policy(chosen_ids), chosen_ids, chosen_counts)
    policy_l = answer_log_probs(policy(rejected_ids), rejected_ids, rejected_counts)
    with torch.no_grad():
        reference_w = answer_log_probs(reference(chosen_ids), chosen_ids, chosen_counts)
        reference_l = answer_log_probs(reference(rejected_ids), rejected_ids, rejected_counts)
    return dpo_loss(policy_w, policy_l, reference_w, reference_l, beta=beta)
""")

right("a_comprehension").source("""
def preference_loss(policy, reference, chosen, rejected, beta):
    of = lambda model: [answer_log_probs(model(ids), ids, counts) for ids, counts in (chosen, rejected)]
    with torch.no_grad():
        before = of(reference)
    loss, margins = dpo_loss(*of(policy), *before, beta)
    return loss, margins
""")
