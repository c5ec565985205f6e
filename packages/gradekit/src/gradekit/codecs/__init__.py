"""Codecs: how the values of a library are sent, described, compared, fingerprinted and recorded.

A codec is found by the entry point `gradekit.codecs` that has the name of its library. Packages can bring their own.
"""

import importlib
import inspect
import math
import sys
from collections.abc import Collection, Iterator
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, ClassVar, NamedTuple

from gradekit.course import CourseError
from gradekit.course.printing import counted
from gradekit.inside.arrays import Array, Numpy, as_array
from gradekit.inside.packing import AbsentPacker, Packer, PackingError, add_packer

ATOL = 1e-5
RTOL = 1e-4
#: every message about wrong numbers contains one of these; it differs between students who get different inputs
DIFFERS = "differs by"
SOME_WRONG = "of its"
#: longer lists, dicts and tables could tell much about hidden entries by their length, or by which of them is wrong
MOST_TOLD = 3
_GROUP = "gradekit.codecs"
#: libraries whose codecs are in packages of ours, which may be missing
_BROUGHT_BY = {"pandas": "gradekit-data", "matplotlib": "gradekit-data"}
_UNCALLED = ("function", "method", "builtin_function_or_method", "method_descriptor")


class Tolerance(NamedTuple):
    """How much two values may differ, and which properties don't matter (see the codec)."""

    atol: "float | Array" = ATOL
    rtol: float = RTOL
    ignore: Collection[str] = ()


class Codec:
    """Handles the values of one library.

    A codec that sends values names its packer, and the modules to run in the student's kernel: their texts are sent,
    and the last of them defines the packer. They import only NumPy, the library itself and what is sent with them.
    """

    packer: ClassVar[type[Packer] | None] = None
    kernel_modules: ClassVar[tuple[str, ...]] = ()

    def takes(self, value: Any) -> bool:
        """True for the values that this codec handles; only called with objects whose class belongs to the library."""
        raise NotImplementedError

    def unpack(self, data: Any) -> Any:
        """The value that the packer made `data` of; called in the grader.

        Raises:
            PackingError: the packer does not make such data.
        """
        assert self.packer is not None
        return self.packer().unpack(data)

    def describe(self, value: Any) -> str:
        """A value as a student would name it, with an article and without its contents."""
        raise NotImplementedError

    def difference(self, actual: Any, expected: Any, tolerance: Tolerance) -> str | None:
        """How `actual`, which may be anything, differs from `expected`; None if it does not.

        The text continues a sentence that begins with the name of the value. It doesn't reveal the right value.
        """
        raise NotImplementedError

    def fingerprint(self, value: Any) -> tuple[str, Numpy | None]:
        """A wrong value as a text, and numbers that are close for two equal values; None if the text says it all."""
        raise NotImplementedError

    def nan(self, value: Any) -> str | None:
        """Where the value contains NaN, as the end of a sentence; None if it does not, or if NaN is a normal entry."""
        return None

    def columns(self, actual: Any, expected: Any) -> Iterator[tuple[str, Numpy, Numpy]]:
        """The numbers in two values of one type and structure: for each part its name, the numbers found, the right ones.

        `gradekit.relations` looks for relations between them. The name may be empty.
        """
        yield from ()


class AbsentCodec(Codec):
    """Stands for the codec of a library that isn't installed: without it, no check is right or wrong."""

    def __init__(self, library: str) -> None:
        self._library = library

    def takes(self, value: Any) -> bool:
        return True

    def describe(self, value: Any) -> str:
        return with_article(type(value).__name__)

    def difference(self, actual: Any, expected: Any, tolerance: Tolerance) -> str | None:
        raise codec_missing(self._library)

    def fingerprint(self, value: Any) -> tuple[str, Numpy | None]:
        raise codec_missing(self._library)


class _Refusing(AbsentPacker):
    """In the grader, no value of such a library is sent or read."""

    def pack(self, value: Any) -> Any:
        raise codec_missing(self._library)

    def unpack(self, data: Any) -> Any:
        raise codec_missing(self._library)


def codec_missing(library: str) -> CourseError:
    """What to say to the author of a check that needs the codec of a library."""
    package = _BROUGHT_BY[library]
    return CourseError(
        f"values of {library} in checks need {package}, which is not installed: "
        f"`pip install ./packages/{package}` in the folder with gradekit's sources"
    )


def absent_libraries() -> list[str]:
    """The libraries whose codecs are in packages of ours that aren't installed."""
    return [library for library in _BROUGHT_BY if library not in _points()]


