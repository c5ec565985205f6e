"""What 00 says about grading is what grading does, and its first cell says what is missing."""

import html
import importlib.metadata
import platform
import re
from pathlib import Path

import pytest

from gradekit.checks.variants import mistakes_of
from gradekit.course import Course, read_notebook
from gradekit.page.check_table import checks_as_html
from gradekit_authoring.grade_variants import grade_variants

ASSIGNMENT = Course(Path(__file__).parents[2]).assignment("00_warm_up")
NOTEBOOK = read_notebook(ASSIGNMENT.source_notebooks()[0])
CELLS = {cell.id: cell.source for cell in NOTEBOOK.cells}
#: the wrong answer in its example
EXAMPLE = "x[~mask] = 0"


def plain(text):
    return re.sub(r"\s+", " ", re.sub(r"[*`]", "", text)).strip()


def test_the_page_quoted_as_an_example_is_the_page_of_that_answer():
    (mistake,) = [each for each in mistakes_of(ASSIGNMENT) if each.name == "mean_in_place"]
    assert EXAMPLE in CELLS["page"] and EXAMPLE in mistake.edits[0][1]
    ((_, graded),) = grade_variants(ASSIGNMENT, [mistake], workers=1, thorough=False)
    (exercise,) = [each for each in graded.result.exercises if each.grade_id == "test_masked_mean"]
    table = checks_as_html(exercise, NOTEBOOK, [])
    page = plain(html.unescape(re.sub(r"<[^>]+>", "", table)))
    quoted = re.findall(r"^> (\*\*.+)$", CELLS["page"], re.MULTILINE)
    assert [line.split(":")[0] for line in quoted] == [
        "**Tried",
        "**Should hold",
        "**Came out",
        "**Likely mistake",
    ]
    assert [line for line in quoted if plain(line) not in page] == []
    assert f"{exercise.earned:g} of {exercise.points:g} points" in CELLS["page"]
    assert "Try it yourself" in page


def test_the_answer_in_the_example_passes_the_visible_tests(capsys):
    (mistake,) = [each for each in mistakes_of(ASSIGNMENT) if each.name == "mean_in_place"]
    ((old, new),) = mistake.edits
    names = {}
    answer = CELLS["masked-mean"]
    assert answer.count(old) == 1
    for source in ["import torch", answer.replace(old, new), CELLS["test-masked-mean"]]:
        exec(source, names)
    assert capsys.readouterr().out == "The visible tests of masked_mean pass.\n"


@pytest.fixture
def installed(monkeypatch):
    """Versions that the first cell finds; None is missing."""
    found = {"torch": "2.13.0+cpu", "matplotlib": "3.10.0", "seaborn": "0.13.2"}

    def version(package):
        if found[package] is None:
            raise importlib.metadata.PackageNotFoundError(package)
        return found[package]

    monkeypatch.setattr(importlib.metadata, "version", version)
    monkeypatch.setattr(platform, "python_version", lambda: found.get("Python", "3.11.7"))
    return found


def test_the_first_cell_says_that_everything_is_installed(installed, capsys):
    exec(CELLS["installation"], {})
    assert capsys.readouterr().out == "Python 3.11.7, torch 2.13.0+cpu: everything is here.\n"


def test_the_first_cell_has_a_sentence_for_each_problem(installed, capsys):
    installed.update({"torch": "2.3.1", "matplotlib": None, "Python": "3.9.18"})
    exec(CELLS["installation"], {})
    python, torch, matplotlib = capsys.readouterr().out.splitlines()
    assert python == "Python 3.9.18 is too old: choose a kernel with Python 3.11 or newer."
    assert torch.startswith("torch 2.3.1 is too old: run `%pip install --upgrade torch` in a new cell")
    assert matplotlib == "matplotlib is missing: run `%pip install matplotlib` in a new cell."
