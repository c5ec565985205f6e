"""Students into the gradebook, and submissions into submitted/."""

import hashlib
import logging
import os
import re
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC
from pathlib import Path, PurePosixPath
from types import SimpleNamespace

from traitlets import Any, Unicode
from traitlets.config import Configurable

from gradekit.course import Assignment, CourseError
from gradekit.course.files import files_in
from gradekit.course.printing import counted
from gradekit.grading.running_course import RunningCourse
from gradekit.nbgrader_plugin.course_folders import look_alike
from gradekit.submission.extra_files import TIMESTAMP
from gradekit_lms.archives import HarmlessExtractor
from gradekit_lms.claims import Claim, Report
from gradekit_lms.collector import Collector
from gradekit_lms.identities import Roster, only
from gradekit_lms.sync.connection import LmsAway, LmsError
from gradekit_lms.sync.lms import Lms, LmsPerson, LmsSubmission, Notes, State, Taken, folder_of_state
from gradekit_watch.exchange import put_all_back, replacing
from gradekit_watch.hand_in_store import in_utc

_ID = re.compile(r"\w[\w.@-]*")
#: headings that are repeated until the student hands in again
_LASTING = (Report.NO_NOTEBOOK, Report.UNCLEAR, Report.LEFT)
_LEFT = "Not downloaded"
OWN = (
    "Not collected, since submitted/ has another version, which did not come from this command. To collect from the LMS, "
    "move these folders away, and run the command again"
)
_UNKNOWN = "Not collected, since these are not students of the gradebook, or left the course in the LMS"


def match_people(
    course: RunningCourse, lms: Lms, people: list[LmsPerson], notes: Notes, dry_run: bool
) -> tuple[dict[str, str], list[str]]:
    """Add those who are new to the gradebook; returns the students by their numbers in the LMS, and who was added."""
    added: list[str] = []
    claimed: dict[str, list[LmsPerson]] = defaultdict(list)
    with course.gradebook() as gradebook:
        entries = {student.id: student for student in gradebook.students}
        roster = Roster(entries.values())
        for person in {each.number: each for each in people}.values():  # one may be on two pages of the list
            try:
                known = roster.by_number(person.number) or roster.by_id(person.id)
                student = only(known or roster.by_email(person.email), person.shown) or person.id
            except CourseError as error:
                notes["Not matched with a student"].append(str(error))
                continue
            number = entries[student].lms_user_id if student in entries else None
            like = [each for each in entries if student not in entries and look_alike([each, student])]
            if like:
                notes[
                    "Not added, since the gradebook has a name like theirs. If it is the same person, write the number into a file "
                    "with the columns id and lms_user_id, and run `nbgrader db student import new.csv`; if not, add them with "
                    "`nbgrader db student add ID --lms-user-id NUMBER`"
                ].append(f"{student}, {person.shown}: {', '.join(like)} in the gradebook")
            elif student not in entries and not _ID.fullmatch(student):
                what = (
                    f"the id {student!r}, which can't name a folder" if student else "no login or ID number"
                )
                notes[
                    f"Not added, since {lms.product} gives no usable id. Add them with `nbgrader db student add ID "
                    "--lms-user-id NUMBER`"
                ].append(f"{person.shown} has {what}")
            elif number and number != person.number:
                notes[
                    "Not matched, since the gradebook has another lms_user_id. If it is the same person, write the new number "
                    "into a file with the columns id and lms_user_id, and run `nbgrader db student import new.csv`"
                ].append(f"{student}: {number} there, {person.shown} in {lms.product}")
            else:
                claimed[student].append(person)
        found: dict[str, str] = {}
        for student, persons in claimed.items():
            if len(persons) > 1:
                notes["Not matched, since several people may be one student"].append(
                    f"{student}: {', '.join(person.shown for person in persons)}"
                )
                continue
            (person,) = persons
            found[person.number] = student
            values = {"lms_user_id": person.number}
            if student not in entries:
                added.append(student)
                values |= {"first_name": person.first, "last_name": person.last, "email": person.email}
            if not dry_run and (student not in entries or not entries[student].lms_user_id):
                gradebook.update_or_create_student(student, **values)
    absent = sorted(entries.keys() - claimed.keys())
    if absent:
        notes[f"In the gradebook, but no students of the course in {lms.product}"].append(", ".join(absent))
    return found, added


