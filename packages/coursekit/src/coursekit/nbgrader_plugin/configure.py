"""The settings that plug coursekit into nbgrader, each at a point that nbgrader offers."""

from nbgrader.converters import Autograde, GenerateAssignment
from nbgrader.preprocessors import CheckCellMetadata, ClearOutput, Execute, SaveAutoGrades
from traitlets.config import Config

from coursekit.nbgrader_plugin import rubric
from coursekit.nbgrader_plugin.bind import BindChecks
from coursekit.nbgrader_plugin.feedback import FeedbackExporter, GetGradesAndState
from coursekit.nbgrader_plugin.log import OnlyMissingNotebooks, PrintableFormatter
from coursekit.nbgrader_plugin.markdown import HighlightedCode, harmless_markdown
from coursekit.nbgrader_plugin.reading import SubmissionExporter
from coursekit.nbgrader_plugin.repair import RepairCells
from coursekit.nbgrader_plugin.run import RunChecks
from coursekit.nbgrader_plugin.save import SaveScores


def configure(config: Config) -> None:
    """Make `nbgrader generate_assignment`, `autograde` and `generate_feedback` use hidden checks.

    `nbgrader zip_collect` handles any archive, and no name of a student reaches the terminal unescaped.
    """
    release = list(GenerateAssignment.preprocessors.default_args[0])
    release.insert(release.index(CheckCellMetadata) + 1, BindChecks)
    config.GenerateAssignment.preprocessors = release

    sanitize = list(Autograde.sanitize_preprocessors.default_args[0])
    sanitize.insert(sanitize.index(ClearOutput), RepairCells)
    config.Autograde.sanitize_preprocessors = sanitize

    swapped = {Execute: RunChecks, SaveAutoGrades: SaveScores}
    grade = Autograde.autograde_preprocessors.default_args[0]
    config.Autograde.autograde_preprocessors = [swapped.get(step, step) for step in grade]
    config.Autograde.exporter_class = SubmissionExporter
    config.Autograde.pre_convert_hook = "coursekit.nbgrader_plugin.hooks.before_autograde"

    config.GenerateFeedback.preprocessors = [GetGradesAndState]
    config.GenerateFeedback.exporter_class = FeedbackExporter

    # formgrader's pages
    config.HTMLExporter.template_name = rubric.TEMPLATE
    config.HTMLExporter.template_file = rubric.TEMPLATE_FILE
    config.HTMLExporter.extra_template_basedirs = rubric.TEMPLATE_FOLDERS
    config.HTMLExporter.preprocessors = [rubric.ShowRubric]
    config.HTMLExporter.filters = {"markdown2html": harmless_markdown, "highlight_code": HighlightedCode()}

    config.NbGrader.logging_config = {
        "formatters": {
            "console": {"class": f"{PrintableFormatter.__module__}.{PrintableFormatter.__name__}"}
        },
        "filters": {"notebooks": {"()": OnlyMissingNotebooks}},
        "handlers": {"console": {"filters": ["notebooks"]}},
    }

    # a broken archive among those that students handed in would end nbgrader's own
    config.ZipCollectApp.extractor_plugin = "coursekit.lms.HarmlessExtractor"
