"""The statements of a cell: what they define, and which others they depend on. Found without running them."""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from nbformat import NotebookNode

from gradekit.course.cells import PLACEHOLDER
from gradekit.submission.names import (
    DEFINITIONS,
    UNWRITABLE,
    body_of,
    defined_names,
    imported_by,
    parse,
    scopes_in,
    used_names,
)

#: characters of a cell that is parsed; of a longer one, only lines that begin a definition are looked at
MAX_PARSED_CHARACTERS = 20_000
_DEFINITION = re.compile(r"^(?:async[ \t]+def|def|class)[ \t]+(\w+)", re.MULTILINE)
_FENCE = re.compile(r"\A\s*(`{3,}|~{3,})[ \t]*\w*[ \t]*\n(.*?)\n\1\s*\Z", re.DOTALL)
#: bound by a statement that may bind any name
_ANY = "*"
_NAMESPACES = {"globals", "locals", "vars"}
#: methods that change a container
_CHANGING = {"append", "add", "extend", "insert", "update", "setdefault", "__setitem__", "__setattr__"}


@dataclass
class ParsingBudget:
    """How many characters of one notebook may still be parsed."""

    left: int = 400_000

    def takes(self, source: str, most: int = MAX_PARSED_CHARACTERS) -> bool:
        """Whether a cell of at most so many characters can be afforded; if so, it is paid for."""
        affordable = len(source) <= min(most, self.left)
        self.left -= len(source) if affordable else 0
        return affordable


@dataclass
class Definitions:
    """The names that cells define. Each cell is parsed once, up to a limit for the notebook."""

    _budget: ParsingBudget = field(default_factory=ParsingBudget)
    _found: dict[str, frozenset[str]] = field(default_factory=dict)

    def of(self, source: str) -> frozenset[str]:
        if source not in self._found:
            parsed = self._budget.takes(source)
            self._found[source] = defined_names(source) if parsed else frozenset(_DEFINITION.findall(source))
        return self._found[source]


def tree_of(source: str) -> ast.Module | None:
    """The syntax tree of a cell; None if it is too long or can't be parsed."""
    return parse(source) if len(source) <= MAX_PARSED_CHARACTERS else None


def expected_names(original: NotebookNode) -> frozenset[str]:
    """The names that an answer cell has to define: its functions and classes as released, or else its variables."""
    if original.cell_type != "code":
        return frozenset()
    functions = frozenset(_DEFINITION.findall(original.source))
    return functions or defined_names(original.source) - imported(original.source)


@dataclass(frozen=True)
class Piece:
    """A top-level statement with the comments above it."""

    text: str
    statement: ast.stmt

    @property
    def shape(self) -> str:
        """A text that is the same for statements that differ only in layout and comments."""
        try:
            return ast.dump(self.statement)
        except UNWRITABLE:
            return self.text

    @cached_property
    def binds(self) -> frozenset[str]:
        return frozenset(name for part in statements_of(self.text) for name in part.binds)

    @cached_property
    def needs(self) -> frozenset[str]:
        return needed_names(self.text)

    @property
    def is_seed(self) -> bool:
        """True for `torch.manual_seed(0)` and the like."""
        match self.statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name))):
                return name.endswith("seed")
        return False


def pieces_of(source: str) -> list[Piece]:
    """The statements of a cell; none if it is too long or can't be parsed."""
    tree, lines = tree_of(source), source.split("\n")
    pieces, last = [], 0
    for statement in tree.body if tree else ():
        first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))]) - 1
        while first > last and lines[first - 1].lstrip().startswith("#"):
            first -= 1
        last = statement.end_lineno or statement.lineno
        pieces.append(Piece("\n".join(lines[first:last]), statement))
    return pieces


def definitions_in(source: str, wanted: frozenset[str]) -> str:
    """The statements of a cell that define `wanted`, with the comments above them; empty if one has a placeholder.

    Variables come with all other statements of the cell that are not functions or classes.
    """
    found = "\n\n\n".join(piece.text for piece in _defining(pieces_of(source), wanted))
    return "" if PLACEHOLDER.search(found) else found


def without_definitions(source: str, *copied: frozenset[str]) -> str:
    """The rest of a cell after `definitions_in` for each of `copied`; empty if only seeds are left."""
    pieces = pieces_of(source)
    gone = {id(piece) for wanted in copied for piece in _defining(pieces, wanted)}
    rest = [piece for piece in pieces if id(piece) not in gone]
    return "" if all(piece.is_seed for piece in rest) else "\n\n\n".join(piece.text for piece in rest)


def _defining(pieces: list[Piece], wanted: frozenset[str]) -> list[Piece]:
    defining = [piece for piece in pieces if wanted & _bound(piece.statement)]
    if all(isinstance(piece.statement, DEFINITIONS) for piece in defining):
        return defining
    return [piece for piece in pieces if piece in defining or not isinstance(piece.statement, DEFINITIONS)]


def deleted_names(source: str) -> frozenset[str]:
    """Names in the `del` statements at the top level of a cell."""
    tree = tree_of(source)
    deleted = [t for s in tree.body if isinstance(s, ast.Delete) for t in s.targets] if tree else []
    return frozenset(target.id for target in deleted if isinstance(target, ast.Name))


def code_in(source: str) -> str:
    """The code in a text cell: the content of its code fence, or all of it."""
    fenced = _FENCE.match(source)
    return fenced[2] if fenced else source


