"""Wrong answers to exercise 2, `encoder_layer`."""

from gradekit.checks import mistakes_in, with_costs

PRE_ATTENTION = "x = x + self.dropout(self.self_attn(normed, normed, normed, mask)[0])"
POST_ATTENTION = "x = self.norm1(x + self.dropout(attended))"
POST_END = "return self.norm2(x + self.dropout(changed))"
PRE_END = "return x + self.dropout(self.feed_forward(normed))"
POST, PRE = "test_post_norm", "test_pre_norm"
LAYER_ATTN = "self.self_attn = FusedMultiHeadAttention(d_model, num_heads, dropout)"
mistake = mistakes_in("encoder_layer")

MISTAKES = [
    mistake(
        "el_no_residual",
        [
            (POST_ATTENTION, "x = self.norm1(self.dropout(attended))"),
            (POST_END, "return self.norm2(self.dropout(changed))"),
        ],
        POST,
        "In post-norm the residual connections are missing: add the input of a sublayer to its output, and "
        "normalize the sum.",
    ),
    mistake(
        "el_no_residual_around_attention",
        [(POST_ATTENTION, "x = self.norm1(self.dropout(attended))")],
        POST,
        "In post-norm the residual connection around attention is missing.",
    ),
    mistake(
        "el_no_residual_around_feed_forward",
        [(POST_END, "return self.norm2(self.dropout(changed))")],
        POST,
        "In post-norm the residual connection around the feed-forward network is missing.",
    ),
    mistake(
        "el_pre_no_residual",
        [
            (PRE_ATTENTION, PRE_ATTENTION.replace("x = x + ", "x = ")),
            (PRE_END, "return self.dropout(self.feed_forward(normed))"),
        ],
        PRE,
        "In pre-norm the residual connections are missing: add the output of each sublayer to x.",
    ),
    mistake(
        "el_norm_of_the_summand",
        [
            (POST_ATTENTION, "x = self.norm1(x) + self.dropout(attended)"),
            (POST_END, "return self.norm2(x) + self.dropout(changed)"),
        ],
        POST,
        "In post-norm you compute norm(x) + f(x). It should be norm(x + f(x)): add first, then normalize.",
    ),
    mistake(
        "el_norm_of_the_branch",
        [
            (POST_ATTENTION, "x = x + self.norm1(self.dropout(attended))"),
            (POST_END, "return x + self.norm2(self.dropout(changed))"),
        ],
        POST,
        "In post-norm you compute x + norm(f(x)). It should be norm(x + f(x)): add first, then normalize.",
    ),
    mistake(
        "el_always_pre_norm",
        [("if self.norm_first:", "if True:")],
        POST,
        "Your layer is always pre-norm. With norm_first=False the norms come after the sums.",
    ),
    mistake(
        "el_always_post_norm",
        [("if self.norm_first:", "if False:")],
        PRE,
        "Your layer is always post-norm. With norm_first=True the norms come before the sublayers.",
    ),
    mistake(
        "el_orders_swapped",
        [("if self.norm_first:", "if not self.norm_first:")],
        [POST, PRE],
        "You swapped pre-norm and post-norm: norm_first=True means that the norm comes before the sublayer.",
    ),
    mistake(
        "el_norms_shared",
        [("self.norm2 = nn.LayerNorm(d_model)", "self.norm2 = self.norm1")],
        "test_parameters",
        "Both norms are the same module. Each place needs its own norm with its own parameters.",
    ),
    mistake(
        "el_norm1_used_twice",
        [
            (POST_END, "return self.norm1(x + self.dropout(changed))"),
            ("normed = self.norm2(x)", "normed = self.norm1(x)"),
        ],
        [POST, PRE],
        "You use norm1 in both places and never use norm2.",
    ),
    mistake(
        "el_norms_exchanged",
        [
            (POST_ATTENTION, POST_ATTENTION.replace("norm1", "norm2")),
            (POST_END, POST_END.replace("norm2", "norm1")),
            ("normed = self.norm1(x)", "normed = self.norm2(x) "),
            ("normed = self.norm2(x)\n", "normed = self.norm1(x)\n"),
        ],
        [POST, PRE],
        "You swapped norm1 and norm2. norm1 belongs to attention.",
    ),
    mistake(
        "el_no_norm1",
        [(POST_ATTENTION, "x = x + self.dropout(attended)"), ("normed = self.norm1(x)", "normed = x")],
        [POST, PRE],
        "You don't use `norm1`: the norm of attention is missing.",
    ),
    mistake(
        "el_no_norm2",
        [(POST_END, "return x + self.dropout(changed)"), ("normed = self.norm2(x)", "normed = x")],
        [POST, PRE],
        "You don't use `norm2`: the norm of the feed-forward network is missing.",
    ),
    mistake(
        "el_residual_from_the_normed",
        [
            (PRE_ATTENTION, PRE_ATTENTION.replace("x = x +", "x = normed +")),
            (PRE_END, "return normed + self.dropout(self.feed_forward(normed))"),
        ],
        PRE,
        "In pre-norm you add to the normalized vectors. Add to x as it was before the norm.",
    ),
    mistake(
        "el_only_the_query_normed",
        [("(normed, normed, normed, mask)", "(normed, x, x, mask)")],
        PRE,
        "In pre-norm you normalize only the queries. Normalize the keys and values as well.",
    ),
    mistake(
        "el_norm_at_the_end_of_pre_norm",
        [(PRE_END, "return self.norm2(x + self.dropout(self.feed_forward(normed)))")],
        PRE,
        "In pre-norm your layer ends in a norm. The final norm belongs in the encoder, once, after all "
        "layers.",
    ),
    mistake(
        "el_feed_forward_first",
        [
            ("attended = self.self_attn(x, x, x, mask)[0]", "attended = self.feed_forward(x)"),
            ("changed = self.feed_forward(x)", "changed = self.self_attn(x, x, x, mask)[0]"),
        ],
        POST,
        "In post-norm the feed-forward network comes before attention. Attention comes first.",
    ),
    mistake(
        "el_feed_forward_of_the_input",
        [
            (
                "attended = self.self_attn(x, x, x, mask)[0]",
                "attended, given = self.self_attn(x, x, x, mask)[0], x",
            ),
            ("changed = self.feed_forward(x)", "changed = self.feed_forward(given)"),
        ],
        POST,
        "In post-norm the feed-forward network gets the input of the layer. "
        "It should get the output of norm1.",
    ),
    mistake(
        "el_no_feed_forward",
        [(POST_END, "return x"), (PRE_END, "return x")],
        [POST, PRE],
        "You left out the feed-forward network.",
    ),
    mistake(
        "el_one_head",
        [(LAYER_ATTN, "self.self_attn = FusedMultiHeadAttention(d_model, 1, dropout)")],
        [POST, PRE],
        "Your attention has only one head. Pass num_heads on.",
    ),
    mistake(
        "el_mask_dropped",
        [("(x, x, x, mask)", "(x, x, x)"), ("(normed, normed, normed, mask)", "(normed, normed, normed)")],
        "test_mask",
        "You don't pass the mask to self-attention, so hidden tokens are visible.",
    ),
    mistake(
        "el_mask_dropped_in_pre_norm",
        [("(normed, normed, normed, mask)", "(normed, normed, normed)")],
        "test_mask",
        "In pre-norm you don't pass the mask to self-attention.",
    ),
    mistake(
        "el_mask_inverted",
        [
            ("(x, x, x, mask)", "(x, x, x, None if mask is None else ~mask)"),
            ("(normed, normed, normed, mask)", "(normed, normed, normed, None if mask is None else ~mask)"),
        ],
        "test_mask",
        "You inverted the mask. True means that a query may attend to the key.",
    ),
    mistake(
        "el_width_hard_coded",
        [("FeedForward(d_model, d_ff, dropout)", "FeedForward(d_model, 4 * d_model, dropout)")],
        "test_parameters",
        "The hidden width of your feed-forward network is 4 · d_model. Pass d_ff on.",
    ),
    mistake(
        "el_no_dropout",
        [
            (POST_ATTENTION, "x = self.norm1(x + attended)"),
            (POST_END, "return self.norm2(x + changed)"),
            (PRE_ATTENTION, "x = x + self.self_attn(normed, normed, normed, mask)[0]"),
            (PRE_END, "return x + self.feed_forward(normed)"),
        ],
        "test_dropout",
        "You don't apply dropout to the output of the sublayers before it is added.",
    ),
    mistake(
        "el_dropout_on_the_sum",
        [
            (POST_ATTENTION, "x = self.norm1(self.dropout(x + attended))"),
            (POST_END, "return self.norm2(self.dropout(x + changed))"),
        ],
        "test_dropout",
        "In post-norm you apply dropout to the sum. "
        "Apply it to the output of the sublayer, before it is added.",
    ),
    mistake(
        "el_dropout_not_passed_on",
        [
            (LAYER_ATTN, "self.self_attn = FusedMultiHeadAttention(d_model, num_heads)"),
            ("FeedForward(d_model, d_ff, dropout)", "FeedForward(d_model, d_ff)"),
        ],
        "test_dropout",
        "You don't pass the dropout probability to attention and the feed-forward network.",
    ),
    mistake(
        "el_dropout_in_eval",
        [
            (
                "self.dropout = nn.Dropout(dropout)",
                "self.dropout = lambda t: nn.functional.dropout(t, dropout)",
            )
        ],
        "test_dropout",
        "Your dropout stays on after eval(). Use nn.Dropout, or pass training=self.training to F.dropout.",
    ),
    mistake(
        "el_attention_detached",
        [
            (
                "attended = self.self_attn(x, x, x, mask)[0]",
                "attended = self.self_attn(x, x, x, mask)[0].detach()",
            )
        ],
        "test_gradients",
        "In post-norm the output of attention is detached, so attention never learns.",
    ),
    mistake(
        "el_changed_in_place",
        [(PRE_ATTENTION, PRE_ATTENTION.replace("x = x + ", "x += "))],
        "test_x_unchanged_and_dtype_kept",
        "`x += ...` modifies the caller's x. Write `x = x + ...`.",
    ),
    mistake(
        "el_pre_residual_from_the_normed_around_attention",
        [("x = x + self.dropout(self.self_attn(normed", "x = normed + self.dropout(self.self_attn(normed")],
        PRE,
        "In pre-norm you add the output of attention to the normalized vectors. Add it to x as it was before the norm.",
    ),
    mistake(
        "el_pre_residual_from_the_normed_around_feed_forward",
        [(PRE_END, "return normed + self.dropout(self.feed_forward(normed))")],
        PRE,
        "In pre-norm you add the output of the feed-forward network to the normalized vectors. Add it to x as it was before the norm.",
    ),
    mistake(
        "el_pre_no_residual_around_attention",
        [("x = x + self.dropout(self.self_attn(normed", "x = self.dropout(self.self_attn(normed")],
        PRE,
        "In pre-norm the residual connection around attention is missing.",
    ),
    mistake(
        "el_pre_no_residual_around_feed_forward",
        [(PRE_END, "return self.dropout(self.feed_forward(normed))")],
        PRE,
        "In pre-norm the residual connection around the feed-forward network is missing.",
    ),
    mistake(
        "el_norm1_twice_in_pre_norm",
        [("normed = self.norm2(x)", "normed = self.norm1(x)")],
        PRE,
        "In pre-norm you use norm1 in both places. The feed-forward network has norm2.",
    ),
    mistake(
        "el_norm1_twice_in_post_norm",
        [(POST_END, "return self.norm1(x + self.dropout(changed))")],
        POST,
        "In post-norm you use norm1 in both places. The feed-forward network has norm2.",
    ),
    mistake(
        "el_feed_forward_of_attention_alone",
        [("changed = self.feed_forward(x)", "changed = self.feed_forward(attended)")],
        POST,
        "In post-norm the feed-forward network gets the output of attention. It should get x, after the sum and the norm.",
    ),
    mistake(
        "el_pre_feed_forward_without_a_norm",
        [(PRE_END, "return x + self.dropout(self.feed_forward(x))")],
        PRE,
        "In pre-norm the feed-forward network gets x itself. Normalize its input with norm2.",
    ),
    mistake(
        "el_no_dropout_in_post_norm",
        [
            (POST_ATTENTION, "x = self.norm1(x + attended)"),
            (POST_END, "return self.norm2(x + changed)"),
        ],
        "test_dropout",
        "In post-norm you don't apply dropout to the output of the sublayers before it is added.",
    ),
    mistake(
        "el_no_dropout_in_pre_norm",
        [
            (PRE_ATTENTION, "x = x + self.self_attn(normed, normed, normed, mask)[0]"),
            (PRE_END, "return x + self.feed_forward(normed)"),
        ],
        "test_dropout",
        "In pre-norm you don't apply dropout to the output of the sublayers before it is added.",
    ),
    mistake(
        "el_dropout_on_the_sum_of_attention",
        [(POST_ATTENTION, "x = self.norm1(self.dropout(x + attended))")],
        "test_dropout",
        "In post-norm you apply dropout to the sum after attention. Apply it to the output of attention alone.",
    ),
    mistake(
        "el_dropout_not_passed_to_attention",
        [
            (
                "FusedMultiHeadAttention(d_model, num_heads, dropout)",
                "FusedMultiHeadAttention(d_model, num_heads)",
            )
        ],
        "test_dropout",
        "You don't pass the dropout probability to attention.",
    ),
    mistake(
        "el_dropout_not_passed_to_feed_forward",
        [("FeedForward(d_model, d_ff, dropout)", "FeedForward(d_model, d_ff)")],
        "test_dropout",
        "You don't pass the dropout probability to the feed-forward network.",
    ),
    mistake(
        "el_pair_not_taken_apart",
        [
            ("attended = self.self_attn(x, x, x, mask)[0]", "attended = self.self_attn(x, x, x, mask)"),
            ("(normed, normed, normed, mask)[0]", "(normed, normed, normed, mask)"),
        ],
        [POST, PRE],
        "Attention returns the pair (output, weights), which you use as if it were one tensor. Take its first part, `[0]`.",
        cost="It stops with an error.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "Layers with the right sizes can't be compared with it.": [
            "el_width_hard_coded",
        ],
    },
)
