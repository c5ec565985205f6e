"""The notebooks run from top to bottom: as instructor, and as a student who has just opened them."""

import os
import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from traitlets.config import Config

from gradekit.course import Course
from gradekit.course.cells import is_demo
from gradekit.course.kernels import SANDBOX
from gradekit_authoring.samples import solved

ROOT = Path(__file__).parents[2]
ASSIGNMENTS = Course(ROOT).assignments()
#: wall time for one cell: a very busy machine may take minutes for what usually takes seconds
SECONDS = 600
#: run in every test run
EXAMPLE = "02_attention"
example_or_thorough = pytest.mark.parametrize(
    "assignment",
    [
        pytest.param(a, id=a.name, marks=[] if a.name == EXAMPLE else pytest.mark.thorough)
        for a in ASSIGNMENTS
    ],
)
each_assignment = pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda assignment: assignment.name)
mostly_slow = pytest.mark.parametrize(
    "assignment",
    [pytest.param(a, id=a.name, marks=[] if a.name == EXAMPLE else pytest.mark.slow) for a in ASSIGNMENTS],
)


@pytest.fixture
def folder(assignment, tmp_path, monkeypatch):
    """A folder with what lies beside the notebook. One thread, and no model from the net."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return copy_files(assignment, tmp_path)


def copy_files(assignment, folder):
    for file in assignment.handed_out():
        (shutil.copytree if file.is_dir() else shutil.copy)(file, folder / file.name)
    return folder


def run(notebook, folder):
    NotebookClient(notebook, timeout=SECONDS, kernel_name="python3").execute(cwd=str(folder))
    return notebook


def in_sandbox(folder, **settings):
    """Settings for a kernel that starts with its imports done, and with copies of the files in `folder`."""
    return Config(WatchedProvisioner={"working_files": [str(file) for file in folder.iterdir()]}, **settings)


def seconds_of_cpu():
    """Of the child processes that have ended."""
    times = os.times()
    return times.children_user + times.children_system


@pytest.mark.slow
@example_or_thorough
def test_a_source_notebook_runs_in_time_and_draws_figures(assignment, folder):
    (path,) = assignment.source_notebooks()
    before = seconds_of_cpu()
    notebook = run(nbformat.read(path, as_version=4), folder)
    # a minute alone on a machine: the same work takes half as much again if both threads of a core are busy
    assert seconds_of_cpu() - before < 100
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    figures = [output.data for output in outputs if "image/png" in output.get("data", {})]
    assert len(figures) >= 5
    assert [data["text/plain"] for data in figures if 'alt="' not in data.get("text/html", "")] == []
    assert [output.text for output in outputs if output.get("name") == "stderr"] == []


@example_or_thorough
def test_a_blank_notebook_fails_only_where_something_is_to_be_done(assignment, folder):
    notebook = assignment.released(assignment.released_names()[0])
    options = {"kernel_name": SANDBOX, "config": in_sandbox(folder), "allow_errors": True}
    NotebookClient(notebook, timeout=SECONDS, **options).execute()
    errors = {
        cell.id: output.ename
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.output_type == "error"
    }
    assert errors
    assert set(errors.values()) <= {"NotImplementedError", "AssertionError", "NameError"}
    undefined = [name for name, error in errors.items() if error == "NameError"]
    assert undefined == []


@mostly_slow
def test_a_notebook_with_everything_right_passes_nbgrader_validate(assignment, folder):
    """Without its demonstrations, which take long and ran in the source notebook."""
    from nbgrader.validator import Validator

    name = assignment.released_names()[0]
    notebook = solved(assignment, name)
    notebook.cells = [cell for cell in notebook.cells if not is_demo(cell)]
    config = in_sandbox(folder, Execute={"kernel_name": SANDBOX, "timeout": SECONDS})
    path = folder / f"{name}.ipynb"
    nbformat.write(notebook, path)
    results = Validator(config=config).validate(str(path))
    assert "failed" not in results
    assert "changed" not in results
