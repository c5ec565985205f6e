"""The environment variables and the files that a kernel starts with."""

import os
import shutil
import sys
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO

_PASSED_ON = ("LANG", "LC_ALL", "TZ")


def clean_environment(home: Path) -> dict[str, str]:
    """Variables for a kernel whose home and working folder is `home`: none of this process's own, except for the language and the time zone."""
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
        # One thread: results don't depend on the number of cores, and several kernels run side by side anyway.
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        # torch.compile needs a C++ compiler, which the sandbox has not; without it the function runs as written.
        "TORCHDYNAMO_DISABLE": "1",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        # glibc would give the memory of each large tensor back, and have the system clear it anew for the next one
        "GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=33554432:glibc.malloc.trim_threshold=134217728",
    }


def font_lists() -> list[Path]:
    """matplotlib's cached list of the fonts here, which takes seconds to make; empty without matplotlib."""
    try:
        import matplotlib
    except ImportError:
        return []
    return sorted(Path(matplotlib.get_cachedir()).glob("fontlist-*.json"))


def make_home(home: Path, files: Iterable[str] = ()) -> None:
    """Create the scratch folder, with copies of `files`."""
    (home / ".matplotlib").mkdir(parents=True)
    for cached in font_lists():
        shutil.copy(cached, home / ".matplotlib")
    for file in map(Path, files):
        if file.is_dir():
            shutil.copytree(file, home / file.name)
        else:
            shutil.copy(file, home)


def pack_home(stream: IO[bytes], files: Iterable[str] = ()) -> None:
    """Write what `make_home` would create into `stream`, as a tar archive."""
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for cached in font_lists():
            archive.add(cached, f".matplotlib/{cached.name}", filter=_belonging_to_nobody)
        for file in map(Path, files):
            archive.add(file, file.name, filter=_belonging_to_nobody)


def _belonging_to_nobody(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member
