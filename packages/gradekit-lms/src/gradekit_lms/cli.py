"""The command that puts feedback pages into a zip for the LMS that the submissions came from, and `watch --git`."""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from gradekit.cli.common import Commands, course_and_assignments, print_lines
from gradekit.course.printing import counted
from gradekit_lms.git import TOKEN, WEBHOOK_SECRET

if TYPE_CHECKING:
    from gradekit.grading.running_course import RunningCourse
    from gradekit.watch.ways import OpensWay, Way


def add(commands: Commands) -> None:
    text = "put the feedback pages into a zip that Moodle or Canvas gives back to the students"
    commands.add_for_assignment("return", _return, text)


def add_git(parser: argparse.ArgumentParser, where: argparse._MutuallyExclusiveGroup) -> None:
    """Add the option of `gradekit watch` for hand-ins by Git."""
    where.add_argument(
        "--git",
        dest="way",
        type=_by_git,
        metavar="ROSTER",
        help="fetch the repositories in this CSV file with the columns student and remote; results and pages are written "
        "to returned/<student>/<assignment>/<commit>/",
    )


def _by_git(roster: str) -> "OpensWay":
    # now, before any process is started for students' code
    given = {name: os.environ.pop(name, "") for name in (TOKEN, WEBHOOK_SECRET)}

    def opens(course: "RunningCourse") -> "Way":
        from gradekit_lms.git.way import open_way

        return open_way(course, Path(roster), given)

    return opens


def _return(options: argparse.Namespace) -> int:
    from gradekit_lms.returning import return_pages

    course, (assignment,) = course_and_assignments(options)
    found = return_pages(course, assignment)
    lines = [f"{assignment.name}: {counted(count, 'page')} in {path}" for path, count in found.files.items()]
    lines += [
        f"  {student}'s page is for {', '.join(others)}, too" for student, others in found.shared.items()
    ]
    lines += [
        f"  no page of {', '.join(students)}: {reason}" for reason, students in sorted(found.left.items())
    ]
    print_lines(lines or [f"{assignment.name}: no pages"])
    return int(bool(found.left))
