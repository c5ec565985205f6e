"""What crosses between grader and kernel."""

import json
import struct
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction

import numpy as np
import pytest

from gradekit.inside.messages import MAX_BYTES, MessageError, decode, encode, probe

torch = pytest.importorskip("torch", reason="torch is not installed")


def there_and_back(value):
    return decode(encode(value))


def test_plain_values_arrive_as_they_were():
    value = {"a": [1, 2.5, True, None, "ü"], "b": (1, (2,)), "$": "a key like the marker"}
    assert there_and_back(value) == value


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.bool, torch.bfloat16])
def test_tensors_keep_shape_type_and_values(dtype):
    tensor = (torch.arange(6).reshape(2, 3) % 2).to(dtype)
    assert torch.equal(there_and_back(tensor), tensor)
    assert there_and_back(tensor).dtype == dtype


def test_nan_and_infinity_arrive():
    assert there_and_back([float("inf"), -float("inf")]) == [float("inf"), -float("inf")]
    assert there_and_back(torch.tensor(float("nan"))).isnan()


def test_views_that_share_memory_arrive_apart():
    base = torch.zeros(4, 4)
    left, right = there_and_back((base[:, :2], base.T))
    left += 1
    assert right.sum() == 0


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "uint16", "int64", "bool"])
def test_arrays_arrive_as_arrays_and_scalars_as_numbers(dtype):
    array = (np.arange(6).reshape(2, 3).T % 2).astype(dtype)
    for found in (there_and_back(array), there_and_back([torch.ones(1), array])[1]):
        assert isinstance(found, np.ndarray)
        assert found.dtype == array.dtype
        assert np.array_equal(found, array)
    assert there_and_back(np.float64(1.5)) == 1.5


class Words(list):
    def __iter__(self):
        return iter(())


class Word(str):
    def __str__(self):
        return "another text"


def test_instances_of_subclasses_of_plain_types_arrive_as_these():
    special = IntEnum("Special", {"PAD": 0, "UNK": 3})
    found = there_and_back(Words([Word("cat"), special.UNK, np.str_("dog")]))
    assert found == ["cat", 3, "dog"]
    assert [type(part) for part in [found, *found]] == [list, str, int, str]


@pytest.mark.parametrize("number", [Fraction(1, 4), Decimal("0.25")])
def test_exact_numbers_arrive_as_floats(number):
    assert there_and_back([number]) == [0.25]


def test_keys_of_a_subclass_of_text_arrive_as_text():
    assert there_and_back({np.str_("cat"): 1, Word("dog"): 2}) == {"cat": 1, "dog": 2}


def test_long_numbers_of_numpy_arrive_as_the_longest_that_others_know():
    assert there_and_back(np.longdouble(1.5)) == 1.5
    found = there_and_back(np.ones(2, dtype=np.longdouble))
    assert (found.dtype, list(found)) == (np.float64, [1.0, 1.0])


def test_an_object_needs_a_description():
    with pytest.raises(MessageError, match="object"):
        encode(object())
    assert decode(encode([object()], lambda value: {"$": "it"}), lambda item: item["$"]) == ["it"]


def test_too_large_or_too_deep_is_refused():
    with pytest.raises(MessageError, match="too large"):
        encode(torch.empty(MAX_BYTES // 4 + 1))
    deep = []
    for _ in range(50):
        deep = [deep]
    with pytest.raises(MessageError, match="nested"):
        encode(deep)


def lying_header() -> bytes:
    header = json.dumps({"0": {"dtype": "F32", "shape": [1000, 1000], "data_offsets": [0, 4]}}).encode()
    return struct.pack("<Q", len(header)) + header + b"\0\0\0\0"


@pytest.mark.parametrize(
    "buffers",
    [
        [],
        [b"{}"],
        [b"not json", encode(1)[1]],
        [b'{"$": "tensor", "key": "9"}', encode(1)[1]],
        [b'{"$": "tensor"}', encode(1)[1]],
        [b'{"$": "unknown"}', encode(1)[1]],
        [b"[" * 5000 + b"]" * 5000, encode(1)[1]],
        [b'{"$": "tensor", "key": "0"}', lying_header()],
        [b"1", b"\xff" * 8],
        [b"1", b"x" * (MAX_BYTES + 1)],
    ],
)
def test_whatever_is_no_message_is_refused_by_one_error(buffers):
    with pytest.raises(MessageError):
        decode(buffers)


def test_nothing_is_ever_unpickled():
    import pickle

    with pytest.raises(MessageError):
        decode([pickle.dumps({"$": "tensor"}), pickle.dumps(torch.ones(1))])


def test_the_probe_tells_rows_of_a_softmax_apart():
    weights = torch.softmax(torch.randn(2, 3, 4), -1).requires_grad_()
    (weights * probe(weights)).sum().backward()
    assert weights.grad.unique().numel() == 24


def test_arrays_are_written_as_safetensors_writes_them():
    import safetensors.numpy
    import safetensors.torch

    from gradekit.inside.arrays import save

    types = ("f4", "u1", "i8", "?", "f8", "i2", "u8", "i4", "f2", "u2", "i1", "u4", "f4")
    arrays = {str(place): np.ones((3, place % 3), kind) for place, kind in enumerate(types)}
    arrays |= {'é"': np.zeros((), np.float32), "empty": np.zeros(0)}
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    assert save(arrays) == save(tensors) == safetensors.numpy.save(arrays)
    assert safetensors.torch.load(save(tensors)).keys() == tensors.keys()
    short = {"a": torch.ones(2, dtype=torch.bfloat16), "b": torch.ones(2, 3).T}
    assert safetensors.torch.load(save(short))["b"].shape == (3, 2)
