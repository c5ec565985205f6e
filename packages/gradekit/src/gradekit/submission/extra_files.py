"""The files of a submission: those that nbgrader can't copy or read, and notebooks under other names.

The first are set aside before nbgrader tries.

They are moved to the same path below `.gradekit/set_aside` in the course folder. A record next to them stores the
reasons, so that the next grading reports them again.
"""

import contextlib
import os
import re
import secrets
import shutil
import stat
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path, PurePath

from nbformat import NotebookNode
from nbgrader.utils import parse_utc

from gradekit.course import Assignment
from gradekit.course.cells import grade_id
from gradekit.course.files import (
    STATE_FOLDER,
    beside_notebooks,
    file_stamp,
    notebooks_in,
    read_json,
    write_json,
    written_at,
)
from gradekit.course.printing import printable

TIMESTAMP = "timestamp.txt"
#: written by nbgrader's exchange, which names feedback after it
SECRET = "submission_secret.txt"
MAX_ENTRIES = 2_000
MAX_FOLDER_DEPTH = 20
_MAX_TIMESTAMP_BYTES = 1024
_YEARS = range(1990, 2200)
#: strict, since nbgrader reads the third word as a time zone, and opens the file of that name
_TIMESTAMP = re.compile(r"(?=.*\d{4})(?!.*(?:\.\.|\s/))[\w:.,+ -]{4,80}(/\w+)*", re.ASCII)
#: a day and a month in an order that nobody can know, or an offset that nbgrader reads as seconds
_AMBIGUOUS = re.compile(r"\d\d?[.-]\d\d?[.-]\d\d.*|\S+\s+\S+\s+[+-]\d.*")
#: a notebook that other code may open
MAX_OPENED_BYTES = 20 * 2**20
#: in code that runs, imports or reads notebooks
OPENS_NOTEBOOKS = re.compile(r"ipynb|importnb|nbimport", re.IGNORECASE)
_NAMED_AT_MOST = 5
_RECORDED_AT_MOST = 100
_TOO_MANY = f"holds a folder of more than {MAX_ENTRIES:,} files, so it was set aside and not copied."
_TOO_DEEP = f"is nested more than {MAX_FOLDER_DEPTH} folders deep, so it was set aside and not copied."
_BEYOND = (_TOO_MANY, _TOO_DEEP)
_KINDS = {
    stat.S_ISLNK: "a link",
    stat.S_ISFIFO: "a pipe",
    stat.S_ISSOCK: "a socket",
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
}
#: what browsers, Canvas and Moodle append to a name that exists already: `-1`, ` (1)`
_COPY = re.compile(r"(?:-(\d+)|[ _]*\((\d+)\))$")
#: `.IPYNB`, and endings that browsers and editors add to an unknown one: `.ipynb.txt`
_ENDING = re.compile(r"\.ipynb(?:\.(?:txt|json))?$", re.IGNORECASE)
#: levels of folders, and entries of each, among which a notebook is looked for; folders that a sentence names
_NESTED_AT_MOST, _ENTRIES_AT_MOST, _SHOWN = 3, 500, 5


class NotATime(ValueError):
    """A timestamp can't be read. The message continues the name of the file."""


class StuckError(OSError):
    """A file could not be set aside, so nbgrader must not touch the submission."""


def own_files(folder: Path, left_out: Sequence[str]) -> tuple[Path, ...]:
    """Files and folders that students have put beside their notebooks, and that their code may open or import.

    Call it after `ExtraFiles.set_aside`. Those that match a pattern in `left_out` are not copied by nbgrader either.
    """
    return tuple(path for path in beside_notebooks(folder, left_out) if path.name not in (TIMESTAMP, SECRET))


