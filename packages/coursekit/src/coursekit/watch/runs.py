"""Warm workers for the assignments that are handed in, and the files that their grading depends on."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from coursekit.course import Assignment
from coursekit.grading.autograde import ClassRun, RunOptions
from coursekit.grading.running_course import RunningCourse
from coursekit.grading.task import local_workers

#: the time, size and number of each file, by its path
Stamp = tuple[tuple[str, int, int, int], ...]


class Runs:
    """A run for each assignment that is handed in. All of them share their workers."""

    def __init__(self, course: RunningCourse, options: RunOptions) -> None:
        self._course, self._options = course, options
        self._workers = None if options.scheduler else local_workers(options.workers)
        self._runs: dict[str, tuple[ClassRun, Stamp]] = {}

    def of(self, assignment: Assignment) -> ClassRun:
        """The run of an assignment, a new one if its files have changed.

        Raises:
            CourseError: something is wrong in these files.
        """
        stamp = stamp_of(assignment)
        run, started_with = self._runs.get(assignment.name, (None, ()))
        if run is None or stamp != started_with:
            self.drop(assignment.name)
            run = ClassRun(self._course, assignment, self._options, self._workers)
            run.require_bound()  # before anything is collected
            self._runs[assignment.name] = run, stamp
        return run

    def is_current(self, assignment: Assignment) -> bool:
        """Whether the files are those that the assignment's run started with."""
        return assignment.name in self._runs and self._runs[assignment.name][1] == stamp_of(assignment)

    def drop(self, name: str) -> None:
        """Close a run, if there is one, and end the workers, which may have read its files."""
        if name in self._runs:
            self._runs.pop(name)[0].close()
            self._end_workers()

    def close(self) -> None:
        """Close all runs."""
        for run, _ in self._runs.values():
            run.close()
        self._runs.clear()
        self._end_workers()

    def _end_workers(self) -> None:
        if self._workers is not None:
            self._workers.close()


def stamp_of(assignment: Assignment) -> Stamp:
    """Changes when a check, the source or the release of an assignment changes."""
    folders = (assignment.checks, assignment.source_folder, assignment.release_folder)
    beside = (assignment.checks.with_name("conftest.py"), assignment.course.root / "conftest.py")
    return files_stamp([*(path for folder in folders for path in _files(folder)), *beside])


def files_stamp(paths: Iterable[Path]) -> Stamp:
    """Changes when one of the files changes; files that don't exist are left out."""
    stamp = []
    for path in paths:
        try:
            found = path.stat()
        except OSError:
            continue
        stamp.append((str(path), found.st_mtime_ns, found.st_size, found.st_ino))
    return tuple(sorted(stamp))


def _files(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__" and not name.startswith(".")]
        yield from (Path(place, name) for name in files)
