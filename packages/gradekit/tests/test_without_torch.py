"""Courses of NumPy arrays and of pandas: in an environment that has no torch, and in this one."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import nbformat
import pytest

from gradekit.checks.reference import Store
from gradekit.course import Course, blank_copy
from gradekit.course.kernels import LIMITED
from gradekit.verdict.grade import grade
from gradekit.verdict.opened import GradingJob, HowToRun
from gradekit_authoring.grade_variants import record

PACKAGES = Path(__file__).parents[2]
MISSING = ("torch", "seaborn", "matplotlib", "scipy", "jupyterlab", "notebook")
CHECKS = '''
import numpy as np
from gradekit.checks import assert_close, assert_shape, assert_unchanged, assert_varies, points


@points(6)
def test_value(student, reference):
    """The output is twice the input."""
    (x,) = reference.inputs("some", x=(3, 2))
    assert isinstance(x, np.ndarray) and x.dtype == np.float32
    reference.assert_close(student.double(x), name="output")


@points(4)
def test_any_size(student, draw):
    """Any size will do, and the input stays as it is."""
    x = draw.normal(*draw.sizes(2), dtype=np.float64)
    call = student.call("double", x)
    assert_unchanged(call)
    assert_shape(call.value, x.shape, name="output")
    assert_varies(call.value, name="output")
    assert_close(call.value, x + x, name="output", atol=1e-12, rtol=0)
    assert_close(student.double(1.5), 3.0, name="output", context="for a number", atol=1e-12, rtol=0)
    assert student.double(draw.integers(0, 5, (4,))).dtype == np.int64
    assert student.double(draw.bools(7)).shape == (7,)
'''
MISTAKES = """
from gradekit.checks import Mistake

MISTAKES = [
    Mistake("square", cell="double", edits=[("2 * x", "x * x")], about=["test_value"],
            sentence="You multiplied the input by itself."),
]
"""
ARRAYS = """
import pytest


@pytest.fixture
def arrays():
    return "numpy"
"""
PANDAS_CHECKS = '''
import pandas as pd
from gradekit.checks import assert_close, assert_unchanged, points

SALES = pd.DataFrame({"shop": ["b", "a", "b"], "sum": [1.0, 2.0, 4.0]})


@points(6)
def test_table(student, reference):
    """The table has a row for each shop."""
    reference.assert_close(student.double(SALES), name="table")


@points(4)
def test_unchanged(student):
    """The sales stay as they are."""
    call = student.call("double", SALES)
    assert_unchanged(call)
    assert_close(call.value["sum"].max(), 10.0, name="largest sum")
'''
PANDAS_MISTAKES = """
from gradekit.checks import Mistake

MISTAKES = [
    Mistake("mean", cell="double", edits=[(".sum()", ".mean()")], about=["test_table"],
            sentence="You took the mean.", uses=("mean",)),
]
"""
PANDAS_SOLUTION = """\
def double(sales):
    ### BEGIN SOLUTION
    return 2 * sales.groupby("shop").sum()
    ### END SOLUTION"""
GRADE = """
import json, sys, nbformat
from pathlib import Path
from gradekit.verdict.opened import GradingJob, HowToRun
from gradekit.verdict.grade import grade
from gradekit.course import Course, blank_copy
from gradekit.course.kernels import LIMITED

assignment = Course(Path.cwd()).assignment("01_double")
(path,) = assignment.source_notebooks()
results = []
for answer in json.loads(sys.argv[1]):
    notebook = nbformat.read(path, as_version=4)
    released = blank_copy(notebook)
    notebook.cells[1].source = answer
    job = GradingJob(assignment, "double", notebook, released, HowToRun(kernel_name=LIMITED))
    result = grade(job).result
    results.append([[c.outcome, c.message, c.diagnosis] for c in result.exercises[0].checks])
print(json.dumps(results))
"""
ANSWERS = {"right": "return x + x", "wrong": "return x * x", "in_place": "x *= 2\n    return x"}


@pytest.fixture
def numpy_course(tiny_course, tiny_source):
    tiny_source.cells[0].source = "import numpy as np"
    tiny_course.write_source(tiny_source)
    tiny_course.checks.write_text(CHECKS)
    tiny_course.checks.with_name("mistakes.py").write_text(MISTAKES)
    for name in ("alternatives.py", "reference.safetensors"):
        tiny_course.checks.with_name(name).unlink()
    return tiny_course