def is_code(source: str) -> bool:
    return len(source) <= 10 * MAX_PARSED_CHARACTERS and parse(source) is not None


def _bound(statement: ast.stmt) -> set[str]:
    if isinstance(statement, DEFINITIONS):
        return {statement.name}
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    nodes = (node for target in filter(None, targets) for node in ast.walk(target))
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def imported(source: str) -> set[str]:
    """The names that the imports of a cell bind."""
    imports = (s for s in body_of(source) if isinstance(s, ast.Import | ast.ImportFrom))
    return {name for one in imports for name in imported_by(one)}


@dataclass(frozen=True)
class Statement:
    """A simple statement, one alias of an import, or the head of a compound statement."""

    code: str
    binds: frozenset[str]
    needs: frozenset[str]


def reached_code(sources: Sequence[str], wanted: Set[str], not_followed: Set[str] = frozenset()) -> list[str]:
    """For each source, its top-level statements that bind `wanted`, or names that these statements need in turn.

    For example, this includes an alias that an answer calls, but not a comparison with a ready-made function below it.
    Sources that can't be parsed are left out, since they don't run. What binds a name in `not_followed` isn't needed.
    """
    statements = [statements_of(source) for source in sources]
    binding: dict[str, list[Statement]] = {}
    for statement in (one for found in statements for one in found):
        for name in statement.binds:
            binding.setdefault(name, []).append(statement)
    todo, seen = [_ANY, *wanted], set(not_followed)
    reached: set[int] = set()
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            for statement in binding.get(name, []):
                reached.add(id(statement))
                todo += statement.needs
    code = ["\n".join(one.code for one in found if id(one) in reached) for found in statements]
    return [text for text in code if text]


def statements_of(source: str) -> Sequence[Statement]:
    """The top-level statements of a cell, including those inside `if`, `for`, `with` and the like."""
    find = _find_statements if len(source) <= MAX_PARSED_CHARACTERS else _find_statements.__wrapped__
    return find(source)


# most cells and their parts are the released ones, in every submission; names and text, no trees
@lru_cache(maxsize=1024)
def _find_statements(source: str) -> Sequence[Statement]:
    try:
        nodes = [(node, ast.unparse(ast.fix_missing_locations(node))) for node in _simple(body_of(source))]
        return [Statement(code, frozenset(_binds(node)), frozenset(globals_in(code))) for node, code in nodes]
    except UNWRITABLE:  # so it counts as one
        return [Statement(source, defined_names(source) | {_ANY}, used_names(source))]


def needed_names(source: str) -> frozenset[str]:
    """The global names that a cell reads, also inside its functions."""
    return frozenset(name for statement in statements_of(source) for name in statement.needs)


def _simple(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        match node:
            case ast.Import(names=aliases):
                yield from (ast.Import(names=[alias]) for alias in aliases)
            case ast.ImportFrom(names=aliases):
                yield from (ast.ImportFrom(node.module, [alias], node.level) for alias in aliases)
            case ast.If() | ast.While():
                yield ast.Expr(node.test)
                yield from _simple([*node.body, *node.orelse])
            case ast.For() | ast.AsyncFor():
                yield ast.Assign([node.target], node.iter)
                yield from _simple([*node.body, *node.orelse])
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    bound = item.optional_vars
                    yield ast.Assign([bound], item.context_expr) if bound else ast.Expr(item.context_expr)
                yield from _simple(node.body)
            case ast.Try() | ast.TryStar():
                handled = [one for handler in node.handlers for one in handler.body]
                yield from _simple([*node.body, *handled, *node.orelse, *node.finalbody])
            case ast.Match():
                yield ast.Expr(node.subject)
                yield from _simple([one for case in node.cases for one in case.body])
            case _:
                yield node


def _binds(node: ast.stmt) -> Iterable[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Global):
            yield from inner.names
    match node:
        case _ if isinstance(node, DEFINITIONS):
            yield node.name
        case ast.Import() | ast.ImportFrom():
            yield from imported_by(node)
        case _:
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                yield from _changed_by(node.value)
            yield from _stored(node)


def _stored(node: ast.stmt) -> Iterable[str]:
    for inner in ast.walk(node):
        match inner:
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Attribute(ctx=ast.Store(), value=whole):
                yield from _root(whole)
            case ast.Subscript(ctx=ast.Store(), value=ast.Call(func=ast.Name(id=name)), slice=key) if (
                name in _NAMESPACES
            ):
                yield key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else _ANY
            case ast.Subscript(ctx=ast.Store(), value=whole):
                yield from _root(whole)


def _changed_by(call: ast.Call) -> Iterable[str]:
    """The names that a call may change, as in `ways.append(f)` or `setattr(Encoder, "forward", f)`."""
    match call:
        case ast.Call(func=ast.Name(id="setattr"), args=[what, *_]):
            yield from _root(what)
        case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id=name)))) if name in _NAMESPACES:
            yield _ANY
        case ast.Call(func=ast.Attribute(attr=method, value=what)) if method in _CHANGING:
            yield from _root(what)


def _root(node: ast.expr) -> Iterable[str]:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return [node.id] if isinstance(node, ast.Name) else []


def globals_in(code: str) -> Iterable[str]:
    """Global names that the code reads, at the top level or inside its functions."""
    todo = [(scopes_in(code), True)]
    while todo:
        table, at_top = todo.pop()
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (at_top or symbol.is_global()):
                yield symbol.get_name()
        todo += [(child, False) for child in table.get_children()]
