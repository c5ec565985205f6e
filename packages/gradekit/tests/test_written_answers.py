"""Written answers that are not in their own cells: none of them gets 0 points without being read by a person."""

import shutil
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode, v4
from nbgrader.api import Gradebook

from gradekit.course import blank_copy
from gradekit.course.cells import find_cell
from gradekit.report.table import class_table, table_lines
from gradekit.submission.restore import Restored, restored
from gradekit.submission.texts import prose_in

from .odd_course import code, marked
from .tiny_course import RIGHT, TinyCourse, at, cell_of, lab

TEXT = "Because it is the sum of both."
CONFIGURE = "from gradekit.nbgrader_plugin import configure\nconfigure(get_config())\n"
#: changes of a blank notebook after which `why` is empty, or gone, and its answer is somewhere else
FORMS: dict[str, Callable[[NotebookNode], None]] = {}


def form(change: Callable[[NotebookNode], None]) -> Callable[[NotebookNode], None]:
    FORMS[change.__name__.replace("_", " ")] = change
    return change


def source() -> NotebookNode:
    solution = "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"
    written = {"grade": True, "solution": True, "points": 3}
    cells = [
        v4.new_markdown_cell("# Lab", id="title"),
        code("double", solution, solution=True),
        code("test_double", "assert double(1) == 2", grade=True, locked=True, points=2),
        v4.new_markdown_cell("## Reasons", id="heading"),
        marked(v4.new_markdown_cell("Why?"), "question", locked=True),
        marked(v4.new_markdown_cell("### BEGIN SOLUTION\nBecause.\n### END SOLUTION"), "why", **written),
        v4.new_markdown_cell("## The end", id="end"),
    ]
    return lab(cells)


def put(notebook: NotebookNode, place: int, cell: NotebookNode) -> None:
    notebook.cells.insert(place, cell)


@form
def merged_into_the_question(notebook):
    cell_of(notebook, "question").source += f"\n\n{TEXT}"
    del notebook.cells[at(notebook, "why")]


@form
def merged_into_the_heading(notebook):
    cell_of(notebook, "heading").source = f"{TEXT}\n\n## Reasons"
    del notebook.cells[at(notebook, "question")]
    del notebook.cells[at(notebook, "why")]


@form
def in_the_middle_of_the_question(notebook):
    cell_of(notebook, "question").source = f"Why? {TEXT}"


@form
def a_code_cell_without_a_mark(notebook):
    notebook.cells[at(notebook, "why")] = v4.new_code_cell(TEXT)


@form
def a_comment_in_a_code_cell_without_a_mark(notebook):
    notebook.cells[at(notebook, "why")] = v4.new_code_cell(f"# {TEXT}")


@form
def a_raw_cell_without_a_mark(notebook):
    notebook.cells[at(notebook, "why")] = v4.new_raw_cell(TEXT)


@form
def printed_in_the_next_cell(notebook):
    put(notebook, at(notebook, "why") + 1, v4.new_code_cell(f'print("{TEXT}")'))


@form
def a_string_in_the_next_cell(notebook):
    put(notebook, at(notebook, "why") + 1, v4.new_code_cell(f'"""{TEXT}"""'))


@form
def markdown_magic_in_the_next_cell(notebook):
    put(notebook, at(notebook, "why") + 1, v4.new_code_cell(f"%%markdown\n{TEXT}"))


@form
def the_second_half_of_a_split_cell(notebook):
    put(notebook, at(notebook, "why") + 1, v4.new_markdown_cell(TEXT))


@form
def at_the_end_of_the_notebook(notebook):
    put(notebook, len(notebook.cells), v4.new_markdown_cell(TEXT))


@form
def at_the_top_and_its_own_cell_deleted(notebook):
    del notebook.cells[at(notebook, "why")]
    put(notebook, 0, v4.new_markdown_cell(TEXT))


@form
def in_the_title(notebook):
    cell_of(notebook, "title").source += f"\n\n{TEXT}"


@form
def below_the_code_of_another_exercise(notebook):
    put(notebook, at(notebook, "double") + 1, v4.new_code_cell(f"# {TEXT}"))


@form
def a_comment_in_a_test_cell(notebook):
    cell_of(notebook, "test_double").source += f"\n# {TEXT}"


@form
def a_comment_in_the_answer_to_another_exercise(notebook):
    cell_of(notebook, "double").source = f"{RIGHT}\n\n# Why:\n# {TEXT}"


