"""Sends the grades in the outbox to their platforms. One that can't be sent stays, and is tried again later and later.

A grade that is sent a second time, since the process was killed before it could note the first, has the same time, by
which the platform knows that it is the same.
"""

import contextlib
import threading
from datetime import UTC, datetime, timedelta
from http import HTTPStatus

from pylti1p3.assignments_grades import AssignmentsGradesService, TAssignmentsGradersData
from pylti1p3.exception import LtiServiceException
from pylti1p3.grade import Grade
from pylti1p3.lineitem import LineItem

from gradekit.course.printing import printable
from gradekit_lms.lti.launches import Connector, Tool
from gradekit_lms.lti.lti_store import LtiStore, Score, Trouble

_LONGEST_PAUSE = 3600.0
_TICK = 0.5
_SCOPES = "https://purl.imsglobal.org/spec/lti-ags/scope/"
#: statuses of an answer that have nothing to do with the single grade
_OF_THE_PLATFORM = (HTTPStatus.UNAUTHORIZED, HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS)


class GradeSender:
    """Sends what is due; after a platform that can't be reached, its other grades wait, too."""

    def __init__(self, tool: Tool, store: LtiStore) -> None:
        self._tool, self._store = tool, store
        self._paused: dict[tuple[str, str], datetime] = {}

    def send_due(self) -> None:
        """Try each grade that is due once."""
        for path, score in self._store.outgoing():
            trouble = self._store.trouble(path)
            platform = score.target.issuer, score.target.client
            now = datetime.now(UTC)
            if (trouble and trouble.next > now) or self._paused.get(platform, now) > now:
                continue
            try:
                self._send(score)
            except Exception as error:  # whatever a platform answers, the grades of others are sent
                status = error.response.status_code if isinstance(error, LtiServiceException) else None
                if status == HTTPStatus.CONFLICT:
                    self._store.was_sent(path, score, taken=False)
                    continue
                tries = trouble.tries + 1 if trouble else 1
                pause = min(_LONGEST_PAUSE, self._tool.settings.retry * 2 ** min(20, tries - 1))
                until = datetime.now(UTC) + timedelta(seconds=pause)
                reason = printable(f"{type(error).__name__}: {error}")
                self._store.note(path, Trouble(tries, reason, until))
                if status is None or status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in _OF_THE_PLATFORM:
                    Connector.tokens.clear()
                    self._paused[platform] = until
            else:
                self._store.was_sent(path, score)

    def keep_sending(self, stop: threading.Event) -> None:
        """Send until the end of the process, whatever happens to a single file."""
        while not stop.wait(_TICK):
            with contextlib.suppress(OSError):
                self.send_due()

    def _send(self, score: Score) -> None:
        target = score.target
        connector = self._tool.connector(target.issuer, target.client)
        lineitem, scopes = None, [f"{_SCOPES}score"]
        if not target.lineitem:
            scopes.append(f"{_SCOPES}lineitem")
            lineitem = LineItem().set_tag(score.assignment).set_label(score.assignment)
            lineitem.set_score_maximum(score.max_points).set_resource_id(score.assignment)
        service: TAssignmentsGradersData = {"scope": scopes}  # type: ignore[typeddict-item]
        service |= {"lineitem": target.lineitem} if target.lineitem else {"lineitems": target.lineitems}
        grade = Grade().set_score_given(score.points).set_score_maximum(score.max_points)
        grade.set_activity_progress("Submitted" if score.pending else "Completed")
        grade.set_grading_progress("PendingManual" if score.pending else "FullyGraded")
        grade.set_user_id(target.user)
        grade.set_timestamp(score.at.astimezone(UTC).isoformat(timespec="milliseconds"))
        AssignmentsGradesService(connector, service).put_grade(grade, lineitem)
