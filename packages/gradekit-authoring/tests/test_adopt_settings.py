"""`gradekit adopt` names the settings that will mean something else, and what the sandbox does not have."""

import pytest
from nbformat import v4

from gradekit_authoring.adopt.config_file import version_problems

from ...gradekit.tests.odd_course import OddCourse, ordinary


@pytest.fixture
def course(tmp_path):
    return OddCourse(tmp_path)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("c.Autograde.exporter_class = 'mine.Exporter'", "sets c.Autograde.exporter_class itself. Remove"),
        ("c.HTMLExporter.template_name = 'mine'", "formgrader's pages have gradekit's template"),
        ("c.HTMLExporter.preprocessors = []", "formgrader's pages have gradekit's template"),
    ],
)
def test_a_setting_that_gradekit_replaces_is_named_with_its_line(course, line, said):
    course.write("source/ps1/a.ipynb", ordinary())
    course.config(line)
    (problem,) = course.look().problems
    assert problem.startswith(f"{course.root / 'nbgrader_config.py'}, line 2: ")
    assert said in problem


@pytest.mark.parametrize(
    "line",
    [
        "c.Autograde.autograde_preprocessors = []",
        "c.Autograde.pre_convert_hook = 'shutil.copy'",
        "c.BaseConverter.pre_convert_hook = 'shutil.copy'",
        "c.GenerateAssignment.preprocessors.append('x')",
        "c.ZipCollectApp.extractor_plugin = 'mine.Extractor'",
    ],
)
def test_a_setting_to_which_gradekit_adds_is_no_problem_above_configure(course, line):
    course.write("source/ps1/a.ipynb", ordinary())
    course.config(line)
    assert course.look().problems == []


def test_in_an_adopted_course_a_setting_below_configure_is_named(course):
    course.write("source/ps1/a.ipynb", ordinary())
    plug_in = "from gradekit.nbgrader_plugin import configure\nconfigure(c)\n"
    course.config(f"{plug_in}c.Autograde.autograde_preprocessors = []\nc.HTMLExporter.template_name = 'mine'")
    report = course.look()
    assert report.adopted
    (problem,) = report.problems
    assert "line 4: c.Autograde.autograde_preprocessors is set after `configure(c)`" in problem
    course.config(plug_in)
    assert course.look().problems == []


def test_settings_that_mean_something_else_are_named(course):
    course.write("source/ps1/a.ipynb", ordinary())
    course.config(
        "c.Execute.timeout = 60\nc.Execute.kernel_name = 'python3'\nc.ExecutePreprocessor.timeout = -1"
    )
    changes = course.look().changes
    assert [sentence.partition(": ")[2][:28] for sentence in changes] == [
        "c.Execute.kernel_name has no",
        "the 60 s of c.Execute.timeou",
        "c.ExecutePreprocessor.timeou",
    ]


def test_what_the_sandbox_does_not_have_is_named_by_cell(course):
    course.write(
        "source/ps1/a.ipynb",
        v4.new_code_cell("import numpy as np, json\nimport helpers\nfrom not_there.parts import x"),
        v4.new_code_cell("import pandas_of_mine as pd\ndata = pd.read_csv('https://example.org/iris.csv')"),
        v4.new_code_cell(
            "!pip install not_there\nopen('/data/iris.csv'), open('../other/x.csv'), open('own.csv')"
        ),
        v4.new_markdown_cell("import never"),
        v4.new_code_cell("raise RuntimeError", metadata={"tags": ["demo"]}),
    )
    (course.root / "source/ps1/helpers.py").write_text("")
    path = course.root / "source/ps1/a.ipynb"
    demo, *others = course.look().changes
    assert demo.startswith(f"{path}: cell 5 has the tag `demo`, so gradekit doesn't run it when grading.")
    assert [sentence.removeprefix(f"{path}: ").split(".")[0] for sentence in others] == [
        "cell 1 imports `not_there`, which isn't installed in gradekit's environment",
        "cell 2 imports `pandas_of_mine`, which isn't installed in gradekit's environment",
        "each of cells 2, 3 seems to use the network, which the sandbox doesn't have",
        "cell 3 names `/data/iris",
    ]
    assert "`../other/x.csv`" in others[-1]
    assert course.look().problems == []


def test_an_nbgrader_that_is_too_old_is_named_with_the_version_that_is_needed():
    assert list(version_problems()) == []
    (problem,) = version_problems(["nbgrader>=99", "numpy>=99"])
    assert "gradekit needs nbgrader>=99: `pip install" in problem
