"""Wrong answers to exercise 2, `vocabulary`."""

from gradekit.checks import mistakes_in

mistake = mistakes_in("vocabulary")

MISTAKES = [
    mistake(
        "voc_ids_from_0",
        [("start=4", "start=0")],
        "test_ids_of_words",
        "Your word ids start at 0, so some words share an id with PAD, BOS, EOS and UNK. Start at 4.",
    ),
    mistake(
        "voc_ids_from_3",
        [("start=4", "start=3")],
        "test_ids_of_words",
        "Your word ids start at 3, which belongs to UNK. Start at 4.",
    ),
    mistake(
        "voc_order_of_appearance",
        [("sorted(word", "list(word")],
        "test_ids_of_words",
        "You number the words in the order in which they appear. Use alphabetical order.",
    ),
    mistake(
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
    mistake(
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
    mistake(
        "voc_small_letters",
        [("Counter(word for", "Counter(word.lower() for"), ("ids.get(word,", "ids.get(word.lower(),")],
        "test_ids_of_words",
        "You convert the words to lower case. `Owl` and `owl` are different words, and each has its own id.",
    ),
    mistake(
        "voc_small_letters_at_first",
        [("Counter(word for", "Counter(word.lower() for")],
        "test_ids_of_words",
        "You convert the words to lower case when you collect them. `Owl` is a different word from `owl`.",
    ),
    mistake(
        "voc_case_ignored_in_the_order",
        [
            ("sorted(word for", "sorted((word for"),
            ("min_count)\n        self.words", "min_count), key=str.lower)\n        self.words"),
        ],
        "test_ids_of_words",
        "You sort without regard to case. Use the order of Python's `sorted`, in which capitals come first.",
    ),
    mistake(
        "voc_length_without_symbols",
        [("len(self.words)", "len(self.ids)")],
        "test_length",
        "Your length leaves out the four symbols. They have ids too.",
    ),
    mistake(
        "voc_unknown_is_an_error",
        [("self.ids.get(word, UNK)", "self.ids[word]")],
        "test_unknown_words",
        "Your `encode` fails for an unknown word. Return UNK for it.",
    ),
    mistake(
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
    mistake(
        "voc_unknown_as_pad",
        [("(word, UNK)", "(word, PAD)")],
        "test_unknown_words",
        "Your `encode` returns 0, PAD, for an unknown word. The id of UNK is 3.",
    ),
    mistake(
        "voc_grows",
        [("self.ids.get(word, UNK)", "self.ids.setdefault(word, len(self.ids) + 4)")],
        "test_unknown_words",
        "Your `encode` assigns new ids to unknown words, but the model has no vectors for them. Return UNK.",
    ),
    mistake(
        "voc_adds_eos",
        [("UNK) for word in words]", "UNK) for word in words] + [EOS]")],
        "test_ids_of_words",
        "Your `encode` adds EOS. Return only the ids of the words; `collate` adds EOS.",
    ),
    mistake(
        "voc_min_count_ignored",
        [(" if count >= min_count", "")],
        "test_min_count",
        "You ignore `min_count`: rarer words get ids as well.",
    ),
    mistake(
        "voc_min_count_off_by_one",
        [("count >= min_count", "count > min_count")],
        "test_min_count",
        "Your comparison leaves out words that occur exactly `min_count` times. "
        "They belong in the vocabulary.",
    ),
    mistake(
        "voc_counts_sentences",
        [("for word in sentence)", "for word in set(sentence))")],
        "test_min_count",
        "You count the sentences that contain a word. Count every occurrence.",
    ),
    mistake(
        "voc_decode_goes_on_after_eos",
        [("break", "continue")],
        "test_decode_and_symbols",
        "Your `decode` leaves out EOS but goes on after it. Stop there.",
    ),
    mistake(
        "voc_decode_writes_eos",
        [("                break", "                words.append(self.words[index])\n                break")],
        "test_decode_and_symbols",
        "Your `decode` writes EOS as a word. Stop before it.",
    ),
    mistake(
        "voc_decode_writes_pad_and_bos",
        [("if index not in (PAD, BOS):", "if index >= 0:")],
        "test_decode_and_symbols",
        "Your `decode` writes PAD and BOS as words. Leave them out.",
    ),
    mistake(
        "voc_decode_drops_unk",
        [("(PAD, BOS)", "(PAD, BOS, UNK)")],
        "test_decode_and_symbols",
        "Your `decode` leaves out UNK. Write it as `<unk>`, so that a reader sees that there was a word.",
    ),
    mistake(
        "voc_decode_stops_at_pad",
        [("if index == EOS", "if index in (PAD, EOS)")],
        "test_decode_and_symbols",
        "Your `decode` stops at PAD. Stop only at EOS.",
    ),
    mistake(
        "voc_decode_to_one_string",
        [("return words", 'return " ".join(words)')],
        "test_decode_undoes_encode",
        "Your `decode` returns one string. Return the list of the words.",
    ),
    mistake(
        "voc_decode_off_by_one",
        [("words.append(self.words[index])", "words.append(self.words[index - 1])")],
        "test_decode_undoes_encode",
        "Your `decode` returns the word of the previous id. Use the same ids as `encode`.",
    ),
    mistake(
        "voc_entries_stay_tensors",
        [
            ("            index = int(index)\n", ""),
            ("self.words[index]", "dict(enumerate(self.words))[index]"),
        ],
        "test_decode_takes_a_tensor",
        "Your `decode` looks up the entries of a tensor in a dictionary. "
        "An entry is a tensor and not a key: use `int(index)`.",
    ),
    mistake(
        "voc_shared_by_all",
        [
            ("    SYMBOLS =", "    ids = {}\n    SYMBOLS ="),
            ("self.ids = {", "self.ids |= {"),
        ],
        "test_two_vocabularies",
        "All your vocabularies share one dictionary, because it belongs to the class. "
        "Create a new one in `__init__`.",
    ),
]
