"""Starts kernels in the sandbox, from outside: warm, as forks of a server, or cold."""

import atexit
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from sandbox_kernel.bubblewrap import Mode, sandbox_problem, server_command
from sandbox_kernel.environment import WorkingFiles, pack_home
from sandbox_kernel.inside.places import MAX_INHERITED, MAX_REQUEST, Request
from sandbox_kernel.started import REPLY_BYTES, Started, is_readable
from sandbox_kernel.started import StartFailed as StartFailed
from sandbox_kernel.view import View, hide, python_view

_SETUP_SECONDS = 1
_TRIES = 3

#: defaults of a kernel in the sandbox: MiB of files, and the modules that a warm one has already imported
SCRATCH = 512
MODULES = [
    *("torch", "matplotlib.pyplot", "matplotlib.backends.backend_agg", "seaborn", "safetensors.torch"),
    *("ipykernel.kernelapp", "ipykernel.ipkernel", "ipykernel.debugger", "tornado.platform.asyncio", "comm"),
    *("IPython.core.completerlib", "IPython.extensions.storemagic", "pdb", "sqlite3"),
    *("IPython.core.debugger", "IPython.core.oinspect", "IPython.core.logger", "numpy.ctypeslib"),
]


class ServerGone(StartFailed):
    """The server in the sandbox has ended or hangs, so it can start no other kernel either."""


class Server:
    """A Python process inside a sandbox that starts kernels on request.

    Each request is one packet on the socket `control`, which several processes can share. `process` and `errors`
    (its standard error) are None if another process has launched the server.
    """

    def __init__(
        self,
        control: socket.socket,
        process: subprocess.Popen[bytes] | None = None,
        errors: IO[bytes] | None = None,
    ) -> None:
        self.control = control
        self.process = process
        self.has_started_one = False
        self._errors = errors

    @classmethod
    def launch(
        cls, mode: Mode, scratch: int, modules: Sequence[str] = (), view: View | None = None
    ) -> "Server":
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        errors = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the server)
        with theirs:
            process = subprocess.Popen(
                server_command(mode, scratch, modules, view or python_view(sys.executable)),
                # bubblewrap clears the environment of Python, but its own can be read inside, in /proc/1/environ
                env={"PATH": os.environ.get("PATH", os.defpath)},
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )
        return cls(ours, process, errors)

    @property
    def alive(self) -> bool:
        """False if the server is known to have ended."""
        return self.process is None or self.process.poll() is None

    def start_kernel(self, request: Request, files: WorkingFiles, seconds: float) -> Started:
        """Request a kernel, and return once its sockets are bound.

        Raises:
            ServerGone: the server has ended, or takes longer than `seconds`.
            StartFailed: the system or the server refuses this kernel.
        """
        packet = json.dumps(request).encode()
        if len(packet) > MAX_REQUEST:
            raise StartFailed(f"`environment` and `preload` are too long ({len(packet)} bytes in all)")
        inherited = request.get("inherited", [])
        if len(inherited) > MAX_INHERITED:
            raise StartFailed(f"`pass_fds` has more than {MAX_INHERITED} descriptors")
        try:
            with contextlib.ExitStack() as unless_started:
                ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                unless_started.enter_context(ours)
                with theirs, tempfile.TemporaryFile() as archive, open(os.devnull, "wb") as output:
                    pack_home(archive, files)
                    archive.seek(0)
                    self._send(packet, [theirs.fileno(), archive.fileno(), output.fileno(), *inherited])
                started = self._answer(ours, seconds)
                unless_started.pop_all()
                return started
        except OSError as error:
            place = f": {error.filename}" if error.filename else ""
            raise StartFailed(f"the system refuses it: {error.strerror or error}{place}") from error

    def _send(self, packet: bytes, descriptors: list[int]) -> None:
        try:
            socket.send_fds(self.control, [packet], descriptors)
        except ConnectionError as error:
            raise ServerGone(f"the server in the sandbox has ended{self._last_error()}") from error

    def _answer(self, answers: socket.socket, seconds: float) -> Started:
        deadline = time.monotonic() + seconds
        while not is_readable(answers, 0.1):
            if not self.alive:
                raise ServerGone(f"the sandbox has ended{self._last_error()}")
            if time.monotonic() > deadline:
                raise ServerGone(f"no kernel within {seconds:g} s")
        data, files, _, _ = socket.recv_fds(answers, REPLY_BYTES, 1)
        answer = json.loads(data) if data else {"error": f"the kernel ended at once{self._last_error()}"}
        if not answer.get("ok") or not files:
            raise StartFailed(str(answer.get("error", "too many open files, or files in flight")))
        return Started(files[0], _pid_of(files[0]), answers)

    def _last_error(self) -> str:
        if self._errors is None:
            return ""
        try:
            self._errors.seek(0)
            lines = self._errors.read().decode(errors="replace").strip().splitlines()
        except ValueError:  # another thread has closed it
            return ""
        return f" ({lines[-1]})" if lines else ""

    def close(self) -> None:
        """Disconnect; the server and all its kernels end when no process is connected."""
        self.control.close()
        if self.process is not None:
            if not self.has_started_one:
                # killed while it sets up the sandbox, bubblewrap would leave a process behind
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.process.wait(_SETUP_SECONDS)
            self.process.kill()
            self.process.wait()
        if self._errors is not None:
            self._errors.close()


