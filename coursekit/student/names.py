"""What a cell's source defines and uses, found without running it."""

import ast
import fnmatch
import re
from collections.abc import Iterable

_MAGIC = re.compile(r"^\s*[%!?].*$", re.MULTILINE)
_BINDING = re.compile(r"^(?:async\s+)?(?:def|class)\s+(\w+)|^(\w+)\s*(?::[^=\n]+)?=(?!=)", re.MULTILINE)


def parse(source: str) -> ast.Module | None:
    """The syntax tree of a cell, magics left out; None if it has none."""
    try:
        return ast.parse(_MAGIC.sub("pass", source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def defined_names(source: str) -> set[str]:
    """Names that the cell binds at top level, also where its syntax is broken."""
    tree = parse(source)
    if tree is None:
        return {name for pair in _BINDING.findall(source) for name in pair if name}
    return {name for statement in tree.body for name in _bound_by(statement)}


def _bound_by(statement: ast.stmt) -> Iterable[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return [(alias.asname or alias.name).split(".")[0] for alias in statement.names]
    return [
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]


def used_names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def mentions(tree: ast.AST, patterns: Iterable[str]) -> str | None:
    """The first name, attribute, import or string in the tree that matches a shell-style pattern."""
    for word in _words(tree):
        if any(fnmatch.fnmatchcase(word, pattern) for pattern in patterns):
            return word
    return None


def words(source: str) -> set[str]:
    """Names, attributes, imports, and strings that could be a name."""
    tree = parse(source)
    return set(_words(tree)) if tree else set()


def _words(tree: ast.AST) -> Iterable[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield name
            case ast.ImportFrom(names=aliases) | ast.Import(names=aliases):
                yield from (part for alias in aliases for part in alias.name.split("."))
            case ast.Constant(value=str(text)) if text.isidentifier():
                yield text
