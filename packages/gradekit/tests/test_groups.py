"""Answer groups: students with the same wrong answer, in the report, and one comment for all of them."""

from dataclasses import replace

import numpy as np
import pytest

from gradekit.checks.reference import Observation, Reference, Store
from gradekit.checks.variants import Mistakes, mistakes_of
from gradekit.report.statistics import answer_groups, stub
from gradekit.report.table import ClassTable, Row
from gradekit.verdict.diagnosis import fingerprint_of
from gradekit.verdict.results import CheckResult, ExerciseResult, same_numbers

from .needs import mostly_thorough

torch = pytest.importorskip("torch", reason="torch is not installed")

VALUE = torch.linspace(-3, 3, 60).reshape(3, 4, 5)


def observed(value: torch.Tensor | None, atol: float = 1e-5, rtol: float = 1e-4) -> Reference:
    """The comparisons of a check in which this value was wrong."""
    reference = Reference(Store(path=None), "test_x::test_y")
    reference.observations = [Observation("output", value, passed=False)]
    reference.tolerances = {"output": (atol, rtol)}
    return reference


def answer(value: torch.Tensor | None, message: str = "no", drawn: bool = False) -> tuple[str, list[float]]:
    return fingerprint_of("failed", message, observed(value), drawn)


def same(one: tuple[str, list[float]], other: tuple[str, list[float]]) -> bool:
    return one[0] == other[0] and same_numbers(one[1], other[1])


def test_outputs_that_differ_by_the_noise_of_floats_are_the_same_answer():
    noise = 1e-6 * torch.randn(VALUE.shape, generator=torch.Generator().manual_seed(1))
    assert same(answer(VALUE), answer(VALUE + noise))
    assert same(answer(1e4 * VALUE), answer(1e4 * (VALUE + noise)))


@pytest.mark.parametrize(
    "other",
    [VALUE + 0.01, 1.01 * VALUE, VALUE.flip(0), VALUE.transpose(1, 2), VALUE.clamp(max=2.8), VALUE[:2]],
    ids=["shifted", "scaled", "turned", "transposed", "one end cut off", "shorter"],
)
def test_outputs_that_a_check_tells_apart_are_different_answers(other):
    assert not same(answer(VALUE), answer(other))


def test_what_is_not_finite_counts():
    broken = VALUE.clone()
    broken[0, 0] = torch.nan
    assert same(answer(broken), answer(broken.clone()))
    assert not same(answer(broken), answer(VALUE.nan_to_num()))


@pytest.mark.parametrize(
    "value", [3, 2.5, True, 10**400, 1j, "text", (1, 2), [], {"a": 1}, [[1], [2, 3]], np.array([None, 1])]
)
def test_whatever_a_student_returns_has_a_fingerprint(value):
    assert answer(value)[0]


def test_what_is_kept_of_an_answer_is_a_few_numbers_and_not_the_answer():
    text, numbers = answer(torch.randn(100, 100))
    assert text == "`output` of shape (100, 100)"
    assert len(numbers) == 6


def test_errors_are_the_same_wherever_they_stand_in_the_cell():
    one, other = (f"`f` raised ValueError in line {line} of your cell: bad size 7" for line in (3, 12))
    assert same(answer(None, one), answer(None, other))
    assert not same(answer(None, one), answer(None, one.replace("7", "8")))


def test_with_inputs_that_are_drawn_only_the_kind_of_message_counts():
    shapes = [f"`output` has shape ({n}, 3), but should have (3, {n})." for n in (4, 8)]
    assert same(*(answer(None, shape, drawn=True) for shape in shapes))
    values = "`output` has the right shape (2, 3), but differs by up to 0.5 at [0, 1]"
    assert answer(None, values, drawn=True) == ("", [])


def test_code_that_gives_nothing_is_told_apart_by_the_reason():
    ended, looped = (
        f"`f` could not finish: {why}." for why in ("it ended the process", "it exceeded its time limit")
    )
    assert same(*(fingerprint_of("kernel died", ended, None, drawn=False) for _ in range(2)))
    assert not same(*(fingerprint_of("kernel died", why, None, drawn=False) for why in (ended, looped)))


@pytest.mark.parametrize("outcome", ["passed", "not answered", "blocked"])
def test_where_no_answer_was_checked_there_is_none_to_compare(outcome):
    assert fingerprint_of(outcome, "a message", None, drawn=False) == ("", [])


def class_of(answers: dict[str, dict[str, CheckResult]]) -> ClassTable:
    """A class by student and check of one exercise."""
    rows = []
    for student, checks in answers.items():
        exercise = ExerciseResult("test_x", [replace(found, name=name) for name, found in checks.items()])
        rows.append(Row(student, "graded", exercises=[("test_x", exercise)]))
    return ClassTable("01_x", {"test_x": 10}, rows)


