"""The syntax trees of cells, and the names that they define and use, found without running them.

A student's own method may have the name of a forbidden function, so their names are told apart from those of libraries.
"""

import ast
import fnmatch
import re
import symtable
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

#: names that can run code that isn't in the cell, when they are called
_CALLS = {"exec", "eval", "compile", "__import__"}
#: the same, even if they are only mentioned
_ANYWHERE = {
    *("builtins", "__builtins__", "import_module", "attrgetter", "__getattribute__", "__dict__"),
    *("run_cell", "input_transformers_cleanup", "input_transformers_post", "ast_transformers"),
}
_SELF = ("self", "cls")
#: functions whose results consist of their arguments, or of the elements of these
_PASSING_ON = ("zip", "enumerate", "list", "tuple", "iter", "reversed")
#: methods that put their arguments into what they are called on
_FILLING = ("append", "appendleft", "insert", "extend", "add", "setdefault", "update")
_BINDING = re.compile(r"^(?:async\s+)?(?:def|class)\s+(\w+)|^(\w+)\s*(?::[^=\n]+)?=(?!=)", re.MULTILINE)
_MAGIC = re.compile(r"^[^\S\n]*[%!?].*$", re.MULTILINE)
_CELL_MAGIC = re.compile(r"\s*%%.*")
#: limits for IPython's transformer, which reads the cell again for every magic
_MOST_TRANSFORMED, _MOST_MAGICS = 20_000, 50
#: the usual names of torch and its parts
_USUAL = {"torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional"}
#: what Python raises when it writes code that it has read: it is nested too deep, or has an integer with too many digits
UNWRITABLE = (RecursionError, MemoryError, ValueError, SyntaxError)
DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
#: nobody spells a name as a longer sum
_MOST_SUMMANDS = 100


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
def defined_names(source: str) -> frozenset[str]:
    """Names that the cell binds at top level, even if it has a syntax error."""
    tree = parse(source)
    if tree is None:
        return frozenset(name for pair in _BINDING.findall(source) for name in pair if name)
    return frozenset(name for statement in tree.body for name in _bound_by(statement))


def _bound_by(statement: ast.stmt) -> Iterable[str]:
    if isinstance(statement, DEFINITIONS):
        return [statement.name]
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return imported_by(statement)
    names = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
    return [node.id for node in names if isinstance(node.ctx, ast.Store)]


@lru_cache(256)
def parameters_of(source: str, name: str, called: bool = False) -> tuple[str, ...]:
    """The positional parameters of a function, or of a class's `__init__`; if `called`, its `forward` or `__call__`."""
    found = body_of(source)
    functions = [node for node in found if isinstance(node, ast.FunctionDef) and node.name == name]
    if not functions:
        wanted = ("forward", "__call__") if called else ("__init__",)
        classes = [node for node in found if isinstance(node, ast.ClassDef) and node.name == name]
        methods = [node for kind in classes[-1:] for node in kind.body if isinstance(node, ast.FunctionDef)]
        functions = [node for node in methods if node.name in wanted]
        if not functions:
            return ()
    arguments = functions[-1].args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    return tuple(names if functions[-1] in found else names[1:])


def closing_call(source: str, function: str = "") -> str:
    """A call in a cell, or in one of its functions, that closes figures of matplotlib; empty if there is none."""
    body = body_of(source)
    searched = [part for part in body if not function or getattr(part, "name", "") == function]
    paths = {"plt": "matplotlib.pyplot"} | (paths_in(ast.Module(body, [])) if searched else {})
    for node in (node for part in searched for node in ast.walk(part)):
        if isinstance(node, ast.Call) and path_of(node.func, paths) == "matplotlib.pyplot.close":
            try:
                return ast.unparse(node)
            except (RecursionError, ValueError):  # it is deep, or has a long number
                return "plt.close(…)"
    return ""


@lru_cache(256)
def used_names(source: str) -> frozenset[str]:
    tree = parse(source)
    return frozenset(_names(tree) if tree else ())


@lru_cache(256)
def words(source: str, own: OwnNames = NOTHING_OWN) -> tuple[str, ...]:
    """Names, attributes, imports, and strings that could be names, in order; imported ones also with their path.

    Without the functions and classes that the cell itself defines, and without what is in `own`.
    """
    tree = parse(source)
    return tuple(dict.fromkeys(_words(tree, own))) if tree else ()


