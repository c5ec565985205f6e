"""Other right answers to exercise 2, `vocabulary`."""

from gradekit.checks import Alternatives

right = Alternatives("voc_")

right("two_dictionaries").source("""
class Vocabulary:
    def __init__(self, sentences, min_count=1):
        counts = {}
        for sentence in sentences:
            for word in sentence:
                counts[word] = counts.get(word, 0) + 1
        self.to_id = {"<pad>": PAD, "<bos>": BOS, "<eos>": EOS, "<unk>": UNK}
        for word in sorted(counts):
            if counts[word] >= min_count:
                self.to_id[word] = len(self.to_id)
        self.to_word = {index: word for word, index in self.to_id.items()}

    def __len__(self):
        return len(self.to_id)

    def encode(self, words):
        ids = []
        for word in words:
            try:
                ids.append(self.to_id[word])
            except KeyError:
                ids.append(UNK)
        return ids

    def decode(self, ids):
        ids = [int(index) for index in ids]
        if EOS in ids:
            ids = ids[: ids.index(EOS)]
        return [self.to_word[index] for index in ids if index != PAD and index != BOS]
""")

right("list_and_index").source("""
import itertools


class Vocabulary:
    def __init__(self, sentences, min_count=1):
        everything = list(itertools.chain.from_iterable(sentences))
        kept = {word for word in everything if everything.count(word) >= min_count}
        self.words = ["<pad>", "<bos>", "<eos>", "<unk>"] + sorted(kept)

    def __len__(self):
        return len(self.words)

    def encode(self, words):
        return [self.words.index(word) if word in self.words[4:] else 3 for word in words]

    def decode(self, ids):
        ids = ids.tolist() if torch.is_tensor(ids) else ids
        before_end = itertools.takewhile(lambda index: index != 2, ids)
        return [self.words[index] for index in before_end if index > 1]
""")

right("defaultdict", "self.ids = {word: index for index, word in enumerate(known, start=4)}")
right.to("self.ids = Counter({word: index for index, word in enumerate(known, start=4)})")
right.edit("self.ids.get(word, UNK)", "(self.ids[word] or UNK)")

right("that_is_a_dict").source("""
class Vocabulary(dict):
    SYMBOLS = ("<pad>", "<bos>", "<eos>", "<unk>")
    def __init__(self, sentences, min_count=1):
        super().__init__()
        counts = {}
        for sentence in sentences:
            for word in sentence:
                counts[word] = counts.get(word, 0) + 1
        for word in sorted(counts):
            if counts[word] >= min_count:
                self[word] = 4 + dict.__len__(self)
    def __len__(self):
        return super().__len__() + len(self.SYMBOLS)
    def __missing__(self, word):
        return UNK
    def encode(self, words):
        return [self[word] for word in words]
    def decode(self, ids):
        back = {i: w for w, i in self.items()}
        result = []
        for i in map(int, ids):
            if i == EOS:
                break
            if i not in (PAD, BOS):
                result.append(back.get(i, "<unk>"))
        return result
""")

right("of_enums_and_own_strings").source("""
from enum import IntEnum
class Special(IntEnum):
    PAD = 0
    BOS = 1
    EOS = 2
    UNK = 3
class Word(str):
    pass
class Vocabulary:
    SYMBOLS = ("<pad>", "<bos>", "<eos>", "<unk>")
    def __init__(self, sentences, min_count=1):
        counts = Counter(word for sentence in sentences for word in sentence)
        self.words = [Word(w) for w in sorted(counts) if counts[w] >= min_count]
        self.ids = {word: i for i, word in enumerate(self.words, 4)}
    def __len__(self):
        return 4 + len(self.words)
    def encode(self, words):
        return [self.ids.get(word, Special.UNK) for word in words]
    def decode(self, ids):
        found = []
        for i in map(int, ids):
            if i == Special.EOS:
                break
            if i >= Special.UNK:
                found.append(Word("<unk>") if i == Special.UNK else self.words[i - 4])
        return found
""")

right("that_is_a_tuple").source("""
class Vocabulary(tuple):
    SYMBOLS = ("<pad>", "<bos>", "<eos>", "<unk>")
    def __new__(cls, sentences, min_count=1):
        counts = Counter(word for sentence in sentences for word in sentence)
        return super().__new__(cls, [*cls.SYMBOLS, *sorted(w for w in counts if counts[w] >= min_count)])
    def __init__(self, sentences, min_count=1):
        self.ids = {word: i for i, word in enumerate(self) if i > UNK}
    def __len__(self):
        return super().__len__()
    def encode(self, words):
        return [self.ids.get(word, UNK) for word in words]
    def decode(self, ids):
        ids = list(map(int, ids))
        return [self[i] for i in ids[: (ids + [EOS]).index(EOS)] if i not in (PAD, BOS)]
""")
