"""coursekit's commands find a course and its settings where nbgrader finds them."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import pytest
from jupyter_core.application import JupyterApp
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode, v4
from nbgrader.api import Gradebook
from nbgrader.apps.baseapp import NbGrader

from coursekit.cli import main
from coursekit.configuration import read_configuration
from coursekit.course import CourseError
from coursekit.grading.cluster import _unpacked, packed
from coursekit.grading.running_course import RunningCourse
from coursekit.kernels import LIMITED
from coursekit.nbgrader_plugin.rubric import ShowRubric
from coursekit.nbgrader_plugin.steps import before_autograde
from coursekit.student.session import Session

CONFIGURE = "from coursekit.nbgrader_plugin import configure\n\nc = get_config()\n{}\nconfigure(c)\n"
SOLUTION = "def times(x):\n    ### BEGIN SOLUTION\n    return {} * x\n    ### END SOLUTION"
CHECKS = '''
from coursekit.checks import points


@points({points})
def test_value(student, factor):
    """The right multiple."""
    assert student.times(5) == 5 * factor
'''
#: for all assignments of a course, and so outside of their own folders
FACTOR = """
import pytest


@pytest.fixture
def factor():
    return {}


@pytest.fixture
def arrays():
    return "numpy"
"""


GRADEBOOKS: dict[tuple, bytes] = {}


def mark(name: str, **values: object) -> dict:
    base = {"grade": False, "locked": False, "schema_version": 3, "solution": False, "task": False}
    return {"nbgrader": {**base, "grade_id": name, **values}}


def plain_notebook(answer: str, points: int = 2) -> NotebookNode:
    kernelspec = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    test = mark("test_times", grade=True, locked=True, points=points)
    cells = [
        v4.new_code_cell(answer, metadata=mark("times", solution=True)),
        v4.new_code_cell("assert callable(times)", metadata=test),
    ]
    return v4.new_notebook(cells=cells, metadata={"kernelspec": kernelspec})


@dataclass
class PlainCourse:
    """A course of plain Python with one assignment, in folders of any names."""

    root: Path
    assignment: str = "ps1"
    notebook: str = "p1"
    factor: int = 2
    points: int = 2
    structure: str = "{nbgrader_step}/{student_id}/{assignment_id}"
    names: dict[str, str] = field(default_factory=dict)
    database: Path | None = None

    def folder(self, step: str, student: str = ".") -> Path:
        name = self.names.get(step, step)
        below = self.structure.format(nbgrader_step=name, student_id=student, assignment_id=self.assignment)
        return self.root / below

    def write(self, settings: str = "") -> "PlainCourse":
        """Write the source, the checks, and the configuration with these lines."""
        self.folder("source").mkdir(parents=True)
        source = plain_notebook(SOLUTION.format(self.factor), self.points)
        nbformat.write(source, self.folder("source") / f"{self.notebook}.ipynb")
        checks = self.root / "tests" / self.assignment
        checks.mkdir(parents=True)
        (checks / "test_times.py").write_text(CHECKS.format(points=self.points))
        (checks.parent / "conftest.py").write_text(FACTOR.format(self.factor))
        (self.root / "nbgrader_config.py").write_text(CONFIGURE.format(settings))
        return self

    def pretend_generated(self, *students: str) -> "PlainCourse":
        """Write what the commands need of `nbgrader generate_assignment`: the release and a gradebook."""
        self.folder("release").mkdir(parents=True)
        released = plain_notebook("# YOUR CODE HERE\nraise NotImplementedError()", self.points)
        nbformat.write(released, self.folder("release") / f"{self.notebook}.ipynb")
        database = self.database or self.root / "gradebook.db"
        key = (self.assignment, self.notebook, self.points, *students)
        if key in GRADEBOOKS:  # nbgrader takes a second to create one
            database.write_bytes(GRADEBOOKS[key])
            return self
        with self.gradebook() as gradebook:
            gradebook.add_assignment(self.assignment)
            gradebook.add_notebook(self.notebook, self.assignment)
            gradebook.add_grade_cell(
                "test_times", self.notebook, self.assignment, max_score=self.points, cell_type="code"
            )
            for student in students:
                gradebook.add_student(student)
        GRADEBOOKS[key] = database.read_bytes()
        return self

    def hand_in(self, student: str, factor: int) -> None:
        notebook = nbformat.read(self.folder("release") / f"{self.notebook}.ipynb", as_version=4)
        notebook.cells[0].source = f"def times(x):\n    return {factor} * x"
        self.folder("submitted", student).mkdir(parents=True)
        nbformat.write(notebook, self.folder("submitted", student) / f"{self.notebook}.ipynb")

    def nbgrader(self, *command: str) -> None:
        """Run nbgrader's command in the folder where the test is."""
        script = Path(sys.executable).with_name("nbgrader")
        words = [*command, self.assignment, "--course-dir", str(self.root)]
        done = subprocess.run([script, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    def gradebook(self) -> Gradebook:
        return Gradebook(f"sqlite:///{self.database or self.root / 'gradebook.db'}")

    def scores(self) -> dict[str, float]:
        with self.gradebook() as gradebook:
            return {
                found.student_id: found.score for found in gradebook.assignment_submissions(self.assignment)
            }


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """An empty home and working directory, and no folders of the system."""
    for name in ("home", "elsewhere"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "home" / ".jupyter"))
    monkeypatch.delenv("JUPYTER_CONFIG_PATH", raising=False)
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path / "home"


def settings_of(folder: Path, *lines: str, name: str = "nbgrader_config.py") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("\n".join(["c = get_config()", *lines, ""]))
    return folder


# ---------------------------------------------------------------- (where the configuration is) × (command)

RENAMED = {"source": "Quelle", "release": "Ausgabe", "submitted": "Abgaben 2026"}
LINES = [f"c.CourseDirectory.{step}_directory = {name!r}" for step, name in RENAMED.items()]


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
    "autograde --sandbox none --workers 1": (1, "ps1: 1 missing"),
    "regrade --sandbox none --workers 1": (0, "the scores of 0 of 0 students changed"),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("place", PLACES)
def test_every_command_finds_the_settings(place, command, tmp_path, monkeypatch, capfd):
    # nothing is run here: starting what could run it would take most of the time
    monkeypatch.setattr("coursekit.audit.record", lambda *_: None)
    monkeypatch.setattr("coursekit.workers.launch_server", lambda: None)
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

STRUCTURES = [
    "{nbgrader_step}/{assignment_id}/{student_id}",
    "data/{nbgrader_step}/{student_id}/{assignment_id}",
    "{assignment_id}/{nbgrader_step}/{student_id}",
    "{nbgrader_step}/{student_id}-{assignment_id}",
]


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
    there = _unpacked("ps1", packed(RunningCourse.open(course.root).assignment("ps1")))
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


def test_files_that_students_do_not_get_are_not_handed_to_the_kernel(tmp_path):
    course = PlainCourse(tmp_path / "course").write("c.CourseDirectory.ignore = ['secret*']")
    for name in ("secret.csv", "data.csv"):
        (course.folder("source") / name).touch()
    assert [path.name for path in RunningCourse.open(course.root).assignment("ps1").handed_out()] == [
        "data.csv"
    ]


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

IN_THIS_PROCESS = f"c.RunChecks.student_kernel = {LIMITED!r}"


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
        ".coursekit",
        "Noten ü.db",
        "nbgrader_config.py",
        "tests",
        "Übung 1.b",
    }
    assert {path.name for path in (root / "Übung 1.b").iterdir()} == set(names.values())
    assert list(Path.cwd().iterdir()) == []


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
    script = Path(sys.executable).with_name("coursekit")
    under_way = []
    for course, desk in [(twice, thrice), (thrice, twice)]:
        words = ["--course-dir", str(course.root), "autograde", "--force", "--fresh", "--workers", "1"]
        under_way.append(subprocess.Popen([script, *words], cwd=desk.root))
    assert [command.wait(300) for command in under_way] == [0, 0]
    assert [twice.scores(), thrice.scores()] == expected
    for course in (twice, thrice):
        assert len(list((course.root / ".coursekit" / "results" / "ps1").glob("*.json"))) == 2


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

