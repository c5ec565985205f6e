"""Known wrong answers to this assignment, each an edit of the instructor's solution cell."""

from coursekit.checks import Mistake, with_costs


def made_for(cell, prefix):
    """A function that makes the mistakes of one cell: (name, edits, about, sentence)."""

    def mistake(name, edits, about, sentence):
        return Mistake(f"{prefix}_{name}", cell=cell, edits=edits, about=about, sentence=sentence)

    return mistake


# ---------------------------------------------------------------------------------- exercise 1
rotating = made_for("rotate", "rotate")
FORMULA = "test_equals_the_formula"
TURN = "[first * cos - second * sin, first * sin + second * cos]"
SPEED = "base ** (-torch.arange(0, width, 2) / width)"
CHECK = "width % 2 != 0"
ROTATE = [
    rotating(
        "backwards",
        [(TURN, "[first * cos + second * sin, second * cos - first * sin]")],
        [FORMULA],
        "You turn clockwise, as the matrix of assignment 1 does. The minus sign belongs in the line of the first member.",
    ),
    rotating(
        "no_minus",
        [("first * cos - second * sin", "first * cos + second * sin")],
        [FORMULA],
        "Both of your lines have a plus sign, so nothing is rotated. The first line has a minus.",
    ),
    rotating(
        "sine_and_cosine_swapped",
        [("cos, sin = angle.cos(), angle.sin()", "sin, cos = angle.cos(), angle.sin()")],
        [FORMULA],
        "You swapped sine and cosine. At position 0 a vector must stay as it is.",
    ),
    rotating(
        "halves_as_pairs",
        [
            ("x[..., 0::2], x[..., 1::2]", "x[..., : width // 2], x[..., width // 2 :]"),
            (", dim=-1)\n    return turned.flatten(-2)", ", dim=-2)\n    return turned.flatten(-2)"),
        ],
        [FORMULA],
        "You paired column i with column i + width / 2. Pairs are neighboring columns: 0 and 1, 2 and 3.",
    ),
    rotating(
        "not_interleaved",
        [
            ("turned = torch.stack(", "turned = torch.cat("),
            ("return turned.flatten(-2).to", "return turned.to"),
        ],
        [FORMULA],
        "You put all first members before all second members. Interleave them again, so that each pair stays in its columns.",
    ),
    rotating(
        "every_column_its_speed",
        [(SPEED, "base ** (-torch.arange(0, width // 2) / width)")],
        [FORMULA],
        "The exponent of your pair i is i / width. It should be 2i / width.",
    ),
    rotating(
        "too_fast",
        [(SPEED, "base ** (-torch.arange(0, width, 2) / (width // 2))")],
        [FORMULA],
        "You divide 2i by the number of pairs. Divide it by the width.",
    ),
    rotating(
        "speed_upside_down",
        [(SPEED, "base ** (torch.arange(0, width, 2) / width)")],
        [FORMULA],
        "Your speeds grow with i. They should be 1 / base ** (2i / width), so the last pairs are the slow ones.",
    ),
    rotating(
        "positions_from_1",
        [("positions[:, None] * speed", "(positions[:, None] + 1) * speed")],
        [FORMULA],
        "You turn the vector at position 0. Its angle is 0.",
    ),
    rotating(
        "own_positions",
        [("positions[:, None] * speed", "torch.arange(x.shape[-2])[:, None] * speed")],
        ["test_positions_that_are_passed_in"],
        "You count positions from 0. Use the `positions` that are passed in.",
    ),
    rotating(
        "relative_to_the_first",
        [("positions[:, None] * speed", "(positions - positions[0])[:, None] * speed")],
        ["test_positions_that_are_passed_in"],
        "You subtract the first position. Use the positions as they are; only then do cached keys stay right.",
    ),
    rotating(
        "fixed_base",
        [("speed = base **", "speed = 10000.0 **")],
        ["test_base"],
        "You always use the base 10000. Use the argument `base`.",
    ),
    rotating(
        "dtype_lost",
        [(".flatten(-2).to(x.dtype)", ".flatten(-2)")],
        ["test_dtype"],
        "For bfloat16, your result is float32. Return the dtype of x.",
    ),
    rotating(
        "angles_in_low_precision",
        [("positions[:, None] * speed", "positions[:, None].to(x.dtype) * speed.to(x.dtype)")],
        ["test_dtype"],
        "You compute the angles in the dtype of x. bfloat16 can't tell position 257 from 256. Use float32.",
    ),
    rotating(
        "odd_width_let_through",
        [(CHECK, "width < 2")],
        ["test_odd_width"],
        "An odd width has no pair for its last column. Raise a ValueError.",
    ),
    rotating(
        "in_place",
        [
            (
                "return turned.flatten(-2).to(x.dtype)",
                "x.copy_(turned.flatten(-2).to(x.dtype))\n    return x.clone()",
            )
        ],
        ["test_x_unchanged_and_differentiable"],
        "You wrote the result into x. Create a new tensor.",
    ),
]

