"""The audit finds every kind of mistake in checks."""

import sys

import nbformat
import pytest
from nbformat import v4

from gradekit.checks.variants import mistakes_of
from gradekit.course import CourseError
from gradekit_authoring.audit import audit_lines, figures, run_audit
from gradekit_authoring.grade_variants import record

from ...gradekit.tests.tiny_course import HALF, HALF_CHECKS, code, mark


@pytest.mark.slow
def test_a_course_in_order_has_no_problems(tiny_course):
    audit = run_audit(tiny_course.assignment)
    assert audit.problems == []
    assert figures([audit]) == (
        "01_double: 3 of 3 mistakes caught, 3 named; 1 of 1 alternatives earn full marks; 0 problems"
    )
    text = "\n".join(audit_lines(audit))
    assert "square" in text
    assert "#" in text


@pytest.mark.thorough
def test_a_check_with_an_error_of_its_own_is_named_by_an_audit_in_several_processes(tiny_course):
    checks = tiny_course.checks.read_text()
    tiny_course.checks.write_text(checks.replace("(student", "(student, fails"))
    tiny_course.checks.with_name("conftest.py").write_text(
        "import pytest\n\n\n@pytest.fixture\ndef fails():\n    return nothing\n"
    )
    with pytest.raises(CourseError, match=r"A check is at fault.*NameError: name 'nothing' is not defined"):
        run_audit(tiny_course.assignment, workers=2)


BROKEN = """
from gradekit.checks import Mistake

MISTAKES = [
    Mistake("unseen", cell="double", edits=[("2 * x", "2 * x + 1e-9")], about=["test_value"], sentence="A"),
    Mistake("elsewhere", cell="double", edits=[("2 * x", "3 * x")], about=["test_gradient"], sentence="B"),
    Mistake("nowhere", cell="double", edits=[("2 * x", "4 * x")], about=["test_missing"], sentence="C"),
    Mistake("shadowed", cell="double", edits=[("2 * x", "5 * x")], about=["test_value"], sentence="D"),
]
"""


def test_every_kind_of_problem_is_reported(tiny_course):
    folder = tiny_course.checks.parent
    (folder / "mistakes.py").write_text(BROKEN)
    record(tiny_course.assignment, workers=1)
    store_is_of = (folder / "mistakes.py").read_text()
    # from here on another mistake gives what `shadowed` gave when it was recorded
    (folder / "mistakes.py").write_text(
        store_is_of.replace("4 * x", "5 * x").replace(
            '"5 * x")], about=["test_value"]', '"6 * x")], about=["test_value"]'
        )
    )
    (folder / "alternatives.py").write_text(
        "from gradekit.checks import Alternative\n"
        "ALTERNATIVES = [Alternative('loose', cell='double', edits=[('2 * x', '2 * x + 0.1')])]\n"
    )
    problems = "\n".join(run_audit(tiny_course.assignment, workers=1).problems)
    for words in (
        "not caught: unseen keeps full marks",
        "caught only by others: elsewhere fails",
        "nowhere is said to be about test_double::test_missing: no such check",
        "wrong diagnosis: nowhere is taken for shadowed",
        "false alarm: loose fails test_double::test_value",
        "records out of date",
    ):
        assert words in problems


@pytest.mark.slow
def test_what_a_variant_cannot_touch_has_the_points_of_the_solution(tiny_course, tiny_source):
    """A second exercise, in whose checks one fixture of two uses the first."""
    tiny_source.cells += [
        code(
            "def triple(x):\n    ### BEGIN SOLUTION\n    return 3 * x\n    ### END SOLUTION",
            mark("triple", solution=True),
        ),
        code("assert triple(1) == 3", mark("test_triple", grade=True, locked=True, points=1)),
    ]
    tiny_course.write_source(tiny_source)
    conftest = tiny_course.checks.with_name("conftest.py")
    conftest.write_text(
        "import pytest\n\n"
        "@pytest.fixture\ndef twice(student):\n    return student.double(1)\n\n"
        "@pytest.fixture\ndef one():\n    return 1\n"
    )
    check = "from gradekit.checks import points\n\n@points(1)\ndef test_it(student, {0}):\n    assert student.triple({0})\n"

    def second_exercise(fixture):
        """Its result for a mistake in the first exercise, and for the solution."""
        tiny_course.checks.with_name("test_triple.py").write_text(check.format(fixture))
        graded = run_audit(tiny_course.assignment, workers=1, only="square").graded
        assert len(graded["square"].result.exercises) == 2
        return [graded[name].result.exercises[1] for name in ("square", "solution")]

    touched, solution = second_exercise("twice")
    assert touched is not solution
    untouched, solution = second_exercise("one")
    assert untouched is solution


