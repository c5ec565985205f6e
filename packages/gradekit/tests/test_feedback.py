"""What the feedback page is made of: formulas, headings, and what to look at first."""

import re
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat import v4

from gradekit.course import Course
from gradekit.course.cells import grade_id, is_test_cell
from gradekit.page.check_table import ScoreRow, first_things
from gradekit.page.headings import exercise_titles, explaining, headings, page_titles
from gradekit.page.markdown import formula, safe_markdown
from gradekit.page.page_parts import PageParts
from gradekit.verdict.results import CheckResult, ExerciseResult, SubmissionResult

ASSIGNMENTS = Course(Path(__file__).parents[3]).assignments()
each_assignment = pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda assignment: assignment.name)


def notebook():
    return v4.new_notebook(
        cells=[
            v4.new_markdown_cell("# A title\n\n## 1 Why `divide`?\n\n```\n# no heading\n```"),
            v4.new_markdown_cell("### Exercise 1"),
            v4.new_code_cell("", metadata={"nbgrader": {"grade_id": "double", "solution": True}}),
            v4.new_markdown_cell("## 2 Later"),
        ]
    )


def result(*exercises):
    return SubmissionResult("graded", exercises=[ExerciseResult(name, checks) for name, checks in exercises])


def failed(name, points, **values):
    return CheckResult(name, f"{name} holds.", points, values.pop("outcome", "failed"), **values)


def test_formulas_become_mathml_with_nothing_in_it_that_links_or_styles():
    assert formula(r"\frac{a}{b}").startswith('<math display="inline">')
    shown = formula(r"\href{javascript:a}{x} \style{color:red}{y} \class{c}{z} \hspace{900em}")
    assert "<mi>x</mi>" in shown
    for word in ("javascript", "color", "class", "900"):
        assert word not in shown


@pytest.mark.parametrize("latex", [r"\frac", r"\unknown{x}", "{" * 1000, "x" * 5000, r"x_1^{"])
def test_an_invalid_formula_is_shown_as_source(latex):
    assert formula(latex) == f"<code>{latex}</code>"


def test_text_in_a_formula_is_text():
    assert "<mtext>&lt;script&gt;</mtext>" in formula(r"\text{<script>}")


@pytest.mark.slow
@each_assignment
def test_every_formula_of_the_course_can_be_shown(assignment):
    for path in assignment.source_notebooks():
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "markdown":
                shown = safe_markdown(cell.source)
                assert re.findall(r"<code>[^<]*\\[a-z]+[^<]*</code>", shown) == []
                assert "$$" not in shown


def test_headings_are_found_by_their_text_with_or_without_the_number():
    found = headings(notebook())
    assert [heading.text for heading in found] == ["A title", "1 Why divide?", "Exercise 1", "2 Later"]
    for see in ("Why divide?", "1 Why divide?"):
        assert explaining(notebook(), found, "test_double", see).anchor == "1-Why-divide?"
    assert explaining(notebook(), found, "test_double", "divide") is None


def page_of(source, graded, given=frozenset()):
    parts = PageParts(source, graded, given).parts()
    return BeautifulSoup("".join(part.html for part in parts), "html.parser")


def test_the_page_shows_the_source_of_an_answer_of_which_nothing_can_be_seen():
    source = notebook()
    text = "<!-- because it is -->"
    source.cells = [
        v4.new_markdown_cell(text),
        v4.new_markdown_cell(text, metadata={"nbgrader": {"grade_id": "why", "solution": True}}),
    ]
    shown = [part.html for part in PageParts(source, result(), frozenset({text})).parts()]
    assert ["because it is" in html for html in shown if html.strip()] == [True]


@pytest.mark.slow
def test_a_link_leads_to_its_heading_whatever_characters_are_in_it():
    (path,) = Course(Path(__file__).parents[3]).assignment("04_transformer").source_notebooks()
    source = nbformat.read(path, as_version=4)
    given = frozenset(cell.source.strip() for cell in source.cells)
    page = page_of(source, result(("test_encoder_layer", [failed("x", 1, see="Add & norm")])), given)
    (link,) = page.select(".gradekit-checks a")
    assert page.find(id=link["href"].removeprefix("#")).text == "2 Add & norm"


def test_a_student_s_heading_cannot_take_the_id_of_a_cell():
    source = v4.new_notebook(
        cells=[
            v4.new_markdown_cell("# test_double\n\n# mine"),
            v4.new_code_cell("", metadata={"nbgrader": {"grade_id": "test_double", "grade": True}}),
        ]
    )
    page = page_of(source, result(("test_double", [failed("x", 1)])))
    assert [heading.get("id") for heading in page.find_all(re.compile("h[1-6]"))] == [None, "mine"]


def test_a_check_is_explained_above_its_answer_unless_it_says_otherwise():
    assert explaining(notebook(), headings(notebook()), "test_double").text == "Exercise 1"