class _Place(Configurable):
    """What a collector asks nbgrader's command for."""

    collect_directory_structure = Unicode("{downloaded}/{collect_step}")
    downloaded_directory = Unicode()
    extracted_directory = Unicode("files")
    coursedir, collector_plugin_inst = Any(), Any()


class SyncCollector(Collector):
    """Collects files that lie in folders with the names of students, as the LMS has said."""

    hand_ins: dict[str, LmsSubmission]
    notes: dict[str, list[str]]

    def claim(self, path: Path) -> Claim:
        top = self.folder / path.relative_to(self.folder).parts[0]
        time = self.hand_ins[top.name].time
        return Claim(
            path,
            top,
            (top.name,),
            "",
            path.name,
            timestamp=f"{time.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f} UTC",
        )

    def chosen(self) -> dict[str, list[tuple[Path, str]]]:
        """The files of each student, and their paths in the folder of the submission."""
        found: dict[str, list[tuple[Path, str]]] = defaultdict(list)
        for path, fields in self._chosen.items():
            name = os.path.splitext(fields["file_id"])[0] + path.suffix
            found[fields["student_id"]].append((path, name))
        return found

    def _keep(self, returned: dict[str, dict[str, str]]) -> None:
        """`gradekit return` has nothing to do here."""

    def _tell(self, notes: dict[str, list[str]], chosen: dict[Path, dict[str, str]] | None = None) -> None:
        self.notes = notes


