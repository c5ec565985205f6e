"""The class in one table: a row per student with status, score per exercise and total, and the checks of all."""

import csv
import glob
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry

from gradekit.course import Assignment
from gradekit.course.cells import Doubt, exercise_name, is_automatic
from gradekit.course.course_time import CourseTime
from gradekit.course.files import notebooks_in
from gradekit.course.kernels import LIMITED
from gradekit.course.printing import aligned_lines, counted, defused, first_of, printable, quoted
from gradekit.grading.grades import RecordedScores, deadline_lines, grades_of, penalties_of
from gradekit.grading.running_course import RunningCourse
from gradekit.nbgrader_plugin.course_folders import look_alike
from gradekit.nbgrader_plugin.late import second_chance_of
from gradekit.page.headings import exercise_titles
from gradekit.session.values import CheckOutcome
from gradekit.submission.extra_files import own_files, time_handed_in
from gradekit.verdict.results import CheckResult, ExerciseResult, Status, SubmissionResult

NOT_AUTOGRADED = "not autograded"
#: by nbgrader itself, before gradekit was plugged in
GRADED_BEFORE = "graded by nbgrader"
#: by c.CourseDirectory.student_id_exclude
EXCLUDED = "left out"
PARTLY_HANDED_IN = "partly handed in"
#: students who were removed from the gradebook after their work was graded, as when they leave the course
NOT_IN_GRADEBOOK = "not in the gradebook"
#: files of one student
_NAMED_AT_MOST = 5
#: the label of a graded cell in tables, by notebook and grade_id
Labels = dict[tuple[str, str], str]


@dataclass(frozen=True)
class Check:
    """A check of the assignment and the sentence that students read about it. `title` is that of the exercise."""

    exercise: str
    name: str
    sentence: str
    points: float
    title: str = ""

    @property
    def key(self) -> str:
        return f"{self.exercise}::{self.name}"

    @property
    def id(self) -> str:
        """The name of the check in a command: `exercise::check`."""
        notebook, slash, test = self.exercise.rpartition("/")
        return f"{notebook}{slash}{exercise_name(test)}::{self.name}"

    @property
    def label(self) -> str:
        """Exercise and check, without the `test_` of their names."""
        title = self.title or exercise_name(self.exercise)
        if self.name == self.exercise.rpartition("/")[2]:  # an ordinary test cell is its own check
            return title
        return f"{title}: {self.name.removeprefix('test_').replace('_', ' ')}"


@dataclass
class Row:
    """One student in one assignment.

    `points` has the score of each graded cell, None if it isn't graded yet. `penalty` is subtracted from their sum
    for handing in late. `out_of` are the points of the cells that are graded so far. `notebooks` has the status of each
    notebook by name.
    """

    student: str
    status: str
    points: dict[str, float | None] = field(default_factory=dict)
    penalty: float = 0.0
    out_of: float = 0.0
    handed_in: datetime | None = None
    #: one for each notebook that was graded
    results: list[SubmissionResult] = field(default_factory=list, repr=False)
    #: with their labels
    exercises: list[tuple[str, ExerciseResult]] = field(default_factory=list, repr=False)
    doubts: list[tuple[str, Doubt]] = field(default_factory=list, repr=False)
    notebooks: dict[str, str] = field(default_factory=dict)
    #: cells that a person can grade now, or has to decide on
    waiting: list[str] = field(default_factory=list)
    in_gradebook: bool = True
    #: a sentence about the last hand-in if it has no notebook of the assignment
    instead: str = ""

    @property
    def earned(self) -> float | None:
        """The sum of the scores; None if nothing is graded yet."""
        graded = [value for value in self.points.values() if value is not None]
        return sum(graded) if graded else None

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

    @property
    def score(self) -> float | None:
        """The score in percent of the points graded so far, before the penalty."""
        return 100 * self.earned / self.out_of if self.earned is not None and self.out_of else None

    def as_dict(self) -> dict[str, Any]:
        return {
            **{key: getattr(self, key) for key in ("student", "status", "total", "points", "notebooks")},
            "late_penalty": self.penalty,
            "handed_in": self.handed_in.isoformat() if self.handed_in else None,
            "undecided": {label: doubt.why for label, doubt in self.undecided},
        }

    @property
    def seconds(self) -> float:
        return sum(result.seconds for result in self.results)

    @cached_property
    def outcomes(self) -> dict[str, CheckResult]:
        return {f"{label}::{check.name}": check for label, found in self.exercises for check in found.checks}

    @property
    def missed(self) -> int:
        return sum(outcome.outcome != CheckOutcome.PASSED for outcome in self.outcomes.values())


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

    def as_dict(self) -> dict[str, Any]:
        """The table as plain data, for `--json`; docs/grading.md explains its keys."""
        shown = {key: getattr(self, key) for key in ("assignment", "maximum", "deadlines")}
        return shown | {"students": [row.as_dict() for row in self.rows]}

    @property
    def removed(self) -> list[str]:
        """Students whose work was graded, and who are not in the gradebook anymore."""
        return [row.student for row in self.rows if row.status == NOT_IN_GRADEBOOK]

    @property
    def members(self) -> list[Row]:
        """The rows of those who are still in the class."""
        return [row for row in self.rows if row.status != NOT_IN_GRADEBOOK]

    @property
    def graded(self) -> list[Row]:
        """The students with at least one check result."""
        return [row for row in self.members if row.outcomes]

    @property
    def scores(self) -> list[float]:
        return [row.score for row in self.members if row.score is not None]

    @property
    def waiting(self) -> int:
        return sum(len(row.waiting) for row in self.members)

    @cached_property
    def checks(self) -> list[Check]:
        """All checks with a result, in the order of the notebook and of the check files."""
        found: dict[str, Check] = {}
        for row in sorted(self.rows, key=lambda row: -len(row.outcomes)):
            for label, exercise in row.exercises:
                for check in exercise.checks:
                    title = self.titles.get(label, "")
                    known = Check(label, check.name, check.sentence, check.points, title)
                    found.setdefault(known.key, known)
        return list(found.values())


