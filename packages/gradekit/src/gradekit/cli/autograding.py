"""The command that grades, autograde, and what others that grade share with it."""

import argparse
import contextlib
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gradekit.cli import (
    Command,
    CommandParser,
    Commands,
    course_and_assignments,
    print_json,
    print_lines,
    progress_lines,
)
from gradekit.course import CourseError
from gradekit.course.kernels import KERNELS, NONE
from gradekit.course.printing import first_of, printable, quoted

if TYPE_CHECKING:
    from gradekit.course import Assignment
    from gradekit.grading.autograde import ClassGrading, SubmissionProgress
    from gradekit.grading.running_course import RunningCourse
    from gradekit.report.table import ClassTable, Row


#: students that a line names
_MAX_NAMES = 5


def add(commands: Commands) -> None:
    added = add_grading_command(
        commands, "autograde", _autograde, "grade new submissions in submitted/, several at a time"
    )
    added.add_flag("--force", "autograde all submissions, not only new ones")
    added.add_json()


def add_grading_command(commands: Commands, name: str, run: Command, text: str) -> CommandParser:
    """Add a command that grades; return it, for options of its own."""
    added = commands.add_for_assignments(name, run, text)
    added.add_workers()
    added.add_argument("--scheduler", default="", metavar="ADDRESS", help="grade on this Dask cluster")
    added.add_sandbox()
    added.add_flag("--fresh", "do not use the result cache")
    added.add_argument(
        "--student",
        action="append",
        default=[],
        metavar="ID",
        help="grade only this student's work; may be repeated, have several ids with commas between them, or be a "
        "pattern such as 'a*'",
    )
    added.add_flag("--quiet", "no progress bar, and nothing about assignments where there is nothing new")
    added.add_flag(
        "--strict",
        "exit with 1 if a person has to look at anything new; without this, only if the grader could not "
        "grade a submission",
    )
    return added


def _autograde(options: argparse.Namespace) -> int:
    course, chosen = assignments_to_grade(options)
    from gradekit.nbgrader_plugin.course_folders import misplaced_notebooks
    from gradekit.report.table import locked_class_table
    from gradekit.verdict.results import Status

    misplaced = list(misplaced_notebooks(course.folders, course.assignments()))
    if not options.json:
        print_lines(misplaced)
    failed, odd = False, bool(misplaced)
    documents = []
    for assignment in chosen:
        students, problems = students_to_grade(course, assignment, options.force)
        found, not_graded = _grade(options, course, assignment, students)
        problems += [*found, *not_graded]
        table = locked_class_table(course, assignment)
        if options.student:
            table.rows = [row for row in table.rows if course.is_chosen(row.student)]
        new = _new(table, students)
        odd = odd or bool(problems) or any(status != Status.GRADED for status in new.values())
        failed = failed or bool(not_graded)
        if options.json:
            notes = list(_notes(table, problems))
            documents.append(table.as_dict() | {"new": list(new), "notes": notes, "not_graded": not_graded})
        elif new or problems or not options.quiet:
            print_lines(_conclusion(table, problems, bool(new)))
    if options.json:
        print_json({"assignments": documents, "misplaced": misplaced})
    return int(failed or (options.strict and odd))


def students_to_grade(
    course: "RunningCourse", assignment: "Assignment", everybody: bool
) -> tuple[list[str], list[str]]:
    """The students whose work is graded, only new work unless `everybody`, and a sentence for each renamed folder."""
    from gradekit.report.table import removed_students

    problems = course.rename_students(assignment.name)
    left_out = removed_students(course, assignment.name) | course.in_doubt(assignment.name)
    found = course.handed_in(assignment.name) if everybody else course.to_do(assignment)
    return course.gradable([student for student in found if student not in left_out]), problems


def _grade(
    options: argparse.Namespace, course: "RunningCourse", assignment: "Assignment", students: list[str]
) -> tuple[list[str], list[str]]:
    """Grade the submissions and write the results.

    Returns sentences about what a person has to look at, and about what the grader could not grade or write.
    """
    problems: list[str] = []
    not_graded: list[str] = []
    if not students:
        return problems, not_graded
    start_server(course, [assignment], options.sandbox, options.scheduler)
    from gradekit.grading.write import RefusedHandIn, Writer
    from gradekit.verdict.tries import fault_lines

    faults: defaultdict[str, list[str]] = defaultdict(list)
    with (
        class_grading(options, course, assignment) as grading,
        progress_lines(assignment.name, "submission", len(students), options.quiet) as bar,
    ):
        writer = Writer(course)
        for submission in grading.grade(students):
            problems.extend(problem_lines(submission))
            not_graded.extend(failure_lines(submission))
            for fault in submission.faults:
                faults[fault].append(submission.student)
            for line in writer.write(submission, assignment.name):
                (problems if isinstance(line, RefusedHandIn) else not_graded).append(line)
            bar.update()
    return problems, [*fault_lines(faults, assignment.name), *not_graded]


def problem_lines(submission: "SubmissionProgress") -> list[str]:
    """What a person has to look at, apart from the status."""
    return [f"{printable(submission.student)}: {problem}" for problem in submission.problems]


def failure_lines(submission: "SubmissionProgress") -> list[str]:
    failures = [f"the grader failed on it: {n.failure}" for n in submission.notebooks if n.failure]
    return [f"{printable(submission.student)}: {failure}." for failure in failures]


