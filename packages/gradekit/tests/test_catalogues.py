"""Known mistakes and other right answers: one file for all exercises, or a folder with a file for each."""

import io
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

from gradekit.checks import Equivalent, Mistake
from gradekit.checks.variants import alternatives_of, equivalents_of, mistakes_of
from gradekit.course import Course, CourseError, stamp_of
from gradekit.grading.cluster import zipped_assignment
from gradekit.nbgrader_plugin.bind import binding_problems
from gradekit_authoring.audit import figures, run_audit

from .tiny_course import code, mark

ONE = """
from gradekit.checks import Equivalent, Mistake

MISTAKES = [
    Mistake("{}", cell="double", edits=[("2 * x", "x * x")], about=["test_value"], sentence="You squared it."),
]
"""


@pytest.fixture
def split(tiny_course):
    """The tiny course with its known mistakes in a folder, and the folder."""
    file = tiny_course.checks.with_name("mistakes.py")
    file.with_suffix("").mkdir()
    file.rename(file.with_suffix("") / "double.py")
    return tiny_course, file.with_suffix("")


def names(found):
    return [variant.name for variant in found]


def test_a_folder_is_read_in_the_order_of_its_files(split):
    course, folder = split
    (folder / "halve.py").write_text(ONE.format("h"))
    (folder / "add.py").write_text(ONE.format("a"))
    assert names(mistakes_of(course.assignment)) == ["a", "square", "triple", "detached", "h"]


def test_other_right_answers_may_be_a_folder_too(tiny_course):
    file = tiny_course.checks.with_name("alternatives.py")
    file.with_suffix("").mkdir()
    file.rename(file.with_suffix("") / "double.py")
    assert names(alternatives_of(tiny_course.assignment)) == ["sum"]


@pytest.mark.slow
def test_the_audit_of_a_folder_is_that_of_the_file(split):
    audit = run_audit(split[0].assignment, workers=1, degenerate=False)
    assert audit.problems == []
    assert figures([audit]).startswith("01_double: 3 of 3 mistakes caught, 3 named")


def test_files_of_a_folder_share_modules_that_begin_with_an_underscore(split):
    course, folder = split
    (folder / "_words.py").write_text('SENTENCE = "You multiplied the input by itself."\n')
    (folder.parent / "shared.py").write_text('CELL = "double"\n')
    file = folder / "double.py"
    text = file.read_text().replace('"You multiplied the input by itself."', "SENTENCE")
    file.write_text(
        "from _words import SENTENCE\nfrom shared import CELL\n" + text.replace('"double"', "CELL")
    )
    assert mistakes_of(course.assignment)[0].sentence == "You multiplied the input by itself."
    assert "_words" not in sys.modules and str(folder) not in sys.path


def test_both_folders_may_have_a_module_of_one_name_wherever_the_course_is_named_from(
    tiny_course, monkeypatch
):
    monkeypatch.chdir(tiny_course.root)
    folder = tiny_course.checks.parent
    for catalogue in ("mistakes", "alternatives"):
        (folder / catalogue).mkdir()
        (folder / f"{catalogue}.py").rename(folder / catalogue / "double.py")
        (folder / catalogue / "_shared.py").write_text(f"NAME = {catalogue!r}\n")
        with (folder / catalogue / "double.py").open("a") as file:
            file.write(f"\nfrom _shared import NAME\nassert NAME == {catalogue!r}\n")
    for course in (Course(Path()), Course(tiny_course.root)):
        assert names(mistakes_of(course.assignment("01_double"))) == ["square", "triple", "detached"]
        assert names(alternatives_of(course.assignment("01_double"))) == ["sum"]


def test_a_file_and_a_folder_at_once_are_refused(split):
    course, folder = split
    file = folder.with_suffix(".py")
    file.write_text("MISTAKES = []\n")
    with pytest.raises(CourseError) as raised:
        mistakes_of(course.assignment)
    assert str(raised.value) == (
        f"{file} and the folder {folder} both exist: remove one, or move the file into the folder"
    )


