"""The kernels that submissions can run in.

Separate from `gradekit.session`, since the command line needs these names before it imports anything large.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from traitlets.config import Config

from gradekit.course import CourseError
from sandbox_kernel import COLD as COLD
from sandbox_kernel import LIMITED as LIMITED
from sandbox_kernel import SANDBOX as SANDBOX
from sandbox_kernel.view import hidden_folders, hide

#: nbgrader's default for `c.Exchange.root`; importing it takes a while
_EXCHANGE = "/usr/local/share/nbgrader/exchange"

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


def hide_course(root: Path, config: Config | None = None) -> None:
    """Hide a course, and the exchange with everybody's hand-ins, from the kernels that this process starts.

    Without `config`, the exchange is nbgrader's default. A different one is rarely below /usr, and other folders aren't
    visible anyway.
    """
    if config is None and str(root.resolve()) in hidden_folders():
        return  # hidden by a command that knows the configuration; other folders would start another kernel server
    exchange = (Config() if config is None else config).get("Exchange", {}).get("root", _EXCHANGE)
    for folder in (root, Path(exchange)):
        hide(folder.resolve())
