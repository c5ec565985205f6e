"""Wrong answers to exercise 6, `decoder_only`."""

from gradekit.checks import mistakes_in

ATTEND = "x = x + self.attention(self.norm1(x), cache)"
FEED = "return x + self.feed_forward(self.norm2(x))"
LOGITS = "return self.norm(x) @ self.embedding.weight.T"
mistake = mistakes_in("decoder_only", "model_")

MISTAKES = [
    mistake(
        "no_residual_around_attention",
        [(ATTEND, "x = self.attention(self.norm1(x), cache)")],
        ["test_block"],
        "There is no residual connection around the attention. Add its output to x.",
    ),
    mistake(
        "no_residual_around_feed_forward",
        [(FEED, "return self.feed_forward(self.norm2(x))")],
        ["test_block"],
        "There is no residual connection around the feed-forward network. Add its output to x.",
    ),
    mistake(
        "normed_residual",
        [(ATTEND, "x = self.norm1(x)\n        x = x + self.attention(x, cache)")],
        ["test_block"],
        "You add the attention to the normalized x. The residual connection carries x itself.",
    ),
    mistake(
        "post_norm",
        [
            (ATTEND, "x = self.norm1(x + self.attention(x, cache))"),
            (FEED, "return self.norm2(x + self.feed_forward(x))"),
        ],
        ["test_block"],
        "You normalize after the sums. Normalize what goes into each part.",
    ),
    mistake(
        "norm_used_twice",
        [(FEED, "return x + self.feed_forward(self.norm1(x))")],
        ["test_block"],
        "You use `norm1` twice. `norm2` belongs before the feed-forward network.",
    ),
    mistake(
        "side_by_side",
        [
            (ATTEND, "y = self.attention(self.norm1(x), cache)"),
            (FEED, "return x + y + self.feed_forward(self.norm2(x))"),
        ],
        ["test_block"],
        "Your feed-forward network reads the input of the block. It should read the result of the attention step.",
    ),
    mistake(
        "norm_missing",
        [(FEED, "return x + self.feed_forward(x)")],
        ["test_block"],
        "There is no norm before the feed-forward network. Apply `norm2`.",
    ),
    mistake(
        "no_final_norm",
        [(LOGITS, "return x @ self.embedding.weight.T")],
        ["test_model"],
        "You don't apply the final norm before the logits.",
    ),
    mistake(
        "last_block_only",
        [("x = block(x, cache)", "y = block(x, cache)"), (LOGITS, LOGITS.replace("norm(x)", "norm(y)"))],
        ["test_model"],
        "Every block reads the embeddings. Each should read the output of the one before.",
    ),
    mistake(
        "embedding_scaled",
        [("x = self.embedding(ids)", "x = self.embedding(ids) * self.embedding.embedding_dim**0.5")],
        ["test_model"],
        "You multiply the embeddings by √d_model, as in assignment 4. This model doesn't.",
    ),
    mistake(
        "softmax_at_the_end",
        [(LOGITS, "return torch.softmax(self.norm(x) @ self.embedding.weight.T, dim=-1)")],
        ["test_model"],
        "You return probabilities. Return logits, without a softmax.",
    ),
    mistake(
        "blocks_backwards",
        [("zip(self.blocks, caches, strict=True)", "zip(reversed(self.blocks), caches, strict=True)")],
        ["test_model"],
        "The blocks run in reverse order. Start with the first.",
    ),
    mistake(
        "output_layer_of_its_own",
        [
            (
                "self.norm = RMSNorm(d_model)\n        ### END",
                "self.norm = RMSNorm(d_model)\n        self.output = nn.Linear(d_model, vocab_size, bias=False)\n        ### END",
            ),
            (LOGITS, "return self.output(self.norm(x))"),
        ],
        ["test_tied"],
        "The output layer has separate weights. Use the embedding table.",
    ),
    mistake(
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
    mistake(
        "detached_table",
        [(LOGITS, "return self.norm(x) @ self.embedding.weight.detach().T")],
        ["test_tied"],
        "You detached the table, so it doesn't learn through the logits.",
    ),
    mistake(
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
    mistake(
        "caches_ignored",
        [("x = block(x, cache)", "x = block(x)")],
        ["test_caches"],
        "The caches don't reach the blocks. Pass each block its own.",
    ),
    mistake(
        "cache_not_passed_on",
        [(ATTEND, "x = x + self.attention(self.norm1(x))")],
        ["test_caches"],
        "Your block doesn't pass its cache to the attention.",
    ),
    mistake(
        "one_cache_for_all",
        [("x = block(x, cache)", "x = block(x, caches[0])")],
        ["test_caches"],
        "All blocks use the first cache. Each needs its own.",
    ),
    mistake(
        "default_start",
        [("        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)\n", "")],
        ["test_small_start"],
        "The embedding starts with a standard deviation of 1. Start with 1 / √d_model.",
    ),
    mistake(
        "fixed_start",
        [("std=d_model**-0.5", "std=0.02")],
        ["test_small_start"],
        "The embedding starts with a standard deviation of 0.02, whatever the width. Start with 1 / √d_model.",
    ),
]
