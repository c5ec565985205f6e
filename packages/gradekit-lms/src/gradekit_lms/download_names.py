"""The names in the downloads of an LMS, kept from collecting until pages are returned under the same names."""

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from gradekit.course.files import STATE_FOLDER, read_json, write_json

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
    write_json(_path(root, assignment), kept)


def kept_names(root: Path, assignment: str) -> DownloadNames:
    """The names that were recorded; none if nothing was collected, or the record is damaged."""
    with suppress(OSError):
        return read_json(_path(root, assignment), DownloadNames) or DownloadNames()
    return DownloadNames()


def _path(root: Path, assignment: str) -> Path:
    return root / STATE_FOLDER / _FOLDER / f"{assignment}.json"
