"""How much of a student's exception reaches the page."""

from pathlib import Path

import pytest

from gradekit.checks.asserts import CheckFailure, assert_raises
from gradekit.course.printing import MAX_MESSAGE
from gradekit.session.proxy import CheckHistory, Student
from gradekit.session.values import Opaque, StudentError
from gradekit.verdict.explanation import explain

SECRET = "".join(chr(0x4E00 + number) for number in range(2_000))
CHECK = Path("test_double.py")


def raised(text: str = SECRET, kind: str = "ValueError") -> StudentError:
    return StudentError(
        f"`double` raised {kind}: {text} in line 3 of the cell `double`", raised=kind, text=text
    )


def shown_of_the_secret(message: str) -> int:
    return sum(character in SECRET for character in message)


def test_the_message_of_an_exception_is_cut_and_its_place_stays():
    outcome, message = explain(raised(), None, CHECK)
    assert outcome == "failed"
    assert shown_of_the_secret(message) == MAX_MESSAGE == 200
    assert message.endswith("… in line 3 of the cell `double`")


def test_a_short_message_is_shown_whole():
    assert "raised ValueError: bad size in line 3" in explain(raised("bad size"), None, CHECK)[1]


def test_the_name_of_an_exception_is_cut_as_well():
    assert shown_of_the_secret(explain(raised("no", kind=SECRET), None, CHECK)[1]) == MAX_MESSAGE


def fails(error: StudentError, **expected: object) -> str:
    def call() -> None:
        raise error

    with pytest.raises(CheckFailure) as found:
        assert_raises(ValueError, call, **expected)
    return str(found.value)


@pytest.mark.parametrize("kind", ["ValueError", "TypeError"])
def test_a_check_for_an_exception_shows_no_more_of_its_message(kind):
    assert shown_of_the_secret(fails(raised(kind=kind), mentions=("size",))) == MAX_MESSAGE


def test_a_check_for_an_exception_accepts_a_type_that_inherits_from_it():
    def call() -> None:
        raise StudentError("sentence", raised="OddWidth", text="7", bases=("ValueError", "Exception"))

    assert_raises(ValueError, call, mentions=(7,))
    with pytest.raises(CheckFailure, match="should raise KeyError"):
        assert_raises(KeyError, call)


def test_a_check_for_an_exception_can_say_where_it_should_be_raised():
    with pytest.raises(CheckFailure, match=r"should raise ValueError in evaluation mode, but it returned"):
        assert_raises(ValueError, lambda: 7, context="in evaluation mode")


def test_a_check_for_an_exception_reads_all_of_its_message():
    def call() -> None:
        raise raised(f"{SECRET} of size 7")

    assert_raises(ValueError, call, mentions=(7,))


def _student(asked: CheckHistory) -> Student:
    student = Student(None, None)
    student._asked = asked
    return student


@pytest.mark.parametrize("wrong", ["next(iter([]))", "raise_indexing_error()"])
def test_what_an_odd_value_does_to_a_check_is_not_the_check_s_fault(tmp_path, wrong):
    check = tmp_path / "test_double.py"
    check.write_text(
        "import pandas as pd\ndef raise_indexing_error():\n    raise pd.errors.IndexingError('no')\n"
        f"def test_value():\n    {wrong}\n"
    )
    names: dict = {}
    exec(compile(check.read_text(), str(check), "exec"), names)
    with pytest.raises(Exception) as found:  # noqa: PT011
        names["test_value"]()
    student = _student(CheckHistory(last=("double", [1])))
    outcome, message = explain(found.value, student, check)
    assert outcome == "failed"
    assert message.startswith("`double` gave a list of 1")
    assert explain(FileNotFoundError("data.csv"), student, check) is None
    student = _student(CheckHistory(last=("run_all", [1]), last_is_own=False))
    assert (
        "`run_all`, which this check uses to run your code, gave" in explain(found.value, student, check)[1]
    )


def test_a_check_without_words_says_if_it_had_a_handle_instead_of_a_value():
    student = _student(CheckHistory(last=("words", Opaque(0, "set"))))
    said = "`words` returned a set, which checks can't look into."
    assert explain(AssertionError(), student, CHECK) == ("failed", said)
    assert explain(AssertionError("Too few."), student, CHECK) == ("failed", "Too few.")
    assert explain(AssertionError(), _student(CheckHistory(last=("words", [1]))), CHECK) == ("failed", "")
