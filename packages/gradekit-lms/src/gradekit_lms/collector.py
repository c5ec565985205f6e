"""The base of the collectors of all products: finds the students and the notebook of each file."""

import logging
import re
import shutil
from collections import defaultdict
from collections.abc import Container, Iterator
from functools import cached_property
from itertools import count
from pathlib import Path, PurePath

from nbgrader.plugins import FileNameCollectorPlugin
from traitlets import Bool, Integer, Unicode

from gradekit.course import CourseError
from gradekit.course.printing import quoted
from gradekit.grading.running_course import RunningCourse
from gradekit.nbgrader_plugin.course_folders import stop
from gradekit.submission.extra_files import MAX_ENTRIES, expected_in, recognize, stem_and_copy
from gradekit.submission.notebook_file import grade_ids_in
from gradekit_lms.archives import folder_for
from gradekit_lms.claims import Claim, OtherFiles, Report, keep_names, lines_of_report
from gradekit_lms.identities import Groups, Roster

#: the folder for further copies of files, for the members of a group, beside the unpacked files
_COPIES = "for-each-member"
_CHECKPOINTS = ".ipynb_checkpoints"
#: how nbgrader's warnings begin about each file that it skips, and each new folder
_SKIPPED = re.compile(
    r"Skipped submission with no match|Directory not found. Creating|Invalid submission notebook name|"
    r"\d+ files collected, \d+ files skipped\Z"
)


