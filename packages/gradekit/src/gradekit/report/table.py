"""The class in one table: a row per student with status, score per exercise and total."""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbgrader.api import Assignment as AssignmentEntry
from nbgrader.api import Gradebook, MissingEntry, SubmittedAssignment

from gradekit.course import Assignment
from gradekit.course.cells import exercise_name, is_automatic
from gradekit.course.course_time import CourseTime
from gradekit.course.doubts import Doubt
from gradekit.course.files import notebooks_in
from gradekit.course.kernels import LIMITED
from gradekit.course.printing import counted, defused, printable, quoted
from gradekit.grading.deadlines import deadline_lines
from gradekit.grading.grades import RecordedScores, grades_of
from gradekit.grading.running_course import RunningCourse
from gradekit.nbgrader_plugin.course_folders import look_alike
from gradekit.nbgrader_plugin.late import second_chance_of
from gradekit.page.headings import exercise_titles
from gradekit.report.removed import NOT_IN_GRADEBOOK, never_graded, removed_lines, removed_students
from gradekit.submission.extra_files import own_files
from gradekit.verdict.results import ExerciseResult, Status, SubmissionResult

NOT_AUTOGRADED = "not autograded"
PARTLY_HANDED_IN = "partly handed in"
#: files of one student
_NAMED_AT_MOST = 5
#: the label of a graded cell in tables, by notebook and grade_id
Labels = dict[tuple[str, str], str]


@dataclass
class Row:
    """One student in one assignment.

    `points` has the score of each graded cell, None if it isn't graded yet. `earned` is their sum, and `penalty` is
    subtracted from it for handing in late. `notebooks` has the status of each notebook by name.
    """

    student: str
    status: str
    points: dict[str, float | None] = field(default_factory=dict)
    earned: float | None = None
    penalty: float = 0.0
    #: graded without a sandbox
    unprotected: bool = False
    #: one for each notebook that was graded
    results: list[SubmissionResult] = field(default_factory=list, repr=False)
    #: with their labels
    exercises: list[tuple[str, ExerciseResult]] = field(default_factory=list, repr=False)
    doubts: list[tuple[str, Doubt]] = field(default_factory=list, repr=False)
    notebooks: dict[str, str] = field(default_factory=dict)
    #: cells that a person can grade now, or has to decide on
    waiting: list[str] = field(default_factory=list)
    in_gradebook: bool = True
    #: files that were handed in, but no notebook of the assignment
    instead: list[str] = field(default_factory=list)

    @property
    def by_notebook(self) -> str:
        """The statuses of the notebooks, such as "lab graded, essay missing"."""
        return ", ".join(f"{name} {status}" for name, status in self.notebooks.items())

    @property
    def undecided(self) -> list[tuple[str, Doubt]]:
        """The doubts that a person has not resolved yet, with the labels of their cells."""
        return [
            (label, doubt) for label, doubt in self.doubts if label in self.waiting and not doubt.stands_by
        ]

    @property
    def total(self) -> float | None:
        """The score as nbgrader defines it: after the penalty."""
        return None if self.earned is None else max(0.0, self.earned - self.penalty)


#: what penalties are for, by default
LATE = "late"


@dataclass
class ClassTable:
    """An assignment, the points of each graded cell, and the rows of the students.

    A cell's label is its grade_id, or `<notebook>/<grade_id>` if several notebooks have it. `penalty_name` says
    what penalties are for; `titles` are the names of cells in text for people.
    """

    assignment: str
    maximum: dict[str, float]
    rows: list[Row]
    penalty_name: str = LATE
    titles: dict[str, str] = field(default_factory=dict)
    #: sentences about the deadline and extensions, as they are understood
    deadlines: list[str] = field(default_factory=list)

    @property
    def removed(self) -> list[str]:
        return [row.student for row in self.rows if row.status == NOT_IN_GRADEBOOK]


