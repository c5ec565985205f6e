"""A cgroup for each kernel, if the host has cgroups v2 and lets this program create them; see cgroups(7).

Cgroups bound what resource limits can't: memory in the buffers of pipes and sockets, and a kernel's share of the CPU
no matter how many processes it has. Kernels also run without them.
"""

import contextlib
import errno
import os
import time
from functools import cache
from pathlib import Path

_WANTED = ("cpu", "memory", "pids")
_OWN = "sandbox-kernel-host"
_KERNEL = "sandbox-kernel-"
#: the host's other cgroups have 100, so this program gets twice the share of one of its kernels
_WEIGHT = 50
_REMOVE_SECONDS = 0.5
_REMEDY = "start the program with `systemd-run --user --scope --property=Delegate=yes …`"


class NoCgroups(Exception):
    """Kernels get no cgroup here; the message says why."""


class Cgroups:
    """Creates and removes the cgroups of kernels.

    Args:
        mount: where cgroups v2 are mounted.
        own: this process's cgroup, as in /proc/self/cgroup.
        managed: whether systemd owns the tree, so that only delegated parts may be changed.

    Raises:
        NoCgroups: this process may not create cgroups.
    """

    def __init__(self, mount: Path, own: str, managed: bool) -> None:
        folder = mount / own.strip("/")
        if folder.name == _OWN:  # another process of this program has moved us there
            folder = folder.parent
        if not (folder / "cgroup.procs").exists():
            raise NoCgroups(f"{folder}, this program's cgroup, can't be seen")
        #: the parent of the kernels' cgroups
        self.folder = folder
        present = _words(folder / "cgroup.controllers")
        self.controllers = [name for name in _WANTED if name in present]
        self._left: list[Path] = []
        if not self.controllers:
            raise NoCgroups("the controllers belong to cgroups v1 here, and cgroups v2 has none")
        if not (_is_delegated(folder, mount) or (_is_root(folder) and not managed)):
            raise NoCgroups(f"{folder} isn't delegated to this program: {_REMEDY}")
        try:
            self._enable()
        except OSError as error:
            raise NoCgroups(f"{folder} can't be changed ({error.strerror}): {_REMEDY}") from error

    def _enable(self) -> None:
        """Enable the controllers for child cgroups; `folder` itself may then contain no process."""
        control = self.folder / "cgroup.subtree_control"
        missing = set(self.controllers) - _words(control)
        if not missing:
            return
        words = " ".join(f"+{name}" for name in sorted(missing))
        try:
            control.write_text(words)
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            own = self.folder / _OWN
            own.mkdir(exist_ok=True)
            for pid in sorted(_words(self.folder / "cgroup.procs")):
                with contextlib.suppress(ProcessLookupError):
                    (own / "cgroup.procs").write_text(pid)
            control.write_text(words)

    def enclose(self, pid: int, memory: int, processes: int) -> Path | None:
        """Move a kernel into a new cgroup and return its path, or None if that fails.

        Args:
            pid: the kernel's first process; its children will start in the same cgroup.
            memory: total bytes, including files in memory.
            processes: number of processes and threads.
        """
        path = self.folder / f"{_KERNEL}{os.getpid()}-{pid}"
        values = {
            "memory.max": memory,
            "memory.swap.max": 0,
            "memory.oom.group": 1,
            "pids.max": processes,
            "cpu.weight": _WEIGHT,
        }
        try:
            path.mkdir()
            for name, value in values.items():
                if name.split(".")[0] in self.controllers:
                    with contextlib.suppress(FileNotFoundError):  # memory.swap.max on a machine without swap
                        _write(path / name, value)
            _write(path / "cgroup.procs", pid)
        except OSError:
            self.remove(path)
            return None
        return path

    def remove(self, path: Path) -> None:
        """Kill the processes left in a kernel's cgroup and remove it; if that fails, the next call tries again."""
        with contextlib.suppress(OSError):
            _write(path / "cgroup.kill", 1)
        deadline = time.monotonic() + _REMOVE_SECONDS
        while not self._removed(path) and time.monotonic() < deadline:
            time.sleep(0.01)
        self._left = [other for other in [*self._left, path] if not self._removed(other)]

    def _removed(self, path: Path) -> bool:
        with contextlib.suppress(OSError):
            self._rmdir(path)
        return not path.exists()

    def _rmdir(self, path: Path) -> None:
        path.rmdir()


@cache
def cgroups() -> Cgroups:
    """Return the Cgroups of this machine.

    Raises:
        NoCgroups: this process may not create cgroups.
    """
    mount, own = _mount(), _own()
    if mount is None or own is None:
        raise NoCgroups("this system has no cgroups v2")
    return Cgroups(mount, own, managed=Path("/run/systemd/system").exists())


@cache
def cgroups_problem() -> str:
    """Return why kernels have no cgroups here, in one sentence, or an empty string if they do."""
    try:
        cgroups()
    except NoCgroups as none:
        return str(none)
    return ""


def ran_out_of_memory(path: Path) -> bool:
    """Whether the system killed processes of the cgroup because it had reached its memory limit."""
    with contextlib.suppress(OSError, ValueError):
        for line in (path / "memory.events").read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1]) > 0
    return False


def _mount() -> Path | None:
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/mountinfo").read_text().splitlines():
            before, _, after = line.partition(" - ")
            if after.startswith("cgroup2 "):
                return Path(before.split()[4])
    return None


def _own() -> str | None:
    """This process's cgroup."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            if line.startswith("0::/") and not line.startswith("0::/.."):
                return line.removeprefix("0::")
    return None


def _is_root(folder: Path) -> bool:
    """Whether the cgroup is the root of the whole tree, the only one without a type."""
    return not (folder / "cgroup.type").exists()


def _is_delegated(folder: Path, mount: Path) -> bool:
    """Whether systemd has marked the cgroup as delegated, or it is the root of a container's tree."""
    for name in ("user.delegate", "trusted.delegate"):
        with contextlib.suppress(OSError):
            if os.getxattr(folder, name) == b"1":
                return True
    return folder == mount and not _is_root(folder)


def _words(path: Path) -> set[str]:
    return set(path.read_text().split()) if path.exists() else set()


def _write(path: Path, value: int) -> None:
    """Write to a file that the system has created; never create one."""
    with open(path, "r+") as file:
        file.write(str(value))
