"""The environment variables and the files that a kernel starts with."""

import os
import shutil
import sys
import tarfile
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import IO, NamedTuple

#: variables that no setting may replace: the kernel could not find its home folder or Python's programs
FIXED = frozenset({"HOME", "TMPDIR", "PATH"})
_PASSED_ON = ("LANG", "LC_ALL", "TZ")


class WorkingFiles(NamedTuple):
    """Files and folders to copy into a kernel's home folder; of two with the same name, the later one counts.

    What is in a folder and matches one of the patterns `left_out` is not copied.
    """

    paths: Sequence[str] = ()
    left_out: Sequence[str] = ()


NO_FILES = WorkingFiles()


def clean_environment(home: Path) -> dict[str, str]:
    """Return the variables of a kernel whose home folder is `home`; only language and time zone come from this process."""
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return environment | {
        "HOME": str(home),
        "TMPDIR": str(home),
        "USER": "user",
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"]),
        "IPYTHONDIR": str(home / ".ipython"),
        "JUPYTER_CONFIG_DIR": str(home / ".jupyter"),
        "MPLCONFIGDIR": str(home / ".matplotlib"),
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
    """Return matplotlib's cached font lists, which take seconds to build; empty without matplotlib."""
    try:
        import matplotlib
    except ImportError:
        return []
    return sorted(Path(matplotlib.get_cachedir()).glob("fontlist-*.json"))


def make_home(home: Path, files: WorkingFiles) -> None:
    """Create the home folder, with copies of `files`."""
    (home / ".matplotlib").mkdir(parents=True)
    for cached in font_lists():
        shutil.copy(cached, home / ".matplotlib")
    for file in map(Path, files.paths):
        if file.is_dir():
            leave_out = shutil.ignore_patterns(*files.left_out)
            shutil.copytree(file, home / file.name, dirs_exist_ok=True, ignore=leave_out)
        else:
            shutil.copy(file, home)


def pack_home(stream: IO[bytes], files: WorkingFiles) -> None:
    """Write the contents that `make_home` would create to `stream`, as a tar archive."""

    def chosen(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        folder, _, name = member.name.rpartition("/")
        left_out = folder and any(fnmatch(name, pattern) for pattern in files.left_out)
        return None if left_out else _without_owner(member)

    with tarfile.open(fileobj=stream, mode="w", dereference=True) as archive:  # what a link leads to
        for cached in font_lists():
            archive.add(cached, f".matplotlib/{cached.name}", filter=_without_owner)
        for file in map(Path, files.paths):
            archive.add(file, file.name, filter=chosen)


def _without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member
