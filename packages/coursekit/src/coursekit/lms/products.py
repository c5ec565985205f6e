"""How each product names the files that an instructor downloads.

Untested against the live products: the names follow their documentation and, for Canvas and Moodle, their public
source (docs/exchange-with-lms.md).
"""

import re
from datetime import UTC
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from dateutil import parser
from traitlets import Unicode

from coursekit.course import CourseError
from coursekit.lms.collector import Claim, Collector, name_as_id, only

_METADATA = "submission_metadata.yml"
_ANONYMOUS = "participant"


class CanvasCollector(Collector):
    """Canvas, "Download Submissions": `doejane_LATE_12345_678901_attention-1.ipynb`.

    The numbers after the name of the student are those of the user and of the file, as `lib/content_zipper.rb` in
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
                    "Canvas marks %s as late, but not by how much: for a penalty, write the time into timestamp.txt",
                    known or match["name"],
                )
            return Claim(path, known or f"{name_as_id(match['name'])}-{user}", user, notebook, number)
        raise CourseError("its name isn't of the form that Canvas uses, name_number_number_file.ipynb")


class MoodleCollector(Collector):
    """Moodle, "Download all submissions": `Jane Doe_1234567_assignsubmission_file_/attention.ipynb`, or in one name.

    As `download_submissions` in `mod/assign` of github.com/moodle/moodle writes it. The number is a different one in
    each assignment, so students are identified by their full names.
    """

    named_regexp = Unicode(
        r"(?P<name>[^_]+)_(?P<number>\d+)_assignsubmission_file_?(?P<file>.*)$",
        help="of a file or folder: groups name, number and file",
    ).tag(config=True)

    def claim(self, path: Path) -> Claim:
        for match, place in self.matches(path):
            student = name_as_id(match["name"])
            if student == _ANONYMOUS:
                student = f"{student}-{match['number']}"
            known = only(self.roster.by_name(match["name"]), match["name"])
            notebook, copy = self.notebook(match["file"] if place == path else path.name)
            if not (known or student):
                break
            return Claim(path, known or student, match["number"], notebook, (copy,))
        raise CourseError(
            "its name isn't of the form that Moodle uses, Full Name_number_assignsubmission_file_"
        )


class GradescopeCollector(Collector):
    """Gradescope, "Export Submissions": `submission_123456/attention.ipynb` beside `submission_metadata.yml`.

    The metadata has the submitters of each folder, with `:sid:`, `:email:` and `:name:`, and the time.
    """

    named_regexp = Unicode(r"(?P<submission>submission_\d+)$", help="of a folder: group submission").tag(
        config=True
    )

    def claim(self, path: Path) -> Claim:
        for match, place in self.matches(path):
            metadata = _metadata(place.parent / _METADATA).get(match["submission"])
            if not isinstance(metadata, dict) or not metadata.get(":submitters"):
                raise CourseError(f"{_METADATA} has no entry for {match['submission']}: export with metadata")
            first, *others = metadata[":submitters"]
            student = self._student(first)
            if others:
                names = ", ".join(self._student(other) for other in others)
                self.log.warning("%s also handed in for %s: collected once", student, names)
            notebook, copy = self.notebook(path.name)
            return Claim(path, student, student, notebook, (copy,), _utc(metadata.get(":created_at", "")))
        raise CourseError("it isn't in one of Gradescope's folders, submission_number")

    def _student(self, submitter: dict[str, str]) -> str:
        sid, email, name = (submitter.get(key, "") for key in (":sid", ":email", ":name"))
        known = self.roster.by_id(sid) or self.roster.by_number(sid) or self.roster.by_email(email)
        student = only(known, name) or re.sub(r"[^\w.@-]", "-", sid or email).strip(".-") or name_as_id(name)
        if not student:
            raise CourseError(f"{_METADATA} doesn't name the student")
        return student


@cache
def _metadata(path: Path) -> dict[str, Any]:
    """Read the metadata of a download, all of it as text, so that ids keep their leading zeros.

    Raises:
        CourseError: the file is missing or isn't YAML.
    """
    try:
        found = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CBaseLoader)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise CourseError(f"{path.name} can't be read ({type(error).__name__})") from None
    return found if isinstance(found, dict) else {}


def _utc(text: str) -> str:
    """A time in the form that nbgrader reads; empty if the text isn't a time."""
    try:
        time = parser.parse(text)
    except (ValueError, OverflowError):
        return ""
    return (time.astimezone(UTC) if time.tzinfo else time).strftime("%Y-%m-%d %H:%M:%S UTC")
