"""Plugins that exchange files with Canvas, Moodle and Gradescope, by nbgrader's own commands.

Submissions: `nbgrader zip_collect ASSIGNMENT --collector=coursekit.lms.CanvasCollector`.
Scores: `nbgrader export --exporter=coursekit.lms.CanvasExport --to canvas.csv`.
"""

from coursekit.lms.archives import HarmlessExtractor
from coursekit.lms.exports import CanvasExport, GradescopeExport, MoodleExport, TableExport
from coursekit.lms.products import CanvasCollector, GradescopeCollector, MoodleCollector

__all__ = [
    "CanvasCollector",
    "CanvasExport",
    "GradescopeCollector",
    "GradescopeExport",
    "HarmlessExtractor",
    "MoodleCollector",
    "MoodleExport",
    "TableExport",
]
