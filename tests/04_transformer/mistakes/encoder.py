"""Wrong answers to exercise 4, `encoder`."""

from _both_halves import STACK, of_both

from gradekit.checks import Mistake, with_costs

E_CALL = "x = layer(x, mask)"

MISTAKES = [
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
        "e_final_norm_unused",
        cell="encoder",
        edits=[("return self.norm(x), mask", "return x, mask")],
        about=["test_final_norm"],
        sentence="You don't apply the final norm.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "torch finds no layer, so no check can set the weights.": [
            "e_plain_list",
        ],
    },
)
