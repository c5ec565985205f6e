"""A name of an answer that a later cell assigns again: checks run after the last cell, so a person decides."""

import pytest
from nbformat import NotebookNode, v4
from nbgrader.api import Gradebook

from gradekit.course.cells import grade_id
from gradekit.submission.submission import Submission
from gradekit.verdict.grade import grade
from gradekit.verdict.job import GradingJob

from .test_code_elsewhere import CONFIGURE
from .tiny_course import RIGHT, code, mark

STUBS = {"a function": "def t(x):\n    ...", "a variable": "t = None", "no name": "# YOUR CODE HERE"}


def released(stub: str, *below: str) -> NotebookNode:
    test = code("assert t", mark("test_t", grade=True, locked=True, points=2), "test")
    given = (code(source, mark(f"given{place}", locked=True)) for place, source in enumerate(below))
    return v4.new_notebook(cells=[code(stub, mark("t", solution=True), "answer"), test, *given])


def found(handed_out: NotebookNode, *below: str, answer: str = "t = 3") -> tuple[str, int] | None:
    cells = [NotebookNode(cell) for cell in handed_out.cells]
    cells[0] = NotebookNode(cells[0], source=answer)
    cells += [v4.new_code_cell(source) for source in below]
    return Submission(v4.new_notebook(cells=cells), handed_out).bound_below("test_t")


@pytest.mark.parametrize("stub", STUBS.values(), ids=STUBS.keys())
@pytest.mark.parametrize("below", [
    "for t in range(3):\n    print(t)", "t = t(2)", "t += 1", "a, t = 1, 2", "def t(): pass", "import t",
    "with open('a') as t: pass", "if True:\n    t = 1", "del t", "print(t := 1)",
])  # fmt: skip
def test_whatever_binds_the_name_again_is_found(stub, below):
    assert found(released(stub), "print(t)", below) == ("t", 3)


@pytest.mark.parametrize("below", [
    "[t for t in range(3)]", "def show(t):\n    t = 1", "lambda t: t", "t.a = 1", "u = t", "t == 1", "t = ", "a.t = 1",
    "class A:\n    t = 1", "",
])  # fmt: skip
def test_what_binds_it_somewhere_else_is_not(below):
    assert found(released("t = None"), below) is None


def test_cells_above_the_test_or_as_handed_out_are_not_later_ones():
    assert found(released("t = None", "t = 1")) is None
    assert found(released("t = None", "t = 1"), "t = 2") is None
    assert found(released("t = None"), "u = 1") is None
    handed_out = released("t = None")
    submitted = v4.new_notebook(cells=[v4.new_code_cell("t = 5"), *handed_out.cells])
    assert Submission(submitted, handed_out).bound_below("test_t") is None
    between = [handed_out.cells[0], v4.new_code_cell("t = 5"), handed_out.cells[1]]
    assert Submission(v4.new_notebook(cells=between), handed_out).bound_below("test_t") is None


def test_a_demo_cell_is_not_run_and_binds_nothing():
    handed_out = released("t = None")
    demo = v4.new_code_cell("t = 5", metadata={"tags": ["demo"]})
    submitted = v4.new_notebook(cells=[*handed_out.cells, demo])
    assert Submission(submitted, handed_out).bound_below("test_t") is None


@pytest.mark.parametrize(("answer", "below", "earned", "doubted"), [
    (RIGHT, "for double in range(3):\n    pass", 0, True),
    (RIGHT, "del double", 0, True),
    (RIGHT, "double = lambda x, double=double: double(x)", 10, False),
    ("def double(x):\n    return 5 * x", "print(double(3))", 3, False),
])  # fmt: skip
def test_a_person_decides_if_points_were_lost(tiny_course, answer, below, earned, doubted):
    notebook = tiny_course.answer(answer)
    notebook.cells.append(v4.new_code_cell(below))
    job = GradingJob(tiny_course.assignment, "double", notebook, tiny_course.assignment.released("double"))
    result = grade(job).result
    assert result.earned == earned
    assert [doubt.grade_id for doubt in result.doubts] == ["test_double"] * doubted
    for doubt in result.doubts:
        done = "deleted" if below.startswith("del") else "assigned again"
        assert doubt.why == (
            f"`double` was {done} in the cell `number 6` below its test cell, and the checks ran after that. "
            "A person will decide how many points this gets."
        )


@pytest.mark.thorough
def test_what_nbgrader_gives_full_marks_does_not_get_0(tiny_course):
    notebook = tiny_course.answer(RIGHT)
    notebook.cells = [cell for cell in notebook.cells if grade_id(cell) or cell["id"] == "imports"]
    notebook.cells.append(v4.new_code_cell("for double in range(3):\n    pass"))
    tiny_course.hand_in("ada", notebook)
    given = {}
    for config in ("c = get_config()\n", CONFIGURE):
        (tiny_course.root / "nbgrader_config.py").write_text(config)
        for command in ("generate_assignment", "autograde"):
            done = tiny_course.run("nbgrader", command, "01_double", "--force")
            assert done.returncode == 0, done.stderr
        with Gradebook(f"sqlite:///{tiny_course.root / 'gradebook.db'}") as gradebook:
            grade = gradebook.find_grade("test_double", "double", "01_double", "ada")
            given[config] = (grade.auto_score, grade.needs_manual_grade)
    assert list(given.values()) == [(10, False), (None, True)]
