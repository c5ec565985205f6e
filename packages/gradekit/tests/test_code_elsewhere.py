"""Code answers in odd places, in an odd order or deleted, with ordinary tests: the tests decide, or else a person."""

import os
import shutil
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat import NotebookNode, v4
from nbgrader.api import Gradebook

from gradekit.course import blank_copy
from gradekit.course.cells import grade_id
from gradekit.report.table import class_table
from gradekit.submission.restore import restored

from .odd_course import code
from .tiny_course import TinyCourse, at, cell_of, lab

CONFIGURE = "from gradekit.nbgrader_plugin import configure\nconfigure(get_config())\n"
DOUBLE, HALF = "def double(x):\n    return 2 * x", "def half(x):\n    return x / 2"
#: by name: a change of a notebook with both answers, the score of `half`, and whether a person has to decide on it
CASES: dict[str, tuple[Callable[[NotebookNode], None], float | None, bool]] = {}
#: by name: whether a person has to decide on an empty `half`, and the files beside the notebook
MODULES = {
    "a module": (True, {"answers.py": HALF}),
    "a module with a misspelled name": (True, {"answers.py": "def halve(x):\n    return x / 2"}),
    "a module with a syntax error": (True, {"answers.py": f"{HALF}\n    return ("}),
    "a text with the code": (True, {"answers.txt": f"My answer:\n\n{HALF}"}),
    "an archive with a notebook": (True, {"all.zip": "PK homework/double.ipynb"}),
    "an archive of pictures": (False, {"all.zip": "PK pictures/one.png"}),
    "an unrelated module": (False, {"helper.py": "x = 1"}),
    "text that mentions it": (False, {"notes.py": "# half(4) should be 2"}),
}


def draft(*cells: NotebookNode) -> str:
    return nbformat.writes(v4.new_notebook(cells=list(cells)))


ANSWER = code("half", HALF, solution=True)
BLANK = code("half", "def half(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()", solution=True)
#: the same for other notebooks
DRAFTS = {
    "a copy with the answer": (True, {"double (1).ipynb": draft(ANSWER)}),
    "a notebook of another name with the answer": (True, {"Untitled.ipynb": draft(v4.new_code_cell(HALF))}),
    "an unpacked archive with the answer": (True, {"homework/double.ipynb": draft(ANSWER)}),
    "a copy without the answer": (False, {"double (1).ipynb": draft(BLANK)}),
    "a notebook about something else": (False, {"Untitled.ipynb": draft(v4.new_code_cell("x = 1"))}),
}


BESIDE = {**MODULES, **DRAFTS}
#: notebooks as they were handed out: by name, whether a person has to decide on all of it
UNTOUCHED = {"untouched": "", "with an archive": "double.zip", "with a damaged notebook": "double (1).ipynb"}


def case(score: float | None, asked: bool) -> Callable[[Callable[[NotebookNode], None]], None]:
    def add(change: Callable[[NotebookNode], None]) -> None:
        CASES[change.__name__.replace("_", " ")] = (change, score, asked)

    return add


def source() -> NotebookNode:
    def solution(text: str) -> str:
        head, body = text.split("\n")
        return f"{head}\n    ### BEGIN SOLUTION\n{body}\n    ### END SOLUTION"

    test = {"grade": True, "locked": True, "points": 2}
    cells = [
        v4.new_markdown_cell("# Lab\n\n## Doubling", id="h-double"),
        code("double", solution(DOUBLE), solution=True),
        code("test_double", "assert double(1) == 2", **test),
        v4.new_markdown_cell("## Halving", id="h-half"),
        code("half", solution(HALF), solution=True),
        code("test_half", "assert half(4) == 2", **test),
        v4.new_markdown_cell("## The end", id="h-end"),
    ]
    return lab(cells)


def left_blank(notebook: NotebookNode) -> None:
    cell_of(notebook, "half").source = "def half(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()"


@case(2, False)
def in_its_place(notebook):
    pass


@case(0, False)
def wrong(notebook):
    cell_of(notebook, "half").source = "def half(x):\n    return x"


