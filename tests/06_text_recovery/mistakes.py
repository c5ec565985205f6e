"""Known wrong answers to this assignment, each an edit of the instructor's solution cell."""

from coursekit.checks import Mistake, with_costs


def of(cell, *rows):
    """The mistakes of one exercise, from rows of (name, edits, check, sentence)."""
    return [
        Mistake(name, cell=cell, edits=edits, about=[about], sentence=sentence)
        for name, edits, about, sentence in rows
    ]


# ------------------------------------------------------------------------------- exercise 1: preprocess
PREPROCESS = of(
    "preprocess",
    (
        "pre_case_kept",
        [("token.lower()", "token")],
        "test_case",
        "You leave capitals as they are. Convert each word to lower case first.",
    ),
    (
        "pre_articles_before_case",
        [("if word in ARTICLES", "if token in ARTICLES")],
        "test_case",
        "You check for articles before you convert the word to lower case, so `The` isn't recognized.",
    ),
    (
        "pre_lemma_before_case",
        [("lemmas.get(word, word)", "lemmas.get(token, word)")],
        "test_case",
        "You look up the word with its capitals. The keys of the table are in lower case.",
    ),
    (
        "pre_punctuation_kept",
        [("if not token.isalnum():", "if token.isspace():")],
        "test_punctuation",
        "You leave punctuation in. Remove tokens without a letter or a digit.",
    ),
    (
        "pre_some_punctuation_kept",
        [("if not token.isalnum():", 'if token in ".,?!":')],
        "test_punctuation",
        "You remove only some punctuation marks. Remove every token without a letter or a digit.",
    ),
    (
        "pre_digits_dropped",
        [("isalnum", "isalpha")],
        "test_punctuation",
        "You also remove numbers. Tokens made of digits stay: `isalnum` is true for them, `isalpha` is not.",
    ),
    (
        "pre_split_at_spaces",
        [("tokenize(text)", "text.split()")],
        "test_punctuation",
        "You split at spaces, so a word followed by a comma is lost. Begin with `tokenize(text)`.",
    ),
    (
        "pre_articles_kept",
        [("        if word in ARTICLES:\n            continue\n", "")],
        "test_articles",
        "You leave the articles in. Remove them.",
    ),
    (
        "pre_only_the",
        [("in ARTICLES", 'in ("the",)')],
        "test_articles",
        "You remove only `the`. Remove `a` and `an` as well.",
    ),
    (
        "pre_an_forgotten",
        [("in ARTICLES", 'in ("a", "the")')],
        "test_articles",
        "You forgot the article `an`.",
    ),
    (
        "pre_articles_as_beginnings",
        [("word in ARTICLES", "word.startswith(ARTICLES)")],
        "test_articles",
        "You remove every word that begins with the letters of an article, such as `and` and `they`. "
        "Compare whole words.",
    ),
    (
        "pre_articles_inside_words",
        [
            (
                "        if word in ARTICLES:\n            continue\n",
                '        for article in ("the", "an", "a"):\n            word = word.replace(article, "")\n'
                "        if not word:\n            continue\n",
            )
        ],
        "test_articles",
        "You remove the letters of the articles inside words. Compare whole words.",
    ),
    (
        "pre_inflection_kept",
        [("lemmas.get(word, word)", "word")],
        "test_inflection",
        "You leave inflected forms as they are. Look each word up in `lemmas`.",
    ),
    (
        "pre_global_table",
        [("lemmas.get(word, word)", "LEMMAS.get(word, word)")],
        "test_inflection",
        "You look words up in the table `LEMMAS` of the grammar. Use the argument `lemmas`.",
    ),
    (
        "pre_unknown_dropped",
        [("words.append(lemmas.get(word, word))", "words.extend([lemmas[word]] if word in lemmas else [])")],
        "test_inflection",
        "You drop words that aren't in the table. They stay as they are.",
    ),
    (
        "pre_unknown_is_an_error",
        [("lemmas.get(word, word)", "lemmas[word]")],
        "test_inflection",
        "Your code fails for a word that isn't in the table. Such words stay as they are.",
    ),
    (
        "pre_final_s_cut",
        [("lemmas.get(word, word)", 'lemmas.get(word, word.removesuffix("s"))')],
        "test_inflection",
        "You cut an s off words that aren't in the table. They stay as they are: think of `bus` and `his`.",
    ),
    (
        "pre_one_string",
        [("return words", 'return " ".join(words)')],
        "test_the_whole_pipeline",
        "You return one string. Return the list of the words.",
    ),
    (
        "pre_each_word_once",
        [("return words", "return list(dict.fromkeys(words))")],
        "test_the_whole_pipeline",
        "You keep each word only once. Keep repeated words.",
    ),
    (
        "pre_sorted",
        [("return words", "return sorted(words)")],
        "test_the_whole_pipeline",
        "You sort the words. Keep them in the order of the text.",
    ),
)

