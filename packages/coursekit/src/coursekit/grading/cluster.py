"""Workers on other machines: the same tasks on a running Dask cluster."""

import logging
import socket
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from coursekit.attempt import Outcome
from coursekit.course import Assignment, CourseError
from coursekit.grading.task import Files, Task, carry_out
from coursekit.kept import versions

_CONNECT_SECONDS = 30
#: how long to wait for the first worker, since a queue such as SLURM's may start them later
_WORKER_SECONDS = 600
#: tasks on the way for each worker thread, so that none waits for the next
_AHEAD = 2
_TRIES = 3


@dataclass
class DaskWorkers:
    """The workers behind the scheduler at `address`. Submissions and checks travel with the tasks."""

    assignment: Assignment
    address: str

    def start(self) -> None:
        """They run already."""

    def close(self) -> None:
        """They go on for others."""

    def run(self, tasks: Iterator[Task], alone: bool = False) -> Iterator[tuple[Task, Outcome | None]]:
        """Give every task with its outcome, as they come; None where each worker that had it was lost.

        Args:
            alone: one task at a time.

        Raises:
            CourseError: Dask is not installed, nothing answers at the address, or no worker is there.
        """
        client, as_completed = self._connect()
        with client:
            files = self._place_files(client)
            under_way: dict[Any, Task] = {}
            again: deque[Task] = deque()
            tries: Counter[tuple[str, str]] = Counter()
            coming = as_completed(loop=client.loop)

            def hand_out() -> None:
                threads = sum(client.nthreads().values())  # workers may come and go
                room = max(0, (1 if alone else _AHEAD * max(1, threads)) - len(under_way))
                for task in islice(chain(_emptying(again), tasks), room):
                    future = client.submit(_grade, files, task, versions(), pure=False)
                    under_way[future] = task
                    coming.add(future)

            hand_out()
            while under_way:
                future = next(coming)
                task = under_way.pop(future)
                if client.status != "running":
                    raise CourseError(
                        f"the Dask scheduler at {self.address} is gone; what was graded is kept"
                    )
                tries[task.student, task.notebook_name] += 1
                outcome = None
                if future.status in ("finished", "error"):
                    outcome = _outcome(future)
                elif tries[task.student, task.notebook_name] < _TRIES:
                    again.append(task)
                if files.status != "finished":  # every worker that held them is gone
                    files = self._place_files(client)
                done = task not in again
                hand_out()
                if done:
                    yield task, outcome

    def _connect(self) -> tuple[Any, type]:
        try:
            from distributed import Client, as_completed
            from distributed.comm import get_address_host_port
        except ImportError:
            raise CourseError('--scheduler needs Dask: `pip install "coursekit[cluster]"`') from None
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what it has to tell is told here
        try:
            get_address_host_port(self.address)  # a client with a name that is no address waits in vain
            return Client(self.address, timeout=_CONNECT_SECONDS, set_as_default=False), as_completed
        except (OSError, TimeoutError, ValueError) as error:
            raise CourseError(f"no Dask scheduler answers at {self.address}: {error}") from error

    def _place_files(self, client: Any) -> Any:
        try:
            client.wait_for_workers(1, timeout=_WORKER_SECONDS)
            return client.scatter(Files.of(self.assignment), broadcast=True, hash=False)
        except TimeoutError:
            raise CourseError(
                f"the Dask scheduler at {self.address} has no workers, not even after {_WORKER_SECONDS} s"
            ) from None


def _outcome(future: Any) -> Outcome | None:
    from distributed.scheduler import KilledWorker

    if future.status == "finished":
        return future.result()
    error = future.exception()
    if isinstance(error, KilledWorker):
        return None
    return Outcome(None, f"a worker could not grade: {type(error).__name__}: {error}")


def _emptying(tasks: deque[Task]) -> Iterator[Task]:
    while tasks:
        yield tasks.popleft()


def _grade(files: Files, task: Task, expected: Sequence[str]) -> Outcome:
    """In a worker. Other versions might give other grades, so that they are refused."""
    differing = [
        f"{own} instead of {other}" for own, other in zip(versions(), expected, strict=True) if own != other
    ]
    if differing:
        return Outcome(None, f"the worker on {socket.gethostname()} has {', '.join(differing)}")
    return carry_out(files, task)
