"""Courses with other folders, names, gradebooks and choices of students than the default ones."""

import contextlib
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest
from nbformat import v4

from gradekit.cli import main
from gradekit.course import CourseError
from gradekit.grading.cluster import _unpacked, zipped_assignment
from gradekit.grading.running_course import RunningCourse
from gradekit.session.session import Session

from .forked import run_forked
from .plain_course import PlainCourse, empty_home


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    return empty_home(tmp_path, monkeypatch)


STRUCTURES = [
    "{nbgrader_step}/{assignment_id}/{student_id}",
    "data/{nbgrader_step}/{student_id}/{assignment_id}",
    "{assignment_id}/{nbgrader_step}/{student_id}",
    "{nbgrader_step}/{student_id}-{assignment_id}",
]


@pytest.mark.slow
@pytest.mark.parametrize("structure", STRUCTURES)
def test_any_directory_structure_is_understood(structure, tmp_path, capsys):
    course = PlainCourse(tmp_path / "course", structure=structure)
    course.write(f"c.CourseDirectory.directory_structure = {structure!r}").pretend_generated()
    for name in ("bo.b", "ann-1"):
        course.hand_in(name, 2)
    found = RunningCourse.open(course.root)
    assert [assignment.name for assignment in found.layout.assignments()] == ["ps1"]
    assert found.assignment("ps1").released_names() == ["p1"]
    assert found.handed_in("ps1") == found.handed_in() == ["ann-1", "bo.b"]
    assert main(["--course-dir", str(course.root), "table", "ps1"]) == 0
    assert capsys.readouterr().out.count("not autograded") == 2


def test_a_cluster_gets_the_files_of_renamed_folders(tmp_path):
    names = {"source": str(tmp_path / "disk" / "source"), "release": "Ausgabe"}
    lines = [f"c.CourseDirectory.{step}_directory = {name!r}" for step, name in names.items()]
    course = PlainCourse(tmp_path / "course", names=names).write("\n".join(lines)).pretend_generated()
    there = _unpacked("ps1", zipped_assignment(RunningCourse.open(course.root).assignment("ps1")))
    assert [path.name for path in there.source_notebooks()] == ["p1.ipynb"]
    assert there.released_names() == ["p1"]
    assert (there.checks / "test_times.py").is_file()


def test_folders_may_be_on_another_disk(tmp_path, capsys):
    names = {step: str(tmp_path / "disk" / step) for step in ("source", "release", "submitted", "autograded")}
    lines = [f"c.CourseDirectory.{step}_directory = {name!r}" for step, name in names.items()]
    course = PlainCourse(tmp_path / "course", names=names).write("\n".join(lines)).pretend_generated()
    course.hand_in("ann", 2)
    found = RunningCourse.open(course.root)
    assert found.handed_in("ps1") == ["ann"]
    assert found.autograded("ann", "ps1") == tmp_path / "disk" / "autograded" / "ann" / "ps1"
    assert main(["--course-dir", str(course.root), "table"]) == 0
    assert "not autograded" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["ps 1", "Übung 1.b", "a.b.c", "x+y", "[1]"])
def test_names_may_have_dots_spaces_and_accents(name, tmp_path):
    course = (
        PlainCourse(tmp_path / "Kurs É 1+1", assignment=name, notebook="Blatt 1.2 ü")
        .write()
        .pretend_generated()
    )
    course.hand_in("zoë b.c", 2)
    found = RunningCourse.open(course.root)
    assert [assignment.name for assignment in found.layout.assignments()] == [name]
    assert found.assignment(name).released_names() == ["Blatt 1.2 ü"]
    assert found.handed_in(name) == ["zoë b.c"]


def test_checkpoints_are_no_assignment(tmp_path):
    course = PlainCourse(tmp_path / "course").write()
    shutil.copytree(course.folder("source"), course.root / "source" / ".ipynb_checkpoints")
    assert [found.name for found in RunningCourse.open(course.root).layout.assignments()] == ["ps1"]


