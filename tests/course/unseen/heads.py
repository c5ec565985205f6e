"""Wrong answers to 09_heads, written from the text of its exercises."""

from answers import Unseen


def wrong(name: str, cell: str, *edits: tuple[str, str], fault: str) -> Unseen:
    return Unseen(name, cell, edits, fault=fault)


UNSEEN = [
    wrong(
        "previous_over_the_length",
        "previous_token_score",
        ("one_back.mean(dim=-1)", "one_back.sum(dim=-1) / weights.shape[-1]"),
        fault="divides by the length, so position 0 counts",
    ),
    wrong(
        "induction_whole_line",
        "induction_score",
        (
            "weights[..., queries, after].mean(dim=-1)",
            "weights.diagonal(offset=1 - period, dim1=-2, dim2=-1).mean(dim=-1)",
        ),
        fault="averages the whole line, with the query before the repetition",
    ),
    wrong(
        "losses_added_up",
        "position_losses",
        ("return losses.mean(dim=0)", "return losses.sum(dim=0)"),
        fault="adds up the batch",
    ),
    wrong(
        "second_half_too_early",
        "position_losses",
        ("losses[period:]", "losses[period - 1 :]"),
        fault="counts the prediction of the first repeated token",
    ),
    wrong(
        "look_back_without_root",
        "look_back",
        ("strength * math.sqrt(length) * positions", "strength * positions"),
        fault="doesn't make up for the division",
    ),
    wrong(
        "by_hand_root_of_the_length",
        "induction_by_hand",
        ("math.sqrt(vocab_size)", "math.sqrt(len(tokens))"),
        fault="the root of the length in place of that of the width",
    ),
    wrong(
        "by_hand_sees_itself",
        "induction_by_hand",
        ("causal.tril(-1)", "causal"),
        fault="head 1 may attend to its own position",
    ),
    wrong(
        "ablate_mean_of_each_sequence",
        "ablate",
        ("alone.mean(dim=(0, 1))", "alone.mean(dim=1, keepdim=True)"),
        fault="a mean for each sequence",
    ),
    wrong(
        "without_in_every_layer",
        "losses_without",
        ("ablate(outputs, head, kind) if number == layer else outputs", "ablate(outputs, head, kind)"),
        fault="takes the head out in all layers",
    ),
    wrong(
        "lens_norm_kept",
        "logit_lens",
        ("        views.append(", "        x = model.norm(x)\n        views.append("),
        ("views.append(model.unembed(model.norm(x)))", "views.append(model.unembed(x))"),
        fault="the next layer gets the normalized vectors",
    ),
]
