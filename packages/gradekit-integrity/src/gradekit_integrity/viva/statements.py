"""The statements of an answer: where they are, what they assign, and whether two of them are equivalent."""

import ast
import builtins
import re
import symtable
from collections import Counter
from collections.abc import Iterator, Set
from copy import deepcopy
from dataclasses import dataclass
from enum import StrEnum

#: a longer answer is not looked at
_LONGEST = 30_000
_MAGIC = re.compile(r"^([^\S\n]*)[%!].*$", re.MULTILINE)
_UNPREDICTABLE = {
    *("set", "frozenset", "hash", "id", "vars", "dir", "globals", "locals"),
    *("time", "perf_counter", "monotonic", "process_time", "now", "today", "urandom", "uuid4", "getpid"),
    *("default_rng", "Generator", "SystemRandom", "Random", "RandomState", "secrets"),
    *("empty", "empty_like", "new_empty", "empty_strided"),
}
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Sort(StrEnum):
    ASSIGN = "assign"
    LOOP = "loop"
    IF = "if"
    RETURN = "return"
    CALL = "call"
    OTHER = "other"


@dataclass(frozen=True)
class AnswerStatement:
    """One statement of an answer; of a compound one, its header.

    Args:
        first: its first line, counted from 1.
        last: its last line.
        key: equal for statements that differ in names of variables, layout and comments only.
        assigns: the names that it assigns.
        function: the qualified name of the function that it is in; empty at top level.
        body: number of the first statement inside a compound statement, or -1.
        after: number of the first statement in its `else`, or -1.
        alone: nothing else is on its lines, so that it can be taken out.
        plain: its value is a constant or a name, about which there is nothing to ask.
        in_loop: it may run more than once in a call.
        simple: it contains no other statements.
        counted: a loop over a `range` that only parameters decide, and which nothing ends early.
        optional: all that it assigns is also a parameter or assigned elsewhere in the function.
    """

    sort: Sort
    first: int
    last: int
    key: str
    assigns: tuple[str, ...] = ()
    function: str = ""
    body: int = -1
    after: int = -1
    alone: bool = False
    plain: bool = False
    in_loop: bool = False
    simple: bool = True
    counted: bool = False
    optional: bool = False

    def is_return_of(self, function: str) -> bool:
        return self.sort == Sort.RETURN and self.function == function


class AnswerCode:
    """The source of an answer cell as a list of statements.

    Raises:
        SyntaxError: Python can't read it; `lineno` says where.
        ValueError: it is too long or nested too deep, or has characters or integers that Python can't write.
    """

    def __init__(self, source: str) -> None:
        if len(source) > _LONGEST:
            raise ValueError("the answer is too long")
        #: with magics replaced, in the same lines
        self.source = _MAGIC.sub(r"\1pass", source)
        try:
            self._read(ast.parse(self.source))
        except (RecursionError, MemoryError):
            raise ValueError("the answer is nested too deep") from None

    def _read(self, tree: ast.Module) -> None:
        self._tree = tree
        ast.unparse(tree)  # questions quote it
        #: parameters and variables
        self.local_names = _local_names(self._tree)
        self.statements: list[AnswerStatement] = []
        self._inside_function: set[str] = set()
        self._bindings: dict[str, Counter[str]] = {"": _bound(self._tree)}
        self._parameters: dict[str, set[str]] = {"": set()}
        self._collect(self._tree.body, "", False)
        self.lines = self._lines()
        #: qualified names of its functions and methods
        self.functions = [name for name, _ in _functions(self._tree)]

    @property
    def is_unpredictable(self) -> bool:
        """True if a value may depend on the order of a set, an address, a clock, random numbers, or memory that nothing was written to.

        Two runs might agree by chance.
        """
        nodes = list(ast.walk(self._tree))
        names = {node.id for node in nodes if isinstance(node, ast.Name)}
        names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        sets = any(isinstance(node, ast.Set | ast.SetComp) for node in nodes)
        return sets or not names.isdisjoint(_UNPREDICTABLE)

    def without(self, statement: AnswerStatement, instead: str = "pass") -> str:
        """The source with this statement replaced by one that does less; all other lines keep their numbers."""
        lines = self.source.split("\n")
        first = lines[statement.first - 1]
        lines[statement.first - 1] = first[: len(first) - len(first.lstrip())] + instead
        lines[statement.first : statement.last] = [""] * (statement.last - statement.first)
        return "\n".join(lines)

    def _collect(self, body: list[ast.stmt], function: str, in_loop: bool) -> int:
        """Add the statements of a block; returns the number of the first one."""
        first = -1
        for node in body:
            number = self._add(node, function, in_loop)
            first = number if first < 0 else first
        return first

    def _add(self, node: ast.stmt, function: str, in_loop: bool) -> int:
        number = len(self.statements)
        self.statements.append(AnswerStatement(Sort.OTHER, 0, 0, ""))
        blocks: list[ast.stmt] = getattr(node, "body", [])
        last = max(node.lineno, blocks[0].lineno - 1) if blocks else node.end_lineno or node.lineno
        sort, inside, loops = Sort.OTHER, function, in_loop
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                inside, loops = self._qualified(function, node.name), False
                self._bindings[inside] = _bound(node)
                self._parameters[inside] = {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}
                if not isinstance(node, ast.ClassDef):
                    self._inside_function.add(inside)
            case ast.For() | ast.While() | ast.AsyncFor():
                sort, loops = Sort.LOOP, True
            case ast.If():
                sort = Sort.IF
            case ast.Return():
                sort = Sort.RETURN
            case ast.Assign() | ast.AugAssign() | ast.AnnAssign():
                sort = Sort.ASSIGN
            case ast.Expr(value=ast.Call()):
                sort = Sort.CALL
        body = self._collect(blocks, inside, loops) if blocks else -1
        after = self._collect(getattr(node, "orelse", []) or [], inside, in_loop)
        self._collect(getattr(node, "finalbody", []) or [], inside, loops)
        for handler in getattr(node, "handlers", []) or getattr(node, "cases", []) or []:
            self._collect(handler.body, inside, loops)
        self.statements[number] = AnswerStatement(
            sort,
            node.lineno,
            last,
            _key(node, self.local_names),
            tuple(_assigned(node)),
            function,
            body,
            after,
            not blocks and self._is_alone(node),
            _is_plain(node),
            in_loop,
            not blocks,
            self._is_counted(node, function),
            all(self._bindings[function][name] > count for name, count in _bound(node).items()),
        )
        return number

    def _is_counted(self, node: ast.stmt, function: str) -> bool:
        match node:
            case ast.For(iter=ast.Call(func=ast.Name(id="range"), args=arguments)):
                parts = [part for argument in arguments for part in ast.walk(argument)]
                names = {part.id for part in parts if isinstance(part, ast.Name)} - {"len"}
                once = all(self._bindings[function][name] == 1 for name in names)
                early = any(isinstance(one, ast.Break | ast.Return) for one in ast.walk(node))
                return once and names <= self._parameters[function] and not early
        return False

    def _qualified(self, around: str, name: str) -> str:
        """The name of a definition inside of another one, as Python writes it."""
        between = ".<locals>." if around in self._inside_function else "."
        return f"{around}{between}{name}" if around else name

    def _is_alone(self, node: ast.stmt) -> bool:
        lines = self.source.split("\n")
        before = lines[node.lineno - 1].encode()[: node.col_offset].decode(errors="replace")
        behind = lines[(node.end_lineno or 1) - 1].encode()[node.end_col_offset :].decode(errors="replace")
        return not before.strip() and (not behind.strip() or behind.lstrip().startswith("#"))

    def _lines(self) -> list[int]:
        """For each line, the number of its statement; -1 for none, and for lines that several share."""
        found = [-1] * (self.source.count("\n") + 3)
        shared = set()
        for number, statement in enumerate(self.statements):
            for line in range(statement.first, statement.last + 1):
                if found[line] >= 0:
                    shared.add(line)
                found[line] = number
        return [-1 if line in shared else number for line, number in enumerate(found)]

    def is_clear(self, number: int) -> bool:
        """True if no other statement is on the lines of this one."""
        one = self.statements[number]
        return all(self.lines[line] == number for line in range(one.first, one.last + 1))


