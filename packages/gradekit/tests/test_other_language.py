"""Notebooks in other languages: their own kernel runs them in the sandbox, and their test cells are ordinary."""

import json
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode, v4

from gradekit.course import Assignment, Course, CourseError
from gradekit.course.kernels import LIMITED, other_language
from gradekit.nbgrader_plugin.bind import require_bound
from gradekit.session.limits import Limits
from gradekit.verdict.grade import grade
from gradekit.verdict.opened import GradingJob, HowToRun, _language_notes
from sandbox_kernel.sandboxed import SandboxProvisioner

PYTHON = {"name": "python3", "display_name": "Python", "language": "python"}
SHELL = {"name": "shell", "display_name": "Shell", "language": "sh"}

#: a kernel whose cells are shell scripts that share what they define in a file
PROGRAM = """
import subprocess
from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel

class Shell(Kernel):
    implementation = banner = "shell"
    implementation_version = "1"
    language_info = {"name": "sh", "mimetype": "text/x-sh", "file_extension": ".sh"}

    def do_execute(self, code, silent, *arguments, **options):
        done = subprocess.run(["sh", "-ec", code], capture_output=True, text=True)
        if not silent and done.stdout:
            self.send_response(self.iopub_socket, "stream", {"name": "stdout", "text": done.stdout})
        if done.returncode:
            error = {"ename": "ExitCode", "evalue": str(done.returncode), "traceback": []}
            self.send_response(self.iopub_socket, "error", error)
            return {"status": "error", "execution_count": self.execution_count, **error}
        return {"status": "ok", "execution_count": self.execution_count, "user_expressions": {}}

IPKernelApp.launch_instance(kernel_class=Shell)
"""

needs_kernelspec = pytest.mark.skipif(
    "kernelspec" not in SandboxProvisioner.class_trait_names(),
    reason="this version of sandbox-kernel runs ipykernel only",
)


def cell(source: str, name: str, **values: object) -> NotebookNode:
    base = {"grade": False, "locked": False, "schema_version": 3, "solution": False, "task": False}
    return v4.new_code_cell(source, metadata={"nbgrader": {**base, "grade_id": name, **values}})


def graded(source: str, name: str) -> NotebookNode:
    return cell(source, name, grade=True, locked=True, points=1)


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernelspec `shell`, installed for one test."""
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    folder = tmp_path / "jupyter" / "kernels" / "shell"
    folder.mkdir(parents=True)
    (folder / "shell.py").write_text(PROGRAM)
    argv = ["python", "{resource_dir}/shell.py", "-f", "{connection_file}"]
    (folder / "kernel.json").write_text(json.dumps({"argv": argv, **SHELL}))


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    """An assignment with a notebook of shell scripts, as it was released."""
    assignment = Course(tmp_path / "course").assignment("ps")
    notebook = v4.new_notebook(
        metadata={"kernelspec": SHELL},
        cells=[
            cell("echo 'echo $((2 * $1))' > double.sh", "answer", solution=True),
            graded("test $(sh double.sh 4) = 8", "right"),
            graded("echo trying; test $(sh double.sh 4) = 9", "wrong"),
        ],
    )
    for folder in (assignment.source_folder, assignment.release_folder):
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / "one.ipynb")
    return assignment


@needs_kernelspec
def test_its_test_cells_are_run_in_its_own_kernel(shell, assignment):
    notebook = assignment.released("one")
    notebook.cells[0].source += "  # twice its argument"
    how = HowToRun(Limits(cell_seconds=5))
    result = grade(GradingJob(assignment, "one", notebook, assignment.released("one"), how)).result
    assert {e.grade_id: (e.checks[0].outcome, e.earned) for e in result.exercises} == {
        "right": ("passed", 1),
        "wrong": ("failed", 0),
    }
    assert result.exercise("wrong").checks[0].message == "ExitCode: 1."
    assert notebook.cells[2].outputs[0].text == "trying\n"
    assert result.status == "graded"


def test_without_the_sandbox_it_is_not_run(shell, assignment):
    how = HowToRun(kernel_name=LIMITED)
    job = GradingJob(assignment, "one", assignment.released("one"), assignment.released("one"), how)
    with pytest.raises(CourseError, match=r"^The kernel `shell` of a notebook runs in the sandbox only"):
        grade(job)


def test_a_kernel_that_is_not_installed_is_named(assignment):
    with pytest.raises(CourseError) as told:
        require_bound(assignment)
    assert str(told.value) == (
        "release/ps/one.ipynb has the kernel `shell`, which is not installed here: install it. "
        "`jupyter kernelspec list` shows those that are."
    )


def test_its_test_cells_can_t_have_hidden_checks(shell, assignment):
    require_bound(assignment)
    assignment.checks.mkdir(parents=True)
    (assignment.checks / "right.py").write_text("")
    with pytest.raises(
        CourseError, match=r"tests/ps/right\.py: release/ps/one\.ipynb has the kernel `shell`"
    ):
        require_bound(assignment)


@pytest.mark.parametrize(
    ("metadata", "kernel"),
    [
        ({}, ""),
        ({"kernelspec": {"name": "python3"}}, ""),
        ({"kernelspec": {"name": "python", "language": "python"}}, ""),
        ({"kernelspec": {"name": "my-env", "language": "python"}}, ""),
        ({"kernelspec": {"name": "ir", "language": "R"}}, "ir"),
        ({"kernelspec": {"name": "ir"}, "language_info": {"name": "R"}}, "ir"),
        ({"language_info": {"name": "R"}}, ""),
    ],
)
def test_the_language_is_the_one_that_the_notebook_names(metadata, kernel):
    assert other_language(metadata) == kernel


@pytest.mark.parametrize(
    ("saved_with", "released", "note"),
    [
        ("R", SHELL, "saved with another kernel (R); it was graded with sh."),
        ("sh", SHELL, ""),
        ("shell", SHELL, ""),
        ("", SHELL, ""),
        (
            "R",
            PYTHON,
            "saved with another kernel (R); it was graded with Python.",
        ),
        ("python3", PYTHON, ""),
    ],
)
def test_a_notebook_that_was_saved_with_another_kernel_has_a_note(saved_with, released, note):
    notes = _language_notes(saved_with, v4.new_notebook(metadata={"kernelspec": released}))
    assert "".join(notes).removeprefix("The notebook was ") == note
