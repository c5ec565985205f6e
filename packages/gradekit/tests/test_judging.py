"""Students' tests are tried on right and on wrong implementations."""

import pytest

from gradekit.checks import Implementation, Implementations
from gradekit.checks.asserts import CheckFailure
from gradekit.checks.judging import assert_judges
from gradekit.course import CourseError
from gradekit.session import proxy
from gradekit.session.values import Call, CheckOutcome, StudentError
from gradekit.verdict.grade import grade
from gradekit.verdict.opened import GradingJob

torch = pytest.importorskip("torch", reason="torch is not installed")

RIGHT = Implementation("def double(x): return 2 * x")
BY_SUM = Implementation("def double(x): return x + x")
SQUARE = Implementation("def double(x): return x * x", wrong="squares the number")
SAME = Implementation("def double(x): return x", wrong="returns the number as it is")


class Kernel:
    """Runs a student's test in this process; what it raises arrives as from a kernel."""

    def __init__(self, test):
        self.test = test
        self.order = []
        self._complaints = {}

    def _try_on(self, name, implementation):
        self.order.append(implementation.source)
        namespace = {}
        exec(implementation.source, namespace)
        return self.call(name, namespace[implementation.name])

    def call(self, name, function):
        try:
            return Call(self.test(function), [], name)
        except Exception as error:
            kind = type(error).__name__
            raise StudentError(f"`{name}` raised {kind}: {error}", raised=kind) from None


def judge(test, *implementations, what="a function"):
    kernel = Kernel(test)
    assert_judges(kernel, "check_double", "double", implementations, what)
    return kernel.order


def failure(test, *implementations):
    with pytest.raises(CheckFailure) as found:
        judge(test, *implementations)
    return str(found.value)


def good(double):
    assert double(3) == 6, "3 doubled is 6."
    assert double(2) == 4


def test_a_test_that_accepts_the_right_and_rejects_the_wrong_ones_passes():
    judge(good, RIGHT, SQUARE, BY_SUM, SAME)


def test_a_test_may_return_whether_the_function_is_right():
    judge(lambda double: double(3) == 6, RIGHT, SQUARE)
    judge(lambda double: torch.tensor(double(3) == 6), RIGHT, SQUARE)


def test_the_message_calls_implementations_what_the_check_file_calls_them():
    with pytest.raises(CheckFailure, match="accepts a reader that squares the number"):
        judge(lambda double: None, RIGHT, SQUARE, what="a reader")


def written():
    wrong = Implementations(RIGHT.source)
    wrong.about("test_powers")
    wrong("squares the number", "2 * x", "x * x")
    wrong.about("test_others")
    wrong("returns the number as it is", "2 * ")
    wrong("calls another name", "double(x)")
    wrong.to("double(y)")
    wrong.edit("2 * x", "2 * y")
    return wrong


def test_wrong_implementations_are_written_as_edits_below_the_check_that_rejects_them():
    wrong = written()
    assert wrong.rejected_by("test_powers") == [SQUARE]
    assert wrong.rejected_by("test_others") == [
        SAME,
        Implementation("def double(y): return 2 * y", "calls another name"),
    ]
    assert list(wrong) == [*wrong.rejected_by("test_powers"), *wrong.rejected_by("test_others")]


def test_an_edit_that_does_not_fit_and_a_check_without_implementations_are_named():
    wrong = written()
    with pytest.raises(CourseError, match="no wrong implementation is about test_others_2"):
        wrong.rejected_by("test_others_2")
    with pytest.raises(CourseError, match="needs an edit before it"):
        wrong.to("3 * x")
    wrong("halves the number", "2 / x", "x / 2")
    with pytest.raises(CourseError, match=r"'2 / x' must occur exactly once .* that halves the number"):
        list(wrong)


FIXTURE = """
from gradekit.checks import Implementation, Implementations, judge

wrong = Implementations("def f(x): return 2 * x")
wrong.about("test_value")
wrong("triples the number", "2", "3")
wrong.about("test_gradient")
wrong("forgets the number", " * x")
rejects = judge("double", "f", [Implementation("def f(x): return 2 * x")], wrong=wrong)
"""


def two_checks(course, answer: str):
    """The results of the two checks that try the student's test `double`."""
    text = FIXTURE
    for name, points in (("test_value", 4), ("test_gradient", 6)):
        text += f'\n@points({points})\ndef {name}(rejects):\n    """It judges."""\n    rejects()\n'
    course.checks.write_text(text.replace("judge\n", "judge, points\n", 1))
    job = GradingJob(course.assignment, "double", course.answer(answer), course.assignment.released("double"))
    return grade(job).result.exercises[0].checks


@pytest.mark.slow
def test_a_test_that_calls_the_functions_without_end_is_stopped_and_is_nobody_else_s_fault(
    tiny_course, monkeypatch
):
    monkeypatch.setattr(proxy, "JUDGING_SECONDS", 0.5)
    value, gradient = two_checks(tiny_course, "def double(f):\n    for n in range(10**6):\n        f(n)")
    assert value.outcome == gradient.outcome == CheckOutcome.TIMED_OUT
    # the functions are tried in any order, and the check says what came of one of them
    assert {value.message, gradient.message} <= {
        "`double` called the functions that it is tried on too often and was stopped.",
        "Not run: `double` ran out of time in earlier checks.",
    }


