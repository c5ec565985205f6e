"""The command that shows and sets deadlines: deadline."""

import argparse

from gradekit.cli.common import Commands, chosen_from, course_of, print_lines
from gradekit.course import CourseError
from gradekit.course.printing import quoted


def add(commands: Commands) -> None:
    added = commands.add(
        "deadline", _deadline, "show or set the deadline of an assignment, for all or for one student"
    )
    added.add_argument("assignment", metavar="ASSIGNMENT")
    added.add_argument(
        "time",
        nargs="?",
        metavar="TIME",
        help='such as "2026-03-09 23:59", in the course\'s time zone (c.CourseTime.zone), or with another one such as '
        '"2026-03-09 23:59 Europe/Berlin" or "2026-03-09 23:59 +01:00"; without TIME, the deadline is shown',
    )
    added.add_argument("--student", metavar="ID", help="give this student an extension until TIME")


def _deadline(options: argparse.Namespace) -> None:
    course = course_of(options)
    (assignment,) = chosen_from(course, [options.assignment])
    course.require_gradebook(writing=options.time is not None)
    from gradekit.course.course_time import CourseTime
    from gradekit.grading.deadlines import deadline_lines, extend, set_deadline

    name, clock = assignment.name, CourseTime(config=course.config)
    with course.alone(), course.gradebook() as gradebook:
        if name not in course.assignments():
            raise CourseError(
                f"the gradebook has no {name}: run `nbgrader generate_assignment {quoted(name)} --force` first"
            )
        if options.student and options.time is None:
            raise CourseError("--student needs a TIME")
        if options.time is not None:
            moment = clock.read(options.time)
            if options.student:
                extend(gradebook, name, options.student, moment)
            else:
                set_deadline(gradebook, name, moment)
        lines = list(deadline_lines(gradebook, name, clock)) or ["no deadline"]
    print_lines([f"{name}: {lines[0]}", *lines[1:]])
    if options.time is not None and course.handed_in(name):
        print_lines(
            [f"  For penalties of what is graded already: `gradekit autograde {quoted(name)} --force`"]
        )
