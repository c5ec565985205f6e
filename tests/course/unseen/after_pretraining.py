"""Wrong answers to 10_after_pretraining, written from the text of its exercises."""

from answers import Unseen


def wrong(name: str, cell: str, *edits: tuple[str, str], fault: str) -> Unseen:
    return Unseen(name, cell, edits, fault=fault)


UNSEEN = [
    wrong(
        "answer_batch_end_is_padding",
        "answer_batch",
        ("[True] * len(answer) + [False] * rest", "[True] * (len(answer) - 1) + [False] * (rest + 1)"),
        fault="the last token of an answer doesn't count",
    ),
    wrong(
        "answer_batch_cut_to_the_shortest",
        "answer_batch",
        ("longest = max(", "longest = min("),
        fault="as long as the shortest dialogue",
    ),
    wrong(
        "answer_loss_mean_of_rows",
        "answer_loss",
        (
            "return F.cross_entropy(logits[:, :-1][counted], ids[:, 1:][counted])",
            "rows = [row for row in range(len(ids)) if counted[row].any()]\n"
            "    each = [F.cross_entropy(logits[r, :-1][counted[r]], ids[r, 1:][counted[r]]) for r in rows]\n"
            "    return torch.stack(each).mean()",
        ),
        fault="the mean of the means of the rows",
    ),
    wrong(
        "answer_loss_minus_100_at_prompt_only",
        "answer_loss",
        (
            "return F.cross_entropy(logits[:, :-1][counted], ids[:, 1:][counted])",
            "first = counted.int().argmax(dim=1, keepdim=True)\n"
            "    kept = torch.arange(counted.shape[1]) >= first\n"
            "    return F.cross_entropy(logits[:, :-1][kept], ids[:, 1:][kept])",
        ),
        fault="everything after the first token that counts",
    ),
    wrong(
        "lora_scaled_by_root_of_the_rank",
        "lora_linear",
        ("self.scale = alpha / rank", "self.scale = alpha / math.sqrt(rank)"),
        fault="divides by the root of the rank",
    ),
    wrong(
        "lora_b_transposed",
        "lora_linear",
        ("self.scale * self.B @ self.A)", "self.scale * (self.A.T @ self.B.T))"),
        fault="the merged change is transposed",
    ),
    wrong(
        "add_lora_frozen_afterwards",
        "add_lora",
        ("    model.requires_grad_(False)\n", ""),
        ("    return sum(", "    model.requires_grad_(False)\n    return sum("),
        fault="freezes everything at the end",
    ),
    wrong(
        "log_probs_divided_by_the_length",
        "answer_log_probs",
        ("(of_tokens * counts[:, 1:]).sum(dim=1)", "(of_tokens * counts[:, 1:]).mean(dim=1)"),
        fault="divides by the length of the row",
    ),
    wrong(
        "dpo_beta_for_the_policy_only",
        "dpo_loss",
        (
            "margins = beta * (gained_by_chosen - gained_by_rejected)",
            "margins = gained_by_chosen - gained_by_rejected",
        ),
        ("policy_chosen - ", "beta * policy_chosen - "),
        ("policy_rejected - ", "beta * policy_rejected - "),
        fault="beta is a factor of the policy alone",
    ),
    wrong(
        "preference_reference_on_chosen_only",
        "preference_loss",
        (
            "log_probs(reference, chosen), log_probs(reference, rejected)",
            "(log_probs(reference, chosen),) * 2",
        ),
        fault="uses the reference's log-probability of the chosen answer for both",
    ),
]
