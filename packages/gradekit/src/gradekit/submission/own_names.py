"""Finds the student's own names: a method of theirs may have the name of a forbidden function without using it."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from gradekit.submission.syntax import imported_by, parse, paths_in

_SELF = ("self", "cls")
#: methods that put their arguments into what they are called on
_FILLING = ("append", "appendleft", "insert", "extend", "add", "setdefault", "update")


class OwnNames(NamedTuple):
    """The names that some cells define, other than by imports: functions, methods, arguments, attributes of `self` etc.

    `holders` are names whose methods and attributes, after the dot, are the student's own. So are those of their `parts`
    and attributes, except for methods that arrays have. `libraries` are variables and attributes that hold an imported
    module or a part of one, such as `self.f` after `self.f = F`: nothing after their dot is the student's own.
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
                "self" in _names(over)
            ):
                parts |= _names(target)
    return OwnNames(frozenset(names), frozenset(holders), frozenset(parts), _libraries(trees))


def _libraries(trees: Sequence[ast.AST]) -> frozenset[str]:
    """The names that the cells import, and names that are assigned one of them directly, not the result of a call."""
    nodes = [node for tree in trees for node in ast.walk(tree)]
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    parameters = {function.name: _parameters(function) for function in functions}
    for kind in nodes:
        if isinstance(kind, ast.ClassDef):
            made_by = [part for part in kind.body if getattr(part, "name", "") == "__init__"]
            parameters[kind.name] = set().union(*map(_parameters, made_by))
    given: dict[str, set[str]] = {}
    for node in nodes:
        for targets, value in _given(node, parameters):
            for source in _direct(value):
                given.setdefault(source, set()).update(targets)
    bound = {
        name for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for name in imported_by(node)
    }
    found, todo = set(bound), {name for tree in trees for name in paths_in(tree)}
    while todo:
        new = given.get(todo.pop(), set()) - found
        found |= new
        todo |= new
    return frozenset(found)


def _given(node: ast.AST, parameters: Mapping[str, set[str]]) -> Iterator[tuple[set[str], ast.AST]]:
    """The variables, attributes and arguments that are assigned a value, with this value."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield set().union(*map(_targets, targets)), value
        case (
            ast.AnnAssign(target=target, value=ast.expr() as value)
            | ast.NamedExpr(target=target, value=value)
        ):
            yield _targets(target), value
        case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
            yield _targets(target), value
        case ast.arguments():
            together = [*node.posonlyargs, *node.args]
            pairs = zip(together[len(together) - len(node.defaults) :], node.defaults, strict=True)
            for argument, default in [*pairs, *zip(node.kwonlyargs, node.kw_defaults, strict=True)]:
                if default is not None:
                    yield {argument.arg}, default
        case ast.Call(func=ast.Name(id="setattr"), args=[_, ast.Constant(value=str(name)), value]):
            yield {name}, value
        case ast.Call(func=ast.Attribute(value=holder, attr=name), args=args) if name in _FILLING:
            yield from ((_targets(holder), value) for value in args)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords) if name in parameters:
            yield from ((parameters[name], value) for value in args)
            yield from (({word.arg} if word.arg else parameters[name], word.value) for word in keywords)


def _direct(value: ast.AST) -> Iterator[str]:
    """The variables and attributes of `self` that a value is or is part of, or that are in a list, tuple, set or dict."""
    todo = [value]
    while todo:
        node = todo.pop()
        match node:
            case ast.Name() | ast.Attribute():
                chain = _chain(node)
                yield chain[1] if chain[0] in _SELF and len(chain) > 1 else chain[0]
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts) | ast.Dict(values=parts):
                todo += parts
            case ast.Subscript(value=part) | ast.Starred(value=part) | ast.NamedExpr(value=part):
                todo.append(part)
            case ast.IfExp(body=one, orelse=other):
                todo += [one, other]
            case ast.BoolOp(values=parts):
                todo += parts
            case ast.Call(
                func=ast.Name(id="zip" | "enumerate" | "list" | "tuple" | "iter" | "reversed"), args=parts
            ):
                todo += parts


def _targets(target: ast.AST) -> set[str]:
    """The variables and attributes that a target consists of; for `self.f` it is `f`."""
    found, todo = set(), [target]
    while todo:
        node = todo.pop()
        match node:
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                todo += parts
            case ast.Starred(value=part) | ast.Subscript(value=part):
                todo.append(part)
            case ast.Name(id=name) | ast.Attribute(attr=name) if name not in _SELF:
                found.add(name)
    return found


def _parameters(function: ast.AST) -> set[str]:
    arguments = getattr(function, "args", None)
    if not isinstance(arguments, ast.arguments):
        return set()
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return {argument.arg for argument in every} - {*_SELF}


def _chain(node: ast.AST) -> list[str]:
    """The names in `a.b[0].c`, and of `super().c`, from the first on; the first is empty if it begins with no name."""
    names: list[str] = []
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute):
            names.append(node.attr)
        node = node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super":
        node = node.func
    return [node.id if isinstance(node, ast.Name) else "", *reversed(names)]


def defined_in(tree: ast.AST) -> frozenset[str]:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, kinds))


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def is_own(holder: ast.expr, name: str, own: OwnNames) -> bool:
    """Whether `holder.name` is the student's own."""
    chain = _chain(holder)
    if not own.libraries.isdisjoint(chain):
        return False
    if isinstance(holder, ast.Name) and holder.id in own.holders:
        return True
    return chain[0] in own.holders | own.parts and not _arrays_have(name)


def _arrays_have(name: str) -> bool:
    import numpy as np

    from gradekit.inside.arrays import current_kind  # large

    if current_kind() == "numpy":
        return hasattr(np.ndarray, name)
    import torch

    return hasattr(torch.Tensor, name) or hasattr(np.ndarray, name)
