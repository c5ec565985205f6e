"""Wrong answers to exercise 5, `causal_attention`."""

from gradekit.checks import mistakes_in, with_costs

FORMULA = "test_equals_the_formula"
ROTATED = "q, k = rotate(q, positions), rotate(k, positions)"
MASK = "mask = torch.arange(k.shape[2]) <= positions[:, None]"
APPEND = "k, v = cache.append(k, v)"
CACHED = "test_cache_gives_the_same_output"
mistake = mistakes_in("causal_attention", "attention_")

MISTAKES = [
    mistake(
        "not_rotated",
        [(ROTATED + "\n", "\n")],
        [FORMULA],
        "You don't rotate queries and keys, so the order of the tokens is lost.",
    ),
    mistake(
        "only_queries_rotated",
        [(ROTATED, "q = rotate(q, positions)")],
        [FORMULA],
        "You rotate only the queries. Keys are rotated by their own positions as well.",
    ),
    mistake(
        "values_rotated",
        [(ROTATED, "q, k, v = rotate(q, positions), rotate(k, positions), rotate(v, positions)")],
        [FORMULA],
        "You rotate the values. Only queries and keys are rotated.",
    ),
    mistake(
        "rotated_before_the_split",
        [
            ("q = self.split(self.w_q(x))", "q = self.split(rotate(self.w_q(x), positions))"),
            ("k = self.split(self.w_k(x))", "k = self.split(rotate(self.w_k(x), positions))"),
            (ROTATED + "\n", "\n"),
        ],
        [FORMULA],
        "You rotate before you split into heads, so the speeds are spread over all heads. Rotate the vectors of each head.",
    ),
    mistake(
        "keys_from_w_v",
        [("k = self.split(self.w_k(x))", "k = self.split(self.w_v(x))")],
        [FORMULA],
        "You compute the keys with `w_v`. Use `w_k`.",
    ),
    mistake(
        "no_output_layer",
        [("return self.w_o(output.transpose(1, 2).flatten(2))", "return output.transpose(1, 2).flatten(2)")],
        [FORMULA],
        "You return the merged heads. Apply `w_o` to them.",
    ),
    mistake(
        "merged_without_transpose",
        [("output.transpose(1, 2).flatten(2)", "output.reshape(x.shape)")],
        [FORMULA],
        "You merge the heads without moving their axis back, so positions and heads are mixed. Transpose, then flatten.",
    ),
    mistake(
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
    mistake(
        "not_causal",
        [("grouped_attention(q, k, v, mask)", "grouped_attention(q, k, v)")],
        ["test_causal"],
        "Your positions see later ones. Pass the mask to grouped_attention.",
    ),
    mistake(
        "itself_hidden",
        [("torch.arange(k.shape[2]) <= positions", "torch.arange(k.shape[2]) < positions")],
        [FORMULA],
        "A position can't see itself. Use <= in the mask.",
    ),
    mistake(
        "one_too_many",
        [("<= positions[:, None]", "<= positions[:, None] + 1")],
        ["test_causal"],
        "Each position also sees the next one. The mask is off by one.",
    ),
    mistake(
        "positions_always_from_0",
        [
            ("positions = torch.arange(start, start + x.shape[1])", "positions = torch.arange(x.shape[1])"),
            ("<= positions[:, None]", "<= positions[:, None] + start"),
        ],
        [CACHED],
        "With a cache, you count the positions of new tokens from 0 again. They start at the length of the cache.",
    ),
    mistake(
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
    mistake(
        "all_keys_rotated_again",
        [(APPEND, APPEND + "\n            k = rotate(k, torch.arange(k.shape[2]))")],
        [CACHED],
        "You rotate all keys in the cache again at every call. They were rotated when they went in.",
    ),
    mistake(
        "keys_cached_before_rotation",
        [
            (ROTATED + "\n", "        q = rotate(q, positions)\n".lstrip()),
            (MASK, "k = rotate(k, torch.arange(k.shape[2]))\n        " + MASK),
        ],
        ["test_contents_of_the_cache"],
        "You put keys into the cache before they are rotated. Rotate them first, once.",
    ),
    mistake(
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
    mistake(
        "cache_not_read",
        [
            (APPEND, "cache.append(k, v)"),
            (MASK, "mask = start + torch.arange(k.shape[2]) <= positions[:, None]"),
        ],
        [CACHED],
        "You append to the cache, but attend only to the new keys. Attend to all that `append` returns.",
    ),
    mistake(
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
    mistake(
        "positions_counted_in_the_module",
        [
            (
                "start = 0 if cache is None else cache.length",
                "start = 0 if cache is None else getattr(self, 'seen', 0)\n"
                "        self.seen = getattr(self, 'seen', 0) + (cache is not None) * x.shape[1]",
            )
        ],
        [CACHED, "test_nothing_is_kept_elsewhere"],
        "You count the positions in the module, so they go on counting when a new cache begins. Ask the cache for its length.",
    ),
    mistake(
        "no_mask_with_a_cache",
        [("grouped_attention(q, k, v, mask)", "grouped_attention(q, k, v, mask if cache is None else None)")],
        [CACHED],
        "With a cache, you use no mask. That is right for a single token, but the first of several new tokens must not see the others.",
    ),
    mistake(
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
    mistake(
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
    mistake(
        "with_bias",
        [("self.w_o = nn.Linear(d_model, d_model, bias=False)", "self.w_o = nn.Linear(d_model, d_model)")],
        ["test_parameters"],
        "`w_o` has a bias. None of the layers has one.",
    ),
    mistake(
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

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "Every head gets numbers of several positions, in the cache too.": [
            "attention_split_without_transpose",
        ],
        "A weight with a different shape can't be set, so the output can't be compared.": [
            "attention_keys_for_every_head",
        ],
    },
)
