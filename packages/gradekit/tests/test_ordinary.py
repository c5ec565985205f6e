"""Ordinary test cells: run in the student's kernel, scored by nbgrader's rule, whatever the student's code does."""

import time
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode, v4

from gradekit.course import Assignment, Course
from gradekit.course.cells import CellKind, answer_of, find_cell, grade_id, is_answer_cell
from gradekit.session import session
from gradekit.session.limits import Limits
from gradekit.session.runner import _joined
from gradekit.submission.submission import Submission
from gradekit.verdict.collected import GraderCrash
from gradekit.verdict.grade import grade
from gradekit.verdict.opened import GradingJob, HowToRun, ScoreRule
from gradekit.verdict.ordinary import remedy_for
from gradekit.verdict.results import SubmissionResult

from .restored import restore_notebook


def marked(source: str, name: str, kind: str = "code", **values: object) -> NotebookNode:
    base = {"grade": False, "locked": False, "schema_version": 3, "solution": False, "task": False}
    new = v4.new_code_cell if kind == "code" else v4.new_markdown_cell
    return new(source, metadata={"nbgrader": {**base, "grade_id": name, **values}})


def answer(source: str, name: str = "answer") -> NotebookNode:
    return marked(source, name, solution=True)


def checking(source: str, name: str = "cell-1", points: float = 2) -> NotebookNode:
    return marked(source, name, grade=True, locked=True, points=points)


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    return Course(tmp_path).assignment("ps")


def run(
    assignment: Assignment,
    *cells: NotebookNode,
    rule: ScoreRule | None = None,
    untouched: tuple[str, ...] = (),
) -> SubmissionResult:
    """Grade a notebook of these cells; the answers have changed since the release, but for those in `untouched`."""
    notebook = v4.new_notebook(cells=list(cells))
    released = nbformat.from_dict(notebook)
    for cell in released.cells:
        if is_answer_cell(cell) and grade_id(cell) not in untouched:
            cell.source = "# YOUR CODE HERE\nraise NotImplementedError()"
    for folder in (assignment.source_folder, assignment.release_folder):
        folder.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, folder / "one.ipynb")
    how = HowToRun(Limits(cell_seconds=1, call_seconds=1), rule=rule or ScoreRule())
    return grade(GradingJob(assignment, "one", notebook, released, how)).result


def only(result: SubmissionResult):
    ((check,),) = [exercise.checks for exercise in result.exercises]
    return check


def outcomes(result: SubmissionResult) -> dict[str, str]:
    return {exercise.grade_id: exercise.checks[0].outcome for exercise in result.exercises}


def test_a_test_cell_that_raises_nothing_has_all_its_points(assignment):
    result = run(assignment, answer("x = 2"), checking('"""Two is even"""\nassert x % 2 == 0'))
    assert (only(result).outcome, only(result).earned) == ("passed", 2)
    assert only(result).sentence == "Two is even."
    assert result.status == "graded" and result.cells == [] and result.exercises[0].ordinary


def test_the_message_names_the_error_and_the_line_that_students_can_see(assignment):
    result = run(assignment, answer("x = 3"), checking("y = x\nassert y % 2 == 0, 'odd'"))
    assert (only(result).outcome, only(result).earned) == ("failed", 0)
    assert only(result).message == "AssertionError: odd in `assert y % 2 == 0, 'odd'`."
    assert result.status == "graded"


@pytest.mark.parametrize(
    ("value", "outcome", "earned", "noted"),
    [
        ("1", "partly passed", 1, False),
        ("0", "failed", 0, False),
        ("2", "passed", 2, False),
        ("'two'", "passed", 2, True),
        ("float('nan')", "passed", 2, True),
        ("-1", "passed", 2, True),
        ("2.5", "passed", 2, True),
        ("__import__('numpy').float64(0.5)", "passed", 2, True),
        ("None", "passed", 2, False),
    ],
)
def test_the_value_of_a_test_cell_is_its_score_as_in_nbgrader(assignment, value, outcome, earned, noted):
    result = run(assignment, answer(f"x = {value}"), checking("x"))
    assert (only(result).outcome, only(result).earned) == (outcome, earned)
    assert [("full marks" in note) for note in result.all_notes] == [True] * noted


