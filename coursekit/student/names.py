"""What a cell's source defines and uses, found without running it."""

import ast
import fnmatch
import re
from collections.abc import Iterable
from functools import lru_cache

_MAGIC = re.compile(r"^[^\S\n]*[%!?].*$", re.MULTILINE)
_BINDING = re.compile(r"^(?:async\s+)?(?:def|class)\s+(\w+)|^(\w+)\s*(?::[^=\n]+)?=(?!=)", re.MULTILINE)


@lru_cache(64)  # a tree takes a hundred times the memory of its source
def parse(source: str) -> ast.Module | None:
    """The syntax tree of a cell, magics left out; None if it has none. It is kept: do not change it."""
    try:
        return ast.parse(_MAGIC.sub("pass", source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


@lru_cache(256)
def defined_names(source: str) -> frozenset[str]:
    """Names that the cell binds at top level, also where its syntax is broken."""
    tree = parse(source)
    if tree is None:
        return frozenset(name for pair in _BINDING.findall(source) for name in pair if name)
    return frozenset(name for statement in tree.body for name in _bound_by(statement))


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


@lru_cache(256)
def used_names(source: str) -> frozenset[str]:
    """All names that stand in the cell."""
    tree = parse(source)
    return (
        frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name)) if tree else frozenset()
    )


@lru_cache(256)
def words(source: str) -> tuple[str, ...]:
    """Names, attributes, imports, and strings that could be a name, in order."""
    tree = parse(source)
    return tuple(dict.fromkeys(_words(tree))) if tree else ()


def top_level_words(source: str) -> dict[str, set[str]]:
    """The `words` and arguments of the top-level statements, by the name that they bind ("" where there is none)."""
    found: dict[str, set[str]] = {}
    tree = parse(source)
    for statement in tree.body if tree else ():
        arguments = {node.arg for node in ast.walk(statement) if isinstance(node, ast.arg | ast.keyword)}
        for name in list(_bound_by(statement)) or [""]:
            found.setdefault(name, set()).update(arguments, _words(statement))
    return found


@lru_cache(256)
def mentions(source: str, patterns: tuple[str, ...]) -> str | None:
    """The first of the `words` that matches a shell-style pattern."""
    for word in words(source):
        if any(fnmatch.fnmatchcase(word, pattern) for pattern in patterns):
            return word
    return None


def _words(tree: ast.AST) -> Iterable[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield name
            case ast.ImportFrom(names=aliases) | ast.Import(names=aliases):
                yield from (part for alias in aliases for part in alias.name.split("."))
            case ast.Constant(value=str(text)) if text.isidentifier():
                yield text
