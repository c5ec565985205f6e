"""Wrong answers to exercise 3, `cosine`."""

from gradekit.checks import mistakes_in, with_costs

mistake = mistakes_in("cosine")

MISTAKES = [
    mistake(
        "dot_product",
        ("return product / lengths.clamp(min=1e-12)", "return product"),
        ["test_equals_the_formula", "test_length_does_not_count"],
        "You return the dot product. Divide it by the lengths of both vectors.",
    ),
    mistake(
        "one_length_only",
        ("u.norm(dim=-1) * v.norm(dim=-1)", "u.norm(dim=-1) + 0 * v.norm(dim=-1)"),
        ["test_equals_the_formula", "test_length_does_not_count"],
        "You divided by the length of only one vector. Divide by both.",
    ),
    mistake(
        "norm_of_everything",
        ("u.norm(dim=-1) * v.norm(dim=-1)", "u.norm() * v.norm()"),
        ["test_equals_the_formula"],
        "You took one norm of the whole tensor. Each vector has its own length: `dim=-1`.",
    ),
    mistake(
        "absolute_value",
        ("return product / lengths", "return product.abs() / lengths"),
        ["test_equals_the_formula"],
        "You took the absolute value. Opposite directions have similarity -1.",
    ),
    mistake(
        "nan_for_zero",
        (".clamp(min=1e-12)", ""),
        ["test_zero_vector"],
        "For a zero vector you compute 0 / 0, which is NaN. Keep the product of the lengths above 0.",
    ),
    mistake(
        "large_epsilon",
        ("lengths.clamp(min=1e-12)", "(lengths + 1e-3)"),
        ["test_length_does_not_count"],
        "The number that you add to the lengths changes the similarity of short vectors. "
        "Clamp at a tiny number.",
    ),
    mistake(
        "first_axis",
        ("(u * v).sum(dim=-1)", "(u * v).sum(dim=min(1, (u * v).dim() - 1))"),
        ["test_broadcasts"],
        "You sum over axis 1. With more axes that is not the last one: `dim=-1`.",
    ),
    mistake(
        "word_itself_included",
        ("    similarity[place] = -torch.inf\n", ""),
        ["test_leaves_out_the_word_only"],
        "The word itself is among its nearest words. Leave it out.",
    ),
    mistake(
        "first_one_dropped",
        [
            ("    similarity[place] = -torch.inf\n", ""),
            ("torch.topk(similarity, k)\n", "torch.topk(similarity, k + 1)\n"),
            (
                "zip(top.indices.tolist(), top.values.tolist(), strict=True)",
                "list(zip(top.indices.tolist(), top.values.tolist()))[1:]",
            ),
        ],
        ["test_leaves_out_the_word_only"],
        "You drop the first word of the list, which isn't always the word itself. "
        "Leave out the word by its index.",
    ),
    mistake(
        "dropped_by_similarity",
        ("similarity[place] = -torch.inf", "similarity[similarity > 0.9999] = -torch.inf"),
        ["test_leaves_out_the_word_only"],
        "You leave out all words with the same direction. Leave out only the word itself, by its index.",
    ),
    mistake(
        "compared_by_dot_product",
        ("similarity = cosine_similarity(vectors[place], vectors)", "similarity = vectors @ vectors[place]"),
        ["test_nearest"],
        "You compare by dot product, which favors long vectors. Use the cosine similarity.",
    ),
    mistake(
        "always_five",
        ("torch.topk(similarity, k)", "torch.topk(similarity, 5)"),
        ["test_number_of_words"],
        "You return five words, whatever k is. Use k.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "It computes a different function, and most checks are about the function.": [
            "dot_product",
            "one_length_only",
            "norm_of_everything",
            "absolute_value",
            "large_epsilon",
        ],
    },
)
