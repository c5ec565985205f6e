"""What was downloaded from Canvas, Moodle or Gradescope becomes nbgrader's submitted/ folder.

For `nbgrader zip_collect ASSIGNMENT --collector=coursekit.collect.CanvasCollector`, and so on.
"""

from coursekit.collect.extract import HarmlessExtractor
from coursekit.collect.products import CanvasCollector, GradescopeCollector, MoodleCollector

__all__ = ["CanvasCollector", "GradescopeCollector", "HarmlessExtractor", "MoodleCollector"]
