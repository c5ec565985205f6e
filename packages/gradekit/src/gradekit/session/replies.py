"""Reading the agent's replies: every field has a type and a limit, and a reply that breaks them is refused.

The agent runs in the student's process, so a reply can be anything: its size is checked before it is parsed.
"""

import re
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from gradekit.codecs import unpack
from gradekit.inside.arrays import Array, current_kind, is_array, load
from gradekit.inside.messages import (
    KIND,
    MAX_BYTES,
    MAX_DIGITS,
    MAX_ITEMS,
    MAX_MESSAGE_DEPTH,
    MAX_TENSORS,
    MAX_TEXT,
    MessageError,
    read_number,
)
from gradekit.inside.packing import PackingError

#: commas and opening brackets of the JSON: `encode` writes at most six per entry
_MAX_MARKS = 6 * MAX_ITEMS
#: levels of the JSON: `encode` writes three for each level of the value
_MAX_LEVELS = 3 * MAX_MESSAGE_DEPTH + 10
#: bytes of the safetensors header
_MAX_HEADER = 512 * 2**10
_MAX_AXES = 32

_Count = Annotated[int, Meta(ge=0, le=MAX_BYTES)]
ShortText = Annotated[str, Meta(max_length=200)]
LongText = Annotated[str, Meta(max_length=2_000)]


class _Tagged(Struct, frozen=True, forbid_unknown_fields=True, tag_field=KIND):
    pass


class TensorItem(_Tagged, tag="tensor", frozen=True):
    key: Annotated[str, Meta(max_length=10)]


class ArrayItem(_Tagged, tag="array", frozen=True):
    key: Annotated[str, Meta(max_length=10)]


class TupleItem(_Tagged, tag="tuple", frozen=True):
    items: list[Any]


class DictItem(_Tagged, tag="dict", frozen=True):
    items: list[tuple[str, Any]]


class NumberItem(_Tagged, tag="number", frozen=True):
    text: Annotated[str, Meta(pattern=r"^(nan|-?inf|-?[0-9]+)$", max_length=MAX_DIGITS)]


class PackedItem(_Tagged, tag="packed", frozen=True):
    """A value of another library, as its packer packed it."""

    library: Annotated[str, Meta(max_length=100)]
    data: Any


class ModuleItem(_Tagged, tag="module", frozen=True):
    """An `nn.Module` that stays in the kernel."""

    id: Annotated[int, Meta(ge=0, le=10_000_000)]
    type: Annotated[str, Meta(max_length=100)]


class ObjectItem(_Tagged, tag="object", frozen=True):
    """Another object that stays in the kernel."""

    id: Annotated[int, Meta(ge=0, le=10_000_000)]
    type: Annotated[str, Meta(max_length=100)]


_ITEMS = {kind.__struct_config__.tag: kind for kind in _Tagged.__subclasses__()}


class TensorEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """One tensor in the header of a safetensors file."""

    dtype: Literal[
        "BOOL", "U8", "I8", "I16", "I32", "I64", "U16", "U32", "U64", "F16", "BF16", "F32", "F64", "C64"
    ]
    shape: Annotated[list[_Count], Meta(max_length=_MAX_AXES)]
    data_offsets: tuple[_Count, _Count]


class ReplyError(Struct, frozen=True, forbid_unknown_fields=True):
    """An exception in the student's code, with the lines of the notebook's cells in its traceback.

    `bases` are the names of the classes that its type derives from, unless the type is built in.
    """

    type: Annotated[str, Meta(max_length=100)]
    message: LongText
    lines: Annotated[list[tuple[_Count, LongText]], Meta(max_length=5)]
    bases: Annotated[list[Annotated[str, Meta(max_length=100)]], Meta(max_length=20)] = []


class Answer(Struct, frozen=True, forbid_unknown_fields=True):
    """The result of a request; `inputs` and `parameters` are gradients.

    `changed` are the arguments that the call changed in place, `woken` those that it left in training mode. `seeded`:
    torch's random seed is another one afterwards. `left` are settings of torch that the call left changed.
    """

    ok: Literal[True]
    value: Any = None
    changed: Annotated[list[_Count | ShortText], Meta(max_length=100)] = []
    woken: Annotated[list[_Count | ShortText], Meta(max_length=100)] = []
    seeded: bool = False
    left: Annotated[list[ShortText], Meta(max_length=10)] = []
    inputs: Annotated[list[Any], Meta(max_length=100)] | None = None
    parameters: dict[str, Any] | None = None


class Failure(Struct, frozen=True, forbid_unknown_fields=True):
    """One of the requests that were sent together failed: number `at`."""

    ok: Literal[False]
    at: Annotated[int, Meta(ge=0, le=10_000)]
    error: ReplyError


