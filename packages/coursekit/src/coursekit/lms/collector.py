"""The base of the collectors of all products: finds the students and the notebook of each file."""

import logging
import re
import shutil
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import count
from pathlib import Path, PurePath

from nbgrader.plugins import FileNameCollectorPlugin
from traitlets import Bool, Unicode

from coursekit.course import CourseError
from coursekit.grading.running_course import RunningCourse
from coursekit.lms.roster import Groups, Roster
from coursekit.nbgrader_plugin.course_folders import stop
from coursekit.printing import quoted
from coursekit.student.notebook_file import grade_ids_in
from coursekit.student.renamed import expected_in, recognize, stem_and_copy

#: the folder for the copies of group members, beside the unpacked files
_COPIES = "for-each-member"
_CHECKPOINTS = ".ipynb_checkpoints"


class Report(StrEnum):
    """The headings of the command's report, in this order."""

    NEW_COURSE = (
        "The gradebook has no students yet, so everybody in the download becomes one, with an id made from the file "
        "names. For other ids, run `nbgrader db student import students.csv` first. New students"
    )
    STRANGER = (
        "Not collected, since the gradebook has no such student. Add them with `nbgrader db student add ID`, or collect "
        "from everybody with --Collector.add_students=True. Students with another id in the gradebook need their "
        "lms_user_id, name and email there; groups need a list of members, --Collector.groups=groups.csv"
    )
    NO_NOTEBOOK = "Handed in no notebook"
    NAMESAKES = "Not collected, since each may be several people. Copy the files into submitted/ yourself"
    UNCLEAR = "Not collected, since it isn't clear which file counts. Copy it into submitted/ yourself"
    OLDER = "Not collected, since there is a newer file"
    OTHER = "Not collected, since these are not notebooks of the assignment"
    RENAMED = "Collected under the name of the assignment's notebook"
    GROUP = "Collected from a group, for each member"
    ALIAS = (
        "The gradebook has other names for these students. If the names are those of groups, list the members in a "
        "CSV file, and collect with --Collector.groups=groups.csv"
    )
    LATE = (
        "Late, but the download doesn't say how much. For a penalty, write the time into "
        "submitted/<student>/<assignment>/timestamp.txt"
    )
    AGAIN = "Run the same command again, with --force: the members of groups have their copies now"


@dataclass(frozen=True)
class Claim:
    """A file and the students who handed it in.

    Args:
        owner: distinguishes people with the same name; empty for a group.
        name: the student's name for the file.
        number: increases from one file of a person to the next.
        timestamp: in UTC; empty if the product doesn't provide it.
        late: the product marks it as late.
        alias: the product's name for the student, if it is unlike the name in the gradebook.
    """

    path: Path
    students: tuple[str, ...]
    owner: str
    name: str
    number: int = 0
    timestamp: str = ""
    late: bool = False
    alias: str = ""


