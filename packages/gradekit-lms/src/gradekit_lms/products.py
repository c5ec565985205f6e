"""The names that each product uses for the files that an instructor downloads.

Untested against the live products: the names follow their documentation and, for Canvas and Moodle, their public
source (docs/exchange-with-lms.md).
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import yaml
from dateutil import parser
from traitlets import Unicode

from gradekit.course import CourseError
from gradekit_lms.claims import Claim
from gradekit_lms.collector import Collector
from gradekit_lms.identities import only

_METADATA = "submission_metadata.yml"
#: names that only a group has, also in Canvas's spelling, `projectgroup1`
_GROUP_NAME = re.compile(
    r"(default group|(^|[\s-]|project|lab|student)(group|team|gruppe|groupe|équipe|equipe|grupo|gruppo)s?"
    r"[\s-]*(\d+|[a-z])?)$"
)
_ANONYMOUS = "participant"
_HIDDEN = r"(LATE_)?anon_\w+?_\d+_"
_UNLISTED = (
    "the name looks like that of a group. List its members in a CSV file with the columns group and student, "
    "and collect with --Collector.groups=groups.csv"
)


class CanvasCollector(Collector):
    """Canvas, "Download Submissions": `doejane_LATE_12345_678901_attention-1.ipynb`.

    The numbers after the name of the student are those of the user and of the file, as `lib/content_zipper.rb` in
    github.com/instructure/canvas-lms writes them; text entries and links have only the first. The number of the user is
    `lms_user_id` in the gradebook. For a group, the name is the group's, and the user is one of its members.
    """

    product = "Canvas"
    named_regexp = Unicode(
        r"(?P<name>.*?)(?P<late>_LATE)?_(?P<user>\d+)(?:_(?P<number>\d+))?_(?P<file>.+)$",
        help="of a file or folder: groups name, late, user, number and file",
    ).tag(config=True)

    def claim(self, path: Path) -> Claim:
        if any(re.match(_HIDDEN, part) for part in path.relative_to(self.folder).parts):
            raise CourseError("Canvas hides the names; download again when anonymous grading is over")
        for match, place, file in self.matches(path):
            name, user = match["name"], match["user"]
            if not match["number"] and place != path:
                continue  # a folder has both numbers, since it was an archive
            members = self.listed.of(name)
            if not members and _looks_like_group(name):
                raise CourseError(_UNLISTED)
            known = only(self.roster.by_number(user), f"number {user} of Canvas")
            found = Claim(
                path,
                place,
                members or (known or f"{_name_as_id(name)}-{user}".strip("-"),),
                "" if members else user,
                file,
                int(match["number"] or 0),
                late=bool(match["late"]),
                returned_as=place.name[: match.start("file")] if match["number"] else "",
            )
            unlike = known and not members and name and not self.roster.is_called(known, name)
            return replace(found, alias=name) if unlike else found
        raise CourseError(
            "its name isn't of the form that Canvas uses, name_number_number_file.ipynb; is it from Canvas?"
        )


class MoodleCollector(Collector):
    """Moodle, "Download all submissions": `Jane Doe_1234567_assignsubmission_file/attention.ipynb`, or in one name.

    As `mod/assign` of github.com/moodle/moodle writes it. The number is a different one in each assignment, so students
    are identified by their full names. Groups have one folder, `Group A_12_…`, or in older versions one for each member,
    `Group A-Jane Doe_1234567_…`.
    """

    product = "Moodle"
    named_regexp = Unicode(
        r"(?P<name>.+?)(?:_(?P<number>\d+))?_assignsubmission_[a-z]+_?(?P<file>.*)$",
        help="of a file or folder: groups name, number and file",
    ).tag(config=True)

    def claim(self, path: Path) -> Claim:
        for match, place, file in self.matches(path):
            if place.name.count("_assignsubmission_") > 1:
                # students choose names of files, too
                raise CourseError("its name may be that of two students")
            members = self.listed.of(match["name"])
            name = self._without_group(match["name"])
            known = only(self.roster.by_name(name), name)
            if not members and not known and _looks_like_group(name):
                raise CourseError(_UNLISTED)
            student = known or _name_as_id(name)
            if student == _ANONYMOUS:
                student = f"{student}-{match['number']}"
            if not (members or student):
                break
            owner = "" if members else match["number"] or ""
            begin = place.name[: match.start("file")]
            begin = f"{begin}/" if place.is_dir() and not match["file"] else begin
            return Claim(path, place, members or (student,), owner, file, returned_as=begin)
        raise CourseError(
            "its name isn't of the form that Moodle uses, Full Name_number_assignsubmission_file; is it from Moodle?"
        )

    def _without_group(self, name: str) -> str:
        """The student in `Group A-Jane Doe`, where that is certain."""
        if not self.roster.by_name(name):
            for group, student in _halves(name):
                is_group = self.listed.of(group) or _looks_like_group(group) or self._groups_seen[group] > 1
                if is_group and (not len(self.roster) or self.roster.by_name(student)):
                    return student
        return name

    @cached_property
    def _groups_seen(self) -> Counter[str]:
        """The prefixes of students' names in the download, with the number of names that each precedes."""
        names = {match["name"] for path in self.folder.rglob("*") for match, *_ in self.matches(path)}
        return Counter(
            group for name in names for group, student in _halves(name) if self.roster.by_name(student)
        )


