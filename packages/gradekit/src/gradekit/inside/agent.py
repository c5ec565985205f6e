"""The part that runs in the student's kernel: it calls what the notebook defines and sends back the result.

It contains no checks and no answers. Its text is sent into the kernel (see `gradekit.session.channel`), so it may import
only the modules that are sent with it and what a student's environment has.
"""

import linecache
import os
import signal
import socket
import sys
import traceback
from contextlib import suppress
from typing import Any, NamedTuple

from gradekit.inside.arrays import has_torch, is_array, is_float, is_tensor, to_numpy
from gradekit.inside.cell_figures import CellFigures
from gradekit.inside.graph import copy_of, is_same
from gradekit.inside.kernel_process import (
    ANSWERED,
    BuiltIn,
    is_answered_by_fork,
    protect,
    reset_torch,
    set_seed,
    settings_put_back,
    torch_settings,
)
from gradekit.inside.messages import APART, MessageError, decode, encode, probe, receive, send
from gradekit.inside.name_history import NameHistory
from gradekit.inside.packing import CODEC_MISSING, lacking, packer_of
from gradekit.inside.payload import Raw, raw, value_of
from gradekit.inside.stub import StubLine, stub_class

#: an instance of a subclass of one of these is an object with methods, not plain data, unless it is a named tuple
_PLAIN = (dict, list, tuple, int, float, str)
#: what a call may change in a list or dict without changing an array
_ENTRIES = (str, bytes, bool, int, float, complex, type(None))
#: characters of an exception's message, and of a line in its traceback
_MAX_TEXT = 2000


class UndefinedName(Exception):
    """The notebook defines no such name."""


