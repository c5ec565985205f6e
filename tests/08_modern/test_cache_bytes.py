"""Checks of exercise 8: cache_bytes, on caches with known tensors."""

import torch

from gradekit.checks import points


@points(1, see="What the cache costs")
def test_keys_and_values_of_all_caches(student, reference, caches, draw):
    """Keys and values of all caches count, 4 bytes for a float32 number."""
    k = torch.zeros(2, 3, 5, 4)
    reference.assert_close(
        student.cache_bytes(caches.filled([k, k, k], [k, k, k])), context="number of bytes"
    )
    sizes, total = draw.sizes(4), 0
    tensors = []
    for length in sizes:
        tensors.append(torch.zeros(1, 2, length, 6))
        total += 2 * (2 * length * 6) * 4
    found = student.cache_bytes(caches.filled(tensors, tensors))
    assert found == total, f"Caches of the lengths {sizes} take {total} bytes, but you count {found}."


@points(1)
def test_other_dtypes_and_shapes(student, reference, caches):
    """Bytes are read off the tensors: other dtypes count as they are, and values may have a different width than keys."""
    for dtype in (torch.float64, torch.bfloat16):
        k, v = torch.zeros(2, 3, 5, 4, dtype=dtype), torch.zeros(2, 3, 5, 6, dtype=dtype)
        reference.assert_close(
            student.cache_bytes(caches.filled([k], [v])),
            context=f"number of bytes for {dtype}, keys of width 4, values of 6",
        )
    k = torch.zeros(1, 2, 9, 4)
    found = student.cache_bytes(caches.cut(k, k, 5))
    assert found == 320, (
        f"Keys and values that are the first 5 of 9 positions of a tensor take 320 bytes, but you count {found}."
    )
    for shape, dtype, right in [((2, 3, 5), torch.int8, 60), ((1, 2, 2, 3, 4), torch.float32, 384)]:
        tensor = torch.zeros(shape, dtype=dtype)
        found = student.cache_bytes(caches.filled([tensor], [tensor]))
        assert found == right, (
            f"Keys and values of shape {shape} and {dtype} take {right} bytes, but you count {found}."
        )


@points(1)
def test_empty_caches(student, caches):
    """Empty caches take 0 bytes, even next to a full one, and the result is an int."""
    k = torch.zeros(1, 1, 1, 3)
    full = student.cache_bytes(caches.filled([k], [k]))
    assert full > 0, f"A cache with keys and values takes memory, but you count {full} bytes."
    for keys, right in [([], 0), ([None, None], 0), ([None, k], full), ([k, None], full)]:
        found = student.cache_bytes(caches.filled(keys, keys))
        assert type(found) is int, f"The result is a {type(found).__name__}, but should be an int."
        assert found == right, f"With empty caches, you count {found} bytes; without them, {right}."
