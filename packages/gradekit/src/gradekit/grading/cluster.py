"""Workers on other machines: the same tasks on a running Dask cluster."""

import io
import logging
import socket
import zipfile
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from gradekit.course import Assignment, Course, CourseError
from gradekit.course.files import files_in
from gradekit.grading.workers import Task, carry_out
from gradekit.verdict.result_cache import versions
from gradekit.verdict.tries import Try
from sandbox_kernel.folders import HeldFolder

_CONNECT_SECONDS = 30
#: how long to wait for the first worker, since a queue such as SLURM's may start it later
_WORKER_SECONDS = 600
#: tasks sent ahead for each worker thread, so that none waits for its next task
_AHEAD = 2
_TRIES = 3
#: what a worker calls with a task; the arguments are those of `_grade`
_Work = Callable[[str, bytes, Task, bytes, Mapping[str, str]], Try]


@dataclass
class DaskWorkers:
    """The workers of the Dask scheduler at `address`. `work` takes the place of grading."""

    assignment: Assignment
    address: str
    work: _Work | None = None

    def start(self) -> None:
        """Do nothing: the workers are already running."""

    def close(self) -> None:
        """Do nothing: the workers keep running for others."""

    def run(self, tasks: Iterable[Task], alone: bool = False) -> Iterator[tuple[Task, Try | None]]:
        """Yield each task with its result as they are finished; None if every worker that had it was lost.

        Args:
            alone: run one task at a time.

        Raises:
            CourseError: Dask is not installed, nothing answers at the address, or there are no workers.
        """
        tasks, name = iter(tasks), self.assignment.name
        client, as_completed = self._connect()
        with client:
            files = self._place_files(client)
            under_way: dict[Any, Task] = {}
            again: deque[Task] = deque()
            tries: Counter[tuple[str, str]] = Counter()
            coming = as_completed(loop=client.loop)

            def hand_out() -> None:
                threads = sum(client.nthreads().values())  # it changes when workers come and go
                room = max(0, (1 if alone else _AHEAD * max(1, threads)) - len(under_way))
                for _ in range(room):
                    task = again.popleft() if again else next(tasks, None)
                    if task is None:
                        break
                    sent = replace(task, job=replace(task.job, own_files=()))
                    own = zipped(task.job.own_files)
                    future = client.submit(
                        self.work or _grade, name, files, sent, own, versions(), pure=False
                    )
                    under_way[future] = task
                    coming.add(future)

            hand_out()
            while under_way:
                future = next(coming)
                task = under_way.pop(future)
                if client.status != "running":
                    raise CourseError(
                        f"the Dask scheduler at {self.address} is gone; the results so far are in the cache"
                    )
                tries[task.student, task.job.name] += 1
                result = None
                if future.status in ("finished", "error"):
                    result = _result(future)
                elif tries[task.student, task.job.name] < _TRIES:
                    again.append(task)
                if files.status != "finished":  # all workers that had them are gone
                    files = self._place_files(client)
                done = task not in again
                hand_out()
                if done:
                    yield task, result

    def _connect(self) -> tuple[Any, type]:
        try:
            from distributed import Client, as_completed
            from distributed.comm.addressing import get_address_host_port
        except ImportError:
            raise CourseError('--scheduler needs Dask: `pip install "gradekit[cluster]"`') from None
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # we report its errors
        try:
            get_address_host_port(self.address)  # with an invalid address, the client would hang
            return Client(self.address, timeout=_CONNECT_SECONDS, set_as_default=False), as_completed
        except (OSError, TimeoutError, ValueError) as error:
            raise CourseError(f"no Dask scheduler answers at {self.address}: {error}") from error

    def _place_files(self, client: Any) -> Any:
        try:
            client.wait_for_workers(1, timeout=_WORKER_SECONDS)
            return client.scatter(zipped_assignment(self.assignment), broadcast=True, hash=False)
        except TimeoutError:
            raise CourseError(
                f"the Dask scheduler at {self.address} has no workers, not even after {_WORKER_SECONDS} s"
            ) from None


def _result(future: Any) -> Try | None:
    from distributed.scheduler import KilledWorker

    if future.status == "finished":
        found: Try = future.result()
        return found
    error = future.exception()
    if isinstance(error, KilledWorker):
        return None
    return Try(None, f"a worker could not grade: {type(error).__name__}: {error}")


def _grade(assignment: str, files: bytes, task: Task, own_files: bytes, expected: Mapping[str, str]) -> Try:
    """Grade in a worker, unless it has other versions, which might grade differently."""
    own_versions = versions()
    differing = [
        f"{name} {own_versions.get(name, '(none)')} instead of {expected.get(name, '(none)')}"
        for name in {**own_versions, **expected}
        if own_versions.get(name) != expected.get(name)
    ]
    if differing:
        return Try(None, f"the worker on {socket.gethostname()} has {', '.join(differing)}")
    with HeldFolder("gradekit-cluster-") as folder:
        with zipfile.ZipFile(io.BytesIO(own_files)) as archive:
            archive.extractall(folder)
        own = tuple(sorted(folder.iterdir()))
        job = replace(task.job, assignment=_unpacked(assignment, files), own_files=own)
        return carry_out(replace(task, job=job))


def zipped(paths: Iterable[Path]) -> bytes:
    """Files and folders as a zip archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", strict_timestamps=False) as archive:
        for top in paths:
            for path in [top, *sorted(top.rglob("*"))]:
                archive.write(path, path.relative_to(top.parent))
    return buffer.getvalue()


def zipped_assignment(assignment: Assignment) -> bytes:
    """The notebooks and checks of an assignment as a zip archive, in folders of nbgrader's default names."""
    buffer, usual = io.BytesIO(), Course(Path()).assignment(assignment.name)
    with zipfile.ZipFile(buffer, "w", strict_timestamps=False) as archive:
        for folder, packed_as, left_out in [
            (assignment.source_folder, usual.source_folder, assignment.course.ignore),
            (assignment.release_folder, usual.release_folder, ()),
            (assignment.checks, usual.checks, ("__pycache__",)),
        ]:
            for path in files_in(folder, left_out) if folder.is_dir() else ():
                archive.write(path, packed_as / path.relative_to(folder))
        for path, packed_as in zip(assignment.conftests, usual.conftests, strict=True):
            if path.is_file():
                archive.write(path, packed_as)
    return buffer.getvalue()


@cache
def _unpacked(assignment: str, files: bytes) -> Assignment:
    root = HeldFolder("gradekit-course-").path  # removed when this process ends
    with zipfile.ZipFile(io.BytesIO(files)) as archive:
        archive.extractall(root)
    return Course(root).assignment(assignment)
