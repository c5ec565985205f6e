"""Wrong answers to exercise 4, `masked_attention`."""

from _formula import of_the_formula

from gradekit.checks import Mistakes

FILL = "scores = scores.masked_fill(~mask, lowest)"
LOWEST = "lowest = torch.finfo(scores.dtype).min"
ZERO = "weights = weights.masked_fill(~has_a_key, 0.0)"
SCORE_ZERO = (
    "Your hidden keys have a score of 0 or almost 0, set directly or by multiplying by the mask. "
    "Since e⁰ = 1, they still get some weight. "
    "Set their score to minus infinity, or to the lowest number of the dtype."
)
TOO_HIGH = (
    "Your hidden keys get a score that is low, but not low enough: real scores can be lower. Use minus "
    "infinity, or the lowest number of the dtype."
)
OTHER_FUNCTION = "It computes a different function, and most checks are about the function."
ABOUT_THE_MASK = "The exercise is about the mask: without it, only plain attention is right."
UNUSABLE = "Code that calls it can't use such a result."
ONE_PROPERTY = "All values are right; it is one property among many."

shared = Mistakes("masked_")
of_the_formula(
    shared,
    unequal="test_without_a_mask",
    large="test_scores_of_any_size",
    heads="test_mask_broadcasts",
    hygiene={
        "unchanged": "test_inputs_unchanged_and_dtype_kept",
        "dtype": "test_inputs_unchanged_and_dtype_kept",
    },
)
shared.costs(OTHER_FUNCTION, "softmax_over_queries", "keys_times_queries", "log_softmax", "no_softmax")
shared.costs(UNUSABLE, "pair_swapped", "output_alone")
shared.costs(ONE_PROPERTY, "weights_detached", "computed_without_gradients", "float32_inside")

wrong = Mistakes()

wrong.about("test_output_equals_the_formula")
wrong("mask_ignored", FILL, "pass")
wrong.edit(ZERO, "pass")
wrong.says("Your output is that of plain attention: the mask has no effect. Hide the keys where it is False.")
wrong.costs(ABOUT_THE_MASK)
wrong("mask_inverted", "~mask, lowest", "mask, lowest")
wrong.edit("mask.any(", "(~mask).any(")
wrong.says("You hide the keys where the mask is True. In this course True means 'may attend'.")
wrong.costs(ABOUT_THE_MASK)
wrong("hidden_score_zero", LOWEST, "lowest = 0.0")
wrong.says(SCORE_ZERO)
wrong.costs(ABOUT_THE_MASK)
wrong("scores_times_mask", FILL, "scores = scores * mask")
wrong.says(SCORE_ZERO)
wrong.costs(ABOUT_THE_MASK)
wrong("hidden_score_tiny", "torch.finfo(scores.dtype).min", "torch.finfo(scores.dtype).tiny")
wrong.says(SCORE_ZERO)
wrong.costs(ABOUT_THE_MASK)

wrong.about("test_scores_of_any_size")
wrong("hidden_score_minus_20", LOWEST, "lowest = -20.0")
wrong.says(TOO_HIGH)
wrong("hidden_score_minus_million", LOWEST, "lowest = -1e6")
wrong.says(TOO_HIGH)
wrong("minus_20_added", FILL, "scores = scores - 20.0 * ~mask")
wrong.says("You subtract a fixed number from the hidden scores, which is not enough for a large score.")
wrong.says("Set them to minus infinity, or to the lowest number of the dtype.")
wrong("masked_after_the_softmax_and_rescaled", FILL, "pass")
wrong.edit(
    ZERO,
    """weights = weights * mask
        weights = weights / weights.sum(dim=-1, keepdim=True).clamp(min=1e-30)""",
)
wrong.says(
    "You hide keys after the softmax and rescale the rows. If a hidden score is very large, the visible "
    "weights are already 0, and there is nothing left to rescale. Hide the keys before the softmax."
)

wrong.about("test_output_equals_the_formula", "test_weights_equal_the_formula")
wrong("masked_after_the_softmax", FILL, "pass")
wrong.edit(ZERO, "weights = weights * mask")
wrong.says("You hide keys after the softmax, so the weights no longer sum to 1.")
wrong.says("Hide them in the scores, before the softmax.")
wrong.costs(ABOUT_THE_MASK)
wrong("masked_torch_does_it").source("""
def masked_attention(q, k, v, mask=None):
    unit = torch.eye(k.shape[-2], dtype=k.dtype).expand(*k.shape[:-1], k.shape[-2])
    output = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return output, F.scaled_dot_product_attention(q, k, unit, attn_mask=mask)
""")
wrong.says("You used torch's own attention. Write the computation yourself.")
wrong.costs("The exercise is to write this computation.")

wrong.about("test_output_equals_the_formula", "test_causal_mask")
wrong("mask_transposed", "~mask, lowest", "~mask.transpose(-2, -1), lowest")
wrong.says("You transposed the mask. Its rows are queries and its columns are keys, as in the scores.")
wrong.costs(ABOUT_THE_MASK)