@form
def a_long_comment_above_code(notebook):
    lines = TEXT.replace(" it", " it is the same,\n# and nothing else than"), TEXT
    put(notebook, 1, v4.new_code_cell("# {}\n# {}\nx = double(1)".format(*lines)))


@form
def printed_in_the_answer_to_another_exercise(notebook):
    cell_of(notebook, "double").source = f"{RIGHT}\n\nprint('{TEXT}')"


@form
def a_string_below_the_answer_to_another_exercise(notebook):
    cell_of(notebook, "double").source = f'{RIGHT}\n\n"""{TEXT}"""'


@form
def a_string_in_a_test_cell(notebook):
    cell_of(notebook, "test_double").source += f'\n"{TEXT}"'


@form
def a_changed_copy_of_the_question(notebook):
    copy = deepcopy(cell_of(notebook, "question"))
    copy.source += f"\n\n{TEXT}"
    put(notebook, len(notebook.cells), copy)


def restored_after(change: Callable[[NotebookNode], None], beside: dict[str, Path] | None = None) -> Restored:
    released = blank_copy(source())
    submitted = deepcopy(released)
    change(submitted)
    return restored(submitted, released, beside=beside)


@pytest.mark.parametrize("name", FORMS)
def test_a_person_reads_the_answer_wherever_it_is(name):
    found = restored_after(FORMS[name])
    nbformat.validate(found.notebook)
    written = find_cell(found.notebook, "why").source
    doubts = {doubt.grade_id: doubt.why for doubt in found.doubts}
    assert TEXT in "\n".join(cell.source for cell in found.notebook.cells)
    if "why" in doubts:
        assert "is empty, but something else may be its answer: the text in the cell" in doubts["why"]
        assert doubts["why"].endswith("A person will decide how many points this gets.")
    else:
        assert TEXT in written
        assert "The text next to the answer cell `why` was copied into it." in found.notes


def test_the_sentence_says_in_which_cell_the_text_is():
    found = restored_after(FORMS["at the end of the notebook"])
    (doubt,) = found.doubts
    number = next(place for place, cell in enumerate(found.notebook.cells, 1) if cell.source == TEXT)
    assert f"the text in the cell number {number}." in doubt.why


@pytest.mark.parametrize("name", ["why", "heading"])
def test_a_picture_without_a_word_is_an_answer(name):
    def attach(notebook):
        cell_of(notebook, name)["attachments"] = {"a.png": {"image/png": "iVBORw0="}}

    (doubt,) = restored_after(attach).doubts
    assert "picture" in doubt.why


@pytest.mark.parametrize(("file", "code", "asked"), [
    ("answer.pdf", "", True),
    ("pics/scan.JPG", "", True),
    ("loss.png", "plt.savefig('loss.png')", False),
    ("loss.png", "from IPython.display import Image\nImage('loss.png')", True),
    ("data.csv", "", False),
    *((f"answers.{kind}", "", True) for kind in ("txt", "md", "tex", "html", "m4a", "mp4", "xlsx", "pptx", "zip", "gdoc")),
    ("answer", "", True),
    *((file, "", False) for file in ("weights.pt", "Makefile", "log.yaml", "Thumbs.db")),
    ("log.txt", "log = open('log.txt', 'w')", False),
    ("hw.py", "", True),
    ("hw.py", "from hw import double", False),
])  # fmt: skip
def test_a_file_beside_the_notebook_may_be_the_answer_unless_the_notebook_s_code_uses_it(
    file, code, asked, tmp_path
):
    path = tmp_path / Path(file).name
    path.write_text(f"# {TEXT}")
    found = restored_after(lambda notebook: put(notebook, 1, v4.new_code_cell(code)), {file: path})
    whys = [doubt.why for doubt in found.doubts if doubt.grade_id == "why"]
    assert [f"the file {file}" in why for why in whys] == [True] * asked


@pytest.mark.parametrize(("source", "asked"), [
    ("x = 1", False),
    ("", False),
    (f'def why():\n    return "{TEXT}"', True),
    (TEXT, True),
])  # fmt: skip
def test_a_module_without_a_word_of_text_is_no_written_answer(source, asked, tmp_path):
    (tmp_path / "hw.py").write_text(source)
    found = restored_after(nothing, {"hw.py": tmp_path / "hw.py"})
    assert [doubt.grade_id for doubt in found.doubts] == ["why"] * asked


def nothing(notebook):
    pass


