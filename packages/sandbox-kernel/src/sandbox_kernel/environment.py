"""The environment variables and the files that a kernel starts with."""

import os
import shutil
import sys
import tarfile
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import IO, NamedTuple

#: variables that no setting may replace, since the kernel could then not find its home folder or Python's programs
FIXED = frozenset({"HOME", "TMPDIR", "PATH"})
_PASSED_ON = ("LANG", "LC_ALL", "TZ")


class WorkingFiles(NamedTuple):
    """Files and folders to copy into a kernel's home folder; if two have the same name, the later one counts.

    Files inside folders are not copied if they match a pattern in `left_out`. Links are followed, even to places
    outside the folder; broken links, and links back to a folder above them, are left out. The folders `hidden` hold what
    no kernel may see of where the files come from.
    """

    paths: Sequence[str] = ()
    left_out: Sequence[str] = ()
    hidden: Sequence[str] = ()


NO_FILES = WorkingFiles()


def clean_environment(home: Path, settings: Path) -> dict[str, str]:
    """Return the variables of a kernel; only language and time zone come from this process.

    Args:
        home: its home folder, which holds the user's files and nothing else.
        settings: where Jupyter, IPython and matplotlib find and keep theirs.
    """
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return environment | {
        "HOME": str(home),
        "TMPDIR": str(home),
        "USER": "user",
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"]),
        "IPYTHONDIR": str(settings / "ipython"),
        "JUPYTER_CONFIG_DIR": str(settings / "jupyter"),
        "MPLCONFIGDIR": str(settings / "matplotlib"),
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        # One thread: results don't depend on the number of cores, and kernels usually run in parallel anyway.
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        # torch.compile needs a C++ compiler, which the sandbox doesn't have; this runs the function uncompiled
        "TORCHDYNAMO_DISABLE": "1",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        # otherwise glibc returns the memory of each large array, and the system clears it for the next one
        "GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=33554432:glibc.malloc.trim_threshold=134217728",
    }


def font_lists() -> list[Path]:
    """Return matplotlib's cached font lists, which take seconds to build.

    They are where `matplotlib.get_cachedir` says; asking it would take half a second, for its import.
    """
    folder = os.environ.get("MPLCONFIGDIR")
    if not folder and sys.platform.startswith(("linux", "freebsd")):
        folder = os.path.join(
            os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "matplotlib"
        )
    return sorted(Path(folder or "~/.matplotlib").expanduser().resolve().glob("fontlist-*.json"))


def make_settings(settings: Path) -> None:
    """Create the folder of settings, with matplotlib's font lists."""
    (settings / "matplotlib").mkdir(parents=True)
    for cached in font_lists():
        shutil.copy(cached, settings / "matplotlib")


def make_home(home: Path, files: WorkingFiles) -> None:
    """Create the home folder, with copies of `files`."""
    home.mkdir(parents=True, exist_ok=True)
    for file in map(Path, files.paths):
        for source, place in _contents(file, files.left_out):
            if source.is_dir():
                (home / place).mkdir(exist_ok=True)
            else:
                shutil.copy(source, home / place)


def pack_home(stream: IO[bytes], files: WorkingFiles) -> None:
    """Write the contents that `make_home` would create to `stream`, as a tar archive."""
    with tarfile.open(fileobj=stream, mode="w", dereference=True) as archive:
        for file in map(Path, files.paths):
            for source, place in _contents(file, files.left_out):
                archive.add(source, place, recursive=False, filter=_without_owner)


def _contents(file: Path, left_out: Sequence[str]) -> Iterator[tuple[Path, Path]]:
    """Yield a file or folder and everything in it, each with its place in a kernel's home folder."""
    yield file, Path(file.name)
    if file.is_dir():
        yield from _inside(file, Path(file.name), left_out, frozenset())


def _inside(
    folder: Path, place: Path, left_out: Sequence[str], above: frozenset[str]
) -> Iterator[tuple[Path, Path]]:
    above |= {os.path.realpath(folder)}
    for name in sorted(os.listdir(folder)):
        found = folder / name
        if any(fnmatch(name, pattern) for pattern in left_out):
            continue
        if os.path.isfile(found):
            yield found, place / name
        elif os.path.isdir(found) and os.path.realpath(found) not in above:
            yield found, place / name
            yield from _inside(found, place / name, left_out, above)


def _without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member