def test_a_blank_notebook_that_earns_points_is_a_problem(tiny_course):
    checks = tiny_course.checks.read_text()
    given_away = '\n\n@points(1)\ndef test_gift():\n    """Nothing."""\n'
    tiny_course.checks.write_text(checks + given_away)
    assert any(
        "the blank notebook earns 1 points" in problem
        for problem in run_audit(tiny_course.assignment, workers=1).problems
    )


@pytest.mark.slow
def test_checks_that_an_answer_without_a_computation_passes_are_listed(tiny_course):
    audit = run_audit(tiny_course.assignment, workers=1)
    assert audit.given_away() == {
        f"{kind} for double": ["test_unchanged (1)"] for kind in ("zeros", "ones", "nan")
    } | {"input for double": ["test_gradient (2)", "test_unchanged (1)"]}
    assert "    nan for double: test_unchanged (1)" in "\n".join(audit_lines(audit))


AGAINST_ITSELF = '''
import torch
from gradekit.checks import assert_close, {helpers}points


@points(10)
def test_rows(student, draw):
    """A row has the same output in a batch as alone."""
    x = draw.normal(3, 4)
    output = student.double(x)
    assert_close(student.double(x[:1]), output[:1], name="output", context="of the first row alone")
    {check}
'''


@pytest.mark.slow
def test_an_exercise_that_is_earned_without_a_computation_is_a_problem(tiny_course):
    path = tiny_course.checks.parent / "mistakes.py"
    path.write_text("MISTAKES = []\n")
    tiny_course.checks.write_text(AGAINST_ITSELF.format(helpers="", check=""))
    record(tiny_course.assignment, workers=1)
    assert run_audit(tiny_course.assignment, workers=1).problems == [
        f"given away: {kind} for double earn all points of test_double" for kind in ("zeros", "ones", "input")
    ]
    check = 'assert_varies(output, name="output")\n    assert_differs(output, x, "The output is the input.")'
    tiny_course.checks.write_text(
        AGAINST_ITSELF.format(helpers="assert_differs, assert_varies, ", check=check)
    )
    assert run_audit(tiny_course.assignment, workers=1).problems == []


def test_an_edit_that_no_longer_fits_is_named(tiny_course):
    mistake = mistakes_of(tiny_course.assignment)[0]
    notebook = tiny_course.answer("def double(x):\n    return x + x")
    with pytest.raises(
        CourseError,
        match=r"`square`: '2 \* x' must occur exactly once in the answer cell `double`, but occurs 0",
    ):
        mistake.apply(notebook)


def test_two_variants_of_one_name_are_refused(tiny_course):
    path = tiny_course.checks.parent / "mistakes.py"
    path.write_text(path.read_text().replace('"triple"', '"square"'))
    with pytest.raises(CourseError, match="more than one of the mistakes is called square"):
        mistakes_of(tiny_course.assignment)


DEAR = """
from gradekit.checks import Mistakes

wrong = Mistakes()

wrong.about("test_value")
wrong("nothing", "2 * x", "0 * x")
wrong.says("A")
"""


ZEROS = 'wrong.unnamed("Zeros have many causes.")\n'


@pytest.mark.slow
def test_a_mistake_without_a_diagnosis_says_why(tiny_course):
    path, checks = tiny_course.checks.parent / "mistakes.py", tiny_course.checks.read_text()
    # the others have messages, which are evidence
    tiny_course.checks.write_text(checks.split("@points(2)")[0])
    dear = DEAR + 'wrong.costs("Nothing is computed.")\n'
    path.write_text(dear)
    record(tiny_course.assignment, workers=1)
    (problem,) = run_audit(tiny_course.assignment, workers=1).problems
    assert problem.startswith("no diagnosis: nothing gets none; ") and problem.endswith("`unnamed`")
    path.write_text(dear + ZEROS)
    assert run_audit(tiny_course.assignment, workers=1).problems == []
    path.write_text(dear.replace("0 * x", "0.37 * x + 1") + ZEROS)
    record(tiny_course.assignment, workers=1)
    assert run_audit(tiny_course.assignment, workers=1).problems == [
        "nothing is said to get no diagnosis (`unnamed`), but gets one: remove the reason"
    ]


