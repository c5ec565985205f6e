"""The examples in the reference of gradekit.checks: each entry has one, and all of them run."""

import inspect
import re
import runpy
import textwrap
from pathlib import Path

import pytest
from nbformat import v4

import gradekit.checks
from gradekit.checks.variants import alternatives_of, equivalents_of, mistakes_of
from gradekit.course.cells import find_cell
from gradekit.verdict.grade import grade
from gradekit.verdict.opened import GradingJob

from .needs import needs_torch
from .tiny_course import TinyCourse, code, mark

ENTRIES = gradekit.checks.__all__
#: the solution: what the examples call
ANSWER = """
import torch
from torch import nn


def double(x):
    return 2 * x


def normalized(x, eps=1e-5):
    mean = x.mean(dim=-1, keepdim=True)
    variance = (x - mean).square().mean(dim=-1, keepdim=True)
    return (x - mean) / torch.sqrt(variance + eps)


def check_double(function):
    for number in (1, 3):
        assert function(number) == 2 * number, "That is not twice the number."


def predict(model, x):
    return model(x)


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        if width % 2:
            raise ValueError(f"the width is {width}, but must be even")


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.q = nn.Linear(width, width, bias=False)

    def forward(self, x):
        return self.q(x)


class Affine(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))

    def forward(self, x):
        return x * self.scale + self.shift


class Dropping(nn.Module):
    def __init__(self):
        super().__init__()
        self.dropout = nn.Dropout(0.5)

    def forward(self, x):
        return self.dropout(x)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.norm = nn.Linear(3, 5), nn.LayerNorm(5)


def cosine_similarity(a, b):
    return a @ b / (a.norm() * b.norm())


def nearest_words(vectors, word):
    return vectors @ word
"""
IMPORTS = f"import torch\nimport torch.nn.functional as F\nfrom gradekit.checks import {', '.join(ENTRIES)}\n"
#: what examples assume
BEFORE = {
    "assert_close": "x = torch.arange(10.0).reshape(2, 5)",
    "assert_differs": "model, ids, swapped = student.double, torch.tensor([1.0, 2.0]), torch.tensor([2.0, 1.0])",
    "assert_dropped_singly": "layer = student.Dropping()",
    "assert_follows_parameters": "x = torch.arange(6.0).reshape(2, 3)",
    "assert_reaches": "x = torch.arange(10.0).reshape(2, 5)",
    "assert_shape": "x = torch.arange(30.0).reshape(2, 3, 5)",
    "assert_unchanged": "x = torch.arange(10.0).reshape(2, 5)",
    "assert_varies": "output = torch.arange(6.0)",
    "CheckFailure": "output = torch.arange(6.0)",
    "named_weights": "module = student.Block()",
    "probe": "output = torch.arange(6.0)",
}
#: those that are not the body of a check
AT_THE_TOP = {
    *("forbid", "forbid_class", "forbid_in", "TORCH_ATTENTION", "Implementation", "Implementations", "judge"),
    *("in_kernel", "for_checks", "points"),
}
#: those of other files: the exercise, and what the file is called
CATALOGS = {
    "Alternative": ("double", "alternatives.py"),
    "Alternatives": ("normalized", "alternatives.py"),
    "Equivalent": ("double", "equivalent.py"),
    "Equivalents": ("normalized", "equivalent.py"),
    "Mistake": ("double", "mistakes.py"),
    "Mistakes": ("normalized", "mistakes.py"),
}


def example(entry: str) -> str:
    """The lines of an entry's example, without their indentation."""
    text = inspect.getdoc(getattr(gradekit.checks, entry)) or ""
    if entry.isupper():  # a value: the comment above it
        (path,) = Path(gradekit.checks.__file__).parent.glob("forbidden.py")
        (text,) = re.findall(rf"((?:^#:.*\n)+){entry} =", path.read_text(), re.MULTILINE)
        text = re.sub(r"^#: ?", "", text, flags=re.MULTILINE)
    found = re.search(r"^Example:\n((?:    .*\n?|\n)+)", text, re.MULTILINE)
    assert found, f"the docstring of {entry} has no example"
    return textwrap.dedent(found[1])


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_entry_has_an_example_that_uses_it(entry):
    assert entry in example(entry)


@pytest.fixture
def course(tiny_course: TinyCourse) -> TinyCourse:
    for file in tiny_course.assignment.checks.iterdir():
        if file.is_file():  # __pycache__ may be there
            file.unlink()
    notebook = tiny_course.assignment.released("double")
    for cell in notebook.cells:
        if cell["id"] == "answer":
            cell.source = ANSWER
    tiny_course.write_source(notebook)
    return tiny_course


@needs_torch
def test_all_examples_for_check_files_run_in_one_grading(course):
    inside = [entry for entry in ENTRIES if entry not in AT_THE_TOP | CATALOGS.keys() | {"try_it"}]
    parts = [IMPORTS, *(example(entry) for entry in ENTRIES if entry in AT_THE_TOP)]
    for entry in inside:
        body = f"{BEFORE.get(entry, '')}\n{example(entry)}"
        parts.append(f"@points(1)\ndef test_{entry.lower()}(student, draw):\n{textwrap.indent(body, '    ')}")
    (course.assignment.checks / "test_double.py").write_text("\n\n".join(parts))
    notebook = course.answer(ANSWER)
    job = GradingJob(course.assignment, "double", notebook, course.assignment.released("double"))
    (exercise,) = grade(job).result.exercises
    wrong = {check.name: check.message for check in exercise.checks if check.outcome != "passed"}
    assert wrong == {
        "test_fail": "Every token gets the same output, so the output does not depend on the input."
    }
    assert len(exercise.checks) > len(inside)


@pytest.mark.parametrize("entry", CATALOGS)
def test_examples_of_catalogs_apply_to_the_answer_that_they_are_about(entry, course):
    cell, file = CATALOGS[entry]
    checks = course.assignment.checks
    text = f"from gradekit.checks import *\n{example(entry)}"
    if entry == "Mistake":
        text += "\nMISTAKES = [SQUARE]\n"
    if entry in ("Mistakes", "Alternatives"):  # a file for each exercise
        file = f"{file.removesuffix('.py')}/{cell}.py"
    (checks / file).parent.mkdir(exist_ok=True)
    (checks / file).write_text(text)
    notebook = v4.new_notebook(cells=[code(ANSWER, mark(cell, solution=True), cell)])
    variants = [*mistakes_of(course.assignment), *alternatives_of(course.assignment)]
    applied = [find_cell(variant.apply(notebook), cell).source for variant in variants]
    equivalent = equivalents_of(course.assignment)
    applied += [ANSWER.replace(each.before, each.after) for each in equivalent if each.cell == cell]
    assert applied
    for source in applied:
        assert source != ANSWER
        exec(source, {})


@needs_torch
def test_the_example_of_a_snippet_is_one(tmp_path):
    file = tmp_path / "test_normalized.py"
    file.write_text(IMPORTS + example("try_it"))
    snippet = runpy.run_path(str(file))["eps_of_twelve"]
    names: dict[str, object] = {}
    exec(ANSWER, names)
    exec(snippet.text, names)
    names["normalized"] = lambda x, eps: x
    with pytest.raises(AssertionError, match="You don't divide by"):
        exec(snippet.text, names)
