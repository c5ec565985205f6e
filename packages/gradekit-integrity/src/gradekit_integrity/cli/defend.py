"""The command that asks students questions with options about their own code, and marks the answers: defend."""

import argparse
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from gradekit.cli import Commands, course_and_assignments, print_lines, progress_lines
from gradekit.course import CourseError
from gradekit.course.kernels import KERNELS
from gradekit.course.printing import counted, first_of, printable, quoted
from gradekit_integrity.cli import up_to

if TYPE_CHECKING:
    from gradekit.course import Assignment
    from gradekit.grading.running_course import RunningCourse

#: other students whose code is run, so that no question is one that their code answers
_OTHERS = 20
_FILES_SHOWN = 20


def add(commands: Commands) -> None:
    defend = commands.add_for_assignment(
        "defend", _defend, "give students questions with options about their own code, and mark the answers"
    )
    defend.add_argument(
        "students", nargs="*", metavar="STUDENT",
        help="give them a new page, with other questions; default: all who have none about the code that they handed in",
    )  # fmt: skip
    defend.add_argument(
        "--exercise", action="append", default=[], metavar="NAME",
        help="ask about this answer cell; may be repeated; default: those of the student's present page, else the one whose tests have the most points",
    )  # fmt: skip
    defend.add_argument(
        "--questions", type=up_to(5), default=3, metavar="N", help="for each exercise; default: 3, at most 5"
    )
    defend.add_argument(
        "--due",
        metavar="WHEN",
        help="when the answers are due, such as '2026-03-09 23:59', in the course's time zone (c.CourseTime.zone, else UTC); "
        "default for a new page: when the present one is",
    )
    defend.add_argument(
        "--collect", action="store_true", help="mark the files defense.json beside the hand-ins instead"
    )
    defend.add_argument(
        "--answers", type=Path, metavar="FOLDER", help="with --collect: mark the files in this folder"
    )
    defend.add_argument(
        "--share", type=_share, metavar="S",
        help="with --collect: the share of the exercise's score that the answers decide, such as 0.2; default: none",
    )  # fmt: skip
    defend.add_workers()
    defend.add_sandbox()


def _share(text: str) -> float:
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 0 to 1")
    return share


def _defend(options: argparse.Namespace) -> None:
    course, (assignment,) = course_and_assignments(options)
    if (options.answers or options.share is not None) and not options.collect:
        raise CourseError("--answers and --share belong to --collect")
    given = {"STUDENT": options.students, "--exercise": options.exercise, "--due": options.due}
    if options.collect and (wrong := [name for name, value in given.items() if value]):
        raise CourseError(
            f"{' and '.join(wrong)} can't be used with --collect, which marks the answers of all"
        )
    if options.collect:
        _collect(options, course, assignment)
    else:
        _give_out(options, course, assignment)


def _give_out(options: argparse.Namespace, course: "RunningCourse", assignment: "Assignment") -> None:
    from gradekit.cli.autograding import start_server

    start_server(course, [assignment], options.sandbox)
    from gradekit.course.course_time import CourseTime
    from gradekit_integrity.defend.course_answers import course_answers
    from gradekit_integrity.defend.giving import give_pages, pages_wanted, students_without
    from gradekit_integrity.defend.proving import exercises_of, prove_all
    from gradekit_integrity.defend.records import changing_key, read_key
    from gradekit_integrity.viva.sheets import tasks_of

    clock = CourseTime(config=course.config)
    due = clock.read(options.due) if options.due else None
    tasks = {
        task.student: task for task in tasks_of(course, assignment, [], KERNELS.get(options.sandbox, ""))
    }
    if unknown := [name for name in options.students if name not in tasks]:
        raise CourseError(f"{printable(unknown[0])} handed in nothing for {assignment.name}")
    key = read_key(assignment)
    wanted = pages_wanted(assignment, key, tasks, options.exercise)
    without = students_without(key, tasks, wanted, bool(options.exercise))
    students = options.students or without
    places = list(dict.fromkeys(place for name in students or tasks for place in wanted[name].places))
    others = [task for name, task in tasks.items() if name not in students and not task.problem]
    random.Random(assignment.name).shuffle(others)
    asked = [tasks[name] for name in dict.fromkeys(students)]
    proven, problems = [], []
    if asked:
        asked += others[:_OTHERS]
        try:
            asked += course_answers(assignment, places, asked[0].how)
        except CourseError as error:
            problems.append(f"The course's own answers were left out: {error}")
    with progress_lines(assignment.name, "answer", len(asked)) as bar:  # with the course's own
        for one in prove_all(assignment, places, asked, options.workers) if asked else ():
            proven.append(one)
            bar.update()
    # another command may have given out pages meanwhile, so the key is read again
    with course.write_lock(), changing_key(assignment) as key:
        wanted = {name: wanted[name] for name in students}
        given = give_pages(assignment, key, proven, wanted, tasks, options.questions, due, clock)
    problems += given.problems
    had = len(tasks.keys() - {*students} - {*without})
    dropped = sum(one.dropped for one in proven if one.student in wanted)
    lines = [
        f"{assignment.name}: {counted(len(given.students), 'page')} about {', '.join(cell for _, cell in places)}, in {given.folder}",
        f"  students who already had one about their current code: {had}",
        f"  questions dropped, since the second run didn't confirm them: {dropped}",
        *(f"  {one}" for one in given.notes),
    ]
    if due and due < datetime.now(UTC):
        lines.append(f"  --due {options.due} is past: answers whose time is known will be late")
    if given.students:
        lines.append(
            f"  to ask on feedback pages, too: `nbgrader generate_feedback {assignment.name} --force`, then release them"
        )
    if problems:
        lines += [f"  {one}" for one in problems]
        exercises = "".join(f" --exercise {quoted(cell)}" for _, cell in places)
        lines.append(
            f"  ask them yourself: `gradekit viva {assignment.name}{exercises}` writes questions for a talk"
        )
    lines += [
        f"  another exercise, in which their answers are longer, may have enough questions: `gradekit defend {assignment.name} "
        f"{' '.join(map(quoted, names))} --exercise {quoted(cell)}`"
        for cell, names in given.longer.items()
    ]
    left = [place[1] for place in exercises_of(assignment) if place not in places]
    if not given.students and problems and left:
        lines.append(
            f"  other exercises may have enough questions: --exercise with one of {', '.join(map(quoted, left))}"
        )
    print_lines(lines)


