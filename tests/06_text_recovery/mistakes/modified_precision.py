"""Wrong answers to exercise 4, `modified_precision`."""

from gradekit.checks import mistakes_in, with_costs

MATCHED = "sum(min(times, allowed[gram]) for gram, times in have.items())"
GRAMS = "tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)"
mistake = mistakes_in("modified_precision")

MISTAKES = [
    mistake(
        "mp_not_clipped",
        [("min(times, allowed[gram])", "times * (gram in allowed)")],
        "test_clipping",
        "You don't clip: a repeated n-gram of the candidate counts every time, however often it occurs in "
        "the reference.",
    ),
    mistake(
        "mp_clipped_to_one",
        [(MATCHED, "len(set(have) & set(allowed))")],
        "test_clipping",
        "You count every n-gram only once, even if candidate and reference both contain it several times.",
    ),
    mistake(
        "mp_counts_of_the_reference",
        [("min(times, allowed[gram])", "allowed[gram]")],
        "test_clipping",
        "You count how often the n-gram occurs in the reference. Take the smaller of the two counts.",
    ),
    mistake(
        "mp_total_of_the_reference",
        [("total = sum(have.values())", "total = sum(allowed.values())")],
        "test_total",
        "Your total is the number of n-grams of the reference, which is used for recall. "
        "Count those of the candidate.",
    ),
    mistake(
        "mp_total_of_different_ones",
        [("total = sum(have.values())", "total = len(have)")],
        "test_total",
        "Your total counts different n-grams. One that occurs twice counts twice.",
    ),
    mistake(
        "mp_total_of_tokens",
        [("total = sum(have.values())", "total = len(candidate)")],
        "test_total",
        "Your total is the number of tokens. There are n - 1 fewer n-grams than tokens.",
    ),
    mistake(
        "mp_last_one_missing",
        [("len(tokens) - n + 1", "len(tokens) - n")],
        "test_total",
        "The last n-gram is missing: `range(len(tokens) - n)` ends one too early.",
    ),
    mistake(
        "mp_short_ones_at_the_end",
        [("range(len(tokens) - n + 1)", "range(len(tokens))")],
        "test_total",
        "At the end of the sentence you also count pieces that are shorter than n.",
    ),
    mistake(
        "mp_short_sentence_as_one",
        [("range(len(tokens) - n + 1)", "range(max(len(tokens) - n + 1, 1))")],
        "test_total",
        "You count a sentence shorter than n as one n-gram. It has none.",
    ),
    mistake(
        "mp_no_overlap",
        [("range(len(tokens) - n + 1)", "range(0, len(tokens) - n + 1, n)")],
        "test_total",
        "Your n-grams don't overlap. An n-gram begins at every token that has enough tokens after it.",
    ),
    mistake(
        "mp_any_order",
        [("tuple(tokens[i : i + n])", "tuple(sorted(tokens[i : i + n]))")],
        "test_order_and_place",
        "You ignore the order of the tokens in an n-gram. Keep it.",
    ),
    mistake(
        "mp_same_place",
        [
            (
                MATCHED,
                "sum(candidate[i : i + n] == reference[i : i + n] for i in range(len(candidate) - n + 1))",
            )
        ],
        "test_order_and_place",
        "You compare n-grams only at the same position. One counts wherever it occurs in the reference.",
    ),
    mistake(
        "mp_with_gaps",
        [
            (
                GRAMS,
                "(*tokens[i : i + n - 1], end) for i in range(len(tokens)) for end in tokens[i + n - 1 :]",
            )
        ],
        "test_order_and_place",
        "Your n-grams may have gaps. Their tokens have to be consecutive.",
    ),
    mistake(
        "mp_case_ignored",
        [("tuple(tokens[i : i + n])", "tuple(token.lower() for token in tokens[i : i + n])")],
        "test_tokens_as_they_are",
        "You ignore case. `The` and `the` are different tokens.",
    ),
    mistake(
        "mp_joined_without_space",
        [("tuple(tokens[i : i + n])", '"".join(tokens[i : i + n])')],
        "test_tokens_as_they_are",
        "You join the tokens of an n-gram into one string, so `ab` `c` equals `a` `bc`. Use a tuple.",
    ),
    mistake(
        "mp_letters",
        [("        return Counter", '        tokens = "".join(tokens)\n        return Counter')],
        "test_tokens_as_they_are",
        "You count letters. Count tokens.",
    ),
    mistake(
        "mp_quotient",
        [("return matched, total", "return matched / total if total else 0.0")],
        "test_counts",
        "You return the quotient. Return both numbers, because BLEU adds them up over the corpus first.",
    ),
    mistake(
        "mp_swapped",
        [("return matched, total", "return total, matched")],
        "test_counts",
        "You return (total, matched). The matches come first.",
    ),
    mistake(
        "mp_all_lengths_up_to_n",
        [
            (
                GRAMS,
                "tuple(tokens[i : i + size]) for size in range(1, n + 1) for i in range(len(tokens) - size + 1)",
            )
        ],
        "test_counts",
        "You count the n-grams of all lengths up to n. Only those of length n count here.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "Every check compares the same two counts, and this changes them.": [
            "mp_last_one_missing",
            "mp_short_ones_at_the_end",
            "mp_no_overlap",
            "mp_with_gaps",
            "mp_quotient",
            "mp_swapped",
            "mp_all_lengths_up_to_n",
        ],
    },
)
