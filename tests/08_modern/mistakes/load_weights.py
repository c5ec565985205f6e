"""Wrong answers to exercise 9, `load_weights`."""

from gradekit.checks import Mistakes

MISSING = """        if name not in tensors:
            raise ValueError(f"{name} is missing")
"""
LEFT_OVER = """        if name not in places:
            raise ValueError(f"{name} has no place in the model")
"""
COPIED = "parameters[ours].copy_(tensors[theirs])"
SHAPES = "if found != wanted:"

wrong = Mistakes("loading_")

wrong.about("test_every_tensor_in_its_place")
wrong("norms_exchanged")
wrong.edit('"attn_norm": "norm1"', '"attn_norm": "norm2"').edit('"ffn_norm": "norm2"', '"ffn_norm": "norm1"')
wrong.says("You exchanged the two norms of a block. `attn_norm` is `norm1`, before the attention.")
wrong("keys_and_values_exchanged")
wrong.edit('"attn_k": "attention.w_k"', '"attn_k": "attention.w_v"')
wrong.edit('"attn_v": "attention.w_v"', '"attn_v": "attention.w_k"')
wrong.says("You exchanged keys and values: they have the same shape, so no error tells you.")
wrong("gate_and_up_exchanged")
wrong.edit('"ffn_gate": "feed_forward.w_gate"', '"ffn_gate": "feed_forward.w_up"')
wrong.edit('"ffn_up": "feed_forward.w_up"', '"ffn_up": "feed_forward.w_gate"')
wrong.says(
    "`w_gate` and `w_up` don't each get their own tensor: they have the same shape, so no error tells you."
)
wrong("query_and_output_exchanged")
wrong.edit('"attn_q": "attention.w_q"', '"attn_q": "attention.w_o"')
wrong.edit('"attn_output": "attention.w_o"', '"attn_output": "attention.w_q"')
wrong.says(
    "`w_q` doesn't hold `attn_q` as it is in the file: it may be another tensor, or turned. With equal shapes, no error tells you."
)
wrong(
    "blocks_counted_from_one",
    'places[f"blk.{number}.{theirs}.weight"]',
    'places[f"blk.{number + 1}.{theirs}.weight"]',
)
wrong.says("The first block of the file is `blk.0`.")
wrong.costs("No file fits, so nothing is ever loaded.")
wrong("two_blocks_only", "range(len(model.blocks))", "range(2)")
wrong.says("You fill two blocks, however many there are.")

wrong.about("test_missing_or_left_over")
wrong("missing_is_fine", MISSING, "        if name not in tensors:\n            continue\n")
wrong.edit("            " + COPIED, "            if theirs in tensors:\n                " + COPIED)
wrong.says("You skip what is missing in the file. The model then keeps random weights there.")
wrong("left_over_is_fine", LEFT_OVER, "        if name not in places:\n            continue\n")
wrong.says(
    "You ignore tensors that have no place in the model. They show that it isn't the model of this file."
)
wrong("key_error", MISSING, "")
wrong.says("A missing tensor raises a KeyError. Raise a ValueError.")
wrong("our_name", 'raise ValueError(f"{name} is missing")', 'raise ValueError(f"{places[name]} is missing")')
wrong.says("You name the parameter of the model. Name the tensor as in the file.")

wrong.about("test_wrong_shapes")
wrong("broadcast", SHAPES, "if len(found) != len(wanted):")
wrong.says(
    "A tensor with as many axes but other lengths is taken. `copy_` broadcasts: one number fills a whole parameter without an error."
)
wrong("as_many_numbers", SHAPES, "if found.numel() != wanted.numel():")
wrong.edit(COPIED, "parameters[ours].copy_(tensors[theirs].reshape(parameters[ours].shape))")
wrong.says("You take a transposed matrix: it has as many numbers, but another shape.")

wrong.about("test_all_or_nothing")
wrong("one_after_the_other")
wrong.edit(
    '            raise ValueError(f"{name} has the shape {tuple(found)}, but should have {tuple(wanted)}")\n    with torch.no_grad():\n        for theirs, ours in places.items():\n            parameters[ours].copy_(tensors[theirs])'
)
wrong.to("""            raise ValueError(f"{name} has the shape {tuple(found)}, but should have {tuple(wanted)}")
        with torch.no_grad():
            parameters[places[name]].copy_(tensors[name])""")
wrong.says(
    "You copy each tensor as soon as it fits, so a file that doesn't fit leaves half of its weights behind."
)

wrong.about("test_copies")
wrong("shared", COPIED, "parameters[ours].data = tensors[theirs]")
wrong.says(
    "The parameters take on the dtype of the file's tensors, or share their memory. Copy the numbers into the parameters that are there: `copy_` does that."
)
wrong(
    "new_parameters",
    COPIED,
    "model.get_submodule(ours.removesuffix('.weight')).weight = nn.Parameter(tensors[theirs].clone())",
)
wrong.says("You make new parameters. Copy the numbers into those that the model has.")
