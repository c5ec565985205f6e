"""One row per student: status, points per exercise, total."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config, PyFileConfigLoader

from coursekit.checks.results import MISSING, SubmissionResult
from coursekit.course import Assignment, CourseError

NOT_AUTOGRADED = "not autograded"


@dataclass
class Row:
    """One student in one assignment. `points` holds None where nothing was graded yet, or by hand."""

    student: str
    status: str
    points: dict[str, float | None] = field(default_factory=dict)
    total: float | None = None


@dataclass
class ClassTable:
    assignment: str
    maximum: dict[str, float]
    rows: list[Row]


def nbgrader_folders(root: Path) -> CourseDirectory:
    """Folders and gradebook as `nbgrader_config.py` in `root` has them."""
    name = "nbgrader_config.py"
    config = PyFileConfigLoader(name, path=str(root)).load_config() if (root / name).exists() else Config()
    return CourseDirectory(config=config, root=str(root))


def class_table(assignment: Assignment) -> ClassTable:
    """Everybody who is in the gradebook or has a folder in submitted/, whatever became of the submission.

    Raises:
        CourseError: there is no gradebook yet.
    """
    folders = nbgrader_folders(assignment.course.root)
    if (
        folders.db_url == f"sqlite:///{assignment.course.root / 'gradebook.db'}"
        and not (assignment.course.root / "gradebook.db").exists()
    ):
        raise CourseError(
            f"there is no gradebook yet: run `nbgrader generate_assignment {assignment.name}` first"
        )
    with Gradebook(folders.db_url, folders.course_id) as gradebook:
        try:
            notebooks = gradebook.find_assignment(assignment.name).notebooks
        except MissingEntry:
            notebooks = []
        maximum = {cell.name: cell.max_score for notebook in notebooks for cell in notebook.grade_cells}
        known = {student.id for student in gradebook.students}
        submitted = Path(folders.root, folders.submitted_directory)
        handed_in = {path.name for path in submitted.glob("*") if path.is_dir()}
        rows = [
            _row(
                gradebook, folders, assignment.name, student, [book.name for book in notebooks], list(maximum)
            )
            for student in sorted(known | handed_in)
        ]
    return ClassTable(assignment.name, maximum, rows)


def _row(
    gradebook: Gradebook,
    folders: CourseDirectory,
    assignment: str,
    student: str,
    notebooks: list[str],
    exercises: list[str],
) -> Row:
    graded_in = Path(folders.format_path(folders.autograded_directory, student, assignment))
    results = [_result(graded_in / f"{name}.ipynb") for name in notebooks]
    found = [result for result in results if result is not None]
    if not found:
        handed_in = Path(folders.format_path(folders.submitted_directory, student, assignment)).glob(
            "*.ipynb"
        )
        return Row(student, NOT_AUTOGRADED if any(handed_in) else MISSING, dict.fromkeys(exercises))
    points: dict[str, float | None] = {}
    for notebook in notebooks:
        for name in exercises:
            try:
                grade = gradebook.find_grade(name, notebook, assignment, student)
            except MissingEntry:
                continue
            graded = grade.manual_score is not None or grade.auto_score is not None
            points[name] = grade.score if graded else None
    graded = [value for value in points.values() if value is not None]
    status = next((result.status for result in found if result.status != "graded"), "graded")
    return Row(student, status, points, sum(graded) if graded else None)


def _result(path: Path) -> SubmissionResult | None:
    if not path.exists():
        return None
    kept = json.loads(path.read_text(encoding="utf-8"))["metadata"].get("coursekit")
    return SubmissionResult.from_dict(kept) if kept else None


def table_lines(table: ClassTable) -> Iterator[str]:
    """The table as text. `-` stands where there are no points yet."""
    heads = [name.removeprefix("test_") for name in table.maximum]
    widths = [max(len(head), 5) for head in heads]
    student = max([len(row.student) for row in table.rows] + [len("student")])
    status = max([len(row.status) for row in table.rows] + [len("status")])

    def line(name: str, state: str, values: list[str], total: str) -> str:
        cells = [f"{value:>{width}}" for value, width in zip(values, widths, strict=True)]
        return "  ".join([f"{name:{student}}", f"{state:{status}}", *cells, f"{total:>5}"])

    yield table.assignment
    yield line("student", "status", heads, "total")
    yield line(
        "", "of", [f"{value:g}" for value in table.maximum.values()], f"{sum(table.maximum.values()):g}"
    )
    for row in table.rows:
        yield line(
            row.student, row.status, [_text(row.points.get(name)) for name in table.maximum], _text(row.total)
        )


def _text(value: float | None) -> str:
    return "-" if value is None else f"{value:g}"
