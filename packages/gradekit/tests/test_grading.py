"""Grading one notebook: what a student's answer earns, and what the student reads."""

from dataclasses import replace

import pytest
from nbformat import v4

from gradekit.course import CourseError
from gradekit.course.cells import is_test_cell
from gradekit.session import proxy, session
from gradekit.session.limits import Limits
from gradekit.submission.submission import Submission
from gradekit.verdict.grade import collect_marks, grade
from gradekit.verdict.opened import GradingJob

RIGHT = "def double(x):\n    return 2 * x"


def outcome(result, check="test_value"):
    return next(found for found in result.exercise("test_double").checks if found.name == check)


def test_a_right_answer_earns_everything(grade_answer):
    result = grade_answer(RIGHT)
    assert (result.status, result.earned) == ("graded", 10)


def test_a_blank_answer_earns_nothing_and_counts_as_not_answered(grade_answer, tiny_course):
    blank = next(
        cell.source for cell in tiny_course.assignment.released("double").cells if cell["id"] == "answer"
    )
    result = grade_answer(blank)
    assert (result.status, result.earned) == ("graded", 0)
    assert {check.outcome for check in result.exercise("test_double").checks} == {"not answered"}


def test_an_answer_with_the_placeholder_left_in_is_told_to_delete_it(grade_answer):
    result = grade_answer(
        "def double(x):\n    y = 2 * x\n    # YOUR CODE HERE\n    raise NotImplementedError()"
    )
    assert "line 4 is still `raise NotImplementedError()`: delete it" in outcome(result).message


def test_a_known_mistake_is_named(grade_answer):
    result = grade_answer("def double(x):\n    return x ** 2")
    assert outcome(result).diagnosis == "You multiplied the input by itself."
    assert "differs by up to" in outcome(result).message


def test_an_unknown_mistake_is_not_guessed_at(grade_answer):
    assert outcome(grade_answer("def double(x):\n    return 5 * x")).diagnosis == ""


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def double(x):\n    return None", "is None, but should be a tensor of shape (3, 2)"),
        ("def double(x):\n    return 'yes'", "is a str"),
        ("def double(x):\n    return (2 * x)[:1]", "has shape (1, 2), but should have (3, 2)"),
        (
            "def double(x):\n    return x.no_such",
            "AttributeError: 'Tensor' object has no attribute 'no_such' in line 2",
        ),
        ("def double():\n    return 1", "raised TypeError"),
        ("def doubled(x):\n    return 2 * x", "The cell `double` defines no `double`"),
        (
            RIGHT + "\ndel double",
            "`double` is gone after the last cell, when the checks run: the cell `double` ",
        ),
        (
            RIGHT + "\nglobals().pop('double')",
            "The cell `double` ran, but there is no `double` after the last",
        ),
        ("def double(x:\n    return 2 * x", "since the cell `double` stopped with SyntaxError"),
        (
            "1 / 0\n" + RIGHT,
            "since the cell `double` stopped with ZeroDivisionError: division by zero (line 1)",
        ),
        ("import sys\nsys.exit(1)\n" + RIGHT, "stopped with SystemExit"),
        ("double = 3", "raised TypeError"),
    ],
)
def test_a_check_says_what_went_wrong(grade_answer, source, words):
    found = outcome(grade_answer(source))
    assert found.earned == 0
    assert words in found.message


def test_a_cell_that_does_not_run_makes_the_submission_partly_graded(grade_answer):
    result = grade_answer("def double(x:")
    assert result.status == "partly graded"
    assert "SyntaxError" in result.cells[0]


@pytest.mark.slow
def test_a_loop_in_a_call_times_out(grade_answer):
    result = grade_answer("def double(x):\n    while True: pass", Limits(call_seconds=1))
    assert (result.status, result.earned) == ("timed out", 0)


@pytest.mark.slow
def test_a_loop_in_a_cell_times_out(grade_answer):
    result = grade_answer("while True: pass", Limits(cell_seconds=4))
    assert (result.status, result.earned) == ("timed out", 0)
    assert "it ran for more than 4 s" in outcome(result).message


