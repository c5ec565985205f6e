"""The command for instructors who have an nbgrader course: adopt."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from gradekit.cli.common import Commands, course_of, print_lines
from gradekit.course import CourseError
from gradekit.course.printing import printable


def add(commands: Commands) -> None:
    adopt = commands.add_for_assignments(
        "adopt", _adopt, "list what an existing nbgrader course contains, and what gradekit would change"
    )
    what = adopt.add_mutually_exclusive_group()
    what.add_argument(
        "--write", action="store_true", help="add gradekit to nbgrader_config.py: one import and one line"
    )
    what.add_argument(
        "--compare",
        action="store_true",
        help="grade submitted/ with nbgrader and with gradekit, in temporary copies, and compare the scores; "
        "nbgrader runs the students' code without a sandbox, to which you agree with this option",
    )
    adopt.add_workers("with --compare: gradekit's number of processes")
    adopt.add_argument("--json", action="store_true", help="print JSON, for programs")


def _adopt(options: argparse.Namespace) -> int:
    try:
        root = course_of(options).root
    except CourseError:  # it is among the findings
        root = (options.course_dir or Path.cwd()).resolve()
    run = _write if options.write else _compare if options.compare else _look
    return run(root, options)


def _look(root: Path, options: argparse.Namespace) -> int:
    from gradekit.authoring.adopt.survey import survey
    from gradekit.authoring.adopt.text import report_lines

    report = survey(root, options.assignments)
    if options.json:
        _print_json(report.as_dict())
    else:
        print_lines(report_lines(report))
    return int(bool(report.problems))


def _write(root: Path, options: argparse.Namespace) -> int:
    from gradekit.authoring.adopt.config_file import addition_to
    from gradekit.authoring.adopt.survey import EmptyCourse, may_become_course, survey

    report = None
    try:
        report = survey(root, options.assignments)
    except EmptyCourse:
        if options.assignments or not may_become_course(root):
            raise
    addition = addition_to(root)
    addition.write()
    if options.json:
        _print_json({"file": addition.file.path, "written": bool(addition.lines), "diff": addition.diff()})
        return 0
    if not addition.lines:
        print_lines([f"{addition.file.path} already uses gradekit; nothing was written."])
        return 0
    print_lines([*addition.diff(), "", f"{addition.file.path} has been changed as shown."])
    print_lines(["To undo this, remove the line that calls `configure`."])
    if report is None:
        print_lines(["There is no assignment yet: `gradekit new NAME` writes one."])
    elif count := len(report.problems):
        things = "One thing has" if count == 1 else f"{count} things have"
        print_lines([f"{things} to be fixed before grading: `gradekit adopt` lists them."])
    return 0


def _compare(root: Path, options: argparse.Namespace) -> int:
    from gradekit.authoring.adopt.autograder_comparison import compare_autograders
    from gradekit.authoring.adopt.survey import survey
    from gradekit.authoring.adopt.text import comparison_lines

    _note(
        "nbgrader now runs the students' code on this machine without a sandbox, as `nbgrader autograde` always "
        "does. Everything is done in temporary copies; the course is not changed."
    )
    names = options.assignments or [assignment.name for assignment in survey(root).assignments]
    found = []
    for comparison in compare_autograders(root, names, options.workers, _note):
        found.append(comparison)
        if not options.json:
            print_lines(comparison_lines(comparison))
    if options.json:
        _print_json({"assignments": [comparison.as_dict() for comparison in found]})
    return int(any(comparison.different for comparison in found))


def _note(text: str) -> None:
    print(printable(text, None), file=sys.stderr, flush=True)


def _print_json(data: dict[str, Any]) -> None:
    print(json.dumps(data, indent=2, default=str))