# ------------------------------------------------------------------------------- exercise 2: Vocabulary
VOCABULARY = of(
    "vocabulary",
    (
        "voc_ids_from_0",
        [("start=4", "start=0")],
        "test_ids_of_words",
        "Your word ids start at 0, so some words share an id with PAD, BOS, EOS and UNK. Start at 4.",
    ),
    (
        "voc_ids_from_3",
        [("start=4", "start=3")],
        "test_ids_of_words",
        "Your word ids start at 3, which belongs to UNK. Start at 4.",
    ),
    (
        "voc_order_of_appearance",
        [("sorted(word", "list(word")],
        "test_ids_of_words",
        "You number the words in the order in which they appear. Use alphabetical order.",
    ),
    (
        "voc_order_of_frequency",
        [
            (
                "        self.words = [",
                "        known.sort(key=lambda word: -counts[word])\n        self.words = [",
            )
        ],
        "test_ids_of_words",
        "You give the lowest ids to the most frequent words. Use alphabetical order.",
    ),
    (
        "voc_id_for_every_occurrence",
        [
            (
                "word for word, count in counts.items() if count >= min_count",
                "word for sentence in sentences for word in sentence if counts[word] >= min_count",
            )
        ],
        "test_length",
        "A word that occurs twice uses up two ids. Each word gets only one.",
    ),
    (
        "voc_small_letters",
        [("Counter(word for", "Counter(word.lower() for"), ("ids.get(word,", "ids.get(word.lower(),")],
        "test_ids_of_words",
        "You convert the words to lower case. `Owl` and `owl` are different words, and each has its own id.",
    ),
    (
        "voc_small_letters_at_first",
        [("Counter(word for", "Counter(word.lower() for")],
        "test_ids_of_words",
        "You convert the words to lower case when you collect them. `Owl` is a word of its own.",
    ),
    (
        "voc_case_ignored_in_the_order",
        [
            ("sorted(word for", "sorted((word for"),
            ("min_count)\n        self.words", "min_count), key=str.lower)\n        self.words"),
        ],
        "test_ids_of_words",
        "You sort without regard to case. Use the order of Python's `sorted`, in which capitals come first.",
    ),
    (
        "voc_length_without_symbols",
        [("len(self.words)", "len(self.ids)")],
        "test_length",
        "Your length leaves out the four symbols. They have ids too.",
    ),
    (
        "voc_unknown_is_an_error",
        [("self.ids.get(word, UNK)", "self.ids[word]")],
        "test_unknown_words",
        "Your `encode` fails for an unknown word. Return UNK for it.",
    ),
    (
        "voc_unknown_dropped",
        [
            (
                "self.ids.get(word, UNK) for word in words",
                "self.ids[word] for word in words if word in self.ids",
            )
        ],
        "test_unknown_words",
        "Your `encode` drops unknown words. Return UNK for each of them.",
    ),
    (
        "voc_unknown_as_pad",
        [("(word, UNK)", "(word, PAD)")],
        "test_unknown_words",
        "Your `encode` returns 0, PAD, for an unknown word. The id of UNK is 3.",
    ),
    (
        "voc_grows",
        [("self.ids.get(word, UNK)", "self.ids.setdefault(word, len(self.ids) + 4)")],
        "test_unknown_words",
        "Your `encode` assigns new ids to unknown words, but the model has no vectors for them. Return UNK.",
    ),
    (
        "voc_adds_eos",
        [("UNK) for word in words]", "UNK) for word in words] + [EOS]")],
        "test_ids_of_words",
        "Your `encode` adds EOS. Return only the ids of the words; `collate` adds EOS.",
    ),
    (
        "voc_min_count_ignored",
        [(" if count >= min_count", "")],
        "test_min_count",
        "You ignore `min_count`: rarer words get ids as well.",
    ),
    (
        "voc_min_count_off_by_one",
        [("count >= min_count", "count > min_count")],
        "test_min_count",
        "Your comparison leaves out words that occur exactly `min_count` times. "
        "They belong in the vocabulary.",
    ),
    (
        "voc_counts_sentences",
        [("for word in sentence)", "for word in set(sentence))")],
        "test_min_count",
        "You count the sentences that contain a word. Count every occurrence.",
    ),
    (
        "voc_decode_goes_on_after_eos",
        [("break", "continue")],
        "test_decode_and_symbols",
        "Your `decode` leaves out EOS but goes on after it. Stop there.",
    ),
    (
        "voc_decode_writes_eos",
        [("                break", "                words.append(self.words[index])\n                break")],
        "test_decode_and_symbols",
        "Your `decode` writes EOS as a word. Stop before it.",
    ),
    (
        "voc_decode_writes_pad_and_bos",
        [("if index not in (PAD, BOS):", "if index >= 0:")],
        "test_decode_and_symbols",
        "Your `decode` writes PAD and BOS as words. Leave them out.",
    ),
    (
        "voc_decode_drops_unk",
        [("(PAD, BOS)", "(PAD, BOS, UNK)")],
        "test_decode_and_symbols",
        "Your `decode` leaves out UNK. Write it as `<unk>`, so that a reader sees that there was a word.",
    ),
    (
        "voc_decode_stops_at_pad",
        [("if index == EOS", "if index in (PAD, EOS)")],
        "test_decode_and_symbols",
        "Your `decode` stops at PAD. Stop only at EOS.",
    ),
    (
        "voc_decode_to_one_string",
        [("return words", 'return " ".join(words)')],
        "test_decode_undoes_encode",
        "Your `decode` returns one string. Return the list of the words.",
    ),
    (
        "voc_decode_off_by_one",
        [("words.append(self.words[index])", "words.append(self.words[index - 1])")],
        "test_decode_undoes_encode",
        "Your `decode` returns the word of the previous id. Use the same ids as `encode`.",
    ),
    (
        "voc_entries_stay_tensors",
        [
            ("            index = int(index)\n", ""),
            ("self.words[index]", "dict(enumerate(self.words))[index]"),
        ],
        "test_decode_takes_a_tensor",
        "Your `decode` looks up the entries of a tensor in a dictionary. "
        "An entry is a tensor and not a key: use `int(index)`.",
    ),
    (
        "voc_shared_by_all",
        [
            ("    SYMBOLS =", "    ids = {}\n    SYMBOLS ="),
            ("self.ids = {", "self.ids |= {"),
        ],
        "test_two_vocabularies",
        "All your vocabularies share one dictionary, because it belongs to the class. "
        "Create a new one in `__init__`.",
    ),
)

