"""The folder of the reports about an assignment."""

from pathlib import Path

from coursekit.course import Assignment

FOLDER = "reports"


def folder_of(assignment: Assignment) -> Path:
    return assignment.course.root / FOLDER / assignment.name