#: why warm starts are impossible here, once that is known
cold_because: list[str] = []


@dataclass(frozen=True)
class ServerKind:
    """The settings of a server of warm kernels; kernels with the same settings share one."""

    scratch: int = SCRATCH
    modules: tuple[str, ...] = tuple(MODULES)
    view: View = field(default_factory=lambda: python_view(sys.executable))


_warm: dict[ServerKind, Server] = {}
#: what servers import instead of the modules of their kind
_fewer: dict[ServerKind, Sequence[str]] = {}
#: kernels are started in threads
_launching = threading.Lock()


def warm_server(kind: ServerKind) -> Server:
    """Return this process's server, launching it if there is none or it has ended."""
    with _launching:
        if kind not in _warm or not _warm[kind].alive:
            modules = _fewer.get(kind, kind.modules)
            _warm[kind] = Server.launch("warm", kind.scratch, modules, kind.view)
        return _warm[kind]


def launch_server(hidden: Sequence[str] = (), modules: Sequence[str] | None = None) -> socket.socket | None:
    """Launch the server for the default settings and return its socket, or None without a sandbox.

    Its imports take seconds, during which the caller can do something else. Pass the socket to `use_launched_server` in
    other processes.

    Args:
        hidden: folders that no kernel of this process or its children sees (see `sandbox_kernel.view.hide`).
        modules: what the server imports, if there is none yet; by default `MODULES`.
    """
    hide(*hidden)
    if sandbox_problem():
        return None
    if modules is not None:
        _fewer[ServerKind()] = tuple(modules)
    return warm_server(ServerKind()).control


def use_launched_server(control: socket.socket) -> None:
    """Fork kernels from the server of another process."""
    _warm[ServerKind()] = Server(control)


def start_warm(request: Request, kind: ServerKind, files: WorkingFiles, seconds: float) -> Started:
    """Fork a kernel from this process's server, which is launched if necessary.

    Raises:
        StartFailed: all tries have failed.
    """
    for _ in range(_TRIES - 1):  # the first may find that the server has ended, and the second may report it
        with contextlib.suppress(StartFailed):
            return _start_warm(request, kind, files, seconds)
    return _start_warm(request, kind, files, seconds)


def _start_warm(request: Request, kind: ServerKind, files: WorkingFiles, seconds: float) -> Started:
    try:
        server = warm_server(kind)
    except OSError as error:
        raise StartFailed(f"the system could not start a server: {error.strerror or error}") from error
    try:
        started = server.start_kernel(request, files, seconds)
    except ServerGone:
        with _launching:
            if _warm.get(kind) is server:  # else another thread has closed it
                _warm.pop(kind).close()
        raise
    server.has_started_one = True
    return started


def warm_start_works(kind: ServerKind) -> bool:
    """Whether this process's server has started a kernel, or comes from another process."""
    server = _warm.get(kind)
    return server is not None and (server.has_started_one or server.process is None)


def start_cold(request: Request, view: View, files: WorkingFiles, seconds: float) -> Started:
    """Start a kernel in a new sandbox.

    Raises:
        StartFailed: the kernel failed to start.
    """
    try:
        server = Server.launch("cold", request["scratch"], view=view)
    except OSError as error:
        raise StartFailed(f"the system could not start a sandbox: {error.strerror or error}") from error
    try:
        started = server.start_kernel(request, files, seconds)
    except StartFailed:
        server.close()
        raise
    started.wrapper = server.process
    return started


def _share() -> None:
    """After a fork, in the child: take kernels from the servers of the parent, which it must not end."""
    global _launching
    _launching = threading.Lock()
    for kind, server in list(_warm.items()):
        _warm[kind] = Server(server.control)


os.register_at_fork(after_in_child=_share)


@atexit.register
def stop_servers() -> None:
    """End this process's servers."""
    while _warm:
        _warm.popitem()[1].close()


def _pid_of(pidfd: int) -> int:
    for line in Path(f"/proc/self/fdinfo/{pidfd}").read_text().splitlines():
        if line.startswith("Pid:"):
            return int(line.split()[1])
    raise StartFailed("the kernel's process id is not visible here")
