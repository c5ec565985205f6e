"""A pool of worker processes in which losing a worker affects no other task; the task of grading one notebook.

`concurrent.futures` and loky give up the whole pool when one worker dies, and neither limits the time of a task. Pebble
does, but its workers share one pipe and its locks, so a worker killed at the wrong moment takes the pool with it, and
it replaces workers by forking a process with threads. Here each worker has its own pipe.
"""

import contextlib
import gc
import importlib
import os
import socket
import threading
import time
import traceback
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Generic, TypeVar

from gradekit.course import Course
from gradekit.course.kernels import LIBRARIES, modules_for
from gradekit.course.operating_system import end_with_parent, forking, forking_server
from gradekit.verdict.opened import GradingJob
from gradekit.verdict.result_cache import CacheKey
from gradekit.verdict.tries import Try, try_once
from sandbox_kernel.start import launch_server, use_launched_server

if TYPE_CHECKING:
    from gradekit.course.operating_system import Forks


T = TypeVar("T")
R = TypeVar("R")

_TRIES = 2
#: this process's ends of the pipes to the workers of all its pools, which every fork inherits
_ours: "weakref.WeakSet[Connection]" = weakref.WeakSet()


@dataclass
class _Entry(Generic[T]):
    """A task on its way through the pool."""

    task: T
    tries: int = 0


@dataclass
class _Worker(Generic[T]):
    process: BaseProcess
    pipe: Connection
    entry: _Entry[T] | None = None
    deadline: float = 0


@dataclass
class Workers(Generic[T, R]):
    """Up to `count` processes that call `work` with one task after another.

    Args:
        work: can be pickled, and so can tasks and results.
        seconds: wall time after which a task counts as hung, and its worker is killed.
        hidden: have the workers take their kernels from one warm server, where they don't see these folders; None if not.
        modules: the modules that `work` imports when it is called; they are imported before the workers are forked.
        in_kernels: the modules that this warm server imports, if there is none yet; by default all that it can.
    """

    work: Callable[[T], R]
    count: int
    seconds: Callable[[T], float]
    hidden: Sequence[str] | None
    modules: Sequence[str] = ()
    in_kernels: Sequence[str] | None = None
    _workers: list[_Worker[T]] = field(init=False, default_factory=list)
    _again: deque[_Entry[T]] = field(init=False, default_factory=deque)
    _room: int = field(init=False, default=1)

    def start(self) -> None:
        """Fork the workers from this process, which has imported everything already, if it has no other threads.

        One more is forked than is needed, to replace the first that dies. All others are forked from a server process
        that imports everything again. Does nothing if there are workers already.
        """
        if self._workers:
            return
        server = self._server()
        for module in self.modules:  # the forks share them
            with contextlib.suppress(ModuleNotFoundError):  # torch may not be installed
                importlib.import_module(module)
        _use_one_thread()
        if fork := forking():
            gc.freeze()  # forks share pages that nobody writes to
            while len(self._workers) <= self.count:
                self._workers.append(_started(self.work, server, fork))

    def run(self, tasks: Iterable[T], alone: bool = False) -> Iterator[tuple[T, R | None]]:
        """Yield each task with its result as they are finished; None if its worker hung, or died twice.

        The workers stay, unless the caller stops midway or `work` raises an exception, which is raised here.

        Args:
            alone: run one task at a time.
        """
        self._room = 1 if alone else self.count
        tasks = iter(tasks)
        try:
            while self._hand_out(tasks):
                yield from self._finished(tasks)
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
        self._again.clear()

    def _hand_out(self, tasks: Iterator[T]) -> bool:
        """Hand out tasks to idle workers; False when all tasks are done."""
        while sum(worker.entry is not None for worker in self._workers) < self._room:
            entry = self._again.popleft() if self._again else next(map(_Entry, tasks), None)
            if entry is None:
                break
            worker = self._idle_worker()
            worker.entry = entry
            worker.deadline = time.monotonic() + self.seconds(entry.task)
            with contextlib.suppress(OSError):  # a dead worker is noticed in `_finished`
                worker.pipe.send(entry.task)
        return any(worker.entry for worker in self._workers)

    def _server(self) -> socket.socket | None:
        return None if self.hidden is None else launch_server(self.hidden, self.in_kernels)

    def _idle_worker(self) -> _Worker[T]:
        idle = next((worker for worker in self._workers if worker.entry is None), None)
        if idle is None:
            server = self._server()
            os.environ.setdefault("OMP_NUM_THREADS", "1")
            module = getattr(self.work, "func", self.work).__module__  # of a partial, that of its function
            idle = _started(self.work, server, forking_server([module, *self.modules]))
            self._workers.append(idle)
        return idle

    def _finished(self, tasks: Iterator[T]) -> Iterator[tuple[T, R | None]]:
        busy = [(worker, worker.entry) for worker in self._workers if worker.entry is not None]
        first = min(worker.deadline for worker, _ in busy)
        ready = wait([worker.pipe for worker, _ in busy], max(0, first - time.monotonic()))
        done: list[tuple[T, R | None]] = []
        for worker, entry in busy:
            if worker.pipe in ready:
                try:
                    result = worker.pipe.recv()
                except (EOFError, OSError):
                    self._remove(worker)
                    entry.tries += 1
                    if entry.tries < _TRIES:
                        self._again.append(entry)
                    else:
                        done.append((entry.task, None))
                    continue
                if isinstance(result, _Raised):
                    raise result.error
                worker.entry = None
                done.append((entry.task, result))
            elif time.monotonic() >= worker.deadline:
                self._remove(worker)
                done.append((entry.task, None))
        self._hand_out(tasks)  # first, since the caller takes time over the results
        yield from done

    def _remove(self, worker: _Worker[T]) -> None:
        worker.process.kill()
        worker.process.join()
        worker.pipe.close()
        self._workers.remove(worker)