def class_table(course: RunningCourse, assignment: Assignment) -> ClassTable:
    """Collect the rows of all students who are in the gradebook or have handed something in, and were not removed.

    Raises:
        CourseError: there is no gradebook yet.
    """
    with course.gradebook() as gradebook:
        try:
            notebooks = gradebook.find_assignment(assignment.name).notebooks
        except MissingEntry:
            notebooks = []
        cells = {
            (notebook.name, cell.name): cell.max_score
            for notebook in notebooks
            for cell in (*notebook.grade_cells, *notebook.task_cells)
        }
        labels = _labels(cells)
        maximum = {labels[cell]: points for cell, points in cells.items()}
        names = [notebook.name for notebook in notebooks]
        known = {student.id for student in gradebook.students}
        points, undecided = _points(gradebook, assignment.name, labels)
        penalties = _penalties(gradebook, assignment.name)
        recorded = RecordedScores(gradebook, assignment.name)
        deadlines = list(deadline_lines(gradebook, assignment.name, CourseTime(config=course.config)))
    rows = []
    removed = removed_students(course, assignment.name)
    for student in sorted(known | set(course.handed_in(assignment.name)) | never_graded(course, known)):
        if student in removed:
            rows.append(Row(student, NOT_IN_GRADEBOOK, dict.fromkeys(maximum), in_gradebook=False))
            continue
        results = {name: course.result(student, assignment.name, name) for name in names}
        found = {
            name: result
            for name, result in results.items()
            if result is not None and recorded.agree(student, name, result)
        }
        folder = course.submitted(student, assignment.name)
        statuses = {
            name: str(found[name].status) if name in found else _status_of_file(folder / f"{name}.ipynb")
            for name in names
        }
        if found:
            row = _graded(
                student, list(found.values()), statuses, points.get(student, {}), penalties.get(student)
            )
            row.exercises = [
                (labels.get((name, exercise.grade_id), exercise.grade_id), exercise)
                for name, result in found.items()
                for exercise in result.exercises
            ]
            row.doubts = [
                (labels.get((name, doubt.grade_id), doubt.grade_id), doubt)
                for name, result in found.items()
                for doubt in result.doubts
            ]
            readable = {name for name, result in found.items() if not result.nothing_graded}
            row.waiting = [
                label
                for (name, _), label in labels.items()
                if name in readable and (row.points.get(label) is None or (student, label) in undecided)
            ]
        else:
            handed_in = bool(notebooks_in(folder))
            row = Row(student, NOT_AUTOGRADED if handed_in else Status.MISSING, dict.fromkeys(maximum))
        row.in_gradebook = student in known
        if row.status == Status.MISSING:
            row.instead = _instead(folder, assignment)
        rows.append(row)
    penalty_name = "second chance" if second_chance_of(course.config) else LATE
    titles = _titles(assignment, labels)
    return ClassTable(
        *(assignment.name, maximum, rows, penalty_name),
        {label: titles[label] for label in maximum},
        deadlines,
    )


def _labels(cells: Iterable[tuple[str, str]]) -> Labels:
    """A label for each cell, given its notebook and grade_id."""
    known = list(cells)
    times = Counter(name for _, name in known)
    return {(book, name): name if times[name] == 1 else f"{book}/{name}" for book, name in known}


def _titles(assignment: Assignment, labels: Labels) -> dict[str, str]:
    """The name of each graded cell in text for people, by label: a heading where nbgrader made up the grade_id."""
    found = {label: exercise_name(label) for label in labels.values()}
    if not any(is_automatic(name) for _, name in labels):
        return found
    released = set(assignment.released_names())
    of_books = {
        book: exercise_titles(assignment.released(book)) for book in {book for book, _ in labels} & released
    }
    for (book, name), label in labels.items():
        if is_automatic(name) and (title := of_books.get(book, {}).get(name)):
            found[label] = title
    times = Counter(found.values())
    clashing = ((key, label) for key, label in labels.items() if times[found[label]] > 1)
    return found | {label: f"{book}/{found[label]}" for (book, name), label in clashing if is_automatic(name)}


def _points(
    gradebook: Gradebook, assignment: str, labels: Labels
) -> tuple[dict[str, dict[str, float | None]], set[tuple[str, str]]]:
    """The score by student and label of the cell, in one query, and the cells that wait for a person.

    A score is None if the cell isn't graded yet.
    """
    found: dict[str, dict[str, float | None]] = {}
    waiting = set()
    for student, _, notebook, grade in grades_of(gradebook, assignment):
        graded = grade.manual_score is not None or grade.auto_score is not None
        label = labels[notebook, grade.cell.name]
        found.setdefault(student, {})[label] = grade.score if graded else None
        if grade.needs_manual_grade and grade.manual_score is None:
            waiting.add((student, label))
    return found, waiting


def _penalties(gradebook: Gradebook, assignment: str) -> dict[str, float | None]:
    """The penalty for handing in late by student, in one query."""
    found = (
        gradebook.db.query(SubmittedAssignment.student_id, SubmittedAssignment.late_submission_penalty)
        .join(AssignmentEntry, AssignmentEntry.id == SubmittedAssignment.assignment_id)
        .filter(AssignmentEntry.name == assignment)
    )
    return dict(found.all())


def _graded(
    student: str,
    results: list[SubmissionResult],
    notebooks: dict[str, str],
    points: dict[str, float | None],
    penalty: float | None,
) -> Row:
    graded = [value for value in points.values() if value is not None]
    unprotected = any(result.kernel == LIMITED for result in results)
    return Row(
        student,
        _status_of_all(list(notebooks.values())),
        points,
        sum(graded) if graded else None,
        penalty or 0.0,
        unprotected,
        results,
        notebooks=notebooks,
    )


def _instead(folder: Path, assignment: Assignment) -> list[str]:
    """What somebody handed in who handed in no notebook of the assignment."""
    found = [*notebooks_in(folder), *own_files(folder, assignment.course.ignore)]
    handed_out = {path.name for path in assignment.handed_out()} if found else set()
    return [path.name for path in found if path.name not in handed_out]


