"""Measures `gradekit defend` on known answers: how many can be asked about, and what somebody with other code knows."""

import json
import pickle
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat

from bench.defend_check import is_true
from bench.meter import ROOT
from bench.similar.evaluate import WAYS
from bench.similar.students import answers_of
from gradekit.checks.variants import Variant, alternatives_of, mistakes_of
from gradekit.course import Assignment, Course, CourseError, read_notebook
from gradekit.verdict.opened import HowToRun
from gradekit_integrity.defend.knowledge import Knowledge, choose_closed, is_near
from gradekit_integrity.defend.proving import ExercisePlace, ProvenQuestions, exercises_in, prove_all
from gradekit_integrity.viva.class_answers import keys_of
from gradekit_integrity.viva.sheets import ToAsk

QUESTIONS = 3
_CLASSES = 5
_RIGHT, _WRONG = "right", "wrong"


@dataclass(frozen=True)
class Plan:
    """How many answers of each kind to each exercise at most, and a file to keep the runs in.

    Args:
        variants: alternatives, and as many mistakes.
        unseen: right answers, and as many wrong ones, that the catalogs were not written for.
        written: right answers that a program wrote.
    """

    variants: int
    unseen: int
    written: int
    workers: int
    kept: Path | None = None


def defend(names: Sequence[str], plan: Plan) -> int:
    """Print the figures of each exercise; returns 1 if a marked option is false."""
    total = Counter[str]()
    print(
        f"{'exercise':36} answers  asked  checked  false  questions  chance  other code  near code  half known: questions  other code"
    )
    for name in names:
        assignment = Course(ROOT).assignment(name)
        places = list(_places(assignment))
        begun = time.perf_counter()
        students = list(_students(assignment, places, plan))
        tasks = [ToAsk(one, {places[0][0]: text}, {}, HowToRun()) for one, text in students]
        proven = {one.student: one for one in prove_all(assignment, places, tasks, plan.workers)}
        seconds = (time.perf_counter() - begun) * plan.workers / len(tasks)
        if plan.kept:
            plan.kept.with_suffix(f".{name}").write_bytes(pickle.dumps((places, proven, dict(students))))
        for place in places:
            total += _measured(place, proven, dict(students), assignment)
        print(f"{name}: {seconds:.1f} s for the {len(places)} exercises of a student", flush=True)
    print(
        f"\nanswers: {total['answers']}, with {QUESTIONS} questions: {total['asked']}"
        f"\nright answers: {total['right answers']}, with {QUESTIONS} questions: {total['right asked']}"
        f"\nquestions checked: {total['checked']}, marked option false: {total['false']}, not checkable: {total['unchecked']}"
        f"\nright by chance: {_percent(total, 'chance')}, with another right answer: {_percent(total, 'other')}"
        f"\nwith a right answer of nearly the same code: {_percent(total, 'other', 'near ')}"
        f"\nwhere half of the class is known, by chance {_percent(total, 'chance', 'half ')}, with another right answer "
        f"{_percent(total, 'other', 'half ')}"
    )
    return 1 if total["false"] else 0


def _percent(counts: Counter[str], what: str, kind: str = "") -> str:
    return f"{counts[kind + what] / 10 / (counts[f'{kind}questions'] or 1):.1f}%"


def _places(assignment: Assignment) -> Iterator[ExercisePlace]:
    for cell in dict.fromkeys(one.cell for one in alternatives_of(assignment)):
        try:
            yield from exercises_in(assignment, [cell])
        except CourseError:  # without tests in code
            continue


