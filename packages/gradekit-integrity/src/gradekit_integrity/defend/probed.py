"""An answer whose parts of lines can be asked about: each is given a name, which the tracer notes like any other."""

import ast
from collections.abc import Iterator
from dataclasses import replace

from gradekit_integrity.viva.statements import AnswerCode

#: of names that no student would choose, and that a listing never shows
_PREFIX = "_gradekit_part_"
_PARTS_AT_MOST, _LONGEST_PART = 6, 50
_PARTS = (ast.Call, ast.BinOp, ast.Subscript, ast.Attribute)
#: an assignment expression isn't allowed inside, or isn't evaluated once
_OPAQUE = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.JoinedStr, ast.Await)
_TESTED = (ast.Assign, ast.AugAssign, ast.Return, ast.Expr)


class ProbedCode(AnswerCode):
    """The source with names for the parts of its statements; lines and statements are those of the original.

    Raises:
        SyntaxError, ValueError: as `AnswerCode`.
    """

    def __init__(self, source: str) -> None:
        super().__init__(source)
        #: the source of each part, by its name
        self.parts: dict[str, str] = {}
        self.as_written = self.source
        #: the statements without which a name is missing; they may be taken out to ask where that stops the call
        self.needed = {number for number, one in enumerate(self.statements) if not one.optional}
        self.statements = [replace(one, optional=True) for one in self.statements]
        self._probe()

    def _probe(self) -> None:
        lines = [line.encode() for line in self.source.split("\n")]
        by_line = {one.first: number for number, one in enumerate(self.statements)}
        marks: list[tuple[int, int, int, int, bytes]] = []
        names: dict[int, list[str]] = {}
        for node in ast.walk(self._tree):
            number = by_line.get(getattr(node, "lineno", 0))
            if not isinstance(node, _TESTED) or number is None or not self._may_be_probed(number):
                continue
            for part in list(_parts(node))[:_PARTS_AT_MOST]:
                if (
                    part.lineno != part.end_lineno
                    or part.end_col_offset is None
                    or part.lineno != node.lineno
                ):
                    continue
                first, last = part.col_offset, part.end_col_offset
                text = lines[part.lineno - 1][first:last].decode()
                if len(text) > _LONGEST_PART or "`" in text or not text.isprintable():
                    continue
                name = f"{_PREFIX}{len(self.parts)}"
                self.parts[name] = text
                names.setdefault(number, []).append(name)
                width = last - first
                marks.append((part.lineno, first, 1, -width, f"({name} := ".encode()))
                marks.append((part.lineno, last, 0, -first, b")"))
        # from the end; at one place the outer part opens first and closes last
        for line, column, _, _, mark in sorted(marks, key=lambda one: one[:4], reverse=True):
            lines[line - 1] = lines[line - 1][:column] + mark + lines[line - 1][column:]
        probed = b"\n".join(lines).decode()
        try:
            compile(probed, "<answer>", "exec")
        except (SyntaxError, ValueError):
            self.parts = {}
            return
        self.source = probed
        for number, added in names.items():
            one = self.statements[number]
            self.statements[number] = replace(one, assigns=(*one.assigns, *added))

    def _may_be_probed(self, number: int) -> bool:
        one = self.statements[number]
        return one.simple and bool(one.function) and self.is_clear(number)


def _parts(node: ast.AST) -> Iterator[ast.expr]:
    """The parts of a statement that are always evaluated once, outer ones first; not its whole value."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (*_OPAQUE, ast.IfExp, ast.BoolOp, ast.Compare, ast.NamedExpr, ast.Starred)):
            continue
        if isinstance(child, ast.expr) and isinstance(getattr(child, "ctx", ast.Load()), ast.Load):
            whole = isinstance(node, ast.Assign) and len(node.targets) == 1
            called = isinstance(node, ast.Call) and child is node.func
            if isinstance(child, _PARTS) and not whole and not called and not _is_name(child):
                yield child
            yield from _parts(child)
        elif isinstance(child, ast.keyword):
            yield from _parts(child)


def _is_name(node: ast.AST) -> bool:
    """True for a dotted name such as `torch.float32`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)
