"""Grading by Dask workers that run in separate processes, over TCP."""

import io
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

import gradekit
from gradekit.grading import cluster
from gradekit.report.table import class_table
from gradekit.verdict.result_cache import versions

pytest.importorskip("distributed", reason="Dask is not installed (`make test` installs it)")

RIGHT, HALF = "def double(x):\n    return 2 * x", "def half(x):\n    return x / 2"


@dataclass
class Cluster:
    """A scheduler and workers, each with its own folder outside the course."""

    root: Path
    address: str = ""
    workers: list[psutil.Popen] = field(default_factory=list)

    def start(self) -> None:
        file = self.root / "scheduler.json"
        self.scheduler = self._run("dask_scheduler", "--port", "0", "--scheduler-file", str(file))
        until(file.exists)
        self.address = json.loads(file.read_text())["address"]

    def have(self, count: int) -> None:
        """Start workers until there are `count`."""
        self.workers = [worker for worker in self.workers if worker.is_running() and worker.poll() is None]
        while len(self.workers) < count:
            self.workers.append(self._run("dask_worker", self.address, "--nthreads", "1", "--no-nanny"))

    def _run(self, program: str, *options: str) -> psutil.Popen:
        folder = self.root / f"{program}-{time.monotonic_ns()}"
        folder.mkdir()
        path = str(Path(gradekit.__file__).parents[1])  # the same gradekit as here
        return psutil.Popen(
            [
                sys.executable,
                "-m",
                f"distributed.cli.{program}",
                "--host=127.0.0.1",
                "--no-dashboard",
                *options,
            ],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": path, "TMPDIR": str(folder)},
            stdout=subprocess.DEVNULL,
            stderr=(folder / "log.txt").open("w"),
        )

    def close(self) -> None:
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()


def until(condition, seconds=600):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture(scope="module")
def dask(tmp_path_factory):
    found = Cluster(tmp_path_factory.mktemp("cluster"))
    found.start()
    yield found
    found.close()


@pytest.fixture
def course(empty_class):
    for number in range(12):
        answer = RIGHT if number % 3 else f"def double(x):\n    return {number + 3} * x"
        empty_class.hand_in(f"student-{number:02}", empty_class.answer(f"# {number}\n{answer}", HALF))
    return empty_class


def autograde(course, dask, *options):
    return course.gradekit("autograde", "01_double", "--scheduler", dask.address, *options)


def once_cached(course, count, action):
    """Do something, in a thread, as soon as `count` results are cached."""

    def wait() -> None:
        until(lambda: len(course.cached()) >= count)
        action()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def everybody_has_what_belongs_to_them(course):
    rows = class_table(course.running, course.assignment).rows
    grades = course.grades()
    assert [row.student for row in rows] == sorted(grades) == [f"student-{n:02}" for n in range(12)]
    for number, row in enumerate(rows):
        assert row.status == "graded"
        assert (row.points["test_double"] == 10, row.points["test_half"]) == (number % 3 != 0, 5)


@pytest.mark.thorough
def test_a_worker_killed_midway_costs_nothing(course, dask):
    dask.have(2)
    started, graded = [], []

    def kill() -> None:
        victim = next(worker for worker in dask.workers if worker.children())  # one that has graded
        started.extend(victim.children(recursive=True))
        graded.append(len(course.cached()))
        victim.send_signal(signal.SIGKILL)

    thread = once_cached(course, 3, kill)
    assert autograde(course, dask) == 0
    thread.join()
    assert graded[0] < 12
    everybody_has_what_belongs_to_them(course)
    assert not course.gradings()  # nothing was graded here
    _, left = psutil.wait_procs(started, timeout=60)
    assert started and not left


@pytest.mark.thorough
def test_when_all_workers_are_lost_new_ones_continue(course, dask):
    dask.have(1)

    def replace() -> None:
        dask.workers[0].send_signal(signal.SIGKILL)
        dask.workers[0].wait()
        dask.have(1)

    thread = once_cached(course, 3, replace)
    assert autograde(course, dask) == 0
    thread.join()
    everybody_has_what_belongs_to_them(course)


