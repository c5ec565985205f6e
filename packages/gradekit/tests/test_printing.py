"""Untrusted text, made safe for a terminal, a page and a spreadsheet."""

import re
from pathlib import Path

import pytest

import gradekit
from gradekit.course.printing import defused, printable, quoted


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ada", "ada"),
        ("Zoë Müller-Łukasz 李明", "Zoë Müller-Łukasz 李明"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("a\x9b2Jb", r"a\x9b2Jb"),
        ("two\nlines\r\tmore", r"two\x0alines\x0d\x09more"),
        ("a\u2028b\u2029c", r"a\u2028b\u2029c"),
        ("abc\u202etxt.exe\u2066", r"abc\u202etxt.exe\u2066"),
        ("Ren\udce9", r"Ren\xe9"),
        ("\ud800", r"\ud800"),
        ("\U000e0041", r"\U000e0041"),
        ("\x00\x7f", r"\x00\x7f"),
    ],
)
def test_unprintable_characters_become_visible_escapes(text, shown):
    assert printable(text) == shown
    printable(text).encode("utf-8")


def test_text_is_cut_before_it_is_escaped():
    assert printable("x" * 10_000) == "x" * 200 + "…"
    assert printable("\x1b" * 10_000, limit=3) == r"\x1b\x1b\x1b…"
    assert printable("x" * 10_000, limit=None) == "x" * 10_000


@pytest.mark.parametrize(
    "cell", ["=1+1", "+SUM(A1)", "-x", "@cmd", " =1+1", "\u00a0=1", "\ufeff=1", "＝1+1", "\t=1", "\r=1"]
)
def test_a_cell_that_looks_like_a_formula_gets_a_quote(cell):
    assert defused(cell).startswith("'")


@pytest.mark.parametrize("cell", ["ada", "a=b", "x-y", "", "-1.5", "+3", -1.5, None, 7])
def test_other_cells_stay_as_they_are(cell):
    assert defused(cell) == cell


def test_a_csv_cell_has_no_control_characters():
    assert defused("\x1b[2Jada\udce9") == r"\x1b[2Jada\xe9"


def test_a_name_in_a_command_is_quoted_where_it_has_to_be():
    assert quoted("ps1") == "ps1"
    assert quoted("week 1") == "'week 1'"
    assert quoted("it's") == """'it'"'"'s'"""


def test_every_command_that_is_printed_quotes_the_names_in_it():
    root = Path(gradekit.__file__).parent
    texts = {path: path.read_text() for kind in ("py", "j2") for path in root.rglob(f"*.{kind}")}
    unquoted = re.compile(
        r"(?:gradekit|nbgrader) (?!took)[a-z_]+ (?:\{(?!quoted\()[^{}]*\}|\{\{(?![^{}]*\| quoted)[^{}]*\}\})"
    )
    assert [(path, found) for path, text in texts.items() for found in unquoted.findall(text)] == []
    assert unquoted.search("run `gradekit record {name}`") and unquoted.search("gradekit record {{ name }}")