class Collector(FileNameCollectorPlugin):
    """Collects the newest file of each student and notebook, and reports files whose owner or notebook isn't clear.

    nbgrader asks for one file at a time. All are read beforehand, to find out which file is the newest, who shares a
    name, and who is in a group: each member gets a copy, which nbgrader finds among the unpacked files.
    """

    groups = Unicode(
        "", help="CSV file with the columns group and student, a line for each member of each group"
    ).tag(config=True)
    add_students = Bool(False, help="also collect from students who are not in the gradebook").tag(
        config=True
    )

    def prepare(self) -> None:
        """Read the unpacked files, before nbgrader lists them."""
        _ = self._chosen
        self.log.addFilter(_is_news)

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        listed_before = "_chosen" not in vars(self)  # without an archive, or with another extractor
        found = self._chosen.get(Path(submitted_file))
        if listed_before and self._copied:
            self._log({Report.AGAIN: self._copied})
        return found

    def claim(self, path: Path) -> Claim:
        """Find out who handed in the file at `path`, which is below `self.folder`.

        Raises:
            CourseError: the student can't be determined; the message says why.
        """
        raise NotImplementedError

    @cached_property
    def course(self) -> RunningCourse:
        return RunningCourse.of(self.parent)

    @cached_property
    def folder(self) -> Path:
        """Where nbgrader has put the unpacked files."""
        app = self.parent
        place = app.collect_directory_structure.format(
            downloaded=app.downloaded_directory,
            assignment_id=app.coursedir.assignment_id,
            collect_step=app.extracted_directory,
        )
        return Path(app.coursedir.root, place)

    @cached_property
    def roster(self) -> Roster:
        file = self.course.gradebook_file
        if file is not None and not file.exists():
            return Roster([])  # a new course
        with self.course.gradebook() as gradebook:
            return Roster(gradebook.students)

    @cached_property
    def listed(self) -> Groups:
        """The members of the groups, from the file `groups`."""
        return Groups.read(self.course.root / self.groups, self.roster) if self.groups else Groups({})

    def matches(self, path: Path) -> Iterator[tuple[re.Match[str], Path, str]]:
        """The parts of the path that match `named_regexp`, the path up to each, and what the student named the file."""
        above = [path, *path.parents]
        for place in reversed(above[: above.index(self.folder)]):
            if match := re.match(self.named_regexp, place.name):
                name = match.groupdict().get("file") if place == path else None
                yield match, place, name or path.name

    @cached_property
    def _expected(self) -> dict[str, frozenset[str]]:
        """The grade_ids of each released notebook."""
        assignment = self.course.assignment(self.parent.coursedir.assignment_id)
        expected = expected_in(assignment)
        if not expected:
            raise CourseError(
                f"{assignment.release_folder} has no notebook: "
                f"run `nbgrader generate_assignment {quoted(assignment.name)} --force` first"
            )
        return expected

    @cached_property
    def _chosen(self) -> dict[Path, dict[str, str]]:
        """The fields that nbgrader needs for each file that is collected."""
        chosen: dict[Path, dict[str, str]] = {}
        notes: dict[str, list[str]] = defaultdict(list)
        try:
            _ = self._expected, self.roster, self.listed  # raise before any file is read
            for student, own in sorted(self._claims(notes).items()):
                for name, claim in self._newest(student, own, notes):
                    path = self._free_path(claim.path, chosen)
                    chosen[path] = {"student_id": student, "file_id": name}
                    chosen[path] |= {"timestamp": claim.timestamp} if claim.timestamp else {}
        except (CourseError, OSError) as error:
            stop(self.log, str(error))
        self._log({name: notes.pop(name) for name in Report if name in notes} | notes)
        return chosen

    def _free_path(self, path: Path, taken: Container[Path]) -> Path:
        """The path, or that of a copy: nbgrader assigns each file to only one student."""
        if path not in taken:
            return path
        copies = (self.folder / _COPIES / str(number) / path.name for number in count())
        copy = next(copy for copy in copies if copy not in taken)
        if not copy.exists():
            self._copied.append(str(copy.relative_to(self.folder)))
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copy)
        return copy

    @cached_property
    def _copied(self) -> list[str]:
        return []

    def _claims(self, notes: dict[str, list[str]]) -> dict[str, list[Claim]]:
        """The files of each student, of the kinds that are collected. Notes files without an owner or of unknown students."""
        claims: dict[str, list[Claim]] = defaultdict(list)
        others: dict[str, str] = {}
        for path in sorted(self.folder.rglob("*")):
            place = path.relative_to(self.folder)
            if not path.is_file() or place.parts[0] == _COPIES:
                continue
            wanted = path.suffix in self.valid_ext and _CHECKPOINTS not in place.parts
            try:
                claim = self.claim(path)
            except CourseError as error:
                if wanted:
                    notes[f"Not collected, since {error}"].append(str(place))
                continue
            for student in claim.students:
                if len(self.roster) and not self.add_students and not self.roster.by_id(student):
                    notes[Report.STRANGER].append(f"{student}: {place}")
                elif wanted:
                    claims[student].append(claim)
                else:
                    others.setdefault(student, str(place))
        notes[Report.NO_NOTEBOOK] += [f"{who}: {place}" for who, place in others.items() if who not in claims]
        if not len(self.roster) and not self.add_students:
            notes[Report.NEW_COURSE] += sorted(claims)
        return claims

    def _newest(
        self, student: str, claims: list[Claim], notes: dict[str, list[str]]
    ) -> Iterator[tuple[str, Claim]]:
        """A student's files that are collected, with their names in submitted/. Notes the others."""
        places = {claim.path: claim.path.relative_to(self.folder) for claim in claims}
        if len({claim.owner for claim in claims if claim.owner}) > 1:
            notes[Report.NAMESAKES].append(f"{student}: {', '.join(map(str, places.values()))}")
            return
        by_path = {claim.path: claim for claim in claims}
        notebooks = {path: claim.name for path, claim in by_path.items() if path.suffix == ".ipynb"}
        found = recognize(notebooks, self._expected, grade_ids_in, trusting=True)
        named = {f"{name}.ipynb": paths for name, paths in found.notebooks.items()}
        for path in by_path.keys() - notebooks.keys():  # other files, if valid_ext has their kind
            named.setdefault(by_path[path].name, []).append(path)
        for name, paths in named.items():
            *earlier, claim = sorted((by_path[path] for path in paths), key=self._age)
            notes[Report.OLDER] += [f"{student}: {places[each.path]}" for each in earlier]
            if self._stem(claim).casefold() != PurePath(name).stem.casefold():
                notes[Report.RENAMED].append(f"{student}: {claim.name} as {name}")
            if len(claim.students) > 1:
                notes[Report.GROUP].append(f"{student}: {places[claim.path]}")
            if claim.late:
                notes[Report.LATE].append(student)
            if claim.alias:
                notes[Report.ALIAS].append(f"{claim.alias} ({student})")
            yield name, claim
        for name, paths in found.unclear.items():
            notes[Report.UNCLEAR].append(
                f"{student}: {' or '.join(notebooks[path] for path in paths)} may be {name}.ipynb"
            )
        notes[Report.OTHER] += [f"{student}: {notebooks[path]}" for path in found.others]

    def _stem(self, claim: Claim) -> str:
        return stem_and_copy(claim.name, self._expected)[0]

    def _age(self, claim: Claim) -> tuple[str, int, int, str]:
        return claim.timestamp, claim.number, stem_and_copy(claim.name, self._expected)[1], str(claim.path)

    def _log(self, notes: Mapping[str, list[str]]) -> None:
        for what, lines in notes.items():
            if lines:
                self.log.warning("%s (%d):\n  %s", what, len(lines), "\n  ".join(dict.fromkeys(lines)))


def _is_news(record: logging.LogRecord) -> bool:
    """False for nbgrader's warnings about every skipped file and new folder; `Report` has what matters."""
    return not record.getMessage().startswith(
        ("Skipped submission with no match", "Directory not found. Creating")
    )