@pytest.mark.parametrize(("url", "place"), [("noten 1.db", "course"), ("{tmp}/grades/é.db", "grades")])
def test_the_gradebook_may_be_another_file(url, place, tmp_path, capsys):
    url = url.format(tmp=tmp_path)
    (tmp_path / "grades").mkdir()
    course = PlainCourse(tmp_path / "course", database=tmp_path / place / Path(url).name)
    course.write(f"c.CourseDirectory.db_url = 'sqlite:///{url}'")
    assert main(["--course-dir", str(course.root), "table"]) == 2
    assert f"{course.database} does not exist: run `nbgrader generate_assignment" in capsys.readouterr().err
    course.pretend_generated("ann")
    assert main(["--course-dir", str(course.root), "table"]) == 0
    assert "ann" in capsys.readouterr().out
    assert RunningCourse.open(course.root).folders.db_url == f"sqlite:///{course.database}"
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("url", ["sqlite:///{root}/a.db?timeout=60", "sqlite:///a.db"])
def test_the_gradebook_s_file_is_known(url, tmp_path):
    course = PlainCourse(tmp_path / "course")
    course.write(f"c.CourseDirectory.db_url = {url.format(root=course.root)!r}")
    assert RunningCourse.open(course.root).gradebook_file == course.root / "a.db"


def test_a_password_is_not_printed(tmp_path):
    course = PlainCourse(tmp_path / "course")
    course.write("c.CourseDirectory.db_url = 'postgresql://ann:secret@127.0.0.1:1/none'")
    with pytest.raises(CourseError) as raised:
        RunningCourse.open(course.root).gradebook()
    assert "secret" not in str(raised.value)


def test_the_configured_assignment_is_the_default(tmp_path, capsys):
    course = (
        PlainCourse(tmp_path / "course").write("c.CourseDirectory.assignment_id = 'ps1'").pretend_generated()
    )
    (course.root / "source" / "ps2").mkdir()
    (course.root / "source" / "ps2" / "p.ipynb").write_text("{")
    assert main(["--course-dir", str(course.root), "table"]) == 0
    assert "ps2" not in capsys.readouterr().out


@pytest.mark.parametrize("setting", ["student_id_exclude = 'ann,eve'", "student_id = 'b*'"])
def test_students_whom_the_settings_leave_out_are_not_graded(setting, tmp_path):
    course = PlainCourse(tmp_path / "course").write(f"c.CourseDirectory.{setting}")
    found = RunningCourse.open(course.root)
    assert found.gradable(["ann", "bob", "eve"]) == ["bob"]


@pytest.mark.slow
def test_a_student_who_may_not_be_added_is_graded_when_added_as_advised(tmp_path, capsys):
    course = PlainCourse(tmp_path / "course").write("c.Autograde.create_student = False")
    course.nbgrader("generate_assignment")
    course.hand_in("o'brien", 2)
    command = ["--course-dir", str(course.root), "autograde"]
    assert main(command) == 1
    (advised,) = re.findall("`(nbgrader db student add [^`]*)`", capsys.readouterr().out)
    assert run_forked(shlex.split(advised), course.root).returncode == 0
    assert main(command) == 0
    assert course.scores() == {"o'brien": 2}


def test_who_is_left_out_is_shown_as_that(tmp_path, capsys):
    course = PlainCourse(tmp_path / "course").write("c.CourseDirectory.student_id_exclude = 'ann'")
    course.pretend_generated("ann").hand_in("ann", 2)
    for command in ("table", "autograde"):
        assert main(["--course-dir", str(course.root), command]) == 0
        shown = capsys.readouterr().out
        assert "left out" in shown and "not autograded" not in shown


@pytest.mark.parametrize(
    ("texts", "chosen"),
    [
        (["ann"], "ann"),
        (["ann, bob"], "ann bob"),
        (["Müller, Jörg"], "Müller, Jörg"),
        (["Müller, Jörg", "a*,bob"], "Müller, Jörg ann bob"),
    ],
)
def test_a_student_may_be_chosen_whose_id_has_a_comma(texts, chosen, tmp_path):
    students = ["Müller, Jörg", "ann", "bob", "Jörg"]
    course = PlainCourse(tmp_path / "course").write().pretend_generated(*students)
    found = RunningCourse.open(course.root)
    found.choose(texts)
    assert " ".join(filter(found.is_chosen, students)) == chosen
    for unknown in ("eve", "ann,eve", ","):
        with pytest.raises(CourseError, match=r"no student (eve|'') is in the gradebook"):
            found.choose([unknown])


