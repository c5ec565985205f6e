"""The command that deals out manual grading."""

import argparse
import re
from pathlib import Path

from gradekit.cli.common import Commands, chosen_from, course_of, print_lines
from gradekit.course import CourseError
from gradekit.course.printing import counted, quoted

_ADDRESS = "http://localhost:8888"
_SHARE = re.compile(r"(\d+(?:\.\d+)?)\s*%")


def add(commands: Commands) -> None:
    added = commands.add("deal", _deal, "deal out written answers to graders, some of them to two")
    added.add_argument("assignment", metavar="ASSIGNMENT")
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


def _share(text: str) -> float:
    found = _SHARE.fullmatch(text.strip())
    if not found or float(found[1]) > 100:
        raise argparse.ArgumentTypeError(f"{text} is not a share such as 10%")
    return float(found[1]) / 100


def _deal(options: argparse.Namespace) -> None:
    from gradekit.report.deal import (
        Dealt,
        answers_to_grade,
        deal_out,
        grader_names,
        read_lists,
        read_scores,
        write_lists,
    )

    if (options.to is None) == (options.scores is None):
        raise CourseError("use either --to ann,bob, to name the graders, or --scores FILE, to read a list")
    course = course_of(options)
    (assignment,) = chosen_from(course, [options.assignment])
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
    print(f"{assignment.name}: {len(submissions)} submissions with {len(answers)} written answers")
    for path in paths:
        own = [reading for reading in readings if reading.grader == path.stem]
        second, new = sum(reading.second for reading in own), len(set(own) - known)
        parts = [f"{len(own)} submissions", *([f"{second} as second reader"] if second else [])]
        parts += [f"{new} of them new"] if 0 < new < len(own) else []
        print_lines([f"  {path.stem}: {', '.join(parts)}  {path}"])
