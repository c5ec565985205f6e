"""`gradekit demo` and `gradekit init`: a person who has nothing but the installed command."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

import gradekit
from gradekit.cli import main
from gradekit.cli.help import _topics
from gradekit.grading.running_course import RunningCourse
from gradekit.report.table import class_table
from gradekit_authoring.cli.learning import has_desktop
from gradekit_authoring.doctor import examine_course

from .forked import run_forked
from .test_advice import messages
from .tiny_course import code, lab, mark

PAGE = Path(__file__).parents[3] / "docs" / "own-course.md"


def new_process(folder: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `gradekit` as a person does, who has no other command on PATH."""
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | variables,
    )


def statuses(root: Path) -> dict[str, tuple[str, float | None]]:
    course = RunningCourse.open(root)
    table = class_table(course, course.assignment("01_standardized"))
    return {row.student: (row.status, row.points["test_standardized"]) for row in table.rows}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder in which `gradekit demo` has run, and what it printed."""
    folder = tmp_path_factory.mktemp("newcomer")
    done = new_process(folder, "gradekit", "demo", "--no-open", PATH=with_scripts()["PATH"])
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


@pytest.mark.slow
def test_the_demo_grades_five_submissions_that_show_what_can_happen(demo):
    folder, said = demo
    assert statuses(folder / "gradekit-demo") == {
        "right": ("graded", 90),
        "mistake": ("graded", 30),
        "syntax-error": ("partly graded", 0),
        "endless-loop": ("timed out", 0),
        "undecided": ("graded", None),
    }
    assert "undecided: standardized is undecided. The answer cell `standardized` is empty" in said


@pytest.mark.slow
def test_the_demo_names_pages_that_exist(demo):
    folder, said = demo
    named = [Path(line.strip()) for line in said.splitlines() if line.strip().startswith(str(folder))]
    pages = [Path(str(path).replace("STUDENT", "mistake")) for path in named]
    assert [path.name for path in pages] == ["standardized.html", "report.html"]
    assert "Divide by the number of rows: `ddof=0`" in pages[0].read_text().replace("<code>", "`").replace(
        "</code>", "`"
    )
    assert pages[1].exists()


@pytest.mark.thorough
def test_the_three_commands_that_the_demo_ends_with_work(demo):
    folder, said = demo
    commands = said.split("What to do next:\n")[1].splitlines()
    assert len(commands) == 3
    in_order = "set -e\n" + "\n".join(commands)
    done = subprocess.run(
        in_order, shell=True, cwd=folder, capture_output=True, text=True, check=False, env=with_scripts()
    )
    assert done.returncode == 0, (done.stdout, done.stderr)


def with_scripts() -> dict[str, str]:
    return os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


@pytest.mark.thorough
def test_where_there_is_no_sandbox_the_demo_says_what_is_lost_and_grades(tmp_path):
    broken = tmp_path / "bin" / "bwrap"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\necho 'bwrap: no permissions here' >&2\nexit 1\n")
    broken.chmod(0o755)
    path = f"{broken.parent}{os.pathsep}{os.environ['PATH']}"
    done = new_process(tmp_path, "gradekit", "demo", "here", "--no-open", PATH=path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(
        "Without a sandbox: bubblewrap does not run here (bwrap: no permissions here)"
    )
    assert "it could read the hidden checks" in done.stdout
    assert statuses(tmp_path / "here")["right"] == ("graded", 90)


def test_the_demo_writes_only_into_an_empty_folder(tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("mine")
    assert main(["demo", str(tmp_path)]) == 2
    assert f"{tmp_path} isn't an empty folder" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_page_is_opened_only_where_a_person_sees_it(monkeypatch):
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert has_desktop()
    monkeypatch.delenv("DISPLAY")
    assert not has_desktop()
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("sys.stdout.isatty", lambda: False, raising=False)
    assert not has_desktop()


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder in which `gradekit init` has run, and what it printed."""
    root = tmp_path_factory.mktemp("new") / "my course"
    root.mkdir()
    done = run_forked(["gradekit", "init", "--arrays", "numpy"], root)
    assert done.returncode == 0, done.stderr
    return root, done.stdout


