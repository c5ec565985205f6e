"""`nbgrader generate_assignment` that can't go on leaves the release as it was. Plain nbgrader removes it first."""

import os
from copy import deepcopy

import nbformat
import pytest
from nbformat import v4

from .needs import mostly_slow, mostly_thorough
from .tiny_course import code, mark

PLAIN = "c = get_config()\n"
#: in the configuration: a step at the end that fails as if the user, the disk or the machine had stopped it
STOPPING = """
import os
from nbgrader.preprocessors import NbGraderPreprocessor

class Stopping(NbGraderPreprocessor):
    def preprocess(self, nb, resources):
        {}

c = get_config()
c.GenerateAssignment.preprocessors = [*c.GenerateAssignment.preprocessors, Stopping]
"""


def another(name="more"):
    return v4.new_markdown_cell("More.", metadata=mark(name, grade=True, solution=True, points=1))


def source_of(course):
    return nbformat.read(course.root / "source/01_double/double.ipynb", as_version=4)


def change(course, edit):
    notebook = source_of(course)
    edit(notebook)
    course.write_source(notebook)


def duplicate(course):
    change(course, lambda notebook: notebook.cells.append(deepcopy(notebook.cells[-1])))


def wrong_points(course):
    change(course, lambda notebook: notebook.cells[2].metadata.nbgrader.update(points=7))


def no_points(course):
    change(course, lambda notebook: notebook.cells[2].metadata.nbgrader.pop("points"))


def no_cell(course):
    course.checks.rename(course.checks.with_name("test_other.py"))


def no_notebook(course):
    (course.root / "source/01_double/double.ipynb").write_text("{")


def stopped_by(line):
    def stop(course):
        with (course.root / "nbgrader_config.py").open("a") as file:
            file.write(STOPPING.format(line))

    return stop


def files(course):
    return {path.name: path.read_bytes() for path in (course.root / "release/01_double").iterdir()}


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    mostly_slow(
        [
            (duplicate, "have the same grade_id"),
            (stopped_by("raise KeyboardInterrupt"), ""),
            (wrong_points, "is worth 7 points"),
            (no_points, "is graded, but has no points"),
            (no_cell, "belongs to no cell"),
            (no_notebook, "can't be read as a notebook"),
            (stopped_by("raise OSError(28, 'No space left on device')"), "No space left on device"),
        ]
    ),
)
def test_the_release_stays_whatever_goes_wrong(generated, spoil, sentence):
    before = files(generated)
    spoil(generated)
    done = generated.run("nbgrader", "generate_assignment", "01_double", "--force")
    assert done.returncode != 0 and sentence in done.stderr
    assert files(generated) == before
    assert sorted(os.listdir(generated.root / "release")) == ["01_double"]


@pytest.mark.slow
@pytest.mark.parametrize("spoil", [duplicate, no_notebook])
def test_plain_nbgrader_removes_it(generated, spoil):
    (generated.root / "nbgrader_config.py").write_text(PLAIN)
    spoil(generated)
    assert generated.run("nbgrader", "generate_assignment", "01_double", "--force").returncode == 1
    assert not (generated.root / "release/01_double").exists()


@pytest.mark.parametrize(
    ("killed", "next_one"),
    mostly_slow([([], []), (["--notebook=double"], []), ([], ["--notebook=double"])], 1),
)
def test_a_command_that_was_killed_is_undone_by_the_next(generated, killed, next_one):
    (generated.root / "release/01_double/data.csv").write_text("1,2")
    before = files(generated)
    spoil = stopped_by("os._exit(9)")
    config = (generated.root / "nbgrader_config.py").read_text()
    spoil(generated)
    command = ("nbgrader", "generate_assignment", "01_double", "--force")
    assert generated.run(*command, *killed).returncode == 9
    (generated.root / "nbgrader_config.py").write_text(config)
    duplicate(generated)
    assert generated.run(*command, *next_one).returncode == 1
    assert files(generated) == before


def test_a_changed_source_replaces_the_release_and_its_other_files(generated):
    (generated.root / "release/01_double/old.txt").write_text("left from the last time")
    change(generated, lambda notebook: notebook.cells[0].update(source="import math"))
    assert generated.run("nbgrader", "generate_assignment", "01_double", "--force").returncode == 0
    assert list(files(generated)) == ["double.ipynb"]
    assert b"import math" in files(generated)["double.ipynb"]


@pytest.mark.slow
def test_one_notebook_of_two_leaves_the_other_alone(generated):
    second = v4.new_notebook(
        cells=[code("pass", mark("second", solution=True))], metadata=source_of(generated).metadata
    )
    nbformat.write(second, generated.root / "source/01_double/second.ipynb")
    assert generated.run("nbgrader", "generate_assignment", "01_double", "--force").returncode == 0
    before = files(generated)
    duplicate(generated)
    command = ("nbgrader", "generate_assignment", "01_double", "--force", "--notebook=double")
    assert generated.run(*command).returncode == 1
    assert files(generated) == before
    assert sorted(os.listdir(generated.root / "release")) == ["01_double"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "change_cells", mostly_thorough(["rename", "notebook", "add", "remove", "type"], examples=2)
)
def test_changed_cells_are_named_when_there_are_submissions(graded_class, change_cells):
    before = files(graded_class)
    if change_cells == "notebook":
        second = v4.new_notebook(cells=[another()], metadata=source_of(graded_class).metadata)
        nbformat.write(second, graded_class.root / "source/01_double/second.ipynb")
        words = "second added"
    else:
        edit, words = {
            "add": (lambda cells: cells.append(another()), "`more` added"),
            "remove": (lambda cells: cells.pop(), "`why` removed"),
            "rename": (
                lambda cells: cells[-1].metadata.nbgrader.update(grade_id="because"),
                "`because` added; `why` removed",
            ),
            "type": (
                lambda cells: cells[-1].metadata.nbgrader.update(
                    grade=False, solution=False, task=True, locked=True
                ),
                "`why` changed to another type",
            ),
        }[change_cells]
        change(graded_class, lambda notebook: edit(notebook.cells))
    done = graded_class.run("nbgrader", "generate_assignment", "01_double", "--force")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert words in done.stderr and "`gradekit revise 01_double`" in done.stderr
    assert files(graded_class) == before
    assert graded_class.gradekit("revise", "01_double") == 0
    assert graded_class.run("nbgrader", "generate_assignment", "01_double", "--force").returncode == 0
