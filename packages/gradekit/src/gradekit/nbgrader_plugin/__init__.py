"""Plugs gradekit into nbgrader's own commands. In `nbgrader_config.py`:

from gradekit.nbgrader_plugin import configure

configure(get_config())
"""

import os
import shutil
import sys
from pathlib import Path

import nbgrader
from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearMarkScheme,
    ClearOutput,
    Execute,
    GetGrades,
    SaveAutoGrades,
)
from traitlets.config import Config
from traitlets.config.loader import LazyConfigValue
from traitlets.utils.nested_update import nested_update

from gradekit.nbgrader_plugin.exporter import SubmissionExporter
from gradekit.nbgrader_plugin.own_steps import own_steps, put_after, put_before, replace, with_own_hook
from gradekit.nbgrader_plugin.run_checks import RunChecks
from gradekit.nbgrader_plugin.steps import RepairCells, SaveScores, before_autograde

__all__ = ["configure"]

_HERE = __name__
_TEMPLATE_FOLDERS = [
    str(Path(__file__).parent / "templates"),
    str(Path(nbgrader.__file__).parent / "server_extensions" / "formgrader" / "templates"),
]

#: what operating systems and editors write beside a notebook; nothing of it is anybody's work
_LEFTOVERS = [
    *("._*", ".DS_Store", "__MACOSX", "Thumbs.db", "desktop.ini", ".nfs*"),
    *(".*.ipynb", "*~", "#*#", ".#*", ".~*", "~$*", ".*.sw[nop]"),
]


def configure(config: Config) -> None:
    """Make nbgrader's commands use hidden checks.

    `generate_assignment` binds test cells to their checks, `autograde` runs the checks in a sandbox, and
    `generate_feedback` writes a page that needs no script. `zip_collect` handles any archive, and names of students
    are escaped in everything that nbgrader logs.

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
    put_after(release, f"{_HERE}.generating.RequireSameCells", f"{_HERE}.solution_passes.SolutionPasses")
    put_after(release, ClearMarkScheme, f"{_HERE}.released_pictures.RemoveSolutionPictures")
    config.GenerateAssignment.preprocessors = release
    config.GenerateAssignment.exporter_class = f"{_HERE}.generating.ReleaseExporter"

    sanitize = own_steps(config, Autograde, "sanitize_preprocessors")
    put_before(sanitize, ClearOutput, RepairCells)
    config.Autograde.sanitize_preprocessors = sanitize

    grade = own_steps(config, Autograde, "autograde_preprocessors")
    replace(grade, Execute, RunChecks)
    replace(grade, SaveAutoGrades, SaveScores)
    config.Autograde.autograde_preprocessors = grade
    config.Autograde.exporter_class = SubmissionExporter
    config.Autograde.pre_convert_hook = with_own_hook(config, before_autograde)

    feedback = own_steps(config, GenerateFeedback, "preprocessors")
    replace(feedback, GetGrades, f"{_HERE}.feedback.GetGradesAndState")
    config.GenerateFeedback.preprocessors = [
        step for step in feedback if step is not CSSHTMLHeaderPreprocessor
    ]
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
        config.ExchangeFactory.release_feedback = f"{_HERE}.releasing.NamedReleaseFeedback"
    if "extractor_plugin" not in config.ZipCollectApp:  # nbgrader's own crashes on a broken archive
        config.ZipCollectApp.extractor_plugin = f"{_HERE}.archives.HarmlessExtractor"
