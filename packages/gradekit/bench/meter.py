"""Measure a command with all its descendants: seconds, CPU seconds, and memory.

    python -m bench.meter RESULT.json COMMAND...

The meter adopts orphans and waits for every process, so that it counts daemons and kernels in sandboxes, too. Its own
work is not counted.
"""

import contextlib
import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[3]
#: between two looks at the memory: at least this, and so many times what the last look took, since it needs a processor
_POLL_SECONDS = 0.5
_TIMES_A_LOOK = 30
_PR_SET_CHILD_SUBREAPER = 36
_TAIL = 2000


@dataclass(frozen=True)
class Usage:
    """`peak` is in MiB: the highest sum of the proportional set sizes (PSS) of all processes."""

    code: int
    seconds: float
    cpu: float
    peak: float


class CommandFailed(Exception):
    """A command ended with an unexpected exit code."""


class Metered:
    """A running command, with the meter as its parent.

    Args:
        log: file for its output.
        environment: additional variables.
    """

    def __init__(
        self, command: Sequence[str], cwd: Path, log: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        self._log, self._command = log, command
        handle, result = tempfile.mkstemp(suffix=".json")
        os.close(handle)
        self._result = Path(result)
        own_path = os.pathsep.join(
            filter(None, [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH")])
        )
        with log.open("w") as output:
            self._process = subprocess.Popen(
                [sys.executable, str(Path(__file__)), result, *command],
                cwd=cwd,
                env={**os.environ, "PYTHONPATH": own_path, **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def descendants(self) -> list[psutil.Process]:
        with contextlib.suppress(psutil.NoSuchProcess):
            return psutil.Process(self._process.pid).children(recursive=True)
        return []

    def pss(self) -> float:
        return shared_out(process.pid for process in self.descendants())

    def wait(self, codes: Sequence[int] = (0,)) -> Usage:
        """Wait until all its processes have ended; returns what they used.

        Raises:
            CommandFailed: the exit code is not in `codes`.
        """
        self._process.wait()
        text = self._result.read_text()
        self._result.unlink()
        usage = Usage(**json.loads(text)) if text else Usage(-1, 0, 0, 0)
        if usage.code not in codes:
            output = self._log.read_text(errors="replace")[-_TAIL:]
            raise CommandFailed(f"{' '.join(self._command)} ended with {usage.code}:\n{output}")
        return usage


def measure(
    command: Sequence[str],
    cwd: Path,
    log: Path,
    environment: Mapping[str, str] | None = None,
    codes: Sequence[int] = (0,),
) -> Usage:
    """Run a command until it and all its descendants have ended."""
    return Metered(command, cwd, log, environment).wait(codes)


def shared_out(pids: Sequence[int]) -> float:
    """MiB of memory of these processes; shared pages count once."""
    return sum(map(_pss, pids)) / 1024


def _pss(pid: int) -> int:
    with contextlib.suppress(OSError):  # it has ended
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    return 0


def main(result: str, command: Sequence[str]) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command gets it, too; the meter must still report
    started = time.monotonic()
    first = subprocess.Popen(command)
    peak, over = [0.0], threading.Event()
    sampler = threading.Thread(target=_sample, args=(peak, over))
    sampler.start()
    code = 0
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.wait()
            if pid == first.pid:
                code = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - started
    over.set()
    sampler.join()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    usage = Usage(code, seconds, used.ru_utime + used.ru_stime, peak[0])
    Path(result).write_text(json.dumps(asdict(usage)))


def _sample(peak: list[float], over: threading.Event) -> None:
    me, pause = psutil.Process(), _POLL_SECONDS
    while not over.wait(pause):
        started = time.thread_time()
        peak[0] = max(peak[0], shared_out(child.pid for child in me.children(recursive=True)))
        pause = max(_POLL_SECONDS, _TIMES_A_LOOK * (time.thread_time() - started))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