# ---------------------------------------------------------------------------------- exercise 3: collate
COLLATE = of(
    "collate",
    (
        "col_no_eos",
        [("[*target, eos_idx]", "list(target)")],
        "test_target",
        "You left out EOS at the end of the targets, so a model would never learn to stop.",
    ),
    (
        "col_eos_behind_the_pads",
        [
            ("[*target, eos_idx]", "list(target)"),
            ("fill_up(targets)", "torch.nn.functional.pad(fill_up(targets), (0, 1), value=eos_idx)"),
        ],
        "test_target",
        "You put EOS after the padding. It comes right after the last word, before the padding.",
    ),
    (
        "col_eos_in_place_of_pad",
        [
            (
                "    return fill_up(sources), fill_up(targets)",
                "    target = fill_up(targets)\n"
                "    return fill_up(sources), torch.where(target == pad_idx, eos_idx, target)",
            )
        ],
        "test_target",
        "You pad the targets with EOS. Write EOS once, then PAD.",
    ),
    (
        "col_eos_in_front",
        [("[*target, eos_idx]", "[eos_idx, *target]")],
        "test_target",
        "You put EOS at the start of the target. It belongs after the last word.",
    ),
    (
        "col_bos_in_front",
        [("[*target, eos_idx]", "[BOS, *target, eos_idx]")],
        "test_target",
        "You put BOS at the start of the target. `shift_right` does that for the input of the decoder.",
    ),
    (
        "col_eos_on_the_source",
        [("list(source) for", "[*source, eos_idx] for")],
        "test_source",
        "You also put EOS after the sources. Only the targets end with it.",
    ),
    (
        "col_pads_on_the_left",
        [("row + [pad_idx] * (longest - len(row))", "[pad_idx] * (longest - len(row)) + row")],
        "test_source",
        "You pad on the left. Pad on the right.",
    ),
    (
        "col_one_length_for_both",
        [("for row in rows)", "for row in sources + targets)")],
        "test_source",
        "You pad sources and targets to a common length. Pad each to its own longest row.",
    ),
    (
        "col_cut_to_the_shortest",
        [("max(len(row)", "min(len(row)"), ("row + [pad_idx]", "row[:longest] + [pad_idx]")],
        "test_source",
        "You cut all rows to the shortest one. Pad them to the longest.",
    ),
    (
        "col_batch_second",
        [("fill_up(sources), fill_up(targets)", "fill_up(sources).T, fill_up(targets).T")],
        "test_source",
        "Your tensors are (length, batch). The batch comes first.",
    ),
    (
        "col_pad_0_fixed",
        [("[pad_idx] *", "[0] *")],
        "test_other_symbols",
        "You always pad with 0. Use the argument `pad_idx`.",
    ),
    (
        "col_eos_2_fixed",
        [("[*target, eos_idx]", "[*target, 2]")],
        "test_other_symbols",
        "You always use 2 for EOS. Use the argument `eos_idx`.",
    ),
    (
        "col_int32",
        [("dtype=torch.long", "dtype=torch.int32")],
        "test_dtype",
        "Your tensors are int32. Use torch.long.",
    ),
    (
        "col_no_dtype",
        [(", dtype=torch.long", "")],
        "test_dtype",
        "Without `dtype=torch.long`, torch creates a float tensor if it has no entries.",
    ),
    (
        "col_appends_to_the_pairs",
        [
            (
                "targets = [[*target, eos_idx] for _, target in pairs]",
                "targets = [target for _, target in pairs]\n    for target in targets:\n        target.append(eos_idx)",
            )
        ],
        "test_pairs_unchanged",
        "You append EOS to the lists that were passed in. Create new lists: `[*target, eos_idx]`.",
    ),
)

