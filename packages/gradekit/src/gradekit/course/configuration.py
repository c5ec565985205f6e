"""The course's configuration, read from the same files in the same order as by nbgrader's own commands."""

import difflib
import logging
import os
import re
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbgrader.apps.baseapp import NbGrader
from nbgrader.coursedir import CourseDirectory
from traitlets import Dict, HasTraits, TraitError, Unicode
from traitlets.config import Config, Configurable
from traitlets.config.loader import (
    ConfigFileNotFound,
    FileConfigLoader,
    JSONFileConfigLoader,
    PyFileConfigLoader,
)
from traitlets.utils.importstring import import_item

from gradekit.course import Course, CourseError

#: the forms in which traitlets' messages, and ours, name a setting
_SETTING = re.compile(r"'(?P<trait>\w+)' trait of an? (?P<section>\w+) instance|c\.(?P<s>\w+)\.(?P<t>\w+)")
#: earlier names, where a configuration imports them or names one of their classes, and what they are called now
_EARLIER_NAMES = {
    "coursekit": "gradekit",
    "gradekit.lms": "gradekit_lms",
    "gradekit.nbgrader_plugin.second_chance": "gradekit.nbgrader_plugin.late",
}
_EARLIER_NAME = re.compile(
    rf"""^[^#]*?(?:\b(?:import|from)\s+|["'])({"|".join(map(re.escape, _EARLIER_NAMES))})\b""", re.MULTILINE
)
_SUBCONFIG = re.compile(r"load_subconfig\(\s*[rf]?['\"](.+?)['\"]")
#: how similar a section must be to one of ours to count as a misspelling of it
_SIMILAR = 0.8


@dataclass(frozen=True)
class Configuration:
    """The settings of a course, its folders, and the files they come from, the last of which counts."""

    config: Config
    folders: CourseDirectory
    files: tuple[Path, ...]

    def require_valid(self, dotted: str, *inherited: str) -> None:
        """Make sure that the settings for a class of ours, which has this dotted name, can be used.

        Args:
            inherited: sections of its settings that aren't its own.

        Raises:
            CourseError: one has the wrong type, or is unknown; traitlets only logs the latter.
        """
        section = dotted.rpartition(".")[2]
        for name in self.config:
            if name != section and difflib.SequenceMatcher(None, name, section).ratio() > _SIMILAR:
                raise self._error(name, "", f"there is no such section: write c.{section}")
        if not any(map(self.config.get, (section, *inherited))):
            return  # without importing it
        kind: type[Configurable] = import_item(dotted)
        known = kind.class_trait_names(config=True)
        for name in self.config.get(section, {}):
            if name not in known:
                near = difflib.get_close_matches(name, known, 1)
                remedy = f"did you mean c.{section}.{near[0]}?" if near else "remove the line"
                raise self._error(section, name, f"there is no such setting: {remedy}")
        try:
            kind(config=self.config)
        except TraitError as error:
            raise _wrong_setting(error, self.files) from error

    def _error(self, section: str, trait: str, what: str) -> CourseError:
        place = _place_of(section, trait, self.files)
        return CourseError(f"{place}: c.{'.'.join(filter(None, [section, trait]))}: {what}")


def read_configuration(root: Path | None = None) -> Configuration:
    """Read what `nbgrader` reads, and with `root` what `nbgrader --course-dir ROOT` reads.

    That is, from the least to the most important: Jupyter's folders for configuration, of the system and of the
    user, the working directory, and the course's folder. Without `root`, the settings say where that is, by default
    the working directory.

    Raises:
        CourseError: a file raises an error, or a setting has the wrong type.
    """
    log = logging.getLogger(__name__)
    log.setLevel(logging.CRITICAL)  # nbgrader's own commands log what is outdated
    app = _Application(log=log)
    try:
        app.initialize([] if root is None else [f"--course-dir={os.path.abspath(root)}"])
    except TraitError as error:
        raise _wrong_setting(error, _files_of(app)) from error
    folders = app.coursedir
    assert folders is not None
    return Configuration(app.config, folders, _files_of(app))


def course_in(folders: CourseDirectory, root: Path | None = None) -> Course:
    """The course with the folders that are configured."""
    config = (folders.parent or folders).config  # that of the folders is older than the course's own file
    kept = config.get("Autograde", {}).get("exclude_overwriting", {})
    exchange = config.get("Exchange", {}).get("root", Course.exchange)
    return Course(
        root or Path(folders.root),
        folders.source_directory,
        folders.release_directory,
        structure=folders.directory_structure,
        ignore=tuple(folders.ignore),
        not_overwritten=tuple((name, tuple(files)) for name, files in kept.items()),
        exchange=str(exchange),
    )


