"""Recognizes the notebooks of an assignment under other names: `attention (1).ipynb`, `attention-final.ipynb`."""

import contextlib
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path, PurePath

from gradekit.course import Assignment
from gradekit.course.cells import grade_id
from gradekit.course.files import written_at
from gradekit.course.printing import printable
from gradekit.submission.extra_files import SECRET, TIMESTAMP

#: what browsers, Canvas and Moodle append to a name that exists already: `-1`, ` (1)`
_COPY = re.compile(r"(?:-(\d+)|[ _]*\((\d+)\))$")
#: `.IPYNB`, and endings that browsers and editors add to an unknown one: `.ipynb.txt`
_ENDING = re.compile(r"\.ipynb(?:\.(?:txt|json))?$", re.IGNORECASE)


#: levels of folders, and entries of each, among which a notebook is looked for; folders that a sentence names
_NESTED_AT_MOST, _ENTRIES_AT_MOST, _SHOWN = 3, 500, 5


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
    for stem, paths in stems.items():
        ids = frozenset[str]().union(*map(ids_in, paths))
        notebook = _by_ids(ids, expected)
        if not notebook and (not ids or ids & _every(expected)):  # otherwise it is of another assignment
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
    return {
        name: frozenset(filter(None, map(grade_id, assignment.released(name).cells)))
        for name in assignment.released_names()
    }


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

    Args:
        newest: if there is an `a.ipynb` that is older, rename that as well, to `a (1).ipynb`. By default it stays.
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

    If it isn't clear which folder it is, nothing is moved, and the sentence names them.

    Args:
        folder: of the submission.
        expected: the names of the notebooks.
    """
    if folder.is_symlink() or any(is_notebook(path.name) for path in folder.glob("[!.]*")):
        return []
    found = {place: _stems(place) for place in _folders_in(folder)}
    found = {place: stems for place, stems in found.items() if stems}
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
        level = [
            path
            for above in level
            for path in islice(above.glob("[!._]*"), _ENTRIES_AT_MOST)
            if path.is_dir() and not path.is_symlink()
        ]
        yield from level


def _stems(folder: Path) -> set[str]:
    names = (path.name for path in islice(folder.glob("[!.]*"), _ENTRIES_AT_MOST) if path.is_file())
    return {_ENDING.sub("", name).casefold() for name in names if is_notebook(name)}


def _every(expected: Mapping[str, Set[str]]) -> Set[str]:
    return frozenset[str]().union(*expected.values())


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
