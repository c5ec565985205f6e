"""Wrong answers to exercise 2, `rms_norm`."""

from gradekit.checks import Mistakes

FORMULA = "test_equals_the_formula"
NORM_LINE = "self.weight * (x / torch.sqrt(mean_square + self.eps))"
EVERY_VALUE = "The formula is the whole exercise: every value is wrong."

wrong = Mistakes("norm_")

wrong.about(FORMULA)
wrong("mean_subtracted", "mean_square = x", "x = x - x.mean(dim=-1, keepdim=True)\n        mean_square = x")
wrong.says("You subtract the mean first, as LayerNorm does. RMSNorm leaves it alone.")
wrong.costs(EVERY_VALUE)
wrong("sum_of_squares", "x.pow(2).mean(dim=-1, keepdim=True)", "x.pow(2).sum(dim=-1, keepdim=True)")
wrong.says("You took the sum of the squares. Take their mean.")
wrong.costs(EVERY_VALUE)
wrong("no_root", "torch.sqrt(mean_square + self.eps)", "(mean_square + self.eps)")
wrong.says("You divide by the mean of the squares. Divide by its root.")
wrong.costs(EVERY_VALUE)
wrong("mean_of_absolutes")
wrong.edit("torch.sqrt(mean_square + self.eps)", "(x.abs().mean(dim=-1, keepdim=True) + self.eps)")
wrong.says("You divide by the mean of the absolute values. Square, take the mean, then the root.")
wrong.costs(EVERY_VALUE)
wrong("over_everything", "x.pow(2).mean(dim=-1, keepdim=True)", "x.pow(2).mean()")
wrong.says("You take one mean over all vectors. Every vector has its own, along the last axis.")
wrong.costs(EVERY_VALUE)
wrong("over_the_length", "mean(dim=-1, keepdim=True)", "mean(dim=0, keepdim=True)")
wrong.says("Your mean runs over the first axis. It should run over the last one.")
wrong.costs(EVERY_VALUE)
wrong("weight_unused", NORM_LINE, "x / torch.sqrt(mean_square + self.eps)")
wrong.says("You don't multiply by `weight`.")
wrong.costs(EVERY_VALUE)
wrong("weight_plus_1", "self.weight * (", "(1 + self.weight) * (")
wrong.says("You multiply by 1 + weight. Multiply by the weight, which starts at 1.")
wrong.costs(EVERY_VALUE)

wrong.about("test_eps")
wrong("eps_outside", "torch.sqrt(mean_square + self.eps)", "(torch.sqrt(mean_square) + self.eps)")
wrong.says("You add `eps` after the root. It belongs under the root.")
wrong("eps_fixed", "self.eps = eps", "self.eps = 1e-6")
wrong.says(
    "Another `eps` must give another result. Add the argument to the mean square, not a number of your own."
)
wrong("no_eps", "mean_square + self.eps", "mean_square")
wrong.says(
    "`eps` isn't added to the mean square. Without it, a vector of zeros is divided by zero, and short vectors become too long."
)

wrong.about("test_parameters")
wrong("no_parameter", "nn.Parameter(torch.ones(width))", "torch.ones(width)")
wrong.says("`weight` is a plain tensor, so it can't be trained. Make it an nn.Parameter.")
wrong.costs("torch finds no such weight, so no check can set it.")
wrong("starts_at_zero", "torch.ones(width)", "torch.zeros(width)")
wrong.says("`weight` starts at 0, so the output is 0. It should start at 1.")
wrong("bias_as_well")
wrong.edit("self.eps = eps", "self.eps = eps\n        self.bias = nn.Parameter(torch.zeros(width))")
wrong.says("You also made a bias. RMSNorm has only a weight.")

wrong.about("test_dtype_gradients_and_x_unchanged")
wrong("in_place")
wrong.edit("return self.weight *", "x /= torch.sqrt(mean_square + self.eps)\n        return self.weight *")
wrong.says("You divide x in place. Create a new tensor.")
wrong.costs("x is divided twice, so the output is wrong as well.")
wrong("float32_inside", "mean_square = x", "x = x.float()\n        mean_square = x")
wrong.says("You compute in float32 and return it, whatever the dtype of x. Return the dtype of x.")
