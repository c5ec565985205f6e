"""The large libraries that assignments use: each takes up to seconds and hundreds of MiB, so only these are imported early."""

import re
from collections.abc import Iterable
from pathlib import Path

from gradekit.course import Assignment
from sandbox_kernel.start import MODULES

LIBRARIES = ("torch", "matplotlib", "pandas", "seaborn")
_USED = re.compile(
    rf"(?:\b(?:import|from)\b|%)[^\n\\]*?\b({'|'.join(LIBRARIES)})\b"
)  # also in a notebook's JSON
_NUMPY = re.compile(r"def arrays\(\)[^\n]*:\n\s+return [\"']numpy[\"']")


def libraries_of(assignments: Iterable[Assignment]) -> set[str]:
    """The `LIBRARIES` that the notebooks, checks and other files of these assignments import.

    Hidden checks need torch, too, unless their `conftest.py` says that they work with NumPy's arrays.
    """
    found: set[str] = set()
    for assignment in assignments:
        checks = list(assignment.checks.rglob("*.py"))
        folders = (assignment.source_folder, assignment.release_folder)
        beside = [path for folder in folders for kind in ("*.ipynb", "*.py") for path in folder.rglob(kind)]
        text = "\n".join(map(_text, [*beside, *checks, *assignment.conftests]))
        found.update(_USED.findall(text))
        if checks and not _NUMPY.search(text):
            found.add("torch")
    return found


def modules_for(libraries: Iterable[str]) -> list[str]:
    """What the server of kernels imports for notebooks that use these libraries: `MODULES` without the others."""
    others = set(LIBRARIES) - set(libraries)
    return [*({"pandas"} - others), *(name for name in MODULES if others.isdisjoint(name.split(".")))]


def _text(path: Path) -> str:
    return path.read_text(errors="replace") if path.is_file() else ""