class PerAssignment(Dict):  # it takes types for the checker only
    """Maps the name of an assignment to settings that replace those of the object for this assignment.

    Args:
        names: the traits that an assignment may set.
    """

    def __init__(self, *names: str, help: str) -> None:
        super().__init__(key_trait=Unicode(), value_trait=Dict(), help=help)
        self._names = sorted(names)

    def validate(self, obj: HasTraits, value: Any) -> dict[str, dict[str, Any]] | None:
        settings = super().validate(obj, value)
        for assignment, changed in (settings or {}).items():
            place = f"c.{type(obj).__name__}.{self.name}[{assignment!r}]"
            for name in changed:
                if name not in self._names:
                    raise TraitError(f"{place}: there is no setting {name!r}, only {', '.join(self._names)}")
            try:
                type(obj)(**changed)
            except TraitError as error:
                raise TraitError(f"{place}: {error}") from error
        return settings

    def of(self, obj: HasTraits, assignment: str) -> dict[str, Any]:
        """The settings of an assignment: its own, as their traits convert them, and the object's."""
        own: dict[str, Any] = getattr(obj, str(self.name)).get(assignment, {})
        changed = type(obj)(**own)
        return {name: getattr(changed if name in own else obj, name) for name in self._names}


class _ErrorsWithPlaces(FileConfigLoader):
    """Reports an error with its file and line."""

    def load_config(self) -> Config:
        try:
            loaded: Config = super().load_config()
        except (ConfigFileNotFound, CourseError):  # the latter comes from load_subconfig
            raise
        except (Exception, SystemExit) as error:  # the instructor's lines may raise anything
            _require_this_name(Path(self.full_filename))
            raise _broken_file(self.full_filename, error) from error
        _require_this_name(Path(self.full_filename))
        return loaded


class _PythonFile(_ErrorsWithPlaces, PyFileConfigLoader):
    pass


class _JSONFile(_ErrorsWithPlaces, JSONFileConfigLoader):
    pass


class _Application(NbGrader):
    """The base of nbgrader's commands, without their effects on other files and on the process."""

    python_config_loader_class = _PythonFile
    json_config_loader_class = _JSONFile
    raise_config_file_errors = True

    def init_syspath(self) -> None:
        """Let the configuration import modules of the working directory, as in nbgrader."""
        if os.getcwd() not in sys.path:
            super().init_syspath()

    def init_logging(self, *_: object, **__: object) -> None:
        """Open no log file."""

    def migrate_config(self) -> None:
        """Leave the configuration of IPython 3 alone."""

    def exit(self, exit_status: int | str | None = 0) -> None:
        """Pass on the error that traitlets is about to exit for."""
        error = sys.exception()
        if error is not None:
            raise error
        super().exit(exit_status)


def _files_of(app: NbGrader) -> tuple[Path, ...]:
    """The files that were read, in order. traitlets doesn't list those that another one loads."""
    found: dict[Path, None] = {}
    for path in map(Path, app.loaded_config_files):
        names = _SUBCONFIG.findall(_text(path)) if path.suffix == ".py" else []
        found |= dict.fromkeys([*filter(Path.is_file, (path.parent / name for name in names)), path])
    return tuple(found)


def _require_this_name(path: Path) -> None:
    if found := _EARLIER_NAME.search(_text(path)):
        line, now = _text(path).count("\n", 0, found.end()) + 1, _EARLIER_NAMES[found[1]]
        raise CourseError(f"{path}, line {line}: {found[1]} is called {now} now: write `{now}` in its place")


def _broken_file(path: str, error: BaseException) -> CourseError:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    line, what = lines[-1] if lines else None, str(error)
    if isinstance(error, SyntaxError) and error.filename == path:
        line, what = error.lineno, error.msg
    elif isinstance(error, ValueError) and hasattr(error, "lineno"):  # JSON
        line = error.lineno
    elif isinstance(error, OSError) and not lines:
        what = error.strerror or what
    if isinstance(error, ImportError):
        what += ". nbgrader imports modules from the folder where the command is run, and from sys.path"
    place = f"{path}, line {line}" if line else path
    return CourseError(f"{place}: {type(error).__name__}: {what}")


def _wrong_setting(error: TraitError, files: tuple[Path, ...]) -> CourseError:
    found = _SETTING.search(str(error))
    section, trait = (found["section"] or found["s"], found["trait"] or found["t"]) if found else ("", "")
    return CourseError(f"{_place_of(section, trait, files)}: {error}")


def _place_of(section: str, trait: str, files: tuple[Path, ...]) -> str:
    """The file and the line that set a trait last; a subclass's is often set by the name of its parent."""
    for name in (section, r"\w+"):
        # in Python `c.RunChecks.timeout`, in JSON "timeout"
        pattern = re.compile(rf'\b{name}\.{trait}\b|"{trait}"\s*:' if trait else rf"\b{name}\b")
        for path in reversed(files):
            lines = [n for n, line in enumerate(_text(path).splitlines(), 1) if pattern.search(line)]
            if lines:
                return f"{path}, line {lines[-1]}"
    return str(files[-1]) if files else "nbgrader's configuration"


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
