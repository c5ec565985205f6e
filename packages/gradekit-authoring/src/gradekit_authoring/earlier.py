"""Makes `earlier.py`: the parts of earlier assignments that an assignment needs, from their solution cells.

A notebook imports these parts: `from earlier import make_padding_mask, PositionalEncoder`. The statements that define
the names are taken from the source notebooks, with everything that they need in turn.
"""

import ast
import builtins
import contextlib
import sys
from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType

from gradekit.checks.snippets import bound
from gradekit.course import Assignment, Course, CourseError, read_notebook
from gradekit.course.cells import runs_before_checks, without_markers
from gradekit.course.printing import quoted
from gradekit.submission.names import defined_names, parse
from gradekit.submission.statements import globals_in

MODULE = "earlier"
_FILE = f"{MODULE}.py"


def earlier_source(assignment: Assignment) -> str | None:
    """The text of the assignment's `earlier.py`; None if its notebooks import nothing from it.

    Raises:
        CourseError: no earlier assignment defines a name, or two define it differently.
    """
    wanted = sorted({name for cell in _cells(assignment) for name in cell.imported_from(MODULE).values()})
    if not wanted:
        return None
    parts = _Parts(assignment.course)
    for name in wanted:
        parts.take_from_before(assignment, name)
    head = (
        f'"""Parts of earlier assignments, made by `gradekit earlier {quoted(assignment.name)}` from their solutions.\n\n'
        'Not to be edited. It must lie beside the notebook.\n"""'
    )
    return parts.text(head)


def load_parts(assignment: Assignment, names: Iterable[str]) -> ModuleType:
    """A module with `names` as the solutions of the assignment define them.

    Raises:
        CourseError: a name is defined nowhere.
    """
    parts = _Parts(assignment.course)
    for name in names:
        parts.take(assignment, name)
    module = ModuleType(assignment.name)
    folder = str(assignment.source_folder)
    sys.path.insert(0, folder)  # for imports of files next to the notebook
    try:
        exec(compile(parts.text(""), f"<solutions of {assignment.name}>", "exec"), module.__dict__)
    finally:
        sys.path.remove(folder)
    return module


def write_earlier(assignment: Assignment) -> Path | None:
    """Write `earlier.py` next to the source notebook; returns its path, or None if it isn't needed."""
    source = earlier_source(assignment)
    if source is None:
        return None
    path = assignment.source_notebooks()[0].with_name(_FILE)
    path.write_text(source, encoding="utf-8")
    return path


@dataclass
class _Parts:
    """Statements taken from the notebooks of a course, with everything that they need."""

    course: Course
    #: by (assignment, cell, line), the order in which they run
    statements: dict[tuple[str, int, int], str] = field(default_factory=dict)
    imports: dict[str, ast.Import | ast.ImportFrom] = field(default_factory=dict)
    origin: dict[str, str] = field(default_factory=dict)

    def take_from_before(self, assignment: Assignment, name: str) -> None:
        before = [other for other in self.course.assignments() if other.name < assignment.name]
        for other in reversed(before):
            if any(name in defined_names(cell.source) for cell in _cells(other) if not cell.imports(name)):
                self.take(other, name)
                return
        raise CourseError(
            f"{assignment.name} imports `{name}` from {_FILE}, but no earlier assignment defines it"
        )

    def take(self, assignment: Assignment, name: str) -> None:
        cells = [cell for cell in _cells(assignment) if name in defined_names(cell.source)]
        if not cells:
            raise CourseError(f"no notebook of {assignment.name} defines `{name}`")
        cell = cells[-1]
        if original := cell.imported_from(MODULE).get(name):
            if original != name:
                raise CourseError(f"{assignment.name}: import `{original}` from {_FILE} under its own name")
            self.take_from_before(assignment, name)
            return
        if self.origin.setdefault(name, assignment.name) != assignment.name and not cell.imports(name):
            raise CourseError(
                f"both {self.origin[name]} and {assignment.name} define `{name}`: rename one of them"
            )
        for statement in cell.tree.body:
            if name in defined_names(ast.unparse(statement)):
                self._take_statement(assignment, cell, statement, name)

    def _take_statement(self, assignment: Assignment, cell: "_Cell", statement: ast.stmt, name: str) -> None:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            alias = next(a for a in statement.names if (a.asname or a.name).split(".")[0] == name)
            own = copy(statement)
            own.names = [alias]
            if ast.unparse(self.imports.setdefault(name, own)) != ast.unparse(own):
                raise CourseError(
                    f"{assignment.name} imports `{name}` from a different place than an earlier assignment"
                )
            return
        key = (assignment.name, cell.index, statement.lineno)
        if key in self.statements:
            return
        text = cell.text_of(statement)
        self.statements[key] = text
        with contextlib.suppress(SyntaxError):  # a magic
            needed = set(globals_in(text)) - bound(text) - set(dir(builtins))
            for other in sorted(needed):
                self.take(assignment, other)

    def text(self, head: str) -> str:
        blocks = [text for _, text in sorted(self.statements.items())]
        parts = [head, _import_text(self.imports.values()), *blocks]
        return "\n\n\n".join(part for part in parts if part).replace('"""\n\n\n', '"""\n\n', 1) + "\n"


@dataclass(frozen=True)
class _Cell:
    index: int
    source: str

    @cached_property
    def tree(self) -> ast.Module:
        return parse(self.source) or ast.Module([], [])

    def imported_from(self, module: str) -> dict[str, str]:
        """The names that the cell imports from a module, and what they are called there."""
        return {
            alias.asname or alias.name: alias.name
            for statement in self.tree.body
            if isinstance(statement, ast.ImportFrom) and statement.module == module
            for alias in statement.names
        }

    def imports(self, name: str) -> bool:
        return any(
            isinstance(statement, ast.Import | ast.ImportFrom)
            and name in defined_names(ast.unparse(statement))
            for statement in self.tree.body
        )

    def text_of(self, statement: ast.stmt) -> str:
        decorators = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(decorator.lineno for decorator in decorators)])
        lines = self.source.split("\n")[first - 1 : statement.end_lineno]
        return without_markers("\n".join(lines))


def _cells(assignment: Assignment) -> Iterator[_Cell]:
    """The code cells except for test cells and demo cells."""
    for path in assignment.source_notebooks():
        for index, cell in enumerate(read_notebook(path).cells):
            if runs_before_checks(cell):
                yield _Cell(index, cell.source)


def _import_text(imports: Iterable[ast.Import | ast.ImportFrom]) -> str:
    """Import statements of one name each: the standard library first, `import` before `from`."""
    lines: dict[bool, list[str]] = {True: [], False: []}
    for statement in imports:
        module = (isinstance(statement, ast.ImportFrom) and statement.module) or statement.names[0].name
        lines[module.split(".")[0] in sys.stdlib_module_names].append(ast.unparse(statement))
    in_order = [
        sorted(section, key=lambda line: (line.startswith("from"), line)) for section in lines.values()
    ]
    return "\n\n".join("\n".join(section) for section in in_order if section)