def test_a_folder_without_modules_does_not_count(tiny_course):
    (tiny_course.checks.with_name("mistakes") / "__pycache__").mkdir(parents=True)
    assert len(mistakes_of(tiny_course.assignment)) == 3


def test_a_module_of_a_folder_without_entries_is_named(split):
    course, folder = split
    (folder / "words.py").write_text('SENTENCE = "You squared it."\n')
    with pytest.raises(CourseError) as raised:
        mistakes_of(course.assignment)
    assert str(raised.value) == (
        f"{folder}/words.py has no mistakes: write some, or begin the file's name with `_` if other files import it"
    )


def test_two_modules_with_a_mistake_of_one_name_are_named(split):
    course, folder = split
    (folder / "halve.py").write_text(ONE.format("square"))
    with pytest.raises(CourseError) as raised:
        mistakes_of(course.assignment)
    assert str(raised.value) == (
        f"{folder}/double.py and {folder}/halve.py: more than one of the mistakes is called square: names have to be unique in an "
        "assignment"
    )


def test_a_list_inside_of_the_list_is_named(split):
    course, folder = split
    with (folder / "double.py").open("a") as file:
        file.write("MISTAKES = [MISTAKES]\n")
    with pytest.raises(CourseError, match=r"double.py: an entry of MISTAKES is a list. Write `\*` before"):
        mistakes_of(course.assignment)


def test_an_entry_belongs_in_the_file_of_its_exercise(split):
    assignment = split[0].assignment
    assert assignment.module_for("mistakes", "half") == assignment.checks / "mistakes" / "half.py"
    assert assignment.module_for("alternatives", "half") == assignment.checks / "alternatives.py"


def test_modules_of_a_folder_are_no_check_files(split):
    course, folder = split
    (folder / "test_speed.py").write_text("MISTAKES = []\n")
    notebook = course.assignment.released("double")
    assert binding_problems(course.assignment, notebook, course.root / "double.ipynb") == []


def test_the_folder_of_a_notebook_called_mistakes_holds_its_checks(tiny_course):
    notebook = v4.new_notebook(cells=[code("", mark("test_it", grade=True, locked=True, points=1))])
    nbformat.write(notebook, tiny_course.assignment.source_folder / "mistakes.ipynb")
    folder = tiny_course.checks.with_name("mistakes")
    folder.mkdir()
    (folder / "test_it.py").write_text("")
    assert len(mistakes_of(tiny_course.assignment)) == 3
    assert tiny_course.assignment.check_file("mistakes", "test_it") == folder / "test_it.py"


def test_a_cluster_gets_the_folder(split, tmp_path):
    assignment = split[0].assignment
    zipfile.ZipFile(io.BytesIO(zipped_assignment(assignment))).extractall(tmp_path / "worker")
    assert mistakes_of(Course(tmp_path / "worker").assignment(assignment.name)) == mistakes_of(assignment)


def test_a_changed_file_of_the_folder_restarts_the_workers_of_watch(split):
    course, folder = split
    before = stamp_of(course.assignment)
    with (folder / "double.py").open("a") as file:
        file.write("# a remark\n")
    assert stamp_of(course.assignment) != before


WRITTEN = """
from gradekit.checks import Mistakes

wrong = Mistakes("double_")

wrong.about("test_value")
wrong("squared", "2 * x", "x * x")
wrong.says("You squared it.", lacks=("pow",))
wrong("both", "2", "3")
wrong.edit(" x")
wrong.to(" -x")
wrong.says("Two edits.")
wrong.costs("Every value is wrong.")

wrong.about("test_value", "test_gradient")
wrong("zero").source("def double(x):\\n    return 0")
wrong.says("You return zero.")
wrong.unnamed("Zero has many causes.", "zero", "both")
"""
SQUARED = Mistake(
    "double_squared",
    cell="double",
    edits=[("2 * x", "x * x")],
    about=("test_value",),
    sentence="You squared it.",
    lacks=("pow",),
)


def written(course, text, catalogue="mistakes"):
    """What is read from a catalog with this text."""
    course.checks.with_name(f"{catalogue}.py").write_text(text)
    return (mistakes_of if catalogue == "mistakes" else alternatives_of)(course.assignment)