class Agent:
    """Answers the grader's requests about the notebook's namespace.

    A request is a dict with `do`, the name of a method `do_...`, and its arguments. The reply has `ok`, and either
    what the method returned or `error` (type, message, lines of the notebook's cells).
    """

    def __init__(
        self,
        namespace: dict[str, Any],
        figures: CellFigures | None = None,
        history: NameHistory | None = None,
    ) -> None:
        self._namespace = namespace
        self._figures = figures or CellFigures()
        self._history = history or NameHistory()
        self._objects: dict[int, Any] = {}
        self._scopes: dict[int, dict[str, Any]] = {}
        #: where stubs send what they ask, while a request is answered
        self.line: StubLine | None = None

    def answer(self, buffers: list[Any]) -> list[bytes]:
        """Carry out a list of requests and reply to the last of them, or say which one failed.

        Anything that the student's code raises ends up in the reply.
        """
        results: list[dict[str, Any]] = []
        lacking.clear()
        try:
            reset_torch()
            for request in decode(buffers, self._restore):
                results.append(getattr(self, "do_" + request.pop("do"))(**request))
            reply = encode({"ok": True, **results[-1]}, self._describe)
        except BaseException as error:
            reply = encode({"ok": False, "at": len(results), "error": _describe_error(error)})
        if lacking:  # whatever else happened, and whether or not the student's code caught it
            missing = {"type": CODEC_MISSING, "message": min(lacking), "lines": []}
            return encode({"ok": False, "at": 0, "error": missing})
        return reply

    def do_get(self, name: str, scope: int | None = None) -> dict[str, Any]:
        return {"value": self._lookup(name, scope)}

    def do_define(self, source: str, scope: int) -> dict[str, Any]:
        names: dict[str, Any] = {"__name__": "grader_helper"}
        exec(compile(source, "<helper of the check>", "exec"), names)
        self._scopes[scope] = names
        return {"value": scope}

    def do_try(self, source: str, needs: list[str]) -> dict[str, Any]:
        """Run some lines as a cell would, but on a copy of the notebook's names; returns those that it lacks."""
        missing = [name for name in needs if name not in self._namespace]
        if not missing:
            set_seed(0)
            exec(compile(source, "<try it yourself>", "exec"), dict(self._namespace))
        return {"value": missing}

    def do_forget(self) -> dict[str, Any]:
        self._objects.clear()
        self._scopes.clear()
        return {}

    def do_call(
        self,
        args: list[Any],
        kwargs: dict[str, Any],
        name: str | None = None,
        scope: int | None = None,
        target: Any = None,
        seed: int = 0,
        gradients: bool = False,
        drawing: bool = False,
        contiguous: bool = True,
        no_grad: bool = False,
    ) -> dict[str, Any]:
        """Call a function. With `gradients`, differentiate what it returns; with `drawing`, return what it draws.

        Without `contiguous`, the numbers of its arrays are in another order in memory, as after a transposition.
        With `no_grad`, torch records no gradients, as under `torch.no_grad()`.
        """
        function = target if name is None else self._lookup(name, scope)
        args = [self._lookup(arg.name, arg.scope) if isinstance(arg, _Named) else arg for arg in args]
        if not contiguous:
            args = list(map(_not_contiguous, args))
            kwargs = {key: _not_contiguous(value) for key, value in kwargs.items()}
        if gradients:
            args = [_leaf(value) for value in args]
            kwargs = {key: _leaf(value) for key, value in kwargs.items()}
            if _is_module(function):
                function.zero_grad(set_to_none=True)
        given = dict(enumerate(args)) | kwargs
        before = {
            name: (_outline(value), list(map(_snapshot, _parts_of(value)))) for name, value in given.items()
        }
        resting = {name: _resting(value) for name, value in given.items()}
        set_seed(seed)
        self._figures.begin()
        value = None
        if no_grad:
            sys.modules["torch"].set_grad_enabled(False)
        settings = torch_settings()
        try:
            value = function(*args, **kwargs)
        finally:
            left = settings_put_back(settings)
            figures = self._figures.finish(value)
        if no_grad and any(is_tensor(part) and part.grad_fn is not None for part in _parts_of(value)):
            left.append("graph")
        changed = [
            name
            for name, (outline, parts) in before.items()
            if outline != _outline(given[name]) or not _same(parts, _parts_of(given[name]))
        ]
        woken = [name for name, modules in resting.items() if any(part.training for part in modules)]
        torch = sys.modules.get("torch")
        seeded = torch is not None and torch.initial_seed() != seed
        made = _Made(value) if isinstance(function, type) and _is_own_kind(type(value)) else value
        reply: dict[str, Any] = {
            "value": figures if drawing else made,
            "changed": changed,
            "woken": woken,
            "seeded": seeded,
            "left": left,
        }
        if gradients:
            reply |= _gradients_of(value, args, function)
        return reply

    def do_figures(self, count: int) -> dict[str, Any]:
        """The figures that the cell with this execution count drew."""
        return {"value": self._figures.of_cell(count)}

    def do_changes(self, names: list[str], after: int) -> dict[str, Any]:
        """What the cells after the one with this execution count changed of some names (see `NameHistory`)."""
        return {"value": self._history.changes(names, after)}

    def do_module(self, target: Any, action: str, value: Any = None) -> dict[str, Any]:
        """Read or change a module: `state`, `parameters`, `buffers`, `load_state`, `load_known`, `replace`, `to`, `train`."""
        if not _is_module(target):
            raise TypeError(f"{type(target).__name__} is not an nn.Module")
        match action:
            case "state":
                return {"value": dict(target.state_dict())}
            case "parameters":
                return {"value": dict(target.named_parameters())}
            case "buffers":
                return {"value": dict(target.named_buffers())}
            case "load_state" | "load_known" | "replace":
                loaded = target.load_state_dict(value, strict=False, assign=action == "replace")
                unknown = loaded.unexpected_keys
                if unknown and action != "load_known":
                    raise KeyError(f"the module has no {', '.join(unknown)}")
            case "to":
                target.to(getattr(sys.modules["torch"], value))
            case "train":
                target.train(value)
            case _:
                raise ValueError(f"unknown action {action}")
        return {"value": None}

    def _lookup(self, name: str, scope: int | None) -> Any:
        names = self._namespace if scope is None else self._scopes[scope]
        if name not in names:
            raise UndefinedName(name)
        return names[name]

    def _describe(self, value: Any) -> dict[str, Any]:
        value = value.instance if isinstance(value, _Made) else value
        number = len(self._objects)
        self._objects[number] = value
        kind = "module" if _is_module(value) else "object"
        return {"$": kind, "id": number, "type": type(value).__name__[:100]}

    def _restore(self, item: dict[str, Any]) -> Any:
        if item["$"] == "named":  # an earlier request of the same list may have to define it first
            return _Named(item["name"], item["scope"])
        if item["$"] == "stub":
            assert self.line is not None
            return stub_class(item["methods"])(self.line, item["name"])
        return self._objects[item["id"]]


