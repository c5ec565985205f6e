"""The command that shows the written answers of a class next to each other: written."""

import argparse

from gradekit.cli import Commands, course_and_assignments, print_lines
from gradekit.course.printing import counted, printable, quoted


def add(commands: Commands) -> None:
    commands.add_for_assignment(
        "written",
        _written,
        "write a page with the written answers of a class, grouped by likeness, into reports/",
    )


def _written(options: argparse.Namespace) -> None:
    from gradekit.report.table import removed_students, was_graded
    from gradekit.report.written import students_without_notebook
    from gradekit_integrity.written.suggesting import suggesters
    from gradekit_integrity.written.written_questions import write_written, written_questions

    course, (assignment,) = course_and_assignments(options)
    questions = written_questions(course, assignment, suggesters())
    if not questions:
        graded = was_graded(course, assignment)
        why = (
            "there are no written answers for a person to grade"
            if graded
            else f"nothing is graded yet: run `gradekit autograde {assignment.name}`"
        )
        print_lines([f"{assignment.name}: {why}"])
        return
    page = write_written(assignment, questions)
    removed = ", ".join(sorted(removed_students(course, assignment.name)))
    left_out = [f"  left out, since they are not in the gradebook anymore: {removed}"] if removed else []
    if unread := ", ".join(map(printable, students_without_notebook(course, assignment))):
        table = f"`gradekit table {quoted(assignment.name)}` says why"
        left_out.append(f"  left out, since no notebook of theirs could be graded ({table}): {unread}")
    lines = [
        f"  {question.cell}: {counted(len(question.answers) - len(question.alone), 'answer')} in "
        + counted(len(question.groups), "group")
        + (f" and {len(question.alone)} to be read one by one" if question.alone else "")
        + f", {sum(one.of.score is None for one in question.answers)} to grade"
        for question in questions
    ]
    print_lines(
        [
            f"{assignment.name}: written answers of {counted(len(questions), 'question')}",
            *lines,
            *left_out,
            f"  {page}",
        ]
    )
