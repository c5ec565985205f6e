"""Wrong answers to exercise 5, `decoder`."""

from _both_halves import STACK, of_both

from gradekit.checks import Mistakes

D_CALL = "y = layer(y, memory, target_mask, memory_mask)"
BOTH_MASKS = "target_mask = padding & causal"
EVERY_CHECK = "The exercise is to put the layers together, so each check runs through what is wrong."
TWO_MASKS = "The exercise is about the two masks, and a wrong one changes every output."

wrong = Mistakes("d_")

of_both(
    wrong,
    "decoder",
    "DecoderLayer",
    "y = self.positions(self.embedding(tgt))",
    ["test_pads_of_the_target_are_hidden"],
    "test_embeddings_and_dropout",
)
wrong.costs("torch finds no layer, so no check can set the weights.", "plain_list")
wrong.costs(
    EVERY_CHECK,
    "no_positions",
    "layers_shared",
    "one_layer_only",
    "last_layer_left_out",
    "always_a_final_norm",
)

wrong.about("test_no_leak_of_the_future")
wrong("no_causal_mask", BOTH_MASKS, "target_mask = padding")
wrong.says(
    "The causal mask is missing or hides nothing, so every position sees the token that it has to predict."
)
wrong.costs(TWO_MASKS)
wrong("masks_joined_by_or", BOTH_MASKS, "target_mask = padding | causal")
wrong.says("You combined the two masks with `|`. A key must be visible in both, so combine them with `&`.")
wrong.costs(TWO_MASKS)
wrong("causal_mask_transposed")
wrong.edit("causal = make_causal_mask(tgt.shape[1])", "causal = make_causal_mask(tgt.shape[1]).T")
wrong.says("Your causal mask is transposed: it shows the future and hides the past.")
wrong.costs(TWO_MASKS)
wrong("one_step_into_the_future", "causal = make_causal_mask(tgt.shape[1])")
wrong.to("causal = torch.ones(tgt.shape[1], tgt.shape[1]).tril(1).bool()")
wrong.says(
    "Your causal mask is off by one: a position sees the token after it, which is what it has to predict."
)
wrong.costs(TWO_MASKS)
wrong("masks_exchanged", D_CALL, "y = layer(y, memory, memory_mask, target_mask)")
wrong.says("You swapped the two masks: a layer takes target_mask first, then memory_mask.")
wrong.costs(TWO_MASKS)

wrong.about("test_pads_of_the_target_are_hidden")
wrong("target_padding_visible", BOTH_MASKS, "target_mask = causal")
wrong.says(
    "Padding in the target is visible to the tokens after it: the causal mask hides it only from those before it. Hide it as a key."
)
wrong("padding_on_the_query_axis", BOTH_MASKS, "target_mask = padding.transpose(1, 2) & causal")
wrong.says("Your padding mask hides padding on the query axis. Hide it as keys, on the last axis.")
wrong("position_0_always_visible", BOTH_MASKS, f"{BOTH_MASKS}\n        target_mask[:, :, 0] = True")
wrong.says("Position 0 is always visible, even if it is padding. Then it has to be hidden.")

wrong.about(STACK)
wrong("blind_to_itself")
wrong.edit("causal = make_causal_mask(tgt.shape[1])", "causal = make_causal_mask(tgt.shape[1]).tril(-1)")
wrong.says("Your causal mask hides each position from itself.")
wrong("every_layer_gets_the_embeddings", D_CALL, "out = layer(y, memory, target_mask, memory_mask)")
wrong.edit("return self.norm(y)", "return self.norm(out)")
wrong.says("Every layer gets the embeddings, so only the last one counts.")
wrong.says("Pass each layer the output of the one before it.")
wrong.costs(EVERY_CHECK)
wrong("later_layers_read_the_target")
wrong.edit(D_CALL, "y = layer(y, memory if layer is self.layers[0] else y, target_mask, None)")
wrong.says("Only the first layer reads the memory. Pass the same memory to every layer.")
wrong.costs(EVERY_CHECK)

wrong.about("test_memory_mask")
wrong("memory_mask_dropped", D_CALL, "y = layer(y, memory, target_mask)")
wrong.says("The layers don't get memory_mask, so padding in the source is visible.")
wrong("memory_mask_of_the_first_sequence", D_CALL)
wrong.to("y = layer(y, memory, target_mask, None if memory_mask is None else memory_mask[:1])")
wrong.says("All sequences get the mask of the first one. Pass memory_mask on as it is.")
wrong("memory_mask_for_the_first_layer_only")
wrong.edit(D_CALL, "y = layer(y, memory, target_mask, memory_mask if layer is self.layers[0] else None)")
wrong.says("Only the first layer gets memory_mask. Every layer needs it.")

wrong.about("test_order_matters")
wrong("embeddings_alone", "y = self.positions(self.embedding(tgt))", "y = self.embedding(tgt)")
wrong.says(
    "Your decoder doesn't use PositionalEncoder: the layers get the embeddings alone, without positions."
)
wrong.costs("It computes a different function for every input.")

wrong.about("test_runs_through_all_layers")
wrong("mask_returned_too", "return self.norm(y)", "return self.norm(y), target_mask")
wrong.says("You return a pair. The decoder returns only its vectors.")
wrong.costs("Every check needs the tensor.")

wrong.about("test_final_norm")
wrong("final_norm_unused", "return self.norm(y)", "return y")
wrong.says("You don't apply the final norm.")

wrong.unnamed(
    "Its checks compare values for drawn inputs, of which none are recorded.", "embeddings_too_large"
)
