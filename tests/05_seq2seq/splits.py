"""Right and wrong implementations of a split into training and test data, on which the students' tests are tried.

It is the answer to no exercise.
"""

from gradekit.checks import Implementation, Implementations

RIGHT = [
    Implementation("""
import torch

def split(rows, count):
    different = sorted({tuple(row) for row in rows})
    held_out = [different[i] for i in torch.randperm(len(different))[:count].tolist()]
    test = [row for row in rows if tuple(row) in held_out]
    training = [row for row in rows if tuple(row) not in held_out]
    return training, test
"""),
    Implementation("""
import random

def split(rows, count):
    copies = {}
    for row in rows:
        copies.setdefault(tuple(row), []).append(list(row))
    groups = random.sample(list(copies.values()), len(copies))
    return [row for group in groups[count:] for row in group], [row for group in groups[:count] for row in group]
"""),
    Implementation("""
from collections import Counter

import numpy as np

def split(rows, count):
    counts = Counter(map(tuple, rows))
    places = set(np.random.default_rng().choice(len(counts), size=count, replace=False).tolist())
    training, test = [], []
    for place, (sequence, copies) in enumerate(counts.items()):
        (test if place in places else training).extend(list(sequence) for _ in range(copies))
    return training[::-1], test
"""),
    Implementation("""
import numpy as np

def split(rows, count):
    different = list(dict.fromkeys(map(tuple, rows)))
    np.random.shuffle(different)
    held_out = {tuple(sequence) for sequence in different[:count]}
    test = [list(row) for row in rows if tuple(row) in held_out]
    return [list(row) for row in rows if tuple(row) not in held_out], test
"""),
    Implementation("""
import random

def split(rows, count):
    left, held_out = sorted({tuple(row) for row in rows}, reverse=True), []
    for _ in range(count):
        held_out.append(left.pop(random.randrange(len(left))))
    training = [row for sequence in left for row in rows if tuple(row) == sequence]
    return training, [row for sequence in held_out for row in rows if tuple(row) == sequence]
"""),
    Implementation("""
import torch

def split(rows, count):
    keys = {tuple(row): torch.rand(()).item() for row in rows}
    order = sorted(keys, key=keys.get)
    held_out = set(order[len(order) - count :])
    pairs = [(tuple(row) in held_out, list(row)) for row in rows]
    return [row for held, row in pairs if not held], [row for held, row in reversed(pairs) if held]
"""),
    # what a right one may do by chance: its second draw is the first one again, and one sequence comes late, as it
    # does in one of a hundred tests that call it so often
    Implementation("""
import random

calls = {}

def split(rows, count):
    different = sorted(set(map(tuple, rows)))
    number = len(different)
    before = calls.setdefault((tuple(different), count), [])
    late = number * (1 - count / number) ** (len(before) + 1) > 0.01
    held_out = before[0] if len(before) == 1 else random.sample(different[:-1] if late else different, count)
    before.append(held_out)
    test = [list(row) for row in rows if tuple(row) in held_out]
    return [list(row) for row in rows if tuple(row) not in held_out], test
"""),
]

FRAME = """
import random

def split(rows, count):
    copies = {}
    for row in rows:
        copies.setdefault(tuple(row), []).append(list(row))
    different = list(copies)
    held_out = random.sample(different, count)
    training = [row for sequence in different if sequence not in held_out for row in copies[sequence]]
    test = [row for sequence in held_out for row in copies[sequence]]
    return training, test
"""

HELD_OUT = "held_out = random.sample(different, count)"
RETURN = "return training, test"

wrong = Implementations(FRAME)

wrong.about("test_apart")
wrong("splits rows instead of sequences, so copies of a row end up on both sides", HELD_OUT)
wrong.to("""shuffled = random.sample([list(row) for row in rows], len(rows))
    return shuffled[count:], shuffled[:count]""")
wrong("holds out one copy of each held-out sequence, and trains on the others", RETURN)
wrong.to("""kept = [row for sequence in held_out for row in copies[sequence][1:]]
    return training + kept, [copies[sequence][0] for sequence in held_out]""")
wrong("trains on all rows, the held-out ones included", RETURN, "return [list(row) for row in rows], test")

