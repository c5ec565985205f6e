"""One look at a repository: whether its branch has a new commit, and which hand-ins are in it."""

import hashlib
import os
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from gradekit.course.printing import printable
from gradekit.submission.extra_files import MAX_FOLDER_DEPTH, SECRET, TIMESTAMP, is_notebook
from gradekit_git.hardened import Git, GitError, GitFile, UnusableCommit
from gradekit_git.roster import Repository
from gradekit_git.settings import Job
from gradekit_git.store import Fetched, GitStore, Seen
from gradekit_watch.hand_in_store import after, content_of, is_untouched, letter_in

_POINTER = b"version https://git-lfs.github.com/spec/"
#: a pointer is smaller than this
_POINTER_BYTES = 1024
_NAME_BYTES = 255
_LEFT_OUT_AT_MOST = 100
_LINK, _SUBMODULE = "120000", "160000"


@dataclass
class _Chosen:
    """The files of a hand-in that are fetched, by their paths, and the others with the reasons."""

    files: dict[str, GitFile] = field(default_factory=dict)
    left_out: list[tuple[str, str]] = field(default_factory=list)

    def leave_out(self, path: bytes, reason: str) -> None:
        if len(self.left_out) < _LEFT_OUT_AT_MOST:
            self.left_out.append((printable(os.fsdecode(path)), reason))

    @property
    def size(self) -> int:
        return sum(entry.size for entry in self.files.values())


class Looker:
    """Looks at repositories, and stores the hand-ins that it finds."""

    def __init__(self, job: Job, store: GitStore) -> None:
        self._job, self._store = job, store
        self._git = Git(job.protocols, job.max_bytes, job.seconds, job.host, job.token)

    def look(self, repository: Repository) -> Seen:
        """Look at a repository once; what is wrong with it is in what is returned, and stored."""
        seen = self._store.seen(repository)
        try:
            self._look(repository, seen)
            seen.unreached = ""
        except GitError as error:
            seen.unreached = str(error)
        except OSError as error:
            seen.unreached = f"can't be stored: {error.strerror or error}"
        self._store.see(repository, seen)
        return seen

    def _look(self, repository: Repository, seen: Seen) -> None:
        tip = self._git.tip(repository.remote, repository.branch)
        now = datetime.now(UTC)
        if not tip.commit:
            other = f"; its default branch is {printable(tip.default)}" if tip.default else ""
            still = ". What was handed in before is still there" if seen.commit else ""
            raise GitError(f"has no branch {repository.branch}{other}{still}")
        under = self._under()
        if tip.commit == seen.commit and seen.done and seen.under == under:
            seen.looked = now
            return
        before = seen.looked
        if tip.commit != seen.commit:
            seen.commit, seen.first, seen.done = tip.commit, now, False
            self._store.see(repository, seen)  # the time counts even if the fetch has to be repeated
        seen.problem = seen.note = ""
        with self._store.scratch() as folder:
            try:
                commit = self._git.fetch(repository.remote, repository.branch, folder, tip.commit)
                if commit != seen.commit:  # another push came between
                    seen.commit, seen.first = commit, datetime.now(UTC)
                self._take(repository, seen, folder, before)
            except UnusableCommit as error:  # this commit will never do
                seen.problem = str(error)
        seen.done, seen.under, seen.looked = True, under, now

    def _under(self) -> str:
        """Whatever may decide that a commit has no hand-in, so that it is looked at again when this changes."""
        job = self._job
        limits = (job.max_bytes, job.max_total_bytes, job.max_files)
        return hashlib.sha256(repr((limits, assignments_in(Path(job.source)))).encode()).hexdigest()[:16]

    def _take(self, repository: Repository, seen: Seen, folder: Path, before: datetime | None) -> None:
        trees = {
            assignment: tree
            for assignment, path in self._places(repository)
            if (tree := self._git.tree(folder, seen.commit, path))
        }
        problems, notes = [], []
        failed: GitError | None = None
        for assignment, tree in trees.items():
            try:
                if note := self._take_one(repository, assignment, tree, seen, folder, before):
                    notes.append(note)
            except UnusableCommit as error:
                problems.append(f"{assignment}: {error}" if not repository.assignment else str(error))
            except GitError as error:  # the others don't wait for it
                failed = failed or error
        seen.problem, seen.note = "; ".join(problems), "; ".join(notes)
        if failed is not None:
            raise failed
        problems += self._misplaced(repository, trees, seen.commit, folder)
        seen.problem = "; ".join(problems)
        if not trees and not problems:
            missing = repository.folder or "folder that is named like an assignment"
            seen.note = f"has no {missing} yet"

    def _misplaced(
        self, repository: Repository, found: Container[str], commit: str, folder: Path
    ) -> Iterator[str]:
        """For each assignment without a folder, what may be a hand-in for it and lies elsewhere."""
        places = dict(self._places(repository))
        missing = {name: place for name, place in places.items() if name not in found}
        if not missing:
            return
        taken = tuple(f"{place}/" for name, place in places.items() if name in found)
        try:
            entries = self._git.files(folder, self._git.tree(folder, commit), self._job.max_files)
        except UnusableCommit:
            return  # each folder for itself may do
        left = [entry for entry in entries if not os.fsdecode(entry.path).startswith(taken)]
        for name, place in missing.items():
            release = list((Path(self._job.release) / name).glob("*.ipynb"))
            released = {path.name.casefold() for path in release}
            contents = [content for path in release if (content := content_of(path)) is not None]
            untouched = {_blob_id(content, len(commit)) for content in contents}
            for entry in (each for each in left if each.blob not in untouched):
                path = PurePosixPath(os.fsdecode(entry.path))
                is_like = place.casefold() in (str(each).casefold() for each in (path, *path.parents))
                # other folders may be those of other students
                is_named = path.name.casefold() in released and (
                    not repository.folder or len(path.parts) == 1
                )
                if is_like or is_named:
                    reason = _why_not(entry) if str(path) == place else "is outside it"
                    yield f"{name}: hand-ins are in the folder {place}, and {printable(str(path))} {reason}"
                    break

    def _places(self, repository: Repository) -> Iterator[tuple[str, str]]:
        """The assignments that may be in a repository, with their folders."""
        if repository.assignment:
            yield repository.assignment, repository.folder
            return
        for name in assignments_in(Path(self._job.source)):
            yield name, f"{repository.folder}/{name}".lstrip("/")

    def _take_one(
        self,
        repository: Repository,
        assignment: str,
        tree: str,
        seen: Seen,
        folder: Path,
        before: datetime | None,
    ) -> str:
        """Store one hand-in; returns why there is none, if nothing is wrong."""
        earlier = self._store.of(repository.student, assignment)
        last = earlier[-1][1] if earlier else None
        if last is not None and last.tree == tree:
            return ""
        chosen = self._choose(self._git.files(folder, tree, self._job.max_files))
        notebooks = [name for name in chosen.files if is_notebook(name)]
        if not notebooks:
            left = next((f": {name} {reason}" for name, reason in chosen.left_out if is_notebook(name)), "")
            if left:
                raise UnusableCommit(f"has no notebook{left}")
            return f"{assignment}: no notebook yet"
        total = self._store.size_of(repository.student) + chosen.size
        if total > self._job.max_total_bytes:
            raise UnusableCommit(
                f"has sent {total // 10**6} MB in all, more than c.GitHandIns.max_total_megabytes: no more is fetched"
            )
        contents = dict(self._contents(folder, chosen))
        if is_untouched(Path(self._job.release) / assignment, contents):
            if letter := letter_in(contents):
                raise UnusableCommit(
                    f"has {letter} beside the notebook as it was handed out, so neither was handed in: push it with the answers"
                )
            return f"{assignment}: as it was handed out"
        assert seen.first is not None
        fetched = Fetched(
            repository.student,
            assignment,
            after(seen.first, last),
            chosen.size,
            before,
            seen.commit,
            tree,
            repository.remote,
            repository.branch,
            tuple(chosen.left_out),
        )
        self._store.add(fetched, contents.items())
        return ""

    def _choose(self, entries: Sequence[GitFile]) -> _Chosen:
        """Notebooks first, then other files, as far as the limits allow."""
        chosen, left = _Chosen(), self._job.max_bytes
        names: set[PurePosixPath] = set()
        ordered = sorted(entries, key=lambda entry: (not is_notebook(os.fsdecode(entry.path)), entry.path))
        for entry in ordered:
            reason = _why_not(entry)
            path = PurePosixPath(os.fsdecode(entry.path))
            if not reason and entry.size > left:
                reason = (
                    f"exceeds the {self._job.max_bytes / 10**6:g} MB of a hand-in, so it was not fetched."
                )
            if not reason and (path in names or any(folder in names for folder in path.parents)):
                reason = "has the name of another file, so it was not fetched."
            if reason:
                chosen.leave_out(entry.path, reason)
            else:
                names.add(path)
                chosen.files[str(path)] = entry
                left -= entry.size
        return chosen

    def _contents(self, folder: Path, chosen: _Chosen) -> Iterator[tuple[str, bytes]]:
        """The contents of the files, without the pointers of Git LFS.

        Raises:
            GitError: one can't be read.
            UnusableCommit: a notebook is a pointer.
        """
        for (name, _), (_, content) in zip(
            list(chosen.files.items()), self._git.read(folder, list(chosen.files.values())), strict=True
        ):
            if len(content) < _POINTER_BYTES and content.startswith(_POINTER):
                if is_notebook(name):
                    raise UnusableCommit(
                        f"has {printable(name)} in Git LFS, which is not fetched: take it out of LFS with "
                        "git lfs untrack, and push it again"
                    )
                chosen.leave_out(os.fsencode(name), "is in Git LFS, so it was not fetched.")
                continue
            yield name, content


