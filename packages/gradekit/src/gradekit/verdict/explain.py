"""Explains to the student how a check ended: an outcome, a message, and how the value relates to the right one."""

import traceback
from pathlib import Path

from gradekit.checks.compare import CheckFailure
from gradekit.codecs import describe
from gradekit.codecs.figures import Figure
from gradekit.course.printing import shortened
from gradekit.relations import in_play, relation_of
from gradekit.relations.exceptions import meaning_of, sizes_relation, unpacking_relation
from gradekit.session.proxy import Student, asked_by
from gradekit.session.values import CheckOutcome, StudentError
from gradekit.verdict.bounds import CheckOverrun
from gradekit.verdict.tried import tried_in_words

#: characters of a check's message; a student's exception is cut to far fewer, see `StudentError`
_MAX_MESSAGE = 1_000
#: outcomes of checks that called the student's code
_ASKED = (CheckOutcome.FAILED, CheckOutcome.TIMED_OUT, CheckOutcome.KERNEL_DIED)
_UNUSABLE = (
    *(TypeError, ValueError, AttributeError, LookupError, ArithmeticError, RuntimeError),
    StopIteration,
)


def explain(
    error: BaseException, student: Student | None, check_file: Path
) -> tuple[CheckOutcome, str] | None:
    """Outcome and message of a check that ended in `error`; None if the check itself is at fault."""
    if isinstance(error, StudentError):
        return error.outcome, str(error)
    if isinstance(error, CheckFailure):
        return CheckOutcome.FAILED, str(error)
    if isinstance(error, AssertionError):
        # pytest adds lines that may show values
        return CheckOutcome.FAILED, "" if _is_introspection(error) else str(error).split("\n")[0]
    asked = asked_by(student) if student else None
    if asked is None or asked.last is None:
        return None
    name, value = asked.last
    called = f"`{name}`" if asked.last_is_own else f"`{name}`, which this check uses to run your code,"
    if isinstance(error, CheckOverrun):
        return CheckOutcome.FAILED, (
            f"The check was stopped: with the value that {called} returned ({describe(value)}), it needs {error.needed}. "
            "Look at the shapes that the exercise asks for."
        )
    if isinstance(error, _UNUSABLE) or type(error).__module__.startswith("pandas."):
        frames = traceback.extract_tb(error.__traceback__)
        if any(Path(frame.filename).parent == check_file.parent for frame in frames):
            if isinstance(value, Figure):
                return CheckOutcome.FAILED, (
                    f"The figure of `{name}` doesn't have the parts that this check looks for: "
                    "read again what it should show."
                )
            return CheckOutcome.FAILED, (
                f"{called} gave {describe(value)}, which is not what the exercise asks for: "
                "read again what it should return."
            )
    return None


def relation_to(error: BaseException, student: Student) -> str:
    """How the wrong value that ended a check relates to the right one, or an exception to the arguments."""
    asked = asked_by(student)
    if isinstance(error, CheckFailure):
        return relation_of(error.wrong, in_play(asked.arguments)) if error.wrong else ""
    if isinstance(error, StudentError):
        if not error.raised:
            return ""
        meaning = meaning_of(error.raised, error.text)
        arguments = asked.tried[-1].arguments if asked.tried else []
        return " ".join(filter(None, [meaning, sizes_relation(error.text, arguments)]))
    return unpacking_relation(error, asked.last[1]) if asked.last else ""


def tried_before(outcome: CheckOutcome, student: Student) -> str:
    """The description of what a check tried before it ended like this."""
    return shown(tried_in_words(asked_by(student).tried)) if outcome in _ASKED else ""


def shown(message: str) -> str:
    """The message, shortened, and without control characters: it may contain a student's text."""
    cut = shortened(message, _MAX_MESSAGE)
    return "".join(
        mark if mark.isprintable() or mark in "\n\t" else "\N{REPLACEMENT CHARACTER}" for mark in cut
    )


def _is_introspection(error: AssertionError) -> bool:
    return str(error).startswith("assert ") or not str(error)
