"""What the files for `self_attention` and `cross_attention` share."""

FORMULA = "test_output_equals_the_formula"
ATTEND = "output, _ = masked_attention(queries, keys, values, mask)"
OWN_ATTENTION = """scores = queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5
        scores = scores if mask is None else scores.masked_fill(~mask, {})
        output = torch.softmax(scores, dim=-1) @ values"""
ROLES = {
    "q": "queries = self.q({})  #",
    "k": "keys = self.k({})  #",
    "v": "values = self.v({})  #",
}


def of_one_head(wrong, asks, answers):
    """Mistakes that SelfAttention and CrossAttention share."""
    queries, values = ROLES["q"].format(asks), ROLES["v"].format(answers)
    q_layer, k_layer = (
        f"self.{name} = nn.Linear({width}, key_dim)"
        for name, width in zip(
            "qk", ["input_dim"] * 2 if asks == answers else ["x_input_dim", "y_input_dim"], strict=True
        )
    )
    alone = "test_float64_and_input_unchanged" if asks == answers else "test_float64_and_inputs_unchanged"

    wrong.about(FORMULA)
    wrong("keys_are_values", values, ROLES["v"].format(answers).replace("self.v", "self.k"))
    wrong.says("You computed the values with the layer k. Use the layer v.")
    wrong("values_without_a_layer", values, f"values = {answers}  #")
    wrong.says(f"You used {answers} itself as the values. Apply the layer v to it.")
    wrong("residual_inside", "return output", f"return output + {asks}")
    wrong.says(
        f"You added {asks} to the output. Return only the attention; "
        "residual connections come later, around it."
    )
    wrong("weights_returned_too", "return output", "return output, _")
    wrong.says("You returned the weights as well. Return only the output.")
    wrong("no_scale")
    wrong.edit(ATTEND, "output, _ = masked_attention(queries * queries.shape[-1] ** 0.5, keys, values, mask)")
    wrong.says(
        "The scores are not divided by the square root of the width of the queries. masked_attention does "
        "this for you."
    )
    wrong("scaled_twice")
    wrong.edit(ATTEND, "output, _ = masked_attention(queries / queries.shape[-1] ** 0.5, keys, values, mask)")
    wrong.says(
        "The scores are divided by the square root of the width twice. masked_attention already does it."
    )
    wrong("softmax_over_queries", ATTEND)
    wrong.to("""scores = queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5
        scores = scores if mask is None else scores.masked_fill(~mask, -1e9)
        output = torch.softmax(scores, dim=-2) @ values""")
    wrong.says("Your softmax runs over the queries. It should run over the keys, the last axis.")

    wrong.about("test_everything_learns")
    wrong("no_gradients", f"        {ATTEND}", f"        with torch.no_grad():\n            {ATTEND}")
    wrong.says("You computed under `torch.no_grad()`, or detached the result, so nothing can be trained.")
    wrong("queries_detached", ATTEND, ATTEND.replace("queries", "queries.detach()"))
    wrong.says(
        "The layer of the queries can't be trained: the queries or the weights are detached, or computed under `torch.no_grad()`."
    )

    wrong.about("test_mask")
    wrong("mask_ignored", ", mask)", ")")
    wrong.says("Your module doesn't hide what the mask hides. Pass every mask to masked_attention, as it is.")
    wrong("mask_inverted", ", mask)", ", None if mask is None else ~mask)")
    wrong.says("You inverted the mask. True means that a token may be attended to.")

    wrong.about(FORMULA, "test_unequal_widths")
    wrong("weights_in_place_of_output", "return output", "return _")
    wrong.says("You returned the weights instead of the output.")

    wrong.about("test_query_with_no_key")
    wrong("nan_without_a_key", ATTEND, OWN_ATTENTION.format("-torch.inf"))
    wrong.says(
        "A query that may attend to nothing gets NaN, since the softmax of nothing but -inf is NaN. It should get zeros."
    )
    wrong("average_without_a_key", ATTEND, OWN_ATTENTION.format("-1e9"))
    wrong.says("A query that may attend to nothing gets the average of all values. It should get zeros.")

    wrong.about("test_three_layers")
    wrong("layers_in_another_order", k_layer, "pass")
    wrong.edit(q_layer, f"{k_layer}\n        {q_layer}")
    wrong.says(
        "You created the layer k before q. The order should be q, k, v: with a seed, it decides the weights."
    )
    wrong("no_bias", k_layer, k_layer.replace("key_dim)", "key_dim, bias=False)"))
    wrong.says("One of your layers has no bias. Each of the three needs one.")

    wrong.about(alone)
    wrong("float32_inside", "return output", f"return output.float().to({asks}.dtype)")
    wrong.says("You computed in float32, or converted the result to it. Keep the dtype of the input.")
    wrong("input_changed", queries, f"{asks} -= 0.5\n        {queries}")
    wrong.says(f"You modified {asks} in place. Leave the input unchanged.")
