"""Other right answers to this assignment. Each must get full marks."""

from coursekit.checks import Alternative

PREPROCESS = [
    Alternative(
        "pre_one_line",
        cell="preprocess",
        source="""
def preprocess(text, lemmas):
    return [lemmas.get(w, w) for w in re.findall(r"\\w+", text.lower()) if w not in {"a", "an", "the"}]
""",
    ),
    Alternative(
        "pre_step_by_step",
        cell="preprocess",
        source="""
def preprocess(text, lemmas):
    tokens = tokenize(text)
    tokens = [token for token in tokens if any(letter.isalpha() or letter.isdigit() for letter in token)]
    tokens = [token.casefold() for token in tokens]
    tokens = list(filter(lambda token: token not in ARTICLES, tokens))
    for i, token in enumerate(tokens):
        if token in lemmas:
            tokens[i] = lemmas[token]
    return tokens
""",
    ),
    Alternative(
        "pre_lemma_first",
        cell="preprocess",
        edits=[
            ("word = token.lower()", "word = lemmas.get(token.lower(), token.lower())"),
            ("words.append(lemmas.get(word, word))", "words += [word]"),
        ],
    ),
    Alternative(
        "pre_lower_case_text", cell="preprocess", edits=[("tokenize(text)", "tokenize(text.lower())")]
    ),
]

VOCABULARY = [
    Alternative(
        "voc_two_dictionaries",
        cell="vocabulary",
        source="""
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
""",
    ),
    Alternative(
        "voc_list_and_index",
        cell="vocabulary",
        source="""
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
""",
    ),
    Alternative(
        "voc_defaultdict",
        cell="vocabulary",
        edits=[
            (
                "self.ids = {word: index for index, word in enumerate(known, start=4)}",
                "self.ids = Counter({word: index for index, word in enumerate(known, start=4)})",
            ),
            ("self.ids.get(word, UNK)", "(self.ids[word] or UNK)"),
        ],
    ),
]

COLLATE = [
    Alternative(
        "col_pad_sequence",
        cell="collate",
        source="""
def collate(pairs, pad_idx=0, eos_idx=2):
    pad = torch.nn.utils.rnn.pad_sequence
    sources = [torch.tensor(source, dtype=torch.long) for source, _ in pairs]
    targets = [torch.tensor(target + [eos_idx], dtype=torch.long) for _, target in pairs]
    return pad(sources, batch_first=True, padding_value=pad_idx), pad(targets, True, pad_idx)
""",
    ),
    Alternative(
        "col_write_into_full",
        cell="collate",
        source="""
def collate(pairs, pad_idx=0, eos_idx=2):
    source = torch.full((len(pairs), max(len(s) for s, _ in pairs)), pad_idx)
    target = torch.full((len(pairs), max(len(t) for _, t in pairs) + 1), pad_idx)
    for row, (s, t) in enumerate(pairs):
        source[row, : len(s)] = torch.tensor(s)
        target[row, : len(t)] = torch.tensor(t)
        target[row, len(t)] = eos_idx
    return source, target
""",
    ),
    Alternative(
        "col_functional_pad",
        cell="collate",
        source="""
def collate(pairs, pad_idx=0, eos_idx=2):
    both = []
    for rows in ([list(s) for s, _ in pairs], [list(t) + [eos_idx] for _, t in pairs]):
        width = max(map(len, rows))
        tensors = [torch.tensor(row).long() for row in rows]
        pad = torch.nn.functional.pad
        both.append(torch.stack([pad(t, (0, width - len(t)), value=pad_idx) for t in tensors]))
    return both
""",
    ),
]

PRECISION = [
    Alternative(
        "mp_intersection_of_counters",
        cell="modified_precision",
        source="""
def modified_precision(candidate, reference, n):
    grams = [Counter(zip(*[tokens[i:] for i in range(n)])) for tokens in (candidate, reference)]
    return (grams[0] & grams[1]).total(), grams[0].total()
""",
    ),
    Alternative(
        "mp_strike_out",
        cell="modified_precision",
        source="""
def modified_precision(candidate, reference, n):
    left = [reference[i : i + n] for i in range(len(reference) - n + 1)]
    matched = 0
    for i in range(len(candidate) - n + 1):
        if candidate[i : i + n] in left:
            left.remove(candidate[i : i + n])
            matched += 1
    return matched, max(len(candidate) - n + 1, 0)
""",
    ),
    Alternative(
        "mp_count_method",
        cell="modified_precision",
        source="""
def modified_precision(candidate, reference, n):
    mine = [" ".join(candidate[i : i + n]) for i in range(len(candidate) - n + 1)]
    theirs = [" ".join(reference[i : i + n]) for i in range(len(reference) - n + 1)]
    return sum(min(mine.count(gram), theirs.count(gram)) for gram in set(mine)), len(mine)
""",
    ),
    Alternative(
        "mp_a_list", cell="modified_precision", edits=[("return matched, total", "return [matched, total]")]
    ),
]

