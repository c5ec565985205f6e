"""Wrong answers to exercise 4, `grouped_attention`."""

from gradekit.checks import mistakes_in, with_costs

FORMULA = "test_equals_the_formula"
K = "k = k.repeat_interleave(heads // groups, dim=1)"
V = "v = v.repeat_interleave(heads // groups, dim=1)"
CALL = "return masked_attention(q, k, v, mask)"
mistake = mistakes_in("grouped_attention", "grouped_")

MISTAKES = [
    mistake(
        "round_robin",
        [(K, "k = k.repeat(1, heads // groups, 1, 1)"), (V, "v = v.repeat(1, heads // groups, 1, 1)")],
        [FORMULA],
        "Your heads take turns: head 0 uses group 0, head 1 group 1, and so on. The heads of a group are neighbors.",
    ),
    mistake(
        "values_take_turns",
        [(V, "v = v.repeat(1, heads // groups, 1, 1)")],
        [FORMULA],
        "Keys and values are shared in different orders. The heads of a group use both from the same group.",
    ),
    mistake(
        "first_group_for_all",
        [(K, "k = k[:, :1].expand(-1, heads, -1, -1)"), (V, "v = v[:, :1].expand(-1, heads, -1, -1)")],
        [FORMULA],
        "All heads use the first group. Each head uses the keys and values of its own group.",
    ),
    mistake(
        "groups_averaged",
        [
            (K, "k = k.mean(dim=1, keepdim=True).expand(-1, heads, -1, -1)"),
            (V, "v = v.mean(dim=1, keepdim=True).expand(-1, heads, -1, -1)"),
        ],
        [FORMULA],
        "You averaged the keys and values of all groups. Each head uses those of its own group.",
    ),
    mistake(
        "keys_for_values",
        [(V, "v = k")],
        [FORMULA],
        "You used the keys as values, too.",
    ),
    mistake(
        "no_scale",
        [(CALL, "return masked_attention(q * q.shape[-1] ** 0.5, k, v, mask)")],
        [FORMULA],
        "The scores are not divided by √d_head. masked_attention does this for you.",
    ),
    mistake(
        "scale_of_all_heads",
        [(CALL, "return masked_attention(q / (heads // groups) ** 0.5, k, v, mask)")],
        [FORMULA],
        "You also divide the scores by the root of the number of heads in a group. Only √d_head belongs there.",
    ),
    mistake(
        "queries_averaged",
        [
            (
                CALL,
                "q = q.unflatten(1, (groups, -1)).mean(dim=2).repeat_interleave(heads // groups, dim=1)\n    "
                + CALL,
            )
        ],
        [FORMULA],
        "You averaged the queries of a group, so its heads all do the same. Heads share keys and values, not queries.",
    ),
    mistake(
        "pair_swapped",
        [(CALL, "return masked_attention(q, k, v, mask)[::-1]")],
        [FORMULA],
        "You returned the weights first. The order is (output, weights).",
    ),
    mistake(
        "output_only",
        [(CALL, "return masked_attention(q, k, v, mask)[0]")],
        [FORMULA],
        "You returned only the output. Return the pair (output, weights).",
    ),
    mistake(
        "mask_ignored",
        [(CALL, "return masked_attention(q, k, v)")],
        ["test_mask"],
        "You ignore the mask. Pass it on.",
    ),
    mistake(
        "mask_inverted",
        [(CALL, "return masked_attention(q, k, v, None if mask is None else ~mask)")],
        ["test_mask"],
        "You inverted the mask. True means that a key may be attended to.",
    ),
    mistake(
        "mask_after_the_softmax",
        [
            (
                CALL,
                "_, weights = masked_attention(q, k, v)\n"
                "    weights = weights if mask is None else weights * mask\n"
                "    return weights @ v, weights",
            )
        ],
        ["test_mask"],
        "You applied the mask after the softmax, so the weights don't sum to 1. Apply it before.",
    ),
    mistake(
        "uneven_let_through",
        [
            ("if heads % groups != 0:", "if heads < groups:"),
            (
                CALL,
                "k, v = (torch.cat([t, t[:, -1:].repeat(1, heads, 1, 1)], 1)[:, :heads] for t in (k, v))\n    "
                + CALL,
            ),
        ],
        ["test_groups_of_equal_size"],
        "You accept heads that can't be split evenly. Check the remainder with `%`.",
    ),
    mistake(
        "assertion_instead",
        [("raise ValueError(", "raise AssertionError(")],
        ["test_groups_of_equal_size"],
        "You raised an AssertionError. Raise a ValueError.",
    ),
    mistake(
        "weights_detached",
        [(CALL, "_, weights = masked_attention(q, k, v, mask)\n    return weights.detach() @ v, weights")],
        ["test_float64_gradients_and_inputs_unchanged"],
        "You detached the weights, so no gradient reaches q and k through the output.",
    ),
    mistake(
        "float32_returned",
        [(CALL, CALL.replace("(q, k, v, mask)", "(q.float(), k.float(), v.float(), mask)"))],
        ["test_float64_gradients_and_inputs_unchanged"],
        "You compute in float32 and return it, whatever the dtype of the inputs. Return their dtype.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "The values have no effect at all.": [
            "grouped_keys_for_values",
        ],
        "Code that calls it can't use such a result.": [
            "grouped_pair_swapped",
            "grouped_output_only",
        ],
    },
)
