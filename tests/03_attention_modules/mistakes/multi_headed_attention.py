"""Wrong answers to exercise 4, `multi_headed_attention`."""

from gradekit.checks import Mistakes

FORMULA = "test_output_equals_the_formula"
WIDTH = "sum(head.v.out_features for head in attn_modules)"
SIDE_BY_SIDE = "side_by_side = torch.cat(outputs, dim=-1)"
OTHER_FUNCTION = "It computes a different function, and most checks are about the function."

wrong = Mistakes("heads_")

wrong.about("test_heads_belong_to_the_module")
wrong("plain_list", "nn.ModuleList(attn_modules)", "list(attn_modules)")
wrong.says("The heads are in a plain list, where torch doesn't find their parameters. Use nn.ModuleList.")
wrong("copies_of_the_heads", "nn.ModuleList(attn_modules)")
wrong.to("__import__('copy').deepcopy(nn.ModuleList(attn_modules))")
wrong.says("You store copies of the heads. Store the heads that are passed in.")
wrong("stored_backwards", "nn.ModuleList(attn_modules)", "nn.ModuleList(list(attn_modules)[::-1])")
wrong.says("`attn_modules` has your heads in reverse order. Keep the given order.")
wrong("no_bias", "nn.Linear(width, final_output_dim)", "nn.Linear(width, final_output_dim, bias=False)")
wrong.says("`linear` has no bias. It needs one.")

wrong.about("test_heads_of_different_widths")
wrong("width_of_the_first", WIDTH, "len(attn_modules) * attn_modules[0].v.out_features")
wrong.says("You used the width of the first head for all of them. Add up the widths.")

wrong.about(FORMULA)
wrong("no_final_layer", "return self.linear(side_by_side)", "return side_by_side")
wrong.says("You returned the concatenated outputs of the heads. Apply `linear` to them.")
wrong.costs(OTHER_FUNCTION)
wrong("averaged", WIDTH, "attn_modules[0].v.out_features")
wrong.edit(SIDE_BY_SIDE, "side_by_side = torch.stack(outputs).mean(dim=0)")
wrong.says("You averaged the heads. Concatenate their outputs.")
wrong.costs(OTHER_FUNCTION)
wrong("summed", WIDTH, "attn_modules[0].v.out_features")
wrong.edit(SIDE_BY_SIDE, "side_by_side = sum(outputs)")
wrong.says("You added up the heads. Concatenate their outputs.")
wrong.costs(OTHER_FUNCTION)
wrong("backwards", "torch.cat(outputs, dim=-1)", "torch.cat(outputs[::-1], dim=-1)")
wrong.says("You concatenated the heads in reverse order. Keep the given order.")
wrong("interleaved", SIDE_BY_SIDE)
wrong.to("""same = len({output.shape for output in outputs}) == 1
        side_by_side = torch.stack(outputs, dim=-1).flatten(-2) if same else torch.cat(outputs, dim=-1)""")
wrong.says("The columns of the heads are interleaved.")
wrong.says("All columns of head 0 come first, then those of head 1.")
wrong("first_head_only", "[head(x, mask) for head in self.attn_modules]")
wrong.to("[self.attn_modules[0](x, mask)] * len(self.attn_modules)")
wrong.says("You called only the first head, several times. Call each head once.")
wrong.costs(OTHER_FUNCTION)
wrong("one_after_the_other", "outputs = [head(x, mask) for head in self.attn_modules]")
wrong.to("""outputs = []
        for head in self.attn_modules:
            outputs.append(head(x if not outputs else x + outputs[-1].mean(), mask))""")
wrong.says("You feed the output of one head into the next. All heads get the same x.")
wrong("residual_inside", "return self.linear(side_by_side)")
wrong.to("return self.linear(side_by_side) + x.mean(dim=-1, keepdim=True)")
wrong.says("You added the input to the output.")
wrong.says("Return only the attention; residual connections come later, around the module.")
wrong("nonlinear", "return self.linear(side_by_side)", "return torch.relu(self.linear(side_by_side))")
wrong.says("You applied a ReLU after the final layer. Return the output of the layer itself.")
wrong("joined_along_the_length", "torch.cat(outputs, dim=-1)", "torch.cat(outputs, dim=1)")
wrong.says("You joined the heads along the length. Put them side by side along the width, the last axis.")
wrong.costs("It raises an error for heads of different widths, and computes a different function otherwise.")

wrong.about("test_mask")
wrong("mask_ignored", "head(x, mask)", "head(x)")
wrong.says("A mask doesn't reach your heads. Pass every mask to each of them, as it is.")
wrong("mask_for_the_first_only", "[head(x, mask) for head in self.attn_modules]")
wrong.to("[head(x, None if i else mask) for i, head in enumerate(self.attn_modules)]")
wrong.says("Only the first head gets the mask. Pass it to all of them.")

wrong.about("test_everything_learns")
wrong("no_gradients", "outputs = [head(x, mask) for", "outputs = [head(x, mask).detach() for")
wrong.says("No gradient reaches the heads, so they can't be trained.")