BREVITY = [
    Alternative(
        "bp_minimum",
        cell="brevity_penalty",
        source="""
def brevity_penalty(candidate_length, reference_length):
    return min(1.0, math.exp(1 - reference_length / max(candidate_length, 1e-9)))
""",
    ),
    Alternative(
        "bp_power_of_e",
        cell="brevity_penalty",
        source="""
def brevity_penalty(candidate_length, reference_length):
    c, r = candidate_length, reference_length
    if c < r:
        return math.e ** ((c - r) / c) if c else 0
    return 1
""",
    ),
    Alternative(
        "bp_tensor",
        cell="brevity_penalty",
        source="""
def brevity_penalty(candidate_length, reference_length):
    quotient = torch.tensor(reference_length, dtype=torch.float64) / candidate_length
    return torch.exp(torch.clamp(1 - quotient, max=0)).nan_to_num(1.0).item()
""",
    ),
]

BLEU = [
    Alternative(
        "bleu_product_and_root",
        cell="corpus_bleu",
        source="""
def corpus_bleu(candidates, references, max_n=4):
    if len(candidates) != len(references):
        raise ValueError(f"Got {len(candidates)} candidates, but {len(references)} references")
    product = 1.0
    for n in range(1, max_n + 1):
        counts = [modified_precision(c, r, n) for c, r in zip(candidates, references)]
        total = sum(t for _, t in counts)
        product *= sum(m for m, _ in counts) / total if total else 0.0
    penalty = brevity_penalty(sum(map(len, candidates)), sum(map(len, references)))
    return 100 * penalty * product ** (1 / max_n)
""",
    ),
    Alternative(
        "bleu_minus_infinity",
        cell="corpus_bleu",
        edits=[
            ("        if matched == 0:\n            return 0.0\n", ""),
            ("math.log(matched / total)", "math.log(matched / total) if matched else -math.inf"),
        ],
    ),
    Alternative(
        "bleu_without_the_helpers",
        cell="corpus_bleu",
        source="""
def corpus_bleu(candidates, references, max_n=4):
    if len(candidates) != len(references):
        raise ValueError(f"{len(candidates)} != {len(references)}")
    matched, total = [0] * max_n, [0] * max_n
    c = r = 0
    for candidate, reference in zip(candidates, references):
        c += len(candidate)
        r += len(reference)
        for n in range(1, max_n + 1):
            have = Counter(tuple(candidate[i : i + n]) for i in range(len(candidate) - n + 1))
            allowed = Counter(tuple(reference[i : i + n]) for i in range(len(reference) - n + 1))
            matched[n - 1] += sum((have & allowed).values())
            total[n - 1] += sum(have.values())
    if 0 in matched:
        return 0.0
    score = math.prod(m / t for m, t in zip(matched, total)) ** (1 / max_n)
    return 100 * score * (1 if c >= r else math.exp(1 - r / c))
""",
    ),
    Alternative(
        "bleu_tensors",
        cell="corpus_bleu",
        source="""
def corpus_bleu(candidates, references, max_n=4):
    if len(candidates) != len(references):
        raise ValueError("%d candidates, %d references" % (len(candidates), len(references)))
    if not candidates:
        return 0.0
    counts = [
        [modified_precision(c, r, n) for n in range(1, max_n + 1)] for c, r in zip(candidates, references)
    ]
    matched, total = torch.tensor(counts, dtype=torch.float64).sum(dim=0).unbind(dim=-1)
    mean = (matched / total.clamp(min=1)).log().mean().exp().item()
    return brevity_penalty(sum(map(len, candidates)), sum(map(len, references))) * mean * 100
""",
    ),
    Alternative(
        "bleu_geometric_mean",
        cell="corpus_bleu",
        edits=[
            ("logarithms.append(math.log(matched / total))", "logarithms.append(matched / total)"),
            (
                "math.exp(sum(logarithms) / max_n)",
                "__import__('statistics').geometric_mean(logarithms)",
            ),
        ],
    ),
]

ALTERNATIVES = [*PREPROCESS, *VOCABULARY, *COLLATE, *PRECISION, *BREVITY, *BLEU]
