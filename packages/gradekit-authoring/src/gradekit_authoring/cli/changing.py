"""Commands for an assignment that changes after hand-ins: regrade, revise."""

import argparse
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from gradekit.cli import Commands, course_and_assignments, print_lines, progress_lines
from gradekit.cli.autograding import (
    add_grading_command,
    assignments_to_grade,
    class_grading,
    failure_lines,
    problem_lines,
    require_plugged_in,
    students_to_grade,
)
from gradekit.course import CourseError
from gradekit.course.printing import counted, printable, quoted

if TYPE_CHECKING:
    from gradekit.course import Assignment
    from gradekit.grading.running_course import RunningCourse

_DESCRIPTION = """\
Change the cells of an assignment that already has submissions, which nbgrader refuses.

Add, remove, rename or move cells in source/, then run this instead of `nbgrader generate_assignment`. Scores, comments and extra credit of
all other cells stay. The gradebook is copied to .gradekit/gradebooks/ first."""


def add(commands: Commands) -> None:
    regrade = add_grading_command(
        commands,
        "regrade",
        _regrade,
        "grade again where checks have changed, and list the scores that change",
    )
    regrade.add_flag("--dry-run", "list the changes without making them")
    added = commands.add_for_assignment(
        "revise", _revise, "change the cells of an assignment that has submissions, and keep the grades"
    )
    added.description = _DESCRIPTION
    added.formatter_class = argparse.RawDescriptionHelpFormatter
    added.add_argument(
        "--rename",
        action="append",
        default=[],
        metavar="OLD=NEW",
        help="the cell OLD is called NEW now, and keeps its grades; also NOTEBOOK/OLD=NOTEBOOK/NEW",
    )
    added.add_flag("--dry-run", "only list what would change")
    added.add_flag("--discard", "remove cells although people have graded or commented on them")
    added.add_flag("--no-backup", "for a gradebook on PostgreSQL, which you have backed up yourself")


def _regrade(options: argparse.Namespace) -> int:
    course, chosen = assignments_to_grade(options)
    from gradekit.grading.write import RefusedHandIn, Writer
    from gradekit.report.table import scores_kept
    from gradekit.verdict.tries import fault_lines
    from gradekit_authoring.letters import Letters
    from gradekit_authoring.regrade import Move, move_lines, moves

    failed = odd = False
    for assignment in chosen:
        students, problems = students_to_grade(course, assignment, everybody=True)
        moved: list[Move] = []
        faults: defaultdict[str, list[str]] = defaultdict(list)
        penalties = _penalties(course, assignment)
        with (
            class_grading(options, course, assignment) as grading,
            progress_lines(assignment.name, "submission", len(students), options.quiet) as bar,
        ):
            writer, letters = Writer(course), Letters(course, assignment, datetime.now(UTC))
            for found, of_student in moves(course, grading, students):
                ungraded = [f"{line} Its score is unchanged." for line in failure_lines(found)]
                for fault in found.faults:
                    faults[fault].append(found.student)
                left = bool(ungraded or found.faults)
                unwritten = [] if options.dry_run or left else writer.write(found, assignment.name)
                problems += [*problem_lines(found), *ungraded, *unwritten]
                failed |= any(not isinstance(line, RefusedHandIn) for line in (*ungraded, *unwritten))
                if not left and not unwritten:
                    moved += of_student
                    if not options.dry_run:
                        letters.write(of_student)
                bar.update()
        problems += filter(None, (scores_kept(course, assignment, student) for student in students))
        problems += fault_lines(faults, assignment.name, "the scores of {} stay as they are")
        failed, odd = failed or bool(faults), odd or bool(problems)
        problems += _changed_penalties(penalties, _penalties(course, assignment))
        if options.dry_run and any(penalties.values()):
            problems.append(
                "Late penalties are computed again as well, by today's rules, deadlines and scores."
            )
        if options.quiet and not (moved or problems):
            continue
        print_lines([*move_lines(moved), *problems])
        count = len({move.student for move in moved})
        verb = "would change" if options.dry_run else "changed"
        print(f"{assignment.name}: the scores of {count} of {len(students)} students {verb}.")
        if letters.count:
            print(f"  {counted(letters.count, 'letter')}: {letters.folder}")
    return int(failed or (options.strict and odd))


def _penalties(course: "RunningCourse", assignment: "Assignment") -> dict[str, float]:
    from gradekit.grading.grades import penalties_of

    with course.gradebook() as gradebook:
        return penalties_of(gradebook, assignment.name)


def _changed_penalties(before: dict[str, float], after: dict[str, float]) -> Iterator[str]:
    for student, now in sorted(after.items()):
        then = before.get(student, 0.0)
        if abs(now - then) > 1e-9:
            yield f"{printable(student)}: late penalty {then:g} -> {now:g}, by today's rules, deadlines and scores"


def _revise(options: argparse.Namespace) -> int:
    course, (assignment,) = course_and_assignments(options)
    require_plugged_in(course)
    course.require_gradebook(writing=True)
    from gradekit.grading.generate import generate
    from gradekit_authoring.revise import back_up, revised

    if assignment.name not in course.assignments():
        raise CourseError(
            f"the gradebook has no {assignment.name}: run `nbgrader generate_assignment {quoted(assignment.name)} --force`"
        )
    renamed = dict(_renamed(text) for text in options.rename)
    with course.write_lock():
        found = revised(course, assignment, renamed)
        if not found.changes:
            print_lines([f"{assignment.name}: the gradebook has these cells already."])
        print_lines(f"{assignment.name}/{line}" for line in found.lines())
        if found.losses:
            print_lines(["Removed with their cells:", *(f"  {loss.line()}" for loss in found.losses)])
        if options.dry_run:
            return 0
        if found.losses and not options.discard:
            print_lines(["Nothing was changed. To remove these cells with their grades, add --discard."])
            return 1
        copy = back_up(course)
        if copy is None and not options.no_backup:
            raise CourseError("this gradebook isn't a file: back up its database, then add --no-backup")
        revised(course, assignment, renamed, commit=True)
        if copy is not None:
            print_lines([f"  The gradebook as it was: {copy}"])
        generate(course, assignment)
    print_lines(
        [
            f"  {assignment.release_folder} was written. Next: `gradekit autograde {quoted(assignment.name)} --force`",
            "  Where students fetch it from the exchange: release it again.",
        ]
    )
    return 0


def _renamed(text: str) -> tuple[str, str]:
    old, equals, new = text.partition("=")
    if not (old and equals and new):
        raise CourseError(f"--rename {text}: write OLD=NEW")
    return old, new
