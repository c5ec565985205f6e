"""A user id for each kernel, where they are started by root: the system counts most of its quotas by user.

An id is taken by a lock on one byte of a file, so two programs on the same machine never use the same id. The
lock ends with the process that holds it.
"""

import fcntl
import grp
import os
import pwd
import random
import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path

#: "nobody": what root's kernels run as where there is no id of their own, since some limits don't hold for root
UNPRIVILEGED = 65534
#: systemd's list of ids assigns this range to nobody (https://systemd.io/UIDS-GIDS)
FIRST, COUNT = 0x70000000, 1 << 16
_LOCKS = Path("/run/sandbox-kernel/users")
_TRIES = 100


@dataclass
class KernelUser:
    """An id that no other kernel has until it is released."""

    number: int
    lock: int = -1

    def release(self) -> None:
        if self.lock >= 0:
            _lock(self.lock, fcntl.F_UNLCK, self.number - FIRST)  # a forked worker may hold a copy of it
            os.close(self.lock)
            self.lock = -1


@cache
def problem() -> str:
    """Why kernels here have no user id of their own, in one sentence; empty if they have."""
    if os.geteuid() != 0:
        return "only root can give each kernel a user id of its own"
    for name in ("uid_map", "gid_map"):
        if not _mapped(Path("/proc/self", name).read_text()):
            return f"the ids from {FIRST} on do not exist in this container"
    try:
        _LOCKS.parent.mkdir(mode=0o700, exist_ok=True)
        os.close(_open_locks())
    except OSError as error:
        return f"{_LOCKS} can't be written ({error.strerror})"
    return ""


def take() -> KernelUser:
    """An id for one kernel: its own if that is possible here, or "nobody". For root only."""
    if problem():
        return KernelUser(UNPRIVILEGED)
    lock = _open_locks()
    # a fresh one each time, since the system may still be clearing up behind the last
    for place in random.sample(range(COUNT), _TRIES):
        if not _in_use(FIRST + place) and _lock(lock, fcntl.F_WRLCK, place):
            return KernelUser(FIRST + place, lock)
    os.close(lock)
    return KernelUser(UNPRIVILEGED)


def _open_locks() -> int:
    return os.open(_LOCKS, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def _lock(file: int, kind: int, place: int) -> bool:
    try:
        # struct flock; a lock of the open file, not of the process
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", kind, os.SEEK_SET, place, 1, 0))
    except OSError:
        return False
    return True


def _in_use(number: int) -> bool:
    """Whether an account or a range of subordinate ids has this number."""
    for known in (lambda: pwd.getpwuid(number), lambda: grp.getgrgid(number)):
        try:
            known()
        except KeyError:
            continue
        return True
    return any(first <= number < first + count for first, count in _subordinate())


@cache
def _subordinate() -> tuple[tuple[int, int], ...]:
    found = []
    for name in ("/etc/subuid", "/etc/subgid"):
        if Path(name).exists():
            rows = (line.split(":") for line in Path(name).read_text().splitlines())
            found += [
                (int(row[1]), int(row[2]))
                for row in rows
                if len(row) == 3 and row[1].isdigit() and row[2].isdigit()
            ]
    return tuple(found)


def _mapped(table: str) -> bool:
    """Whether a uid_map or gid_map has the whole range."""
    rows = [tuple(map(int, line.split())) for line in table.splitlines()]
    return any(first <= FIRST and first + count >= FIRST + COUNT for first, _, count in rows)
