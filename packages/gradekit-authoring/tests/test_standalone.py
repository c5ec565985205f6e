"""Released notebooks that bring their files and packages along."""

import ast
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from gradekit.course import Course, CourseError
from gradekit.course.cells import is_demo
from gradekit_authoring.standalone import CELL_ID, setup_source, standalone, write_standalone

#: takes pip's place, and writes down what it was asked for
PIP = "import sys\nfrom pathlib import Path\nPath('asked.txt').write_text(' '.join(sys.argv[1:]))\n"


@pytest.fixture
def assignment(tmp_path):
    """A released notebook that imports a helper, a package, and a module from a folder."""
    found = Course(tmp_path).assignment("02_sums")
    for folder in (found.source_folder, found.release_folder):
        (folder / "data").mkdir(parents=True)
        (folder / "helper.py").write_text("import numpy as np\n\ntotal = np.sum\n")
        (folder / "data" / "numbers.txt").write_bytes(bytes(range(256)) * 50)
        cells = [
            nbformat.v4.new_markdown_cell("# Sums", id="title"),
            nbformat.v4.new_code_cell("import math\nimport tqdm\nfrom helper import total\n%pwd", id="setup"),
            nbformat.v4.new_code_cell("import safetensors.numpy", id="inner"),
        ]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "sums.ipynb")
    return found


def run(source: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", source], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def setup_of(assignment):
    (cell,) = [cell for cell in standalone(assignment, "sums").cells if cell.id == CELL_ID]
    return cell


def test_the_setup_cell_comes_before_the_first_code_and_is_not_graded(assignment):
    cells = standalone(assignment, "sums").cells
    assert [cell.id for cell in cells] == ["title", CELL_ID, "setup", "inner"]
    assert is_demo(cells[1])


def test_the_setup_cell_writes_the_files_where_there_are_none(assignment, tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    assert run(setup_of(assignment).source, folder).splitlines() == [
        "writing data/numbers.txt",
        "writing helper.py",
    ]
    for file in ("helper.py", "data/numbers.txt"):
        assert (folder / file).read_bytes() == (assignment.source_folder / file).read_bytes()


def test_files_that_students_do_not_get_stay_out_of_the_setup_cell(assignment):
    hidden = assignment.source_folder / "data" / "__pycache__" / "answers.pyc"
    hidden.parent.mkdir()
    hidden.write_bytes(b"")
    assert "answers" not in setup_of(assignment).source


def test_beside_its_files_the_setup_cell_does_nothing(assignment):
    helper = assignment.release_folder / "helper.py"
    helper.write_text("mine = 1\n")
    assert run(setup_of(assignment).source, assignment.release_folder) == ""
    assert helper.read_text() == "mine = 1\n"


def test_the_packages_are_those_that_notebook_and_files_import_in_the_versions_used_here(assignment):
    source = setup_of(assignment).source
    tree = ast.parse(source)
    (packages,) = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "PACKAGES"
    ]
    assert set(packages) == {"numpy", "safetensors", "tqdm"}
    import numpy

    assert packages["numpy"] == [f"numpy=={numpy.__version__}"]


def test_a_missing_package_is_installed_and_one_that_is_there_is_not(tmp_path):
    (tmp_path / "pip").mkdir()
    (tmp_path / "pip" / "__init__.py").touch()
    (tmp_path / "pip" / "__main__.py").write_text(PIP)
    run(setup_source({"json": ["json==1"], "not_here": ["--no-deps", "not-here==2.0"]}, {}), tmp_path)
    assert (tmp_path / "asked.txt").read_text() == "install --quiet --no-deps not-here==2.0"


def test_a_package_that_is_not_installed_here_is_named(assignment):
    path = assignment.release_folder / "sums.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[2].source = "import no_such_module"
    nbformat.write(notebook, path)
    with pytest.raises(CourseError, match="imports `no_such_module`, which isn't installed"):
        write_standalone(assignment)


def test_an_assignment_that_was_not_released_is_named_with_the_command(tmp_path):
    with pytest.raises(CourseError, match="run `nbgrader generate_assignment 01_nothing --force` first"):
        write_standalone(Course(tmp_path).assignment("01_nothing"))
