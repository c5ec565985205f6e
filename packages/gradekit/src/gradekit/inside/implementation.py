"""Runs an implementation that a student's test is tried on, in a process that has no code of the student's.

Its text is sent there (see `gradekit.session.channel`). Requests come from stubs in the student's kernel, so they can be
anything: an implementation can be called, and so can what it returned, but nothing else of it can be reached.
"""

import builtins
import os
import random
import signal
import socket
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from gradekit.inside import payload
from gradekit.inside.graph import Graph
from gradekit.inside.kernel_process import reset_torch
from gradekit.inside.messages import FROM_STUB, MessageError, decode, encode, receive, send
from gradekit.inside.stub import IMPLEMENTATION

_MAX_TEXT = 2000
#: calls whose gradients can still be taken
_MOST_TAPES = 1000


class LoadedImplementation:
    """Answers the requests of stubs about the implementation that was loaded last.

    `methods` are the names of the methods that may be called, too.
    """

    def __init__(self) -> None:
        self.load("implementation = None", "implementation", ())

    def load(self, source: str, function: str, methods: Sequence[str]) -> None:
        reset_torch()
        names: dict[str, Any] = {"__name__": "implementation"}
        exec(compile(source, "<implementation>", "exec"), names)
        self._objects: list[Any] = [names[function]]
        self._methods = ("__call__", *methods)
        self._tapes: dict[int, tuple[list[Any], list[Any]]] = {}
        self._calls = IMPLEMENTATION

    def answer(self, buffers: list[Any]) -> list[bytes]:
        try:
            request, values = payload.read(buffers)
            answer = self._backward if request.pop("do") == "backward" else self._call
            return payload.write(*answer(values, **request))
        except Exception as error:
            return payload.write({"error": _described(error)}, [])

    def _call(
        self,
        sent: list[Any],
        target: int,
        method: str,
        items: list[Any],
        names: list[str],
        nodes: list[Any],
        seeds: list[int],
        settings: list[Any],
    ) -> tuple[dict[str, Any], list[Any]]:
        if method not in self._methods:
            raise MessageError("there is no such method")
        graph = Graph(self._number_of, self._objects.__getitem__)
        graph.values = sent
        values = graph.unpack(items, nodes)
        graph.values = []
        leaves = [leaf for _, leaf in graph.tracked]
        graph.tracked.clear()
        graph.remember()
        _seed(*seeds)
        torch = sys.modules.get("torch")
        if torch is not None and settings:
            torch.set_default_dtype(getattr(torch, settings[1]))
            torch.set_grad_enabled(settings[0] is True)
        first = len(values) - len(names)
        owner = self._objects[target]
        function = owner if method == "__call__" else getattr(owner, method)
        value = function(*values[:first], **dict(zip(names, values[first:], strict=True)))
        new: list[Any] = []
        (item,) = graph.pack([value], new)
        outputs = [tensor for tensor, _ in graph.tracked]
        self._calls += 1
        if leaves and outputs:
            self._tapes[self._calls] = outputs, leaves
            self._tapes.pop(self._calls - _MOST_TAPES, None)
        reply = {"value": item, "changes": graph.changes(new), "nodes": new, "tape": self._calls}
        return reply, graph.values

    def _backward(self, gradients: list[Any], tape: int) -> tuple[dict[str, Any], list[Any]]:
        import torch

        outputs, leaves = self._tapes[tape]
        found = torch.autograd.grad(outputs, leaves, gradients, retain_graph=True, allow_unused=True)
        used = [part for part in found if part is not None]
        return {"used": [part is not None for part in found]}, used

    def _number_of(self, value: Any) -> int:
        self._objects.append(value)
        return len(self._objects) - 1


def serve_stubs(descriptor: int) -> None:
    """Answer requests on a socket to the grader until it is closed. An interrupt ends this process, which has no state.

    A request from the grader itself is the implementation to load.
    """
    signal.signal(signal.SIGINT, lambda *_: os._exit(1))
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115  (until the process ends)
    loaded, connection = LoadedImplementation(), socket.socket(fileno=descriptor)
    connection.set_inheritable(False)
    try:
        while True:
            number, request = receive(connection.recv)
            answer = loaded.answer if number & FROM_STUB else partial(_load, loaded)
            send(connection, number, answer(request))
    except (EOFError, OSError):
        connection.close()


def _load(loaded: LoadedImplementation, request: list[Any]) -> list[bytes]:
    try:
        loaded.load(**decode(request))
        return encode({"ok": True})
    except Exception as error:
        described = {"type": type(error).__name__, "message": str(error)[:_MAX_TEXT], "lines": []}
        return encode({"ok": False, "at": 0, "error": described})


def _seed(python: int, numpy: int, torch: int | None = None) -> None:
    random.seed(python)
    np.random.seed(numpy)
    if torch is not None and "torch" in sys.modules:
        sys.modules["torch"].default_generator.manual_seed(torch)


def _described(error: Exception) -> dict[str, str]:
    """The nearest type that is built in, and the message."""
    known = [base.__name__ for base in type(error).__mro__ if getattr(builtins, base.__name__, None) is base]
    alone = len(error.args) == 1 and isinstance(error.args[0], str)
    return {"type": known[0], "message": (error.args[0] if alone else str(error))[:_MAX_TEXT]}
