"""Makes the mutants of an assignment's solution cells.

Standard mutants are faults that no single call of ordinary size can show, put around each function of a solution.
Which of them a function can have follows from what its checks give to it, noted in a run of the solution.
"""

import ast
import random
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, NamedTuple

from nbformat import NotebookNode

from gradekit.checks.variants import Equivalent, Variant
from gradekit.course import Assignment, read_notebook
from gradekit.course.cells import answer_of, find_cell, is_answer_cell
from gradekit.submission.names import imported_by, parse
from gradekit_authoring.grade_variants import value_after
from gradekit_authoring.mutants.operators import OPERATORS, Code


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
    return frozenset(
        name
        for cell in notebook.cells
        if cell.cell_type == "code" and (tree := parse(cell.source))
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in imported_by(node)
    )


#: what each fault is, in the words of a report
FAULTS = {
    "remembers": "returns its first result for all arguments of these shapes",
    "in_place": "changes its first array in place",
    "in_place_extra": "changes its first array in place if it is given an optional argument",
    "axis_of_one": "is wrong for an axis of size 1",
    "squeezed": "drops axes of size 1 from its result for a first axis of size 1",
    "above_40": "is wrong for an axis longer than 40",
    "above_512": "is wrong for an axis longer than 512",
    "five_axes": "is wrong for five axes",
    "large": "is wrong for numbers above 30",
    "float64": "loses the digits of double precision",
    "large_id": "is wrong for ids above 26",
    "repeated": "is wrong for an id that occurs twice in a row",
    "training": "leaves the model in training mode",
    "seeded": "sets the random seed",
    "ignores": "ignores",
    "halves": "halves",
}


def standard_mutants_of(assignment: Assignment) -> list[Mutant]:
    """The standard mutants of all solution cells, in the order of the notebooks; grades each solution once."""
    return [
        mutant
        for solution in solutions_of(assignment)
        for mutant in _of_cell(assignment, solution.cell, solution.source, solution.tests)
    ]


def is_standard(entry: Equivalent) -> bool:
    """Whether an entry of `equivalent.py` is about a standard mutant: it has words instead of lines."""
    return not entry.before and entry.after.startswith("`")


def _of_cell(assignment: Assignment, cell: str, source: str, tests: tuple[str, ...]) -> Iterator[Mutant]:
    targets = _targets(source)
    if not targets:
        return
    text = files("gradekit_authoring.mutants").joinpath("faults.py").read_text(encoding="utf-8")
    watched = "\n".join(f"{name} = watched({name}, {name!r})" for name in targets)
    variant = Mutant(f"the notes of {cell}", cell, source=f"{source}\n{text}\n{watched}", tests=tests)
    notes = value_after(assignment, variant, "_seen")
    for name in targets:
        for fault, parameter in _faults_of(_Notes(**notes[name])):
            words = f"`{name}` {FAULTS[fault]}" + (f" `{parameter}`" if parameter else "")
            yield Mutant(
                ":".join(filter(None, (cell, "standard", name, fault, parameter.replace(" ", ".")))),
                cell,
                source=f"{source}\n{text}\n{name} = wrong({name}, {fault!r}, {parameter!r})",
                after=words,
                tests=tests,
            )


@dataclass(frozen=True)
class _Notes:
    """The kinds of arguments and results of a function, the numbers of axes, and whether it draws random numbers."""

    arguments: dict[str, list[str]]
    returns: list[str]
    axes: list[int]
    draws: bool

    def takes(self, *kinds: str) -> bool:
        return any(
            kind.split()[0].rstrip(",") in kinds for found in self.arguments.values() for kind in found
        )


def _faults_of(notes: _Notes) -> Iterator[tuple[str, str]]:
    returns = {kind.rstrip(", …") for kind in notes.returns}
    values = {"floats", "ids", "bools", "int", "float", "str"} & returns
    arrays = notes.takes("floats", "ids", "bools")
    called = {
        kind for name, found in notes.arguments.items() if not name.startswith("__init__ ") for kind in found
    }
    optional = any("default" in kind for kind in called)
    conditions: dict[str, Callable[[], Any]] = {
        "remembers": lambda: values and arrays,
        "in_place": lambda: arrays,
        "in_place_extra": lambda: arrays and optional,
        "axis_of_one": lambda: values and arrays,
        "squeezed": lambda: values and arrays and max(notes.axes, default=0) > 1,
        "above_40": lambda: values and arrays,
        "above_512": lambda: values and arrays,
        "five_axes": lambda: values and len(notes.axes) > 2 and max(notes.axes) > 3,
        "large": lambda: values and notes.takes("floats"),
        "float64": lambda: "floats" in values and notes.takes("floats"),
        "large_id": lambda: values and notes.takes("ids"),
        "repeated": lambda: values and notes.takes("ids"),
        "training": lambda: notes.takes("module"),
        "seeded": lambda: notes.draws,
    }
    yield from ((fault, "") for fault, condition in conditions.items() if condition())
    for parameter, kinds in notes.arguments.items():
        if any(kind.split()[0] in ("int", "float") for kind in kinds):
            if any("default" in kind for kind in kinds):
                yield "ignores", parameter
            yield "halves", parameter


def _targets(source: str) -> list[str]:
    """The functions and classes that a cell defines, without those whose names begin with an underscore."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return []
    kinds = ast.FunctionDef | ast.ClassDef
    return [node.name for node in tree.body if isinstance(node, kinds) and not node.name.startswith("_")]