def outside_names(source: str, function: str) -> list[str]:
    """The names that a top-level function uses from outside, without built-ins, in alphabetical order."""
    for table in symtable.symtable(source, "<answer>", "exec").get_children():
        if table.get_name() == function and isinstance(table, symtable.Function):
            found = set(_global_names(table))
            return sorted(name for name in found if not hasattr(builtins, name))
    return []


def _global_names(table: symtable.SymbolTable) -> Iterator[str]:
    for symbol in table.get_symbols():
        if symbol.is_global() and symbol.is_referenced():
            yield symbol.get_name()
    for child in table.get_children():
        yield from _global_names(child)


def _functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.AST]]:
    for node in getattr(tree, "body", []):
        if isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            yield prefix + node.name, node


def _bound(node: ast.AST) -> Counter[str]:
    """How often each name is assigned or is a parameter, anywhere in a node."""
    nodes = list(ast.walk(node))
    names = [one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
    return Counter([*names, *(one.arg for one in nodes if isinstance(one, ast.arg))])


def _assigned(node: ast.stmt) -> Iterator[str]:
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign) and node.value is not None:
        targets = [node.target]
    for target in targets:
        for part in target.elts if isinstance(target, ast.Tuple | ast.List) else [target]:
            if isinstance(part, ast.Name):
                yield part.id


def _is_plain(node: ast.stmt) -> bool:
    value = getattr(node, "value", None)
    return not isinstance(node, ast.AugAssign) and (value is None or _is_simple(value))


def _is_simple(value: ast.expr) -> bool:
    if isinstance(value, ast.Tuple | ast.List):
        return all(map(_is_simple, value.elts))
    return isinstance(value, ast.Constant | ast.Name | ast.Lambda)


def _local_names(tree: ast.AST) -> frozenset[str]:
    """Parameters and variables, which students may name as they like."""
    stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return frozenset(stored | {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)})


class _Renamer(ast.NodeTransformer):
    """Numbers the variables in the order in which they occur."""

    def __init__(self, names: Set[str]) -> None:
        self._names = names
        self._numbers: dict[str, str] = {}

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self._names:
            node.id = self._numbers.setdefault(node.id, f"v{len(self._numbers)}")
        return node


def _key(node: ast.stmt, names: Set[str]) -> str:
    if isinstance(node, _SCOPES):
        return f"{type(node).__name__} {getattr(node, 'name', '')}"
    if isinstance(node, ast.Try | ast.With | ast.Match):
        return type(node).__name__
    match node:
        case ast.For(target=target, iter=over):
            parts: list[ast.expr] = [target, over]
        case ast.While(test=test) | ast.If(test=test):
            parts = [test]
        case _:
            return ast.dump(_Renamer(names).visit(deepcopy(node)))
    renamer = _Renamer(names)
    return type(node).__name__ + "".join(ast.dump(renamer.visit(deepcopy(part))) for part in parts)
