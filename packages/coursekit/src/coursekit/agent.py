"""The part inside the student's kernel: it calls what the notebook defines and sends back the result.

It holds no check and no answer. Its text is sent into the kernel (see `coursekit.student.channel`), so it
may import only `coursekit.messages`, `coursekit.guard` and what a student's environment has.
"""

import copy
import linecache
import os
import signal
import socket
import traceback
from typing import Any

from coursekit.guard import protect, reset_torch
from coursekit.messages import MessageError, decode, encode, probe, receive, send

_MAX_TEXT = 2000


class Agent:
    """Answers the grader's requests about one namespace, the notebook's.

    A request is a dict with `do`, the name of a method `do_...`, and its arguments. The reply has `ok`, and
    either what the method gave or `error` (type, message, lines of the notebook's cells).
    """

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._namespace = namespace
        self._objects: dict[int, Any] = {}
        self._scopes: dict[int, dict[str, Any]] = {}

    def answer(self, buffers: list[Any]) -> list[bytes]:
        """Carry out a list of requests and reply to the last of them, or say which one failed.

        Whatever happens in the student's code ends up in the reply.
        """
        results: list[dict] = []
        try:
            reset_torch()
            for request in decode(buffers, self._restore):
                results.append(getattr(self, "do_" + request.pop("do"))(**request))
            return encode({"ok": True, **results[-1]}, self._describe)
        except BaseException as error:
            return encode({"ok": False, "at": len(results), "error": _describe_error(error)})

    def do_get(self, name: str, scope: int | None = None) -> dict:
        return {"value": self._lookup(name, scope)}

    def do_define(self, source: str) -> dict:
        scope: dict[str, Any] = {"__name__": "grader_helper"}
        exec(compile(source, "<helper of the check>", "exec"), scope)
        number = len(self._scopes)
        self._scopes[number] = scope
        return {"value": number}

    def do_forget(self) -> dict:
        self._objects.clear()
        self._scopes.clear()
        return {}

    def do_call(
        self,
        args: list,
        kwargs: dict,
        name: str | None = None,
        scope: int | None = None,
        target: Any = None,
        seed: int = 0,
        gradients: bool = False,
    ) -> dict:
        import torch

        function = target if name is None else self._lookup(name, scope)
        if gradients:
            args = [_leaf(value) for value in args]
            kwargs = {key: _leaf(value) for key, value in kwargs.items()}
            if isinstance(function, torch.nn.Module):
                function.zero_grad(set_to_none=True)
        before = copy.deepcopy([_tensors_of(value) for value in [*args, *kwargs.values()]])
        torch.default_generator.manual_seed(seed)  # torch.manual_seed also formats a stack, for CUDA
        value = function(*args, **kwargs)
        names = [*range(len(args)), *kwargs]
        after = [_tensors_of(value) for value in [*args, *kwargs.values()]]
        changed = [name for name, old, new in zip(names, before, after, strict=True) if not _same(old, new)]
        reply = {"value": value, "changed": changed}
        if gradients:
            reply |= _gradients_of(value, args, function)
        return reply

    def do_module(self, target: Any, action: str, value: Any = None) -> dict:
        """Read or change a module: `state`, `parameters`, `load_state`, `load_known`, `to`, `train`."""
        import torch

        if not isinstance(target, torch.nn.Module):
            raise TypeError(f"{type(target).__name__} is not an nn.Module")
        match action:
            case "state":
                return {"value": dict(target.state_dict())}
            case "parameters":
                return {"value": dict(target.named_parameters())}
            case "load_state" | "load_known":
                unknown = target.load_state_dict(value, strict=False).unexpected_keys
                if unknown and action == "load_state":
                    raise KeyError(f"the module has no {', '.join(unknown)}")
            case "to":
                target.to(getattr(torch, value))
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

    def _describe(self, value: Any) -> dict:
        import torch

        number = len(self._objects)
        self._objects[number] = value
        kind = "module" if isinstance(value, torch.nn.Module) else "object"
        return {"$": kind, "id": number, "type": type(value).__name__[:100]}

    def _restore(self, item: dict) -> Any:
        return self._objects[item["id"]]


