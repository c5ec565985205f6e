"""The command for instructors who have an nbgrader course: adopt."""

import argparse
import json
from typing import TYPE_CHECKING, Any

from coursekit.cli.common import Commands, print_lines

if TYPE_CHECKING:
    from coursekit.adopt.survey import CourseReport


def add(commands: Commands) -> None:
    adopt = commands.add_for_assignments(
        "adopt", _adopt, "say what an existing nbgrader course has in it, and what coursekit would change"
    )
    adopt.add_argument("--json", action="store_true", help="print JSON, for programs")


def _adopt(options: argparse.Namespace) -> int:
    from coursekit.adopt.survey import survey
    from coursekit.adopt.text import report_lines

    report: CourseReport = survey(options.course_dir.resolve(), options.assignments)
    if options.json:
        _print_json(report.as_dict())
    else:
        print_lines(report_lines(report))
    return int(bool(report.problems))


def _print_json(data: dict[str, Any]) -> None:
    print(json.dumps(data, indent=2, default=str))