def _collect(options: argparse.Namespace, course: "RunningCourse", assignment: "Assignment") -> None:
    from gradekit.report.table import class_table
    from gradekit_integrity.defend.collecting import collect_answers, write_outcomes
    from gradekit_integrity.defend.deductions import take_off
    from gradekit_integrity.defend.marking import ANSWER_FILE
    from gradekit_integrity.defend.records import changing_key, read_key
    from gradekit_integrity.viva.sheets import tasks_of

    if options.answers and not options.answers.is_dir():
        raise CourseError(f"--answers {options.answers}: there is no such folder")
    if not read_key(assignment).sheets:
        raise CourseError(
            f"no pages of {assignment.name} were given out: `gradekit defend {assignment.name}`"
        )
    tasks = tasks_of(course, assignment, [])
    with course.write_lock(), changing_key(assignment) as key:
        collected = collect_answers(course, assignment, key, options.answers, tasks)
        collected.left += take_off(course, assignment, key, options.share)
        path = write_outcomes(assignment, collected, class_table(course, assignment))
    marked = collected.marked
    how = "no points depend on them"
    if options.share:
        how = f"they decide {100 * options.share:g} % of the exercise's score"
    elif any(sheet.deducted for sheet in key.sheets):  # of an earlier page, too
        how = "points that --share took off before stay off, until `--collect --share 0`"
    lines = [
        f"{assignment.name}: answers of {counted(len(marked), 'student')} marked; {how}",
        f"  {path}",
        f"  to show this on feedback pages: `nbgrader generate_feedback {assignment.name} --force`, then release them",
    ]
    for sheet in marked:
        off, right = sum(key.taken_from(sheet.student).values()), sum((sheet.right or {}).values())
        if off or options.share:
            points = f"{off:g} point{'s' * (off != 1)} off"
            lines.append(f"  {sheet.student}: {right} of {len(sheet.questions)} right, {points}")
    lines += [f"  {one}" for one in collected.left]
    problems = sorted(collected.problems.items())
    lines += [f"  {student}: {why}" for student, why in problems if student not in collected.waiting]
    lines += [f"  {one}" for one in collected.strangers[:_FILES_SHOWN]]
    if (more := len(collected.strangers) - _FILES_SHOWN) > 0:
        lines.append(f"  and {counted(more, 'more file')} that can't be used: see the last rows of the table")
    if collected.others:
        lines.append(
            f"  {counted(len(collected.others), 'file')} without answers in {options.answers}: {first_of(collected.others, 3)}"
        )
    if collected.waiting:
        lines.append(f"  no file {ANSWER_FILE} has come yet from: {', '.join(sorted(collected.waiting))}")
    if collected.removed:
        removed = ", ".join(sorted(collected.removed))
        lines.append(f"  left out, since they are not in the gradebook anymore: {removed}")
    print_lines(lines)