class Collector(FileNameCollectorPlugin):
    """Collects the newest file of each student and notebook, and reports files whose owner or notebook isn't clear.

    nbgrader asks for one file at a time. All are read beforehand, to find out which file is the newest, who shares a
    name, and who is in a group: each member gets a copy, which nbgrader finds among the unpacked files.
    """

    #: the product's name, and the files that it adds to a download
    product = ""
    own_files: tuple[str, ...] = ()

    groups = Unicode(
        "", help="CSV file with the columns group and student, a line for each member of each group"
    ).tag(config=True)
    add_students = Bool(False, help="also collect from students who are not in the gradebook").tag(
        config=True
    )
    other_files = Bool(True, help="also collect what students handed in with their notebooks").tag(
        config=True
    )
    max_files = Integer(MAX_ENTRIES, help="other files that are collected from a student").tag(config=True)
    max_megabytes = Integer(100, help="size of a student's other files that are collected").tag(config=True)

    def prepare(self) -> None:
        """Read the unpacked files, before nbgrader lists them."""
        _ = self._chosen
        self.log.addFilter(_is_news)

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        listed_before = "_chosen" not in vars(self)  # without an archive, or with another extractor
        found = self._chosen.get(Path(submitted_file))
        if listed_before and self._copied:
            self._tell({Report.AGAIN: self._copied})
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
        returned: dict[str, dict[str, str]] = {}
        try:
            _ = self._expected, self.roster, self.listed  # raise before any file is read
            for student, own in sorted(self._claims(notes).items()):
                notebooks, others = self._newest(student, own, notes)
                files = [*notebooks.items(), *self._beside(student, notebooks, others, notes)]
                for name, claim in files:
                    path = self._free_path(claim.path, chosen)
                    chosen[path] = {"student_id": student, "file_id": name}
                    chosen[path] |= {"timestamp": claim.timestamp} if claim.timestamp else {}
                returned[student] = {name: claim.returned_as for name, claim in notebooks.items()}
            self._keep(returned)
            ordered = {str(name): notes.pop(name) for name in Report if name in notes} | notes
            self._tell(ordered, chosen)
        except (CourseError, OSError) as error:
            stop(self.log, str(error))
        return chosen

    def _keep(self, returned: dict[str, dict[str, str]]) -> None:
        """Record the names for `gradekit return`."""
        keep_names(self.course.root, self.parent.coursedir.assignment_id, self.product, returned)

    def _tell(self, notes: dict[str, list[str]], chosen: dict[Path, dict[str, str]] | None = None) -> None:
        """Log the report, and write all of it into a file next to the unpacked files."""
        path = self.folder.with_name(f"{self.folder.name}.txt")
        for text in lines_of_report(notes, path):
            self.log.warning("%s", text)
        if chosen is not None:
            notes = notes | {
                Report.COLLECTED: [
                    f"{fields['student_id']}: {source.relative_to(self.folder)} as {fields['file_id']}"
                    for source, fields in chosen.items()
                ]
            }
            path.write_text("\n".join(lines_of_report(notes)), encoding="utf-8", errors="replace")

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
        """The files of each student with a notebook. Notes the other students, and files without an owner."""
        claims: dict[str, list[Claim]] = defaultdict(list)
        with_notebook = set()
        for path in sorted(self.folder.rglob("*")):
            place = path.relative_to(self.folder)
            if not path.is_file() or place.parts[0] == _COPIES:
                continue
            try:
                claim = self.claim(path)
            except CourseError as error:
                if not self._needs_no_owner(path):
                    notes[f"Not collected, since {error}"].append(str(place))
                continue
            for student in claim.students:
                if len(self.roster) and not self.add_students and not self.roster.by_id(student):
                    notes[Report.STRANGER].append(f"{student}: {place}")
                    continue
                claims[student].append(claim)
                if self._wanted(claim):
                    with_notebook.add(student)
        for student in claims.keys() - with_notebook:
            places = (claim.path.relative_to(self.folder) for claim in claims.pop(student))
            notes[Report.NO_NOTEBOOK] += [f"{student}: {place}" for place in places]
        notes[Report.NO_NOTEBOOK].sort()
        if not len(self.roster) and not self.add_students:
            notes[Report.NEW_COURSE] += sorted(claims)
        return claims

    def _wanted(self, claim: Claim) -> bool:
        """True for files of the kinds that nbgrader collects."""
        return claim.path.suffix in self.valid_ext and _CHECKPOINTS not in claim.path.parts

    def _needs_no_owner(self, path: Path) -> bool:
        """True for the downloads themselves, and for files that systems and products add."""
        unpacked = folder_for(path)
        is_download = unpacked is not None and unpacked.is_dir()
        return is_download or path.name.startswith(".") or path.name in self.own_files

    def _beside(
        self, student: str, notebooks: dict[str, Claim], others: list[Claim], notes: dict[str, list[str]]
    ) -> Iterator[tuple[str, Claim]]:
        """A student's other files that are collected, with their paths in submitted/. Notes the others."""
        if not notebooks or not self.other_files:
            return
        found = OtherFiles(
            notebooks, self.course.layout.ignore, self.max_files, self.max_megabytes * 1_000_000
        )
        found.choose(others, self._age)
        for place, claim in (*found.chosen.items(), *found.without_number.items()):
            yield str(place), claim
        for claim, reason in found.left:
            notes[Report.LEFT].append(f"{student}: {claim.path.relative_to(self.folder)} ({reason})")
        notes[Report.NUMBERED] += [
            f"{student}: {claim.inside} as {place}" for place, claim in found.without_number.items()
        ]
        notes[Report.OTHER] += [f"{student}: {place}" for place in found.chosen if place.suffix == ".ipynb"]

    def _newest(
        self, student: str, claims: list[Claim], notes: dict[str, list[str]]
    ) -> tuple[dict[str, Claim], list[Claim]]:
        """A student's notebooks by their names in submitted/, and the other files. Notes files that don't count."""
        newest: dict[str, Claim] = {}
        places = {claim.path: claim.path.relative_to(self.folder) for claim in claims}
        if len({claim.owner for claim in claims if claim.owner}) > 1:
            notes[Report.NAMESAKES].append(f"{student}: {', '.join(map(str, places.values()))}")
            return {}, []
        by_path = {claim.path: claim for claim in claims if self._wanted(claim)}
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
            newest[name] = claim
        for name, paths in found.unclear.items():
            notes[Report.UNCLEAR].append(
                f"{student}: {' or '.join(notebooks[path] for path in paths)} may be {name}.ipynb"
            )
        others = [by_path[path] for path in found.others]
        return newest, others + [claim for claim in claims if not self._wanted(claim)]

    def _stem(self, claim: Claim) -> str:
        return stem_and_copy(claim.name, self._expected)[0]

    def _age(self, claim: Claim) -> tuple[str, int, int, str]:
        return claim.timestamp, claim.number, stem_and_copy(claim.name, self._expected)[1], str(claim.path)


def _is_news(record: logging.LogRecord) -> bool:
    """False for nbgrader's warnings about every skipped file and new folder; `Report` has what matters."""
    return not _SKIPPED.match(record.getMessage())
