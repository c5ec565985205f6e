"""Wrong answers to exercise 7, `vocabulary`."""

from gradekit.checks import Mistake

MISTAKES = [
    Mistake(
        "no_special_symbols",
        cell="vocabulary",
        edits=[("{symbol: i for i, symbol in enumerate(SPECIALS)}", "{}")],
        about=["test_vocabulary"],
        sentence="The special symbols are missing, so words get the ids of PAD, BOS, EOS and UNK.",
    ),
    Mistake(
        "sorted_words",
        cell="vocabulary",
        edits=[
            (
                "for sentence in sentences:",
                "for sentence in [' '.join(sorted(' '.join(sentences).split()))]:",
            ),
        ],
        about=["test_vocabulary"],
        sentence="You sorted the words. They should be in order of appearance.",
    ),
    Mistake(
        "repeated_words_counted",
        cell="vocabulary",
        edits=[
            (
                "            if word not in vocabulary:\n                vocabulary[word] = len(vocabulary)\n",
                "            number = vocabulary.pop(None, len(SPECIALS))\n"
                "            vocabulary[word], vocabulary[None] = number, number + 1\n",
            ),
            ("    return vocabulary\n", "    vocabulary.pop(None, None)\n    return vocabulary\n"),
        ],
        about=["test_every_word_once"],
        sentence="A repeated word gets a new id. It should keep its first one.",
    ),
    Mistake(
        "unknown_not_special",
        cell="vocabulary",
        edits=[("enumerate(SPECIALS)}", "enumerate(SPECIALS[:3])}")],
        about=["test_vocabulary"],
        sentence="`<unk>` is missing from your vocabulary.",
    ),
    Mistake(
        "small_letters",
        cell="vocabulary",
        edits=[("for word in sentence.split():\n", "for word in sentence.lower().split():\n")],
        about=["test_vocabulary"],
        sentence="You converted the words to lower case. Case matters here.",
    ),
    Mistake(
        "key_error",
        cell="vocabulary",
        edits=[("vocabulary.get(word, UNK)", "vocabulary[word]")],
        about=["test_unknown_words"],
        sentence="An unknown word stops your program with a KeyError. It should become UNK.",
    ),
    Mistake(
        "unknown_left_out",
        lacks=("UNK",),
        cell="vocabulary",
        edits=[
            (
                "[vocabulary.get(word, UNK) for word in sentence.split()]",
                "[vocabulary[word] for word in sentence.split() if word in vocabulary]",
            )
        ],
        about=["test_unknown_words"],
        sentence="You leave out unknown words. Put UNK in their place.",
    ),
    Mistake(
        "unknown_is_pad",
        lacks=("UNK",),
        cell="vocabulary",
        edits=[("vocabulary.get(word, UNK)", "vocabulary.get(word, PAD)")],
        about=["test_unknown_words"],
        sentence="An unknown word becomes PAD, which is hidden from the model. It should become UNK.",
    ),
    Mistake(
        "unknown_added",
        uses=("*setdefault", "len"),
        cell="vocabulary",
        edits=[("vocabulary.get(word, UNK)", "vocabulary.setdefault(word, len(vocabulary))")],
        about=["test_unknown_words"],
        sentence="You add unknown words to the vocabulary, but the model has no embedding for them. Use UNK.",
    ),
    Mistake(
        "bos_and_eos_added",
        cell="vocabulary",
        edits=[
            (
                "[vocabulary.get(word, UNK) for word in sentence.split()]",
                "[BOS, *[vocabulary.get(word, UNK) for word in sentence.split()], EOS]",
            )
        ],
        about=["test_to_ids"],
        sentence="You add BOS and EOS. to_ids should return only the words.",
    ),
    Mistake(
        "eos_skipped",
        cell="vocabulary",
        edits=[
            (
                "        if i == EOS:\n            break\n        if i not in (PAD, BOS):",
                "        if i not in (PAD, BOS, EOS):",
            ),
        ],
        about=["test_to_text"],
        sentence="You leave out EOS but go on after it. The text ends there.",
    ),
    Mistake(
        "eos_written",
        cell="vocabulary",
        edits=[("        if i == EOS:\n            break\n", "")],
        about=["test_to_text"],
        sentence="Your text contains EOS and goes on after it. Stop at EOS.",
    ),
    Mistake(
        "pads_written",
        cell="vocabulary",
        edits=[("if i not in (PAD, BOS):", "if i != BOS:")],
        about=["test_to_text"],
        sentence="Your text contains padding. Leave it out.",
    ),
    Mistake(
        "pad_ends_the_text",
        cell="vocabulary",
        edits=[("        if i == EOS:", "        if i in (PAD, EOS):")],
        about=["test_to_text"],
        sentence="Your text ends at the first PAD. It should end at EOS; just leave out the padding.",
    ),
    Mistake(
        "no_spaces",
        cell="vocabulary",
        edits=[('" ".join(kept)', '"".join(kept)')],
        about=["test_to_text"],
        sentence="There are no spaces between the words of your text.",
    ),
    Mistake(
        "bos_written",
        cell="vocabulary",
        edits=[("if i not in (PAD, BOS):", "if i != PAD:")],
        about=["test_to_text"],
        sentence="Your text contains BOS. Leave it out.",
    ),
    Mistake(
        "unk_not_written",
        cell="vocabulary",
        edits=[("if i not in (PAD, BOS):", "if i not in (PAD, BOS, UNK):")],
        about=["test_to_text"],
        sentence="You leave out unknown words. Write `<unk>` for them.",
    ),
    Mistake(
        "list_of_words",
        cell="vocabulary",
        edits=[('return " ".join(kept)', "return kept")],
        about=["test_to_text"],
        sentence="You return the list of the words. Join them into one string, with spaces.",
    ),
    Mistake(
        "eos_added",
        cell="vocabulary",
        edits=[
            (
                "[vocabulary.get(word, UNK) for word in sentence.split()]",
                "[*[vocabulary.get(word, UNK) for word in sentence.split()], EOS]",
            )
        ],
        about=["test_to_ids"],
        sentence="You add EOS. to_ids should return only the words.",
    ),
]
