"""`gradekit new` writes an assignment that works as it stands."""

import contextlib
import io
import re
import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from gradekit.cli import main
from gradekit.course import Course, blank_copy
from gradekit.course.cells import is_answer_cell
from gradekit.course.kernels import SANDBOX

NAME = "08_my_topic"
DOCS = Path(__file__).parents[3] / "docs"


def block(start: str, page: str = "writing-checks.md") -> str:
    """The block of code on the page that begins with these words."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return next(
        found for found in re.findall(r"```\w*\n(.*?)```", text, re.DOTALL) if found.startswith(start)
    )


@pytest.fixture(scope="session")
def new_original(tiny_original, tmp_path_factory):
    """A course in which `gradekit new` has run, what it printed, and the exit code and output of its audit."""
    root = Path(shutil.copytree(tiny_original, tmp_path_factory.mktemp("new") / "course"))
    with contextlib.redirect_stdout(io.StringIO()) as said:
        assert main(["--course-dir", str(root), "new", NAME]) == 0
    with contextlib.redirect_stdout(io.StringIO()) as audited:
        code = main(["--course-dir", str(root), "audit", NAME, "--workers", "1"])
    return root, said.getvalue(), code, audited.getvalue()


@pytest.fixture
def course(new_original, tiny_course):
    shutil.copytree(new_original[0], tiny_course.root, dirs_exist_ok=True)
    return tiny_course


@pytest.mark.slow
def test_the_new_assignment_passes_the_audit_and_every_mistake_of_value_is_named(new_original):
    _, said, code, audited = new_original
    assert f"source/{NAME}/my_topic.ipynb" in said
    assert f"tests/{NAME}/reference.safetensors" in said
    assert f"gradekit audit {NAME}" in said
    assert code == 0
    assert "7 of 7 mistakes caught, 7 named; 3 of 3 alternatives earn full marks; 0 problems" in audited


@pytest.mark.thorough
def test_the_page_about_writing_checks_shows_what_the_audit_prints_and_its_example_works(
    new_original, course, capsys
):
    checks = Course(course.root).assignment(NAME).checks
    for shown, file in [
        ("@points(40)\n", "test_normalized.py"),
        ("from gradekit.checks import Mistakes\n", "mistakes.py"),
        ("from gradekit.checks import Alternatives\n", "alternatives.py"),
        ("import torch\n\nfrom gradekit.checks import try_it\n", "try_it.py"),
    ]:
        lines = [line.strip() for line in block(shown).splitlines() if line.strip()]
        text = (checks / file).read_text()
        assert [line for line in lines if line.rstrip(",") not in text] == []
    printed = new_original[3]
    assert block("  test_normalized").rstrip() in printed
    assert block("  answers that compute nothing").rstrip() in printed

    path = checks / "test_normalized.py"
    text = path.read_text().replace("@points(40)", "@points(35)").replace("@points(20)", "@points(15)")
    path.write_text("\n\n".join([text, block("@points(5)"), block("@points(5)", "tasks.md")]))
    path = checks / "mistakes.py"
    path.write_text(path.read_text() + "\n" + block('wrong.about("test_float64")'))
    commands = block(f"gradekit record {NAME}\ngradekit").splitlines()
    for command in commands[:2]:
        assert course.gradekit(*command.split()[1:], "--workers", "1") == 0
    assert "8 of 8 mistakes caught" in capsys.readouterr().out
    done = course.run(*commands[2].split())
    assert done.returncode == 0, done.stderr


@pytest.mark.thorough
def test_the_new_assignment_can_be_released_and_its_notebook_runs(course):
    done = course.run("nbgrader", "generate_assignment", NAME)
    assert done.returncode == 0, done.stderr
    assignment = Course(course.root).assignment(NAME)
    (path,) = assignment.source_notebooks()
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert notebook.cells[0].source.startswith("# 8 · My topic\n")
    assert sum(cell.metadata.get("nbgrader", {}).get("points", 0) for cell in notebook.cells) == 100
    assert [cell.source for cell in assignment.released("my_topic").cells] == [
        cell.source for cell in blank_copy(notebook).cells
    ]
    NotebookClient(notebook, timeout=600, kernel_name=SANDBOX).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert [output for output in outputs if output.get("name") == "stderr"] == []


@pytest.fixture(scope="session")
def numpy_original(tiny_original, tmp_path_factory):
    """A course in which `gradekit new --arrays numpy` has run."""
    root = Path(shutil.copytree(tiny_original, tmp_path_factory.mktemp("new-numpy") / "course"))
    with contextlib.redirect_stdout(io.StringIO()) as said:
        assert main(["--course-dir", str(root), "new", NAME, "--arrays", "numpy"]) == 0
    assert "test_standardized.py" in said.getvalue()
    return root


@pytest.mark.thorough
def test_the_numpy_assignment_passes_the_audit_and_names_no_torch(numpy_original, tiny_course, capsys):
    shutil.copytree(numpy_original, tiny_course.root, dirs_exist_ok=True)
    files = [
        *(tiny_course.root / "tests" / NAME).glob("*.py"),
        *(tiny_course.root / "source" / NAME).iterdir(),
    ]
    assert [path for path in files if "torch" in path.read_text()] == []
    assert tiny_course.gradekit("audit", NAME, "--workers", "1") == 0
    assert (
        "7 of 7 mistakes caught, 7 named; 3 of 3 alternatives earn full marks; 0 problems"
        in capsys.readouterr().out
    )


@pytest.mark.thorough
def test_the_numpy_notebook_runs_and_a_wrong_answer_fails_its_visible_tests_with_a_sentence(numpy_original):
    assignment = Course(numpy_original).assignment(NAME)
    (path,) = assignment.source_notebooks()
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert notebook.cells[0].source.startswith("# 8 · My topic\n")
    assert sum(cell.metadata.get("nbgrader", {}).get("points", 0) for cell in notebook.cells) == 100
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert [output for output in outputs if output.get("name") == "stderr"] == []

    answer = next(cell for cell in notebook.cells if is_answer_cell(cell))
    answer.source = answer.source.replace("table.std(axis=0)", "table.var(axis=0)")
    NotebookClient(notebook, timeout=120, kernel_name="python3", allow_errors=True).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    (error,) = [output for output in outputs if output.output_type == "error"]
    assert "Do you take the square root" in error.evalue


@pytest.mark.slow
def test_a_blank_answer_fails_the_visible_tests_with_a_sentence(course):
    (path,) = Course(course.root).assignment(NAME).source_notebooks()
    notebook = nbformat.read(path, as_version=4)
    answer = next(cell for cell in notebook.cells if is_answer_cell(cell))
    answer.source = answer.source.replace("torch.sqrt(variance + eps)", "(variance + eps)")
    NotebookClient(notebook, timeout=600, kernel_name=SANDBOX, allow_errors=True).execute()
    errors = [
        output
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if output.output_type == "error"
    ]
    assert [error.ename for error in errors] == ["AssertionError"]
    assert "Do you divide by the square root" in errors[0].evalue


@pytest.mark.slow
@pytest.mark.parametrize("name", ["../elsewhere", "a+b", "", "08", "08_", "08 ", " a", "a/b"])
def test_a_name_that_nbgrader_can_t_take_is_refused_with_one_sentence(tiny_course, capsys, name):
    assert tiny_course.gradekit("new", name) == 2
    said = capsys.readouterr().err
    assert "can't be the name of an assignment" in said
    assert len(said.splitlines()) == 1
    assert not (tiny_course.root / "tests" / "08").exists()


@pytest.mark.thorough
def test_a_name_may_have_spaces_and_accents_and_commands_quote_it(tiny_course, capsys):
    assert tiny_course.gradekit("new", "08 größe x") == 0
    said = capsys.readouterr().out
    assert "source/08 größe x/größe x.ipynb" in said
    assert "\n    gradekit record '08 größe x'  " in said
    notebook = (tiny_course.root / "source" / "08 größe x" / "größe x.ipynb").read_text(encoding="utf-8")
    assert "# 8 · Größe x" in notebook and "`gradekit audit '08 größe x'`" in notebook


@pytest.mark.slow
def test_an_assignment_that_exists_is_not_overwritten(tiny_course, capsys):
    before = tiny_course.checks.read_text()
    assert tiny_course.gradekit("new", "01_double") == 2
    assert "source/01_double exists: choose another name" in capsys.readouterr().err
    assert tiny_course.checks.read_text() == before


@pytest.mark.slow
def test_outside_of_a_course_nothing_is_written(tmp_path, capsys):
    assert main(["--course-dir", str(tmp_path), "new", NAME]) == 2
    assert "has no nbgrader_config.py" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