class Drawing:
    """What code drew, as plain values: a check looks at its parts, and never compares it as a whole."""

    #: what a message calls it
    noun: ClassVar[str] = "drawing"

    @property
    def is_empty(self) -> bool:
        """True if nothing is drawn in it."""
        raise NotImplementedError


def codec_of(value: Any) -> Codec:
    """The codec for a value; the one for `builtins` if no other takes it."""
    found = _points()
    if as_array(value) is not None and type(value).__module__ == "builtins":
        return codec_named("numpy")
    for kind in type(value).__mro__[:-1]:
        library = str(kind.__module__).partition(".")[0]
        known = library in found or library in _BROUGHT_BY
        if known and library in sys.modules and codec_named(library).takes(value):
            return codec_named(library)
    return codec_named("builtins")


@cache
def codec_named(library: str) -> Codec:
    """The codec for the values of a library.

    Raises:
        PackingError: there is none.
    """
    if library in absent_libraries():
        return AbsentCodec(library)
    if library not in _points():
        raise PackingError(f"for which no codec is installed: `{library[:30]}`")
    made: Codec = _points()[library].load()()
    return made


def describe(value: Any) -> str:
    """A value as a student would name it, without its contents.

    Example:
        if student.double(2) is None:
            fail(f"`double` should return a number, not {describe(None)}.")
    """
    return codec_of(value).describe(value)


def mismatch(actual: Any, right: str, hint: str = "") -> str:
    """The end of a sentence about a value of the wrong kind; `hint` begins with a colon."""
    name = getattr(actual, "type_name", "")
    if name in _UNCALLED:
        hint = ": are the parentheses of a call missing?"
    elif name.endswith("GroupBy"):
        hint = ": say what to compute for each group, as with `.mean()`"
    return f"is {describe(actual)}, but should be {right}{hint}"


def rough(number: float, steps: Collection[int] = (1, 10)) -> str:
    """About how large a hidden number is: a power of ten, or one of `steps` times it.

    A student who may hand in again could compute the number from the digits of a difference, so there are none.
    """
    if not number or not math.isfinite(number):
        return f"{number:g}"
    power = 10.0 ** math.floor(math.log10(abs(number)))
    step = min(steps, key=lambda step: abs(math.log(abs(number) / (step * power))))
    return f"{math.copysign(step * power, number):.1g}"


def how_many(off: Numpy, what: str = "entries") -> str:
    """How many entries are wrong, a subject with its verb. The exact number would tell which guesses are right."""
    wrong, size = int(off.sum()), off.size
    if wrong == 1:
        return f"one {SOME_WRONG} {size} {what} is" if size > 1 else f"the only one {SOME_WRONG} {what} is"
    amount = "all" if wrong == size else "most" if wrong > size / 2 else "some"
    return f"{amount} {SOME_WRONG} {size} {what} are"


def wrong_length(own: int, right: int, noun: str) -> str:
    """The end of a sentence about a wrong number of entries; the right one is only shown if it is small."""
    if right <= MOST_TOLD:
        return f"has {counted(own, noun)}, but should have {right}"
    return f"has {counted(own, noun)}, which is too {'few' if own < right else 'many'}"


def with_article(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def letters(text: str) -> str:
    """Only the letters and digits of a text, in lower case."""
    return "".join(mark for mark in text.casefold() if mark.isalnum())


def unpack(library: str, data: Any) -> Any:
    """The value from which a packer made `data`.

    Raises:
        PackingError: no packer makes such data, or there is no packer.
    """
    codec = codec_named(library)
    if codec.packer is None:
        raise PackingError("which is sent in another way")
    if library != "builtins" and importlib.util.find_spec(library) is None:
        raise PackingError(f"which can't be read, since {library} isn't installed here")
    return codec.unpack(data)


@cache
def kernel_texts() -> dict[str, tuple[str, list[tuple[str, str]]]]:
    """For each library with a packer: the packer's name, and names and texts of the modules to run in the kernel."""
    found = {}
    for library in _points():
        codec = codec_named(library)
        if codec.packer is not None:
            modules = [importlib.import_module(name) for name in codec.kernel_modules]
            texts = [(module.__name__, inspect.getsource(module)) for module in modules]
            found[library] = codec.packer.__name__, texts
    return found


@cache
def _points() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=_GROUP)}


for _name in _points():
    add_packer(_name, lambda library=_name: (codec_named(library).packer or Packer)())  # type: ignore[misc]
for _name in absent_libraries():
    add_packer(_name, lambda library=_name: _Refusing(library))  # type: ignore[misc]
