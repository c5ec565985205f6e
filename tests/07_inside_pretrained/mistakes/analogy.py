"""Wrong answers to exercise 5, `analogy`."""

from gradekit.checks import Mistakes

wrong = Mistakes()

wrong.about("test_nearest_to_the_sum")
wrong("signs_swapped", "target = v_b - v_a + v_c", "target = v_a - v_b + v_c")
wrong.says("You added the step from b to a. Add the step from a to b: b - a.")
wrong("c_subtracted", "target = v_b - v_a + v_c", "target = v_b + v_a - v_c")
wrong.says("You subtracted c and added a. Subtract a, and add b and c.")
wrong("a_left_off", "target = v_b - v_a + v_c", "target = v_b + v_c")
wrong.says("You forgot to subtract the vector of a.")
wrong("unit_vectors_first")
wrong.edit("v_a, v_b, v_c = vectors[places]", "v_a, v_b, v_c = F.normalize(vectors[places], dim=-1)")
wrong.says("You scaled the three vectors to length 1 first. Use them as they are.")
wrong("nearest_by_dot_product", "F.cosine_similarity(target, vectors, dim=-1)", "vectors @ target")
wrong.says("You compare by dot product, which favors long vectors. Use the cosine similarity.")

wrong.about("test_leaves_out_the_words_of_the_question")
wrong("query_words_included", "    similarity[places] = -torch.inf\n", "")
wrong.says("The words of the question are among the answers. Leave out all three.")
wrong("only_c_left_out", "similarity[places] = -torch.inf", "similarity[places[2]] = -torch.inf")
wrong.says("You leave out only the third word. Leave out all three.")

wrong.about("test_number_of_words")
wrong("filtered_after_the_cut", "    similarity[places] = -torch.inf\n", "")
wrong.edit("strict=True)]", "strict=True) if words[i] not in (a, b, c)]")
wrong.says("You take the k nearest words and then drop those of the question, so fewer than k can remain.")

wrong.about("test_keeps_words_of_the_same_direction")
wrong(
    "same_direction_left_out",
    "similarity[places] = -torch.inf",
    "similarity[F.cosine_similarity(vectors[places, None], vectors, dim=-1).amax(dim=0) > 0.9999] = -torch.inf",
)
wrong.says("You leave out all words with the same directions as the three. Leave out only the three words.")
