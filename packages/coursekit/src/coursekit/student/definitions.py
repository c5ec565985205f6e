"""Which cell defines what: by this, answers are found again that lost their marks or their place."""

import ast
import re
from dataclasses import dataclass, field

from nbformat import NotebookNode

from coursekit.course import PLACEHOLDER
from coursekit.student.names import defined_names, parse

#: characters of a cell that is parsed; longer ones, and those beyond the budget are searched for definitions at the line's start
LONGEST = 20_000
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
            parsed = len(source) <= min(LONGEST, self._left)
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


@dataclass(frozen=True)
class Piece:
    """A top-level statement with the comments above it."""

    text: str
    statement: ast.stmt

    @property
    def shape(self) -> str:
        """Equal for statements that differ in layout and comments only."""
        return ast.dump(self.statement)

    @property
    def is_seed(self) -> bool:
        """True for `torch.manual_seed(0)` and the like."""
        match self.statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name))):
                return name.endswith("seed")
        return False


def pieces_of(source: str) -> list[Piece]:
    """The statements of a cell; none if it is long or can't be parsed."""
    tree = parse(source) if len(source) <= LONGEST else None
    lines = source.split("\n")
    pieces, last = [], 0
    for statement in tree.body if tree else ():
        first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))]) - 1
        while first > last and lines[first - 1].lstrip().startswith("#"):
            first -= 1
        last = statement.end_lineno
        pieces.append(Piece("\n".join(lines[first:last]), statement))
    return pieces


def definitions_in(source: str, wanted: frozenset[str]) -> str:
    """The statements of a cell that define `wanted`, with the comments above them; empty if one is not answered.

    Variables come with all that is computed beside them.
    """
    found = "\n\n\n".join(piece.text for piece in _defining(pieces_of(source), wanted))
    return "" if PLACEHOLDER.search(found) else found


def without_definitions(source: str, *copied: frozenset[str]) -> str:
    """What `definitions_in` leaves of a cell; empty if these are seeds only."""
    pieces = pieces_of(source)
    gone = {id(piece) for wanted in copied for piece in _defining(pieces, wanted)}
    rest = [piece for piece in pieces if id(piece) not in gone]
    return "" if all(piece.is_seed for piece in rest) else "\n\n\n".join(piece.text for piece in rest)


def _defining(pieces: list[Piece], wanted: frozenset[str]) -> list[Piece]:
    places = [place for place, piece in enumerate(pieces) if wanted & _bound(piece.statement)]
    if not all(isinstance(pieces[place].statement, _FUNCTIONS) for place in places):
        return [p for p in pieces if not isinstance(p.statement, _FUNCTIONS) or wanted & _bound(p.statement)]
    return [pieces[place] for place in places]


def deleted_names(source: str) -> frozenset[str]:
    """Names that stand in a `del` statement at the top level of a cell."""
    tree = parse(source) if len(source) <= LONGEST else None
    statements = [s for s in tree.body if isinstance(s, ast.Delete)] if tree else []
    return frozenset(target.id for s in statements for target in s.targets if isinstance(target, ast.Name))


def code_in(source: str) -> str:
    """The code of a cell of text: what its fence holds, or all of it."""
    fenced = _FENCE.match(source)
    return fenced[2] if fenced else source


def is_code(source: str) -> bool:
    return len(source) <= 10 * LONGEST and parse(source) is not None


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
