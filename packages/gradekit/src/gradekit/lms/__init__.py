"""Plugins that exchange files with Canvas, Moodle and Gradescope, by nbgrader's own commands.

Submissions: `nbgrader zip_collect ASSIGNMENT --collector=gradekit.lms.CanvasCollector`.
Scores: `nbgrader export --exporter=gradekit.lms.CanvasExport --to canvas.csv`.
"""

from gradekit.lms.archives import HarmlessExtractor
from gradekit.lms.exports import CanvasExport, GradescopeExport, MoodleExport, TableExport
from gradekit.lms.products import CanvasCollector, GradescopeCollector, MoodleCollector

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