@pytest.mark.slow
def test_a_mistake_that_costs_nearly_all_says_why(tiny_course):
    path = tiny_course.checks.parent / "mistakes.py"
    path.write_text(DEAR)
    record(tiny_course.assignment, workers=1)
    audit = run_audit(tiny_course.assignment, workers=1)
    assert audit.problems == [
        "out of proportion: nothing costs 90% of its exercise; between 5% and 70%, or say why with `costs`"
    ]
    assert " 90%  " in "\n".join(audit_lines(audit))
    path.write_text(DEAR + 'wrong.costs("Nothing is computed.")\n')
    assert run_audit(tiny_course.assignment, workers=1).problems == []
    path.write_text(DEAR + 'wrong.costs("Nothing is computed.", "something")\n')
    with pytest.raises(CourseError, match="mistakes that don't exist: something"):
        mistakes_of(tiny_course.assignment)


def test_recording_again_gives_the_same_file_even_in_place_of_a_damaged_one(tiny_course):
    path = tiny_course.checks.parent / "reference.safetensors"
    before = path.read_bytes()
    path.write_bytes(before[:100])
    record(tiny_course.assignment, workers=1)
    assert path.read_bytes() == before


def test_nothing_is_recorded_of_a_solution_that_does_not_pass(tiny_course):
    record(tiny_course.assignment, workers=1)
    path = tiny_course.checks.with_name("reference.safetensors")
    before = path.read_bytes()
    tiny_course.checks.write_text(
        tiny_course.checks.read_text()
        + '\n\n@points(1)\ndef test_odd(student):\n    """An odd sum."""\n    assert False\n'
    )
    with pytest.raises(
        CourseError, match=r"the solution doesn't pass test_double::test_odd .failed., so nothing"
    ):
        record(tiny_course.assignment, workers=1)
    assert path.read_bytes() == before


def test_an_assignment_without_known_mistakes_can_be_recorded(tiny_course):
    (tiny_course.checks.parent / "mistakes.py").unlink()
    assert record(tiny_course.assignment, workers=1).tensors


NAMED = "01_double: 3 of 3 mistakes caught, 3 named; 1 of 1 alternatives earn full marks; 0 problems"


@pytest.mark.slow
def test_checks_in_the_folder_of_their_notebook_are_recorded_and_audited(tiny_course):
    folder = tiny_course.checks.parent
    (folder / "double").mkdir()
    tiny_course.checks.rename(folder / "double" / "test_double.py")
    (folder / "reference.safetensors").unlink()
    store = record(tiny_course.assignment, workers=1)
    assert store.mistakes("double:test_double::test_value").keys() == {"square", "triple"}
    audit = run_audit(tiny_course.assignment, workers=1)
    assert audit.problems == []
    assert figures([audit]) == NAMED


@pytest.mark.slow
def test_check_files_and_mistakes_share_code_by_importing_it(tiny_course):
    folder = tiny_course.checks.parent
    (folder / "shared.py").write_text('INPUTS = "others"\nSENTENCE = "You squared it."\n')
    (folder / "random.py").write_text("raise RuntimeError('a module of the same name as one of Python')\n")
    text = tiny_course.checks.read_text().replace('"some"', "INPUTS")
    tiny_course.checks.write_text(f"import random\nfrom shared import INPUTS\n{text}")
    mistakes = (
        (folder / "mistakes.py").read_text().replace('"You multiplied the input by itself."', "SENTENCE")
    )
    (folder / "mistakes.py").write_text(f"from shared import SENTENCE\n{mistakes}")
    store = record(tiny_course.assignment, workers=1)
    assert any("others" in key for key in store.tensors)
    assert figures([run_audit(tiny_course.assignment, workers=1)]) == NAMED
    assert "shared" not in sys.modules and str(folder) not in sys.path


@pytest.mark.slow
def test_a_mistake_in_another_notebook_than_the_first_is_audited(tiny_course):
    answer, test = mark("half", solution=True), mark("test_half", grade=True, locked=True, points=5)
    second = v4.new_notebook(cells=[code("import torch"), code(HALF, answer), code("", test)])
    nbformat.write(second, tiny_course.assignment.source_folder / "second.ipynb")
    folder = tiny_course.checks.parent
    (folder / "test_half.py").write_text(HALF_CHECKS)
    with (folder / "mistakes.py").open("a") as file:
        file.write(
            'MISTAKES.append(Mistake("third", cell="half", edits=[("x / 2", "x / 3")], '
            'about=["test_half_of_even"], sentence="A third.", unnamed="Few values."))\n'
        )
    record(tiny_course.assignment, workers=1)
    audit = run_audit(tiny_course.assignment, workers=1)
    assert audit.problems == []
    assert [exercise.grade_id for exercise in audit.results["solution"].exercises] == [
        "test_double",
        "test_half",
    ]
    assert "4 of 4 mistakes caught" in figures([audit])