def test_mistakes_are_written_one_after_another_below_their_checks(tiny_course):
    squared, both, zero = written(tiny_course, WRITTEN)
    assert squared == SQUARED
    assert (both.edits, both.cost) == ([("2", "3"), (" x", " -x")], "Every value is wrong.")
    assert (squared.unnamed, both.unnamed, zero.unnamed) == (
        "",
        "Zero has many causes.",
        "Zero has many causes.",
    )
    assert (zero.source, zero.about) == ("def double(x):\n    return 0", ("test_value", "test_gradient"))


def test_in_a_folder_an_entry_is_of_the_cell_that_the_file_is_called_after(split):
    course, folder = split
    (folder / "double.py").write_text(WRITTEN)
    (folder / "half.py").write_text(WRITTEN.replace("double_", "half_"))
    assert [mistake.cell for mistake in mistakes_of(course.assignment)] == ["double"] * 3 + ["half"] * 3
    assert mistakes_of(course.assignment)[3].checks() == {"test_half::test_value"}


def test_in_a_single_file_for_several_exercises_the_cell_must_be_given(tiny_course):
    tiny_course.checks.with_name("test_half.py").write_text("")
    with pytest.raises(
        CourseError, match=r"mistakes\.py: `double_squared` needs the grade_id of its answer cell"
    ):
        written(tiny_course, WRITTEN)
    assert written(tiny_course, WRITTEN.replace('"double_"', '"double_", cell="double"'))[0] == SQUARED


def test_right_answers_are_written_in_the_same_way_and_none_is_lost(tiny_course):
    sums = 'right = Alternatives({!r})\nright("sum", "2 * x", "x + x")\n'
    text = "from gradekit.checks import Alternatives\n" + sums.format("one_") + sums.format("two_")
    assert names(written(tiny_course, text, "alternatives")) == ["one_sum", "two_sum"]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            'wrong.says("You return zero.")',
            "",
            "`double_zero` needs a check before it (`about`), and a sentence (`says`)",
        ),
        (
            'wrong.about("test_value")',
            "",
            "`double_squared` needs a check before it (`about`), and a sentence (`says`)",
        ),
        ('"squared", "2 * x", "x * x"', '"squared"', "`double_squared` has neither an edit nor a source"),
    ],
)
def test_what_an_entry_lacks_is_named(tiny_course, old, new, problem):
    with pytest.raises(CourseError) as raised:
        written(tiny_course, WRITTEN.replace(old, new))
    assert str(raised.value) == f"{tiny_course.checks.with_name('mistakes.py')}: {problem}"


def test_what_an_edit_becomes_is_said_once(tiny_course):
    with pytest.raises(CourseError, match=r"`double_both`: `to\(' -x'\)` needs an edit before it"):
        written(tiny_course, WRITTEN.replace('wrong.edit(" x")', 'wrong.edit(" x", " y")'))


SURVIVES = """
from gradekit.checks import Equivalents

same = Equivalents("double")

same.because("Multiplication is commutative.")
same("return 2 * x")
same.to("return x * 2")
same.edit("return 2 * x", "2 * x", "x * 2.0")
"""


def test_mutants_that_may_survive_are_written_below_their_reason(tiny_course):
    path = tiny_course.checks.with_name("equivalent.py")
    path.write_text(SURVIVES)
    assert equivalents_of(tiny_course.assignment) == [
        Equivalent("double", "return 2 * x", after, "Multiplication is commutative.")
        for after in ("return x * 2", "return x * 2.0")
    ]
    path.write_text(SURVIVES.replace('"2 * x", "x * 2.0"', '"3", "4"'))
    with pytest.raises(CourseError, match="'3' must occur exactly once in 'return 2"):
        equivalents_of(tiny_course.assignment)
    path.write_text(SURVIVES.replace('same("return 2 * x")', ""))
    with pytest.raises(CourseError, match=r"to\('return x \* 2'\)` needs lines before it"):
        equivalents_of(tiny_course.assignment)
