"""Wrong answers to exercise 5, `causal_attention`."""

from gradekit.checks import Mistakes

FORMULA = "test_equals_the_formula"
ROTATED = "q, k = rotate(q, positions, self.base), rotate(k, positions, self.base)"
MASK = "mask = torch.arange(k.shape[2]) <= positions[:, None]"
APPEND = "k, v = cache.append(k, v)"
CACHED = "test_cache_gives_the_same_output"

wrong = Mistakes("attention_")

wrong.about(FORMULA)
wrong("not_rotated", ROTATED + "\n", "\n")
wrong.says("You don't rotate queries and keys, so the order of the tokens is lost.")
wrong("only_queries_rotated", ROTATED, "q = rotate(q, positions, self.base)")
wrong.says("You rotate only the queries. Keys are rotated by their own positions as well.")
wrong("values_rotated", ROTATED, "q, k, v = (rotate(part, positions, self.base) for part in (q, k, v))")
wrong.says("You rotate the values. Only queries and keys are rotated.")
wrong("rotated_before_the_split")
wrong.edit("q = self.split(self.w_q(x))", "q = self.split(rotate(self.w_q(x), positions))")
wrong.edit("k = self.split(self.w_k(x))", "k = self.split(rotate(self.w_k(x), positions))")
wrong.edit(ROTATED + "\n", "\n")
wrong.says("You rotate before you split into heads, so the speeds are spread over all heads.")
wrong.says("Rotate the vectors of each head.")
wrong("keys_from_w_v", "k = self.split(self.w_k(x))", "k = self.split(self.w_v(x))")
wrong.says("You compute the keys with `w_v`. Use `w_k`.")
wrong("no_output_layer")
wrong.edit("return self.w_o(output.transpose(1, 2).flatten(2))", "return output.transpose(1, 2).flatten(2)")
wrong.says("You return the merged heads. Apply `w_o` to them.")
wrong("merged_without_transpose", "output.transpose(1, 2).flatten(2)", "output.reshape(x.shape)")
wrong.says("You merge the heads without moving their axis back, so positions and heads are mixed.")
wrong.says("Transpose, then flatten.")
wrong("split_without_transpose", "return x.unflatten(-1, (-1, self.d_head)).transpose(1, 2)")
wrong.to("return x.reshape(x.shape[0], -1, x.shape[1], self.d_head)")
wrong.says("You split into heads with a reshape alone, so positions and heads are mixed.")
wrong.says("Unflatten the width, then transpose.")
wrong.costs("Every head gets numbers of several positions, in the cache too.")
wrong("itself_hidden", "torch.arange(k.shape[2]) <= positions", "torch.arange(k.shape[2]) < positions")
wrong.says("A position can't see itself. Use <= in the mask.")

wrong.about("test_base")
wrong("base_ignored", ROTATED, "q, k = rotate(q, positions), rotate(k, positions)")
wrong.says("You don't pass `base` on to `rotate`.")
wrong("base_for_queries_only", ROTATED, "q, k = rotate(q, positions, self.base), rotate(k, positions)")
wrong.says("Only the queries are rotated with `base`. Keys need the same one.")

wrong.about("test_causal")
wrong("not_causal", "grouped_attention(q, k, v, mask)", "grouped_attention(q, k, v)")
wrong.says("Your positions see later ones. Pass the mask to grouped_attention.")
wrong("one_too_many", "<= positions[:, None]", "<= positions[:, None] + 1")
wrong.says("Each position also sees the next one. The mask is off by one.")

