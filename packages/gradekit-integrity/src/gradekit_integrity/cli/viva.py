"""The command that asks students about their own code: viva."""

import argparse

from gradekit.cli import Commands, course_and_assignments, print_lines, progress_lines
from gradekit.course.kernels import KERNELS
from gradekit.course.printing import counted
from gradekit_integrity.cli import up_to


def add(commands: Commands) -> None:
    viva = commands.add_for_assignment(
        "viva", _viva, "write a page with questions about their own code for each student, with the answers"
    )
    viva.add_argument("students", nargs="*", metavar="STUDENT", help="default: all who handed in")
    viva.add_argument(
        "--exercise", action="append", default=[], metavar="NAME",
        help="ask about this answer cell; may be repeated; default: all",
    )  # fmt: skip
    viva.add_argument(
        "--questions", type=up_to(10), default=4, metavar="N", help="on each page; default: 4, at most 10"
    )
    viva.add_argument("--seed", type=int, default=0, help="a different number chooses different questions")
    viva.add_argument(
        "--without-answers",
        action="store_true",
        help="put the answers only into questions.csv, so that the pages can be handed out",
    )
    viva.add_workers()
    viva.add_sandbox()


def _viva(options: argparse.Namespace) -> None:
    from gradekit.cli.autograding import start_server

    course, (assignment,) = course_and_assignments(options)
    start_server(course, [assignment], options.sandbox)
    from gradekit_integrity.viva.files import write_sheets
    from gradekit_integrity.viva.sheets import sheets_of, tasks_of

    tasks = tasks_of(course, assignment, options.students, KERNELS.get(options.sandbox, ""))
    sheets = []
    made = sheets_of(assignment, tasks, options.questions, options.seed, options.workers, options.exercise)
    with progress_lines(assignment.name, "student", len(tasks)) as bar:
        for sheet in made:
            sheets.append(sheet)
            bar.update()
    sheets.sort(key=lambda sheet: sheet.student)
    folder = write_sheets(assignment, sheets, options.seed, not options.without_answers)
    asked = [sheet for sheet in sheets if sheet.questions]
    total = sum(len(sheet.questions) for sheet in asked)
    lines = [
        f"{assignment.name}: {counted(total, 'question')} for {len(asked)} of {counted(len(sheets), 'student')}, in {folder}",
        f"  to print all at once: {folder}.html",
    ]
    print_lines([*lines, *(f"  {sheet.student}: {sheet.problem}" for sheet in sheets if sheet.problem)])