@each_assignment
def test_every_check_of_the_course_is_explained_somewhere(assignment):
    for path in assignment.source_notebooks():
        source = nbformat.read(path, as_version=4)
        found = headings(source)
        assert len({heading.anchor for heading in found}) == len(found)
        for cell in source.cells:
            if is_test_cell(cell):
                assert explaining(source, found, grade_id(cell)) is not None


def test_a_missing_heading_stops_generate_assignment_with_one_sentence(generated):
    generated.checks.write_text(
        generated.checks.read_text().replace("@points(4)", "@points(4, see='Nowhere')")
    )
    done = generated.run("nbgrader", "generate_assignment", "01_double", "--force")
    assert done.returncode != 0
    assert (
        "tests/01_double/test_double.py: a check says see='Nowhere', but source/01_double/double.ipynb has no "
        "such heading. Copy the heading's text from the notebook."
        in done.stderr.replace(str(generated.root) + "/", "")
    )
    assert "Traceback" not in done.stderr


def test_the_largest_loss_comes_first_and_unanswered_exercises_last():
    things = first_things(
        result(
            ("test_a", [failed("small", 1), failed("large", 5, message="`x` is 2.")]),
            ("test_b", [failed("blank", 50, outcome="not answered")]),
        ),
        [ScoreRow("written", "written", 0, 10, "not answered", unanswered=True)],
    )
    assert [(thing.losses[0].name, thing.lost, thing.text) for thing in things] == [
        ("a", 5, "`x` is 2. The check: large holds."),
        ("a", 1, "This check failed: small holds."),
        ("b", 50, "Not answered."),
    ]


def test_a_cause_in_several_exercises_is_listed_once_with_the_points_of_each():
    (thing,) = first_things(
        result(
            ("test_a", [failed(x, 1, mistake="m", diagnosis="You forgot.") for x in "wx"]),
            ("test_b", [failed("y", 3, mistake="n", diagnosis="You forgot.")]),
        ),
        [],
    )
    assert [(loss.name, loss.points) for loss in thing.losses] == [("b", 3), ("a", 2)]
    assert thing.text == "You forgot."


def test_messages_that_differ_only_in_numbers_are_one_cause():
    checks = [failed("x", 2, message="shape (3, 4)"), failed("y", 3, message="shape (5,)")]
    (thing,) = first_things(result(("test_a", checks)), [])
    assert (thing.lost, thing.text) == (5, "shape (5,)")


def graded_cell(name, **values):
    new = v4.new_markdown_cell if values.pop("text", False) else v4.new_code_cell
    mark = {"grade_id": name, "grade": True, "locked": True, **values}
    return new(values.pop("source", ""), metadata={"nbgrader": mark})


AUTO = [f"cell-{number:016x}" for number in range(5)]


def test_a_cell_with_an_automatic_id_is_called_by_the_heading_above_it():
    task = graded_cell(AUTO[3], text=True, task=True, grade=False)
    task.source = "## Draw it"
    book = v4.new_notebook(
        cells=[
            v4.new_markdown_cell("# Motion"),
            graded_cell(AUTO[0]),
            graded_cell("test_speed"),
            graded_cell(AUTO[1]),
            v4.new_markdown_cell("## A very long heading that nobody wants to read in a table"),
            graded_cell(AUTO[2]),
            task,
        ]
    )
    assert exercise_titles(book) == {
        AUTO[0]: "Motion (1)",
        "test_speed": "speed",
        AUTO[1]: "Motion (2)",
        AUTO[2]: "A very long heading that nobody wants to…",
        AUTO[3]: "Draw it",
    }


def test_without_headings_it_is_called_by_its_number():
    book = v4.new_notebook(
        cells=[graded_cell("named"), graded_cell(AUTO[0]), graded_cell(AUTO[1], solution=True)]
    )
    assert exercise_titles(book) == {"named": "named", AUTO[0]: "Test cell 2", AUTO[1]: "Answer 1"}


def test_a_page_calls_an_exercise_by_the_heading_above_its_answer_unless_a_student_wrote_it():
    written = graded_cell("written", text=True, solution=True, source="# My answer")
    book = v4.new_notebook(
        cells=[
            v4.new_markdown_cell("## Exercise 1: `speed`"),
            graded_cell("speed", solution=True, grade=False),
            v4.new_markdown_cell("### Look at it"),
            graded_cell("test_speed"),
            v4.new_markdown_cell("## Exercise 2"),
            graded_cell("test_a"),
            written,
            graded_cell("test_b"),
        ]
    )
    assert page_titles(book) == {
        "test_speed": "Exercise 1: speed",
        "test_a": "Exercise 2 (a)",
        "written": "Exercise 2 (written)",
        "test_b": "Exercise 2 (b)",
    }
    assert page_titles(v4.new_notebook(cells=[graded_cell("test_a")])) == {"test_a": "a"}
