"""Code that Python reads but can't write again: too deep, or with integers that are too long. It costs nobody a grade."""

import pytest

from gradekit.submission.names import closing_call, words
from gradekit.submission.restore import restored
from gradekit.submission.statements import pieces_of, reached_code
from gradekit.submission.texts import texts_in_code
from gradekit_integrity.similar.tokens import code_lines
from gradekit_integrity.viva.class_answers import keys_of

from .tiny_course import RIGHT, cell_of

HARD = {
    "hex": "BIG = 0x" + "f" * 5000,
    "bits": "BIG = 0b" + "1" * 20_000,
    "default": "def f(b=0x" + "f" * 5000 + "): return b",
    "sum": "BIG = " + "+".join(["1"] * 2_500),
    "calls": "BIG = a" + ".b()" * 2_000,
    "fewer calls": "BIG = a" + ".b()" * 700,
    "closing": "plt.close(0x" + "f" * 5000 + ")\nprint('Since it is, and was.')\na" + ".b()" * 700,
    "dot": "(" + "+".join(["BIG"] * 2_500) + ").a = None",
    "elif": "if 0: pass\n" + "elif 0: pass\n" * 1_000,
    "parentheses": "BIG = " + "(" * 9_000,
    "surrogate": "BIG = '\\ud800'",
    "null": "BIG = 1\0",
}


@pytest.mark.parametrize("text", HARD.values(), ids=HARD.keys())
def test_whatever_reads_a_cell_can_read_it(text):
    for read in (closing_call, words, pieces_of, code_lines, keys_of):
        read(text)
    [piece.shape for piece in pieces_of(text)]
    list(texts_in_code(text, ""))
    reached_code([text], {"BIG"})


@pytest.mark.parametrize("text", HARD.values(), ids=HARD.keys())
def test_an_answer_beside_it_in_a_test_cell_is_found(tiny_course, text):
    released = tiny_course.assignment.released("double")
    notebook = tiny_course.assignment.released("double")
    cell_of(notebook, "test").source = f"{text}\n{RIGHT}\n{cell_of(notebook, 'test').source}"
    whole = restored(notebook, released)
    found = any("return 2 * x" in cell.source for cell in whole.notebook.cells)
    assert found or whole.doubts