def own_notebooks(folder: Path, cells: Iterable[NotebookNode], own: Sequence[Path]) -> tuple[Path, ...]:
    """The notebooks as they were handed in, if the code mentions notebooks: it may run, import or read them.

    Args:
        folder: with the submission. The notebooks in autograded/ have hidden tests.
        cells: the code.
        own: the `own_files`.
    """
    modules = (path.read_text(errors="replace") for path in own if path.suffix == ".py" and path.is_file())
    code = chain((cell.source for cell in cells if cell.cell_type == "code"), modules)
    if not any(map(OPENS_NOTEBOOKS.search, code)):
        return ()
    files = (path for path in notebooks_in(folder) if path.is_file() and not path.is_symlink())
    return tuple(path for path in files if path.stat().st_size <= MAX_OPENED_BYTES)


def handed_out_files(source: Path) -> frozenset[PurePath]:
    """The files in an assignment's source folder, which nbgrader copies over a submission."""
    return frozenset(path.relative_to(source) for path in source.rglob("*") if path.is_file())


@dataclass
class ExtraFiles:
    """The files in a submission folder other than notebooks. Bad ones are moved to the folder `aside`."""

    folder: Path
    aside: Path
    handed_out: frozenset[PurePath] = frozenset()
    max_bytes: int = 100_000_000

    @classmethod
    def in_course(
        cls, root: Path, folder: Path, handed_out: frozenset[PurePath] = frozenset()
    ) -> "ExtraFiles":
        inside = folder.relative_to(root) if folder.is_relative_to(root) else Path(*folder.parts[1:])
        return cls(folder, root / STATE_FOLDER / "set_aside" / inside, handed_out)

    def set_aside(self) -> list[str]:
        """Move files away that nbgrader can't read, and return the `notes`.

        Raises:
            StuckError: a file can't be moved.
        """
        if self.folder.is_symlink() or not self.folder.is_dir():
            return []
        reasons = self._recorded()
        before = dict(reasons)
        for path, reason in list(self._odd()):
            self._move(path)
            self._replace(path)
            if len(reasons) < _RECORDED_AT_MOST:
                reasons[str(path.relative_to(self.folder))] = reason
        if reasons != before:
            write_json(self._record_path, reasons)
        return _in_sentences(reasons)

    def note(self, reasons: Mapping[str, str]) -> list[str]:
        """Record files that were handed in and never copied here, by their names; returns the `notes`."""
        every = dict(islice({**reasons, **self._recorded()}.items(), _RECORDED_AT_MOST))
        write_json(self._record_path, every)
        return _in_sentences(every)

    def notes(self) -> list[str]:
        """Sentences about files that were set aside earlier; at most a few."""
        return _in_sentences(self._recorded())

    def _odd(self) -> Iterator[tuple[Path, str]]:
        entries = size = 0
        for top in sorted(os.scandir(self.folder), key=lambda entry: entry.name):
            if top.name.endswith(".ipynb") and not top.name.startswith("."):
                continue  # nbgrader does not copy notebooks, and we read them with care
            path = Path(top.path)
            found = list(self._odd_in(path, PurePath(top.name), 0))
            if beyond := next((why for odd, why in found if odd == path and why in _BEYOND), None):
                yield path, beyond
                continue
            count, total = _extent(path)
            total -= sum(_size(odd) for odd, _ in found)
            if entries + count > MAX_ENTRIES or size + total > self.max_bytes:
                yield path, "exceeds the limits on files handed in with a notebook, so it was set aside."
            else:
                entries, size = entries + count, size + total
                yield from found

    def _odd_in(self, path: Path, name: PurePath, depth: int) -> Iterator[tuple[Path, str]]:
        if reason := self._reason(path, name):
            yield path, reason
        elif path.is_dir():
            with os.scandir(path) as inside:
                for count, entry in enumerate(inside):
                    if count > MAX_ENTRIES or depth > MAX_FOLDER_DEPTH:
                        yield self.folder / name.parts[0], _TOO_MANY if count > MAX_ENTRIES else _TOO_DEEP
                        return
                    yield from self._odd_in(Path(entry.path), name / entry.name, depth + 1)

    def _reason(self, path: Path, name: PurePath) -> str:
        mode = path.lstat().st_mode
        is_folder = stat.S_ISDIR(mode)
        if kind := next((kind for is_kind, kind in _KINDS.items() if is_kind(mode)), ""):
            return f"is {kind}, so it was set aside."
        if is_folder and (name in self.handed_out or str(name) in (TIMESTAMP, SECRET)):
            return "is a folder where a file belongs, so it was set aside."
        if not is_folder and any(name in path.parents for path in self.handed_out):
            return "is a file where a folder belongs, so it was set aside."
        if not os.access(path, os.R_OK | (os.X_OK if is_folder else 0)):
            return "has no read permission, so it was set aside."
        if str(name) == TIMESTAMP:
            try:
                _parsed(path)
            except NotATime as error:
                return f"{error}, so it was set aside, and the time of submission is unknown."
        if not is_folder and path.lstat().st_size > self.max_bytes:
            return f"is {path.lstat().st_size // 10**6:,} MB large, so it was set aside and not copied."
        if str(name) == SECRET and path.lstat().st_size > _MAX_TIMESTAMP_BYTES:
            return "isn't what nbgrader wrote, so it was set aside."
        return ""

    def _move(self, path: Path) -> None:
        target = self.aside / path.relative_to(self.folder)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.is_dir() and not target.is_symlink():
                shutil.rmtree(target)
            else:
                target.unlink(missing_ok=True)
            os.rename(path, target)
        except OSError as error:
            if not os.path.lexists(path):
                return  # another command has moved it
            raise StuckError(
                f"{printable(str(path))} can't be set aside ({error.strerror}): remove it yourself"
            ) from error

    def _replace(self, path: Path) -> None:
        """Replace a file without which nbgrader could not release feedback."""
        if path == self.folder / TIMESTAMP:
            path.touch()  # nbgrader reads an empty file as an unknown time
        elif path == self.folder / SECRET:
            path.write_text(secrets.token_hex(64))

    @property
    def _record_path(self) -> Path:
        return self.aside.with_name(f"{self.aside.name}.json")

    def _recorded(self) -> dict[str, str]:
        """The reasons from earlier runs, unless the notebook has been handed in again since, or the time put right."""
        try:
            when = self._record_path.stat().st_mtime_ns
            if any(path.lstat().st_ctime_ns > when for path in notebooks_in(self.folder)):
                return {}
            reasons = read_json(self._record_path, dict[str, str]) or {}
            return {
                name: reasons[name]
                for name in reasons
                if name != TIMESTAMP or not time_handed_in(self.folder)
            }
        except OSError:
            return {}