def assignments_to_grade(options: argparse.Namespace) -> "tuple[RunningCourse, list[Assignment]]":
    """The course, and the assignments to grade.

    Raises:
        CourseError: nothing has been generated, or the course doesn't plug gradekit in.
    """
    course, chosen = course_and_assignments(options)
    require_plugged_in(course)
    course.require_gradebook(writing=not getattr(options, "dry_run", False))
    if options.student:
        course.choose(options.student)
    generated = course.assignments()
    if not generated:
        raise CourseError(
            "the gradebook has no assignments: run `nbgrader generate_assignment NAME --force` first"
        )
    for assignment in chosen:
        if not (options.assignments or options.quiet or assignment.name in generated):
            print(f"{assignment.name}: skipped, since it has not been generated yet", file=sys.stderr)
    return course, [found for found in chosen if options.assignments or found.name in generated]


def require_plugged_in(course: "RunningCourse") -> None:
    """Raise CourseError unless nbgrader is configured to use gradekit."""
    if not course.plugged_in:
        raise CourseError(
            f"{course.last_file} does not plug gradekit in: end it with configure(c), "
            "after `from gradekit.nbgrader_plugin import configure`"
        )


def start_server(
    course: "RunningCourse", assignments: "Sequence[Assignment]", sandbox: str | None, scheduler: str = ""
) -> None:
    """Start the sandbox's kernel server, so that it imports what these assignments need while this process imports its own."""
    if not scheduler and sandbox != NONE:
        from gradekit.course.kernels import libraries_of, modules_for
        from sandbox_kernel.start import launch_server

        launch_server(course.layout.hidden, modules_for(libraries_of(assignments)))


def class_grading(
    options: argparse.Namespace, course: "RunningCourse", assignment: "Assignment"
) -> "contextlib.closing[ClassGrading]":
    from gradekit.grading.autograde import ClassGrading, GradingOptions

    force = getattr(options, "force", False)
    kernel = KERNELS.get(options.sandbox, "")
    how = GradingOptions(options.workers, options.scheduler, kernel, options.fresh, force)
    return contextlib.closing(ClassGrading(course, assignment, how))


def _new(table: "ClassTable", students: list[str]) -> dict[str, str]:
    """The status of each of these students whose work was there to be graded."""
    from gradekit.verdict.results import Status

    chosen = set(students) - set(table.removed)
    return {
        row.student: row.status
        for row in table.rows
        if row.student in chosen and row.status != Status.MISSING
    }


def _conclusion(table: "ClassTable", problems: list[str], any_new: bool) -> Iterator[str]:
    """The number of students with each status, and which of them need a person's attention."""
    counts = Counter(row.status for row in table.rows)
    statuses = ", ".join(f"{count} {status}" for status, count in counts.most_common())
    yield f"{table.assignment}: {'' if any_new else 'nothing new to grade; '}{statuses}"
    yield from (f"  {line}" for line in _notes(table, problems))


def _notes(table: "ClassTable", problems: list[str]) -> Iterator[str]:
    """Sentences about what a person has to look at, new or not."""
    from gradekit.report.table import EXCLUDED, GRADED_BEFORE, removed_lines
    from gradekit.verdict.results import Status

    nothing_to_do = Status.GRADED, Status.MISSING, EXCLUDED, GRADED_BEFORE
    if any(row.status == GRADED_BEFORE for row in table.rows):
        yield (
            f"The scores of those {GRADED_BEFORE} stay. `gradekit regrade {quoted(table.assignment)} --dry-run` lists what "
            f"would change with gradekit, and `gradekit regrade {quoted(table.assignment)}` changes it"
        )
    for row in table.rows:
        if row.status not in nothing_to_do and row.student not in table.removed:
            yield f"{printable(row.student)}: {row.status}{_reason(row)}"
    yield from filter(None, (row.instead for row in table.rows))
    yield from problems
    yield from _doubts(table)
    yield from removed_lines(table.assignment, table.removed)


def _doubts(table: "ClassTable") -> Iterator[str]:
    """Cells that a person has to look at or to decide on. The grader has done what it can, so this is not an error."""
    doubtful: dict[str, list[str]] = {}
    remedies: dict[str, str] = {}
    undecided: dict[str, list[str]] = {}
    full: Counter[str] = Counter()
    for row in table.rows:
        for label, exercise in row.exercises:
            full[label] += exercise.earned >= exercise.points
        for label, doubt in row.doubts:
            if doubt.stands_by:
                from gradekit.verdict.ordinary import remedy_for  # it imports NumPy

                doubtful.setdefault(label, []).append(row.student)
                remedies.setdefault(label, remedy_for(doubt))
        for label in dict.fromkeys(label for label, _ in row.undecided):
            undecided.setdefault(label, []).append(row.student)
    for label, students in undecided.items():
        yield (
            f"{table.titles.get(label, label)} is undecided and awaits manual grading, as `gradekit table` explains: "
            f"{first_of(students, _MAX_NAMES)}"
        )
    for label, students in doubtful.items():
        title = table.titles.get(label, label)
        if len(students) == full[label] > 1:  # the cell causes it, as with `plt.plot(…)` in its last line
            yield (
                f"{title}: its test cell's value is not a score, for all {full[label]} who have full marks, "
                f"{remedies[label]}"
            )
            continue
        yield f"{title} has full marks because its value is not a score: look at {first_of(students, _MAX_NAMES)}"


def _reason(row: "Row") -> str:
    """Which notebook it is, and why nothing could be graded. Other notes are on the feedback page."""
    if len(set(row.notebooks.values())) > 1:
        return f" ({row.by_notebook})"
    notes = [note for result in row.results if result.nothing_graded for note in result.notes[:1]]
    return f". {notes[0]}" if notes else ""
