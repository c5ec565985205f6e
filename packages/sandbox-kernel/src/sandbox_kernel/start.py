"""Starting a kernel in the sandbox, from outside: warm, as a fork of a server, or cold."""

import atexit
import contextlib
import json
import os
import select
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from sandbox_kernel.bubblewrap import problem, server_command
from sandbox_kernel.environment import pack_home
from sandbox_kernel.users import KernelUser

_REPLY_BYTES = 4096
_TRIES = 3

#: the defaults of a kernel in the sandbox: MiB of files, and what a warm one has imported already
SCRATCH = 512
MODULES = [
    *("torch", "matplotlib.pyplot", "matplotlib.backends.backend_agg", "seaborn", "safetensors.torch"),
    *("ipykernel.kernelapp", "ipykernel.ipkernel", "ipykernel.debugger", "tornado.platform.asyncio", "comm"),
    *("IPython.core.completerlib", "IPython.extensions.storemagic", "pdb", "sqlite3"),
    *("IPython.core.debugger", "IPython.core.oinspect", "IPython.core.logger", "numpy.ctypeslib"),
]


class StartFailed(Exception):
    """One kernel failed to start; the message says why. It says nothing about the next one."""


class ServerGone(StartFailed):
    """The server in the sandbox has ended or hangs, so it starts no other kernel either."""


@dataclass
class Started:
    """A kernel in the sandbox: a pidfd of it, its number on this side, and bubblewrap if it is its own.

    A warm kernel ends when nobody holds `lifeline`, so it does not outlive this process.
    """

    pidfd: int
    pid: int
    lifeline: socket.socket
    wrapper: subprocess.Popen | None = None
    user: KernelUser | None = None
    cgroup: Path | None = None


class Server:
    """A Python process inside a sandbox that starts kernels on request.

    Requests go into `control`, a socket that several processes can share: each request is one packet.
    """

    def __init__(
        self, control: socket.socket, process: subprocess.Popen | None = None, complaints: IO | None = None
    ):
        self.control = control
        self.process = process
        self.has_started_one = False
        self._complaints = complaints

    @classmethod
    def launch(cls, mode: str, scratch: int, modules: Sequence[str] = ()) -> "Server":
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        complaints = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the server)
        with theirs:
            process = subprocess.Popen(
                server_command(mode, scratch, list(modules)),
                stdin=theirs,
                stdout=subprocess.DEVNULL,
                stderr=complaints,
            )
        return cls(ours, process, complaints)

    @property
    def alive(self) -> bool:
        """False if it is known to have ended."""
        return self.process is None or self.process.poll() is None

    def start_kernel(self, request: dict[str, Any], files: Sequence[str], seconds: float) -> Started:
        """Have a kernel started; returns when its sockets are bound.

        Raises:
            ServerGone: the server has ended, or takes longer than `seconds`.
            StartFailed: the system or the server refuses this kernel.
        """
        try:
            return self._start_kernel(request, files, seconds)
        except OSError as error:
            raise StartFailed(f"the system refuses it: {error.strerror or error}") from error

    def _start_kernel(self, request: dict[str, Any], files: Sequence[str], seconds: float) -> Started:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with (
            contextlib.ExitStack() as unless_started,
            theirs,
            tempfile.TemporaryFile() as archive,
            open(os.devnull, "wb") as output,
        ):
            unless_started.enter_context(ours)
            pack_home(archive, files)
            archive.seek(0)
            descriptors = [theirs.fileno(), archive.fileno(), output.fileno()]
            try:
                socket.send_fds(self.control, [json.dumps(request).encode()], descriptors)
            except (BrokenPipeError, ConnectionError) as error:
                raise ServerGone(f"the server in the sandbox has ended{self._last_words()}") from error
            theirs.close()
            started = self._answer(ours, seconds)
            unless_started.pop_all()
            return started

    def _answer(self, answers: socket.socket, seconds: float) -> Started:
        deadline = time.monotonic() + seconds
        while not select.select([answers], [], [], 0.1)[0]:
            if not self.alive:
                raise ServerGone(f"the sandbox has ended{self._last_words()}")
            if time.monotonic() > deadline:
                raise ServerGone(f"no kernel within {seconds:g} s")
        data, files, _, _ = socket.recv_fds(answers, _REPLY_BYTES, 1)
        answer = json.loads(data) if data else {"error": f"the kernel ended at once{self._last_words()}"}
        if not answer.get("ok") or not files:
            raise StartFailed(str(answer.get("error", "too many open files, or files under way")))
        return Started(files[0], _pid_of(files[0]), answers)

    def _last_words(self) -> str:
        if self._complaints is None:
            return ""
        self._complaints.seek(0)
        lines = self._complaints.read().decode(errors="replace").strip().splitlines()
        return f" ({lines[-1]})" if lines else ""

    def close(self) -> None:
        """Let go of the server; it ends, with every kernel that it started, when nobody holds it."""
        self.control.close()
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self._complaints.close()


