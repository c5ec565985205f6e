"""A course's nbgrader_config.py as text: the lines that plug gradekit in, and settings that clash with it."""

import ast
import difflib
import importlib.metadata
import io
import math
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from packaging.requirements import Requirement
from traitlets.config import Config

from gradekit.course import CourseError
from gradekit.course.kernels import is_installed
from gradekit.nbgrader_plugin import configure
from gradekit.submission.names import path_of, paths_in

NAME = "nbgrader_config.py"
_PLUGIN, FUNCTION = "gradekit.nbgrader_plugin", "configure"
IMPORT = f"from {_PLUGIN} import {FUNCTION}"


@dataclass(frozen=True)
class ConfigFile:
    """The text of a configuration file, which isn't run here; `content` is empty if the file does not exist."""

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
        return paths_in(self.tree)

    @cached_property
    def configure_calls(self) -> list[ast.Call]:
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
        return ConfigFile(self.file.path, self.file.content + self.addition)

    def diff(self) -> list[str]:
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


_CONVERTERS = {
    "Autograde": Autograde,
    "GenerateAssignment": GenerateAssignment,
    "GenerateFeedback": GenerateFeedback,
}
#: ends of the names of settings that `configure` adds to, so that those made above it stay
_KEPT = ("preprocessors", "pre_convert_hook", "extractor_plugin", "logging_config")
_OTHER_REMEDY = (
    "formgrader's pages have gradekit's template. To keep yours, move the line below `configure(c)`."
)
#: traits of Execute that have no effect, since gradekit starts the kernels
_IGNORED = (
    "kernel_name",
    "extra_arguments",
    "execute_retries",
    "interrupt_on_timeout",
    "error_on_timeout",
    "timeout_func",
    "iopub_timeout",
    "raise_on_iopub_timeout",
    "startup_timeout",
)
_EXECUTE = ("Execute", "ExecutePreprocessor", "NotebookClient")


@cache
def replaced_settings() -> list[tuple[str, str]]:
    """The class and name of each setting that `configure` sets."""
    config = Config()
    configure(config)
    return [(section, trait) for section in sorted(config) for trait in sorted(config[section])]


def settings_problems(config: Config, file: ConfigFile) -> Iterator[str]:
    """A sentence for each setting of the course that gradekit replaces.

    Args:
        config: all settings, from all files.
        file: nbgrader_config.py of the course; where it is already adopted, only its lines show the course's own.
    """
    harmless = {"extractor_plugin", *(trait for own, trait in replaced_settings() if own == "HTMLExporter")}
    plugged_in = max((call.lineno for call in file.configure_calls), default=math.inf)
    for section, trait in replaced_settings():
        for owner in _owners(section, trait):
            lines = file.lines_that_set(owner, trait)
            set_elsewhere = not file.adopted and trait in config.get(owner, {})
            if lines and lines[-1] > plugged_in:
                if trait not in harmless:
                    yield (
                        f"{file.path}, line {lines[-1]}: c.{owner}.{trait} is set after `configure(c)`, which "
                        "switches off a part of gradekit. Move the line above it, or remove it."
                    )
            elif (lines or set_elsewhere) and (section == "HTMLExporter" or not trait.endswith(_KEPT)):
                remedy = "Remove the line." if trait == "exporter_class" else _OTHER_REMEDY
                yield f"{_place(file, owner, trait)}: gradekit sets c.{owner}.{trait} itself. {remedy}"


def settings_changes(config: Config, file: ConfigFile) -> Iterator[str]:
    """A sentence for each setting that has a different meaning or no effect."""
    for section in _EXECUTE:
        found = config.get(section, {})
        for trait in _IGNORED:
            if trait in found:
                yield f"{_place(file, section, trait)}: c.{section}.{trait} has no effect; gradekit starts the kernels."
        if "timeout" in found:
            place, seconds = _place(file, section, "timeout"), found.timeout
            if seconds is None or seconds < 0:
                yield (
                    f"{place}: c.{section}.timeout sets no limit for a cell. In gradekit, "
                    "c.RunChecks.submission_timeout limits the whole notebook."
                )
            else:
                yield (
                    f"{place}: the {seconds} s of c.{section}.timeout become seconds of CPU time, so a busy machine "
                    "costs nobody points."
                )


def replaces_kernels(config: Config) -> bool:
    """Whether nbgrader starts a kernel of the course's choice, whatever a notebook names."""
    names = (config.get(section, {}).get("kernel_name") for section in _EXECUTE)
    return any(name and is_installed(str(name)) for name in names)


def version_problems(requirements: list[str] | None = None) -> Iterator[str]:
    """A sentence if the installed nbgrader isn't one that gradekit works with."""
    lines = requirements if requirements is not None else importlib.metadata.requires("gradekit") or []
    for requirement in map(Requirement, lines):
        installed = importlib.metadata.version("nbgrader")
        if requirement.name == "nbgrader" and not requirement.specifier.contains(installed, prereleases=True):
            yield (
                f"nbgrader {installed} is installed, but gradekit needs nbgrader{requirement.specifier}: "
                f'`pip install "nbgrader{requirement.specifier}"`, then `nbgrader db upgrade` in the course folder.'
            )


def _owners(section: str, trait: str) -> list[str]:
    """The classes under whose names the setting can be made: the class itself and those it inherits the trait from."""
    converter = _CONVERTERS.get(section)
    if converter is None:
        return [section]
    return [
        base.__name__ for base in converter.__mro__ if trait in getattr(base, "class_trait_names", list)()
    ]


def _place(file: ConfigFile, section: str, trait: str) -> str:
    lines = file.lines_that_set(section, trait)
    return f"{file.path}, line {lines[-1]}" if lines else "nbgrader's configuration"
