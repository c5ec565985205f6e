"""`gradekit revise`: other cells in an assignment that has submissions, without losing what people wrote."""

import shutil

import nbformat
import pytest
from nbformat import v4
from nbgrader.api import Comment, Gradebook

from ...gradekit.tests.needs import mostly_slow, mostly_thorough
from ...gradekit.tests.tiny_course import RIGHT, mark

CONFIG = "nbgrader_config.py"


@pytest.fixture
def graded(graded_class):
    """The graded class, in which a person has graded the written answers of two. Those who cost time have left."""
    for student in ("exception", "exits", "loop", "broken"):
        shutil.rmtree(graded_class.root / "submitted" / student)
    with graded_class.gradebook() as gradebook:
        for student, score in (("right", 4), ("floor", 1)):
            grade = gradebook.find_grade("why", "double", "01_double", student)
            grade.manual_score, grade.extra_credit = score, 0.5
            comment = gradebook.find_comment("why", "double", "01_double", student)
            comment.manual_comment = f"seen, {student}"
        gradebook.db.commit()
    return graded_class


def source_of(course, name="double"):
    return nbformat.read(course.root / f"source/01_double/{name}.ipynb", as_version=4)


def write(course, **notebooks):
    for name, notebook in notebooks.items():
        nbformat.write(notebook, course.root / f"source/01_double/{name}.ipynb")


def by_people(course, path=None):
    """What people wrote: score, extra credit and comment by student, notebook and cell."""
    found = {}
    with Gradebook(f"sqlite:///{path or course.root / 'gradebook.db'}") as book:
        for comment in book.db.query(Comment).filter(Comment.manual_comment.isnot(None)):
            notebook = comment.notebook
            (grade,) = [grade for grade in notebook.grades if grade.cell.name == comment.cell.name]
            key = (notebook.student.id, notebook.name, comment.cell.name)
            found[key] = (grade.manual_score, grade.extra_credit, comment.manual_comment)
    return found


def expected(notebook="double", cell="why"):
    return {
        (student, notebook, cell): (score, 0.5, f"seen, {student}")
        for student, score in (("right", 4), ("floor", 1))
    }


def added(course):
    notebook = source_of(course)
    notebook.cells.append(
        v4.new_markdown_cell("More.", metadata=mark("more", grade=True, solution=True, points=2))
    )
    course.write_source(notebook)
    return [], expected()


def removed_test(course):
    notebook = source_of(course)
    notebook.cells = [
        cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade_id") != "test_half"
    ]
    course.checks.with_name("test_half.py").unlink()
    course.write_source(notebook)
    return [], expected()


def renamed(course):
    notebook = source_of(course)
    notebook.cells[-1].metadata.nbgrader.grade_id = "because"
    course.write_source(notebook)
    return ["--rename", "why=because"], expected(cell="because")


def retyped(course):
    notebook = source_of(course)
    notebook.cells[-1].metadata.nbgrader.update(grade=False, solution=False, task=True, locked=True)
    course.write_source(notebook)
    return [], expected()


def moved(course):
    notebook = source_of(course)
    nbformat.write(
        v4.new_notebook(cells=[notebook.cells.pop()], metadata=notebook.metadata),
        course.root / "source/01_double/essay.ipynb",
    )
    course.write_source(notebook)
    return [], expected(notebook="essay")


def notebook_renamed(course):
    source = course.root / "source/01_double"
    (source / "double.ipynb").rename(source / "doubling.ipynb")
    return [], expected(notebook="doubling")


@pytest.mark.slow
@pytest.mark.parametrize(
    "change", mostly_slow([renamed, added, removed_test, retyped, moved, notebook_renamed])
)
def test_what_people_wrote_stays(graded, change, capsys):
    options, after = change(graded)
    assert graded.gradekit("revise", "01_double", *options) == 0
    assert by_people(graded) == after
    out = capsys.readouterr().out
    assert "`gradekit autograde 01_double --force`" in out
    assert graded.run("nbgrader", "generate_assignment", "01_double", "--force").returncode == 0
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("change", [added, pytest.param(moved, marks=pytest.mark.thorough)])
@pytest.mark.thorough
def test_what_people_wrote_stays_when_the_submissions_are_graded_again(graded, change):
    _, after = change(graded)
    assert graded.gradekit("revise", "01_double") == 0
    assert graded.gradekit("autograde", "01_double", "--force", "--workers", "1") in (0, 1)
    assert by_people(graded) == after
    with graded.gradebook() as gradebook:
        assert gradebook.find_grade("test_double", "double", "01_double", "right").auto_score == 10