class _Named(NamedTuple):
    """An argument that is looked up when the call is made."""

    name: str
    scope: int


class _Made:
    """An object made by calling a class. It stays in the kernel, even if the class is a subclass of dict, say."""

    def __init__(self, instance: Any) -> None:
        self.instance = instance


def _is_module(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.nn.Module)


def _resting(value: Any) -> list[Any]:
    """The parts of a module that are in evaluation mode."""
    return [part for part in value.modules() if not part.training] if _is_module(value) else []


def _is_own_kind(kind: type) -> bool:
    """Whether the class is a user-defined subclass of a plain type, other than a named tuple."""
    python_s = kind in _PLAIN or kind.__module__ == "collections" or hasattr(kind, "_fields")
    return issubclass(kind, _PLAIN) and not python_s


def _not_contiguous(value: Any) -> Any:
    """An equal array, whose first axis is the fastest in memory: no two of its axes can be joined by a view."""
    if not is_array(value):
        return value
    backwards = range(value.ndim)[::-1]
    if is_tensor(value):
        return value.permute(*backwards).contiguous().permute(*backwards)
    return to_numpy(value).copy(order="F")


def _leaf(value: Any) -> Any:
    if is_tensor(value) and value.is_floating_point():
        return value.detach().clone().requires_grad_(True)
    return value


def _parts_of(value: Any) -> list[Any]:
    """The arrays in nested lists, tuples and dicts, and the values of other libraries that can be sent."""
    if is_array(value) or packer_of(value):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [part for entry in value for part in _parts_of(entry)]
    return []


