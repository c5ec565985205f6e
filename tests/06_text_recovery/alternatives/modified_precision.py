"""Other right answers to exercise 4, `modified_precision`."""

from gradekit.checks import Alternatives

right = Alternatives("mp_")

right("intersection_of_counters").source("""
def modified_precision(candidate, reference, n):
    grams = [Counter(zip(*[tokens[i:] for i in range(n)])) for tokens in (candidate, reference)]
    return (grams[0] & grams[1]).total(), grams[0].total()
""")

right("strike_out").source("""
def modified_precision(candidate, reference, n):
    left = [reference[i : i + n] for i in range(len(reference) - n + 1)]
    matched = 0
    for i in range(len(candidate) - n + 1):
        if candidate[i : i + n] in left:
            left.remove(candidate[i : i + n])
            matched += 1
    return matched, max(len(candidate) - n + 1, 0)
""")

right("count_method").source("""
def modified_precision(candidate, reference, n):
    mine = [" ".join(candidate[i : i + n]) for i in range(len(candidate) - n + 1)]
    theirs = [" ".join(reference[i : i + n]) for i in range(len(reference) - n + 1)]
    return sum(min(mine.count(gram), theirs.count(gram)) for gram in set(mine)), len(mine)
""")

right("a_list", "return matched, total", "return [matched, total]")
