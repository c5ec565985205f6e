"""`earlier.py` has what a notebook imports from earlier assignments, with everything that this needs."""

import nbformat
import pytest
from nbformat import v4

from gradekit.course import Course, CourseError
from gradekit.verdict.grade import grade
from gradekit.verdict.opened import GradingJob
from gradekit_authoring.earlier import earlier_source, load_parts, write_earlier

from ...gradekit.tests.tiny_course import code, mark

FIRST = """\
SCALE = 3
unused = SCALE + 1


def scaled(x):
    # three times
    ### BEGIN SOLUTION
    return SCALE * math.floor(x)
    ### END SOLUTION"""

SECOND = """\
class Twice:
    def __call__(self, x):
        unused = "a local name, not the variable of the first assignment"
        return scaled(x) + scaled(x)"""


@pytest.fixture
def course(tmp_path):
    """Three assignments: `b_second` imports from `a_first`, `c_third` from both."""

    def write(name, *sources, tags=()):
        folder = tmp_path / "source" / name
        folder.mkdir(parents=True)
        cells = [code("import math\n\nimport torch.nn as nn"), code("raise SystemExit", {"tags": ["demo"]})]
        cells += [code(source, mark(f"cell_{n}", solution=True)) for n, source in enumerate(sources)]
        nbformat.write(v4.new_notebook(cells=cells), folder / f"{name}.ipynb")

    write("a_first", FIRST)
    write("b_second", "from earlier import scaled", SECOND)
    write("c_third", "from earlier import Twice, scaled")
    return Course(tmp_path)


def test_names_come_with_everything_they_need_and_nothing_else(course):
    text = earlier_source(course.assignment("c_third"))
    assert "import math" in text
    assert "SCALE = 3" in text
    assert "class Twice" in text
    assert "unused = SCALE" not in text
    assert "torch" not in text
    assert text.index("def scaled") < text.index("class Twice")


def test_solutions_have_their_comments_but_no_markers(course):
    text = earlier_source(course.assignment("b_second"))
    assert "    # three times\n    return SCALE * math.floor(x)\n" in text
    assert "SOLUTION" not in text


def test_the_module_works(course):
    path = write_earlier(course.assignment("c_third"))
    namespace = {}
    exec(path.read_text(encoding="utf-8"), namespace)
    assert namespace["Twice"]()(1.5) == 6


def test_an_assignment_that_imports_nothing_gets_no_file(course):
    assert write_earlier(course.assignment("a_first")) is None


def test_parts_can_be_loaded_without_a_file(course):
    assert load_parts(course.assignment("b_second"), ["Twice"]).Twice()(2) == 12


def test_a_name_that_no_earlier_assignment_defines_is_an_error(course):
    folder = course.root / "source" / "d_fourth"
    folder.mkdir()
    nbformat.write(v4.new_notebook(cells=[code("from earlier import nothing")]), folder / "d.ipynb")
    with pytest.raises(
        CourseError, match=r"d_fourth imports `nothing` from earlier\.py, but no earlier assignment"
    ):
        earlier_source(course.assignment("d_fourth"))


def test_a_submission_can_use_the_released_files(tiny_course):
    folder = tiny_course.root / "source" / "01_double"
    (folder / "earlier.py").write_text("factor = 2\n")
    (folder / "data").mkdir()
    (folder / "data" / "words.txt").write_text("one two")
    answer = "from earlier import factor\nassert open('data/words.txt').read() == 'one two'\n"
    notebook = tiny_course.answer(answer + "def double(x):\n    return factor * x")
    assignment = tiny_course.assignment
    result = grade(GradingJob(assignment, "double", notebook, assignment.released("double"))).result
    assert result.earned == 10
