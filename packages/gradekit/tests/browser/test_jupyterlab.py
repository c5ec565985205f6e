"""A student opens a released notebook in JupyterLab, with nothing of the course beside it."""

import re
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Locator, expect

from gradekit.course import Course
from gradekit.course.cells import find_cell
from gradekit_authoring.samples import solved

ROOT = Path(__file__).parents[4]
WRONG = """\
scores = q @ k.transpose(-2, -1) / math.sqrt(8)
weights = torch.softmax(scores, dim=-2)
result = weights @ v"""
SETUP = "torch.manual_seed(42)\nx = torch.randn(1, 1, 4, 8) * 0.5\nq, k, v = x, x, x\n\n"


@pytest.fixture
def notebook(tmp_path):
    """Every exercise is done but the first; gives the path of the file."""
    assignment = Course(ROOT).assignment("02_attention")
    content = solved(assignment, "attention")
    find_cell(content, "by_hand").source = find_cell(assignment.released("attention"), "by_hand").source
    path = tmp_path / "student" / "attention.ipynb"
    path.parent.mkdir()
    nbformat.write(content, path)
    return path


def run_cell(page, cell: Locator) -> None:
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    expect(cell.locator(".jp-InputPrompt")).to_have_text(re.compile(r"\[\d+\]:"), timeout=60_000)


@pytest.mark.thorough
def test_a_student_fills_in_an_answer_sees_a_test_fail_then_pass_and_validates(
    page, jupyter_lab, notebook, picture
):
    names = [cell["id"] for cell in nbformat.read(notebook, as_version=4).cells]

    def cell(name: str) -> Locator:
        return page.locator(".jp-Notebook .jp-Cell").nth(names.index(name))

    def answer(source: str) -> None:
        cell("by_hand").locator(".cm-content").click()
        page.keyboard.press("Control+A")
        page.keyboard.insert_text(source)
        run_cell(page, cell("by_hand"))

    page.set_viewport_size({"width": 1280, "height": 1000})
    with jupyter_lab(notebook.parent) as address:
        page.goto(address("lab/tree/attention.ipynb"))
        expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible(timeout=60_000)
        expect(cell("by_hand")).to_contain_text("YOUR CODE HERE")
        page.keyboard.press("Control+B")  # the list of files aside
        run_cell(page, cell("setup"))
        answer(SETUP + WRONG)
        run_cell(page, cell("test-by-hand"))
        test = cell("test-by-hand").locator(".jp-OutputArea")
        expect(test).to_contain_text("AssertionError: The rows of `weights` sum to", timeout=60_000)
        expect(test).to_contain_text("Along which axis does your softmax run?")
        cell("by_hand").evaluate("it => it.scrollIntoView()")
        picture(page, "jupyterlab-fails")

        answer(SETUP + WRONG.replace("dim=-2", "dim=-1"))
        run_cell(page, cell("test-by-hand"))
        expect(test).to_contain_text("The visible tests of exercise 1 pass", timeout=30_000)
        cell("by_hand").evaluate("it => it.scrollIntoView()")
        picture(page, "jupyterlab-passes")

        page.get_by_role("button", name="Validate").click()
        success = "Success! Your notebook passes all the tests."
        expect(page.get_by_role("dialog")).to_contain_text(success, timeout=120_000)
