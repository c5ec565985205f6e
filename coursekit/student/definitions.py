"""Which cell defines what: by this, answers are found again that lost their marks or their place."""

import ast
import re
from dataclasses import dataclass, field

from nbformat import NotebookNode

from coursekit.course import PLACEHOLDER
from coursekit.student.names import defined_names, parse

#: of cells that are parsed; longer ones, and those beyond the budget, are searched for definitions at the line's start
_LONGEST = 20_000
_BUDGET = 400_000
_DEFINITION = re.compile(r"^(?:async[ \t]+def|def|class)[ \t]+(\w+)", re.MULTILINE)
_FENCE = re.compile(r"\A\s*(`{3,}|~{3,})[ \t]*\w*[ \t]*\n(.*?)\n\1\s*\Z", re.DOTALL)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass
class Definitions:
    """The names that cells define, each cell looked at once; what may be parsed of one notebook has a bound."""

    _left: int = _BUDGET
    _found: dict[str, frozenset[str]] = field(default_factory=dict)

    def of(self, source: str) -> frozenset[str]:
        if source not in self._found:
            parsed = len(source) <= min(_LONGEST, self._left)
            self._left -= len(source) if parsed else 0
            self._found[source] = defined_names(source) if parsed else frozenset(_DEFINITION.findall(source))
        return self._found[source]


def expected_names(original: NotebookNode) -> frozenset[str]:
    """What an answer cell has to define: the functions and classes of the released cell, or else its variables."""
    if original.cell_type != "code":
        return frozenset()
    functions = frozenset(_DEFINITION.findall(original.source))
    return functions or frozenset(
        name for name in defined_names(original.source) if not _is_imported(original.source, name)
    )


def definitions_in(source: str, wanted: frozenset[str]) -> str:
    """The statements of a cell that define `wanted`, with the comments above them; empty if one is not answered."""
    tree = parse(source) if len(source) <= _LONGEST else None
    if tree is None:
        return ""
    lines = source.split("\n")
    pieces, last = [], 0
    for statement in tree.body:
        first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))]) - 1
        while first > last and lines[first - 1].lstrip().startswith("#"):
            first -= 1
        last = statement.end_lineno
        if wanted & _bound(statement):
            pieces.append("\n".join(lines[first:last]))
    found = "\n\n\n".join(pieces)
    return "" if PLACEHOLDER.search(found) else found


def deleted_names(source: str) -> frozenset[str]:
    """Names that stand in a `del` statement at the top level of a cell."""
    tree = parse(source) if len(source) <= _LONGEST else None
    statements = [s for s in tree.body if isinstance(s, ast.Delete)] if tree else []
    return frozenset(target.id for s in statements for target in s.targets if isinstance(target, ast.Name))


def code_in(source: str) -> str:
    """The code of a cell of text: what its fence holds, or all of it."""
    fenced = _FENCE.match(source)
    return fenced[2] if fenced else source


def is_code(source: str) -> bool:
    return len(source) <= 10 * _LONGEST and parse(source) is not None


def _bound(statement: ast.stmt) -> set[str]:
    if isinstance(statement, _FUNCTIONS):
        return {statement.name}
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return {
        node.id for target in targets if target for node in ast.walk(target) if isinstance(node, ast.Name)
    }


def _is_imported(source: str, name: str) -> bool:
    tree = parse(source)
    imports = [s for s in tree.body if isinstance(s, ast.Import | ast.ImportFrom)] if tree else []
    return any(name == (a.asname or a.name).split(".")[0] for s in imports for a in s.names)
