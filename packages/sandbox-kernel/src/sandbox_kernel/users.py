"""A separate user id for each kernel that root starts, since the system counts most of its quotas by user.

An id is reserved by a lock on one byte of a file, so two programs on the same machine never use the same id. The
lock ends with the process that holds it.
"""

import contextlib
import fcntl
import grp
import os
import pwd
import random
import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path

#: root's kernels run as "nobody" if there are no separate ids for them, since some limits don't apply to root
NOBODY = 65534
#: systemd leaves this range unassigned (https://systemd.io/UIDS-GIDS)
FIRST, COUNT = 0x70000000, 1 << 16
_LOCKS = Path("/run/sandbox-kernel/users")
_TRIES = 100


@dataclass
class KernelUser:
    """A user id that no other kernel has until it is released."""

    number: int
    lock: int = -1

    def release(self) -> None:
        if self.lock >= 0:
            _lock(self.lock, fcntl.F_UNLCK, self.number - FIRST)  # closing isn't enough if a fork has a copy
            os.close(self.lock)
            self.lock = -1


@cache
def user_ids_problem() -> str:
    """Return why kernels have no separate user ids here, in one sentence, or an empty string if they do."""
    if os.geteuid() != 0:
        return "only root can give each kernel its own user id"
    for name in ("uid_map", "gid_map"):
        if not _mapped(Path("/proc/self", name).read_text()):
            return f"the ids from {FIRST} on do not exist in this container"
    try:
        _LOCKS.parent.mkdir(mode=0o700, exist_ok=True)
        os.close(_open_locks())
    except OSError as error:
        return f"{_LOCKS} can't be written ({error.strerror})"
    return ""


def take_user() -> KernelUser:
    """Reserve a user id for one kernel, or return "nobody" if that isn't possible. For root only."""
    if user_ids_problem():
        return KernelUser(NOBODY)
    lock = _open_locks()
    # a random one, since the system may still be cleaning up after the last user of an id
    for offset in random.sample(range(COUNT), _TRIES):
        if not _in_use(FIRST + offset) and _lock(lock, fcntl.F_WRLCK, offset):
            return KernelUser(FIRST + offset, lock)
    os.close(lock)
    return KernelUser(NOBODY)


def _open_locks() -> int:
    return os.open(_LOCKS, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def _lock(file: int, kind: int, offset: int) -> bool:
    try:
        # struct flock; the lock belongs to the open file, not to the process
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", kind, os.SEEK_SET, offset, 1, 0))
    except OSError:
        return False
    return True


def _in_use(number: int) -> bool:
    """Whether an account, a group or a range of subordinate ids has this number."""
    for look_up in (pwd.getpwuid, grp.getgrgid):
        with contextlib.suppress(KeyError):
            look_up(number)
            return True
    return any(first <= number < first + count for first, count in _subordinate())


@cache
def _subordinate() -> tuple[tuple[int, int], ...]:
    found: list[tuple[int, int]] = []
    for path in map(Path, ("/etc/subuid", "/etc/subgid")):
        if path.exists():
            rows = [
                line.split(":") for line in path.read_text(encoding="utf-8", errors="replace").splitlines()
            ]
            found += [
                (int(row[1]), int(row[2])) for row in rows if len(row) == 3 and all(map(str.isdigit, row[1:]))
            ]
    return tuple(found)


def _mapped(table: str) -> bool:
    """Whether a uid_map or gid_map contains the whole range."""
    rows = [tuple(map(int, line.split())) for line in table.splitlines()]
    return any(first <= FIRST and first + count >= FIRST + COUNT for first, _, count in rows)
