"""Kernels without a sandbox: the settings that all kernels share, a watch on their memory, and limited kernels."""

import asyncio
import contextlib
import os
import resource
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import psutil
from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.manager import KernelManager
from jupyter_client.provisioning.local_provisioner import LocalProvisioner
from jupyter_client.provisioning.provisioner_base import KernelProvisionerBase
from traitlets import Dict, Float, Integer, List, TraitError, Unicode, validate

from sandbox_kernel.environment import FIXED, WorkingFiles, clean_environment, make_home, make_settings
from sandbox_kernel.folders import HeldFolder
from sandbox_kernel.started import StartFailed
from sandbox_kernel.usage import Family, Usage, family_of
from sandbox_kernel.view import python_view

MIB = 2**20


class WatchedProvisioner(KernelProvisionerBase):
    """Settings that all kernels share, and a thread that ends a kernel that uses too much memory.

    The client's memory is watched too, since a kernel can send data faster than the client reads it.
    """

    memory_limit = Integer(
        2048, min=64, help="MiB of resident memory for all processes of the kernel; above this, it is ended"
    ).tag(config=True)
    memory_headroom = Integer(
        4096,
        min=0,
        help="MiB of address space beyond memory_limit; above this, an allocation raises MemoryError",
    ).tag(config=True)
    flood_limit = Integer(
        1024, min=1, help="MiB that the client's own memory may grow by; above this, the kernel is ended"
    ).tag(config=True)
    working_files = List(Unicode(), help="files and folders to copy into the kernel's home folder").tag(
        config=True
    )
    left_out = List(
        Unicode(),
        help="patterns of names, such as `*.pyc`; matching files in the folders of `working_files` are not copied",
    ).tag(config=True)
    preload = List(
        Unicode(),
        help="Python statements that the server runs once, before it forks the kernel; only warm kernels use it",
    ).tag(config=True)
    code = Unicode(
        help="Python code to run after `preload` instead of a kernel: a process without messages, which only has the "
        "descriptors that it inherits (`pass_fds`); empty for a kernel"
    ).tag(config=True)
    environment = Dict(
        key_trait=Unicode(),
        value_trait=Unicode(),
        help="environment variables to add or replace; HOME, TMPDIR and PATH are refused",
    ).tag(config=True)
    poll_seconds = Float(0.1, min=0.01, help="seconds between two checks of the memory").tag(config=True)

    #: why the kernel was ended, to follow "the kernel was ended because"; empty if it was not
    ended_because = ""
    _family: Family | None = None
    _stop_watching: threading.Event | None = None

    @validate("environment")
    def _has_no_fixed_variable(self, proposal: Any) -> dict[str, str]:
        fixed = sorted(FIXED & proposal["value"].keys())
        if fixed:
            raise TraitError(
                f"`environment` can't replace {', '.join(fixed)}: list only the variables that the kernel needs, "
                "not a copy of os.environ"
            )
        return cast(dict[str, str], proposal["value"])

    @property
    def _files(self) -> WorkingFiles:
        """The settings, with `~` expanded.

        Raises:
            StartFailed: a file doesn't exist.
        """
        paths = [os.path.expanduser(path) for path in self.working_files]
        for path in paths:
            if not os.path.exists(path):
                raise StartFailed(f"`working_files`: {os.path.abspath(path)} does not exist")
        return WorkingFiles(paths, self.left_out)

    @property
    def _manager(self) -> KernelManager:
        assert self.parent is not None, "jupyter_client passes itself as the parent"
        return cast(KernelManager, self.parent)

    def usage(self) -> Usage:
        """Return the CPU time that the kernel's processes have used so far; zero before the start."""
        return self._family.usage() if self._family else Usage()

    def open_home(self) -> int | None:
        """Return a descriptor of the kernel's home folder, which the caller has to close; None if there is none now.

        What the kernel runs may change any name in it at any time: open files by this descriptor, and follow no links.
        """
        return None

    def watch(self, family: Family, end: Callable[[], None]) -> None:
        """Watch the memory of the kernel's processes from now on, and call `end` if they use too much."""
        self._family = family
        self.ended_because = ""  # jupyter_client restarts a kernel with the same provisioner
        self._stop_watching = threading.Event()
        # a thread, since the client may be blocked while it waits for a reply
        threading.Thread(target=self._watch, args=(family, end, self._stop_watching), daemon=True).start()

    def stop_watching(self) -> None:
        if self._stop_watching is not None:
            self._stop_watching.set()

    def _watch(self, family: Family, end: Callable[[], None], stop: threading.Event) -> None:
        client = psutil.Process()
        before = client.memory_info().rss
        with contextlib.suppress(psutil.Error, OSError):
            while not stop.wait(self.poll_seconds):
                limit = self.memory_limit * MIB
                reason = ""
                if family.memory(limit) > limit:
                    reason = self._too_much_memory
                elif client.memory_info().rss - before > self.flood_limit * MIB:
                    reason = "it sent more data than its client takes"
                if reason and not stop.is_set():  # else another kernel may have its number by now
                    self.ended_because = reason
                    end()
                    return

    @property
    def _too_much_memory(self) -> str:
        return f"it used more than {self.memory_limit} MiB of memory"

    @property
    def _data_limit(self) -> int:
        return (self.memory_limit + self.memory_headroom) * MIB


