"""What lies beside a notebook: leftovers of editors, other versions of it, other notebooks, the notebook one folder deeper."""

import nbformat
import pytest
from nbformat import v4
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from gradekit.nbgrader_plugin import configure
from gradekit.submission.extra_files import move_up, own_notebooks

from .beside_plain import BothSides, both_sides, source_notebook
from .tiny_course import code, mark

MAC = b"\0\x05\x16\x07\0\x02\0\0Mac OS X        "
LEFTOVERS = {
    **dict.fromkeys(("._p1.ipynb", "__MACOSX/._p1.ipynb", ".DS_Store", "data/.DS_Store"), MAC),
    **dict.fromkeys((".p1.ipynb", ".~p1.ipynb", "p1.ipynb~", "#p1.ipynb#", ".p1.ipynb.swp"), b"{"),
    **dict.fromkeys(("Thumbs.db", "desktop.ini", ".nfs0001", ".~lock.p1.ipynb#"), b"x"),
    ".ipynb_checkpoints/p1-checkpoint.ipynb": b"{}",
}


@pytest.fixture
def both(made_once, tmp_path) -> BothSides:
    return both_sides(made_once, tmp_path)


@pytest.mark.thorough
def test_what_editors_and_systems_leave_beside_a_notebook_costs_neither_points_nor_the_page(both):
    both.hand_in(both.released(), LEFTOVERS | {"data/x.txt": b"1"})
    both.autograde()
    for side in both.sides:
        side.run("nbgrader", "generate_feedback", "a1")
        assert side.grades()["test_double"] == (2.0, False)
        assert side.page()
    files = both.ours.folder("autograded").rglob("*")
    assert sorted(path.name for path in files if path.is_file()) == ["p1.ipynb", "x.txt"]


def test_what_a_course_ignores_is_added_to():
    default = CourseDirectory().ignore
    for before in (lambda ignored: None, lambda ignored: ignored.append("*.tmp")):
        config = Config()
        before(config.CourseDirectory.ignore)
        configure(config)
        config.CourseDirectory.ignore.append("*.log")
        ignored = CourseDirectory(config=config).ignore
        assert ignored[: len(default)] == default
        assert {"._*", "__MACOSX", "*.log"} <= set(ignored)
    assert "*.tmp" in ignored


@pytest.mark.parametrize("command", ["nbgrader", "gradekit"])
@pytest.mark.slow
def test_the_lock_of_an_emacs_is_a_link_to_nothing(both, command):
    both.hand_in(both.released())
    (both.ours.folder("submitted") / ".#p1.ipynb").symlink_to("ada@laptop.4321:1700000000")
    both.ours.run(command, "autograde", "a1", succeeds=False)
    both.ours.run("nbgrader", "generate_feedback", "a1")
    assert both.ours.grades()["test_double"] == (2.0, False)
    assert both.ours.page()


def test_a_folder_with_nothing_but_leftovers_has_no_notebook(both):
    both.hand_in(files=LEFTOVERS)
    assert "a1: nothing new to grade; 1 missing" in both.ours.run(
        "gradekit", "autograde", "a1", succeeds=False
    )


@pytest.mark.slow
@pytest.mark.parametrize("damaged", ["", '{"cells": [{"cell_'])
def test_a_notebook_beside_one_that_can_t_be_read_is_named_and_graded_once_it_has_the_right_name(
    both, damaged
):
    both.hand_in(both.released(), name="p1 (1).ipynb")
    folder = both.ours.folder("submitted")
    (folder / "p1.ipynb").write_text(damaged)
    both.ours.run("gradekit", "autograde", "a1", succeeds=False)
    both.ours.run("nbgrader", "generate_feedback", "a1")
    assert "Handed in beside it, and not graded: p1 (1).ipynb." in both.ours.page()

    (folder / "p1 (1).ipynb").replace(folder / "p1.ipynb")  # which keeps its time
    both.ours.run("gradekit", "autograde", "a1")
    assert both.ours.grades()["test_double"] == (2.0, False)


@pytest.mark.slow
def test_another_version_of_the_notebook_is_named_since_it_may_be_the_one_that_counts(both):
    both.hand_in(both.released("# later"))
    both.hand_in(both.released(), name="p1-Copy1.ipynb")
    both.hand_in(both.released("# later"), name="p1-Copy2.ipynb")  # the same as p1.ipynb
    both.hand_in(v4.new_notebook(), name="Untitled.ipynb")
    version = "p1-Copy1.ipynb is another version of p1.ipynb, and was not graded."
    said = both.ours.run("gradekit", "autograde", "a1", succeeds=False)
    assert f"  ada: {version}" in said.splitlines()
    both.ours.run("nbgrader", "generate_feedback", "a1")
    page = both.ours.page()
    assert f"{version} If it is the one that counts, rename it to p1.ipynb and hand it in again." in page
    assert "These notebooks were not graded: Untitled.ipynb." in page
    assert "Copy2" not in page
    assert both.ours.grades()["test_double"] == (0.0, False)

    folder = both.ours.folder("submitted")
    (folder / "p1-Copy1.ipynb").rename(folder / "p1.ipynb")
    (folder / "p1.ipynb").touch()
    both.ours.run("gradekit", "autograde", "a1", succeeds=False)
    assert both.ours.grades()["test_double"] == (2.0, False)


# ---------------------------------------------------------------- code that opens notebooks

RUNS = "%run p0.ipynb\n\ndef double(x):\n    return FACTOR * x"
READS = """\
import glob, json

def double(x):
    with open(sorted(glob.glob("*.ipynb"))[0]) as file:
        return len(json.load(file)["cells"]) * x"""


