"""Plugs gradekit into nbgrader's own commands. In `nbgrader_config.py`:

from gradekit.nbgrader_plugin import configure

configure(get_config())
"""

import os
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import nbgrader
from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from nbgrader.converters.base import BaseConverter
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    ClearMarkScheme,
    ClearOutput,
    Execute,
    GetGrades,
    SaveAutoGrades,
)
from traitlets.config import Config
from traitlets.config.loader import LazyConfigValue
from traitlets.utils.importstring import import_item
from traitlets.utils.nested_update import nested_update

from gradekit.nbgrader_plugin.steps import (
    LatePenalties,
    RepairCells,
    RunChecks,
    SaveScores,
    SubmissionExporter,
    before_autograde,
)

__all__ = ["configure"]

_HERE = __name__
#: the package for downloads of an LMS, which may be missing
_LMS = "gradekit_lms"
_TEMPLATE_FOLDERS = [
    str(Path(__file__).parent / "templates"),
    str(Path(nbgrader.__file__).parent / "server_extensions" / "formgrader" / "templates"),
]

#: what operating systems and editors write beside a notebook; nothing of it is anybody's work
_LEFTOVERS = [
    *("._*", ".DS_Store", "__MACOSX", "Thumbs.db", "desktop.ini", ".nfs*"),
    *(".*.ipynb", "*~", "#*#", ".#*", ".~*", "~$*", ".*.sw[nop]"),
]
Hook = Callable[..., object]
#: a class, or its dotted name if it is one of gradekit's
_Step = type | str


def configure(config: Config) -> None:
    """Make nbgrader's commands use hidden checks.

    `generate_assignment` binds test cells to their checks, `autograde` runs the checks in a sandbox, and
    `generate_feedback` writes a page that needs no script. With gradekit-lms, `zip_collect` handles any archive. Names of
    students are escaped in everything that nbgrader logs.

    A course's own steps, hook and settings of the log are kept if they are set before.
    """
    if not shutil.which("alembic"):  # nbgrader runs it; `.venv/bin/nbgrader` has not set PATH
        places = (str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath))
        os.environ["PATH"] = os.pathsep.join(places)
    # dotted names of what autograding doesn't need, since importing it takes time
    release = own_steps(config, GenerateAssignment, "preprocessors")
    put_before(release, CheckCellMetadata, f"{_HERE}.bind.RequireUniqueNames")
    put_after(release, CheckCellMetadata, f"{_HERE}.bind.BindChecks")
    put_after(release, f"{_HERE}.bind.BindChecks", f"{_HERE}.generating.RequireSameCells")
    put_after(release, f"{_HERE}.generating.RequireSameCells", f"{_HERE}.generating.SolutionPasses")
    put_after(release, ClearMarkScheme, f"{_HERE}.generating.RemoveSolutionPictures")
    config.GenerateAssignment.preprocessors = release
    config.GenerateAssignment.exporter_class = f"{_HERE}.generating.ReleaseExporter"

    sanitize = own_steps(config, Autograde, "sanitize_preprocessors")
    put_before(sanitize, ClearOutput, RepairCells)
    config.Autograde.sanitize_preprocessors = sanitize

    grade = own_steps(config, Autograde, "autograde_preprocessors")
    replace(grade, Execute, RunChecks)
    replace(grade, SaveAutoGrades, SaveScores)
    if AssignLatePenalties in grade:
        replace(grade, AssignLatePenalties, LatePenalties)
    config.Autograde.autograde_preprocessors = grade
    config.Autograde.exporter_class = SubmissionExporter
    own = own_hook(config, before_autograde)
    dotted = f"{before_autograde.__module__}.{before_autograde.__qualname__}"
    config.Autograde.pre_convert_hook = dotted if own is None else partial(_both, before_autograde, own)

    feedback = own_steps(config, GenerateFeedback, "preprocessors")
    replace(feedback, GetGrades, f"{_HERE}.feedback.GetGradesAndState")
    without_css = [step for step in feedback if step is not CSSHTMLHeaderPreprocessor]
    config.GenerateFeedback.preprocessors = without_css
    config.GenerateFeedback.exporter_class = f"{_HERE}.feedback.FeedbackExporter"

    # formgrader's pages
    config.HTMLExporter.template_name = "gradekit_formgrade"
    config.HTMLExporter.template_file = "formgrade_with_rubric.html.j2"
    config.HTMLExporter.extra_template_basedirs = _TEMPLATE_FOLDERS
    config.HTMLExporter.preprocessors = [f"{_HERE}.rubric.ShowRubric"]
    config.HTMLExporter.filters = {
        "markdown2html": "gradekit.page.displayed.markdown_with_pictures",
        "highlight_code": "gradekit.page.markdown.highlighted_code",
        "displayed": "gradekit.page.displayed.displayed",
    }

    ignored = config.CourseDirectory.ignore
    if isinstance(ignored, LazyConfigValue):  # not set, or only added to
        ignored = ignored.get_value(list(CourseDirectory.ignore.default_args[0]))
    if isinstance(ignored, list):
        config.CourseDirectory.ignore = [*dict.fromkeys([*ignored, *_LEFTOVERS])]
    logging_config = {
        "formatters": {"console": {"class": f"{_HERE}.converters.PrintableFormatter"}},
        "filters": {"notebooks": {"()": f"{_HERE}.converters.OnlyMissingNotebooks"}},
        "handlers": {"console": {"filters": ["notebooks"]}},
    }
    config.NbGrader.logging_config = nested_update(logging_config, config.NbGrader.get("logging_config", {}))

    if "collect" not in config.ExchangeFactory:  # a hub may have its own exchange
        config.ExchangeFactory.collect = f"{_HERE}.collecting.HarmlessCollect"
    if "release_feedback" not in config.ExchangeFactory:
        config.ExchangeFactory.release_feedback = f"{_HERE}.collecting.NamedReleaseFeedback"
    if "extractor_plugin" not in config.ZipCollectApp and find_spec(_LMS):
        config.ZipCollectApp.extractor_plugin = (
            f"{_LMS}.HarmlessExtractor"  # nbgrader's own crashes on a broken archive
        )


