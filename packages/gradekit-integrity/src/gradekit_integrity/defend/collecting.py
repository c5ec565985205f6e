"""Marks the answers of a class: from its hand-ins or a folder, into the key, a table and the class report."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path

import nbformat

from gradekit.course import Assignment
from gradekit.course.cells import find_cell
from gradekit.course.printing import counted, printable
from gradekit.grading.running_course import RunningCourse
from gradekit.report.pages import DefendedExercise, DefenseFound, folder_of
from gradekit.report.table import ClassTable, removed_students, write_rows
from gradekit.submission.extra_files import time_handed_in
from gradekit_integrity.defend.marking import (
    AnswerFile,
    answer_files_in,
    is_of_another_kind,
    mark_file,
    unclear_sheets,
)
from gradekit_integrity.defend.proving import code_hash
from gradekit_integrity.defend.records import NO_FILE, TO_A_PERSON, Issued, Key
from gradekit_integrity.viva.running import tests_of
from gradekit_integrity.viva.sheets import ToAsk

_COLUMNS = ("student", "exercise", "questions", "right", "outcome", "points", "note")


@dataclass
class Collected:
    """What came of the files: sentences about those that a person has to look at, by student, and about files of nobody.

    Args:
        strangers: sentences about files of nobody, in the place that was read.
        others: the names of files there that are no answers.
        waiting: the students from whom no file has come.
        left: sentences about grades that were left alone.
        removed: students who left the course, whose sheets don't count.
    """

    key: Key
    problems: dict[str, str] = field(default_factory=dict)
    strangers: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    removed: set[str] = field(default_factory=set)

    @property
    def latest(self) -> dict[str, Issued]:
        return {student: sheet for student, sheet in self.key.latest().items() if student not in self.removed}

    @property
    def marked(self) -> list[Issued]:
        return [sheet for sheet in self.latest.values() if sheet.right is not None]


def collect_answers(
    course: RunningCourse, assignment: Assignment, key: Key, folder: Path | None, tasks: Sequence[ToAsk]
) -> Collected:
    """Mark the files beside the hand-ins, or those in a folder; the first usable one of a sheet counts."""
    collected = Collected(key, removed=removed_students(course, assignment.name))
    current = current_code(tasks)
    files = list(answer_files_in(folder) if folder else _beside(course, assignment, collected.removed))
    unclear = unclear_sheets(files, key, current)
    found: dict[str, list[str]] = {}
    for file in files:
        if folder and is_of_another_kind(file.path):
            collected.others.append(printable(str(file.path.relative_to(folder)), 80))
            continue
        student, problem = mark_file(file, key, current, unclear)
        if student in collected.removed:
            continue
        if student in collected.latest:
            found.setdefault(student, []).extend([problem] if problem else [])
        elif problem:
            collected.strangers.append(f"{student}: {problem}" if student else problem)
    place = str(folder.resolve()) if folder else ""
    for student, sheet in collected.latest.items():
        if student in found:  # else what was noted about this place stays
            sheet.notes[place] = found[student]
        if sheet.right is not None:  # some file was marked
            sheet.notes = {
                where: [note for note in notes if not note.endswith(TO_A_PERSON)]
                for where, notes in sheet.notes.items()
            }
        if sheet.all_notes:
            collected.problems[student] = " ".join(sheet.all_notes)
        elif sheet.right is None:
            collected.problems[student] = NO_FILE
            collected.waiting.append(student)
    about_others = _about_others(folder, collected.others)
    key.strangers = {
        where: notes for where, notes in key.strangers.items() if not where or Path(where).is_dir()
    }
    key.strangers[place] = collected.strangers + ([about_others] if about_others else [])
    return collected


def _about_others(folder: Path | None, names: Sequence[str]) -> str:
    """A sentence for the table; empty without such files."""
    return f"{counted(len(names), 'file')} in {folder} without answers: {', '.join(names)}" if names else ""


def _beside(course: RunningCourse, assignment: Assignment, removed: Set[str]) -> Iterator[AnswerFile]:
    """The files with answers in the hand-ins, under the names that browsers and editors make of it: `defense (1).json`."""
    for student in course.handed_in(assignment.name):
        if student in removed:
            continue
        folder = course.submitted(student, assignment.name)
        when = time_handed_in(folder)
        for file in answer_files_in(folder):
            name = file.path.name.casefold()
            if name.startswith("defense") and name.endswith((".json", ".txt")):
                yield AnswerFile(file.path, student, when.replace(tzinfo=UTC) if when else None)


def current_code(tasks: Sequence[ToAsk]) -> dict[str, str]:
    """The hash of each answer as it is handed in now, by `<student>/<notebook>/<cell>`."""
    found = {}
    for task in tasks:
        for name, text in task.notebooks.items():
            for cell in nbformat.reads(text, as_version=4).cells:
                cell_name = cell.metadata.get("nbgrader", {}).get("grade_id")
                if cell_name and cell.cell_type == "code":
                    found[f"{task.student}/{name}/{cell_name}"] = code_hash(cell.source)
    return found


def write_outcomes(assignment: Assignment, collected: Collected, table: ClassTable) -> Path:
    """Write defense.csv, and what the class report shows; returns the path of the table."""
    latest = collected.latest
    rows: list[tuple[object, ...]] = [_COLUMNS]
    exercises = []
    for exercise in dict.fromkeys(place for sheet in latest.values() for place in sheet.code):
        notebook, _, cell = exercise.partition("/")
        tests = [f"{notebook}/{test}" for test in tests_of(assignment.released(notebook), cell)]
        labels = [
            label for test in tests_of(assignment.released(notebook), cell)
            for label in (test, f"{notebook}/{test}") if label in table.maximum
        ]  # fmt: skip
        passed = {
            row.student
            for row in table.members
            if labels and all(_is_full(row.points.get(label), table.maximum[label], collected.key.taken_from(row.student), f"{notebook}/{label.rpartition('/')[2]}") for label in labels)
        }  # fmt: skip
        asked = {student: sheet for student, sheet in latest.items() if exercise in sheet.code}
        marked = {student: sheet for student, sheet in asked.items() if sheet.right is not None}
        defended = {student for student, sheet in marked.items() if sheet.is_defended(exercise)}
        exercises.append(
            DefendedExercise(
                *(cell, len(passed), len(marked), len(passed & defended)),
                talk=tuple(sorted(passed & (marked.keys() - defended))),
                waiting=tuple(sorted(asked.keys() - marked.keys())),
            )
        )
        for student, sheet in sorted(asked.items()):
            right = (sheet.right or {}).get(exercise, "")
            outcome = "" if sheet.right is None else "defended" if student in defended else "not defended"
            off = sum(points for place, points in collected.key.taken_from(student).items() if place in tests)
            note = collected.problems.get(student, "")
            rows.append(
                (
                    student,
                    cell,
                    len(sheet.numbers_of(exercise)),
                    right,
                    outcome,
                    f"{-off:g}" if off else "",
                    note,
                )
            )
    strangers = dict.fromkeys(note for notes in collected.key.strangers.values() for note in notes)
    rows += [("", "", "", "", "", "", note) for note in (*collected.left, *strangers)]
    found = DefenseFound(tuple(exercises))
    path = folder_of(assignment) / "defense.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_rows(path, rows)
    found.store(assignment)
    return path


def _is_full(score: float | None, maximum: float, taken: Mapping[str, float], place: str) -> bool:
    """True for full marks, before what a defense took off."""
    return score is not None and score + taken.get(place, 0.0) >= maximum - 1e-9


def source_of(task: ToAsk, place: tuple[str, str]) -> str:
    cell = find_cell(nbformat.reads(task.notebooks[place[0]], as_version=4), place[1])
    return str(cell.source) if cell is not None else ""


def hashes_of(tasks: Sequence[ToAsk], places: Sequence[tuple[str, str]]) -> dict[str, Mapping[str, str]]:
    """By student and `<notebook>/<cell>`, the hash of the answers to some exercises."""
    return {
        task.student: {
            f"{place[0]}/{place[1]}": code_hash(source_of(task, place))
            for place in places
            if place[0] in task.notebooks
        }
        for task in tasks
    }
