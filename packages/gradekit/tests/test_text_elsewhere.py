"""Texts that belong to something else may nevertheless be the answer to an empty question, if there are signs of that."""

import json
import time
from collections.abc import Callable
from copy import deepcopy

import pytest
from msgspec import Raw
from nbformat import NotebookNode, v4

from gradekit.course import blank_copy
from gradekit.course.cells import find_cell
from gradekit.submission.restore import Restored, restored
from gradekit.submission.texts import Sibling, sentences_in, texts_in_code

from .odd_course import code, marked
from .tiny_course import at, cell_of, lab

DOC = '"""Return the double of a number."""'
FIRST = "The double of every integer is even, since two divides it."
SECOND = "Adding is exact for integers, so nothing gets lost by rounding."
FLOATS = "Floats are rounded, so large ones lose their last digits."


def question(text: str, name: str, answer: str) -> list[NotebookNode]:
    written = {"grade": True, "solution": True, "points": 3}
    return [
        v4.new_markdown_cell(text, id=f"about-{name}"),
        marked(v4.new_markdown_cell(f"### BEGIN SOLUTION\n{answer}\n### END SOLUTION"), name, **written),
    ]


def source() -> NotebookNode:
    solution = f"def double(x):\n    {DOC}\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"
    return lab(
        [
            v4.new_markdown_cell("# Doubling numbers", id="title"),
            code("double", solution, solution=True),
            code("test_double", "assert double(1) == 2", grade=True, locked=True, points=2),
            *question("## Question 1: parity\n\nIs the double of an integer even? Why?", "parity", FIRST),
            *question(
                "## Question 2: precision\n\nWhen does rounding lose digits of large floats?",
                "floats",
                FLOATS,
            ),
            v4.new_markdown_cell("## The end", id="end"),
        ]
    )


def other_source() -> NotebookNode:
    return lab([v4.new_markdown_cell("# Halving", id="halving"), *question("Why half?", "half", "Because.")])


def released() -> NotebookNode:
    return blank_copy(source())


def answered(change: Callable[[NotebookNode], None], **places: object) -> Restored:
    """The notebook with the first question answered, and the second one empty, after a change."""
    submitted = released()
    cell_of(submitted, "double").source = f"def double(x):\n    {DOC}\n    return x + x"
    cell_of(submitted, "parity").source = FIRST
    change(submitted)
    return restored(submitted, released(), **places)


def asked(found: Restored) -> dict[str, str]:
    return {doubt.grade_id: doubt.why for doubt in found.doubts}


def writes(cell: str, text: str) -> Callable[[NotebookNode], None]:
    def change(notebook: NotebookNode) -> None:
        cell_of(notebook, cell).source = text

    return change


def below(cell: str, own: NotebookNode) -> Callable[[NotebookNode], None]:
    def change(notebook: NotebookNode) -> None:
        notebook.cells.insert(at(notebook, cell) + 1, deepcopy(own))

    return change


def double(text: str) -> Callable[[NotebookNode], None]:
    return writes("double", text)


@pytest.mark.parametrize(
    "change",
    [
        writes("parity", f"{FIRST}\n\n{FLOATS}"),
        writes("parity", f"1. {FIRST}\n2. {FLOATS}"),
        writes("parity", f"- {FIRST}\n- {FLOATS}"),
        writes("parity", f"{FIRST}\n## Precision\n{FLOATS}"),
        writes("parity", f"{FIRST} On question 2: yes, they do."),
        writes("parity", f"{FIRST} Q2: yes."),
        writes("parity", FLOATS.replace("last", "lowest")),
        double(f'def double(x):\n    """{FLOATS}"""\n    return x + x'),
        double(f"def double(x):\n    {DOC[:-3]}\n\n    They lose what is below their mantissa.\n    \"\"\"\n    return x + x"),
        double("def double(x):\n    return x + x\n\n# They lose some."),
        double("def double(x):\n    return x + x\n\n# No.\n"),
        double("def double(x):\n    return x + x  # rounding takes digits"),
        double("def double(x):\n    # digits are lost if floats are large\n    return x + x"),
        double("def double(x):\n    # Q2: yes\n    return x + x"),
        double("def double(x):\n    return x + x\n\n# Yes, always"),
        double("def double(x):\n    return x + x\n\n# No"),
        double("def double(x):\n    return x + x\n\n# Answer: pre-rounding"),
        double("def double(x):\n    return x + x\n\n# exact if small else rounded"),
        double("def double(x):\n    return x + x\n\n\nq2 = 'They do'"),
        double("def double(x):\n    return x + x\n\n\n# Some of the lower places vanish, so it is wrong\n\nprint(double(2))"),
        below("parity", v4.new_code_cell("x = 3\n\n# Q2: rounding loses digits")),
        below("parity", v4.new_code_cell("x = 3\nprint(x)\n\n# they lose some")),
    ],
)  # fmt: skip
def test_a_person_reads_what_may_answer_an_empty_question(change):
    found = asked(answered(change))
    assert "is empty, but something else may be its answer: the text in the cell " in found["floats"]


