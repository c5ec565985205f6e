"""Operators that change a statement or a whole function: each yields edits of one node."""

import ast
from collections.abc import Iterator

from gradekit.authoring.mutants.code import Code, Edit, Function

_OTHER_MODE = {"train": "eval", "eval": "train"}
#: parameters that are modules, if the function calls them
_MODULES = ("model", "module")


def statement(code: Code, node: ast.AST) -> Iterator[Edit]:
    """A simple statement dropped."""
    kinds = (
        ast.Assign
        | ast.AugAssign
        | ast.AnnAssign
        | ast.Expr
        | ast.Raise
        | ast.Return
        | ast.Break
        | ast.Continue
    )
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    if isinstance(node, kinds) and not is_text:
        yield code.replace(node, "pass")


def context(code: Code, node: ast.AST) -> Iterator[Edit]:
    """The context of a `with` block dropped."""
    if isinstance(node, ast.With) and not any(item.optional_vars for item in node.items):
        yield Edit(code.start(node), code.end(node.items[-1].context_expr), "if True")


def loop(code: Code, node: ast.AST) -> Iterator[Edit]:
    """The first or the last round of a loop left out; `break` and `continue` exchanged."""
    rounds: list[ast.expr] = []
    if isinstance(node, ast.For):
        rounds = [node.iter]
    elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        rounds = [generator.iter for generator in node.generators]
    for each in rounds:
        yield from (code.replace(each, f"list({code.text(each)})[{part}]") for part in ("1:", ":-1"))
    if isinstance(node, ast.Break | ast.Continue):
        yield code.replace(node, "continue" if isinstance(node, ast.Break) else "break")


def exception(code: Code, node: ast.AST) -> Iterator[Edit]:
    """A different type of exception raised."""
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        yield code.replace(node.exc.func, "RuntimeError")


def state(code: Code, node: ast.AST) -> Iterator[Edit]:
    """A value kept from the first call: a method keeps it in the instance, a function in itself."""
    if not isinstance(node, ast.Assign | ast.Return) or node.value is None:
        return
    around = code.functions_around(node)
    if not around or around[0].name == "__init__":
        return
    arguments = around[0].args.args
    owner = "self" if arguments and arguments[0].arg == "self" else around[0].name
    target = node.targets[0] if isinstance(node, ast.Assign) else None
    if target is None or isinstance(target, ast.Name | ast.Tuple):
        name = target.id if isinstance(target, ast.Name) else "values"
        value = f"({code.text(node.value)})" if isinstance(node.value, ast.Tuple) else code.text(node.value)
        yield code.replace(node.value, f'vars({owner}).setdefault("_{name}", {value})')


def default(code: Code, node: ast.AST) -> Iterator[Edit]:
    """The default of a parameter used instead of the argument."""
    function = _begun_by(code, node)
    if function is None:
        return
    positional = [*function.args.posonlyargs, *function.args.args]
    of_keywords = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    without = len(positional) - len(function.args.defaults)
    pairs = [*zip(positional[without:], function.args.defaults, strict=True), *of_keywords]
    used = _names_read(function)
    for parameter, value in pairs:
        if value is not None and parameter.arg in used:
            yield code.insert_before(_as_statement(node), f"{parameter.arg} = {code.text(value)}")


def mode(code: Code, node: ast.AST) -> Iterator[Edit]:
    """`model.train()` and `model.eval()` exchanged, or a mode set in a function that sets none."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _OTHER_MODE:
        yield code.replace(node.func, f"{code.text(node.func.value)}.{_OTHER_MODE[node.func.attr]}")
    function = _begun_by(code, node)
    if function is None:
        return
    names = [parameter.arg for parameter in function.args.args if parameter.arg in _MODULES]
    called = {
        call.func.id
        for call in ast.walk(function)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
    }
    if any(isinstance(part, ast.Attribute) and part.attr in _OTHER_MODE for part in ast.walk(function)):
        return
    owners = ["self"] if function.name == "forward" else [name for name in names if name in called]
    for owner in owners:
        yield from (code.insert_before(_as_statement(node), f"{owner}.{method}()") for method in _OTHER_MODE)


def _begun_by(code: Code, node: ast.AST) -> Function | None:
    """The function whose solution begins with this statement."""
    function = code.parent(node)
    if not isinstance(node, ast.stmt) or not isinstance(function, Function):
        return None
    inside = [statement for statement in function.body if code.is_solution(statement)]
    return function if inside and inside[0] is node and len(code.functions_around(node)) == 1 else None


def _as_statement(node: ast.AST) -> ast.stmt:
    assert isinstance(node, ast.stmt)
    return node


def _names_read(function: Function) -> set[str]:
    return {
        node.id
        for statement in function.body
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
