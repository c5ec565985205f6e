"""A failed exercise gets the name of a mistake only if all of its checks agree with it."""

import contextlib
from pathlib import Path

import numpy as np
import pytest

from gradekit.checks.asserts import CheckFailure
from gradekit.checks.reference import Reference, Store, to_stored
from gradekit.checks.variants import Mistake
from gradekit.inside.arrays import copied
from gradekit.verdict.diagnosis import Diagnosis, FailedExercise, diagnose

torch = pytest.importorskip("torch", reason="torch is not installed")

VALUE, OTHER = "test_x::test_value", "test_x::test_other"
NONE = Diagnosis("", "")
RIGHT = torch.linspace(-1, 1, 12).reshape(3, 4)


def mistake(name, sentence="", **more):
    return Mistake(name, cell="x", about=["test_value"], sentence=sentence or f"You did {name}.", **more)


class Known:
    """A store with the right values of two checks, to which mistakes are added."""

    def __init__(self, right=RIGHT):
        self.store = Store(Path("reference.safetensors"))
        self.mistakes = []
        for check in (VALUE, OTHER):
            self.store.tensors |= dict([to_stored(f"{check}/expected/output", right)])

    def add(self, one, fails, said=None, **values):
        """A mistake, the checks that it fails, what they say, and its wrong values in them."""
        self.mistakes.append(one)
        self.store.tensors |= dict([to_stored(f"test_x/fails/{one.name}", fails)])
        self.store.tensors |= dict([to_stored(f"test_x/said/{one.name}", said)]) if said else {}
        for check, value in values.items():
            self.store.tensors |= dict([to_stored(f"test_x::{check}/mistakes/{one.name}/output", value)])
        return self

    def of(self, *answer, **values):
        """The diagnosis of an answer that fails these checks, with these values (see `answered`)."""
        found = diagnose(self.store, self.answered(*answer, **values), self.mistakes)
        return next(iter(found.values()), NONE)

    def each_of(self, *answer, **values):
        """The ids of the mistakes that an answer gets in its checks, by check."""
        found = diagnose(self.store, self.answered(*answer, **values), self.mistakes)
        return {check: diagnosis.mistake for check, diagnosis in found.items()}

    def answered(self, fails, code=(), said=None, **values):
        """An answer that fails these checks, which say this, with these values."""
        references = {}
        for check, value in values.items():
            name = f"test_x::{check}"
            references[name] = Reference(self.store, name)
            with contextlib.suppress(CheckFailure):
                references[name].assert_close(
                    copied(value) if isinstance(value, torch.Tensor) else value, name="output"
                )
        return FailedExercise(set(fails), references, list(code), said or {})


def test_a_mistake_is_named_that_fails_the_same_checks_with_the_same_values():
    known = Known().add(mistake("doubled"), ["test_value"], test_value=2 * RIGHT)
    assert known.of(["test_value"], test_value=2 * RIGHT, test_other=RIGHT) == Diagnosis(
        "doubled", "You did doubled."
    )


def test_a_mistake_may_return_numbers_in_place_of_text():
    numbers, known = np.array([0.137, 1.291, 0.553]), Known()
    known.store.tensors |= dict([to_stored("test_x::test_value/expected/output", np.array(["a", "b", "a"]))])
    known.add(mistake("indices"), ["test_value"], test_value=numbers)
    assert known.of(["test_value"], test_value=numbers.copy()).mistake == "indices"