@dataclass
class _Raised:
    """An exception of `work`, on its way to the process that handed out the task."""

    error: Exception


def _use_one_thread() -> None:
    from gradekit.inside.arrays import use_one_thread  # it imports NumPy, which not every command needs

    use_one_thread()


def _started(work: Callable[[T], R], server: socket.socket | None, context: "Forks") -> _Worker[T]:
    ours, theirs = context.Pipe()
    _ours.add(ours)
    inherited = list(_ours) if context.get_start_method() == "fork" else []
    # a daemon, since this process would otherwise wait at its end for a worker that nobody closed
    process = context.Process(target=_serve, args=(work, theirs, server, inherited), daemon=True)
    process.start()
    theirs.close()
    return _Worker(process, ours)


def _serve(
    work: Callable[[T], R], pipe: Connection, server: socket.socket | None, inherited: Sequence[Connection]
) -> None:
    """The worker's side: answer tasks until the pipe is closed."""
    end_with_parent()
    for other in inherited:  # while they are open here, their other ends never see an end of file
        other.close()
    if server is not None:
        use_launched_server(server)
    _use_one_thread()
    with contextlib.suppress(EOFError, OSError, KeyboardInterrupt):
        while True:
            task = pipe.recv()
            try:
                result: R | _Raised = work(task)
            except Exception as error:
                error.add_note(traceback.format_exc())
                result = _Raised(error)
            pipe.send(result)


#: wall time on top of the submission's own limit after which a worker counts as hung
_SPARE_SECONDS = 120
_one_at_a_time = threading.Lock()


@dataclass(frozen=True)
class Task:
    """One notebook of a student's to grade.

    Args:
        job: what to grade, with files on this machine.
        key: of the job.
        exercises: those that are not in the cache; None means all.
        wary: for a second try (see `gradekit.verdict.tries`).
    """

    student: str
    job: GradingJob
    key: CacheKey
    exercises: tuple[str, ...] | None
    wary: bool = False


LocalWorkers = Workers[Task, Try]


def carry_out(task: Task) -> Try:
    """Grade one notebook. Threads of a process take turns, since pytest has one state for all of them."""
    with _one_at_a_time:
        return try_once(task.job, task.key, task.exercises, task.wary)


def local_workers(count: int, course: Course, libraries: Iterable[str] = LIBRARIES) -> LocalWorkers:
    """Processes on this machine that grade with kernels from one warm server, and have imported these libraries."""
    modules = ("gradekit.verdict.grade", *({"torch"} & set(libraries)))
    return Workers(carry_out, count, _longest_seconds, course.hidden, modules, modules_for(libraries))


def _longest_seconds(task: Task) -> float:
    return task.job.how.limits.longest_seconds + _SPARE_SECONDS