WRONG = {
    "c.RunChecks.memory_limt = 512": "c.RunChecks.memory_limt: there is no such setting: did you mean c.RunChecks.memory_limit?",
    "c.LatePenalty.xyz = 1": "c.LatePenalty.xyz: there is no such setting: remove the line",
    "c.RunCheck.timeout = 5": "c.RunCheck: there is no such section: write c.RunChecks",
    "c.RunChecks.call_timeout = 'long'": "The 'call_timeout' trait of a RunChecks instance expected a float",
    "c.Execute.timeout = 'long'": "The 'timeout' trait of a RunChecks instance expected",
    "c.Execute.timeout = -3": "c.Execute.timeout must be more than 0 seconds",
    "c.LatePenalty.per_day = 7": "The value of the 'per_day' trait of a LatePenalty instance should",
    "c.CourseDirectory.course_id = 5": "The 'course_id' trait of a CourseDirectory instance expected a unicode string",
    "1 / 0": "ZeroDivisionError: division by zero",
    "raise SystemExit(3)": "SystemExit: 3",
    "x = (1,": "SyntaxError: '(' was never closed",
    "import no_such_module": "ModuleNotFoundError: No module named 'no_such_module'. nbgrader imports modules from",
}


@pytest.mark.parametrize("line", WRONG)
def test_a_wrong_line_is_named(line, tmp_path, capsys):
    course = PlainCourse(tmp_path / "course").write(f"# a comment\n{line}")
    assert main(["--course-dir", str(course.root), "table"]) == 2
    shown = capsys.readouterr().err
    number = 1 + (course.root / "nbgrader_config.py").read_text().splitlines().index(line)
    assert shown.startswith(f"coursekit: {course.root / 'nbgrader_config.py'}, line {number}: {WRONG[line]}")
    assert shown.count("\n") == 1


