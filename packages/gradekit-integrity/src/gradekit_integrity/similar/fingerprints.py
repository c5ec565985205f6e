"""Fingerprints of the parts of a line, so that a line that was changed in one place still shares the others.

Parts are runs of tokens, chosen by winnowing as in MOSS (Schleimer, Wilkerson and Aiken, SIGMOD 2003), so that any
common run of `LENGTH + WINDOW - 1` tokens has a fingerprint in common. A part doesn't go beyond its line: lines in a
different order have the same fingerprints. Within a part, names are numbered in order of appearance, as in Baker's
parameterized matching (1993): `a = b @ a` is like `x = y @ x`, and not like `x = x @ y`.
"""

from functools import lru_cache
from hashlib import blake2b

from gradekit_integrity.similar.tokens import TokenLine

LENGTH = 6
WINDOW = 3


def fingerprints(line: TokenLine) -> frozenset[int]:
    """The fingerprints of a line; one for the whole line if it is short."""
    return _fingerprints(line.tokens, line.own)


@lru_cache(50_000)  # many lines recur throughout a class
def _fingerprints(tokens: tuple[str, ...], own: tuple[bool, ...]) -> frozenset[int]:
    parts = max(1, len(tokens) - LENGTH + 1)
    ends = ((start, start + LENGTH) for start in range(parts))
    hashes = [_hash(tokens[start:end], own[start:end]) for start, end in ends]
    return frozenset(min(hashes[start : start + WINDOW]) for start in range(max(1, parts - WINDOW + 1)))


def _hash(tokens: tuple[str, ...], own: tuple[bool, ...]) -> int:
    numbers: dict[str, str] = {}
    part = [
        numbers.setdefault(token, f"\0{len(numbers)}") if is_own else token
        for token, is_own in zip(tokens, own, strict=True)
    ]
    digest = blake2b("\1".join(part).encode(errors="replace"), digest_size=8)
    return int.from_bytes(digest.digest(), "big") >> 1  # fits NumPy's int64