def removed_students(course: RunningCourse, assignment: str) -> set[str]:
    """Students whose work was graded, and who are not in the gradebook.

    If it has no grades for the assignment, nobody was removed: it is a new gradebook.
    """
    with course.gradebook() as gradebook:
        known = {student.id for student in gradebook.students}
        try:
            graded = gradebook.assignment_submissions(assignment)
        except MissingEntry:
            graded = []
    strangers = set(course.handed_in(assignment)) - known if graded else set()
    return {student for student in strangers if course.autograded(student, assignment).is_dir()}


def never_graded(course: RunningCourse, known: Set[str]) -> set[str]:
    """Students who handed in something for any assignment, but nothing that could be graded, so nbgrader doesn't know them."""
    assignments = course.layout.assignments()
    return {
        student
        for student in set(course.handed_in()) - known
        if not any(course.autograded(student, assignment.name).is_dir() for assignment in assignments)
    }


def was_graded(course: RunningCourse, assignment: Assignment) -> bool:
    return bool(glob.glob(str(course.autograded("*", assignment.name) / "*.ipynb")))


def locked_class_table(course: RunningCourse, assignment: Assignment) -> ClassTable:
    """The table, made while no other command is replacing a student's folder."""
    with course.write_lock():
        return class_table(course, assignment)


