"""Pages for instructors: where those about an assignment are, how they are made, and what one says about another."""

from dataclasses import dataclass
from pathlib import Path

import jinja2
import msgspec

from gradekit.course import Assignment
from gradekit.course.files import write_atomically

REPORTS_FOLDER = "reports"
_SIMILARITY = "similar.json"


def folder_of(assignment: Assignment) -> Path:
    return assignment.course.root / REPORTS_FOLDER / assignment.name


def page_environment(templates: Path) -> jinja2.Environment:
    """An environment whose templates escape all text and fail on a name without a value."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )


def save_page(path: Path, html: str) -> None:
    """Write a page, with `?` for what can't be encoded, and make its folder if there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(html, encoding="utf-8", errors="replace")


@dataclass(frozen=True)
class SimilarityFound:
    """What `gradekit similar` found: the numbers of pairs and clusters that stand out, and of `works` compared; `page` is the name of the page."""

    works: int
    pairs: int
    clusters: int
    page: str

    def store(self, assignment: Assignment) -> None:
        write_atomically(folder_of(assignment) / _SIMILARITY, msgspec.json.encode(self).decode())


def similarity_found(assignment: Assignment) -> SimilarityFound | None:
    """The summary of the last run; None if there was none, or its file is damaged."""
    try:
        content = (folder_of(assignment) / _SIMILARITY).read_bytes()
        return msgspec.json.decode(content, type=SimilarityFound)
    except (OSError, ValueError):
        return None
