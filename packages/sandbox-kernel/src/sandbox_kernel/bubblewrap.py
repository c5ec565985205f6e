"""The bubblewrap command line, and whether bubblewrap works on this machine.

Inside the sandbox, the system and Python are read-only, there is no network, and nothing else of the host is visible.
"""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from sandbox_kernel.environment import clean_environment, font_lists
from sandbox_kernel.inside import places
from sandbox_kernel.users import NOBODY
from sandbox_kernel.view import SYSTEM, View, python_view
from sandbox_kernel.view import SandboxError as SandboxError

#: "warm": a server whose forks make their own private folders; "cold": a single kernel
Mode = Literal["warm", "cold"]

_HOME, _SETTINGS = Path(places.HOME), Path(places.SETTINGS)
#: files that Docker and podman make in a container
_IN_CONTAINERS = ("/.dockerenv", "/run/.containerenv")
_CONFIGURATION = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/fonts", "/etc/localtime")


@cache
def sandbox_problem() -> str:
    """Return why the sandbox doesn't work on this machine, in one sentence, or an empty string if it works."""
    if platform.system() != "Linux":
        return f"the sandbox needs Linux, this is {platform.system()}"
    if shutil.which("bwrap") is None:
        return "bubblewrap is missing: install it (`apt-get install bubblewrap`, `dnf install bubblewrap`)"
    try:
        command = bubblewrap_command("cold", 1, python_view(sys.executable))
    except SandboxError as error:
        return str(error)
    trial = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False, timeout=60)
    if trial.returncode != 0:
        reason = (trial.stderr.strip().splitlines() or ["no reason given"])[-1]
        return f"bubblewrap does not run here ({reason}); {_what_it_needs()}"
    return ""


def _what_it_needs() -> str:
    if any(map(os.path.exists, _IN_CONTAINERS)) or "KUBERNETES_SERVICE_HOST" in os.environ:
        options = "--security-opt seccomp=unconfined --security-opt unmask=ALL"
        return f"the container has to allow user namespaces and an unmasked /proc: with podman, `{options}`"
    return "unprivileged user namespaces may be switched off"


def require_sandbox() -> None:
    """Raise SandboxError unless the sandbox works on this machine."""
    if sandbox_problem():
        raise SandboxError(sandbox_problem())


#: writable inside
WRITABLE = (places.HOME, "/tmp", "/dev/shm", places.RUN)


def kept_folders(view: View) -> list[str]:
    """List the visible paths in writable folders, which must be mounted again wherever such a folder is emptied."""
    found = [path for path in view.paths if any(map(Path(path).is_relative_to, WRITABLE))]
    return [*found, *_fonts().values()]


def _fonts() -> dict[str, str]:
    """matplotlib's font lists, and where a kernel finds them."""
    return {str(cached): f"{places.SETTINGS}/matplotlib/{cached.name}" for cached in font_lists()}


def bubblewrap_command(mode: Mode, scratch: int, view: View) -> list[str]:
    """Return the command that runs Python in the sandbox; append Python's arguments to it.

    Args:
        mode: see `Mode`.
        scratch: size of each writable folder in MiB.
        view: the parts of the host that are visible besides the system.
    """
    root = os.geteuid() == 0
    line = ["bwrap", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--new-session"]
    line += ["--unshare-cgroup-try", "--hostname", "sandbox"] if mode == "cold" else []
    if root:
        # The server mounts a /proc that forks can mount again, then becomes "nobody". It keeps the right to turn each
        # fork into a different user.
        line += ["--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN"]
        line += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        line += ["--unshare-user"] + (["--disable-userns"] if mode == "cold" else [])
    if mode == "cold":
        line += ["--die-with-parent"]
    line += ["--clearenv"]
    environment = (
        clean_environment(_HOME, _SETTINGS)
        | dict(view.variables)
        | ({"SANDBOX_KERNEL_USER": str(NOBODY)} if root else {})
    )
    for name, value in environment.items():
        line += ["--setenv", name, value]
    for folder in map(Path, SYSTEM):
        if folder.is_symlink():
            line += ["--symlink", os.readlink(folder), str(folder)]
        elif folder.exists():
            line += ["--ro-bind", str(folder), str(folder)]
    for path in view.hidden:
        line += ["--tmpfs", path]
    visible = [*_CONFIGURATION, *view.paths]
    line += _folders_above([*WRITABLE, *visible, places.PROGRAM])
    line += ["--ro-bind", str(Path(places.__file__).parent), places.PROGRAM]
    line += ["--proc", "/proc", "--dev", "/dev"]
    for path in WRITABLE:
        line += ["--perms", "0777", "--size", str(scratch << 20), "--tmpfs", path]
    for path in (places.SETTINGS, f"{places.SETTINGS}/matplotlib"):
        line += ["--perms", "0777", "--dir", path]
    line += _folders_above(kept_folders(view))
    for path in visible:
        line += ["--ro-bind-try", path, path]
    for cached, place in _fonts().items():
        line += ["--ro-bind", cached, place]
    for path in (*view.hidden, "/dev", "/"):
        line += ["--remount-ro", path]
    return [*line, "--chdir", places.HOME, "--", sys.executable]


def _folders_above(paths: Sequence[str]) -> list[str]:
    """Make the folders that contain these; bubblewrap itself would make them accessible to root only."""
    parents = {parent for path in paths for parent in Path(path).parents}
    return [word for parent in sorted(parents) for word in ("--dir", str(parent))]


def server_command(mode: Mode, scratch: int, modules: Sequence[str], view: View) -> list[str]:
    """Return the command that runs inside/server.py in the sandbox."""
    return [*bubblewrap_command(mode, scratch, view), f"{places.PROGRAM}/{places.SERVER}", mode, *modules]
