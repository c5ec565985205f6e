"""Known wrong answers to this assignment, each an edit of the instructor's solution cell."""

from coursekit.checks import Mistake, with_costs

# -------------------------------------------------------------------------------------- exercise 1: FeedForward
RELU = "torch.relu(self.linear1(x))"
FORMULA = "test_equals_the_formula"


def feed_forward(name, edits, about, sentence):
    return Mistake(name, cell="feed_forward", edits=edits, about=[about], sentence=sentence)


FEED_FORWARD = [
    feed_forward(
        "ff_no_relu",
        [(RELU, "self.linear1(x)")],
        FORMULA,
        "There is no ReLU between the two linear layers, so together they are equivalent to one linear "
        "layer.",
    ),
    feed_forward(
        "ff_relu_twice",
        [("return self.linear2(hidden)", "return torch.relu(self.linear2(hidden))")],
        FORMULA,
        "You applied a second ReLU after linear2. The output has to be able to be negative.",
    ),
    feed_forward(
        "ff_relu_only_at_the_end",
        [
            (RELU, "self.linear1(x)"),
            ("return self.linear2(hidden)", "return torch.relu(self.linear2(hidden))"),
        ],
        FORMULA,
        "You applied the ReLU after linear2. It belongs between the two linear layers.",
    ),
    feed_forward(
        "ff_relu_before_linear1",
        [(RELU, "self.linear1(torch.relu(x))")],
        FORMULA,
        "You applied the ReLU before linear1. It belongs between the two linear layers.",
    ),
    feed_forward(
        "ff_sigmoid",
        [("torch.relu", "torch.sigmoid")],
        FORMULA,
        "You used a sigmoid. Use a ReLU between the two linear layers.",
    ),
    feed_forward(
        "ff_softmax",
        [(RELU, "torch.softmax(self.linear1(x), dim=-1)")],
        FORMULA,
        "You used a softmax. Use a ReLU between the two linear layers.",
    ),
    feed_forward(
        "ff_residual_inside",
        [("return self.linear2(hidden)", "return x + self.linear2(hidden)")],
        FORMULA,
        "You added x inside FeedForward. The residual connection belongs in the layer around it, or x is "
        "added twice.",
    ),
    feed_forward(
        "ff_width_hard_coded",
        [
            ("nn.Linear(d_model, d_ff)", "nn.Linear(d_model, 4 * d_model)"),
            ("nn.Linear(d_ff,", "nn.Linear(4 * d_model,"),
        ],
        "test_parameters",
        "The hidden width of your module is 4 · d_model. It should be d_ff.",
    ),
    feed_forward(
        "ff_no_bias",
        [
            ("(d_model, d_ff)", "(d_model, d_ff, bias=False)"),
            ("(d_ff, d_model)", "(d_ff, d_model, bias=False)"),
        ],
        "test_parameters",
        "Your linear layers have no bias. They need one.",
    ),
    feed_forward(
        "ff_no_dropout",
        [("hidden = self.dropout(hidden)", "pass")],
        "test_dropout",
        "You don't apply dropout to the hidden vector.",
    ),
    feed_forward(
        "ff_dropout_in_eval",
        [
            ("self.dropout = nn.Dropout(dropout)", "self.p = dropout"),
            ("self.dropout(hidden)", "nn.functional.dropout(hidden, self.p)"),
        ],
        "test_dropout",
        "Your dropout stays on after eval(). Use nn.Dropout, or pass training=self.training to F.dropout.",
    ),
    feed_forward(
        "ff_dropout_on_the_output",
        [
            ("hidden = self.dropout(hidden)", "pass"),
            ("self.linear2(hidden)", "self.dropout(self.linear2(hidden))"),
        ],
        "test_dropout",
        "Your dropout acts on the output. It belongs on the hidden vector, after the ReLU.",
    ),
    feed_forward(
        "ff_hidden_detached",
        [(RELU, "torch.relu(self.linear1(x)).detach()")],
        "test_gradients_and_dtype",
        "You detached the hidden vector, so no gradient reaches linear1 and x.",
    ),
]

# ------------------------------------------------------------------------------------- exercise 2: EncoderLayer
PRE_ATTENTION = "x = x + self.dropout(self.self_attn(normed, normed, normed, mask)[0])"
POST_ATTENTION = "x = self.norm1(x + self.dropout(attended))"
POST_END = "return self.norm2(x + self.dropout(changed))"
POST, PRE = "test_post_norm", "test_pre_norm"
LAYER_ATTN = "self.self_attn = FusedMultiHeadAttention(d_model, num_heads, dropout)"


def encoder_layer(name, edits, about, sentence):
    about = [about] if isinstance(about, str) else about
    return Mistake(name, cell="encoder_layer", edits=edits, about=about, sentence=sentence)


