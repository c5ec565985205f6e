"""Whole courses in which everything is renamed, and several of them, are graded as any other."""

import contextlib
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from jupyter_core.application import JupyterApp
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import v4
from nbgrader.apps.baseapp import NbGrader

from gradekit.cli import main
from gradekit.course.kernels import LIMITED
from gradekit.grading.running_course import RunningCourse
from gradekit.nbgrader_plugin.rubric import ShowRubric
from gradekit.nbgrader_plugin.steps import before_autograde

from .plain_course import LINES, RENAMED, PlainCourse, empty_home, mark


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    return empty_home(tmp_path, monkeypatch)


IN_THIS_PROCESS = f"c.RunChecks.student_kernel = {LIMITED!r}"


@pytest.mark.thorough
def test_a_course_in_which_everything_is_renamed_is_graded_from_another_folder(tmp_path, capfd):
    steps = ("source", "release", "submitted", "autograded", "feedback")
    names = {step: f"{number} {step} é" for number, step in enumerate(steps)}
    lines = [f"c.CourseDirectory.{step}_directory = {name!r}" for step, name in names.items()]
    structure = "{assignment_id}/{nbgrader_step}/{student_id}"
    lines += [
        f"c.CourseDirectory.directory_structure = {structure!r}",
        "c.CourseDirectory.db_url = 'sqlite:///Noten ü.db'",
        "c.CourseDirectory.course_id = 'Kurs 1'",
        IN_THIS_PROCESS,
    ]
    root = tmp_path / "Kurs É, 1+1"
    course = PlainCourse(
        root, "Übung 1.b", "Blatt 1.2 ü", structure=structure, names=names, database=root / "Noten ü.db"
    )
    course.write("\n".join(lines)).nbgrader("generate_assignment")
    course.hand_in("zoë b.c", 2)
    course.hand_in("x+y", 3)
    scores = {"zoë b.c": 2, "x+y": 0}

    assert main(["--course-dir", str(root), "autograde", "--workers", "1"]) == 0
    assert course.scores() == scores
    assert main(["--course-dir", str(root), "table"]) == 0
    assert "zoë b.c  graded      2" in capfd.readouterr().out
    course.nbgrader("autograde", "--force")
    assert course.scores() == scores
    course.nbgrader("generate_feedback")
    assert all((course.folder("feedback", name) / "Blatt 1.2 ü.html").is_file() for name in scores)

    assert {path.name for path in root.iterdir()} == {
        ".gradekit",
        "Noten ü.db",
        "nbgrader_config.py",
        "tests",
        "Übung 1.b",
    }
    assert {path.name for path in (root / "Übung 1.b").iterdir()} == set(names.values())
    assert list(Path.cwd().iterdir()) == []


@pytest.mark.thorough
def test_two_courses_with_equal_names_have_nothing_in_common(tmp_path, monkeypatch):
    twice = PlainCourse(tmp_path / "twice", factor=2, points=2).write(IN_THIS_PROCESS)
    thrice = PlainCourse(tmp_path / "thrice", factor=3, points=7).write(IN_THIS_PROCESS)
    for course in (twice, thrice):
        course.nbgrader("generate_assignment")
        course.hand_in("ann", 2)
        course.hand_in("ben", 3)
    expected = [{"ann": 2, "ben": 0}, {"ann": 0, "ben": 7}]

    # one after the other, in one process
    for course in (twice, thrice):
        assert main(["--course-dir", str(course.root), "autograde", "--workers", "1"]) == 0
    assert [twice.scores(), thrice.scores()] == expected

    # at the same time, each by a command that stands in the other's folder
    script = Path(sys.executable).with_name("gradekit")
    under_way = []
    for course, desk in [(twice, thrice), (thrice, twice)]:
        words = ["--course-dir", str(course.root), "autograde", "--force", "--fresh", "--workers", "1"]
        under_way.append(subprocess.Popen([script, *words], cwd=desk.root))
    assert [command.wait(300) for command in under_way] == [0, 0]
    assert [twice.scores(), thrice.scores()] == expected
    for course in (twice, thrice):
        assert len(list((course.root / ".gradekit" / "results" / "ps1").glob("*.json"))) == 2


@pytest.mark.slow
def test_in_formgrader_the_settings_are_those_of_the_course(tmp_path):
    """There, the application is Jupyter's server, which knows nothing of nbgrader's configuration."""
    course = PlainCourse(tmp_path / "course", names=RENAMED).write("\n".join(LINES)).pretend_generated()
    course.hand_in("ann", 2)
    notebooks = [str(course.folder("submitted", "ann") / "other.ipynb")]
    NbGrader.clear_instance()
    JupyterApp.instance()
    try:
        with contextlib.chdir(course.root):  # nbgrader converts there
            before_autograde("ps1", "ann", notebooks)
    finally:
        JupyterApp.clear_instance()
    assert [Path(path).name for path in notebooks] == ["other.ipynb", "p1.ipynb"]


def test_formgrader_shows_the_model_answer_whatever_the_layout(tmp_path):
    structure = "{assignment_id}/{nbgrader_step}/{student_id}"
    course = PlainCourse(tmp_path / "course", structure=structure)
    course.write(f"c.CourseDirectory.directory_structure = {structure!r}")
    written = v4.new_markdown_cell("Because.", metadata=mark("why", grade=True, solution=True, points=1))
    nbformat.write(v4.new_notebook(cells=[written]), course.folder("source") / "p1.ipynb")
    place = ResourcesDict(name="p1", path=str(course.folder("autograded", "ann")))
    resources = ResourcesDict(metadata=place, assignment_id="ps1")
    shown, _ = ShowRubric(config=RunningCourse.open(course.root).config).preprocess(
        v4.new_notebook(cells=[written]), resources
    )
    assert "Model answer" in shown.cells[0].source


# ---------------------------------------------------------------- what is wrong is said in one sentence
