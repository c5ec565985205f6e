"""Wrong answers to exercise 3, `decoder_layer`."""

from gradekit.checks import Mistakes

POST, PRE = "test_post_norm", "test_pre_norm"
D_PRE_CROSS = "y = y + self.dropout(self.cross_attn(normed, memory, memory, memory_mask)[0])"
D_PRE_SELF = "y = y + self.dropout(self.self_attn(normed, normed, normed, target_mask)[0])"
D_PRE_END = "return y + self.dropout(self.feed_forward(normed))"
D_POST_SELF = "y = self.norm1(y + self.dropout(attended))"
D_POST_CROSS = "y = self.norm2(y + self.dropout(found))"
D_POST_END = "return self.norm3(y + self.dropout(changed))"
CROSS, CROSS_PRE = "(y, memory, memory, memory_mask)", "(normed, memory, memory, memory_mask)"
IF_ANY = "memory_mask if memory_mask is not None and memory_mask.any() else None"
ABOUT_CROSS = "The exercise is about cross-attention."

wrong = Mistakes()

wrong.about("test_reads_all_of_the_memory")
wrong("dl_no_cross_attention", D_POST_CROSS, "pass")
wrong.edit(D_PRE_CROSS, "pass")
wrong.says("You left out cross-attention, so the decoder never sees the source.")
wrong.costs(ABOUT_CROSS)
wrong("dl_cross_reads_itself", CROSS, "(y, y, y, target_mask)")
wrong.edit(CROSS_PRE, "(normed, normed, normed, target_mask)")
wrong.says("Your cross-attention reads the target. Its keys and values come from the memory.")
wrong.costs("Nothing of the memory reaches the output, and most checks are about the memory or the masks.")
wrong("dl_causal_mask_on_cross_attention", CROSS, "(y, memory, memory, target_mask)")
wrong.edit(CROSS_PRE, "(normed, memory, memory, target_mask)")
wrong.says("Cross-attention gets the target mask.")
wrong.says("Every target position may read all of the memory: pass memory_mask.")

wrong.about(POST, PRE)
wrong("dl_query_from_the_memory", CROSS, "(memory, y, y, target_mask)")
wrong.edit(CROSS_PRE, "(memory, normed, normed, target_mask)")
wrong.says("Your cross-attention takes the queries from the memory.")
wrong.says("Queries come from the target, keys and values from the memory.")
wrong.costs(ABOUT_CROSS)
wrong("dl_self_attention_used_twice", "found = self.cross_attn(", "found = self.self_attn(")
wrong.edit(D_PRE_CROSS, D_PRE_CROSS.replace("cross_attn", "self_attn"))
wrong.says("You use self_attn in both places and never use cross_attn.")
wrong("dl_no_residual_around_cross_attention", D_POST_CROSS, "y = self.norm2(self.dropout(found))")
wrong.edit(D_PRE_CROSS, D_PRE_CROSS.replace("y = y + ", "y = "))
wrong.says("The residual connection around cross-attention is missing.")
wrong("dl_norm2_used_twice", D_POST_END, D_POST_END.replace("norm3", "norm2"))
wrong.edit("normed = self.norm3(y)", "normed = self.norm2(y)")
wrong.says("You use norm2 in two places and never use norm3.")
wrong("dl_no_norm2", D_POST_CROSS, "y = y + self.dropout(found)")
wrong.edit("normed = self.norm2(y)", "normed = y")
wrong.says("You don't use `norm2`: the norm of cross-attention is missing.")
wrong("dl_norms_out_of_order", D_POST_CROSS, D_POST_CROSS.replace("norm2", "norm3"))
wrong.edit(D_POST_END, D_POST_END.replace("norm3", "norm2"))
wrong.edit("normed = self.norm2(y)", "normed = self.norm3(y) ")
wrong.edit("normed = self.norm3(y)\n", "normed = self.norm2(y)\n")
wrong.says(
    "You swapped norm2 and norm3: norm2 belongs to cross-attention, norm3 to the feed-forward network."
)
wrong("dl_no_feed_forward", D_POST_END, "return y")
wrong.edit(D_PRE_END, "return y")
wrong.says("The feed-forward network is left out.")
wrong("dl_values_from_the_target")
wrong.edit("self.cross_attn(y, memory, memory, memory_mask)", "self.cross_attn(y, memory, y, memory_mask)")
wrong.edit("self.cross_attn(normed, memory, memory, memory_mask)")
wrong.to("self.cross_attn(normed, memory, normed, memory_mask)")
wrong.says("The values of your cross-attention come from the target.")
wrong.says("Keys and values both come from the memory.")
wrong.costs("It stops with an error unless source and target have the same length.")

