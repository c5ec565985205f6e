"""Wrong answers to exercise 2, `encoder_layer`."""

from gradekit.checks import Mistakes

PRE_ATTENTION = "x = x + self.dropout(self.self_attn(normed, normed, normed, mask)[0])"
POST_ATTENTION = "x = self.norm1(x + self.dropout(attended))"
POST_END = "return self.norm2(x + self.dropout(changed))"
PRE_END = "return x + self.dropout(self.feed_forward(normed))"
POST, PRE = "test_post_norm", "test_pre_norm"
LAYER_ATTN = "self.self_attn = FusedMultiHeadAttention(d_model, num_heads, dropout)"

wrong = Mistakes()

wrong.about(POST)
wrong("el_no_residual", POST_ATTENTION, "x = self.norm1(self.dropout(attended))")
wrong.edit(POST_END, "return self.norm2(self.dropout(changed))")
wrong.says(
    "In post-norm the residual connections are missing: add the input of a sublayer to its output, and "
    "normalize the sum."
)
wrong("el_no_residual_around_attention", POST_ATTENTION, "x = self.norm1(self.dropout(attended))")
wrong.says("In post-norm the residual connection around attention is missing.")
wrong("el_no_residual_around_feed_forward", POST_END, "return self.norm2(self.dropout(changed))")
wrong.says("In post-norm the residual connection around the feed-forward network is missing.")
wrong("el_norm_of_the_summand", POST_ATTENTION, "x = self.norm1(x) + self.dropout(attended)")
wrong.edit(POST_END, "return self.norm2(x) + self.dropout(changed)")
wrong.says("In post-norm you compute norm(x) + f(x). It should be norm(x + f(x)): add first, then normalize.")
wrong("el_norm_of_the_branch", POST_ATTENTION, "x = x + self.norm1(self.dropout(attended))")
wrong.edit(POST_END, "return x + self.norm2(self.dropout(changed))")
wrong.says("In post-norm you compute x + norm(f(x)). It should be norm(x + f(x)): add first, then normalize.")
wrong("el_always_pre_norm", "if self.norm_first:", "if True:")
wrong.says("Your layer is always pre-norm. With norm_first=False the norms come after the sums.")
wrong("el_feed_forward_first")
wrong.edit("attended = self.self_attn(x, x, x, mask)[0]", "attended = self.feed_forward(x)")
wrong.edit("changed = self.feed_forward(x)", "changed = self.self_attn(x, x, x, mask)[0]")
wrong.says("In post-norm the feed-forward network comes before attention. Attention comes first.")
wrong(
    "el_feed_forward_of_the_input",
    "attended = self.self_attn(x, x, x, mask)[0]",
    "attended, given = self.self_attn(x, x, x, mask)[0], x",
)
wrong.edit("changed = self.feed_forward(x)", "changed = self.feed_forward(given)")
wrong.says("In post-norm the feed-forward network gets the input of the layer.")
wrong.says("It should get the output of norm1.")
wrong("el_norm1_twice_in_post_norm", POST_END, "return self.norm1(x + self.dropout(changed))")
wrong.says("In post-norm you use norm1 in both places. The feed-forward network has norm2.")
wrong("el_feed_forward_of_attention_alone")
wrong.edit("changed = self.feed_forward(x)", "changed = self.feed_forward(attended)")
wrong.says("In post-norm the feed-forward network gets the output of attention.")
wrong.says("It should get x, after the sum and the norm.")

