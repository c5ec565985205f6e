"""The command that puts feedback pages into a zip for the LMS that the submissions came from: return."""

import argparse

from gradekit.cli.common import Commands, course_and_assignments, print_lines
from gradekit.course.printing import counted


def add(commands: Commands) -> None:
    text = "put the feedback pages into a zip that Moodle or Canvas gives back to the students"
    commands.add_for_assignment("return", _return, text)


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
