"""The frame: environment, layout, and what is committed."""

import ast
import re
import subprocess
import tomllib
from pathlib import Path

import nbformat
import pytest

from gradekit.course import Course, blank_copy
from gradekit.course.cells import grade_id, is_answer_cell, is_test_cell
from gradekit_authoring.earlier import earlier_source
from gradekit_authoring.standalone import standalone

ROOT = Path(__file__).parents[2]
ASSIGNMENTS = Course(ROOT).assignments()
TUTOR = ROOT / "source" / "01_positional_encoding" / "AGENTS.md"
WARM_UP = "00_warm_up"
#: phrases that read as translated
TRANSLATED = (
    *("anew", "in vain", "is no file", "in the midst", "at hand", "broke off", "came of it", "whoever"),
    *("one trusts", "can be had", "to be had", "has to tell", "belong into", "residual line", "colour"),
)

each_assignment = pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda assignment: assignment.name)


LOCKS = sorted(ROOT.glob("requirements/*.lock"))


def locked_versions(lock: Path = ROOT / "requirements/course.lock") -> dict[str, str]:
    lines = [line for line in lock.read_text().splitlines() if not line.startswith("#")]
    found = [re.fullmatch(r"([a-z0-9-]+)==([a-z0-9.]+)( ; [^;]+)?", line) for line in lines]
    assert None not in found, [line for line, match in zip(lines, found, strict=True) if not match]
    versions = {match[1]: match[2] for match in found}
    assert len(versions) == len(lines), f"{lock.name} has two versions of a package"
    return versions


