"""Other right answers to exercise 1, `byte_pairs`."""

from gradekit.checks import Alternatives

right = Alternatives("bpe_")

right(
    "best_rank_each_time",
    "    for number, pair in enumerate(merges):\n        ids = join_pair(ids, pair, 256 + number)\n",
)
right.to("""    ranks = {tuple(pair): number for number, pair in enumerate(merges)}
    while len(ids) > 1:
        best = min(pairwise(ids), key=lambda pair: ranks.get(pair, len(ranks)))
        if best not in ranks:
            break
        ids = join_pair(ids, best, 256 + ranks[best])
""")

right("backwards_and_recursive").source("""
def join_pair(ids, pair, new_id):
    out = list(ids)
    i = 0
    while i < len(out) - 1:
        if out[i] == pair[0] and out[i + 1] == pair[1]:
            out[i : i + 2] = [new_id]
        i += 1
    return out

def train_merges(text, n):
    ids, merges = [*text.encode()], []
    for new_id in range(256, 256 + n):
        counts = {}
        for left, right in zip(ids, ids[1:]):
            counts[left, right] = counts.get((left, right), 0) + 1
        if not counts:
            break
        most = max(counts.values())
        merges.append([pair for pair, count in counts.items() if count == most][0])
        ids = join_pair(ids, merges[-1], new_id)
    return merges

def encode(text, merges):
    if not merges:
        return [*text.encode()]
    return join_pair(encode(text, merges[:-1]), merges[-1], 255 + len(merges))

def decode(ids, merges):
    def spelled(number):
        if number < 256:
            return [number]
        left, right = merges[number - 256]
        return spelled(left) + spelled(right)
    return bytes(byte for number in ids for byte in spelled(number)).decode(errors="replace")
""")

right("most_common_and_lists").source("""
def join_pair(ids, pair, new_id):
    result, skip = [], False
    for i, number in enumerate(ids):
        if skip:
            skip = False
        elif i + 1 < len(ids) and [number, ids[i + 1]] == list(pair):
            result.append(new_id)
            skip = True
        else:
            result.append(number)
    return result

def train_merges(text, n):
    ids, merges = list(text.encode()), []
    for i in range(n):
        common = Counter(zip(ids, ids[1:])).most_common(1)
        if len(common) == 0:
            return merges
        merges += [list(common[0][0])]
        ids = join_pair(ids, merges[-1], 256 + i)
    return merges

def encode(text, merges):
    ids = [byte for byte in bytes(text, "utf-8")]
    for pair in merges:
        ids = join_pair(ids, pair, 256 + merges.index(pair))
    return ids

def decode(ids, merges):
    ids = list(ids)
    for number in range(255 + len(merges), 255, -1):
        ids = [part for i in ids for part in (merges[number - 256] if i == number else [i])]
    return str(bytes(ids), "utf-8", "replace")
""")
