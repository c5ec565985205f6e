"""Courses for the tests, made once and copied, and what to say about tests that this machine can't run."""

import json
import logging
import os
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pytest
from filelock import FileLock
from nbformat import NotebookNode
from nbgrader import api

from .tiny_course import (
    ALTERNATIVES,
    CHECKS,
    CLASS,
    COUNTING,
    FOUR_TIMES,
    HALF,
    HALF_CHECKS,
    MISTAKES,
    RIGHT,
    RIGHT_HALF,
    TinyCourse,
    code,
    mark,
    tiny_notebook,
)

# handlers of nbgrader's log outlive the stream that pytest gave them. If a finalizer logs while Python parses a file,
# the traceback that logging prints about this is parsed as well, and Python 3.11 raises SystemError for the file
logging.raiseExceptions = False

# for each new gradebook, nbgrader asks a command of alembic for its newest version, which takes a second
api.get_alembic_version = cache(api.get_alembic_version)

#: in a configuration: generate_assignment starts no kernel for the solution, which is tested in test_solution_passes
QUICK = "get_config().SolutionPasses.enabled = False\n"

#: marks of whole files, for those who want to leave them out
MARKS = {"test_cluster.py": "cluster", "test_postgres.py": "postgres"}


def pytest_itemcollected(item: pytest.Item) -> None:
    if name := MARKS.get(item.path.name):
        item.add_marker(name)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what this machine could not try."""
    skipped = terminalreporter.stats.get("skipped", [])
    for reason in sorted({str(report.longrepr[2]).removeprefix("Skipped: ") for report in skipped}):
        terminalreporter.line(f"not tried on this machine: {reason}")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run each test in a folder without a configuration: nbgrader would read that of this repository."""
    monkeypatch.chdir(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="session")
def course_at() -> Callable[[Path], TinyCourse]:
    """The commands of a course, by its folder."""
    return TinyCourse


@pytest.fixture
def tiny_source() -> NotebookNode:
    return tiny_notebook()


MakeOnce = Callable[..., Path]


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> MakeOnce:
    """`made_once(name, make, base)` returns a copy of `base` that `make` has changed, once for all of xdist's workers."""
    own = tmp_path_factory.getbasetemp()
    originals = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "originals"
    originals.mkdir(exist_ok=True)

    def course_of(name: str, make: Callable[[TinyCourse], None], base: Path | None = None) -> Path:
        folder = originals / name
        with FileLock(f"{folder}.lock"):
            if not (folder / "made").exists():
                shutil.rmtree(folder, ignore_errors=True)  # another worker could not finish it
                if base:
                    shutil.copytree(base, folder / "course")
                make(TinyCourse(folder / "course"))
                (folder / "made").touch()
        return folder / "course"

    return course_of


@pytest.fixture(scope="session")
def tiny_original(made_once: MakeOnce) -> Path:
    """The course, recorded once, and with its notebook in release/ as nbgrader strips it."""
    return made_once("tiny", _make_tiny)


def _make_tiny(course: TinyCourse) -> None:
    from gradekit.course import blank_copy
    from gradekit_authoring.grade_variants import record

    course.checks.parent.mkdir(parents=True)
    course.checks.write_text(CHECKS)
    (course.checks.parent / "mistakes.py").write_text(MISTAKES)
    (course.checks.parent / "alternatives.py").write_text(ALTERNATIVES)
    (course.root / "nbgrader_config.py").write_text(
        "from gradekit.nbgrader_plugin import configure\nconfigure(get_config())\n" + QUICK
    )
    for folder in ("source", "release"):
        (course.root / folder / "01_double").mkdir(parents=True)
    course.write_source(tiny_notebook())
    nbformat.write(blank_copy(tiny_notebook()), course.root / "release" / "01_double" / "double.ipynb")
    record(course.assignment, workers=1)


@pytest.fixture
def tiny_course(tiny_original: Path, tmp_path: Path) -> TinyCourse:
    """A copy of the course for one test."""
    return TinyCourse(Path(shutil.copytree(tiny_original, tmp_path / "course")))


@pytest.fixture(scope="session")
def generated_original(tiny_original: Path, made_once: MakeOnce) -> Path:
    return made_once("generated", _generate, tiny_original)


def _generate(course: TinyCourse) -> None:
    done = course.run("nbgrader", "generate_assignment", "01_double", "--force")
    assert done.returncode == 0, done.stderr


