"""The kernels that submissions can run in.

Separate from `gradekit.session`, since the command line needs these names before it imports anything large.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from gradekit.course import CourseError
from sandbox_kernel import COLD as COLD
from sandbox_kernel import LIMITED as LIMITED
from sandbox_kernel import SANDBOX as SANDBOX

#: values of `--sandbox`
BUBBLEWRAP, NONE = "bubblewrap", "none"
KERNELS = {BUBBLEWRAP: SANDBOX, NONE: LIMITED}


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
