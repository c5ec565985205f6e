"""`gradekit adopt --write` adds one import and one line to nbgrader_config.py, and changes nothing else."""

import json
import os
import stat

import nbformat
import pytest
from traitlets.config.loader import PyFileConfigLoader

from gradekit.cli import main
from gradekit.course import CourseError
from gradekit_authoring.adopt.config_file import ConfigFile, addition_to

IMPORT = b"from gradekit.nbgrader_plugin import configure\n"


@pytest.fixture
def course(tmp_path, tiny_source):
    """A course folder without a configuration; returns a function that runs `gradekit adopt --write` in it."""
    (tmp_path / "source" / "ps1").mkdir(parents=True)
    nbformat.write(tiny_source, tmp_path / "source" / "ps1" / "double.ipynb")
    return tmp_path


def adopt(root, *more):
    return main(["--course-dir", str(root), "adopt", "--write", *more])


def config_of(root):
    return PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config()


@pytest.mark.parametrize(
    ("before", "added"),
    [
        (b"c = get_config()\n", IMPORT + b"configure(c)\n"),
        (b"c = get_config()", b"\n" + IMPORT + b"configure(c)\n"),
        (b"c = get_config()\r\nc.CourseDirectory.course_id = 'x'\r\n", IMPORT + b"configure(c)\n"),
        (b"# nothing is set\n", IMPORT + b"configure(c)\n"),
        (b"config = get_config()\nc = 3e8\n", IMPORT + b"configure(config)\n"),
        (b"for c in 'abc':\n    pass\n", IMPORT + b"configure(get_config())\n"),
        (b"def speed():\n    c = 3e8\n    return c\n", IMPORT + b"configure(c)\n"),
        (b"c = get_config()\nif True:\n    c.Execute.timeout = 9", b"\n" + IMPORT + b"configure(c)\n"),
        (IMPORT + b"c = get_config()\n", b"configure(c)\n"),
        ("# -*- coding: latin-1 -*-\nc = get_config()\n# é\n".encode("latin-1"), IMPORT + b"configure(c)\n"),
        ("\ufeffc = get_config()\n# é\n".encode(), IMPORT + b"configure(c)\n"),
        (b'c = get_config()\nc.CourseDirectory.course_id = """\nx"""\n', IMPORT + b"configure(c)\n"),
    ],
    ids=[
        "plain", "no-line-end", "windows", "no-get_config", "another-name", "c-is-lost", "local-c", "indented",
        "imported", "latin-1", "bom", "text-of-several-lines",
    ],
)  # fmt: skip
def test_one_import_and_one_line_are_appended_and_nbgrader_can_read_them(course, before, added):
    path = course / "nbgrader_config.py"
    path.write_bytes(before)
    assert adopt(course) == 0
    added = added.replace(b"\n", b"\r\n") if b"\r\n" in before else added
    assert path.read_bytes() == before + added
    assert config_of(course).Autograde.pre_convert_hook.startswith("gradekit.")


def test_the_change_is_shown_as_a_diff(course, capsys):
    (course / "nbgrader_config.py").write_text("c = get_config()\n")
    adopt(course)
    shown = capsys.readouterr().out.splitlines()
    assert [line for line in shown if line.startswith("+") and not line.startswith("+++")] == [
        "+from gradekit.nbgrader_plugin import configure",
        "+configure(c)",
    ]
    assert [line for line in shown if line.startswith("-") and not line.startswith("---")] == []
    assert "To undo this, remove the line that calls `configure`." in shown


def test_a_course_without_a_configuration_gets_one(course):
    assert adopt(course) == 0
    assert (course / "nbgrader_config.py").read_text() == (
        "from gradekit.nbgrader_plugin import configure\n\nc = get_config()\nconfigure(c)\n"
    )
    assert "Autograde" in config_of(course)


@pytest.mark.parametrize(
    "text",
    [
        "from gradekit.nbgrader_plugin import configure\nconfigure(get_config())\n",
        "from gradekit.nbgrader_plugin import configure as plug_in\nc = get_config()\nplug_in(c)\n",
        "import gradekit.nbgrader_plugin\ngradekit.nbgrader_plugin.configure(get_config())\n",
        "from gradekit import nbgrader_plugin as grader\ngrader.configure(get_config())\n",
    ],
)
def test_a_course_that_uses_gradekit_already_is_left_alone(course, text, capsys):
    path = course / "nbgrader_config.py"
    path.write_text(text)
    assert adopt(course) == 0
    assert path.read_text() == text
    assert "already uses gradekit; nothing was written" in capsys.readouterr().out