def _in_sentences(reasons: Mapping[str, str]) -> list[str]:
    lines = [f"{printable(name, 80)} {reason}" for name, reason in reasons.items()]
    rest = ["More files were set aside."] if len(lines) > _NAMED_AT_MOST else []
    return lines[:_NAMED_AT_MOST] + rest


def time_handed_in(folder: Path) -> datetime | None:
    """The time in a folder's timestamp, in UTC; None if there is none, or it can't be read."""
    with contextlib.suppress(NotATime, OSError):
        return _parsed(folder / TIMESTAMP)
    return None


def _parsed(path: Path) -> datetime | None:
    """The time in a file; None if it is empty, as in nbgrader."""
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode):
        raise NotATime("isn't a file")
    if found.st_size > _MAX_TIMESTAMP_BYTES:
        raise NotATime(f"is {found.st_size:,} bytes long, too long for a time")
    text = path.read_bytes().decode("ascii", errors="replace").strip()
    return time_in(text) if text else None


def time_in(text: str) -> datetime:
    """The time in a text, in UTC.

    Raises:
        NotATime: nbgrader could not read it, or would open a file to do so.
    """
    if not _TIMESTAMP.fullmatch(text):
        raise NotATime("isn't a time")
    if _AMBIGUOUS.match(text):
        raise NotATime("can be read as more than one time")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about names of time zones
            time: datetime = parse_utc(text)
    except Exception:  # dateutil raises errors of many types
        raise NotATime("isn't a time") from None
    if time.year not in _YEARS:
        raise NotATime("has a year out of range")
    return time


