"""Wrong answers to exercise 7, `vocabulary`."""

from gradekit.checks import Mistakes

wrong = Mistakes()

wrong.about("test_vocabulary")
wrong("no_special_symbols", "{symbol: i for i, symbol in enumerate(SPECIALS)}", "{}")
wrong.says("The special symbols are missing, so words get the ids of PAD, BOS, EOS and UNK.")
wrong("sorted_words")
wrong.edit("for sentence in sentences:", "for sentence in [' '.join(sorted(' '.join(sentences).split()))]:")
wrong.says("You sorted the words. They should be in order of appearance.")
wrong("unknown_not_special", "enumerate(SPECIALS)}", "enumerate(SPECIALS[:3])}")
wrong.says("`<unk>` is missing from your vocabulary.")
wrong("small_letters", "for word in sentence.split():\n", "for word in sentence.lower().split():\n")
wrong.says("You converted the words to lower case. Case matters here.")

wrong.about("test_every_word_once")
wrong(
    "repeated_words_counted",
    "            if word not in vocabulary:\n                vocabulary[word] = len(vocabulary)\n",
    "            number = vocabulary.pop(None, len(SPECIALS))\n"
    "            vocabulary[word], vocabulary[None] = number, number + 1\n",
)
wrong.edit("    return vocabulary\n", "    vocabulary.pop(None, None)\n    return vocabulary\n")
wrong.says("A repeated word gets a new id. It should keep its first one.")

wrong.about("test_unknown_words")
wrong("key_error", "vocabulary.get(word, UNK)", "vocabulary[word]")
wrong.says("An unknown word stops your program with a KeyError. It should become UNK.")
wrong("unknown_left_out", "[vocabulary.get(word, UNK) for word in sentence.split()]")
wrong.to("[vocabulary[word] for word in sentence.split() if word in vocabulary]")
wrong.says("You leave out unknown words. Put UNK in their place.", lacks=("UNK",))
wrong("unknown_is_pad", "vocabulary.get(word, UNK)", "vocabulary.get(word, PAD)")
wrong.says("An unknown word becomes PAD, which is hidden from the model.")
wrong.says("It should become UNK.", lacks=("UNK",))
wrong("unknown_added", "vocabulary.get(word, UNK)", "vocabulary.setdefault(word, len(vocabulary))")
wrong.says("You add unknown words to the vocabulary, but the model has no embedding for them.")
wrong.says("Use UNK.", uses=("*setdefault", "len"))

wrong.about("test_to_ids")
wrong("bos_and_eos_added", "[vocabulary.get(word, UNK) for word in sentence.split()]")
wrong.to("[BOS, *[vocabulary.get(word, UNK) for word in sentence.split()], EOS]")
wrong.says("You add BOS and EOS. to_ids should return only the words.")
wrong("eos_added", "[vocabulary.get(word, UNK) for word in sentence.split()]")
wrong.to("[*[vocabulary.get(word, UNK) for word in sentence.split()], EOS]")
wrong.says("You add EOS. to_ids should return only the words.")

wrong.about("test_to_text")
wrong("eos_skipped", "        if i == EOS:\n            break\n        if i not in (PAD, BOS):")
wrong.to("        if i not in (PAD, BOS, EOS):")
wrong.says("You go on after the first EOS. The text ends there.")
wrong("eos_written", "        if i == EOS:\n            break\n", "")
wrong.says("Your text contains EOS and goes on after it. Stop at EOS.")
wrong("pads_written", "if i not in (PAD, BOS):", "if i != BOS:")
wrong.says("Your text contains padding. Leave it out.")
wrong("pad_ends_the_text", "        if i == EOS:", "        if i in (PAD, EOS):")
wrong.says("Your text ends at the first PAD. It should end at EOS; just leave out the padding.")
wrong("no_spaces", '" ".join(kept)', '"".join(kept)')
wrong.says("There are no spaces between the words of your text.")
wrong("bos_written", "if i not in (PAD, BOS):", "if i != PAD:")
wrong.says("Your text contains BOS. Leave it out.")
wrong("unk_not_written", "if i not in (PAD, BOS):", "if i not in (PAD, BOS, UNK):")
wrong.says("You leave out unknown words. Write `<unk>` for them.")
wrong("list_of_words", 'return " ".join(kept)', "return kept")
wrong.says("You return the list of the words. Join them into one string, with spaces.")

wrong.unnamed("Its values are too few and simple: other mistakes return them, too.", "pad_ends_the_text")