def own_steps(config: Config, converter: type[BaseConverter], trait: str) -> list[Any]:
    """The steps that the course has configured so far, or the default ones.

    Those that can be imported are classes, except for gradekit's own, which stay as they are.
    """
    steps = list(getattr(converter, trait).default_args[0])
    configured = config[converter.__name__].get(trait, steps)
    if isinstance(configured, LazyConfigValue):  # such as of `c.Autograde.autograde_preprocessors.append(…)`
        configured = configured.get_value(steps)
    return [_imported(step) for step in configured]


def put_before(steps: list[Any], place: _Step, step: _Step) -> None:
    """Insert a step, unless it is there; at the beginning if `place` isn't."""
    if step not in steps:
        steps.insert(steps.index(place) if place in steps else 0, step)


def put_after(steps: list[Any], place: _Step, step: _Step) -> None:
    """Insert a step, unless it is there; at the end if `place` isn't."""
    if step not in steps:
        steps.insert(steps.index(place) + 1 if place in steps else len(steps), step)


def replace(steps: list[Any], step: _Step, other: _Step) -> None:
    """Replace a step, or insert the other at the beginning if neither is there."""
    steps[:] = [other if found is step else found for found in steps]
    if other not in steps:
        steps.insert(0, other)


def own_hook(config: Config, hook: Hook) -> Any:
    """The hook that the course has configured for autograding, beside ours; None if there is none."""
    ours = (None, hook, f"{hook.__module__}.{hook.__qualname__}")
    for section in ("Autograde", "BaseConverter"):
        own = _imported(config[section].get("pre_convert_hook"))
        if getattr(own, "func", None) is _both:
            own = own.args[1]
        if own not in ours:
            return own
    return None


def _both(ours: Hook, own: Hook, **submission: Any) -> None:
    ours(**submission)
    own(**submission)


def _imported(item: Any) -> Any:
    if isinstance(item, str) and not item.startswith(f"{_HERE}."):
        with suppress(ImportError):  # nbgrader reports it
            return import_item(item)
    return item
