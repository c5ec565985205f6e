"""Every statement of fact in a notebook can be known: it is shown there, has a source, or follows."""

import ast

import pytest

from gradekit.course import Course

from .facts import FOLDER, MARKS, ROOT, changed, counted_sentences, notebook_of, plain, read_cells

NAMES = [assignment.name for assignment in Course(ROOT).assignments()]
#: each function with the decorator `figure` trains what a sentence says
FIGURES = ROOT / "tests/course/demos/figures.py"
each_notebook = pytest.mark.parametrize("name", NAMES)


def texts_of(name):
    return {cell.id: cell.source for cell in notebook_of(name).cells if cell.cell_type == "markdown"}


def shown(name, by):
    """Whether `cell ID` names a code cell of the notebook, `test FILE::NAME` a test, or `figure NAME` a figure."""
    kind, _, what = by.partition(" ")
    if kind == "cell":
        return what in {cell.id for cell in notebook_of(name).cells if cell.cell_type == "code"}
    if kind == "figure":
        return what in figures()
    file, _, function = what.partition("::")
    if kind != "test" or not (ROOT / file).is_file():
        return False
    return function in {each.name for each in functions_in(ROOT / file)}


def functions_in(file):
    tree = ast.parse(file.read_text())
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def test_every_notebook_has_its_list_and_no_list_lacks_its_notebook():
    assert {path.stem for path in FOLDER.glob("*.toml")} == set(NAMES)


def figures():
    return {
        each.name
        for each in functions_in(FIGURES)
        if "figure" in [ast.unparse(decorator) for decorator in each.decorator_list]
    }


def test_every_figure_is_of_a_sentence():
    known_by = {fact.by for name in NAMES for cell in read_cells(name).values() for fact in cell.facts}
    assert {f"figure {each}" for each in figures()} <= known_by


@each_notebook
def test_every_text_was_read_as_it_stands(name):
    assert not changed(name), f"read these again, then: python tests/course/facts.py {name} CELL ..."
    assert set(read_cells(name)) == set(texts_of(name))


@each_notebook
def test_every_fact_stands_in_its_cell_and_says_how_it_is_known(name):
    texts = texts_of(name)
    for cell in read_cells(name).values():
        for fact in cell.facts:
            assert plain(fact.says) in plain(texts[cell.id]), f"{cell.id}: {fact.says}"
            assert fact.mark in MARKS, f"{cell.id}: {fact.mark}"
            assert len(fact.by.split()) >= 2, f"{cell.id}: {fact.says}: {fact.by!r} says too little"
            assert fact.mark != "run" or shown(name, fact.by), f"{cell.id}: nothing is called {fact.by!r}"


@each_notebook
def test_every_year_share_and_large_number_is_part_of_a_fact(name):
    listed = read_cells(name)
    for id, text in texts_of(name).items():
        said = [plain(fact.says) for fact in listed[id].facts]
        for sentence in counted_sentences(text):
            assert any(fact in sentence or sentence in fact for fact in said), f"{id}: {sentence}"
