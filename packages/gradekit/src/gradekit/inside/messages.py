"""The messages between grader and kernel: plain data as JSON, arrays as safetensors, everything else packed as these two.

The text of this module is also sent into the student's kernel, so it may import only what a student's environment
has.
"""

import decimal
import json
import math
import numbers
import socket
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from gradekit.inside.arrays import Array, is_plain, is_tensor, load, noun, save, to_numpy
from gradekit.inside.packing import PLAIN, PackingError, packer_named, packer_of

MAX_BYTES = 64 * 2**20
MAX_MESSAGE_DEPTH = 20
#: limits of one message: bytes of its JSON, entries of all lists and dicts in it, arrays
MAX_TEXT = 4 * 2**20
MAX_ITEMS = 100_000
MAX_TENSORS = 2_000
#: digits of a whole number
MAX_DIGITS = 1_000
KIND = "$"
#: marks the number of a message from a stub, and of the reply to it
FROM_STUB = 1 << 63
#: marks the number of a request that a forked process answers, so that the next one finds the kernel as it was
APART = 1 << 62

#: an instance of a subclass, such as a member of an `IntEnum`, is sent as one of these, whatever methods it overrides
_BASES: dict[type, Callable[[Any], Any]] = {
    list: list.copy,
    int: int.__int__,
    float: float.__float__,
    str: str.__str__,
}
_TENSOR = b'{"$": "tensor"'
Description = dict[str, Any]


class MessageError(ValueError):
    """The value can't be sent: too large, too deep, or a reply that breaks the format."""


#: NumPy's numbers that no other library has, by `dtype.char`, and their replacements
_LONG = {"g": np.float64, "G": np.complex128}


def encode(value: Any, describe: Callable[[Any], Description | None] | None = None) -> list[bytes]:
    """Turn `value` into two buffers: a JSON tree, and its arrays as one safetensors file.

    Args:
        value: nested lists, tuples and dicts (string keys) of numbers, strings, booleans, None, tensors, NumPy
            arrays, and whatever has a packer. Tensors are sent without their gradients.
        describe: called for any other object; returns the JSON dict that represents it.

    Raises:
        MessageError: an object is neither plain nor described, or the message exceeds one of the limits above.
    """
    arrays: dict[str, Array] = {}
    items = 0

    def tree(item: Any, depth: int) -> Any:
        nonlocal items
        items += 1
        if items > MAX_ITEMS:
            raise MessageError(f"the value has more than {MAX_ITEMS} entries")
        if depth > MAX_MESSAGE_DEPTH:
            raise MessageError(f"the value is nested more than {MAX_MESSAGE_DEPTH} deep")
        if type(item) in PLAIN:
            return _odd_number(item) or item
        if isinstance(item, np.ndarray | np.generic) and item.dtype.char in _LONG:
            item = item.astype(_LONG[item.dtype.char])
        if isinstance(item, np.generic) and item.dtype.kind in "biufUO":
            return tree(item.item(), depth)
        if is_plain(item):
            if item.nbytes > MAX_BYTES:
                raise MessageError(f"{noun(item)} of shape {tuple(item.shape)} is too large to send")
            if len(arrays) == MAX_TENSORS:
                raise MessageError(f"the value holds more than {MAX_TENSORS} arrays")
            key = str(len(arrays))
            arrays[key] = item
            return {KIND: "tensor" if is_tensor(item) else "array", "key": key}
        if type(item) is list:
            return [tree(part, depth + 1) for part in item]
        if isinstance(item, tuple):
            return {KIND: "tuple", "items": [tree(part, depth + 1) for part in item]}
        if isinstance(item, dict) and all(isinstance(key, str) for key in item):
            parts = [[str.__str__(key), tree(part, depth + 1)] for key, part in item.items()]
            return {KIND: "dict", "items": parts}
        if found := packer_of(item):
            library, packer = found
            return {KIND: "packed", "library": library, "data": tree(packer.pack(item), depth + 1)}
        for kind, plain in _BASES.items():
            if isinstance(item, kind):
                return tree(plain(item), depth)
        if isinstance(item, numbers.Real | decimal.Decimal):  # such as a Fraction
            return tree(float(item), depth)
        described = describe(item) if describe else None
        if described is None:
            raise MessageError(f"a value of type {type(item).__name__} can't be sent")
        return described

    try:
        text = json.dumps(tree(value, 0))
    except PackingError as error:
        raise MessageError(str(error)) from None
    buffers = [text.encode(), save(arrays)]
    if len(buffers[0]) > MAX_TEXT:
        raise MessageError(f"the value without its tensors is larger than {MAX_TEXT // 2**20} MiB")
    if sum(map(len, buffers)) > MAX_BYTES:
        raise MessageError(f"the value is larger than {MAX_BYTES // 2**20} MiB")
    return buffers


