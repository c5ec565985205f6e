"""Feedback pages in a zip that Moodle or Canvas gives back to the students, under the names of the download.

Moodle takes it with "Upload multiple feedback files in a zip" (`mod/assign/feedback/file/importziplib.php` of
github.com/moodle/moodle finds a student by the number in a name), Canvas with the upload of submissions
(`infer_comment_context_from_filename` in github.com/instructure/canvas-lms finds the student and the file by theirs).
"""

import os
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gradekit.course import Assignment, CourseError
from gradekit.course.files import written_at
from gradekit.course.printing import quoted
from gradekit.grading.running_course import RunningCourse
from gradekit.report.pages import folder_of
from gradekit_lms.claims import kept_names


@dataclass
class Returned:
    """The zip for each product with the number of its pages, and the students whose pages are in none, by the reason."""

    files: dict[Path, int] = field(default_factory=dict)
    left: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    #: members of groups, by the student whose page all of them get
    shared: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


def return_pages(course: RunningCourse, assignment: Assignment) -> Returned:
    """Put the pages of everybody who was collected from Moodle or Canvas into a zip in reports/.

    Raises:
        CourseError: nobody was.
    """
    kept = kept_names(course.root, assignment.name)
    if not kept.names:
        raise CourseError(
            f"no names are known under which {assignment.name} was downloaded. Put the download into downloaded/ and run "
            f"`nbgrader zip_collect {quoted(assignment.name)} --force` with the collector of your LMS"
        )
    with course.gradebook() as gradebook:
        enrolled = {student.id for student in gradebook.students}
    returned = Returned()
    pages: dict[str, dict[str, Path]] = defaultdict(dict)
    owners: dict[str, str] = {}
    with_pages = {name for name in enrolled if any(_folder(course, name, assignment).glob("*.html"))}
    for student in sorted(kept.names.keys() | with_pages):
        reason = _reason(course, assignment, student, enrolled, kept.names)
        if not reason and not any(kept.names[student].values()):
            reason = f"{kept.products[student]} takes no pages, as far as is documented"
        if reason:
            returned.left[reason].append(student)
            continue
        for notebook, prefix in kept.names[student].items():
            name = f"{prefix}{Path(notebook).stem}.html"
            page = _page(course, student, assignment, notebook)
            if name in owners:
                returned.shared[owners[name]].append(student)
            elif prefix and page.is_file():
                owners[name] = student
                pages[kept.products[student]][name] = page
    for product, found in pages.items():
        path = folder_of(assignment) / f"pages-for-{product.lower()}.zip"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_zip(path, found)
        returned.files[path] = len(found)
    return returned


def write_zip(path: Path, files: Mapping[str, Path]) -> None:
    """Write a zip with these files, by their names in it, or leave what is there."""
    unfinished = path.with_suffix(".unfinished")
    try:
        with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, file in sorted(files.items()):
                archive.write(file, name)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def _reason(
    course: RunningCourse,
    assignment: Assignment,
    student: str,
    enrolled: set[str],
    names: dict[str, dict[str, str]],
) -> str:
    """Why a student's page can't be returned; empty if it can."""
    if student not in enrolled:
        return "not in the gradebook"
    if student not in names:
        return "not collected from an LMS"
    return pages_of(course, student, assignment, names[student])[1]


def pages_of(
    course: RunningCourse, student: str, assignment: Assignment, notebooks: Iterable[str]
) -> tuple[list[Path], str]:
    """The student's pages of these notebooks, and why they can't be returned; the reason is empty if they can."""
    pages = [_page(course, student, assignment, notebook) for notebook in notebooks]
    pages = [page for page in pages if page.is_file()]
    if not pages:
        return [], f"no page yet: `nbgrader generate_feedback {quoted(assignment.name)}`"
    for page in pages:
        graded = course.autograded(student, assignment.name) / f"{page.stem}.ipynb"
        if graded.is_file() and written_at(graded.stat()) > written_at(page.stat()):
            again = f"`nbgrader generate_feedback {quoted(assignment.name)} --force`"
            return [], f"graded again since the page was written: {again}"
    return pages, ""


def _folder(course: RunningCourse, student: str, assignment: Assignment) -> Path:
    return Path(course.folders.format_path(course.folders.feedback_directory, student, assignment.name))


def _page(course: RunningCourse, student: str, assignment: Assignment, notebook: str) -> Path:
    return _folder(course, student, assignment) / f"{Path(notebook).stem}.html"
