"""The messages between stubs and implementations: fields as JSON, and the bytes of arrays.

Its text is sent into the kernels (see `gradekit.session.channel`). A student's test may send thousands of these, so arrays of
ordinary numbers are copied once; all other values are sent as in `gradekit.inside.messages`.
"""

import json
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradekit.inside.arrays import is_tensor, noun
from gradekit.inside.messages import MAX_BYTES, MAX_TEXT, MessageError, decode, encode

_DTYPES = {np.dtype(code).str for code in "?bhiqBHIQefd"}
#: kind, dtype, shape and bytes of an array
Raw = tuple[str, str, tuple[int, ...], bytes]


def raw(value: Any) -> Raw | None:
    """The content of an array of ordinary numbers; None for any other value.

    Raises:
        MessageError: it is too large.
    """
    kind = "tensor" if is_tensor(value) else "array"
    if kind == "tensor":
        try:
            value = value.detach().numpy()
        except (RuntimeError, TypeError):  # such as a sparse one, or a type that NumPy lacks
            return None
    if type(value) is not np.ndarray or value.dtype.str not in _DTYPES:
        return None
    if value.nbytes > MAX_BYTES:
        raise MessageError(f"{noun(value)} of shape {value.shape} is too large to send")
    return kind, value.dtype.str, value.shape, value.tobytes()


def value_of(found: Raw) -> Any:
    """The array that had this content."""
    return _array([*found[:3]], found[3], 0)


def write(fields: dict[str, Any], values: Sequence[Any]) -> list[bytes]:
    """The two buffers of a message: fields that JSON can express, and values of any kind.

    Raises:
        MessageError: a value can't be sent, or the message is too large.
    """
    kinds: list[Any] = []
    parts: list[bytes] = []
    others: list[Any] = []
    for value in values:
        found = raw(value)
        if found is None:
            kinds.append(None)
            others.append(value)
        else:
            kinds.append(found[:3])
            parts.append(found[3])
    rest = encode(others) if others else [b"", b""]
    text = json.dumps([fields, kinds, len(rest[0])]).encode()
    if len(text) > MAX_TEXT:
        raise MessageError(f"the value without its arrays is larger than {MAX_TEXT // 2**20} MiB")
    if len(text) + sum(map(len, parts)) + sum(map(len, rest)) > MAX_BYTES:
        raise MessageError(f"the value is larger than {MAX_BYTES // 2**20} MiB")
    return [text, b"".join([*parts, *rest])]


def read(buffers: list[bytes]) -> tuple[dict[str, Any], list[Any]]:
    """The fields and values of a message.

    Raises:
        MessageError: the buffers break the format in any way.
    """
    try:
        text, data = buffers
        if len(text) > MAX_TEXT:
            raise MessageError("the text is too large")
        fields, kinds, middle = json.loads(text)
        values: list[Any] = []
        offset = 0
        for kind in kinds:
            values.append(kind and _array(kind, data, offset))
            offset += values[-1].nbytes if kind else 0
        if None in kinds:
            rest = data[offset:]
            others = iter(decode([rest[:middle], rest[middle:]]))
            values = [
                next(others) if kind is None else value for kind, value in zip(kinds, values, strict=True)
            ]
        return {**fields}, values
    except MessageError:
        raise
    except Exception as error:  # a forged message can make the parsers raise anything
        raise MessageError(f"not a message: {type(error).__name__}") from error


def _array(described: list[Any], data: bytes, offset: int) -> Any:
    kind, dtype, shape = described
    if dtype not in _DTYPES:
        raise MessageError("an array of an unknown type")
    array = np.ndarray(shape, dtype, data, offset).copy()
    return sys.modules["torch"].from_numpy(array) if kind == "tensor" else array
