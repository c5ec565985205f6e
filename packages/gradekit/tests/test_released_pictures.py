"""Pictures in the instructor's notebook: those that only a solution shows stay with the instructor."""

import pytest
from nbformat import v4

from .odd_course import text

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
MARKED = "Explain the figure.\n\n![given](attachment:given.png)\n\n{}"
REGION = "### BEGIN SOLUTION\n![answer](attachment:the%20answer.png)\n### END SOLUTION"


def released_cell(generated, source, **marks):
    cell = text("figure", points=2, **{"grade": True, "solution": True, **marks})
    cell.source = source
    cell.attachments = {name: {"image/png": PIXEL} for name in ("given.png", "the answer.png")}
    notebook = v4.new_notebook(cells=[cell], metadata=generated.assignment.released("double").metadata)
    folder = generated.root / "source" / "02_picture"
    folder.mkdir()
    (folder / "picture.ipynb").write_text(v4.writes(notebook))
    done = generated.run("nbgrader", "generate_assignment", "02_picture")
    assert done.returncode == 0, done.stderr
    (cell,) = v4.reads((generated.root / "release" / "02_picture" / "picture.ipynb").read_text()).cells
    return cell, done.stderr


def test_a_picture_of_the_solution_is_not_released_and_that_is_said(generated):
    """nbgrader#1782"""
    cell, said = released_cell(generated, MARKED.format(REGION))
    assert list(cell.attachments) == ["given.png"]
    assert "The cell `figure` is released without `the answer.png`" in said


def test_a_solution_without_markers_takes_its_pictures_along(generated):
    cell, _ = released_cell(generated, "![answer](attachment:given.png)")
    assert "given" not in cell.source
    assert "attachments" not in cell


@pytest.mark.parametrize("written", ["the answer.png", "the%20answer.png"])
def test_pictures_that_the_released_text_shows_stay(generated, written):
    source = f"![given](attachment:given.png) ![more](attachment:{written})\n\n### BEGIN SOLUTION\nx\n### END SOLUTION"
    cell, said = released_cell(generated, source)
    assert sorted(cell.attachments) == ["given.png", "the answer.png"]
    assert "released without" not in said
