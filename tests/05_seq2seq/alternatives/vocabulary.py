"""Other right answers to exercise 7, `vocabulary`."""

from gradekit.checks import Alternatives

right = Alternatives()

right("counters_and_loops").source("""
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
""")

right("setdefault")
right.edit("            if word not in vocabulary:\n                vocabulary[word] = len(vocabulary)\n")
right.to("            vocabulary.setdefault(word, len(vocabulary))\n")
right.edit("vocabulary.get(word, UNK)", "vocabulary[word] if word in vocabulary else UNK")