class Incoming:
    """Collects the submissions of an assignment.

    Args:
        students: by their numbers in the LMS.
        max_bytes: of a file.
    """

    def __init__(
        self,
        course: RunningCourse,
        lms: Lms,
        assignment: Assignment,
        students: dict[str, str],
        max_bytes: int,
    ) -> None:
        self._course, self._lms, self._assignment = course, lms, assignment
        self._students, self._max_bytes = students, max_bytes
        self._scratch = folder_of_state(course.root) / "unfinished"

    def wanted(
        self, submissions: Iterable[LmsSubmission], state: State, notes: Notes
    ) -> list[tuple[str, LmsSubmission]]:
        """Students whose submission was not collected yet, with it."""
        found = []
        for submission in submissions:
            if not submission.owners:
                names = ", ".join(file.name for file in submission.files)
                notes["Not collected, since no student of the course is in the group"].append(
                    f"handed in at {in_utc(submission.time)}: {names or submission.without}"
                )
            for number in submission.owners:
                student = self._students.get(number)
                if student is None:
                    notes[_UNKNOWN].append(f"number {number}")
                    continue
                taken = state.taken.get(student)
                if submission.without:
                    notes["No files to collect"].append(f"{student} {submission.without}")
                elif taken is None or taken.stamp != submission.stamp or self._is_gone(student, taken):
                    found.append((student, submission))
                else:
                    for heading, line in taken.notes:
                        notes[heading].append(line)
        return found

    def collect(
        self, wanted: list[tuple[str, LmsSubmission]], state: State, notes: Notes, collected: list[str]
    ) -> None:
        """Download, choose as `nbgrader zip_collect` does, and put each submission into its place in one step.

        Args:
            collected: gets the students.

        Raises:
            LmsAway: not all could be downloaded; the others were collected.
        """
        shutil.rmtree(self._scratch, ignore_errors=True)
        with self._course.write_lock():
            put_all_back(self._course.folders, self._assignment.name)
        own: dict[str, list[tuple[str, str]]] = defaultdict(list)
        collector = self._collector()
        failed: LmsAway | None = None
        for student, submission in wanted:
            folder = self._scratch / "archive" / student
            try:
                own[student] += [(_LEFT, f"{student}: {line}") for line in self._download(submission, folder)]
            except LmsError as error:
                shutil.rmtree(folder, ignore_errors=True)
                own.pop(student, None)
                if isinstance(error, LmsAway):
                    failed = error
                    break
                notes[f"Not collected: {error}"].append(student)
                continue
            folder.mkdir(parents=True, exist_ok=True)
            collector.hand_ins[student] = submission
        files = self._chosen(collector) if collector.hand_ins else {}
        for heading, lines in collector.notes.items():
            lasting = heading in _LASTING
            for line in lines:
                student = line.partition(":")[0]
                if lasting and student in collector.hand_ins:
                    own[student].append((str(heading), line))
                else:
                    notes[str(heading)].append(line)
        for student, submission in collector.hand_ins.items():
            taken = state.taken.get(student)
            digest = self._put(student, submission, files.get(student, []), taken)
            if digest is None:
                notes[OWN].append(student)
                continue
            for heading, line in own[student]:
                notes[heading].append(line)
            if student in files:
                collected.append(student)
            state.taken[student] = Taken(submission.stamp, submission.attempt, digest, own[student])
            state.save(self._course.root, self._assignment.name)
        shutil.rmtree(self._scratch, ignore_errors=True)
        if failed:
            raise failed

    def _collector(self) -> SyncCollector:
        place = _Place(
            config=self._course.config,
            downloaded_directory=str(self._scratch),
            coursedir=SimpleNamespace(root=self._course.root, assignment_id=self._assignment.name),
        )
        place.collector_plugin_inst = collector = SyncCollector(parent=place, log=logging.getLogger(__name__))
        collector.course, collector.hand_ins, collector.notes = self._course, {}, {}
        return collector

    def _chosen(self, collector: SyncCollector) -> dict[str, list[tuple[Path, str]]]:
        source, target = self._scratch / "archive", self._scratch / "files"
        target.mkdir()
        log = _Warnings(__name__, logging.WARNING)
        HarmlessExtractor(parent=collector.parent, log=log).extract(str(source), str(target))
        files = collector.chosen()
        if log.lines:
            lines = [line.replace(f"{source}/", "").replace(f"{target}/", "") for line in log.lines]
            collector.notes = collector.notes | {"Archives": lines}
        return files

    def _download(self, submission: LmsSubmission, folder: Path) -> Iterator[str]:
        """Download the files; yields a line for each that isn't."""
        for file in submission.files:
            place = _place(file.name)
            if place is None:
                yield f"{file.name} (its name can't be used: it is empty or too long, or points elsewhere)"
            elif file.size > self._max_bytes:
                yield f"{file.name} ({file.size / 1e6:.0f} MB, more than c.LmsSync.max_megabytes)"
            elif not file.url:
                raise LmsError(
                    f"{file.name} can't be downloaded now: it may be locked, or still be checked in the LMS. See its page there"
                )
            else:
                path = folder / place
                number = 0
                while path.exists() or any(above.is_file() for above in path.parents):
                    number += 1
                    path = folder / f"{place.stem}-{number}{place.suffix}"
                self._lms.download(file, path)

    def _put(
        self, student: str, submission: LmsSubmission, files: list[tuple[Path, str]], taken: Taken | None
    ) -> str | None:
        """Replace the submission; returns the digest of its folder, or None if another version is there."""
        target = self._folder(student)
        before, ours = _digest(target), taken.digest if taken else ""
        if not files:
            return ours
        arriving = target.with_name(f".{target.name}.arriving")
        shutil.rmtree(arriving, ignore_errors=True)
        for path, name in files:
            copy = arriving / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
        time = f"{submission.time.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f} UTC"
        (arriving / TIMESTAMP).write_text(time, encoding="utf-8")
        digest = _digest(arriving)
        if before in ("", ours):
            with self._course.write_lock(), replacing(target):
                os.rename(arriving, target)
        else:
            shutil.rmtree(arriving)
        return digest if before in ("", ours, digest) else None

    def _is_gone(self, student: str, taken: Taken) -> bool:
        return bool(taken.digest) and not self._folder(student).is_dir()

    def _folder(self, student: str) -> Path:
        return self._course.submitted(student, self._assignment.name)


class _Warnings(logging.Logger):
    """Keeps what is logged."""

    def __init__(self, name: str, level: int) -> None:
        super().__init__(name, level)
        self.lines: list[str] = []

    def handle(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def _place(name: str) -> Path | None:
    """The path of a file below its student's folder; None if it isn't below it, or can't be written."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    bad = any(part in ("..", "/") or "\0" in part or len(os.fsencode(part)) > 200 for part in parts)
    return None if bad or not parts else Path(*parts)


def _digest(folder: Path) -> str:
    """A digest of the files in a folder; empty if there is none."""
    if not folder.is_dir():
        return ""
    found = hashlib.sha256()
    for path in files_in(folder):
        name = os.fsencode(str(path.relative_to(folder)))
        found.update(b"%d %s %d " % (len(name), name, path.stat().st_size) + path.read_bytes())
    return found.hexdigest()[:32]


def would_collect(wanted: list[tuple[str, LmsSubmission]]) -> list[str]:
    """For each student, what would be downloaded."""
    return [f"{student} ({counted(len(submission.files), 'file')})" for student, submission in wanted]
