"""Cells: of what kind they are by nbgrader's metadata, which belong together, their pictures, and which are in doubt.

What is uncertain goes to a person, never to 0. A 0 is given by a check that failed, or because there is nothing to
grade. A repair that may be wrong, an answer in an odd place, or two tries that disagree are doubts.
"""

import contextlib
import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw

from gradekit.course.files import STATE_FOLDER, read_json, write_json

if TYPE_CHECKING:  # importing nbformat takes most of a second
    from nbformat import NotebookNode


PLACEHOLDER = re.compile(r"#[^\S\n]*YOUR CODE HERE[^\S\n]*\n\s*raise NotImplementedError\(\)")
TEST_PREFIX = "test_"
DEMO_TAG = "demo"
#: the grade_id that nbgrader's editor makes up
_AUTOMATIC = re.compile(r"cell-[0-9a-f]{8,}")
#: the id of a cell that only counts the cells of a notebook
_COUNTING = re.compile(r"cell-\d{1,4}")
MARKERS = ("### BEGIN SOLUTION", "### END SOLUTION")
#: a picture in the text itself, as Colab writes a pasted one
DATA = re.compile(r"data:image/[\w.+-]{1,40};base64,[A-Za-z0-9+/=]+")
#: an address of an attachment; it may be percent-encoded
ADDRESS = "attachment:"
SVG = "image/svg+xml"
PLAIN_TEXT = "text/plain"
#: the types of pictures that a page shows, the best one first
PICTURE_KINDS = ("image/png", "image/jpeg", "image/gif", "image/webp", SVG)
_BUNDLES = msgspec.json.Decoder(dict[str, dict[str, str | list[str]]])
#: by name, the data of an attachment by type
Attachments = dict[str, dict[str, str]]


class CellKind(StrEnum):
    """How the grader treats a cell with nbgrader metadata.

    A test cell with a check file is bound: the checks are run outside the kernel, in its place. One without is
    ordinary: it is run in the student's kernel, and nbgrader's rule turns its outputs into a score.
    """

    ORDINARY = "ordinary"
    BOUND = "bound"
    #: an answer, in code or text, that a person grades
    MANUAL = "manual"
    TASK = "task"
    #: an answer that other cells test
    ANSWER = "answer"
    #: an instructor's locked cell
    GIVEN = "given"
    #: a graded cell that nbgrader itself refuses: text that is neither an answer nor a task
    UNSUPPORTED = "unsupported"


def without_markers(source: str) -> str:
    """The source without the comment lines that mark a solution."""
    return "\n".join(line for line in source.split("\n") if line.strip() not in MARKERS)


def nbgrader_metadata(cell: "NotebookNode") -> dict[str, Any]:
    """nbgrader's metadata of a cell; empty if there is none."""
    found = cell.metadata.get("nbgrader")
    return found if isinstance(found, dict) else {}


def made_up_id(place: int, source: str) -> str:
    """An id for a cell that has none. Unlike nbformat's, it is the same each time, so equal notebooks stay equal."""
    return hashlib.sha256(f"{place}\n{source}".encode(errors="replace")).hexdigest()[:16]


def own_id(cell: "NotebookNode") -> str | None:
    """The id by which a cell can be recognized elsewhere; None for one that another cell may have after a change, such as `cell-3`."""
    found = cell.get("id")
    return None if found is None or _COUNTING.fullmatch(found) else str(found)


def grade_id(cell: "NotebookNode") -> str | None:
    return nbgrader_metadata(cell).get("grade_id")


def exercise_name(test: str) -> str:
    """The exercise, and so the grade_id of the answer cell, that the test cell `test` belongs to."""
    return test.removeprefix(TEST_PREFIX)


def is_automatic(name: str) -> bool:
    """True for a grade_id that nbgrader made up, such as `cell-3f07c1d2a4b59e68`, which means nothing to a person."""
    return bool(_AUTOMATIC.fullmatch(name))


def is_test_cell(cell: "NotebookNode") -> bool:
    """True for a code cell that is graded by checks."""
    found = nbgrader_metadata(cell)
    return cell.cell_type == "code" and bool(found.get("grade")) and not found.get("solution")


def ids_of_test_cells(cells: "Iterable[NotebookNode]") -> list[str]:
    """The grade_ids of the test cells."""
    return [name for cell in cells if is_test_cell(cell) and (name := grade_id(cell))]


def is_demo(cell: "NotebookNode") -> bool:
    """True for a demo cell, which is skipped when grading. A test cell is never one."""
    return DEMO_TAG in cell.metadata.get("tags", []) and not is_test_cell(cell)


def runs_before_checks(cell: "NotebookNode") -> bool:
    """True for a code cell that is neither a demo nor a test: what it defines is there when the checks run."""
    return cell.cell_type == "code" and not is_demo(cell) and not is_test_cell(cell)


