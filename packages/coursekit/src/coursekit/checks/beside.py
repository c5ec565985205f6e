"""Modules beside the checks: check files, known mistakes and other right answers may share code by importing it.

The folders of the checks are searched last, so a check file called `random.py` or `numpy.py` hides no other module.
"""

import contextlib
import importlib
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path


@contextlib.contextmanager
def importable(folders: Iterable[Path]) -> Iterator[None]:
    """Let code import the modules in these folders, and forget the modules afterwards.

    The files may change before they are next imported, and those of another course may have the same names.
    """
    added = [str(folder) for folder in folders]
    before = set(sys.modules)
    importlib.invalidate_caches()
    sys.path.extend(added)
    try:
        yield
    finally:
        for folder in added:
            sys.path.remove(folder)
        forget_modules(added, set(sys.modules) - before)


def forget_modules(places: Iterable[str], names: Iterable[str] | None = None) -> None:
    """Have modules read again when they are next imported: those below a folder, and files, in `places`.

    Args:
        names: only these modules; by default all.
    """
    inside = tuple(place if place.endswith(".py") else f"{place}{os.sep}" for place in places)
    for name in list(sys.modules) if names is None else names:
        if (getattr(sys.modules.get(name), "__file__", None) or "").startswith(inside):
            sys.modules.pop(name, None)
