"""Wrong answers to exercise 3, `LoRALinear`."""

from gradekit.checks import Mistakes

A = "self.A = nn.Parameter(torch.randn(rank, d_in, dtype=dtype) / math.sqrt(d_in))"
B = "self.B = nn.Parameter(torch.zeros(d_out, rank, dtype=dtype))"
SCALE = "self.scale = alpha / rank"
RETURN = "return self.linear(x) + self.scale * change"
CHANGE = "change = F.linear(F.linear(x, self.A), self.B)"
COPY = "layer.weight.copy_(self.linear.weight + self.scale * self.B @ self.A)"
LAYER = "layer = nn.Linear(d_in, d_out, bias=bias is not None, dtype=self.linear.weight.dtype)"

wrong = Mistakes("lora_")

wrong.about("test_equals_the_formula")
wrong("alpha_alone", SCALE, "self.scale = alpha")
wrong.says("You don't divide alpha by the rank.")
wrong("no_scale", SCALE, "self.scale = 1.0")
wrong.says("You don't multiply the change by alpha / rank.")
wrong("whole_factor", SCALE, "self.scale = alpha // rank")
wrong.says("You divide alpha by the rank with `//`, which drops the fraction. Use `/`.")
wrong("rank_over_alpha", SCALE, "self.scale = rank / alpha")
wrong.says("Your factor is upside down: it is alpha / rank.")
wrong("change_alone", RETURN, "return self.scale * change")
wrong.says("You return only the change. Add it to what the layer returns.")
wrong.costs("Without the layer, nothing is right but the start of A and B, and what is frozen.")
wrong("scale_on_everything", RETURN, "return self.scale * (self.linear(x) + change)")
wrong.says("You multiply the layer's output by alpha / rank, too. Only the change gets this factor.")
wrong.costs("It changes the layer from the start on.")
wrong("bias_lost", RETURN, "return F.linear(x, self.linear.weight) + self.scale * change")
wrong.says("You leave out the layer's bias.")
wrong("nonlinear", CHANGE, "change = F.linear(torch.relu(F.linear(x, self.A)), self.B)")
wrong.says("There is a function between A and B in your change. It should be linear, or it can't be merged.")

wrong.about("test_at_the_start")
wrong("b_random", B, B.replace("torch.zeros(", "0.1 * torch.randn("))
wrong.says(
    "Your B starts with random entries, so the layer is changed before it is trained. Start with zeros."
)
wrong("both_zeros", A, "self.A = nn.Parameter(torch.zeros(rank, d_in, dtype=dtype))")
wrong.says("Your A and B both start as zeros. Then no gradient ever reaches either of them.")
wrong("a_zeros_b_random", A, "self.A = nn.Parameter(torch.zeros(rank, d_in, dtype=dtype))")
wrong.edit(B, B.replace("torch.zeros(", "torch.randn("))
wrong.says("A and B are the wrong way around: A starts at random, B as zeros.")
wrong("a_of_size_1", A, "self.A = nn.Parameter(torch.randn(rank, d_in, dtype=dtype))")
wrong.says("The entries of your A have the standard deviation 1. It should be 1 / √d_in.")
wrong("a_by_the_rank", "/ math.sqrt(d_in)", "/ math.sqrt(rank)")
wrong.says("You divide A by the root of the rank. Divide it by that of d_in.")
wrong(
    "a_uniform",
    A,
    "self.A = nn.Parameter((2 * torch.rand(rank, d_in, dtype=dtype) - 1) * math.sqrt(3 / d_in))",
)
wrong.says("Your A is uniformly distributed. It should be normally distributed.")

wrong.about("test_frozen")
wrong("not_frozen", "self.linear = linear.requires_grad_(False)", "self.linear = linear")
wrong.says("The layer isn't frozen: its weights still require gradients.")
wrong("bias_not_frozen", "self.linear = linear.requires_grad_(False)")
wrong.to("self.linear = linear\n        linear.weight.requires_grad_(False)")
wrong.says("The bias of the layer still requires gradients. Freeze it, too.")
wrong("x_changed", CHANGE, "x *= 1.5\n        " + CHANGE)
wrong.edit(RETURN, "return self.linear(x / 1.5) + self.scale * change / 1.5")
wrong.says("You write into `x`. Leave it as it is.")

wrong.about("test_merged")
wrong("merged_without_the_factor", COPY, "layer.weight.copy_(self.linear.weight + self.B @ self.A)")
wrong.says("Your merged layer lacks the factor alpha / rank.")
wrong("merged_without_the_change", COPY, "layer.weight.copy_(self.linear.weight)")
wrong.says("Your merged layer has the old weight. Add the change, alpha / rank · B A.")
wrong("merged_without_the_bias", LAYER, LAYER.replace("bias=bias is not None", "bias=False"))
wrong.edit("            if bias is not None:\n                layer.bias.copy_(bias)\n")
wrong.says("Your merged layer has no bias, although the layer has one.")
wrong("merged_always_with_a_bias", LAYER, LAYER.replace("bias=bias is not None", "bias=True"))
wrong.says("Your merged layer always has a bias. It should have one only if the layer does.")
wrong("merged_in_place", LAYER, "layer = self.linear")
wrong.says("`merged()` changes the layer inside the module. Make a new one.")

wrong.about("test_dtype_and_rank")
wrong("always_float32", "dtype = linear.weight.dtype", "dtype = torch.float32")
wrong.says("Your A and B are always float32. They should have the dtype of the layer's weight.")
wrong("any_rank", "if rank < 1:", "if rank is None:")
wrong.says("A rank below 1 should raise a ValueError that contains it.")
wrong("only_rank_0", "if rank < 1:", "if rank == 0:")
wrong.says(
    "You raise no ValueError for a negative rank. Each rank below 1 should raise one that contains it."
)

wrong.unnamed(
    "Its checks compare values for drawn inputs, of which none are recorded.",
    "merged_without_the_factor",
    "merged_without_the_change",
)
