"""The two kinds of arrays that checks and answers exchange: torch tensors and NumPy arrays.

The text of this module is also sent into the student's kernel. torch is imported only when it is needed, so that a
course that uses NumPy arrays runs without it.
"""

import importlib.util
import json
import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeGuard

import numpy as np

if TYPE_CHECKING:
    import torch

    Array: TypeAlias = torch.Tensor | np.ndarray[Any, Any]
else:
    Array = Any

ArrayKind = Literal["torch", "numpy"]
Numpy: TypeAlias = np.ndarray[Any, Any]

_kind: ContextVar[ArrayKind] = ContextVar("kind")


def has_torch() -> bool:
    """True if torch can be imported."""
    if "torch" in sys.modules:
        return sys.modules["torch"] is not None
    return importlib.util.find_spec("torch") is not None


def use_one_thread() -> None:
    """Have torch compute in one thread, now or once it is imported: this process is one of many."""
    os.environ |= {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)


def current_kind() -> ArrayKind:
    """The kind that the course works with: torch where it is installed, unless the course says otherwise."""
    return _kind.get("torch" if has_torch() else "numpy")


@contextmanager
def using(kind: ArrayKind) -> Iterator[None]:
    """Work with arrays of this kind inside the `with` block."""
    if kind not in ("torch", "numpy"):
        raise ValueError(f"arrays are 'torch' or 'numpy', not {kind!r}")
    token = _kind.set(kind)
    try:
        yield
    finally:
        _kind.reset(token)


def noun(array: "Array | None" = None) -> str:
    """The word for this array in messages to students; by default for an array of the current kind."""
    torch = current_kind() == "torch" if array is None else is_tensor(array)
    return "a tensor" if torch else "an array"


def is_tensor(value: Any) -> "TypeGuard[torch.Tensor]":
    torch = sys.modules.get("torch")  # without it, nothing is a tensor
    return torch is not None and isinstance(value, torch.Tensor)


def is_array(value: Any) -> "TypeGuard[Array]":
    """True for a tensor and for a NumPy array."""
    return isinstance(value, np.ndarray) or is_tensor(value)


def is_float(array: "Array") -> bool:
    """True if the entries are real floating-point numbers."""
    return array.is_floating_point() if is_tensor(array) else array.dtype.kind == "f"  # type: ignore[union-attr]


def as_array(value: Any) -> "Array | None":
    """A number as an array; an array as it is; None for anything else. A Python number becomes the current kind."""
    if is_array(value):
        return value
    if isinstance(value, np.generic):
        return np.asarray(value)
    if not isinstance(value, bool | int | float):
        return None
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        value = float(value) if abs(value) <= sys.float_info.max else (math.inf if value > 0 else -math.inf)
    if current_kind() == "torch":
        import torch

        return torch.tensor(value)
    return np.asarray(value, dtype=np.int64 if type(value) is int else None)


def to_numpy(array: "Array") -> Numpy:
    """The same values as a NumPy array; types that NumPy lacks become float64."""
    if not is_tensor(array):
        return array  # type: ignore[return-value]  # the other kind
    plain = array.detach().cpu().resolve_conj().resolve_neg()
    try:
        return plain.numpy()
    except TypeError:  # bfloat16 and other short floats
        return plain.double().numpy()


def as_numpy(value: Any) -> Numpy | None:
    """A number or an array as a NumPy array; None for anything else."""
    array = as_array(value)
    return None if array is None else to_numpy(array)


def to_tensor(array: "Array") -> "torch.Tensor":
    """The array as a tensor."""
    import torch

    return array if isinstance(array, torch.Tensor) else torch.from_numpy(np.array(array, order="C"))


def to_kind(array: "Array", kind: ArrayKind) -> "Array":
    """The array as one of this kind."""
    return to_tensor(array) if kind == "torch" else to_numpy(array)


def is_plain(value: Any) -> "TypeGuard[Array]":
    """True for an array whose entries are numbers in memory: not for a sparse tensor, or an array of objects."""
    if is_tensor(value):
        return str(value.layout) == "torch.strided" and not value.is_quantized
    return isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and value.dtype.itemsize <= 8


def copied(array: "Array") -> "Array":
    """A contiguous copy on the CPU; of a tensor, without gradients."""
    if not is_tensor(array):
        return np.array(array, order="C")
    import torch

    plain = array.detach().to("cpu").resolve_conj().resolve_neg()
    return torch.empty(array.shape, dtype=array.dtype).copy_(plain)


#: the types of numbers in the order in which a safetensors file has them, and their names there
_STORED = {
    np.dtype(name).str: stored
    for name, stored in (
        *(("u8", "U64"), ("i8", "I64"), ("f8", "F64"), ("f4", "F32"), ("u4", "U32"), ("i4", "I32")),
        *(("f2", "F16"), ("u2", "U16"), ("i2", "I16"), ("i1", "I8"), ("u1", "U8"), ("?", "BOOL")),
    )
}
_PLACES = {name: place for place, name in enumerate(_STORED)}
#: a safetensors file
_NO_ARRAYS = b"\x08\0\0\0\0\0\0\0{}      "


def save(arrays: "dict[str, Array]") -> bytes:
    """The arrays as a safetensors file; the same arrays result in the same bytes, whatever their kind."""
    if not arrays:
        return _NO_ARRAYS
    found = [(key, plain) for key, value in arrays.items() if (plain := _in_memory(value)) is not None]
    if len(found) == len(arrays):
        return _saved(found)
    if any(map(is_tensor, arrays.values())):
        import safetensors.torch

        return safetensors.torch.save({key: to_tensor(copied(value)) for key, value in arrays.items()})
    import safetensors.numpy

    return safetensors.numpy.save({key: copied(value) for key, value in arrays.items()})  # type: ignore[misc]


def _in_memory(array: "Array") -> Numpy | None:
    """The same memory as a NumPy array of one of the usual types; None if there is none."""
    try:
        plain: Numpy = array.detach().numpy() if is_tensor(array) else array  # type: ignore[assignment]
    except (TypeError, RuntimeError):  # a type that NumPy lacks, or numbers that are still to be computed
        return None
    return plain if plain.dtype.str in _STORED else None


def _saved(arrays: list[tuple[str, Numpy]]) -> bytes:
    """What safetensors makes of them, which takes five times as long for small ones."""
    arrays.sort(key=lambda pair: (_PLACES[pair[1].dtype.str], pair[0]))
    head, parts, end = {}, [], 0
    for key, array in arrays:
        parts.append(array.tobytes())
        begin, end = end, end + len(parts[-1])
        head[key] = {"dtype": _STORED[array.dtype.str], "shape": array.shape, "data_offsets": (begin, end)}
    text = json.dumps(head, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([len(text).to_bytes(8, "little"), text, *parts])


def load(data: bytes, kind: ArrayKind) -> "dict[str, Array]":
    """The arrays of a safetensors file, as one kind."""
    if data == _NO_ARRAYS:
        return {}
    if kind == "torch":
        import safetensors.torch

        return {**safetensors.torch.load(data)}
    import safetensors.numpy

    return {**safetensors.numpy.load(data)}