wrong.about(PRE)
wrong("el_pre_no_residual", PRE_ATTENTION, PRE_ATTENTION.replace("x = x + ", "x = "))
wrong.edit(PRE_END, "return self.dropout(self.feed_forward(normed))")
wrong.says("In pre-norm the residual connections are missing: add the output of each sublayer to x.")
wrong("el_always_post_norm", "if self.norm_first:", "if False:")
wrong.says("Your layer is always post-norm. With norm_first=True the norms come before the sublayers.")
wrong("el_residual_from_the_normed", PRE_ATTENTION, PRE_ATTENTION.replace("x = x +", "x = normed +"))
wrong.edit(PRE_END, "return normed + self.dropout(self.feed_forward(normed))")
wrong.says("In pre-norm you add to the normalized vectors. Add to x as it was before the norm.")
wrong("el_only_the_query_normed", "(normed, normed, normed, mask)", "(normed, x, x, mask)")
wrong.says("In pre-norm you normalize only the queries. Normalize the keys and values as well.")
wrong("el_norm_at_the_end_of_pre_norm")
wrong.edit(PRE_END, "return self.norm2(x + self.dropout(self.feed_forward(normed)))")
wrong.says("In pre-norm your layer ends in a norm.")
wrong.says("The final norm belongs in the encoder, once, after all layers.")
wrong("el_pre_residual_from_the_normed_around_attention")
wrong.edit("x = x + self.dropout(self.self_attn(normed", "x = normed + self.dropout(self.self_attn(normed")
wrong.says("In pre-norm you add the output of attention to the normalized vectors.")
wrong.says("Add it to x as it was before the norm.")
wrong("el_pre_residual_from_the_normed_around_feed_forward")
wrong.edit(PRE_END, "return normed + self.dropout(self.feed_forward(normed))")
wrong.says("In pre-norm you add the output of the feed-forward network to the normalized vectors.")
wrong.says("Add it to x as it was before the norm.")
wrong("el_pre_no_residual_around_attention")
wrong.edit("x = x + self.dropout(self.self_attn(normed", "x = self.dropout(self.self_attn(normed")
wrong.says("In pre-norm the residual connection around attention is missing.")
wrong("el_pre_no_residual_around_feed_forward", PRE_END, "return self.dropout(self.feed_forward(normed))")
wrong.says("In pre-norm the residual connection around the feed-forward network is missing.")
wrong("el_norm1_twice_in_pre_norm", "normed = self.norm2(x)", "normed = self.norm1(x)")
wrong.says("In pre-norm you use norm1 in both places. The feed-forward network has norm2.")
wrong("el_pre_feed_forward_without_a_norm", PRE_END, "return x + self.dropout(self.feed_forward(x))")
wrong.says("In pre-norm the feed-forward network gets x itself. Normalize its input with norm2.")

wrong.about(POST, PRE)
wrong("el_orders_swapped", "if self.norm_first:", "if not self.norm_first:")
wrong.says(
    "You swapped pre-norm and post-norm: norm_first=True means that the norm comes before the sublayer."
)
wrong("el_norm1_used_twice", POST_END, "return self.norm1(x + self.dropout(changed))")
wrong.edit("normed = self.norm2(x)", "normed = self.norm1(x)")
wrong.says("You use norm1 in both places and never use norm2.")
wrong("el_norms_exchanged", POST_ATTENTION, POST_ATTENTION.replace("norm1", "norm2"))
wrong.edit(POST_END, POST_END.replace("norm2", "norm1"))
wrong.edit("normed = self.norm1(x)", "normed = self.norm2(x) ")
wrong.edit("normed = self.norm2(x)\n", "normed = self.norm1(x)\n")
wrong.says("You swapped norm1 and norm2. norm1 belongs to attention.")
wrong("el_no_norm1", POST_ATTENTION, "x = x + self.dropout(attended)")
wrong.edit("normed = self.norm1(x)", "normed = x")
wrong.says("You don't use `norm1`: the norm of attention is missing.")
wrong("el_no_norm2", POST_END, "return x + self.dropout(changed)")
wrong.edit("normed = self.norm2(x)", "normed = x")
wrong.says("You don't use `norm2`: the norm of the feed-forward network is missing.")
wrong("el_no_feed_forward", POST_END, "return x")
wrong.edit(PRE_END, "return x")
wrong.says("You left out the feed-forward network.")
wrong("el_one_head", LAYER_ATTN, "self.self_attn = FusedMultiHeadAttention(d_model, 1, dropout)")
wrong.says("Your attention has only one head. Pass num_heads on.")
wrong("el_pair_not_taken_apart")
wrong.edit("attended = self.self_attn(x, x, x, mask)[0]", "attended = self.self_attn(x, x, x, mask)")
wrong.edit("(normed, normed, normed, mask)[0]", "(normed, normed, normed, mask)")
wrong.says("Attention returns the pair (output, weights), which you use as if it were one tensor.")
wrong.says("Take its first part, `[0]`.")
wrong.costs("It stops with an error.")

wrong.about("test_parameters")
wrong("el_norms_shared", "self.norm2 = nn.LayerNorm(d_model)", "self.norm2 = self.norm1")
wrong.says("Both norms are the same module. Each place needs its own norm with its own parameters.")
wrong("el_width_hard_coded")
wrong.edit("FeedForward(d_model, d_ff, dropout)", "FeedForward(d_model, 4 * d_model, dropout)")
wrong.says("The hidden width of your feed-forward network is 4 · d_model. Pass d_ff on.")
wrong.costs("Layers with the right sizes can't be compared with it.")