def wrong(text: str, *numbers: float, mistake: str = "") -> CheckResult:
    sentence = f"You did {mistake}." if mistake else ""
    found = CheckResult("", "", 1, "failed", "It is off.", sentence, mistake)
    found.fingerprint, found.fingerprint_numbers = text, list(numbers)
    return found


RIGHT = CheckResult("", "", 1, "passed")


def test_a_group_has_everybody_with_the_same_wrong_answer_to_a_check():
    results = class_of(
        {
            "ada": {"test_a": wrong("shape", 100.2)},
            "ben": {"test_a": wrong("shape", 100.4)},
            "cleo": {"test_a": wrong("shape", 300.0)},
            "dan": {"test_a": RIGHT},
            "eve": {"test_a": wrong("shape", 100.3)},
        }
    )
    (group,) = answer_groups(results)
    assert group.students == ("ada", "ben", "eve")
    assert group.message == "It is off."


def test_a_group_that_only_shares_a_message_is_not_called_equal_answers():
    message, _ = fingerprint_of("failed", "It should be even.", None, drawn=False)
    timeout, _ = fingerprint_of("timed out", "It ran out of time.", None, drawn=False)
    value, _ = fingerprint_of("failed", "It is off.", observed(torch.zeros(2)), drawn=False)
    results = class_of(
        {
            student: {"test_a": wrong(message), "test_b": wrong(timeout), "test_c": wrong(value)}
            if student in ("ada", "ben")
            else {"test_a": wrong(message), "test_b": RIGHT, "test_c": RIGHT}
            for student in ("ada", "ben", "cleo")
        }
    )
    same = {group.checks: group.same_output for group in answer_groups(results)}
    assert same == {("test_a",): False, ("test_b", "test_c"): True}


def test_a_plain_assert_without_a_message_puts_nobody_in_a_group():
    assert fingerprint_of("failed", "", None, drawn=False) == ("", [])


def test_checks_that_the_same_students_fail_are_one_group():
    both = {"test_a": wrong("a", 1), "test_b": wrong("b", 5, mistake="swap")}
    results = class_of({"ada": both, "ben": both, "cleo": both | {"test_b": RIGHT}})
    groups = {group.checks: group for group in answer_groups(results)}
    assert groups["test_a",].students == ("ada", "ben", "cleo")
    assert groups["test_b",].students == ("ada", "ben")
    (merged,) = answer_groups(class_of({"ada": both, "ben": both}))
    assert merged.checks == ("test_a", "test_b")
    assert merged.mistake == "swap"


def test_answers_with_different_diagnoses_are_different_groups():
    results = class_of(
        {
            name: {"test_a": wrong("a", 1, mistake=mistake)}
            for name, mistake in zip("abcd", ["x", "y"] * 2, strict=True)
        }
    )
    assert sorted(group.students for group in answer_groups(results)) == [("a", "c"), ("b", "d")]


def test_the_id_of_a_group_stays_the_same_when_others_join_the_class():
    few = {name: {"test_a": wrong("shape", 1234.56)} for name in ("ben", "cleo")}
    more = {"ada": {"test_a": wrong("shape", 1234.57)}, "zoe": {"test_a": wrong("shape", 9.0)}} | few
    assert [group.id for group in answer_groups(class_of(few))] == [
        group.id for group in answer_groups(class_of(more))
    ]


def test_every_group_has_a_different_id():
    results = class_of(
        {
            f"{name}{copy}": {"test_a": wrong("shape", number)}
            for name, number in [("a", 1000000), ("b", 1000009), ("c", 1000018)]
            for copy in range(2)
        }
    )
    assert len({group.id for group in answer_groups(results)}) == 3


# ------------------------------------------------------------------------------------- in a class that was graded

RIGHT_DOUBLE, RIGHT_HALF = "def double(x):\n    return 2 * x", "def half(x):\n    return x / 2"
FOUR_TIMES = "def double(x):\n    # by {}\n    return 4 * x"


def comments(course, cell: str = "double") -> dict[str, str | None]:
    with course.gradebook() as gradebook:
        found = {}
        for student in ("ada", "ben", "cleo", "dan"):
            comment = gradebook.find_comment(cell, "double", "01_double", student)
            found[student] = comment.manual_comment
        return found


@pytest.mark.slow
def test_the_stub_of_a_group_makes_its_mistake_a_known_one(four_times):
    (group,) = [group for group in four_times.groups if group["checks"][0] == "test_value"]
    assert group["students"] == ["ada", "ben", "cleo"]
    assert "return 4 * x" in group["excerpt"]

    printed = four_times.printed.split("For tests/01_double/mistakes.py:\n")[1]
    lines = printed[: printed.index('instead.")\n') + len('instead.")')].splitlines()
    entry = "\n".join(line[6:] for line in lines)
    path = four_times.checks.with_name("mistakes.py")
    begun = 'from gradekit.checks import Mistakes\nwrong = Mistakes(cell="double")\n'
    path.write_text(path.read_text() + begun + entry + "\n")
    assert group["id"].replace("-", "_") in [mistake.name for mistake in mistakes_of(four_times.assignment)]

    assert four_times.gradekit("record", "01_double", "--workers", "1") == 0
    assert four_times.gradekit("autograde", "01_double", "--force", "--workers", "1") == 0
    result = four_times.autograded("ben").metadata.gradekit["exercises"][0]["checks"][0]
    assert result["mistake"] == group["id"].replace("-", "_")


