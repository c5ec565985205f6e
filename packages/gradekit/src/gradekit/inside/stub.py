"""Stands for an implementation that a student's test is tried on; runs in the student's kernel.

Its text is sent there (see `gradekit.session.channel`). The implementation itself runs in another process, so right and
wrong ones differ in nothing but what they return, raise and change.
"""

import builtins
import os
import random
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradekit.inside import payload
from gradekit.inside.graph import Graph
from gradekit.inside.messages import FROM_STUB, receive, send

#: number of the implementation itself; what it returns and can't be sent gets the following numbers
IMPLEMENTATION = 0


class StubLine:
    """Sends what stubs ask while the kernel handles request `number`."""

    def __init__(self, connection: socket.socket, number: int) -> None:
        self._connection = connection
        self._number = number | FROM_STUB
        self._process = os.getpid()
        self._lock = threading.Lock()

    def ask(self, request: dict[str, Any], values: Sequence[Any] = ()) -> tuple[dict[str, Any], list[Any]]:
        """Send a request with some values, and return the fields and values of the reply.

        Raises:
            KeyboardInterrupt: the time of the call is up.
        """
        if os.getpid() != self._process:
            raise RuntimeError("a function that is tested can't be called in another process")
        buffers = payload.write(request, values)
        with self._lock, _uninterrupted():  # an interrupt would cut a message in two
            send(self._connection, self._number, buffers)
            _, reply = receive(self._connection.recv)
        if not reply[0]:
            raise KeyboardInterrupt
        found, back = payload.read(reply)
        if "error" in found:
            raise _exception(**found["error"])
        return found, back


class Stub:
    """Can be called like the implementation, or like an object that it returned, which stays with it."""

    def __init__(self, line: StubLine, name: str, number: int = IMPLEMENTATION) -> None:
        self.__name__ = self.__qualname__ = name
        self._line = line
        self._number = number

    def __repr__(self) -> str:
        return f"<{self.__name__}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._ask("__call__", args, kwargs)

    def _ask(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        graph = Graph(_number_of, lambda number: type(self)(self._line, self.__name__, number))
        nodes: list[Any] = []
        items = graph.pack([*args, *kwargs.values()], nodes)
        torch = sys.modules.get("torch")
        dtype = str(torch.get_default_dtype()).removeprefix("torch.") if torch else ""
        request = {
            "do": "call",
            "target": self._number,
            "method": method,
            "items": items,
            "names": list(kwargs),
            "nodes": nodes,
            "seeds": _seeds(),
            "settings": [torch.is_grad_enabled(), dtype] if torch else [],
        }
        if torch and torch.is_grad_enabled() and graph.tracked:
            return _call_with_gradients(self._line, graph, request)
        return _finish(graph, *self._line.ask(request, graph.values))


def stub_class(methods: Sequence[str]) -> type[Stub]:
    """A class of stubs with methods of these names."""
    return type("Stub", (Stub,), {name: _forwarding(name) for name in methods})


def _forwarding(name: str) -> Callable[..., Any]:
    def forward(self: Stub, /, *args: Any, **kwargs: Any) -> Any:
        return self._ask(name, args, kwargs)

    return forward


def _number_of(value: Any) -> int:
    if isinstance(value, Stub):
        return value._number
    raise TypeError(f"a function that is tested can't be given a value of type {type(value).__name__}")


def _finish(graph: Graph, reply: dict[str, Any], values: list[Any]) -> Any:
    graph.values = values
    (value,) = graph.unpack([reply["value"]], reply["nodes"])
    graph.apply(reply["changes"])
    return value


def _call_with_gradients(line: StubLine, graph: Graph, request: dict[str, Any]) -> Any:
    """Call with tensors that need gradients, so that they can be taken of what comes back."""
    import torch
    from torch.autograd.function import once_differentiable

    inputs = [tensor for tensor, _ in graph.tracked]
    result: list[Any] = []

    class Call(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *_: Any) -> Any:
            reply, values = line.ask(request, graph.values)
            graph.tracked.clear()
            result.append(_finish(graph, reply, values))
            ctx.tape = reply["tape"]
            outputs = [tensor.detach() for tensor, _ in graph.tracked]
            result.append([tensor for tensor, _ in graph.tracked])
            return tuple(outputs)

        @staticmethod
        @once_differentiable
        def backward(ctx: Any, *gradients: Any) -> Any:
            reply, values = line.ask({"do": "backward", "tape": ctx.tape}, gradients)
            found = iter(values)
            return tuple(next(found) if used else None for used in reply["used"])

    outputs = Call.apply(*inputs)
    value, own = result
    return _replaced(value, {id(old): new for old, new in zip(own, outputs, strict=True)})


def _replaced(value: Any, tensors: dict[int, Any]) -> Any:
    """The value, with some tensors in nested lists, tuples and dicts replaced."""
    if id(value) in tensors:
        return tensors[id(value)]
    if type(value) in (list, tuple):
        return type(value)(_replaced(part, tensors) for part in value)
    if type(value) is dict:
        return {key: _replaced(part, tensors) for key, part in value.items()}
    return value


def _seeds() -> list[int]:
    """Seeds for the implementation, from the random numbers of this process, so that seeding them has its effect."""
    seeds = [random.getrandbits(32), int(np.random.randint(2**32, dtype=np.uint64))]
    torch = sys.modules.get("torch")
    return [*seeds, int(torch.randint(2**32, (), dtype=torch.int64))] if torch else seeds


def _exception(type: str, message: str) -> Exception:
    kind = getattr(builtins, type, None)
    try:
        made = kind(message)  # type: ignore[misc]
    except TypeError:
        made = None
    return made if isinstance(made, Exception) else RuntimeError(message)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ignore interrupts, if this is the thread that gets them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