Reply = Answer | Failure


def read_reply(buffers: list[bytes], restore: Callable[[ModuleItem | ObjectItem], Any]) -> Reply:
    """Read what the agent sent, with all arrays as the current kind.

    Args:
        buffers: the JSON and the safetensors file that `gradekit.inside.messages.encode` makes.
        restore: makes the object that represents one that stays in the kernel.

    Raises:
        MessageError: the reply breaks the format in any way.
    """
    try:
        if len(buffers) != 2 or sum(map(len, buffers)) > MAX_BYTES:
            raise MessageError("the reply has the wrong size")
        _check_text(buffers[0])
        arrays = _read_arrays(buffers[1])
        found = _value(msgspec.json.decode(buffers[0]), arrays, restore, 0)
        if not isinstance(found, dict):
            raise MessageError("the reply is not a dict")
        if found.get("ok") is not True:
            return msgspec.convert(found, Failure)
        answer = msgspec.convert(found, Answer)
        gradients = [*(answer.inputs or []), *(answer.parameters or {}).values()]
        if not all(gradient is None or is_array(gradient) for gradient in gradients):
            raise MessageError("the reply has a gradient that is not a tensor")
        return answer
    except MessageError:
        raise
    except msgspec.ValidationError as error:
        raise MessageError(f"the reply breaks the format: {str(error)[:200]}") from None
    except Exception as error:  # a forged reply can make the parsers raise anything
        raise MessageError(f"the reply is not in the format ({type(error).__name__})") from None


# every quotation mark outside a string begins one, even if it never ends: no byte is read twice
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)


def _check_text(text: bytes) -> None:
    """Refuse JSON that would take a lot of memory or a deep stack to parse."""
    if len(text) > MAX_TEXT:
        raise MessageError(f"the reply without its tensors is larger than {MAX_TEXT // 2**20} MiB")
    bare = _STRING.sub(b"", text)
    if bare.count(b",") + bare.count(b"[") + bare.count(b"{") > _MAX_MARKS:
        raise MessageError(f"the reply has more than {MAX_ITEMS} entries")
    if bare.count(b"[") + bare.count(b"{") <= _MAX_LEVELS:
        return
    level = 0
    for mark in re.finditer(rb"[\[\]{}]", bare):
        level += 1 if mark[0] in b"[{" else -1
        if level > _MAX_LEVELS:
            raise MessageError(f"the reply is nested more than {MAX_MESSAGE_DEPTH} deep")


def _read_arrays(data: bytes) -> dict[str, Array]:
    """The arrays of a safetensors file, if its header is within the limits."""
    size = int.from_bytes(data[:8], "little")
    if len(data) < 8 or size > min(_MAX_HEADER, len(data) - 8):
        raise MessageError("the list of tensors has the wrong size")
    header = data[8 : 8 + size]
    if header.count(b"{") > MAX_TENSORS + 1:
        raise MessageError(f"the reply holds more than {MAX_TENSORS} tensors")
    msgspec.json.decode(header, type=dict[str, TensorEntry])
    return load(data, current_kind())


def _value(item: Any, arrays: dict[str, Array], restore: Callable[[Any], Any], depth: int) -> Any:
    """The value that `item` of the JSON represents. An array is removed from `arrays`, so no two values share it."""

    def parts(items: list[Any]) -> Iterator[Any]:
        return (_value(part, arrays, restore, depth + 1) for part in items)

    if depth > MAX_MESSAGE_DEPTH + 2:  # the reply is a dict itself
        raise MessageError(f"the reply is nested more than {MAX_MESSAGE_DEPTH} deep")
    if isinstance(item, list):
        return list(parts(item))
    if not isinstance(item, dict):
        return item
    kind = item.get(KIND)
    if not isinstance(kind, str) or kind not in _ITEMS:
        raise MessageError("the reply has an item of an unknown kind")
    match msgspec.convert(item, _ITEMS[kind]):  # a union of these types takes ten times as long
        case TensorItem(key=key) | ArrayItem(key=key):
            if key not in arrays:
                raise MessageError("the reply names a tensor that it doesn't hold")
            return arrays.pop(key)
        case TupleItem(items=items):
            return tuple(parts(items))
        case DictItem(items=pairs):
            found = dict(zip((key for key, _ in pairs), parts([part for _, part in pairs]), strict=True))
            if len(found) != len(pairs):
                raise MessageError("the reply has a key twice")
            return found
        case NumberItem(text=text):
            return read_number(text)
        case PackedItem(library=library, data=data):
            try:
                return unpack(library, _value(data, arrays, restore, depth + 1))
            except PackingError as error:
                raise MessageError(f"the reply holds a value of {library}, {error}") from None
        case described:
            return restore(described)
