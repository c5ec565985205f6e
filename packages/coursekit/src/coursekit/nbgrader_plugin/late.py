"""In autograde, last step: what handing in late costs, if `nbgrader_config.py` says that it costs anything."""

import math

from nbgrader.plugins import BasePlugin
from traitlets import Float

DAY = 24 * 60 * 60


class LatePenalty(BasePlugin):
    """Takes a share of the notebook's points for every day that has begun since the deadline.

    The share is of the points that can be had, not of those earned: nbgrader asks when it autogrades, and
    the answers that a person reads have no points by then. Chosen by

        c.AssignLatePenalties.plugin_class = "coursekit.nbgrader_plugin.late.LatePenalty"
    """

    per_day = Float(0.1, min=0, max=1, help="share of the points that a day costs").tag(config=True)
    at_most = Float(1, min=0, max=1, help="share of the points that all days together cost").tag(config=True)
    grace_minutes = Float(0, min=0, help="minutes after the deadline that cost nothing").tag(config=True)

    def late_submission_penalty(
        self, student_id: str, score: float, total_seconds_late: float
    ) -> float | None:
        """The points that are taken, or None within the time of grace. nbgrader never takes more than `score`."""
        if total_seconds_late <= 60 * self.grace_minutes:
            return None
        days = math.ceil(total_seconds_late / DAY)
        return min(days * self.per_day, self.at_most) * self._points_to_be_had(student_id)

    def _points_to_be_had(self, student_id: str) -> float:
        step = self.parent  # nbgrader's AssignLatePenalties, which is at one notebook of one student
        return step.gradebook.find_submission_notebook(
            step.notebook_id, step.assignment_id, student_id
        ).max_score
