"""Makes sure that only one `gradekit watch` runs for a course."""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from gradekit.course import CourseError
from gradekit.course.files import STATE_FOLDER

#: longer than `is_watched` takes
_ASKING_SECONDS = 0.2


@contextlib.contextmanager
def locked(root: Path) -> Iterator[None]:
    """Make sure that no other process watches this course. The lock ends with the process, and forks don't have it.

    Raises:
        CourseError: another process watches it.
    """
    path = root / STATE_FOLDER / "watch.lock"
    path.parent.mkdir(exist_ok=True)
    with path.open("a+") as file:
        found_free = _try_to_lock(file)
        if not found_free:  # `is_watched` may have held it for a moment
            time.sleep(_ASKING_SECONDS)
            found_free = _try_to_lock(file)
        if not found_free:
            file.seek(0)
            raise CourseError(
                f"{root} is already watched by process {file.read().strip()}: end it first, or see what it is doing "
                "with `gradekit watch --status`"
            )
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield


def is_watched(root: Path) -> bool:
    """Whether a process watches the course."""
    try:
        with (root / STATE_FOLDER / "watch.lock").open() as file:
            return not _try_to_lock(file, fcntl.LOCK_SH)
    except FileNotFoundError:
        return False


def _try_to_lock(file: IO[str], kind: int = fcntl.LOCK_EX) -> bool:
    try:
        fcntl.lockf(file, kind | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
