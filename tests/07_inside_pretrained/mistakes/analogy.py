"""Wrong answers to exercise 4, `analogy`."""

from gradekit.checks import mistakes_in

mistake = mistakes_in("analogy")

MISTAKES = [
    mistake(
        "signs_swapped",
        ("target = v_b - v_a + v_c", "target = v_a - v_b + v_c"),
        ["test_nearest_to_the_sum"],
        "You added the step from b to a. Add the step from a to b: b - a.",
    ),
    mistake(
        "c_subtracted",
        ("target = v_b - v_a + v_c", "target = v_b + v_a - v_c"),
        ["test_nearest_to_the_sum"],
        "You subtracted c and added a. Subtract a, and add b and c.",
    ),
    mistake(
        "a_left_off",
        ("target = v_b - v_a + v_c", "target = v_b + v_c"),
        ["test_nearest_to_the_sum"],
        "You forgot to subtract the vector of a.",
    ),
    mistake(
        "unit_vectors_first",
        ("v_a, v_b, v_c = vectors[places]", "v_a, v_b, v_c = F.normalize(vectors[places], dim=-1)"),
        ["test_nearest_to_the_sum"],
        "You scaled the three vectors to length 1 first. Use them as they are.",
    ),
    mistake(
        "nearest_by_dot_product",
        ("F.cosine_similarity(target, vectors, dim=-1)", "vectors @ target"),
        ["test_nearest_to_the_sum"],
        "You compare by dot product, which favors long vectors. Use the cosine similarity.",
    ),
    mistake(
        "query_words_included",
        ("    similarity[places] = -torch.inf\n", ""),
        ["test_leaves_out_the_words_of_the_question"],
        "The words of the question are among the answers. Leave out all three.",
    ),
    mistake(
        "only_c_left_out",
        ("similarity[places] = -torch.inf", "similarity[places[2]] = -torch.inf"),
        ["test_leaves_out_the_words_of_the_question"],
        "You leave out only the third word. Leave out all three.",
    ),
    mistake(
        "filtered_after_the_cut",
        [
            ("    similarity[places] = -torch.inf\n", ""),
            ("strict=True)]", "strict=True) if words[i] not in (a, b, c)]"),
        ],
        ["test_number_of_words"],
        "You take the k nearest words and then drop those of the question, so fewer than k can remain.",
    ),
    mistake(
        "same_direction_left_out",
        (
            "similarity[places] = -torch.inf",
            "similarity[F.cosine_similarity(vectors[places, None], vectors, dim=-1).amax(dim=0) > 0.9999] = -torch.inf",
        ),
        ["test_keeps_words_of_the_same_direction"],
        "You leave out all words with the same directions as the three. Leave out only the three words.",
    ),
]