# ----------------------------------------------------------------------- exercise 4: modified_precision
MATCHED = "sum(min(times, allowed[gram]) for gram, times in have.items())"
GRAMS = "tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)"
PRECISION = of(
    "modified_precision",
    (
        "mp_not_clipped",
        [("min(times, allowed[gram])", "times * (gram in allowed)")],
        "test_clipping",
        "You don't clip: a repeated n-gram of the candidate counts every time, however often it occurs in "
        "the reference.",
    ),
    (
        "mp_clipped_to_one",
        [(MATCHED, "len(set(have) & set(allowed))")],
        "test_clipping",
        "You count every n-gram only once, even if candidate and reference both contain it several times.",
    ),
    (
        "mp_counts_of_the_reference",
        [("min(times, allowed[gram])", "allowed[gram]")],
        "test_clipping",
        "You count how often the n-gram occurs in the reference. Take the smaller of the two counts.",
    ),
    (
        "mp_total_of_the_reference",
        [("total = sum(have.values())", "total = sum(allowed.values())")],
        "test_total",
        "Your total is the number of n-grams of the reference, which is used for recall. "
        "Count those of the candidate.",
    ),
    (
        "mp_total_of_different_ones",
        [("total = sum(have.values())", "total = len(have)")],
        "test_total",
        "Your total counts different n-grams. One that occurs twice counts twice.",
    ),
    (
        "mp_total_of_tokens",
        [("total = sum(have.values())", "total = len(candidate)")],
        "test_total",
        "Your total is the number of tokens. There are n - 1 fewer n-grams than tokens.",
    ),
    (
        "mp_last_one_missing",
        [("len(tokens) - n + 1", "len(tokens) - n")],
        "test_total",
        "The last n-gram is missing: `range(len(tokens) - n)` ends one too early.",
    ),
    (
        "mp_short_ones_at_the_end",
        [("range(len(tokens) - n + 1)", "range(len(tokens))")],
        "test_total",
        "At the end of the sentence you also count pieces that are shorter than n.",
    ),
    (
        "mp_short_sentence_as_one",
        [("range(len(tokens) - n + 1)", "range(max(len(tokens) - n + 1, 1))")],
        "test_total",
        "You count a sentence shorter than n as one n-gram. It has none.",
    ),
    (
        "mp_no_overlap",
        [("range(len(tokens) - n + 1)", "range(0, len(tokens) - n + 1, n)")],
        "test_total",
        "Your n-grams don't overlap. An n-gram begins at every token that has enough tokens after it.",
    ),
    (
        "mp_any_order",
        [("tuple(tokens[i : i + n])", "tuple(sorted(tokens[i : i + n]))")],
        "test_order_and_place",
        "You ignore the order of the tokens in an n-gram. Keep it.",
    ),
    (
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
    (
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
    (
        "mp_case_ignored",
        [("tuple(tokens[i : i + n])", "tuple(token.lower() for token in tokens[i : i + n])")],
        "test_tokens_as_they_are",
        "You ignore case. `The` and `the` are different tokens.",
    ),
    (
        "mp_joined_without_space",
        [("tuple(tokens[i : i + n])", '"".join(tokens[i : i + n])')],
        "test_tokens_as_they_are",
        "You join the tokens of an n-gram into one string, so `ab` `c` equals `a` `bc`. Use a tuple.",
    ),
    (
        "mp_letters",
        [("        return Counter", '        tokens = "".join(tokens)\n        return Counter')],
        "test_tokens_as_they_are",
        "You count letters. Count tokens.",
    ),
    (
        "mp_quotient",
        [("return matched, total", "return matched / total if total else 0.0")],
        "test_counts",
        "You return the quotient. Return both numbers, because BLEU adds them up over the corpus first.",
    ),
    (
        "mp_swapped",
        [("return matched, total", "return total, matched")],
        "test_counts",
        "You return (total, matched). The matches come first.",
    ),
    (
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
)

# -------------------------------------------------------------------------- exercise 5: brevity_penalty
EXPONENT = "1 - reference_length / candidate_length"
BREVITY = of(
    "brevity_penalty",
    (
        "bp_none",
        [(f"math.exp({EXPONENT})", "1.0")],
        "test_too_short",
        "You don't penalize candidates that are too short.",
    ),
    (
        "bp_plain_quotient",
        [(f"math.exp({EXPONENT})", "candidate_length / reference_length")],
        "test_too_short",
        "You return the quotient of the lengths. The penalty is e to the power of 1 - r / c.",
    ),
    (
        "bp_quotient_upside_down",
        [(EXPONENT, "1 - candidate_length / reference_length")],
        "test_too_short",
        "You divide c by r. The exponent contains r / c.",
    ),
    (
        "bp_wrong_sign",
        [(EXPONENT, "reference_length / candidate_length - 1")],
        "test_too_short",
        "Your exponent has the wrong sign, so the penalty is above 1. It should be 1 - r / c.",
    ),
    (
        "bp_without_the_1",
        [(EXPONENT, "-reference_length / candidate_length")],
        "test_too_short",
        "You left out the 1 in the exponent 1 - r / c.",
    ),
    (
        "bp_power_of_2",
        [(f"math.exp({EXPONENT})", f"2 ** ({EXPONENT})")],
        "test_too_short",
        "You took a power of 2. The base is e: use `math.exp`.",
    ),
    (
        "bp_whole_numbers",
        [(EXPONENT, "1 - reference_length // candidate_length")],
        "test_too_short",
        "You divide with //, which rounds down. Use /.",
    ),
    (
        "bp_not_limited",
        [("candidate_length >= reference_length", "candidate_length == reference_length")],
        "test_never_above_one",
        "Your penalty is above 1 for candidates that are longer than the reference. Return 1.0 for them.",
    ),
    (
        "bp_too_long_punished",
        [("return 1.0", "return math.exp(1 - candidate_length / max(reference_length, 1))")],
        "test_never_above_one",
        "You also penalize candidates that are too long. The precision already does that.",
    ),
    (
        "bp_wrong_way_round",
        [("candidate_length >= reference_length", "candidate_length <= reference_length")],
        "test_too_short",
        "You swapped candidate and reference: short candidates get 1, long ones don't.",
    ),
    (
        "bp_two_empty_ones",
        [
            (
                "    if candidate_length >= reference_length:\n        return 1.0\n"
                "    if candidate_length == 0:\n        return 0.0\n",
                "    if candidate_length == 0:\n        return 0.0\n"
                "    if candidate_length >= reference_length:\n        return 1.0\n",
            )
        ],
        "test_equal_lengths",
        "For two lengths of 0 you return 0. Nothing is missing, so return 1.0.",
    ),
    (
        "bp_division_by_zero",
        [("    if candidate_length == 0:\n        return 0.0\n", "")],
        "test_nothing_written",
        "You divide by zero if the candidate is empty. Return 0.0 in this case.",
    ),
    (
        "bp_nothing_written_is_fine",
        [("return 0.0", "return 1.0")],
        "test_nothing_written",
        "You return 1 if the candidate is empty. This is the worst case: return 0.0.",
    ),
)

# ------------------------------------------------------------------------------ exercise 6: corpus_bleu
NO_MATCH = "        if matched == 0:\n            return 0.0\n"
BLEU = of(
    "corpus_bleu",
    (
        "bleu_arithmetic_mean",
        [
            ("math.log(matched / total)", "matched / total"),
            ("math.exp(sum(logarithms) / max_n)", "(sum(logarithms) / max_n)"),
        ],
        "test_equals_sacrebleu",
        "You took the ordinary mean of the precisions. "
        "BLEU takes the geometric mean: e to the power of the mean logarithm.",
    ),
    (
        "bleu_product_without_root",
        [("sum(logarithms) / max_n", "sum(logarithms)")],
        "test_equals_sacrebleu",
        "You multiply the precisions but don't take the root: divide the sum of the logarithms by `max_n`.",
    ),
    (
        "bleu_base_10",
        [("math.log(matched", "math.log10(matched")],
        "test_equals_sacrebleu",
        "You take logarithms to base 10, but then a power of e. Use `math.log`.",
    ),
    (
        "bleu_scale_1",
        [("100 * penalty", "penalty")],
        "test_equals_sacrebleu",
        "Your BLEU runs from 0 to 1. Multiply by 100.",
    ),
    (
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
    (
        "bleu_recall",
        [("modified_precision(candidate, reference, n)", "modified_precision(reference, candidate, n)")],
        "test_equals_sacrebleu",
        "You pass references and candidates in the wrong order, which computes recall. "
        "Swap the two arguments.",
    ),
    (
        "bleu_only_the_longest",
        [("range(1, max_n + 1)", "[max_n]"), ("sum(logarithms) / max_n", "sum(logarithms)")],
        "test_equals_sacrebleu",
        "You use only the precision of the longest n-grams. Use those of n = 1 to `max_n`.",
    ),
    (
        "bleu_longest_missing",
        [("range(1, max_n + 1)", "range(1, max_n)")],
        "test_equals_sacrebleu",
        "Your loop ends before n = `max_n`: `range(1, max_n + 1)` includes it.",
    ),
    (
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
    (
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
    (
        "bleu_mean_of_precisions",
        [("matched += hits", "matched += hits / max(grams, 1)"), ("total += grams", "total += 1")],
        "test_sums_over_the_corpus",
        "You took the mean of the sentences' precisions. Add up matches and totals, and divide once.",
    ),
    (
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
    (
        "bleu_log_of_0",
        [(NO_MATCH, "")],
        "test_no_match_no_score",
        "There is no logarithm of 0, and no quotient if the total is 0. Return 0.0 if nothing matches.",
    ),
    (
        "bleu_zero_precisions_left_out",
        [("            return 0.0\n", "            continue\n")],
        "test_no_match_no_score",
        "You leave out precisions that are 0, so they cost nothing. BLEU has to be 0 then.",
    ),
    (
        "bleu_smoothed",
        [(NO_MATCH, ""), ("matched / total", "(matched + 1) / (total + 1)")],
        "test_no_match_no_score",
        "You add 1 to the counts, which is a kind of smoothing. We don't smooth here.",
    ),
    (
        "bleu_tiny_number_for_0",
        [(NO_MATCH, ""), ("matched / total", "max(matched, 0.1) / max(total, 1)")],
        "test_no_match_no_score",
        "You replace 0 matches by a small number. BLEU has to be 0 then.",
    ),
    (
        "bleu_no_brevity_penalty",
        [("brevity_penalty(candidate_length, reference_length)", "1.0")],
        "test_brevity",
        "You left out the brevity penalty.",
    ),
    (
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
    (
        "bleu_brevity_exchanged",
        [("(candidate_length, reference_length)", "(reference_length, candidate_length)")],
        "test_brevity",
        "You swapped the two lengths in the brevity penalty. The length of the candidates comes first.",
    ),
    (
        "bleu_brevity_for_each_n",
        [("100 * penalty *", "100 * penalty**max_n *")],
        "test_brevity",
        "You apply the brevity penalty once for every n. Apply it once in total.",
    ),
    (
        "bleu_max_n_ignored",
        [("range(1, max_n + 1)", "range(1, 5)"), ("sum(logarithms) / max_n", "sum(logarithms) / 4")],
        "test_max_n",
        "You always go up to n = 4. Use the argument `max_n`.",
    ),
    (
        "bleu_always_a_fourth",
        [("sum(logarithms) / max_n", "sum(logarithms) / 4")],
        "test_max_n",
        "You always divide by 4. There are `max_n` precisions.",
    ),
    (
        "bleu_rest_left_out",
        [("len(candidates) != len(references)", "not isinstance(candidates, list)"), (", strict=True", "")],
        "test_unequal_numbers",
        "If one list is longer, you ignore the rest of it. Raise a ValueError.",
    ),
    (
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
)

MISTAKES = [*PREPROCESS, *VOCABULARY, *COLLATE, *PRECISION, *BREVITY, *BLEU]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "Every check compares a list of words, and this changes nearly all of them.": [
            "pre_unknown_dropped",
            "pre_unknown_is_an_error",
            "pre_one_string",
            "pre_sorted",
        ],
        "Every check compares the same two counts, and this changes them.": [
            "mp_last_one_missing",
            "mp_short_ones_at_the_end",
            "mp_no_overlap",
            "mp_with_gaps",
            "mp_quotient",
            "mp_swapped",
            "mp_all_lengths_up_to_n",
        ],
        "The score is one number, and this changes it for nearly every corpus.": [
            "bleu_recall",
            "bleu_longest_missing",
            "bleu_one_long_sentence",
            "bleu_mean_over_sentences",
            "bleu_smoothed",
            "bleu_brevity_of_each_sentence",
            "bleu_brevity_exchanged",
            "bp_wrong_way_round",
        ],
    },
)