def _outline(value: Any) -> Any:
    """Nested lists and dicts with their plain entries; whatever else is in them is compared apart."""
    if isinstance(value, dict):
        return {key: _outline(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_outline(entry) for entry in value]
    return value if type(value) in _ENTRIES else None


def _snapshot(part: Any) -> tuple[Raw | None, Any]:
    """What a part is compared with later: its bytes, which takes a third of the time of a copy, or else a copy."""
    found = raw(part) if is_array(part) else None
    return found, None if found else copy_of(part)


def _same(old: list[tuple[Raw | None, Any]], new: list[Any]) -> bool:
    """True if nothing was changed; NaN equals NaN."""
    return len(old) == len(new) and all(map(_is_unchanged, old, new))


def _is_unchanged(before: tuple[Raw | None, Any], part: Any) -> bool:
    found, copy = before
    if found is None:
        return is_same(copy, part)
    with suppress(MessageError):  # it has become too large
        if is_array(part) and raw(part) == found:
            return True
    return is_same(value_of(found), part)


def _gradients_of(value: Any, args: list[Any], function: Any) -> dict[str, Any]:
    import torch

    outputs = [part for part in _parts_of(value) if is_tensor(part) and is_float(part) and part.requires_grad]
    parameters = dict(function.named_parameters()) if _is_module(function) else {}
    leaves = [arg for arg in args if is_tensor(arg) and arg.requires_grad]
    wanted = leaves + [parameter for parameter in parameters.values() if parameter.requires_grad]
    found: list[Any] = [None] * len(wanted)
    if outputs and wanted:
        total = sum((output * probe(output)).sum() for output in outputs)
        gradients = torch.autograd.grad(total, wanted, allow_unused=True)
        # That of nn.Embedding(..., sparse=True) is sparse.
        found = [None if part is None else part.to_dense() for part in gradients]
    by_leaf = {id(leaf): gradient for leaf, gradient in zip(wanted, found, strict=True)}
    return {
        "inputs": [by_leaf.get(id(arg)) for arg in args],
        "parameters": {name: by_leaf.get(id(parameter)) for name, parameter in parameters.items()},
    }


def _describe_error(error: BaseException) -> dict[str, Any]:
    """Type, message, the lines of the notebook's own cells, innermost last, and the bases of a user-defined class."""
    if isinstance(error, UndefinedName):
        return {"type": "UndefinedName", "message": str(error), "lines": [], "bases": []}
    frames = traceback.extract_tb(error.__traceback__)
    lines = [
        [frame.lineno or 0, linecache.getline(frame.filename, frame.lineno or 0).strip()[:_MAX_TEXT]]
        for frame in frames
        if "ipykernel_" in frame.filename
    ]
    try:
        message = str(error)
    except BaseException:
        message = ""
    own = type(error)
    kind = "MessageError" if isinstance(error, MessageError) else own.__name__
    bases = [base.__name__[:100] for base in own.__mro__[1:-1] if own.__module__ != "builtins"]
    return {"type": kind[:100], "message": message[:_MAX_TEXT], "lines": lines[-5:], "bases": bases[:20]}


#: the notebook's names
namespace: dict[str, Any] = {}
#: the figures that its cells have drawn
cell_figures = CellFigures()
#: Python's own functions
built_in = BuiltIn()
#: what its names meant after each cell
name_history = NameHistory()
_connection: socket.socket | None = None


def import_early(torch: bool) -> None:
    """Import what calls need: no call is charged for it, and no file of the student's can take its place."""
    import safetensors.numpy

    if torch and has_torch():
        import safetensors.torch  # noqa: F401


def start(descriptor: int, shell: Any) -> None:
    """Take the socket to the grader, which the kernel has inherited.

    Requests are about the names of `shell`, the kernel's `InteractiveShell`.
    """
    global _connection, namespace
    protect(shell)
    built_in.remember()
    cell_figures.watch(shell)
    name_history.watch(shell)
    namespace = shell.user_ns
    # forks of one server would otherwise begin with the same numbers, and those of another with others
    set_seed(0)
    _connection = socket.socket(fileno=descriptor)
    _connection.set_inheritable(False)


def serve() -> None:
    """Answer requests about the notebook's names until the grader sends request number 0 or closes the connection.

    Runs in the kernel's main thread, so that an interrupt stops the student's code. Interrupts between calls are
    ignored, since they would cut a message in two.
    """
    assert _connection is not None, "call `start` first"
    agent, server, connection = Agent(namespace, cell_figures, name_history), os.getpid(), _connection
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        while True:
            built_in.put_back()
            number, request = receive(connection.recv)
            if number == 0:
                return
            if number & APART and is_answered_by_fork():
                continue
            here = os.getpid()
            agent.line = StubLine(connection, number)
            try:
                try:
                    signal.signal(signal.SIGINT, signal.default_int_handler)
                    reply = agent.answer(request)
                finally:
                    signal.signal(signal.SIGINT, signal.SIG_IGN)
            except KeyboardInterrupt as error:  # also one that came in the line above
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                reply = encode({"ok": False, "at": 0, "error": _describe_error(error)})
            if os.getpid() != here:
                os._exit(0)  # a process that the student's code forked must not continue here
            send(connection, number, reply)
            if here != server:
                os._exit(ANSWERED)
    except (EOFError, OSError):
        connection.close()
    finally:
        signal.signal(signal.SIGINT, before)