@lru_cache(256)
def mentions(source: str, patterns: tuple[str, ...], own: OwnNames = NOTHING_OWN) -> str | None:
    """The first of the `words` that matches a shell-style pattern."""
    found = (word for word in words(source, own) if any(fnmatch.fnmatchcase(word, p) for p in patterns))
    return next(found, None)


@lru_cache(256)
def roundabout(source: str) -> str | None:
    """The first way to use a name without writing it, such as `exec` or a computed `getattr`; None if there is none.

    This proves nothing: a person has to look at the cell.
    """
    tree = parse(source)
    paths = paths_in(tree) if tree else {}
    for node in nodes_in(tree) if tree else ():
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in _CALLS:
                return name
            case ast.Call(func=ast.Name(id="getattr"), args=[ast.expr() as what, ast.expr() as name, *_]):
                if constant_text(name) is None and (path_of(what, paths) or "").startswith("torch"):
                    return "getattr"
    return next((word for word in words(source) if word in _ANYWHERE), None)


def _words(tree: ast.AST, own: OwnNames = NOTHING_OWN) -> Iterable[str]:
    paths, names = paths_in(tree), own.names | defined_in(tree)
    for node in nodes_in(tree):
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
                yield from re.findall(r"\w+", " ".join(filter(None, map(constant_text, args))))
            case ast.Constant() | ast.BinOp() | ast.JoinedStr() | ast.Call():
                yield from _names_in(constant_text(node))


def _names_in(text: str | None) -> list[str]:
    """The parts of a text that is a dotted name."""
    parts = (text or "").split(".")
    return parts if all(part.isidentifier() for part in parts) else []


@lru_cache(256)  # those that were handed out are compared with each submission
def squeezed(source: str) -> str:
    """The source without blank lines and trailing spaces."""
    return "\n".join(line.rstrip() for line in source.strip().splitlines() if line.strip())


@lru_cache(256)
def own_names(sources: tuple[str, ...]) -> OwnNames:
    """The names that are the student's own in cells that belong together."""
    trees = [tree for tree in map(parse, sources) if tree]
    nodes = [node for tree in trees for node in nodes_in(tree)]
    names = set().union(*map(defined_in, trees))
    classes = {node.name for node in nodes if isinstance(node, ast.ClassDef)}
    holders, parts = {*_SELF, *classes}, {"super"}
    for node in nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                names.add(name)
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                names.add(name)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id=kind))):
                holders |= {name} if kind in classes else set()
            case ast.For(target=target, iter=over) | ast.comprehension(target=target, iter=over):
                parts |= _names(target) if "self" in _names(over) else set()
    return OwnNames(frozenset(names), frozenset(holders), frozenset(parts), _libraries(trees))


def _libraries(trees: Sequence[ast.AST]) -> frozenset[str]:
    """The names that the cells import, and names that are assigned one of them directly, not the result of a call."""
    nodes = [node for tree in trees for node in nodes_in(tree)]
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    parameters = {function.name: _parameters(function) for function in functions}
    for kind in (node for node in nodes if isinstance(node, ast.ClassDef)):
        methods = (part for part in kind.body if isinstance(part, ast.FunctionDef))
        made_by = (_parameters(method) for method in methods if method.name == "__init__")
        parameters[kind.name] = set().union(*made_by)
    given: dict[str, set[str]] = {}
    for node in nodes:
        for targets, value in _given(node, parameters):
            for source in _direct(value):
                given.setdefault(source, set()).update(targets)
    imports = (node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom))
    found = {name for node in imports for name in imported_by(node)}
    todo = {name for tree in trees for name in paths_in(tree)}
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
            every = [*pairs, *zip(node.kwonlyargs, node.kw_defaults, strict=True)]
            yield from (({argument.arg}, default) for argument, default in every if default is not None)
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
                chain = chain_of(node)
                yield chain[1] if chain[0] in _SELF and len(chain) > 1 else chain[0]
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts) | ast.Dict(values=parts):
                todo += parts
            case ast.Subscript(value=part) | ast.Starred(value=part) | ast.NamedExpr(value=part):
                todo.append(part)
            case ast.IfExp(body=one, orelse=other):
                todo += [one, other]
            case ast.BoolOp(values=parts):
                todo += parts
            case ast.Call(func=ast.Name(id=name), args=parts) if name in _PASSING_ON:
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


