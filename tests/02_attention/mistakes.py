"""Known wrong answers to this assignment, each an edit of the instructor's solution cell."""

from coursekit.checks import Mistake, with_costs

# --------------------------------------------------------------------------------------------- exercise 1
BY_HAND = [
    Mistake(
        "by_hand_no_scale",
        cell="by_hand",
        edits=[(" / math.sqrt(d_k)", "")],
        about=["test_scores"],
        sentence="You left out the division by the square root of the width.",
    ),
    Mistake(
        "by_hand_divided_by_width",
        cell="by_hand",
        edits=[("math.sqrt(d_k)", "d_k")],
        about=["test_scores"],
        sentence="You divided by the width. Divide by its square root.",
    ),
    Mistake(
        "by_hand_times_root",
        cell="by_hand",
        edits=[("/ math.sqrt(d_k)", "* math.sqrt(d_k)")],
        about=["test_scores"],
        sentence="You multiplied by the square root of the width. Divide by it.",
    ),
    Mistake(
        "by_hand_root_of_length",
        cell="by_hand",
        edits=[("q.shape[-1]", "q.shape[-2]")],
        about=["test_scores"],
        sentence="You divided by the square root of the number of tokens, 4. Use the width of the vectors, 8.",
    ),
    Mistake(
        "by_hand_softmax_over_queries",
        cell="by_hand",
        edits=[("dim=-1", "dim=-2")],
        about=["test_weights_follow_from_scores"],
        sentence="Your softmax runs over the queries, so the columns sum to 1. "
        "It should run over the keys, the last axis.",
    ),
    Mistake(
        "by_hand_softmax_over_heads",
        cell="by_hand",
        edits=[("dim=-1", "dim=1")],
        about=["test_weights_follow_from_scores"],
        sentence="Your softmax runs over the axis of the heads, so all weights are 1. "
        "It should run over the keys, the last axis.",
    ),
    Mistake(
        "by_hand_sigmoid",
        cell="by_hand",
        edits=[("torch.softmax(scores, dim=-1)", "torch.sigmoid(scores)")],
        about=["test_weights_follow_from_scores"],
        sentence="You applied a sigmoid to each score, so the rows don't sum to 1. Use a softmax.",
    ),
    Mistake(
        "by_hand_log_softmax",
        cell="by_hand",
        edits=[("torch.softmax", "torch.log_softmax")],
        about=["test_weights_follow_from_scores"],
        sentence="You used log_softmax, so your weights are logarithms. Use softmax.",
    ),
    Mistake(
        "by_hand_not_exponential",
        cell="by_hand",
        edits=[("torch.softmax(scores, dim=-1)", "scores / scores.sum(dim=-1, keepdim=True)")],
        about=["test_weights_follow_from_scores"],
        sentence="You divided the scores by their sum. The softmax applies the exponential function to them first.",
    ),
    Mistake(
        "by_hand_result_from_scores",
        cell="by_hand",
        edits=[("weights @ v", "scores @ v")],
        about=["test_result_follows_from_weights"],
        sentence="You multiplied v by the scores. Multiply it by the weights.",
    ),
    Mistake(
        "by_hand_weights_transposed",
        cell="by_hand",
        edits=[("weights @ v", "weights.transpose(-2, -1) @ v")],
        about=["test_result_follows_from_weights"],
        sentence="You multiplied v by the transposed weights. "
        "A row of the weights belongs to one query, so leave them as they are.",
    ),
    Mistake(
        "by_hand_plain_average",
        cell="by_hand",
        edits=[("weights @ v", "v.mean(dim=-2, keepdim=True).expand_as(v)")],
        about=["test_result_follows_from_weights"],
        sentence="Your result is the plain average of v, the same for every token. Use `weights` to weight the average.",
    ),
]