ENCODER_LAYER = [
    encoder_layer(
        "el_no_residual",
        [
            (POST_ATTENTION, "x = self.norm1(self.dropout(attended))"),
            (POST_END, "return self.norm2(self.dropout(changed))"),
        ],
        POST,
        "In post-norm the residual connections are missing: add the input of a sublayer to its output, and "
        "normalize the sum.",
    ),
    encoder_layer(
        "el_no_residual_around_attention",
        [(POST_ATTENTION, "x = self.norm1(self.dropout(attended))")],
        POST,
        "In post-norm the residual connection around attention is missing.",
    ),
    encoder_layer(
        "el_no_residual_around_feed_forward",
        [(POST_END, "return self.norm2(self.dropout(changed))")],
        POST,
        "In post-norm the residual connection around the feed-forward network is missing.",
    ),
    encoder_layer(
        "el_pre_no_residual",
        [
            (PRE_ATTENTION, PRE_ATTENTION.replace("x = x + ", "x = ")),
            (
                "return x + self.dropout(self.feed_forward(normed))",
                "return self.dropout(self.feed_forward(normed))",
            ),
        ],
        PRE,
        "In pre-norm the residual connections are missing: add the output of each sublayer to x.",
    ),
    encoder_layer(
        "el_norm_of_the_summand",
        [
            (POST_ATTENTION, "x = self.norm1(x) + self.dropout(attended)"),
            (POST_END, "return self.norm2(x) + self.dropout(changed)"),
        ],
        POST,
        "In post-norm you compute norm(x) + f(x). It should be norm(x + f(x)): add first, then normalize.",
    ),
    encoder_layer(
        "el_norm_of_the_branch",
        [
            (POST_ATTENTION, "x = x + self.norm1(self.dropout(attended))"),
            (POST_END, "return x + self.norm2(self.dropout(changed))"),
        ],
        POST,
        "In post-norm you compute x + norm(f(x)). It should be norm(x + f(x)): add first, then normalize.",
    ),
    encoder_layer(
        "el_always_pre_norm",
        [("if self.norm_first:", "if True:")],
        POST,
        "Your layer is always pre-norm. With norm_first=False the norms come after the sums.",
    ),
    encoder_layer(
        "el_always_post_norm",
        [("if self.norm_first:", "if False:")],
        PRE,
        "Your layer is always post-norm. With norm_first=True the norms come before the sublayers.",
    ),
    encoder_layer(
        "el_orders_swapped",
        [("if self.norm_first:", "if not self.norm_first:")],
        [POST, PRE],
        "You swapped pre-norm and post-norm: norm_first=True means that the norm comes before the sublayer.",
    ),
    encoder_layer(
        "el_norms_shared",
        [("self.norm2 = nn.LayerNorm(d_model)", "self.norm2 = self.norm1")],
        "test_parameters",
        "Both norms are the same module. Each place needs its own norm with its own parameters.",
    ),
    encoder_layer(
        "el_norm1_used_twice",
        [
            (POST_END, "return self.norm1(x + self.dropout(changed))"),
            ("normed = self.norm2(x)", "normed = self.norm1(x)"),
        ],
        [POST, PRE],
        "You use norm1 in both places and never use norm2.",
    ),
    encoder_layer(
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
    encoder_layer(
        "el_no_norm1",
        [(POST_ATTENTION, "x = x + self.dropout(attended)"), ("normed = self.norm1(x)", "normed = x")],
        [POST, PRE],
        "You don't use `norm1`: the norm of attention is missing.",
    ),
    encoder_layer(
        "el_no_norm2",
        [(POST_END, "return x + self.dropout(changed)"), ("normed = self.norm2(x)", "normed = x")],
        [POST, PRE],
        "You don't use `norm2`: the norm of the feed-forward network is missing.",
    ),
    encoder_layer(
        "el_residual_from_the_normed",
        [
            (PRE_ATTENTION, PRE_ATTENTION.replace("x = x +", "x = normed +")),
            (
                "return x + self.dropout(self.feed_forward(normed))",
                "return normed + self.dropout(self.feed_forward(normed))",
            ),
        ],
        PRE,
        "In pre-norm you add to the normalized vectors. Add to x as it was before the norm.",
    ),
    encoder_layer(
        "el_only_the_query_normed",
        [("(normed, normed, normed, mask)", "(normed, x, x, mask)")],
        PRE,
        "In pre-norm you normalize only the queries. Normalize the keys and values as well.",
    ),
    encoder_layer(
        "el_norm_at_the_end_of_pre_norm",
        [
            (
                "return x + self.dropout(self.feed_forward(normed))",
                "return self.norm2(x + self.dropout(self.feed_forward(normed)))",
            )
        ],
        PRE,
        "In pre-norm your layer ends in a norm. The final norm belongs in the encoder, once, after all "
        "layers.",
    ),
    encoder_layer(
        "el_feed_forward_first",
        [
            ("attended = self.self_attn(x, x, x, mask)[0]", "attended = self.feed_forward(x)"),
            ("changed = self.feed_forward(x)", "changed = self.self_attn(x, x, x, mask)[0]"),
        ],
        POST,
        "In post-norm the feed-forward network comes before attention. Attention comes first.",
    ),
    encoder_layer(
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
    encoder_layer(
        "el_no_feed_forward",
        [(POST_END, "return x"), ("return x + self.dropout(self.feed_forward(normed))", "return x")],
        [POST, PRE],
        "You left out the feed-forward network.",
    ),
    encoder_layer(
        "el_one_head",
        [(LAYER_ATTN, "self.self_attn = FusedMultiHeadAttention(d_model, 1, dropout)")],
        [POST, PRE],
        "Your attention has only one head. Pass num_heads on.",
    ),
    encoder_layer(
        "el_mask_dropped",
        [("(x, x, x, mask)", "(x, x, x)"), ("(normed, normed, normed, mask)", "(normed, normed, normed)")],
        "test_mask",
        "You don't pass the mask to self-attention, so hidden tokens are visible.",
    ),
    encoder_layer(
        "el_mask_dropped_in_pre_norm",
        [("(normed, normed, normed, mask)", "(normed, normed, normed)")],
        "test_mask",
        "In pre-norm you don't pass the mask to self-attention.",
    ),
    encoder_layer(
        "el_mask_inverted",
        [
            ("(x, x, x, mask)", "(x, x, x, None if mask is None else ~mask)"),
            ("(normed, normed, normed, mask)", "(normed, normed, normed, None if mask is None else ~mask)"),
        ],
        "test_mask",
        "You inverted the mask. True means that a query may attend to the key.",
    ),
    encoder_layer(
        "el_width_hard_coded",
        [("FeedForward(d_model, d_ff, dropout)", "FeedForward(d_model, 4 * d_model, dropout)")],
        "test_parameters",
        "The hidden width of your feed-forward network is 4 · d_model. Pass d_ff on.",
    ),
    encoder_layer(
        "el_no_dropout",
        [
            (POST_ATTENTION, "x = self.norm1(x + attended)"),
            (POST_END, "return self.norm2(x + changed)"),
            (PRE_ATTENTION, "x = x + self.self_attn(normed, normed, normed, mask)[0]"),
            ("return x + self.dropout(self.feed_forward(normed))", "return x + self.feed_forward(normed)"),
        ],
        "test_dropout",
        "You don't apply dropout to the output of the sublayers before it is added.",
    ),
    encoder_layer(
        "el_dropout_on_the_sum",
        [
            (POST_ATTENTION, "x = self.norm1(self.dropout(x + attended))"),
            (POST_END, "return self.norm2(self.dropout(x + changed))"),
        ],
        "test_dropout",
        "In post-norm you apply dropout to the sum. "
        "Apply it to the output of the sublayer, before it is added.",
    ),
    encoder_layer(
        "el_dropout_not_passed_on",
        [
            (LAYER_ATTN, "self.self_attn = FusedMultiHeadAttention(d_model, num_heads)"),
            ("FeedForward(d_model, d_ff, dropout)", "FeedForward(d_model, d_ff)"),
        ],
        "test_dropout",
        "You don't pass the dropout probability to attention and the feed-forward network.",
    ),
    encoder_layer(
        "el_dropout_in_eval",
        [
            (
                "self.dropout = nn.Dropout(dropout)",
                "self.dropout = lambda t: nn.functional.dropout(t, dropout)",
            )
        ],
        "test_dropout",
        "Your dropout stays on after eval(). Use nn.Dropout, or give F.dropout training=self.training.",
    ),
    encoder_layer(
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
    encoder_layer(
        "el_changed_in_place",
        [(PRE_ATTENTION, PRE_ATTENTION.replace("x = x + ", "x += "))],
        "test_x_unchanged_and_dtype_kept",
        "`x += ...` modifies the caller's x. Write `x = x + ...`.",
    ),
]

# ------------------------------------------------------------------------------------- exercise 3: DecoderLayer
D_PRE_CROSS = "y = y + self.dropout(self.cross_attn(normed, memory, memory, memory_mask)[0])"
D_PRE_SELF = "y = y + self.dropout(self.self_attn(normed, normed, normed, target_mask)[0])"
D_PRE_END = "return y + self.dropout(self.feed_forward(normed))"
D_POST_SELF = "y = self.norm1(y + self.dropout(attended))"
D_POST_CROSS = "y = self.norm2(y + self.dropout(found))"
D_POST_END = "return self.norm3(y + self.dropout(changed))"
CROSS, CROSS_PRE = "(y, memory, memory, memory_mask)", "(normed, memory, memory, memory_mask)"


def decoder_layer(name, edits, about, sentence):
    about = [about] if isinstance(about, str) else about
    return Mistake(name, cell="decoder_layer", edits=edits, about=about, sentence=sentence)


DECODER_LAYER = [
    decoder_layer(
        "dl_no_cross_attention",
        [(D_POST_CROSS, "pass"), (D_PRE_CROSS, "pass")],
        "test_reads_all_of_the_memory",
        "You left out cross-attention, so the decoder never sees the source.",
    ),
    decoder_layer(
        "dl_cross_reads_itself",
        [(CROSS, "(y, y, y, target_mask)"), (CROSS_PRE, "(normed, normed, normed, target_mask)")],
        "test_reads_all_of_the_memory",
        "Your cross-attention reads the target. Its keys and values come from the memory.",
    ),
    decoder_layer(
        "dl_query_from_the_memory",
        [(CROSS, "(memory, y, y, target_mask)"), (CROSS_PRE, "(memory, normed, normed, target_mask)")],
        [POST, PRE],
        "Your cross-attention takes the queries from the memory. "
        "Queries come from the target, keys and values from the memory.",
    ),
    decoder_layer(
        "dl_causal_mask_on_cross_attention",
        [(CROSS, "(y, memory, memory, target_mask)"), (CROSS_PRE, "(normed, memory, memory, target_mask)")],
        "test_reads_all_of_the_memory",
        "Cross-attention gets the target mask. Every target position may read all of the memory: pass memory_mask.",
    ),
    decoder_layer(
        "dl_memory_mask_dropped",
        [(CROSS, "(y, memory, memory)"), (CROSS_PRE, "(normed, memory, memory)")],
        "test_memory_mask",
        "You don't pass `memory_mask` to cross-attention, so padding in the source is visible.",
    ),
    decoder_layer(
        "dl_memory_mask_dropped_in_pre_norm",
        [(CROSS_PRE, "(normed, memory, memory)")],
        "test_memory_mask",
        "In pre-norm you don't pass memory_mask to cross-attention.",
    ),
    decoder_layer(
        "dl_target_mask_dropped",
        [
            ("(y, y, y, target_mask)", "(y, y, y)"),
            ("(normed, normed, normed, target_mask)", "(normed, normed, normed)"),
        ],
        "test_no_leak_of_the_future",
        "You don't pass `target_mask` to self-attention, so every position sees the future.",
    ),
    decoder_layer(
        "dl_target_mask_dropped_in_pre_norm",
        [("(normed, normed, normed, target_mask)", "(normed, normed, normed)")],
        "test_no_leak_of_the_future",
        "In pre-norm you don't pass target_mask to self-attention, so every position sees the future.",
    ),
    decoder_layer(
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
    decoder_layer(
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
    decoder_layer(
        "dl_self_attention_used_twice",
        [
            ("found = self.cross_attn(", "found = self.self_attn("),
            (D_PRE_CROSS, D_PRE_CROSS.replace("cross_attn", "self_attn")),
        ],
        [POST, PRE],
        "You use self_attn in both places and never use cross_attn.",
    ),
    decoder_layer(
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
    decoder_layer(
        "dl_memory_normed",
        [(CROSS_PRE, "(normed, self.norm2(memory), self.norm2(memory), memory_mask)")],
        PRE,
        "In pre-norm you also normalize the memory. The encoder has already done that; use it as it is.",
    ),
    decoder_layer(
        "dl_no_residual",
        [
            (D_POST_SELF, "y = self.norm1(self.dropout(attended))"),
            (D_POST_CROSS, "y = self.norm2(self.dropout(found))"),
            (D_POST_END, "return self.norm3(self.dropout(changed))"),
        ],
        POST,
        "In post-norm the residuals are missing: add the input of a sublayer to its output, and norm the sum.",
    ),
    decoder_layer(
        "dl_no_residual_around_cross_attention",
        [
            (D_POST_CROSS, "y = self.norm2(self.dropout(found))"),
            (D_PRE_CROSS, D_PRE_CROSS.replace("y = y + ", "y = ")),
        ],
        [POST, PRE],
        "The residual connection around cross-attention is missing.",
    ),
    decoder_layer(
        "dl_norm_of_the_summand",
        [
            (D_POST_SELF, "y = self.norm1(y) + self.dropout(attended)"),
            (D_POST_CROSS, "y = self.norm2(y) + self.dropout(found)"),
            (D_POST_END, "return self.norm3(y) + self.dropout(changed)"),
        ],
        POST,
        "In post-norm you compute norm(y) + f(y). It should be norm(y + f(y)): add first, then normalize.",
    ),
    decoder_layer(
        "dl_always_pre_norm",
        [("if self.norm_first:", "if True:")],
        POST,
        "Your layer is pre-norm, whatever norm_first says. With norm_first=False the norms follow the sums.",
    ),
    decoder_layer(
        "dl_always_post_norm",
        [("if self.norm_first:", "if False:")],
        PRE,
        "Your layer is post-norm, whatever norm_first says. With norm_first=True the norms stand before the sublayers.",
    ),
    decoder_layer(
        "dl_norms_shared",
        [
            ("self.norm2 = nn.LayerNorm(d_model)", "self.norm2 = self.norm1"),
            ("self.norm3 = nn.LayerNorm(d_model)", "self.norm3 = self.norm1"),
        ],
        "test_parameters",
        "All norms are the same module. Each place needs its own norm with its own parameters.",
    ),
    decoder_layer(
        "dl_norm2_used_twice",
        [
            (D_POST_END, D_POST_END.replace("norm3", "norm2")),
            ("normed = self.norm3(y)", "normed = self.norm2(y)"),
        ],
        [POST, PRE],
        "You use norm2 in two places and never use norm3.",
    ),
    decoder_layer(
        "dl_no_norm2",
        [(D_POST_CROSS, "y = y + self.dropout(found)"), ("normed = self.norm2(y)", "normed = y")],
        [POST, PRE],
        "You don't use `norm2`: the norm of cross-attention is missing.",
    ),
    decoder_layer(
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
    decoder_layer(
        "dl_residual_from_the_normed",
        [
            (D_PRE_SELF, D_PRE_SELF.replace("y = y +", "y = normed +")),
            (D_PRE_CROSS, D_PRE_CROSS.replace("y = y +", "y = normed +")),
            (D_PRE_END, D_PRE_END.replace("return y +", "return normed +")),
        ],
        PRE,
        "In pre-norm you add to the normalized vectors. Add to y as it was before the norm.",
    ),
    decoder_layer(
        "dl_no_feed_forward",
        [(D_POST_END, "return y"), (D_PRE_END, "return y")],
        [POST, PRE],
        "The feed-forward network is left out.",
    ),
    decoder_layer(
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
        "There is no dropout on what the sublayers give before it is added.",
    ),
    decoder_layer(
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
    decoder_layer(
        "dl_memory_detached",
        [(CROSS, "(y, memory.detach(), memory.detach(), memory_mask)")],
        "test_gradients",
        "In post-norm you detach the memory, so the encoder never learns.",
    ),
    decoder_layer(
        "dl_changed_in_place",
        [(D_PRE_SELF, D_PRE_SELF.replace("y = y + ", "y += "))],
        "test_inputs_unchanged_and_dtype_kept",
        "`y += ...` modifies the caller's y. Write `y = y + ...`.",
    ),
]

# ------------------------------------------------------------------ exercises 4 and 5: what both halves share
STD = "nn.init.normal_(self.embedding.weight, std=d_model**-0.5)"
NORM = "self.norm = nn.LayerNorm(d_model) if norm_first else nn.Identity()"
STACK = "test_runs_through_all_layers"


def of_both(cell, letter, layer, start, pads, dropout):
    """Mistakes that `Encoder` and `Decoder` share; `start` is the line that embeds the ids."""
    made = f"{layer}(d_model, num_heads, d_ff, dropout, norm_first)"
    listed = f"[{made} for _ in range(num_layers)]"
    v = "x" if cell == "encoder" else "y"
    ids = "src" if cell == "encoder" else "tgt"

    def mistake(name, edits, about, sentence):
        about = [about] if isinstance(about, str) else about
        return Mistake(f"{letter}_{name}", cell=cell, edits=edits, about=about, sentence=sentence)

    return [
        mistake(
            "no_positions",
            [(start, f"{v} = self.embedding({ids}) * self.positions.d_model**0.5")],
            [STACK, "test_order_matters"],
            "You don't add the positions, so the model can't know the order of the tokens.",
        ),
        mistake(
            "scaled_twice",
            [(start, f"{v} = self.positions(self.embedding({ids}) * self.positions.d_model**0.5)")],
            STACK,
            "You multiply the embeddings by √d, but PositionalEncoder already does.",
        ),
        mistake(
            "layers_shared",
            [(listed, f"[{made}] * num_layers")],
            ["test_every_layer_learns", STACK],
            "All your layers are the same module. Create a new one for each level.",
        ),
        mistake(
            "plain_list",
            [(f"nn.ModuleList(\n            {listed}\n        )", listed)],
            "test_every_layer_learns",
            "The layers are in a plain list, which hides their parameters. Use nn.ModuleList.",
        ),
        mistake(
            "one_layer_only",
            [("range(num_layers)", "range(1)")],
            "test_every_layer_learns",
            "You create only one layer. Create num_layers of them.",
        ),
        mistake(
            "last_layer_left_out",
            [("for layer in self.layers:", "for layer in self.layers[:-1]:")],
            STACK,
            "You leave out the last layer.",
        ),
        mistake(
            "layers_in_reverse",
            [("for layer in self.layers:", "for layer in reversed(self.layers):")],
            STACK,
            "You apply the layers in reverse order.",
        ),
        mistake(
            "no_final_norm",
            [(NORM, "self.norm = nn.Identity()")],
            "test_final_norm",
            "With norm_first=True the final norm is missing.",
        ),
        mistake(
            "always_a_final_norm",
            [(NORM, "self.norm = nn.LayerNorm(d_model)")],
            "test_final_norm",
            "You apply a final norm even with norm_first=False. "
            "In post-norm every layer already ends in a norm.",
        ),
        mistake(
            "final_norm_without_parameters",
            [
                (
                    NORM,
                    "self.norm = nn.LayerNorm(d_model, elementwise_affine=False) if norm_first else nn.Identity()",
                )
            ],
            "test_every_layer_learns",
            "Your final norm has no learned parameters.",
        ),
        mistake(
            "norm_first_not_passed_on",
            [(made, f"{layer}(d_model, num_heads, d_ff, dropout)")],
            "test_final_norm",
            "You don't pass `norm_first` to the layers, so they are always post-norm.",
        ),
        mistake(
            "embeddings_too_large",
            [(STD, "nn.init.normal_(self.embedding.weight)")],
            "test_embeddings_start_small" if cell == "encoder" else dropout,
            "The embeddings start with standard deviation 1 and are multiplied by √d later. "
            "Draw them with 1/√d.",
        ),
        mistake(
            "pad_row_drawn",
            [("self.embedding.weight[pad_idx] = 0", "pass")],
            "test_embeddings_start_small" if cell == "encoder" else dropout,
            "The padding row is drawn like all the others. Set it back to zero afterwards.",
        ),
        mistake(
            "pad_id_0",
            [(f"make_padding_mask({ids}, self.pad_idx)", f"make_padding_mask({ids}, 0)")],
            pads,
            "Your mask always hides the id 0. Use pad_idx.",
        ),
        mistake(
            "no_dropout",
            [(f"{v} = self.dropout({v})", "pass")],
            dropout,
            "You don't apply dropout to the sum of embeddings and positions.",
        ),
        mistake(
            "dropout_before_positions",
            [
                (f"{v} = self.dropout({v})", "pass"),
                (start, f"{v} = self.positions(self.dropout(self.embedding({ids})))"),
            ],
            dropout,
            "You apply dropout to the embeddings before the positions are added. Apply it to the sum.",
        ),
        mistake(
            "dropout_not_passed_on",
            [(made, f"{layer}(d_model, num_heads, d_ff, norm_first=norm_first)")],
            dropout,
            "You don't pass the dropout probability to the layers.",
        ),
        mistake(
            "embedding_detached",
            [(start, f"{v} = self.positions(self.embedding({ids}).detach())")],
            "test_every_layer_learns",
            "The embeddings are detached, so they never learn.",
        ),
    ]


E_CALL = "x = layer(x, mask)"
ENCODER = [
    *of_both(
        "encoder",
        "e",
        "EncoderLayer",
        "x = self.positions(self.embedding(src))",
        ["test_pads_are_hidden", "test_returns_the_mask"],
        "test_dropout",
    ),
    Mistake(
        "e_mask_dropped",
        cell="encoder",
        edits=[(E_CALL, "x = layer(x)")],
        about=["test_pads_are_hidden"],
        sentence="The layers don't get the mask, so padding is visible.",
    ),
    Mistake(
        "e_mask_for_the_first_layer_only",
        cell="encoder",
        edits=[(E_CALL, "x = layer(x, mask if layer is self.layers[0] else None)")],
        about=["test_pads_are_hidden"],
        sentence="Only the first layer gets the mask. Every layer needs it.",
    ),
    Mistake(
        "e_mask_on_the_query_axis",
        cell="encoder",
        edits=[(E_CALL, "x = layer(x, mask.transpose(1, 2))")],
        about=["test_pads_are_hidden"],
        sentence="Your mask hides padding on the query axis. Hide it as keys, on the last axis.",
    ),
    Mistake(
        "e_every_layer_gets_the_embeddings",
        cell="encoder",
        edits=[
            (E_CALL, "memory = layer(x, mask)"),
            ("return self.norm(x), mask", "return self.norm(memory), mask"),
        ],
        about=[STACK],
        sentence="Every layer gets the embeddings, so only the last layer has an effect. "
        "Pass each layer the output of the one before it.",
    ),
    Mistake(
        "e_no_padding_idx",
        cell="encoder",
        edits=[(", padding_idx=pad_idx", "")],
        about=["test_embeddings_start_small"],
        sentence="The embedding has no padding_idx, so training changes the padding row.",
    ),
    Mistake(
        "e_mask_inverted_on_return",
        cell="encoder",
        edits=[("return self.norm(x), mask", "return self.norm(x), ~mask")],
        about=["test_returns_the_mask"],
        sentence="The mask that you return is True at padding. "
        "True has to mean that a token may be attended to.",
    ),
    Mistake(
        "e_mask_without_its_axis",
        cell="encoder",
        edits=[("return self.norm(x), mask", "return self.norm(x), mask[:, 0]")],
        about=["test_returns_the_mask"],
        sentence="The mask that you return has no axis for the queries. "
        "Its shape should be (batch, 1, L_src).",
    ),
    Mistake(
        "e_causal_encoder",
        cell="encoder",
        edits=[(E_CALL, "x = layer(x, mask & make_causal_mask(src.shape[1]))")],
        about=[STACK],
        sentence="Your encoder has a causal mask. It should look in both directions.",
    ),
]

D_CALL = "y = layer(y, memory, target_mask, memory_mask)"
BOTH_MASKS = "target_mask = padding & causal"
DECODER = [
    *of_both(
        "decoder",
        "d",
        "DecoderLayer",
        "y = self.positions(self.embedding(tgt))",
        ["test_pads_of_the_target_are_hidden"],
        "test_embeddings_and_dropout",
    ),
    Mistake(
        "d_no_causal_mask",
        cell="decoder",
        edits=[(BOTH_MASKS, "target_mask = padding")],
        about=["test_no_leak_of_the_future"],
        sentence="The causal mask is missing, so every position sees the token that it has to predict.",
    ),
    Mistake(
        "d_target_padding_visible",
        cell="decoder",
        edits=[(BOTH_MASKS, "target_mask = causal")],
        about=["test_pads_of_the_target_are_hidden"],
        sentence="The padding of the target is visible: your target mask is only causal.",
    ),
    Mistake(
        "d_padding_on_the_query_axis",
        cell="decoder",
        edits=[(BOTH_MASKS, "target_mask = padding.transpose(1, 2) & causal")],
        about=["test_pads_of_the_target_are_hidden"],
        sentence="Your padding mask hides padding on the query axis. Hide it as keys, on the last axis.",
    ),
    Mistake(
        "d_masks_joined_by_or",
        cell="decoder",
        edits=[(BOTH_MASKS, "target_mask = padding | causal")],
        about=["test_no_leak_of_the_future"],
        sentence="You combined the two masks with `|`. A key must be visible in both, so combine them with "
        "`&`.",
    ),
    Mistake(
        "d_causal_mask_transposed",
        cell="decoder",
        edits=[("causal = make_causal_mask(tgt.shape[1])", "causal = make_causal_mask(tgt.shape[1]).T")],
        about=["test_no_leak_of_the_future"],
        sentence="Your causal mask is transposed: it shows the future and hides the past.",
    ),
    Mistake(
        "d_blind_to_itself",
        cell="decoder",
        edits=[
            ("causal = make_causal_mask(tgt.shape[1])", "causal = make_causal_mask(tgt.shape[1]).tril(-1)")
        ],
        about=[STACK],
        sentence="Your causal mask hides each position from itself.",
    ),
    Mistake(
        "d_one_step_into_the_future",
        cell="decoder",
        edits=[
            (
                "causal = make_causal_mask(tgt.shape[1])",
                "causal = torch.ones(tgt.shape[1], tgt.shape[1]).tril(1).bool()",
            )
        ],
        about=["test_no_leak_of_the_future"],
        sentence="Your causal mask is off by one: a position sees the token after it, which is what it has "
        "to predict.",
    ),
    Mistake(
        "d_memory_mask_dropped",
        cell="decoder",
        edits=[(D_CALL, "y = layer(y, memory, target_mask)")],
        about=["test_memory_mask"],
        sentence="The layers don't get memory_mask, so padding in the source is visible.",
    ),
    Mistake(
        "d_memory_mask_for_the_first_layer_only",
        cell="decoder",
        edits=[
            (D_CALL, "y = layer(y, memory, target_mask, memory_mask if layer is self.layers[0] else None)")
        ],
        about=["test_memory_mask"],
        sentence="Only the first layer gets memory_mask. Every layer needs it.",
    ),
    Mistake(
        "d_masks_exchanged",
        cell="decoder",
        edits=[(D_CALL, "y = layer(y, memory, memory_mask, target_mask)")],
        about=["test_no_leak_of_the_future"],
        sentence="You swapped the two masks: a layer takes target_mask first, then memory_mask.",
    ),
    Mistake(
        "d_every_layer_gets_the_embeddings",
        cell="decoder",
        edits=[
            (D_CALL, "out = layer(y, memory, target_mask, memory_mask)"),
            ("return self.norm(y)", "return self.norm(out)"),
        ],
        about=[STACK],
        sentence="Every layer gets the embeddings, so only the last one counts. "
        "Each layer has to get what the one before it gave.",
    ),
    Mistake(
        "d_later_layers_read_the_target",
        cell="decoder",
        edits=[(D_CALL, "y = layer(y, memory if layer is self.layers[0] else y, target_mask, None)")],
        about=[STACK],
        sentence="Only the first layer reads the memory. Pass the same memory to every layer.",
    ),
]

# -------------------------------------------------------------------------------------- exercise 6: Transformer
SIZES = "sizes = (d_model, num_heads, d_ff, num_layers, max_seq_len, pad_idx, dropout, norm_first)"


def transformer(name, edits, about, sentence):
    about = [about] if isinstance(about, str) else about
    return Mistake(name, cell="transformer", edits=edits, about=about, sentence=sentence)


TRANSFORMER = [
    transformer(
        "t_softmax",
        [("return self.output(y)", "return torch.softmax(self.output(y), dim=-1)")],
        "test_logits_are_not_probabilities",
        "Your model ends in a softmax. Return logits; the loss applies the softmax.",
    ),
    transformer(
        "t_log_softmax",
        [("return self.output(y)", "return torch.log_softmax(self.output(y), dim=-1)")],
        "test_logits_are_not_probabilities",
        "Your model ends in a log-softmax. Return logits; the loss applies the softmax.",
    ),
    transformer(
        "t_relu_at_the_end",
        [("return self.output(y)", "return torch.relu(self.output(y))")],
        "test_forward",
        "You applied a ReLU after the last linear layer. Logits may be negative.",
    ),
    transformer(
        "t_memory_mask_dropped",
        [("self.decoder(tgt, memory, memory_mask)", "self.decoder(tgt, memory)")],
        ["test_pads", "test_encode_and_decode"],
        "You don't pass the mask of the memory to the decoder, so padding in the source is visible.",
    ),
    transformer(
        "t_mask_dropped_in_forward",
        [("return self.decode(tgt, memory, memory_mask)", "return self.decode(tgt, memory, None)")],
        ["test_pads", "test_encode_and_decode"],
        "The mask of the memory does not reach the decoder, so pads of the source count.",
    ),
    transformer(
        "t_pad_idx_not_passed_on",
        [("pad_idx, dropout, norm_first)\n        self", "0, dropout, norm_first)\n        self")],
        "test_pads",
        "You don't pass `pad_idx` to the two halves, so they hide the id 0.",
    ),
    transformer(
        "t_dropout_not_passed_on",
        [("pad_idx, dropout, norm_first)\n        self", "pad_idx, 0.0, norm_first)\n        self")],
        "test_sizes_and_defaults",
        "You don't pass `dropout` to the two halves.",
    ),
    transformer(
        "t_norm_first_not_passed_on",
        [("pad_idx, dropout, norm_first)\n        self", "pad_idx, dropout)\n        self")],
        ["test_sizes_and_defaults", "test_forward"],
        "Your two halves are post-norm. Pass `norm_first` on to them; its default is True here.",
    ),
    transformer(
        "t_one_layer",
        [
            (
                "d_ff, num_layers, max_seq_len, pad_idx, dropout, norm_first)\n        self",
                "d_ff, 1, max_seq_len, pad_idx, dropout, norm_first)\n        self",
            )
        ],
        "test_sizes_and_defaults",
        "Your halves always have one layer each. Pass num_layers on.",
    ),
    transformer(
        "t_max_seq_len_20",
        [
            (
                "num_layers, max_seq_len, pad_idx, dropout, norm_first)\n        self",
                "num_layers, 20, pad_idx, dropout, norm_first)\n        self",
            )
        ],
        "test_sizes_and_defaults",
        "You don't pass `max_seq_len` to the two halves.",
    ),
    transformer(
        "t_vocabularies_exchanged",
        [
            ("Encoder(src_vocab_size", "Encoder(tgt_vocab_size"),
            ("Decoder(tgt_vocab_size", "Decoder(src_vocab_size"),
        ],
        "test_forward",
        "You swapped the two vocabularies: the encoder needs that of the source, the decoder that of the "
        "target.",
    ),
    transformer(
        "t_logits_of_the_source_vocabulary",
        [("nn.Linear(d_model, tgt_vocab_size)", "nn.Linear(d_model, src_vocab_size)")],
        "test_sizes_and_defaults",
        "Your logits are over the source vocabulary. The decoder predicts target tokens.",
    ),
    transformer(
        "t_no_output_bias",
        [("nn.Linear(d_model, tgt_vocab_size)", "nn.Linear(d_model, tgt_vocab_size, bias=False)")],
        "test_sizes_and_defaults",
        "The last linear layer has no bias. It needs one.",
    ),
    transformer(
        "t_embedding_as_memory",
        [("return self.encoder(src)", "return self.encoder.embedding(src), self.encoder(src)[1]")],
        "test_forward",
        "The decoder gets the embeddings of the source. "
        "It should get the memory, the output of the last encoder layer.",
    ),
    transformer(
        "t_memory_detached",
        [
            (
                "memory, memory_mask = self.encode(src)",
                "memory, memory_mask = (t.detach() for t in self.encode(src))",
            )
        ],
        "test_gradients_and_dtype",
        "The memory is detached, so the encoder never learns.",
    ),
]

MORE = [
    Mistake(
        "ff_gelu",
        cell="feed_forward",
        edits=[("torch.relu(", "nn.functional.gelu(")],
        about=["test_equals_the_formula"],
        sentence="You used a GELU. Use a ReLU between the two linear layers.",
    ),
    Mistake(
        "ff_dropout_on_the_input",
        cell="feed_forward",
        edits=[
            ("torch.relu(self.linear1(x))", "torch.relu(self.linear1(self.dropout(x)))"),
            ("        hidden = self.dropout(hidden)\n", ""),
        ],
        about=["test_dropout"],
        sentence="Your dropout acts on the input. It belongs on the hidden vector, after the ReLU.",
    ),
    Mistake(
        "el_pre_residual_from_the_normed_around_attention",
        cell="encoder_layer",
        edits=[
            ("x = x + self.dropout(self.self_attn(normed", "x = normed + self.dropout(self.self_attn(normed")
        ],
        about=["test_pre_norm"],
        sentence="In pre-norm you add the output of attention to the normalized vectors. Add it to x as it was before the norm.",
    ),
    Mistake(
        "el_pre_residual_from_the_normed_around_feed_forward",
        cell="encoder_layer",
        edits=[
            (
                "return x + self.dropout(self.feed_forward(normed))",
                "return normed + self.dropout(self.feed_forward(normed))",
            )
        ],
        about=["test_pre_norm"],
        sentence="In pre-norm you add the output of the feed-forward network to the normalized vectors. Add it to x as it was before the norm.",
    ),
    Mistake(
        "el_pre_no_residual_around_attention",
        cell="encoder_layer",
        edits=[("x = x + self.dropout(self.self_attn(normed", "x = self.dropout(self.self_attn(normed")],
        about=["test_pre_norm"],
        sentence="In pre-norm the residual connection around attention is missing.",
    ),
    Mistake(
        "el_pre_no_residual_around_feed_forward",
        cell="encoder_layer",
        edits=[
            (
                "return x + self.dropout(self.feed_forward(normed))",
                "return self.dropout(self.feed_forward(normed))",
            )
        ],
        about=["test_pre_norm"],
        sentence="In pre-norm the residual connection around the feed-forward network is missing.",
    ),
    Mistake(
        "el_norm1_twice_in_pre_norm",
        cell="encoder_layer",
        edits=[("normed = self.norm2(x)", "normed = self.norm1(x)")],
        about=["test_pre_norm"],
        sentence="In pre-norm you use norm1 in both places. The feed-forward network has norm2.",
    ),
    Mistake(
        "el_norm1_twice_in_post_norm",
        cell="encoder_layer",
        edits=[
            ("return self.norm2(x + self.dropout(changed))", "return self.norm1(x + self.dropout(changed))")
        ],
        about=["test_post_norm"],
        sentence="In post-norm you use norm1 in both places. The feed-forward network has norm2.",
    ),
    Mistake(
        "el_feed_forward_of_attention_alone",
        cell="encoder_layer",
        edits=[("changed = self.feed_forward(x)", "changed = self.feed_forward(attended)")],
        about=["test_post_norm"],
        sentence="In post-norm the feed-forward network gets the output of attention. It should get x, after the sum and the norm.",
    ),
    Mistake(
        "el_pre_feed_forward_without_a_norm",
        cell="encoder_layer",
        edits=[
            (
                "return x + self.dropout(self.feed_forward(normed))",
                "return x + self.dropout(self.feed_forward(x))",
            )
        ],
        about=["test_pre_norm"],
        sentence="In pre-norm the feed-forward network gets x itself. Normalize its input with norm2.",
    ),
    Mistake(
        "el_no_dropout_in_post_norm",
        cell="encoder_layer",
        edits=[
            ("x = self.norm1(x + self.dropout(attended))", "x = self.norm1(x + attended)"),
            ("return self.norm2(x + self.dropout(changed))", "return self.norm2(x + changed)"),
        ],
        about=["test_dropout"],
        sentence="In post-norm you don't apply dropout to the output of the sublayers before it is added.",
    ),
    Mistake(
        "el_no_dropout_in_pre_norm",
        cell="encoder_layer",
        edits=[
            (
                "x = x + self.dropout(self.self_attn(normed, normed, normed, mask)[0])",
                "x = x + self.self_attn(normed, normed, normed, mask)[0]",
            ),
            ("return x + self.dropout(self.feed_forward(normed))", "return x + self.feed_forward(normed)"),
        ],
        about=["test_dropout"],
        sentence="In pre-norm you don't apply dropout to the output of the sublayers before it is added.",
    ),
    Mistake(
        "el_dropout_on_the_sum_of_attention",
        cell="encoder_layer",
        edits=[("x = self.norm1(x + self.dropout(attended))", "x = self.norm1(self.dropout(x + attended))")],
        about=["test_dropout"],
        sentence="In post-norm you apply dropout to the sum after attention. Apply it to the output of attention alone.",
    ),
    Mistake(
        "el_dropout_not_passed_to_attention",
        cell="encoder_layer",
        edits=[
            (
                "FusedMultiHeadAttention(d_model, num_heads, dropout)",
                "FusedMultiHeadAttention(d_model, num_heads)",
            )
        ],
        about=["test_dropout"],
        sentence="You don't pass the dropout probability to attention.",
    ),
    Mistake(
        "el_dropout_not_passed_to_feed_forward",
        cell="encoder_layer",
        edits=[("FeedForward(d_model, d_ff, dropout)", "FeedForward(d_model, d_ff)")],
        about=["test_dropout"],
        sentence="You don't pass the dropout probability to the feed-forward network.",
    ),
    Mistake(
        "el_pair_not_taken_apart",
        cost="It stops with an error.",
        cell="encoder_layer",
        edits=[
            ("attended = self.self_attn(x, x, x, mask)[0]", "attended = self.self_attn(x, x, x, mask)"),
            ("(normed, normed, normed, mask)[0]", "(normed, normed, normed, mask)"),
        ],
        about=["test_post_norm", "test_pre_norm"],
        sentence="Attention returns the pair (output, weights), which you use as if it were one tensor. Take its first part, `[0]`.",
    ),
    Mistake(
        "dl_no_cross_attention_in_post_norm",
        cell="decoder_layer",
        edits=[("y = self.norm2(y + self.dropout(found))", "y = self.norm2(y)")],
        about=["test_post_norm"],
        sentence="In post-norm the output of cross-attention is never added, so the decoder doesn't see the source.",
    ),
    Mistake(
        "dl_norm2_and_norm3_swapped_in_pre_norm",
        cell="decoder_layer",
        edits=[
            (
                "normed = self.norm2(y)\n            y = y + self.dropout(self.cross_attn",
                "normed = self.norm3(y)\n            y = y + self.dropout(self.cross_attn",
            ),
            ("normed = self.norm3(y)\n            return", "normed = self.norm2(y)\n            return"),
        ],
        about=["test_pre_norm"],
        sentence="In pre-norm you swapped norm2 and norm3: norm2 belongs to cross-attention, norm3 to the feed-forward network.",
    ),
    Mistake(
        "dl_values_from_the_target",
        cost="It stops with an error unless source and target have the same length.",
        cell="decoder_layer",
        edits=[
            ("self.cross_attn(y, memory, memory, memory_mask)", "self.cross_attn(y, memory, y, memory_mask)"),
            (
                "self.cross_attn(normed, memory, memory, memory_mask)",
                "self.cross_attn(normed, memory, normed, memory_mask)",
            ),
        ],
        about=["test_post_norm", "test_pre_norm"],
        sentence="The values of your cross-attention come from the target. Keys and values both come from the memory.",
    ),
    Mistake(
        "e_embeddings_alone",
        cell="encoder",
        edits=[("x = self.positions(self.embedding(src))", "x = self.embedding(src)")],
        about=["test_order_matters"],
        sentence="Your encoder doesn't use PositionalEncoder: the layers get the embeddings alone, without positions.",
    ),
    Mistake(
        "e_memory_alone",
        cost="Every check takes the pair apart.",
        cell="encoder",
        edits=[("return self.norm(x), mask", "return self.norm(x)")],
        about=["test_returns_the_mask"],
        sentence="You return only the memory. Return the pair (memory, mask).",
    ),
    Mistake(
        "d_embeddings_alone",
        cost="It computes another function for every input.",
        cell="decoder",
        edits=[("y = self.positions(self.embedding(tgt))", "y = self.embedding(tgt)")],
        about=["test_order_matters"],
        sentence="Your decoder doesn't use PositionalEncoder: the layers get the embeddings alone, without positions.",
    ),
    Mistake(
        "d_mask_returned_too",
        cost="Every check needs the tensor.",
        cell="decoder",
        edits=[("return self.norm(y)", "return self.norm(y), target_mask")],
        about=["test_runs_through_all_layers"],
        sentence="You return a pair. The decoder returns only its vectors.",
    ),
    Mistake(
        "d_final_norm_unused",
        cell="decoder",
        edits=[("return self.norm(y)", "return y")],
        about=["test_final_norm"],
        sentence="You don't apply the final norm.",
    ),
    Mistake(
        "e_final_norm_unused",
        cell="encoder",
        edits=[("return self.norm(x), mask", "return x, mask")],
        about=["test_final_norm"],
        sentence="You don't apply the final norm.",
    ),
    Mistake(
        "t_sequences_exchanged",
        cost="It stops with an error unless the two vocabularies have the same size.",
        cell="transformer",
        edits=[
            ("memory, memory_mask = self.encode(src)", "memory, memory_mask = self.encode(tgt)"),
            ("return self.decode(tgt, memory, memory_mask)", "return self.decode(src, memory, memory_mask)"),
        ],
        about=["test_forward"],
        sentence="You swapped the two sequences: the encoder reads src, the decoder tgt.",
    ),
    Mistake(
        "t_post_norm_by_default",
        cell="transformer",
        edits=[("norm_first=True,", "norm_first=False,")],
        about=["test_sizes_and_defaults"],
        sentence="Your two halves are post-norm. Pass `norm_first` on to them; its default is True here.",
    ),
    Mistake(
        "t_decoder_with_the_source_vocabulary",
        cell="transformer",
        edits=[("Decoder(tgt_vocab_size", "Decoder(src_vocab_size")],
        about=["test_forward"],
        sentence="The decoder embeds target tokens, so it needs the size of the target vocabulary.",
    ),
]

# --------------------------------------------------------------------------------------------- exercise 7
TOKENS = "x = torch.arange(48.0).sin().view(2, 6, 4)"
MOVED = "moved = (function(changed) - before).abs().amax(dim=-1) > 3e-3"
CHANGE = "changed[row, position] = value"
MAY_MOVE = "moved[row, position:] = False"
NOT_MOVED = "assert not moved.any()"


def causal_test(name, edits, about, sentence):
    return Mistake(name, cell="check_causal", edits=edits, about=about, sentence=sentence)


CHECK_CAUSAL = [
    causal_test(
        "check_of_the_shape",
        [(NOT_MOVED, "assert moved.shape == (2, 6)")],
        ["test_everything"],
        "Your check looks only at shapes. Change a token, and see which outputs move.",
    ),
    causal_test(
        "check_of_reversed_tokens",
        [(CHANGE, "changed[row, position:] = changed[row, position:].flip(0)")],
        ["test_everything", "test_total"],
        "Your check changes only the order of later tokens. A function that averages them, or adds them up, returns the same.",
    ),
    causal_test(
        "check_one_too_few",
        [(MAY_MOVE, "moved[row, max(position - 1, 0) :] = False")],
        ["test_one_ahead"],
        "Your check lets the output one position before the changed token move, so it doesn't notice a look at the next token.",
    ),
    causal_test(
        "check_of_the_last_token",
        [("for position in range(6)", "for position in [5]")],
        ["test_some_places"],
        "Your check changes only the last token. Change each of them in turn.",
    ),
    causal_test(
        "check_of_the_first_output",
        [(NOT_MOVED, "assert not moved[row, 0]")],
        ["test_some_places"],
        "Your check watches only the output at position 0. Watch all outputs that may not move.",
    ),
    causal_test(
        "check_of_larger_numbers_only",
        [("(-9.0, 9.0)", "(9.0, 9.5)")],
        ["test_detail"],
        "Your check makes numbers larger, but never smaller.",
    ),
    causal_test(
        "check_of_small_changes",
        [(TOKENS, TOKENS + " / 10"), ("(-9.0, 9.0)", "(-1.0, 1.0)")],
        ["test_detail"],
        "Your changes are small, so some functions that aren't causal hardly move, or don't move at all.",
    ),
    causal_test(
        "check_of_one_number_of_the_output",
        [(MOVED, "moved = (function(changed) - before).abs()[..., 0] > 3e-3")],
        ["test_detail"],
        "Your check watches only one number of each output.",
    ),
    causal_test(
        "check_that_changes_one_number",
        [(CHANGE, "changed[row, position, 0] = value")],
        ["test_detail"],
        "Your check changes only one number of each token.",
    ),
    causal_test(
        "check_with_a_large_tolerance",
        [("> 3e-3", "> 0.5")],
        ["test_detail"],
        "Your check ignores moves of up to 0.5. Even a small one means that the future is seen.",
    ),
    causal_test(
        "check_with_zeros",
        [(TOKENS, "x = torch.zeros(2, 6, 4)")],
        ["test_total"],
        "All other tokens of your check are zeros, where a wrong weight or factor makes no difference.",
    ),
    causal_test(
        "check_of_a_single_sequence",
        [
            (TOKENS, "x = torch.arange(24.0).sin().view(1, 6, 4)"),
            ("for row in range(2)", "for row in range(1)"),
        ],
        ["test_batch"],
        "There is only one sequence in your batch.",
    ),
    causal_test(
        "check_of_the_changed_sequence_only",
        [(NOT_MOVED, "assert not moved[row].any()")],
        ["test_batch"],
        "Your check watches only the sequence in which a token was changed. The others may not move either.",
    ),
    causal_test(
        "check_for_equal_outputs",
        [("> 3e-3", "> 0")],
        ["test_everything"],
        "Your check asks for exact equality, which rejects causal functions that round elsewhere. Allow a small difference.",
    ),
    causal_test(
        "check_that_outputs_move",
        [(MAY_MOVE, "assert moved[row, position:].all()\n                " + MAY_MOVE)],
        ["test_everything"],
        "Your check asks that outputs move. They may, but a causal function needn't use all that it sees.",
    ),
    causal_test(
        "check_without_the_own_position",
        [(MAY_MOVE, "moved[row, position + 1 :] = False")],
        ["test_everything"],
        "Your check rejects functions whose output depends on the token at the same position. It may.",
    ),
]

MISTAKES = [
    *FEED_FORWARD,
    *ENCODER_LAYER,
    *DECODER_LAYER,
    *ENCODER,
    *DECODER,
    *TRANSFORMER,
    *MORE,
    *CHECK_CAUSAL,
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "torch finds no layer, so no check can set the weights.": [
            "e_plain_list",
            "d_plain_list",
        ],
        "Layers with the right sizes can't be compared with it.": [
            "el_width_hard_coded",
        ],
        "The exercise is about cross-attention.": [
            "dl_no_cross_attention",
            "dl_query_from_the_memory",
        ],
        "The exercise is to put the layers together, so each check runs through what is wrong.": [
            "d_no_positions",
            "d_layers_shared",
            "d_one_layer_only",
            "d_last_layer_left_out",
            "d_always_a_final_norm",
            "d_every_layer_gets_the_embeddings",
            "d_later_layers_read_the_target",
        ],
        "The exercise is about the two masks, and a wrong one changes every output.": [
            "d_no_causal_mask",
            "d_masks_joined_by_or",
            "d_causal_mask_transposed",
            "d_one_step_into_the_future",
            "d_masks_exchanged",
        ],
        "It changes all logits, or the model can't be built.": [
            "t_softmax",
            "t_log_softmax",
            "t_relu_at_the_end",
            "t_vocabularies_exchanged",
        ],
        "It accepts nearly every function.": [
            "check_of_the_shape",
            "check_of_reversed_tokens",
        ],
        "A test that rejects causal functions is of no use, whatever else it rejects.": [
            "check_for_equal_outputs",
            "check_that_outputs_move",
            "check_without_the_own_position",
        ],
    },
)
