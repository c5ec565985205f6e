"""Second tries: nothing counts against a student unless a try on an idle machine confirms it."""

from types import SimpleNamespace

import pytest

from gradekit.nbgrader_plugin import steps
from gradekit.nbgrader_plugin.steps import RunChecks
from gradekit.report.table import class_table
from gradekit.verdict.result_cache import CachedResult
from gradekit.verdict.results import CheckResult, ExerciseResult, SubmissionResult
from gradekit.verdict.tries import RepeatBudget, Try, settled, unconfirmed

BY_BOTH = pytest.mark.parametrize("command", ["gradekit", pytest.param("nbgrader", marks=pytest.mark.slow)])
#: by nbgrader's own command only in `make test-all`
BY_EITHER = pytest.mark.parametrize(
    "command", ["gradekit", pytest.param("nbgrader", marks=pytest.mark.thorough)]
)
RIGHT, HALF = "def double(x):\n    return 2 * x", "def half(x):\n    return x / 2"
DEADLY = f"import os\n{RIGHT}\ndef die():\n    os._exit(1)"
SLEEPY = "import time\ndef double(x):\n    time.sleep(60)"
#: stands before a check: the first time, it ends the kernel of a student who defines `die`
ONCE = """
from pathlib import Path

FIRST = Path(__file__).with_name("tried.txt")


def end_the_kernel_once(student):
    if not FIRST.exists() and any("os._exit" in source for source in student.own_code().values()):
        FIRST.touch()
        student.die()


"""


@pytest.fixture
def course(empty_class):
    empty_class.hand_in("right", empty_class.answer(RIGHT, HALF))
    return empty_class


def configure(course, line):
    path = course.root / "nbgrader_config.py"
    path.write_text(path.read_text().replace("configure(c)", f"{line}\nconfigure(c)"))


def autograde(course, *options):
    return course.gradekit("autograde", "01_double", "--workers", "2", *options)


def row(course, student):
    return next(row for row in class_table(course.running, course.assignment).rows if row.student == student)


def a_kernel_that_dies_once(course):
    checks = course.checks.with_name("test_half.py")
    place = '    """Half of nothing."""\n'
    checks.write_text(ONCE + checks.read_text().replace(place, f"{place}    end_the_kernel_once(student)\n"))
    course.hand_in("unlucky", course.answer(DEADLY, HALF))


@BY_BOTH
def test_a_person_decides_on_what_a_kernel_that_died_once_would_cost(course, command):
    a_kernel_that_dies_once(course)
    if command == "gradekit":
        assert autograde(course) == 0
    else:
        done = course.run("nbgrader", "autograde", "01_double")
        assert done.returncode == 0, done.stderr
    found = row(course, "unlucky")
    assert (found.status, found.points["test_double"], found.points["test_half"]) == ("kernel died", 10, 3)
    why = {label: doubt.why for label, doubt in found.undecided}
    assert "was graded twice" in why["test_half"] and "it ended the Python process" in why["test_half"]
    assert "Only one of two tries ended the Python process" in why["test_double"]
    assert course.grades()["unlucky"]["test_half"] == (3, None, True)
    assert len(course.cached()) == 2


@pytest.mark.slow
def test_what_dies_twice_is_stored_and_named(course):
    course.hand_in("deadly", course.answer("import os\ndef double(x):\n    os._exit(1)", HALF))
    assert autograde(course) == 0
    assert (row(course, "deadly").status, row(course, "deadly").total) == ("kernel died", 5)
    assert course.gradings()["test_half"] == 3
    assert len(course.cached()) == 2
    autograde(course)
    assert course.gradings() == {}


@pytest.mark.thorough
def test_code_that_sleeps_is_tried_twice(course):
    configure(course, "c.RunChecks.call_timeout = 0.5")
    course.hand_in("sleepy", course.answer(SLEEPY, HALF))
    autograde(course)
    assert row(course, "sleepy").status == "timed out"
    assert course.gradings()["test_half"] == 3


@pytest.mark.slow
def test_code_that_computes_past_its_limit_is_tried_once(course):
    configure(course, "c.RunChecks.call_timeout = 0.5")
    course.hand_in("loop", course.answer("def double(x):\n    while True: pass", HALF))
    autograde(course)
    assert row(course, "loop").status == "timed out"
    assert course.gradings()["test_half"] == 2


def test_a_process_that_lives_for_weeks_gets_new_time_for_second_tries(tmp_path, monkeypatch):
    checks = RunChecks()
    budget = checks._budget(tmp_path, "01_double")
    assert checks._budget(tmp_path, "01_double") is budget
    monkeypatch.setattr(steps, "_NEW_BUDGET_SECONDS", -1.0)
    assert checks._budget(tmp_path, "01_double") is not budget


@BY_EITHER
@pytest.mark.slow
def test_an_assignment_may_have_limits_of_its_own(course, command):
    configure(
        course, 'c.RunChecks.per_assignment = {"01_double": {"call_timeout": 0.5}, "02": {"timeout": 9}}'
    )
    course.hand_in("loop", course.answer("def double(x):\n    while True: pass", HALF))
    if command == "gradekit":
        autograde(course)
    else:
        course.run("nbgrader", "autograde", "01_double")
    assert row(course, "loop").status == "timed out"
    assert "ran for more than 0.5 s" in str(course.autograded("loop").metadata["gradekit"])