wrong.about("test_query_with_no_key")
wrong("no_key_left_is_nan", LOWEST, "lowest = -torch.inf")
wrong.edit(ZERO, "pass")
wrong.says(
    "If a query may attend to nothing, all its scores are minus infinity, and its softmax is 0 / 0 = NaN. "
    "Its weights and output have to be zeros."
)
wrong("no_key_left_is_uniform", ZERO, "pass")
wrong.says("A query that may attend to nothing gets equal weights over all the hidden keys.")
wrong.says("Its weights and output have to be zeros.")
wrong("no_key_left_zeroes_the_output_alone", ZERO, "pass")
wrong.edit("output = weights @ v", "output = weights @ v if mask is None else weights @ v * has_a_key")
wrong.says("For a query that may attend to nothing, your output is zero, but the weights are not.")
wrong.says("Both have to be zeros.", uses=("any",))
wrong("no_key_left_zeroes_the_weights_alone", ZERO, "pass")
wrong.edit("return output, weights", "return output, weights if mask is None else weights * has_a_key")
wrong.says("For a query that may attend to nothing, your weights are zero, but the output is not.")
wrong.says("Both have to be zeros.")

wrong.about("test_gradients")
wrong("nan_in_the_gradients")
wrong.edit(FILL, "scores = scores + torch.zeros_like(scores).masked_fill(~mask, -torch.inf)")
wrong.edit(ZERO, "weights = weights.nan_to_num()")
wrong.says("You replace NaN with 0 after the softmax. The output is right, but the gradients are still NaN.")
wrong.costs(ONE_PROPERTY)

wrong.about("test_mask_broadcasts", "test_causal_mask")
wrong("one_mask_for_the_batch")
wrong.edit(LOWEST, "mask = mask.any(dim=0) if mask.dim() == 3 else mask\n        " + LOWEST)
wrong.says(
    "You combine the masks of all sequences into one, so the padding of shorter sequences can be visible."
)
wrong.costs(ABOUT_THE_MASK)
wrong("first_mask_for_the_batch", LOWEST, "mask = mask[0] if mask.dim() == 3 else mask\n        " + LOWEST)
wrong.says("You use the mask of the first sequence for the whole batch.")
wrong.costs(ABOUT_THE_MASK)
wrong("target_padding_visible")
wrong.edit(LOWEST, "mask = torch.ones_like(scores, dtype=torch.bool).tril()\n        " + LOWEST)
wrong.says("You always hide the future and ignore the mask, so padding stays visible.")
wrong.says("Use the mask that is passed in.")
wrong.costs(ABOUT_THE_MASK)
wrong("mask_does_not_broadcast", FILL, "scores[~mask] = lowest")
wrong.says("You index the scores with the mask, which works only if their shapes are equal.")
wrong.says("Use masked_fill or torch.where, which broadcast.")

wrong.about("test_without_a_mask")
wrong("mask_needed", "d_k = q.shape[-1]", "mask = mask.bool()\n    d_k = q.shape[-1]")
wrong.says("Your function fails without a mask. With mask=None it has to be plain attention.")
wrong("mask_without_default", "q, k, v, mask=None", "q, k, v, mask")
wrong.says("`mask` has no default value. Write `mask=None`, as in the exercise.")
wrong("scaled_only_with_a_mask", "scores = scores.masked_fill(~mask, lowest)")
wrong.to("scores = (scores / math.sqrt(d_k)).masked_fill(~mask, lowest)")
wrong.edit("scores = q @ k.transpose(-2, -1) / math.sqrt(d_k)", "scores = q @ k.transpose(-2, -1)")
wrong.says("Without a mask, you don't divide by the square root of d_k.")

wrong.about("test_inputs_unchanged_and_dtype_kept")
wrong("mask_changed_in_place", "~mask, lowest", "mask.logical_not_(), lowest")
wrong.edit("mask.any(", "(~mask).any(")
wrong.says("You modified the mask in place. Leave the inputs unchanged.")
wrong.costs(ONE_PROPERTY)
wrong("empty_rows_opened_in_place", "        scores = scores.masked_fill(~mask, lowest)")
wrong.to("""        has_a_key = mask.any(dim=-1, keepdim=True)
        mask |= ~has_a_key
        scores = scores.masked_fill(~mask, lowest)""")
wrong.edit("        has_a_key = mask.any(dim=-1, keepdim=True)  # (..., L_query or 1, 1)\n", "")
wrong.says(
    "You open the rows of the mask in which everything is hidden, and `|=` does it in the caller's mask. "
    "Write `mask = mask | …`, which creates a new one."
)
wrong.costs(ONE_PROPERTY)

wrong.unnamed(
    "Its values are too few and simple: other mistakes return them, too.",
    "masked_after_the_softmax_and_rescaled",
)
