"""The tracer's reports: every field has a type and a limit, since the student's process can send anything."""

from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from gradekit.inside.messages import MessageError

Count = Annotated[int, Meta(ge=0, le=1_000_000)]
Place = Annotated[int, Meta(ge=-2, le=100_000)]
Name = Annotated[str, Meta(max_length=100)]
Shown = Annotated[str, Meta(max_length=120)]
R = TypeVar("R")


class SeenValue(Struct, frozen=True, forbid_unknown_fields=True):
    """A value: `text` is exact and short, or empty; `about` is rounded, for an input that is shown.

    A function or module whose text is not known has a `name` at most.
    """

    type: Name
    text: Shown
    about: Shown
    shape: Annotated[tuple[Count, ...], Meta(max_length=32)] | None = None
    dtype: Name = ""
    length: Count | None = None
    name: Name = ""
    parts: Annotated[tuple["SeenValue", ...], Meta(max_length=4)] = ()


class Raised(Struct, frozen=True, forbid_unknown_fields=True):
    """An exception, and the lines of the answer in its traceback: the innermost, and those it went `through`."""

    type: Name
    line: Place
    through: Annotated[tuple[Place, ...], Meta(max_length=20)] = ()


class StatementRun(Struct, frozen=True, forbid_unknown_fields=True):
    """How often a statement ran, the values it had assigned after the first time, and which statement came next."""

    statement: Place
    count: Count
    values: Annotated[tuple[tuple[Name, SeenValue], ...], Meta(max_length=30)]
    then: Place


class TracedCall(Struct, frozen=True, forbid_unknown_fields=True):
    """A call of a function in the answer, or with an empty name the run of its cell.

    It is `random` if it has drawn random numbers, and `closed` if it uses no variables of the notebook.
    Calls with the same number `object`, unless it is -1, are of methods of the same object.
    """

    name: Name
    args: Annotated[tuple[tuple[Name, SeenValue], ...], Meta(max_length=30)]
    runs: Annotated[tuple[StatementRun, ...], Meta(max_length=2_000)]
    frames: Annotated[tuple[tuple[Name, Count], ...], Meta(max_length=50)]
    result: SeenValue
    error: Raised | None
    complete: bool
    random: bool
    closed: bool
    object: Annotated[int, Meta(ge=-1, le=100)]


class Traced(Struct, frozen=True, forbid_unknown_fields=True):
    """The calls that a driver made; `stopped` if the answer ran for too long."""

    calls: Annotated[tuple[TracedCall, ...], Meta(max_length=10)]
    stopped: bool


class Effect(Struct, frozen=True, forbid_unknown_fields=True):
    """The behavior of the first call after a statement has been removed."""

    effect: Literal["same", "values", "dtype", "shape", "length", "type", "error", "unknown"]
    error: Raised | None
    result: SeenValue


def read_as(value: Any, kind: type[R]) -> R:
    """Check what a function of the tracer returned.

    Raises:
        MessageError: the value isn't such a report.
    """
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise MessageError(f"the tracer's reply breaks the format: {str(error)[:200]}") from None