# ---------------------------------------------------------------------------------- exercise 2
norming = made_for("rms_norm", "norm")
NORM_LINE = "self.weight * (x / torch.sqrt(mean_square + self.eps))"
NORM = [
    norming(
        "mean_subtracted",
        [("mean_square = x", "x = x - x.mean(dim=-1, keepdim=True)\n        mean_square = x")],
        [FORMULA],
        "You subtract the mean first, as LayerNorm does. RMSNorm leaves it alone.",
    ),
    norming(
        "sum_of_squares",
        [("x.pow(2).mean(dim=-1, keepdim=True)", "x.pow(2).sum(dim=-1, keepdim=True)")],
        [FORMULA],
        "You took the sum of the squares. Take their mean.",
    ),
    norming(
        "no_root",
        [("torch.sqrt(mean_square + self.eps)", "(mean_square + self.eps)")],
        [FORMULA],
        "You divide by the mean of the squares. Divide by its root.",
    ),
    norming(
        "mean_of_absolutes",
        [("torch.sqrt(mean_square + self.eps)", "(x.abs().mean(dim=-1, keepdim=True) + self.eps)")],
        [FORMULA],
        "You divide by the mean of the absolute values. Square, take the mean, then the root.",
    ),
    norming(
        "over_everything",
        [("x.pow(2).mean(dim=-1, keepdim=True)", "x.pow(2).mean()")],
        [FORMULA],
        "You take one mean over all vectors. Every vector has its own, along the last axis.",
    ),
    norming(
        "over_the_length",
        [("mean(dim=-1, keepdim=True)", "mean(dim=0, keepdim=True)")],
        [FORMULA],
        "Your mean runs over the first axis. It should run over the last one.",
    ),
    norming(
        "weight_unused",
        [(NORM_LINE, "x / torch.sqrt(mean_square + self.eps)")],
        [FORMULA],
        "You don't multiply by `weight`.",
    ),
    norming(
        "weight_plus_1",
        [("self.weight * (", "(1 + self.weight) * (")],
        [FORMULA],
        "You multiply by 1 + weight. Multiply by the weight, which starts at 1.",
    ),
    norming(
        "eps_outside",
        [("torch.sqrt(mean_square + self.eps)", "(torch.sqrt(mean_square) + self.eps)")],
        ["test_eps"],
        "You add `eps` after the root. It belongs under the root.",
    ),
    norming(
        "eps_fixed",
        [("self.eps = eps", "self.eps = 1e-6")],
        ["test_eps"],
        "You always use 1e-6. Use the argument `eps`.",
    ),
    norming(
        "no_eps",
        [("mean_square + self.eps", "mean_square")],
        ["test_eps"],
        "You left out `eps`, so a vector of zeros becomes NaN.",
    ),
    norming(
        "no_parameter",
        [("nn.Parameter(torch.ones(width))", "torch.ones(width)")],
        ["test_parameters"],
        "`weight` is a plain tensor, so it can't be trained. Make it an nn.Parameter.",
    ),
    norming(
        "starts_at_zero",
        [("torch.ones(width)", "torch.zeros(width)")],
        ["test_parameters"],
        "`weight` starts at 0, so the output is 0. It should start at 1.",
    ),
    norming(
        "bias_as_well",
        [("self.eps = eps", "self.eps = eps\n        self.bias = nn.Parameter(torch.zeros(width))")],
        ["test_parameters"],
        "You also made a bias. RMSNorm has only a weight.",
    ),
    norming(
        "in_place",
        [("return self.weight *", "x /= torch.sqrt(mean_square + self.eps)\n        return self.weight *")],
        ["test_dtype_gradients_and_x_unchanged"],
        "You divide x in place. Create a new tensor.",
    ),
    norming(
        "float32_inside",
        [("mean_square = x", "x = x.float()\n        mean_square = x")],
        ["test_dtype_gradients_and_x_unchanged"],
        "You compute in float32 and return it, whatever the dtype of x. Return the dtype of x.",
    ),
]

# ---------------------------------------------------------------------------------- exercise 3
gating = made_for("swiglu", "swiglu")
SWIGLU = [
    gating(
        "gate_and_up_swapped",
        [
            ("F.silu(self.w_gate(x))", "F.silu(self.w_up(x))"),
            ("gate * self.w_up(x)", "gate * self.w_gate(x)"),
        ],
        [FORMULA],
        "You apply silu to the output of `w_up`. It belongs to `w_gate`.",
    ),
    gating(
        "no_activation",
        [("F.silu(self.w_gate(x))", "self.w_gate(x)")],
        [FORMULA],
        "The gate has no activation. Apply silu to the output of `w_gate`.",
    ),
    gating(
        "sigmoid",
        [("F.silu(self.w_gate(x))", "torch.sigmoid(self.w_gate(x))")],
        [FORMULA],
        "Your gate is sigmoid(z). silu(z) is z · sigmoid(z).",
    ),
    gating(
        "relu",
        [("F.silu(self.w_gate(x))", "torch.relu(self.w_gate(x))")],
        [FORMULA],
        "Your gate uses ReLU. Use silu.",
    ),
    gating(
        "gelu",
        [("F.silu(self.w_gate(x))", "F.gelu(self.w_gate(x))")],
        [FORMULA],
        "Your gate uses GELU, which makes this a GEGLU. Use silu.",
    ),
    gating(
        "added",
        [("gate * self.w_up(x)", "gate + self.w_up(x)")],
        [FORMULA],
        "You add the gate. Multiply by it, number by number.",
    ),
    gating(
        "silu_after_the_product",
        [
            ("F.silu(self.w_gate(x))", "self.w_gate(x)"),
            ("hidden = gate * self.w_up(x)", "hidden = F.silu(gate * self.w_up(x))"),
        ],
        [FORMULA],
        "You apply silu to the product. Apply it to the gate, before you multiply.",
    ),
    gating(
        "no_gate",
        [("gate * self.w_up(x)", "gate")],
        [FORMULA],
        "You don't use `w_up`. Multiply silu of the gate by it.",
    ),
    gating(
        "residual_inside",
        [("return self.w_down(hidden)", "return x + self.w_down(hidden)")],
        [FORMULA],
        "You added x to the output. The residual connection comes later, in the block.",
    ),
    gating(
        "with_bias",
        [("self.w_down = nn.Linear(d_ff, d_model, bias=False)", "self.w_down = nn.Linear(d_ff, d_model)")],
        ["test_parameters"],
        "`w_down` has a bias. None of the layers has one.",
    ),
    gating(
        "one_layer_for_both",
        [("self.w_up = nn.Linear(d_model, d_ff, bias=False)", "self.w_up = self.w_gate")],
        ["test_parameters"],
        "`w_up` and `w_gate` are the same layer. Create two.",
    ),
    gating(
        "detached_gate",
        [("gate * self.w_up(x)", "gate.detach() * self.w_up(x)")],
        ["test_float64_gradients_and_x_unchanged"],
        "You detached the gate, so `w_gate` can't learn.",
    ),
]

