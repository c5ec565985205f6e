"""What a failed check says is evidence of a mistake only where it says what was wrong."""

import pytest

from gradekit.checks.asserts import REJECTS_ALL, CheckFailure
from gradekit.codecs import Tolerance
from gradekit.relations import WrongShape, WrongValue
from gradekit.session.values import CheckOutcome, StudentError
from gradekit.verdict.explanation import agrees, bits_of_message, comparable_message

FAILED = CheckOutcome.FAILED


def said(message, drawn=False, error=None):
    return comparable_message(error or AssertionError(message), FAILED, message, drawn)


def raised(kind, text, line=3):
    sentence = f"`f` raised {kind}: {text} in line {line} of the cell `f`: `return f(x)`"
    return said(sentence, error=StudentError(sentence, raised=kind, text=text))


def test_sizes_that_are_drawn_become_letters_and_equal_ones_stay_equal():
    one, other = (
        said(f"`mask` has shape ({a}, {b}, 1), but should have ({a}, 1, {b}).", drawn=True)
        for a, b in [(3, 7), (11, 5)]
    )
    assert one == other != said("`mask` has shape (3, 7, 1), but should have (7, 1, 3).", drawn=True)
    assert said("(8x7 and 6x3)", drawn=True) == said("(5x9 and 4x2)", drawn=True)
    assert said("The dtype is torch.int64.", drawn=True) != said("The dtype is torch.int32.", drawn=True)
    assert said("2 of 3") != said("3 of 3")  # recorded inputs are the same for everybody


def test_the_place_in_the_code_does_not_matter():
    assert raised("KeyError", "'zebras'", line=3) == raised("KeyError", "'zebras'", line=12)
    assert raised("KeyError", "'zebras'") != raised("KeyError", "'apes'")


def test_the_student_s_own_words_do_not_matter():
    texts = [
        "It should raise ValueError here. `f` raised AssertionError: no.",
        "It should raise ValueError here. `f` raised AssertionError: 16 3.",
    ]
    assert said(texts[0]) == said(texts[1])
    texts = [f"The message of the ValueError should name 29. It says: {own}" for own in ("bad", "odd")]
    assert said(texts[0]) == said(texts[1])


def test_a_comparison_of_values_and_a_lack_of_time_say_nothing():
    failure = CheckFailure("`x` differs by 3.", WrongValue(1, 4, Tolerance()))
    assert comparable_message(failure, FAILED, str(failure), False) == ""
    assert comparable_message(AssertionError(), CheckOutcome.TIMED_OUT, "`f` took too long", False) == ""
    assert comparable_message(
        CheckFailure("`x` has shape (3,).", WrongShape((3,), (3, 1))), FAILED, "`x` has shape (3,).", False
    )


def test_the_evidence_of_a_check_is_compared_in_place_of_its_message():
    failure = CheckFailure(
        "`check_f` rejects a correct implementation. It raised ValueError: no.", evidence="it rejects 2"
    )
    assert comparable_message(failure, FAILED, str(failure), False) == "it rejects 2"


def test_that_every_correct_implementation_is_rejected_tells_nothing():
    assert bits_of_message(REJECTS_ALL) == 0
    assert bits_of_message("rejects these correct implementations: 1") == 20
    assert not agrees(REJECTS_ALL, "rejects these correct implementations: 1")


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [
        ("", "Call model.eval() first.", True),
        ("Call model.eval() first.", "Call model.eval() first.", True),
        ("Call model.eval() first.", "Call model.train() first.", False),
        ("After training, 39% are right.", "After training, 5% are right.", True),
        ("moves 1.00 times as far", "moves 0.97 times as far", True),
        ("raised RuntimeError: one", "raised TypeError: other", True),
        ("raised RuntimeError: one", "Call model.eval() first.", False),
    ],
)
def test_two_messages_agree_unless_they_say_different_things(one, other, agree):
    assert agrees(one, other) is agrees(other, one) is agree


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("", 0),
        ("Call model.eval() first.", 20),
        (raised("KeyError", "'zebras'"), 20),
        (raised("RuntimeError", "a leaf Variable is being used in an in-place operation."), 20),
        (raised("RuntimeError", "mat1 and mat2 shapes cannot be multiplied (8x7 and 6x3)"), 5),
        (raised("IndexError", "The shape of the mask [5, 5] does not match"), 5),
        (raised("IndexError", "index out of range in self"), 0),
    ],
)
def test_an_exception_about_sizes_proves_little_and_one_that_names_none_as_much_as_a_sentence(text, bits):
    assert bits_of_message(text) == bits