@case(0, False)
def a_syntax_error(notebook):
    cell_of(notebook, "half").source = "def half(x:\n    return x / 2"


@case(0, False)
def nothing(notebook):
    left_blank(notebook)


@case(0, False)
def deleted_and_nowhere_else(notebook):
    del notebook.cells[at(notebook, "half")]


@case(2, False)
def below_its_test_in_a_new_cell(notebook):
    left_blank(notebook)
    notebook.cells.append(v4.new_code_cell("TWO = 2"))
    notebook.cells.append(v4.new_code_cell("def half(x):\n    return x / TWO"))


@case(2, False)
def deleted_and_in_the_cell_of_the_other_exercise(notebook):
    del notebook.cells[at(notebook, "half")]
    cell_of(notebook, "double").source += f"\n\n\n{HALF}"


@case(None, True)
def copied_from_another_cell_and_wrong(notebook):
    left_blank(notebook)
    notebook.cells.append(v4.new_code_cell("def half(x):\n    return x"))


@case(None, True)
def its_own_cell_below_its_test(notebook):
    notebook.cells.append(notebook.cells.pop(at(notebook, "half")))


@case(None, True)
def a_helper_below_the_test(notebook):
    cell_of(notebook, "half").source = "def half(x):\n    return x / TWO"
    notebook.cells.append(v4.new_code_cell("TWO = 2"))


@case(None, True)
def a_name_used_above_the_cell_that_defines_it(notebook):
    cell_of(notebook, "half").source = f"LIMIT = 2 * TWO\n\n\n{HALF}"
    notebook.cells.append(v4.new_code_cell("TWO = 2"))


@case(None, True)
def under_another_name_next_to_it(notebook):
    left_blank(notebook)
    notebook.cells.insert(at(notebook, "half") + 1, v4.new_code_cell("def my_solution(x):\n    return x / 2"))


@case(None, True)
def misspelled_in_a_cell_at_the_end(notebook):
    left_blank(notebook)
    notebook.cells.append(v4.new_code_cell("def halve(x):\n    return x / 2"))


@case(None, True)
def split_so_that_its_body_is_below_it(notebook):
    cell_of(notebook, "half").source = 'def half(x):\n    """Half of x."""'
    notebook.cells.insert(at(notebook, "half") + 1, v4.new_code_cell("    return x / 2"))


@case(None, True)
def with_a_conflict_of_git_s_in_it(notebook):
    marks = "<<<<<<< HEAD\n    return x / 2\n=======\n    return 0.5 * x\n>>>>>>> 3f2a1b"
    cell_of(notebook, "half").source = f"def half(x):\n{marks}"


@case(None, True)
def nothing_but_prose(notebook):
    cell_of(notebook, "half").source = "Here I would divide x by two."


@case(None, True)
def between_lines_of_a_chat(notebook):
    text = f"Sure! Here is the function that you need:\n\n{HALF}\n\nThis function divides by two."
    cell_of(notebook, "half").source = text


@case(None, True)
def at_the_end_of_a_text_that_was_handed_out(notebook):
    left_blank(notebook)
    heading = next(cell for cell in notebook.cells if cell.source == "## Halving")
    heading.source += f"\n\n{HALF}"


@case(0, False)
def not_there_although_another_answer_has_a_similar_name(notebook):
    left_blank(notebook)
    notebook.cells.append(v4.new_code_cell("def double(x):\n    return x + x"))


@case(None, True)
def prose_in_place_of_code(notebook):
    cell = v4.new_markdown_cell("Divide it by two.", metadata=cell_of(notebook, "half").metadata)
    notebook.cells[at(notebook, "half")] = cell


@case(None, True)
def two_answers_the_last_of_which_is_wrong(notebook):
    copy = deepcopy(cell_of(notebook, "half"))
    copy |= {"source": "def half(x):\n    return x", "id": "copy"}
    notebook.cells.insert(at(notebook, "half") + 1, copy)