def _students(
    assignment: Assignment, places: Sequence[ExercisePlace], plan: Plan
) -> Iterator[tuple[str, str]]:
    """Students who answer each exercise with its next answer of a kind, until all are used up."""
    source = read_notebook(assignment.source_folder / f"{places[0][0]}.ipynb")
    yield f"{_RIGHT} solution", nbformat.writes(source)
    kinds: list[tuple[str, Sequence[Variant], int]] = [
        (_RIGHT, alternatives_of(assignment), plan.variants),
        (_WRONG, mistakes_of(assignment), plan.variants),
        (f"{_RIGHT} unseen", _unseen(assignment.name, right=True), plan.unseen),
        (f"{_WRONG} unseen", _unseen(assignment.name, right=False), plan.unseen),
    ]
    for kind, variants, most in kinds:
        mine = [[one for one in variants if one.cell == cell][:most] for _, cell in places]
        for number in range(max(map(len, mine), default=0)):
            notebook = source
            for of_cell in mine:
                if number < len(of_cell):
                    notebook = of_cell[number].apply(notebook)
            yield f"{kind} {number}", nbformat.writes(notebook)
    ways = WAYS.get(assignment.name)
    for seed in range(plan.written if ways else 0):
        notebook = source
        for cell, text in answers_of(ways, random.Random(seed)).items():
            notebook = Variant("", cell, source=text).apply(notebook)
        yield f"{_RIGHT} written {seed}", nbformat.writes(notebook)


def _unseen(name: str, right: bool) -> list[Variant]:
    answers = json.loads((ROOT / "tests" / "course" / "unseen" / f"{name}.json").read_text())
    return [
        Variant(one["name"], one["cell"], source=one["source"]) for one in answers if one["right"] == right
    ]


def _measured(
    place: ExercisePlace,
    proven: dict[str, ProvenQuestions],
    notebooks: dict[str, str],
    assignment: Assignment,
) -> Counter[str]:
    known = {
        name: Knowledge(keys_of(one.sources[place]), one.questions.get(place, []))
        for name, one in proven.items()
        if place in one.sources
    }
    different = {one.code: name for name, one in reversed(known.items())}
    known = {name: known[name] for name in different.values()}
    counts = Counter[str](answers=len(known))
    counts["right answers"] = sum(name.startswith(_RIGHT) for name in known)
    for name, one in known.items():
        has_sheet = len(choose_closed(one, known.values(), QUESTIONS, "all")) == QUESTIONS
        counts["asked"] += has_sheet
        counts["right asked"] += has_sheet and name.startswith(_RIGHT)
        counts += _strangers(name, known)
        for question in one.questions:
            verdict = is_true(assignment, place, notebooks[name], question)
            counts["unchecked" if verdict is None else "checked"] += 1
            if verdict is False:
                counts["false"] += 1
                print(f"FALSE {name}: {question}")
    print(
        f"{assignment.name + ' ' + place[1]:36} {len(known):7} {counts['asked']:6} {counts['checked']:8} {counts['false']:6} "
        f"{counts['questions']:10} {_percent(counts, 'chance')} {_percent(counts, 'other'):>11} {_percent(counts, 'other', 'near '):>10} "
        f"{counts['half questions']:22} {_percent(counts, 'other', 'half '):>11}",
        flush=True,
    )
    return counts


def _strangers(name: str, known: dict[str, Knowledge]) -> Counter[str]:
    """Choose sheets, and let those with a right answer try them who were not known.

    Each alone, as in a class whose other answers and the course's are known; or, with `half`, together with half of the
    others.
    """
    counts = Counter[str]()
    others = sorted(one for one in known if one != name)
    for stranger in (one for one in others if one.startswith(_RIGHT)):
        classmates = [known[one] for one in others if one != stranger]
        counts += _tried(known[name], classmates, [known[stranger]], stranger, "")
    for seed in range(_CLASSES):
        random.Random(f"{name} {seed}").shuffle(others)
        half = len(others) // 2
        strangers = [known[one] for one in others[half:] if one.startswith(_RIGHT)]
        counts += _tried(known[name], [known[one] for one in others[:half]], strangers, str(seed), "half ")
    return counts


def _tried(
    own: Knowledge, classmates: Sequence[Knowledge], strangers: Sequence[Knowledge], seed: str, how: str
) -> Counter[str]:
    """How often strangers are right about a sheet, in thousandths of questions."""
    counts = Counter[str]()
    chosen = choose_closed(own, classmates, QUESTIONS, seed)
    for stranger in strangers if len(chosen) == QUESTIONS else ():
        kind = how + ("near " if is_near(own, stranger) else "")
        counts[f"{kind}questions"] += len(chosen)
        counts[f"{kind}chance"] += sum(round(1000 * one.chance) for one in chosen)
        counts[f"{kind}other"] += sum(round(1000 * stranger.chance(one)) for one in chosen)
    return counts