wrong.about(CACHED)
wrong("positions_always_from_0")
wrong.edit("positions = torch.arange(start, start + x.shape[1])", "positions = torch.arange(x.shape[1])")
wrong.edit("<= positions[:, None]", "<= positions[:, None] + start")
wrong.says("With a cache, you count the positions of new tokens from 0 again.")
wrong.says("They start at the length of the cache.")
wrong("length_after_appending", ROTATED + "\n", "\n")
wrong.edit(
    APPEND,
    APPEND + "\n            positions = torch.arange(cache.length - x.shape[1], cache.length) + x.shape[1]",
)
wrong.edit(
    MASK,
    """mask = torch.arange(k.shape[2]) <= positions[:, None] - x.shape[1] * (cache is not None)
        q, k = rotate(q, positions, self.base), rotate(k, torch.arange(k.shape[2]), self.base)""",
)
wrong.says("You ask the cache for its length after appending, so new positions are too large. Ask before.")
wrong("all_keys_rotated_again", APPEND, APPEND + "\n            k = rotate(k, torch.arange(k.shape[2]))")
wrong.says("You rotate all keys in the cache again at every call. They were rotated when they went in.")
wrong("cache_not_read", APPEND, "cache.append(k, v)")
wrong.edit(MASK, "mask = start + torch.arange(k.shape[2]) <= positions[:, None]")
wrong.says("You append to the cache, but attend only to the new keys. Attend to all that `append` returns.")
wrong("square_mask", MASK)
wrong.to("""mask = make_causal_mask(x.shape[1])
        mask = torch.cat([mask, mask.new_zeros(x.shape[1], k.shape[2] - x.shape[1])], dim=1)""")
wrong.says("With a cache, your mask treats the first keys as the new ones.")
wrong.says("Row i belongs to position start + i.")
wrong("no_mask_with_a_cache")
wrong.edit("grouped_attention(q, k, v, mask)", "grouped_attention(q, k, v, mask if cache is None else None)")
wrong.says("With a cache, you use no mask.")
wrong.says("That is right for a single token, but the first of several new tokens must not see the others.")

wrong.about("test_contents_of_the_cache")
wrong("keys_cached_before_rotation", ROTATED + "\n", "        q = rotate(q, positions, self.base)\n".lstrip())
wrong.edit(MASK, "k = rotate(k, torch.arange(k.shape[2]))\n        " + MASK)
wrong.says("You put keys into the cache before they are rotated. Rotate them first, once.")
wrong("heads_cached", APPEND)
wrong.to("""repeat = q.shape[1] // k.shape[1]
            k, v = cache.append(k.repeat_interleave(repeat, 1), v.repeat_interleave(repeat, 1))""")
wrong.says("You cache a copy of keys and values for every head.")
wrong.says("Cache those of the groups, or nothing is saved.")

wrong.about(CACHED, "test_nothing_is_kept_elsewhere")
wrong("positions_counted_in_the_module", "start = 0 if cache is None else cache.length")
wrong.to("""start = 0 if cache is None else getattr(self, 'seen', 0)
        self.seen = getattr(self, 'seen', 0) + (cache is not None) * x.shape[1]""")
wrong.says("You count the positions in the module, so they go on counting when a new cache begins.")
wrong.says("Ask the cache for its length.")

wrong.about("test_nothing_is_kept_elsewhere")
wrong("own_memory", "start = 0 if cache is None else cache.length")
wrong.to("""self.memory = cache if cache is not None else getattr(self, "memory", None)
        cache = self.memory
        start = 0 if cache is None else cache.length""")
wrong.says("You keep the last cache in the module and use it in calls without one.")
wrong.says("Without a cache there is nothing before x.")

wrong.about("test_parameters")
wrong("keys_for_every_head", "self.w_k = nn.Linear(d_model, num_groups * self.d_head")
wrong.to("self.w_k = nn.Linear(d_model, num_heads * self.d_head")
wrong.says("`w_k` makes keys for every head. It should make one per group.")
wrong.costs("A weight with a different shape can't be set, so the output can't be compared.")
wrong("with_bias")
wrong.edit("self.w_o = nn.Linear(d_model, d_model, bias=False)", "self.w_o = nn.Linear(d_model, d_model)")
wrong.says("`w_o` has a bias. None of the layers has one.")

wrong.about("test_float64_gradients_and_x_unchanged")
wrong("no_gradients", "output, _ = grouped_attention(q, k, v, mask)")
wrong.to("with torch.no_grad():\n            output, _ = grouped_attention(q, k, v, mask)")
wrong.says("You attend under `torch.no_grad()`, so the queries, keys and values can't be trained.")

wrong.unnamed(
    "Its checks compare values for drawn inputs, of which none are recorded.",
    "base_ignored",
    "base_for_queries_only",
)
wrong.unnamed("Its exceptions have other causes, too.", "own_memory")