class GradescopeCollector(Collector):
    """Gradescope, "Export Submissions": `submission_123456/attention.ipynb` beside `submission_metadata.yml`.

    The metadata has the submitters of each folder, with `:sid:`, `:email:` and `:name:`, and the time.
    """

    product, own_files = "Gradescope", (_METADATA,)
    named_regexp = Unicode(r"(?P<submission>submission_\d+)$", help="of a folder: group submission").tag(
        config=True
    )

    def claim(self, path: Path) -> Claim:
        for match, place, _ in self.matches(path):
            metadata = _metadata(place.parent / _METADATA).get(match["submission"])
            metadata = metadata if isinstance(metadata, dict) else {}
            submitters = metadata.get(":submitters")
            if not submitters or not all(isinstance(each, dict) for each in submitters):
                raise CourseError(f"{_METADATA} has no entry for {match['submission']}: export with metadata")
            students = tuple(dict.fromkeys(map(self._student, submitters)))
            # students can write another's id into their account
            owner = submitters[0].get(":email") or students[0] if len(submitters) == 1 else ""
            time = _utc(metadata.get(":created_at", ""))
            return Claim(path, place, students, owner, path.name, timestamp=time)
        raise CourseError(
            "it isn't in one of Gradescope's folders, submission_number; is it from Gradescope?"
        )

    def _student(self, submitter: dict[str, str]) -> str:
        texts = (str(submitter.get(key, "")) for key in (":sid", ":email", ":name"))
        sid, email, name = ("" if text in ("null", "~") else text for text in texts)
        known = {*(self.roster.by_id(sid) or self.roster.by_number(sid)), *self.roster.by_email(email)}
        as_id = re.sub(r"[^\w.@-]", "-", sid or email).strip(".-") or _name_as_id(name)
        student = only([*known], name) or as_id
        if not student:
            raise CourseError(f"{_METADATA} doesn't name the student")
        return student


def _halves(name: str) -> Iterator[tuple[str, str]]:
    """The parts before and after each hyphen."""
    for match in re.finditer("-", name):
        yield name[: match.start()].strip(), name[match.end() :].strip()


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


def _looks_like_group(name: str) -> bool:
    """True for names such as `Group A`, `Team 7` and `projectgroup1`."""
    return bool(_GROUP_NAME.search(name.casefold()))


def _name_as_id(name: str) -> str:
    """A name in lower case, with `-` between the words; letters of any script stay."""
    text = unicodedata.normalize("NFC", name).casefold()
    return re.sub(r"[^\w]+", "-", text).strip("-_")