@pytest.fixture
def generated(generated_original: Path, tmp_path: Path) -> TinyCourse:
    """The course after `nbgrader generate_assignment`: with its gradebook."""
    return TinyCourse(Path(shutil.copytree(generated_original, tmp_path / "course")))


@pytest.fixture(scope="session")
def class_original(tiny_original: Path, made_once: MakeOnce) -> Path:
    """The course with a second exercise and short limits, after `nbgrader generate_assignment`."""
    return made_once("class", _add_half, tiny_original)


def _add_half(course: TinyCourse) -> None:
    notebook = tiny_notebook()
    notebook.cells[3:3] = [
        code(HALF, mark("half", solution=True), "half"),
        code("assert half(2) == 1", mark("test_half", grade=True, locked=True, points=5), "test-half"),
    ]
    course.write_source(notebook)
    course.checks.with_name("test_half.py").write_text(HALF_CHECKS)
    course.checks.with_name("conftest.py").write_text(COUNTING)
    (course.root / "nbgrader_config.py").write_text(
        "from gradekit.nbgrader_plugin import configure\n"
        "c = get_config()\nc.Execute.timeout = 2\nc.RunChecks.call_timeout = 2\nconfigure(c)\n" + QUICK
    )
    _generate(course)


@pytest.fixture
def empty_class(class_original: Path, tmp_path: Path) -> TinyCourse:
    """The course with two exercises; nobody has handed in."""
    return TinyCourse(Path(shutil.copytree(class_original, tmp_path / "empty" / "course")))


@pytest.fixture(scope="session")
def graded_original(class_original: Path, made_once: MakeOnce) -> Path:
    """`CLASS`, graded by `gradekit autograde`; what it printed is in autograde.txt."""
    return made_once("graded", _grade_class, class_original)


def _grade_class(course: TinyCourse) -> None:
    for student, answers in CLASS.items():
        path = course.hand_in(student, course.answer(*answers))
        path.with_name("timestamp.txt").write_text("2026-01-01 12:00:00 UTC")
    course.hand_in("blank", course.assignment.released("double"))
    course.hand_in("broken", "{")
    course.hand_in("missing", "my notes", "notes.txt")
    done = course.run("gradekit", "autograde", "01_double", "--workers", "2")
    (course.root / "autograde.txt").write_text(f"{done.returncode}\n{done.stdout}\n{done.stderr}")


@pytest.fixture
def graded_class(graded_original: Path, tmp_path: Path) -> TinyCourse:
    """A copy of the graded class for one test."""
    course = TinyCourse(Path(shutil.copytree(graded_original, tmp_path / "course")))
    course.gradings()
    return course


@pytest.fixture(scope="session")
def four_times_original(class_original: Path, made_once: MakeOnce) -> Path:
    """A class in which three share a mistake that has no name, and one has all right, after `gradekit report`."""
    return made_once("four-times", _report_four_times, class_original)


def _report_four_times(course: TinyCourse) -> None:
    for student in ("ada", "ben", "cleo"):
        course.hand_in(student, course.answer(FOUR_TIMES.format(student), RIGHT_HALF))
    course.hand_in("dan", course.answer(RIGHT, RIGHT_HALF))
    assert course.gradekit("autograde", "01_double", "--workers", "1") == 0
    done = course.run("gradekit", "report", "01_double")
    assert done.returncode == 0, done.stderr
    (course.root / "printed.txt").write_text(done.stdout)


class FourTimes(TinyCourse):
    """That class, with what its report printed and grouped."""

    @property
    def printed(self) -> str:
        return (self.root / "printed.txt").read_text()

    @property
    def groups(self) -> list[dict[str, Any]]:
        return json.loads((self.root / "reports/01_double/report.json").read_text())["groups"]


@pytest.fixture
def four_times(four_times_original: Path, tmp_path: Path) -> FourTimes:
    """A copy of that class for one test."""
    return FourTimes(Path(shutil.copytree(four_times_original, tmp_path / "course")))


@pytest.fixture
def grade_answer(tiny_course: TinyCourse) -> Callable[..., Any]:
    """Grade one answer of the tiny course, as source text of the answer cell; gives the result."""
    from gradekit.session.limits import Limits
    from gradekit.verdict.grade import grade
    from gradekit.verdict.opened import GradingJob, HowToRun

    def run(source: str, limits: Limits | None = None) -> object:
        released = tiny_course.assignment.released("double")
        how = HowToRun(limits or Limits())
        job = GradingJob(tiny_course.assignment, "double", tiny_course.answer(source), released, how)
        return grade(job).result

    return run
