"""The sandbox: bubblewrap's command line, and whether it can be used here.

Inside, the system and Python are read-only, there is no network, and nothing else of the host is to be seen.
"""

import os
import platform
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from sandbox_kernel.environment import clean_environment, font_lists
from sandbox_kernel.inside import places
from sandbox_kernel.users import UNPRIVILEGED

_HOME = Path(places.HOME)
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_CONFIGURATION = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/fonts", "/etc/localtime")


class SandboxError(Exception):
    """The sandbox can't be used on this machine; the message says why."""


@cache
def problem() -> str:
    """Why there is no sandbox on this machine, in one sentence; empty if there is."""
    if platform.system() != "Linux":
        return f"the sandbox needs Linux, this is {platform.system()}"
    if shutil.which("bwrap") is None:
        return "bubblewrap is missing: install it (`apt-get install bubblewrap`, `dnf install bubblewrap`)"
    tried = subprocess.run(
        [*command("cold", 1), "--version"], capture_output=True, text=True, check=False, timeout=60
    )
    if tried.returncode != 0:
        reason = (tried.stderr.strip().splitlines() or ["no reason given"])[-1]
        return f"bubblewrap does not run here ({reason}); unprivileged user namespaces may be switched off"
    return ""


def require() -> None:
    """Raise SandboxError unless the sandbox can be used."""
    if problem():
        raise SandboxError(problem())


def writable() -> list[str]:
    """The folders inside that can be written. /tmp is none if Python itself lies there."""
    own = "/tmp" if not any(Path(folder).is_relative_to("/tmp") for folder in _python()) else None
    return [folder for folder in (places.HOME, own, "/dev/shm", places.RUN) if folder]


def _python() -> list[str]:
    return list(dict.fromkeys([sys.base_prefix, sys.prefix]))


def command(mode: str, scratch: int) -> list[str]:
    """bubblewrap around Python; what follows is for Python.

    Args:
        mode: "warm" for a server, whose forks make their own private folders; "cold" for one kernel.
        scratch: size of each writable folder in MiB.
    """
    root = os.geteuid() == 0
    line = ["bwrap", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--new-session"]
    line += ["--unshare-cgroup-try", "--hostname", "sandbox"] if mode == "cold" else []
    if root:
        # root's server becomes "nobody" by itself, once it has mounted a /proc that forks can mount again; it keeps
        # the right to have each fork become another user
        line += ["--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN"]
        line += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        line += ["--unshare-user"] + (["--disable-userns"] if mode == "cold" else [])
    if mode == "cold":
        line += ["--die-with-parent"]
    line += ["--clearenv"]
    environment = clean_environment(_HOME) | ({"SANDBOX_KERNEL_USER": str(UNPRIVILEGED)} if root else {})
    for name, value in environment.items():
        line += ["--setenv", name, value]
    for folder in map(Path, _SYSTEM):
        if folder.is_symlink():
            line += ["--symlink", os.readlink(folder), str(folder)]
        elif folder.exists():
            line += ["--ro-bind", str(folder), str(folder)]
    shown = [*_CONFIGURATION, *_python()]
    above = {parent for place in [*shown, *writable(), places.PROGRAM] for parent in Path(place).parents}
    for folder in sorted(above):  # or bubblewrap would make them for root alone
        line += ["--dir", str(folder)]
    for place in shown:
        line += ["--ro-bind-try", place, place]
    line += [
        "--ro-bind",
        str(Path(places.__file__).parent),
        places.PROGRAM,
        "--proc",
        "/proc",
        "--dev",
        "/dev",
    ]
    for folder in writable():
        line += ["--perms", "0777", "--size", str(scratch << 20), "--tmpfs", folder]
    line += ["--perms", "0777", "--dir", f"{places.HOME}/.matplotlib"]
    if mode == "warm":
        for cached in font_lists():
            line += ["--ro-bind", str(cached), f"{places.HOME}/.matplotlib/{cached.name}"]
    return [*line, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", places.HOME, "--", sys.executable]


def server_command(mode: str, scratch: int, modules: list[str]) -> list[str]:
    return [*command(mode, scratch), f"{places.PROGRAM}/{places.SERVER}", mode, *modules]