@pytest.mark.parametrize(
    "change",
    [
        writes("parity", FIRST),
        writes("parity", f"{FIRST}\nIt is so for 2 and for 3, too."),
        writes("parity", ""),
        double("def double(x):\n    return x + x"),
        double('def double(x):\n    """Add the number to itself, which is the same as two times it."""\n    return x + x'),
        double("def double(x):\n    # adding is the same as multiplying\n    return x + x  # exact"),
        double("# helper\ndef twice(x):\n    return x + x\n\n\n# print(twice(2), twice(3))\n# for x in range(3):\n#     print(x)\n\ndef double(x):\n    return twice(x)"),
        double('NAMES = ["a list of more than six words in it"]\ndef double(x):\n    return x + x'),
        double("# My helper functions\n\n\ndef twice(x):\n    return x + x\n\n\ndef double(x):\n    return twice(x)"),
        double("# ---------\n# Helpers\n# ---------\n\ndef double(x):\n    return x + x"),
        double('"""\nfor i in range(3):\n    total = total + values[i]\n"""\ndef double(x):\n    return x + x'),
        double("def double(x):\n    return x + x\n\n\ny = double(2)\n# y, double"),
        below("parity", v4.new_code_cell('double("a text that is long enough to be a sentence")')),
    ],
)  # fmt: skip
def test_what_belongs_to_something_else_raises_no_doubt(change):
    assert "floats" not in asked(answered(change))


def asking(text: str) -> NotebookNode:
    """The released notebook with another second question."""
    notebook = released()
    cell_of(notebook, "about-floats").source = text
    return notebook


@pytest.mark.parametrize(
    ("text", "comment", "is_asked"),
    [
        ("For 10 tokens, which is better?\n\nWhy?", "tested for 10 rounds", False),
        ("For 10 tokens, which is better?\n\nWhy?", "why not a loop", False),
        ("For 10 tokens, which is better?\n\nWhy?", "Why: it is small", True),
        ("## Which is better?\n\n**Question 3.** Is it?", "Q3: it is", True),
        ("## Exercise 3b\n\nIs it?", "exercise 3b: it is", True),
        ("## Which is better?\n\n1. For one\n2. For two", "tested for question 1", False),
        ("2. Which is better?", "Question 2: it is", True),
    ],
)
def test_a_comment_names_a_question_by_its_number_or_a_line_of_it(text, comment, is_asked):
    submitted = asking(text)
    cell_of(submitted, "double").source = f"def double(x):\n    # {comment}\n    return x + x"
    assert ("floats" in asked(restored(submitted, asking(text)))) is is_asked


def test_a_picture_in_an_answer_may_have_other_answers():
    def add(notebook: NotebookNode) -> None:
        cell = cell_of(notebook, "parity")
        cell.source = "![sheet](attachment:sheet.png)"
        cell.attachments = {"sheet.png": {"image/png": "AAAA"}}

    assert "the picture in the cell `parity`" in asked(answered(add))["floats"]


def test_words_added_to_a_docstring_count_in_each_class():
    def of(first: str) -> str:
        return "\n\n\n".join(
            f'class {name}:\n    def forward(self):\n        """Compute."""\n        return 1'.replace(
                "Compute.", words
            )
            for name, words in (("A", first), ("B", "Compute."))
        )

    source = released()
    cell_of(source, "double").source = of("Compute.")
    submitted = deepcopy(source)
    cell_of(submitted, "double").source = of("Compute.\n\n        Some of the lower places vanish then.")
    assert "floats" in asked(restored(submitted, source))


def test_an_answer_may_have_as_many_parts_as_its_question():
    def two(notebook: NotebookNode) -> NotebookNode:
        cell_of(notebook, "about-parity").source += "\n\n1. Of an integer?\n2. Of a sum?"
        return notebook

    submitted = two(released())
    cell_of(submitted, "parity").source = "1. It is even.\n2. That, too."
    assert asked(restored(submitted, two(released()))) == {}
    cell_of(submitted, "parity").source += "\n3. They lose some."
    assert list(asked(restored(submitted, two(released())))) == ["floats"]


