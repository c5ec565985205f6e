"""The command that looks for works that are alike: similar."""

import argparse
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from gradekit.cli import Commands, course_and_assignments, print_lines
from gradekit.course import CourseError
from gradekit.course.printing import counted

if TYPE_CHECKING:
    from gradekit.grading.running_course import RunningCourse

#: sentences about works that can't be compared; the page has more
_MAX_PROBLEMS = 10
#: functions of other packages that read a list of groups: of (course, path), the group of each student
_READS_GROUPS = "gradekit.groups"


def add(commands: Commands) -> None:
    similar = commands.add_for_assignment(
        "similar",
        _similar,
        "write a page about answers that are more alike than this class explains, into reports/",
    )
    similar.add_argument(
        "--against",
        type=Path,
        action="append",
        default=[],
        metavar="FOLDER",
        help="compare with these submissions, too: STUDENT/ASSIGNMENT/*.ipynb, STUDENT/*.ipynb or *.ipynb; may be repeated",
    )
    similar.add_argument(
        "--groups",
        type=Path,
        metavar="FILE",
        help="CSV file with the columns group and student, for work handed in together, which gradekit-lms reads; "
        "default: c.Collector.groups",
    )


def _similar(options: argparse.Namespace) -> None:
    from gradekit_integrity.similar.page import write_similar
    from gradekit_integrity.similar.surprise import compare_works
    from gradekit_integrity.similar.works import Reader

    course, (assignment,) = course_and_assignments(options)
    for folder in options.against:
        if not folder.is_dir():
            raise CourseError(f"--against {folder}: there is no such folder")
    reader = Reader(assignment, _groups(course, options.groups))
    works = list(reader.of_class(course))
    if not works:
        raise CourseError(f"nobody has handed in a readable notebook of {assignment.name}")
    earlier = [work for folder in options.against for work in reader.of_folder(folder)]
    comparison = compare_works([*works, *earlier])
    page, found = write_similar(assignment, comparison, reader.problems)
    beside = f" with each other and with {len(earlier)} earlier ones" if earlier else ""
    lines = [
        f"{assignment.name}: {counted(len(works), 'submission')} compared{beside}",
        f"  pairs that stand out: {found.pairs}, clusters: {found.clusters}",
        *(f"  {problem}" for problem in reader.problems[:_MAX_PROBLEMS]),
    ]
    if len(reader.problems) > _MAX_PROBLEMS:
        lines.append(f"  and {len(reader.problems) - _MAX_PROBLEMS} more: see the page")
    print_lines([*lines, f"  {page}"])


def _groups(course: "RunningCourse", path: Path | None) -> dict[str, str]:
    """The group of each student, from the file named, or from the one that submissions were collected with."""
    configured = course.config.get("Collector", {}).get("groups")
    if path is None and isinstance(configured, str) and configured:
        path = course.root / configured
    if path is None:
        return {}
    for point in entry_points(group=_READS_GROUPS):
        found: dict[str, str] = point.load()(course, path)
        return found
    raise CourseError(f"{path} can't be read: gradekit-lms, which reads lists of groups, is not installed")