_warm: dict[tuple, Server] = {}
#: why no warm start is possible here, once that is known
cold_because: list[str] = []


def warm_server(scratch: int, modules: Sequence[str]) -> Server:
    """This process's server; it is launched if there is none or it has died."""
    key = (scratch, *modules)
    if key not in _warm or not _warm[key].alive:
        _warm[key] = Server.launch("warm", scratch, modules)
    return _warm[key]


def launch_server() -> socket.socket | None:
    """Start the server for kernels with the default settings, and give the way to it; None without a sandbox.

    Its imports take seconds, in which the caller can do something else. Other processes take it by
    `use_launched_server`.
    """
    return None if problem() else warm_server(SCRATCH, MODULES).control


def use_launched_server(control: socket.socket) -> None:
    """Fork kernels from the server of another process."""
    _warm[SCRATCH, *MODULES] = Server(control)


def start_warm(
    scratch: int, modules: Sequence[str], request: dict[str, Any], files: Sequence[str], seconds: float
) -> Started:
    """A fork of this process's server, which is started first if there is none or it has died.

    Raises:
        StartFailed: each time.
    """
    for _ in range(_TRIES - 1):  # the first may find out that the server has ended, and the second say so
        with contextlib.suppress(StartFailed):
            return _start_warm(scratch, modules, request, files, seconds)
    return _start_warm(scratch, modules, request, files, seconds)


def _start_warm(
    scratch: int, modules: Sequence[str], request: dict[str, Any], files: Sequence[str], seconds: float
) -> Started:
    try:
        server = warm_server(scratch, modules)
        started = server.start_kernel(request, files, seconds)
    except ServerGone:
        _warm.pop((scratch, *modules)).close()
        raise
    except OSError as error:
        raise StartFailed(f"the system starts no server: {error.strerror or error}") from error
    server.has_started_one = True
    return started


def warm_start_works(scratch: int, modules: Sequence[str]) -> bool:
    """Whether this process's server has started a kernel, or another process has handed the server over."""
    server = _warm.get((scratch, *modules))
    return server is not None and (server.has_started_one or server.process is None)


def start_cold(scratch: int, request: dict[str, Any], files: Sequence[str], seconds: float) -> Started:
    """A sandbox of its own for one kernel.

    Raises:
        StartFailed: none came of it.
    """
    try:
        server = Server.launch("cold", scratch)
    except OSError as error:
        raise StartFailed(f"the system starts no sandbox: {error.strerror or error}") from error
    try:
        started = server.start_kernel(request, files, seconds)
    except StartFailed:
        server.close()
        raise
    started.wrapper = server.process
    return started


@atexit.register
def stop_servers() -> None:
    """End this process's servers."""
    while _warm:
        _warm.popitem()[1].close()


def _pid_of(pidfd: int) -> int:
    for line in Path(f"/proc/self/fdinfo/{pidfd}").read_text().splitlines():
        if line.startswith("Pid:"):
            return int(line.split()[1])
    raise StartFailed("the kernel has no number on this side")