def link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory) -> Path:
    """The Python of an environment with this one's packages less MISSING, and with both wheels installed."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv" / "bin" / "python"
    here = Path(sysconfig.get_path("purelib"))
    there = next((folder / "venv" / "lib").glob("python3*")) / "site-packages"
    ours = [path.name for path in PACKAGES.glob("*/src/*")]
    for path in here.iterdir():
        name = path.name.split("-")[0]
        if name in (*MISSING, *ours, "__pycache__") or path.suffix == ".pth":
            continue
        if path.is_dir():
            shutil.copytree(path, there / path.name, copy_function=link)
        else:
            link(str(path), str(there / path.name))
    sources = folder / "sources"  # building leaves files beside a package
    for name in ("sandbox-kernel", "gradekit", "gradekit-authoring", "gradekit-data"):
        ignored = shutil.ignore_patterns("tests", "bench", "build", "*.egg-info", "__pycache__")
        shutil.copytree(PACKAGES / name, sources / name, ignore=ignored)
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--quiet", "--disable-pip-version-check"]
    command = [*pip, "install", "--no-deps", "--no-build-isolation", *map(str, sources.iterdir())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return python


def run(python: Path, course, *command: str) -> str:
    return run_script(python, course, "-m", *command)


def run_script(python: Path, course, *command: object) -> str:
    environment = os.environ | {"PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"}
    environment.pop("VIRTUAL_ENV", None)
    done = subprocess.run(
        [str(python), *map(str, command)],
        cwd=course.root,
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout if command[0] != "-m" else done.stdout + done.stderr


@pytest.mark.thorough
def test_a_course_is_graded_where_torch_is_missing(bare_python, numpy_course):
    find = f"import importlib.util; print([m for m in {MISSING!r} if importlib.util.find_spec(m)])"
    found = subprocess.run([str(bare_python), "-c", find], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
    assert "autograde" in run(bare_python, numpy_course, "gradekit", "--help")
    run(bare_python, numpy_course, "gradekit", "record", "01_double", "--workers", "1")
    run(bare_python, numpy_course, "nbgrader", "generate_assignment", "01_double", "--force")
    for student, line in ANSWERS.items():
        numpy_course.hand_in(student, numpy_course.answer(f"def double(x):\n    {line}"))
    said = run(bare_python, numpy_course, "gradekit", "autograde", "01_double", "--workers", "1")
    results = {
        student: numpy_course.autograded(student).metadata.gradekit["exercises"][0]["checks"]
        for student in ANSWERS
    }
    assert [check["outcome"] for check in results["right"]] == ["passed", "passed"], said
    assert [check["outcome"] for check in results["wrong"]] == ["failed", "failed"]
    assert results["wrong"][0]["diagnosis"] == "You multiplied the input by itself."
    assert results["wrong"][0]["fingerprint"] == "`output` of shape (3, 2)"
    assert results["in_place"][1]["message"] == (
        "`double` changed its argument `x` in place. Make a new array instead."
    )


@pytest.mark.thorough
def test_a_new_assignment_is_one_with_numpy_where_torch_is_missing(bare_python, numpy_course):
    said = run(bare_python, numpy_course, "gradekit", "new", "08_my_topic")
    assert "test_standardized.py" in said
    said = run(bare_python, numpy_course, "gradekit", "audit", "08_my_topic", "--workers", "1")
    assert "7 of 7 mistakes caught, 7 named; 3 of 3 alternatives earn full marks; 0 problems" in said
    run(bare_python, numpy_course, "nbgrader", "generate_assignment", "08_my_topic")
    place = "08_my_topic/my_topic.ipynb"
    for student, folder in [("right", "source"), ("blank", "release")]:
        submitted = numpy_course.root / "submitted" / student / place
        submitted.parent.mkdir(parents=True)
        shutil.copy(numpy_course.root / folder / place, submitted)
    run(bare_python, numpy_course, "gradekit", "autograde", "08_my_topic", "--workers", "1")
    said = run(bare_python, numpy_course, "gradekit", "table", "08_my_topic")
    assert [line.split() for line in said.splitlines() if line][-2:] == [
        ["blank", "graded", "0", "0", "0"],  # nbgrader gives 0 for a written answer that is unchanged
        ["right", "graded", "90", "-", "90"],
    ]


@pytest.mark.thorough
def test_where_torch_is_missing_a_new_assignment_with_tensors_is_refused_with_the_remedy(
    bare_python, numpy_course
):
    command = [str(bare_python), "-m", "gradekit", "new", "08_my_topic", "--arrays", "torch"]
    done = subprocess.run(command, cwd=numpy_course.root, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert 'torch, which is not installed: `pip install "gradekit[torch]"`' in done.stderr
    assert not (numpy_course.root / "source" / "08_my_topic").exists()


@pytest.mark.slow
def test_a_pandas_course_is_graded_where_torch_is_missing(bare_python, numpy_course, tiny_source):
    tiny_source.cells[0].source = "import pandas as pd"
    tiny_source.cells[1].source = PANDAS_SOLUTION
    numpy_course.write_source(tiny_source)
    numpy_course.checks.write_text(PANDAS_CHECKS)
    numpy_course.checks.with_name("mistakes.py").write_text(PANDAS_MISTAKES)
    run(bare_python, numpy_course, "gradekit", "record", "01_double", "--workers", "1")
    lines = {
        "right": 'return 2 * sales.groupby("shop")[["sum"]].sum()',
        "mean": 'return 2 * sales.groupby("shop").mean()',
        "in_place": 'sales["sum"] *= 2\n    return sales.groupby("shop").sum()',
    }
    answers = [f"import pandas as pd\ndef double(sales):\n    {line}" for line in lines.values()]
    script = numpy_course.root / "grade_answers.py"
    script.write_text(GRADE)
    right, mean, in_place = json.loads(run_script(bare_python, numpy_course, script, json.dumps(answers)))
    assert [outcome for outcome, *_ in right] == ["passed", "passed"], right
    assert mean[0] == [
        "failed",
        "`table` is wrong in the column `sum`: one of its 2 rows is wrong.",
        "You took the mean.",
    ]
    assert in_place[1][1].startswith("`double` changed its argument `sales` in place. Work on a copy")


@pytest.mark.thorough
@pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="what a course says where torch is installed"
)
def test_a_course_of_arrays_says_so_where_torch_is_installed(numpy_course):
    numpy_course.checks.with_name("conftest.py").write_text(ARRAYS)
    course = Course(numpy_course.root)
    record(course.assignment("01_double"), workers=1)
    (path,) = course.assignment("01_double").source_notebooks()
    notebook = nbformat.read(path, as_version=4)
    how = HowToRun(kernel_name=LIMITED)
    job = GradingJob(course.assignment("01_double"), "double", notebook, blank_copy(notebook), how)
    result = grade(job).result
    assert result.earned == 10, [check.message for check in result.exercises[0].checks]
    assert {key.split("/")[1] for key in Store.load(numpy_course.checks.parent).tensors} == {
        "inputs",
        "expected",
        "mistakes",
        "fails",
    }