@pytest.mark.parametrize(
    ("fails", "values"),
    [
        (["test_value"], {"test_value": 3 * RIGHT}),  # another value
        (["test_value"], {"test_value": 2 * RIGHT, "test_other": RIGHT}),  # passes what the mistake fails
        (["test_value", "test_other"], {"test_value": 2 * RIGHT, "test_other": 5 * RIGHT}),
        (["test_value", "test_other", "test_third"], {"test_value": 2 * RIGHT, "test_other": 4 * RIGHT}),
        (["test_value", "test_other"], {"test_value": 2 * RIGHT}),  # fails the other before it is compared
        (["test_value", "test_other"], {"test_value": RIGHT[:2], "test_other": 4 * RIGHT}),  # another shape
    ],
)
def test_one_check_that_disagrees_is_enough_for_no_name(fails, values):
    known = Known().add(
        mistake("doubled"), ["test_value", "test_other"], test_value=2 * RIGHT, test_other=4 * RIGHT
    )
    both = {"test_value": 2 * RIGHT, "test_other": 4 * RIGHT}
    assert known.of(both, **both).mistake == "doubled"
    assert known.of(fails, **values) == NONE


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (0.5, 1.0),
        (torch.tensor(True), torch.tensor(False)),
        (3, 4),
        ("yes", "no"),
        (RIGHT, torch.zeros(3, 4)),
        (RIGHT, torch.zeros(4, 3)),
        (torch.tensor([1, 0]), torch.tensor([0, 1])),
    ],
)
def test_a_value_that_many_causes_have_decides_only_if_the_code_confirms_it(right, wrong):
    known = Known(right).add(mistake("alone"), ["test_value"], test_value=wrong)
    assert known.of(["test_value"], test_value=wrong) == NONE
    known = Known(right).add(mistake("seen", uses=("*any",)), ["test_value"], test_value=wrong)
    assert known.of(["test_value"], ["def f(x):\n    return x.any()"], test_value=wrong).mistake == "seen"
    assert known.of(["test_value"], ["def f(x):\n    return x.all()"], test_value=wrong) == NONE
    known = Known(right).add(mistake("missing", lacks=("*all",)), ["test_value"], test_value=wrong)
    assert known.of(["test_value"], ["def f(x):\n    return x.any()"], test_value=wrong).mistake == "missing"
    assert known.of(["test_value"], ["def f(x):\n    return x.all()"], test_value=wrong) == NONE


EVAL = "Dropout is on while decoding. Call model.eval() first."


def test_a_message_that_says_what_was_wrong_is_proof():
    known = Known().add(mistake("no_eval"), ["test_mode"], {"test_mode": EVAL})
    assert known.of(["test_mode"], said={"test_mode": EVAL}).mistake == "no_eval"
    assert known.of(["test_mode"], said={"test_mode": "Call it once."}) == NONE
    assert known.of(["test_mode"]) == NONE
    assert known.of(["test_mode", "test_other"], said={"test_mode": EVAL}) == NONE


def test_a_message_confirms_values_that_prove_little():
    known = Known(3).add(
        mistake("tensor"), ["test_value", "test_type"], {"test_type": "It is a tensor."}, test_value=4
    )
    both = ["test_value", "test_type"]
    assert known.of(both, said={"test_type": "It is a tensor."}, test_value=4).mistake == "tensor"
    assert known.of(both, said={"test_type": "It is a tensor."}, test_value=5) == NONE


def of_sizes(one, other):
    return f"raised RuntimeError: The size of tensor a ({one}) must match the size of tensor b ({other})"


def test_three_different_exceptions_about_sizes_are_proof_if_no_other_differs():
    checks = ["test_value", "test_other", "test_third"]
    said = dict(zip(checks, (of_sizes(4, 5), of_sizes(2, 3), of_sizes(7, 2)), strict=True))
    known = Known().add(mistake("swapped"), checks, said)
    assert known.of(checks, said=said).mistake == "swapped"
    assert known.of(checks, said=said | {"test_third": of_sizes(2, 7)}) == NONE
    same = dict.fromkeys(checks, of_sizes(4, 5))
    assert Known().add(mistake("swapped"), checks, same).of(checks, said=same) == NONE


def test_an_exception_about_sizes_that_differs_leaves_the_others_without_weight():
    checks = ["test_value", "test_other", "test_third", "test_fourth"]
    said = {check: of_sizes(number, 9) for number, check in enumerate(checks)}
    known = Known().add(mistake("swapped"), checks, said)
    assert known.of(checks, said=said).mistake == "swapped"
    assert known.of(checks, said=said | {"test_fourth": of_sizes(9, 0)}) == NONE


def test_equal_exceptions_about_sizes_are_no_proof_and_unequal_ones_no_objection():
    sizes = "raised RuntimeError: The size of tensor a (4) must match the size of tensor b (5)"
    known = Known().add(mistake("swapped"), ["test_other"], {"test_other": sizes})
    assert known.of(["test_other"], said={"test_other": sizes}) == NONE
    known = Known().add(
        mistake("swapped"), ["test_value", "test_other"], {"test_other": sizes}, test_value=2 * RIGHT
    )
    other = {"test_other": "raised ValueError: einsum(): operands do not broadcast"}
    assert known.of(["test_value", "test_other"], said=other, test_value=2 * RIGHT).mistake == "swapped"


