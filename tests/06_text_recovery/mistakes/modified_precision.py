"""Wrong answers to exercise 4, `modified_precision`."""

from gradekit.checks import Mistakes

MATCHED = "sum(min(times, allowed[gram]) for gram, times in have.items())"
GRAMS = "tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)"
SAME_COUNTS = "Every check compares the same two counts, and this changes them."

wrong = Mistakes()

wrong.about("test_clipping")
wrong("mp_not_clipped", "min(times, allowed[gram])", "times * (gram in allowed)")
wrong.says(
    "You don't clip: a repeated n-gram of the candidate counts every time, however often it occurs in the "
    "reference."
)
wrong("mp_clipped_to_one", MATCHED, "len(set(have) & set(allowed))")
wrong.says("You count every n-gram only once, even if candidate and reference both contain it several times.")
wrong("mp_counts_of_the_reference", "min(times, allowed[gram])", "allowed[gram]")
wrong.says("You count how often the n-gram occurs in the reference. Take the smaller of the two counts.")

wrong.about("test_total")
wrong("mp_total_of_the_reference", "total = sum(have.values())", "total = sum(allowed.values())")
wrong.says("Your total is the number of n-grams of the reference, which is used for recall.")
wrong.says("Count those of the candidate.")
wrong("mp_total_of_different_ones", "total = sum(have.values())", "total = len(have)")
wrong.says("Your total counts different n-grams. One that occurs twice counts twice.")
wrong("mp_total_of_tokens", "total = sum(have.values())", "total = len(candidate)")
wrong.says("Your total is the number of tokens. There are n - 1 fewer n-grams than tokens.")
wrong("mp_last_one_missing", "len(tokens) - n + 1", "len(tokens) - n")
wrong.says("The last n-gram is missing: `range(len(tokens) - n)` ends one too early.")
wrong.costs(SAME_COUNTS)
wrong("mp_short_ones_at_the_end", "range(len(tokens) - n + 1)", "range(len(tokens))")
wrong.says("At the end of the sentence you also count pieces that are shorter than n.")
wrong.costs(SAME_COUNTS)
wrong("mp_short_sentence_as_one", "range(len(tokens) - n + 1)", "range(max(len(tokens) - n + 1, 1))")
wrong.says("You count a sentence shorter than n as one n-gram. It has none.", uses=("max",))
wrong("mp_no_overlap", "range(len(tokens) - n + 1)", "range(0, len(tokens) - n + 1, n)")
wrong.says("Your n-grams don't overlap. An n-gram begins at every token that has enough tokens after it.")
wrong.costs(SAME_COUNTS)

wrong.about("test_order_and_place")
wrong("mp_any_order", "tuple(tokens[i : i + n])", "tuple(sorted(tokens[i : i + n]))")
wrong.says("You ignore the order of the tokens in an n-gram. Keep it.")
wrong("mp_same_place", MATCHED)
wrong.to("sum(candidate[i : i + n] == reference[i : i + n] for i in range(len(candidate) - n + 1))")
wrong.says("You compare n-grams only at the same position. One counts wherever it occurs in the reference.")
wrong("mp_with_gaps")
wrong.edit(GRAMS, "(*tokens[i : i + n - 1], end) for i in range(len(tokens)) for end in tokens[i + n - 1 :]")
wrong.says("Your n-grams may have gaps. Their tokens have to be consecutive.")
wrong.costs(SAME_COUNTS)

wrong.about("test_tokens_as_they_are")
wrong("mp_case_ignored", "tuple(tokens[i : i + n])", "tuple(token.lower() for token in tokens[i : i + n])")
wrong.says("You ignore case. `The` and `the` are different tokens.", uses=("lower", "casefold", "upper"))
wrong("mp_joined_without_space", "tuple(tokens[i : i + n])", '"".join(tokens[i : i + n])')
wrong.says(
    "You join the tokens of an n-gram into one string, so `ab` `c` equals `a` `bc`. Use a tuple.",
    uses=("join",),
)
wrong("mp_letters", "        return Counter", '        tokens = "".join(tokens)\n        return Counter')
wrong.says("You count letters. Count tokens.")

wrong.about("test_counts")
wrong("mp_quotient", "return matched, total", "return matched / total if total else 0.0")
wrong.says("You return the quotient. Return both numbers, because BLEU adds them up over the corpus first.")
wrong.costs(SAME_COUNTS)
wrong("mp_swapped", "return matched, total", "return total, matched")
wrong.says("You return (total, matched). The matches come first.")
wrong.costs(SAME_COUNTS)
wrong("mp_all_lengths_up_to_n", GRAMS)
wrong.to("tuple(tokens[i : i + size]) for size in range(1, n + 1) for i in range(len(tokens) - size + 1)")
wrong.says("You count the n-grams of all lengths up to n. Only those of length n count here.")
wrong.costs(SAME_COUNTS)