# ----------------------------------------------------------------------------- exercises 2 and 4, together
def of_the_formula(cell, unequal, large, heads, hygiene):
    """Mistakes in the formula itself, which `attention` and `masked_attention` share."""

    def mistake(name, old, new, about, sentence):
        prefix = "masked_" if cell == "masked_attention" else ""
        return Mistake(prefix + name, cell=cell, edits=[(old, new)], about=about, sentence=sentence)

    output, weights = "test_output_equals_the_formula", "test_weights_equal_the_formula"
    softmax, pair = "torch.softmax(scores, dim=-1)", "return output, weights"
    return [
        mistake(
            "no_scale",
            " / math.sqrt(d_k)",
            "",
            [output],
            "You left out the division by the square root of d_k.",
        ),
        mistake(
            "divided_by_d_k",
            "math.sqrt(d_k)",
            "d_k",
            [output],
            "You divided by d_k. Divide by its square root.",
        ),
        mistake(
            "times_root",
            "/ math.sqrt(d_k)",
            "* math.sqrt(d_k)",
            [output],
            "You multiplied by the square root of d_k. Divide by it.",
        ),
        mistake(
            "root_of_d_v",
            "d_k = q.shape[-1]",
            "d_k = v.shape[-1]",
            [unequal],
            "You divided by the square root of the width of v. Use the width of q and k, the vectors in the dot product.",
        ),
        mistake(
            "root_of_length",
            "d_k = q.shape[-1]",
            "d_k = k.shape[-2]",
            [output],
            "You divided by the square root of the number of keys. Use the width of q and k, their last axis.",
        ),
        mistake(
            "softmax_over_queries",
            softmax,
            "torch.softmax(scores, dim=-2)",
            [output],
            "Your softmax runs over the queries, so the columns sum to 1. "
            "It should run over the keys, the last axis.",
        ),
        mistake(
            "softmax_over_axis_2",
            softmax,
            "torch.softmax(scores, dim=2)",
            [heads],
            "Your softmax runs over axis 2. With heads that is the axis of the queries. "
            "Count from the end: the keys are axis -1.",
        ),
        mistake(
            "keys_times_queries",
            "q @ k.transpose(-2, -1)",
            "k @ q.transpose(-2, -1)",
            [output, unequal],
            "You computed k qᵀ, so the rows of your scores are keys. Compute q kᵀ.",
        ),
        mistake(
            "sigmoid",
            softmax,
            "torch.sigmoid(scores)",
            [output],
            "You applied a sigmoid to each score, so the rows don't sum to 1. Use a softmax.",
        ),
        mistake(
            "log_softmax",
            softmax,
            "torch.log_softmax(scores, dim=-1)",
            [output],
            "You used log_softmax, so your weights are logarithms. Use softmax.",
        ),
        mistake(
            "no_softmax",
            softmax,
            "scores",
            [output],
            "You used the scores as weights. Apply a softmax to them first.",
        ),
        mistake(
            "exp_without_the_largest",
            softmax,
            "scores.exp() / scores.exp().sum(dim=-1, keepdim=True)",
            [large],
            "The exponential of a large score overflows to infinity, and infinity / infinity is NaN. "
            "Subtract the largest score of each row first, or use torch.softmax.",
        ),
        mistake(
            "weights_detached",
            "weights @ v",
            "weights.detach() @ v",
            ["test_gradients"],
            "You detached the weights, so no gradient reaches q and k through the output.",
        ),
        mistake(
            "computed_without_gradients",
            softmax,
            "torch.softmax(scores.detach(), dim=-1)",
            ["test_gradients"],
            "You detached the scores, so no gradient reaches q and k.",
        ),
        mistake(
            "scores_returned",
            pair,
            "return output, scores",
            [weights],
            "You return the scores as the second value. Return the weights, the result of the softmax.",
        ),
        mistake(
            "pair_swapped",
            pair,
            "return weights, output",
            [output, weights],
            "You return the weights first. The output comes first, then the weights.",
        ),
        mistake(
            "output_alone",
            pair,
            "return output",
            [output, weights],
            "You return only the output. Return the pair (output, weights).",
        ),
        mistake(
            "scaled_in_place",
            "d_k = q.shape[-1]",
            "q *= 1.0\n    q += 1e-3\n    d_k = q.shape[-1]",
            [hygiene["unchanged"]],
            "You modified q in place. Leave the inputs unchanged.",
        ),
        mistake(
            "float32_inside",
            "d_k = q.shape[-1]",
            "q, k, v = q.float(), k.float(), v.float()\n    d_k = q.shape[-1]",
            [hygiene["dtype"]],
            "You converted the inputs or the results to float32. Keep the dtype of the inputs.",
        ),
    ]


