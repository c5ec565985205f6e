"""The Python environment that this process runs in, and how a shell gets its commands."""

import shutil
import sys
from pathlib import Path

from gradekit.course.printing import quoted

#: of an environment that uvx makes in uv's cache, for one command
_ONE_COMMAND = "archive-v0"
_INSTALL_WITH_UV = "uv venv && source .venv/bin/activate && uv pip install gradekit"


def activation() -> str:
    """The command after which a shell finds `gradekit` and `nbgrader`; empty if it finds both already.

    Under uvx, no shell finds them, so the command makes an environment that lasts.
    """
    if _is_under_uvx():
        return _INSTALL_WITH_UV
    prefix, commands = Path(sys.prefix), Path(sys.executable).parent
    if all(_parent(name) == commands for name in ("gradekit", "nbgrader")):
        return ""
    if (prefix / "conda-meta").is_dir():
        return f"conda activate {quoted(str(prefix))}"
    if (commands / "activate").is_file():
        return f"source {quoted(str(commands / 'activate'))}"
    return f"export PATH={quoted(str(commands))}:$PATH"


def as_typed(command: str) -> str:
    """A command of this environment for the user's shell, which may not find it: then with its folder."""
    place = Path(sys.executable).parent / command
    is_found = _parent(command) == place.parent and not _is_under_uvx()
    return command if is_found or not place.is_file() else quoted(str(place))


def _is_under_uvx() -> bool:
    """uvx puts its environment on PATH, but only for the command that it runs."""
    return _ONE_COMMAND in Path(sys.prefix).parts


def _parent(name: str) -> Path | None:
    place = shutil.which(name)
    return Path(place).parent if place else None
