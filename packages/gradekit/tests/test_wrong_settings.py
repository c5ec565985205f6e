"""Wrong lines in the configuration are named in one sentence."""

import re
import subprocess
import sys

import pytest

from gradekit.cli import main
from gradekit.course import CourseError
from gradekit.course.configuration import read_configuration
from gradekit.grading.running_course import RunningCourse

from .plain_course import PlainCourse, empty_home, settings_of


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    return empty_home(tmp_path, monkeypatch)


WRONG = {
    "c.RunChecks.memory_limt = 512": "c.RunChecks.memory_limt: there is no such setting: did you mean c.RunChecks.memory_limit?",
    "c.LatePenalty.xyz = 1": "c.LatePenalty.xyz: there is no such setting: remove the line",
    "c.RunCheck.timeout = 5": "c.RunCheck: there is no such section: write c.RunChecks",
    "c.RunChecks.call_timeout = 'long'": "The 'call_timeout' trait of a RunChecks instance expected a float",
    "c.Execute.timeout = 'long'": "The 'timeout' trait of a RunChecks instance expected",
    "c.Execute.timeout = -3": "c.Execute.timeout must be more than 0 seconds",
    "c.LatePenalty.per_day = 7": "The value of the 'per_day' trait of a LatePenalty instance should",
    "c.RunChecks.per_assignment = {'02': {'call_timout': 5}}": "c.RunChecks.per_assignment['02']: there is no setting "
    "'call_timout', only call_timeout, memory_limit, preload, submission_timeout, timeout",
    "c.RunChecks.per_assignment = {'02': {'memory_limit': 5}}": "c.RunChecks.per_assignment['02']: The value of the "
    "'memory_limit' trait of a RunChecks instance should",
    "c.CourseDirectory.course_id = 5": "The 'course_id' trait of a CourseDirectory instance expected a unicode string",
    "1 / 0": "ZeroDivisionError: division by zero",
    "raise SystemExit(3)": "SystemExit: 3",
    "x = (1,": "SyntaxError: '(' was never closed",
    "import coursekit": "coursekit is called gradekit now: write `gradekit` in its place",
    "c.ZipCollectApp.collector_plugin = 'coursekit.lms.MoodleCollector'": "coursekit is called gradekit now: write",
    "c.ZipCollectApp.collector_plugin = 'gradekit.lms.MoodleCollector'": "gradekit.lms is called gradekit_lms now: write",
    "c.AssignLatePenalties.plugin_class = 'gradekit.nbgrader_plugin.second_chance.SecondChance'": (
        "gradekit.nbgrader_plugin.second_chance is called gradekit.nbgrader_plugin.late now: write"
    ),
    "import no_such_module": "ModuleNotFoundError: No module named 'no_such_module'. nbgrader imports modules from",
}


@pytest.mark.parametrize("line", WRONG)
def test_a_wrong_line_is_named(line, tmp_path, capsys):
    course = PlainCourse(tmp_path / "course").write(f"# a comment\n{line}")
    assert main(["--course-dir", str(course.root), "table"]) == 2
    shown = capsys.readouterr().err
    number = 1 + (course.root / "nbgrader_config.py").read_text().splitlines().index(line)
    assert shown.startswith(f"gradekit: {course.root / 'nbgrader_config.py'}, line {number}: {WRONG[line]}")
    assert shown.count("\n") == 1


def test_state_of_the_program_s_earlier_name_is_not_forgotten(tmp_path, capsys):
    course = PlainCourse(tmp_path / "my course").write()
    (course.root / ".coursekit" / "attempts").mkdir(parents=True)
    assert main(["--course-dir", str(course.root), "table"]) == 2
    said = capsys.readouterr().err
    assert "from when gradekit was called coursekit" in said
    subprocess.run(re.findall("`(mv .*?)`", said)[0], shell=True, check=True)
    assert (course.root / ".gradekit" / "attempts").is_dir()
    main(["--course-dir", str(course.root), "table"])
    assert "called coursekit" not in capsys.readouterr().err


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


@pytest.mark.slow
def test_a_course_that_does_not_plug_gradekit_in_is_not_graded(tmp_path, capsys):
    course = PlainCourse(tmp_path / "course").write().pretend_generated()
    settings_of(course.root)
    assert main(["--course-dir", str(course.root), "autograde", "--sandbox", "none"]) == 2
    assert "nbgrader_config.py does not plug gradekit in: end it with configure(c)" in capsys.readouterr().err
    assert not (course.root / "autograded").exists()


def test_the_paths_that_nbgrader_takes_for_patterns_are_refused(tmp_path, capsys):
    course = PlainCourse(tmp_path / "course [2026]").write()
    assert main(["--course-dir", str(course.root), "table"]) == 2
    assert "rename the folder" in capsys.readouterr().err


@pytest.mark.slow
def test_an_assignment_whose_name_nbgrader_takes_for_a_pattern_is_refused_and_can_be_renamed(
    tmp_path, capsys
):
    course = PlainCourse(tmp_path / "course", assignment="ps[1]").write()
    command = ["--course-dir", str(course.root), "autograde"]
    assert main([*command, "ps[1]"]) == 2
    said = capsys.readouterr().err
    assert (
        "source/ps[1]: nbgrader reads `*`, `?`, `[` and `]` in this path as a pattern; rename the folder"
        in said
    )
    assert "generate_assignment" not in said
    for folder in (course.folder("source"), course.root / "tests" / "ps[1]"):
        folder.rename(folder.with_name("ps1"))
    course.assignment = "ps1"
    course.nbgrader("generate_assignment")
    course.hand_in("ada", 2)
    assert main([*command, "ps1"]) == 0
    assert course.scores() == {"ada": 2}


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
