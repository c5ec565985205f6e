"""The environment variables and the scratch folder that a student kernel starts with."""

import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

_PASSED_ON = ("LANG", "LC_ALL", "TZ", "NBGRADER_EXECUTION")


def clean_environment(home: Path) -> dict[str, str]:
    """Variables for a kernel whose home and working folder is `home`: none of the grader's own."""
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return environment | {
        "HOME": str(home),
        "TMPDIR": str(home),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"]),
        "IPYTHONDIR": str(home / ".ipython"),
        "JUPYTER_CONFIG_DIR": str(home / ".jupyter"),
        "MPLCONFIGDIR": str(home / ".matplotlib"),
        # One thread: results don't depend on the number of cores, and a class is graded in parallel anyway.
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }


def make_home(home: Path, files: Iterable[str] = ()) -> None:
    """Create the scratch folder, with copies of `files`.

    matplotlib's font list goes with them, because it takes seconds to make anew.
    """
    import matplotlib

    (home / ".matplotlib").mkdir(parents=True)
    for cached in Path(matplotlib.get_cachedir()).glob("fontlist-*.json"):
        shutil.copy(cached, home / ".matplotlib")
    for file in map(Path, files):
        if file.is_dir():
            shutil.copytree(file, home / file.name)
        else:
            shutil.copy(file, home)
