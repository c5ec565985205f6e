"""Whether a person decides about empty written answers, in many notebooks as students write them."""

import json
from copy import deepcopy

import pytest
from msgspec import Raw
from nbformat import NotebookNode, v4

from gradekit.course.cells import find_cell
from gradekit.submission.restore import restored
from gradekit.submission.texts import Sibling

from .odd_course import marked
from .student_texts import ALL, LATER, RELEASED, USUAL, Own, Texts
from .tiny_course import lab

OTHER = [
    ("h_other", "markdown", "# More numbers\n\nWhat is the largest float?"),
    ("other", "written", "YOUR ANSWER HERE"),
]
#: nothing was written, but somebody looks: words could be an answer, and 0 would be worse than a look
ASKED_ALL_THE_SAME = {
    "answer of two paragraphs",
    "comment above loop",  # it has two words of the question
    "end markers",
    "long comment above a function",
    "marks of editors",
    "name in the title",
}
MARKS = {
    "answer": {"solution": True},
    "test": {"grade": True, "locked": True, "points": 2},
    "written": {"grade": True, "solution": True, "points": 2},
}
NEW = {"code": v4.new_code_cell, "markdown": v4.new_markdown_cell, "raw": v4.new_raw_cell}


def made(rows: list[tuple[str, str, str]]) -> NotebookNode:
    cells = []
    for name, kind, source in rows:
        cell = NEW["code" if kind in ("answer", "test") else "markdown"](source, id=name)
        cells.append(marked(cell, name, **MARKS[kind]) if kind in MARKS else cell)
    return lab(cells)


def answered(rows: list[tuple[str, str, str]], answers: dict[str, str]) -> NotebookNode:
    """All questions are answered but the one about speed."""
    return made(
        [(name, kind, answers.get(name, text) if name != "speed" else text) for name, kind, text in rows]
    )


def with_own(notebook: NotebookNode, owns: list[Own]) -> NotebookNode:
    for own in owns:
        below = next(at for at, cell in enumerate(notebook.cells) if cell["id"] == own.below)
        cell = NEW[own.kind](own.source)
        if own.kind == "code":
            cell.outputs = own.outputs
        if own.attachments:
            cell.attachments = own.attachments
        notebook.cells.insert(below + 1, cell)
    return notebook


def handed_in(texts: Texts) -> NotebookNode:
    notebook = made(RELEASED)
    for cell, (name, *_) in zip(notebook.cells, RELEASED, strict=True):
        usual = USUAL.get(name, cell.source) if name not in texts.empty else cell.source
        cell.source = texts.cells.get(name, usual)
        if name in texts.attachments:
            cell.attachments = texts.attachments[name]
    return with_own(notebook, texts.own)


@pytest.mark.parametrize("texts", [*ALL, *LATER], ids=lambda texts: texts.name)
def test_a_person_decides_about_an_empty_answer_if_something_may_be_it(texts):
    submitted, other = handed_in(texts), made(OTHER)
    find_cell(other, "other").source = "About 1.8e308."
    saved = [Raw(json.dumps(cell.get("outputs", [])).encode()) for cell in submitted.cells]
    for cell in submitted.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    siblings = {"more.ipynb": Sibling(with_own(deepcopy(other), texts.other), made(OTHER))}
    found = restored(submitted, made(RELEASED), siblings=siblings, saved=saved)
    asked = {doubt.grade_id for doubt in found.doubts}
    read = {name for name in texts.empty if find_cell(found.notebook, name).source != "YOUR ANSWER HERE"}
    expected = texts.person or texts.name in ASKED_ALL_THE_SAME
    assert {name: name in asked | read for name in texts.empty} == dict.fromkeys(texts.empty, expected)


@pytest.mark.parametrize(
    ("released", "own", "person"),
    [
        ("def say(text):\n    print(text)", 'say("Because its loop is compiled, long arrays are quick")', True),
        ("def spell(text):\n    return text[::-1]", 'spell("Because its loop is compiled, long arrays are quick")', False),
        ("pass", 'answer_q2 = "Long arrays"', True),
        ("pass", 'q2_answer = "Long arrays"', True),
        ("pass", 'answer_q21 = "Long arrays"', False),
    ],
)  # fmt: skip
def test_an_answer_may_be_shown_by_a_given_function_or_have_a_name(released, own, person):
    rows = [*RELEASED, ("given", "test", released)]
    found = restored(with_own(answered(rows, USUAL), [Own("given", own)]), made(rows))
    assert ("speed" in {doubt.grade_id for doubt in found.doubts}) == person


def test_a_string_that_was_handed_out_is_no_answer():
    rows = [row for row in RELEASED if row[0] != "double"]
    rows += [("double", "answer", 'title = "Question 2"\n# YOUR CODE HERE')]
    submitted = answered(rows, USUAL | {"double": 'title = "Question 2"\ndouble = lambda x: 2 * x'})
    assert not restored(submitted, made(rows)).doubts
