"""The README's five minutes, in an environment that has nothing but gradekit[all] from its wheels: run by `make test-pythons`."""

import csv
import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

PACKAGES = Path(__file__).parent
README = PACKAGES / "gradekit" / "README.md"
OURS = sorted(
    path.parent.name for path in PACKAGES.glob("*/pyproject.toml") if path.parent.name != "transformer-course"
)
SOLUTION = "def squares(n):\n    ### BEGIN SOLUTION\n    return [k * k for k in range(1, n + 1)]\n    ### END SOLUTION"
ANSWERS = {
    "ada": "def squares(n):\n    return [k**2 for k in range(1, n + 1)]",
    "ben": "def squares(n):\n    return [1, 4, 9, 16]",
    "cleo": "def squares(n):\n    return [k * k for k in range(n)]",
    "dan": "def squares(n):\n    return None",
}
TOTALS = {"ada": 3, "ben": 2, "cleo": 1, "dan": 0}


def cell(source: str, name: str, **values: object) -> nbformat.NotebookNode:
    base = {"grade": False, "locked": False, "schema_version": 3, "solution": False, "task": False}
    return v4.new_code_cell(source, metadata={"nbgrader": {**base, "grade_id": name, **values}})


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course folder as the README says, with hand-ins."""
    root = tmp_path_factory.mktemp("course")
    plug_in, checks = re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.M | re.S)[
        :2
    ]
    (root / "nbgrader_config.py").write_text(plug_in)
    (root / "tests" / "ps1").mkdir(parents=True)
    (root / "tests" / "ps1" / "test_squares.py").write_text(checks)
    notebook = v4.new_notebook(
        cells=[
            cell(SOLUTION, "squares", solution=True),
            cell("assert squares(1) == [1]", "test_squares", grade=True, locked=True, points=3),
        ],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )
    (root / "source" / "ps1").mkdir(parents=True)
    nbformat.write(notebook, root / "source" / "ps1" / "p1.ipynb")
    run(root, "nbgrader", "generate_assignment", "ps1", "--force")
    for student, answer in ANSWERS.items():
        handed_in = nbformat.read(root / "release" / "ps1" / "p1.ipynb", as_version=4)
        handed_in.cells[0].source = answer
        (root / "submitted" / student / "ps1").mkdir(parents=True)
        nbformat.write(handed_in, root / "submitted" / student / "ps1" / "p1.ipynb")
    return root


def run(root: Path, *command: str, code: int = 0) -> str:
    program, *arguments = command
    done = subprocess.run(
        [Path(sys.executable).with_name(program), *arguments],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, f"{command}: {done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr
    assert "DeprecationWarning" not in done.stderr
    return done.stdout + done.stderr


def test_the_packages_come_from_their_wheels_without_torch():
    assert {importlib.metadata.version(name) for name in OURS} == {importlib.metadata.version("gradekit")}
    for name in OURS:
        package = importlib.import_module(name.replace("-", "_"))
        assert "site-packages" in str(package.__file__)
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("torch")


def test_the_doctor_finds_the_packages_and_the_sandbox_in_order(course):
    said = run(course, "gradekit", "doctor")
    assert re.search(r"packages +.*as required, torch not installed", said), said


def test_a_class_is_graded_with_checks_in_the_sandbox_and_gets_its_pages(course):
    run(course, "gradekit", "autograde", "ps1")
    run(course, "gradekit", "table", "ps1", "--csv", "table.csv")
    rows = list(csv.DictReader((course / "table.csv").open()))
    assert {row["student"]: float(row["total"]) for row in rows} == TOTALS
    run(course, "nbgrader", "generate_feedback", "ps1")
    for student in ANSWERS:
        assert f"{TOTALS[student]}" in (course / "feedback" / student / "ps1" / "p1.html").read_text()


def test_the_report_and_the_commands_of_the_companions_work(course):
    run(course, "gradekit", "report", "ps1")
    run(course, "gradekit", "viva", "ps1")
    run(course, "gradekit", "similar", "ps1")
    said = run(course, "gradekit", "return", "ps1", code=2)  # these hand-ins don't come from an LMS
    assert "no names are known under which ps1 was downloaded" in said
    assert (course / "reports" / "ps1" / "report.html").is_file()
    assert (course / "reports" / "ps1" / "viva.html").is_file()


def test_a_new_assignment_has_checks_that_pass_their_audit(course):
    run(course, "gradekit", "new", "ps2")
    assert "0 problems" in run(course, "gradekit", "audit", "ps2")