def test_the_note_shows_the_value_that_is_not_a_score(assignment):
    result = run(assignment, checking("'two'"))
    assert result.all_notes == [
        "The value of the test cell `cell-1` is `'two'`, which is not a score between 0 and 2, so the cell has full "
        "marks. A person has to look at it."
    ]


def test_a_value_after_an_error_is_not_noted(assignment):
    assert run(assignment, checking("-1\nassert False")).all_notes == []


def test_a_test_that_misses_what_a_broken_cell_defines_is_blocked_and_the_notebook_partly_graded(assignment):
    result = run(
        assignment,
        answer("data = [1, 2\nmean = 1.5", "means"),
        answer("def double(x):\n    return 3 * x", "double"),
        checking("assert mean == 1.5", "test_means"),
        checking("assert double(1) == 2", "test_double"),
    )
    assert outcomes(result) == {"test_means": "blocked", "test_double": "failed"}
    assert result.status == "partly graded"
    assert (
        result.exercise("test_means")
        .checks[0]
        .message.startswith("`mean` is missing, since the cell `means` stopped with SyntaxError")
    )
    assert (result.earned, len(result.cells)) == (0, 1)


def test_a_broken_cell_that_no_test_needs_leaves_the_notebook_graded(assignment):
    result = run(assignment, answer("x = 2"), v4.new_code_cell("y = 1 / 0"), checking("assert x == 3"))
    assert (only(result).outcome, result.status) == ("failed", "graded")


def test_a_test_of_an_untouched_answer_is_not_answered(assignment):
    result = run(
        assignment,
        answer("def half(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()", "half"),
        checking("assert half(2) == 1", "test_half"),
        answer("", "name"),
        checking("assert name", "test_name"),
        answer("def one():\n    return 1", "one"),
        checking("assert one() == 1", "test_one"),
        untouched=("half", "name", "one"),
    )
    assert outcomes(result) == {
        "test_half": "not answered",
        "test_name": "not answered",
        "test_one": "passed",
    }
    assert result.exercise("test_name").checks[0].message == "Not answered: the cell `name` is empty."
    assert result.status == "graded"


def test_an_answer_in_another_cell_of_the_student_s_is_one(assignment):
    given = answer("def half(x):\n    raise NotImplementedError()", "half")
    released = v4.new_notebook(cells=[given, checking("assert half(2) == 1", "test_half")])
    notebook = nbformat.from_dict(released)
    notebook.cells.insert(1, v4.new_code_cell("def half(x):\n    return x"))
    for folder in (assignment.source_folder, assignment.release_folder):
        folder.mkdir(parents=True)
        nbformat.write(released, folder / "one.ipynb")
    graded = grade(GradingJob(assignment, "one", notebook, released))
    assert outcomes(graded.result) == {"test_half": "failed"}


def test_a_value_counts_after_more_output_than_is_kept(assignment):
    flood = checking("for _ in range(300):\n    print('x' * 1000)\n0.5")
    assert only(run(assignment, flood)).earned == 0.5


STDERR = "import sys\nprint('careful', file=sys.stderr)"


@pytest.mark.parametrize(
    ("rule", "earned"),
    [
        (ScoreRule(), 0),
        (ScoreRule(stderr_costs_points=False), 2),
        (ScoreRule(ignored_stderr="care"), 2),
        (ScoreRule(ignored_stderr="other"), 0),
    ],
)
def test_output_on_stderr_costs_the_points_unless_the_course_says_otherwise(assignment, rule, earned):
    check = only(run(assignment, checking(STDERR), rule=rule))
    assert check.earned == earned
    assert ("stderr, which costs its points: careful" in check.message) == (earned == 0)