def class_table(course: RunningCourse, assignment: Assignment) -> ClassTable:
    """Collect the rows of all students who are in the gradebook or have handed something in.

    First everything that the gradebook has, in a few queries: the cells and their points, who is enrolled, scores and
    penalties. Then, student by student, the results in autograded/. One counts only if the gradebook has its scores.
    A student without a result is missing or not autograded, as the files in submitted/ say.

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
        penalties = penalties_of(gradebook, assignment.name)
        recorded = RecordedScores(gradebook, assignment.name)
        deadlines = list(deadline_lines(gradebook, assignment.name, CourseTime(config=course.config)))
    rows = []
    removed = removed_students(course, assignment.name)
    for student in sorted(known | set(course.handed_in(assignment.name)) | never_graded(course, known)):
        if student in removed:
            rows.append(Row(student, NOT_IN_GRADEBOOK, dict.fromkeys(maximum), in_gradebook=False))
            continue
        found = {
            name: result
            for name in names
            if (result := course.result(student, assignment.name, name)) is not None
            and recorded.agree(student, name, result)
        }
        folder = course.submitted(student, assignment.name)
        status = NOT_AUTOGRADED if notebooks_in(folder) else Status.MISSING
        if course.is_left_out(student):
            status = EXCLUDED
        row = Row(student, status, dict.fromkeys(maximum), in_gradebook=student in known)
        before = not found and any(score is not None for score in points.get(student, {}).values())
        if before and course.graded_before(student, assignment.name):
            row.status = GRADED_BEFORE
        if found:
            for name in names:
                ungraded = NOT_AUTOGRADED if (folder / f"{name}.ipynb").exists() else Status.MISSING
                row.notebooks[name] = str(found[name].status if name in found else ungraded)
            row.status = _status_of_all(list(row.notebooks.values()))
        if found or row.status == GRADED_BEFORE:
            row.points = points.get(student, {})
            row.out_of = sum(maximum.get(name, 0) for name, score in row.points.items() if score is not None)
            row.penalty = penalties.get(student, 0.0)
            row.handed_in = time_handed_in(course.autograded(student, assignment.name))
            row.results = list(found.values())
            for name, result in found.items():
                row.exercises += [(labels.get((name, e.grade_id), e.grade_id), e) for e in result.exercises]
                row.doubts += [(labels.get((name, d.grade_id), d.grade_id), d) for d in result.doubts]
            unread = {name for name, result in found.items() if result.nothing_graded}
            readable = (found.keys() or set(names)) - unread
            row.waiting = [
                label
                for (name, _), label in labels.items()
                if name in readable and (row.points.get(label) is None or (student, label) in undecided)
            ]
        row.instead = scores_kept(course, assignment, student)
        if row.status == Status.MISSING and (but := _others(folder, assignment)):
            row.instead = f"{printable(student)}: {row.status}. No notebook of this assignment{but}"
        rows.append(row)
    penalty_name = "second chance" if second_chance_of(course.config) else LATE
    titles = _titles(assignment, labels)
    return ClassTable(
        *(assignment.name, maximum, rows, penalty_name),
        {label: titles[label] for label in maximum},
        deadlines,
    )


def _labels(cells: Iterable[tuple[str, str]]) -> Labels:
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


def scores_kept(course: RunningCourse, assignment: Assignment, student: str) -> str:
    """A sentence about a hand-in without any notebook after one that was graded; empty if the last one has a notebook."""
    folders = course.submitted(student, assignment.name), course.autograded(student, assignment.name)
    if not folders[0].is_dir() or notebooks_in(folders[0]) or not notebooks_in(folders[1]):
        return ""
    times = map(time_handed_in, folders)
    last, before = (f" of {time:%Y-%m-%d %H:%M} UTC" if time else "" for time in times)
    return (
        f"{printable(student)}: the last hand-in{last} has no notebook{_others(folders[0], assignment)}. "
        f"The scores are those of the one before{before}"
    )


def _others(folder: Path, assignment: Assignment) -> str:
    """The end of a sentence about a missing notebook: what was handed in instead, if anything."""
    found = [*notebooks_in(folder), *own_files(folder, assignment.course.ignore)]
    handed_out = {path.name for path in assignment.handed_out()} if found else set()
    names = [path.name for path in found if path.name not in handed_out]
    return f", but {first_of(names, _NAMED_AT_MOST)}" if names else ""


def removed_lines(assignment: str, students: Iterable[str]) -> Iterator[str]:
    """What to do about each of them."""
    for student in students:
        yield (
            f"{printable(student)} was removed from the gradebook, and doesn't count. A student who comes back: "
            f"`nbgrader db student add {quoted(student)}`, then `gradekit autograde {quoted(assignment)} --force`"
        )


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
    numbers = [*exercises, *([table.penalty_name] if late else []), "total"]
    maximum = [_text(value) for value in table.maximum.values()]
    lines = [["", "of", *maximum, *([""] if late else []), _text(sum(table.maximum.values()))]]
    for row in table.rows:
        points = [_text(row.points.get(name)) for name in table.maximum]
        cost = [_text(-row.penalty) if row.penalty else ""] if late else []
        lines.append([printable(row.student), row.status, *points, *cost, _text(row.total)])
    yield table.assignment
    yield from aligned_lines(["student", "status", *(f">{name}" for name in numbers)], lines, least=5)
    for row in table.rows:
        if len(set(row.notebooks.values())) > 1:
            yield f"{printable(row.student)}: {row.by_notebook}"
        for label, doubt in row.undecided:
            title = table.titles.get(label, exercise_name(label))
            yield f"{printable(row.student)}: {title} is undecided. {printable(doubt.why, None)}"
    yield from filter(None, (row.instead for row in table.rows))
    for names in look_alike(row.student for row in table.rows):
        yield (
            f"{' and '.join(map(ascii, names))} look alike. `gradekit autograde {quoted(table.assignment)}` says what to do, "
            "or renames a folder"
        )
    yield from removed_lines(table.assignment, table.removed)
    yield from table.deadlines
    unprotected = sum(any(result.kernel == LIMITED for result in row.results) for row in table.rows)
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
