"""In autograde, last step: a penalty for handing in late.

It is a separate module, since nbgrader_config.py chooses the plugin by its dotted name:

    c.AssignLatePenalties.plugin_class = "gradekit.nbgrader_plugin.late.LatePenalty"
"""

from datetime import UTC

from nbgrader.plugins import BasePlugin
from traitlets import Float

from gradekit.course.course_time import CourseTime


class LatePenalty(BasePlugin):
    """Deducts a share of the notebook's points for each day, or part of a day, after the deadline.

    A day ends at the time of day of the deadline in the course's zone, so it has 23 or 25 hours when the clocks change.

    The share is of the maximum points rather than the score: nbgrader computes the penalty when it autogrades,
    before the written answers have been graded.
    """

    per_day = Float(0.1, min=0, max=1, help="share of the maximum points deducted per day").tag(config=True)
    at_most = Float(1, min=0, max=1, help="share of the maximum points deducted in all").tag(config=True)
    grace_minutes = Float(0, min=0, help="minutes after the deadline without a penalty").tag(config=True)

    def late_submission_penalty(
        self, student_id: str, score: float, total_seconds_late: float
    ) -> float | None:
        """The points to deduct, or None within the grace period. nbgrader never deducts more than `score`."""
        if total_seconds_late <= 60 * self.grace_minutes:
            return None
        step = self.parent  # nbgrader's AssignLatePenalties, while it handles one notebook of one student
        submission = step.gradebook.find_submission(step.assignment_id, student_id)
        due, handed_in = (time.replace(tzinfo=UTC) for time in (submission.duedate, submission.timestamp))
        days = CourseTime(config=self.config).days_late(due, handed_in)
        notebook = step.gradebook.find_submission_notebook(step.notebook_id, step.assignment_id, student_id)
        return float(min(days * self.per_day, self.at_most) * notebook.max_score)
