"""The files that students handed in with their notebooks: under which names they are collected, and which are not."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import PurePath

from gradekit.nbgrader_plugin.archives import archive_of
from gradekit.submission.extra_files import MAX_FOLDER_DEPTH, SECRET, TIMESTAMP, stem_and_copy
from gradekit_lms.claims import Claim

#: written by operating systems and editors
_BY_PROGRAMS = (".*", "*~", "~$*", "#*#", "Thumbs.db", "desktop.ini", "__pycache__", "*.pyc", "__MACOSX")


@dataclass
class OtherFiles:
    """The files of one student next to the notebooks.

    Args:
        notebooks: those that are collected, by their names.
        ignored: patterns of names that are left out.
        max_files, max_bytes: of all files together.
    """

    notebooks: dict[str, Claim]
    ignored: Sequence[str]
    max_files: int
    max_bytes: int
    #: by the path under which they are collected
    chosen: dict[PurePath, Claim] = field(default_factory=dict)
    #: with the reasons
    left: list[tuple[Claim, str]] = field(default_factory=list)
    #: the second names of files
    without_number: dict[PurePath, Claim] = field(default_factory=dict)

    def choose(self, claims: Iterable[Claim], age: Callable[[Claim], object]) -> None:
        """Choose among the student's other files; of two with the same name, the one packed with a notebook, or the newer."""
        folders = {claim.packed_in for claim in self.notebooks.values()}
        archives = {archive for claim in self.notebooks.values() for archive in claim.archives}
        names = {PurePath(name) for name in self.notebooks}
        newest_first = sorted(claims, key=age, reverse=True)  # type: ignore[arg-type]
        for claim in sorted(newest_first, key=lambda claim: claim.packed_in not in folders):
            if claim.path in archives:
                continue  # what it holds is collected
            place = self._place(claim)
            reason = self._reason(place, claim, names)
            if reason:
                self.left.append((claim, reason))
            else:
                self.chosen[place] = claim
                self.max_bytes -= claim.path.stat().st_size
                names.add(place)
        for place, claim in self._numbered():
            if not self._clashes(place, names):
                self.without_number[place] = claim

    def _place(self, claim: Claim) -> PurePath:
        """The path of a file from its notebook, or else as it was handed in."""
        for notebook in self.notebooks.values():
            folder = notebook.inside.parent
            if claim.packed_in == notebook.packed_in and claim.inside.is_relative_to(folder):
                return claim.inside.relative_to(folder)
        return claim.inside

    def _reason(self, place: PurePath, claim: Claim, names: set[PurePath]) -> str:
        """Why a file isn't collected; empty if it is."""
        patterns = (*_BY_PROGRAMS, *self.ignored)
        if any(fnmatch(part, pattern) for part in place.parts for pattern in patterns):
            return "hidden, or written by a program"
        if str(place).casefold() in (TIMESTAMP, SECRET):
            return "nbgrader has a file of its own with this name"
        if len(place.parts) > MAX_FOLDER_DEPTH:
            return f"more than {MAX_FOLDER_DEPTH} folders deep"
        if place in names:
            return f"another file is collected as {place}"
        if self._clashes(place, names):
            return "a folder has the same name"
        if len(self.chosen) >= self.max_files or claim.path.stat().st_size > self.max_bytes:
            return "beyond c.Collector.max_files or c.Collector.max_megabytes"
        return ""

    def _clashes(self, place: PurePath, names: set[PurePath]) -> bool:
        """True if the path can't be written next to those that are taken."""
        return place in names or any(place in taken.parents or taken in place.parents for taken in names)

    def _numbered(self) -> Iterator[tuple[PurePath, Claim]]:
        """Files such as `module-1.py`, outside of archives, and their paths without the number."""
        found = []
        for place, claim in self.chosen.items():
            stem, copy = stem_and_copy(place.stem, ())
            if copy and not archive_of(claim.packed_in):
                found.append((place.with_name(stem + place.suffix), claim))
        times = Counter(place for place, _ in found)
        yield from ((place, claim) for place, claim in found if times[place] == 1)
