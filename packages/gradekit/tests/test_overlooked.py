"""Answers that plain nbgrader overlooks: in comments, checkpoints, handed-out files, attachments, and under a key that is there twice."""

import json
from copy import deepcopy

import nbformat
import pytest
from nbformat import NotebookNode, v4

from gradekit.submission.notebook_file import parse_submitted

from .beside_plain import BothSides, source_notebook
from .tiny_course import at, cell_of, code, mark
from .written_class import base64_png

pytestmark = pytest.mark.slow

WHY = "It is the double because it is the sum of both."
SKETCH = mark("sketch", grade=True, solution=True, points=4)
NOTES = "Notes about doubling.\n"
#: by student, what plain nbgrader and gradekit say of `test_double` and `why`: the score, and whether a person has to look
SCORES = {
    "comment": {"test_double": [(2, False)] * 2, "why": [(0, False), (None, True)]},
    "checkpoint": {"test_double": [(0, False), (None, True)], "why": [(0, False), (None, True)]},
    "another checkpoint": {"test_double": [(0, False), (None, True)], "why": [(0, False), (None, True)]},
    "code in words": {"test_double": [(0, False), (None, True)], "why": [(None, True)] * 2},
    "docstring": {"test_double": [(2, False)] * 2, "how": [(0, False), (None, True)]},
    "short comment": {"test_double": [(2, False)] * 2, "why": [(0, False), (None, True)]},
    "output": {"test_double": [(2, False)] * 2, "why": [(0, False), (None, True)]},
    "another answer": {"test_double": [(2, False)] * 2, "why": [(None, True)] * 2, "how": [(0, False), (None, True)]},
    "one answer": {"test_double": [(2, False)] * 2, "why": [(None, True)] * 2, "how": [(0, False)] * 2},
    "notes": {"test_double": [(2, False)] * 2, "why": [(0, False), (None, True)]},
    "attached": {"test_double": [(2, False)] * 2, "why": [(None, True)] * 2},
    "twice": {"test_double": [(0, False), (None, True)], "why": [(0, False), (None, True)]},
    "twice and right": {"test_double": [(2, False)] * 2, "why": [(None, True)] * 2},
}  # fmt: skip


@pytest.fixture(scope="module")
def both(tmp_path_factory) -> BothSides:
    both = BothSides(tmp_path_factory.mktemp("overlooked") / "both")
    source = source_notebook()
    source.cells.append(code("### BEGIN SOLUTION\n1\n### END SOLUTION", SKETCH, "sketch"))
    source.cells.append(v4.new_markdown_cell("How else is a number multiplied?", id="about-how"))
    source.cells.append(
        v4.new_markdown_cell("By a sum.", metadata=mark("how", grade=True, solution=True, points=1), id="how")
    )
    both.write(source)
    for side in both.sides:
        (side.root / "source" / "a1" / "notes.txt").write_text(NOTES)
    blank = nbformat.read(both.plain.root / "release" / "a1" / "p1.ipynb", as_version=4)
    explained = both.released(f"def double(x):\n    return x + x\n\n# {WHY}")
    both.hand_in(explained, student="comment")
    answered = both.released(why=WHY)
    kept = nbformat.writes(answered).encode()
    docstring = (
        f'def double(x):\n    """{WHY} How it is multiplied else: by adding a number."""\n    return x + x'
    )
    both.hand_in(both.released(docstring), student="docstring")
    both.hand_in(both.released("def double(x):\n    return x + x\n\n# It's a sum."), student="short comment")
    put_out = both.released()
    said = v4.new_output("stream", name="stdout", text=f"{WHY}\n")
    put_out.cells.append(v4.new_code_cell("print(answers[1])", outputs=[said], execution_count=1))
    both.hand_in(put_out, student="output")
    both.hand_in(both.released(why=f"{WHY}\n\nOtherwise, one adds it to itself."), student="another answer")
    both.hand_in(both.released(why=WHY), student="one answer")
    both.hand_in(blank, {".ipynb_checkpoints/p1-checkpoint.ipynb": kept}, student="checkpoint")
    both.hand_in(blank, {".ipynb_checkpoints/Untitled-checkpoint.ipynb": kept}, student="another checkpoint")
    in_words = deepcopy(blank)
    cell_of(in_words, "why").source = f"{WHY}\n\n```python\ndef double(x):\n    return x + x\n```"
    both.hand_in(in_words, student="code in words")
    both.hand_in(both.released(), {"notes.txt": f"{NOTES}{WHY}\n".encode()}, student="notes")
    attached = deepcopy(answered)
    cell_of(attached, "sketch").update(source="1 + 1", attachments={"my sketch.png": png()})
    for student, text in {
        "attached": json.dumps(attached),
        "twice": twice(answered, blank),
        "twice and right": twice(blank, answered),
    }.items():
        both.hand_in(files={"p1.ipynb": text.encode()}, student=student)
    both.autograde()
    both.ours.run("nbgrader", "generate_feedback", "a1")
    return both


