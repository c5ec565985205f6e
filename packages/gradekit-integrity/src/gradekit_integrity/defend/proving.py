"""Sheets with closed questions: made for each student, and chosen so that others' code doesn't answer them."""

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import nbformat

from gradekit.course import Assignment, CourseError
from gradekit.course.cells import find_cell, grade_id, is_answer_cell, nbgrader_metadata
from gradekit.course.kernels import other_language
from gradekit.course.printing import quoted
from gradekit.session.kernel import NotStarted
from gradekit.verdict.opened import GradingJob
from gradekit_integrity.defend.closed import ClosedQuestion, closed_questions
from gradekit_integrity.defend.knowledge import Knowledge, choose_closed, said_by
from gradekit_integrity.defend.probed import ProbedCode
from gradekit_integrity.viva.class_answers import keys_of
from gradekit_integrity.viva.running import tests_of
from gradekit_integrity.viva.sheets import NO_CODE, Sheet, ToAsk, answers_in, both_runs, each_task

#: notebook and answer cell
ExercisePlace = tuple[str, str]


@dataclass
class ProvenQuestions:
    """All questions about a student's answers to some exercises to which two runs agree, and the answers' sources.

    Args:
        problem: why there are no questions, or fewer, in a sentence.
        dropped: how many questions of the first run the second didn't confirm.
    """

    student: str
    questions: dict[ExercisePlace, list[ClosedQuestion]] = field(default_factory=dict)
    sources: dict[ExercisePlace, str] = field(default_factory=dict)
    problem: str = ""
    dropped: int = 0


@dataclass(frozen=True)
class WantedPage:
    """What a student's page is to ask about, in which order, and which questions it is not to ask.

    Args:
        seed: unguessable.
        code: the hashes of the present answers, by exercise as `<notebook>/<cell>`.
    """

    seed: str
    places: Sequence[ExercisePlace]
    code: Mapping[str, str]
    was_asked: Callable[[ClosedQuestion], bool]


@dataclass(frozen=True)
class DefenseSheet:
    """The questions that a student gets, by exercise; none about one with too few.

    Args:
        failed: the code couldn't be run or has nothing to ask about.
    """

    student: str
    questions: dict[ExercisePlace, list[ClosedQuestion]]
    sources: dict[ExercisePlace, str]
    problem: str = ""
    failed: bool = False


def prove(assignment: Assignment, places: Collection[ExercisePlace], task: ToAsk) -> ProvenQuestions:
    """Run a student's notebooks twice, in kernels of their own with different seeds, and keep what both agree on."""
    proven = ProvenQuestions(task.student, problem=task.problem)
    sheet = Sheet(task.student)
    try:
        for name, text in {} if task.problem else task.notebooks.items():
            if name not in {book for book, _ in places}:
                continue
            notebook = nbformat.reads(text, as_version=4)
            if language := other_language(notebook.metadata):
                proven.problem = f"{name} is not in Python ({language}), so its code can't be traced."
                continue
            job = GradingJob(assignment, name, notebook, assignment.released(name), task.how, task.own_files)
            answers, _ = answers_in(job, task.common, ProbedCode)
            wanted = [
                one
                for one in answers
                if (name, one.asked.cell) in places and one.asked.code.functions and one.drivers
            ]
            for one in wanted:
                cell = find_cell(notebook, one.asked.cell)
                proven.sources[name, one.asked.cell] = cell.source if cell is not None else ""
            if not wanted:
                continue
            first, second = both_runs(job, wanted, sheet, closed_questions)
            proven.dropped += sum(one not in second for one in first)
            for question in first:
                if question in second:
                    proven.questions.setdefault((name, question.cell), []).append(question)
    except NotStarted as error:
        proven.problem = f"The notebook could not be run: {error}."
    proven.problem = proven.problem or sheet.problem
    if not proven.questions and not proven.problem:
        proven.problem = NO_CODE
    return proven


def prove_all(
    assignment: Assignment, places: Collection[ExercisePlace], tasks: Sequence[ToAsk], workers: int
) -> Iterator[ProvenQuestions]:
    """`prove` for each task, as soon as it is ready."""
    return each_task(assignment, tasks, partial(prove, assignment, places), _nothing, workers)


def _nothing(student: str, problem: str) -> ProvenQuestions:
    return ProvenQuestions(student, problem=problem)


def sheets_for(
    proven: Sequence[ProvenQuestions], wanted: Mapping[str, WantedPage], count: int
) -> list[DefenseSheet]:
    """The pages that are wanted, by student, with `count` questions about each exercise; one with too few is left out."""
    known = {place: _known(proven, place) for page in wanted.values() for place in page.places}
    sheets = []
    for one in proven:
        if one.student not in wanted:
            continue
        page = wanted[one.student]
        chosen: dict[ExercisePlace, list[ClosedQuestion]] = {}
        for place in page.places:
            if place not in one.questions:
                continue
            own = known[place][one.student]
            had = {said_by(other.right) for found in chosen.values() for other in found}
            new = [
                other
                for other in own.questions
                if said_by(other.right) not in had and not page.was_asked(other)
            ]
            questions = choose_closed(
                Knowledge(own.code, new), known[place].values(), count, f"{page.seed} {place}"
            )
            if questions:
                chosen[place] = questions
        problem = one.problem
        if not chosen and not problem:
            problem = (
                "Too few questions are left, without those that other students' code also answers, those with the same answer, and those "
                "of an earlier page; or too little other code is known to tell."
            )
        sources = {place: one.sources[place] for place in chosen}
        sheets.append(DefenseSheet(one.student, chosen, sources, problem, bool(one.problem)))
    return sheets


def _known(proven: Sequence[ProvenQuestions], place: ExercisePlace) -> dict[str, Knowledge]:
    return {
        one.student: Knowledge(keys_of(one.sources[place]), one.questions.get(place, []))
        for one in proven
        if place in one.sources
    }


def exercises_of(assignment: Assignment) -> dict[ExercisePlace, float]:
    """The answer cells that can be asked about, with the points of their tests.

    Raises:
        CourseError: there are none.
    """
    points: dict[ExercisePlace, float] = {}
    for name in assignment.released_names():
        released = assignment.released(name)
        for cell in released.cells:
            cell_name = grade_id(cell)
            if cell_name and cell.cell_type == "code" and is_answer_cell(cell):
                tests = [find_cell(released, test) for test in tests_of(released, cell_name)]
                worth = sum(float(nbgrader_metadata(test).get("points") or 0) for test in tests if test)
                if tests:
                    points[name, cell_name] = worth
    if not points:
        raise CourseError(
            f"{assignment.name} has no exercise in code with tests, so there is nothing to ask about"
        )
    return points


def exercises_in(assignment: Assignment, wanted: Sequence[str]) -> list[ExercisePlace]:
    """The answer cells to ask about: those that are named, or the one whose tests have the most points.

    Raises:
        CourseError: no code cell with tests has such a name.
    """
    points = exercises_of(assignment)
    names = sorted({cell for _, cell in points})
    if unknown := [name for name in wanted if name not in names]:
        raise CourseError(
            f"{assignment.name} has no exercise {quoted(unknown[0])} in code with tests; it has {', '.join(names)}"
        )
    if wanted:
        return [place for place in points if place[1] in wanted]
    return [max(points, key=points.__getitem__)]


def code_hash(source: str) -> str:
    """Equal for equal sources: whether the code is still the one that was asked about."""
    return hashlib.sha256(source.encode(errors="replace")).hexdigest()[:16]