def experiments(notebook):
    put(notebook, 3, v4.new_code_cell("# try it\nprint(double(3))"))


def an_extended_answer(notebook):
    cell_of(notebook, "why").source = "Because."
    put(notebook, at(notebook, "why") + 1, v4.new_markdown_cell(TEXT))


def a_comment_on_code_in_a_test_cell(notebook):
    cell_of(notebook, "test_double").source += "\n# a constant\nTWO = 2"


def an_explained_answer(notebook):
    put(notebook, 1, v4.new_code_cell("# This helper is only here to look at some values.\nshow = print"))
    cell_of(notebook, "double").source = '''\
def double(x):
    """Add a number to itself, and return the sum of both, which is the double.

    It works for every kind of number that Python knows, and for text as well.
    """
    # adding is exact for numbers of all sizes, so nothing is lost here
    return x + x  # which is the same as two times the number, for all of them


# for number in range(10):
#     print(number, double(number), double(number) == 2 * number)

print("the double of three is", double(3))
double("a text of more than six words, which is doubled, too")'''


def another_type_of_cell(notebook):
    for name in ("why", "double"):
        cell = cell_of(notebook, name)
        notebook.cells[at(notebook, name)] = v4.new_raw_cell(cell.source, metadata=cell.metadata, id=name)


@pytest.mark.parametrize(("file", "text", "asked"), [
    ("notes.txt", "Because.", True),
    ("data.csv", f"1,2\n{TEXT}", True),
    ("data.csv", "3,4\n5,six", False),
    ("helper.py", f"# {TEXT}", True),
    ("helper.py", "x = 1", False),
])  # fmt: skip
def test_what_was_written_into_a_file_that_was_handed_out_may_be_the_answer(file, text, asked):
    released = blank_copy(source())
    submitted = deepcopy(released)
    cell_of(submitted, "double").source = RIGHT
    found = restored(submitted, released, replaced={file: text})
    whys = [doubt.why for doubt in found.doubts if doubt.grade_id == "why"]
    assert [f"the file {file}" in why for why in whys] == [True] * asked


@pytest.mark.parametrize(
    "change",
    [
        nothing,
        another_type_of_cell,
        experiments,
        an_explained_answer,
        an_extended_answer,
        a_comment_on_code_in_a_test_cell,
    ],
)
def test_what_is_clearly_something_else_raises_no_doubt(change):
    assert restored_after(change).doubts == []


@pytest.mark.parametrize(
    ("source", "prose"),
    [
        ("It is, because.", "It is, because."),
        ("# It is.\n# Really.", "It is.\nReally."),
        ("print('It is.')", "It is."),
        ("x = 'It is.'", ""),
        ("why = 'It is, because of that.'\nprint(why)", "It is, because of that."),
        ("from IPython.display import Markdown\nMarkdown('It is.')", "It is."),
        ("path = 'one.csv'\nprint(path)", ""),
        ("print(attention('It is, because of that.', 2))", ""),
        ("def f(x:\n  return", ""),
        ("import math", ""),
    ],
)
def test_a_code_cell_with_nothing_but_text_is_prose(source, prose):
    assert prose_in(source) == prose


ASKED = [
    "merged into the question",
    "at the end of the notebook",
    "a comment in a test cell",
    "a comment in the answer to another exercise",
]


@pytest.fixture(scope="module")
def graded(tmp_path_factory, made_once) -> TinyCourse:
    """Three of the forms, a notebook whose answer is in its place, and one without, graded by `nbgrader autograde`."""

    def make(course: TinyCourse) -> None:
        folder = course.root / "source" / "01_double"
        folder.mkdir(parents=True)
        (course.root / "nbgrader_config.py").write_text(CONFIGURE)
        course.write_source(source())
        done = course.run("nbgrader", "generate_assignment", "01_double")
        assert done.returncode == 0, done.stderr
        changes = {name: FORMS[name] for name in ASKED} | {"blank": nothing}
        changes["in its place"] = lambda notebook: cell_of(notebook, "why").update(source=TEXT)
        for name, change in changes.items():
            notebook = course.assignment.released("double")
            cell_of(notebook, "double").source = "def double(x):\n    return 2 * x"
            change(notebook)
            course.hand_in(name, notebook)
        done = course.run("nbgrader", "autograde", "01_double")
        (course.root / "printed.txt").write_text(f"{done.returncode}\n{done.stdout}{done.stderr}")
        done = course.run("nbgrader", "generate_feedback", "01_double")
        assert done.returncode == 0, done.stderr

    original = made_once("written", make)
    return TinyCourse(shutil.copytree(original, tmp_path_factory.mktemp("written") / "course"))