ATTENTION = [
    *of_the_formula(
        "attention",
        unequal="test_unequal_lengths_and_widths",
        large="test_large_scores",
        heads="test_leading_axes",
        hygiene={"unchanged": "test_inputs_unchanged", "dtype": "test_float64"},
    ),
    Mistake(
        "batch_axis_counted_from_the_front",
        cell="attention",
        edits=[("k.transpose(-2, -1)", "k.transpose(1, 2)")],
        about=["test_leading_axes"],
        sentence="You transposed axes 1 and 2 of k. With heads these are not the last two axes. "
        "Count from the end: -2 and -1.",
    ),
    Mistake(
        "torch_does_it",
        cell="attention",
        source="""
def attention(q, k, v):
    unit = torch.eye(k.shape[-2], dtype=k.dtype).expand(*k.shape[:-1], k.shape[-2])
    return F.scaled_dot_product_attention(q, k, v), F.scaled_dot_product_attention(q, k, unit)
""",
        about=["test_output_equals_the_formula", "test_weights_equal_the_formula"],
        sentence="You used torch's own attention. Write the computation yourself.",
    ),
]

# ------------------------------------------------------------------------------------- exercises 3a and 3b
MASKS = [
    Mistake(
        "padding_inverted",
        cell="padding_mask",
        edits=[("ids != pad_idx", "ids == pad_idx")],
        about=["test_hides_the_pads"],
        sentence="Your mask is True at the padding. In this course True means 'may attend', so padding must be False.",
    ),
    Mistake(
        "padding_on_the_query_axis",
        cell="padding_mask",
        edits=[("unsqueeze(1)", "unsqueeze(2)")],
        about=["test_shape"],
        sentence="You put the tokens on the query axis. The mask hides keys, which are the last axis.",
    ),
    Mistake(
        "padding_without_a_query_axis",
        cell="padding_mask",
        edits=[(".unsqueeze(1)", "")],
        about=["test_shape"],
        sentence="Your mask has shape (batch, length). Add an axis of size 1 for the queries: (batch, 1, length).",
    ),
    Mistake(
        "padding_with_a_head_axis",
        cell="padding_mask",
        edits=[("unsqueeze(1)", "unsqueeze(1).unsqueeze(1)")],
        about=["test_shape"],
        sentence="Your mask has one axis too many: (batch, 1, 1, length). "
        "The exercise asks for (batch, 1, length).",
    ),
    Mistake(
        "pad_id_0_always",
        cell="padding_mask",
        edits=[("ids != pad_idx", "ids != 0")],
        about=["test_other_pad_id"],
        sentence="You always compare with 0. Compare with the argument pad_idx.",
    ),
    Mistake(
        "pad_id_is_the_smallest",
        cell="padding_mask",
        edits=[("ids != pad_idx", "ids > pad_idx")],
        about=["test_other_pad_id"],
        sentence="You also hide ids smaller than pad_idx. Hide only pad_idx itself.",
    ),
    Mistake(
        "pads_only_at_the_end",
        cell="padding_mask",
        edits=[
            (
                "is_token = ids != pad_idx",
                "lengths = (ids != pad_idx).sum(dim=1, keepdim=True)\n"
                "    is_token = torch.arange(ids.shape[1]) < lengths",
            )
        ],
        about=["test_hides_the_pads"],
        sentence="You count the tokens and assume that they all come before the padding. "
        "Padding can be anywhere, even at the start.",
    ),
    Mistake(
        "all_after_the_first_pad",
        cell="padding_mask",
        edits=[("is_token = ids != pad_idx", "is_token = (ids != pad_idx).int().cumprod(dim=1).bool()")],
        about=["test_hides_the_pads"],
        sentence="You hide everything after the first padding token. Hide only the padding itself.",
    ),
    Mistake(
        "padding_of_all_sequences_joined",
        cell="padding_mask",
        edits=[("is_token = ids != pad_idx", "is_token = (ids != pad_idx).any(dim=0, keepdim=True)")],
        about=["test_hides_the_pads", "test_shape"],
        sentence="You made one mask for the whole batch, so the padding of shorter sequences can be visible.",
    ),
    Mistake(
        "padding_hides_rows_too",
        cell="padding_mask",
        edits=[("return is_token.unsqueeze(1)", "return is_token.unsqueeze(1) & is_token.unsqueeze(2)")],
        about=["test_shape"],
        sentence="You also hide the rows of the padding, which makes the mask (batch, length, length). "
        "Hide only the keys.",
    ),
    Mistake(
        "padding_as_floats",
        cell="padding_mask",
        edits=[("return is_token.unsqueeze(1)", "return is_token.unsqueeze(1).float()")],
        about=["test_is_boolean"],
        sentence="Your mask contains the numbers 0.0 and 1.0. Return booleans.",
    ),
    Mistake(
        "padding_to_be_added",
        cell="padding_mask",
        edits=[
            (
                "return is_token.unsqueeze(1)",
                "return torch.zeros(ids.shape).masked_fill(~is_token, -torch.inf).unsqueeze(1)",
            )
        ],
        about=["test_hides_the_pads", "test_is_boolean"],
        sentence="Your mask contains 0 and -inf, to be added to the scores. Return booleans: "
        "True = may attend.",
    ),
    Mistake(
        "ids_changed",
        cell="padding_mask",
        edits=[("is_token = ids != pad_idx", "ids -= pad_idx\n    is_token = ids != 0")],
        about=["test_ids_unchanged"],
        sentence="You modified ids in place. Leave the input unchanged.",
    ),
    Mistake(
        "causal_without_the_diagonal",
        cell="causal_mask",
        edits=[("torch.tril(everything)", "torch.tril(everything, diagonal=-1)")],
        about=["test_sees_itself"],
        sentence="Your triangle leaves out the diagonal, so a token can't attend to itself, and the first one "
        "can't attend to anything. Include the diagonal.",
    ),
    Mistake(
        "causal_one_too_far",
        cell="causal_mask",
        edits=[("torch.tril(everything)", "torch.tril(everything, diagonal=1)")],
        about=["test_hides_the_future"],
        sentence="Your triangle extends one position too far: each token sees the next one, which is what "
        "it has to predict.",
    ),
    Mistake(
        "causal_inverted",
        cell="causal_mask",
        edits=[("torch.tril(everything)", "torch.triu(everything, diagonal=1)")],
        about=["test_hides_the_future"],
        sentence="Your mask is True at future positions. In this course True means 'may attend'.",
    ),
    Mistake(
        "causal_transposed",
        cell="causal_mask",
        edits=[("torch.tril(everything)", "torch.triu(everything)")],
        about=["test_hides_the_future"],
        sentence="Your mask is the upper triangle, which hides the past. Rows are queries, columns are keys.",
    ),
    Mistake(
        "causal_hides_nothing",
        cell="causal_mask",
        edits=[("torch.tril(everything)", "everything")],
        about=["test_hides_the_future"],
        sentence="Your mask is True everywhere, so it hides nothing. Hide the keys after each query.",
    ),
    Mistake(
        "causal_sees_itself_only",
        cell="causal_mask",
        edits=[("torch.tril(everything)", "torch.eye(length, dtype=torch.bool)")],
        about=["test_shows_the_past"],
        sentence="Your mask is True only on the diagonal. The past has to be visible as well.",
    ),
    Mistake(
        "causal_with_a_batch_axis",
        cell="causal_mask",
        edits=[("torch.tril(everything)", "torch.tril(everything).unsqueeze(0)")],
        about=["test_shape"],
        sentence="Your mask has a batch axis. The exercise asks for (length, length); broadcasting adds "
        "the rest.",
    ),
    Mistake(
        "causal_of_fixed_size",
        cell="causal_mask",
        edits=[("torch.tril(everything)", "torch.tril(everything[:80, :80])")],
        about=["test_shape"],
        sentence="Your mask stops at a fixed size. Its size has to follow the argument `length`.",
    ),
    Mistake(
        "causal_as_floats",
        cell="causal_mask",
        edits=[("torch.ones(length, length, dtype=torch.bool)", "torch.ones(length, length)")],
        about=["test_is_boolean"],
        sentence="Your mask contains the numbers 0.0 and 1.0. Return booleans.",
    ),
    Mistake(
        "causal_to_be_added",
        cell="causal_mask",
        edits=[
            (
                "torch.tril(everything)",
                "torch.zeros(length, length).masked_fill(~torch.tril(everything), -torch.inf)",
            )
        ],
        about=["test_hides_the_future", "test_is_boolean"],
        sentence="Your mask contains 0 and -inf, to be added to the scores. Return booleans: "
        "True = may attend.",
    ),
]

