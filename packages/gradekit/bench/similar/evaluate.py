"""Plants copies in classes and counts which pairs `gradekit similar` lists, and which it lists wrongly."""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from types import ModuleType

from nbformat import NotebookNode

from bench.folders import assignment
from bench.similar import attention, copies, seq2seq
from bench.similar.students import answers_of
from gradekit.checks.variants import alternatives_of, mistakes_of
from gradekit.course import Assignment, blank_copy, read_notebook
from gradekit.course.cells import find_cell, is_answer_cell
from gradekit_integrity.similar.surprise import compare_works
from gradekit_integrity.similar.works import Reader, Work

WAYS = {"02_attention": attention, "05_seq2seq": seq2seq}
#: of each kind, in each class
_PLANTED = 4
#: the share of answers that are the instructor's solution, in a class made from known answers
_SOLUTION = 0.5
_KINDS = {
    "unchanged": copies.unchanged,
    "renamed": copies.renamed,
    "comments": copies.commented,
    "reordered": copies.reordered,
    "all of these, edited": copies.disguised,
}
_PARTS = (1, 2, 3)

Answers = dict[str, str]
Student = Callable[[random.Random], Answers]


@dataclass
class Planted:
    """A class by name, and the kind of copy that each planted pair is."""

    people: dict[str, Answers]
    pairs: dict[frozenset[str], str] = field(default_factory=dict)


def evaluate(names: list[str], seeds: list[int], size: int) -> None:
    """Print a table for independent students, and one for students whose answers are edits of one solution."""
    for title, student_of in (("independent", _independent), ("known answers", _known)):
        for name in names:
            found, planted, wrong, seconds = Counter[str](), Counter[str](), 0, 0.0
            student = student_of(name)
            for seed in seeds:
                made = _planted(student, size, random.Random(f"{name} {seed}"))
                listed, took = _listed(assignment(name), made.people)
                planted.update(made.pairs.values())
                found.update(made.pairs[pair] for pair in listed if pair in made.pairs)
                wrong += sum(pair not in made.pairs for pair in listed)
                seconds += took
            print(
                f"{name}, {title}: {len(seeds)} classes of {size} and copies, {seconds / len(seeds):.1f} s each"
            )
            print("\n".join(f"  {kind}: {found[kind]} of {planted[kind]}" for kind in planted))
            print(f"  pairs listed wrongly: {wrong}", flush=True)


def _independent(name: str) -> Student:
    module: ModuleType = WAYS[name]
    return lambda draw: answers_of(module, draw)


def _known(name: str) -> Student:
    """Students who have the instructor's solution, or a known mistake or alternative, in each exercise."""
    found = assignment(name)
    source = _source(found)
    variants: dict[str, list[str]] = {cell: [] for cell in WAYS[name].ANSWERS}
    for variant in (*mistakes_of(found), *alternatives_of(found)):
        if variant.cell in variants:
            variants[variant.cell].append(find_cell(variant.apply(source), variant.cell).source)
    right = {cell: find_cell(source, cell).source for cell in variants}

    def student(draw: random.Random) -> Answers:
        return {
            cell: right[cell] if draw.random() < _SOLUTION else draw.choice(known)
            for cell, known in variants.items()
        }

    return student


def _planted(student: Student, size: int, draw: random.Random) -> Planted:
    made = Planted({f"student {number}": student(draw) for number in range(size)})
    left = list(made.people)
    for kind, change in _KINDS.items():
        for _ in range(_PLANTED):
            original = left.pop()
            _add(made, kind, [original], change(made.people[original], draw))
    for _ in range(_PLANTED):
        one, other = left.pop(), left.pop()
        _add(made, "merged from two", [one, other], copies.merged(made.people[one], made.people[other], draw))
    for count in _PARTS:
        for _ in range(_PLANTED):
            original = left.pop()
            mixed = copies.some_exercises(count)(made.people[original], student(draw), draw)
            _add(made, f"{count} exercises, renamed", [original], mixed)
    return made


def _add(made: Planted, kind: str, originals: list[str], copy: Answers) -> None:
    name = f"copy {len(made.people)}"
    made.people[name] = copy
    made.pairs |= {frozenset((original, name)): kind for original in originals}


def _listed(found: Assignment, people: dict[str, Answers]) -> tuple[list[frozenset[str]], float]:
    begin = time.process_time()
    reader = Reader(found)
    works = list(_works(reader, blank_copy(_source(found)), people))
    comparison = compare_works(works)
    names = [frozenset((works[pair.first].student, works[pair.second].student)) for pair in comparison.pairs]
    return names, time.process_time() - begin


def _works(reader: Reader, blank: NotebookNode, people: dict[str, Answers]) -> Iterator[Work]:
    for student, answers in people.items():
        notebook, work = deepcopy(blank), Work(student, student)
        for cell in filter(is_answer_cell, notebook.cells):
            cell.source = answers.get(cell.metadata.nbgrader.grade_id, cell.source)
        reader.add(work, notebook)
        yield work


def _source(found: Assignment) -> NotebookNode:
    return read_notebook(found.source_notebooks()[0])
