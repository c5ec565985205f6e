"""The names that a cell defines and uses, found without running it."""

import ast
import fnmatch
import re
import symtable
from collections.abc import Iterable
from functools import lru_cache

from gradekit.submission.own_names import NOTHING_OWN, OwnNames, defined_in, is_own
from gradekit.submission.syntax import constant_text, imported_by, parse, path_of, paths_in

#: names that can run code that isn't in the cell, when they are called
_CALLS = {"exec", "eval", "compile", "__import__"}
#: the same, even if they are only mentioned
_ANYWHERE = {
    *("builtins", "__builtins__", "import_module", "attrgetter", "__getattribute__", "__dict__"),
    *("run_cell", "input_transformers_cleanup", "input_transformers_post", "ast_transformers"),
}
_BINDING = re.compile(r"^(?:async\s+)?(?:def|class)\s+(\w+)|^(\w+)\s*(?::[^=\n]+)?=(?!=)", re.MULTILINE)


@lru_cache(256)
def defined_names(source: str) -> frozenset[str]:
    """Names that the cell binds at top level, even if it has a syntax error."""
    tree = parse(source)
    if tree is None:
        return frozenset(name for pair in _BINDING.findall(source) for name in pair if name)
    return frozenset(name for statement in tree.body for name in _bound_by(statement))


def _bound_by(statement: ast.stmt) -> Iterable[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return imported_by(statement)
    return [
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]


def bound_at_top(source: str) -> frozenset[str]:
    """The names that the cell binds or deletes when it runs, without those inside comprehensions."""
    tree = parse(source)
    try:
        table = symtable.symtable(ast.unparse(tree) if tree else "", "cell", "exec")
    except (RecursionError, ValueError, SyntaxError):  # nested too deeply
        return frozenset()
    return frozenset(one.get_name() for one in table.get_symbols() if one.is_assigned() or one.is_imported())


@lru_cache(256)
def parameters_of(source: str, name: str, called: bool = False) -> tuple[str, ...]:
    """The positional parameters of the function `name`, or of the `__init__` of the class `name`.

    Args:
        called: return those of the class's `forward` or `__call__` instead.
    """
    wanted = ("forward", "__call__") if called else ("__init__",)
    tree = parse(source)
    found = tree.body if tree else []
    functions = [node for node in found if isinstance(node, ast.FunctionDef) and node.name == name]
    classes = [node for node in found if isinstance(node, ast.ClassDef) and node.name == name]
    methods = [
        node
        for node in (classes[-1].body if classes else [])
        if isinstance(node, ast.FunctionDef) and node.name in wanted
    ]
    if not functions and not methods:
        return ()
    arguments = (functions or methods)[-1].args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    return tuple(names if functions else names[1:])


def closing_call(source: str, function: str = "") -> str:
    """A call in a cell, or in one of its functions, that closes figures of matplotlib; empty if there is none."""
    tree = parse(source)
    paths = paths_in(tree) if tree else {}
    for statement in tree.body if tree else ():
        if function and getattr(statement, "name", "") != function:
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
                name = path_of(node.func, paths) or ast.unparse(node.func)
                if name in ("matplotlib.pyplot.close", "plt.close"):
                    return ast.unparse(node)
    return ""


@lru_cache(256)
def used_names(source: str) -> frozenset[str]:
    """All names in the cell."""
    tree = parse(source)
    return (
        frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name)) if tree else frozenset()
    )


@lru_cache(256)
def words(source: str, own: OwnNames = NOTHING_OWN) -> tuple[str, ...]:
    """Names, attributes, imports, and strings that could be names, in order; imported ones also with their path.

    Without the functions and classes that the cell itself defines, and without what is in `own`.
    """
    tree = parse(source)
    return tuple(dict.fromkeys(_words(tree, own))) if tree else ()


def top_level_words(source: str) -> dict[str, set[str]]:
    """The `words` and arguments of the top-level statements, by the name that they bind ("" for none)."""
    found: dict[str, set[str]] = {}
    tree = parse(source)
    for statement in tree.body if tree else ():
        nodes = (node for node in ast.walk(statement) if isinstance(node, ast.arg | ast.keyword))
        arguments = {node.arg for node in nodes if node.arg is not None}
        for name in list(_bound_by(statement)) or [""]:
            found.setdefault(name, set()).update(arguments, _words(statement))
    return found


@lru_cache(256)
def mentions(source: str, patterns: tuple[str, ...], own: OwnNames = NOTHING_OWN) -> str | None:
    """The first of the `words` that matches a shell-style pattern."""
    for word in words(source, own):
        if any(fnmatch.fnmatchcase(word, pattern) for pattern in patterns):
            return word
    return None


@lru_cache(256)
def roundabout(source: str) -> str | None:
    """The first way to use a name without writing it, such as `exec` or a computed `getattr`; None if there is none.

    This proves nothing: a person has to look at the cell.
    """
    tree = parse(source)
    paths = paths_in(tree) if tree else {}
    for node in ast.walk(tree) if tree else ():
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in _CALLS:
                return name
            case ast.Call(func=ast.Name(id="getattr"), args=[ast.expr() as what, ast.expr() as name, *_]):
                if constant_text(name) is None and (path_of(what, paths) or "").startswith("torch"):
                    return "getattr"
    return next((word for word in words(source) if word in _ANYWHERE), None)


def _words(tree: ast.AST, own: OwnNames = NOTHING_OWN) -> Iterable[str]:
    paths, names = paths_in(tree), own.names | defined_in(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name):
                yield from () if name in names else (name,)
            case ast.Attribute(value=holder, attr=name) if name in own.names and is_own(holder, name, own):
                pass
            case ast.Attribute(attr=name):
                yield name
                if path := path_of(node, paths):
                    yield path
            case ast.ImportFrom(names=aliases) | ast.Import(names=aliases):
                yield from (part for alias in aliases for part in alias.name.split("."))
                yield from imported_by(node).values()
            case ast.Call(func=ast.Attribute(attr="run_line_magic" | "run_cell_magic"), args=args):
                yield from (
                    word for text in map(constant_text, args) if text for word in re.findall(r"\w+", text)
                )
            case ast.Constant() | ast.BinOp() | ast.JoinedStr() | ast.Call():
                yield from _names_in(constant_text(node))


def _names_in(text: str | None) -> list[str]:
    """The parts of a text that is a dotted name."""
    parts = (text or "").split(".")
    return parts if all(part.isidentifier() for part in parts) else []


def squeezed(source: str) -> str:
    """The source without blank lines and trailing spaces."""
    return "\n".join(line.rstrip() for line in source.strip().splitlines() if line.strip())