class LimitedProvisioner(WatchedProvisioner, LocalProvisioner):
    """Starts a kernel as an ordinary process of this user, with a clean environment and a memory limit: no sandbox.

    It has its own home folder, which is kept over restarts and removed when the kernel is shut down. With the transport
    "ipc", files are copied there once its sockets are bound, so that none of them is imported before.
    """

    _folder: HeldFolder | None = None
    _new_files: WorkingFiles | None = None

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        kwargs = await super().pre_launch(**kwargs)
        if self._folder is None:
            self._new_files = self._files
            self._folder = HeldFolder("limited-kernel-")
            self._home.mkdir(mode=0o700)
            make_settings(self._folder.path / "settings")
            if self._manager.transport != "ipc":
                self._copy_files()
        variables = clean_environment(self._home, self._folder.path / "settings")
        variables |= dict(python_view(sys.executable).variables)
        return kwargs | {"env": variables | self.environment, "cwd": str(self._home)}

    @property
    def _home(self) -> Path:
        assert self._folder is not None
        return self._folder.path / "home"

    def _copy_files(self) -> None:
        files, self._new_files = self._new_files, None
        if files is not None:
            make_home(self._home, files)

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        if self.code:
            cmd = [cmd[0], "-c", "\n".join([*self.preload, self.code])]
        info = await super().launch_kernel(cmd, **kwargs)
        assert self.pid is not None
        process = psutil.Process(self.pid)
        if hasattr(resource, "prlimit"):
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(self.pid, resource.RLIMIT_DATA, (self._data_limit, self._data_limit))
        self.watch(family_of(self.pid), process.kill)
        if self._manager.transport == "ipc":
            if not self.code:
                await self._sockets_bound(dict(info))
            self._copy_files()
        return info

    def open_home(self) -> int | None:
        return os.open(self._home, os.O_RDONLY | os.O_DIRECTORY) if self._folder else None

    async def _sockets_bound(self, info: dict[str, Any]) -> None:
        paths = [f"{info['ip']}-{port}" for name, port in info.items() if name.endswith("_port")]
        while await self.poll() is None and not all(map(os.path.exists, paths)):
            await asyncio.sleep(self.poll_seconds / 10)

    async def cleanup(self, restart: bool = False) -> None:
        self.stop_watching()
        await super().cleanup(restart=restart)
        if self._folder is not None and not restart:
            self._folder.remove()
            self._folder = None
