"""How each product names what one downloads from it.

None of them was at hand: the names are those of their documentation and, for Canvas and Moodle, of their public
source. docs/exchange-with-lms.md says more.
"""

import re
from datetime import UTC
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from dateutil import parser
from traitlets import Unicode

from coursekit.collect.collector import Claim, Collector, only
from coursekit.collect.roster import plain
from coursekit.course import CourseError

_METADATA = "submission_metadata.yml"
_ANONYMOUS = "participant"


class CanvasCollector(Collector):
    """Canvas, "Download Submissions": `doejane_LATE_12345_678901_attention-1.ipynb`.

    After the name of the student stand the number of the user and of the file, as `lib/content_zipper.rb` of
    github.com/instructure/canvas-lms writes them. The number of the user is `lms_user_id` in the gradebook.
    """

    named_regexp = Unicode(
        r"(?P<name>\w*?[^\W_])(?P<late>_LATE)?_(?P<user>\d+)_(?P<number>\d+)_(?P<file>.+)$",
        help="of a file or folder: groups name, late, user, number and file",
    ).tag(config=True)

    def claim(self, path: Path) -> Claim:
        for match, place in self.matches(path):
            user = match["user"]
            known = only(self.roster.by_number(user), f"number {user} of Canvas")
            notebook, copy = self.notebook(match["file"] if place == path else path.name)
            number = (int(match["number"]), copy)
            if match["late"]:
                self.log.warning(
                    "%s is late, says Canvas, but not by how much. For a penalty, write the time into timestamp.txt",
                    known or match["name"],
                )
            return Claim(path, known or f"{plain(match['name'])}-{user}", user, notebook, number)
        raise CourseError("its name is not one that Canvas gives, name_number_number_file.ipynb")


class MoodleCollector(Collector):
    """Moodle, "Download all submissions": `Jane Doe_1234567_assignsubmission_file_/attention.ipynb`, or in one name.

    As `download_submissions` in `mod/assign` of github.com/moodle/moodle writes it. The number is drawn anew for
    each assignment, so a student is known by the full name.
    """

    named_regexp = Unicode(
        r"(?P<name>[^_]+)_(?P<number>\d+)_assignsubmission_file_?(?P<file>.*)$",
        help="of a file or folder: groups name, number and file",
    ).tag(config=True)

    def claim(self, path: Path) -> Claim:
        for match, place in self.matches(path):
            student = plain(match["name"])
            if student == _ANONYMOUS:
                student = f"{student}-{match['number']}"
            known = only(self.roster.by_name(match["name"]), match["name"])
            notebook, copy = self.notebook(match["file"] if place == path else path.name)
            if not (known or student):
                break
            return Claim(path, known or student, match["number"], notebook, (copy,))
        raise CourseError("its name is not one that Moodle gives, Full Name_number_assignsubmission_file_")


class GradescopeCollector(Collector):
    """Gradescope, "Export Submissions": `submission_123456/attention.ipynb` beside `submission_metadata.yml`.

    The second names the submitters of each folder, with `:sid:`, `:email:` and `:name:`, and the time.
    """

    named_regexp = Unicode(r"(?P<submission>submission_\d+)$", help="of a folder: group submission").tag(
        config=True
    )

    def claim(self, path: Path) -> Claim:
        for match, place in self.matches(path):
            metadata = _metadata(place.parent / _METADATA).get(match["submission"])
            if not isinstance(metadata, dict) or not metadata.get(":submitters"):
                raise CourseError(f"{_METADATA} says nothing of {match['submission']}. Export with metadata.")
            first, *others = metadata[":submitters"]
            student = self._student(first)
            if others:
                names = ", ".join(self._student(other) for other in others)
                self.log.warning("%s handed in for %s, too; collected once", student, names)
            notebook, copy = self.notebook(path.name)
            return Claim(path, student, student, notebook, (copy,), _utc(metadata.get(":created_at", "")))
        raise CourseError("it lies in no folder that Gradescope gives, submission_number")

    def _student(self, submitter: dict[str, str]) -> str:
        sid, email, name = (submitter.get(key, "") for key in (":sid", ":email", ":name"))
        known = self.roster.by_id(sid) or self.roster.by_number(sid) or self.roster.by_email(email)
        student = only(known, name) or re.sub(r"[^\w.@-]", "-", sid or email).strip(".-") or plain(name)
        if not student:
            raise CourseError(f"{_METADATA} names nobody")
        return student


@cache
def _metadata(path: Path) -> dict[str, Any]:
    """What Gradescope tells about a download; all of it as text, so that ids keep their zeros.

    Raises:
        CourseError: it is missing, or no YAML.
    """
    try:
        found = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CBaseLoader)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise CourseError(f"{path.name} beside it can't be read ({type(error).__name__})") from None
    return found if isinstance(found, dict) else {}


def _utc(text: str) -> str:
    """A time as nbgrader reads it; empty if it is none."""
    try:
        time = parser.parse(text)
    except (ValueError, OverflowError):
        return ""
    return (time.astimezone(UTC) if time.tzinfo else time).strftime("%Y-%m-%d %H:%M:%S UTC")
