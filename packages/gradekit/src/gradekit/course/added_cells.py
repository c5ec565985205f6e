"""The cells that a notebook got after it was first released: a hand-in without one may be from before."""

import contextlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from gradekit.course.files import STATE_FOLDER, write_atomically


def keep_added(root: Path, assignment: str, added: Mapping[str, Iterable[str]]) -> None:
    """Record more cells, by notebook.

    Args:
        root: the course's folder.
    """
    kept = {name: set(cells) for name, cells in _kept(root, assignment).items()}
    for notebook, cells in added.items():
        kept.setdefault(notebook, set()).update(cells)
    text = json.dumps({name: sorted(cells) for name, cells in kept.items()})
    write_atomically(_path(root, assignment), text)


def added_cells(root: Path, assignment: str, notebook: str) -> frozenset[str]:
    """The grade_ids that were recorded."""
    return frozenset(_kept(root, assignment).get(notebook, ()))


def _kept(root: Path, assignment: str) -> dict[str, list[str]]:
    with contextlib.suppress(OSError, ValueError):
        found = json.loads(_path(root, assignment).read_text(encoding="utf-8"))
        if isinstance(found, dict) and all(isinstance(cells, list) for cells in found.values()):
            return found
    return {}


def _path(root: Path, assignment: str) -> Path:
    return root / STATE_FOLDER / "added_cells" / f"{assignment}.json"