def assignments_in(source: Path) -> list[str]:
    """The names of a course's assignments."""
    try:
        return sorted(
            entry.name for entry in os.scandir(source) if entry.is_dir() and entry.name[0] not in "._"
        )
    except OSError:
        return []


def _blob_id(content: bytes, length: int) -> str:
    """The id of a file with this content in a repository whose ids have this length."""
    kind = hashlib.sha256 if length == 64 else hashlib.sha1
    return kind(b"blob %d\0%b" % (len(content), content)).hexdigest()


def _why_not(entry: GitFile) -> str:
    """Why a file isn't fetched, as the end of a sentence that begins with its name; empty if it is."""
    if entry.mode == _LINK:
        return "is a link, so it was not fetched."
    if entry.mode == _SUBMODULE:
        return "is a submodule, so it was not fetched."
    if entry.size < 0 or not entry.mode.startswith("100"):
        return "isn't a file, so it was not fetched."
    parts = entry.path.split(b"/")
    if any(part in (b"", b".", b"..") or part.lower() == b".git" for part in parts):
        return "has a name that leads elsewhere, so it was not fetched."
    if any(len(part) > _NAME_BYTES for part in parts) or len(parts) > MAX_FOLDER_DEPTH:
        return "has a name that is too long, or too many folders above it, so it was not fetched."
    if os.fsdecode(entry.path).casefold() in (TIMESTAMP, SECRET):
        return "has a name that nbgrader uses itself, so it was not fetched."
    return ""
