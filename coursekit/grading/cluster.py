"""Workers on other machines: the same tasks on a running Dask cluster."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from coursekit.course import Assignment, CourseError
from coursekit.grading.task import Files, Outcome, Task, carry_out

_CONNECT_SECONDS = 30
#: tasks on the way for each worker thread, so that none waits for the next
_AHEAD = 2


@dataclass
class DaskWorkers:
    """The workers behind the scheduler at `address`. Submissions and checks travel with the tasks."""

    assignment: Assignment
    address: str

    def run(self, tasks: Iterator[Task]) -> Iterator[tuple[Task, Outcome | None]]:
        """Give every task with its outcome, as they come; None where each worker that had it was lost.

        Raises:
            CourseError: Dask is not installed, or nothing answers at the address.
        """
        try:
            from distributed import Client, Future, as_completed
        except ImportError:
            raise CourseError('--scheduler needs Dask: `pip install "coursekit[cluster]"`') from None
        try:
            client = Client(self.address, timeout=_CONNECT_SECONDS, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise CourseError(f"no Dask scheduler answers at {self.address}: {error}") from error
        with client:
            files = client.scatter(Files.of(self.assignment), broadcast=True, hash=False)
            under_way: dict[Future, Task] = {}
            coming = as_completed()

            def hand_out(count: int) -> None:
                for task in islice(tasks, count):
                    future = client.submit(carry_out, files, task, pure=False)
                    under_way[future] = task
                    coming.add(future)

            hand_out(_AHEAD * max(1, sum(client.nthreads().values())))
            while under_way:
                future = next(coming)
                task = under_way.pop(future)
                outcome = future.result() if future.status == "finished" else _lost(future)
                hand_out(1)
                yield task, outcome


def _lost(future: object) -> Outcome | None:
    from distributed.scheduler import KilledWorker

    error = future.exception()
    if isinstance(error, KilledWorker):
        return None
    return Outcome(None, f"a worker could not grade: {type(error).__name__}: {error}")
