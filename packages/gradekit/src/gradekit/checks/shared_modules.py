"""Lets check files, known mistakes and alternative right answers import shared modules from the folder of the checks.

The folders of the checks are searched last, so a check file called `random.py` or `numpy.py` hides no other module.
"""

import contextlib
import importlib
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType


@contextlib.contextmanager
def importable(
    folders: Iterable[Path], others: Iterable[Path] = (), kept: dict[str, ModuleType] | None = None
) -> Iterator[None]:
    """Let code import the modules in these folders, and forget the modules afterwards.

    The files may change before they are next imported, and those of another course may have the same names.

    Args:
        others: files, and folders that are not searched, whose modules are also forgotten.
        kept: receives the forgotten modules, by name; pass it again to avoid reading them again.
    """
    added = [os.path.abspath(folder) for folder in folders]  # as in a module's __file__
    before = set(sys.modules)
    if kept:
        sys.modules.update(kept)
    else:
        importlib.invalidate_caches()
    sys.path.extend(added)
    try:
        yield
    finally:
        for folder in added:
            sys.path.remove(folder)
        found = _forget([*added, *map(os.path.abspath, others)], set(sys.modules) - before)
        if kept is not None:
            kept.update(found)


def _forget(places: Iterable[str], names: Iterable[str]) -> dict[str, ModuleType]:
    """Remove the imported modules that are in `places` (folders, at any depth, and files); returns them."""
    inside = tuple(place if place.endswith(".py") else f"{place}{os.sep}" for place in places)
    found = [
        name for name in names if (getattr(sys.modules.get(name), "__file__", None) or "").startswith(inside)
    ]
    return {name: sys.modules.pop(name) for name in found}