class UndefinedName(Exception):
    """The notebook defines no such name."""


def _leaf(value: Any) -> Any:
    import torch

    if isinstance(value, torch.Tensor) and value.is_floating_point():
        return value.detach().clone().requires_grad_(True)
    return value


def _tensors_of(value: Any) -> list:
    import torch

    if isinstance(value, torch.Tensor):
        return [value.detach()]
    if isinstance(value, list | tuple):
        return [tensor for part in value for tensor in _tensors_of(part)]
    return []


def _same(old: list, new: list) -> bool:
    def bits(tensor: Any) -> Any:
        return tensor.nan_to_num(nan=0.5) if tensor.is_floating_point() else tensor

    return all(a.dtype == b.dtype and bits(a).equal(bits(b)) for a, b in zip(old, new, strict=True))


def _gradients_of(value: Any, args: list, function: Any) -> dict:
    import torch

    outputs = [t for t in _outputs_of(value) if t.is_floating_point() and t.requires_grad]
    parameters = dict(function.named_parameters()) if isinstance(function, torch.nn.Module) else {}
    leaves = [arg for arg in args if isinstance(arg, torch.Tensor) and arg.requires_grad]
    wanted = leaves + [parameter for parameter in parameters.values() if parameter.requires_grad]
    found: list[Any] = [None] * len(wanted)
    if outputs and wanted:
        total = sum((output * probe(output)).sum() for output in outputs)
        found = list(torch.autograd.grad(total, wanted, allow_unused=True))
    by_leaf = {id(leaf): gradient for leaf, gradient in zip(wanted, found, strict=True)}
    return {
        "inputs": [by_leaf.get(id(arg)) for arg in args],
        "parameters": {name: by_leaf.get(id(parameter)) for name, parameter in parameters.items()},
    }


def _outputs_of(value: Any) -> list:
    import torch

    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [tensor for part in value for tensor in _outputs_of(part)]
    return []


def _describe_error(error: BaseException) -> dict:
    """Type, message, and the lines of the notebook's own cells, innermost last."""
    if isinstance(error, UndefinedName):
        return {"type": "UndefinedName", "message": str(error), "lines": []}
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
    kind = "MessageError" if isinstance(error, MessageError) else type(error).__name__
    return {"type": kind[:100], "message": message[:_MAX_TEXT], "lines": lines[-5:]}


_namespace: dict[str, Any] = {}
_listener: socket.socket | None = None
_connection: socket.socket | None = None


def start(path: str, shell: Any) -> None:
    """Open a unix socket at `path`, where the grader connects before any cell has run.

    Requests will be about the names of `shell`, the kernel's `InteractiveShell`.
    """
    global _listener, _namespace
    import safetensors.torch  # noqa: F401  here, so that no call is charged for the import

    protect(shell)
    _namespace = shell.user_ns
    _listener = socket.socket(socket.AF_UNIX)
    _listener.bind(path)
    _listener.listen(1)


def serve() -> None:
    """Answer requests about the notebook's names until the grader sends number 0 or closes the connection.

    Runs in the kernel's main thread, so that an interrupt stops what the student's code is doing. Between two
    calls of it, an interrupt would tear a message apart, and is ignored.
    """
    global _connection
    agent, here = Agent(_namespace), os.getpid()
    if _connection is None:
        _connection, _ = _listener.accept()
    connection = _connection
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        while True:
            number, request = receive(connection.recv)
            if number == 0:
                return
            try:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                reply = agent.answer(request)
            except KeyboardInterrupt as error:
                reply = encode({"ok": False, "at": 0, "error": _describe_error(error)})
            finally:
                signal.signal(signal.SIGINT, signal.SIG_IGN)
            if os.getpid() != here:
                os._exit(0)  # a copy that the student's code forked must not go on here
            send(connection, number, reply)
    except (EOFError, OSError):
        connection.close()
    finally:
        signal.signal(signal.SIGINT, before)
