"""Wrong answers to exercise 4, `grouped_attention`."""

from gradekit.checks import Mistakes

FORMULA = "test_equals_the_formula"
K = "k = k.repeat_interleave(heads // groups, dim=1)"
V = "v = v.repeat_interleave(heads // groups, dim=1)"
CALL = "return masked_attention(q, k, v, mask)"
UNUSABLE = "Code that calls it can't use such a result."

wrong = Mistakes("grouped_")

wrong.about(FORMULA)
wrong("round_robin", K, "k = k.repeat(1, heads // groups, 1, 1)")
wrong.edit(V, "v = v.repeat(1, heads // groups, 1, 1)")
wrong.says("Your heads take turns: head 0 uses group 0, head 1 group 1, and so on.")
wrong.says("The heads of a group are neighbors.")
wrong("values_take_turns", V, "v = v.repeat(1, heads // groups, 1, 1)")
wrong.says("Keys and values are shared in different orders.")
wrong.says("The heads of a group use both from the same group.")
wrong("first_group_for_all", K, "k = k[:, :1].expand(-1, heads, -1, -1)")
wrong.edit(V, "v = v[:, :1].expand(-1, heads, -1, -1)")
wrong.says("All heads use the first group. Each head uses the keys and values of its own group.")
wrong("groups_averaged", K, "k = k.mean(dim=1, keepdim=True).expand(-1, heads, -1, -1)")
wrong.edit(V, "v = v.mean(dim=1, keepdim=True).expand(-1, heads, -1, -1)")
wrong.says("You averaged the keys and values of all groups. Each head uses those of its own group.")
wrong("keys_for_values", V, "v = k")
wrong.says("You used the keys as values, too.")
wrong.costs("The values have no effect at all.")
wrong("no_scale", CALL, "return masked_attention(q * q.shape[-1] ** 0.5, k, v, mask)")
wrong.says("The scores are not divided by √d_head. masked_attention does this for you.")
wrong("scale_of_all_heads", CALL, "return masked_attention(q / (heads // groups) ** 0.5, k, v, mask)")
wrong.says("You also divide the scores by the root of the number of heads in a group.")
wrong.says("Only √d_head belongs there.")
wrong("queries_averaged", CALL)
wrong.to(
    "q = q.unflatten(1, (groups, -1)).mean(dim=2).repeat_interleave(heads // groups, dim=1)\n    " + CALL,
)
wrong.says("You averaged the queries of a group, so its heads all do the same.")
wrong.says("Heads share keys and values, not queries.")
wrong("pair_swapped", CALL, "return masked_attention(q, k, v, mask)[::-1]")
wrong.says("You returned the weights first. The order is (output, weights).")
wrong.costs(UNUSABLE)
wrong("output_only", CALL, "return masked_attention(q, k, v, mask)[0]")
wrong.says("You returned only the output. Return the pair (output, weights).")
wrong.costs(UNUSABLE)

wrong.about("test_mask")
wrong("mask_ignored", CALL, "return masked_attention(q, k, v)")
wrong.says("You ignore the mask. Pass it on.")
wrong("mask_inverted", CALL, "return masked_attention(q, k, v, None if mask is None else ~mask)")
wrong.says("You inverted the mask. True means that a key may be attended to.")
wrong("mask_after_the_softmax", CALL)
wrong.to("""_, weights = masked_attention(q, k, v)
    weights = weights if mask is None else weights * mask
    return weights @ v, weights""")
wrong.says("You applied the mask after the softmax, so the weights don't sum to 1. Apply it before.")

wrong.about("test_groups_of_equal_size")
wrong("uneven_let_through", "if heads % groups != 0:", "if heads < groups:")
wrong.edit(
    CALL,
    "k, v = (torch.cat([t, t[:, -1:].repeat(1, heads, 1, 1)], 1)[:, :heads] for t in (k, v))\n    " + CALL,
)
wrong.says("You accept heads that can't be split evenly. Check the remainder with `%`.")
wrong("assertion_instead", "raise ValueError(", "raise AssertionError(")
wrong.says("You raised an AssertionError. Raise a ValueError.")

wrong.about("test_float64_gradients_and_inputs_unchanged")
wrong("weights_detached")
wrong.edit(CALL, "_, weights = masked_attention(q, k, v, mask)\n    return weights.detach() @ v, weights")
wrong.says("You detached the weights, so no gradient reaches q and k through the output.")
wrong("float32_returned", CALL, CALL.replace("(q, k, v, mask)", "(q.float(), k.float(), v.float(), mask)"))
wrong.says("You compute in float32 and return it, whatever the dtype of the inputs. Return their dtype.")
