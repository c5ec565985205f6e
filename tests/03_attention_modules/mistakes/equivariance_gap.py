"""Wrong answers to exercise 2, `equivariance_gap`."""

from gradekit.checks import mistakes_in, with_costs

DEPENDS = "test_module_that_depends_on_the_order"
mistake = mistakes_in("equivariance_gap", "gap_")

MISTAKES = [
    mistake(
        "not_shuffled_after",
        [("module(x)[:, order]", "module(x)")],
        [DEPENDS, "test_equivariant_modules"],
        "You compared with the output in its original order. "
        "Shuffle it like the tokens, or you measure invariance.",
    ),
    mistake(
        "not_shuffled_before",
        [("module(x[:, order])", "module(x)")],
        [DEPENDS, "test_equivariant_modules"],
        "You shuffled only the output. In one of the two ways, shuffle the tokens before the module sees "
        "them.",
    ),
    mistake(
        "put_back_the_wrong_way",
        [("module(x)[:, order]", "module(x)[:, order.argsort()]")],
        [DEPENDS, "test_equivariant_modules"],
        "You shuffled the output by the inverse order. Use `order` itself in both ways.",
    ),
    mistake(
        "batch_shuffled",
        [("x[:, order]", "x[order]"), ("module(x)[:, order]", "module(x)[order]")],
        [DEPENDS],
        "You shuffled the batch. The tokens are on axis 1: `x[:, order]`.",
    ),
    mistake(
        "width_shuffled",
        [("x[:, order]", "x[..., order]"), ("module(x)[:, order]", "module(x)[..., order]")],
        [DEPENDS],
        "You shuffled the entries of the vectors. The tokens are on axis 1: `x[:, order]`.",
    ),
    mistake(
        "always_equal",
        [("module(x)[:, order]", "module(x[:, order])")],
        [DEPENDS],
        "You computed the same result twice, so the gap is always 0. "
        "In one of them, shuffle after the module.",
    ),
    mistake(
        "mean_difference",
        [("difference.max()", "difference.mean()")],
        [DEPENDS],
        "You took the mean of the differences. Take the largest.",
    ),
    mistake(
        "smallest_difference",
        [("difference.max()", "difference.min()")],
        [DEPENDS],
        "You took the smallest difference. Take the largest.",
    ),
    mistake(
        "with_sign",
        [(").abs()", ")")],
        ["test_a_float_at_least_0"],
        "You took the largest difference with its sign, which misses large negative differences. "
        "Use `.abs()`.",
    ),
    mistake(
        "root_of_squares",
        [("difference.max()", "difference.norm()")],
        [DEPENDS],
        "You took the square root of the sum of squares. Take the largest difference.",
    ),
    mistake(
        "first_sequence_only",
        [("difference.max()", "difference[0].max()")],
        ["test_unequal_sizes"],
        "You looked only at the first sequence of the batch. Take the maximum over the whole batch.",
    ),
    mistake(
        "tensor_returned",
        [(".max().item()", ".max()")],
        ["test_a_float_at_least_0"],
        "You returned a tensor. Convert it to a float with `.item()`.",
    ),
    mistake(
        "x_changed",
        [
            (
                "shuffled_after = module(x)[:, order]",
                "shuffled_after = module(x)[:, order]\n    x[:] = x[:, order]",
            )
        ],
        ["test_inputs_unchanged"],
        "You changed x or order in place. Leave the inputs unchanged.",
    ),
    mistake(
        "summed",
        [("difference.max()", "difference.sum()")],
        [DEPENDS],
        "You added up the differences. Take the largest.",
    ),
    mistake(
        "norm_of_a_vector",
        [(".abs()\n    return difference.max()", ".norm(dim=-1)\n    return difference.max()")],
        [DEPENDS],
        "You took the length of the difference of whole vectors. Take the largest absolute difference of single numbers.",
    ),
    mistake(
        "norm_of_everything",
        [(".abs()\n    return difference.max().item()", "\n    return difference.norm().item()")],
        [DEPENDS],
        "You took the norm of all differences together. Take the largest absolute difference.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "The exercise is to put the same order in the right two places.": [
            "gap_not_shuffled_after",
            "gap_not_shuffled_before",
            "gap_put_back_the_wrong_way",
            "gap_batch_shuffled",
            "gap_width_shuffled",
        ],
    },
)
