"""The provisioner of kernels in the sandbox, which jupyter_client calls to start, signal and end them."""

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.kernelspec import NoSuchKernel
from traitlets import Bool, Integer, List, Unicode

from sandbox_kernel import bubblewrap, cgroup, users
from sandbox_kernel.environment import clean_environment
from sandbox_kernel.inside.places import HOME, SETTINGS, Request
from sandbox_kernel.kernelspec import KernelCommand, command_of
from sandbox_kernel.sockets import INSIDE, PORTS
from sandbox_kernel.start import (
    MODULES,
    SCRATCH,
    ServerKind,
    cold_because,
    start_cold,
    start_warm,
    warm_start_works,
)
from sandbox_kernel.started import Started, StartFailed, go_on, hold_sockets, is_readable
from sandbox_kernel.threads import in_thread
from sandbox_kernel.usage import family_of
from sandbox_kernel.view import View, python_view
from sandbox_kernel.watched import MIB, WatchedProvisioner

_log = logging.getLogger(__name__)
_WAIT_SECONDS = 0.005


class SandboxProvisioner(WatchedProvisioner):
    """Starts a kernel inside bubblewrap. Its unix sockets are inside as well.

    They are opened through /proc/<pid>/root (see `HeldSockets`), so the kernel can write to no folder of the host.
    """

    warm = Bool(True, help="fork kernels from a server that has already imported `modules`").tag(config=True)
    cold_fallback = Bool(
        True,
        help="start a kernel cold where forking one is impossible or fails; if False, it doesn't start then",
    ).tag(config=True)
    modules = List(
        Unicode(),
        MODULES,
        help="what the server of warm kernels imports at its start; modules that aren't installed are skipped",
    ).tag(config=True)
    kernelspec = Unicode(
        help="name of the kernelspec to run, cold, instead of ipykernel; empty for ipykernel"
    ).tag(config=True)
    shown = List(Unicode(), help="further files and folders of the host that the kernel sees, read-only").tag(
        config=True
    )
    hidden = List(
        Unicode(),
        help="folders that the kernel never sees, even if Python imports from them; SANDBOX_KERNEL_HIDDEN adds more",
    ).tag(config=True)
    scratch_limit = Integer(
        SCRATCH,
        min=1,
        help="MiB that all files of the kernel may take; in a cold kernel, in each of its four writable folders",
    ).tag(config=True)
    file_limit = Integer(256, min=1, help="MiB that one file may take").tag(config=True)
    process_limit = Integer(128, min=16, help="number of processes and threads").tag(config=True)
    cpu_limit = Integer(1200, min=1, help="seconds of CPU time for each process").tag(config=True)
    open_file_limit = Integer(
        256, min=64, help="open files of each process, and files in flight between processes"
    ).tag(config=True)
    signal_limit = Integer(512, min=16, help="number of pending signals and timers").tag(config=True)
    start_seconds = Integer(300, min=1, help="seconds that the start of a kernel may take").tag(config=True)

    #: why this kernel was started cold although `warm` is set; empty if it wasn't
    cold_because = ""
    _command: KernelCommand | None = None
    _view = View()
    _started: Started | None = None
    _ended = False

    @property
    def has_process(self) -> bool:
        return self._started is not None

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        await in_thread(self._look)  # it starts Python
        kwargs.pop("extra_arguments", None)
        return await super().pre_launch(cmd=[], **kwargs)

    def _look(self) -> None:
        """Find out which files the kernel sees, and what it runs.

        Raises:
            SandboxError: the sandbox doesn't work, there is no such kernelspec, or its program isn't installed.
        """
        self._view = python_view(sys.executable, self.shown, self.hidden)
        if not warm_start_works(self._server_kind):
            bubblewrap.require_sandbox()
        if self.kernelspec:
            self._take_kernelspec()

    @property
    def _server_kind(self) -> ServerKind:
        return ServerKind(self.scratch_limit, tuple(self.modules), self._view)

    def _take_kernelspec(self) -> None:
        try:
            spec = self._manager.kernel_spec_manager.get_kernel_spec(self.kernelspec)
        except NoSuchKernel:
            raise bubblewrap.SandboxError(
                f"the kernelspec `{self.kernelspec}` is not installed: `jupyter kernelspec list` shows those that are"
            ) from None
        self._command = command_of(
            self.kernelspec, spec, clean_environment(Path(HOME), Path(SETTINGS)), self.hidden
        )
        self._view = self._view.with_paths_of(self._command.view)
        self.kernel_spec.interrupt_mode = spec.interrupt_mode  # the manager looks there

    async def launch_kernel(
        self, cmd: list[str], pass_fds: Sequence[int] = (), **kwargs: Any
    ) -> KernelConnectionInfo:
        session = self._manager.session
        connection: dict[str, Any] = {
            "transport": "ipc",
            "ip": INSIDE,
            **PORTS,
            "key": session.key.decode(),
            "signature_scheme": session.signature_scheme,
            "kernel_name": self.kernelspec or self._manager.kernel_name,
        }
        command = self._command
        self._started = started = await in_thread(
            self._start,
            Request(
                connection=connection,
                argv=command.argv if command else [],
                code=self.code,
                limits=self._limits(),
                scratch=self.scratch_limit,
                writable=list(bubblewrap.WRITABLE),
                kept=bubblewrap.kept_folders(self._view),
                preload=self.preload,
                environment=(command.environment if command else {}) | self.environment,
                inherited=list(pass_fds),
                user=0,
            ),
        )
        self._ended = False
        address = await self._go_on(started)
        # orphans are adopted by the first process of the sandbox: the kernel or bubblewrap
        first = started.wrapper.pid if started.wrapper else started.pid
        self.watch(
            family_of(first, started.cgroup),
            lambda: signal.pidfd_send_signal(started.pidfd, signal.SIGKILL),
        )
        outside = {"ip": address, "key": session.key}
        return cast(KernelConnectionInfo, connection | outside)

    def _start(self, request: Request) -> Started:
        user = users.take_user() if os.geteuid() == 0 else None
        try:
            started = self._start_warm_or_cold({**request, "user": user.number if user else 0})
        except BaseException:
            if user is not None:
                user.release()
            raise
        started.user = user
        if not cgroup.cgroups_problem():  # before the client connects, so before any of its code runs
            memory = (self.memory_limit + self.scratch_limit) * MIB
            started.cgroup = cgroup.cgroups().enclose(started.pid, memory, self.process_limit + 1)
        return started

    async def _go_on(self, started: Started) -> str:
        """Let the kernel see its files, once its sockets are open here; returns their address, if there are any."""
        try:
            if not self.code:
                hold_sockets(started)
            await in_thread(go_on, started, self.start_seconds)
        except StartFailed as failed:
            await self.cleanup()
            if not self.kernelspec:
                raise
            raise StartFailed(f"the kernel of `{self.kernelspec}` failed to start: {failed}") from None
        return started.sockets.address if started.sockets else INSIDE

    def _start_warm_or_cold(self, request: Request) -> Started:
        self.cold_because = ""
        if self._command is not None or not self.warm:
            return start_cold(request, self._view, self._files, self.start_seconds)
        if cold_because and self.cold_fallback:
            self.cold_because = cold_because[0]
            return start_cold(request, self._view, self._files, self.start_seconds)
        try:
            return start_warm(request, self._server_kind, self._files, self.start_seconds)
        except StartFailed as failed:
            if not self.cold_fallback:
                if warm_start_works(self._server_kind):
                    raise
                raise bubblewrap.SandboxError(
                    f"kernels can't be forked here ({failed}), and the setting `cold_fallback` is False"
                ) from failed
            self.cold_because = str(failed)
            started = start_cold(request, self._view, self._files, self.start_seconds)
            if not warm_start_works(self._server_kind):
                cold_because.append(str(failed))
                _log.warning("Kernels start cold, which is slower: %s.", failed)
            return started

    def _limits(self) -> dict[str, int]:
        return {
            "DATA": self._data_limit,
            "FSIZE": self.file_limit * MIB,
            "NPROC": self.process_limit,
            "CPU": self.cpu_limit,
            "NOFILE": self.open_file_limit,
            "SIGPENDING": self.signal_limit,
            "MSGQUEUE": 0,
            "CORE": 0,
            "MEMLOCK": 0,
        }

    def open_home(self) -> int | None:
        if self._started is None:
            return None
        try:
            home = os.open(
                f"/proc/{self._started.pid}/root{HOME}", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
            )
        except OSError:
            return None
        if is_readable(self._started.pidfd):  # the number may belong to another process by now
            os.close(home)
            return None
        return home

    async def poll(self) -> int | None:
        if self._started is None or self._ended:
            return 1
        if not is_readable(self._started.pidfd):
            return None
        self._ended = True
        if self._started.cgroup is not None and cgroup.ran_out_of_memory(self._started.cgroup):
            self.ended_because = self.ended_because or self._too_much_memory
        return 1

    async def _wait_for_end(self) -> None:
        while await self.poll() is None:
            await asyncio.sleep(_WAIT_SECONDS)

    async def wait(self) -> int | None:
        await self._wait_for_end()
        self._release()
        return 1

    async def send_signal(self, signum: int) -> None:
        if self._started is not None:
            with contextlib.suppress(ProcessLookupError):
                if self._command is not None and signum == signal.SIGINT and await self.poll() is None:
                    os.killpg(self._started.pid, signum)  # some kernels compute in a child process
                else:
                    signal.pidfd_send_signal(self._started.pidfd, signum)

    async def kill(self, restart: bool = False) -> None:
        await self.send_signal(signal.SIGKILL)
        await self._wait_for_end()

    async def terminate(self, restart: bool = False) -> None:
        await self.send_signal(signal.SIGTERM)

    async def cleanup(self, restart: bool = False) -> None:
        self.stop_watching()
        if self._started is not None:
            await self.kill()
            await self.wait()

    def _release(self) -> None:
        self.stop_watching()
        started, self._started = self._started, None
        if started is None:
            return
        os.close(started.pidfd)
        started.let_go()
        if started.wrapper is not None:
            started.wrapper.kill()  # bubblewrap waits for a supervisor that the kernel may have stopped
            started.wrapper.wait()
        if started.cgroup is not None:
            cgroup.cgroups().remove(started.cgroup)
        if started.user is not None:
            started.user.release()