@pytest.mark.thorough
def test_what_nbgrader_graded_itself_keeps_its_scores_until_it_is_regraded(tmp_path, capsys):
    course = PlainCourse(tmp_path / "course").write()
    config = course.root / "nbgrader_config.py"
    text = config.read_text()
    config.write_text(text.replace("\nconfigure(c)", ""))
    course.nbgrader("generate_assignment")
    for student, factor in {"ann": 2, "bob": 3}.items():
        course.hand_in(student, factor)
    course.nbgrader("autograde")
    config.write_text(text)

    def shown(*command: str) -> str:
        assert main(["--course-dir", str(course.root), *command]) == 0
        return capsys.readouterr().out

    assert course.scores() == {"ann": 2, "bob": 2}  # the test cell asks only whether it can be called
    assert shown("table").count("graded by nbgrader") == 2
    assert "nothing new to grade; 2 graded by nbgrader" in shown("autograde")
    assert "the scores of 1 of 2 students would change" in shown("regrade", "ps1", "--dry-run")
    assert "bob  test_times: 2 -> 0 points\n    how it was graded before isn't known\n" in shown("regrade")
    assert course.scores() == {"ann": 2, "bob": 0}
    assert "by nbgrader" not in shown("autograde")
    (letters,) = course.root.glob("reports/ps1/letters/*")
    assert [path.name for path in letters.glob("*.txt")] == ["bob.txt"]
    assert "by nbgrader" not in shown("table")


def test_files_that_students_do_not_get_are_not_handed_to_the_kernel(tmp_path):
    course = PlainCourse(tmp_path / "course").write("c.CourseDirectory.ignore = ['secret*']")
    for name in ("secret.csv", "data.csv", "_helpers.py"):
        (course.folder("source") / name).touch()
    handed_out = RunningCourse.open(course.root).assignment("ps1").handed_out()
    assert [path.name for path in handed_out] == ["_helpers.py", "data.csv"]


def test_such_files_are_left_out_of_folders_that_students_get(tmp_path):
    course = PlainCourse(tmp_path / "course").write("c.CourseDirectory.ignore = ['secret*']")
    folder = course.folder("source") / "data" / "more"
    folder.mkdir(parents=True)
    for name in ("secret.csv", "data.csv"):
        (folder / name).touch()
    listing = "import os\nprint([sorted(files) for *_, files in os.walk('data')])"
    session = Session(
        v4.new_notebook(cells=[v4.new_code_cell(listing)]),
        files=RunningCourse.open(course.root).assignment("ps1").working_files(),
    )
    with contextlib.closing(session):
        session.run_cells()
    assert session.notebook.cells[0].outputs[0].text == "[[], ['data.csv']]\n"


def test_a_configuration_may_import_modules_of_the_working_directory(tmp_path, monkeypatch):
    course = PlainCourse(tmp_path / "course").write(
        "import rules_of_this_course\nc.Execute.timeout = rules_of_this_course.SECONDS"
    )
    (course.root / "rules_of_this_course.py").write_text("SECONDS = 17\n")
    with pytest.raises(CourseError, match="No module named 'rules_of_this_course'"):
        RunningCourse.open(course.root)
    monkeypatch.chdir(course.root)
    try:
        assert RunningCourse.open().config.Execute.timeout == 17
    finally:
        sys.modules.pop("rules_of_this_course", None)


def test_reading_the_configuration_writes_nothing(tmp_path, home):
    course = PlainCourse(tmp_path / "course").write(
        "c.NbGrader.logfile = 'nbgrader.log'\nc.NbGrader.log_level = 'DEBUG'"
    )
    before = sorted(tmp_path.rglob("*"))
    with contextlib.chdir(course.root):
        RunningCourse.open()
    after = [path for path in sorted(tmp_path.rglob("*")) if "__pycache__" not in path.parts]
    assert after == before


# ---------------------------------------------------------------- graded from end to end


@pytest.mark.slow
def test_a_folder_whose_name_is_html_is_renamed_since_formgrader_would_run_it(tmp_path):
    course = PlainCourse(tmp_path / "course").write().pretend_generated()
    course.hand_in('"><img src=x onerror=evil()>', 2)
    assert main(["--course-dir", str(course.root), "autograde", "--strict"]) == 1
    assert list(course.scores()) == ["”›‹img src=x onerror=evil()›"]
