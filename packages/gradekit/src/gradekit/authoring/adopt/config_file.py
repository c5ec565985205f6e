"""Reads a course's nbgrader_config.py as text: where gradekit is plugged in, and which lines set what."""

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from gradekit.course import CourseError

NAME = "nbgrader_config.py"
PLUGIN, FUNCTION = "gradekit.nbgrader_plugin", "configure"


@dataclass(frozen=True)
class ConfigFile:
    """The text of a configuration file, which isn't run here.

    Args:
        content: its bytes; empty if the file does not exist.
    """

    path: Path
    content: bytes = b""

    @classmethod
    def read(cls, path: Path) -> "ConfigFile":
        return cls(path, path.read_bytes() if path.exists() else b"")

    @cached_property
    def encoding(self) -> str:
        """The encoding that the file declares, as Python reads it."""
        try:
            return tokenize.detect_encoding(io.BytesIO(self.content).readline)[0]
        except SyntaxError as error:
            raise CourseError(
                f"{self.path} can't be read as Python: {error.msg}. Correct it first."
            ) from error

    @cached_property
    def text(self) -> str:
        try:
            return self.content.decode(self.encoding)
        except UnicodeDecodeError as error:
            raise CourseError(
                f"{self.path} is not encoded as {self.encoding}: save it in that encoding, or declare another one "
                "in its first line (`# -*- coding: latin-1 -*-`)"
            ) from error

    @cached_property
    def tree(self) -> ast.Module:
        try:
            return ast.parse(self.content, self.path.name)
        except (SyntaxError, ValueError) as error:
            line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
            what = error.msg if isinstance(error, SyntaxError) else error
            raise CourseError(f"{self.path}{line}: {what}. Correct it first.") from error

    @cached_property
    def import_names(self) -> set[str]:
        """The names under which the file can call `configure`."""
        names = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and node.module == PLUGIN:
                names |= {alias.asname or alias.name for alias in node.names if alias.name == FUNCTION}
            elif isinstance(node, ast.ImportFrom) and node.module == "gradekit":
                plugin = [
                    alias.asname or alias.name for alias in node.names if alias.name == "nbgrader_plugin"
                ]
                names |= {f"{name}.{FUNCTION}" for name in plugin}
            elif isinstance(node, ast.Import):
                modules = [alias.asname or alias.name for alias in node.names if alias.name == PLUGIN]
                names |= {f"{name}.{FUNCTION}" for name in modules}
        return names

    @cached_property
    def configure_calls(self) -> list[ast.Call]:
        """The calls that plug gradekit in."""
        return [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Call) and ast.unparse(node.func) in self.import_names
        ]

    @property
    def adopted(self) -> bool:
        return bool(self.configure_calls)

    @property
    def subconfig_line(self) -> int | None:
        """The line that loads another configuration file."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "load_subconfig":
                return node.lineno
        return None

    @property
    def variable(self) -> str:
        """An expression for nbgrader's configuration at the end of the file."""
        is_config = {"c": True}  # nbgrader runs the file with `c` defined
        configs = {
            target
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Assign) and ast.unparse(node.value) == "get_config()"
            for target in node.targets
        }
        names = [node for node in _in_module(self.tree) if isinstance(node, ast.Name)]
        for node in sorted(names, key=lambda name: (name.lineno, name.col_offset)):
            if not isinstance(node.ctx, ast.Load):
                is_config[node.id] = node in configs
        usable = [name for name, right in is_config.items() if right]
        return usable[0] if usable else "get_config()"

    def lines_that_set(self, section: str, trait: str) -> list[int]:
        """The lines with `c.<section>.<trait> = …` or a change of it in place."""
        lines = []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Attribute) and node.attr == trait:
                owner = node.value
                if isinstance(owner, ast.Attribute) and owner.attr == section:
                    lines.append(node.lineno)
        return sorted(lines)


def _in_module(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes below `node`, except those in a nested scope."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(
            child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda | ast.comprehension
        ):
            yield from _in_module(child)