def hand_in_all(course: TinyCourse, names: list[str]) -> None:
    for name in names:
        notebook = course.assignment.released("double")
        cell_of(notebook, "double").source, cell_of(notebook, "half").source = DOUBLE, HALF
        CASES[name][0](notebook)
        nbformat.validate(notebook)
        course.hand_in(name, notebook)


def generated(course: TinyCourse, settings: str) -> TinyCourse:
    (course.root / "source" / "01_double").mkdir(parents=True)
    (course.root / "nbgrader_config.py").write_text(settings)
    course.write_source(source())
    done = course.run("nbgrader", "generate_assignment", "01_double")
    assert done.returncode == 0, done.stderr
    return course


@pytest.fixture(scope="module")
def graded(tmp_path_factory, made_once) -> TinyCourse:
    def make(course: TinyCourse) -> None:
        generated(course, CONFIGURE)
        hand_in_all(course, list(CASES))
        for name, (_, files) in BESIDE.items():
            folder = shutil.copytree(course.root / "submitted" / "nothing", course.root / "submitted" / name)
            for file, content in files.items():
                (folder / "01_double" / file).parent.mkdir(exist_ok=True)
                (folder / "01_double" / file).write_text(content)
        for name in UNTOUCHED:
            course.hand_in(name, course.assignment.released("double"))
            if file := UNTOUCHED[name]:
                (course.root / "submitted" / name / "01_double" / file).write_text("PK {")
        other = [
            code("softmax", HALF, solution=True),
            code("test_softmax", "assert half(4) == 2", grade=True),
        ]
        course.hand_in("another assignment's", v4.new_notebook(cells=other))
        done = course.run("gradekit", "autograde", "01_double", "--workers", "1")
        (course.root / "printed.txt").write_text(f"{done.stdout}{done.stderr}")
        done = course.run("nbgrader", "generate_feedback", "01_double")
        assert done.returncode == 0, done.stderr

    original = made_once("code-elsewhere", make)
    return TinyCourse(shutil.copytree(original, tmp_path_factory.mktemp("elsewhere") / "course"))


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_the_score_is_that_of_the_tests_unless_something_is_uncertain(graded, name):
    _, score, asked = CASES[name]
    assert graded.grades()[name]["test_half"] == (score, None, asked)
    assert graded.grades()[name]["test_double"] == (2, None, False)


@pytest.mark.slow
@pytest.mark.parametrize("name", BESIDE)
def test_a_file_beside_an_empty_answer_may_be_the_answer_if_it_defines_its_name(graded, name):
    asked, _ = BESIDE[name]
    assert graded.grades()[name]["test_half"] == (None if asked else 0, None, asked)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*list(DRAFTS)[:3], "a notebook about something else"])
def test_the_page_names_every_notebook_that_was_not_graded(graded, name):
    (file,) = DRAFTS[name][1]
    assert file in page(graded, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", UNTOUCHED)
def test_a_file_beside_a_notebook_in_which_nothing_was_answered_may_have_the_answers(graded, name):
    file = UNTOUCHED[name]
    expected = (None, None, True) if file else (0, None, False)
    assert {graded.grades()[name][test] for test in ("test_double", "test_half")} == {expected}
    assert (f"{file} may have the answers" in page(graded, name)) == bool(file)


@pytest.mark.slow
def test_a_person_decides_on_a_notebook_of_another_assignment(graded):
    scores = graded.grades()["another assignment's"]
    assert scores["test_half"] == (2, None, False)  # its test passes, whatever the cell is called
    assert scores["test_double"] == (None, None, True)
    what = "were not handed out with this assignment: it may be another assignment"
    assert what in page(graded, "another assignment's")


@pytest.mark.parametrize("make", [
    lambda path: path.symlink_to(path.with_name("other.py")),
    lambda path: os.mkfifo(path),
    lambda path: path.mkdir(),
    lambda path: path.write_text(f"{HALF}\n{'#' * 200_000}"),
    lambda path: None,
], ids=["a link", "a pipe", "a folder", "too large", "gone"])  # fmt: skip
def test_a_module_that_cannot_be_read_is_none(make, tmp_path):
    (tmp_path / "other.py").write_text(HALF)
    released = blank_copy(source())
    find = lambda name: restored(released, released, beside={"answers.py": tmp_path / name}).doubts  # noqa: E731
    make(tmp_path / "answers.py")
    assert [doubt.grade_id for doubt in find("other.py")] == ["test_half"]
    assert find("answers.py") == []


def page(course: TinyCourse, student: str) -> str:
    return (course.root / "feedback" / student / "01_double" / "double.html").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (
            "its own cell below its test",
            "The answer cell <code>half</code> is below its test cell <code>test_half</code>, which ran before it.",
        ),
        (
            "a helper below the test",
            "The cell <code>test_half</code> needs <code>TWO</code>, which only a cell below it defines",
        ),
        (
            "under another name next to it",
            "The answer cell <code>half</code> is empty, but the cell number 6 next to it may be its answer.",
        ),
        (
            "two answers the last of which is wrong",
            "The cell <code>half</code> is in the notebook more than once, with different answers.",
        ),
    ],
)
def test_the_page_says_why_a_person_decides(graded, name, sentence):
    assert f"{sentence}"[:-1] in page(graded, name)
    assert "A person will decide how many points this gets." in page(graded, name)
    assert "test_half" in [label for label, _ in row(graded, name).undecided]