def test_a_comment_with_the_call_does_not_count_as_adopted(course):
    path = course / "nbgrader_config.py"
    path.write_text("c = get_config()\n# configure(c)\n")
    assert adopt(course) == 0
    assert path.read_text().endswith("\nconfigure(c)\n")


def test_a_link_and_the_permissions_of_the_file_stay(course, tmp_path_factory):
    real = tmp_path_factory.mktemp("dotfiles") / "config.py"
    real.write_text("c = get_config()\n")
    real.chmod(0o640)
    (course / "nbgrader_config.py").symlink_to(real)
    assert adopt(course) == 0
    assert os.readlink(course / "nbgrader_config.py") == str(real)
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert real.read_text().endswith("configure(c)\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("c = get_config()\nload_subconfig('base.py')\n", "line 2 loads another configuration file: add"),
        ("c = get_config(\n", "line 1: '(' was never closed. Correct it first."),
        ("# -*- coding: klingon -*-\n", "unknown encoding: klingon. Correct it first."),
        ("c = get_config()\nraise ValueError('no')\n", "line 2: ValueError: no"),
        ("c = get_config()\nc.CourseDirectory.course_id = 3\n", "course_id"),
    ],
)
def test_a_configuration_that_only_its_author_can_change_gets_one_sentence(course, text, said, capsys):
    (course / "base.py").write_text("c = get_config()\n")
    path = course / "nbgrader_config.py"
    path.write_text(text)
    assert adopt(course) == 2
    assert path.read_text() == text
    error = capsys.readouterr().err
    assert said in error and len(error.splitlines()) == 1


def test_a_configuration_in_json_gets_one_sentence(course, capsys):
    (course / "nbgrader_config.json").write_text(json.dumps({"CourseDirectory": {"course_id": "x"}}))
    assert adopt(course) == 2
    assert "can't call a function: move its settings into nbgrader_config.py" in capsys.readouterr().err
    assert not (course / "nbgrader_config.py").exists()


def test_a_file_whose_end_takes_no_line_is_left_alone(tmp_path):
    path = tmp_path / "nbgrader_config.py"
    path.write_text("c = get_config()\nx = 1 + \\\n\\\n2  # \\")
    assert addition_to(tmp_path).addition.startswith(b"\n")
    path.write_text("c = get_config()\n\\")
    with pytest.raises(CourseError, match=r"Correct it first|at its end yourself"):
        addition_to(tmp_path)


def test_removing_the_line_goes_back(course):
    path = course / "nbgrader_config.py"
    path.write_text("c = get_config()\nc.CourseDirectory.course_id = 'x'\n")
    before = config_of(course)
    adopt(course)
    path.write_text(path.read_text().replace("configure(c)\n", ""))
    assert config_of(course) == before
    assert not ConfigFile.read(path).adopted


def test_what_was_written_is_printed_as_json(course, capsys):
    assert adopt(course, "--json") == 0
    written = json.loads(capsys.readouterr().out)
    assert written["written"] is True
    assert written["file"] == str(course / "nbgrader_config.py")
    assert "+configure(c)" in written["diff"]


@pytest.mark.parametrize("content", [[], ["source/"], ["nbgrader_config.py"]])
def test_a_new_course_without_an_assignment_can_be_adopted(tmp_path, capsys, content):
    root = tmp_path / "new course"
    root.mkdir()
    for name in content:
        (root / name).mkdir() if name.endswith("/") else (root / name).touch()
    assert adopt(root) == 0
    assert config_of(root).Autograde.pre_convert_hook.startswith("gradekit.")
    assert "There is no assignment yet: `gradekit new NAME` writes one." in capsys.readouterr().out


def test_a_folder_of_other_things_is_no_new_course(tmp_path, capsys):
    (tmp_path / "letters.txt").touch()
    assert adopt(tmp_path) == 2
    assert "has no assignment with a notebook: run this in the folder of an nbgrader course" in (
        capsys.readouterr().err
    )
    assert not (tmp_path / "nbgrader_config.py").exists()
