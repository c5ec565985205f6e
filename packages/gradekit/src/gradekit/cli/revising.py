"""Commands that change an assignment that has submissions: revise, deadline, extend."""

import argparse
from typing import TYPE_CHECKING

from gradekit.cli.autograding import require_plugged_in
from gradekit.cli.common import Commands, at_least_one, course_and_assignments, print_lines
from gradekit.course import CourseError
from gradekit.course.printing import quoted

if TYPE_CHECKING:
    from gradekit.grading.revise import Revision

_DESCRIPTION = """\
Change the cells of an assignment that already has submissions, which nbgrader refuses.

Add, remove, rename or move cells in source/, then run this instead of `nbgrader generate_assignment`. Scores, comments and extra credit of
all other cells stay. The gradebook is copied to .gradekit/gradebooks/ first."""


def add(commands: Commands) -> None:
    added = commands.add_for_assignment(
        "revise", _revise, "change the cells of an assignment that has submissions, and keep the grades"
    )
    added.description = _DESCRIPTION
    added.formatter_class = argparse.RawDescriptionHelpFormatter
    added.add_argument(
        "--rename",
        action="append",
        default=[],
        metavar="OLD=NEW",
        help="the cell OLD is called NEW now, and keeps its grades; also NOTEBOOK/OLD=NOTEBOOK/NEW",
    )
    added.add_flag("--dry-run", "only list what would change")
    added.add_flag("--discard", "remove cells although people have graded or commented on them")
    added.add_flag("--no-backup", "for a gradebook on PostgreSQL, which you have backed up yourself")
    deadline = commands.add_for_assignment(
        "deadline", _deadline, "show or set the deadline of an assignment, for all or for one student"
    )
    deadline.add_argument(
        "time",
        nargs="?",
        metavar="TIME",
        help='such as "2026-03-09 23:59", in the course\'s time zone (c.CourseTime.zone), or with another one such as '
        '"2026-03-09 23:59 Europe/Berlin" or "2026-03-09 23:59 +01:00"; without TIME, the deadline is shown',
    )
    deadline.add_argument("--student", metavar="ID", help="give this student an extension until TIME")
    deadline.add_argument(
        "--days", type=at_least_one, metavar="N", help="with --student: until N days after the deadline"
    )
    extending = commands.add_for_assignment(
        "extend", _deadline, "give one student more time, like `deadline` with --student and --days"
    )
    extending.set_defaults(time=None)
    extending.add_argument("student", metavar="STUDENT")
    extending.add_argument(
        "--days", type=at_least_one, required=True, metavar="N", help="until N days after the deadline"
    )


def _revise(options: argparse.Namespace) -> int:
    course, (assignment,) = course_and_assignments(options)
    require_plugged_in(course)
    course.require_gradebook(writing=True)
    from gradekit.grading.generate import back_up, generate, revised

    if assignment.name not in course.assignments():
        raise CourseError(
            f"the gradebook has no {assignment.name}: run `nbgrader generate_assignment {quoted(assignment.name)} --force`"
        )
    renamed = dict(_renamed(text) for text in options.rename)
    with course.alone():
        found = revised(course, assignment, renamed)
        if not found.changes:
            print_lines([f"{assignment.name}: the gradebook has these cells already."])
        _print(assignment.name, found)
        if options.dry_run:
            return 0
        if found.losses and not options.discard:
            print_lines(["Nothing was changed. To remove these cells with their grades, add --discard."])
            return 1
        copy = back_up(course)
        if copy is None and not options.no_backup:
            raise CourseError("this gradebook isn't a file: back up its database, then add --no-backup")
        revised(course, assignment, renamed, commit=True)
        if copy is not None:
            print_lines([f"  The gradebook as it was: {copy}"])
        generate(course, assignment)
    print_lines(
        [
            f"  {assignment.release_folder} was written. Next: `gradekit autograde {quoted(assignment.name)} --force`"
        ]
    )
    return 0


def _renamed(text: str) -> tuple[str, str]:
    old, equals, new = text.partition("=")
    if not (old and equals and new):
        raise CourseError(f"--rename {text}: write OLD=NEW")
    return old, new


def _print(assignment: str, found: "Revision") -> None:
    print_lines(f"{assignment}/{line}" for line in found.lines())
    if found.losses:
        print_lines(["Removed with their cells:", *(f"  {loss.line()}" for loss in found.losses)])


def _deadline(options: argparse.Namespace) -> None:
    if options.student and (options.time is None) == (options.days is None):
        raise CourseError("--student needs either a TIME or --days")
    if options.days and not options.student:
        raise CourseError("--days needs --student ID; for everybody, write the TIME")
    course, (assignment,) = course_and_assignments(options)
    changes = bool(options.time is not None or options.days)
    course.require_gradebook(writing=changes)
    from gradekit.course.course_time import CourseTime
    from gradekit.grading.deadlines import deadline_lines, deadline_of_all, extend, set_deadline

    name, clock = assignment.name, CourseTime(config=course.config)
    with course.alone(), course.gradebook() as gradebook:
        if name not in course.assignments():
            raise CourseError(
                f"the gradebook has no {name}: run `nbgrader generate_assignment {quoted(name)} --force` first"
            )
        if options.days:
            until = clock.days_after(deadline_of_all(gradebook, name), options.days)
            extend(gradebook, name, options.student, until)
        elif options.student:
            extend(gradebook, name, options.student, clock.read(options.time))
        elif changes:
            set_deadline(gradebook, name, clock.read(options.time))
        lines = list(deadline_lines(gradebook, name, clock)) or ["no deadline"]
    print_lines([f"{name}: {lines[0]}", *lines[1:]])
    if changes and course.handed_in(name):
        print_lines(
            [f"  For penalties of what is graded already: `gradekit autograde {quoted(name)} --force`"]
        )
