"""What the files for `attention` and `masked_attention` share."""

from gradekit.checks import mistakes_in


def of_the_formula(cell, unequal, large, heads, hygiene):
    """Mistakes in the formula itself, which `attention` and `masked_attention` share."""
    mistake = mistakes_in(cell, "masked_" if cell == "masked_attention" else "")
    output, weights = "test_output_equals_the_formula", "test_weights_equal_the_formula"
    softmax, pair = "torch.softmax(scores, dim=-1)", "return output, weights"
    return [
        mistake(
            "no_scale",
            (" / math.sqrt(d_k)", ""),
            [output],
            "You left out the division by the square root of d_k.",
        ),
        mistake(
            "divided_by_d_k",
            ("math.sqrt(d_k)", "d_k"),
            [output],
            "You divided by d_k. Divide by its square root.",
        ),
        mistake(
            "times_root",
            ("/ math.sqrt(d_k)", "* math.sqrt(d_k)"),
            [output],
            "You multiplied by the square root of d_k. Divide by it.",
        ),
        mistake(
            "root_of_d_v",
            ("d_k = q.shape[-1]", "d_k = v.shape[-1]"),
            [unequal],
            "You divided by the square root of the width of v. Use the width of q and k, the vectors in the dot product.",
        ),
        mistake(
            "root_of_length",
            ("d_k = q.shape[-1]", "d_k = k.shape[-2]"),
            [output],
            "You divided by the square root of the number of keys. Use the width of q and k, their last axis.",
        ),
        mistake(
            "softmax_over_queries",
            (softmax, "torch.softmax(scores, dim=-2)"),
            [output],
            "Your softmax runs over the queries, so the columns sum to 1. "
            "It should run over the keys, the last axis.",
        ),
        mistake(
            "softmax_over_axis_2",
            (softmax, "torch.softmax(scores, dim=2)"),
            [heads],
            "Your softmax runs over axis 2. With heads that is the axis of the queries. "
            "Count from the end: the keys are axis -1.",
        ),
        mistake(
            "keys_times_queries",
            ("q @ k.transpose(-2, -1)", "k @ q.transpose(-2, -1)"),
            [output, unequal],
            "You computed k qᵀ, so the rows of your scores are keys. Compute q kᵀ.",
        ),
        mistake(
            "sigmoid",
            (softmax, "torch.sigmoid(scores)"),
            [output],
            "You applied a sigmoid to each score, so the rows don't sum to 1. Use a softmax.",
        ),
        mistake(
            "log_softmax",
            (softmax, "torch.log_softmax(scores, dim=-1)"),
            [output],
            "You used log_softmax, so your weights are logarithms. Use softmax.",
        ),
        mistake(
            "no_softmax",
            (softmax, "scores"),
            [output],
            "You used the scores as weights. Apply a softmax to them first.",
        ),
        mistake(
            "exp_without_the_largest",
            (softmax, "scores.exp() / scores.exp().sum(dim=-1, keepdim=True)"),
            [large],
            "The exponential of a large score overflows to infinity, and infinity / infinity is NaN. "
            "Subtract the largest score of each row first, or use torch.softmax.",
        ),
        mistake(
            "weights_detached",
            ("weights @ v", "weights.detach() @ v"),
            ["test_gradients"],
            "You detached the weights, so no gradient reaches q and k through the output.",
        ),
        mistake(
            "computed_without_gradients",
            (softmax, "torch.softmax(scores.detach(), dim=-1)"),
            ["test_gradients"],
            "You detached the scores, so no gradient reaches q and k.",
        ),
        mistake(
            "scores_returned",
            (pair, "return output, scores"),
            [weights],
            "You return the scores as the second value. Return the weights, the result of the softmax.",
        ),
        mistake(
            "pair_swapped",
            (pair, "return weights, output"),
            [output, weights],
            "You return the weights first. The output comes first, then the weights.",
        ),
        mistake(
            "output_alone",
            (pair, "return output"),
            [output, weights],
            "You return only the output. Return the pair (output, weights).",
        ),
        mistake(
            "scaled_in_place",
            ("d_k = q.shape[-1]", "q *= 1.0\n    q += 1e-3\n    d_k = q.shape[-1]"),
            [hygiene["unchanged"]],
            "You modified q in place. Leave the inputs unchanged.",
        ),
        mistake(
            "float32_inside",
            ("d_k = q.shape[-1]", "q, k, v = q.float(), k.float(), v.float()\n    d_k = q.shape[-1]"),
            [hygiene["dtype"]],
            "You converted the inputs or the results to float32. Keep the dtype of the inputs.",
        ),
    ]
