"""Wrong answers to exercise 3b, `causal_mask`."""

from gradekit.checks import Mistakes

wrong = Mistakes("causal_")

wrong.about("test_sees_itself")
wrong("without_the_diagonal", "torch.tril(everything)", "torch.tril(everything, diagonal=-1)")
wrong.says(
    "Your triangle leaves out the diagonal, so a token can't attend to itself, and the first one can't "
    "attend to anything. Include the diagonal."
)

wrong.about("test_hides_the_future")
wrong("one_too_far", "torch.tril(everything)", "torch.tril(everything, diagonal=1)")
wrong.says(
    "Your triangle extends one position too far: each token sees the next one, which is what it has to "
    "predict."
)
wrong("inverted", "torch.tril(everything)", "torch.triu(everything, diagonal=1)")
wrong.says("Your mask is True at future positions. In this course True means 'may attend'.")
wrong("transposed", "torch.tril(everything)", "torch.triu(everything)")
wrong.says("Your mask is the upper triangle, which hides the past. Rows are queries, columns are keys.")
wrong("hides_nothing", "torch.tril(everything)", "everything")
wrong.says("Your mask is True everywhere, so it hides nothing. Hide the keys after each query.")

wrong.about("test_shows_the_past")
wrong("sees_itself_only", "torch.tril(everything)", "torch.eye(length, dtype=torch.bool)")
wrong.says("Your mask is True only on the diagonal. The past has to be visible as well.")

wrong.about("test_shape")
wrong("with_a_batch_axis", "torch.tril(everything)", "torch.tril(everything).unsqueeze(0)")
wrong.says("Your mask has a batch axis. The exercise asks for (length, length); broadcasting adds the rest.")
wrong("of_fixed_size", "torch.tril(everything)", "torch.tril(everything[:80, :80])")
wrong.says(
    "Your mask stops at a fixed size, or at that of an earlier call. Its size has to follow the argument `length`."
)
wrong("one_larger", "torch.ones(length, length,", "torch.ones(length + 1, length + 1,")
wrong.says("Your mask is one larger than the sequence.")
wrong.costs("Every check compares masks, and this one has a different shape.")

wrong.about("test_is_boolean")
wrong("as_floats", "torch.ones(length, length, dtype=torch.bool)", "torch.ones(length, length)")
wrong.says("Your mask contains the numbers 0.0 and 1.0. Return booleans.")

wrong.about("test_hides_the_future", "test_is_boolean")
wrong("to_be_added", "torch.tril(everything)")
wrong.to("torch.zeros(length, length).masked_fill(~torch.tril(everything), -torch.inf)")
wrong.says("Your mask contains 0 and -inf, to be added to the scores. Return booleans: True = may attend.")
wrong.costs("Code that calls it can't use such a result.")
