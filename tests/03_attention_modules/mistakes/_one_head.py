"""What the files for `self_attention` and `cross_attention` share."""

from gradekit.checks import mistakes_in

FORMULA = "test_output_equals_the_formula"
ATTEND = "output, _ = masked_attention(queries, keys, values, mask)"
ROLES = {
    "q": "queries = self.q({})  #",
    "k": "keys = self.k({})  #",
    "v": "values = self.v({})  #",
}


def of_one_head(cell, prefix, asks, answers):
    """Mistakes that SelfAttention and CrossAttention share."""
    queries, values = ROLES["q"].format(asks), ROLES["v"].format(answers)
    k_layer = "self.k = nn.Linear({}, key_dim)".format(
        "input_dim" if cell == "self_attention" else "y_input_dim"
    )
    alone = "test_float64_and_input_unchanged" if asks == answers else "test_float64_and_inputs_unchanged"
    mistake = mistakes_in(cell, prefix)
    return [
        mistake(
            "keys_are_values",
            [(values, ROLES["v"].format(answers).replace("self.v", "self.k"))],
            [FORMULA],
            "You computed the values with the layer k. Use the layer v.",
        ),
        mistake(
            "values_without_a_layer",
            [(values, f"values = {answers}  #")],
            [FORMULA],
            f"You used {answers} itself as the values. Apply the layer v to it.",
        ),
        mistake(
            "residual_inside",
            [("return output", f"return output + {asks}")],
            [FORMULA],
            f"You added {asks} to the output. Return only the attention; "
            "residual connections come later, around it.",
        ),
        mistake(
            "no_gradients",
            [(f"        {ATTEND}", f"        with torch.no_grad():\n            {ATTEND}")],
            ["test_everything_learns"],
            "You computed under `torch.no_grad()`, or detached the result, so nothing can be trained.",
        ),
        mistake(
            "queries_detached",
            [(ATTEND, ATTEND.replace("queries", "queries.detach()"))],
            ["test_everything_learns"],
            "You detached the queries, so their layer can't be trained.",
        ),
        mistake(
            "mask_ignored",
            [(", mask)", ")")],
            ["test_mask"],
            "Your module ignores the mask. Pass it to masked_attention.",
        ),
        mistake(
            "mask_inverted",
            [(", mask)", ", None if mask is None else ~mask)")],
            ["test_mask"],
            "You inverted the mask. True means that a token may be attended to.",
        ),
        mistake(
            "weights_returned_too",
            [("return output", "return output, _")],
            [FORMULA],
            "You returned the weights as well. Return only the output.",
        ),
        mistake(
            "weights_in_place_of_output",
            [("return output", "return _")],
            [FORMULA, "test_unequal_widths"],
            "You returned the weights instead of the output.",
        ),
        mistake(
            "no_bias",
            [(k_layer, k_layer.replace("key_dim)", "key_dim, bias=False)"))],
            ["test_three_layers"],
            "One of your layers has no bias. Each of the three needs one.",
        ),
        mistake(
            "no_scale",
            [
                (
                    ATTEND,
                    "output, _ = masked_attention(queries * queries.shape[-1] ** 0.5, keys, values, mask)",
                )
            ],
            [FORMULA],
            "The scores are not divided by the square root of the width of the queries. "
            "masked_attention does this for you.",
        ),
        mistake(
            "scaled_twice",
            [
                (
                    ATTEND,
                    "output, _ = masked_attention(queries / queries.shape[-1] ** 0.5, keys, values, mask)",
                )
            ],
            [FORMULA],
            "The scores are divided by the square root of the width twice. masked_attention already does it.",
        ),
        mistake(
            "softmax_over_queries",
            [
                (
                    ATTEND,
                    "scores = queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5\n"
                    "        scores = scores if mask is None else scores.masked_fill(~mask, -1e9)\n"
                    "        output = torch.softmax(scores, dim=-2) @ values",
                )
            ],
            [FORMULA],
            "Your softmax runs over the queries. It should run over the keys, the last axis.",
        ),
        mistake(
            "float32_inside",
            [("return output", f"return output.float().to({asks}.dtype)")],
            [alone],
            "You computed in float32, or converted the result to it. Keep the dtype of the input.",
        ),
        mistake(
            "input_changed",
            [(queries, f"{asks} -= 0.5\n        {queries}")],
            [alone],
            f"You modified {asks} in place. Leave the input unchanged.",
        ),
    ]
