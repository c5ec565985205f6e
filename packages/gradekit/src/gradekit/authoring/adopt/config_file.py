"""A course's nbgrader_config.py as text: where gradekit is plugged in, which lines set what, and the lines that plug it in."""

import ast
import difflib
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from gradekit.course import CourseError
from gradekit.submission.names import path_of, paths_in

NAME = "nbgrader_config.py"
_PLUGIN, FUNCTION = "gradekit.nbgrader_plugin", "configure"
IMPORT = f"from {_PLUGIN} import {FUNCTION}"


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
    def imports(self) -> dict[str, str]:
        """The path of each imported name."""
        return paths_in(self.tree)

    @cached_property
    def configure_calls(self) -> list[ast.Call]:
        """The calls that plug gradekit in."""
        calls = (node for node in ast.walk(self.tree) if isinstance(node, ast.Call))
        return [call for call in calls if path_of(call.func, self.imports) == f"{_PLUGIN}.{FUNCTION}"]

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
        return next((name for name, right in is_config.items() if right), "get_config()")

    def lines_that_set(self, section: str, trait: str) -> list[int]:
        """The lines with `c.<section>.<trait> = …` or a change of it in place."""
        return sorted(
            node.lineno
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Attribute)
            and node.attr == trait
            and isinstance(node.value, ast.Attribute)
            and node.value.attr == section
        )


@dataclass(frozen=True)
class Addition:
    """The lines that are added to a configuration file, and as bytes; empty if gradekit is plugged in already."""

    file: ConfigFile
    lines: tuple[str, ...] = ()
    addition: bytes = b""

    @property
    def grown(self) -> ConfigFile:
        """The file with the lines at its end."""
        return ConfigFile(self.file.path, self.file.content + self.addition)

    def diff(self) -> list[str]:
        """The change as a unified diff."""
        before, after = (file.text.splitlines() for file in (self.file, self.grown))
        name = self.file.path.name
        return list(difflib.unified_diff(before, after, name, name, n=0, lineterm=""))

    def write(self) -> None:
        """Append the lines. Links, permissions and everything in the file stay as they are."""
        with self.file.path.open("ab") as file:
            file.write(self.addition)


def addition_to(root: Path) -> Addition:
    """One import and one line for the end of the configuration of the course in `root`.

    Raises:
        CourseError: the file can't be read, or has to be changed by its author.
    """
    file = ConfigFile.read(root / NAME)
    if file.adopted:
        return Addition(file)
    call = f"{FUNCTION}({file.variable})"
    if file.subconfig_line:  # its author has to choose the place
        raise CourseError(
            f"{file.path}, line {file.subconfig_line} loads another configuration file: add `{IMPORT}` and `{call}` "
            "yourself, below everything that sets something, and in only one of the files"
        )
    if path := json_config(root):
        raise CourseError(
            f"{path} overrides {NAME} and can't call a function: move its settings into {NAME}, then run this again"
        )
    lines = [IMPORT, call]
    if not file.content.strip():
        lines = [IMPORT, "", "c = get_config()", call]
    elif file.imports.get(FUNCTION) == f"{_PLUGIN}.{FUNCTION}":
        lines = [call]
    ends = re.findall(r"\r\n|\n|\r", file.text)
    end = ends[-1] if ends else "\n"
    gap = "" if not file.content.strip() or file.text.endswith(("\n", "\r")) else end
    text = gap + "".join(f"{line}{end}" for line in lines)
    addition = Addition(file, tuple(lines), text.encode(file.encoding.removesuffix("-sig")))
    if not _is_appended(addition):
        raise CourseError(
            f"{file.path} ends in a way that lines can't be added to: add `{IMPORT}` and `{call}` at its end yourself"
        )
    return addition


def json_config(root: Path) -> Path | None:
    """A configuration file in JSON beside nbgrader_config.py, or in its place."""
    path = root / "nbgrader_config.json"
    return path if path.exists() else None


def _is_appended(addition: Addition) -> bool:
    """True if the result parses as the file's statements, followed by the added ones."""
    added = ast.parse("\n".join(addition.lines)).body
    try:
        statements = addition.grown.tree.body
    except CourseError:
        return False
    return [*map(ast.dump, statements)] == [*map(ast.dump, [*addition.file.tree.body, *added])]


def _in_module(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes below `node`, except those in a nested scope."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(
            child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda | ast.comprehension
        ):
            yield from _in_module(child)
