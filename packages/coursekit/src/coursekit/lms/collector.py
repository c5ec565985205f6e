"""What the collectors of all products share: finding the students and the notebook of each file."""

import re
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from nbgrader.plugins import FileNameCollectorPlugin
from traitlets import Bool, Unicode

from coursekit.course import CourseError
from coursekit.grading.running_course import RunningCourse
from coursekit.lms.roster import Groups, Roster
from coursekit.nbgrader_plugin.course_folders import stop
from coursekit.student.notebook_file import grade_ids_in
from coursekit.student.renamed import expected_in, recognize, stem_and_copy

#: where copies for the members of groups are, beside the unpacked files
_COPIES = "for-each-member"
_CHECKPOINTS = ".ipynb_checkpoints"


@dataclass(frozen=True)
class Claim:
    """A file and the students who handed it in.

    Args:
        owner: distinguishes people with the same name; empty for a group.
        name: what the student called the file.
        number: increases from one file of a person to the next.
        timestamp: in UTC; empty if the product doesn't provide it.
        late: the product marks it as late.
        alias: what the product calls the student, if that is unlike the name in the gradebook.
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

    nbgrader asks for one file at a time. All are read before, because only then is it known which file is the newest,
    who shares a name, and who is in a group: each member gets a copy, which nbgrader finds among the unpacked files.
    """

    groups = Unicode(
        "", help="CSV file with the columns group and student, a line for each member of each group"
    ).tag(config=True)
    add_students = Bool(False, help="also collect from students who are not in the gradebook").tag(
        config=True
    )
    #: how the product's students are found in the gradebook
    found_by = ""

    def prepare(self) -> None:
        """Read the unpacked files, before nbgrader lists them."""
        _ = self._chosen

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        return self._chosen.get(Path(submitted_file))

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
        try:
            with self.course.gradebook() as gradebook:
                return Roster.read(gradebook)
        except CourseError:  # no gradebook yet
            return Roster([])

    @cached_property
    def listed(self) -> Groups:
        """The members of the groups, from the file `groups`."""
        return Groups.read(self.course.root / self.groups, self.roster) if self.groups else Groups({})

    def matches(self, path: Path) -> Iterator[tuple[re.Match[str], Path]]:
        """The parts of the path below the folder that match `named_regexp`, and the path up to each."""
        parts = path.relative_to(self.folder).parts
        for count, part in enumerate(parts, 1):
            match = re.match(self.named_regexp, part)
            if match:
                yield match, self.folder.joinpath(*parts[:count])

    @cached_property
    def _expected(self) -> dict[str, frozenset[str]]:
        """The grade_ids of each released notebook."""
        assignment = self.course.assignment(self.parent.coursedir.assignment_id)
        expected = expected_in(assignment)
        if not expected:
            raise CourseError(
                f"{assignment.release_folder} has no notebook: "
                f"run `nbgrader generate_assignment {assignment.name}` first"
            )
        return expected

    @cached_property
    def _chosen(self) -> dict[Path, dict[str, str]]:
        """What nbgrader wants to know of each file that is collected."""
        try:
            _ = self._expected, self.listed  # raise before any file is read
            claims = self._claims()
            chosen: dict[Path, dict[str, str]] = {}
            for student, notebook, claim in self._newest(claims):
                path = claim.path
                if path in chosen:
                    path = self.folder / _COPIES / str(len(chosen)) / path.name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(claim.path, path)
                info = {"student_id": student, "file_id": f"{notebook}.ipynb"}
                chosen[path] = info | ({"timestamp": claim.timestamp} if claim.timestamp else {})
        except (CourseError, OSError) as error:
            stop(self.log, str(error))
        return chosen

    def _claims(self) -> dict[str, list[Claim]]:
        """The notebooks of each student. Reports files of nobody, of strangers, and students without a notebook."""
        claims: dict[str, list[Claim]] = defaultdict(list)
        problems: dict[str, list[str]] = defaultdict(list)
        strangers, without = dict[str, str](), dict[str, str]()
        for path in sorted(self.folder.rglob("*")):
            place = path.relative_to(self.folder)
            if not path.is_file() or place.parts[0] == _COPIES:
                continue
            is_notebook = path.suffix == ".ipynb" and _CHECKPOINTS not in place.parts
            try:
                claim = self.claim(path)
            except CourseError as error:
                if is_notebook:
                    problems[str(error)].append(str(place))
                continue
            for student in claim.students:
                if len(self.roster) and not self.add_students and not self.roster.by_id(student):
                    strangers.setdefault(student, str(place))
                elif is_notebook:
                    claims[student].append(claim)
                else:
                    without.setdefault(student, str(place))
        for problem, places in problems.items():
            verb = "was" if len(places) == 1 else "were"
            self.log.warning("%s %s not collected: %s", ", ".join(places), verb, problem)
        self._list("Handed in no notebook", _pairs(without, claims.keys()))
        self._list(
            "Not collected, since the gradebook has no such student. Add them with `nbgrader db student add ID` "
            f"({self.found_by}), or collect from everybody with --Collector.add_students=True",
            _pairs(strangers),
        )
        if claims and not len(self.roster):
            self.log.warning(
                "The gradebook has no students yet, so everybody in the download becomes one, with an id made from "
                "the file names. For other ids, run `nbgrader db student import students.csv` first."
            )
        return claims

    def _newest(self, claims: dict[str, list[Claim]]) -> Iterator[tuple[str, str, Claim]]:
        """Student, notebook and file of all that is collected. Reports the other files."""
        renamed, unclear, others, older = list[str](), list[str](), list[str](), list[str]()
        late, aliases, shared = list[str](), list[str](), defaultdict[str, list[str]](list)
        for student, own in sorted(claims.items()):
            if len({claim.owner for claim in own if claim.owner}) > 1:
                names = ", ".join(sorted({str(claim.path.relative_to(self.folder)) for claim in own}))
                self.log.warning(
                    "%s may be several people: %s. None of these was collected; copy them into submitted/ yourself.",
                    student,
                    names,
                )
                continue
            by_path = {claim.path: claim for claim in own}
            names_of = {path: claim.name for path, claim in by_path.items()}
            found = recognize(names_of, self._expected, grade_ids_in, trusting=True)
            for notebook, paths in found.notebooks.items():
                *earlier, claim = sorted((by_path[path] for path in paths), key=self._age)
                older += [f"{student}: {each.path.relative_to(self.folder)}" for each in earlier]
                stem, _ = stem_and_copy(claim.name, self._expected)
                if stem.casefold() != notebook.casefold():
                    renamed.append(f"{student}: {claim.name} as {notebook}.ipynb")
                late += [student] if claim.late else []
                aliases += [f"{claim.alias} ({student})"] if claim.alias else []
                if len(claim.students) > 1:
                    shared[str(claim.path.relative_to(self.folder))].append(student)
                yield student, notebook, claim
            for notebook, paths in found.unclear.items():
                names = " or ".join(names_of[path] for path in paths)
                unclear.append(f"{student}: {names} may be {notebook}.ipynb")
            others += [f"{student}: {names_of[path]}" for path in found.others]
        groups = [f"{path}: {', '.join(members)}" for path, members in shared.items()]
        self._list("Collected from a group, for each member", groups)
        self._list("Collected under the name of the assignment's notebook", renamed)
        self._list("Not collected, since it isn't clear which file counts. Copy it into submitted/", unclear)
        self._list("Not collected, since there is a newer file", older)
        self._list("Not collected, since these are not notebooks of the assignment", others)
        self._list(
            "Late, but the download doesn't say how much. For a penalty, write the time into "
            "submitted/<student>/<assignment>/timestamp.txt",
            late,
        )
        self._list(
            "The gradebook has other names for these students. If the names are those of groups, list the "
            "members in a CSV file, and collect with --Collector.groups=groups.csv",
            aliases,
        )

    def _age(self, claim: Claim) -> tuple[str, int, int, str]:
        return claim.timestamp, claim.number, stem_and_copy(claim.name, self._expected)[1], str(claim.path)

    def _list(self, what: str, lines: Iterable[str]) -> None:
        found = list(dict.fromkeys(lines))
        if found:
            self.log.warning("%s (%d):\n  %s", what, len(found), "\n  ".join(found))


def _pairs(places: dict[str, str], except_for: Iterable[str] = ()) -> list[str]:
    return [f"{student}: {place}" for student, place in places.items() if student not in except_for]
