"""Wrong answers to exercise 6, `copy_heads`."""

from gradekit.checks import mistakes_in, with_costs

BIAS = "            layer.bias.copy_(torch.cat([part.bias for part in parts]))  # (d_model,)\n"
PARTS = "[getattr(head, name) for head in heads.attn_modules]"
OF_HEADS = "test_weights_of_the_heads"
mistake = mistakes_in("copy_heads", "copy_")

MISTAKES = [
    mistake(
        "biases_forgotten",
        [(BIAS, "")],
        ["test_biases_of_the_heads"],
        "You didn't copy the biases of q, k and v.",
    ),
    mistake(
        "final_layer_forgotten",
        [
            (
                "        fused.w_o.weight.copy_(heads.linear.weight)\n"
                "        fused.w_o.bias.copy_(heads.linear.bias)\n",
                "",
            )
        ],
        ["test_final_layer"],
        "You didn't copy the final layer: `linear` goes into w_o.",
    ),
    mistake(
        "final_bias_forgotten",
        [("        fused.w_o.bias.copy_(heads.linear.bias)\n", "")],
        ["test_final_layer"],
        "You didn't copy the bias of the final layer.",
    ),
    mistake(
        "final_weight_transposed",
        [("(heads.linear.weight)", "(heads.linear.weight.T)")],
        ["test_final_layer"],
        "You transposed the weight of the final layer. Copy it as it is.",
    ),
    mistake(
        "heads_backwards",
        [(PARTS, PARTS.replace("heads.attn_modules", "reversed(heads.attn_modules)"))],
        [OF_HEADS],
        "You copied the heads in reverse order. Head 0 goes into the first rows.",
    ),
    mistake(
        "rows_interleaved",
        [
            (
                "torch.cat([part.weight for part in parts])",
                "torch.stack([part.weight for part in parts], dim=1).flatten(0, 1)",
            )
        ],
        [OF_HEADS],
        "The rows of the heads are interleaved. All rows of head 0 come first, then those of head 1.",
    ),
    mistake(
        "columns_for_rows",
        [
            (
                "torch.cat([part.weight for part in parts])",
                "torch.cat([part.weight.T for part in parts], dim=1)",
            )
        ],
        [OF_HEADS],
        "You transposed the heads' weights and put them side by side. "
        "A row of the weight produces a column of the result, so stack the rows.",
    ),
    mistake(
        "first_head_for_all",
        [(PARTS, "[getattr(heads.attn_modules[0], name) for head in heads.attn_modules]")],
        [OF_HEADS],
        "All heads got the weights of the first one. Copy each head's own weights.",
    ),
    mistake(
        "queries_and_keys_swapped",
        [('"q": fused.w_q, "k": fused.w_k', '"k": fused.w_q, "q": fused.w_k')],
        [OF_HEADS],
        "`q` and `k` are swapped: the weights of q go into w_q, those of k into w_k.",
    ),
    mistake(
        "values_forgotten",
        [(', "v": fused.w_v', "")],
        [OF_HEADS],
        "You didn't copy the values' layer: v goes into w_v.",
    ),
    mistake(
        "final_layer_shared",
        [
            (
                "        fused.w_o.weight.copy_(heads.linear.weight)\n"
                "        fused.w_o.bias.copy_(heads.linear.bias)\n",
                "        fused.w_o = heads.linear\n",
            )
        ],
        ["test_no_shared_memory"],
        "`w_o` is now the same layer as `linear`, so training one changes the other. Copy the numbers.",
    ),
    mistake(
        "final_data_shared",
        [("fused.w_o.weight.copy_(heads.linear.weight)", "fused.w_o.weight.data = heads.linear.weight.data")],
        ["test_no_shared_memory"],
        "`.data = ...` makes both layers use the same memory, so training one changes the other. "
        "Copy the numbers.",
    ),
    mistake(
        "wrong_direction",
        [("fused.w_o.weight.copy_(heads.linear.weight)", "heads.linear.weight.copy_(fused.w_o.weight)")],
        ["test_list_unchanged"],
        "You copied the weight of the final layer in the wrong direction, from the fused module to the list.",
    ),
    mistake(
        "with_a_copy_of_the_module",
        [("layers = {", "import copy\n\n    fused = copy.deepcopy(fused)\n    layers = {")],
        [OF_HEADS, "test_list_unchanged"],
        "You wrote into a copy of the fused module. Write into the one that is passed in.",
    ),
    mistake(
        "with_gradients",
        [("    with torch.no_grad():\n        for", "    if True:\n        for")],
        [OF_HEADS],
        "You copy into parameters without `torch.no_grad()`, which raises an error.",
        cost="It stops with an error.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "Nothing is copied where it is needed.": [
            "copy_with_a_copy_of_the_module",
        ],
    },
)
