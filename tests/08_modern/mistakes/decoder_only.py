"""Wrong answers to exercise 6, `decoder_only`."""

from gradekit.checks import Mistakes

ATTEND = "x = x + self.attention(self.norm1(x), cache)"
FEED = "return x + self.feed_forward(self.norm2(x))"
LOGITS = "return self.norm(x) @ self.embedding.weight.T"

wrong = Mistakes("model_")

wrong.about("test_block")
wrong("no_residual_around_attention", ATTEND, "x = self.attention(self.norm1(x), cache)")
wrong.says("There is no residual connection around the attention. Add its output to x.")
wrong("no_residual_around_feed_forward", FEED, "return self.feed_forward(self.norm2(x))")
wrong.says("There is no residual connection around the feed-forward network. Add its output to x.")
wrong("normed_residual", ATTEND, "x = self.norm1(x)\n        x = x + self.attention(x, cache)")
wrong.says("You add the attention to the normalized x. The residual connection carries x itself.")
wrong("post_norm", ATTEND, "x = self.norm1(x + self.attention(x, cache))")
wrong.edit(FEED, "return self.norm2(x + self.feed_forward(x))")
wrong.says("You normalize after the sums. Normalize what goes into each part.")
wrong("norm_used_twice", FEED, "return x + self.feed_forward(self.norm1(x))")
wrong.says("You use `norm1` twice. `norm2` belongs before the feed-forward network.")
wrong("side_by_side", ATTEND, "y = self.attention(self.norm1(x), cache)")
wrong.edit(FEED, "return x + y + self.feed_forward(self.norm2(x))")
wrong.says("Your feed-forward network reads the input of the block.")
wrong.says("It should read the result of the attention step.")
wrong("norm_missing", FEED, "return x + self.feed_forward(x)")
wrong.says("There is no norm before the feed-forward network. Apply `norm2`.")

wrong.about("test_model")
wrong("no_final_norm", LOGITS, "return x @ self.embedding.weight.T")
wrong.says("You don't apply the final norm before the logits.")
wrong("last_block_only", "x = block(x, cache)", "y = block(x, cache)")
wrong.edit(LOGITS, LOGITS.replace("norm(x)", "norm(y)"))
wrong.says("Every block reads the embeddings. Each should read the output of the one before.")
wrong("embedding_scaled")
wrong.edit("x = self.embedding(ids)", "x = self.embedding(ids) * self.embedding.embedding_dim**0.5")
wrong.says("You multiply the embeddings by √d_model, as in assignment 4. This model doesn't.")
wrong("softmax_at_the_end", LOGITS, "return torch.softmax(self.norm(x) @ self.embedding.weight.T, dim=-1)")
wrong.says("You return probabilities. Return logits, without a softmax.")
wrong("blocks_backwards")
wrong.edit("zip(self.blocks, caches, strict=True)", "zip(reversed(self.blocks), caches, strict=True)")
wrong.says("The blocks run in reverse order. Start with the first.")

wrong.about("test_base_and_eps")
wrong(
    "base_not_passed_on",
    "CausalAttention(d_model, num_heads, num_groups, base)",
    "CausalAttention(d_model, num_heads, num_groups)",
)
wrong.says("Your block doesn't pass `base` on to its attention.")
wrong("eps_not_passed_on", "self.norm = RMSNorm(d_model, eps)", "self.norm = RMSNorm(d_model)")
wrong.says("The final norm doesn't get `eps`.")
wrong("eps_of_the_first_norm_only", "self.norm2 = RMSNorm(d_model, eps)", "self.norm2 = RMSNorm(d_model)")
wrong.says("The second norm of your block doesn't get `eps`.")

wrong.about("test_tied")
wrong(
    "output_layer_of_its_own",
    "self.norm = RMSNorm(d_model, eps)\n        ### END",
    "self.norm = RMSNorm(d_model, eps)\n        self.output = nn.Linear(d_model, vocab_size, bias=False)\n        ### END",
)
wrong.edit(LOGITS, "return self.output(self.norm(x))")
wrong.says("The output layer has separate weights. Use the embedding table.")
wrong("copied_table", "self.norm = RMSNorm(d_model, eps)\n        ### END")
wrong.to("""self.norm = RMSNorm(d_model, eps)
        self.output = nn.Linear(d_model, vocab_size, bias=False)
        self.output.weight = nn.Parameter(self.embedding.weight.detach().clone())
        ### END""")
wrong.edit(LOGITS, "return self.output(self.norm(x))")
wrong.says("The output layer starts with a copy of the table, and training makes the two different.")
wrong.says("Use the same parameter.")
wrong("detached_table", LOGITS, "return self.norm(x) @ self.embedding.weight.detach().T")
wrong.says("You detached the table, so it doesn't learn through the logits.")
wrong("one_block_repeated", "[Block(*sizes) for _ in range(num_layers)]")
wrong.to("[Block(*sizes)] * num_layers")
wrong.says("All your blocks are the same one. Create `num_layers` different blocks.")

wrong.about("test_caches")
wrong("caches_ignored", "x = block(x, cache)", "x = block(x)")
wrong.says("The caches don't reach the blocks. Pass each block its own.")
wrong("cache_not_passed_on", ATTEND, "x = x + self.attention(self.norm1(x))")
wrong.says("Your block doesn't pass its cache to the attention.")
wrong("one_cache_for_all", "x = block(x, cache)", "x = block(x, caches[0])")
wrong.says("All blocks use the first cache. Each needs its own.")

wrong.about("test_small_start")
wrong("default_start", "        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)\n", "")
wrong.says("The embedding starts with a standard deviation of 1. Start with 1 / √d_model.")
wrong("fixed_start", "std=d_model**-0.5", "std=0.02")
wrong.says("The embedding starts with a standard deviation of 0.02, whatever the width.")
wrong.says("Start with 1 / √d_model.")

wrong.unnamed(
    "Its checks compare values for drawn inputs, of which none are recorded.",
    "base_not_passed_on",
    "eps_not_passed_on",
    "eps_of_the_first_norm_only",
    "detached_table",
    "one_cache_for_all",
)
