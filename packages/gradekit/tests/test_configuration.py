"""gradekit's commands find a course and its settings where nbgrader finds them."""

import json
import os
from pathlib import Path

import pytest
from nbgrader.apps.baseapp import NbGrader

from gradekit.cli import main
from gradekit.grading.running_course import RunningCourse

from .plain_course import LINES, RENAMED, PlainCourse, empty_home, settings_of


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    return empty_home(tmp_path, monkeypatch)


def in_the_course(course, tmp_path, monkeypatch):
    course.write("\n".join(LINES))
    return ["--course-dir", str(course.root)]


def in_the_working_directory(course, tmp_path, monkeypatch):
    course.write()
    monkeypatch.chdir(
        settings_of(tmp_path / "desk", *LINES, f"c.CourseDirectory.root = {str(course.root)!r}")
    )
    return []


def in_the_home_folder(course, tmp_path, monkeypatch):
    course.write()
    settings_of(tmp_path / "home" / ".jupyter", *LINES, f"c.CourseDirectory.root = {str(course.root)!r}")
    return []


def in_a_folder_of_the_system(course, tmp_path, monkeypatch):
    course.write()
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(settings_of(tmp_path / "etc", *LINES)))
    return ["--course-dir", str(course.root)]


def in_jupyter_config(course, tmp_path, monkeypatch):
    course.write()
    settings_of(tmp_path / "home" / ".jupyter", *LINES, name="jupyter_config.py")
    monkeypatch.chdir(course.root)
    return []


def in_json(course, tmp_path, monkeypatch):
    course.write()
    folders = {f"{step}_directory": name for step, name in RENAMED.items()}
    (course.root / "nbgrader_config.json").write_text(json.dumps({"CourseDirectory": folders}))
    return ["--course-dir", str(course.root)]


def in_a_subconfig(course, tmp_path, monkeypatch):
    course.write("load_subconfig('common.py')")
    settings_of(course.root, *LINES, name="common.py")
    return ["--course-dir", "../course"]


def under_outdated_names(course, tmp_path, monkeypatch):
    course.write("\n".join(LINES).replace("CourseDirectory", "NbGrader"))
    monkeypatch.chdir(course.root)
    return []


PLACES = [
    in_the_course,
    in_the_working_directory,
    in_the_home_folder,
    in_a_folder_of_the_system,
    in_jupyter_config,
    in_json,
    in_a_subconfig,
    under_outdated_names,
]
COMMANDS = {
    "table": (0, "ann"),
    "report": (2, "nothing has been graded yet"),
    "comment 1234 fine": (2, "there is no answer group 1234"),
    "earlier": (0, ""),
    "samples": (0, "ps1: 2 sample submissions"),
    "new 02_next": (0, "Quelle/02_next"),
    "autograde --sandbox none --workers 1": (0, "ps1: nothing new to grade; 1 missing"),
    "regrade --sandbox none --workers 1": (0, "the scores of 0 of 0 students changed"),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "command"),
    [  # each place and each command once; `make test-slow` has all pairs
        pytest.param(place, command, marks=[] if number == other else pytest.mark.slow)
        for number, place in enumerate(PLACES)
        for other, command in enumerate(COMMANDS)
    ],
)
def test_every_command_finds_the_settings(place, command, tmp_path, monkeypatch, capfd):
    # nothing is run here: starting what could run it would take most of the time
    monkeypatch.setattr("gradekit_authoring.grade_variants.record", lambda *_: None)
    monkeypatch.setattr("gradekit.grading.workers.launch_server", lambda *_: None)
    course = PlainCourse(tmp_path / "course", names=RENAMED)
    flags = place(course, tmp_path, monkeypatch)
    course.pretend_generated("ann")
    code, words = COMMANDS[command]
    assert main([*flags, *command.split()]) == code
    shown = capfd.readouterr()
    assert words in shown.out + shown.err
    if command == "samples":
        found = {path.relative_to(course.root) for path in course.root.rglob("p1.ipynb")}
        assert Path("Abgaben 2026/right/ps1/p1.ipynb") in found
        assert len(found) == 4  # source, release, and those of two students


@pytest.mark.parametrize("place", PLACES)
def test_the_settings_are_those_of_nbgrader_itself(place, tmp_path, monkeypatch):
    flags = place(PlainCourse(tmp_path / "course", names=RENAMED), tmp_path, monkeypatch)
    app = NbGrader()
    app.initialize(flags)
    found = RunningCourse.open(Path(flags[1]) if flags else None)
    for config in (found.config, app.config):
        config.CourseDirectory.root = os.path.realpath(app.coursedir.root)  # it may be written as `../course`
    assert found.config == app.config
    assert os.path.realpath(found.root) == os.path.realpath(app.coursedir.root)
    assert found.folders.trait_values() | {"parent": 0, "log": 0} == app.coursedir.trait_values() | {
        "parent": 0,
        "log": 0,
    }


def test_the_most_specific_file_counts_and_the_command_line_most_of_all(tmp_path, home, monkeypatch):
    course = PlainCourse(tmp_path / "course").write("c.CourseDirectory.course_id = 'course'")
    everywhere = ["c.CourseDirectory.root = '/nowhere'", "c.Execute.timeout = {}"]
    settings_of(home / ".jupyter", *everywhere, "c.CourseDirectory.course_id = 'home'")
    desk = settings_of(tmp_path / "desk", "c.Execute.timeout = 11", "c.CourseDirectory.course_id = 'desk'")
    monkeypatch.chdir(desk)
    found = RunningCourse.open(course.root)
    assert found.root == course.root
    assert found.folders.course_id == "course"
    assert found.config.Execute.timeout == 11
    assert [path.parent for path in found.files] == [home / ".jupyter", desk, course.root]


# ---------------------------------------------------------------- layouts, names, databases
