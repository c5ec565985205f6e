"""The commands that exchange with an LMS: `return` by files, `lms sync` by its API."""

import argparse
import os

from gradekit.cli import Commands, course_and_assignments, print_lines
from gradekit.course.printing import counted
from gradekit_lms.sync import LMS_TOKEN


def add(commands: Commands) -> None:
    text = "put the feedback pages into a zip that Moodle or Canvas gives back to the students"
    commands.add_for_assignment("return", _return, text)
    text = "get students and submissions from Canvas or Moodle, and send scores, comments and pages there"
    parser = commands.add("lms", _sync, text)
    parser.add_argument("action", choices=["sync"], help="exchange all that is new")
    parser.add_argument(
        "assignments", nargs="*", metavar="ASSIGNMENT", help="default: all of c.LmsSync.assignments"
    )
    parser.add_argument("--dry-run", action="store_true", help="only say what would be done")


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


def _sync(options: argparse.Namespace) -> int:
    token = os.environ.pop(LMS_TOKEN, "")
    from gradekit_lms.sync.syncing import synchronize

    course, assignments = course_and_assignments(options)
    synced = synchronize(course, assignments if options.assignments else [], token, options.dry_run)
    print_lines(line for text in synced.lines() for line in text.split("\n"))
    if synced.failed:
        raise synced.failed
    return int(bool(synced.notes))