def names(requirements: list[str]) -> set[str]:
    """Normalized as in a lock."""
    return {re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", line)[0]).lower() for line in requirements}


def top_level(lock: Path) -> set[str]:
    """What a lock was asked for."""
    lines = lock.with_suffix(".in").read_text().splitlines()
    asked = [line for line in lines if line and not line.startswith("#")]
    if lock.name == "course.lock":
        for path in ROOT.glob("packages/*/pyproject.toml"):
            asked += tomllib.loads(path.read_text())["project"]["dependencies"]
        gradekit = tomllib.loads((ROOT / "packages/gradekit/pyproject.toml").read_text())
        extras = gradekit["project"]["optional-dependencies"]
        asked += [*extras["report"], *gradekit["dependency-groups"]["test"]]
    return names(asked) - {path.name for path in ROOT.glob("packages/*")}


def test_the_locks_have_one_version_of_each_package_and_no_address():
    versions = [entry for lock in LOCKS for entry in locked_versions(lock).items()]
    assert len(LOCKS) == 7
    assert len(dict(versions)) == len(set(versions)), "two locks differ"
    assert locked_versions()["torch"] == "2.13.0"


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_a_lock_names_the_command_that_makes_it_and_has_what_was_asked_for(lock):
    command = re.search(r"^#    (make \w+) ", lock.read_text(), re.MULTILINE)[1].split()
    made = subprocess.run(
        [*command, "--dry-run"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    ).stdout
    assert lock.read_text().splitlines()[1].removeprefix("#    ") in made
    assert re.search(rf"--output-file requirements/({lock.stem}|\$name)\.lock", made)
    assert re.search(rf"\b{lock.stem}\b", made)
    asked = top_level(lock)
    assert asked
    locked = locked_versions(lock)
    if lock.name != "tools.lock":  # an environment of its own; the others add to that of the course
        locked |= locked_versions()
    assert asked - set(locked) == set()


def test_the_lock_keeps_the_bounds_that_were_asked_for():
    """Each has its reason beside it in course.in."""
    bounds = {
        (match[1], tuple(map(int, match[2].split("."))))
        for match in re.finditer(
            r"^([\w-]+)<([0-9.]+)$", (ROOT / "requirements/course.in").read_text(), re.MULTILINE
        )
    }
    assert {name for name, _ in bounds} == {"jsonschema", "soupsieve"}
    for name, bound in bounds:
        assert tuple(map(int, locked_versions()[name].split(".")))[: len(bound)] < bound


@pytest.mark.parametrize("end", ["Successfully installed torch-2.13.0", "FAILED"])
def test_while_packages_are_installed_make_prints_what_takes_long_and_fails_if_pip_does(end, tmp_path):
    printed = [
        "Collecting torch==2.13.0 (from -r requirements/course.lock (line 150))",
        "  Downloading torch-2.13.0-cp312-cp312-manylinux_2_28_x86_64.whl.metadata (30 kB)",
        "Downloading torch-2.13.0-cp312-cp312-manylinux_2_28_x86_64.whl (530.7 MB)",
        "  Using cached nvidia_cublas-13.1.0.3-py3-none-manylinux_2_27_x86_64.whl (1.2 GB)",
        "Downloading tqdm-4.70.1-py3-none-any.whl (78 kB)",
        "Installing collected packages: tqdm, torch",
        end,
    ]
    (tmp_path / "printed").write_text("\n".join(printed) + "\n")
    rule = f"filtered: ; @cat {tmp_path / 'printed'} | $(SLOW)"
    done = subprocess.run(
        ["make", "--no-print-directory", "--eval", rule, "filtered"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout.splitlines() == [
        "Downloading torch-2.13.0-cp312-cp312-manylinux_2_28_x86_64.whl, 530.7 MB",
        "Using cached nvidia_cublas-13.1.0.3-py3-none-manylinux_2_27_x86_64.whl, 1.2 GB",
        "Unpacking all",
    ]
    assert (done.returncode != 0) == (end == "FAILED")


def test_the_conda_file_names_the_versions_of_the_lock():
    text = (ROOT / "environment.yml").read_text()
    entries = re.findall(r"^ +- ([^ #\n]+)", text.partition("dependencies:\n")[2], re.MULTILINE)
    pins = dict(re.fullmatch(r"(.+?)==?([0-9.]+)", entry).groups() for entry in entries if "=" in entry)
    unpinned = [entry for entry in entries if "=" not in entry and not entry.startswith("./packages/")]
    assert unpinned == ["pip", "pip:"]
    assert pins.pop("python") == "3.11"
    assert {"pytorch", "jupyterlab", "nbgrader", "matplotlib", "seaborn", "pytest"} <= set(pins)
    ours = [f"./packages/{path.parent.name}" for path in ROOT.glob("packages/*/pyproject.toml")]
    assert {entry for entry in entries if entry.startswith("./")} == {*ours} - {
        "./packages/transformer-course"
    }
    locked = locked_versions() | locked_versions(ROOT / "requirements/model.lock")
    assert pins == {name: locked[name.replace("pytorch", "torch")] for name in pins}


def test_what_a_running_course_writes_is_ignored():
    for folder in ("submitted", "autograded", "feedback", "reports"):
        ignored = subprocess.run(["git", "check-ignore", "-q", f"{folder}/someone/x"], cwd=ROOT, check=False)
        assert ignored.returncode == 0


def test_the_root_shows_the_course_in_at_most_twenty_entries():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    entries = {path.split("/")[0] for path in listed.stdout.split("\0") if path and path[0] != "."}
    assert len(entries) <= 20, sorted(entries)


@each_assignment
def test_each_assignment_is_worth_a_hundred_points_and_the_warm_up_ten(assignment):
    (path,) = assignment.source_notebooks()
    cells = nbformat.read(path, as_version=4).cells
    points = [
        cell.metadata.nbgrader.points for cell in cells if cell.metadata.get("nbgrader", {}).get("grade")
    ]
    assert sum(points) == (10 if assignment.name == WARM_UP else 100)


def test_no_notebook_needs_the_warm_up():
    (path,) = Course(ROOT).assignment(WARM_UP).source_notebooks()
    answers = [cell for cell in nbformat.read(path, as_version=4).cells if is_answer_cell(cell)]
    taught = {
        node.name
        for cell in answers
        for node in ast.parse(cell.source).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    assert len(taught) == 4
    for file in ROOT.glob("source/*/earlier.py"):
        parts = ast.parse(file.read_text(encoding="utf-8")).body
        defined = {node.name for node in parts if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        assert not taught & defined, file


@each_assignment
def test_notebooks_are_committed_without_outputs_and_with_readable_ids(assignment):
    for path in [*assignment.source_notebooks(), *(ROOT / "release" / assignment.name).glob("*.ipynb")]:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        assert [cell.id for cell in code if cell.outputs or cell.execution_count] == []
        assert [cell.id for cell in notebook.cells if re.fullmatch(r"[0-9a-f]{8,}(-.*)?", cell.id)] == []


@each_assignment
def test_the_release_is_the_source_without_its_solutions(assignment):
    for path in assignment.source_notebooks():
        source = nbformat.read(path, as_version=4)
        released = assignment.released(path.stem)
        assert [cell.source for cell in released.cells] == [cell.source for cell in blank_copy(source).cells]
        assert [grade_id(cell) for cell in released.cells] == [grade_id(cell) for cell in source.cells]


@pytest.mark.slow
@each_assignment
def test_the_standalone_form_is_that_of_the_release(assignment):
    for name in assignment.released_names():
        path = ROOT / "standalone" / assignment.name / f"{name}.ipynb"
        assert nbformat.read(path, as_version=4) == standalone(assignment, name)


@each_assignment
def test_what_lies_beside_a_notebook_is_in_the_release_too(assignment):
    for file in assignment.handed_out():
        assert (ROOT / "release" / assignment.name / file.name).read_bytes() == file.read_bytes()


@each_assignment
def test_assistants_are_asked_to_tutor_beside_every_notebook(assignment):
    first = TUTOR.read_bytes()
    assert b"YOUR CODE HERE" in first
    assert (assignment.source_folder / "AGENTS.md").read_bytes() == first, "`make release` copies it"


@each_assignment
def test_the_parts_of_earlier_assignments_are_those_of_their_solutions(assignment):
    path = ROOT / "source" / assignment.name / "earlier.py"
    assert earlier_source(assignment) == (path.read_text(encoding="utf-8") if path.exists() else None)


@each_assignment
def test_no_line_of_a_solution_stands_in_the_release(assignment):
    for path in assignment.source_notebooks():
        text = "\n".join(cell.source for cell in assignment.released(path.stem).cells)
        for cell in nbformat.read(path, as_version=4).cells:
            if is_answer_cell(cell) and cell.cell_type == "code":
                solution = cell.source.split("### BEGIN SOLUTION")[1].split("### END SOLUTION")[0]
                lines = [line.strip() for line in solution.splitlines()]
                assert [line for line in lines if len(line) > 25 and line in text] == []


@each_assignment
def test_exercises_say_what_they_are_worth_how_hard_they_are_and_how_long_they_take(assignment):
    (path,) = assignment.source_notebooks()
    cells = nbformat.read(path, as_version=4).cells
    for index, cell in enumerate(cells):
        graded = next((c for c in cells[index:] if c.metadata.get("nbgrader", {}).get("grade")), None)
        if is_answer_cell(cell):
            before = "\n".join(
                c.source for c in cells[max(0, index - 3) : index] if c.cell_type == "markdown"
            )
            bonus = cell.cell_type == "code" and grade_id(graded) != f"test_{grade_id(cell)}"
            points = "no" if bonus else f"{graded.metadata.nbgrader.points:g}"
            assert f"**{points} points" in before, grade_id(cell)
            assert "●" in before
            assert "minutes" in before
            assert cell.cell_type == "markdown" or "<details><summary>" in before
        if is_test_cell(cell):
            assert grade_id(cell).startswith("test_")


def exercises(assignment) -> dict[str, tuple[str, str, str, str]]:
    """Title, points, difficulty and minutes of each exercise, as its text says them, by its number."""
    cells = assignment.released(assignment.source_notebooks()[0].stem).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    lines = r"^### Exercise (\w+): (.*)\n+\*\*(\d+) points · ([●○]+) · (\d+) minutes"
    return {number: rest for number, *rest in re.findall(lines, text, re.MULTILINE)}


@each_assignment
def test_the_table_at_a_notebook_s_head_says_what_the_exercises_say(assignment):
    cells = assignment.released(assignment.source_notebooks()[0].stem).cells
    rows = re.findall(r"^\| (\w+) \| .* \| (\d+) \| ([●○]+) \| (\d+) \|$", cells[0].source, re.MULTILINE)
    said = {number: facts for number, *facts in rows}
    assert len(said) > 3
    assert {
        number: list(facts[1:]) for number, facts in exercises(assignment).items()
    }.items() <= said.items()


@each_assignment
def test_exercises_in_which_students_write_a_test_pay_as_well_as_others(assignment):
    for title, points, _, minutes in exercises(assignment).values():
        if "`check_" in title:
            assert int(points) / int(minutes) >= 0.6, title


def test_what_an_instructor_writes_imports_from_gradekit_checks_alone():
    """Everything else in gradekit may change from one version to the next."""
    files = [path for assignment in ASSIGNMENTS for path in assignment.checks.rglob("*.py")]
    nodes = [(path, node) for path in files for node in ast.walk(ast.parse(path.read_text()))]
    modules = {(path, node.module) for path, node in nodes if isinstance(node, ast.ImportFrom)}
    modules |= {
        (path, each.name) for path, node in nodes if isinstance(node, ast.Import) for each in node.names
    }
    rooms = {(path, module) for path, module in modules if (module or "").split(".")[0] == "gradekit"}
    assert len(rooms) > 100
    assert sorted(f"{path}: {module}" for path, module in rooms if module != "gradekit.checks") == []


def test_no_text_has_a_phrase_that_reads_as_translated():
    patterns = ("*.py", "*.md", "*.j2", "source/*.ipynb", "packages/*.ipynb", "Makefile")
    listed = subprocess.run(
        ["git", "ls-files", *patterns], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    words = re.compile(rf"\b({'|'.join(TRANSLATED)})\b", re.IGNORECASE)
    found = {
        name: sorted(set(words.findall((ROOT / name).read_text(encoding="utf-8"))))
        for name in listed
        if not name.startswith("release/") and ROOT / name != Path(__file__)
    }
    assert {name: phrases for name, phrases in found.items() if phrases} == {}