wrong.about("test_complete")
wrong("drops copies: each sequence is in the training data only once")
wrong.edit(
    "training = [row for sequence in different if sequence not in held_out for row in copies[sequence]]"
)
wrong.to("training = [list(sequence) for sequence in different if sequence not in held_out]")
wrong("drops copies: each sequence is in the test data only once")
wrong.edit("test = [row for sequence in held_out for row in copies[sequence]]")
wrong.to("test = [list(sequence) for sequence in held_out]")
wrong("makes the training data as long as `rows` by repeating some of its rows", RETURN)
wrong.to("return training + [list(row) for row in training[: len(test)]], test")
wrong("loses the last row of the training data", RETURN, "return training[:-1], test")
wrong(
    "keeps the number of rows, but replaces a copy of one sequence in the training data by a copy of another"
)
wrong.edit(RETURN)
wrong.to("""double = [row for row in training if training.count(row) > 1]
    others = [row for row in training if row != double[0]] if double else []
    if others:
        training.remove(double[0])
        training.append(list(others[0]))
    return training, test""")

wrong.about("test_unaltered")
wrong(
    "pads all rows to the same length",
    RETURN,
    """longest = max(map(len, rows))
    def pad(part):
        return [row + [0] * (longest - len(row)) for row in part]
    return pad(training), pad(test)""",
)
wrong("sorts the ids in each row", RETURN)
wrong.to("return [sorted(row) for row in training], [sorted(row) for row in test]")
wrong("moves the first id of each row to its end", RETURN)
wrong.to("return [row[1:] + row[:1] for row in training], [row[1:] + row[:1] for row in test]")
wrong("appends EOS to the rows of the test data", RETURN, "return training, [[*row, 2] for row in test]")

wrong("returns the rows of the test data as tuples", RETURN)
wrong.to("return training, [tuple(row) for row in test]")

wrong.about("test_counted")
wrong("holds out one sequence too few, unless `count` is 0", HELD_OUT)
wrong.to("held_out = random.sample(different, max(count - 1, 0))")
wrong("counts rows, copies included, and stops when there are `count` of them", HELD_OUT)
wrong.to("""held_out = []
    for sequence in random.sample(different, len(different)):
        if sum(len(copies[each]) for each in held_out) < count:
            held_out.append(sequence)""")
wrong("holds out everything if `count` is 0", HELD_OUT)
wrong.to("held_out = random.sample(different, len(different))[-count:]")
wrong("raises an error if `count` is 0", HELD_OUT)
wrong.to("held_out = random.sample(different, count)\n    first = min(held_out)")
wrong("always keeps one sequence for training, even if `count` is the number of all", HELD_OUT)
wrong.to("held_out = random.sample(different, min(count, max(len(different) - 1, 0)))")
wrong("takes two sequences with the same ids in a different order for the same one, and holds out both")
wrong.edit(HELD_OUT)
wrong.to("""kinds = sorted({tuple(sorted(sequence)) for sequence in different})
    drawn = random.sample(kinds, min(count, len(kinds)))
    held_out = [sequence for sequence in different if tuple(sorted(sequence)) in drawn]""")

wrong.about("test_random")
wrong("holds out the first sequences of `rows`", HELD_OUT, "held_out = different[:count]")
wrong("sets a seed, and so holds out the same sequences in every call", HELD_OUT)
wrong.to("held_out = random.Random(0).sample(different, count)")
wrong("holds out the sequences that occur least often", HELD_OUT)
wrong.to(
    "held_out = sorted(random.sample(different, len(different)), key=lambda each: len(copies[each]))[:count]"
)
wrong("holds out the sequences that occur most often", HELD_OUT)
wrong.to(
    "held_out = sorted(random.sample(different, len(different)), key=lambda each: -len(copies[each]))[:count]"
)
wrong("holds out the last sequence of `rows` only if all are held out", HELD_OUT)
wrong.to("""last = tuple(rows[-1])
    others = [sequence for sequence in different if sequence != last]
    held_out = random.sample(others, min(count, len(others))) + [last] * (count == len(different))""")

wrong("never holds out the last sequence of `rows`, unless at most one other is kept for training", HELD_OUT)
wrong.to("""last = tuple(rows[-1])
    others = [sequence for sequence in different if sequence != last]
    held_out = random.sample(others if count < len(others) else different, count)""")

wrong.about("test_no_trace")
wrong(
    "shuffles `rows`",
    RETURN,
    """random.shuffle(rows)
    return training, test""",
)
wrong("removes the held-out rows from `rows`", RETURN)
wrong.to("""rows[:] = [row for row in rows if tuple(row) not in held_out]
    return training, test""")
wrong("appends EOS to the training rows in `rows`, and returns these", RETURN)
wrong.to("""for row in rows:
        if tuple(row) not in held_out:
            row.append(2)
    return [row for row in rows if tuple(row) not in held_out], test""")
wrong("appends EOS to the held-out rows in `rows`, though not to those that it returns", RETURN)
wrong.to("""for row in rows:
        if tuple(row) in held_out:
            row.append(2)
    return training, test""")
