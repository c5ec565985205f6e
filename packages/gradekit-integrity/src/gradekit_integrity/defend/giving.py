"""Gives out pages: who gets one, about which exercises, until when, and what is said of those who get none."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from gradekit.course import Assignment
from gradekit.course.course_time import CourseTime
from gradekit.report.pages import folder_of, save_page
from gradekit_integrity.defend.collecting import hashes_of, source_of
from gradekit_integrity.defend.pages import defense_as_html
from gradekit_integrity.defend.proving import (
    ExercisePlace,
    ProvenQuestions,
    WantedPage,
    exercises_in,
    exercises_of,
    sheets_for,
)
from gradekit_integrity.defend.records import Issued, Key, issue, with_other_code, without_sheet
from gradekit_integrity.viva.class_answers import keys_of
from gradekit_integrity.viva.sheets import ToAsk

Tasks = Mapping[str, ToAsk]


@dataclass
class GivenPages:
    """What giving out pages led to.

    Args:
        students: who got one.
        notes: sentences about them.
        problems: why somebody got none, or none about an exercise, in a sentence each.
        longer: those who got none, by the other exercise in which their answer is longer.
    """

    folder: Path
    students: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    longer: dict[str, list[str]] = field(default_factory=dict)


def pages_wanted(
    assignment: Assignment, key: Key, tasks: Tasks, named: Sequence[str]
) -> dict[str, WantedPage]:
    """A page for each student: about the exercises that are named, else those of their present page, else the usual one.

    Raises:
        CourseError: there is no such exercise.
    """
    usual = exercises_in(assignment, named)
    latest = {} if named else key.latest()
    found = {}
    for student, task in tasks.items():
        places = usual
        if present := latest.get(student):
            looked_at = present.code | present.seen
            places = [place for place in exercises_of(assignment) if "/".join(place) in looked_at] or usual
        code = hashes_of([task], places)[student]
        found[student] = WantedPage(secrets.token_hex(8), places, code, partial(key.has_asked, student, code))
    return found


def students_without(key: Key, tasks: Tasks, wanted: Mapping[str, WantedPage], named: bool) -> list[str]:
    """Who has no page about their present code; with exercises that were named, who has none about these."""
    if named:
        return without_sheet(key, list(tasks), {name: page.code for name, page in wanted.items()})
    return with_other_code(key, list(tasks), hashes_of(list(tasks.values()), sorted(key.places())))


def give_pages(
    assignment: Assignment,
    key: Key,
    proven: Sequence[ProvenQuestions],
    wanted: Mapping[str, WantedPage],
    tasks: Tasks,
    count: int,
    due: datetime | None,
    clock: CourseTime,
) -> GivenPages:
    """Write the pages and note them in the key. A page that would lose an exercise about the same code stays."""
    given = GivenPages(folder_of(assignment) / "defense")
    now = datetime.now(UTC)
    latest = key.latest()
    replaced = []
    for sheet in sorted(sheets_for(proven, wanted, count), key=lambda one: one.student):
        student, page, present = sheet.student, wanted[sheet.student], latest.get(sheet.student)
        missing = [place for place in page.places if place not in sheet.questions]
        if present is not None and (lost := _still_asked(present, page, missing)) and not sheet.failed:
            given.problems.append(
                f"{student}: no new page, since too few other questions about {_cells(lost)} are left that other students' "
                "code doesn't also answer. The present page stays."
            )
            continue
        if not sheet.questions:
            stays = " The present page stays." if present is not None else ""
            given.problems.append(f"{student}: no page about {_cells(missing)}. {sheet.problem}{stays}")
            if present is None and not sheet.failed and (cell := _longer(assignment, tasks[student], page)):
                given.longer.setdefault(cell, []).append(student)
            continue
        if missing:
            given.problems.append(f"{student}: no questions about {_cells(missing)} on the page.")
        until = due or (present.due if present is not None and present.due and present.due > now else None)
        if present is not None:
            replaced.append((student, until))
        issued = issue(sheet, page.seed, now, until, page.code)
        in_words = clock.in_words(until) if until else ""
        save_page(
            given.folder / f"{student}.html",
            defense_as_html(assignment.name, issued, sheet.sources, in_words),
        )
        key.sheets.append(issued)
        given.students.append(student)
    given.notes += _of_replaced(replaced, due, clock)
    return given


def _of_replaced(
    replaced: Sequence[tuple[str, datetime | None]], due: datetime | None, clock: CourseTime
) -> list[str]:
    """Sentences about those who had a page before: its answers, and the time by which those to the new one are due."""
    if not replaced:
        return []
    notes = [
        f"answers to their earlier pages don't count any more: {', '.join(student for student, _ in replaced)}"
    ]
    if due is None:
        notes += [
            f"{student}: due {clock.in_words(until)}, as on the earlier page"
            if until
            else f"{student}: the new page names no time by which answers are due; --due sets one"
            for student, until in replaced
        ]
    return notes


def _still_asked(present: Issued, page: WantedPage, missing: Sequence[ExercisePlace]) -> list[ExercisePlace]:
    """The exercises about which a new page has no questions, and the present one has some about the same code."""
    return [
        place
        for place in missing
        if (asked := present.code.get("/".join(place))) and asked == page.code.get("/".join(place))
    ]


def _longer(assignment: Assignment, task: ToAsk, page: WantedPage) -> str:
    """The exercise in which the student's answer has the most statements; empty if the page is about that."""
    places = [place for place in exercises_of(assignment) if place[0] in task.notebooks]
    lengths = {place: len(keys_of(source_of(task, place))) for place in places}
    best = max(places, key=lengths.__getitem__, default=None)
    if best is None or lengths[best] <= max((lengths.get(place, 0) for place in page.places), default=0):
        return ""
    return best[1]


def _cells(places: Sequence[ExercisePlace]) -> str:
    return ", ".join(cell for _, cell in places)
