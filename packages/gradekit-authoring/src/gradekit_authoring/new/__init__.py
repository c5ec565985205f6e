"""Writes a new course, and a new assignment: a small one that works, to be changed piece by piece.

There is one about PyTorch and one about NumPy. The files in `template/torch/` or `template/numpy/` are copied, with
`{{name}}` and `{{heading}}` filled in.
"""

import re
from pathlib import Path

from gradekit.course import Assignment, Course, CourseError
from gradekit.course.printing import quoted
from gradekit.inside.arrays import ArrayKind, has_torch
from gradekit_authoring.adopt.config_file import NAME, json_config

TEMPLATES = Path(__file__).parent / "template"
_NAME = re.compile(r"(?P<number>\d*)[ _-]*(?P<topic>[\w -]*)")


def write_assignment(course: Course, name: str, arrays: ArrayKind | None = None) -> Assignment:
    """Write source/<name> and tests/<name>; the reference values must be recorded afterwards.

    Args:
        arrays: the arrays that the assignment computes with; by default tensors, if torch is installed.

    Raises:
        CourseError: the name is taken, nbgrader can't use it, or torch is missing.
    """
    arrays = arrays or ("torch" if has_torch() else "numpy")
    if arrays == "torch" and not has_torch():
        raise CourseError(
            'an assignment with tensors needs torch, which is not installed: `pip install "gradekit[torch]"`'
        )
    parts = _NAME.fullmatch(name)
    if name != name.strip() or not parts or not (topic := parts["topic"].strip(" _-")):
        raise CourseError(
            f"`{name}` can't be the name of an assignment: use letters, digits, spaces, _ and -, as in 08_my_topic"
        )
    if not (course.root / "nbgrader_config.py").exists():
        raise CourseError(
            f"{course.root} has no nbgrader_config.py: run this in the folder of the course, or make it one with "
            "`gradekit init`"
        )
    assignment = course.assignment(name)
    source = course.root / course.source / name
    for folder in (source, assignment.checks):
        if folder.exists():
            raise CourseError(f"{folder} exists: choose another name, or remove it first")
    title = topic.replace("_", " ").replace("-", " ")
    heading = " · ".join(filter(None, [parts["number"].lstrip("0"), title[0].upper() + title[1:]]))
    for folder in (source, assignment.checks):
        folder.mkdir(parents=True)
    for template in sorted((TEMPLATES / arrays).glob("*.*")):
        text = template.read_text(encoding="utf-8")
        text = text.replace("{{name}}", quoted(name)).replace("{{heading}}", heading)
        is_notebook = template.suffix == ".ipynb"
        path = source / f"{topic}.ipynb" if is_notebook else assignment.checks / template.name
        path.write_text(text, encoding="utf-8")
    return assignment


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
