"""In autograde, last step: what lateness costs. nbgrader_config.py chooses one of the plugins by its dotted name:

c.AssignLatePenalties.plugin_class = "gradekit.nbgrader_plugin.late.LatePenalty"
c.AssignLatePenalties.plugin_class = "gradekit.nbgrader_plugin.late.SecondChance"
"""

from datetime import UTC, datetime, timedelta

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import BasePlugin
from nbgrader.preprocessors import AssignLatePenalties
from traitlets import Enum, Float
from traitlets.config import Config

from gradekit.attempts import AttemptRecord, AttemptRules, Attempts, Chance, NoChance, is_in_time
from gradekit.course.course_time import CourseTime
from gradekit.nbgrader_plugin.course_folders import configured_course, url_in
from gradekit.page.check_table import deadline_of


class LatePenalty(BasePlugin):
    """Deducts a share of the points for each day, or part of a day, after the deadline.

    A day ends at the time of day of the deadline in the course's zone, so it has 23 or 25 hours when the clocks change.

    By default, the share is of the notebook's maximum points: nbgrader computes the penalty when it autogrades,
    before the written answers have been graded. A share of the points earned is computed from those known by then.
    """

    of = Enum(("maximum", "earned"), "maximum", help="the points of which a share is deducted").tag(
        config=True
    )
    per_day = Float(0.1, min=0, max=1, help="share of the points deducted per day").tag(config=True)
    at_most = Float(1, min=0, max=1, help="share of the points deducted in all").tag(config=True)
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
        share = min(days * self.per_day, self.at_most)
        if self.of == "earned":
            return share * score
        notebook = step.gradebook.find_submission_notebook(step.notebook_id, step.assignment_id, student_id)
        return float(share * notebook.max_score)


class SecondChance(BasePlugin):
    """Scores a second hand-in with the points of the first, plus a share of the points that it gains.

    The score is first + share × (second − first), for each notebook and for the points of its checks; written answers
    count as in the second hand-in. The points of the first are those that `gradekit watch` recorded.
    """

    share = Float(0.5, min=0, max=1, help="share of the points gained by the second hand-in that counts").tag(
        config=True
    )
    days = Float(7, min=0, max=366, help="days after the deadline in which a second hand-in is accepted").tag(
        config=True
    )

    @property
    def chance(self) -> Chance:
        return Chance(self.share, timedelta(days=self.days))

    def late_submission_penalty(
        self, student_id: str, score: float, total_seconds_late: float
    ) -> float | None:
        """The points to deduct, or None within the grace period. `score` may have manual points in it."""
        step = self.parent  # nbgrader's AssignLatePenalties, while it handles one notebook of one student
        submitted = step.gradebook.find_submission(step.assignment_id, student_id).timestamp
        deadline = deadline_of(step.gradebook, step.assignment_id, student_id)
        first = self.first_attempt(submitted, deadline, step.assignment_id, student_id)
        if first is None:
            return None
        notebook = step.gradebook.find_submission_notebook(step.notebook_id, step.assignment_id, student_id)
        second = sum(grade.auto_score or 0.0 for grade in notebook.grades)
        return self.chance.penalty(first.earned.get(step.notebook_id, 0.0), second)

    def first_attempt(
        self, submitted: datetime | None, deadline: datetime | None, assignment: str, student: str
    ) -> AttemptRecord | None:
        """The attempt that what was handed in at `submitted` (UTC) improves on; None if that was in time.

        Raises:
            NoChance: it was neither in time nor is it a second chance.
            CourseError: the records can't be read.
        """
        if submitted is None or deadline is None:
            return None
        rule, handed_in = AttemptRules(config=self.config).of(assignment), submitted.replace(tzinfo=UTC)
        if is_in_time(rule, handed_in, deadline):
            return None
        attempts = Attempts.load(configured_course(self.config).root, assignment, student)
        return self.chance.first_attempt(rule, attempts, handed_in, deadline)


def second_chance_of(config: Config) -> SecondChance | None:
    """The second chance of a course; None if its configuration has another plugin for lateness."""
    chosen = AssignLatePenalties(config=config).plugin_class
    return chosen(config=config) if issubclass(chosen, SecondChance) else None


def refusal(config: Config, folders: CourseDirectory, assignment: str, student: str, path: str) -> str | None:
    """Why the rules of the course don't accept the hand-in in the folder `path`; None if they do.

    Raises:
        CourseError: the records can't be read.
    """
    plugin = second_chance_of(config)
    if plugin is None:
        return None
    with Gradebook(url_in(folders), folders.course_id) as gradebook:
        try:
            due = gradebook.find_assignment(assignment).duedate
            deadline = deadline_of(gradebook, assignment, student) or (due and due.replace(tzinfo=UTC))
            plugin.first_attempt(folders.get_existing_timestamp(path), deadline, assignment, student)
        except MissingEntry:
            return None
        except NoChance as reason:
            return f"not graded: {reason}"
    return None
