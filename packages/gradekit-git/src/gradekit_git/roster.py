"""The roster of `gradekit watch --git`: whose repository is where. A row with a mistake costs nobody else anything."""

import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from gradekit.course import CourseError
from gradekit.course.printing import first_of, printable
from gradekit_watch.course_settings import is_student_id, read_table

_NAMED_AT_MOST = 20
_COLUMNS = ("student", "remote", "assignment", "branch", "folder", "group")
#: as `git check-ref-format` has it
_BRANCH = re.compile(
    r"(?!-|@$)(?!.*(?:\.\.|//|/\.|@\{|\.lock(?:/|$)))(?![./])[^\x00-\x20\x7f~^:?*\[\\]{1,200}(?<![./])"
)
#: `user@host:path`, which Git reads as ssh
_LIKE_SCP = re.compile(r"(?:[\w.+-]+@)?(\w[\w.-]*):(?!/)(.+)", re.ASCII)


@dataclass(frozen=True)
class Repository:
    """Where the hand-ins of a student are.

    Args:
        assignment: that of all files in the folder; if empty, each folder in it that is named like one has one.
        folder: in the repository; empty for all of it.
    """

    student: str
    remote: str
    assignment: str
    branch: str
    folder: str = ""


@dataclass(frozen=True)
class BadRow:
    """A row that can't be used, and why."""

    row: int
    reason: str
    student: str = ""


def read_roster(
    path: Path, branch: str, protocols: Container[str], assignments: Container[str]
) -> tuple[list[Repository], list[BadRow]]:
    """The repositories in a CSV file with the columns student and remote, and the rows that can't be used.

    Args:
        branch: where the row has none.
        assignments: those of the course.

    Raises:
        CourseError: it can't be read, or has no such columns.
    """
    columns, rows = read_table(path)
    if not {"student", "remote"} <= set(columns) <= set(_COLUMNS):
        raise CourseError(
            f"the first line of {path} must name the columns student and remote, with commas between them, and may name "
            f"{', '.join(_COLUMNS[2:])}; it names {', '.join(map(printable, columns)) or 'nothing'}"
        )
    found: list[tuple[int, Repository, str]] = []
    bad: list[BadRow] = []
    for number, row in rows:
        values = {name: (row.get(name) or "").strip() for name in _COLUMNS}
        if not any(values.values()):
            continue
        place = values["branch"] or branch, values["folder"].strip("/")
        repository = Repository(values["student"], values["remote"], values["assignment"], *place)
        reason = "has more fields than columns" if None in row else ""
        if reason := reason or _problem(repository, protocols, assignments):
            bad.append(BadRow(number, reason, values["student"]))
        else:
            found.append((number, repository, values["group"]))
    bad += _conflicts(found)
    unusable = {row.row for row in bad}
    return [repository for number, repository, _ in found if number not in unusable], bad


def host_and_path(remote: str) -> tuple[str, str]:
    """The host of a remote, without user and port, and the path of the repository on it."""
    scp = None if "://" in remote else _LIKE_SCP.fullmatch(remote)
    host, path = (scp[1], scp[2]) if scp else (urlsplit(remote).hostname or "", urlsplit(remote).path)
    path = posixpath.normpath(f"/{unquote(path)}")
    return host.casefold().rstrip("."), path.strip("/").removesuffix(".git").rstrip("/")


def same_remote(remote: str) -> str:
    """A form in which remotes that lead to one repository are mostly equal, whatever their protocols."""
    host, path = host_and_path(remote)
    parts = urlsplit(remote) if remote.startswith(("http://", "https://")) else None
    port = f":{parts.port}" if parts and parts.port not in (None, 80, 443) else ""  # ssh has one of its own
    return f"{host}{port}/{path}".casefold()


