"""The command `lti`."""

import argparse
from typing import TYPE_CHECKING

from gradekit.cli import Commands, course_and_assignments, course_of, print_lines
from gradekit.course import CourseError
from gradekit.course.printing import counted

if TYPE_CHECKING:
    from gradekit.grading.running_course import RunningCourse


def add(commands: Commands) -> None:
    """Add the command for hand-ins from an LMS by LTI."""
    text = "take hand-ins from an LMS by LTI, show pages there, and send grades"
    what = commands.add("lti", _lti, text).add_mutually_exclusive_group()
    what.add_argument(
        "--status", action="store_true", help="say what an LMS needs to know, and what waits to be sent"
    )
    what.add_argument(
        "--roster", action="store_true", help="put the students of the LMS into the gradebook, and exit"
    )
    what.add_argument(
        "--user",
        nargs=3,
        metavar=("STUDENT", "PLATFORM", "USER"),
        help="take this user of the LMS for this student from now on, and nobody else",
    )
    what.add_argument(
        "--send",
        metavar="ASSIGNMENT",
        help="send the grades in the gradebook, also those that people gave, and exit",
    )


def _lti(options: argparse.Namespace) -> int:
    from gradekit_lms.lti.lti_settings import LtiHandIns
    from gradekit_lms.lti.lti_store import LtiStore, lti_status_lines

    course = course_of(options)
    settings, store = LtiHandIns.of(course), LtiStore(course.root)
    if options.status:
        names = (("login", "initiate login"), ("launch", "redirect, target link"), ("keys", "public keys"))
        lines, failed = lti_status_lines(store)
        print_lines([*(f"{text}: {settings.address}/{name}" for name, text in names), *lines])
        return int(failed)
    if options.send is not None:
        options.assignments = [options.send]
        course, (assignment,) = course_and_assignments(options)
        return _send(course, assignment.name)
    try:
        from gradekit_lms.lti import launches, people, service
    except ModuleNotFoundError as error:
        raise CourseError(
            f'gradekit lti needs {error.name}, which is not installed: pip install "gradekit-lms[lti]"'
        ) from None
    if options.user:
        print_lines(people.settle(course, store, *options.user))
        return 0
    if options.roster:
        lines, all_given = people.add_rosters(course, launches.Tool(settings, store.key), store)
        print_lines(lines or ["no assignment has been opened from an LMS that offers its roster"])
        return int(not (lines and all_given))
    service.serve_lti(course, lambda: print_lines([f"{settings.address} is served at {settings.listen}"]))
    return 0


def _send(course: "RunningCourse", assignment: str) -> int:
    from gradekit_lms.lti.lti_way import send_all

    new, without = send_all(course, assignment)
    lines = [f"{assignment}: {counted(new, 'grade')} to send; `gradekit lti` sends them while it runs"]
    lines += [f"  {reason}: {', '.join(students)}" for reason, students in without.items()]
    print_lines(lines)
    return int(bool(without))
