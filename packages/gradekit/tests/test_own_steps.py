"""A course's own settings of nbgrader stay in force when `configure` adds gradekit's."""

import sys

import nbformat
import pytest
from nbgrader.apps.zipcollectapp import ZipCollectApp
from nbgrader.plugins import ExtractorPlugin
from nbgrader.preprocessors import Execute, LimitOutput, SaveAutoGrades
from traitlets.config import Config

from gradekit.course import Course
from gradekit.course.configuration import read_configuration
from gradekit.grading.running_course import RunningCourse
from gradekit.nbgrader_plugin import configure
from gradekit.nbgrader_plugin.steps import RepairCells, RunChecks, SaveScores
from gradekit_lms.archives import HarmlessExtractor

from .forked import run_forked
from .plain_course import PlainCourse


def configured(change):
    config = Config()
    change(config)
    configure(config)
    return config


def test_a_list_of_own_steps_keeps_them_in_their_places():
    def change(c):
        c.Autograde.autograde_preprocessors = ["nbgrader.preprocessors.Execute", "mine.Step", SaveAutoGrades]
        c.GenerateAssignment.preprocessors = ["mine.Step"]

    config = configured(change)
    assert config.Autograde.autograde_preprocessors == [RunChecks, "mine.Step", SaveScores]
    assert config.GenerateAssignment.preprocessors[1:] == [
        "mine.Step",
        "gradekit.nbgrader_plugin.bind.BindChecks",
        "gradekit.nbgrader_plugin.generating.RequireSameCells",
        "gradekit.nbgrader_plugin.generating.SolutionPasses",
        "gradekit.nbgrader_plugin.generating.RemoveSolutionPictures",
    ]


def test_a_step_that_is_appended_or_inserted_is_added_to_the_default_ones():
    def change(c):
        c.Autograde.autograde_preprocessors.insert(0, "mine.First")
        c.Autograde.sanitize_preprocessors.append("mine.Last")

    found = configured(change).Autograde
    assert found.autograde_preprocessors[:2] == ["mine.First", RunChecks]
    assert LimitOutput in found.autograde_preprocessors and Execute not in found.autograde_preprocessors
    assert found.sanitize_preprocessors[0] is RepairCells
    assert found.sanitize_preprocessors[-1] == "mine.Last"


def test_configuring_twice_adds_nothing_twice():
    once, twice = configured(lambda c: None), configured(configure)
    assert once == twice
    called = []
    config = Config()
    config.BaseConverter.pre_convert_hook = lambda **submission: called.append(submission)
    configure(config)
    configure(config)
    hook = config.Autograde.pre_convert_hook
    assert hook.args[1] is config.BaseConverter.pre_convert_hook and len(hook.args) == 2


def test_own_settings_of_the_log_and_an_own_extractor_stay():
    def change(c):
        c.NbGrader.logging_config = {"handlers": {"file": {"class": "logging.NullHandler"}}}
        c.ZipCollectApp.extractor_plugin = "mine.Extractor"

    config = configured(change)
    assert set(config.NbGrader.logging_config["handlers"]) == {"console", "file"}
    assert config.ZipCollectApp.extractor_plugin == "mine.Extractor"


@pytest.mark.parametrize("installed", [True, False])
def test_archives_are_unpacked_by_the_package_for_downloads_if_it_is_there(installed, monkeypatch):
    if not installed:
        monkeypatch.setattr("gradekit.nbgrader_plugin.find_spec", lambda name: None)
    app = ZipCollectApp(config=configured(lambda c: None))
    assert app.extractor_plugin is (HarmlessExtractor if installed else ExtractorPlugin)


@pytest.mark.parametrize("timeout", [None, -1])
def test_without_a_limit_for_a_cell_that_of_the_submission_counts(timeout):
    settings = RunChecks(config=Config(Execute={"timeout": timeout}))
    assert settings.limits_of("ps1").cell_seconds == settings.submission_timeout