def test_a_cell_that_people_have_graded_is_not_removed_without_being_asked(graded, capsys):
    before = (graded.root / "release/01_double/double.ipynb").read_bytes()
    notebook = source_of(graded)
    notebook.cells.pop()
    graded.write_source(notebook)
    assert graded.gradekit("revise", "01_double") == 1
    out = capsys.readouterr().out
    assert "right, double/why: score 4, extra credit 0.5" in out
    assert "floor, double/why: comment 'seen, floor'" in out
    assert "add --discard" in out
    assert by_people(graded) == expected()
    assert (graded.root / "release/01_double/double.ipynb").read_bytes() == before

    assert graded.gradekit("revise", "01_double", "--discard") == 0
    assert by_people(graded) == {}
    (copy,) = (graded.root / ".gradekit/gradebooks").iterdir()
    assert by_people(graded, copy) == expected(), "the backup has them"


def test_a_dry_run_changes_nothing(graded, capsys):
    added(graded)
    before = (graded.root / "gradebook.db").read_bytes()
    assert graded.gradekit("revise", "01_double", "--dry-run") == 0
    assert "`more` added" in capsys.readouterr().out
    assert (graded.root / "gradebook.db").read_bytes() == before
    assert not (graded.root / ".gradekit/gradebooks").exists()


def test_a_source_that_can_t_be_released_changes_nothing(graded, capsys):
    added(graded)
    notebook = source_of(graded)
    notebook.cells.append(notebook.cells[-1])
    graded.write_source(notebook)
    before = (graded.root / "gradebook.db").read_bytes()
    assert graded.gradekit("revise", "01_double") == 2
    assert "have the same grade_id" in capsys.readouterr().err
    assert (graded.root / "gradebook.db").read_bytes() == before


@pytest.mark.parametrize(
    ("option", "words"), [("nothing=more", "isn't one cell that was removed"), ("why", "write OLD=NEW")]
)
def test_a_wrong_name_is_refused(graded, capsys, option, words):
    added(graded)
    assert graded.gradekit("revise", "01_double", "--rename", option) == 2
    assert words in capsys.readouterr().err


@pytest.mark.slow
def test_plain_nbgrader_s_only_way_out_loses_all_grades(graded):
    added(graded)
    (graded.root / CONFIG).write_text("c = get_config()\n")
    assert graded.run("nbgrader", "generate_assignment", "01_double", "--force").returncode == 1
    assert graded.run("nbgrader", "db", "assignment", "remove", "01_double", "--force").returncode == 0
    assert graded.run("nbgrader", "generate_assignment", "01_double", "--force").returncode == 0
    assert by_people(graded) == {}


def new_exercise(course):
    notebook = source_of(course)
    notebook.cells += [
        v4.new_code_cell("def triple(x):\n    return 3 * x", metadata=mark("triple", solution=True)),
        v4.new_code_cell(
            "assert triple(2) == 6", metadata=mark("test_triple", grade=True, locked=True, points=3)
        ),
    ]
    course.write_source(notebook)
    added(course)


@pytest.mark.slow
@pytest.mark.parametrize("command", mostly_thorough(["revise", "generate_assignment"]))
def test_who_handed_in_before_an_exercise_was_added_gets_no_0_for_it(graded, command):
    new_exercise(graded)
    if command == "revise":
        assert graded.gradekit("revise", "01_double") == 0
    else:  # before anything was graded, nbgrader lets instructors change cells
        (graded.root / "gradebook.db").unlink()
        done = graded.run("nbgrader", "generate_assignment", "01_double", "--force")
        assert done.returncode == 0, done.stderr
    late = graded.root / "submitted/floor/01_double/double.ipynb"
    shutil.copy(graded.root / "release/01_double/double.ipynb", late)
    graded.gradekit("autograde", "01_double", "--force", "--workers", "1")
    with graded.gradebook() as gradebook:
        for student, undecided in (("right", True), ("floor", False)):
            for cell in ("more", "test_triple"):
                grade = gradebook.find_grade(cell, "double", "01_double", student)
                assert grade.needs_manual_grade is undecided, (student, cell)
                assert grade.auto_score == (None if undecided else 0), (student, cell)
    page = graded.root / "autograded/right/01_double/double.ipynb"
    notes = str(nbformat.read(page, as_version=4).metadata)
    assert (
        "Cells that were added to the assignment later were put in: `triple`, `test_triple`, `more`." in notes
    )
    assert (
        "The cell `more` was added to the assignment later, and the notebook may have been handed in before"
        in notes
    )
    assert "Deleted cells" not in notes