# ---------------------------------------------------------------------------------- exercise 4
grouping = made_for("grouped_attention", "grouped")
K = "k = k.repeat_interleave(heads // groups, dim=1)"
V = "v = v.repeat_interleave(heads // groups, dim=1)"
CALL = "return masked_attention(q, k, v, mask)"
GROUPED = [
    grouping(
        "round_robin",
        [(K, "k = k.repeat(1, heads // groups, 1, 1)"), (V, "v = v.repeat(1, heads // groups, 1, 1)")],
        [FORMULA],
        "Your heads take turns: head 0 uses group 0, head 1 group 1, and so on. The heads of a group are neighbors.",
    ),
    grouping(
        "values_take_turns",
        [(V, "v = v.repeat(1, heads // groups, 1, 1)")],
        [FORMULA],
        "Keys and values are shared in different orders. The heads of a group use both from the same group.",
    ),
    grouping(
        "first_group_for_all",
        [(K, "k = k[:, :1].expand(-1, heads, -1, -1)"), (V, "v = v[:, :1].expand(-1, heads, -1, -1)")],
        [FORMULA],
        "All heads use the first group. Each head uses the keys and values of its own group.",
    ),
    grouping(
        "groups_averaged",
        [
            (K, "k = k.mean(dim=1, keepdim=True).expand(-1, heads, -1, -1)"),
            (V, "v = v.mean(dim=1, keepdim=True).expand(-1, heads, -1, -1)"),
        ],
        [FORMULA],
        "You averaged the keys and values of all groups. Each head uses those of its own group.",
    ),
    grouping(
        "keys_for_values",
        [(V, "v = k")],
        [FORMULA],
        "You used the keys as values, too.",
    ),
    grouping(
        "no_scale",
        [(CALL, "return masked_attention(q * q.shape[-1] ** 0.5, k, v, mask)")],
        [FORMULA],
        "The scores are not divided by √d_head. masked_attention does this for you.",
    ),
    grouping(
        "scale_of_all_heads",
        [(CALL, "return masked_attention(q / (heads // groups) ** 0.5, k, v, mask)")],
        [FORMULA],
        "You also divide the scores by the root of the number of heads in a group. Only √d_head belongs there.",
    ),
    grouping(
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
    grouping(
        "pair_swapped",
        [(CALL, "return masked_attention(q, k, v, mask)[::-1]")],
        [FORMULA],
        "You returned the weights first. The order is (output, weights).",
    ),
    grouping(
        "output_only",
        [(CALL, "return masked_attention(q, k, v, mask)[0]")],
        [FORMULA],
        "You returned only the output. Return the pair (output, weights).",
    ),
    grouping(
        "mask_ignored",
        [(CALL, "return masked_attention(q, k, v)")],
        ["test_mask"],
        "You ignore the mask. Pass it on.",
    ),
    grouping(
        "mask_inverted",
        [(CALL, "return masked_attention(q, k, v, None if mask is None else ~mask)")],
        ["test_mask"],
        "You inverted the mask. True means that a key may be attended to.",
    ),
    grouping(
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
    grouping(
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
    grouping(
        "assertion_instead",
        [("raise ValueError(", "raise AssertionError(")],
        ["test_groups_of_equal_size"],
        "You raised an AssertionError. Raise a ValueError.",
    ),
    grouping(
        "weights_detached",
        [(CALL, "_, weights = masked_attention(q, k, v, mask)\n    return weights.detach() @ v, weights")],
        ["test_float64_gradients_and_inputs_unchanged"],
        "You detached the weights, so no gradient reaches q and k through the output.",
    ),
    grouping(
        "float32_inside",
        [
            (
                CALL,
                "output, weights = masked_attention(q.float(), k.float(), v.float(), mask)\n"
                "    return output.to(q.dtype), weights.to(q.dtype)",
            )
        ],
        ["test_float64_gradients_and_inputs_unchanged"],
        "You computed in float32. Use the dtype of the inputs.",
    ),
]

# ---------------------------------------------------------------------------------- exercise 5
attending = made_for("causal_attention", "attention")
ROTATED = "q, k = rotate(q, positions), rotate(k, positions)"
MASK = "mask = torch.arange(k.shape[2]) <= positions[:, None]"
APPEND = "k, v = cache.append(k, v)"
CACHED = "test_cache_gives_the_same_output"
ATTENTION = [
    attending(
        "not_rotated",
        [(ROTATED + "\n", "\n")],
        [FORMULA],
        "You don't rotate queries and keys, so the order of the tokens is lost.",
    ),
    attending(
        "only_queries_rotated",
        [(ROTATED, "q = rotate(q, positions)")],
        [FORMULA],
        "You rotate only the queries. Keys are rotated by their own positions as well.",
    ),
    attending(
        "values_rotated",
        [(ROTATED, "q, k, v = rotate(q, positions), rotate(k, positions), rotate(v, positions)")],
        [FORMULA],
        "You rotate the values. Only queries and keys are rotated.",
    ),
    attending(
        "rotated_before_the_split",
        [
            ("q = self.split(self.w_q(x))", "q = self.split(rotate(self.w_q(x), positions))"),
            ("k = self.split(self.w_k(x))", "k = self.split(rotate(self.w_k(x), positions))"),
            (ROTATED + "\n", "\n"),
        ],
        [FORMULA],
        "You rotate before you split into heads, so the speeds are spread over all heads. Rotate the vectors of each head.",
    ),
    attending(
        "keys_from_w_v",
        [("k = self.split(self.w_k(x))", "k = self.split(self.w_v(x))")],
        [FORMULA],
        "You compute the keys with `w_v`. Use `w_k`.",
    ),
    attending(
        "no_output_layer",
        [("return self.w_o(output.transpose(1, 2).flatten(2))", "return output.transpose(1, 2).flatten(2)")],
        [FORMULA],
        "You return the merged heads. Apply `w_o` to them.",
    ),
    attending(
        "merged_without_transpose",
        [("output.transpose(1, 2).flatten(2)", "output.reshape(x.shape)")],
        [FORMULA],
        "You merge the heads without moving their axis back, so positions and heads are mixed. Transpose, then flatten.",
    ),
    attending(
        "split_without_transpose",
        [
            (
                "return x.unflatten(-1, (-1, self.d_head)).transpose(1, 2)",
                "return x.reshape(x.shape[0], -1, x.shape[1], self.d_head)",
            )
        ],
        [FORMULA],
        "You split into heads with a reshape alone, so positions and heads are mixed. Unflatten the width, then transpose.",
    ),
    attending(
        "not_causal",
        [("grouped_attention(q, k, v, mask)", "grouped_attention(q, k, v)")],
        ["test_causal"],
        "Your positions see later ones. Pass the mask to grouped_attention.",
    ),
    attending(
        "itself_hidden",
        [("torch.arange(k.shape[2]) <= positions", "torch.arange(k.shape[2]) < positions")],
        [FORMULA],
        "A position can't see itself. Use <= in the mask.",
    ),
    attending(
        "one_too_many",
        [("<= positions[:, None]", "<= positions[:, None] + 1")],
        ["test_causal"],
        "Each position also sees the next one. The mask is off by one.",
    ),
    attending(
        "positions_always_from_0",
        [
            ("positions = torch.arange(start, start + x.shape[1])", "positions = torch.arange(x.shape[1])"),
            ("<= positions[:, None]", "<= positions[:, None] + start"),
        ],
        [CACHED],
        "With a cache, you count the positions of new tokens from 0 again. They start at the length of the cache.",
    ),
    attending(
        "length_after_appending",
        [
            (ROTATED + "\n", "\n"),
            (
                APPEND,
                APPEND
                + "\n            positions = torch.arange(cache.length - x.shape[1], cache.length) + x.shape[1]",
            ),
            (
                MASK,
                "mask = torch.arange(k.shape[2]) <= positions[:, None] - x.shape[1] * (cache is not None)\n"
                "        q, k = rotate(q, positions), rotate(k, torch.arange(k.shape[2]))",
            ),
        ],
        [CACHED],
        "You ask the cache for its length after appending, so new positions are too large. Ask before.",
    ),
    attending(
        "all_keys_rotated_again",
        [(APPEND, APPEND + "\n            k = rotate(k, torch.arange(k.shape[2]))")],
        [CACHED],
        "You rotate all keys in the cache again at every call. They were rotated when they went in.",
    ),
    attending(
        "keys_cached_before_rotation",
        [
            (ROTATED + "\n", "        q = rotate(q, positions)\n".lstrip()),
            (MASK, "k = rotate(k, torch.arange(k.shape[2]))\n        " + MASK),
        ],
        ["test_contents_of_the_cache"],
        "You put keys into the cache before they are rotated. Rotate them first, once.",
    ),
    attending(
        "heads_cached",
        [
            (
                APPEND,
                "repeat = q.shape[1] // k.shape[1]\n"
                "            k, v = cache.append(k.repeat_interleave(repeat, 1), v.repeat_interleave(repeat, 1))",
            )
        ],
        ["test_contents_of_the_cache"],
        "You cache a copy of keys and values for every head. Cache those of the groups, or nothing is saved.",
    ),
    attending(
        "cache_not_read",
        [
            (APPEND, "cache.append(k, v)"),
            (MASK, "mask = start + torch.arange(k.shape[2]) <= positions[:, None]"),
        ],
        [CACHED],
        "You append to the cache, but attend only to the new keys. Attend to all that `append` returns.",
    ),
    attending(
        "square_mask",
        [
            (
                MASK,
                "mask = make_causal_mask(x.shape[1])\n"
                "        mask = torch.cat([mask, mask.new_zeros(x.shape[1], k.shape[2] - x.shape[1])], dim=1)",
            )
        ],
        [CACHED],
        "With a cache, your mask treats the first keys as the new ones. Row i belongs to position start + i.",
    ),
    attending(
        "no_mask_with_a_cache",
        [("grouped_attention(q, k, v, mask)", "grouped_attention(q, k, v, mask if cache is None else None)")],
        [CACHED],
        "With a cache, you use no mask. That is right for a single token, but of several new tokens the first must not see the others.",
    ),
    attending(
        "own_memory",
        [
            (
                "start = 0 if cache is None else cache.length",
                'self.memory = cache if cache is not None else getattr(self, "memory", None)\n'
                "        cache = self.memory\n        start = 0 if cache is None else cache.length",
            ),
        ],
        ["test_nothing_is_kept_elsewhere"],
        "You keep the last cache in the module and use it in calls without one. Without a cache there is nothing before x.",
    ),
    attending(
        "keys_for_every_head",
        [
            (
                "self.w_k = nn.Linear(d_model, num_groups * self.d_head",
                "self.w_k = nn.Linear(d_model, num_heads * self.d_head",
            ),
        ],
        ["test_parameters"],
        "`w_k` makes keys for every head. It should make one per group.",
    ),
    attending(
        "with_bias",
        [("self.w_o = nn.Linear(d_model, d_model, bias=False)", "self.w_o = nn.Linear(d_model, d_model)")],
        ["test_parameters"],
        "`w_o` has a bias. None of the layers has one.",
    ),
    attending(
        "no_gradients",
        [
            (
                "output, _ = grouped_attention(q, k, v, mask)",
                "with torch.no_grad():\n            output, _ = grouped_attention(q, k, v, mask)",
            )
        ],
        ["test_float64_gradients_and_x_unchanged"],
        "You attend under `torch.no_grad()`, so the queries, keys and values can't be trained.",
    ),
]

# ---------------------------------------------------------------------------------- exercise 6
building = made_for("decoder_only", "model")
ATTEND = "x = x + self.attention(self.norm1(x), cache)"
FEED = "return x + self.feed_forward(self.norm2(x))"
LOGITS = "return self.norm(x) @ self.embedding.weight.T"
MODEL = [
    building(
        "no_residual_around_attention",
        [(ATTEND, "x = self.attention(self.norm1(x), cache)")],
        ["test_block"],
        "There is no residual connection around the attention. Add its output to x.",
    ),
    building(
        "no_residual_around_feed_forward",
        [(FEED, "return self.feed_forward(self.norm2(x))")],
        ["test_block"],
        "There is no residual connection around the feed-forward network. Add its output to x.",
    ),
    building(
        "normed_residual",
        [(ATTEND, "x = self.norm1(x)\n        x = x + self.attention(x, cache)")],
        ["test_block"],
        "You add the attention to the normalized x. The residual connection carries x itself.",
    ),
    building(
        "post_norm",
        [
            (ATTEND, "x = self.norm1(x + self.attention(x, cache))"),
            (FEED, "return self.norm2(x + self.feed_forward(x))"),
        ],
        ["test_block"],
        "You normalize after the sums. Normalize what goes into each part.",
    ),
    building(
        "norm_used_twice",
        [(FEED, "return x + self.feed_forward(self.norm1(x))")],
        ["test_block"],
        "You use `norm1` twice. `norm2` belongs before the feed-forward network.",
    ),
    building(
        "side_by_side",
        [
            (ATTEND, "y = self.attention(self.norm1(x), cache)"),
            (FEED, "return x + y + self.feed_forward(self.norm2(x))"),
        ],
        ["test_block"],
        "Your feed-forward network reads the input of the block. It should read the result of the attention step.",
    ),
    building(
        "norm_missing",
        [(FEED, "return x + self.feed_forward(x)")],
        ["test_block"],
        "There is no norm before the feed-forward network. Apply `norm2`.",
    ),
    building(
        "no_final_norm",
        [(LOGITS, "return x @ self.embedding.weight.T")],
        ["test_model"],
        "You don't apply the final norm before the logits.",
    ),
    building(
        "last_block_only",
        [("x = block(x, cache)", "y = block(x, cache)"), (LOGITS, LOGITS.replace("norm(x)", "norm(y)"))],
        ["test_model"],
        "Every block reads the embeddings. Each should read the output of the one before.",
    ),
    building(
        "embedding_scaled",
        [("x = self.embedding(ids)", "x = self.embedding(ids) * self.embedding.embedding_dim**0.5")],
        ["test_model"],
        "You multiply the embeddings by √d_model, as in assignment 4. This model doesn't.",
    ),
    building(
        "softmax_at_the_end",
        [(LOGITS, "return torch.softmax(self.norm(x) @ self.embedding.weight.T, dim=-1)")],
        ["test_model"],
        "You return probabilities. Return logits, without a softmax.",
    ),
    building(
        "blocks_backwards",
        [("zip(self.blocks, caches, strict=True)", "zip(reversed(self.blocks), caches, strict=True)")],
        ["test_model"],
        "The blocks run in reverse order. Start with the first.",
    ),
    building(
        "output_layer_of_its_own",
        [
            (
                "self.norm = RMSNorm(d_model)\n        ### END",
                "self.norm = RMSNorm(d_model)\n        self.output = nn.Linear(d_model, vocab_size, bias=False)\n        ### END",
            ),
            (LOGITS, "return self.output(self.norm(x))"),
        ],
        ["test_tied"],
        "The output layer has weights of its own. Use the embedding table.",
    ),
    building(
        "copied_table",
        [
            (
                "self.norm = RMSNorm(d_model)\n        ### END",
                "self.norm = RMSNorm(d_model)\n"
                "        self.output = nn.Linear(d_model, vocab_size, bias=False)\n"
                "        self.output.weight = nn.Parameter(self.embedding.weight.detach().clone())\n"
                "        ### END",
            ),
            (LOGITS, "return self.output(self.norm(x))"),
        ],
        ["test_tied"],
        "The output layer starts with a copy of the table, and training makes the two different. Use the same parameter.",
    ),
    building(
        "detached_table",
        [(LOGITS, "return self.norm(x) @ self.embedding.weight.detach().T")],
        ["test_tied"],
        "You detached the table, so it doesn't learn through the logits.",
    ),
    building(
        "one_block_repeated",
        [
            (
                "[Block(d_model, num_heads, num_groups, d_ff) for _ in range(num_layers)]",
                "[Block(d_model, num_heads, num_groups, d_ff)] * num_layers",
            )
        ],
        ["test_tied"],
        "All your blocks are the same one. Create `num_layers` different blocks.",
    ),
    building(
        "caches_ignored",
        [("x = block(x, cache)", "x = block(x)")],
        ["test_caches"],
        "The caches don't reach the blocks. Pass each block its own.",
    ),
    building(
        "cache_not_passed_on",
        [(ATTEND, "x = x + self.attention(self.norm1(x))")],
        ["test_caches"],
        "Your block doesn't pass its cache to the attention.",
    ),
    building(
        "one_cache_for_all",
        [("x = block(x, cache)", "x = block(x, caches[0])")],
        ["test_caches"],
        "All blocks use the first cache. Each needs its own.",
    ),
    building(
        "default_start",
        [("        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)\n", "")],
        ["test_small_start"],
        "The embedding starts with a standard deviation of 1. Start with 1 / √d_model.",
    ),
    building(
        "fixed_start",
        [("std=d_model**-0.5", "std=0.02")],
        ["test_small_start"],
        "The embedding starts with a standard deviation of 0.02, whatever the width. Start with 1 / √d_model.",
    ),
]

# ---------------------------------------------------------------------------------- exercise 7
writing = made_for("generate", "generate")
LIKELIEST = "test_writes_the_likeliest_tokens"
ONCE = "test_every_position_goes_in_once"
PICK = "following = logits[:, -1].argmax(dim=-1, keepdim=True)"
RUN = "logits = model(following, caches)"
GENERATE = [
    writing(
        "whole_text_every_time",
        [(RUN, "logits = model(ids, new_caches(model))")],
        [ONCE],
        "The whole text goes through the model for every token. After the prompt, only the new token should go in.",
    ),
    writing(
        "no_cache",
        [(RUN, "logits = model(ids)")],
        ["test_the_same_caches_in_every_call", ONCE],
        "You don't use caches. Make them once, and pass them to every call.",
    ),
    writing(
        "text_goes_in_again",
        [(RUN, "logits = model(ids, caches)")],
        [ONCE],
        "You pass the whole text to the model although the caches already hold most of it. Pass only the new token.",
    ),
    writing(
        "new_caches_every_time",
        [(RUN, "logits = model(following, new_caches(model))")],
        ["test_the_same_caches_in_every_call"],
        "You make new caches at every step, so the model forgets everything but one token. Make them once.",
    ),
    writing(
        "logits_of_the_first_position",
        [("logits[:, -1]", "logits[:, 0]")],
        [LIKELIEST],
        "You use the logits at the first position. The next token is predicted at the last one.",
    ),
    writing(
        "least_likely",
        [("argmax(", "argmin(")],
        [LIKELIEST],
        "You choose the least likely token. Use argmax.",
    ),
    writing(
        "sampled",
        [(PICK, "following = torch.multinomial(torch.softmax(logits[:, -1], dim=-1), 1)")],
        [LIKELIEST],
        "You draw tokens at random. Take the likeliest one.",
    ),
    writing(
        "softmax_over_the_batch",
        [("logits[:, -1].argmax(", "logits[:, -1].softmax(dim=0).argmax(")],
        [LIKELIEST],
        "Your softmax runs over the batch, so a token counts as likely if the other texts find it unlikely. "
        "You need no softmax to find the largest logit.",
    ),
    writing(
        "first_row_for_all",
        [(PICK, PICK + "\n            following = following[:1].expand(len(ids), 1)")],
        [LIKELIEST],
        "All texts get the token of the first one. Each row has its own.",
    ),
    writing(
        "prompt_left_out",
        [("    return ids\n", "    return ids[:, -new_tokens:]\n")],
        [LIKELIEST],
        "You return only the new tokens. Return prompt and new tokens together.",
    ),
    writing(
        "one_too_few",
        [("range(new_tokens)", "range(new_tokens - 1)")],
        [LIKELIEST],
        "You write one token too few.",
    ),
    writing(
        "one_call_too_many",
        [("    return ids\n", "        model(following, caches)\n    return ids\n")],
        [ONCE],
        "You call the model once more at the end, for a token that nobody needs.",
    ),
    writing(
        "prompt_token_by_token",
        [
            (
                "following = ids\n    with torch.no_grad():\n",
                "following = ids[:, -1:]\n    with torch.no_grad():\n"
                "        for place in range(ids.shape[1] - 1):\n"
                "            model(ids[:, place : place + 1], caches)\n",
            )
        ],
        [ONCE],
        "You read the prompt token by token. It goes through the model in one call.",
    ),
    writing(
        "training_mode",
        [("    model.eval()\n", "")],
        ["test_evaluation_mode_without_gradients"],
        "The model stays in training mode. Call model.eval() first.",
    ),
    writing(
        "with_gradients",
        [("with torch.no_grad():", "with torch.enable_grad():")],
        ["test_evaluation_mode_without_gradients"],
        "Gradients are recorded, but not needed. Use torch.no_grad().",
    ),
    writing(
        "prompt_changed",
        [
            ("    return ids\n", "    prompt.fill_(0)\n    return ids\n"),
            ("    following = ids\n", "    following = prompt = ids\n"),
        ],
        ["test_prompt_unchanged"],
        "You changed the prompt in place. Create a new tensor.",
    ),
    writing(
        "floats",
        [("    return ids\n", "    return ids.float()\n")],
        ["test_prompt_unchanged"],
        "You return floats. Ids are integers.",
    ),
]

# ---------------------------------------------------------------------------------- exercise 8
counting = made_for("cache_bytes", "bytes")
ADD = "total += cache.k.nbytes + cache.v.nbytes"
ALL = "test_keys_and_values_of_all_caches"
BYTES = [
    counting(
        "keys_only",
        [(ADD, "total += cache.k.nbytes")],
        [ALL],
        "You count only the keys. Values take memory, too.",
    ),
    counting(
        "numbers",
        [(ADD, "total += cache.k.numel() + cache.v.numel()")],
        [ALL],
        "You count numbers. A float32 number takes 4 bytes.",
    ),
    counting(
        "first_cache_only",
        [(ADD, ADD.replace("total +=", "return"))],
        [ALL],
        "You count only the first cache. Add up all of them.",
    ),
    counting(
        "last_cache_only",
        [(ADD, ADD.replace("+=", "="))],
        [ALL],
        "You count only the last cache. Add up all of them.",
    ),
    counting(
        "bits",
        [(ADD, "total += 8 * (cache.k.nbytes + cache.v.nbytes)")],
        [ALL],
        "You count bits. A byte has 8 of them.",
    ),
    counting(
        "always_4",
        [(ADD, "total += 4 * (cache.k.numel() + cache.v.numel())")],
        ["test_other_dtypes_and_shapes"],
        "You assume 4 bytes for every number. Ask the tensor: other dtypes take 2 or 8.",
    ),
    counting(
        "keys_twice",
        [(ADD, "total += 2 * cache.k.nbytes")],
        ["test_other_dtypes_and_shapes"],
        "You count the keys twice. Values may have another width, so count them on their own.",
    ),
    counting(
        "empty_fails",
        [("if cache.length > 0:", "if True:")],
        ["test_empty_caches"],
        "An empty cache has no tensors, and yours fails on it. It takes 0 bytes.",
    ),
    counting(
        "float",
        [("    return total\n", "    return float(total)\n")],
        ["test_empty_caches"],
        "You return a float. A number of bytes is an int.",
    ),
]

# ---------------------------------------------------------------------------------- exercise 9
TEXT = "x = torch.arange(96.0).sin().view(2, 12, 4)"
CUTS = "for lengths in ([1] * 12, [5, 4, 3]):"
STARTED = "read, read_another = new_reader(), new_reader()"
SAME_SHAPE = "assert together.shape == whole.shape"
GAP = "gap = (together - whole).abs().max()"
SAME = "assert gap < 3e-3"


def reader_test(name, edits, about, sentence):
    return Mistake(name, cell="check_reader", edits=edits, about=about, sentence=sentence)


CHECK_READER = [
    reader_test(
        "check_of_shapes",
        [(SAME, "assert gap < 1e3")],
        ["test_forgetting"],
        "Your check looks only at shapes. Compare the outputs of the pieces with those of the whole text.",
    ),
    reader_test(
        "check_of_one_token_at_a_time",
        [(CUTS, "for lengths in ([1] * 12,):")],
        ["test_pieces_of_several_tokens"],
        "Your check reads one token at a time. Cut longer pieces as well, and not only in front.",
    ),
    reader_test(
        "check_of_a_prompt_and_single_tokens",
        [(CUTS, "for lengths in ([5] + [1] * 7,):")],
        ["test_pieces_of_several_tokens"],
        "In your check only the first piece has several tokens. Let a later one be long, too.",
    ),
    reader_test(
        "check_of_two_pieces",
        [(CUTS, "for lengths in ([6, 6],):")],
        ["test_short_memory"],
        "Your check cuts the text only once. What is lost after a few pieces doesn't show.",
    ),
    reader_test(
        "check_of_a_short_text",
        [(TEXT, "x = torch.arange(48.0).sin().view(2, 6, 4)"), ("[1] * 12, [5, 4, 3]", "[1] * 6, [3, 2, 1]")],
        ["test_short_memory"],
        "Your text is so short that a memory for a few tokens is enough.",
    ),
    reader_test(
        "check_of_the_last_output",
        [(GAP, "gap = (together - whole)[:, -1].abs().max()")],
        ["test_pieces_of_several_tokens"],
        "Your check compares only the outputs of the last token.",
    ),
    reader_test(
        "check_of_one_text_at_a_time",
        [(STARTED, "read = new_reader()"), ("            read_another(-piece)\n", "")],
        ["test_mixing"],
        "Your check never reads two texts in turn.",
    ),
    reader_test(
        "check_of_one_sequence",
        [(TEXT, "x = torch.arange(48.0).sin().view(1, 12, 4)")],
        ["test_mixing"],
        "There is only one sequence in your batch.",
    ),
    reader_test(
        "check_with_equal_sequences",
        [(TEXT, "x = torch.arange(48.0).sin().view(1, 12, 4).expand(2, 12, 4)")],
        ["test_mixing"],
        "The sequences of your batch are equal, so it doesn't show if they get mixed up.",
    ),
    reader_test(
        "check_with_a_large_tolerance",
        [(SAME, "assert gap < 1")],
        ["test_wear"],
        "Your check ignores errors of up to 1.",
    ),
    reader_test(
        "check_with_whole_numbers",
        [(TEXT, "x = (torch.arange(96.0) % 7 - 3).view(2, 12, 4)")],
        ["test_wear"],
        "Your check doesn't notice rounded numbers: either all numbers of your text are whole, or it allows too large a difference.",
    ),
    reader_test(
        "check_for_equal_outputs",
        [(SAME, "assert gap == 0")],
        ["test_forgetting"],
        "Your check asks for exact equality, which rejects right readers that round elsewhere. Allow a small difference.",
    ),
    reader_test(
        "check_with_one_reader",
        [
            (STARTED, "read_another = new_reader()"),
            ("    whole = new_reader()(x)", "    read = new_reader()\n    whole = read(x)"),
        ],
        ["test_forgetting"],
        "Your check reads the text a second time with the same reader, which takes it for a continuation. Start a new one.",
    ),
    reader_test(
        "check_expects_sums",
        [("whole = new_reader()(x)", "whole = x.cumsum(dim=1)")],
        ["test_forgetting"],
        "Your check expects certain outputs. Readers may compute anything: compare them with themselves.",
    ),
]

MISTAKES = [*ROTATE, *NORM, *SWIGLU, *GROUPED, *ATTENTION, *MODEL, *GENERATE, *BYTES, *CHECK_READER]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "Nothing is rotated: no length is kept, and no score depends on distances alone.": [
            "rotate_no_minus",
        ],
        "All pairs but the first turn at wrong speeds, too fast for float32 at large positions.": [
            "rotate_speed_upside_down",
        ],
        "The formula is the whole exercise: every value is wrong.": [
            "norm_mean_subtracted",
            "norm_sum_of_squares",
            "norm_no_root",
            "norm_mean_of_absolutes",
            "norm_over_everything",
            "norm_over_the_length",
            "norm_weight_unused",
            "norm_weight_plus_1",
            "swiglu_gate_and_up_swapped",
            "swiglu_no_activation",
            "swiglu_sigmoid",
            "swiglu_relu",
            "swiglu_gelu",
            "swiglu_added",
            "swiglu_silu_after_the_product",
            "swiglu_no_gate",
            "swiglu_residual_inside",
        ],
        "x is divided twice, so the output is wrong as well.": [
            "norm_in_place",
        ],
        "torch finds no such weight, so no check can set it.": [
            "norm_no_parameter",
        ],
        "The gate and what it multiplies have the same weights, so every value is wrong.": [
            "swiglu_one_layer_for_both",
        ],
        "The values have no effect at all.": [
            "grouped_keys_for_values",
        ],
        "Code that calls it can't use such a result.": [
            "grouped_pair_swapped",
            "grouped_output_only",
        ],
        "Every head gets numbers of several positions, in the cache too.": [
            "attention_split_without_transpose",
        ],
        "A weight with another shape can't be set, so the output can't be compared.": [
            "attention_keys_for_every_head",
        ],
        "Calls and results are all one short.": [
            "generate_one_too_few",
        ],
        "The result is one number, and this changes it for every cache that isn't empty.": [
            "bytes_keys_only",
            "bytes_numbers",
            "bytes_bits",
        ],
        "It accepts nearly every reader.": [
            "check_of_shapes",
        ],
        "A test that rejects right readers is of no use, whatever else it rejects.": [
            "check_for_equal_outputs",
            "check_with_one_reader",
            "check_expects_sums",
        ],
    },
)