def test_two_mistakes_that_fit_are_offered_as_a_question():
    known = Known()
    for name in ("first", "second"):
        known.add(mistake(name), ["test_value"], test_value=2 * RIGHT)
    assert known.of(["test_value"], test_value=2 * RIGHT) == Diagnosis(
        "first|second", "Which of the two is it? You did first. Or: You did second."
    )
    known.add(mistake("third"), ["test_value"], test_value=2 * RIGHT)
    assert known.of(["test_value"], test_value=2 * RIGHT) == NONE


VALUES = {"test_value": 2 * RIGHT, "test_other": 5 * RIGHT}


def two_known():
    return (
        Known()
        .add(mistake("doubled"), ["test_value", "test_shared"], test_value=2 * RIGHT)
        .add(mistake("no_eval"), ["test_mode", "test_shared"], {"test_mode": EVAL})
    )


def test_two_mistakes_are_named_where_each_is_proved_by_checks_that_it_alone_fails():
    known, both = two_known(), ["test_value", "test_mode", "test_shared"]
    answer = both, (), {"test_mode": EVAL}
    assert known.each_of(*answer, test_value=2 * RIGHT) == {"test_value": "doubled", "test_mode": "no_eval"}
    assert known.each_of([*both, "test_third"], *answer[1:], test_value=2 * RIGHT) == {}
    assert known.each_of(both, test_value=2 * RIGHT) == {}  # the mode check says nothing
    assert known.each_of(*answer, test_value=3 * RIGHT) == {}


def test_of_two_pairs_that_fit_none_is_named():
    known = two_known().add(mistake("twice"), ["test_value"], test_value=2 * RIGHT)
    answer = ["test_value", "test_mode", "test_shared"], (), {"test_mode": EVAL}
    assert known.each_of(*answer, test_value=2 * RIGHT) == {}


def test_one_mistake_that_explains_all_checks_is_named_in_each_of_them():
    known = two_known().add(mistake("all"), list(VALUES), **VALUES)
    assert known.each_of(list(VALUES), **VALUES) == dict.fromkeys(VALUES, "all")


def test_mistakes_with_one_sentence_count_as_one():
    known = Known()
    for name in ("first", "second"):
        known.add(mistake(name, "You took twice the input."), ["test_value"], test_value=2 * RIGHT)
    assert known.of(["test_value"], test_value=2 * RIGHT) == Diagnosis("first", "You took twice the input.")


def test_records_without_the_failed_checks_name_nothing():
    known = Known().add(mistake("doubled"), ["test_value"], test_value=2 * RIGHT)
    known.store.tensors = {key: value for key, value in known.store.tensors.items() if "/fails/" not in key}
    assert known.of(["test_value"], test_value=2 * RIGHT) == NONE


def test_two_of_the_student_s_values_that_must_be_equal_are_compared_with_each_other():
    store = Store(Path("reference.safetensors"), recording=True)
    Reference(store, VALUE).assert_same(
        RIGHT, RIGHT, rule="Padding must have no effect", name="output", key="gap"
    )
    store.recording = False
    assert store.get(f"{VALUE}/expected/gap").abs().max() == 0
    reference = Reference(store, VALUE)
    with pytest.raises(CheckFailure) as failure:
        reference.assert_same(
            2 * RIGHT,
            RIGHT,
            rule="Padding must have no effect",
            name="output",
            context="with padding",
            key="gap",
        )
    assert str(failure.value).startswith(
        "Padding must have no effect: `output` with padding has the right shape (3, 4), but differs by up to about 1;"
    )
    (seen,) = reference.observations
    assert not seen.passed and torch.equal(seen.value, RIGHT)
    assert torch.equal(failure.value.wrong.right, RIGHT)
    nothing = torch.full_like(RIGHT, torch.nan)
    store.recording = True
    reference.assert_same(RIGHT, RIGHT, rule="Both must be equal", name="output", context="in pieces")
    assert f"{VALUE}/expected/Both must be equal: output in pieces" in store.tensors
    store.recording = False
    with pytest.raises(CheckFailure, match="NaN"):
        reference.assert_same(nothing, nothing, rule="Both must be equal", name="output", key="gap")
    with pytest.raises(CheckFailure, match="has shape"):
        reference.assert_same(RIGHT[:2], RIGHT, rule="Both must be equal", name="output", key="gap")