def _odd_number(item: Any) -> Description | None:
    """The JSON for a number that JSON can't express, or that not every parser accepts; None for all others."""
    if type(item) is float and not math.isfinite(item):
        return {KIND: "number", "text": str(item)}
    if type(item) is int and not -(2**63) <= item < 2**63:
        if item.bit_length() > 3 * MAX_DIGITS:
            raise MessageError(f"a whole number has more than {MAX_DIGITS} digits")
        return {KIND: "number", "text": str(item)}
    return None


def read_number(text: str) -> int | float:
    """Read a number that `encode` wrote as text."""
    return float(text) if text in ("nan", "inf", "-inf") else int(text)


def decode(buffers: list[Any], restore: Callable[[Description], Any] | None = None) -> Any:
    """Read what `encode` wrote, in the kernel; the grader reads replies with `gradekit.session.replies`.

    `restore` turns the dict of a described object into the object on this side.

    Raises:
        MessageError: the buffers break the format in any way.
    """

    def value(item: Any, depth: int) -> Any:
        if depth > 2 * MAX_MESSAGE_DEPTH:
            raise MessageError("nested too deep")
        if isinstance(item, list):
            return [value(part, depth + 1) for part in item]
        if not isinstance(item, dict):
            return item
        match item.get(KIND):
            case "tensor":
                return arrays[item["key"]]
            case "array":
                return to_numpy(arrays[item["key"]])
            case "tuple":
                return tuple(value(part, depth + 1) for part in item["items"])
            case "dict":
                return {str(key): value(part, depth + 1) for key, part in item["items"]}
            case "number":
                return read_number(item["text"])
            case "packed":
                return packer_named(item["library"]).unpack(value(item["data"], depth + 1))
        if restore is None:
            raise MessageError("an object where only plain data is allowed")
        return restore(item)

    try:
        if len(buffers) != 2 or sum(map(len, buffers)) > MAX_BYTES:
            raise MessageError("wrong number or size of buffers")
        text = bytes(buffers[0])
        arrays = load(bytes(buffers[1]), "torch" if _TENSOR in text else "numpy")
        return value(json.loads(text), 0)
    except MessageError:
        raise
    except Exception as error:  # a forged reply can make the parsers raise anything
        raise MessageError(f"not a message: {type(error).__name__}") from error


_HEAD = struct.Struct("!QII")  # number of the request, lengths of the two buffers


def send(connection: socket.socket, number: int, buffers: list[bytes]) -> None:
    """Write one message to a stream: a request, or the reply to request `number`."""
    connection.sendall(packed(number, buffers))


def packed(number: int, buffers: list[bytes]) -> bytes:
    """The bytes of one message."""
    return b"".join([_HEAD.pack(number, len(buffers[0]), len(buffers[1])), *buffers])


def receive(recv: Callable[[int], bytes]) -> tuple[int, list[bytes]]:
    """Read one message from a stream; `recv` returns at most as many bytes as it is asked for.

    Raises:
        EOFError: the stream has ended.
        MessageError: the head announces more than `MAX_BYTES`; nothing more can be read from this stream.
    """

    def read(count: int) -> bytes:
        parts = bytearray()
        while len(parts) < count:
            part = recv(min(count - len(parts), 1 << 20))
            if not part:
                raise EOFError
            parts += part
        return bytes(parts)

    number, first, second = _HEAD.unpack(read(_HEAD.size))
    if first + second > MAX_BYTES:
        raise MessageError(f"it is larger than {MAX_BYTES // 2**20} MiB")
    body = read(first + second)
    return number, [body[:first], body[first:]]


def probe(array: Any) -> Any:
    """Fixed weights between -1 and 1, without a pattern, in the shape and type of `array`.

    Gradients are taken of `(output * probe(output)).sum()`. The plain sum would hide mistakes, since rows of a
    softmax always add up to 1.

    Example:
        loss = (output * probe(output)).sum()
    """
    if not is_tensor(array):
        steps = np.arange(1, array.size + 1, dtype=np.float64)
        return np.cos(steps * math.e).reshape(array.shape).astype(array.dtype)
    import torch

    counts = torch.arange(1, array.numel() + 1, dtype=torch.float64)
    return torch.cos(counts * math.e).reshape(array.shape).to(array.dtype)
