"""Wrong answers to exercise 4, `masked_attention`."""

from _formula import of_the_formula

from gradekit.checks import Mistake, with_costs

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

MISTAKES = [
    *of_the_formula(
        "masked_attention",
        unequal="test_without_a_mask",
        large="test_scores_of_any_size",
        heads="test_mask_broadcasts",
        hygiene={
            "unchanged": "test_inputs_unchanged_and_dtype_kept",
            "dtype": "test_inputs_unchanged_and_dtype_kept",
        },
    ),
    Mistake(
        "mask_ignored",
        cell="masked_attention",
        edits=[(FILL, "pass"), (ZERO, "pass")],
        about=["test_output_equals_the_formula"],
        sentence="Your output is that of plain attention: the mask has no effect. Hide the keys where it is False.",
    ),
    Mistake(
        "mask_inverted",
        cell="masked_attention",
        edits=[("~mask, lowest", "mask, lowest"), ("mask.any(", "(~mask).any(")],
        about=["test_output_equals_the_formula"],
        sentence="You hide the keys where the mask is True. In this course True means 'may attend'.",
    ),
    Mistake(
        "hidden_score_zero",
        cell="masked_attention",
        edits=[(LOWEST, "lowest = 0.0")],
        about=["test_output_equals_the_formula"],
        sentence=SCORE_ZERO,
    ),
    Mistake(
        "scores_times_mask",
        cell="masked_attention",
        edits=[(FILL, "scores = scores * mask")],
        about=["test_output_equals_the_formula"],
        sentence=SCORE_ZERO,
    ),
    Mistake(
        "hidden_score_tiny",
        cell="masked_attention",
        edits=[("torch.finfo(scores.dtype).min", "torch.finfo(scores.dtype).tiny")],
        about=["test_output_equals_the_formula"],
        sentence=SCORE_ZERO,
    ),
    Mistake(
        "hidden_score_minus_20",
        cell="masked_attention",
        edits=[(LOWEST, "lowest = -20.0")],
        about=["test_scores_of_any_size"],
        sentence=TOO_HIGH,
    ),
    Mistake(
        "hidden_score_minus_million",
        cell="masked_attention",
        edits=[(LOWEST, "lowest = -1e6")],
        about=["test_scores_of_any_size"],
        sentence=TOO_HIGH,
    ),
    Mistake(
        "minus_20_added",
        cell="masked_attention",
        edits=[(FILL, "scores = scores - 20.0 * ~mask")],
        about=["test_scores_of_any_size"],
        sentence="You subtract a fixed number from the hidden scores, which is not enough for a large score. "
        "Set them to minus infinity, or to the lowest number of the dtype.",
    ),
    Mistake(
        "masked_after_the_softmax",
        cell="masked_attention",
        edits=[(FILL, "pass"), (ZERO, "weights = weights * mask")],
        about=["test_output_equals_the_formula", "test_weights_equal_the_formula"],
        sentence="You hide keys after the softmax, so the weights no longer sum to 1. "
        "Hide them in the scores, before the softmax.",
    ),
    Mistake(
        "masked_after_the_softmax_and_rescaled",
        cell="masked_attention",
        edits=[
            (FILL, "pass"),
            (
                ZERO,
                "weights = weights * mask\n"
                "        weights = weights / weights.sum(dim=-1, keepdim=True).clamp(min=1e-30)",
            ),
        ],
        about=["test_scores_of_any_size"],
        sentence="You hide keys after the softmax and rescale the rows. "
        "If a hidden score is very large, the visible weights are already 0, and there is nothing left to rescale. "
        "Hide the keys before the softmax.",
    ),
    Mistake(
        "mask_transposed",
        cell="masked_attention",
        edits=[("~mask, lowest", "~mask.transpose(-2, -1), lowest")],
        about=["test_output_equals_the_formula", "test_causal_mask"],
        sentence="You transposed the mask. Its rows are queries and its columns are keys, as in the scores.",
    ),
    Mistake(
        "no_key_left_is_nan",
        cell="masked_attention",
        edits=[(LOWEST, "lowest = -torch.inf"), (ZERO, "pass")],
        about=["test_query_with_no_key"],
        sentence="If a query may attend to nothing, all its scores are minus infinity, and its softmax is "
        "0 / 0 = NaN. Its weights and output have to be zeros.",
    ),
    Mistake(
        "no_key_left_is_uniform",
        cell="masked_attention",
        edits=[(ZERO, "pass")],
        about=["test_query_with_no_key"],
        sentence="A query that may attend to nothing gets equal weights over all the hidden keys. "
        "Its weights and output have to be zeros.",
    ),
    Mistake(
        "no_key_left_zeroes_the_output_alone",
        cell="masked_attention",
        edits=[
            (ZERO, "pass"),
            ("output = weights @ v", "output = weights @ v if mask is None else weights @ v * has_a_key"),
        ],
        about=["test_query_with_no_key"],
        sentence="For a query that may attend to nothing, your output is zero, but the weights are not. Both have to be zeros.",
    ),
    Mistake(
        "no_key_left_zeroes_the_weights_alone",
        cell="masked_attention",
        edits=[
            (ZERO, "pass"),
            ("return output, weights", "return output, weights if mask is None else weights * has_a_key"),
        ],
        about=["test_query_with_no_key"],
        sentence="For a query that may attend to nothing, your weights are zero, but the output is not. Both have to be zeros.",
    ),
    Mistake(
        "nan_in_the_gradients",
        cell="masked_attention",
        edits=[
            (FILL, "scores = scores + torch.zeros_like(scores).masked_fill(~mask, -torch.inf)"),
            (ZERO, "weights = weights.nan_to_num()"),
        ],
        about=["test_gradients"],
        sentence="You replace NaN with 0 after the softmax. The output is right, but the gradients are still "
        "NaN.",
    ),
    Mistake(
        "one_mask_for_the_batch",
        cell="masked_attention",
        edits=[(LOWEST, "mask = mask.any(dim=0) if mask.dim() == 3 else mask\n        " + LOWEST)],
        about=["test_mask_broadcasts", "test_causal_mask"],
        sentence="You combine the masks of all sequences into one, so the padding of shorter sequences can be "
        "visible.",
    ),
    Mistake(
        "first_mask_for_the_batch",
        cell="masked_attention",
        edits=[(LOWEST, "mask = mask[0] if mask.dim() == 3 else mask\n        " + LOWEST)],
        about=["test_mask_broadcasts", "test_causal_mask"],
        sentence="You use the mask of the first sequence for the whole batch.",
    ),
    Mistake(
        "target_padding_visible",
        cell="masked_attention",
        edits=[(LOWEST, "mask = torch.ones_like(scores, dtype=torch.bool).tril()\n        " + LOWEST)],
        about=["test_mask_broadcasts", "test_causal_mask"],
        sentence="You always hide the future and ignore the mask, so padding stays visible. "
        "Use the mask that is passed in.",
    ),
    Mistake(
        "mask_does_not_broadcast",
        cell="masked_attention",
        edits=[(FILL, "scores[~mask] = lowest")],
        about=["test_mask_broadcasts", "test_causal_mask"],
        sentence="You index the scores with the mask, which works only if their shapes are equal. "
        "Use masked_fill or torch.where, which broadcast.",
    ),
    Mistake(
        "mask_needed",
        cell="masked_attention",
        edits=[("d_k = q.shape[-1]", "mask = mask.bool()\n    d_k = q.shape[-1]")],
        about=["test_without_a_mask"],
        sentence="Your function fails without a mask. With mask=None it has to be plain attention.",
    ),
    Mistake(
        "mask_changed_in_place",
        cell="masked_attention",
        edits=[("~mask, lowest", "mask.logical_not_(), lowest"), ("mask.any(", "(~mask).any(")],
        about=["test_inputs_unchanged_and_dtype_kept"],
        sentence="You modified the mask in place. Leave the inputs unchanged.",
    ),
    Mistake(
        "empty_rows_opened_in_place",
        cell="masked_attention",
        edits=[
            (
                "        scores = scores.masked_fill(~mask, lowest)",
                "        has_a_key = mask.any(dim=-1, keepdim=True)\n"
                "        mask |= ~has_a_key\n"
                "        scores = scores.masked_fill(~mask, lowest)",
            ),
            ("        has_a_key = mask.any(dim=-1, keepdim=True)  # (..., L_query or 1, 1)\n", ""),
        ],
        about=["test_inputs_unchanged_and_dtype_kept"],
        sentence="You open the rows of the mask in which everything is hidden, and `|=` does it in the caller's mask. "
        "Write `mask = mask | …`, which creates a new one.",
    ),
    Mistake(
        "masked_torch_does_it",
        cell="masked_attention",
        source="""
def masked_attention(q, k, v, mask=None):
    unit = torch.eye(k.shape[-2], dtype=k.dtype).expand(*k.shape[:-1], k.shape[-2])
    output = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return output, F.scaled_dot_product_attention(q, k, unit, attn_mask=mask)
""",
        about=["test_output_equals_the_formula", "test_weights_equal_the_formula"],
        sentence="You used torch's own attention. Write the computation yourself.",
    ),
    Mistake(
        "mask_without_default",
        cell="masked_attention",
        edits=[("q, k, v, mask=None", "q, k, v, mask")],
        about=["test_without_a_mask"],
        sentence="`mask` has no default value. Write `mask=None`, as in the exercise.",
    ),
    Mistake(
        "scaled_only_with_a_mask",
        cell="masked_attention",
        edits=[
            (
                "scores = scores.masked_fill(~mask, lowest)",
                "scores = (scores / math.sqrt(d_k)).masked_fill(~mask, lowest)",
            ),
            ("scores = q @ k.transpose(-2, -1) / math.sqrt(d_k)", "scores = q @ k.transpose(-2, -1)"),
        ],
        about=["test_without_a_mask"],
        sentence="Without a mask, you don't divide by the square root of d_k.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "It computes a different function, and most checks are about the function.": [
            "masked_softmax_over_queries",
            "masked_keys_times_queries",
            "masked_log_softmax",
            "masked_no_softmax",
        ],
        "The exercise is about the mask: without it, only plain attention is right.": [
            "mask_ignored",
            "mask_inverted",
            "mask_transposed",
            "target_padding_visible",
            "hidden_score_zero",
            "scores_times_mask",
            "hidden_score_tiny",
            "masked_after_the_softmax",
            "one_mask_for_the_batch",
            "first_mask_for_the_batch",
        ],
        "Code that calls it can't use such a result.": [
            "masked_pair_swapped",
            "masked_output_alone",
        ],
        "The exercise is to write this computation.": [
            "masked_torch_does_it",
        ],
        "All values are right; it is one property among many.": [
            "masked_weights_detached",
            "masked_computed_without_gradients",
            "masked_float32_inside",
            "nan_in_the_gradients",
            "mask_changed_in_place",
            "empty_rows_opened_in_place",
        ],
    },
)
