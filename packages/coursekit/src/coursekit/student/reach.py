"""Which statements of a notebook the names of an answer depend on, found without running them.

A comparison with a ready-made function below an answer is no part of the answer; an alias that it calls is.
"""

import ast
import symtable
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

from coursekit.student.names import parse, used_names

#: bound by a statement that may bind any name
_ANY = "*"
_DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_NAMESPACES = {"globals", "locals", "vars"}


@dataclass(frozen=True)
class Statement:
    """A simple statement, one alias of an import, or the head of a compound one: its code and what it binds."""

    code: str
    binds: frozenset[str]
    needs: frozenset[str]


def reached_code(sources: Sequence[str], wanted: Set[str]) -> list[str]:
    """For each source, the code of its top-level statements that bind `wanted` or what these need in turn.

    A source that can't be parsed is left out, since it does not run either.
    """
    statements = [statements_of(source) for source in sources]
    binding: dict[str, list[Statement]] = {}
    for statement in (one for found in statements for one in found):
        for name in statement.binds:
            binding.setdefault(name, []).append(statement)
    todo, seen = [_ANY, *wanted], set[str]()
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


def statements_of(source: str) -> list[Statement]:
    """The top-level statements of a cell, those inside `if`, `for`, `with` and the like taken apart."""
    tree = parse(source)
    try:
        return [_statement(node) for node in _simple(tree.body)] if tree else []
    except (RecursionError, ValueError, SyntaxError):  # too deep to be taken apart, so it counts as a whole
        return [Statement(source, frozenset({_ANY}), used_names(source))]


def needed_names(source: str) -> frozenset[str]:
    """The global names that the statements of a cell read; local variables of functions are not among them."""
    return frozenset(name for statement in statements_of(source) for name in statement.needs)


def _statement(node: ast.stmt) -> Statement:
    code = ast.unparse(ast.fix_missing_locations(node))
    return Statement(code, frozenset(_binds(node)), frozenset(_globals_in(code)))


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
        case _ if isinstance(node, _DEFINITIONS):
            yield node.name
        case ast.Import(names=[alias]) | ast.ImportFrom(names=[alias]):
            yield (alias.asname or alias.name).split(".")[0]
        case ast.Expr(value=ast.Call() as call):
            yield from _changed_by(call)
            yield from _stored(node)
        case _:
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
    """What a call that stands alone may change: `ways.append(f)` and `setattr(Encoder, "forward", f)`."""
    match call:
        case ast.Call(func=ast.Name(id="setattr"), args=[what, *_]):
            yield from _root(what)
        case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id=name)))) if name in _NAMESPACES:
            yield _ANY
        case ast.Call(func=ast.Attribute(attr=method, value=what)) if method in _CHANGING:
            yield from _root(what)


#: methods of containers
_CHANGING = {"append", "add", "extend", "insert", "update", "setdefault", "__setitem__", "__setattr__"}


def _root(node: ast.expr) -> Iterable[str]:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return [node.id] if isinstance(node, ast.Name) else []


def _globals_in(code: str) -> Iterable[str]:
    """Names of the module that the code reads, at its top or from inside its functions."""
    todo = [(symtable.symtable(code, "cell", "exec"), True)]
    while todo:
        table, at_top = todo.pop()
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (at_top or symbol.is_global()):
                yield symbol.get_name()
        todo += [(child, False) for child in table.get_children()]
