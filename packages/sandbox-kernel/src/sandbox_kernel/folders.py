"""Temporary folders that the next program removes if the one that made them was killed."""

import atexit
import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
import threading
from pathlib import Path

_SUFFIX = ".held"
_swept: set[tuple[str, str]] = set()
_sweeping = threading.Lock()


class HeldFolder:
    """A private temporary folder, removed by `remove`, or after the death of this process by the next one.

    A lock on the folder says that its owner is alive. The first folder of a kind that a process makes has it remove those
    of the same kind whose owners have ended.

    Args:
        kind: the beginning of the folder's name.
        parent: where to make it, instead of the system's folder for temporary files.
    """

    def __init__(self, kind: str, parent: Path | None = None) -> None:
        with _sweeping:
            where = (str(parent or tempfile.gettempdir()), kind)
            if where not in _swept:
                _swept.add(where)
                _remove_abandoned(*where)
        self._owner = os.getpid()
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=kind, suffix=_SUFFIX, dir=parent))
            self._lock = _lock(self.path)
            if (
                self._lock >= 0 and self.path.exists()
            ):  # else another process has just taken it for an abandoned one
                break
            _close(self._lock)
        _held.add(self)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.remove()

    def remove(self) -> None:
        """Remove the folder, unless this process only inherited it by a fork."""
        if self._owner == os.getpid():
            shutil.rmtree(self.path, ignore_errors=True)
        self.let_go()

    def let_go(self) -> None:
        """Close this process's lock."""
        _close(self._lock)
        self._lock = -1
        _held.discard(self)


_held: set[HeldFolder] = set()


def _remove_abandoned(parent: str, kind: str) -> None:
    with contextlib.suppress(OSError):
        for path in Path(parent).glob(f"{kind}*{_SUFFIX}"):
            lock = _lock(path)
            if lock >= 0:
                shutil.rmtree(path, ignore_errors=True)
                _close(lock)


def _lock(path: Path) -> int:
    """Open and lock a folder of this user; -1 if it isn't one, or another process has locked it."""
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return -1
    found = os.fstat(folder)
    try:
        if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
            raise PermissionError
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(folder)
        return -1
    return folder


def _close(descriptor: int) -> None:
    if descriptor >= 0:
        os.close(descriptor)


def _after_fork() -> None:
    """A child must not keep the folders of a parent that is killed."""
    global _sweeping
    _sweeping = threading.Lock()
    for folder in list(_held):
        folder.let_go()


os.register_at_fork(after_in_child=_after_fork)


@atexit.register
def _remove_all() -> None:
    for folder in list(_held):
        folder.remove()
