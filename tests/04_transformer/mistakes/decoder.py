"""Wrong answers to exercise 5, `decoder`."""

from _both_halves import STACK, of_both

from gradekit.checks import Mistake, with_costs

D_CALL = "y = layer(y, memory, target_mask, memory_mask)"
BOTH_MASKS = "target_mask = padding & causal"

MISTAKES = [
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
        "Pass each layer the output of the one before it.",
    ),
    Mistake(
        "d_later_layers_read_the_target",
        cell="decoder",
        edits=[(D_CALL, "y = layer(y, memory if layer is self.layers[0] else y, target_mask, None)")],
        about=[STACK],
        sentence="Only the first layer reads the memory. Pass the same memory to every layer.",
    ),
    Mistake(
        "d_embeddings_alone",
        cost="It computes a different function for every input.",
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
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "torch finds no layer, so no check can set the weights.": [
            "d_plain_list",
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
    },
)
