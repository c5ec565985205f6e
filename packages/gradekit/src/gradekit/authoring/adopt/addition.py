"""Adds gradekit to nbgrader_config.py: one import and one line at its end. No other byte changes."""

import ast
import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gradekit.authoring.adopt.config_file import FUNCTION, NAME, PLUGIN, ConfigFile
from gradekit.authoring.adopt.settings import json_config
from gradekit.course import CourseError

IMPORT = f"from {PLUGIN} import {FUNCTION}"


@dataclass(frozen=True)
class Addition:
    """The lines that are added to a configuration file.

    Args:
        lines: the lines; empty if gradekit is plugged in already.
        addition: the bytes that are appended.
    """

    file: ConfigFile
    lines: tuple[str, ...] = ()
    addition: bytes = b""

    def diff(self) -> list[str]:
        """The change as a unified diff."""
        before = self.file.text.splitlines()
        after = (self.file.content + self.addition).decode(self.file.encoding).splitlines()
        name = self.file.path.name
        return [
            line.rstrip("\n") for line in difflib.unified_diff(before, after, name, name, n=0, lineterm="")
        ]

    def write(self) -> None:
        """Append the lines. Links, permissions and everything in the file stay as they are."""
        with self.file.path.open("ab") as file:
            file.write(self.addition)


def addition_to(root: Path) -> Addition:
    """The lines to add to the configuration of the course in `root`.

    Raises:
        CourseError: the file can't be read, or has to be changed by its author.
    """
    file = ConfigFile.read(root / NAME)
    if file.adopted:
        return Addition(file)
    _require_plain(file, root)
    variable = file.variable
    exists = bool(file.content.strip())
    lines = [IMPORT, f"{FUNCTION}({variable})"]
    if not exists:
        lines = [IMPORT, "", "c = get_config()", f"{FUNCTION}(c)"]
    elif IMPORT in map(str.strip, file.text.splitlines()) and file.import_names == {FUNCTION}:
        lines = [lines[-1]]
    end = _line_end(file.text)
    gap = "" if not exists or file.text.endswith(("\n", "\r")) else end
    addition = (gap + "".join(f"{line}{end}" for line in lines)).encode(file.encoding.removesuffix("-sig"))
    added = Addition(file, tuple(lines), addition)
    _require_appended(added)
    return added


def _require_plain(file: ConfigFile, root: Path) -> None:
    """Raise CourseError for a configuration in several files, whose author has to choose the place."""
    own = f"`{IMPORT}` and `{FUNCTION}({file.variable})`"
    if file.subconfig_line:
        raise CourseError(
            f"{file.path}, line {file.subconfig_line} loads another configuration file: add {own} yourself, below "
            "everything that sets something, and in only one of the files"
        )
    if path := json_config(root):
        raise CourseError(
            f"{path} overrides {NAME} and can't call a function: move its settings into {NAME}, then run this again"
        )


def _require_appended(addition: Addition) -> None:
    """Raise CourseError unless the result parses as the file's statements, followed by the added ones."""
    file = addition.file
    grown = ConfigFile(file.path, file.content + addition.addition)
    added = ast.parse("\n".join(addition.lines)).body
    try:
        as_meant = _dumped(grown.tree.body) == _dumped([*file.tree.body, *added])
    except CourseError:
        as_meant = False
    if not as_meant:
        raise CourseError(
            f"{file.path} ends in a way that lines can't be added to: add `{IMPORT}` and "
            f"`{FUNCTION}({file.variable})` at its end yourself"
        )


def _dumped(statements: Sequence[ast.stmt]) -> list[str]:
    return [ast.dump(statement) for statement in statements]


def _line_end(text: str) -> str:
    """The line end of the last line that has one."""
    last = text.splitlines(keepends=True)
    for line in reversed(last):
        for end in ("\r\n", "\n", "\r"):
            if line.endswith(end):
                return end
    return "\n"
