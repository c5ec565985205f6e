"""Wrong answers to exercise 2, `attention`."""

from _formula import of_the_formula

from gradekit.checks import Mistakes

UNUSABLE = "Code that calls it can't use such a result."

wrong = Mistakes()

of_the_formula(
    wrong,
    unequal="test_unequal_lengths_and_widths",
    large="test_large_scores",
    heads="test_leading_axes",
    hygiene={"unchanged": "test_inputs_unchanged", "dtype": "test_float64"},
)
wrong.costs("It computes a different function, and most checks are about the function.", "keys_times_queries")
wrong.costs(UNUSABLE, "pair_swapped", "output_alone")
wrong.costs("All values are right; it is one property among many.", "float32_inside")

wrong.about("test_leading_axes")
wrong("batch_axis_counted_from_the_front", "k.transpose(-2, -1)", "k.transpose(1, 2)")
wrong.says("You transposed axes 1 and 2 of k. With heads these are not the last two axes.")
wrong.says("Count from the end: -2 and -1.")
wrong("axes_all_reversed", "k.transpose(-2, -1)", "k.permute(*range(k.ndim - 1, -1, -1))")
wrong.says("You reversed all axes of k, as `.T` does. Swap only the last two: `k.transpose(-2, -1)`.")
wrong.costs("It raises an error as soon as there is a batch.")

wrong.about("test_output_equals_the_formula", "test_weights_equal_the_formula")
wrong("torch_does_it").source("""
def attention(q, k, v):
    unit = torch.eye(k.shape[-2], dtype=k.dtype).expand(*k.shape[:-1], k.shape[-2])
    return F.scaled_dot_product_attention(q, k, v), F.scaled_dot_product_attention(q, k, unit)
""")
wrong.says("You used torch's own attention. Write the computation yourself.")
wrong.costs("The exercise is to write this computation.")

wrong.about("test_output_equals_the_formula")
wrong("scaled_twice", "/ math.sqrt(d_k)", "/ math.sqrt(d_k) / math.sqrt(d_k)")
wrong.says("You divided by the square root of d_k twice, which is a division by d_k.")
wrong("weights_transposed", "weights @ v", "weights.transpose(-2, -1) @ v")
wrong.says("You multiplied v by the transposed weights.")
wrong.says("Multiply by the weights as they are: row = query, column = key.")
wrong.costs("It raises an error unless there are as many keys as queries.")

wrong.about("test_inputs_unchanged")
wrong("q_changed_in_place", "scores = q @ k.transpose(-2, -1) / math.sqrt(d_k)")
wrong.to("q /= math.sqrt(d_k)\n    scores = q @ k.transpose(-2, -1)")
wrong.says("`q /= …` modifies the caller's tensor. Write `q = q / …`, which creates a new one.")

wrong.unnamed("Its exceptions have other causes, too.", "batch_axis_counted_from_the_front")
