"""Commands about a graded class: table, report, comment, deal."""

import argparse
import re
from functools import cache, partial
from pathlib import Path

from gradekit.cli.common import Commands, course_and_assignments, print_json, print_lines
from gradekit.course import CourseError
from gradekit.course.printing import counted, printable, quoted

_ADDRESS = "http://localhost:8888"
_SHARE = re.compile(r"(\d+(?:\.\d+)?)\s*%")


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


def add_dealing(commands: Commands) -> None:
    added = commands.add_for_assignment(
        "deal", _deal, "deal out written answers to graders, some of them to two"
    )
    added.add_argument("--to", metavar="NAMES", help="the graders, such as ann,bob")
    added.add_argument(
        "--twice",
        type=_share,
        default=0.0,
        metavar="SHARE",
        help="share of submissions that two graders read, such as 10%%",
    )
    added.add_argument("--seed", type=int, default=0, help="a different number deals differently; default: 0")
    added.add_argument(
        "--address", default=_ADDRESS, metavar="URL", help=f"where Jupyter runs; default: {_ADDRESS}"
    )
    added.add_argument(
        "--scores", type=Path, metavar="FILE", help="read the scores of second readings from a filled-in list"
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


def _report(options: argparse.Namespace) -> None:
    from gradekit.report.class_report import make_report, summary_lines, write_report
    from gradekit.report.table import locked_class_table, was_graded

    course, chosen = course_and_assignments(options)
    every = course.layout.assignments()
    if not options.assignments:
        chosen = [assignment for assignment in chosen if was_graded(course, assignment)]
        if not chosen:
            raise CourseError("nothing has been graded yet: run `gradekit autograde` first")
    table_of = cache(partial(locked_class_table, course))  # it is in the reports of later assignments, too
    for assignment in chosen:
        earlier = map(table_of, every[: every.index(assignment)])
        report = make_report(course, table_of(assignment), earlier)
        page = write_report(assignment, report)
        print_lines([*summary_lines(report), f"  {page}", ""])


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
        lines.append(f"  To update their pages: nbgrader generate_feedback {quoted(name)} --force")
    print_lines(lines)


def _share(text: str) -> float:
    found = _SHARE.fullmatch(text.strip())
    if not found or float(found[1]) > 100:
        raise argparse.ArgumentTypeError(f"{text} is not a share such as 10%")
    return float(found[1]) / 100


def _deal(options: argparse.Namespace) -> None:
    from gradekit.report.deal import Dealt, deal_out, grader_names, read_lists, read_scores, write_lists
    from gradekit.report.written import answers_to_grade, students_without_notebook

    if (options.to is None) == (options.scores is None):
        raise CourseError("use either --to ann,bob, to name the graders, or --scores FILE, to read a list")
    course, (assignment,) = course_and_assignments(options)
    dealt, answers = read_lists(assignment), answers_to_grade(course, assignment)
    if options.scores is not None:
        found = read_scores(options.scores, dealt)
        write_lists(course, assignment, Dealt(dealt.readings, dealt.scores | found), answers, options.address)
        print_lines([f"{options.scores}: {counted(len(found), 'score')}"])
        print_lines([f"  To compare the graders: gradekit report {quoted(assignment.name)}"])
        return
    graders = grader_names(options.to)
    submissions = {answer.submission for answer in answers}
    if not submissions:
        first = ": run `gradekit autograde` first" if course.to_do(assignment) else ""
        raise CourseError(f"{assignment.name} has no written answers to grade{first}")
    scored = {submission for submission, _ in dealt.scores}
    kept = [
        reading
        for reading in dealt.readings
        if reading.grader in graders or (reading.second and reading.submission in scored)
    ]
    readings = deal_out(submissions, graders, options.twice, options.seed, kept)
    known = set(dealt.readings)
    paths = write_lists(course, assignment, Dealt(readings, dealt.scores), answers, options.address)
    print(
        f"{assignment.name}: {counted(len(submissions), 'submission')} with {counted(len(answers), 'written answer')}"
    )
    for path in paths:
        own = [reading for reading in readings if reading.grader == path.stem]
        second, new = sum(reading.second for reading in own), len(set(own) - known)
        parts = [f"{len(own)} submissions", *([f"{second} as second reader"] if second else [])]
        parts += [f"{new} of them new"] if 0 < new < len(own) else []
        print_lines([f"  {path.stem}: {', '.join(parts)}  {path}"])
    if unread := ", ".join(map(printable, students_without_notebook(course, assignment))):
        table = f"`gradekit table {quoted(assignment.name)}` says why"
        print_lines([f"  left out, since no notebook of theirs could be graded ({table}): {unread}"])
    if idle := [name for name in graders if name not in {path.stem for path in paths}]:
        print_lines([f"  nothing for {', '.join(idle)}: all were dealt out before"])