def test_the_limits_of_an_assignment_are_converted_as_those_of_all():
    checks = RunChecks(per_assignment={"05": {"preload": "import x", "call_timeout": 20}})
    assert checks.limits_of("05") == RunChecks(preload="import x", call_timeout=20).limits_of("05")


@BY_EITHER
@pytest.mark.thorough
def test_without_time_for_a_second_try_a_result_says_so_and_is_graded_next_time(course, command):
    configure(course, "c.RunChecks.repeat_budget = 0")
    a_kernel_that_dies_once(course)
    if command == "gradekit":
        autograde(course)
    else:
        course.run("nbgrader", "autograde", "01_double")
    assert row(course, "unlucky").status == "kernel died"
    assert course.grades()["unlucky"]["test_half"] == (3, None, True)
    (note,) = course.autograded("unlucky").metadata["gradekit"]["notes"]
    assert "no time was left to try again on an idle machine" in note
    assert len(course.cached()) == 1
    autograde(course)  # as the second try: the first one still counts
    assert len(course.autograded("unlucky").metadata["gradekit"]["notes"]) == 0
    assert course.grades()["unlucky"]["test_half"] == (3, None, True)
    assert any("was graded twice" in doubt.why for _, doubt in row(course, "unlucky").undecided)
    assert len(course.cached()) == 2


@pytest.mark.thorough
@BY_EITHER
def test_force_uses_no_death_and_no_timeout_from_the_cache(course, command):
    course.hand_in("deadly", course.answer("import os\ndef double(x):\n    os._exit(1)", HALF))
    autograde(course)
    course.gradings()
    if command == "gradekit":
        autograde(course, "--force")
    else:
        course.run("nbgrader", "autograde", "01_double", "--force")
    assert course.gradings() == {"test_double": 2, "test_half": 2}


def tried(points, *suspect, lost="timed out"):
    checks = [CheckResult("test_it", "It works.", 10, "passed" if points else lost)]
    result = SubmissionResult("graded", exercises=[ExerciseResult("test_x", checks)], suspect=list(suspect))
    return Try(CachedResult(result), again=bool(suspect))


@pytest.mark.parametrize("first", [True, False], ids=["first", "second"])
def test_an_exercise_that_one_try_found_unanswered_is_in_no_doubt(first):
    tries = tried(0, "slow", lost="not answered"), tried(10, "slow")
    result = settled(*(tries if first else tries[::-1])).cached.result
    assert (result.earned, result.doubts) == (0, [])
    assert result.exercise("test_x").unanswered


def test_what_two_tries_confirm_counts_and_a_person_decides_on_the_rest():
    for first, second in [(tried(10, "slow"), tried(0, "slow")), (tried(0, "slow"), tried(10))]:
        found = settled(first, second)
        assert (found.earned, found.again, found.cached.result.suspect) == (0, False, [])
        (doubt,) = found.cached.result.doubts
        assert (doubt.grade_id, doubt.stands_by) == ("test_x", False)
        assert "(slow)" in doubt.why


@pytest.mark.parametrize("points", [0, 10])
def test_tries_that_agree_leave_no_doubt(points):
    found = settled(tried(points, "slow"), tried(points, "slow"))
    assert (found.earned, found.cached.result.doubts) == (points, [])


def test_each_check_has_the_points_of_its_worse_try():
    def attempt_with(*outcomes):
        checks = [CheckResult(f"test_{n}", "It works.", 2, outcome) for n, outcome in enumerate(outcomes)]
        result = SubmissionResult("graded", exercises=[ExerciseResult("test_x", checks)], suspect=["died"])
        return Try(CachedResult(result), again=True)

    found = settled(
        attempt_with("passed", "failed", "passed"), attempt_with("kernel died", "passed", "passed")
    )
    assert [check.outcome for check in found.cached.result.exercises[0].checks] == [
        *("kernel died", "failed", "passed")
    ]
    assert (found.earned, len(found.cached.result.doubts)) == (2, 1)


def test_a_try_that_did_not_start_does_not_count():
    found = settled(Try(None, failure="the kernel failed to start: no", again=True), tried(10))
    assert (found.earned, found.again, found.cached.result.doubts) == (10, False, [])


def test_a_person_decides_if_the_grader_fails_in_the_second_try():
    found = settled(tried(0, "slow"), Try(None, failure="the kernel failed to start: no", again=True))
    assert (found.earned, found.again, len(found.cached.result.doubts)) == (0, False, 1)


def test_two_failed_starts_are_a_failure_that_is_not_tried_again():
    start = Try(None, failure="the kernel failed to start: no", again=True)
    assert settled(start, start) == Try(None, failure=start.failure)
    assert unconfirmed(start).cached is None


def test_an_unconfirmed_result_says_what_is_in_doubt():
    result = unconfirmed(tried(0, "a call slept")).cached.result
    assert "(a call slept)" in result.notes[0]
    assert result.is_undecided("test_x")


def test_the_block_spends_the_budget(monkeypatch):
    clock = iter([0.0, 100.0, 130.0, 200.0, 231.0, 300.0])
    monkeypatch.setattr("gradekit.verdict.tries.time", SimpleNamespace(monotonic=lambda: next(clock)))
    budget = RepeatBudget(60)
    for still_allowed in (True, False):
        with budget.spending():
            pass
        assert budget.allowed is still_allowed
    assert not RepeatBudget(0).allowed
