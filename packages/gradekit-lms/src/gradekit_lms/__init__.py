"""Plugins that exchange files with Canvas, Moodle and Gradescope, by nbgrader's own commands.

Submissions: `nbgrader zip_collect ASSIGNMENT --collector=gradekit_lms.CanvasCollector`.
Scores: `nbgrader export --exporter=gradekit_lms.CanvasExport --to canvas.csv`.

They are imported when they are first used, since `gradekit` imports this package in every command.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradekit_lms.archives import HarmlessExtractor
    from gradekit_lms.exports import CanvasExport, GradescopeExport, MoodleExport, TableExport
    from gradekit_lms.products import CanvasCollector, GradescopeCollector, MoodleCollector

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
_FROM = {
    "Collector": "gradekit_lms.products",
    "Export": "gradekit_lms.exports",
    "Extractor": "gradekit_lms.archives",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = next(module for ending, module in _FROM.items() if name.endswith(ending))
    found = globals()[name] = getattr(importlib.import_module(module), name)
    return found
