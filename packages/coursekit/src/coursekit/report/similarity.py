"""What `coursekit similar` found, in the few numbers that the class report repeats."""

import json
from dataclasses import asdict, dataclass

from coursekit.course import Assignment
from coursekit.files import write_atomically
from coursekit.report.pages import folder_of

_DATA = "similar.json"


@dataclass(frozen=True)
class SimilarityFound:
    """How many pairs and clusters of works stand out; `works` is how many were compared, `page` the name of the page."""

    works: int
    pairs: int
    clusters: int
    page: str

    def store(self, assignment: Assignment) -> None:
        write_atomically(folder_of(assignment) / _DATA, json.dumps(asdict(self)))


def similarity_found(assignment: Assignment) -> SimilarityFound | None:
    """What the last run found; None if there was none, or its file is damaged."""
    try:
        return SimilarityFound(**json.loads((folder_of(assignment) / _DATA).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
