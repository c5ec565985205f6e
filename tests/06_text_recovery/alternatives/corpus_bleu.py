"""Other right answers to exercise 6, `corpus_bleu`."""

from gradekit.checks import Alternatives

right = Alternatives("bleu_")

right("product_and_root").source("""
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
""")

right("minus_infinity", "        if matched == 0:\n            return 0.0\n", "")
right.edit("math.log(matched / total)", "math.log(matched / total) if matched else -math.inf")

right("without_the_helpers").source("""
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
""")

right("tensors").source("""
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
""")

right("geometric_mean", "logarithms.append(math.log(matched / total))", "logarithms.append(matched / total)")
right.edit("math.exp(sum(logarithms) / max_n)", "__import__('statistics').geometric_mean(logarithms)")

right("with_an_exception_of_its_own").source("""
class LengthMismatch(ValueError):
    def __init__(self, a, b):
        super().__init__(f"{a} candidate(s) can't be paired with {b} reference(s)")
def corpus_bleu(candidates, references, max_n=4):
    try:
        pairs = list(zip(candidates, references, strict=True))
    except ValueError:
        raise LengthMismatch(len(candidates), len(references)) from None
    totals = [Counter() for _ in range(max_n)]
    for candidate, reference in pairs:
        for n, total in enumerate(totals, 1):
            matched, count = modified_precision(candidate, reference, n)
            total.update(matched=matched, total=count)
    if not pairs or not all(t["matched"] for t in totals):
        return float(0)
    mean = math.fsum(math.log(t["matched"]) - math.log(t["total"]) for t in totals) / max_n
    penalty = brevity_penalty(sum(len(c) for c, _ in pairs), sum(len(r) for _, r in pairs))
    return math.exp(mean + math.log(penalty) + math.log(100))
""")