@pytest.mark.parametrize("source", ["os.write(2, b'low')", "subprocess.run('echo low >&2', shell=True)"])
def test_what_a_cell_writes_past_python_s_stderr_costs_its_points_each_time(assignment, source):
    cells = [checking(f"import os, subprocess\n{source}\nNone", f"cell-{number}") for number in range(20)]
    assert [exercise.earned for exercise in run(assignment, *cells).exercises] == [0] * 20


def test_a_cell_may_run_pytest(assignment):
    source = (
        "import pytest\nwith open('test_one.py', 'w') as file:\n    file.write('def test_one(): pass')\n"
        "assert pytest.main(['-q', '-p', 'no:cacheprovider', 'test_one.py']) == 0"
    )
    assert only(run(assignment, checking(source))).earned == 2


def test_stderr_after_more_output_than_is_kept_costs_the_points(assignment):
    assert only(run(assignment, checking("print('x' * 200_000, flush=True)\n" + STDERR))).earned == 0


@pytest.mark.thorough
def test_a_cell_that_runs_out_of_time_or_ends_its_process_costs_no_other_cell(assignment):
    result = run(
        assignment,
        answer("import os\ndef loops():\n    while True: pass\ndef dies():\n    os._exit(1)"),
        checking("loops()", "slow"),
        checking("dies()", "fatal"),
        checking("dies()", "fatal-too"),
        checking("dies()", "and-again"),
        checking("assert os", "fine"),
    )
    assert outcomes(result) == {
        "slow": "timed out",
        "fatal": "kernel died",
        "fatal-too": "kernel died",
        "and-again": "kernel died",
        "fine": "passed",
    }
    assert result.earned == 2
    assert "it ran for more than 1 s" in result.exercise("slow").checks[0].message
    assert "it ended the Python process" in result.exercise("fatal").checks[0].message
    assert result.status == "kernel died"


def test_a_function_that_swallows_the_interrupt_does_not_pass_its_test(assignment):
    result = run(
        assignment,
        answer("def f():\n    try:\n        while True: pass\n    except BaseException:\n        return 1"),
        checking("assert f() == 1"),
    )
    assert (only(result).outcome, only(result).earned) == ("timed out", 0)


BOUND = '''
from gradekit.checks import points


@points(3)
def test_value(student):
    """The output is twice the input."""
    assert student.call("double", 2).value == 4
'''


def test_bound_and_ordinary_cells_in_one_notebook_have_any_grade_id(assignment):
    assignment.checks.mkdir(parents=True)
    (assignment.checks / "cell-1a2b3c.py").write_text(BOUND)
    cells = (
        answer("def double(x):\n    return 2 * x", "cell-aa"),
        checking("raise RuntimeError('the checks decide')", "cell-1a2b3c", 3),
        checking("assert double(3) == 6", "correct_double"),
    )
    result = run(assignment, *cells)
    assert [exercise.grade_id for exercise in result.exercises] == ["cell-1a2b3c", "correct_double"]
    assert [exercise.ordinary for exercise in result.exercises] == [False, True]
    assert result.earned == 5
    kinds = [assignment.kind_of("one", cell) for cell in cells]
    assert kinds == [CellKind.ANSWER, CellKind.BOUND, CellKind.ORDINARY]


def test_ordinary_cells_may_use_what_a_bound_one_defines(assignment):
    assignment.checks.mkdir(parents=True)
    (assignment.checks / "bound.py").write_text(BOUND)
    notebook = [
        answer("def double(x):\n    return 2 * x"),
        checking("def near(a, b):\n    return abs(a - b) < 1e-9\nprint('shown')\nassert False", "bound", 3),
        checking("assert near(double(3), 6)"),
    ]
    result = run(assignment, *notebook)
    assert result.earned == 5
    assert (result.status, result.cells, notebook[1].outputs) == ("graded", [], [])


def test_a_bound_cell_that_ends_the_kernel_is_left_out(assignment):
    assignment.checks.mkdir(parents=True)
    (assignment.checks / "bound.py").write_text(BOUND)
    right = answer("def double(x):\n    return 2 * x")
    result = run(assignment, right, checking("import os; os._exit(1)", "bound", 3), checking("assert True"))
    assert result.earned == 5