def _parameters(function: ast.FunctionDef) -> set[str]:
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return {argument.arg for argument in every} - {*_SELF}


def chain_of(node: ast.AST) -> list[str]:
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
    return frozenset(node.name for node in nodes_in(tree) if isinstance(node, DEFINITIONS))


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def is_own(holder: ast.expr, name: str, own: OwnNames) -> bool:
    """Whether `holder.name` is the student's own."""
    chain = chain_of(holder)
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


def nodes_in(tree: ast.AST) -> Iterable[ast.AST]:
    """All nodes of a tree. Those of a whole cell are cached, since checks ask for them again and again."""
    return _nodes_of_cell(tree) if isinstance(tree, ast.Module) else ast.walk(tree)


@lru_cache(64)
def _nodes_of_cell(tree: ast.Module) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree))


def body_of(source: str) -> list[ast.stmt]:
    """The top-level statements of a cell; none if it can't be parsed."""
    tree = parse(source)
    return tree.body if tree else []


def _as_python(source: str) -> str:
    """The source as IPython transforms it: magics become calls, prompts and indentation are removed.

    Raises:
        SyntaxError, ValueError: the source can't be transformed.
    """
    if len(source) > _MOST_TRANSFORMED or len(_MAGIC.findall(source)) > _MOST_MAGICS:
        raise ValueError("too long to be transformed")
    from IPython.core.inputtransformer2 import TransformerManager

    try:
        with warnings.catch_warnings(action="ignore"):  # about odd line ends
            return TransformerManager().transform_cell(source)
    except Exception as error:  # the tokenizer raises other types of errors, too
        raise ValueError("not a cell") from error


def paths_in(tree: ast.AST) -> dict[str, str]:
    """The import path of each name, for the imports in the tree and the usual ones of torch."""
    nodes = [node for node in nodes_in(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    return _USUAL | {name: path for node in nodes for name, path in imported_by(node).items()}


def imported_by(node: ast.Import | ast.ImportFrom) -> dict[str, str]:
    if isinstance(node, ast.ImportFrom):
        return {alias.asname or alias.name: f"{node.module or ''}.{alias.name}" for alias in node.names}
    roots = ((alias, alias.name.split(".")[0]) for alias in node.names)
    return {alias.asname or root: alias.name if alias.asname else root for alias, root in roots}


def path_of(node: ast.AST, paths: dict[str, str]) -> str | None:
    """The path of an attribute, like `torch._C._nn`; None if it does not begin with an imported name."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in paths:
        return None
    return ".".join([paths[node.id], *reversed(parts)])


def constant_text(node: ast.AST) -> str | None:
    """The value of an expression of constant strings, found without running it; None for any other."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.BinOp(op=ast.Add()):
            parts = list(_summands(node))[::-1]
        case ast.JoinedStr(values=values):
            parts = [constant_text(value) for value in values]
        case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
            return constant_text(value)
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(value=str(between)), attr="join"),
            args=[ast.List(elts=values) | ast.Tuple(elts=values)],
        ):
            texts = [constant_text(value) for value in values]
            return None if None in texts else between.join(text for text in texts if text)
        case _:
            return None
    return None if None in parts else "".join(part for part in parts if part)


def _summands(node: ast.expr) -> Iterator[str | None]:
    """The texts of `a + b + …`, the last one first; ends with None at one that isn't text, or if there are too many."""
    for _ in range(_MOST_SUMMANDS):
        if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)):
            yield constant_text(node)
            return
        last = constant_text(node.right)
        yield last
        if last is None:
            return
        node = node.left
    yield None


def scopes_in(code: str) -> symtable.SymbolTable:
    """The names in each scope of some code; a comprehension is a scope of its own.

    Python 3.12 and later merge the names of comprehensions into the scope around them, but not those of generators.

    Raises:
        SyntaxError: the code can't be compiled.
    """
    if " for " in code:
        code = ast.unparse(_AsGenerators().visit(ast.parse(code)))
    return symtable.symtable(code, "cell", "exec")


class _AsGenerators(ast.NodeTransformer):
    """Makes generators of all comprehensions."""

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp) -> ast.AST:
        return self.generic_visit(ast.GeneratorExp(node.elt, node.generators))

    visit_SetComp = visit_ListComp

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        pair = ast.Tuple([node.key, node.value], ast.Load())
        return self.generic_visit(ast.GeneratorExp(pair, node.generators))
