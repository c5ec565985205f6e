"""Sends the arguments and values of a call so that the other side gets the same objects: shared, nested and changed ones.

Its text is sent into the kernels (see `gradekit.session.channel`). `gradekit.inside.messages` copies values; here, a list
that occurs twice arrives as one list, and what a call changes in place is changed for its caller.
"""

import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from gradekit.inside.arrays import copied, is_array, is_tensor
from gradekit.inside.messages import MessageError
from gradekit.inside.packing import PLAIN, Packer, packer_of
from gradekit.inside.payload import raw

Node = list[Any]
#: how a tensor takes part in gradients
CONSTANT, LEAF, COMPUTED = 0, 1, 2
_MISSING = object()
_PLAIN = frozenset(PLAIN)


class Graph:
    """The objects of one call that both sides know, by number.

    An item of a message is a plain value, or the number of an object in a list of its own. A node is the content of
    one object: its kind, and items, or the place of an array in `values`.

    Args:
        describe: returns the number of an object that stays on this side; raises TypeError if it can't.
        restore: returns what stands for such an object here.
    """

    def __init__(self, describe: Callable[[Any], int], restore: Callable[[int], Any]) -> None:
        self._describe, self._restore = describe, restore
        self.objects: list[Any] = []
        #: what the nodes of the message being written or read don't contain, but refer to
        self.values: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._before: list[Any] = []
        #: tensors that need gradients, and their leaves
        self.tracked: list[tuple[Any, Any]] = []

    def pack(self, values: list[Any], nodes: list[Node]) -> list[Any]:
        """Items for some values; the nodes of objects that the other side doesn't know are added to `nodes`."""
        return [self._item(value, nodes) for value in values]

    def unpack(self, items: list[Any], nodes: list[Node]) -> list[Any]:
        """The values of some items, after taking in new nodes."""
        first = len(self.objects)
        self.objects += [_MISSING] * len(nodes)
        for number in range(first, len(self.objects)):
            if self.objects[number] is _MISSING:
                self._build(number, nodes, first)
        return [self._value(item, nodes, first) for item in items]

    def remember(self) -> None:
        """Store the content of all objects, to find out later what was changed."""
        self._before = list(map(_content, self.objects))

    def changes(self, nodes: list[Node]) -> list[Any]:
        """Numbers and new nodes of the objects that were changed in place since `remember`."""
        found = []
        for number, before in enumerate(self._before):
            value = self.objects[number]
            if before is not None and not _is_unchanged(value, before):
                found.append([number, self._node(value, nodes)])
        return found

    def apply(self, changes: list[Any]) -> None:
        """Change objects in place as the other side did."""
        for number, (kind, *content) in changes:
            own = self.objects[number]
            if kind == "list":
                own[:] = [self._value(item) for item in content[0]]
            elif kind == "dict":
                pairs = [(self._value(key), self._value(value)) for key, value in content[0]]
                own.clear()
                own.update(pairs)
            elif kind == "set":
                parts = [self._value(item) for item in content[0]]
                own.clear()
                own.update(parts)
            elif kind == "array":
                own[...] = self.values[content[0]]
            elif kind == "tensor":
                _set_tensor(own, self.values[content[0]])
            elif hasattr(own, "_update_inplace"):  # tables of pandas
                own._update_inplace(self.values[content[0]])

    def _item(self, value: Any, nodes: list[Node]) -> Any:
        if type(value) in PLAIN:
            return value
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self.objects)
            self.objects.append(value)
            if type(value) is list and _PLAIN.issuperset(map(type, value)):
                nodes.append(["list", value])
            else:
                nodes.append([])
                place = len(nodes) - 1
                nodes[place] = self._node(value, nodes)
        return [number]

    def _node(self, value: Any, nodes: list[Node]) -> Node:
        def items(values: Any) -> list[Any]:
            return [part if type(part) in PLAIN else self._item(part, nodes) for part in values]

        def place(value: Any) -> int:
            self.values.append(value)
            return len(self.values) - 1

        if isinstance(value, np.generic):
            return ["scalar", place(np.asarray(value))]
        if is_tensor(value):
            role = CONSTANT if not value.requires_grad else LEAF if value.is_leaf else COMPUTED
            if role != CONSTANT:
                self.tracked.append((value, value))
            return ["tensor", place(value), role]
        if isinstance(value, np.ndarray):
            return ["array", place(value)]
        if isinstance(value, dict):
            return ["dict", [items(pair) for pair in value.items()]]
        for kind, base in (("list", list), ("tuple", tuple), ("set", set), ("frozenset", frozenset)):
            if isinstance(value, base):
                return [kind, items(value)]
        for plain in (int, float, str):
            if isinstance(value, plain):  # of a subclass
                return ["plain", plain(value)]
        if isinstance(value, range):
            return ["range", value.start, value.stop, value.step]
        if isinstance(value, complex):
            return ["complex", value.real, value.imag]
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(value, torch.dtype):
            return ["dtype", str(value).removeprefix("torch.")]
        if packer_of(value):
            return ["packed", place(value)]
        return ["object", self._describe(value)]

    def _value(self, item: Any, nodes: list[Node] = [], first: int = 0) -> Any:  # noqa: B006  # never changed
        if not isinstance(item, list):
            return item
        number = item[0]
        if self.objects[number] is _MISSING:
            self._build(number, nodes, first)
        return self.objects[number]

    def _build(self, number: int, nodes: list[Node], first: int) -> None:
        kind, *content = nodes[number - first]

        def parts(items: list[Any]) -> list[Any]:
            return [self._value(item, nodes, first) if type(item) is list else item for item in items]

        made: Any
        if kind == "list":  # it may contain itself
            made = self.objects[number] = [*content[0]]
            if list in map(type, made):
                made[:] = parts(made)
        elif kind in ("dict", "set"):
            made = self.objects[number] = {} if kind == "dict" else set()
            made.update(map(parts, content[0]) if kind == "dict" else parts(content[0]))
        elif kind in ("tuple", "frozenset"):
            made = (tuple if kind == "tuple" else frozenset)(parts(content[0]))
        elif kind == "tensor":
            made = self._tensor(*content)
        elif kind == "dtype":
            import torch

            made = getattr(torch, content[0])
            if not isinstance(made, torch.dtype):
                raise MessageError("not a dtype")
        elif kind == "object":
            made = self._restore(content[0])
        elif kind in ("array", "scalar", "packed"):
            made = self.values[content[0]]
            made = made[()] if kind == "scalar" else made
        else:
            made = _SIMPLE[kind](*content)
        self.objects[number] = made
        self._numbers[id(made)] = number

    def _tensor(self, place: int, kind: int) -> Any:
        tensor = self.values[place]
        if kind != CONSTANT:
            leaf = tensor.requires_grad_()
            tensor = leaf if kind == LEAF else leaf.clone()
            self.tracked.append((tensor, leaf))
        return tensor