def test_a_crash_of_the_grader_is_not_a_fault_of_the_checks(assignment, monkeypatch):
    def crash(*values: object, **options: object) -> None:
        raise AttributeError("no shape")

    assignment.checks.mkdir(parents=True)
    (assignment.checks / "bound.py").write_text(BOUND)
    monkeypatch.setattr("gradekit.verdict.plugin.fingerprint_of", crash)
    with pytest.raises(GraderCrash, match="no shape"):
        run(assignment, answer("def double(x):\n    return 3 * x"), checking("", "bound", 3))


def test_a_check_that_ends_the_kernel_leaves_ordinary_cells_their_points(assignment):
    assignment.checks.mkdir(parents=True)
    (assignment.checks / "bound.py").write_text(BOUND)
    result = run(
        assignment,
        answer("def double(x):\n    if x == 2:\n        import os\n        os._exit(1)\n    return 2 * x"),
        checking("", "bound", 3),
        checking("assert double(3) == 6", "ordinary"),
    )
    assert outcomes(result) == {"bound": "kernel died", "ordinary": "passed"}


def test_a_grade_id_in_several_notebooks_is_bound_only_in_the_notebook_s_own_folder(assignment):
    assignment.source_folder.mkdir(parents=True)
    for name in ("one", "two"):
        nbformat.write(
            v4.new_notebook(cells=[checking("", "same"), checking("", f"of-{name}")]),
            assignment.source_folder / f"{name}.ipynb",
        )
    (assignment.checks / "two").mkdir(parents=True)
    for path in ("same.py", "of-one.py", "two/same.py"):
        (assignment.checks / path).write_text(BOUND)
    assert assignment.check_file("one", "same") is None
    assert assignment.check_file("two", "same") == assignment.checks / "two" / "same.py"
    assert assignment.check_file("one", "of-one") == assignment.checks / "of-one.py"


def test_the_answer_of_a_test_cell_is_the_one_it_names_or_the_nearest_above():
    notebook = v4.new_notebook(
        cells=[
            answer("", "squares"),
            checking("", "correct_squares"),
            answer("", "cubes"),
            checking("", "test_squares"),
            marked("", "essay", "markdown", grade=True, solution=True, points=1),
            checking("", "cell-1"),
        ]
    )
    assert answer_of(notebook, "correct_squares") == "squares"
    assert answer_of(notebook, "test_squares") == "squares"
    assert answer_of(notebook, "cell-1") == "cubes"
    find_cell(notebook, "cubes").source = "def cube(x):\n    return x**3"
    assert Submission(notebook).used_code("cell-1") == ["def cube(x):\n    return x**3"]


def test_a_foreign_notebook_is_restored_without_placeholders_or_headings():
    released = v4.new_notebook(
        cells=[
            answer("rate = 5", "given-value"),
            checking("assert rate == 5", "cell-1"),
            answer("def area(r):\n    pass", "area"),
            checking("assert area(1) > 3", "cell-2"),
            marked("print('read only')", "cell-3", locked=True),
        ]
    )
    submitted = v4.new_notebook(cells=[nbformat.from_dict(cell) for cell in released.cells])
    find_cell(submitted, "area").source = "def area(r):\n    return 3.14 * r * r"
    find_cell(submitted, "cell-3").source = "import os"
    submitted.cells.append(v4.new_code_cell("rate = 7  # what if?"))
    notebook, notes = restore_notebook(submitted, released)
    assert [cell.source for cell in notebook.cells] == [
        "rate = 5",
        "assert rate == 5",
        "def area(r):\n    return 3.14 * r * r",
        "assert area(1) > 3",
        "print('read only')",
        "rate = 7  # what if?",
    ]
    assert notes == ["The given cell `cell-3` was edited, so it was restored."]


