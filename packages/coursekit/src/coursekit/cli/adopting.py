"""The command for instructors who have an nbgrader course: adopt."""

import argparse
import json
from pathlib import Path
from typing import Any

from coursekit.cli.common import Commands, print_lines


def add(commands: Commands) -> None:
    adopt = commands.add_for_assignments(
        "adopt", _adopt, "say what an existing nbgrader course has in it, and what coursekit would change"
    )
    what = adopt.add_mutually_exclusive_group()
    what.add_argument(
        "--write", action="store_true", help="add coursekit to nbgrader_config.py: one import and one line"
    )
    adopt.add_argument("--json", action="store_true", help="print JSON, for programs")


def _adopt(options: argparse.Namespace) -> int:
    root = options.course_dir.resolve()
    return _write(root, options) if options.write else _look(root, options)


def _look(root: Path, options: argparse.Namespace) -> int:
    from coursekit.adopt.survey import survey
    from coursekit.adopt.text import report_lines

    report = survey(root, options.assignments)
    if options.json:
        _print_json(report.as_dict())
    else:
        print_lines(report_lines(report))
    return int(bool(report.problems))


def _write(root: Path, options: argparse.Namespace) -> int:
    from coursekit.adopt.survey import survey
    from coursekit.adopt.write import addition_to

    report = survey(root, options.assignments)
    addition = addition_to(root)
    addition.write()
    if options.json:
        _print_json({"file": addition.file.path, "written": bool(addition.lines), "diff": addition.diff()})
        return 0
    if not addition.lines:
        print_lines([f"{addition.file.path} uses coursekit already; nothing was written."])
        return 0
    print_lines([*addition.diff(), "", f"{addition.file.path} has been changed as shown."])
    print_lines(["To go back, remove the line that calls `configure`."])
    if count := len(report.problems):
        things = "One thing has" if count == 1 else f"{count} things have"
        print_lines([f"{things} to be fixed before grading: `coursekit adopt` names them."])
    return 0


def _print_json(data: dict[str, Any]) -> None:
    print(json.dumps(data, indent=2, default=str))