@pytest.mark.parametrize(
    ("cells", "is_asked"),
    [
        ([v4.new_markdown_cell("They lose some.")], True),
        ([v4.new_code_cell("# They lose some.")], True),
        ([v4.new_code_cell("x = 3\n\n# They lose some.\n")], True),
        ([v4.new_code_cell("x = 3  # a number")], False),
        ([], False),
    ],
)
def test_the_answer_may_be_in_another_notebook_of_the_assignment(cells, is_asked):
    handed_in = blank_copy(other_source())
    handed_in.cells[1:1] = deepcopy(cells)
    found = answered(lambda notebook: None, siblings=beside(handed_in))
    assert [("the notebook b.ipynb" in why) for why in asked(found).values()] == [True] * is_asked


@pytest.mark.parametrize(
    ("text", "is_asked"),
    [
        ("Because half of it is half.", False),
        (f"Because.\n\n{FLOATS}", True),
        (FLOATS, True),
    ],
)
def test_the_answer_may_be_in_an_answer_of_another_notebook(text, is_asked):
    handed_in = blank_copy(other_source())
    cell_of(handed_in, "half").source = text
    found = answered(lambda notebook: None, siblings=beside(handed_in))
    assert ("floats" in asked(found)) is is_asked


def beside(handed_in: NotebookNode) -> dict[str, Sibling]:
    return {"b.ipynb": Sibling(handed_in, blank_copy(other_source()))}


def test_what_was_moved_from_another_notebook_or_removed_there_is_no_answer():
    """Who handed in before `gradekit revise` has the old cells in the other notebook."""
    handed_in = blank_copy(other_source())
    handed_in.cells.append(v4.new_markdown_cell("## A heading that is gone"))
    moved = released()
    cell_of(moved, "parity").source = FIRST
    handed_in.cells += [*moved.cells, v4.new_code_cell("# What a given cell had said\n\nx = 3\n")]
    texts = {"## A heading that is gone", "# What a given cell had said\nx = 3"}
    submitted = released()
    del submitted.cells[at(submitted, "about-parity") : at(submitted, "parity") + 1]
    found = restored(submitted, released(), siblings=beside(handed_in), removed_texts=texts)
    assert cell_of(found.notebook, "parity").source == FIRST
    assert "floats" not in asked(found)
    assert "floats" in asked(restored(submitted, released(), siblings=beside(handed_in)))


def test_of_several_copies_in_another_notebook_the_last_one_counts():
    handed_in = blank_copy(other_source())
    copies = [deepcopy(cell_of(released(), "double")) for _ in range(3)]
    copies[0].source, copies[1].source = "def double(x):\n    return 3", "def double(x):\n    return x + x"
    handed_in.cells += copies
    found = restored(released(), released(), siblings=beside(handed_in))
    assert cell_of(found.notebook, "double").source == copies[1].source


def printed(text: str) -> Raw:
    return Raw(
        json.dumps([{"output_type": "stream", "name": "stdout", "text": text.splitlines(True)}]).encode()
    )


def html(text: str) -> Raw:
    data = {"text/plain": "<IPython.core.display.HTML object>", "text/html": text}
    return Raw(json.dumps([{"output_type": "display_data", "data": data, "metadata": {}}]).encode())


def shown(text: str, **more: str) -> Raw:
    data = {"text/plain": "<IPython.core.display.Markdown object>", "text/markdown": text, **more}
    return Raw(json.dumps([{"output_type": "display_data", "data": data, "metadata": {}}]).encode())


SAID = "Some of the lower places vanish as soon as they exceed the mantissa."