def instead_lines(rows: Iterable[Row]) -> Iterator[str]:
    """The students who are missing, but handed in something."""
    for row in rows:
        if row.instead:
            names = ", ".join(map(printable, row.instead[:_NAMED_AT_MOST]))
            more = (
                f" and {len(row.instead) - _NAMED_AT_MOST} more" if len(row.instead) > _NAMED_AT_MOST else ""
            )
            yield f"{printable(row.student)}: {row.status}. No notebook of this assignment, but {names}{more}"


def _status_of_file(path: Path) -> str:
    return NOT_AUTOGRADED if path.exists() else Status.MISSING


def _status_of_all(statuses: Sequence[str]) -> str:
    """The status of a submission: that of its first notebook with something to look at."""
    handed_in = [status for status in statuses if status != Status.MISSING]
    if not handed_in:
        return Status.MISSING
    first = next((status for status in handed_in if status != Status.GRADED), Status.GRADED)
    return PARTLY_HANDED_IN if first == Status.GRADED and len(handed_in) < len(statuses) else first


def table_lines(table: ClassTable) -> Iterator[str]:
    """The table as text. `-` means not graded yet; there is a column for penalties if anybody has one."""
    late = any(row.penalty for row in table.rows)
    exercises = [table.titles.get(name, exercise_name(name)) for name in table.maximum]
    heads = ["student", "status", *exercises, *([table.penalty_name] if late else []), "total"]
    maximum = [_text(value) for value in table.maximum.values()]
    lines = [["", "of", *maximum, *([""] if late else []), _text(sum(table.maximum.values()))]]
    for row in table.rows:
        points = [_text(row.points.get(name)) for name in table.maximum]
        cost = [_text(-row.penalty) if row.penalty else ""] if late else []
        lines.append([printable(row.student), row.status, *points, *cost, _text(row.total)])
    widths = [max(len(cell) for cell in column) for column in zip(heads, *lines, strict=True)]
    widths[2:] = [max(width, 5) for width in widths[2:]]
    yield table.assignment
    for cells in [heads, *lines]:
        texts = [f"{cell:{width}}" for cell, width in zip(cells[:2], widths, strict=False)]
        numbers = [f"{cell:>{width}}" for cell, width in zip(cells[2:], widths[2:], strict=True)]
        yield "  ".join(texts + numbers)
    for row in table.rows:
        if len(set(row.notebooks.values())) > 1:
            yield f"{printable(row.student)}: {row.by_notebook}"
        for label, doubt in row.undecided:
            title = table.titles.get(label, exercise_name(label))
            yield f"{printable(row.student)}: {title} is undecided. {printable(doubt.why, None)}"
    yield from instead_lines(table.rows)
    for names in look_alike(row.student for row in table.rows):
        yield (
            f"{' and '.join(map(ascii, names))} look alike. `gradekit autograde {quoted(table.assignment)}` says what to do, "
            "or renames a folder"
        )
    yield from removed_lines(table.assignment, table.removed)
    yield from table.deadlines
    unprotected = sum(row.unprotected for row in table.rows)
    if unprotected:
        yield f"{unprotected} graded without a sandbox: their code could read what the grader can read."
    if cold := [result.cold_because for row in table.rows for result in row.results if result.cold_because]:
        yield (
            f"{counted(len(cold), 'notebook')} graded in a kernel that was started cold, since it couldn't be forked "
            f"({printable(cold[0], 200)}). It has the same sandbox, but is slower. To forbid it, set "
            "c.RunChecks.cold_fallback = False"
        )


def write_csv(table: ClassTable, path: Path) -> None:
    """Write a line for each student: status, total, penalty, score per exercise; empty if not graded yet.

    If the assignment has several notebooks, there is a column for the status of each.
    """
    head = ["assignment", "student", "status", "total", "maximum", "late_penalty", *table.maximum]
    maximum = sum(table.maximum.values())
    notebooks = list(dict.fromkeys(name for row in table.rows for name in row.notebooks))
    notebooks = notebooks if len(notebooks) > 1 else []
    rows = (
        [table.assignment, row.student, row.status, row.total, maximum, row.penalty]
        + [row.points.get(name) for name in table.maximum]
        + [row.notebooks.get(name, row.status) for name in notebooks]
        for row in table.rows
    )
    head += [f"status of {name}" for name in notebooks]
    write_rows(path, [head, *rows])


def write_rows(path: Path, rows: Iterable[Iterable[Any]]) -> None:
    """Write a CSV file in which a spreadsheet finds no formula."""
    with path.open("w", newline="", encoding="utf-8") as file:
        # a lone `-` isn't a formula
        csv.writer(file).writerows([cell if cell == "-" else defused(cell) for cell in row] for row in rows)


def _text(value: float | None) -> str:
    return "-" if value is None else f"{value:g}"
