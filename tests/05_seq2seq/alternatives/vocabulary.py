"""Other right answers to exercise 7, `vocabulary`."""

from gradekit.checks import Alternative

ALTERNATIVES = [
    Alternative(
        "counters_and_loops",
        cell="vocabulary",
        source="""
def build_vocabulary(sentences):
    words = list(SPECIALS)
    for sentence in sentences:
        words += sentence.split()
    return {word: i for i, word in enumerate(dict.fromkeys(words))}


def to_ids(sentence, vocabulary):
    ids = []
    for word in sentence.split(" "):
        try:
            ids.append(vocabulary[word])
        except KeyError:
            ids.append(vocabulary["<unk>"])
    return ids


def to_text(ids, vocabulary):
    ids = list(ids)
    if EOS in ids:
        ids = ids[: ids.index(EOS)]
    words = list(vocabulary)
    return " ".join(words[int(i)] for i in ids if i not in (PAD, BOS))
""",
    ),
    Alternative(
        "setdefault",
        cell="vocabulary",
        edits=[
            (
                "            if word not in vocabulary:\n                vocabulary[word] = len(vocabulary)\n",
                "            vocabulary.setdefault(word, len(vocabulary))\n",
            ),
            ("vocabulary.get(word, UNK)", "vocabulary[word] if word in vocabulary else UNK"),
        ],
    ),
]