@pytest.mark.parametrize(
    ("source", "output", "is_asked"),
    [
        ("show(texts[2])", printed(f"\n{SAID}\n"), True),
        ("show(texts[2])", shown(SAID), True),
        ("show(texts[2])", printed("Large floats, e.g. those above 2**53, lose their lowest digits when they are rounded."), True),
        ("show(texts[2])", printed("It’s **not** exact – 0.5 or 10% of the lower “places” vanish at once"), True),
        ("%%time\nshow(texts[2])", printed(f"{SAID}\nWall time: 3 us\n"), True),
        ("%matplotlib inline\nshow(texts[2])", shown(SAID, **{"image/png": "A" * 2**19}), True),
        ("HTML(texts[2])", html(f"<p>{SAID.replace('lower', '<b>lower</b>')}</p>"), True),
        ("%%time\nrun()", printed("CPU times: user 3 us, sys: 1 us, total: 4 us\nWall time: 6 us"), False),
        ("%timeit run()", printed("1.2 µs ± 3 ns per loop (mean ± std. dev. of 7 runs, 1,000,000 loops each)"), False),
        ("help(sum)", printed("Return the sum of a start value plus an iterable of numbers"), False),
        ("words", printed("['some', 'of', 'the', 'lower', 'places', 'vanish',\n 'as', 'soon', 'as', 'they', 'exceed', 'it']"), False),
        ("table", html("<table><td>Some of the lower places vanish at once</td></table>"), False),
        ("table", printed("   text  and  more of  the  lower  places  vanish"), False),
        ('print("sum of all the", n, "numbers that are in the list:", s)', printed("sum of all the 3 numbers that are in the list: 4"), False),
        ("", printed(SAID), True),
        ("show(texts[2])", printed("0 tensor(1.0000) 3\n" * 20), False),
        ("print('the sum of all', n, 'numbers in it is', total)", printed("the sum of all 3 numbers in it is 7"), False),
        ("%pip install x", printed("Note: you may need to restart the kernel to use updated packages."), False),
        ("show(model)", printed("Linear(in_features=3, out_features=4, bias=True, device=cpu, dtype=float)"), False),
        ("1 / 0", Raw(b'[{"output_type": "error", "ename": "Some words that are not here at all"}]'), False),
        ("assert double(1) == 2", printed(SAID), False),
        ("x = 3", Raw(b"null"), False),
        ("x = 3", Raw(b'[{"data": 3}]'), False),
    ],
)  # fmt: skip
def test_a_person_reads_a_text_that_is_only_in_an_output(source, output, is_asked):
    number = 1

    def add(notebook: NotebookNode) -> None:
        notebook.cells.insert(number, v4.new_code_cell(source))

    cells = len(released().cells) + 1
    saved = [output if place == number else Raw(b"[]") for place in range(cells)]
    found = answered(add, saved=saved)
    kept = [cell for cell in found.notebook.cells if " lower" in cell.source or "lowest" in cell.source]
    assert ("floats" in asked(found)) is is_asked
    if is_asked:
        assert len(kept) == 1
        note = "Sentences in the output of the cell number 2 were kept in a new cell below it."
        assert note in found.notes
        assert at(found.notebook, "double") > number  # it stays where it was
    else:
        assert kept == []


def test_outputs_are_not_read_if_all_is_answered():
    def answer(notebook: NotebookNode) -> None:
        cell_of(notebook, "floats").source = FLOATS
        notebook.cells.append(v4.new_code_cell("show(texts[2])"))

    found = answered(answer, saved=[printed(SAID)] * (len(released().cells) + 1))
    assert found.notes == [] and found.doubts == []
    assert find_cell(found.notebook, "floats").source == FLOATS


@pytest.mark.slow
@pytest.mark.parametrize("run", [" ", "\n", ".", "_", "- a\n", "# a\n", "a/", "`", "Q2", "## "])
def test_long_texts_are_read_in_little_time(run):
    """A pattern that tries again at each of 200,000 signs would take minutes of the grader's time."""
    short = f"a {run * 20_000}"[:20_000]
    text = f"a {run * 200_000} a b c d e f g"

    def add(notebook: NotebookNode) -> None:
        cell_of(notebook, "parity").source = text
        notebook.cells[1:1] = [v4.new_code_cell(text), v4.new_markdown_cell(text)]

    began = time.process_time()
    for source in (short, f"x = 3\n# {short}", f'x = """{short}"""', f"# {short}\n\nx = 3"):
        list(texts_in_code(source[:20_000], ""))
    sentences_in(printed(text[:200_000]), ())
    sentences_in(html(f"<p {run * 100_000}"[:200_000]), ())
    answered(add, saved=[printed(text[:200_000])] * (len(released().cells) + 2))
    assert time.process_time() - began < 10


def test_notes_number_the_cells_of_the_restored_notebook():
    found_at, said_at = (
        v4.new_code_cell("def double(x):\n    return x + x"),
        v4.new_code_cell("show(texts[2])"),
    )

    def move(notebook: NotebookNode) -> None:
        cell_of(notebook, "double").source = cell_of(released(), "double").source
        notebook.cells.insert(1, said_at)
        notebook.cells.append(found_at)

    saved = [Raw(b"[]"), printed(SAID), *[Raw(b"[]")] * len(released().cells)]
    found = answered(move, saved=saved)
    number = 1 + max(at for at, one in enumerate(found.notebook.cells) if one.source == found_at.source)
    assert f"The answer to `double` was found in the cell number {number} and copied" in " ".join(found.notes)
    assert "Sentences in the output of the cell number 2 were" in " ".join(found.notes)
