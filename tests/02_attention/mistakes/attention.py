"""Wrong answers to exercise 2, `attention`."""

from _formula import of_the_formula

from gradekit.checks import Mistake, with_costs

MISTAKES = [
    *of_the_formula(
        "attention",
        unequal="test_unequal_lengths_and_widths",
        large="test_large_scores",
        heads="test_leading_axes",
        hygiene={"unchanged": "test_inputs_unchanged", "dtype": "test_float64"},
    ),
    Mistake(
        "batch_axis_counted_from_the_front",
        cell="attention",
        edits=[("k.transpose(-2, -1)", "k.transpose(1, 2)")],
        about=["test_leading_axes"],
        sentence="You transposed axes 1 and 2 of k. With heads these are not the last two axes. "
        "Count from the end: -2 and -1.",
    ),
    Mistake(
        "torch_does_it",
        cell="attention",
        source="""
def attention(q, k, v):
    unit = torch.eye(k.shape[-2], dtype=k.dtype).expand(*k.shape[:-1], k.shape[-2])
    return F.scaled_dot_product_attention(q, k, v), F.scaled_dot_product_attention(q, k, unit)
""",
        about=["test_output_equals_the_formula", "test_weights_equal_the_formula"],
        sentence="You used torch's own attention. Write the computation yourself.",
    ),
    Mistake(
        "scaled_twice",
        cell="attention",
        edits=[("/ math.sqrt(d_k)", "/ math.sqrt(d_k) / math.sqrt(d_k)")],
        about=["test_output_equals_the_formula"],
        sentence="You divided by the square root of d_k twice, which is a division by d_k.",
    ),
    Mistake(
        "weights_transposed",
        cost="It raises an error unless there are as many keys as queries.",
        cell="attention",
        edits=[("weights @ v", "weights.transpose(-2, -1) @ v")],
        about=["test_output_equals_the_formula"],
        sentence="You multiplied v by the transposed weights. Multiply by the weights as they are: row = query, column = key.",
    ),
    Mistake(
        "q_changed_in_place",
        cell="attention",
        edits=[
            (
                "scores = q @ k.transpose(-2, -1) / math.sqrt(d_k)",
                "q /= math.sqrt(d_k)\n    scores = q @ k.transpose(-2, -1)",
            )
        ],
        about=["test_inputs_unchanged"],
        sentence="`q /= …` modifies the caller's tensor. Write `q = q / …`, which creates a new one.",
    ),
    Mistake(
        "axes_all_reversed",
        cost="It raises an error as soon as there is a batch.",
        cell="attention",
        edits=[("k.transpose(-2, -1)", "k.permute(*range(k.ndim - 1, -1, -1))")],
        about=["test_leading_axes"],
        sentence="You reversed all axes of k, as `.T` does. Swap only the last two: `k.transpose(-2, -1)`.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "It computes a different function, and most checks are about the function.": [
            "keys_times_queries",
        ],
        "Code that calls it can't use such a result.": [
            "pair_swapped",
            "output_alone",
        ],
        "The exercise is to write this computation.": [
            "torch_does_it",
        ],
        "All values are right; it is one property among many.": [
            "float32_inside",
        ],
    },
)