def other_notebook(factor: int):
    cells = [code(f"FACTOR = {factor}", mark("factor", solution=True), "factor"), v4.new_markdown_cell("x")]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


@pytest.fixture
def two_notebooks(tmp_path) -> BothSides:
    """An assignment with a second notebook, p0, that the first one may open."""
    both = BothSides(tmp_path / "two")
    both.write(source_notebook(), others={"p0": other_notebook(0)})
    return both


@pytest.mark.parametrize("answer", [RUNS, READS], ids=["run", "read"])
@pytest.mark.slow
def test_code_finds_the_other_notebooks_of_the_assignment_as_in_plain_nbgrader(two_notebooks, answer):
    two_notebooks.hand_in(two_notebooks.released(answer))
    two_notebooks.hand_in(other_notebook(2), name="p0.ipynb")
    two_notebooks.autograde()
    for side in two_notebooks.sides:
        assert side.grades()["test_double"] == (2.0, False)


@pytest.mark.thorough
def test_a_changed_notebook_that_the_code_opens_is_a_reason_to_grade_again(two_notebooks):
    for factor, points in ((3, 0.0), (2, 2.0)):
        two_notebooks.hand_in(two_notebooks.released(RUNS))
        two_notebooks.hand_in(other_notebook(factor), name="p0.ipynb")
        two_notebooks.ours.run("gradekit", "autograde", "a1", "--force")
        assert two_notebooks.ours.grades()["test_double"] == (points, False)


SPY = """\
def double(x):
    for name in glob.glob("**/*.ipynb", recursive=True):
        print(open(name).read())
    return 2 * x

import glob"""


@pytest.mark.slow
def test_code_sees_the_notebooks_as_they_were_handed_in_without_hidden_tests(tmp_path):
    both, source = BothSides(tmp_path / "hidden"), source_notebook()
    source.cells[2].source += "\n### BEGIN HIDDEN TESTS\nassert double(3) == 6  # psst\n### END HIDDEN TESTS"
    both.write(source)
    both.hand_in(both.released(SPY))
    for command in ("nbgrader", "gradekit"):
        both.ours.run(command, "autograde", "a1", "--force")
        (test,) = (cell for cell in both.ours.autograded().cells if cell["id"] == "test")
        assert "psst" in test.source
        printed = nbformat.writes(v4.new_notebook(cells=[v4.new_code_cell(outputs=test.outputs)]))
        assert "def double" in printed
        assert "psst" not in printed


def test_notebooks_are_there_only_for_code_that_mentions_them(tmp_path):
    for name in ("p0.ipynb", ".p0.ipynb"):
        (tmp_path / name).write_text("{}")
    (tmp_path / "link.ipynb").symlink_to("p0.ipynb")
    (tmp_path / "helper.py").write_text("import importnb")
    helper = (tmp_path / "helper.py",)
    found = (tmp_path / "p0.ipynb",)
    assert own_notebooks(tmp_path, [v4.new_code_cell("import nbimporter")], ()) == found
    assert own_notebooks(tmp_path, [v4.new_code_cell("from ipynb.fs.full.p0 import f")], ()) == found
    assert own_notebooks(tmp_path, [], helper) == found
    assert own_notebooks(tmp_path, [v4.new_code_cell("x = 1"), v4.new_markdown_cell("ipynb")], ()) == ()


# ---------------------------------------------------------------- one folder deeper


@pytest.mark.parametrize("inside", ["a1/a1", "a1/my solution", "a1/x/y"])
@pytest.mark.slow
def test_a_notebook_one_folder_deeper_is_found_with_its_files_and_graded(both, inside):
    answer = "from factor import FACTOR\n\ndef double(x):\n    return FACTOR * x"
    both.hand_in(both.released(answer), {"factor.py": b"FACTOR = 2"}, folder=inside)
    both.hand_in(files={"__MACOSX/._p1.ipynb": MAC, "timestamp.txt": b"2026-01-01 12:00:00 UTC"})
    said = both.ours.run("gradekit", "autograde", "a1", succeeds=False)
    folder = inside.removeprefix("a1/")
    assert f"a1 has its notebook in the folder {folder}; its files were moved up." in said
    assert both.ours.grades()["test_double"] == (2.0, False)


@pytest.mark.slow
def test_of_two_folders_with_a_notebook_none_is_chosen_and_both_are_named(both):
    for inside in ("a1/first", "a1/second"):
        both.hand_in(both.released(), folder=inside)
    said = both.ours.run("gradekit", "autograde", "a1", succeeds=False)
    assert (
        "a1 has no notebook, but the folders first, second in it have: move the right one's files up." in said
    )
    folder = both.ours.folder("submitted")
    (folder / "second" / "p1.ipynb").rename(folder / "p1.ipynb")
    both.ours.run("gradekit", "autograde", "a1", succeeds=False)
    assert both.ours.grades()["test_double"] == (2.0, False)


def test_the_folder_with_the_expected_name_is_chosen_and_nothing_is_overwritten(tmp_path):
    for path in ("old/notes.ipynb", "new/P1.ipynb", "new/x.txt", "new/timestamp.txt", "x.txt"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(path)
    assert len(move_up(tmp_path, ["p1"])) == 1
    assert (tmp_path / "P1.ipynb").exists()
    assert not (tmp_path / "timestamp.txt").exists()
    assert (tmp_path / "x.txt").read_text() == "x.txt"
    assert move_up(tmp_path, ["p1"]) == []
