"""Wrong answers to exercise 2, `rms_norm`."""

from gradekit.checks import mistakes_in, with_costs

FORMULA = "test_equals_the_formula"
NORM_LINE = "self.weight * (x / torch.sqrt(mean_square + self.eps))"
mistake = mistakes_in("rms_norm", "norm_")

MISTAKES = [
    mistake(
        "mean_subtracted",
        [("mean_square = x", "x = x - x.mean(dim=-1, keepdim=True)\n        mean_square = x")],
        [FORMULA],
        "You subtract the mean first, as LayerNorm does. RMSNorm leaves it alone.",
    ),
    mistake(
        "sum_of_squares",
        [("x.pow(2).mean(dim=-1, keepdim=True)", "x.pow(2).sum(dim=-1, keepdim=True)")],
        [FORMULA],
        "You took the sum of the squares. Take their mean.",
    ),
    mistake(
        "no_root",
        [("torch.sqrt(mean_square + self.eps)", "(mean_square + self.eps)")],
        [FORMULA],
        "You divide by the mean of the squares. Divide by its root.",
    ),
    mistake(
        "mean_of_absolutes",
        [("torch.sqrt(mean_square + self.eps)", "(x.abs().mean(dim=-1, keepdim=True) + self.eps)")],
        [FORMULA],
        "You divide by the mean of the absolute values. Square, take the mean, then the root.",
    ),
    mistake(
        "over_everything",
        [("x.pow(2).mean(dim=-1, keepdim=True)", "x.pow(2).mean()")],
        [FORMULA],
        "You take one mean over all vectors. Every vector has its own, along the last axis.",
    ),
    mistake(
        "over_the_length",
        [("mean(dim=-1, keepdim=True)", "mean(dim=0, keepdim=True)")],
        [FORMULA],
        "Your mean runs over the first axis. It should run over the last one.",
    ),
    mistake(
        "weight_unused",
        [(NORM_LINE, "x / torch.sqrt(mean_square + self.eps)")],
        [FORMULA],
        "You don't multiply by `weight`.",
    ),
    mistake(
        "weight_plus_1",
        [("self.weight * (", "(1 + self.weight) * (")],
        [FORMULA],
        "You multiply by 1 + weight. Multiply by the weight, which starts at 1.",
    ),
    mistake(
        "eps_outside",
        [("torch.sqrt(mean_square + self.eps)", "(torch.sqrt(mean_square) + self.eps)")],
        ["test_eps"],
        "You add `eps` after the root. It belongs under the root.",
    ),
    mistake(
        "eps_fixed",
        [("self.eps = eps", "self.eps = 1e-6")],
        ["test_eps"],
        "You always use 1e-6. Use the argument `eps`.",
    ),
    mistake(
        "no_eps",
        [("mean_square + self.eps", "mean_square")],
        ["test_eps"],
        "You left out `eps`, so a vector of zeros becomes NaN.",
    ),
    mistake(
        "no_parameter",
        [("nn.Parameter(torch.ones(width))", "torch.ones(width)")],
        ["test_parameters"],
        "`weight` is a plain tensor, so it can't be trained. Make it an nn.Parameter.",
    ),
    mistake(
        "starts_at_zero",
        [("torch.ones(width)", "torch.zeros(width)")],
        ["test_parameters"],
        "`weight` starts at 0, so the output is 0. It should start at 1.",
    ),
    mistake(
        "bias_as_well",
        [("self.eps = eps", "self.eps = eps\n        self.bias = nn.Parameter(torch.zeros(width))")],
        ["test_parameters"],
        "You also made a bias. RMSNorm has only a weight.",
    ),
    mistake(
        "in_place",
        [("return self.weight *", "x /= torch.sqrt(mean_square + self.eps)\n        return self.weight *")],
        ["test_dtype_gradients_and_x_unchanged"],
        "You divide x in place. Create a new tensor.",
    ),
    mistake(
        "float32_inside",
        [("mean_square = x", "x = x.float()\n        mean_square = x")],
        ["test_dtype_gradients_and_x_unchanged"],
        "You compute in float32 and return it, whatever the dtype of x. Return the dtype of x.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "The formula is the whole exercise: every value is wrong.": [
            "norm_mean_subtracted",
            "norm_sum_of_squares",
            "norm_no_root",
            "norm_mean_of_absolutes",
            "norm_over_everything",
            "norm_over_the_length",
            "norm_weight_unused",
            "norm_weight_plus_1",
        ],
        "x is divided twice, so the output is wrong as well.": [
            "norm_in_place",
        ],
        "torch finds no such weight, so no check can set it.": [
            "norm_no_parameter",
        ],
    },
)