_SIMPLE: dict[str, Callable[..., Any]] = {"plain": lambda value: value, "range": range, "complex": complex}


def _content(value: Any) -> Any:
    """What is compared to find out whether an object was changed in place; None if it can't be."""
    if isinstance(value, (list, set)):
        return list(value)
    if isinstance(value, dict):
        return [*value, *value.values()]
    if is_array(value) or packer_of(value):
        return raw(value) or (copy_of(value),)
    return None


def _is_unchanged(value: Any, before: Any) -> bool:
    if type(before) is list:
        # objects of one's own are equal only if they are identical; the lists keep them alive
        now = value if type(value) is list else _content(value)
        return len(now) == len(before) and (
            all(map(operator.is_, now, before)) or all(map(_is_same_part, now, before))
        )
    if len(before) == 1:
        return is_same(before[0], value)
    return bool(raw(value) == before)


def _is_same_part(one: Any, other: Any) -> bool:
    return one is other or (type(one) in PLAIN and type(one) is type(other) and one == other)


def _set_tensor(own: Any, new: Any) -> None:
    if own.shape == new.shape and own.dtype == new.dtype:
        own.detach().copy_(new)
    else:
        own.data = new


def copy_of(part: Any) -> Any:
    """A copy of an array, or of a value of a library that has a packer."""
    return copied(part) if is_array(part) else _packer(part).copied(part)


def is_same(one: Any, other: Any) -> bool:
    """True if such a value still equals its copy; NaN equals NaN."""
    if not is_array(one):
        return _packer(one).same(one, other)
    if not is_array(other) or one.dtype != other.dtype or one.shape != other.shape:
        return False
    other = other.detach() if is_tensor(other) else other
    same: Any = (one == other) | ((one != one) & (other != other))
    return bool(same.all())


def _packer(part: Any) -> Packer:
    found = packer_of(part)
    return found[1] if found else Packer()