@pytest.mark.slow
def test_a_loop_that_ignores_interrupts_times_out(grade_answer):
    source = "def double(x):\n    while True:\n        try:\n            while True: pass\n        except KeyboardInterrupt: pass"
    assert grade_answer(source, Limits(call_seconds=1)).status == "timed out"


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("import os\nos._exit(1)", "The cell `double` crashed: it ended the Python process."),
        ("while True: pass", "The cell `double` took too long: it ran for more than 1 s."),
        (
            "x = 1\nx.y",
            "The cell `double` stopped with AttributeError: 'int' object has no attribute 'y' (line 2).",
        ),
    ],
)
def test_a_cell_that_did_not_run_is_reported_in_a_sentence(grade_answer, source, sentence):
    assert grade_answer(source, Limits(cell_seconds=1)).cells == [sentence]


def test_every_check_reports_a_call_that_ends_the_kernel_in_the_same_words(grade_answer):
    result = grade_answer("import os\ndef double(x): os._exit(1)")
    messages = {check.message for check in result.exercises[0].checks}
    assert messages == {"`double` could not finish: it ended the Python process."}
    assert result.cells == []


def test_checks_that_finished_before_a_death_keep_their_points(grade_answer):
    source = "import os\ndef double(x):\n    if tuple(x.shape) != (3, 2): os._exit(1)\n    return 2 * x"
    result = grade_answer(source)
    assert result.status == "kernel died"
    assert outcome(result).earned == 4


def test_printed_numbers_warnings_and_standard_error_change_nothing(grade_answer):
    noise = "import os, sys, warnings\nwarnings.warn('w')\nprint(100.0)\nos.write(2, b'e')\n100.0\n"
    assert grade_answer(noise + RIGHT).earned == 10
    assert grade_answer(noise + "def double(x):\n    return 3 * x").earned < 10


def test_patched_comparisons_in_the_student_s_process_earn_nothing(grade_answer):
    source = (
        "class Same:\n    def __eq__(self, other): return True\n"
        "torch.allclose = torch.equal = lambda *a, **k: True\n"
        "def double(x):\n    return Same()"
    )
    assert grade_answer(source).earned == 0


def test_the_input_changed_in_place_loses_the_point_for_that(grade_answer):
    result = grade_answer("def double(x):\n    x *= 2\n    return x")
    assert "changed its argument `x` in place" in outcome(result, "test_unchanged").message
    assert outcome(result).outcome == "passed"


def test_the_same_submission_draws_the_same_inputs(grade_answer):
    assert grade_answer(RIGHT).seed == grade_answer(RIGHT).seed
    assert grade_answer(RIGHT).seed != grade_answer(RIGHT + "\n").seed


def test_the_seed_follows_from_the_code_that_grading_runs_and_not_from_the_text(tiny_course):
    def seed(change):
        notebook = tiny_course.answer(RIGHT)
        change(notebook.cells)
        return Submission(notebook).seed

    def edit_all(cells, of):
        for cell in cells:
            if of(cell):
                cell.source += "# changed"

    as_it_is = seed(lambda cells: None)
    assert seed(lambda cells: edit_all(cells, lambda cell: cell.cell_type == "markdown")) == as_it_is
    assert seed(lambda cells: edit_all(cells, is_test_cell)) == as_it_is
    assert (
        seed(lambda cells: cells.append(v4.new_code_cell("draw()", metadata={"tags": ["demo"]}))) == as_it_is
    )
    assert seed(lambda cells: cells.append(v4.new_code_cell("draw()"))) != as_it_is


def test_a_forbidden_name_costs_the_exercise_also_when_it_hides_in_another_cell(tiny_course):
    (tiny_course.checks.parent / "conftest.py").write_text(
        "from gradekit.checks import forbid\nonly_own_code = forbid('add')\n"
    )
    released = tiny_course.assignment.released("double")
    notebook = tiny_course.answer("def double(x):\n    return helper(x)")
    notebook.cells.insert(1, v4.new_code_cell("def helper(x):\n    return torch.add(x, x)"))
    job = GradingJob(tiny_course.assignment, "double", notebook, released)
    result = grade(job).result
    assert result.earned == 0
    assert "Your answer uses `add`" in outcome(result).message

    notebook = tiny_course.answer(RIGHT)
    notebook.cells.append(v4.new_code_cell("assert double(1) == torch.add(torch.tensor(1), 1)"))
    assert grade(replace(job, notebook=notebook)).result.earned == 10


