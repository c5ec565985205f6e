"""`nbgrader zip_collect` with a class of odd names and files."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .downloads import SAMPLES, rows, zipped


def content(kind: str, marker: str, released: str) -> str | bytes:
    """What a file holds; notebooks have a marker, so that one can see whose it is."""
    notebook = json.loads(released)
    notebook["metadata"]["marker"] = marker
    text = json.dumps(notebook)
    stripped = json.dumps({"cells": [], "metadata": {"marker": marker}, "nbformat": 4, "nbformat_minor": 5})
    return {
        "right": text,
        "older": text,
        "without ids": stripped,
        "text": "not a notebook",
        "folder": "",
        "zip": zipped({"my work/double.ipynb": text}),
        "zip in zip": zipped({"outer/inner.zip": zipped({"double.ipynb": text})}),
        "empty zip": zipped({}),
        "checkpoint in zip": zipped({".ipynb_checkpoints/double-checkpoint.ipynb": text}),
    }[kind]


def collected_markers(root: Path) -> dict[str, set[str]]:
    """The students who have each marked notebook, as their double.ipynb."""
    found: dict[str, set[str]] = {}
    for path in (root / "submitted").glob("*/01_double/double.ipynb"):
        marker = json.loads(path.read_text())["metadata"]["marker"]
        found.setdefault(marker, set()).add(path.parts[-3])
    return found


@pytest.mark.parametrize("product", ["Canvas", "Moodle", "Gradescope"])
def test_each_file_reaches_its_student_or_is_reported(product: str, collect: Callable, enrolled, generated):
    released = (generated.root / "release/01_double/double.ipynb").read_text()
    sample = rows(f"odd_{product.lower()}.csv")
    files = {name: content(kind, name, released) for name, kind, _, _ in sample}
    metadata = (SAMPLES / "odd_submission_metadata.yml").read_text(encoding="utf-8")
    done = collect(
        product, files | ({"submission_metadata.yml": metadata} if product == "Gradescope" else {})
    )
    markers, log = collected_markers(generated.root), done.reported
    wrong = []
    for name, _, students, words in sample:
        if markers.pop(name, set()) != set(students.split()):
            wrong.append(f"{name}: wrong student")
        elif words not in log:
            wrong.append(f"{name}: not reported")
    assert (wrong, markers) == ([], {}), f"{len(wrong)} of {len(sample)}: {wrong} {log}"
