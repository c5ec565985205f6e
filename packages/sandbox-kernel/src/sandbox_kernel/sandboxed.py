"""A kernel in the sandbox, for jupyter_client: any program that starts kernels can use it by name."""

import asyncio
import contextlib
import logging
import os
import select
import signal
from typing import Any

from traitlets import Bool, Integer, List, Unicode

from sandbox_kernel import bubblewrap, cgroup, users
from sandbox_kernel.inside.places import RUN
from sandbox_kernel.start import (
    MODULES,
    SCRATCH,
    Started,
    StartFailed,
    cold_because,
    start_cold,
    start_warm,
    warm_start_works,
)
from sandbox_kernel.usage import family_of
from sandbox_kernel.watched import MEBIBYTE, WatchedProvisioner

_log = logging.getLogger(__name__)
_WAIT_SECONDS = 0.005
_PORTS = ("shell_port", "iopub_port", "stdin_port", "control_port", "hb_port")


class SandboxProvisioner(WatchedProvisioner):
    """Starts the kernel inside bubblewrap, with unix sockets that lie inside as well.

    This side reaches them through /proc/<pid>/root, so the kernel can write into no folder of the host.
    """

    warm = Bool(True, help="fork kernels from a server that has imported `modules`").tag(config=True)
    modules = List(
        Unicode(),
        MODULES,
        help="what a warm kernel has imported already; what is not installed is left out",
    ).tag(config=True)
    scratch_limit = Integer(SCRATCH, help="MiB that all files of the kernel may take").tag(config=True)
    file_limit = Integer(256, help="MiB that one file may take").tag(config=True)
    process_limit = Integer(128, help="processes and threads at a time").tag(config=True)
    cpu_limit = Integer(1200, help="seconds of CPU time of one process").tag(config=True)
    open_file_limit = Integer(
        256, help="files that a process may have open, and that may be under way between processes"
    ).tag(config=True)
    signal_limit = Integer(512, help="signals that may be pending, and timers").tag(config=True)
    start_seconds = Integer(300, help="seconds that a start may take").tag(config=True)

    _started: Started | None = None
    _ended = False

    @property
    def has_process(self) -> bool:
        return self._started is not None

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        if not warm_start_works(self.scratch_limit, self.modules):
            bubblewrap.require()
        kwargs.pop("extra_arguments", None)
        return await super().pre_launch(cmd=[], **kwargs)

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> dict[str, Any]:
        connection = {
            "transport": "ipc",
            "ip": f"{RUN}/kernel",
            **{name: number for number, name in enumerate(_PORTS, 1)},
            "key": self.parent.session.key.decode(),
            "signature_scheme": self.parent.session.signature_scheme,
            "kernel_name": self.parent.kernel_name,
        }
        request = {
            "connection": connection,
            "limits": self._limits(),
            "scratch": self.scratch_limit,
            "writable": bubblewrap.writable(),
            "preload": self.preload,
            "environment": self.environment,
        }
        self._started = await asyncio.to_thread(self._start, request)
        self._ended = False
        # what leaves its parent is adopted by the first process of the sandbox: the kernel, or bubblewrap
        wrapper, pidfd = self._started.wrapper, self._started.pidfd
        family = family_of(wrapper.pid if wrapper else self._started.pid, self._started.cgroup)
        self.watch(family, lambda: signal.pidfd_send_signal(pidfd, signal.SIGKILL))
        return connection | {
            "ip": f"/proc/{self._started.pid}/root{RUN}/kernel",
            "key": self.parent.session.key,
        }

    def _start(self, request: dict[str, Any]) -> Started:
        user = users.take() if os.geteuid() == 0 else None
        try:
            started = self._start_somehow(request | {"user": user.number if user else 0})
        except BaseException:
            if user is not None:
                user.release()
            raise
        started.user = user
        if not cgroup.problem():  # before the client connects, so before any of its code runs
            memory = (self.memory_limit + self.scratch_limit) * MEBIBYTE
            started.cgroup = cgroup.cgroups().enclose(started.pid, memory, self.process_limit + 1)
        return started

    def _start_somehow(self, request: dict[str, Any]) -> Started:
        if self.warm and not cold_because:
            try:
                return start_warm(
                    self.scratch_limit, self.modules, request, self.working_files, self.start_seconds
                )
            except StartFailed as failed:
                started = start_cold(self.scratch_limit, request, self.working_files, self.start_seconds)
                if not warm_start_works(self.scratch_limit, self.modules):
                    cold_because.append(str(failed))
                    _log.warning("Kernels start cold, which is slower: %s.", failed)
                return started
        return start_cold(self.scratch_limit, request, self.working_files, self.start_seconds)

    def _limits(self) -> dict[str, int]:
        return {
            "DATA": (self.memory_limit + self.memory_headroom) * MEBIBYTE,
            "FSIZE": self.file_limit * MEBIBYTE,
            "NPROC": self.process_limit,
            "CPU": self.cpu_limit,
            "NOFILE": self.open_file_limit,
            "SIGPENDING": self.signal_limit,
            "MSGQUEUE": 0,
            "CORE": 0,
            "MEMLOCK": 0,
        }

    async def poll(self) -> int | None:
        if self._started is None or self._ended:
            return 1
        if select.select([self._started.pidfd], [], [], 0)[0]:
            self._ended = True
            if self._started.cgroup is not None and cgroup.ran_out_of_memory(self._started.cgroup):
                self.ended_because = (
                    self.ended_because or f"it used more than {self.memory_limit} MiB of memory"
                )
            return 1
        return None

    async def wait(self) -> int | None:
        while await self.poll() is None:
            await asyncio.sleep(_WAIT_SECONDS)
        self._release()
        return 1

    async def send_signal(self, signum: int) -> None:
        if self._started is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._started.pidfd, signum)

    async def kill(self, restart: bool = False) -> None:
        await self.send_signal(signal.SIGKILL)
        while await self.poll() is None:
            await asyncio.sleep(_WAIT_SECONDS)

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
        if started is not None:
            os.close(started.pidfd)
            started.lifeline.close()
            if started.wrapper is not None:
                started.wrapper.wait()
            if started.cgroup is not None:
                cgroup.cgroups().remove(started.cgroup)
            if started.user is not None:
                started.user.release()
