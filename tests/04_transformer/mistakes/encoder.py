"""Wrong answers to exercise 4, `encoder`."""

from _both_halves import STACK, of_both

from gradekit.checks import Mistakes

E_CALL = "x = layer(x, mask)"

wrong = Mistakes("e_")

of_both(
    wrong,
    "encoder",
    "EncoderLayer",
    "x = self.positions(self.embedding(src))",
    ["test_pads_are_hidden", "test_returns_the_mask"],
    "test_dropout",
)
wrong.costs("torch finds no layer, so no check can set the weights.", "plain_list")

wrong.about("test_pads_are_hidden")
wrong("mask_dropped", E_CALL, "x = layer(x)")
wrong.says("The layers don't get the mask, so padding is visible.")
wrong("mask_for_the_first_layer_only", E_CALL, "x = layer(x, mask if layer is self.layers[0] else None)")
wrong.says("Only the first layer gets the mask. Every layer needs it.")
wrong("mask_on_the_query_axis", E_CALL, "x = layer(x, mask.transpose(1, 2))")
wrong.says("Your mask hides padding on the query axis. Hide it as keys, on the last axis.")

wrong.about(STACK)
wrong("every_layer_gets_the_embeddings", E_CALL, "memory = layer(x, mask)")
wrong.edit("return self.norm(x), mask", "return self.norm(memory), mask")
wrong.says("Every layer gets the embeddings, so only the last layer has an effect.")
wrong.says("Pass each layer the output of the one before it.")
wrong("causal_encoder", E_CALL, "x = layer(x, mask & make_causal_mask(src.shape[1]))")
wrong.says("Your encoder has a causal mask. It should look in both directions.")

wrong.about("test_embeddings_start_small")
wrong("no_padding_idx", ", padding_idx=pad_idx", "")
wrong.says("The embedding has no padding_idx, so training changes the padding row.")

wrong.about("test_returns_the_mask")
wrong("mask_inverted_on_return", "return self.norm(x), mask", "return self.norm(x), ~mask")
wrong.says(
    "The mask that you return is True at padding. True has to mean that a token may be attended to.",
    uses=("*mask*",),
)
wrong("mask_without_its_axis", "return self.norm(x), mask", "return self.norm(x), mask[:, 0]")
wrong.says("The mask that you return has no axis for the queries. Its shape should be (batch, 1, L_src).")
wrong("memory_alone", "return self.norm(x), mask", "return self.norm(x)")
wrong.says("You return only the memory. Return the pair (memory, mask).")
wrong.costs("Every check takes the pair apart.")

wrong.about("test_order_matters")
wrong("embeddings_alone", "x = self.positions(self.embedding(src))", "x = self.embedding(src)")
wrong.says(
    "Your encoder doesn't use PositionalEncoder: the layers get the embeddings alone, without positions."
)

wrong.about("test_final_norm")
wrong("final_norm_unused", "return self.norm(x), mask", "return x, mask")
wrong.says("You don't apply the final norm.")

wrong.unnamed(
    "Its checks compare values for drawn inputs, of which none are recorded.", "embeddings_too_large"
)
