"""A cgroup for each kernel, where the host has version 2 and lets this program make some; see cgroups(7).

It bounds what resource limits can't: memory in the buffers of pipes and sockets, and the kernel's share of the
processor however many processes it has. Without it kernels run all the same.
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
#: other cgroups of the host have 100, so the program gets twice the share of one of its kernels
_WEIGHT = 50
_REMOVE_SECONDS = 0.5
_REMEDY = "start the program by `systemd-run --user --scope --property=Delegate=yes …`"


class NoCgroups(Exception):
    """Kernels get no cgroup here; the message says why."""


class Cgroups:
    """The cgroups that this process may make.

    Args:
        mount: where version 2 is mounted.
        own: this process's cgroup, as /proc/self/cgroup names it.
        managed: whether systemd owns the whole tree, so that only what it has delegated may be changed.

    Raises:
        NoCgroups: there are none to be made.
    """

    def __init__(self, mount: Path, own: str, managed: bool) -> None:
        folder = mount / own.strip("/")
        if folder.name == _OWN:  # another process of this program was here first
            folder = folder.parent
        if not (folder / "cgroup.procs").exists():
            raise NoCgroups(f"{folder}, this program's cgroup, can't be seen")
        self._delegated = _is_delegated(folder, mount) or (_is_root(folder) and not managed)
        self._folder = folder
        present = _words(folder / "cgroup.controllers")
        self.controllers = [name for name in _WANTED if name in present]
        self._left: list[Path] = []
        if not self.controllers:
            raise NoCgroups("version 2 of cgroups has no controllers here, they belong to version 1")
        if not self._delegated:
            raise NoCgroups(f"{folder} isn't delegated to this program: {_REMEDY}")
        try:
            self._enable()
        except OSError as error:
            raise NoCgroups(f"{folder} can't be changed ({error.strerror}): {_REMEDY}") from error

    @property
    def folder(self) -> Path:
        """Where the cgroups of kernels are."""
        return self._folder

    def _enable(self) -> None:
        """Enable the controllers for children of this program's cgroup, which must then hold no process itself."""
        control = self._folder / "cgroup.subtree_control"
        missing = set(self.controllers) - _words(control)
        if not missing:
            return
        words = " ".join(f"+{name}" for name in sorted(missing))
        try:
            control.write_text(words)
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            own = self._folder / _OWN
            own.mkdir(exist_ok=True)
            for pid in sorted(_words(self._folder / "cgroup.procs")):
                with contextlib.suppress(ProcessLookupError):
                    (own / "cgroup.procs").write_text(pid)
            control.write_text(words)

    def enclose(self, pid: int, memory: int, processes: int) -> Path | None:
        """Put a kernel into a cgroup of its own; None if that fails.

        Args:
            pid: its process, whose children begin in the same cgroup.
            memory: bytes that all of it may take, files in memory included.
            processes: processes and threads.
        """
        path = self._folder / f"{_KERNEL}{os.getpid()}-{pid}"
        values = {
            **{"memory.max": memory, "memory.swap.max": 0, "memory.oom.group": 1},
            **{"pids.max": processes, "cpu.weight": _WEIGHT},
        }
        try:
            path.mkdir()
            for name, value in values.items():
                if name.split(".")[0] in self.controllers:
                    with contextlib.suppress(FileNotFoundError):  # memory.swap.max, without swap
                        _write(path / name, value)
            _write(path / "cgroup.procs", pid)
        except OSError:
            self.remove(path)
            return None
        return path

    def remove(self, path: Path) -> None:
        """End whatever is left in a kernel's cgroup, and take it away; at the next try if not at this one."""
        with contextlib.suppress(OSError):
            _write(path / "cgroup.kill", 1)
        until = time.monotonic() + _REMOVE_SECONDS
        while not self._removed(path) and time.monotonic() < until:
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
    """Those of this machine.

    Raises:
        NoCgroups: there are none to be made.
    """
    mount, own = _mount(), _own("self")
    if mount is None or own is None:
        raise NoCgroups("this system has no cgroups of version 2")
    return Cgroups(mount, own, managed=Path("/run/systemd/system").exists())


@cache
def problem() -> str:
    """Why kernels have no cgroup of their own here, in one sentence; empty if they have."""
    try:
        cgroups()
    except NoCgroups as none:
        return str(none)
    return ""


def cgroup_path(pid: int) -> Path | None:
    """The folder of a kernel's own cgroup, with `cpu.stat` in it; None if it has none."""
    mount, own = _mount(), _own(pid)
    if mount is None or own is None or not Path(own).name.startswith(_KERNEL):
        return None
    path = mount / own.strip("/")
    return path if path.exists() else None


def ran_out_of_memory(path: Path) -> bool:
    """Whether the system ended processes of the cgroup because it had reached its bound."""
    with contextlib.suppress(OSError, ValueError):
        for line in (path / "memory.events").read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1]) > 0
    return False


@cache
def _mount() -> Path | None:
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/mountinfo").read_text().splitlines():
            before, _, after = line.partition(" - ")
            if after.startswith("cgroup2 "):
                return Path(before.split()[4])
    return None


def _own(pid: int | str) -> str | None:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
            if line.startswith("0::/") and not line.startswith("0::/.."):
                return line.removeprefix("0::")
    return None


def _is_root(folder: Path) -> bool:
    """Whether it is the top of the whole tree, which alone has no type."""
    return not (folder / "cgroup.type").exists()


def _is_delegated(folder: Path, mount: Path) -> bool:
    """Whether systemd has marked it so, or it is the top of a container's tree."""
    for name in ("user.delegate", "trusted.delegate"):
        with contextlib.suppress(OSError):
            if os.getxattr(folder, name) == b"1":
                return True
    return folder == mount and not _is_root(folder)


def _words(path: Path) -> set[str]:
    return set(path.read_text().split()) if path.exists() else set()


def _write(path: Path, value: int) -> None:
    """Into a file that is there already: the system makes them, with the folder."""
    with open(path, "r+") as file:
        file.write(str(value))
