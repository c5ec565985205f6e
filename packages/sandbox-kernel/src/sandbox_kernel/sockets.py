"""The addresses of a kernel's sockets, which code in the kernel can't change."""

import os
import stat

from sandbox_kernel.folders import HeldFolder
from sandbox_kernel.inside.places import RUN

#: the numbers that stand for ports in the addresses
PORTS = {
    name: number
    for number, name in enumerate(("shell_port", "iopub_port", "stdin_port", "control_port", "hb_port"), 1)
}
#: what a kernel's connection file calls its address
INSIDE = f"{RUN}/kernel"


class NotSockets(OSError):
    """What the kernel has bound isn't there."""


class HeldSockets:
    """The sockets that a kernel has bound, found by name once, before it sees a file of its user.

    Clients connect, and reconnect, through links in a folder of this process to what was found: whatever takes a
    socket's name later is never opened. `address` is the `ip` of jupyter_client, for the transport "ipc".

    Args:
        pid: the kernel's process, outside the sandbox.

    Raises:
        OSError: a socket isn't there.
    """

    def __init__(self, pid: int) -> None:
        self._folder = HeldFolder("sandbox-kernel-")
        self._found: list[int] = []
        try:
            for number in PORTS.values():
                self._hold(f"/proc/{pid}/root{INSIDE}-{number}", number)
            self._found.append(os.open(self._folder.path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC))
        except OSError:
            self.close()
            raise
        #: short, wherever the folder is: a socket's path may have 107 characters. It is another one after a restart
        self.address = f"/proc/{os.getpid()}/fd/{self._found[-1]}/{self._folder.path.name}"

    def _hold(self, path: str, number: int) -> None:
        found = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        self._found.append(found)
        if not stat.S_ISSOCK(os.fstat(found).st_mode):
            raise NotSockets(f"{path} isn't a socket")
        os.symlink(
            f"/proc/{os.getpid()}/fd/{found}", self._folder.path / f"{self._folder.path.name}-{number}"
        )

    def close(self) -> None:
        """Close and remove everything; also in a forked child, where the folder stays."""
        while self._found:
            os.close(self._found.pop())
        self._folder.remove()
