"""What was fetched, in `.gradekit/git` of the course: hand-ins, what was seen of each repository, results to be sent."""

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from msgspec import Struct

from gradekit.course.files import read_json, write_json
from gradekit_git.roster import Repository
from gradekit_watch.hand_in_store import HandInStore, Kept, digest


class Fetched(Kept, frozen=True):
    """A hand-in. `handed_in` is when its commit was first seen at the remote.

    Args:
        not_before: when the remote was last seen without it; None if it was never seen before.
        tree: the id of its files, by which equal ones are recognized.
        left_out: names of files that were not fetched, with reasons that continue the names.
        link: to the commit, where it can't be made from `remote`.
    """

    not_before: datetime | None
    commit: str
    tree: str
    remote: str
    branch: str
    left_out: tuple[tuple[str, str], ...] = ()
    link: str = ""

    @property
    def content(self) -> str:
        return self.tree


class Seen(Struct):
    """What is known of a repository.

    Args:
        commit: the newest one that was seen, `first` when that was.
        done: whether nothing is left to do with it, under the limits and for the assignments in `under`.
        looked: the last successful look.
        problem: why something in this commit is no hand-in; empty if all is well.
        unreached: why the last look failed; empty if it didn't.
        note: why there is nothing to hand in, though nothing is wrong.
    """

    commit: str = ""
    first: datetime | None = None
    done: bool = False
    under: str = ""
    looked: datetime | None = None
    problem: str = ""
    unreached: str = ""
    note: str = ""


class Outgoing(Struct, frozen=True):
    """A result that is to be sent to the host of a repository."""

    remote: str
    commit: str
    assignment: str
    right: bool
    text: str


class GitStore(HandInStore[Fetched, Outgoing]):
    """The files in `.gradekit/git`, or in another folder there."""

    def __init__(self, root: Path, name: str = "git") -> None:
        super().__init__(root, name, Fetched, Outgoing)
        self.not_sent = self.folder / "not-sent"
        self.log = self.folder / "fetching.log"

    def add(self, fetched: Fetched, files: Iterable[tuple[str, bytes]]) -> None:
        """Store a hand-in: in a new folder, even for the same commit, since the branch may have been moved back to it.

        Raises:
            OSError: it can't be written.
        """
        self.keep(fetched, files, fetched.commit[:12])

    def seen(self, repository: Repository) -> Seen:
        return read_json(self._seen_path(repository), Seen) or Seen()

    def see(self, repository: Repository, seen: Seen) -> None:
        write_json(self._seen_path(repository), seen)

    def _seen_path(self, repository: Repository) -> Path:
        at = (
            repository.student,
            repository.remote,
            repository.assignment,
            repository.branch,
            repository.folder,
        )
        return self.folder / "seen" / f"{digest(chr(0).join(at))}.json"
