"""The kernels that submissions can run in, and the large libraries that they import early.

Separate from `gradekit.session`, since the command line needs these names before it imports anything large.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from gradekit.course import Assignment, CourseError
from sandbox_kernel import COLD as COLD
from sandbox_kernel import LIMITED as LIMITED
from sandbox_kernel import SANDBOX as SANDBOX

#: values of `--sandbox`
BUBBLEWRAP, NONE = "bubblewrap", "none"
KERNELS = {BUBBLEWRAP: SANDBOX, NONE: LIMITED}
LIBRARIES = ("torch", "matplotlib", "pandas", "seaborn")
#: also in a notebook's JSON
_USED = re.compile(rf"(?:\b(?:import|from)\b|%)[^\n\\]*?\b({'|'.join(LIBRARIES)})\b")
_NUMPY = re.compile(r"def arrays\(\)[^\n]*:\n\s+return [\"']numpy[\"']")


@cache
def require_kernel(name: str) -> None:
    """Raise CourseError if the kernel `name` is not installed."""
    if not is_installed(name):
        raise CourseError(
            f"c.RunChecks.student_kernel names the kernel `{name}`, which is not installed: "
            "`jupyter kernelspec list` shows those that are"
        )


def is_installed(name: str) -> bool:
    """True if there is a kernelspec `name`."""
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    try:
        KernelSpecManager().get_kernel_spec(name)
    except (NoSuchKernel, ValueError):  # ValueError: no kernelspec can have that name
        return False
    return True


def other_language(metadata: Mapping[str, Any]) -> str:
    """The kernelspec of a notebook that is not in Python, from the notebook's metadata; empty if it is in Python."""
    spec, info = metadata.get("kernelspec") or {}, metadata.get("language_info") or {}
    from jupyter_client.kernelspec import KernelSpecManager

    name = str(spec.get("name") or "")
    language = spec.get("language") or info.get("name")
    if name and not language and is_installed(name):
        language = KernelSpecManager().get_kernel_spec(name).language
    return name if name and language and "python" not in str(language).lower() else ""


def libraries_of(assignments: Iterable[Assignment]) -> set[str]:
    """The `LIBRARIES` that the notebooks, checks and other files of these assignments import.

    Hidden checks need torch, too, unless their `conftest.py` says that they work with NumPy's arrays.
    """
    found: set[str] = set()
    for assignment in assignments:
        checks = list(assignment.checks.rglob("*.py"))
        folders = (assignment.source_folder, assignment.release_folder)
        beside = [path for folder in folders for kind in ("*.ipynb", "*.py") for path in folder.rglob(kind)]
        files = [path for path in (*beside, *checks, *assignment.conftests) if path.is_file()]
        text = "\n".join(path.read_text(errors="replace") for path in files)
        found.update(_USED.findall(text))
        if checks and not _NUMPY.search(text):
            found.add("torch")
    return found


def modules_for(libraries: Iterable[str]) -> list[str]:
    """What the server of kernels imports for notebooks that use these libraries: `MODULES` without the others."""
    from sandbox_kernel.start import MODULES  # not on Windows

    others = set(LIBRARIES) - set(libraries)
    return [*({"pandas"} - others), *(name for name in MODULES if others.isdisjoint(name.split(".")))]
