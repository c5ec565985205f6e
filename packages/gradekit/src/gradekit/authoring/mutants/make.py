"""Makes the mutants of an assignment's solution cells."""

import ast
import random
import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from nbformat import NotebookNode

from gradekit.authoring.mutants.code import Code
from gradekit.authoring.mutants.operators import OPERATORS
from gradekit.checks.variants import Variant
from gradekit.course import Assignment, read_notebook
from gradekit.course.cells import answer_of, find_cell, is_answer_cell
from gradekit.submission.names import imported_by, parse


@dataclass(frozen=True)
class Mutant(Variant):
    """The solution of a cell with one small edit; `before` and `after` are the lines that it changes.

    `tests` are the test cells that should catch it.
    """

    before: str = ""
    after: str = ""
    tests: tuple[str, ...] = ()

    def exercises(self) -> set[str]:
        return set(self.tests)

    def diff(self) -> list[str]:
        sides = ("-", self.before), ("+", self.after)
        return [f"{sign} {line}" for sign, text in sides for line in text.splitlines()]


class Solution(NamedTuple):
    """A solution cell, the test cells that are about it, and the names that its notebook imports."""

    cell: str
    source: str
    tests: tuple[str, ...]
    imported: frozenset[str]


def solutions_of(assignment: Assignment) -> Iterator[Solution]:
    """All answer cells that a test cell with hidden checks is about, in the order of the notebooks."""
    for path in assignment.source_notebooks():
        notebook = read_notebook(path)
        tests: dict[str, list[str]] = {}
        for test in assignment.bound_cells(path.stem, notebook.cells):
            tests.setdefault(answer_of(notebook, test), []).append(test)
        imported = _imported_names(notebook)
        for name, its_tests in tests.items():
            cell = find_cell(notebook, name)
            if cell is not None and cell.cell_type == "code" and is_answer_cell(cell):
                yield Solution(name, cell.source, tuple(its_tests), imported)


def mutants_of(assignment: Assignment) -> list[Mutant]:
    """The mutants of all solutions."""
    return [
        mutant
        for solution in solutions_of(assignment)
        for mutant in mutants_of_cell(solution.cell, solution.source, solution.imported, solution.tests)
    ]


def mutants_of_cell(
    cell: str, source: str, imported: frozenset[str] = frozenset(), tests: tuple[str, ...] = ()
) -> list[Mutant]:
    """The mutants of one solution, named by line, operator and number: `attention:12:operator-3`.

    All of them compile, and none is the same as another or as the solution. A cell that isn't plain Python has none.
    """
    try:
        code = Code(source, imported)
        seen = {ast.dump(code.tree)}
    except (SyntaxError, ValueError):
        return []
    found: list[Mutant] = []
    numbers: Counter[tuple[int, str]] = Counter()
    edits = [
        (kind, edit)
        for node in code.nodes()
        for kind, operator in OPERATORS.items()
        for edit in operator(code, node)
    ]
    for kind, edit in sorted(edits, key=lambda pair: code.line_of(pair[1].start)):
        mutated = code.apply(edit)
        try:
            tree = ast.parse(mutated)
            compile(tree, cell, "exec")
        except (SyntaxError, ValueError):
            continue
        if (dumped := ast.dump(tree)) in seen:
            continue
        seen.add(dumped)
        line = code.line_of(edit.start)
        numbers[line, kind] += 1
        name = f"{cell}:{line}:{kind}-{numbers[line, kind]}"
        before, after = _changed_lines(source, mutated)
        found.append(Mutant(name, cell, source=mutated, before=before, after=after, tests=tests))
    return found


def sample(mutants: list[Mutant], count: int) -> list[Mutant]:
    """Some of the mutants, the same each time, in their order."""
    chosen = set(random.Random(0).sample(range(len(mutants)), min(count, len(mutants))))
    return [mutant for place, mutant in enumerate(mutants) if place in chosen]


def _changed_lines(source: str, mutated: str) -> tuple[str, str]:
    """The lines that differ, without the indentation that they share."""
    old, new = source.split("\n"), mutated.split("\n")
    while old and new and old[0] == new[0]:
        del old[0], new[0]
    while old and new and old[-1] == new[-1]:
        del old[-1], new[-1]
    lines = textwrap.dedent("\n".join([*old, *new])).split("\n")
    return "\n".join(lines[: len(old)]), "\n".join(lines[len(old) :])


def _imported_names(notebook: NotebookNode) -> frozenset[str]:
    """The names that the notebook's cells import."""
    return frozenset(
        name
        for cell in notebook.cells
        if cell.cell_type == "code" and (tree := parse(cell.source))
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in imported_by(node)
    )