def test_a_stub_holds_any_source():
    results = class_of({name: {"test_a": wrong("a", 1)} for name in ("ada", "ben")})
    source = "def x():\n    '''One.'''\n    return \"\\n\" + '''\"\"\"'''"
    entry = stub(answer_groups(results)[0], source)
    wrong_answers = Mistakes()
    exec(entry, {"wrong": wrong_answers})
    (mistake,) = wrong_answers.listed()
    assert mistake.source.strip("\n") == source


def test_a_stub_shows_no_control_characters():
    results = class_of({name: {"test_a": wrong("a", 1)} for name in ("ada", "ben")})
    entry = stub(answer_groups(results)[0], "x = 1  # \x1b[2J\n\u202ey = 2")
    assert all(line.isprintable() for line in entry.split("\n"))


@pytest.mark.slow
def test_one_comment_reaches_everybody_in_the_group_and_their_pages(four_times):
    id = four_times.groups[0]["id"]
    with four_times.gradebook() as gradebook:
        gradebook.find_comment("double", "double", "01_double", "ben").manual_comment = "Well written."
        gradebook.db.commit()
    text = "Twice, <b>not</b> four times."
    assert four_times.gradekit("comment", id, text) == 0
    expected = {"ada": text, "ben": f"Well written.\n\n{text}", "cleo": text, "dan": None}
    assert comments(four_times) == expected

    assert four_times.gradekit("comment", id, text) == 0  # a second time changes nothing
    assert comments(four_times) == expected
    assert four_times.gradekit("autograde", "01_double", "--force", "--workers", "1") == 0
    assert comments(four_times) == expected

    done = four_times.run("nbgrader", "generate_feedback", "01_double", "--force")
    assert done.returncode == 0, done.stderr
    page = (four_times.root / "feedback/ben/01_double/double.html").read_text()
    assert "Well written." in page and "four times." in page
    assert "four times." not in (four_times.root / "feedback/dan/01_double/double.html").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    "answer",
    mostly_thorough([RIGHT_DOUBLE, "def double(x):\n    return 5 * x"]),
    ids=["right", "wrong otherwise"],
)
def test_a_changed_answer_gets_no_comment(answer, four_times, capsys):
    four_times.hand_in("ben", four_times.answer(answer, RIGHT_HALF))
    assert four_times.gradekit("autograde", "01_double", "--force", "--workers", "1") == 0
    assert four_times.gradekit("comment", four_times.groups[0]["id"], "Twice, please.") == 0
    assert comments(four_times) == {
        "ada": "Twice, please.",
        "ben": None,
        "cleo": "Twice, please.",
        "dan": None,
    }
    assert "left out, since their answer has changed: ben" in capsys.readouterr().out


@pytest.mark.thorough
def test_the_report_says_that_a_group_has_grown(four_times, capsys):
    four_times.hand_in("eve", four_times.answer(FOUR_TIMES.format("eve"), RIGHT_HALF))
    assert four_times.gradekit("autograde", "01_double", "--workers", "1") == 0
    assert four_times.gradekit("report", "01_double") == 0
    id = four_times.groups[0]["id"]
    assert f"{id}, 4 students, 1 more than in the previous report" in capsys.readouterr().out


def test_an_unknown_group_and_an_empty_comment_are_refused_in_a_sentence(four_times, capsys):
    assert four_times.gradekit("comment", "double-none", "Hello.") == 2
    assert "gradekit: there is no answer group double-none: `gradekit report ASSIGNMENT`" in (
        capsys.readouterr().err
    )
    assert four_times.gradekit("comment", four_times.groups[0]["id"], "  ") == 2
    assert "the comment is empty" in capsys.readouterr().err
    (four_times.root / "reports/01_double/report.json").write_text("{")
    assert four_times.gradekit("comment", "double-none", "Hello.") == 2
    assert "report.json can't be read: run `gradekit report 01_double`" in capsys.readouterr().err


@pytest.mark.slow
def test_what_tells_answers_apart_is_not_on_the_students_page(four_times):
    done = four_times.run("nbgrader", "generate_feedback", "01_double")
    assert done.returncode == 0, done.stderr
    kept = four_times.autograded("ada").metadata.gradekit["exercises"][0]["checks"][0]
    assert kept["fingerprint"] == "`output` of shape (3, 2)"
    page = (four_times.root / "feedback/ada/01_double/double.html").read_text()
    assert not [number for number in kept["fingerprint_numbers"] if str(number) in page]