def answer_of(notebook: "NotebookNode", test: str) -> str:
    """The grade_id of the answer cell that the test cell `test` is about.

    It is the one that the name indicates (see `exercise_name`), or else the nearest one above that isn't graded manually.
    """
    named = exercise_name(test)
    above = ""
    answers = {name: cell for cell in notebook.cells if (name := grade_id(cell)) and is_answer_cell(cell)}
    if named in answers:
        return named
    for cell in notebook.cells:
        name = grade_id(cell)
        if name == test:
            break
        if name in answers and not nbgrader_metadata(cell).get("grade"):
            above = name
    return above or named


def tests_about(notebook: "NotebookNode", answer: str) -> list[str]:
    """The grade_ids of the test cells that are about the answer cell `answer`."""
    return [test for test in ids_of_test_cells(notebook.cells) if answer_of(notebook, test) == answer]


def is_answer_cell(cell: "NotebookNode") -> bool:
    """True for a cell that the student fills in, with code or text."""
    return bool(nbgrader_metadata(cell).get("solution"))


def is_graded_cell(cell: "NotebookNode") -> bool:
    """True for a cell with points: a test cell, an answer that a person grades, or a task."""
    found = nbgrader_metadata(cell)
    return bool(found.get("grade") or found.get("task"))


def is_locked_cell(cell: "NotebookNode") -> bool:
    """True for a cell with the instructor's text, which nbgrader restores to the released version."""
    found = nbgrader_metadata(cell)
    return bool(found) and not found.get("solution") and bool(found.get("grade") or found.get("locked"))


def find_cell(notebook: "NotebookNode", name: str) -> "NotebookNode | None":
    """The cell with grade_id `name`."""
    return next((cell for cell in notebook.cells if grade_id(cell) == name), None)


@dataclass(frozen=True)
class Doubt:
    """Why a person has to look at the score of the graded cell `grade_id`, in a sentence for student and TA.

    Until then the cell has the points that are certain, and none rather than 0. If the doubt `stands_by` the score, as
    for full marks that nbgrader's own rule awards, the cell does not wait for manual grading.
    """

    grade_id: str
    why: str
    stands_by: bool = False


def certain_score(earned: float | None, doubted: bool) -> float | None:
    """The automatic score to store: None, so that formgrader asks for one, if an earned 0 is in doubt."""
    return earned or None if doubted else earned


def decided_by_a_person(what: str) -> str:
    """A sentence about something uncertain, and what follows from it."""
    return f"{what}. A person will decide how many points this gets."


class Record(StrEnum):
    """What is remembered of the releases of an assignment. Each value is the name of the folder in which it is stored."""

    #: the grade_ids of cells that a notebook did not have at first
    ADDED = "added_cells"
    #: the grade_ids of cells that a notebook no longer has
    REMOVED = "removed_cells"
    #: the texts of all cells that a notebook no longer has
    REMOVED_TEXTS = "removed_texts"


def remember(root: Path, assignment: str, record: Record, found: Mapping[str, Iterable[str]]) -> None:
    """Record more cells or texts, by notebook.

    Args:
        root: the course's folder.
    """
    kept = remembered(root, assignment, record)
    kept |= {notebook: sorted({*kept.get(notebook, ()), *cells}) for notebook, cells in found.items()}
    write_json(_path(root, assignment, record), kept)


def remembered_of_all(root: Path, assignment: str, record: Record) -> frozenset[str]:
    """What was recorded, of all notebooks together."""
    return frozenset[str]().union(*remembered(root, assignment, record).values())


def remembered(root: Path, assignment: str, record: Record) -> dict[str, list[str]]:
    """What was recorded, by notebook."""
    with contextlib.suppress(OSError):
        return read_json(_path(root, assignment, record), dict[str, list[str]]) or {}
    return {}


def _path(root: Path, assignment: str, record: Record) -> Path:
    return root / STATE_FOLDER / record / f"{assignment}.json"


def read_attachments(raw: Raw) -> Attachments | None:
    """The attachments of a cell, whatever they contain; None if they don't have the form of attachments."""
    try:
        found = _BUNDLES.decode(raw)
    except msgspec.ValidationError:
        return None
    return {
        name: {kind: data if isinstance(data, str) else "".join(data) for kind, data in bundle.items()}
        for name, bundle in found.items()
    }


def picture_in(bundle: Mapping[str, object]) -> str:
    """The type of the picture among the data of an output or an attachment; empty if there is none."""
    return next((kind for kind in PICTURE_KINDS if kind in bundle), "")


def without_data(text: str) -> str:
    """The text without the pictures in it, which don't count as text."""
    return DATA.sub("", text)