def png() -> dict[str, str]:
    return {"image/png": base64_png(50)}


def twice(first: NotebookNode, last: NotebookNode) -> str:
    """The notebook `last` with the cells of another one above its own."""
    return f'{{"cells": {json.dumps(first.cells)}, {json.dumps(last)[1:]}'


@pytest.mark.parametrize("student", SCORES)
def test_nobody_has_less_than_in_plain_nbgrader_and_a_person_sees_what_it_overlooks(both, student):
    found = [side.grades(student) for side in both.sides]
    assert {name: [grades[name] for grades in found] for name in SCORES[student]} == SCORES[student]


@pytest.mark.parametrize(
    ("student", "sentence"),
    [
        ("comment", "something else may be its answer: the text in the cell <code>double</code>"),
        ("output", "Sentences in the output of the cell number 8 were kept in a new cell below it."),
        ("another answer", "something else may be its answer: the text in the cell <code>why</code>"),
        ("checkpoint", ".ipynb_checkpoints/p1-checkpoint.ipynb may have the answers"),
        ("notes", "something else may be its answer: the file notes.txt"),
        ("notes", "notes.txt is not the one that was handed out, which was used in its place."),
        ("attached", "What is attached to the cell <code>sketch</code> was put into a new cell below it."),
        ("twice", "The file has its cells, or the text of a cell, twice, and only the last ones were read"),
    ],
)
def test_the_page_says_where_it_may_be(both, student, sentence):
    assert sentence in both.ours.page(student)


def test_what_is_attached_to_a_code_cell_is_shown_below_it(both):
    notebook = both.ours.autograded("attached")
    below = notebook.cells[at(notebook, "sketch") + 1]
    assert below.source == "![my sketch.png](attachment:my%20sketch.png)"
    assert below.attachments == {"my sketch.png": png()}


def test_a_checkpoint_beside_an_answered_notebook_is_not_mentioned(both):
    both.hand_in(both.released(why=WHY), student="ada")
    for side in both.sides:
        kept = side.folder("submitted") / ".ipynb_checkpoints"
        kept.mkdir()
        nbformat.write(both.released("def double(x):\n    return 3", why="No."), kept / "p1-checkpoint.ipynb")
    both.ours.run("nbgrader", "autograde", "a1", "--student", "ada")
    both.ours.run("nbgrader", "generate_feedback", "a1", "--student", "ada")
    assert both.ours.grades()["test_double"] == (2.0, False)
    assert "checkpoint" not in both.ours.page()


@pytest.mark.parametrize(
    ("text", "doubted"),
    [
        ('{"cells": [{"source": "a"}], "cells": []}', True),
        ('{"cells": [{"source": "a", "source": "b"}]}', True),
        ('{"cells": [], "metadata": {}, "metadata": {"cells": 1}, "cells": []}', False),
        ('{"cells": [{"source": "a", "source": "a"}]}', False),
        ('{"cells": [{"source": "a", "metadata": {"source": "b", "cells": "c"}}]}', False),
        ('{"cells": [{"source": "\\"cells\\": [], \\"source\\": 1"}]}', False),
    ],
)
def test_a_file_with_its_cells_or_a_source_twice_is_doubted_if_these_differ(text, doubted):
    assert bool(parse_submitted(text.encode(), "a.ipynb").doubt) == doubted
