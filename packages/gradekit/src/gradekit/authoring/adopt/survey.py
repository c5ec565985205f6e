"""Surveys the folder of an existing nbgrader course: its assignments, notebooks, cells and settings."""

import glob
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from gradekit.authoring.adopt.config_file import NAME, ConfigFile, json_config
from gradekit.authoring.adopt.notebook_report import CellReport, NotebookReport, modules_in, report_notebook
from gradekit.authoring.adopt.settings import (
    replaces_kernels,
    settings_changes,
    settings_problems,
    version_problems,
)
from gradekit.course import CourseError, refuse_pattern
from gradekit.course.cells import CellKind
from gradekit.course.printing import did_you_mean
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

    @property
    def cells(self) -> list[CellReport]:
        return [cell for notebook in self.notebooks for cell in notebook.cells]


@dataclass
class CourseReport:
    """A whole course, as `gradekit adopt` prints it."""

    root: Path
    adopted: bool
    assignments: list[AssignmentReport]
    settings_problems: list[str]
    settings_changes: list[str]

    @property
    def notebooks(self) -> list[NotebookReport]:
        return [notebook for each in self.assignments for notebook in each.notebooks]

    @property
    def problems(self) -> list[str]:
        """Everything that must be fixed before gradekit can grade all of it."""
        parts: list[AssignmentReport | NotebookReport] = [*self.assignments, *self.notebooks]
        return [*self.settings_problems, *(sentence for part in parts for sentence in part.problems)]

    @property
    def changes(self) -> list[str]:
        """Everything that will be different."""
        return [*self.settings_changes, *(text for each in self.notebooks for text in each.changes)]

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
        nearest = did_you_mean(unknown[0], known)
        raise CourseError(
            f"{root} has no assignment {', '.join(unknown)}; it has {', '.join(known)}{nearest}"
        )
    json_problems = [
        f"{path} can't call `configure(c)`, and its settings override {NAME}. Move them into {NAME}."
        for path in [json_config(root)]
        if path
    ]
    return CourseReport(
        root,
        file.adopted,
        [_report(course, name) for name in names or known],
        [*version_problems(), *settings_problems(course.config, file), *json_problems],
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
    replaced = replaces_kernels(course.config)
    report.notebooks = [report_notebook(assignment, path, beside, replaced) for path in paths]
    report.problems += _hidden_flat_files(assignment.checks, report)
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


def _hidden_flat_files(folder: Path, report: AssignmentReport) -> list[str]:
    """Check files that bind no cell because test cells of several notebooks share the grade_id."""
    names = Counter(cell.grade_id for cell in report.cells if cell.kind is CellKind.ORDINARY)
    return [
        f"{folder / name}.py: {count} notebooks have a test cell `{name}`, so this file binds none. Put it into a "
        f"folder with the name of its notebook, {folder / '<notebook>' / name}.py."
        for name, count in names.items()
        if count > 1 and (folder / f"{name}.py").is_file()
    ]
