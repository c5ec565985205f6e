"""Plugs coursekit into nbgrader's own commands. In `nbgrader_config.py`:

from coursekit.nbgrader_plugin import configure

configure(get_config())
"""

from collections.abc import Callable

from nbgrader.converters import Autograde, GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import CheckCellMetadata, ClearOutput, Execute, SaveAutoGrades
from traitlets.config import Config
from traitlets.config.loader import LazyConfigValue

from coursekit.nbgrader_plugin import rubric
from coursekit.nbgrader_plugin.bind import BindChecks, RequireUniqueNames
from coursekit.nbgrader_plugin.collecting import HarmlessCollect
from coursekit.nbgrader_plugin.converters import OnlyMissingNotebooks, PrintableFormatter
from coursekit.nbgrader_plugin.feedback import FeedbackExporter, GetGradesAndState
from coursekit.nbgrader_plugin.markdown import highlighted_code
from coursekit.nbgrader_plugin.pictures import ClearModelPictures, markdown_with_pictures
from coursekit.nbgrader_plugin.run_checks import RunChecks
from coursekit.nbgrader_plugin.steps import RepairCells, SaveScores, SubmissionExporter, before_autograde

__all__ = ["configure"]


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
    """
    release = list(GenerateAssignment.preprocessors.default_args[0])
    checked = release.index(CheckCellMetadata)
    release[checked : checked + 1] = [RequireUniqueNames, CheckCellMetadata, BindChecks, ClearModelPictures]
    config.GenerateAssignment.preprocessors = release

    sanitize = list(Autograde.sanitize_preprocessors.default_args[0])
    sanitize.insert(sanitize.index(ClearOutput), RepairCells)
    config.Autograde.sanitize_preprocessors = sanitize

    swapped = {Execute: RunChecks, SaveAutoGrades: SaveScores}
    grade = Autograde.autograde_preprocessors.default_args[0]
    config.Autograde.autograde_preprocessors = [swapped.get(step, step) for step in grade]
    config.Autograde.exporter_class = SubmissionExporter
    config.Autograde.pre_convert_hook = _dotted(before_autograde)

    config.GenerateFeedback.preprocessors = [GetGradesAndState]
    config.GenerateFeedback.exporter_class = FeedbackExporter

    # formgrader's pages
    config.HTMLExporter.template_name = rubric.TEMPLATE
    config.HTMLExporter.template_file = rubric.TEMPLATE_FILE
    config.HTMLExporter.extra_template_basedirs = rubric.TEMPLATE_FOLDERS
    config.HTMLExporter.preprocessors = [rubric.ShowRubric]
    config.HTMLExporter.filters = {
        "markdown2html": markdown_with_pictures,
        "highlight_code": highlighted_code,
    }

    ignored = config.CourseDirectory.ignore
    if isinstance(ignored, LazyConfigValue):  # not set, or only added to
        ignored = ignored.get_value(list(CourseDirectory.ignore.default_args[0]))
    if isinstance(ignored, list):
        config.CourseDirectory.ignore = [*ignored, *_LEFTOVERS]
    config.NbGrader.logging_config = {
        "formatters": {"console": {"class": _dotted(PrintableFormatter)}},
        "filters": {"notebooks": {"()": OnlyMissingNotebooks}},
        "handlers": {"console": {"filters": ["notebooks"]}},
    }

    if "collect" not in config.ExchangeFactory:  # a hub may have its own exchange
        config.ExchangeFactory.collect = _dotted(HarmlessCollect)
    # nbgrader's own extractor crashes on a broken archive
    config.ZipCollectApp.extractor_plugin = "coursekit.lms.HarmlessExtractor"


def _dotted(item: type | Callable[..., object]) -> str:
    return f"{item.__module__}.{item.__qualname__}"
