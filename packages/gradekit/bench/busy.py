"""Processes that keep the processor busy."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator

#: ends with its parent, even if that is killed
_BUSY = """
import os, sys
while os.getppid() == int(sys.argv[1]):
    for _ in range(10**6):
        pass
"""


@contextlib.contextmanager
def busy_processes(count: int) -> Iterator[list[subprocess.Popen]]:
    """Run `count` processes that burn CPU, each in its own session.

    The scheduler's autogroup would give all processes of one session the share of a single one.
    """
    processes: list[subprocess.Popen] = []
    try:
        for _ in range(count):
            command = [sys.executable, "-I", "-S", "-c", _BUSY, str(os.getpid())]
            processes.append(subprocess.Popen(command, start_new_session=True))
        yield processes
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()
