"""The names that a cell defines and uses, found without running it."""

import ast
import fnmatch
import re
import sys
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from coursekit.student.constant_text import constant_text

_MAGIC = re.compile(r"^[^\S\n]*[%!?].*$", re.MULTILINE)
_CELL_MAGIC = re.compile(r"\s*%%.*")
#: limits for IPython's transformer, which reads the cell again for every magic
_MOST_TRANSFORMED, _MOST_MAGICS = 20_000, 50
#: the usual names of torch and its parts
_USUAL = {"torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional"}
#: names that can run code that isn't in the cell, when they are called
_CALLS = {"exec", "eval", "compile", "__import__"}
#: the same, when they are only mentioned
_ANYWHERE = {
    *("builtins", "__builtins__", "import_module", "attrgetter", "__getattribute__", "__dict__"),
    *("run_cell", "input_transformers_cleanup", "input_transformers_post", "ast_transformers"),
}
_BINDING = re.compile(r"^(?:async\s+)?(?:def|class)\s+(\w+)|^(\w+)\s*(?::[^=\n]+)?=(?!=)", re.MULTILINE)


@lru_cache(64)  # a tree takes a hundred times the memory of its source
def parse(source: str) -> ast.Module | None:
    """The syntax tree of a cell as IPython runs it; None if it can't be parsed. It is cached, so don't change it."""
    source = _CELL_MAGIC.sub("pass", source, count=1) if _CELL_MAGIC.match(source) else source
    for transform in (str, _as_python, lambda text: _MAGIC.sub("pass", text)):
        try:
            return ast.parse(transform(source))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return None


def _as_python(source: str) -> str:
    """The source as IPython transforms it: magics become calls, prompts and indentation are removed.

    Raises:
        SyntaxError, ValueError: the source can't be transformed.
    """
    if len(source) > _MOST_TRANSFORMED or len(_MAGIC.findall(source)) > _MOST_MAGICS:
        raise ValueError("too long to be transformed")
    from IPython.core.inputtransformer2 import TransformerManager

    try:
        return TransformerManager().transform_cell(source)
    except Exception as error:  # the tokenizer raises other types of errors, too
        raise ValueError("not a cell") from error


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
        return [(alias.asname or alias.name).split(".")[0] for alias in statement.names]
    return [
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]


@lru_cache(256)
def parameters_of(source: str, name: str, called: bool = False) -> tuple[str, ...]:
    """The positional parameters of the function `name`, or of the `__init__` of the class `name`.

    Args:
        called: those of the `forward` or `__call__` of the class instead.
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
    paths = _paths(tree) if tree else {}
    for statement in tree.body if tree else ():
        if function and getattr(statement, "name", "") != function:
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
                name = _path(node.func, paths) or ast.unparse(node.func)
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


class OwnNames(NamedTuple):
    """What some cells define: functions, methods, classes, arguments, variables and attributes of `self`; no imports.

    `holders` are the names in front of the dot whose methods and attributes are the student's own. So are those of
    their `parts` and attributes, but for the methods that arrays have.
    """

    names: frozenset[str] = frozenset()
    holders: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()


_NOTHING = OwnNames()


@lru_cache(256)
def words(source: str, own: OwnNames = _NOTHING) -> tuple[str, ...]:
    """Names, attributes, imports, and strings that could be names, in order; imported ones also with their path.

    Without the functions and classes that the cell itself defines, and without what is in `own`.
    """
    tree = parse(source)
    return tuple(dict.fromkeys(_words(tree, own))) if tree else ()


@lru_cache(256)
def own_names(sources: tuple[str, ...]) -> OwnNames:
    """The names that are the student's own in cells that belong together."""
    trees = [tree for tree in map(parse, sources) if tree]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    names = set().union(*map(_defined_in, trees))
    classes = {node.name for node in nodes if isinstance(node, ast.ClassDef)}
    holders, parts = {"self", "cls", *classes}, {"super"}
    for node in nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                names.add(name)
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                names.add(name)
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id=kind))) if (
                kind in classes
            ):
                holders.add(name)
            case ast.For(target=target, iter=over) | ast.comprehension(target=target, iter=over) if (
                "self" in _names(over)
            ):
                parts |= _names(target)
    return OwnNames(frozenset(names), frozenset(holders), frozenset(parts))