wrong.about("test_mask")
wrong("el_mask_dropped", "(x, x, x, mask)", "(x, x, x)")
wrong.edit("(normed, normed, normed, mask)", "(normed, normed, normed)")
wrong.says("You don't pass the mask to self-attention, so hidden tokens are visible.")
wrong("el_mask_dropped_in_pre_norm", "(normed, normed, normed, mask)", "(normed, normed, normed)")
wrong.says("In pre-norm you don't pass the mask to self-attention.")
wrong("el_mask_inverted", "(x, x, x, mask)", "(x, x, x, None if mask is None else ~mask)")
wrong.edit("(normed, normed, normed, mask)", "(normed, normed, normed, None if mask is None else ~mask)")
wrong.says("You inverted the mask. True means that a query may attend to the key.")

wrong.about("test_dropout")
wrong("el_no_dropout", POST_ATTENTION, "x = self.norm1(x + attended)")
wrong.edit(POST_END, "return self.norm2(x + changed)")
wrong.edit(PRE_ATTENTION, "x = x + self.self_attn(normed, normed, normed, mask)[0]")
wrong.edit(PRE_END, "return x + self.feed_forward(normed)")
wrong.says("You don't apply dropout to the output of the sublayers before it is added.")
wrong("el_dropout_on_the_sum", POST_ATTENTION, "x = self.norm1(self.dropout(x + attended))")
wrong.edit(POST_END, "return self.norm2(self.dropout(x + changed))")
wrong.says("In post-norm you apply dropout to the sum.")
wrong.says("Apply it to the output of the sublayer, before it is added.")
wrong("el_dropout_not_passed_on", LAYER_ATTN, "self.self_attn = FusedMultiHeadAttention(d_model, num_heads)")
wrong.edit("FeedForward(d_model, d_ff, dropout)", "FeedForward(d_model, d_ff)")
wrong.says("You don't pass the dropout probability to attention and the feed-forward network.")
wrong("el_dropout_in_eval")
wrong.edit("self.dropout = nn.Dropout(dropout)", "self.dropout = lambda t: nn.functional.dropout(t, dropout)")
wrong.says("Your dropout stays on after eval(). Use nn.Dropout, or pass training=self.training to F.dropout.")
wrong("el_no_dropout_in_post_norm", POST_ATTENTION, "x = self.norm1(x + attended)")
wrong.edit(POST_END, "return self.norm2(x + changed)")
wrong.says("In post-norm you don't apply dropout to the output of the sublayers before it is added.")
wrong("el_no_dropout_in_pre_norm", PRE_ATTENTION, "x = x + self.self_attn(normed, normed, normed, mask)[0]")
wrong.edit(PRE_END, "return x + self.feed_forward(normed)")
wrong.says("In pre-norm you don't apply dropout to the output of the sublayers before it is added.")
wrong("el_dropout_on_the_sum_of_attention", POST_ATTENTION, "x = self.norm1(self.dropout(x + attended))")
wrong.says("In post-norm you apply dropout to the sum after attention.")
wrong.says("Apply it to the output of attention alone.")
wrong(
    "el_dropout_not_passed_to_attention",
    "FusedMultiHeadAttention(d_model, num_heads, dropout)",
    "FusedMultiHeadAttention(d_model, num_heads)",
)
wrong.says("You don't pass the dropout probability to attention.")
wrong("el_dropout_not_passed_to_feed_forward")
wrong.edit("FeedForward(d_model, d_ff, dropout)", "FeedForward(d_model, d_ff)")
wrong.says("You don't pass the dropout probability to the feed-forward network.")

wrong.about("test_gradients")
wrong(
    "el_attention_detached",
    "attended = self.self_attn(x, x, x, mask)[0]",
    "attended = self.self_attn(x, x, x, mask)[0].detach()",
)
wrong.says("In post-norm the output of attention is detached, so attention never learns.")

wrong.about("test_x_unchanged_and_dtype_kept")
wrong("el_changed_in_place", PRE_ATTENTION, PRE_ATTENTION.replace("x = x + ", "x += "))
wrong.says("`x += ...` modifies the caller's x. Write `x = x + ...`.")
