"""What the notebook's names meant after each cell, to find what a later cell changed; runs in the student's kernel.

Checks run after the last cell, but a test cell in Jupyter runs at its place. Values are described by plain data that can be
compared later, without calling methods of the student's objects. Of large values, only parts are looked at.
"""

import builtins
import dis
import re
import sys
from collections import deque
from collections.abc import Iterator, Sequence, Set
from contextlib import suppress
from functools import partial
from itertools import islice
from operator import is_
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    MethodType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any, NamedTuple

import numpy as np

from gradekit.inside.arrays import is_plain, is_tensor, to_numpy

#: parts of one value, and levels of nesting, that are looked at
_MOST_PARTS, _MOST_LEVELS = 300, 6
#: entries of a list, or of an array, that are looked at
_MOST_ENTRIES, _MOST_NUMBERS = 1_000, 8_192
#: parts that looking at an array counts as
_ARRAY_PARTS = 10
#: parts of all values, after all cells; then only names that are bound again are noticed
_MOST_IN_ALL = 200_000
#: names that are followed, and changes that are reported
_MOST_NAMES, _MOST_CHANGES = 1_000, 50
_WORD = re.compile(r"[^\W\d]\w*")
#: what code may assign to: an attribute before `=`, or what may be a part of a target, or the end of a text: `setattr(np, "sum", max)`
_ASSIGNED = re.compile(r"\.\s*([^\W\d]\w*)\s*(?:[-+*/@%&|^<>]*=(?!=)|[,:\])]|\bin\b)|([^\W\d]\w*)['\"]")
#: what assigns to names that the code needn't have
_BY_ANY_NAME = frozenset(("setattr", "vars", "__dict__"))
#: names that IPython binds
_HIDDEN = re.compile(r"__\w+__|_+\d*|_i+\d*|_[iod]h|In|Out|exit|quit|get_ipython")
_PLAIN = frozenset((type(None), bool, int, float, complex, str, bytes, range, slice, type(...)))
_SEQUENCES: tuple[Any, ...] = (list, tuple, set, frozenset, deque)
#: characters of a text that is kept
_LONG = 10_000
_LOADS = ("LOAD_GLOBAL", "LOAD_NAME")
#: what arrays of pandas consist of
_OF_PANDAS = ("_ndarray", "_pa_array", "_data", "_mask")
_OF_EVERY_CLASS = frozenset(("__dict__", "__weakref__", "__doc__", "__module__", "__firstlineno__"))


class Meaning(NamedTuple):
    """What a name meant from the cell with this execution count on; a name that was deleted has no content.

    `codes` are those of the functions that its value consists of.
    """

    since: int
    identity: int = 0
    content: Any = None
    codes: tuple[CodeType, ...] = ()


class Replaced(NamedTuple):
    """A function or another part of a module or class that the cell with this execution count replaced or deleted."""

    since: int
    holder: Any
    name: str
    before: Any
    path: str


class LibraryHistory:
    """What cells replaced in modules, and in classes of theirs; whatever way, as in `setattr(np, "sum", max)`.

    Those are followed that a name of the notebook means, and what is inside them under a name that a cell mentions. What
    libraries replace themselves, as an optimizer of torch its `step`, is not noted.
    """

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._namespace = namespace
        self._words: set[str] = set()
        self._assigned: set[str] = set()
        self._followed: dict[int, tuple[str, Any, dict[str, Any]]] = {}
        self._replaced: list[Replaced] = []

    def follow(self, source: str) -> None:
        """Follow what a cell may change, before it runs."""
        new = set(_WORD.findall(source)) - self._words
        self._words |= new
        self._assigned |= {name for found in _ASSIGNED.findall(source) for name in found}
        todo = list(self._namespace.items())
        todo += [(name, sys.modules[name]) for name in new & sys.modules.keys()]
        for path, holder, _ in self._followed.values():
            todo += _inside(path, holder, new)
        left_out = {id(builtins), id(sys), id(sys.modules["__main__"])}
        while todo:
            path, holder = todo.pop()
            kind = type(holder)  # isinstance would ask the object
            if not issubclass(kind, ModuleType | type) or id(holder) in self._followed:
                continue
            if id(holder) in left_out or (issubclass(kind, type) and holder.__module__ == "__main__"):
                continue
            self._followed[id(holder)] = path, holder, dict(vars(holder))
            todo += _inside(path, holder, self._words)

    def note(self, count: int) -> None:
        """Note what the cell with this execution count has replaced."""
        for key, (path, holder, before) in self._followed.items():
            parts = vars(holder)
            if len(parts) >= len(before) and all(map(is_, parts.values(), before.values())):
                continue
            self._followed[key] = path, holder, dict(parts)
            path = next((name for name, value in self._namespace.items() if value is holder), path)
            for name, value in before.items():
                if name.startswith("_") or _is_same(value, parts.get(name)):
                    continue
                if name not in parts or not self._is_own_work(holder, name, before, parts[name]):
                    self._replaced.append(Replaced(count, holder, name, value, f"{path}.{name}"))

    def _is_own_work(self, holder: Any, name: str, before: dict[str, Any], now: Any) -> bool:
        """True if a library has replaced a part of its own: no cell assigns to the name, and the new part is its own, too."""
        if name in self._assigned or "reload" in self._words:
            return False
        if not callable(before[name]):
            return not _BY_ANY_NAME & self._words
        is_other = not issubclass(type(now), type) and any(map(partial(is_, now), before.values()))
        return not is_other and _library_of(now) in (_library_of(holder), "IPython")

    def changes(self, after: int) -> Iterator[tuple[str, str, int]]:
        """The paths of what was replaced since the cell with the execution count `after`, how, and the count of the cell."""
        first: dict[tuple[int, str], Any] = {}
        for found in self._replaced:
            if found.since > after:
                before = first.setdefault((id(found.holder), found.name), found.before)
                parts = vars(found.holder)
                if not _is_same(before, parts.get(found.name)):
                    yield found.path, "assigned" if found.name in parts else "deleted", found.since