wrong.about("test_memory_mask")
wrong("dl_memory_mask_dropped", CROSS, "(y, memory, memory)")
wrong.edit(CROSS_PRE, "(normed, memory, memory)")
wrong.says(
    "`memory_mask` doesn't reach cross-attention, or not each sequence's own, so padding in the source is visible."
)
wrong("dl_memory_mask_dropped_in_pre_norm", CROSS_PRE, "(normed, memory, memory)")
wrong.says("In pre-norm you don't pass memory_mask to cross-attention.")
wrong("dl_mask_that_hides_everything_ignored", CROSS, CROSS.replace("memory_mask", IF_ANY))
wrong.edit(CROSS_PRE, CROSS_PRE.replace("memory_mask", IF_ANY))
wrong.says("You leave out a memory mask that hides everything. Then nothing of the memory may count.")

wrong.about("test_no_leak_of_the_future")
wrong("dl_target_mask_dropped", "(y, y, y, target_mask)", "(y, y, y)")
wrong.edit("(normed, normed, normed, target_mask)", "(normed, normed, normed)")
wrong.says("You don't pass `target_mask` to self-attention, so every position sees the future.")
wrong("dl_target_mask_dropped_in_pre_norm")
wrong.edit("(normed, normed, normed, target_mask)", "(normed, normed, normed)")
wrong.says("In pre-norm you don't pass target_mask to self-attention, so every position sees the future.")
wrong("dl_masks_exchanged", "(y, y, y, target_mask)", "(y, y, y, memory_mask)")
wrong.edit("(normed, normed, normed, target_mask)", "(normed, normed, normed, memory_mask)")
wrong.edit(CROSS, "(y, memory, memory, target_mask)")
wrong.edit(CROSS_PRE, "(normed, memory, memory, target_mask)")
wrong.says(
    "You swapped the two masks: target_mask belongs to self-attention, memory_mask to cross-attention."
)

wrong.about("test_parameters")
wrong("dl_attention_shared", "self.cross_attn = FusedMultiHeadAttention(d_model, num_heads, dropout)")
wrong.to("self.cross_attn = self.self_attn")
wrong.says("Self-attention and cross-attention are the same module. Each needs its own weights.")
wrong("dl_norms_shared", "self.norm2 = nn.LayerNorm(d_model)", "self.norm2 = self.norm1")
wrong.edit("self.norm3 = nn.LayerNorm(d_model)", "self.norm3 = self.norm1")
wrong.says("All norms are the same module. Each place needs its own norm with its own parameters.")

wrong.about(POST)
wrong("dl_cross_attention_first", "attended = self.self_attn(y, y, y, target_mask)[0]")
wrong.to("attended = self.cross_attn(y, memory, memory, memory_mask)[0]")
wrong.edit("found = self.cross_attn(y, memory, memory, memory_mask)[0]")
wrong.to("found = self.self_attn(y, y, y, target_mask)[0]")
wrong.says("In post-norm cross-attention comes before self-attention. Self-attention comes first.")
wrong("dl_no_residual", D_POST_SELF, "y = self.norm1(self.dropout(attended))")
wrong.edit(D_POST_CROSS, "y = self.norm2(self.dropout(found))")
wrong.edit(D_POST_END, "return self.norm3(self.dropout(changed))")
wrong.says(
    "In post-norm the residuals are missing: add the input of a sublayer to its output, and normalize the "
    "sum."
)
wrong("dl_norm_of_the_summand", D_POST_SELF, "y = self.norm1(y) + self.dropout(attended)")
wrong.edit(D_POST_CROSS, "y = self.norm2(y) + self.dropout(found)")
wrong.edit(D_POST_END, "return self.norm3(y) + self.dropout(changed)")
wrong.says("In post-norm you compute norm(y) + f(y). It should be norm(y + f(y)): add first, then normalize.")
wrong("dl_always_pre_norm", "if self.norm_first:", "if True:")
wrong.says("Your layer is pre-norm where norm_first isn't given.")
wrong.says("By default, and with norm_first=False, the norms follow the sums.")
wrong("dl_no_cross_attention_in_post_norm", D_POST_CROSS, "y = self.norm2(y)")
wrong.says(
    "In post-norm the output of cross-attention is never added, so the decoder doesn't see the source."
)

