"""Wrong answers to exercise 2, `equivariance_gap`."""

from gradekit.checks import Mistakes

DEPENDS = "test_module_that_depends_on_the_order"
TWO_PLACES = "The exercise is to put the same order in the right two places."

wrong = Mistakes("gap_")

wrong.about(DEPENDS, "test_equivariant_modules")
wrong("not_shuffled_after", "module(x)[:, order]", "module(x)")
wrong.says("You compared with the output in its original order.")
wrong.says("Shuffle it like the tokens, or you measure invariance.")
wrong.costs(TWO_PLACES)
wrong("not_shuffled_before", "module(x[:, order])", "module(x)")
wrong.says("You shuffled only the output.")
wrong.says("In one of the two ways, shuffle the tokens before the module sees them.")
wrong.costs(TWO_PLACES)
wrong("put_back_the_wrong_way", "module(x)[:, order]", "module(x)[:, order.argsort()]")
wrong.says(
    "What you compare is the output in the inverse order. Shuffle the output once, by `order` itself, as you did with x."
)
wrong.costs(TWO_PLACES)

wrong.about(DEPENDS)
wrong("batch_shuffled", "x[:, order]", "x[order]")
wrong.edit("module(x)[:, order]", "module(x)[order]")
wrong.says("You shuffled the batch. The tokens are on axis 1: `x[:, order]`.")
wrong.costs(TWO_PLACES)
wrong("width_shuffled", "x[:, order]", "x[..., order]")
wrong.edit("module(x)[:, order]", "module(x)[..., order]")
wrong.says("You shuffled the entries of the vectors. The tokens are on axis 1: `x[:, order]`.")
wrong.costs(TWO_PLACES)
wrong("always_equal", "module(x)[:, order]", "module(x[:, order])")
wrong.says("You computed the same result twice, so the gap is always 0.")
wrong.says("In one of them, shuffle after the module.")
wrong("mean_difference", "difference.max()", "difference.mean()")
wrong.says("You took the mean of the differences. Take the largest.")
wrong("smallest_difference", "difference.max()", "difference.min()")
wrong.says("You took the smallest difference. Take the largest.")
wrong("root_of_squares", "difference.max()", "difference.norm()")
wrong.says("You took the square root of the sum of squares. Take the largest difference.")
wrong("summed", "difference.max()", "difference.sum()")
wrong.says("You added up the differences. Take the largest.")
wrong("norm_of_a_vector", ".abs()\n    return difference.max()", ".norm(dim=-1)\n    return difference.max()")
wrong.says("You took the length of the difference of whole vectors.")
wrong.says("Take the largest absolute difference of single numbers.")
wrong("norm_of_everything")
wrong.edit(".abs()\n    return difference.max().item()", "\n    return difference.norm().item()")
wrong.says("You took the norm of all differences together. Take the largest absolute difference.")

wrong.about("test_a_float_at_least_0")
wrong("with_sign", ").abs()", ")")
wrong.says("You took the largest difference with its sign, which misses large negative differences.")
wrong.says("Use `.abs()`.")
wrong("tensor_returned", ".max().item()", ".max()")
wrong.says("You returned a tensor. Convert it to a float with `.item()`.")

wrong.about("test_unequal_sizes")
wrong("first_sequence_only", "difference.max()", "difference[0].max()")
wrong.says("You looked only at the first sequence of the batch. Take the maximum over the whole batch.")

wrong.about("test_inputs_unchanged")
wrong("x_changed", "shuffled_after = module(x)[:, order]")
wrong.to("shuffled_after = module(x)[:, order]\n    x[:] = x[:, order]")
wrong.says("You changed x or order in place. Leave the inputs unchanged.")
