"""What the student's own code calls by name: a method that happens to be called like a forbidden function is no use of it."""

import ast
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from coursekit.student.syntax import parse, paths_in


class OwnNames(NamedTuple):
    """What some cells define: functions, methods, classes, arguments, variables and attributes of `self`; no imports.

    `holders` are the names in front of the dot whose methods and attributes are the student's own. So are those of
    their `parts` and attributes, but for the methods that arrays have. `libraries` are variables and attributes that
    hold an imported module, or something of it, such as `self.f` after `self.f = F`: behind these, nothing is.
    """

    names: frozenset[str] = frozenset()
    holders: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()
    libraries: frozenset[str] = frozenset()


NOTHING_OWN = OwnNames()


@lru_cache(256)
def own_names(sources: tuple[str, ...]) -> OwnNames:
    """The names that are the student's own in cells that belong together."""
    trees = [tree for tree in map(parse, sources) if tree]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    names = set().union(*map(defined_in, trees))
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
                "self" in _mentioned(over)
            ):
                parts |= _names(target)
    return OwnNames(frozenset(names), frozenset(holders), frozenset(parts), _libraries(trees))


def _libraries(trees: Iterable[ast.AST]) -> frozenset[str]:
    imported = {name for tree in trees for name in paths_in(tree)}
    given = [pair for tree in trees for node in ast.walk(tree) for pair in _given(node)]
    found: set[str] = set()
    while (
        more := {name for names, value in given if _mentioned(value) & (imported | found) for name in names}
        - found
    ):
        found |= more
    return frozenset(found)


def _given(node: ast.AST) -> Iterator[tuple[set[str], ast.AST]]:
    """The variables and attributes that a statement or an argument gives a value, with this value."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield set().union(*map(_names, targets)), value
        case (
            ast.AnnAssign(target=target, value=ast.expr() as value)
            | ast.NamedExpr(target=target, value=value)
        ):
            yield _names(target), value
        case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
            yield _names(target), value
        case ast.arguments():
            together = [*node.posonlyargs, *node.args]
            pairs = zip(together[len(together) - len(node.defaults) :], node.defaults, strict=True)
            for argument, default in [*pairs, *zip(node.kwonlyargs, node.kw_defaults, strict=True)]:
                if default is not None:
                    yield {argument.arg}, default


def _mentioned(value: ast.AST) -> set[str]:
    """The variables and attributes in a value, but for the functions that it calls."""
    match value:
        case ast.Call():
            parts: list[ast.AST] = [*value.args, *value.keywords]
        case ast.Name(id=name):
            return {name}
        case ast.Attribute(value=holder, attr=name):
            return {name} | _mentioned(holder)
        case _:
            parts = list(ast.iter_child_nodes(value))
    return set().union(*map(_mentioned, parts))


def defined_in(tree: ast.AST) -> frozenset[str]:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, kinds))


def _names(node: ast.AST) -> set[str]:
    """The variables, and the attributes of `self`, in a target; for `self.f` this is `f` alone."""
    found = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
    return found | {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} - {"self"}


def is_own(holder: ast.expr, name: str, own: OwnNames) -> bool:
    """Whether `holder.name` is something of the student's own."""
    if _mentioned(holder) & own.libraries:
        return False
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