def _inside(path: str, holder: Any, words: Set[str]) -> Iterator[tuple[str, Any]]:
    parts = vars(holder)
    return ((f"{path}.{word}", parts[word]) for word in words & parts.keys())


def _library_of(value: Any) -> str:
    """The package of a module, class or function; of another value, that of its class."""
    kind = type(value)
    if kind is FunctionType:
        name = value.__globals__.get("__name__")
    elif issubclass(kind, ModuleType):
        name = vars(value).get("__name__")
    else:
        name = vars(value).get("__module__") if issubclass(kind, type) else kind.__module__
    return str(name).partition(".")[0]


def _is_same(before: Any, now: Any) -> bool:
    """True also for a method that was bound to the same object again."""
    if type(before) is MethodType and type(now) is MethodType:
        return before.__func__ is now.__func__
    return before is now


class NameHistory:
    """The meanings of all names of the notebook, and of those that are built in; and what was replaced in libraries."""

    def __init__(self, namespace: dict[str, Any] | None = None) -> None:
        self._namespace = {} if namespace is None else namespace
        self._names: dict[str, list[Meaning]] = {}
        self._now: dict[str, Any] = {}
        self._built_in: dict[str, list[Meaning]] = {}
        self._identities: list[int] = []
        self._left = _MOST_IN_ALL
        self._libraries = LibraryHistory(self._namespace)
        self._note_built_in(0)

    def watch(self, shell: Any) -> None:
        """Take notes after every cell that `shell` runs from now on."""
        self._namespace = shell.user_ns
        self._libraries = LibraryHistory(self._namespace)
        shell.events.register("pre_run_cell", self._before_cell)
        shell.events.register("post_run_cell", self._after_cell)

    def note(self, count: int) -> None:
        """Note what has changed, now that the cell with this execution count has run."""
        self._note_built_in(count)
        most = _MOST_PARTS if self._left > 0 else 0
        names = {name: value for name, value in self._namespace.items() if not _HIDDEN.fullmatch(name)}
        for name, value in names.items():
            look = _Look(self._namespace, most)
            content = look.safely_at(value)
            if name not in self._now or self._now[name] != content:
                self._now[name] = content
                meaning = Meaning(count, id(value), content, tuple(look.codes))
                self._names.setdefault(name, []).append(meaning)
            self._left -= most - look.left
        for name in self._now.keys() - names.keys():
            del self._now[name]
            self._names[name].append(Meaning(count))
        if most and self._left <= 0:  # from now on, contents are others without having changed
            self._now = {name: _Look(self._namespace, 0).safely_at(value) for name, value in names.items()}
        self._libraries.note(count)

    def changes(self, names: Sequence[str], after: int) -> list[list[Any]]:
        """What has changed since the cell with the execution count `after`, of `names` and the names that they use.

        Each change is a name in `names`, the name that it uses or this name itself, how this one changed (`assigned`,
        `changed` or `deleted`), and the count of the cell that did it. What was changed back has not changed. What was
        replaced in a library comes last, as `np.sum`, whether the names use it or not: checks may.
        """
        found: list[list[Any]] = []
        todo = deque((name, name) for name in names)
        seen: set[str] = set()
        while todo and len(seen) < _MOST_NAMES:
            start, name = todo.popleft()
            if name in seen:
                continue
            seen.add(name)
            own, built_in = self._names.get(name, []), self._built_in.get(name, [])
            before = _at(own, after) or _at(built_in, after)
            if before is None:
                continue
            todo += [(start, used) for code in before.codes for used in _globals_of(code)]
            now = _at(own) or _at(built_in)
            if now is None or now.content != before.content:
                last = before
                for meaning in (each for each in (*built_in, *own) if each.since > after):
                    found.append([start, name, _how(last, meaning), meaning.since])
                    last = meaning
        replaced = [[name, *change] for name in names[:1] for change in self._libraries.changes(after)]
        return [*found[:_MOST_CHANGES], *replaced[:_MOST_CHANGES]]

    def _before_cell(self, info: Any) -> None:
        with suppress(Exception):  # a thread of the student's changes them at the same time, say
            self._libraries.follow(str(info.raw_cell))

    def _after_cell(self, result: Any) -> None:
        count = getattr(result, "execution_count", None)
        with suppress(Exception):  # as above
            if isinstance(count, int):
                self.note(count)

    def _note_built_in(self, count: int) -> None:
        identities = list(map(id, vars(builtins).values()))
        if identities == self._identities:
            return
        self._identities = identities
        for name, value in vars(builtins).items():
            known = self._built_in.get(name)
            if name == "input":  # ipykernel replaces it for each cell
                continue
            if known is None or known[-1].identity != id(value):
                self._built_in.setdefault(name, []).append(Meaning(count, id(value), id(value)))


