"""Wrong answers to exercise 6, `corpus_bleu`."""

from gradekit.checks import mistakes_in, with_costs

NO_MATCH = "        if matched == 0:\n            return 0.0\n"
mistake = mistakes_in("corpus_bleu")

MISTAKES = [
    mistake(
        "bleu_arithmetic_mean",
        [
            ("math.log(matched / total)", "matched / total"),
            ("math.exp(sum(logarithms) / max_n)", "(sum(logarithms) / max_n)"),
        ],
        "test_equals_sacrebleu",
        "You took the ordinary mean of the precisions. "
        "BLEU takes the geometric mean: e to the power of the mean logarithm.",
    ),
    mistake(
        "bleu_product_without_root",
        [("sum(logarithms) / max_n", "sum(logarithms)")],
        "test_equals_sacrebleu",
        "You multiply the precisions but don't take the root: divide the sum of the logarithms by `max_n`.",
    ),
    mistake(
        "bleu_base_10",
        [("math.log(matched", "math.log10(matched")],
        "test_equals_sacrebleu",
        "You take logarithms to base 10, but then a power of e. Use `math.log`.",
    ),
    mistake(
        "bleu_scale_1",
        [("100 * penalty", "penalty")],
        "test_equals_sacrebleu",
        "Your BLEU runs from 0 to 1. Multiply by 100.",
    ),
    mistake(
        "bleu_rounded",
        [
            (
                "return 100 * penalty * math.exp(sum(logarithms) / max_n)",
                "return round(100 * penalty * math.exp(sum(logarithms) / max_n), 2)",
            )
        ],
        "test_equals_sacrebleu",
        "You round the score. Return it as it is: rounding is for printing.",
    ),
    mistake(
        "bleu_recall",
        [("modified_precision(candidate, reference, n)", "modified_precision(reference, candidate, n)")],
        "test_equals_sacrebleu",
        "You pass references and candidates in the wrong order, which computes recall. "
        "Swap the two arguments.",
    ),
    mistake(
        "bleu_only_the_longest",
        [("range(1, max_n + 1)", "[max_n]"), ("sum(logarithms) / max_n", "sum(logarithms)")],
        "test_equals_sacrebleu",
        "You use only the precision of the longest n-grams. Use those of n = 1 to `max_n`.",
    ),
    mistake(
        "bleu_longest_missing",
        [("range(1, max_n + 1)", "range(1, max_n)")],
        "test_equals_sacrebleu",
        "Your loop ends before n = `max_n`: `range(1, max_n + 1)` includes it.",
    ),
    mistake(
        "bleu_one_long_sentence",
        [
            (
                "    logarithms = []\n",
                "    candidates, references = [sum(candidates, [])], [sum(references, [])]\n    logarithms = []\n",
            )
        ],
        "test_equals_sacrebleu",
        "You join all sentences into one, so n-grams cross sentence boundaries. Count sentence by sentence.",
    ),
    mistake(
        "bleu_mean_over_sentences",
        [
            (
                "    logarithms = []\n",
                "    if len(candidates) > 1:\n"
                "        pairs = zip(candidates, references)\n"
                "        return sum(corpus_bleu([one], [other], max_n) for one, other in pairs) / len(candidates)\n"
                "    logarithms = []\n",
            )
        ],
        "test_sums_over_the_corpus",
        "You took the mean of the sentences' BLEU. Add up the counts over the corpus first.",
    ),
    mistake(
        "bleu_mean_of_precisions",
        [("matched += hits", "matched += hits / max(grams, 1)"), ("total += grams", "total += 1")],
        "test_sums_over_the_corpus",
        "You took the mean of the sentences' precisions. Add up matches and totals, and divide once.",
    ),
    mistake(
        "bleu_zero_for_one_bad_sentence",
        [
            (
                "            total += grams\n",
                "            total += grams\n            if hits == 0:\n                return 0.0\n",
            )
        ],
        "test_sums_over_the_corpus",
        "You return 0 as soon as one sentence has no match. Only the sum over the corpus matters.",
    ),
    mistake(
        "bleu_log_of_0",
        [(NO_MATCH, "")],
        "test_no_match_no_score",
        "There is no logarithm of 0, and no quotient if the total is 0. Return 0.0 if nothing matches.",
    ),
    mistake(
        "bleu_zero_precisions_left_out",
        [("            return 0.0\n", "            continue\n")],
        "test_no_match_no_score",
        "You leave out precisions that are 0, so they cost nothing. BLEU has to be 0 then.",
    ),
    mistake(
        "bleu_smoothed",
        [(NO_MATCH, ""), ("matched / total", "(matched + 1) / (total + 1)")],
        "test_no_match_no_score",
        "You add 1 to the counts, which is a kind of smoothing. We don't smooth here.",
    ),
    mistake(
        "bleu_tiny_number_for_0",
        [(NO_MATCH, ""), ("matched / total", "max(matched, 0.1) / max(total, 1)")],
        "test_no_match_no_score",
        "You replace 0 matches by a small number. BLEU has to be 0 then.",
    ),
    mistake(
        "bleu_no_brevity_penalty",
        [("brevity_penalty(candidate_length, reference_length)", "1.0")],
        "test_brevity",
        "You left out the brevity penalty.",
    ),
    mistake(
        "bleu_brevity_of_each_sentence",
        [
            (
                "brevity_penalty(candidate_length, reference_length)",
                "sum(brevity_penalty(len(c), len(r)) for c, r in zip(candidates, references)) / len(candidates)",
            )
        ],
        "test_brevity",
        "You took the mean of the sentences' brevity penalties. "
        "Compute it once, from the lengths of the whole corpus.",
    ),
    mistake(
        "bleu_brevity_exchanged",
        [("(candidate_length, reference_length)", "(reference_length, candidate_length)")],
        "test_brevity",
        "You swapped the two lengths in the brevity penalty. The length of the candidates comes first.",
    ),
    mistake(
        "bleu_brevity_for_each_n",
        [("100 * penalty *", "100 * penalty**max_n *")],
        "test_brevity",
        "You apply the brevity penalty once for every n. Apply it once in total.",
    ),
    mistake(
        "bleu_max_n_ignored",
        [("range(1, max_n + 1)", "range(1, 5)"), ("sum(logarithms) / max_n", "sum(logarithms) / 4")],
        "test_max_n",
        "You always go up to n = 4. Use the argument `max_n`.",
    ),
    mistake(
        "bleu_always_a_fourth",
        [("sum(logarithms) / max_n", "sum(logarithms) / 4")],
        "test_max_n",
        "You always divide by 4. There are `max_n` precisions.",
    ),
    mistake(
        "bleu_rest_left_out",
        [("len(candidates) != len(references)", "not isinstance(candidates, list)"), (", strict=True", "")],
        "test_unequal_numbers",
        "If one list is longer, you ignore the rest of it. Raise a ValueError.",
    ),
    mistake(
        "bleu_silent_about_numbers",
        [
            (
                'f"{len(candidates)} candidates can\'t be held against {len(references)} references"',
                '"the lists differ in length"',
            )
        ],
        "test_unequal_numbers",
        "The message of your ValueError doesn't name both numbers.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "The score is one number, and this changes it for nearly every corpus.": [
            "bleu_recall",
            "bleu_longest_missing",
            "bleu_one_long_sentence",
            "bleu_mean_over_sentences",
            "bleu_smoothed",
            "bleu_brevity_of_each_sentence",
            "bleu_brevity_exchanged",
        ],
    },
)
