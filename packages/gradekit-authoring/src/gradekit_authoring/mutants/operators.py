"""Edits of the text of a solution at the positions of its syntax tree, and operators, which yield edits of one node."""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from gradekit.course.cells import MARKERS

Function = ast.FunctionDef | ast.AsyncFunctionDef
Located = ast.expr | ast.stmt | ast.keyword


@dataclass(frozen=True)
class Edit:
    """Replaces the bytes from `start` to `end` with `text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Code:
    """The source of a cell. `imported` are the names that the notebook imports: most of them are modules.

    Positions are bytes, as in `ast`.
    """

    source: str
    imported: frozenset[str] = frozenset()

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.source)

    @cached_property
    def bytes(self) -> bytes:
        return self.source.encode()

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer(b"\n", self.bytes))]

    @cached_property
    def _solution_lines(self) -> set[int]:
        """Numbers of the lines between the markers; all lines if there are no markers."""
        found = set()
        inside = MARKERS[0] not in self.source
        for number, line in enumerate(self.source.split("\n"), 1):
            if line.strip() in MARKERS:
                inside = line.strip() == MARKERS[0]
            elif inside:
                found.add(number)
        return found

    @cached_property
    def _parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    def nodes(self) -> Iterator[ast.AST]:
        """The nodes of the solution, in the order of the text. Annotations and the text of messages are left out."""

        def walk(node: ast.AST) -> Iterator[ast.AST]:
            if self.is_solution(node):
                yield node
            if isinstance(node, ast.JoinedStr):
                return
            for name, value in ast.iter_fields(node):
                if name not in ("annotation", "returns", "ctx"):
                    for child in value if isinstance(value, list) else [value]:
                        if isinstance(child, ast.AST):
                            yield from walk(child)

        return walk(self.tree)

    def is_solution(self, node: ast.AST) -> bool:
        """True if the node begins in a part that the student writes."""
        return getattr(node, "lineno", 0) in self._solution_lines

    def parent(self, node: ast.AST) -> ast.AST | None:
        return self._parents.get(node)

    def functions_around(self, node: ast.AST) -> list[Function]:
        """The functions that contain the node, the outermost first."""
        found: list[Function] = []
        around = self.parent(node)
        while around is not None:
            if isinstance(around, Function):
                found.insert(0, around)
            around = self.parent(around)
        return found

    def start(self, node: Located) -> int:
        return self._line_starts[node.lineno - 1] + node.col_offset

    def end(self, node: Located) -> int:
        assert node.end_lineno is not None and node.end_col_offset is not None  # parsed, not made
        return self._line_starts[node.end_lineno - 1] + node.end_col_offset

    def line_of(self, position: int) -> int:
        return self.bytes.count(b"\n", 0, position) + 1

    def between(self, start: int, end: int) -> str:
        return self.bytes[start:end].decode()

    def text(self, node: Located) -> str:
        return self.between(self.start(node), self.end(node))

    def operand(self, node: ast.expr) -> str:
        """The text of an expression, in parentheses where it needs them to be part of another one."""
        atoms = ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant | ast.List | ast.Dict
        return self.text(node) if isinstance(node, atoms) else f"({self.text(node)})"

    def replace(self, node: Located, text: str) -> Edit:
        return Edit(self.start(node), self.end(node), text)

    def replace_between(self, left: ast.expr, right: ast.expr, old: str, new: str) -> Iterator[Edit]:
        """Replace the text that joins two expressions, such as an operator."""
        gap = self.between(self.end(left), self.start(right))
        found = re.search(rf"^[\s)\\]*({re.escape(old).replace(' ', ' +')})(?=[\s(\w'\"\[{{~-]|$)", gap)
        if found:
            at = self.end(left) + len(gap[: found.start(1)].encode())
            yield Edit(at, at + len(found[1].encode()), new)

    def exchange(self, first: ast.expr, second: ast.expr) -> Edit:
        middle = self.between(self.end(first), self.start(second))
        text = f"{self.text(second)}{middle}{self.text(first)}"
        return Edit(self.start(first), self.end(second), text)

    def drop_from_list(self, items: list[tuple[int, int]], place: int) -> Edit:
        """Remove one of several items that commas separate, given as their starts and ends."""
        start, end = items[place]
        if place + 1 < len(items):
            return Edit(start, items[place + 1][0], "")
        return Edit(items[place - 1][1] if place else start, end, "")

    def insert_before(self, statement: ast.stmt, text: str) -> Edit:
        at = self.start(statement)
        return Edit(at, at, f"{text}\n{' ' * statement.col_offset}")

    def apply(self, edit: Edit) -> str:
        return (self.bytes[: edit.start] + edit.text.encode() + self.bytes[edit.end :]).decode()


_ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"),
    ast.Pow: ("**", "*"),
    ast.MatMult: ("@", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
}
_COMPARISONS: dict[type[ast.cmpop], tuple[str, tuple[str, ...]]] = {
    ast.Lt: ("<", ("<=", ">=")),
    ast.LtE: ("<=", ("<", ">")),
    ast.Gt: (">", (">=", "<=")),
    ast.GtE: (">=", (">", "<")),
    ast.Eq: ("==", ("!=", ">=", "<=")),
    ast.NotEq: ("!=", ("==", ">", "<")),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: ("is not", ("is",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",)),
}
#: functions and methods that a student may confuse; each replaces the other
_PAIRS = (
    *(("max", "min"), ("argmax", "argmin"), ("any", "all"), ("sum", "mean"), ("sin", "cos"), ("std", "var")),
    *(("tril", "triu"), ("zeros", "ones"), ("zeros_like", "ones_like"), ("softmax", "log_softmax")),
    *(("relu", "sigmoid"), ("exp", "log"), ("cat", "stack"), ("isalnum", "isalpha"), ("lower", "upper")),
)
_TWINS = {old: new for one, other in _PAIRS for old, new in ((one, other), (other, one))}
#: the methods that do the same as an operator, in place
_IN_PLACE_OPERATORS = {ast.Add: "add_", ast.Sub: "sub_", ast.Mult: "mul_", ast.Div: "div_"}
#: functions and methods of torch that also have a form that works in place
_IN_PLACE = (
    *("masked_fill", "clamp", "abs", "unsqueeze", "squeeze", "transpose", "relu", "neg", "exp", "add", "sub"),
    *("mul", "div", "tril", "triu", "fill", "t"),
)
#: simple statements that a student may leave out
_EFFECTS = ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr
_LEAVING = ast.Raise | ast.Return | ast.Break | ast.Continue
_OTHER_MODE = {"train": "eval", "eval": "train"}
#: parameters that are modules, if the function calls them
_MODULES = ("model", "module")


def arithmetic(code: Code, node: ast.AST) -> Iterator[Edit]:
    """`x + y` to `x - y`, `-x` to `x`, `n += 1` to `n -= 1` and to `n = 1`."""
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        yield from code.replace_between(node.left, node.right, *_ARITHMETIC[type(node.op)])
    elif isinstance(node, ast.UnaryOp):
        yield code.replace(node, code.operand(node.operand))
    elif isinstance(node, ast.AugAssign) and type(node.op) in _ARITHMETIC:
        old, new = _ARITHMETIC[type(node.op)]
        for other in (f"{new}=", "="):
            yield from code.replace_between(node.target, node.value, f"{old}=", other)


def operand(code: Code, node: ast.AST) -> Iterator[Edit]:
    """`x + y` to `x` and to `y`; `a and b` to `a` and to `b`."""
    if isinstance(node, ast.BinOp):
        yield from (code.replace(node, code.operand(side)) for side in (node.left, node.right))
    elif isinstance(node, ast.BoolOp) and len(node.values) == 2:
        yield from (code.replace(node, code.operand(side)) for side in node.values)


def comparison(code: Code, node: ast.AST) -> Iterator[Edit]:
    """`a < b` to `a <= b` and to `a >= b`; `is` to `is not`."""
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        for op, left, right in zip(node.ops, sides, sides[1:], strict=False):
            old, others = _COMPARISONS[type(op)]
            for new in others:
                yield from code.replace_between(left, right, old, new)


def boolean(code: Code, node: ast.AST) -> Iterator[Edit]:
    """`and` to `or`, and the reverse."""
    if isinstance(node, ast.BoolOp):
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in pairwise(node.values):
            yield from code.replace_between(left, right, old, new)


def condition(code: Code, node: ast.AST) -> Iterator[Edit]:
    """The condition of `if` and `while` negated, always true, or never true; that of a comprehension dropped."""
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        yield code.replace(node.test, f"not ({code.text(node.test)})")
        yield code.replace(node.test, "False")
        if not isinstance(node, ast.While):
            yield code.replace(node.test, "True")
    elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        for test in (test for generator in node.generators for test in generator.ifs):
            yield code.replace(test, "True")


def constant(code: Code, node: ast.AST) -> Iterator[Edit]:
    """`2` to `3` and to `1`, `0.5` to `1.5` and to `0.0`, `True` to `False`, a text to an empty one."""
    if not isinstance(node, ast.Constant) or isinstance(code.parent(node), ast.Expr):
        return
    match node.value:
        case bool():
            yield code.replace(node, str(not node.value))
        case int():
            yield from (code.replace(node, str(node.value + step)) for step in (1, -1))
        case float():
            yield from (code.replace(node, repr(value)) for value in (node.value + 1, 0.0))
        case str():
            yield code.replace(node, '""' if node.value else '"x"')


def call(code: Code, node: ast.AST) -> Iterator[Edit]:
    """A call dropped: `f(x)` and `x.f()` to `x`. Calls of classes stay."""
    if (
        not isinstance(node, ast.Call)
        or _name_of(node.func)[:1].isupper()
        or isinstance(code.parent(node), ast.Expr)
    ):
        return
    first = node.args[0] if node.args else None
    if isinstance(node.func, ast.Attribute) and not _is_module(code, node.func.value):
        yield code.replace(node, code.operand(node.func.value))
    if first is not None and not isinstance(first, ast.Starred):
        yield code.replace(node, code.operand(first))


def argument(code: Code, node: ast.AST) -> Iterator[Edit]:
    """An argument dropped, or exchanged with the next one; the same for parts of a tuple, list or index."""
    items: list[ast.expr] = []
    droppable = True
    if isinstance(node, ast.Call):
        items = node.args
    elif isinstance(node, ast.Tuple | ast.List) and isinstance(node.ctx, ast.Load):
        items = node.elts
        droppable = not isinstance(code.parent(node), ast.Subscript) and len(items) > 1
    keywords = node.keywords if isinstance(node, ast.Call) else []
    spans = [(code.start(item), code.end(item)) for item in items]
    spans += [(code.start(keyword), code.end(keyword)) for keyword in keywords]
    if len(items) == 1 and not keywords and isinstance(items[0], ast.GeneratorExp):
        return  # it shares the parentheses of the call
    for place in range(len(items) if droppable else 0):
        yield code.drop_from_list(spans, place)
    for first, second in pairwise(items):
        yield code.exchange(first, second)


def keyword(code: Code, node: ast.AST) -> Iterator[Edit]:
    """A keyword argument dropped."""
    if isinstance(node, ast.Call):
        items: list[Located] = [*node.args, *node.keywords]
        spans = [(code.start(item), code.end(item)) for item in items]
        for place in range(len(node.args), len(items)):
            yield code.drop_from_list(spans, place)


def slice_(code: Code, node: ast.AST) -> Iterator[Edit]:
    """`x[a:b]` to `x[:b]` and to `x[a:]`, and a step dropped."""
    if isinstance(node, ast.Slice):
        for part in filter(None, (node.lower, node.upper, node.step)):
            yield code.replace(part, "")


def twin(code: Code, node: ast.AST) -> Iterator[Edit]:
    """A function replaced by one that it is often confused with: `max` and `min`, `sin` and `cos`."""
    if isinstance(node, ast.Call) and (name := _name_of(node.func)) in _TWINS:
        end = code.end(node.func)
        yield Edit(end - len(name.encode()), end, _TWINS[name])


def in_place(code: Code, node: ast.AST) -> Iterator[Edit]:
    """`x + y` to `x.add_(y)`, and `x.masked_fill(…)` to `x.masked_fill_(…)`."""
    if isinstance(node, ast.Call) and (name := _name_of(node.func)) in _IN_PLACE:
        end = code.end(node.func)
        yield Edit(end, end, "_")
    elif isinstance(node, ast.BinOp) and type(node.op) in _IN_PLACE_OPERATORS:
        changed = isinstance(node.left, ast.Name | ast.Attribute | ast.Subscript)
        if changed and not isinstance(node.right, ast.Constant):
            name = _IN_PLACE_OPERATORS[type(node.op)]
            yield code.replace(node, f"{code.text(node.left)}.{name}({code.text(node.right)})")


def statement(code: Code, node: ast.AST) -> Iterator[Edit]:
    """A simple statement dropped."""
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    if isinstance(node, _EFFECTS | _LEAVING) and not is_text:
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
    begun = _begun_by(code, node)
    if begun is None:
        return
    first, function = begun
    positional = [*function.args.posonlyargs, *function.args.args]
    of_keywords = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    without = len(positional) - len(function.args.defaults)
    pairs = [*zip(positional[without:], function.args.defaults, strict=True), *of_keywords]
    used = _names_read(function)
    for parameter, value in pairs:
        if value is not None and parameter.arg in used:
            yield code.insert_before(first, f"{parameter.arg} = {code.text(value)}")


def mode(code: Code, node: ast.AST) -> Iterator[Edit]:
    """`model.train()` and `model.eval()` exchanged, or a mode set in a function that sets none."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _OTHER_MODE:
        yield code.replace(node.func, f"{code.text(node.func.value)}.{_OTHER_MODE[node.func.attr]}")
    begun = _begun_by(code, node)
    if begun is None:
        return
    first, function = begun
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
        yield from (code.insert_before(first, f"{owner}.{method}()") for method in _OTHER_MODE)


def _begun_by(code: Code, node: ast.AST) -> tuple[ast.stmt, Function] | None:
    """The node, and the function whose solution begins with it; None if there is none."""
    around = code.functions_around(node)
    if not isinstance(node, ast.stmt) or len(around) != 1:
        return None
    (function,) = around
    first = next(filter(code.is_solution, function.body), None)
    return (node, function) if first is node else None


def _names_read(function: Function) -> set[str]:
    return {
        node.id
        for statement in function.body
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }


def _name_of(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _is_module(code: Code, node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in code.imported


#: the operators, by the kind in a mutant's name
OPERATORS: dict[str, Callable[[Code, ast.AST], Iterator[Edit]]] = {
    "operator": arithmetic,
    "operand": operand,
    "comparison": comparison,
    "boolean": boolean,
    "condition": condition,
    "constant": constant,
    "call": call,
    "argument": argument,
    "keyword": keyword,
    "slice": slice_,
    "twin": twin,
    "in-place": in_place,
    "statement": statement,
    "context": context,
    "loop": loop,
    "exception": exception,
    "state": state,
    "default": default,
    "mode": mode,
}
