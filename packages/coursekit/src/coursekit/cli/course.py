"""Commands about a course folder: new, doctor."""

import argparse

from coursekit.cli.common import Commands
from coursekit.course import Course


def add(commands: Commands) -> None:
    new = commands.add("new", _new, "write a small working assignment, to be changed into your own")
    new.add_argument("name", metavar="NAME", help="for example 08_my_topic")
    commands.add(
        "doctor", _doctor, "say what this machine and this folder have, and what to do about the rest"
    )


def _new(options: argparse.Namespace) -> None:
    from coursekit.audit import record
    from coursekit.new import write_assignment

    course = Course(options.course_dir.resolve())
    assignment = write_assignment(course, options.name)
    record(assignment)
    (notebook,) = assignment.source_notebooks()
    print(f"The notebook: {notebook.relative_to(course.root)}")
    for path in sorted(assignment.checks.glob("*.*")):
        print(f"              {path.relative_to(course.root)}")
    print(
        "It works as it stands. Change it piece by piece, as docs/writing-checks.md says, and after each piece:"
    )
    print(f"    coursekit record {assignment.name}   # what the solution and the mistakes give")
    print(f"    coursekit audit {assignment.name}    # proof that the checks are right")
    print("When it is done:")
    print(f"    nbgrader generate_assignment {assignment.name}")


def _doctor(options: argparse.Namespace) -> int:
    from coursekit.doctor import examine, report_lines

    findings = []
    for finding in examine(options.course_dir.resolve()):
        findings.append(finding)
        print("\n".join(report_lines(finding)), flush=True)
    return int(any(finding.needed for finding in findings))
