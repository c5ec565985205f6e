"""Wrong answers to exercise 6, `copy_heads`."""

from gradekit.checks import Mistakes

BIAS = "            layer.bias.copy_(torch.cat([part.bias for part in parts]))  # (d_model,)\n"
PARTS = "[getattr(head, name) for head in heads.attn_modules]"
OF_HEADS = "test_weights_of_the_heads"

wrong = Mistakes("copy_")

wrong.about("test_biases_of_the_heads")
wrong("biases_forgotten", BIAS, "")
wrong.says("You didn't copy the biases of q, k and v.")

wrong.about("test_final_layer")
wrong(
    "final_layer_forgotten",
    "        fused.w_o.weight.copy_(heads.linear.weight)\n        fused.w_o.bias.copy_(heads.linear.bias)\n",
    "",
)
wrong.says("You didn't copy the final layer: `linear` goes into w_o.")
wrong("final_bias_forgotten", "        fused.w_o.bias.copy_(heads.linear.bias)\n", "")
wrong.says("You didn't copy the bias of the final layer.")
wrong("final_weight_transposed", "(heads.linear.weight)", "(heads.linear.weight.T)")
wrong.says("You transposed the weight of the final layer. Copy it as it is.")

wrong.about(OF_HEADS)
wrong("heads_backwards", PARTS, PARTS.replace("heads.attn_modules", "reversed(heads.attn_modules)"))
wrong.says("You copied the heads in reverse order. Head 0 goes into the first rows.")
wrong("rows_interleaved", "torch.cat([part.weight for part in parts])")
wrong.to("torch.stack([part.weight for part in parts], dim=1).flatten(0, 1)")
wrong.says("The rows of the heads are interleaved. All rows of head 0 come first, then those of head 1.")
wrong("columns_for_rows", "torch.cat([part.weight for part in parts])")
wrong.to("torch.cat([part.weight.T for part in parts], dim=1)")
wrong.says("You transposed the heads' weights and put them side by side.")
wrong.says("A row of the weight produces a column of the result, so stack the rows.")
wrong("first_head_for_all", PARTS, "[getattr(heads.attn_modules[0], name) for head in heads.attn_modules]")
wrong.says("All heads got the weights of the first one. Copy each head's own weights.")
wrong("queries_and_keys_swapped", '"q": fused.w_q, "k": fused.w_k', '"k": fused.w_q, "q": fused.w_k')
wrong.says("`q` and `k` are swapped: the weights of q go into w_q, those of k into w_k.")
wrong("values_forgotten", ', "v": fused.w_v', "")
wrong.says("You didn't copy the values' layer: v goes into w_v.")
wrong("with_gradients", "    with torch.no_grad():\n        for", "    if True:\n        for")
wrong.says("You copy into parameters without `torch.no_grad()`, which raises an error.")
wrong.costs("It stops with an error.")

wrong.about("test_no_shared_memory")
wrong(
    "final_layer_shared",
    "        fused.w_o.weight.copy_(heads.linear.weight)\n        fused.w_o.bias.copy_(heads.linear.bias)\n",
    "        fused.w_o = heads.linear\n",
)
wrong.says(
    "`w_o` shares its parameters with `linear` now, so training one changes the other. Copy the numbers."
)
wrong("final_data_shared")
wrong.edit("fused.w_o.weight.copy_(heads.linear.weight)", "fused.w_o.weight.data = heads.linear.weight.data")
wrong.says("`.data = ...` makes both layers use the same memory, so training one changes the other.")
wrong.says("Copy the numbers.")

wrong("left_frozen", "    with torch.no_grad():\n")
wrong.to("    fused.requires_grad_(False)\n    heads.requires_grad_(False)\n    if True:\n")
wrong.says("You switch `requires_grad` off, so what you switched off can't be trained afterwards.")
wrong.says("Copy under `torch.no_grad()`, which changes nothing for good.")

wrong.about("test_list_unchanged")
wrong("wrong_direction")
wrong.edit("fused.w_o.weight.copy_(heads.linear.weight)", "heads.linear.weight.copy_(fused.w_o.weight)")
wrong.says(
    "You copied the weight of the final layer in the wrong direction, from the fused module to the list."
)

wrong.about(OF_HEADS, "test_list_unchanged")
wrong("with_a_copy_of_the_module")
wrong.edit("layers = {", "import copy\n\n    fused = copy.deepcopy(fused)\n    layers = {")
wrong.says("You wrote into a copy of the fused module. Write into the one that is passed in.")
wrong.costs("Nothing is copied where it is needed.")
