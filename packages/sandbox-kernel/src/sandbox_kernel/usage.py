"""Measures the processes of a kernel: CPU time, time spent waiting for a CPU, memory."""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

_PROC = "/proc"
_BLOCK = 1 << 16
_TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_PAGE = os.sysconf("SC_PAGESIZE") if hasattr(os, "sysconf") else 4096
#: fields of /proc/<pid>/stat after the name: times of the process and of its children that have ended
_TIMES = slice(11, 15)


@dataclass(frozen=True)
class Usage:
    """Seconds that a kernel's processes have used since they started.

    `queued` is the time in which they were ready to run but other processes had the CPU; None if the system
    doesn't report it.
    """

    cpu: float = 0.0
    queued: float | None = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        queued = None if self.queued is None or other.queued is None else self.queued + other.queued
        return Usage(self.cpu + other.cpu, queued)


def time_in_this_thread() -> Usage:
    """The seconds that the calling thread has run or waited for a CPU, all as `queued`: others had to wait for it."""
    try:
        running, waiting = _read(f"{_PROC}/thread-self/schedstat").split()[:2]
    except (OSError, ValueError):
        return Usage(0.0, None)
    return Usage(0.0, (int(running) + int(waiting)) / 1e9)


class LinuxFamily:
    """A process and all its descendants, by /proc; see proc(5).

    The kernel (or bubblewrap) is the first process of its namespace, so it adopts orphans. The time of a child that
    no process waited for is lost when it ends, unless a cgroup counts it.
    """

    def __init__(self, pid: int, cgroup: Path | None = None) -> None:
        self._pid = pid
        self._cgroup = cgroup
        self._cpu = self._queued = 0.0

    def usage(self) -> Usage:
        """Return the time used so far; it never decreases."""
        ticks, queued, known = 0, 0, False
        for process in self._members():
            with contextlib.suppress(OSError, ValueError):
                after_name = _read(f"{process}/stat").rpartition(")")[2].split()
                ticks += sum(map(int, after_name[_TIMES]))
                for task in os.listdir(f"{process}/task"):
                    queued += int(_read(f"{process}/task/{task}/schedstat").split()[1])
                    known = True
        self._cpu = max(self._cpu, ticks / _TICK, self._cgroup_seconds())
        self._queued = max(self._queued, queued / 1e9)
        return Usage(self._cpu, self._queued if known or self._queued else None)

    def _cgroup_seconds(self) -> float:
        with contextlib.suppress(OSError, ValueError):
            for line in (self._cgroup / "cpu.stat").read_text().splitlines() if self._cgroup else ():
                if line.startswith("usage_usec "):
                    return int(line.split()[1]) / 1e6
        return 0.0

    def memory(self, limit: int) -> int:
        """Return the resident bytes. Shared pages count once if the plain sum exceeds `limit`."""
        members = list(self._members())
        used = sum(map(_resident, members))
        return used if used <= limit else sum(map(_proportional, members))

    def _members(self) -> Iterator[str]:
        """The folders of the processes in /proc."""
        todo = [str(self._pid)]
        while todo:
            process = f"{_PROC}/{todo.pop()}"
            yield process
            with contextlib.suppress(OSError):  # it has just ended
                for task in os.listdir(f"{process}/task"):
                    with contextlib.suppress(OSError):
                        todo += _read(f"{process}/task/{task}/children").split()


def _read(path: str) -> str:
    """The text of a file in /proc. This is asked hundreds of times for a submission, and `Path.read_text` takes three times as long."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return b"".join(iter(lambda: os.read(file, _BLOCK), b"")).decode(errors="replace")
    finally:
        os.close(file)


def _resident(process: str) -> int:
    with contextlib.suppress(OSError, ValueError):
        return int(_read(f"{process}/statm").split()[1]) * _PAGE
    return 0


def _proportional(process: str) -> int:
    """Return the resident bytes, with each shared page divided by the number of processes that share it."""
    with contextlib.suppress(OSError, ValueError):
        for line in _read(f"{process}/smaps_rollup").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return _resident(process)


class PortableFamily:
    """A process and all its descendants, without /proc: the time in the queue is unknown."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._cpu = 0.0

    def usage(self) -> Usage:
        found = 0.0
        for member in self._members():
            with contextlib.suppress(psutil.Error):
                times = member.cpu_times()
                found += times.user + times.system
        self._cpu = max(self._cpu, found)
        return Usage(self._cpu, None)

    def memory(self, limit: int) -> int:
        used = 0
        for member in self._members():
            with contextlib.suppress(psutil.Error):
                used += member.memory_info().rss
        return used

    def _members(self) -> list[psutil.Process]:
        with contextlib.suppress(psutil.Error):
            return [self._process, *self._process.children(recursive=True)]
        return []


Family = LinuxFamily | PortableFamily


def family_of(pid: int, cgroup: Path | None = None) -> Family:
    """Return the family of a process; `cgroup` is its own cgroup, if it has one."""
    return LinuxFamily(pid, cgroup) if os.path.exists(f"{_PROC}/{pid}/stat") else PortableFamily(pid)
