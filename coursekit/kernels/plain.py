"""A student kernel as an ordinary process of this user: separate and limited, but not sandboxed."""

import asyncio
import contextlib
import resource
from pathlib import Path
from typing import Any

import psutil
from jupyter_client.provisioning import LocalProvisioner
from traitlets import Float, Integer, List, Unicode

from coursekit.kernels.environment import clean_environment, make_home

MEBIBYTE = 2**20


class PlainProvisioner(LocalProvisioner):
    """Starts the kernel in a scratch folder of its own, with a clean environment and a memory limit.

    The scratch folder lies beside the connection file, and whoever made that folder removes it.
    """

    memory_limit = Integer(2048, help="MiB of resident memory at which the kernel is ended").tag(config=True)
    memory_headroom = Integer(
        4096, help="MiB beyond memory_limit at which the system refuses a single allocation"
    ).tag(config=True)
    working_files = List(Unicode(), help="files and folders to copy into the working folder").tag(config=True)
    poll_seconds = Float(0.1, help="seconds between two looks at the kernel's memory").tag(config=True)

    #: True once the kernel was ended because it went past `memory_limit`.
    memory_exceeded = False
    _watcher: asyncio.Task | None = None

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        kwargs = await super().pre_launch(**kwargs)
        home = Path(self.parent.connection_file).parent / "home"
        if not home.exists():
            make_home(home, self.working_files)
        return kwargs | {"env": clean_environment(home), "cwd": str(home)}

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        info = await super().launch_kernel(cmd, **kwargs)
        if hasattr(resource, "prlimit"):
            ceiling = (self.memory_limit + self.memory_headroom) * MEBIBYTE
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(self.process.pid, resource.RLIMIT_DATA, (ceiling, ceiling))
        self._watcher = asyncio.ensure_future(self._watch_memory(self.process.pid))
        return info

    async def cleanup(self, restart: bool = False) -> None:
        if self._watcher is not None:
            self._watcher.cancel()
        await super().cleanup(restart=restart)

    async def _watch_memory(self, pid: int) -> None:
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(pid)
            while True:
                family = [process, *process.children(recursive=True)]
                used = 0
                for member in family:
                    with contextlib.suppress(psutil.Error):
                        used += member.memory_info().rss
                if used > self.memory_limit * MEBIBYTE:
                    self.memory_exceeded = True
                    await self.kill()
                    return
                await asyncio.sleep(self.poll_seconds)
