"""What the files for `attention` and `masked_attention` share."""


def of_the_formula(wrong, unequal, large, heads, hygiene):
    """Mistakes in the formula itself, which `attention` and `masked_attention` share."""
    output, weights = "test_output_equals_the_formula", "test_weights_equal_the_formula"
    softmax, pair = "torch.softmax(scores, dim=-1)", "return output, weights"

    wrong.about(output)
    wrong("no_scale", " / math.sqrt(d_k)", "")
    wrong.says("You left out the division by the square root of d_k.")
    wrong("divided_by_d_k", "math.sqrt(d_k)", "d_k")
    wrong.says("You divided by d_k. Divide by its square root.")
    wrong("times_root", "/ math.sqrt(d_k)", "* math.sqrt(d_k)")
    wrong.says("You multiplied by the square root of d_k. Divide by it.")
    wrong("root_of_length", "d_k = q.shape[-1]", "d_k = k.shape[-2]")
    wrong.says("You divided by the square root of the number of keys.")
    wrong.says("Use the width of q and k, their last axis.")
    wrong("softmax_over_queries", softmax, "torch.softmax(scores, dim=-2)")
    wrong.says("Your softmax runs over the queries, so the columns sum to 1.")
    wrong.says("It should run over the keys, the last axis.")
    wrong("sigmoid", softmax, "torch.sigmoid(scores)")
    wrong.says("You applied a sigmoid to each score, so the rows don't sum to 1. Use a softmax.")
    wrong("log_softmax", softmax, "torch.log_softmax(scores, dim=-1)")
    wrong.says("You used log_softmax, so your weights are logarithms. Use softmax.")
    wrong("no_softmax", softmax, "scores")
    wrong.says("You used the scores as weights. Apply a softmax to them first.")

    wrong.about(unequal)
    wrong("root_of_d_v", "d_k = q.shape[-1]", "d_k = v.shape[-1]")
    wrong.says("You divided by the square root of the width of v.")
    wrong.says("Use the width of q and k, the vectors in the dot product.")

    wrong.about(heads)
    wrong("softmax_over_axis_2", softmax, "torch.softmax(scores, dim=2)")
    wrong.says("Your softmax runs over axis 2. With heads that is the axis of the queries.")
    wrong.says("Count from the end: the keys are axis -1.")

    wrong.about(output, unequal)
    wrong("keys_times_queries", "q @ k.transpose(-2, -1)", "k @ q.transpose(-2, -1)")
    wrong.says("You computed k qᵀ, so the rows of your scores are keys. Compute q kᵀ.")

    wrong.about(large)
    wrong("exp_without_the_largest", softmax, "scores.exp() / scores.exp().sum(dim=-1, keepdim=True)")
    wrong.says("The exponential of a large score overflows to infinity, and infinity / infinity is NaN.")
    wrong.says("Subtract the largest score of each row first, or use torch.softmax.", uses=("*exp",))

    wrong.about("test_gradients")
    wrong("weights_detached", "weights @ v", "weights.detach() @ v")
    wrong.says("You detached the weights, so no gradient reaches q and k through the output.")
    wrong("computed_without_gradients", softmax, "torch.softmax(scores.detach(), dim=-1)")
    wrong.says(
        "No gradient reaches q and k: the scores or the weights are detached, or computed under `no_grad`."
    )

    wrong.about(weights)
    wrong("scores_returned", pair, "return output, scores")
    wrong.says("You return the scores as the second value. Return the weights, the result of the softmax.")

    wrong.about(output, weights)
    wrong("pair_swapped", pair, "return weights, output")
    wrong.says("You return the weights first. The output comes first, then the weights.")
    wrong("output_alone", pair, "return output")
    wrong.says("You return only the output. Return the pair (output, weights).")

    wrong.about(hygiene["unchanged"])
    wrong("scaled_in_place", "d_k = q.shape[-1]", "q *= 1.0\n    q += 1e-3\n    d_k = q.shape[-1]")
    wrong.says("You modified q in place. Leave the inputs unchanged.")

    wrong.about(hygiene["dtype"])
    wrong("float32_inside")
    wrong.edit("d_k = q.shape[-1]", "q, k, v = q.float(), k.float(), v.float()\n    d_k = q.shape[-1]")
    wrong.says(
        "You converted the inputs or the results to float32, or put them into a new float32 tensor. Keep their dtype."
    )
