"""Worker processes on this machine. One that dies or hangs is replaced, and costs the class nothing."""

import contextlib
import ctypes
import gc
import multiprocessing
import os
import signal
import socket
import sys
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing import forkserver
from multiprocessing.connection import Connection, wait
from typing import Any

from coursekit.arrays import use_one_thread
from coursekit.attempt import Outcome
from coursekit.course import Assignment
from coursekit.grading.task import Task, carry_out
from coursekit.student.session import longest_seconds
from sandbox_kernel.start import launch_server, use_launched_server

_TRIES = 2
_PR_SET_PDEATHSIG = 1
#: what a worker gets on top of the submission's own limit, before it counts as hung
_SPARE_SECONDS = 120


@dataclass
class _Worker:
    process: Any
    pipe: Connection
    task: Task | None = None
    deadline: float = 0


@dataclass
class LocalWorkers:
    """`count` processes that grade one task after another, with kernels of one warm server."""

    assignment: Assignment
    count: int
    _workers: list[_Worker] = field(default_factory=list)
    _tries: Counter[tuple[str, str]] = field(default_factory=Counter)
    _again: deque[Task] = field(default_factory=deque)
    _room: int = 1

    def start(self) -> None:
        """Fork the workers from this process, where everything is imported already, if that is safe here.

        One more than needed, in place of the first that dies. Otherwise, and from the second on, they come from a
        process of its own, which imports it all again.
        """
        server = launch_server()
        use_one_thread()  # imports torch, so that the forks share it
        if _has_one_thread():
            gc.freeze()  # a fork shares what it never writes to
            while len(self._workers) <= self.count:
                self._workers.append(_start(self.assignment, server, [w.pipe for w in self._workers], "fork"))

    def run(self, tasks: Iterator[Task], alone: bool = False) -> Iterator[tuple[Task, Outcome | None]]:
        """Give every task with its outcome, as they come; None where the worker was lost each time.

        The workers wait for more afterwards, unless the class is given up midway.

        Args:
            alone: one task at a time.
        """
        self._room = 1 if alone else self.count
        try:
            while self._hand_out(tasks):
                yield from self._collect(tasks)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the workers."""
        for worker in self._workers:
            worker.pipe.close()
        for worker in self._workers:
            worker.process.join(5)
            if worker.process.is_alive():
                worker.process.kill()
        self._workers.clear()

    def _hand_out(self, tasks: Iterator[Task]) -> bool:
        """Give every idle worker a task; False if nothing is under way and nothing left."""
        while sum(worker.task is not None for worker in self._workers) < self._room:
            task = self._again.popleft() if self._again else next(tasks, None)
            if task is None:
                break
            worker = self._idle_worker()
            worker.task = task
            worker.deadline = time.monotonic() + longest_seconds(task.limits) + _SPARE_SECONDS
            with contextlib.suppress(OSError):  # it has died: `_collect` notices
                worker.pipe.send(task)
        return any(worker.task for worker in self._workers)

    def _idle_worker(self) -> _Worker:
        idle = next((worker for worker in self._workers if worker.task is None), None)
        if idle is None:
            idle = _start(self.assignment, launch_server())
            self._workers.append(idle)
        return idle

    def _collect(self, tasks: Iterator[Task]) -> Iterator[tuple[Task, Outcome | None]]:
        busy = [worker for worker in self._workers if worker.task]
        first = min(worker.deadline for worker in busy)
        ready = wait([worker.pipe for worker in busy], max(0, first - time.monotonic()))
        done = []
        for worker in busy:
            if worker.pipe not in ready and time.monotonic() < worker.deadline:
                continue
            task, worker.task = worker.task, None
            try:
                done.append((task, worker.pipe.recv() if worker.pipe in ready else self._replace(worker)))
            except (EOFError, OSError):
                self._replace(worker)
                name = task.student, task.notebook_name
                self._tries[name] += 1
                if self._tries[name] < _TRIES:
                    self._again.append(task)
                else:
                    done.append((task, None))
        self._hand_out(tasks)  # before the outcomes are dealt with, which takes time
        yield from done

    def _replace(self, worker: _Worker) -> None:
        worker.process.kill()
        worker.process.join()
        worker.pipe.close()
        self._workers.remove(worker)


def prepare() -> None:
    """Have what all workers need imported in a process of its own, from which they are forked.

    It has one thread, so it can be forked safely; this process may have more.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    multiprocessing.set_forkserver_preload([__name__, "torch"])  # torch is passed over where it is missing
    forkserver.ensure_running()


def _has_one_thread() -> bool:
    return sys.platform == "linux" and len(os.listdir("/proc/self/task")) == 1


def _start(
    assignment: Assignment,
    server: socket.socket | None,
    pipes: Sequence[Connection] = (),
    method: str = "forkserver",
) -> _Worker:
    if method == "forkserver":
        prepare()
    context = multiprocessing.get_context(method)
    ours, theirs = context.Pipe()
    inherited = [*pipes, ours] if method == "fork" else []
    # a daemon, since this process would wait at its end for one that it has never closed
    process = context.Process(target=_work, args=(assignment, theirs, server, inherited), daemon=True)
    process.start()
    theirs.close()
    return _Worker(process, ours)


def _end_with_parent() -> None:
    """Have the system end this process when the command is killed, even midway through a computation."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _work(
    assignment: Assignment, pipe: Connection, server: socket.socket | None, inherited: Sequence[Connection]
) -> None:
    _end_with_parent()
    for other in inherited:  # or nobody would notice the end of the process at that other end
        other.close()
    use_one_thread()
    if server is not None:
        use_launched_server(server)
    with contextlib.suppress(EOFError, OSError, KeyboardInterrupt):
        while True:
            pipe.send(carry_out(assignment, pipe.recv()))
