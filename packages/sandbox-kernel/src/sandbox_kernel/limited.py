"""A kernel as an ordinary process of this user: separate and limited, but not sandboxed."""

import asyncio
import contextlib
import os
import resource
from pathlib import Path
from typing import Any

import psutil
from jupyter_client.provisioning import LocalProvisioner

from sandbox_kernel.environment import clean_environment, make_home
from sandbox_kernel.usage import family_of
from sandbox_kernel.watched import MEBIBYTE, WatchedProvisioner


class LimitedProvisioner(WatchedProvisioner, LocalProvisioner):
    """Starts the kernel in a scratch folder of its own, with a clean environment and a memory limit.

    The scratch folder lies beside the connection file, and whoever made that folder removes it.
    """

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        kwargs = await super().pre_launch(**kwargs)
        home = Path(self.parent.connection_file).parent / "home"
        if not home.exists():
            make_home(home, self.working_files)
        return kwargs | {"env": clean_environment(home) | self.environment, "cwd": str(home)}

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        info = await super().launch_kernel(cmd, **kwargs)
        if hasattr(resource, "prlimit"):
            ceiling = (self.memory_limit + self.memory_headroom) * MEBIBYTE
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(self.process.pid, resource.RLIMIT_DATA, (ceiling, ceiling))
        self.watch(family_of(self.process.pid), psutil.Process(self.process.pid).kill)
        if self.parent.transport == "ipc":
            await self._sockets_bound(info)
        return info

    async def _sockets_bound(self, info: dict[str, Any]) -> None:
        paths = [f"{info['ip']}-{port}" for name, port in info.items() if name.endswith("_port")]
        while await self.poll() is None and not all(map(os.path.exists, paths)):
            await asyncio.sleep(self.poll_seconds / 10)

    async def cleanup(self, restart: bool = False) -> None:
        self.stop_watching()
        await super().cleanup(restart=restart)
