"""Finds settings of an existing configuration that gradekit replaces, or that mean something else with it."""

import importlib.metadata
import math
from collections.abc import Iterator
from functools import cache

from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from packaging.requirements import Requirement
from traitlets.config import Config

from gradekit.authoring.adopt.config_file import ConfigFile
from gradekit.course.kernels import is_installed
from gradekit.nbgrader_plugin import configure

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
