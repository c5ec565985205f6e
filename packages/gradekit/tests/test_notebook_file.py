"""Reading submitted files, damaged and hostile ones included."""

import json
import os
import socket
import tracemalloc
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

from gradekit.submission.notebook_file import parse_submitted, read_submitted


def write(path: Path, content: object) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is an empty file"),
        ("{", "can't be read as a notebook"),
        ("[]", "contains no notebook"),
        ({"nbformat": 4}, "can't be read"),
        ({"nbformat": 4, "cells": 3}, "not a list"),
        ({"nbformat": "x", "cells": []}, "can't be read"),
        ('{"cells": ' + "[" * 100_000, "it is nested too deeply"),
        ({"nbformat": 4, "cells": [{"cell_type": "code", "source": ""}] * 2001}, "has 2,001 cells"),
        ({"nbformat": 4, "cells": [{"cell_type": "code", "source": "x" * 200_001}]}, "more than 200,000"),
        ({"nbformat": 4, "cells": [{"cell_type": "code", "source": "x" * 150_000}] * 30}, "4,000,000"),
        ('{"cells": [' + "[]," * 200_000 + "[]]}", "has 200,003 brackets, more than 200,000"),
        (" \n", "is an empty file"),
        ("\0" * 1000, "holds nothing but NUL characters"),
    ],
)
def test_a_file_that_is_not_a_notebook_gets_one_sentence(tmp_path, content, words):
    submitted = read_submitted(write(tmp_path / "a.ipynb", content))
    assert submitted.notebook is None
    assert words in submitted.problem
    assert "a.ipynb" in submitted.problem
    assert "\n" not in submitted.problem


def test_bytes_that_are_not_text_get_one_sentence(tmp_path):
    (tmp_path / "a.ipynb").write_bytes(b"\xff\xfe\x00")
    assert "can't be read" in read_submitted(tmp_path / "a.ipynb").problem


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp1252"]
)
def test_a_notebook_is_read_in_any_encoding(encoding):
    text = json.dumps({"nbformat": 4, "cells": [{"source": "größe"}]}, ensure_ascii=False)
    assert parse_submitted(text.encode(encoding), "a.ipynb").notebook.cells[0].source == "größe"


@pytest.mark.parametrize(
    "cell",
    [
        b'{"source": "x = 1", "outputs": [NaN, Infinity, -Infinity]}',
        b'{"source": "x\\u0000 = 1"}',
        b'{"source": "x\0 = 1"}',
        b'{"source": ["x", " = 1"], "metadata": {"name": "\\ud800"}}',
        b'{"source": "x = 1", "source": "x = 1"}',
        b'{"source": "x = 1", "id": 7, "metadata": "none", "cell_type": ["code"]}',
    ],
)
def test_harmless_oddities_are_read(cell):
    (found,) = parse_submitted(b'{"nbformat": 4, "cells": [' + cell + b"]}\n\0\0", "a.ipynb").notebook.cells
    assert found.source == "x = 1"


def test_removed_nul_characters_are_noted():
    cell = {"source": "a\0b", "metadata": {"nbgrader": {"grade_id": "f"}}}
    submitted = parse_submitted(json.dumps({"cells": [cell]}).encode(), "a.ipynb")
    assert submitted.notes == [
        "The cell `f` contained NUL characters, which Python can't read; they were removed."
    ]


def test_line_ends_are_converted():
    submitted = parse_submitted(json.dumps({"cells": [{"source": "a\r\nb"}]}).encode(), "a.ipynb")
    assert submitted.notebook.cells[0].source == "a\nb"


@pytest.mark.parametrize(
    "inside",
    [b"[],", b"1,", b'"",', b"{},", b'[[["x"]]],'],
    ids=["lists", "numbers", "texts", "objects", "nested"],
)
def test_a_hostile_file_takes_only_a_few_times_its_size_in_memory(inside):
    data = b'{"nbformat": 4, "cells": [' + inside * (4 * 2**20 // len(inside)) + b"[]]}"
    tracemalloc.start()
    try:
        submitted = parse_submitted(data, "a.ipynb")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert submitted.notebook is None
    assert most < 4 * len(data)


def test_large_outputs_take_no_memory():
    cell = {"cell_type": "code", "source": "x", "outputs": [{"text": "x" * (8 * 2**20)}]}
    data = json.dumps({"nbformat": 4, "cells": [cell]}).encode()
    tracemalloc.start()
    try:
        assert parse_submitted(data, "a.ipynb").notebook.cells[0].source == "x"
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 2**20


def a_pipe(path):
    os.mkfifo(path)


def a_socket(path):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))


