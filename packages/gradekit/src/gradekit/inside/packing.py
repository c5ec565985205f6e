"""Sends values of other libraries: a packer for each library turns them into plain data and arrays, and back.

The text of this module is also sent into the student's kernel, and with it the texts of the packers. One is run only
once its library has made a value, so that a kernel pays for nothing that its notebook does not use.
"""

import sys
from collections.abc import Callable
from typing import Any

#: the types of plain values, which are sent as they are
PLAIN = (type(None), bool, int, float, str)


class PackingError(ValueError):
    """The value can't be packed or unpacked; the message is the end of a sentence for the student."""


class Packer:
    """Packs the values of one library.

    A packer is stateless, and its module imports the library only inside methods. `unpack` is called with what a
    student's process sent, so it checks all that it is given, and raises for anything that `pack` does not make.
    """

    def takes(self, value: Any) -> bool:
        """True for the values that this packer handles; only called with objects whose class belongs to the library."""
        return False

    def pack(self, value: Any) -> Any:
        """The value as lists, tuples, dicts with string keys, numbers, strings, None and NumPy arrays.

        Raises:
            PackingError: the value holds something that can't be sent.
        """
        raise NotImplementedError

    def unpack(self, data: Any) -> Any:
        """The value from which `pack` made `data`. Arrays in `data` belong to the caller and must be copied."""
        raise PackingError("which is only sent the other way")

    def drawing_of(self, value: Any) -> Any:
        """The drawing that a value is or is in, such as the figure of some axes; None for anything else."""
        return None

    def copied(self, value: Any) -> Any:
        """A copy that later changes to `value` don't affect."""
        return value

    def same(self, one: Any, other: Any) -> bool:
        """True if a value still equals its copy."""
        return True


#: the kind of a failed request that needed one of these codecs
CODEC_MISSING = "CodecMissing"
#: libraries whose values were met in this process, although their codec isn't installed
lacking: set[str] = set()


class AbsentPacker(Packer):
    """Stands for the packer of a library whose codec isn't installed: it sends nothing, and notes that it was needed."""

    def __init__(self, library: str) -> None:
        self._library = library

    def takes(self, value: Any) -> bool:
        return True

    def pack(self, value: Any) -> Any:
        lacking.add(self._library)

    def unpack(self, data: Any) -> Any:
        lacking.add(self._library)

    def copied(self, value: Any) -> Any:
        lacking.add(self._library)
        return value


_loaders: dict[str, Callable[[], Packer]] = {}
_loaded: dict[str, Packer] = {}


def add_packer(library: str, load: Callable[[], Packer]) -> None:
    """Have the values of a library packed by what `load` returns; it is called once, when first needed."""
    _loaders[library] = load
    _loaded.pop(library, None)


def packer_named(library: str) -> Packer:
    """The packer for a library.

    Raises:
        PackingError: there is none.
    """
    if library not in _loaders:
        raise PackingError(f"values of `{library[:30]}` can't be sent")
    if library not in _loaded:
        _loaded[library] = _loaders[library]()
    return _loaded[library]


def packer_of(value: Any) -> tuple[str, Packer] | None:
    """The library of a value and its packer; None if no packer takes it."""
    for kind in type(value).__mro__[:-1]:
        library = str(kind.__module__).partition(".")[0]
        if library in _loaders and library in sys.modules:
            packer = packer_named(library)
            return (library, packer) if packer.takes(value) else None
    return None
