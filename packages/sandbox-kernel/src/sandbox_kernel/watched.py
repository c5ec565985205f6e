"""What every kernel here has, sandboxed or not: limits, files, and a watch on its memory."""

import contextlib
import threading
from collections.abc import Callable

import psutil
from jupyter_client.provisioning import KernelProvisionerBase
from traitlets import Dict, Float, Integer, List, Unicode

from sandbox_kernel.usage import Family, Usage

MEBIBYTE = 2**20


class WatchedProvisioner(KernelProvisionerBase):
    """Settings of a kernel; one that takes too much memory is ended.

    This process's own memory is watched too: a kernel can send data faster than a client reads them.
    """

    memory_limit = Integer(2048, help="MiB of resident memory at which the kernel is ended").tag(config=True)
    memory_headroom = Integer(
        4096, help="MiB beyond memory_limit at which the system refuses a single allocation"
    ).tag(config=True)
    flood_limit = Integer(1024, help="MiB that this process may grow by while it listens to the kernel").tag(
        config=True
    )
    working_files = List(Unicode(), help="files and folders to copy into the working folder").tag(config=True)
    preload = List(
        Unicode(), help="statements that a warm kernel's server has run before the kernel starts"
    ).tag(config=True)
    environment = Dict(
        key_trait=Unicode(), value_trait=Unicode(), help="environment variables of this kernel"
    ).tag(config=True)
    poll_seconds = Float(0.1, help="seconds between two looks at the memory").tag(config=True)

    #: why the kernel was ended; empty if it was not
    ended_because = ""
    _family: Family | None = None
    _watched: threading.Event | None = None

    def usage(self) -> Usage:
        """What the kernel's processes have used so far; nothing before the start."""
        return self._family.usage() if self._family else Usage()

    def watch(self, family: Family, end: Callable[[], None]) -> None:
        """Look at the memory of the kernel's processes from now on, and call `end` if it is too much."""
        self._family = family
        self._watched = threading.Event()
        # a thread, since the client may do nothing else while it waits for a reply
        threading.Thread(target=self._watch, args=(family, end, self._watched), daemon=True).start()

    def stop_watching(self) -> None:
        if self._watched is not None:
            self._watched.set()

    def _watch(self, family: Family, end: Callable[[], None], over: threading.Event) -> None:
        client = psutil.Process()
        before = client.memory_info().rss
        with contextlib.suppress(psutil.Error, OSError):
            while not over.wait(self.poll_seconds):
                limit = self.memory_limit * MEBIBYTE
                if family.memory(limit) > limit:
                    self.ended_because = f"it used more than {self.memory_limit} MiB of memory"
                elif client.memory_info().rss - before > self.flood_limit * MEBIBYTE:
                    self.ended_because = "it sent more data than its client takes"
                if self.ended_because:
                    end()
                    return
