"""Commands about a graded class: table, report, comment; and about its deadlines: deadline, extend."""

import argparse
from functools import cache, partial
from pathlib import Path

from gradekit.cli import Commands, at_least_one, course_and_assignments, print_json, print_lines
from gradekit.course import CourseError
from gradekit.course.printing import quoted


def add(commands: Commands) -> None:
    table = commands.add_for_assignments("table", _table, "show the status and score of every student")
    table.add_argument(
        "--csv", type=Path, metavar="FILE", help="write the table of one assignment to a CSV file"
    )
    table.add_json()
    commands.add_for_assignments("report", _report, "write the class report into reports/")
    comment = commands.add(
        "comment", _comment, "write one comment for everybody in an answer group, or who failed a check"
    )
    comment.add_argument(
        "about",
        metavar="GROUP|EXERCISE::CHECK",
        help="the id of an answer group, or a check: both are in the class report",
    )
    comment.add_argument("text", metavar="COMMENT")
    comment.add_argument(
        "--assignment",
        dest="assignments",
        action="append",
        default=[],
        help="needed if several assignments have such a group or check",
    )


def _table(options: argparse.Namespace) -> None:
    from gradekit.report.table import class_table, table_lines, write_csv

    course, assignments = course_and_assignments(options)
    if options.csv and len(assignments) != 1:
        raise CourseError("--csv writes the table of one assignment: add its name")
    if options.csv and options.json:
        raise CourseError("--csv and --json are two forms of the same table: leave out one of them")
    tables = [class_table(course, assignment) for assignment in assignments]
    if options.json:
        print_json({"assignments": [table.as_dict() for table in tables]})
        return
    for table in tables:
        if options.csv:
            write_csv(table, options.csv)
            print(f"{options.csv}: {len(table.rows)} students")
        else:
            print_lines([*table_lines(table), ""])


def _report(options: argparse.Namespace) -> int:
    from gradekit.report.class_report import make_report, summary_lines, write_report
    from gradekit.report.table import locked_class_table, was_graded

    course, chosen = course_and_assignments(options)
    every = course.layout.assignments()
    if not options.assignments:
        chosen = [assignment for assignment in chosen if was_graded(course, assignment)]
        if not chosen:
            raise CourseError("nothing has been graded yet: run `gradekit autograde` first")
    table_of = cache(partial(locked_class_table, course))  # it is in the reports of later assignments, too
    code = 0
    for assignment in chosen:
        earlier = map(table_of, every[: every.index(assignment)])
        report = make_report(course, table_of(assignment), earlier)
        page = write_report(assignment, report)
        print_lines([*summary_lines(report), f"  {page}", ""])
        if report.left_out or not all(section.complete for section in report.sections):
            code = 1
    return code


def _comment(options: argparse.Namespace) -> None:
    from gradekit.report.comments import comment_on, recipients_of

    course, chosen = course_and_assignments(options)
    recipients = recipients_of(course, chosen, options.about)
    done = comment_on(course, recipients, options.text)
    name = recipients.assignment.name
    got = f"{len(done.written)} of {len(recipients.students)} students got the comment."
    lines = [f"{name}, {recipients.cell}: {got}"]
    if done.there_before:
        lines.append(f"  had it already: {', '.join(done.there_before)}")
    if done.left_out:
        lines.append(f"  left out, since their answer has changed: {', '.join(done.left_out)}")
    if done.written:
        lines.append(
            f"  to update their pages: `nbgrader generate_feedback {quoted(name)} --force`, then release them"
        )
    print_lines(lines)


def add_deadlines(commands: Commands) -> None:
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


def _deadline(options: argparse.Namespace) -> None:
    if options.student and (options.time is None) == (options.days is None):
        raise CourseError("--student needs either a TIME or --days")
    if options.days and not options.student:
        raise CourseError("--days needs --student ID; for everybody, write the TIME")
    course, (assignment,) = course_and_assignments(options)
    changes = bool(options.time is not None or options.days)
    course.require_gradebook(writing=changes)
    from gradekit.course.course_time import CourseTime
    from gradekit.grading.grades import deadline_lines, deadline_of_all, extend, set_deadline

    name, clock = assignment.name, CourseTime(config=course.config)
    with course.write_lock(), course.gradebook() as gradebook:
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