def test_the_streams_of_a_cell_are_joined_as_a_terminal_shows_them():
    def stream(text: str, name: str = "stdout") -> NotebookNode:
        return v4.new_output("stream", name=name, text=text)

    picture = v4.new_output("display_data", {"text/plain": "a picture"})
    outputs = [stream("oh", "stderr"), stream("1%\r50"), picture, stream("%\rdone\r\nend\r")]
    joined = _joined(outputs)
    assert [output.get("text") for output in joined] == ["done\r\nend\r", "oh", None]
    start = time.process_time()
    assert _joined([stream("x" * 1_000_000)])[0].text == "x" * 1_000_000
    assert time.process_time() - start < 0.5  # nbclient's own pattern would take minutes


@pytest.mark.parametrize(
    ("line", "value", "remedy", "followed", "earned"),
    [
        ("np.float64(0.0)", "np.float64(0.0)", "write it as `float(...)`", "float(np.float64(0.0))", 0),
        (
            "np.array([1.5])[0:1].sum()",
            "np.float64(1.5)",
            "write it as `float(...)`",
            "float(np.float64(1.5))",
            1.5,
        ),
        ("np.array(1.0)", "array(1.)", "write it as `float(...)`", "float(np.array(1.0))", 1),
        ("Fraction(1, 2)", "Fraction(1, 2)", "write it as `float(...)`", "float(Fraction(1, 2))", 0.5),
        ("Decimal('0')", "Decimal('0')", "write it as `float(...)`", "float(Decimal('0'))", 0),
        ("1 == 2", "False", "write `assert` before it", "assert 1 == 2", 0),
        ("5", "5", "Make it a number from 0 to", "2", 2),
        ("'all passed'", "'all passed'", "end its last line with a semicolon", "'all passed';", 2),
        ("[1, 2]", "[1, 2]", "end its last line with a semicolon", "[1, 2];", 2),
    ],
)
def test_the_remedy_for_a_value_that_is_not_a_score_gives_the_score_that_was_meant(
    assignment, line, value, remedy, followed, earned
):
    first = "import numpy as np\nfrom fractions import Fraction\nfrom decimal import Decimal\n"
    (doubt,) = run(assignment, answer("x = 1"), checking(first + line)).doubts
    assert remedy_for(doubt).startswith(f"such as `{value}`. ") and remedy in remedy_for(doubt)
    result = run(assignment, answer("x = 1"), checking(first + followed))
    assert (result.earned, result.doubts) == (earned, [])


def test_tests_that_were_never_reached_go_to_a_person(assignment, monkeypatch):
    """Plain nbgrader removes the submission."""
    monkeypatch.setattr(session, "MAX_DEATHS", 1)
    dies = "import os\nos._exit(1)"
    result = run(
        assignment,
        answer(dies, "one"),
        answer(dies, "two"),
        answer("x = 1", "three"),
        checking("assert x == 1", "reached"),
    )
    assert [(doubt.grade_id, doubt.stands_by) for doubt in result.doubts] == [("reached", False)]
    assert "could not be run" in result.doubts[0].why and result.is_undecided("reached")
    assert (only(result).outcome, only(result).earned) == ("blocked", 0)


@pytest.mark.slow
def test_cells_after_many_that_end_the_process_are_still_run(assignment):
    dies = "import os\nos._exit(1)"
    bad = [answer(dies, f"bad-{n}") for n in range(4)]
    result = run(assignment, *bad, answer("x = 1"), checking("assert x == 1", "fine"))
    assert (outcomes(result), result.doubts) == ({"fine": "passed"}, [])


ASKS = "`input()` can't be answered while grading: write a value in its place, or remove the call"


@pytest.mark.parametrize(
    ("source", "test"),
    [
        ("x = input('x? ')", "assert x"),
        ("def f():\n    return input()", "assert f()"),
        ("x = 1", "assert input()"),
    ],
    ids=["in a cell", "in a function", "in the test"],
)
def test_who_asks_for_input_is_told_what_to_do(assignment, source, test):
    result = run(assignment, answer(source), checking(test))
    assert ASKS in only(result).message
    followed = source.replace("input('x? ')", "'1'").replace("input()", "'1'")
    assert run(assignment, answer(followed), checking(test.replace("input()", "x"))).earned == 2