def _defined_in(tree: ast.AST) -> frozenset[str]:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, kinds))


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
def mentions(source: str, patterns: tuple[str, ...], own: OwnNames = _NOTHING) -> str | None:
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
    paths = _paths(tree) if tree else {}
    for node in ast.walk(tree) if tree else ():
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in _CALLS:
                return name
            case ast.Call(func=ast.Name(id="getattr"), args=[ast.expr() as what, ast.expr() as name, *_]):
                if constant_text(name) is None and (_path(what, paths) or "").startswith("torch"):
                    return "getattr"
    return next((word for word in words(source) if word in _ANYWHERE), None)


def _words(tree: ast.AST, own: OwnNames = _NOTHING) -> Iterable[str]:
    paths, names = _paths(tree), own.names | _defined_in(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name):
                yield from () if name in names else (name,)
            case ast.Attribute(value=holder, attr=name) if name in own.names and _is_own(holder, name, own):
                pass
            case ast.Attribute(attr=name):
                yield name
                if path := _path(node, paths):
                    yield path
            case ast.ImportFrom(names=aliases) | ast.Import(names=aliases):
                yield from (part for alias in aliases for part in alias.name.split("."))
                yield from _imported(node).values()
            case ast.Call(func=ast.Attribute(attr="run_line_magic" | "run_cell_magic"), args=args):
                yield from (
                    word for text in map(constant_text, args) if text for word in re.findall(r"\w+", text)
                )
            case ast.Constant() | ast.BinOp() | ast.JoinedStr() | ast.Call():
                yield from _names_in(constant_text(node))


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _is_own(holder: ast.expr, name: str, own: OwnNames) -> bool:
    """Whether `holder.name` is something of the student's own."""
    if isinstance(holder, ast.Name) and holder.id in own.holders:
        return True
    kinds = (("torch", "Tensor"), ("numpy", "ndarray"))
    of_arrays = any(hasattr(getattr(sys.modules.get(module), kind, None), name) for module, kind in kinds)
    return not of_arrays and _root(holder) in own.holders | own.parts


def _root(node: ast.AST) -> str:
    """The name at the beginning of `a.b[0].c`, and of `super().c`; empty if there is none."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super":
        node = node.func
    return node.id if isinstance(node, ast.Name) else ""


def _names_in(text: str | None) -> list[str]:
    """The parts of a text that is a dotted name."""
    parts = (text or "").split(".")
    return parts if all(part.isidentifier() for part in parts) else []


def _paths(tree: ast.AST) -> dict[str, str]:
    """The import path of each name, for the imports in the tree and the usual ones of torch."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    return _USUAL | {name: path for node in nodes for name, path in _imported(node).items()}


def _imported(node: ast.Import | ast.ImportFrom) -> dict[str, str]:
    if isinstance(node, ast.ImportFrom):
        return {alias.asname or alias.name: f"{node.module or ''}.{alias.name}" for alias in node.names}
    return {
        alias.asname or alias.name.split(".")[0]: alias.name if alias.asname else alias.name.split(".")[0]
        for alias in node.names
    }


def _path(node: ast.AST, paths: dict[str, str]) -> str | None:
    """The path of an attribute, like `torch._C._nn`; None if it does not begin with an imported name."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in paths:
        return None
    return ".".join([paths[node.id], *reversed(parts)])


def squeezed(source: str) -> str:
    """The source without blank lines and trailing spaces."""
    return "\n".join(line.rstrip() for line in source.strip().splitlines() if line.strip())
