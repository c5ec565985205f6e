"""Surveys the folder of an existing nbgrader course: its assignments, notebooks, cells and settings."""

import glob
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from gradekit.authoring.adopt.config_file import NAME, ConfigFile
from gradekit.authoring.adopt.imports import modules_in
from gradekit.authoring.adopt.notebook_report import NotebookReport, report_notebook
from gradekit.authoring.adopt.settings import (
    json_config,
    settings_changes,
    settings_problems,
    version_problems,
)
from gradekit.course import Course, CourseError, refuse_pattern
from gradekit.course.cells import CellKind
from gradekit.grading.running_course import RunningCourse


class EmptyCourse(CourseError):
    """The folder has no assignment with a notebook."""


@dataclass
class AssignmentReport:
    """One assignment.

    Args:
        folder: where its notebooks were read; release/ if there is no source/.
        submissions: the number of students with a submission folder.
    """

    name: str
    folder: Path
    submissions: int
    notebooks: list[NotebookReport] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def counts(self) -> Counter[CellKind]:
        return Counter(cell.kind for notebook in self.notebooks for cell in notebook.cells)

    def points(self, kind: CellKind) -> float:
        cells = [cell for notebook in self.notebooks for cell in notebook.cells]
        return sum(cell.points or 0 for cell in cells if cell.kind is kind)


@dataclass
class CourseReport:
    """A whole course, as `gradekit adopt` prints it."""

    root: Path
    adopted: bool
    assignments: list[AssignmentReport]
    settings_problems: list[str]
    settings_changes: list[str]

    @property
    def problems(self) -> list[str]:
        """Everything that must be fixed before gradekit can grade all of it."""
        own = [sentence for each in self.assignments for sentence in each.problems]
        notebooks = [notebook for each in self.assignments for notebook in each.notebooks]
        return [*self.settings_problems, *own, *(text for each in notebooks for text in each.problems)]

    @property
    def changes(self) -> list[str]:
        """Everything that will be different."""
        notebooks = [notebook for each in self.assignments for notebook in each.notebooks]
        return [*self.settings_changes, *(text for each in notebooks for text in each.changes)]

    def as_dict(self) -> dict[str, Any]:
        """The report as plain data, for `--json`."""
        shown = asdict(self) | {"problems": self.problems, "changes": self.changes}
        return {key: shown[key] for key in ("root", "adopted", "assignments", "problems", "changes")}


def survey(root: Path, names: Sequence[str] = ()) -> CourseReport:
    """Look at the course in `root`, or at some of its assignments. Only its configuration is run, as nbgrader does.

    Raises:
        CourseError: there is no course, an assignment doesn't exist, or the configuration is damaged.
    """
    refuse_pattern(root)
    file = ConfigFile.read(root / NAME)
    file.tree  # noqa: B018  (a syntax error is reported with its line)
    course = RunningCourse.open(root)
    known = _assignments(course)
    if not known:
        place = course.assignment("x").source_folder.parent
        raise EmptyCourse(
            f"{place} has no assignment with a notebook: run this in the folder of an nbgrader course, or use "
            "--course-dir"
        )
    unknown = [name for name in names if name not in known]
    if unknown:
        raise CourseError(f"{root} has no assignment {', '.join(unknown)}; it has {', '.join(known)}")
    return CourseReport(
        root,
        file.adopted,
        [_report(course, name) for name in names or known],
        [*version_problems(), *settings_problems(course.config, file), *_json_problems(root)],
        list(settings_changes(course.config, file)),
    )


def may_become_course(root: Path) -> bool:
    """True for a folder without an assignment that someone is about to fill: nothing is in it, or only parts of a course."""
    found = {path.name for path in root.iterdir() if not path.name.startswith(".")} if root.is_dir() else None
    return found is not None and (not found or bool(found & {NAME, "source", "gradebook.db"}))


def _report(course: RunningCourse, name: str) -> AssignmentReport:
    assignment = course.assignment(name)
    paths = assignment.source_notebooks()
    report = AssignmentReport(name, assignment.source_folder, len(course.handed_in(name)))
    if not paths:
        report.folder = assignment.release_folder
        paths = sorted(assignment.release_folder.glob("*.ipynb"))
        if paths:
            report.problems.append(
                f"{assignment.source_folder} has no notebook, so {report.folder} was read. Hidden tests are then only in "
                "the gradebook; to change the assignment, put the notebooks with solutions back into the source folder."
            )
    if not paths:
        remedy = "add one, or remove the folder"
        if any(assignment.source_folder.iterdir()):
            remedy = (
                "add one. If notebooks read its files as `../`, move them into the folder of each assignment that needs "
                "them, and change the paths: only what is in that folder is handed out and there during grading"
            )
        report.problems.append(f"{assignment.source_folder} has no notebook: {remedy}.")
    if "+" in name:
        report.problems.append(
            f"{report.folder}: nbgrader refuses a `+` in the name of an assignment. Rename it."
        )
    if not set("*?[]").isdisjoint(name):
        report.problems.append(
            f"{report.folder}: nbgrader reads `*`, `?`, `[` and `]` in the name of an assignment as a pattern. Rename it."
        )
    beside = modules_in(report.folder) | modules_in(assignment.release_folder)
    report.notebooks = [report_notebook(assignment, path, beside) for path in paths]
    report.problems += _hidden_flat_files(course.assignment(name).course, report)
    return report


def _assignments(course: RunningCourse) -> list[str]:
    """The names of all assignments: folders in source/, or in release/. None at all if none has a notebook."""
    example = course.assignment("x")
    folders = [path.parent for path in (example.source_folder, example.release_folder)]
    found: list[Path] = []
    for folder in folders:
        pattern = f"{glob.escape(str(folder))}/*/"
        found += [Path(path) for path in glob.glob(pattern) if not Path(path).name.startswith("_")]
    if not any(any(path.glob("*.ipynb")) for path in found):
        return []
    return sorted({path.name for path in found})


def _hidden_flat_files(course: Course, report: AssignmentReport) -> list[str]:
    """Check files that bind no cell because test cells of several notebooks share the grade_id."""
    names = Counter(
        cell.grade_id
        for notebook in report.notebooks
        for cell in notebook.cells
        if cell.kind is CellKind.ORDINARY
    )
    folder = course.root / course.tests / report.name
    return [
        f"{folder / name}.py: {count} notebooks have a test cell `{name}`, so this file binds none. Put it into a "
        f"folder with the name of its notebook, {folder / '<notebook>' / name}.py."
        for name, count in names.items()
        if count > 1 and (folder / f"{name}.py").is_file()
    ]


def _json_problems(root: Path) -> list[str]:
    path = json_config(root)
    if not path:
        return []
    return [
        f"{path} can't call `configure(c)`, and its settings override nbgrader_config.py. Move them into "
        "nbgrader_config.py."
    ]