def a_huge_file(path):
    with path.open("wb") as file:
        file.truncate(2**30)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path.mkdir(), "isn't a file"),
        (a_pipe, "isn't a file"),
        (a_socket, "isn't a file"),
        (a_huge_file, "is 1,024 MiB large, more than 100"),
        (lambda path: path.symlink_to("nowhere"), "is a link"),
        (lambda path: path.symlink_to("/dev/zero"), "is a link"),
        (lambda path: path.symlink_to(__file__), "is a link"),
    ],
)
def test_a_link_pipe_or_device_is_refused_without_being_opened(tmp_path, make, words):
    make(tmp_path / "a.ipynb")
    submitted = read_submitted(tmp_path / "a.ipynb")
    assert words in submitted.problem


def test_escape_sequences_in_a_name_become_visible(tmp_path):
    (tmp_path / "\x1b[31m\n.ipynb").write_text("{")
    assert r"found: \x1b[31m\x0a.ipynb" in read_submitted(tmp_path / "a.ipynb").problem


def test_only_sources_ids_and_grade_ids_are_read(tmp_path):
    cell = {
        "cell_type": "code",
        "id": "mine",
        "source": ["a\n", "b"],
        "outputs": [{"output_type": "stream", "text": "x" * 1000}],
        "metadata": {"nbgrader": {"grade_id": "f", "points": 1000, "schema_version": 0}, "tags": ["demo"]},
    }
    path = write(
        tmp_path / "a.ipynb",
        {"nbformat": 4, "metadata": {"gradekit": {"status": "graded"}}, "cells": [cell, 7]},
    )
    notebook = read_submitted(path).notebook
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
                    },
                    {"cell_type": "heading", "level": 2, "source": ["Title"]},
                ]
            }
        ],
    }
    cells = read_submitted(write(tmp_path / "a.ipynb", old)).notebook.cells
    assert [(cell.cell_type, cell.source) for cell in cells] == [("code", "x = 1"), ("markdown", "## Title")]


def test_the_only_notebook_under_another_name_is_read_if_it_is_of_the_assignment(tmp_path):
    cell = v4.new_code_cell("x", metadata={"nbgrader": {"grade_id": "f"}})
    write(tmp_path / "a (1).ipynb", nbformat.writes(v4.new_notebook(cells=[cell])))
    submitted = read_submitted(tmp_path / "a.ipynb")
    assert submitted.notebook is not None
    assert "Handed in as a (1).ipynb" in submitted.notes[0]


def test_an_unrelated_notebook_under_another_name_is_not_read(tmp_path):
    write(tmp_path / "diary.ipynb", nbformat.writes(v4.new_notebook(cells=[v4.new_code_cell("x")])))
    submitted = read_submitted(tmp_path / "a.ipynb")
    assert submitted.missing
    assert "diary.ipynb" in submitted.problem


@pytest.mark.parametrize("name", ["<b>x</b>", "\x00", "", "x" * 65, 5, None])
def test_an_invalid_cell_id_is_replaced(tmp_path, name):
    cell = {"cell_type": "code", "id": name, "source": "x"}
    submitted = read_submitted(write(tmp_path / "a.ipynb", {"nbformat": 4, "cells": [cell]}))
    assert submitted.notebook.cells[0].id not in (name, "")
    nbformat.validate(submitted.notebook)


@pytest.mark.parametrize(
    "cell", [{"cell_type": 7}, {"cell_type": "code", "source": {"a": 1}}, {"cell_type": "raw"}]
)
def test_a_cell_with_odd_fields_becomes_a_valid_one(tmp_path, cell):
    submitted = read_submitted(write(tmp_path / "a.ipynb", {"nbformat": 4, "cells": [cell]}))
    nbformat.validate(submitted.notebook)


def test_text_that_cannot_be_encoded_is_replaced(tmp_path):
    cell = {"cell_type": "code", "source": "x = '\ud800'"}
    submitted = read_submitted(write(tmp_path / "a.ipynb", {"nbformat": 4, "cells": [cell]}))
    assert submitted.notebook.cells[0].source == "x = '?'"
