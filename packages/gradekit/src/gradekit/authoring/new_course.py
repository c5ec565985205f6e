"""Writes a new course: its configuration, and the folders that an instructor and students fill."""

import re
from pathlib import Path

from gradekit.authoring.adopt.config_file import NAME, json_config
from gradekit.course import CourseError

_CONFIGURATION = """\
from gradekit.nbgrader_plugin import configure

c = get_config()  # noqa: F821  (nbgrader provides it)

c.CourseDirectory.course_id = "{course_id}"
c.Execute.timeout = {cell_seconds}  # CPU seconds for one cell of a submission
c.RunChecks.call_timeout = 5  # CPU seconds for one call of a student's function
c.RunChecks.memory_limit = 2048  # MiB for one student kernel

configure(c)  # the last line, below all settings
"""


def write_course(root: Path, course_id: str = "", cell_seconds: int = 20) -> Path:
    """Write nbgrader_config.py and the folders source/, tests/ and submitted/; returns the file.

    Args:
        course_id: the course's name for nbgrader's exchange; by default, the folder's name.

    Raises:
        CourseError: the folder is a course already. Nothing is overwritten.
    """
    path = root / NAME
    for existing in (path, json_config(root)):
        if existing and existing.exists():
            raise CourseError(
                f"{existing} exists, so {root} is a course already: `gradekit adopt --write` adds gradekit to it, and "
                "`gradekit new NAME` writes an assignment"
            )
    course_id = course_id or re.sub(r"[^\w-]+", "_", root.resolve().name).strip("_") or "course"
    if not re.fullmatch(r"[\w-]+", course_id):
        raise CourseError(f"`{course_id}` can't be a course_id: use letters, digits, _ and -")
    for folder in ("source", "tests", "submitted"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    path.write_text(_CONFIGURATION.format(course_id=course_id, cell_seconds=cell_seconds), encoding="utf-8")
    return path