def _problem(repository: Repository, protocols: Container[str], assignments: Container[str]) -> str:
    student, remote = repository.student, repository.remote
    if not student:
        return "has no student"
    if not is_student_id(student):
        return "has a student's name that nbgrader can't handle"
    if repository.assignment and repository.assignment not in assignments:
        return f"is for {printable(repository.assignment)}, which is no assignment of the course"
    if not _BRANCH.fullmatch(repository.branch):
        return f"has a branch that Git doesn't allow: {printable(repository.branch)}"
    parts = PurePosixPath(repository.folder).parts
    if ".." in parts or ".git" in parts or not repository.folder.isprintable():
        return f"has a folder outside of the repository: {printable(repository.folder)}"
    return _problem_of_remote(remote, protocols)


def _problem_of_remote(remote: str, protocols: Container[str]) -> str:
    if not remote:
        return "has no remote"
    if remote.startswith("-") or not remote.isprintable() or " " in remote or "::" in remote:
        hint = ". Write each space in it as %20" if " " in remote else ""
        return f"has a remote that isn't an address: {printable(remote)}{hint}"
    try:
        parts = urlsplit(remote)
        host, password, _ = parts.hostname, parts.password, parts.port
    except ValueError:
        return f"has a remote that isn't an address: {printable(remote)}"
    if "://" not in remote:
        scp = _LIKE_SCP.fullmatch(remote)
        protocol, host = ("ssh", scp[1]) if scp else ("file", "")
    else:
        protocol = parts.scheme
    if password is not None or (parts.username and protocol in ("http", "https")):
        return "has a password or token in its remote, where others may see it: use c.GitHandIns.token_file"
    if protocol not in protocols:
        return f"has a remote whose protocol, {printable(protocol)}, is not in c.GitHandIns.protocols"
    if protocol != "file" and (not host or host.startswith("-")):
        return f"has a remote without a host: {printable(remote)}"
    return ""


def _conflicts(found: Iterable[tuple[int, Repository, str]]) -> list[BadRow]:
    """Rows of which it isn't clear whose work they lead to: none of them is used."""
    places: dict[tuple[str, ...], list[tuple[int, Repository, str]]] = defaultdict(list)
    rows_of: dict[str, list[tuple[int, Repository, str]]] = defaultdict(list)
    for entry in found:
        _, repository, _ = entry
        places[same_remote(repository.remote), repository.branch].append(entry)
        rows_of[repository.student].append(entry)
    bad = []
    for entries in places.values():
        at: dict[PurePosixPath, set[tuple[str, str]]] = defaultdict(set)
        under: dict[PurePosixPath, set[tuple[str, str]]] = defaultdict(set)
        for _, repository, group in entries:
            folder = PurePosixPath(repository.folder)
            at[folder].add((repository.student, group))
            for each in (folder, *folder.parents):
                under[each].add((repository.student, group))
        # Found once for each folder, since a whole class may share it by mistake.
        others_at: dict[tuple[PurePosixPath, str], list[str]] = {}
        for number, repository, group in entries:
            folder = PurePosixPath(repository.folder)
            if (folder, group) not in others_at:
                near = under[folder].union(*(at[each] for each in folder.parents if each in at))
                names = {name for name, its in near if not (group and group == its)}
                others_at[folder, group] = sorted(names)
            others = others_at[folder, group]
            if others not in ([], [repository.student]):
                all_names = others if repository.student in others else sorted([*others, repository.student])
                reason = (
                    f"has the same remote as others ({first_of(all_names, _NAMED_AT_MOST)}): if they "
                    "work together, give all of these rows the same name in a column group; if not, each needs a folder of its own"
                )
                bad.append(BadRow(number, reason, repository.student))
    for entries in rows_of.values():
        rows_for = Counter(repository.assignment for _, repository, _ in entries)
        for number, repository, _ in entries:
            if len(entries) > 1 and ("" in rows_for or rows_for[repository.assignment] > 1):
                reason = "is not the only one for this student and assignment: keep one"
                bad.append(BadRow(number, reason, repository.student))
    return bad
