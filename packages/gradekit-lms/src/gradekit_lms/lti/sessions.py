"""The sessions of `gradekit lti`: who a browser is of, until it is closed, nothing is done for a while, or somebody leaves."""

import time
from typing import NamedTuple

from msgspec.structs import astuple

from gradekit_lms.lti.launches import Seals
from gradekit_lms.lti.lti_settings import LtiHandIns
from gradekit_lms.lti.lti_store import Target


class SignedIn(NamedTuple):
    """A student's session is for one assignment. `began` is in seconds, as `time.time` has it."""

    student: str
    assignment: str
    target: Target
    began: float


class Sessions:
    """They are in the browsers' cookies, and nowhere else."""

    def __init__(self, settings: LtiHandIns, seals: Seals) -> None:
        self._idle, self._whole = settings.idle_minutes * 60, settings.session_hours * 3600
        self._seals = seals
        #: by student, when all sessions of theirs were ended
        self._left: dict[str, float] = {}

    def sealed(self, session: SignedIn) -> str:
        """The session for as long as it may be idle from now on, and in all."""
        student, assignment, target, began = session
        seconds = min(self._idle, began + self._whole - time.time())
        return self._seals.seal("session", seconds, session=[student, assignment, began, *astuple(target)])

    def unsealed(self, text: str) -> SignedIn | None:
        """The session, if it isn't over."""
        found = self._seals.unseal("session", text)
        if found is None:
            return None
        student, assignment, began, *target = found["session"]
        is_over = began <= self._left.get(student, 0.0)
        return None if is_over else SignedIn(student, assignment, Target(*target), began)

    def form_seal(self, session: SignedIn) -> str:
        """What the forms on the student's page have."""
        return self._seals.seal("form", self._whole, of=session[:2])

    def has_form(self, session: SignedIn, seal: str) -> bool:
        found = self._seals.unseal("form", seal)
        return found is not None and found["of"] == list(session[:2])

    def end_all(self, student: str) -> None:
        """End all sessions of a student, those for other assignments and in other browsers, too."""
        self._left[student] = time.time()
