"""Byte-pair encoding as the standard of exercise 1: on pieces of bytes, one merge at a time, the lowest rank first."""

from collections import Counter
from itertools import pairwise

ALPHABET = "aaabbc é数🙂"  # few letters, so that pairs repeat


def right_join(ids: list[int], pair: tuple[int, int], new_id: int) -> list[int]:
    """`ids` with the pair replaced by the new id."""
    found: list[int] = []
    for number in ids:
        # a negative number marks an id that this loop has made, which takes no part in another pair
        if found and (found[-1], number) == pair:
            found[-1] = -1
        else:
            found.append(number)
    return [new_id if number == -1 else number for number in found]


def right_merges(text: str, n: int) -> list[tuple[int, int]]:
    """The first n merges of a text."""
    ids, merges = list(text.encode()), []
    while len(merges) < n and len(ids) > 1:
        counts = Counter(pairwise(ids))
        most = max(counts.values())
        best = next(pair for pair in pairwise(ids) if counts[pair] == most)
        ids = right_join(ids, best, 256 + len(merges))
        merges.append(best)
    return merges


def right_ids(text: str, merges: list[tuple[int, int]]) -> list[int]:
    """The ids of a text: as long as there is a pair with a merge, the one of lowest rank is joined."""
    ranks = {pair: rank for rank, pair in reversed(list(enumerate(merges)))}
    ids = list(text.encode())
    while known := [ranks[pair] for pair in pairwise(ids) if pair in ranks]:
        ids = right_join(ids, merges[min(known)], 256 + min(known))
    return ids
