"""Without gradekit-data, a check that gets a value of pandas or a figure judges nobody: its author reads what to install."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from gradekit.checks.reference import Store, to_stored
from gradekit.codecs import _BROUGHT_BY

PACKAGES = Path(__file__).parents[2]
pd = pytest.importorskip("pandas")

#: hides gradekit-data, then grades the solution, in which everything is right
GRADE = """
import importlib.metadata, json, sys
from pathlib import Path

found = importlib.metadata.entry_points
importlib.metadata.entry_points = lambda **wanted: [
    point for point in found(**wanted) if point.module.split(".")[0] != "gradekit_data"
]
import nbformat
from gradekit.course import Course, blank_copy
from gradekit.course.kernels import LIMITED
from gradekit.verdict.grade import CheckAtFault, grade
from gradekit.verdict.opened import GradingJob, HowToRun

assignment = Course(Path.cwd()).assignment("01_double")
(path,) = assignment.source_notebooks()
notebook = nbformat.read(path, as_version=4)
job = GradingJob(assignment, "double", notebook, blank_copy(notebook), HowToRun(kernel_name=LIMITED))
try:
    graded, fault = grade(job), ""
except CheckAtFault as error:
    graded, fault = error.graded, str(error)
assert "gradekit_data" not in sys.modules
print(json.dumps([fault, [exercise.earned for exercise in graded.result.exercises]]))
"""
ANSWER = """\
import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure


def double(x):
    return int(pd.Series([x]).sum()) * 2


def table():
    return pd.DataFrame({"a": [1, 2]})


def tables():
    return [table(), table()]


def bare():
    figure = Figure()
    figure.subplots().plot([1, 2])
    return figure


def doubles(frame):
    frame["a"] *= 2
    return 4


def check_total(total):
    try:
        assert total(table()) == 3
    except Exception:
        raise AssertionError("wrong")


plt.plot([1, 2])"""
START = """
import pandas as pd
from gradekit.checks import Implementation, assert_close, judge, points

TABLE = pd.DataFrame({"a": [1, 2]})
TOTAL = "def total(frame):\\n    return frame['a'].sum()"
rejects = judge("check_total", "total", [Implementation(TOTAL)], wrong=[])
"""
CHECK = '''

@points(1)
def test_{}(student, rejects):
    """It works."""
    {}
'''
#: what a check does, by what it gets
GETS = {
    "a table to compare": 'assert_close(student.table(), TABLE, name="table")',
    "a table to look at": "assert len(student.table()['a']) == 2",
    "a table in a list": "assert student.tables()[0]['a'].sum() == 3",
    "a table that it ignores": "student.table()",
    "an argument": "assert student.doubles(TABLE) == 4",
    "a table of its own": "assert_close(TABLE, TABLE, name='table')",
    "an argument that its helper code made": (
        "made = student.define('import pandas as pd\\nframe = pd.DataFrame({\"a\": [1]})')\n"
        "    call = student.call('doubles', made.named('frame'))\n    assert call.value == 4"
    ),
    "a table that a student's test passes on": "rejects()",
    "the figure of a cell": "assert student.figure('double').axes[0].lines",
    "the figure of a function": "assert student.figure_of('bare').axes[0].lines",
}
SENTENCE = (
    "values of {} in checks need gradekit-data, which is not installed: "
    "`pip install ./packages/gradekit-data` in the folder with gradekit's sources"
)


def grade(course, source, *checks):
    source.cells[1].source = f"### BEGIN SOLUTION\n{ANSWER}\n### END SOLUTION"
    course.write_source(source)
    functions = [CHECK.format(number, check) for number, check in enumerate(checks)]
    course.checks.write_text("".join([START, *functions]))
    run = [sys.executable, "-c", GRADE]
    done = subprocess.run(run, cwd=course.root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.thorough
def test_a_check_that_gets_such_a_value_is_at_fault_and_says_what_to_install(tiny_course, tiny_source):
    fault, earned = grade(tiny_course, tiny_source, *GETS.values())
    libraries = ["matplotlib" if "figure" in name else "pandas" for name in GETS]
    said = re.findall(r"::test_(\d+), line \d+: gradekit\.course\.CourseError: (.*?)(?=; tests/|$)", fault)
    assert said == [(str(number), SENTENCE.format(library)) for number, library in enumerate(libraries)]
    assert earned == []


@pytest.mark.thorough
def test_a_course_that_only_computes_and_draws_with_them_is_graded(tiny_course, tiny_source):
    assert grade(tiny_course, tiny_source, "assert student.double(4) == 8") == ["", [1]]


def test_the_package_of_each_codec_is_known_where_it_is_missing():
    projects = [
        tomllib.loads(path.read_text())["project"] for path in PACKAGES.glob("gradekit-*/pyproject.toml")
    ]
    brought = {
        library: project["name"]
        for project in projects
        for library in project["entry-points"].get("gradekit.codecs", ())
    }
    assert brought == _BROUGHT_BY


@pytest.mark.thorough
def test_a_recorded_table_can_t_be_read_without_it(tmp_path):
    key, array = to_stored("test_a::test_a/expected/table", pd.DataFrame({"a": [1]}))
    Store(tmp_path / "reference.safetensors", {key: array}).save()
    script = GRADE.partition("import nbformat")[0] + (
        "from gradekit.checks.reference import Store\n"
        "Store.load(Path.cwd()).get('test_a::test_a/expected/table')"
    )
    run = [sys.executable, "-c", script]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert SENTENCE.format("pandas") in done.stderr.splitlines()[-1]
