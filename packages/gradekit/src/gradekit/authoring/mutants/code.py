"""The text of a solution cell, its syntax tree, and edits of the text at the tree's positions."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

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
        """The number of the line that contains a position."""
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
        """Swap two expressions."""
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