def test_a_test_that_leaves_gradients_switched_off_fails_one_check(tiny_course):
    source = "import torch\ndef double(f):\n    torch.set_grad_enabled(False)\n    assert f(1) + f(3) == 8"
    messages = [check.message for check in two_checks(tiny_course, source)]
    assert sum(map(bool, messages)) == 1
    assert "leaves torch's gradients switched off" in messages[0]


def test_a_check_rejects_those_that_are_about_it(tiny_course):
    value, gradient = two_checks(tiny_course, "def double(f):\n    assert f(1) < 3")
    assert value.outcome == CheckOutcome.PASSED
    assert gradient.message == "`double` accepts a function that forgets the number."


def test_a_wrong_implementation_that_raises_is_rejected():
    judge(good, RIGHT, Implementation("def double(x): return x.shape", wrong="raises an exception"))


def test_the_message_says_what_is_wrong_with_each_implementation_that_was_accepted():
    message = failure(lambda double: None, RIGHT, SQUARE, SAME)
    assert (
        message
        == "`check_double` accepts a function that squares the number; and one that returns the number as it is."
    )
    assert "squares" in failure(lambda double: double(2) == 4, RIGHT, SQUARE, SAME)
    assert "as it is" not in failure(lambda double: double(2) == 4, RIGHT, SQUARE, SAME)


def test_a_test_that_rejects_a_right_implementation_fails_and_its_complaint_is_shown():
    def strict(double):
        assert double(3) == 7, "3 doubled is 7."

    message = failure(strict, SQUARE, RIGHT)
    assert message.startswith("`check_double` rejects a correct implementation.")
    assert "3 doubled is 7." in message
    assert "returned False" in failure(lambda double: False, RIGHT, SQUARE)


def test_which_right_ones_are_rejected_is_evidence_and_no_part_of_the_message():
    def refuses(*rejected):
        def test(double):
            if double.__code__.co_code in rejected:
                raise ValueError("no.")

        return test

    codes = [eval(f"lambda x: {body}").__code__.co_code for body in ("2 * x", "x + x")]
    found = []
    for rejected in (codes[:1], codes[1:], codes):
        with pytest.raises(CheckFailure) as failed:
            judge(refuses(*rejected), RIGHT, BY_SUM, SQUARE)
        found.append(failed.value)
    assert len({failure.evidence for failure in found}) == 3
    assert len({str(failure) for failure in found}) == 1


def test_nothing_tells_the_order():
    """The seed of a submission follows from its code, so its code could compute it."""
    orders = {tuple(judge(good, RIGHT, BY_SUM, SQUARE, SAME)) for _ in range(60)}
    assert len(orders) > 12, "of 24, for the same submission"


def test_an_implementation_is_tried_only_once_if_the_checks_know_of_each_other():
    kernel = Kernel(good)
    for wrong in (SQUARE, SAME):
        assert_judges(kernel, "check_double", "double", [RIGHT, wrong], others=[RIGHT, SQUARE, SAME])
    assert len(kernel.order) == 3


def test_who_only_counts_the_calls_earns_little():
    """Right ones come among the wrong ones, in the first check and in the later ones."""
    earned = 0
    for others in ((), (RIGHT, BY_SUM, SQUARE, SAME)):
        for _ in range(200):
            calls = []

            def counting(double, calls=calls):
                calls.append(double)
                assert len(calls) <= 2

            kernel = Kernel(counting)
            for wrong in (SQUARE, SAME):
                try:
                    assert_judges(kernel, "check_double", "double", [RIGHT, BY_SUM, wrong], others=others)
                    earned += 1
                except CheckFailure:
                    pass
    assert earned < 260, "of 800: 164 on average, with a deviation of 16"


def test_a_test_that_hangs_on_one_implementation_fails_the_checks_of_this_one():
    class Hangs(Kernel):
        def _try_on(self, name, implementation):
            if implementation.source == SAME.source:
                raise StudentError("it ran out of time", CheckOutcome.TIMED_OUT)
            return super()._try_on(name, implementation)

    kernel, others = Hangs(good), [RIGHT, SQUARE, SAME]
    assert_judges(kernel, "check_double", "double", [RIGHT, SQUARE], others=others)
    with pytest.raises(StudentError, match="out of time"):
        assert_judges(kernel, "check_double", "double", [RIGHT, SAME], others=others)


@pytest.mark.parametrize(
    "outcome", [CheckOutcome.NOT_ANSWERED, CheckOutcome.TIMED_OUT, CheckOutcome.KERNEL_DIED]
)
def test_an_unanswered_or_hanging_test_is_not_a_rejection(outcome):
    class Broken(Kernel):
        def call(self, name, function):
            raise StudentError("no result", outcome)

    with pytest.raises(StudentError):
        assert_judges(Broken(None), "check_double", "double", [SQUARE])


def test_a_missing_test_is_not_a_rejection():
    class Missing(Kernel):
        def call(self, name, function):
            raise StudentError("Your notebook defines no `check_double`.")

    with pytest.raises(StudentError):
        assert_judges(Missing(None), "check_double", "double", [SQUARE])