def _extent(path: Path) -> tuple[int, int]:
    """The number of entries in a tree, and their size in bytes."""
    if path.is_symlink() or not path.is_dir():
        return 1, _size(path)
    count = total = 0
    for folder, folders, files in os.walk(path):
        count += len(folders) + len(files)
        total += sum(_size(Path(folder, file)) for file in files)
        if count > MAX_ENTRIES:
            break
    return count + 1, total


def _size(path: Path) -> int:
    found = path.lstat()
    return found.st_size if stat.S_ISREG(found.st_mode) else 0


@dataclass
class Recognized:
    """The notebooks that were recognized among the files of one student.

    Args:
        notebooks: the files that may be each notebook, copies of one name; the newest of them counts.
        unclear: files with different names that may be the same notebook.
        others: files that aren't notebooks of the assignment, or further versions of one that exists under its own name.
    """

    notebooks: dict[str, list[Path]] = field(default_factory=dict)
    unclear: dict[str, list[Path]] = field(default_factory=dict)
    others: list[Path] = field(default_factory=list)


def recognize(
    names: Mapping[Path, str],
    expected: Mapping[str, Set[str]],
    ids_in: Callable[[Path], Set[str]],
    trusting: bool = False,
) -> Recognized:
    """Find the expected notebooks among files: by name, then by the grade_ids inside, then by a similar name.

    Args:
        names: the files, and the names that the student gave them.
        expected: the grade_ids of each notebook of the assignment.
        ids_in: reads the grade_ids in a file; not called for a file with an expected name.
        trusting: if there is only one file and only one notebook is expected, take it, whatever its name.
    """
    found = Recognized()
    known = {name.casefold(): name for name in expected}
    stems: dict[str, list[Path]] = defaultdict(list)
    for path, name in names.items():
        stem, _ = stem_and_copy(name, expected)
        stems[stem.casefold()].append(path)
    for stem in stems.keys() & known.keys():
        found.notebooks[known[stem]] = stems.pop(stem)
    claimed: dict[str, list[str]] = defaultdict(list)
    every = frozenset[str]().union(*expected.values())
    for stem, paths in stems.items():
        ids = frozenset[str]().union(*map(ids_in, paths))
        notebook = _by_ids(ids, expected)
        if not notebook and (not ids or ids & every):  # otherwise it is of another assignment
            only = trusting and len(expected) == len(stems) == 1 and not found.notebooks
            notebook = _by_name(stem, expected) or (next(iter(expected)) if only else None)
        if notebook and notebook not in found.notebooks:
            claimed[notebook].append(stem)
        else:
            found.others += paths
    for notebook, several in claimed.items():
        paths = [path for stem in several for path in stems[stem]]
        (found.notebooks if len(several) == 1 else found.unclear)[notebook] = paths
    return found


def expected_in(assignment: Assignment) -> dict[str, frozenset[str]]:
    """The grade_ids of each released notebook of an assignment.

    Raises:
        CourseError: one of them is damaged.
    """
    files = {name: assignment.release_folder / f"{name}.ipynb" for name in assignment.released_names()}
    return {name: _grade_ids_in(assignment, name, file_stamp(file)) for name, file in files.items()}


@lru_cache(64)
def _grade_ids_in(assignment: Assignment, name: str, stamp: object) -> frozenset[str]:
    """Those of a released notebook, which is read again when its stamp has changed."""
    return frozenset(filter(None, map(grade_id, assignment.released(name).cells)))


def stem_and_copy(name: str, expected: Iterable[str]) -> tuple[str, int]:
    """The name of a file without its ending and the number of the copy, and that number, from 0.

    A number that belongs to the name of an expected notebook stays.
    """
    stem = _ENDING.sub("", PurePath(name).name)
    known, copy = {name.casefold() for name in expected}, 0
    while stem.casefold() not in known and (match := _COPY.search(stem)) and match.start():
        copy = int(match[1] or match[2])
        stem = stem[: match.start()]
    return stem, copy


def is_notebook(name: str) -> bool:
    """True for `.ipynb`, and for endings that browsers and editors turn it into."""
    return bool(_ENDING.search(name))


