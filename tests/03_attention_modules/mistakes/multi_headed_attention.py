"""Wrong answers to exercise 4, `multi_headed_attention`."""

from gradekit.checks import mistakes_in, with_costs

FORMULA = "test_output_equals_the_formula"
WIDTH = "sum(head.v.out_features for head in attn_modules)"
SIDE_BY_SIDE = "side_by_side = torch.cat(outputs, dim=-1)"
mistake = mistakes_in("multi_headed_attention", "heads_")

MISTAKES = [
    mistake(
        "plain_list",
        [("nn.ModuleList(attn_modules)", "list(attn_modules)")],
        ["test_heads_belong_to_the_module"],
        "The heads are in a plain list, where torch doesn't find their parameters. Use nn.ModuleList.",
    ),
    mistake(
        "width_of_the_first",
        [(WIDTH, "len(attn_modules) * attn_modules[0].v.out_features")],
        ["test_heads_of_different_widths"],
        "You used the width of the first head for all of them. Add up the widths.",
    ),
    mistake(
        "no_final_layer",
        [("return self.linear(side_by_side)", "return side_by_side")],
        [FORMULA],
        "You returned the concatenated outputs of the heads. Apply `linear` to them.",
    ),
    mistake(
        "averaged",
        [
            (WIDTH, "attn_modules[0].v.out_features"),
            (SIDE_BY_SIDE, "side_by_side = torch.stack(outputs).mean(dim=0)"),
        ],
        [FORMULA],
        "You averaged the heads. Concatenate their outputs.",
    ),
    mistake(
        "summed",
        [(WIDTH, "attn_modules[0].v.out_features"), (SIDE_BY_SIDE, "side_by_side = sum(outputs)")],
        [FORMULA],
        "You added up the heads. Concatenate their outputs.",
    ),
    mistake(
        "backwards",
        [("torch.cat(outputs, dim=-1)", "torch.cat(outputs[::-1], dim=-1)")],
        [FORMULA],
        "You concatenated the heads in reverse order. Keep the given order.",
    ),
    mistake(
        "interleaved",
        [
            (
                SIDE_BY_SIDE,
                "same = len({output.shape for output in outputs}) == 1\n"
                "        side_by_side = torch.stack(outputs, dim=-1).flatten(-2) if same else torch.cat(outputs, dim=-1)",
            )
        ],
        [FORMULA],
        "The columns of the heads are interleaved. All columns of head 0 come first, then those of head 1.",
    ),
    mistake(
        "first_head_only",
        [
            (
                "[head(x, mask) for head in self.attn_modules]",
                "[self.attn_modules[0](x, mask)] * len(self.attn_modules)",
            )
        ],
        [FORMULA],
        "You called only the first head, several times. Call each head once.",
    ),
    mistake(
        "one_after_the_other",
        [
            (
                "outputs = [head(x, mask) for head in self.attn_modules]",
                "outputs = []\n"
                "        for head in self.attn_modules:\n"
                "            outputs.append(head(x if not outputs else x + outputs[-1].mean(), mask))",
            )
        ],
        [FORMULA],
        "You feed the output of one head into the next. All heads get the same x.",
    ),
    mistake(
        "mask_ignored",
        [("head(x, mask)", "head(x)")],
        ["test_mask"],
        "Your heads don't get the mask. Pass it to each of them.",
    ),
    mistake(
        "mask_for_the_first_only",
        [
            (
                "[head(x, mask) for head in self.attn_modules]",
                "[head(x, None if i else mask) for i, head in enumerate(self.attn_modules)]",
            )
        ],
        ["test_mask"],
        "Only the first head gets the mask. Pass it to all of them.",
    ),
    mistake(
        "no_gradients",
        [("outputs = [head(x, mask) for", "outputs = [head(x, mask).detach() for")],
        ["test_everything_learns"],
        "You detached the heads' outputs, so the heads can't be trained.",
    ),
    mistake(
        "no_bias",
        [("nn.Linear(width, final_output_dim)", "nn.Linear(width, final_output_dim, bias=False)")],
        ["test_heads_belong_to_the_module"],
        "`linear` has no bias. It needs one.",
    ),
    mistake(
        "residual_inside",
        [
            (
                "return self.linear(side_by_side)",
                "return self.linear(side_by_side) + x.mean(dim=-1, keepdim=True)",
            )
        ],
        [FORMULA],
        "You added the input to the output. Return only the attention; residual connections come later, "
        "around the module.",
    ),
    mistake(
        "nonlinear",
        [("return self.linear(side_by_side)", "return torch.relu(self.linear(side_by_side))")],
        [FORMULA],
        "You applied a ReLU after the final layer. Return the output of the layer itself.",
    ),
    mistake(
        "joined_along_the_length",
        [("torch.cat(outputs, dim=-1)", "torch.cat(outputs, dim=1)")],
        [FORMULA],
        "You joined the heads along the length. Put them side by side along the width, the last axis.",
        cost="It raises an error for heads of different widths, and computes a different function otherwise.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "It computes a different function, and most checks are about the function.": [
            "heads_no_final_layer",
            "heads_averaged",
            "heads_summed",
            "heads_first_head_only",
        ],
    },
)
