"""In generate_assignment: make sure that test cells and check files belong together."""

from pathlib import Path

import pytest
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from coursekit.checks.results import points_in_words
from coursekit.checks.run import collect_marks, points_of
from coursekit.course import Assignment, CourseError
from coursekit.nbgrader_plugin.course_folders import course_of, stop
from coursekit.nbgrader_plugin.headings import heading_named, headings


class BindChecks(NbGraderPreprocessor):
    """Stops the command if a test cell has no check file, or other points than its checks."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        course = course_of(self.config)
        names = resources["nbgrader"]
        assignment = course.assignment(names["assignment"])
        path = Path(course.source, assignment.name, f"{names['notebook']}.ipynb")
        try:
            problems = binding_problems(assignment, nb, path)
        except CourseError as error:
            problems = [str(error)]
        if problems:
            stop(self.log, "\n".join(problems))
        return nb, resources


def require_bound(assignment: Assignment) -> None:
    """Raise CourseError unless the released test cells fit the check files."""
    course = assignment.course
    problems = [
        problem
        for name in assignment.released_names()
        for problem in binding_problems(
            assignment, assignment.released(name), Path(course.release, assignment.name, f"{name}.ipynb")
        )
    ]
    if problems:
        raise CourseError("\n".join(problems))


def binding_problems(assignment: Assignment, notebook: NotebookNode, path: Path) -> list[str]:
    """Compare the test cells of a notebook with the check files; returns a sentence for each problem."""
    cell_points = points_of(notebook)
    folder = assignment.checks.relative_to(assignment.course.root)
    problems = [
        f"{path}: the test cell `{name}` has no checks. Write {folder / name}.py or remove the cell."
        for name in cell_points
        if not (assignment.checks / f"{name}.py").exists()
    ]
    if problems:
        return problems
    known_headings = headings(notebook)
    for name, found in collect_marks(assignment, notebook).items():
        without = [check for check, mark in found.items() if not _has_points(mark)]
        if without:
            problems.append(
                f"{folder / name}.py: {', '.join(without)} has no points. Write @points(n) above it, n a number."
            )
            continue
        marks = [mark for mark in found.values() if mark]
        total = sum(mark.args[0] for mark in marks)
        if total != cell_points[name]:
            problems.append(
                f"{path}: the test cell `{name}` is worth {points_in_words(cell_points[name])}, but the checks in "
                f"{folder / name}.py add up to {total:g}. Change the points of the cell or of the checks."
            )
        problems += [
            f"{folder / name}.py: a check says see={see!r}, but {path} has no such heading. "
            "Copy the heading's text from the notebook."
            for see in dict.fromkeys(mark.kwargs.get("see", "") for mark in marks)
            if see and not heading_named(known_headings, see)
        ]
    grade_ids = {
        name for other in assignment.source_notebooks() for name in assignment.grade_ids_of(other.stem)
    }
    problems += [
        f"{folder / file.name} belongs to no cell: {assignment.name} has no test cell `{file.stem}`."
        for file in sorted(assignment.checks.glob("test_*.py"))
        if file.stem not in grade_ids
    ]
    return problems


def _has_points(mark: pytest.Mark | None) -> bool:
    return mark is not None and len(mark.args) == 1 and type(mark.args[0]) in (int, float)
