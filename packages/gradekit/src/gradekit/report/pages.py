"""Pages for instructors: where those about an assignment are, and how they are made from templates."""

from pathlib import Path

import jinja2

from gradekit.course import Assignment

REPORTS_FOLDER = "reports"


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
