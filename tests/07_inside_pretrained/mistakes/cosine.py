"""Wrong answers to exercise 4, `cosine`."""

from gradekit.checks import Mistakes

OTHER_FUNCTION = "It computes a different function, and most checks are about the function."

wrong = Mistakes()

wrong.about("test_equals_the_formula", "test_length_does_not_count")
wrong("dot_product", "return product / lengths.clamp(min=1e-30)", "return product")
wrong.says("You return the dot product. Divide it by the lengths of both vectors.")
wrong.costs(OTHER_FUNCTION)
wrong("one_length_only", "u.norm(dim=-1) * v.norm(dim=-1)", "u.norm(dim=-1) + 0 * v.norm(dim=-1)")
wrong.says("You divided by the length of only one vector. Divide by both.")
wrong.costs(OTHER_FUNCTION)

wrong.about("test_equals_the_formula")
wrong("norm_of_everything", "u.norm(dim=-1) * v.norm(dim=-1)", "u.norm() * v.norm()")
wrong.says("You took one norm of the whole tensor. Each vector has its own length: `dim=-1`.")
wrong.costs(OTHER_FUNCTION)
wrong("absolute_value", "return product / lengths", "return product.abs() / lengths")
wrong.says("You took the absolute value. Opposite directions have similarity -1.")
wrong.costs(OTHER_FUNCTION)

wrong.about("test_zero_vector")
wrong("nan_for_zero", ".clamp(min=1e-30)", "")
wrong.says("For a zero vector you compute 0 / 0, which is NaN. Keep the product of the lengths above 0.")

wrong.about("test_length_does_not_count")
wrong("large_epsilon", "lengths.clamp(min=1e-30)", "(lengths + 1e-3)")
wrong.says("The number that you add to the lengths changes the similarity of short vectors.")
wrong.says("Clamp at a tiny number.")
wrong.costs(OTHER_FUNCTION)

wrong.about("test_broadcasts")
wrong("first_axis", "(u * v).sum(dim=-1)", "(u * v).sum(dim=min(1, (u * v).dim() - 1))")
wrong.says("You sum over axis 1. With more axes that is not the last one: `dim=-1`.")

wrong.about("test_leaves_out_the_word_only")
wrong("word_itself_included", "    similarity[place] = -torch.inf\n", "")
wrong.says("The word itself is among its nearest words. Leave it out.")
wrong("first_one_dropped", "    similarity[place] = -torch.inf\n", "")
wrong.edit("torch.topk(similarity, k)\n", "torch.topk(similarity, k + 1)\n")
wrong.edit("zip(top.indices.tolist(), top.values.tolist(), strict=True)")
wrong.to("list(zip(top.indices.tolist(), top.values.tolist()))[1:]")
wrong.says("You drop the first word of the list, which isn't always the word itself.")
wrong.says("Leave out the word by its index.")
wrong("dropped_by_similarity")
wrong.edit("similarity[place] = -torch.inf", "similarity[similarity > 0.9999] = -torch.inf")
wrong.says(
    "You leave out another word that has the same direction. Leave out only the word itself, by its index."
)

wrong.about("test_nearest")
wrong("compared_by_dot_product")
wrong.edit("similarity = cosine_similarity(vectors[place], vectors)", "similarity = vectors @ vectors[place]")
wrong.says("You compare by dot product, which favors long vectors. Use the cosine similarity.")

wrong.about("test_number_of_words")
wrong("always_five", "torch.topk(similarity, k)", "torch.topk(similarity, 5)")
wrong.says("You return five words, whatever k is. Use k.")

wrong.unnamed("Its checks compare values for drawn inputs, of which none are recorded.", "nan_for_zero")
wrong.unnamed("Its exceptions have other causes, too.", "first_axis")
