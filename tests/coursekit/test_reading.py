"""Reading whatever a student hands in."""

import json
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

from coursekit.student.reading import read


def write(path: Path, content: object) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is an empty file"),
        ("{", "can't be read as a notebook"),
        ("[]", "holds no notebook"),
        ({"nbformat": 4}, "can't be read"),
        ({"nbformat": 4, "cells": 3}, "not a list"),
        ({"nbformat": "x", "cells": []}, "can't be read"),
        ("[" * 100_000, "can't be read"),
        ({"nbformat": 4, "cells": [{"cell_type": "code", "source": ""}] * 2001}, "has 2,001 cells"),
    ],
)
def test_a_file_that_is_no_notebook_gets_one_sentence(tmp_path, content, words):
    handed = read(write(tmp_path / "a.ipynb", content))
    assert handed.notebook is None
    assert words in handed.problem
    assert "a.ipynb" in handed.problem
    assert "\n" not in handed.problem


def test_bytes_that_are_no_text_get_one_sentence(tmp_path):
    (tmp_path / "a.ipynb").write_bytes(b"\xff\xfe\x00")
    assert "can't be read" in read(tmp_path / "a.ipynb").problem


def test_a_byte_order_mark_does_no_harm(tmp_path):
    text = nbformat.writes(v4.new_notebook(cells=[v4.new_code_cell("x")]))
    (tmp_path / "a.ipynb").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert read(tmp_path / "a.ipynb").notebook.cells[0].source == "x"


def test_only_sources_ids_and_grade_ids_are_taken_over(tmp_path):
    cell = {
        "cell_type": "code",
        "id": "mine",
        "source": ["a\n", "b"],
        "outputs": [{"output_type": "stream", "text": "x" * 1000}],
        "metadata": {"nbgrader": {"grade_id": "f", "points": 1000, "schema_version": 0}, "tags": ["demo"]},
    }
    path = write(
        tmp_path / "a.ipynb",
        {"nbformat": 4, "metadata": {"coursekit": {"status": "graded"}}, "cells": [cell, 7]},
    )
    notebook = read(path).notebook
    assert notebook.metadata == {}
    (only,) = notebook.cells
    assert only.source == "a\nb"
    assert only.outputs == []
    assert only.metadata == {"nbgrader": {"grade_id": "f"}}


def test_an_old_notebook_format_is_read(tmp_path):
    old = {
        "nbformat": 3,
        "nbformat_minor": 0,
        "metadata": {},
        "worksheets": [
            {
                "cells": [
                    {
                        "cell_type": "code",
                        "input": "x = 1",
                        "outputs": [],
                        "metadata": {},
                        "language": "python",
                    }
                ]
            }
        ],
    }
    assert read(write(tmp_path / "a.ipynb", old)).notebook.cells[0].source == "x = 1"


def test_the_only_notebook_of_another_name_is_taken_if_it_answers_the_assignment(tmp_path):
    cell = v4.new_code_cell("x", metadata={"nbgrader": {"grade_id": "f"}})
    write(tmp_path / "a (1).ipynb", nbformat.writes(v4.new_notebook(cells=[cell])))
    handed = read(tmp_path / "a.ipynb")
    assert handed.notebook is not None
    assert "Handed in as a (1).ipynb" in handed.notes[0]


def test_a_notebook_about_something_else_is_not_taken(tmp_path):
    write(tmp_path / "diary.ipynb", nbformat.writes(v4.new_notebook(cells=[v4.new_code_cell("x")])))
    handed = read(tmp_path / "a.ipynb")
    assert handed.missing
    assert "diary.ipynb" in handed.problem


@pytest.mark.parametrize("name", ["<b>x</b>", "\x00", "", "x" * 65, 5, None])
def test_a_cell_id_that_notebooks_must_not_have_is_replaced(tmp_path, name):
    cell = {"cell_type": "code", "id": name, "source": "x"}
    handed = read(write(tmp_path / "a.ipynb", {"nbformat": 4, "cells": [cell]}))
    assert handed.notebook.cells[0].id not in (name, "")
    nbformat.validate(handed.notebook)


@pytest.mark.parametrize(
    "cell", [{"cell_type": 7}, {"cell_type": "code", "source": {"a": 1}}, {"cell_type": "raw"}]
)
def test_a_cell_of_an_odd_kind_is_kept_as_one_that_notebooks_may_have(tmp_path, cell):
    handed = read(write(tmp_path / "a.ipynb", {"nbformat": 4, "cells": [cell]}))
    nbformat.validate(handed.notebook)


def test_text_that_can_be_written_into_no_file_is_replaced(tmp_path):
    cell = {"cell_type": "code", "source": "x = '\ud800'"}
    handed = read(write(tmp_path / "a.ipynb", {"nbformat": 4, "cells": [cell]}))
    assert handed.notebook.cells[0].source == "x = '?'"
