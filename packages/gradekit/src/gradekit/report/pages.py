"""Pages for instructors: how they are made, and what one says about another."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

import jinja2
import msgspec

from gradekit.course import Assignment
from gradekit.course.files import write_json

REPORTS_FOLDER = "reports"


def folder_of(assignment: Assignment) -> Path:
    return assignment.course.root / REPORTS_FOLDER / assignment.name


def page_environment(*templates: Path) -> jinja2.Environment:
    """An environment whose templates, in these folders, escape all text and fail on a name without a value."""
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
class Found:
    """What a command of another package found, in a file next to the class report, which reads it."""

    file: ClassVar[str]

    def store(self, assignment: Assignment) -> None:
        write_json(folder_of(assignment) / self.file, self)

    @classmethod
    def read(cls, assignment: Assignment) -> Self | None:
        """That of the last run; None if there was none, or its file is damaged."""
        try:
            return msgspec.json.decode((folder_of(assignment) / cls.file).read_bytes(), type=cls)
        except (OSError, ValueError):
            return None


@dataclass(frozen=True)
class SimilarityFound(Found):
    """What `gradekit similar` found: the numbers of pairs and clusters that stand out, and of `works` compared; `page` is the name of the page."""

    file = "similar.json"
    works: int
    pairs: int
    clusters: int
    page: str


@dataclass(frozen=True)
class DefendedExercise:
    """How many had their answers about an exercise marked, and how many of them passed and defended it.

    `passed` are all who passed it when the answers were marked; pages show those who have passed now. `talk` passed and could
    not defend it; `waiting` have a sheet, and no answers that could be marked.
    """

    exercise: str
    passed: int
    marked: int
    defended: int
    talk: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()

    @property
    def asked(self) -> int:
        return self.marked + len(self.waiting)

    @property
    def in_words(self) -> str:
        if not self.marked:
            return f"{self.asked} asked about their code, no answers marked yet"
        return (
            f"{self.asked} asked about their code, {self.marked} with marked answers: {self.defended} passed and defended it, "
            f"{len(self.talk)} passed and could not"
        )


@dataclass(frozen=True)
class DefenseFound(Found):
    """What `gradekit defend --collect` found."""

    file = "defense.json"
    exercises: tuple[DefendedExercise, ...]
