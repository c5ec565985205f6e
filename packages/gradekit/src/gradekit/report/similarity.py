"""A summary of what `gradekit similar` found, for the class report."""

import json
from dataclasses import asdict, dataclass

from gradekit.course import Assignment
from gradekit.course.files import write_atomically
from gradekit.report.pages import folder_of

_DATA = "similar.json"


@dataclass(frozen=True)
class SimilarityFound:
    """The numbers of pairs and clusters that stand out, and of `works` compared; `page` is the name of the page."""

    works: int
    pairs: int
    clusters: int
    page: str

    def store(self, assignment: Assignment) -> None:
        write_atomically(folder_of(assignment) / _DATA, json.dumps(asdict(self)))


def similarity_found(assignment: Assignment) -> SimilarityFound | None:
    """The summary of the last run; None if there was none, or its file is damaged."""
    try:
        return SimilarityFound(**json.loads((folder_of(assignment) / _DATA).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