wrong.about(PRE)
wrong("dl_memory_normed", CROSS_PRE, "(normed, self.norm2(memory), self.norm2(memory), memory_mask)")
wrong.says("In pre-norm you also normalize the memory. The encoder has already done that; use it as it is.")
wrong("dl_always_post_norm", "if self.norm_first:", "if False:")
wrong.says("Your layer is post-norm, whatever norm_first says.")
wrong.says("With norm_first=True the norms come before the sublayers.")
wrong("dl_residual_from_the_normed", D_PRE_SELF, D_PRE_SELF.replace("y = y +", "y = normed +"))
wrong.edit(D_PRE_CROSS, D_PRE_CROSS.replace("y = y +", "y = normed +"))
wrong.edit(D_PRE_END, D_PRE_END.replace("return y +", "return normed +"))
wrong.says("In pre-norm you add to the normalized vectors. Add to y as it was before the norm.")
wrong("dl_norm2_and_norm3_swapped_in_pre_norm")
wrong.edit("normed = self.norm2(y)\n            y = y + self.dropout(self.cross_attn")
wrong.to("normed = self.norm3(y)\n            y = y + self.dropout(self.cross_attn")
wrong.edit("normed = self.norm3(y)\n            return", "normed = self.norm2(y)\n            return")
wrong.says(
    "In pre-norm you swapped norm2 and norm3: norm2 belongs to cross-attention, norm3 to the feed-forward "
    "network."
)

wrong.about("test_dropout")
wrong("dl_no_dropout", D_POST_SELF, "y = self.norm1(y + attended)")
wrong.edit(D_POST_CROSS, "y = self.norm2(y + found)")
wrong.edit(D_POST_END, "return self.norm3(y + changed)")
wrong.edit(D_PRE_SELF, "y = y + self.self_attn(normed, normed, normed, target_mask)[0]")
wrong.edit(D_PRE_CROSS, "y = y + self.cross_attn(normed, memory, memory, memory_mask)[0]")
wrong.edit(D_PRE_END, "return y + self.feed_forward(normed)")
wrong.says("You don't apply dropout to the output of the sublayers before it is added.")
wrong("dl_dropout_after_the_norm", D_POST_SELF, "y = self.dropout(self.norm1(y + attended))")
wrong.edit(D_POST_CROSS, "y = self.dropout(self.norm2(y + found))")
wrong.edit(D_POST_END, "return self.dropout(self.norm3(y + changed))")
wrong.says("In post-norm you apply dropout to what the norm returns.")
wrong.says("Apply it to the output of the sublayer, before it is added.")
wrong("dl_dropout_not_passed_on", "self.cross_attn = FusedMultiHeadAttention(d_model, num_heads, dropout)")
wrong.to("self.cross_attn = FusedMultiHeadAttention(d_model, num_heads)")
wrong.edit("FeedForward(d_model, d_ff, dropout)", "FeedForward(d_model, d_ff)")
wrong.says("You don't pass the dropout probability to all three sublayers.")
wrong("dl_dropout_on_the_input", "(normed, normed, normed, target_mask)")
wrong.to("(*[self.dropout(normed)] * 3, target_mask)")
wrong.edit("(y, y, y, target_mask)", "(*[self.dropout(y)] * 3, target_mask)")
wrong.says(
    "You also apply dropout to the input of self-attention. Only its weights and its output are dropped."
)
wrong(
    "dl_dropout_by_function",
    "self.dropout = nn.Dropout(dropout)",
    "self.dropout = lambda x: F.dropout(x, dropout)",
)
wrong.says("`F.dropout` drops in evaluation mode, too. Use `nn.Dropout`, which knows the mode.")

wrong.about("test_gradients")
wrong("dl_memory_detached", CROSS, "(y, memory.detach(), memory.detach(), memory_mask)")
wrong.says("You detach the memory, so the encoder never learns.")

wrong.about("test_inputs_unchanged_and_dtype_kept")
wrong("dl_changed_in_place", D_PRE_SELF, D_PRE_SELF.replace("y = y + ", "y += "))
wrong.says("`y += ...` modifies the caller's y. Write `y = y + ...`.")

wrong.unnamed("Its exceptions have other causes, too.", "dl_values_from_the_target", "dl_masks_exchanged")
