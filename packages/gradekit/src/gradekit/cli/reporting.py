"""Commands about a graded class: table, report, comment."""

import argparse
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from gradekit.cli.common import Commands, chosen_from, course_of, print_lines
from gradekit.course import Assignment, CourseError
from gradekit.course.printing import quoted

if TYPE_CHECKING:
    from gradekit.report.groups import AnswerGroup


def add(commands: Commands) -> None:
    table = commands.add_for_assignments("table", _table, "show the status and score of every student")
    table.add_argument(
        "--csv", type=Path, metavar="FILE", help="write the table of one assignment to a CSV file"
    )
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

    course = course_of(options)
    assignments = chosen_from(course, options.assignments)
    if options.csv and len(assignments) != 1:
        raise CourseError("--csv writes the table of one assignment: add its name")
    for assignment in assignments:
        table = class_table(course, assignment)
        if options.csv:
            write_csv(table, options.csv)
            print(f"{options.csv}: {len(table.rows)} students")
        else:
            print_lines([*table_lines(table), ""])


def _report(options: argparse.Namespace) -> None:
    from gradekit.report.class_report import make_report, summary_lines, write_report
    from gradekit.report.table import locked_class_table, was_graded

    course = course_of(options)
    chosen = chosen_from(course, options.assignments)
    every = course.layout.assignments()
    if not options.assignments:
        chosen = [assignment for assignment in chosen if was_graded(course, assignment)]
        if not chosen:
            raise CourseError("nothing has been graded yet: run `gradekit autograde` first")
    table_of = cache(partial(locked_class_table, course))  # it is in the reports of later assignments, too
    for assignment in chosen:
        sizes = {group.id: len(group.students) for group in _groups_before(assignment)}
        earlier = map(table_of, every[: every.index(assignment)])
        report = make_report(course, table_of(assignment), earlier, sizes)
        page = write_report(assignment, report)
        print_lines([*summary_lines(report), f"  {page}", ""])


def _groups_before(assignment: Assignment) -> "list[AnswerGroup]":
    """The groups of the last report; none if it can't be read, since it is about to be replaced."""
    from gradekit.report.class_report import groups_in

    try:
        return groups_in(assignment)
    except CourseError:
        return []


def _comment(options: argparse.Namespace) -> None:
    from gradekit.report.comments import comment_on, recipients_of

    course = course_of(options)
    recipients = recipients_of(course, chosen_from(course, options.assignments), options.about)
    done = comment_on(course, recipients, options.text)
    name = recipients.assignment.name
    got = f"{len(done.written)} of {len(recipients.students)} students got the comment."
    lines = [f"{name}, {recipients.cell}: {got}"]
    if done.there_before:
        lines.append(f"  had it already: {', '.join(done.there_before)}")
    if done.left_out:
        lines.append(f"  left out, since their answer has changed: {', '.join(done.left_out)}")
    if done.written:
        lines.append(f"  To update their pages: nbgrader generate_feedback {quoted(name)} --force")
    print_lines(lines)