# ---------------------------------------------------------------------------------------------- exercise 4
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

MASKED = [
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
]

# ---------------------------------------------------------------------------------------------- exercise 5
SCALE = "        scores = scores / math.sqrt(d_k)"

SCORE_STD = [
    Mistake(
        "variance",
        cell="score_std",
        edits=[("scores.std()", "scores.var()")],
        about=["test_without_the_scale"],
        sentence="You return the variance. The standard deviation is its square root.",
    ),
    Mistake(
        "mean_distance",
        cell="score_std",
        edits=[("scores.std()", "scores.abs().mean()")],
        about=["test_without_the_scale", "test_with_the_scale"],
        sentence="You return the mean of the absolute scores. Return their standard deviation.",
    ),
    Mistake(
        "never_scaled",
        cell="score_std",
        edits=[(SCALE, "        pass")],
        about=["test_with_the_scale"],
        sentence="You never divide by the square root of d_k, not even if `scaled` is true.",
    ),
    Mistake(
        "always_scaled",
        cell="score_std",
        edits=[("if scaled:", "if True:")],
        about=["test_without_the_scale"],
        sentence="You divide by the square root of d_k even if `scaled` is false.",
    ),
    Mistake(
        "scaled_the_wrong_way_round",
        cell="score_std",
        edits=[("if scaled:", "if not scaled:")],
        about=["test_without_the_scale", "test_with_the_scale"],
        sentence="You divide by the square root of d_k if `scaled` is false. Divide if it is true.",
    ),
    Mistake(
        "scaled_by_d_k",
        cell="score_std",
        edits=[("math.sqrt(d_k)", "d_k")],
        about=["test_with_the_scale"],
        sentence="You divide by d_k. Divide by its square root.",
    ),
    Mistake(
        "uniform_vectors",
        cell="score_std",
        edits=[("q = torch.randn", "q = torch.rand"), ("k = torch.randn", "k = torch.rand")],
        about=["test_without_the_scale", "test_with_the_scale"],
        sentence="Your vectors are uniform between 0 and 1 (torch.rand). "
        "Draw them standard normal (torch.randn).",
    ),
    Mistake(
        "query_with_itself",
        cell="score_std",
        edits=[("(q * k)", "(q * q)")],
        about=["test_without_the_scale", "test_with_the_scale"],
        sentence="You multiply each vector by itself. The query and the key are two independent vectors.",
    ),
    Mistake(
        "products_not_summed",
        cell="score_std",
        edits=[(".sum(dim=-1)", "")],
        about=["test_without_the_scale", "test_with_the_scale"],
        sentence="You measure the spread of the individual products. A score is their sum over the width.",
    ),
    Mistake(
        "products_averaged",
        cell="score_std",
        edits=[(".sum(dim=-1)", ".mean(dim=-1)")],
        about=["test_without_the_scale", "test_with_the_scale"],
        sentence="You average the products over the width. A dot product is their sum.",
    ),
    Mistake(
        "summed_over_the_pairs",
        cell="score_std",
        edits=[("(q * k).sum(dim=-1)", "(q * k).sum(dim=0)")],
        about=["test_without_the_scale", "test_with_the_scale"],
        sentence="You sum over the pairs. Sum over the width, the last axis.",
    ),
    Mistake(
        "formula_not_measured",
        cell="score_std",
        edits=[("return scores.std().item()", "return 1.0 if scaled else math.sqrt(d_k)")],
        about=["test_is_measured"],
        sentence="You compute the number from the formula. Measure it on random vectors.",
    ),
    Mistake(
        "tensor_returned",
        cell="score_std",
        edits=[(".item()", "")],
        about=["test_returns_a_float"],
        sentence="You return a tensor. Convert it to a float with `.item()`.",
    ),
    Mistake(
        "too_few_pairs",
        cell="score_std",
        edits=[("10_000", "4")],
        about=["test_without_the_scale", "test_with_the_scale"],
        sentence="You draw too few pairs, so the result is mostly chance. Draw at least 10 000.",
    ),
]

