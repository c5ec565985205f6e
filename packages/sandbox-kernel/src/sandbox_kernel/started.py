"""A kernel in the sandbox that has been started, seen from outside."""

import contextlib
import json
import os
import select
import socket
import subprocess
import weakref
from dataclasses import dataclass
from pathlib import Path

from sandbox_kernel.sockets import HeldSockets
from sandbox_kernel.users import KernelUser

REPLY_BYTES = 4096


class StartFailed(Exception):
    """One kernel failed to start; the message says why. The next one may start."""


_running: "weakref.WeakSet[Started]" = weakref.WeakSet()


@dataclass(eq=False)
class Started:
    """A running kernel in the sandbox.

    `pid` is its number outside the sandbox. A warm kernel ends when no process holds `lifeline`, so it does not outlive
    this one. A cold kernel has its own bubblewrap process, `wrapper`.
    """

    pidfd: int
    pid: int
    lifeline: socket.socket
    wrapper: subprocess.Popen[bytes] | None = None
    user: KernelUser | None = None
    cgroup: Path | None = None
    sockets: HeldSockets | None = None

    def __post_init__(self) -> None:
        _running.add(self)

    def let_go(self) -> None:
        """Close what this process holds of the kernel."""
        self.lifeline.close()
        if self.sockets is not None:
            self.sockets.close()


def is_readable(descriptor: int | socket.socket, seconds: float = 0) -> bool:
    """Whether there is something to read within some seconds; of a pidfd: whether its process has ended."""
    waiting = select.poll()  # unlike select.select, for any number of open files
    waiting.register(descriptor, select.POLLIN)
    return bool(waiting.poll(seconds * 1000))


def hold_sockets(started: Started) -> None:
    """Find the sockets that a kernel has bound.

    Raises:
        StartFailed: it has ended.
    """
    try:
        started.sockets = HeldSockets(started.pid)
    except OSError as error:
        raise StartFailed(f"its sockets can't be opened: {error}") from error
    if is_readable(started.pidfd):  # its number may belong to another process by now
        raise StartFailed("it ended at once")


def go_on(started: Started, seconds: float) -> None:
    """Let a kernel unpack its files and, if its request names one, run a program; return once it is ready.

    Raises:
        StartFailed: the files don't fit, the program can't be run or ended at once, or it takes longer than `seconds`.
    """
    answer: dict[str, object] = {"error": "the sandbox has ended"}
    with contextlib.suppress(ConnectionError):
        started.lifeline.send(b"1")
        if not is_readable(started.lifeline, seconds):
            raise StartFailed(f"it was not ready within {seconds:g} s")
        if data := started.lifeline.recv(REPLY_BYTES):
            answer = json.loads(data)
    if not answer.get("ok"):
        raise StartFailed(str(answer["error"]))


def _let_go() -> None:
    """After a fork, in the child: don't keep the parent's kernels alive."""
    for started in list(_running):
        started.let_go()


os.register_at_fork(after_in_child=_let_go)