def _at(meanings: Sequence[Meaning], count: int = sys.maxsize) -> Meaning | None:
    """What a name meant after the cell with this execution count; None if it meant nothing."""
    found = next((meaning for meaning in reversed(meanings) if meaning.since <= count), None)
    return found if found and found.content is not None else None


def _how(before: Meaning, meaning: Meaning) -> str:
    if meaning.content is None:
        return "deleted"
    return "changed" if meaning.identity == before.identity else "assigned"


def _globals_of(code: CodeType) -> Iterator[str]:
    """The global names that a function reads."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in _LOADS:
            yield str(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _globals_of(constant)


class _Look:
    """Describes one value. A part beyond the limits, or of which nothing is known, is described by its identity.

    `left` is how many more parts may be looked at. `codes` are those of the notebook's functions in the value.
    """

    def __init__(self, namespace: dict[str, Any], left: int) -> None:
        self._namespace = namespace
        self._classes: set[int] = set()
        self.left = left
        self.codes: list[CodeType] = []

    def safely_at(self, value: Any) -> Any:
        """The description of a value, whatever kind of object it is."""
        try:
            return self.at(value)
        except Exception:  # what Python or a library expects of an object may not hold
            return id(value)

    def at(self, value: Any, level: int = 0) -> Any:
        kind = type(value)
        if kind in _PLAIN:
            if kind in (str, bytes) and len(value) > _LONG:
                return kind, len(value), hash(value)
            return kind, value
        self.left -= 1
        if self.left < 0 or level > _MOST_LEVELS:
            return id(value)
        if kind is FunctionType:
            return self._function(value, level)
        if kind is ModuleType or kind is BuiltinFunctionType:
            return id(value)
        for base in _SEQUENCES:
            if isinstance(value, base):
                parts = self._entries(_some_of(value, base), level)
                return id(kind), base.__len__(value), parts, self._own(value, level)
        if isinstance(value, dict):
            items = list(islice(dict.items(value), _MOST_ENTRIES))
            keys, entries = [key for key, _ in items], [entry for _, entry in items]
            parts = self._entries(keys, level), self._entries(entries, level)
            return id(kind), dict.__len__(value), parts, self._own(value, level)
        if isinstance(value, np.ndarray | np.generic) or is_tensor(value):
            return self._array(value, level)
        if isinstance(value, type):
            return self._class(value, level)
        return self._object(value, kind, level)

    def _entries(self, parts: Sequence[Any], level: int) -> tuple[Any, ...]:
        if _PLAIN.issuperset(map(type, parts)):
            self.left -= len(parts) // 100
            return tuple(parts)
        return tuple(self.at(part, level + 1) for part in parts[: max(self.left, 0)])

    def _own(self, value: Any, level: int) -> Any:
        """The class and the attributes of an object, if the notebook defines its class."""
        kind = type(value)
        if kind.__module__ != "__main__":
            return None
        return self._class(kind, level), self.at(_attributes(value), level + 1)

    def _object(self, value: Any, kind: type, level: int) -> Any:
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(value, torch.nn.Module):
            return self._module(value, level)
        parts: list[Any] | None = None
        if kind.__module__.partition(".")[0] == "pandas":
            if hasattr(value, "_mgr"):
                axes = tuple(map(id, value._mgr.axes))  # they can't be changed in place
                return id(kind), axes, self._entries(list(value._mgr.arrays), level)
            parts = [part for name in _OF_PANDAS if (part := getattr(value, name, None)) is not None] or None
        if kind is MethodType:
            parts = [value.__func__, value.__self__]
        elif isinstance(value, partial):
            parts = [value.func, value.args, value.keywords]
        elif isinstance(value, property):
            parts = [value.fget, value.fset]
        elif isinstance(value, staticmethod | classmethod) or kind.__module__ == "functools":
            parts = [getattr(value, "__wrapped__", None)]  # also what `functools.cache` makes
        elif kind is SimpleNamespace:
            parts = [vars(value)]
        if parts is not None:
            return id(kind), self._entries(parts, level)
        attributes = _attributes(value)
        return id(value) if attributes is None else self._own(value, level) or id(value)

    def _module(self, module: Any, level: int) -> Any:
        """An `nn.Module`: its parameters; of a large one, how often each was changed in place."""
        self.left -= 1
        if self.left < 0:
            return id(module)
        kind, own = type(module), vars(module)
        code: Any = id(kind)
        if kind.__module__ == "__main__":
            settings = [(name, part) for name, part in own.items() if type(part) in _PLAIN]
            code = self._class(kind, level), settings
        tensors = [part for held in ("_parameters", "_buffers") for part in own.get(held, {}).values()]
        states = [
            self._array(part, level) if self.left > _MOST_PARTS // 2 else (id(part), part._version)
            for part in tensors
            if part is not None
        ]
        inner = [self._module(part, level) for part in own.get("_modules", {}).values() if part is not None]
        return code, own.get("training"), states, inner

    def _function(self, function: FunctionType, level: int) -> Any:
        held = [_held_by(cell) for cell in function.__closure__ or ()]
        if function.__globals__ is self._namespace:
            self.codes.append(function.__code__)
        elif not held:  # a library's, which decorates nothing
            return id(function)
        more = [function.__defaults__, function.__kwdefaults__, function.__dict__]
        parts = self._entries(held, level), self._entries([part or None for part in more], level)
        return _described(function.__code__), parts

    def _class(self, kind: type, level: int) -> Any:
        """A class of the notebook: what it defines, once for each value."""
        if kind.__module__ != "__main__":
            return id(kind)
        self.left -= 1
        if self.left < 0 or id(kind) in self._classes:
            return kind.__name__
        self._classes.add(id(kind))
        bases = tuple(self._class(base, level) for base in kind.__bases__)
        parts = {name: part for name, part in vars(kind).items() if name not in _OF_EVERY_CLASS}
        return bases, tuple(parts), self._entries(list(parts.values()), level)

    def _array(self, array: Any, level: int) -> Any:
        self.left -= _ARRAY_PARTS
        plain = is_plain(array)
        if is_tensor(array):
            version = 0 if array.is_inference() else array._version
            if not plain:
                return id(array), version
            part = _numbers(array.detach(), _MOST_NUMBERS)
            part = to_numpy(part) if array.is_conj() or array.is_neg() or array.itemsize < 4 else part.numpy()
            return array.dtype, array.shape, version, hash(part.tobytes())
        array = np.asarray(array)
        if array.dtype.hasobject:
            return array.shape, self._entries(_numbers(array, _MOST_ENTRIES).reshape(-1).tolist(), level)
        return array.dtype, array.shape, hash(_numbers(array, _MOST_NUMBERS).tobytes())


def _numbers(array: Any, most: int) -> Any:
    """Some entries of a large array, which is not copied; a small one as it is."""
    size = array.numel() if is_tensor(array) else array.size
    if size <= most:
        return array
    if array.is_contiguous() if is_tensor(array) else array.flags.c_contiguous:
        return array.reshape(-1)[:: -(-size // most)]
    return array[tuple(slice(None, None, max(1, length // 8)) for length in array.shape)].reshape(-1)[:most]


def _some_of(value: Any, base: Any) -> list[Any]:
    length = base.__len__(value)
    if length <= _MOST_ENTRIES or base not in (list, tuple):
        return list(islice(base.__iter__(value), _MOST_ENTRIES))
    spread = slice(None, None, -(-length // _MOST_ENTRIES))
    return [*base.__getitem__(value, spread), base.__getitem__(value, -1)]


def _attributes(value: Any) -> Any:
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None


def _held_by(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return None


#: with the code, so that no other one gets its identity
_known: dict[int, tuple[CodeType, Any]] = {}


def _described(code: CodeType) -> Any:
    """What the code does, wherever it is written."""
    if id(code) not in _known:
        constants = [_described(c) if isinstance(c, CodeType) else (type(c), c) for c in code.co_consts]
        names = code.co_names, code.co_varnames, code.co_freevars
        _known[id(code)] = code, (code.co_code, names, constants)
    return _known[id(code)][1]