@pytest.mark.slow
def test_init_begins_a_course_with_an_assignment_that_can_be_released(begun):
    root, said = begun
    course = RunningCourse.open(root)
    assert course.plugged_in and course.folders.course_id == "my_course"
    for command in ["nbgrader generate_assignment 01_first", "gradekit autograde 01_first"]:
        assert f"\n  {command}" in said
        done = run_forked(command.split(), root)
        assert done.returncode == 0, done.stderr
    assert (root / "release" / "01_first" / "first.ipynb").exists()


@pytest.mark.slow
def test_init_overwrites_nothing(begun, tmp_path, capsys):
    root, _ = begun
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    assert main(["init", str(root)]) == 2
    assert "nbgrader_config.py exists" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
    kept = tmp_path / "source" / "01_first" / "mine.txt"
    kept.parent.mkdir(parents=True)
    kept.write_text("mine")
    assert main(["init", str(tmp_path)]) == 2
    assert "source/01_first exists" in capsys.readouterr().err
    assert kept.read_text() == "mine" and not (tmp_path / "nbgrader_config.py").exists()


def test_in_an_empty_folder_the_doctor_leads_to_init(tmp_path):
    (finding,) = examine_course(tmp_path)
    assert finding.remedy.startswith("`gradekit init` begins a course here")


def test_help_explains_each_topic_and_names_those_it_has(capsys):
    for topic in _topics():
        assert main(["help", topic]) == 0
        shown = capsys.readouterr().out
        assert len(shown.splitlines()) > 5
        assert "docs/" not in shown
    assert main(["help"]) == 0
    listed = capsys.readouterr().out
    assert [topic for topic in _topics() if f"`gradekit help {topic}`" not in listed] == []
    assert main(["help", "nothing"]) == 2
    said = capsys.readouterr().err
    assert [topic for topic in _topics() if f"`gradekit help {topic}`" not in said] == []


def test_no_message_points_to_a_folder_that_a_wheel_lacks():
    sources = Path(gradekit.__file__).parent.rglob("*.py")
    strings = [(path.name, text) for path in sources for text in messages(ast.parse(path.read_text()))]
    assert [(name, text) for name, text in strings if "docs/" in text and "://" not in text] == []


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.thorough
def test_who_follows_the_page_for_a_course_from_nothing_ends_with_a_graded_submission(tmp_path):
    commands = [line.removeprefix("$ ") for block in blocks("console") for line in block.splitlines()]
    assert len(commands) == 13
    done = subprocess.run(
        ["bash", "-ec", "\n".join(commands)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env=with_scripts(),
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert re.search(r"^ada +graded +90 +- +90$", done.stdout, re.MULTILINE)
    assert (tmp_path / "my-course" / "feedback" / "ada" / "01_first" / "first.html").exists()


@pytest.mark.thorough
def test_a_check_can_use_another_data_file_as_the_page_shows(tiny_course, capsys):
    answer, checks = blocks("python")
    body = answer.partition("\n")
    solution = f"{body[0]}\n    ### BEGIN SOLUTION\n{body[2]}    ### END SOLUTION"
    notebook = lab(
        [
            code("import csv"),
            code(solution, mark("mean_of", solution=True)),
            code("mean_of", mark("test_mean_of", grade=True, locked=True, points=10)),
        ]
    )
    source = tiny_course.root / "source" / "03_data"
    source.mkdir()
    nbformat.write(notebook, source / "data.ipynb")
    (source / "temperatures.csv").write_text("day,degrees\n1,18\n2,22\n")
    folder = tiny_course.root / "tests" / "03_data"
    folder.mkdir()
    (folder / "test_mean_of.py").write_text(checks)
    assert tiny_course.run("nbgrader", "generate_assignment", "03_data").returncode == 0
    for student, source_code in {
        "right": answer,
        "fixed": "def mean_of(file, column):\n    return 20.0",
    }.items():
        released = tiny_course.running.assignment("03_data").released("data")
        released.cells[1].source = source_code
        path = tiny_course.root / "submitted" / student / "03_data" / "data.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(released, path)
    assert tiny_course.gradekit("autograde", "03_data", "--workers", "1") == 0
    course = tiny_course.running
    table = class_table(course, course.assignment("03_data"))
    assert {row.student: row.total for row in table.rows} == {"right": 10, "fixed": 5}
