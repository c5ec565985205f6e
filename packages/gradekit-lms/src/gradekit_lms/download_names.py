"""The names in the downloads of an LMS, kept from collecting until pages are returned under the same names."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from gradekit.course.files import STATE_FOLDER, write_atomically

_FOLDER = "downloads"


@dataclass
class DownloadNames:
    """What a returned file's name begins with, by student and notebook, and the product that each student's file is from."""

    products: dict[str, str] = field(default_factory=dict)
    names: dict[str, dict[str, str]] = field(default_factory=dict)


def keep_names(root: Path, assignment: str, product: str, names: dict[str, dict[str, str]]) -> None:
    """Record the names of the students who were collected; those of others stay, since they may be from another download.

    Args:
        root: the course's folder.
    """
    kept = kept_names(root, assignment)
    kept.products |= dict.fromkeys(names, product)
    kept.names |= names
    write_atomically(_path(root, assignment), json.dumps({"products": kept.products, "names": kept.names}))


def kept_names(root: Path, assignment: str) -> DownloadNames:
    """The names that were recorded; none if nothing was collected, or the record is damaged."""
    try:
        found = json.loads(_path(root, assignment).read_text(encoding="utf-8"))
        products, names = found["products"], found["names"]
        return DownloadNames(
            {str(student): str(product) for student, product in products.items()},
            {
                str(student): {str(name): str(prefix) for name, prefix in of_student.items()}
                for student, of_student in names.items()
            },
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return DownloadNames()


def _path(root: Path, assignment: str) -> Path:
    return root / STATE_FOLDER / _FOLDER / f"{assignment}.json"