MORE = [
    Mistake(
        "by_hand_scaled_twice",
        cell="by_hand",
        edits=[("torch.softmax(scores, dim=-1)", "torch.softmax(scores / math.sqrt(d_k), dim=-1)")],
        about=["test_weights_follow_from_scores"],
        sentence="You divided by the square root of d_k twice: in the scores, and again in the weights.",
    ),
    Mistake(
        "scaled_twice",
        cell="attention",
        edits=[("/ math.sqrt(d_k)", "/ math.sqrt(d_k) / math.sqrt(d_k)")],
        about=["test_output_equals_the_formula"],
        sentence="You divided by the square root of d_k twice, which is a division by d_k.",
    ),
    Mistake(
        "weights_transposed",
        cost="It is an error unless there are as many keys as queries.",
        cell="attention",
        edits=[("weights @ v", "weights.transpose(-2, -1) @ v")],
        about=["test_output_equals_the_formula"],
        sentence="You multiplied v by the transposed weights. Multiply by the weights as they are: row = query, column = key.",
    ),
    Mistake(
        "q_changed_in_place",
        cell="attention",
        edits=[
            (
                "scores = q @ k.transpose(-2, -1) / math.sqrt(d_k)",
                "q /= math.sqrt(d_k)\n    scores = q @ k.transpose(-2, -1)",
            )
        ],
        about=["test_inputs_unchanged"],
        sentence="`q /= …` modifies the caller's tensor. Write `q = q / …`, which creates a new one.",
    ),
    Mistake(
        "axes_all_reversed",
        cost="It is an error as soon as there is a batch.",
        cell="attention",
        edits=[("k.transpose(-2, -1)", "k.permute(*range(k.ndim - 1, -1, -1))")],
        about=["test_leading_axes"],
        sentence="You reversed all axes of k, as `.T` does. Swap only the last two: `k.transpose(-2, -1)`.",
    ),
    Mistake(
        "padding_as_integers",
        cell="padding_mask",
        edits=[("return is_token.unsqueeze(1)", "return is_token.unsqueeze(1).long()")],
        about=["test_is_boolean"],
        sentence="Your mask contains the integers 0 and 1. Return booleans.",
    ),
    Mistake(
        "padding_for_every_query",
        cost="Every check compares masks, which have another shape.",
        cell="padding_mask",
        edits=[("return is_token.unsqueeze(1)", "return is_token.unsqueeze(1).expand(-1, ids.shape[1], -1)")],
        about=["test_shape"],
        sentence="You repeat the mask for every query. One row is enough: the axis of the queries has size 1 and broadcasts.",
    ),
    Mistake(
        "causal_one_larger",
        cost="Every check compares masks, which have another shape.",
        cell="causal_mask",
        edits=[("torch.ones(length, length,", "torch.ones(length + 1, length + 1,")],
        about=["test_shape"],
        sentence="Your mask is one larger than the sequence.",
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
    Mistake(
        "mean_of_the_scores",
        uses=("*mean",),
        lacks=("*std", "*var", "*sqrt*", "*pow*", "*square*", "*abs*"),
        cell="score_std",
        edits=[("scores.std()", "scores.mean()")],
        about=["test_without_the_scale"],
        sentence="You return the mean of the scores, which is about 0. Return their standard deviation.",
    ),
    Mistake(
        "uniform_numbers",
        uses=("*rand",),
        lacks=("*randn", "*normal"),
        cell="score_std",
        edits=[
            ("q = torch.randn(pairs, d_k)", "q = torch.rand(pairs, d_k)"),
            ("k = torch.randn(pairs, d_k)", "k = torch.rand(pairs, d_k)"),
        ],
        about=["test_without_the_scale"],
        sentence="You draw numbers between 0 and 1, whose mean is not 0. Draw standard-normal numbers with `torch.randn`.",
    ),
]

# --------------------------------------------------------------------------------------------- exercise 6
COMPARED = """    assert torch.allclose(found, expected, atol=1e-3), (
        f"For the scores {before.tolist()} the weights should be {expected.tolist()}, but are {found.tolist()}."
    )
"""
UNCHANGED = """    assert torch.equal(scores, before), "The function changes the scores that it is given."
"""
CLOSE = "torch.allclose(found, expected, atol=1e-3)"
ROWS = "torch.stack([row, row.flip(0), row + 1000]).unsqueeze(0)"
WANTED = "torch.stack([weights, weights.flip(0), weights]).unsqueeze(0)"


def softmax_test(name, edits, about, sentence):
    return Mistake(name, cell="check_softmax", edits=edits, about=about, sentence=sentence)


CHECK_SOFTMAX = [
    softmax_test(
        "check_of_the_shape",
        [(COMPARED, "    assert found.shape == expected.shape\n")],
        ["test_other_functions"],
        "Your check looks only at the shape, which nearly every function gets right. Compare the weights as well.",
    ),
    softmax_test(
        "check_without_assert",
        [(f"assert {CLOSE}, (", f"{CLOSE}, (")],
        ["test_other_functions"],
        "Your check computes whether the weights are right, but does nothing with the result. Write `assert` before it.",
    ),
    softmax_test(
        "check_of_the_sums",
        [(CLOSE, "torch.allclose(found.sum(dim=-1), expected.sum(dim=-1), atol=1e-3)")],
        ["test_nearly_right"],
        "Your check looks only at the sum of each row. Other weights sum to 1, too.",
    ),
    softmax_test(
        "check_of_the_order",
        [(CLOSE, "torch.equal(found.argmax(dim=-1), expected.argmax(dim=-1))")],
        ["test_nearly_right"],
        "Your check only asks which key gets the largest weight. Compare the weights themselves.",
    ),
    softmax_test(
        "check_of_equal_scores_only",
        [
            (
                "torch.tensor([0.0, math.log(3)]), torch.tensor([0.25, 0.75])",
                "torch.zeros(2), torch.full((2,), 0.5)",
            )
        ],
        ["test_nearly_right"],
        "In your examples all scores of a row are equal. Nearly every function gives them equal weights.",
    ),
    softmax_test(
        "check_for_exact_equality",
        [(CLOSE, "torch.equal(found, expected)")],
        ["test_other_functions"],
        "Your check asks for exact equality, which rejects right functions that round elsewhere. Allow a small difference.",
    ),
    softmax_test(
        "check_with_a_wrong_example",
        [("torch.tensor([0.25, 0.75])", "torch.tensor([0.33, 0.67])")],
        ["test_other_functions"],
        "One of the weights that your check expects is wrong, so it rejects right functions.",
    ),
    softmax_test(
        "check_of_the_columns",
        [("function(scores)", "function(scores.transpose(1, 2)).transpose(1, 2)")],
        ["test_other_axes"],
        "Your check expects that columns sum to 1, so it rejects right functions.",
    ),
    softmax_test(
        "check_of_one_row",
        [(ROWS, "row + 1000"), (WANTED, "weights")],
        ["test_other_axes"],
        "Your check uses a single row, for which all axes are the same.",
    ),
    softmax_test(
        "check_of_symmetric_scores",
        [
            (ROWS, "torch.stack([row, row.flip(0)]) + 1000"),
            (WANTED, "torch.stack([weights, weights.flip(0)])"),
        ],
        ["test_other_axes"],
        "Your matrix of scores is symmetric, so its columns get the same weights as its rows.",
    ),
    softmax_test(
        "check_up_to_two_axes",
        [
            ("row + 1000]).unsqueeze(0)", "row + 1000])"),
            ("weights.flip(0), weights]).unsqueeze(0)", "weights.flip(0), weights])"),
        ],
        ["test_three_axes"],
        "Your check uses one and two axes only. Add a tensor with three.",
    ),
    softmax_test(
        "check_of_small_scores",
        [("row + 1000", "row + 10")],
        ["test_large_scores"],
        "All scores in your check are small. Try some of about 1000.",
    ),
    softmax_test(
        "check_of_equal_large_scores",
        [
            ("row + 1000", "torch.full((2,), 1000.0)"),
            ("weights.flip(0), weights]", "weights.flip(0), torch.full((2,), 0.5)]"),
        ],
        ["test_large_scores"],
        "The large scores in your check are all equal, so a function may cut them off unnoticed.",
    ),
    softmax_test(
        "check_lets_changes_pass",
        [(UNCHANGED, "")],
        ["test_in_place"],
        "Your check doesn't look whether the scores are still the same after the call.",
    ),
    softmax_test(
        "check_keeps_no_copy",
        [("before = scores.clone()", "before = scores")],
        ["test_in_place"],
        "`before = scores` is the same tensor under a second name, so it changes as well. Use `scores.clone()`.",
    ),
]

MISTAKES = [*BY_HAND, *ATTENTION, *MASKS, *MASKED, *SCORE_STD, *MORE, *CHECK_SOFTMAX]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "It computes another function, and most checks are about the function.": [
            "keys_times_queries",
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
            "padding_of_all_sequences_joined",
            "padding_hides_rows_too",
        ],
        "Code that calls it can't use such a result.": [
            "pair_swapped",
            "output_alone",
            "masked_pair_swapped",
            "masked_output_alone",
            "causal_to_be_added",
        ],
        "The exercise is to write this computation.": [
            "torch_does_it",
            "masked_torch_does_it",
        ],
        "All values are right; it is one property among many.": [
            "float32_inside",
            "masked_weights_detached",
            "masked_computed_without_gradients",
            "masked_float32_inside",
            "nan_in_the_gradients",
            "mask_changed_in_place",
        ],
        "It accepts nearly every function.": [
            "check_of_the_shape",
            "check_without_assert",
        ],
        "A test that rejects right functions is of no use, whatever else it rejects.": [
            "check_for_exact_equality",
            "check_with_a_wrong_example",
            "check_of_the_columns",
        ],
    },
)
