"""The way by LTI: the source of hand-ins that were uploaded, and the sink for pages and grades."""

from collections import defaultdict

import msgspec
from msgspec.structs import replace
from nbgrader.api import SubmittedAssignment

from gradekit.attempts import AttemptRules, Attempts, Page, Shows, attempt_that_counts
from gradekit.course.files import read_json, write_json
from gradekit.grading.running_course import RunningCourse
from gradekit.page.check_table import result_as_shown
from gradekit_lms.lti.lti_settings import LtiHandIns
from gradekit_lms.lti.lti_store import LtiStore, PageScore, Upload
from gradekit_watch.arrivals import time_of
from gradekit_watch.hand_in_store import StoredSource
from gradekit_watch.ways import PageOf, Sink, Way

_SCORE = "score.json"


def open_lti_way(course: RunningCourse) -> Way:
    """The way by LTI of a course.

    Raises:
        CourseError: a setting is wrong.
    """
    LtiHandIns.of(course)
    store = LtiStore(course.root)
    return Way(LtiSource(course, store), LtiSink(course, store))


class LtiSource(StoredSource[Upload]):
    """Hand-ins that `gradekit lti` has stored."""


class LtiSink(Sink):
    """Pages for `gradekit lti` to show, and grades for it to send."""

    done = "released"

    def __init__(self, course: RunningCourse, store: LtiStore) -> None:
        self._course, self._store = course, store
        self._rules = AttemptRules(config=course.config)

    def complete(self, page: PageOf) -> None:
        """Add what the page may tell of the points; it is written now, since a page before the deadline may tell less."""
        names = self._course.assignment(page.assignment).released_names()
        results = [self._course.result(page.student, page.assignment, name) for name in names]
        with self._course.gradebook() as book:
            score = _grade(book.find_submission(page.assignment, page.student))
        if score is None:
            return
        if page.shows is Shows.EXERCISES:
            shown = [result_as_shown(result, page.shows).earned for result in results if result is not None]
            score = replace(score, points=max(0.0, sum(shown) - page.record.penalty))
        (page.pages / _SCORE).write_bytes(msgspec.json.encode(score))

    def release(self, page: PageOf) -> None:
        student, assignment = page.student, page.assignment
        upload = self._store.at(student, assignment, page.record.handed_in)
        if upload is None:
            return  # the instructor has collected it in another way
        pages = [path for path in page.pages.glob("*.*") if path.suffix in (".html", ".json")]
        self._store.show(pages, self._store.pages(student, assignment, upload.handed_in))
        records = [
            record
            for record in Attempts.load(self._course.root, assignment, student).records
            if record.page is Page.RELEASED or record.handed_in == upload.handed_in
        ]
        counting = attempt_that_counts(self._rules.of(assignment).counts, records) or page.record
        place = self._store.pages(student, assignment, counting.handed_in)
        found = read_json(place / _SCORE, PageScore)
        if found is not None and upload.target.takes_grades:
            self._store.send(found.to(upload))


def send_all(course: RunningCourse, assignment: str) -> tuple[int, dict[str, list[str]]]:
    """Put the grades that are in the gradebook into the outbox, for everybody who has handed in by LTI.

    Returns how many of them are new, and the students who have none, by the reason.
    """
    store, new, without = LtiStore(course.root), 0, defaultdict(list)
    with course.gradebook() as book:
        for submission in book.assignment_submissions(assignment):
            student = submission.student_id
            uploads = [kept for _, kept in store.of(student, assignment)]
            if not uploads:
                continue
            score = _grade(submission)
            if score is None or not uploads[-1].target.takes_grades:
                without["nothing is graded yet" if score is None else "no grade column"].append(student)
                continue
            # this attempt may count again after a later one: then it counts with these points
            time = time_of(course.autograded(student, assignment))
            page = time and store.pages(student, assignment, time) / _SCORE
            if page and page.exists():
                write_json(page, score)
            new += store.send(score.to(uploads[-1]), anyway=True)
    return new, without


def _grade(submission: SubmittedAssignment) -> PageScore | None:
    """The points, with those that people gave; None if nothing could be graded, so that nobody gets 0 for it."""
    grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
    if all(grade.auto_score is None and grade.manual_score is None for grade in grades):
        return None
    points = max(0.0, submission.score - (submission.late_submission_penalty or 0.0))
    return PageScore(points, submission.max_score, bool(submission.needs_manual_grade))
