"""Commands that show what became of a class: table."""

import argparse
from pathlib import Path

from coursekit.cli.common import Commands, assignments_of
from coursekit.course import CourseError


def add(commands: Commands) -> None:
    table = commands.add_for_assignments("table", _table, "show status and points of every student")
    table.add_argument("--csv", type=Path, metavar="FILE", help="write it there, for one assignment")


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
            print("\n".join(table_lines(table)), end="\n\n")
    return 0
