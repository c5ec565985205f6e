"""An assignment with two notebooks: answers in the wrong one, and files that one writes for the other."""

from copy import deepcopy

import nbformat
import pytest
from nbformat import NotebookNode, v4

from .beside_plain import BothSides, source_notebook
from .tiny_course import cell_of, code, mark

pytestmark = pytest.mark.slow

HALF = "def half(x):\n    return x / 2"
WRITES, READS = "open('two.txt', 'w').write('2')", "TWO = float(open('two.txt').read())"
#: by student, what plain nbgrader and gradekit say of `test_half` in p0 and of `test_double` in p1
SCORES = {
    "right": {"test_half": [(2, False)] * 2, "test_double": [(2, False)] * 2},
    "both in one": {"test_half": [(0, False), (2, False)], "test_double": [(None, True), (2, False)]},
    "both in one, and wrong": {"test_half": [(0, False), (None, True)], "test_double": [(None, True), (2, False)]},
    "one is missing": {"test_half": [(0, False), (2, False)], "test_double": [(None, True), (2, False)]},
    "one is missing, and wrong": {"test_half": [(0, False), (None, True)], "test_double": [(None, True), (2, False)]},
    "code in the other": {"test_half": [(0, False), (None, True)], "test_double": [(2, False)] * 2},
    "only notes in the other": {"test_half": [(0, False)] * 2, "test_double": [(2, False)] * 2},
    "a file from the other": {"test_half": [(2, False)] * 2, "test_double": [(2, False), (None, True)]},
    "text in the other": {"test_half": [(2, False)] * 2, "test_double": [(2, False)] * 2, "why": [(0, False), (None, True)]},
    "another notebook": {"test_half": [(2, False)] * 2, "test_double": [(None, True)] * 2},
}  # fmt: skip


def other_notebook() -> NotebookNode:
    cells = [
        code("def half(x):\n    ### BEGIN SOLUTION\n    return x / 2\n    ### END SOLUTION", mark("half", solution=True), "half"),
        code("assert half(4) == 2", mark("test_half", grade=True, locked=True, points=2), "test-half"),
    ]  # fmt: skip
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


@pytest.fixture(scope="module")
def both(tmp_path_factory) -> BothSides:
    both = BothSides(tmp_path_factory.mktemp("several") / "both")
    both.write(source_notebook(), others={"p0": other_notebook()})
    blank = nbformat.read(both.plain.root / "release" / "a1" / "p0.ipynb", as_version=4)
    halved = deepcopy(blank)
    cell_of(halved, "half").source = HALF
    wrong = deepcopy(blank)
    cell_of(wrong, "half").source = HALF.replace("/", "*")
    doubled, writing = both.released(why="Because."), deepcopy(halved)
    cell_of(writing, "half").source = f"{WRITES}\n\n\n{HALF}"
    reading = both.released(f"{READS}\n\n\ndef double(x):\n    return TWO * x")
    other = v4.new_notebook(cells=[v4.new_code_cell("import this"), v4.new_markdown_cell("My notes.")])
    for student, (p0, p1) in {
        "right": (halved, doubled),
        "both in one": (blank, with_cells(doubled, *halved.cells)),
        "both in one, and wrong": (blank, with_cells(doubled, *wrong.cells)),
        "one is missing": (None, with_cells(doubled, *halved.cells)),
        "one is missing, and wrong": (None, with_cells(doubled, *wrong.cells)),
        "code in the other": (blank, with_cells(doubled, v4.new_code_cell(HALF))),
        "only notes in the other": (blank, with_cells(doubled, v4.new_code_cell("x = 3"), *other.cells)),
        "a file from the other": (writing, reading),
        "text in the other": (with_cells(halved, v4.new_markdown_cell("It is the sum.")), both.released()),
        "another notebook": (halved, other),
    }.items():
        if p0 is not None:
            both.hand_in(p0, student=student, name="p0.ipynb")
        both.hand_in(p1, student=student)
    both.autograde(succeeds=False)  # plain nbgrader fails on a notebook with the cells of another
    # on a busy machine it once failed on another one, too: a second run grades what is missing
    both.plain.run("nbgrader", "autograde", "a1", "--create", succeeds=False)
    both.ours.run("nbgrader", "generate_feedback", "a1")
    return both


def with_cells(notebook: NotebookNode, *cells: NotebookNode) -> NotebookNode:
    copy = deepcopy(notebook)
    copy.cells += deepcopy(list(cells))
    return copy


@pytest.mark.parametrize("student", SCORES)
def test_nobody_has_less_than_in_plain_nbgrader_without_a_person(both, student):
    found = [side.grades(student) for side in both.sides]
    assert {name: [grades[name] for grades in found] for name in SCORES[student]} == SCORES[student]


@pytest.mark.parametrize(
    ("student", "notebook", "sentence"),
    [
        ("both in one", "p0", "The answer to <code>half</code> was found in the notebook p1.ipynb and copied to its own cell."),
        ("both in one, and wrong", "p0", "was found in the notebook p1.ipynb, where it may depend on other code"),
        ("one is missing, and wrong", "p0", "p0.ipynb was not handed in, but p1.ipynb has some of its cells"),
        ("code in the other", "p0", "the notebook p1.ipynb may be its answer"),
        ("text in the other", "p1", "something else may be its answer: the notebook p0.ipynb"),
        ("a file from the other", "p1", "two.txt was not there, and p0.ipynb, which is run by itself, may write it"),
        ("another notebook", "p1", "None of the answer cells is in the notebook, but other cells are"),
    ],
)  # fmt: skip
def test_the_page_says_why_a_person_decides(both, student, notebook, sentence):
    assert sentence in (both.ours.folder("feedback", student) / f"{notebook}.html").read_text()
