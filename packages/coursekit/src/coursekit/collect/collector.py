"""Whose is this file? What the collectors of all products share."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from nbgrader.plugins import FileNameCollectorPlugin

from coursekit.collect.roster import Roster
from coursekit.course import CourseError
from coursekit.grading.running_course import RunningCourse

#: what Canvas, Moodle and browsers add to a name that was there already: `-1`, ` (1)`
_COPY = re.compile(r"(?:-(\d+)|[ _]*\((\d+)\))$")


@dataclass(frozen=True)
class Claim:
    """A file, and who handed it in.

    `owner` tells people of one name apart, `number` grows from one file of a person to the next, and
    `timestamp` is in UTC, or empty if the product does not tell it.
    """

    path: Path
    student: str
    owner: str
    notebook: str
    number: tuple[int, ...] = ()
    timestamp: str = ""

    @property
    def age(self) -> tuple:
        return self.timestamp, self.number, str(self.path)


class Collector(FileNameCollectorPlugin):
    """Takes the newest file of each student and notebook, and leaves out what belongs to nobody.

    nbgrader asks for one file at a time; all are looked at when the first is asked for, since only then it
    is known which is the newest, and who shares a name.
    """

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        claim = self._chosen.get(Path(submitted_file))
        if claim is None:
            return None
        info = {"student_id": claim.student, "file_id": claim.notebook}
        return info | ({"timestamp": claim.timestamp} if claim.timestamp else {})

    def claim(self, path: Path) -> Claim:
        """Who handed in the notebook at `path`, which is below `self.folder`.

        Raises:
            CourseError: that can't be told; the message says why.
        """
        raise NotImplementedError

    @cached_property
    def course(self) -> RunningCourse:
        return RunningCourse.of(self.parent)

    @cached_property
    def folder(self) -> Path:
        """Where nbgrader has put what it unpacked."""
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
    def _released(self) -> list[str]:
        return self.course.assignment(self.parent.coursedir.assignment_id).released_names()

    @cached_property
    def _chosen(self) -> dict[Path, Claim]:
        chosen: dict[Path, Claim] = {}
        for student, claims in sorted(self._claims().items()):
            if len({claim.owner for claim in claims}) > 1:
                names = ", ".join(sorted({str(claim.path.relative_to(self.folder)) for claim in claims}))
                self.log.warning(
                    "%s may be several people: %s. Nothing of theirs was collected; put it into submitted/ by hand.",
                    student,
                    names,
                )
                continue
            newest: dict[str, Claim] = {}
            for claim in sorted(claims, key=lambda claim: claim.age):
                if claim.notebook in newest:
                    older = newest[claim.notebook].path.relative_to(self.folder)
                    self.log.warning("%s handed in anew: %s was left out", student, older)
                newest[claim.notebook] = claim
            chosen |= {claim.path: claim for claim in newest.values()}
        return chosen

    def _claims(self) -> dict[str, list[Claim]]:
        claims = defaultdict(list)
        for path in sorted(self.folder.rglob("*")):
            if path.suffix not in self.valid_ext or not path.is_file():
                continue
            try:
                claim = self.claim(path)
            except CourseError as error:
                self.log.warning("%s was not collected: %s", path.relative_to(self.folder), error)
            else:
                claims[claim.student].append(claim)
        return claims

    def matches(self, path: Path) -> Iterator[tuple[re.Match, Path]]:
        """Where `named_regexp` fits a part of the path below the folder, and the path of that part."""
        parts = path.relative_to(self.folder).parts
        for count, part in enumerate(parts, 1):
            match = re.match(self.named_regexp, part)
            if match:
                yield match, self.folder.joinpath(*parts[:count])

    def notebook(self, name: str) -> tuple[str, int]:
        """The notebook that is meant by a file name, and which copy it is, from 0.

        `attention-1.ipynb` is the second `attention.ipynb`, if an `attention` was released.
        """
        stem = name.removesuffix(".ipynb")
        released = {name.casefold(): name for name in self._released}
        copy = 0
        rest = stem
        while rest.casefold() not in released and (match := _COPY.search(rest)):
            copy = int(match[1] or match[2])
            rest = rest[: match.start()]
        if rest.casefold() in released:
            return released[rest.casefold()], copy
        return re.sub(r"[^\w.() -]", "_", stem).strip(". ") or "notebook", 0


def only(students: list[str], what: str) -> str | None:
    """The one student that was found, None if there is none.

    Raises:
        CourseError: there are several.
    """
    if len(students) > 1:
        raise CourseError(f"{what} may be {' or '.join(sorted(students))}. Put it into submitted/ by hand.")
    return students[0] if students else None
