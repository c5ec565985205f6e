"""Wrong answers to exercise 4, `add_lora` and `merge_lora`."""

from gradekit.checks import Mistakes

FIND = "if name in names and isinstance(child, nn.Linear)"
FREEZE = "    model.requires_grad_(False)\n"
PUT = "setattr(parent, name, LoRALinear(child, rank, alpha))"
COUNT = "return sum(weight.numel() for weight in model.parameters() if weight.requires_grad)"
MERGE = "setattr(parent, name, child.merged())"

wrong = Mistakes("add_")

wrong.about("test_the_right_layers")
wrong("all_linear_layers", FIND, "if isinstance(child, nn.Linear)")
wrong.says("You replace all linear layers. Only those with one of the names should be replaced.")
wrong.costs("Which layers are changed decides nearly everything else.")
wrong(
    "any_module_of_the_name",
    FIND,
    "if name in names and not isinstance(child, nn.Module | None) or name in names and hasattr(child, 'weight')",
)
wrong.says("You put a LoRALinear around modules that aren't linear layers, such as embeddings.")
wrong.costs("It raises an error for a model in which another module has one of the names.")
wrong("part_of_the_name", FIND, "if any(one in name for one in names) and isinstance(child, nn.Linear)")
wrong.says("You look for the names within those of the layers. The own name has to be one of them.")
wrong(
    "top_level_only",
    "for parent in model.modules()\n        for name, child in parent.named_children()\n        " + FIND,
)
wrong.to("for parent in [model]\n        for name, child in parent.named_children()\n        " + FIND)
wrong.says("You find only layers that the model contains directly. They may be at any depth.")
wrong.costs("Which layers are changed decides nearly everything else.")
wrong(
    "first_of_each_name",
    "    if not found:\n",
    "    found = list({name: (parent, name, child) for parent, name, child in reversed(found)}.values())\n    if not found:\n",
)
wrong.says("You stop before all layers with these names are replaced. Replace every one.")
wrong.costs("Which layers are changed decides nearly everything else.")

wrong.about("test_all_else_is_frozen")
wrong("nothing_frozen", FREEZE, "")
wrong.says("You don't freeze the model: other parameters still require gradients.")
wrong("all_frozen", FREEZE, "")
wrong.edit(
    COUNT,
    "number = sum(weight.numel() for weight in model.parameters() if weight.requires_grad)\n    model.requires_grad_(False)\n    return number",
)
wrong.says("You freeze A and B as well. Freeze the model before you put them in.")
wrong(
    "linear_layers_frozen",
    FREEZE,
    "    for part in model.modules():\n        if isinstance(part, nn.Linear):\n            part.requires_grad_(False)\n",
)
wrong.says("You freeze only linear layers. Embeddings and norms should be frozen, too.")

wrong.about("test_rank_alpha_and_number")
wrong("all_weights_counted", COUNT, "return sum(weight.numel() for weight in model.parameters())")
wrong.says("You count all weights. Count those that require gradients.")
wrong("parameters_counted", COUNT, "return sum(1 for weight in model.parameters() if weight.requires_grad)")
wrong.says("You count the parameters. Count their entries.")
wrong("layers_counted", COUNT, "return len(found)")
wrong.says(
    "`add_lora` returns how many layers it has replaced. It should return how many weights can be trained."
)
wrong("alpha_left_out", PUT, PUT.replace("rank, alpha", "rank, rank"))
wrong.says("You don't pass `alpha` on to LoRALinear.")
wrong("rank_left_out", PUT, PUT.replace("rank, alpha", "2, alpha"))
wrong.says("You don't pass `rank` on to LoRALinear.")

wrong.about("test_merge")
wrong("merged_layers_lose_the_change", MERGE, "setattr(parent, name, child.linear)")
wrong.says("`merge_lora` puts the old layer back. Use what `merged()` returns.")
wrong("merge_does_nothing", MERGE, "child.merged()")
wrong.says(
    "After your `merge_lora`, the model still has its LoRALinear layers. Put each merged layer in the place of its own, at any depth."
)
wrong("merge_returns_nothing", "return len(found)", "return None")
wrong.says("`merge_lora` doesn't return how many layers it has replaced.")

wrong.about("test_no_such_layer")
wrong("no_error", "if not found:", "if names is None:")
wrong.says("If no layer has one of the names, you raise no error. Raise a ValueError that contains them.")
wrong("names_not_in_the_message", 'one of the names {names}"', 'one of these names"')
wrong.says("Your error doesn't contain the names.")
