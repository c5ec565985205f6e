"""Commands about written answers: written, which shows them next to each other, and deal, which deals them out to graders."""

import argparse
import re
from pathlib import Path

from gradekit.cli import Commands, course_and_assignments, print_lines
from gradekit.course import CourseError
from gradekit.course.printing import counted, printable, quoted

_ADDRESS = "http://localhost:8888"
_SHARE = re.compile(r"(\d+(?:\.\d+)?)\s*%")


def add(commands: Commands) -> None:
    commands.add_for_assignment(
        "written",
        _written,
        "write a page with the written answers of a class, grouped by likeness, into reports/",
    )
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


def _written(options: argparse.Namespace) -> None:
    from gradekit.report.table import removed_students, was_graded
    from gradekit_written.suggesting import suggesters
    from gradekit_written.written_answers import students_without_notebook
    from gradekit_written.written_questions import write_written, written_questions

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


def _share(text: str) -> float:
    found = _SHARE.fullmatch(text.strip())
    if not found or float(found[1]) > 100:
        raise argparse.ArgumentTypeError(f"{text} is not a share such as 10%")
    return float(found[1]) / 100


def _deal(options: argparse.Namespace) -> None:
    from gradekit_written.deal import Dealt, deal_out, grader_names, read_lists, read_scores, write_lists
    from gradekit_written.written_answers import answers_to_grade, students_without_notebook

    if (options.to is None) == (options.scores is None):
        raise CourseError("use either --to ann,bob, to name the graders, or --scores FILE, to read a list")
    course, (assignment,) = course_and_assignments(options)
    dealt, answers = read_lists(assignment), answers_to_grade(course, assignment)
    dealt.require_readable()
    remarks = [f"  {remark}" for remark in dealt.remarks]
    if options.scores is not None:
        found = read_scores(options.scores, dealt)
        scores = dealt.scores | found.scores
        write_lists(course, assignment, Dealt(dealt.readings, scores), answers, options.address)
        print_lines([f"{options.scores}: {counted(len(found.scores), 'score')}", *remarks])
        print_lines(f"  {remark}" for remark in found.remarks)
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
    print_lines(remarks)