def test_a_file_that_students_may_replace_is_theirs_and_counts_in_the_key(tmp_path):
    source, own = tmp_path / "source" / "ps1", tmp_path / "own"
    for folder in (source, own):
        (folder / "lib").mkdir(parents=True)
        for name in ("mine.py", "given.py", "lib/a.py"):
            (folder / name).write_text("x")
    (source / "p1.ipynb").write_text("{}")
    course = Course(tmp_path, not_overwritten=(("ps1", ("mine.py", "lib/a.py")), ("ps2", ("given.py",))))
    names = [own / name for name in ("given.py", "lib", "mine.py")]
    paths = course.assignment("ps1").working_files(names).paths
    assert {path.rpartition("/")[2]: path for path in paths} == {
        "mine.py": str(own / "mine.py"),
        "lib": str(own / "lib"),
        "given.py": str(source / "given.py"),
    }
    assert [n for n in ("mine.py", "lib/a.py", "given.py") if course.assignment("ps1").is_replaceable(n)] == [
        "mine.py",
        "lib/a.py",
    ]


def test_gradekit_s_commands_know_what_students_may_replace_and_where_the_exchange_is(tmp_path):
    lines = (
        "c.Autograde.exclude_overwriting = {'ps1': ['mine.py']}",
        f"c.Exchange.root = '{tmp_path}/exchange'",
    )
    course = PlainCourse(tmp_path / "course").write("\n".join(lines))
    layout = RunningCourse.open(course.root).layout
    assert layout.assignment("ps1").is_replaceable("mine.py")
    assert str(tmp_path / "exchange") in map(str, layout.hidden)


#: a course whose students may replace `factor.py`, with a step and a hook of its own
OWN = """
import sys

sys.path.insert(0, {root!r})
from own_step import Mark, note

c.Autograde.exclude_overwriting = {{"ps1": ["factor.py"]}}
c.Autograde.autograde_preprocessors.insert(1, Mark)
c.Autograde.pre_convert_hook = note
c.Execute.timeout = -1
"""
STEP = """
from pathlib import Path

from nbgrader.preprocessors import NbGraderPreprocessor


class Mark(NbGraderPreprocessor):
    def preprocess(self, nb, resources):
        nb.metadata["marked"] = resources["nbgrader"]["student"]
        return nb, resources


def note(assignment, student, notebooks):
    Path("hooked.txt").write_text(f"{assignment} {student} {len(notebooks)}")
"""


@pytest.mark.thorough
def test_own_steps_hooks_and_files_act_as_in_nbgrader_itself(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    found = {}
    for name in ("plain", "configured"):
        course = PlainCourse(tmp_path / name).write()
        (course.root / "tests" / "ps1" / "test_times.py").unlink()  # an ordinary test cell
        (course.root / "own_step.py").write_text(STEP)
        config = course.root / "nbgrader_config.py"
        text = config.read_text().replace(
            "configure(c)", OWN.format(root=str(course.root)) + "\nconfigure(c)"
        )
        config.write_text(text.replace("\nconfigure(c)", "" if name == "plain" else "\nconfigure(c)"))
        (course.folder("source") / "factor.py").write_text("FACTOR = 0\n")
        course.nbgrader("generate_assignment")
        course.hand_in("ada", 2)
        folder = course.folder("submitted", "ada")
        (folder / "factor.py").write_text("FACTOR = 2\n")
        notebook = nbformat.read(folder / "p1.ipynb", as_version=4)
        notebook.cells[0].source = "from factor import FACTOR\nassert FACTOR\ndef times(x): return FACTOR * x"
        nbformat.write(notebook, folder / "p1.ipynb")
        done = run_forked(["nbgrader", "autograde", "ps1"], course.root)
        assert done.returncode == 0, done.stderr
        graded = nbformat.read(course.folder("autograded", "ada") / "p1.ipynb", as_version=4)
        hooked = (course.root / "hooked.txt").read_text()
        own = (course.folder("autograded", "ada") / "factor.py").read_text()
        found[name] = course.scores(), graded.metadata.get("marked"), hooked, own
        if name == "configured":
            assert read_configuration(course.root).config.Autograde.exclude_overwriting
    assert found["configured"] == found["plain"] == ({"ada": 2}, "ada", "ps1 * 1", "FACTOR = 2\n")