def test_a_wrong_line_in_another_file_is_named_there(tmp_path, home):
    course = PlainCourse(tmp_path / "course").write("load_subconfig('common.py')")
    settings_of(course.root, "c.RunChecks.fresh = 3", name="common.py")
    with pytest.raises(CourseError, match=r"common\.py, line 2: The 'fresh' trait"):
        RunningCourse.open(course.root)
    settings_of(course.root, "oops", name="common.py")
    with pytest.raises(CourseError, match=r"common\.py, line 2: NameError: name 'oops' is not defined"):
        RunningCourse.open(course.root)
    settings_of(course.root, name="common.py")
    settings_of(home / ".jupyter", "oops")
    with pytest.raises(CourseError, match=r"\.jupyter/nbgrader_config\.py, line 2: NameError"):
        RunningCourse.open(course.root)
    (home / ".jupyter" / "nbgrader_config.py").unlink()
    (home / ".jupyter" / "nbgrader_config.json").write_text('{\n"RunChecks": 1,}')
    with pytest.raises(CourseError, match=r"nbgrader_config\.json, line 2: JSONDecodeError"):
        RunningCourse.open(course.root)


def test_a_course_that_does_not_plug_coursekit_in_is_not_graded(tmp_path, capsys):
    course = PlainCourse(tmp_path / "course").write().pretend_generated()
    settings_of(course.root)
    assert main(["--course-dir", str(course.root), "autograde", "--sandbox", "none"]) == 2
    assert (
        "nbgrader_config.py does not plug coursekit in: end it with configure(c)" in capsys.readouterr().err
    )
    assert not (course.root / "autograded").exists()


def test_the_paths_that_nbgrader_takes_for_patterns_are_refused(tmp_path, capsys):
    course = PlainCourse(tmp_path / "course [2026]").write()
    assert main(["--course-dir", str(course.root), "table"]) == 2
    assert "rename the folder" in capsys.readouterr().err


def test_reading_twice_leaves_nothing_behind(tmp_path):
    first = PlainCourse(tmp_path / "first").write(
        "c.Execute.timeout = 7\nc.CourseDirectory.course_id = 'one'"
    )
    second = PlainCourse(tmp_path / "second").write()
    read_configuration(first.root)
    length = len(sys.path)
    found = read_configuration(second.root)
    assert "Execute" not in found.config
    assert found.folders.course_id == ""
    assert len(sys.path) == length