def test_a_forbidden_name_below_the_test_cell_that_only_redefines_the_answer_goes_to_a_person(tiny_course):
    (tiny_course.checks.parent / "conftest.py").write_text(
        "from gradekit.checks import forbid\nonly_own_code = forbid('add')\n"
    )
    notebook = tiny_course.answer(RIGHT)
    notebook.cells.append(v4.new_code_cell("def double(x):\n    return torch.add(x, x)"))
    released = tiny_course.assignment.released("double")
    result = grade(GradingJob(tiny_course.assignment, "double", notebook, released)).result
    (doubt,) = result.doubts
    assert (result.earned, doubt.grade_id) == (0, "test_double")
    assert "`double` was assigned again in the cell" in doubt.why


def test_a_function_that_asks_for_input_is_wrong_and_no_later_cell_is_blamed(tiny_course):
    notebook = tiny_course.answer("def double(x):\n    return x * int(input())")
    notebook.cells.append(v4.new_code_cell("later = 1"))
    released = tiny_course.assignment.released("double")
    result = grade(GradingJob(tiny_course.assignment, "double", notebook, released)).result
    assert result.earned == 0
    assert result.doubts == []


def test_a_check_that_is_at_fault_is_not_blamed_on_the_student(tiny_course, grade_answer):
    tiny_course.checks.write_text(tiny_course.checks.read_text().replace("x + x, name", "x + nowhere, name"))
    with pytest.raises(CourseError, match=r"test_any_size, line \d+: NameError"):
        grade_answer(RIGHT)


def test_a_check_without_its_record_says_what_to_run(tiny_course, grade_answer):
    (tiny_course.checks.parent / "reference.safetensors").unlink()
    with pytest.raises(CourseError, match="run `gradekit record 01_double`"):
        grade_answer(RIGHT)


def test_a_check_file_that_cannot_be_imported_is_named(tiny_course, grade_answer):
    tiny_course.checks.write_text("import torch\n\ndef broken(:")
    with pytest.raises(CourseError, match=r"test_double.py, line 3: SyntaxError: invalid syntax$"):
        grade_answer(RIGHT)


def test_marks_are_collected_without_running_anything(tiny_course, tiny_source):
    marks = collect_marks(tiny_course.assignment, "double", tiny_source)
    assert {name: [mark.args[0] for mark in found.values()] for name, found in marks.items()} == {
        "test_double": [4, 3, 2, 1]
    }


@pytest.mark.parametrize(
    "magic", ["%reset -f", "%reset_selective -f double", "get_ipython().magic('reset -sf')"]
)
def test_a_reset_below_the_answer_costs_nothing(grade_answer, magic):
    found = outcome(grade_answer(f"{RIGHT}\n{magic}"))
    assert (found.earned, found.outcome) == (found.points, "passed")


def test_checks_that_were_never_reached_go_to_a_person(grade_answer, monkeypatch):
    for module in (session, proxy):
        monkeypatch.setattr(module, "MAX_DEATHS", 1)
    result = grade_answer("import os\ndef double(x): os._exit(1)")
    assert [doubt.grade_id for doubt in result.doubts] == ["test_double"]
    assert result.is_undecided("test_double") and "could not be run" in result.doubts[0].why


def test_a_function_that_asks_for_input_is_told_what_to_do(grade_answer):
    result = grade_answer("def double(x):\n    return 2 * float(input())")
    assert "`input()` can't be answered while grading" in result.exercises[0].checks[0].message


def test_a_function_with_a_needless_self_is_told_why_an_argument_is_missing(grade_answer):
    sentence = "Its first parameter is `self`, which got the first argument: only functions inside a class need `self`"
    check = grade_answer("def double(self, x):\n    return 2 * x").exercises[0].checks[0]
    assert "missing 1 required positional argument" in check.message
    assert check.relation.startswith(sentence)
    other = grade_answer("def double(x, y):\n    return 2 * x").exercises[0].checks[0]
    assert sentence not in other.relation
