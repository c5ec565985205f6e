"""Other right answers to exercise 9, `check_split`."""

from gradekit.checks import Alternatives

right = Alternatives()

right("counted_copies").source("""
from collections import Counter


def check_split(function):
    rows = [[7, 3], [3, 7], [9], [9], [9, 9], [3, 7], [3, 7], [9], [20, 8, 4, 5], [9, 9]]
    copies = Counter(map(tuple, rows))
    for count in [0, 1, 3, 5]:
        times = Counter()
        for call in range(300):
            mine = [row[:] for row in rows]
            parts = function(mine, count)
            assert all(type(row) is list for part in parts for row in part), "a row isn't a list"
            training, test = (Counter(map(tuple, part)) for part in parts)
            assert mine == rows, "rows were changed"
            assert training + test == copies, f"rows were lost, repeated or altered: {training}, {test}"
            assert not training & test, f"on both sides: {training & test}"
            assert len(test) == count, f"{len(test)} sequences held out in place of {count}"
            times.update(test.keys())
        for sequence in copies:
            assert not count or times[sequence], f"{sequence} is never held out"
""")

right("helpers_and_other_exceptions").source("""
def judge(rows, count, training, test):
    if any(row in training for row in test):
        raise ValueError("a sequence is in both")
    for row in training + test:
        if row not in rows:
            raise ValueError("a new row")
    for row in rows:
        if rows.count(row) != training.count(row) + test.count(row):
            raise ValueError("lost or repeated")
    if len({str(row) for row in test}) != count:
        raise ValueError("a wrong number of sequences")
    return {str(row) for row in test}


def check_split(function):
    rows = [[4, 5, 6], [6, 5, 4], [8], [8], [4, 5, 6], [6, 5, 4], [3, 3]]
    text = str(rows)
    for count in (0, 1, 2, 3, 4):
        seen = set()
        for i in range(400):
            passed = [[*row] for row in rows]
            training, test = function(passed, count)
            if str(passed) != text:
                raise ValueError("rows were changed")
            seen |= judge(rows, count, training, test)
        if count and len(seen) != 4:
            raise AssertionError("not every sequence is drawn")
""")

right("many_sequences_few_calls").source("""
def check_split(function):
    different = [[i, j] for i in range(3, 8) for j in range(3, 8)] + [[4], [4, 4, 4, 4]]
    rows = different + different[::2] + different[1::3]
    before = [list(row) for row in rows]
    for count in (13, 0, len(different)):
        results = []
        for _ in range(40):
            training, test = function(rows, count)
            assert rows == before
            assert sorted(training + test) == sorted(before)
            assert all(row not in test for row in training)
            results.append({tuple(row) for row in test})
            assert len(results[-1]) == count
        if count:
            assert set.union(*results) == {tuple(row) for row in different}
""")
