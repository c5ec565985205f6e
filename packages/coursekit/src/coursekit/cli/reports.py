"""Commands that show what became of a class, or tell it: table, report, comment."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from coursekit.cli.common import Commands, assignments_of, say
from coursekit.course import Assignment, CourseError

if TYPE_CHECKING:
    from coursekit.report.groups import AnswerGroup


def add(commands: Commands) -> None:
    table = commands.add_for_assignments("table", _table, "show status and points of every student")
    table.add_argument("--csv", type=Path, metavar="FILE", help="write it there, for one assignment")
    commands.add_for_assignments("report", _report, "write the class report into reports/")
    comment = commands.add("comment", _comment, "write one comment to all students of an answer group")
    comment.add_argument("group", metavar="GROUP", help="its id, as the class report names it")
    comment.add_argument("text", metavar="COMMENT")
    comment.add_argument(
        "--assignment", dest="assignments", action="append", default=[], help="if several have the group"
    )


def _table(options: argparse.Namespace) -> int:
    from coursekit.report.table import class_table, table_lines, write_csv

    assignments = assignments_of(options)
    if options.csv and len(assignments) != 1:
        raise CourseError("--csv writes the table of one assignment: name it")
    for assignment in assignments:
        table = class_table(assignment)
        if options.csv:
            write_csv(table, options.csv)
            print(f"{options.csv}: {len(table.rows)} students")
        else:
            say([*table_lines(table), ""])
    return 0


def _report(options: argparse.Namespace) -> int:
    from coursekit.report.class_results import was_graded
    from coursekit.report.contents import make_report, summary_lines
    from coursekit.report.files import folder_of, write_data, write_page

    chosen = assignments_of(options)
    every = chosen[0].course.assignments()
    if not options.assignments:
        chosen = list(filter(was_graded, chosen))
        if not chosen:
            raise CourseError("nothing is graded yet: run `coursekit autograde` first")
    for assignment in chosen:
        sizes = {group.id: len(group.students) for group in _groups_before(assignment)}
        report = make_report(assignment, every[: every.index(assignment)], sizes)
        folder = folder_of(assignment)
        page = write_page(folder, report)
        write_data(folder, report)
        say([*summary_lines(report), f"  {page}", ""])
    return 0


def _groups_before(assignment: Assignment) -> "list[AnswerGroup]":
    """The groups of the last report; none if it can't be read, since it is about to be written anew."""
    from coursekit.report.files import groups_in

    try:
        return groups_in(assignment)
    except CourseError:
        return []


def _comment(options: argparse.Namespace) -> int:
    from coursekit.report.comments import comment_on, find_group

    assignment, group = find_group(assignments_of(options), options.group)
    done = comment_on(assignment, group, options.text)
    say(
        [
            f"{assignment.name}, {group.cell}: {len(done.written)} of {len(group.students)} students got the comment."
        ]
    )
    if done.there_before:
        say([f"  had it already: {', '.join(done.there_before)}"])
    if done.left_out:
        say([f"  left out, since their answer has changed: {', '.join(done.left_out)}"])
    if done.written:
        print(f"  To bring their pages up to date: nbgrader generate_feedback {assignment.name} --force")
    return 0
