"""Wrong answers to exercise 2, `vocabulary`."""

from gradekit.checks import Mistakes

wrong = Mistakes()

wrong.about("test_ids_of_words")
wrong("voc_ids_from_0", "start=4", "start=0")
wrong.says("Your word ids start at 0, so some words share an id with PAD, BOS, EOS and UNK. Start at 4.")
wrong("voc_ids_from_3", "start=4", "start=3")
wrong.says("Your word ids start at 3, which belongs to UNK. Start at 4.")
wrong("voc_order_of_appearance", "sorted(word", "list(word")
wrong.says("You number the words in the order in which they appear. Use alphabetical order.")
wrong(
    "voc_order_of_frequency",
    "        self.words = [",
    "        known.sort(key=lambda word: -counts[word])\n        self.words = [",
)
wrong.says("You give the lowest ids to the most frequent words. Use alphabetical order.")
wrong("voc_small_letters", "Counter(word for", "Counter(word.lower() for")
wrong.edit("ids.get(word,", "ids.get(word.lower(),")
wrong.says("You convert the words to lower case.")
wrong.says("`Owl` and `owl` are different words, and each has its own id.")
wrong("voc_small_letters_at_first", "Counter(word for", "Counter(word.lower() for")
wrong.says("You convert the words to lower case when you collect them. `Owl` is a different word from `owl`.")
wrong("voc_case_ignored_in_the_order", "sorted(word for", "sorted((word for")
wrong.edit("min_count)\n        self.words", "min_count), key=str.lower)\n        self.words")
wrong.says("You sort without regard to case.")
wrong.says("Use the order of Python's `sorted`, in which capitals come first.")
wrong("voc_adds_eos", "UNK) for word in words]", "UNK) for word in words] + [EOS]")
wrong.says("Your `encode` adds EOS. Return only the ids of the words; `collate` adds EOS.")

wrong.about("test_length")
wrong(
    "voc_id_for_every_occurrence",
    "word for word, count in counts.items() if count >= min_count",
    "word for sentence in sentences for word in sentence if counts[word] >= min_count",
)
wrong.says("A word that occurs twice uses up two ids. Each word gets only one.")
wrong("voc_length_without_symbols", "len(self.words)", "len(self.ids)")
wrong.says("Your length leaves out the four symbols. They have ids too.")

wrong.about("test_unknown_words")
wrong("voc_unknown_is_an_error", "self.ids.get(word, UNK)", "self.ids[word]")
wrong.says("Your `encode` fails for an unknown word. Return UNK for it.")
wrong(
    "voc_unknown_dropped",
    "self.ids.get(word, UNK) for word in words",
    "self.ids[word] for word in words if word in self.ids",
)
wrong.says("Your `encode` drops unknown words. Return UNK for each of them.")
wrong("voc_unknown_as_pad", "(word, UNK)", "(word, PAD)")
wrong.says("Your `encode` returns 0, PAD, for an unknown word. The id of UNK is 3.")
wrong("voc_grows", "self.ids.get(word, UNK)", "self.ids.setdefault(word, len(self.ids) + 4)")
wrong.says("Your `encode` assigns new ids to unknown words, but the model has no vectors for them.")
wrong.says("Return UNK.")

wrong.about("test_min_count")
wrong("voc_min_count_ignored", " if count >= min_count", "")
wrong.says("You ignore `min_count`: rarer words get ids as well.")
wrong("voc_min_count_off_by_one", "count >= min_count", "count > min_count")
wrong.says("Your comparison leaves out words that occur exactly `min_count` times.")
wrong.says("They belong in the vocabulary.")
wrong("voc_counts_sentences", "for word in sentence)", "for word in set(sentence))")
wrong.says("You count the sentences that contain a word. Count every occurrence.")

wrong.about("test_decode_and_symbols")
wrong("voc_decode_goes_on_after_eos", "break", "continue")
wrong.says("Your `decode` leaves out EOS but goes on after it. Stop there.")
wrong("voc_decode_writes_eos")
wrong.edit("                break", "                words.append(self.words[index])\n                break")
wrong.says("Your `decode` writes EOS as a word. Stop before it.")
wrong("voc_decode_writes_pad_and_bos", "if index not in (PAD, BOS):", "if index >= 0:")
wrong.says("Your `decode` writes PAD and BOS as words. Leave them out.")
wrong("voc_decode_drops_unk", "(PAD, BOS)", "(PAD, BOS, UNK)")
wrong.says("Your `decode` leaves out UNK. Write it as `<unk>`, so that a reader sees that there was a word.")
wrong("voc_decode_stops_at_pad", "if index == EOS", "if index in (PAD, EOS)")
wrong.says("Your `decode` stops at PAD. Stop only at EOS.")

wrong.about("test_decode_undoes_encode")
wrong("voc_decode_to_one_string", "return words", 'return " ".join(words)')
wrong.says("Your `decode` returns one string. Return the list of the words.")
wrong("voc_decode_off_by_one", "words.append(self.words[index])", "words.append(self.words[index - 1])")
wrong.says("Your `decode` returns the word of the previous id. Use the same ids as `encode`.")

wrong.about("test_decode_takes_a_tensor")
wrong("voc_entries_stay_tensors", "            index = int(index)\n", "")
wrong.edit("self.words[index]", "dict(enumerate(self.words))[index]")
wrong.says("Your `decode` looks up the entries of a tensor in a dictionary.")
wrong.says("An entry is a tensor and not a key: use `int(index)`.")

wrong.about("test_two_vocabularies")
wrong("voc_shared_by_all", "    SYMBOLS =", "    ids = {}\n    SYMBOLS =")
wrong.edit("self.ids = {", "self.ids |= {")
wrong.says("All your vocabularies share one dictionary, because it belongs to the class.")
wrong.says("Create a new one in `__init__`.")