def test_an_answer_in_an_odd_place_has_no_score_and_needs_manual_grading(graded):
    grades = {student: found["why"] for student, found in graded.grades().items()}
    assert grades == {
        **dict.fromkeys(ASKED, (None, None, True)),
        "in its place": (None, None, True),
        "blank": (0, None, False),
    }


def test_formgrader_lists_it_under_manual_grading_and_a_score_given_there_stays(graded, tmp_path):
    with graded.gradebook() as gradebook:
        submissions = {
            s.student_id: s.needs_manual_grade for s in gradebook.assignment_submissions("01_double")
        }
        assert submissions == {**dict.fromkeys(ASKED, True), "in its place": True, "blank": False}
        grade = gradebook.find_grade("why", "double", "01_double", ASKED[1])
        grade.manual_score, grade.needs_manual_grade = 2, False  # as formgrader does
        gradebook.db.commit()
    done = graded.run("nbgrader", "autograde", "01_double", "--student", ASKED[1], "--force")
    assert done.returncode == 0, done.stderr
    assert graded.grades()[ASKED[1]]["why"][:2] == (None, 2)
    row = next(row for row in class_table(graded.running, graded.assignment).rows if row.student == ASKED[1])
    assert (row.points["why"], row.waiting, row.undecided) == (2, [], [])


def test_the_page_the_table_and_the_command_say_why(graded):
    sentence = "is empty, but something else may be its answer: the text in the cell number"
    page = (graded.root / "feedback" / ASKED[2] / "01_double" / "double.html").read_text()
    assert sentence in page and "No response." not in page
    assert "awaiting manual grading" in page
    lines = list(table_lines(class_table(graded.running, graded.assignment)))
    (line,) = [line for line in lines if line.startswith(f"{ASKED[2]}: ")]
    assert line.startswith(f"{ASKED[2]}: why is undecided. The answer cell `why` {sentence}")
    assert sentence in (graded.root / "printed.txt").read_text()


def test_the_last_lines_of_gradekit_autograde_name_it(graded, capsys):
    assert graded.gradekit("autograde", "01_double") == 0
    *_, last = capsys.readouterr().out.splitlines()
    assert "why is undecided and awaits manual grading, as `gradekit table` explains: " in last
    assert ASKED[2] in last and "blank" not in last


@pytest.fixture(scope="module")
def plain(graded, tmp_path_factory) -> Path:
    """The same submissions, graded by nbgrader alone."""
    root = tmp_path_factory.mktemp("plain")
    for folder in ("source", "submitted"):
        (root / folder).symlink_to(graded.root / folder)
    (root / "nbgrader_config.py").write_text("c = get_config()\n")
    course = TinyCourse(root)
    assert course.run("nbgrader", "generate_assignment", "01_double").returncode == 0
    done = course.run("nbgrader", "autograde", "01_double", "--no-execute")
    assert done.returncode == 0, done.stderr
    return root


@pytest.mark.slow
def test_whoever_waits_for_a_person_in_nbgrader_does_so_here(graded, plain):
    with Gradebook(f"sqlite:///{plain / 'gradebook.db'}") as gradebook:
        waiting = {
            submission.student_id
            for submission in gradebook.assignment_submissions("01_double")
            if gradebook.find_grade("why", "double", "01_double", submission.student_id).auto_score is None
        }
    asked = {student for student, found in graded.grades().items() if found["why"][2]}
    assert {"in its place", "merged into the question"} <= waiting <= asked | {ASKED[1]}


@pytest.mark.slow
def test_an_emptied_answer_waits_for_a_person(empty_class):
    for student, text in {"ann": "", "bob": " \n\u00a0", "cy": "YOUR ANSWER HERE"}.items():
        notebook = empty_class.answer(RIGHT)
        next(cell for cell in notebook.cells if cell["id"] == "why").source = text
        empty_class.hand_in(student, notebook)
    assert empty_class.gradekit("autograde", "01_double", "--workers", "1") == 0
    with empty_class.gradebook() as gradebook:
        found = [gradebook.find_grade("why", "double", "01_double", name) for name in ("ann", "bob", "cy")]
        assert [grade.auto_score for grade in found] == [None, None, 0]
        assert [grade.needs_manual_grade for grade in found] == [True, True, False]
