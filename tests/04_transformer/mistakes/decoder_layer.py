"""Wrong answers to exercise 3, `decoder_layer`."""

from gradekit.checks import mistakes_in, with_costs

POST, PRE = "test_post_norm", "test_pre_norm"
D_PRE_CROSS = "y = y + self.dropout(self.cross_attn(normed, memory, memory, memory_mask)[0])"
D_PRE_SELF = "y = y + self.dropout(self.self_attn(normed, normed, normed, target_mask)[0])"
D_PRE_END = "return y + self.dropout(self.feed_forward(normed))"
D_POST_SELF = "y = self.norm1(y + self.dropout(attended))"
D_POST_CROSS = "y = self.norm2(y + self.dropout(found))"
D_POST_END = "return self.norm3(y + self.dropout(changed))"
CROSS, CROSS_PRE = "(y, memory, memory, memory_mask)", "(normed, memory, memory, memory_mask)"
mistake = mistakes_in("decoder_layer")

MISTAKES = [
    mistake(
        "dl_no_cross_attention",
        [(D_POST_CROSS, "pass"), (D_PRE_CROSS, "pass")],
        "test_reads_all_of_the_memory",
        "You left out cross-attention, so the decoder never sees the source.",
    ),
    mistake(
        "dl_cross_reads_itself",
        [(CROSS, "(y, y, y, target_mask)"), (CROSS_PRE, "(normed, normed, normed, target_mask)")],
        "test_reads_all_of_the_memory",
        "Your cross-attention reads the target. Its keys and values come from the memory.",
    ),
    mistake(
        "dl_query_from_the_memory",
        [(CROSS, "(memory, y, y, target_mask)"), (CROSS_PRE, "(memory, normed, normed, target_mask)")],
        [POST, PRE],
        "Your cross-attention takes the queries from the memory. "
        "Queries come from the target, keys and values from the memory.",
    ),
    mistake(
        "dl_causal_mask_on_cross_attention",
        [(CROSS, "(y, memory, memory, target_mask)"), (CROSS_PRE, "(normed, memory, memory, target_mask)")],
        "test_reads_all_of_the_memory",
        "Cross-attention gets the target mask. Every target position may read all of the memory: pass memory_mask.",
    ),
    mistake(
        "dl_memory_mask_dropped",
        [(CROSS, "(y, memory, memory)"), (CROSS_PRE, "(normed, memory, memory)")],
        "test_memory_mask",
        "You don't pass `memory_mask` to cross-attention, so padding in the source is visible.",
    ),
    mistake(
        "dl_memory_mask_dropped_in_pre_norm",
        [(CROSS_PRE, "(normed, memory, memory)")],
        "test_memory_mask",
        "In pre-norm you don't pass memory_mask to cross-attention.",
    ),
    mistake(
        "dl_target_mask_dropped",
        [
            ("(y, y, y, target_mask)", "(y, y, y)"),
            ("(normed, normed, normed, target_mask)", "(normed, normed, normed)"),
        ],
        "test_no_leak_of_the_future",
        "You don't pass `target_mask` to self-attention, so every position sees the future.",
    ),
    mistake(
        "dl_target_mask_dropped_in_pre_norm",
        [("(normed, normed, normed, target_mask)", "(normed, normed, normed)")],
        "test_no_leak_of_the_future",
        "In pre-norm you don't pass target_mask to self-attention, so every position sees the future.",
    ),
    mistake(
        "dl_masks_exchanged",
        [
            ("(y, y, y, target_mask)", "(y, y, y, memory_mask)"),
            ("(normed, normed, normed, target_mask)", "(normed, normed, normed, memory_mask)"),
            (CROSS, "(y, memory, memory, target_mask)"),
            (CROSS_PRE, "(normed, memory, memory, target_mask)"),
        ],
        "test_no_leak_of_the_future",
        "You swapped the two masks: target_mask belongs to self-attention, memory_mask to cross-attention.",
    ),
    mistake(
        "dl_attention_shared",
        [
            (
                "self.cross_attn = FusedMultiHeadAttention(d_model, num_heads, dropout)",
                "self.cross_attn = self.self_attn",
            )
        ],
        "test_parameters",
        "Self-attention and cross-attention are the same module. Each needs its own weights.",
    ),
    mistake(
        "dl_self_attention_used_twice",
        [
            ("found = self.cross_attn(", "found = self.self_attn("),
            (D_PRE_CROSS, D_PRE_CROSS.replace("cross_attn", "self_attn")),
        ],
        [POST, PRE],
        "You use self_attn in both places and never use cross_attn.",
    ),
    mistake(
        "dl_cross_attention_first",
        [
            (
                "attended = self.self_attn(y, y, y, target_mask)[0]",
                "attended = self.cross_attn(y, memory, memory, memory_mask)[0]",
            ),
            (
                "found = self.cross_attn(y, memory, memory, memory_mask)[0]",
                "found = self.self_attn(y, y, y, target_mask)[0]",
            ),
        ],
        POST,
        "In post-norm cross-attention comes before self-attention. Self-attention comes first.",
    ),
    mistake(
        "dl_memory_normed",
        [(CROSS_PRE, "(normed, self.norm2(memory), self.norm2(memory), memory_mask)")],
        PRE,
        "In pre-norm you also normalize the memory. The encoder has already done that; use it as it is.",
    ),
    mistake(
        "dl_no_residual",
        [
            (D_POST_SELF, "y = self.norm1(self.dropout(attended))"),
            (D_POST_CROSS, "y = self.norm2(self.dropout(found))"),
            (D_POST_END, "return self.norm3(self.dropout(changed))"),
        ],
        POST,
        "In post-norm the residuals are missing: add the input of a sublayer to its output, and normalize the sum.",
    ),
    mistake(
        "dl_no_residual_around_cross_attention",
        [
            (D_POST_CROSS, "y = self.norm2(self.dropout(found))"),
            (D_PRE_CROSS, D_PRE_CROSS.replace("y = y + ", "y = ")),
        ],
        [POST, PRE],
        "The residual connection around cross-attention is missing.",
    ),
    mistake(
        "dl_norm_of_the_summand",
        [
            (D_POST_SELF, "y = self.norm1(y) + self.dropout(attended)"),
            (D_POST_CROSS, "y = self.norm2(y) + self.dropout(found)"),
            (D_POST_END, "return self.norm3(y) + self.dropout(changed)"),
        ],
        POST,
        "In post-norm you compute norm(y) + f(y). It should be norm(y + f(y)): add first, then normalize.",
    ),
    mistake(
        "dl_always_pre_norm",
        [("if self.norm_first:", "if True:")],
        POST,
        "Your layer is pre-norm, whatever norm_first says. With norm_first=False the norms follow the sums.",
    ),
    mistake(
        "dl_always_post_norm",
        [("if self.norm_first:", "if False:")],
        PRE,
        "Your layer is post-norm, whatever norm_first says. With norm_first=True the norms come before the sublayers.",
    ),
    mistake(
        "dl_norms_shared",
        [
            ("self.norm2 = nn.LayerNorm(d_model)", "self.norm2 = self.norm1"),
            ("self.norm3 = nn.LayerNorm(d_model)", "self.norm3 = self.norm1"),
        ],
        "test_parameters",
        "All norms are the same module. Each place needs its own norm with its own parameters.",
    ),
    mistake(
        "dl_norm2_used_twice",
        [
            (D_POST_END, D_POST_END.replace("norm3", "norm2")),
            ("normed = self.norm3(y)", "normed = self.norm2(y)"),
        ],
        [POST, PRE],
        "You use norm2 in two places and never use norm3.",
    ),
    mistake(
        "dl_no_norm2",
        [(D_POST_CROSS, "y = y + self.dropout(found)"), ("normed = self.norm2(y)", "normed = y")],
        [POST, PRE],
        "You don't use `norm2`: the norm of cross-attention is missing.",
    ),
    mistake(
        "dl_norms_out_of_order",
        [
            (D_POST_CROSS, D_POST_CROSS.replace("norm2", "norm3")),
            (D_POST_END, D_POST_END.replace("norm3", "norm2")),
            ("normed = self.norm2(y)", "normed = self.norm3(y) "),
            ("normed = self.norm3(y)\n", "normed = self.norm2(y)\n"),
        ],
        [POST, PRE],
        "You swapped norm2 and norm3: norm2 belongs to cross-attention, norm3 to the feed-forward network.",
    ),
    mistake(
        "dl_residual_from_the_normed",
        [
            (D_PRE_SELF, D_PRE_SELF.replace("y = y +", "y = normed +")),
            (D_PRE_CROSS, D_PRE_CROSS.replace("y = y +", "y = normed +")),
            (D_PRE_END, D_PRE_END.replace("return y +", "return normed +")),
        ],
        PRE,
        "In pre-norm you add to the normalized vectors. Add to y as it was before the norm.",
    ),
    mistake(
        "dl_no_feed_forward",
        [(D_POST_END, "return y"), (D_PRE_END, "return y")],
        [POST, PRE],
        "The feed-forward network is left out.",
    ),
    mistake(
        "dl_no_dropout",
        [
            (D_POST_SELF, "y = self.norm1(y + attended)"),
            (D_POST_CROSS, "y = self.norm2(y + found)"),
            (D_POST_END, "return self.norm3(y + changed)"),
            (D_PRE_SELF, "y = y + self.self_attn(normed, normed, normed, target_mask)[0]"),
            (D_PRE_CROSS, "y = y + self.cross_attn(normed, memory, memory, memory_mask)[0]"),
            (D_PRE_END, "return y + self.feed_forward(normed)"),
        ],
        "test_dropout",
        "You don't apply dropout to the output of the sublayers before it is added.",
    ),
    mistake(
        "dl_dropout_not_passed_on",
        [
            (
                "self.cross_attn = FusedMultiHeadAttention(d_model, num_heads, dropout)",
                "self.cross_attn = FusedMultiHeadAttention(d_model, num_heads)",
            ),
            ("FeedForward(d_model, d_ff, dropout)", "FeedForward(d_model, d_ff)"),
        ],
        "test_dropout",
        "You don't pass the dropout probability to all three sublayers.",
    ),
    mistake(
        "dl_memory_detached",
        [(CROSS, "(y, memory.detach(), memory.detach(), memory_mask)")],
        "test_gradients",
        "In post-norm you detach the memory, so the encoder never learns.",
    ),
    mistake(
        "dl_changed_in_place",
        [(D_PRE_SELF, D_PRE_SELF.replace("y = y + ", "y += "))],
        "test_inputs_unchanged_and_dtype_kept",
        "`y += ...` modifies the caller's y. Write `y = y + ...`.",
    ),
    mistake(
        "dl_no_cross_attention_in_post_norm",
        [(D_POST_CROSS, "y = self.norm2(y)")],
        POST,
        "In post-norm the output of cross-attention is never added, so the decoder doesn't see the source.",
    ),
    mistake(
        "dl_norm2_and_norm3_swapped_in_pre_norm",
        [
            (
                "normed = self.norm2(y)\n            y = y + self.dropout(self.cross_attn",
                "normed = self.norm3(y)\n            y = y + self.dropout(self.cross_attn",
            ),
            ("normed = self.norm3(y)\n            return", "normed = self.norm2(y)\n            return"),
        ],
        PRE,
        "In pre-norm you swapped norm2 and norm3: norm2 belongs to cross-attention, norm3 to the feed-forward network.",
    ),
    mistake(
        "dl_values_from_the_target",
        [
            ("self.cross_attn(y, memory, memory, memory_mask)", "self.cross_attn(y, memory, y, memory_mask)"),
            (
                "self.cross_attn(normed, memory, memory, memory_mask)",
                "self.cross_attn(normed, memory, normed, memory_mask)",
            ),
        ],
        [POST, PRE],
        "The values of your cross-attention come from the target. Keys and values both come from the memory.",
        cost="It stops with an error unless source and target have the same length.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "The exercise is about cross-attention.": [
            "dl_no_cross_attention",
            "dl_query_from_the_memory",
        ],
    },
)