def right_endings(files: Iterable[Path], newest: bool = False) -> list[tuple[Path, Path]]:
    """Rename `a.ipynb.txt` and `a.IPYNB` to `a.ipynb`, which nbgrader reads; returns old and new paths.

    With `newest`, an older `a.ipynb` is renamed as well, to `a (1).ipynb`. By default it stays.
    """
    renamed = []
    for path in sorted(files):
        if path.suffix != ".ipynb" and is_notebook(path.name) and path.is_file() and not path.is_symlink():
            right, count = path.with_name(_ENDING.sub(".ipynb", path.name)), 0
            free = right
            while free.exists():
                count += 1
                free = path.with_name(_ENDING.sub(f" ({count}).ipynb", path.name))
            with contextlib.suppress(OSError):  # in a folder that can't be written, it keeps its name
                if newest and free != right and written_at(path.stat()) > written_at(right.stat()):
                    renamed.append((right, right.rename(free)))
                    free = right
                renamed.append((path, path.rename(free)))
    return renamed


def put_endings_right(folder: str, newest: bool = False) -> list[str]:
    """Like `right_endings`, in one submission folder; returns a sentence for each file."""
    place = Path(folder)
    return [
        f"{printable(str(old))} was renamed to {printable(new.name)}."
        for old, new in right_endings([] if place.is_symlink() else place.glob("*"), newest)
    ]


def move_up(folder: Path, expected: Iterable[str]) -> list[str]:
    """Move the files of a submission up that lie in a folder inside it, as many zip files unpack; returns a sentence.

    If it isn't clear which folder it is, nothing is moved, and the sentence names them. `expected` are notebooks' names.
    """
    if folder.is_symlink() or any(is_notebook(path.name) for path in folder.glob("[!.]*")):
        return []
    found = {place: stems for place in _folders_in(folder) if (stems := _stems(place))}
    named = {place for place, stems in found.items() if stems & {name.casefold() for name in expected}}
    places = sorted(named or found)
    shown = [printable(str(place.relative_to(folder))) for place in places]
    where = printable(str(folder))
    if len(places) > 1:
        return [
            f"{where} has no notebook, but the folders {', '.join(shown[:_SHOWN])} in it have: move the right one's files up."
        ]
    for place in places:
        for path in place.iterdir():
            if not os.path.lexists(folder / path.name) and path.name not in (TIMESTAMP, SECRET):
                with contextlib.suppress(OSError):  # in a folder that can't be written, it stays
                    path.rename(folder / path.name)
    return [f"{where} has its notebook in the folder {shown[0]}; its files were moved up."] if places else []


def _folders_in(folder: Path) -> Iterator[Path]:
    """The folders in a submission that may be the submission itself, without hidden ones and those of archivers."""
    level = [folder]
    for _ in range(_NESTED_AT_MOST):
        entries = [path for above in level for path in islice(above.glob("[!._]*"), _ENTRIES_AT_MOST)]
        level = [path for path in entries if path.is_dir() and not path.is_symlink()]
        yield from level


def _stems(folder: Path) -> set[str]:
    names = (path.name for path in islice(folder.glob("[!.]*"), _ENTRIES_AT_MOST) if path.is_file())
    return {_ENDING.sub("", name).casefold() for name in names if is_notebook(name)}


def _by_ids(ids: Set[str], expected: Mapping[str, Set[str]]) -> str | None:
    shared = {name: len(ids & wanted) for name, wanted in expected.items()}
    most = max(shared.values(), default=0)
    best = [name for name, count in shared.items() if count == most]
    return best[0] if most and len(best) == 1 else None


def _by_name(stem: str, expected: Iterable[str]) -> str | None:
    """The notebook whose name is in the stem, as separate words; the longest, if there are several."""
    found = [name for name in expected if _pattern(name).search(stem)]
    return max(found, key=len, default=None)


def _pattern(name: str) -> re.Pattern[str]:
    words = r"[\W_]*".join(map(re.escape, re.findall(r"[^\W_]+", name.casefold())))
    after = r"(?![^\W_])" if name[-1:].isdigit() else r"(?![^\W\d_])"
    return re.compile(rf"(?<![^\W_]){words}{after}" if words else r"(?!)")