@pytest.mark.slow
def test_the_page_has_no_verdict_on_an_empty_answer_that_a_person_decides_on(graded):
    shown = BeautifulSoup(page(graded, "under another name next to it"), "html.parser")
    (_, verdict) = shown.select(".verdict")
    assert "is empty, but the cell number 6 next to it may be its answer" in verdict.text
    assert "Awaiting manual grading" in verdict.text
    assert "not answered" not in shown.text.casefold()
    assert "not answered" in page(graded, "nothing").casefold()


def row(course: TinyCourse, student: str):
    return next(row for row in class_table(course.running, course.assignment).rows if row.student == student)


@pytest.mark.slow
def test_the_command_names_the_students(graded):
    text = (graded.root / "printed.txt").read_text()
    half, double = [line for line in text.splitlines() if "is undecided" in line]
    awaits = "is undecided and awaits manual grading, as `gradekit table` explains:"
    assert double == f"  double {awaits} another assignment's, with a damaged notebook, with an archive"
    assert half.startswith(f"  half {awaits} a copy with the answer")
    assert half.endswith("and 18 more")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["deleted and nowhere else", "deleted and in the cell of the other exercise"]
)
def test_a_deleted_answer_is_put_back_under_its_own_heading_and_above_its_test(graded, name):
    cells = graded.autograded(name).cells
    names = [grade_id(cell) or cell.source.split("## ")[-1] for cell in cells]
    assert names == ["Doubling", "double", "test_double", "Halving", "half", "test_half", "The end"]
    assert "Deleted cells were put back: <code>half</code>." in page(graded, name)


def plain_scores(tmp_path: Path, names: list[str]) -> dict[str, float | None]:
    """What nbgrader alone gives for `half`."""
    course = generated(TinyCourse(tmp_path / "plain"), "c = get_config()\n")
    hand_in_all(course, names)
    done = course.run("nbgrader", "autograde", "01_double")
    assert done.returncode == 0, done.stderr
    with Gradebook(f"sqlite:///{course.root / 'gradebook.db'}") as gradebook:
        grades = {name: gradebook.find_grade("test_half", "double", "01_double", name) for name in names}
        return {name: grade.auto_score for name, grade in grades.items()}


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [
        ["below its test in a new cell"],
        pytest.param(
            [name for name in CASES if not name.startswith("two answers")],  # it stops the batch
            marks=pytest.mark.thorough,
        ),
    ],
    ids=["one", "all"],
)
def test_no_score_is_lower_than_nbgrader_s_own(graded, tmp_path, names):
    for name, score in plain_scores(tmp_path, names).items():
        _, own, asked = CASES[name]
        assert asked or own >= (score or 0), name
