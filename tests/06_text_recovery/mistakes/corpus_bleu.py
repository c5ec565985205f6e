"""Wrong answers to exercise 6, `corpus_bleu`."""

from gradekit.checks import Mistakes

NO_MATCH = "        if matched == 0:\n            return 0.0\n"
ONE_NUMBER = "The score is one number, and this changes it for nearly every corpus."

wrong = Mistakes()

wrong.about("test_equals_sacrebleu")
wrong("bleu_arithmetic_mean", "math.log(matched / total)", "matched / total")
wrong.edit("math.exp(sum(logarithms) / max_n)", "(sum(logarithms) / max_n)")
wrong.says("You took the ordinary mean of the precisions.")
wrong.says("BLEU takes the geometric mean: e to the power of the mean logarithm.")
wrong("bleu_product_without_root", "sum(logarithms) / max_n", "sum(logarithms)")
wrong.says(
    "You multiply the precisions but don't take the root: divide the sum of the logarithms by `max_n`."
)
wrong("bleu_base_10", "math.log(matched", "math.log10(matched")
wrong.says("You take logarithms to base 10, but then a power of e. Use `math.log`.")
wrong("bleu_scale_1", "100 * penalty", "penalty")
wrong.says("Your BLEU runs from 0 to 1. Multiply by 100.")
wrong("bleu_rounded", "return 100 * penalty * math.exp(sum(logarithms) / max_n)")
wrong.to("return round(100 * penalty * math.exp(sum(logarithms) / max_n), 2)")
wrong.says("You round the score. Return it as it is: rounding is for printing.")
wrong("bleu_recall")
wrong.edit("modified_precision(candidate, reference, n)", "modified_precision(reference, candidate, n)")
wrong.says("You pass references and candidates in the wrong order, which computes recall.")
wrong.says("Swap the two arguments.")
wrong.costs(ONE_NUMBER)
wrong("bleu_only_the_longest", "range(1, max_n + 1)", "[max_n]")
wrong.edit("sum(logarithms) / max_n", "sum(logarithms)")
wrong.says("You use only the precision of the longest n-grams. Use those of n = 1 to `max_n`.")
wrong("bleu_longest_missing", "range(1, max_n + 1)", "range(1, max_n)")
wrong.says("Your loop ends before n = `max_n`: `range(1, max_n + 1)` includes it.")
wrong.costs(ONE_NUMBER)
wrong("bleu_one_long_sentence", "    logarithms = []\n")
wrong.to("    candidates, references = [sum(candidates, [])], [sum(references, [])]\n    logarithms = []\n")
wrong.says("You join all sentences into one, so n-grams cross sentence boundaries.")
wrong.says("Count sentence by sentence.")
wrong.costs(ONE_NUMBER)

wrong.about("test_sums_over_the_corpus")
wrong("bleu_mean_over_sentences", "    logarithms = []\n")
wrong.to(
    "    if len(candidates) > 1:\n"
    "        pairs = zip(candidates, references)\n"
    "        return sum(corpus_bleu([one], [other], max_n) for one, other in pairs) / len(candidates)\n"
    "    logarithms = []\n",
)
wrong.says("You took the mean of the sentences' BLEU. Add up the counts over the corpus first.")
wrong.costs(ONE_NUMBER)
wrong("bleu_mean_of_precisions", "matched += hits", "matched += hits / max(grams, 1)")
wrong.edit("total += grams", "total += 1")
wrong.says("You took the mean of the sentences' precisions. Add up matches and totals, and divide once.")
wrong("bleu_zero_for_one_bad_sentence", "            total += grams\n")
wrong.to("            total += grams\n            if hits == 0:\n                return 0.0\n")
wrong.says("You return 0 as soon as one sentence has no match. Only the sum over the corpus matters.")

wrong.about("test_no_match_no_score")
wrong("bleu_log_of_0", NO_MATCH, "")
wrong.says("There is no logarithm of 0, and no quotient if the total is 0. Return 0.0 if nothing matches.")
wrong("bleu_zero_precisions_left_out", "            return 0.0\n", "            continue\n")
wrong.says("You leave out precisions that are 0, so they cost nothing. BLEU has to be 0 then.")
wrong("bleu_smoothed", NO_MATCH, "")
wrong.edit("matched / total", "(matched + 1) / (total + 1)")
wrong.says("You add 1 to the counts, which is a kind of smoothing. We don't smooth here.")
wrong.costs(ONE_NUMBER)
wrong("bleu_tiny_number_for_0", NO_MATCH, "")
wrong.edit("matched / total", "max(matched, 0.1) / max(total, 1)")
wrong.says("You replace 0 matches by a small number. BLEU has to be 0 then.")

wrong.about("test_brevity")
wrong("bleu_no_brevity_penalty", "brevity_penalty(candidate_length, reference_length)", "1.0")
wrong.says("Your score has no brevity penalty for candidates that are too short.", lacks=("brevity_penalty",))
wrong("bleu_brevity_of_each_sentence", "brevity_penalty(candidate_length, reference_length)")
wrong.to("sum(brevity_penalty(len(c), len(r)) for c, r in zip(candidates, references)) / len(candidates)")
wrong.says("You took the mean of the sentences' brevity penalties.")
wrong.says("Compute it once, from the lengths of the whole corpus.")
wrong.costs(ONE_NUMBER)
wrong("bleu_brevity_exchanged")
wrong.edit("(candidate_length, reference_length)", "(reference_length, candidate_length)")
wrong.says("You swapped the two lengths in the brevity penalty. The length of the candidates comes first.")
wrong.costs(ONE_NUMBER)
wrong("bleu_brevity_for_each_n", "100 * penalty *", "100 * penalty**max_n *")
wrong.says("You apply the brevity penalty once for every n. Apply it once in total.")

wrong.about("test_max_n")
wrong("bleu_max_n_ignored", "range(1, max_n + 1)", "range(1, 5)")
wrong.edit("sum(logarithms) / max_n", "sum(logarithms) / 4")
wrong.says("You always go up to n = 4. Use the argument `max_n`.")
wrong("bleu_always_a_fourth", "sum(logarithms) / max_n", "sum(logarithms) / 4")
wrong.says("You always divide by 4. There are `max_n` precisions.")

wrong.about("test_perfect_copy")
wrong("bleu_integer_zero", "return 0.0", "return 0")
wrong.says("You return the int 0 if nothing matches. Return the float 0.0.")

wrong.about("test_unequal_numbers")
wrong("bleu_rest_left_out", "len(candidates) != len(references)", "not isinstance(candidates, list)")
wrong.edit(", strict=True", "")
wrong.says("You raise no error if one list is longer. Raise a ValueError.")
wrong("bleu_silent_about_numbers")
wrong.edit('f"{len(candidates)} candidates can\'t be held against {len(references)} references"')
wrong.to('"the lists differ in length"')
wrong.says("The message of your ValueError doesn't name both numbers.")

wrong.unnamed(
    "Its values are too few and simple: other mistakes return them, too.", "bleu_zero_for_one_bad_sentence"
)
