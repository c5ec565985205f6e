"""Wrong answers to exercise 3b, `causal_mask`."""

from gradekit.checks import Mistake, with_costs

MISTAKES = [
    Mistake(
        "causal_without_the_diagonal",
        cell="causal_mask",
        edits=[("torch.tril(everything)", "torch.tril(everything, diagonal=-1)")],
        about=["test_sees_itself"],
        sentence="Your triangle leaves out the diagonal, so a token can't attend to itself, and the first one "
        "can't attend to anything. Include the diagonal.",
    ),
    Mistake(
        "causal_one_too_far",
        cell="causal_mask",
        edits=[("torch.tril(everything)", "torch.tril(everything, diagonal=1)")],
        about=["test_hides_the_future"],
        sentence="Your triangle extends one position too far: each token sees the next one, which is what "
        "it has to predict.",
    ),
    Mistake(
        "causal_inverted",
        cell="causal_mask",
        edits=[("torch.tril(everything)", "torch.triu(everything, diagonal=1)")],
        about=["test_hides_the_future"],
        sentence="Your mask is True at future positions. In this course True means 'may attend'.",
    ),
    Mistake(
        "causal_transposed",
        cell="causal_mask",
        edits=[("torch.tril(everything)", "torch.triu(everything)")],
        about=["test_hides_the_future"],
        sentence="Your mask is the upper triangle, which hides the past. Rows are queries, columns are keys.",
    ),
    Mistake(
        "causal_hides_nothing",
        cell="causal_mask",
        edits=[("torch.tril(everything)", "everything")],
        about=["test_hides_the_future"],
        sentence="Your mask is True everywhere, so it hides nothing. Hide the keys after each query.",
    ),
    Mistake(
        "causal_sees_itself_only",
        cell="causal_mask",
        edits=[("torch.tril(everything)", "torch.eye(length, dtype=torch.bool)")],
        about=["test_shows_the_past"],
        sentence="Your mask is True only on the diagonal. The past has to be visible as well.",
    ),
    Mistake(
        "causal_with_a_batch_axis",
        cell="causal_mask",
        edits=[("torch.tril(everything)", "torch.tril(everything).unsqueeze(0)")],
        about=["test_shape"],
        sentence="Your mask has a batch axis. The exercise asks for (length, length); broadcasting adds "
        "the rest.",
    ),
    Mistake(
        "causal_of_fixed_size",
        cell="causal_mask",
        edits=[("torch.tril(everything)", "torch.tril(everything[:80, :80])")],
        about=["test_shape"],
        sentence="Your mask stops at a fixed size. Its size has to follow the argument `length`.",
    ),
    Mistake(
        "causal_as_floats",
        cell="causal_mask",
        edits=[("torch.ones(length, length, dtype=torch.bool)", "torch.ones(length, length)")],
        about=["test_is_boolean"],
        sentence="Your mask contains the numbers 0.0 and 1.0. Return booleans.",
    ),
    Mistake(
        "causal_to_be_added",
        cell="causal_mask",
        edits=[
            (
                "torch.tril(everything)",
                "torch.zeros(length, length).masked_fill(~torch.tril(everything), -torch.inf)",
            )
        ],
        about=["test_hides_the_future", "test_is_boolean"],
        sentence="Your mask contains 0 and -inf, to be added to the scores. Return booleans: "
        "True = may attend.",
    ),
    Mistake(
        "causal_one_larger",
        cost="Every check compares masks, and this one has a different shape.",
        cell="causal_mask",
        edits=[("torch.ones(length, length,", "torch.ones(length + 1, length + 1,")],
        about=["test_shape"],
        sentence="Your mask is one larger than the sequence.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "Code that calls it can't use such a result.": [
            "causal_to_be_added",
        ],
    },
)