def scores(course):
    """The automatic and manual score, and whether a person has to look, by cell, of the only student."""
    with course.gradebook() as book:
        (submission,) = book.find_assignment("01_double").submissions
        grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
        return {
            grade.name: (grade.auto_score, grade.manual_score, grade.needs_manual_grade) for grade in grades
        }


@pytest.mark.thorough
def test_an_exercise_that_moved_keeps_its_automatic_score_and_a_removed_heading_is_nobody_s_answer(generated):
    notebook = source_of(generated)
    notebook.cells[-1:-1] = [
        v4.new_markdown_cell("## Another exercise, which is removed later", id="cell-3"),
        v4.new_markdown_cell("It has a long text.", id="of-another"),
    ]
    generated.write_source(notebook)
    generated.run("nbgrader", "generate_assignment", "01_double", "--force")
    generated.hand_in("ada", generated.answer(RIGHT))
    assert generated.gradekit("autograde", "01_double", "--workers", "1") == 0
    grades = scores(generated)
    assert grades["why"] == (0, None, False)
    assert grades["test_double"] == (10, None, False)

    notebook = source_of(generated)
    own = {"double", "test_double"}
    gone = {"cell-3", "of-another"}
    moved = [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade_id") in own]
    rest = [cell for cell in notebook.cells if cell not in moved and cell["id"] not in gone]
    rest.insert(-1, v4.new_markdown_cell("Another cell of this id.", id="cell-3"))
    nbformat.write(
        v4.new_notebook(cells=moved, metadata=notebook.metadata),
        generated.root / "source/01_double/first.ipynb",
    )
    notebook.cells = rest
    generated.write_source(notebook)
    assert generated.gradekit("revise", "01_double") == 0
    assert generated.gradekit("autograde", "01_double", "--force", "--workers", "1") in (0, 1)
    again = scores(generated)
    assert again["why"] == (0, None, False)
    assert again["test_double"] == (10, None, False)


def with_essay(course, why="Because it is so."):
    """A second notebook with a question, which the student leaves empty; the first one has a heading, and is answered."""
    notebook = source_of(course)
    notebook.cells.insert(-1, v4.new_markdown_cell("## A heading with words in it", id="of-double"))
    question = v4.new_markdown_cell("### How is that?\n\nIn two lines.", id="of-how")
    how = v4.new_markdown_cell("So.", metadata=mark("how", grade=True, solution=True, points=2), id="how")
    write(course, double=notebook, essay=v4.new_notebook(cells=[question, how], metadata=notebook.metadata))
    assert course.run("nbgrader", "generate_assignment", "01_double", "--force").returncode == 0
    answered = course.answer(RIGHT)
    answered.cells[-1].source = why or answered.cells[-1].source
    course.hand_in("ada", answered)
    shutil.copy(course.root / "release/01_double/essay.ipynb", course.root / "submitted/ada/01_double")
    assert course.gradekit("autograde", "01_double", "--workers", "1") in (0, 1)
    assert scores(course)["how"] == (0, None, False)
    return notebook


def is_of(cell, *names):
    return cell.metadata.get("nbgrader", {}).get("grade_id") in names


@pytest.mark.thorough
def test_what_moved_from_another_notebook_or_was_removed_there_is_nobody_s_answer(generated):
    notebook = with_essay(generated)
    own = [cell for cell in notebook.cells if is_of(cell, "double", "test_double", "why")]
    notebook.cells = [cell for cell in notebook.cells if cell not in own and cell["id"] != "of-double"]
    notebook.cells.append(v4.new_code_cell("x = 1", metadata=mark("other", solution=True), id="other"))
    essay = source_of(generated, "essay")
    essay.cells = [*own, *essay.cells]
    write(generated, double=notebook, essay=essay)
    assert generated.gradekit("revise", "01_double") == 0
    assert generated.gradekit("autograde", "01_double", "--force", "--workers", "1") in (0, 1)
    found = scores(generated)
    assert found["how"] == (0, None, False)
    assert found["test_double"] == (10, None, False)
    assert found["why"][2], "it is answered"


@pytest.mark.thorough
def test_the_headings_of_a_notebook_that_was_dropped_are_nobody_s_answer(generated):
    notebook = with_essay(generated, why="")
    question = v4.new_markdown_cell("### Other words\n\nIn three lines.", id="of-how")
    notebook.cells += [question, source_of(generated, "essay").cells[-1]]
    write(generated, double=notebook)
    (generated.root / "source/01_double/essay.ipynb").unlink()
    assert generated.gradekit("revise", "01_double") == 0
    assert generated.gradekit("autograde", "01_double", "--force", "--workers", "1") in (0, 1)
    found = scores(generated)
    assert found["why"] == (0, None, False)
    assert found["how"] == (None, None, True), "it was added later"
