"""Reads a course's nbgrader_config.py as text: where coursekit is plugged in, and which lines set what."""

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from coursekit.course import CourseError

NAME = "nbgrader_config.py"
PLUGIN, FUNCTION = "coursekit.nbgrader_plugin", "configure"


@dataclass(frozen=True)
class ConfigFile:
    """The text of a configuration file, which isn't run here.

    Args:
        content: its bytes; empty if there is no file.
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
            elif isinstance(node, ast.ImportFrom) and node.module == "coursekit":
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
        """The calls that plug coursekit in."""
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
        last: dict[str, bool] = {"c": True}  # nbgrader runs the file with `c` defined
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in last:
                last[node.name] = False
            for target, value in _bindings(node):
                last[target] = isinstance(value, ast.Call) and ast.unparse(value.func) == "get_config"
        usable = [name for name, is_config in last.items() if is_config]
        return "c" if "c" in usable else usable[0] if usable else "get_config()"

    def lines_that_set(self, section: str, trait: str) -> list[int]:
        """The lines with `c.<section>.<trait> = …` or a change of it in place."""
        lines = []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Attribute) and node.attr == trait:
                owner = node.value
                if isinstance(owner, ast.Attribute) and owner.attr == section:
                    lines.append(node.lineno)
        return sorted(lines)


def _bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names that a statement assigns, and to what."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Name):
                yield target.id, node.value
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and isinstance(node.target, ast.Name) and node.value:
        yield node.target.id, node.value
