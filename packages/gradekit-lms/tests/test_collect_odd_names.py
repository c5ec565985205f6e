"""`nbgrader zip_collect` with a class of odd names and files."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .downloads import NOTEBOOK, SAMPLES, rows, zipped


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


OTHERS = NOTEBOOK.replace("[]", '[{"cell_type": "markdown", "id": "x", "metadata": {}, "source": "Eve\'s"}]')


def test_names_that_students_choose_say_nothing_about_whose_a_file_is(collect, enrolled, enrol, handed_in):
    enrol("eve", first_name="Eve_X", last_name="Il")
    files = {
        "Eve_X Il_7_assignsubmission_file/double.ipynb": NOTEBOOK,
        "Eve_X Il_7_assignsubmission_file/Jane Doe_8_assignsubmission_file_double.ipynb": OTHERS,
        "Jörg Müller_9_assignsubmission_file X_10_assignsubmission_file/double.ipynb": OTHERS,
    }
    done = collect("Moodle", files)
    assert {student for student, _ in handed_in()} == {"eve"}
    assert "its name may be that of two students (1):" in done.stderr


def test_names_in_any_script_are_those_of_canvas(collect, enrolled, enrol, handed_in):
    enrol("asha", lms_user_id="999")
    inside = zipped({"doejane_101_5_double.ipynb": OTHERS, "double.ipynb": NOTEBOOK})
    collect("Canvas", {"हिन्दीनाम_999_4_work.zip": inside})
    assert {student for student, _ in handed_in()} == {"asha"}


def test_two_people_with_one_student_id_in_gradescope_are_not_one(collect, enrolled, enrol, handed_in):
    enrol("eve", email="eve@example.edu")
    entry = """
submission_{}:
  :submitters:
  - :name: {}
    :sid: {}
    :email: {}@example.edu
  :created_at: 2026-01-01 1{}:00:00 +0000
"""
    people = ["Jane jane jane", "Zed jane zed", "Eve jorg eve", "Han han han"]
    text = "".join(entry.format(number, *person.split(), number) for number, person in enumerate(people))
    files = {f"e/submission_{number}/double.ipynb": NOTEBOOK for number in range(len(people))}
    done = collect("Gradescope", {"e/submission_metadata.yml": text} | files)
    assert list(handed_in()) == [("han", "double")]
    assert "each may be several people" in done.stderr and "Eve may be eve or jorg" in done.stderr


@pytest.mark.parametrize(
    "submitters",
    ["  - jane", "    jane", "    :sid: jane", "  - - jane", "  -", "  - :sid: 'null'\n    :email: ~"],
)
def test_odd_submitters_in_gradescope_s_metadata_are_named_and_cost_no_other_anything(
    collect, handed_in, submitters
):
    rest = "\n  :created_at: 2026-01-01 12:00:00 Z\n"
    ben = "submission_2:\n  :submitters:\n  - :sid: ben\n    :email: ben@example.edu\n    :name: Ben Fox"
    metadata = f"---\nsubmission_1:\n  :submitters:\n{submitters}{rest}{ben}{rest}"
    files = {f"submission_{number}/double.ipynb": NOTEBOOK for number in (1, 2)}
    done = collect("Gradescope", files | {"submission_metadata.yml": metadata})
    assert "submission_1/double.ipynb" in done.reported and list(handed_in()) == [("ben", "double")]