@pytest.mark.thorough
def test_cold_kernels_start_in_the_thread_of_a_worker_one_after_another(empty_class, dask):
    """A cold kernel ends with the thread that started it, and Dask runs tasks in a thread."""
    dask.have(1)
    config = empty_class.root / "nbgrader_config.py"
    config.write_text(config.read_text() + 'c.RunChecks.student_kernel = "sandbox-cold"\n')
    for student in ("ada", "bob"):
        empty_class.hand_in(student, empty_class.answer(f"# {student}\n{RIGHT}", HALF))
    assert autograde(empty_class, dask) == 0
    assert {values["test_double"][0] for values in empty_class.grades().values()} == {10}


@pytest.mark.thorough
def test_a_worker_that_ends_leaves_no_process_and_no_folder(course, dask):
    for student in range(10):
        (course.root / "submitted" / f"student-{student:02}").rename(course.root / f"student-{student}")
    dask.have(1)
    autograde(course, dask)
    (worker,) = dask.workers
    children, folder = worker.children(recursive=True), Path(worker.environ()["TMPDIR"])
    assert children and list(folder.glob("gradekit-course-*"))
    worker.send_signal(signal.SIGTERM)
    worker.wait(timeout=30)
    _, left = psutil.wait_procs(children, timeout=60)
    assert not left
    assert not list(folder.glob("gradekit-*"))


@pytest.mark.thorough
def test_a_scheduler_that_ends_midway_ends_the_command_with_one_sentence(course, dask, capsys):
    dask.have(1)
    thread = once_cached(course, 2, dask.scheduler.kill)
    assert autograde(course, dask) == 2
    thread.join()
    captured = capsys.readouterr()
    assert (
        f"gradekit: the Dask scheduler at {dask.address} is gone; the results so far are in the cache"
        in captured.err
    )
    assert "Traceback" not in captured.err
    assert len(course.cached()) >= 2


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def test_an_address_where_nobody_answers_is_named(empty_class, monkeypatch, capsys):
    monkeypatch.setattr(cluster, "_CONNECT_SECONDS", 1)
    address = f"tcp://127.0.0.1:{free_port()}"
    empty_class.hand_in("ada", empty_class.answer(RIGHT, HALF))
    assert empty_class.gradekit("autograde", "01_double", "--scheduler", address) == 2
    assert f"gradekit: no Dask scheduler answers at {address}" in capsys.readouterr().err
    for nonsense in ("nonsense://x", "nonsense"):
        assert empty_class.gradekit("autograde", "01_double", "--scheduler", nonsense) == 2
        assert f"gradekit: no Dask scheduler answers at {nonsense}" in capsys.readouterr().err


def test_without_dask_one_sentence_says_what_to_install(empty_class, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "distributed", None)
    empty_class.hand_in("ada", empty_class.answer(RIGHT, HALF))
    assert empty_class.gradekit("autograde", "01_double", "--scheduler", "tcp://127.0.0.1:1") == 2
    assert 'pip install "gradekit[cluster]"' in capsys.readouterr().err


def test_workers_get_what_students_get_and_what_pytest_reads_above_the_checks(empty_class):
    source = empty_class.root / "source" / "01_double"
    (source / "data").mkdir()
    for path in (
        source / "data" / "a.csv",
        source / "data" / "a.pyc",
        empty_class.root / "tests" / "conftest.py",
    ):
        path.write_text("")
    names = zipfile.ZipFile(io.BytesIO(cluster.zipped_assignment(empty_class.assignment))).namelist()
    assert {"source/01_double/data/a.csv", "tests/conftest.py"} < set(names)
    assert "source/01_double/data/a.pyc" not in names


def test_an_assignment_needs_no_folder_of_checks_and_none_of_sources(empty_class):
    shutil.rmtree(empty_class.assignment.checks)
    shutil.rmtree(empty_class.assignment.source_folder)
    names = zipfile.ZipFile(io.BytesIO(cluster.zipped_assignment(empty_class.assignment))).namelist()
    assert "release/01_double/double.ipynb" in names


def test_a_worker_with_other_versions_is_named_and_grades_nothing(empty_class):
    files = cluster.zipped_assignment(empty_class.assignment)
    outcome = cluster._grade("01_double", files, None, b"", versions() | {"Python": "3.9.0", "scipy": "1.0"})
    assert outcome.cached is None
    assert f"has Python {versions()['Python']} instead of 3.9.0, scipy (none) instead of 1.0" in outcome.fault
