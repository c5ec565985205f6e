"""The parts of the host that a kernel sees besides the system: the folders that Python imports from, and no others.

Paths inside are the same as outside. A folder is left out if it is, contains or is inside one that must stay hidden.
"""

import json
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TypedDict, cast

from sandbox_kernel import probe

#: always shown if they exist; the last two are the packages of Nix and Guix
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")
#: the environment variable with folders that no kernel started from this process or its children sees
HIDDEN = "SANDBOX_KERNEL_HIDDEN"

_NEVER = ("/boot", "/dev", "/etc", "/proc", "/run", "/sys")
_SHARED = ("/home", "/root", "/tmp", "/var/tmp", "/var", "/opt", "/srv", "/mnt", "/media")
_PYTHON_VARIABLES = ("PYTHONPATH", "PYTHONUSERBASE", "PYTHONNOUSERSITE", "PYTHONHOME", "HOME")
_FIRST_PERSON = 1000  # smaller user ids belong to the system
_PROBE_SECONDS = 60


class SandboxError(Exception):
    """The sandbox doesn't work on this machine; the message says why."""


@dataclass(frozen=True)
class View:
    """The files and folders that are visible read-only, and the variables by which Python finds them.

    `refused` has folders that Python imports from but that stay hidden, each with the reason. `hidden` has the
    hidden folders inside visible ones of the system; only `paths` are visible in them.
    """

    paths: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    hidden: tuple[str, ...] = ()

    def with_paths_of(self, other: "View") -> "View":
        return replace(self, paths=tuple(_without_nested([*self.paths, *other.paths], self.hidden)))


class _Report(TypedDict):
    """The JSON object that probe.py prints."""

    prefixes: list[str]
    own: list[str]
    path: list[str]
    user_base: str


def hide(*folders: str | Path) -> None:
    """Hide folders and everything in them from kernels that this process or its children start from now on."""
    for folder in map(Path, folders):
        hidden = hidden_folders()
        while os.pathsep in str(folder):  # the variable can't contain this path, so its parent is hidden
            folder = folder.parent
        if str(folder) not in hidden:
            os.environ[HIDDEN] = os.pathsep.join([*hidden, str(folder)])


def hidden_folders() -> list[str]:
    """List the folders that `hide` was called with, here or in a parent process."""
    return [folder for folder in os.environ.get(HIDDEN, "").split(os.pathsep) if folder]


def python_view(interpreter: str, shown: Sequence[str] = (), hidden: Sequence[str] = ()) -> View:
    """Return what a kernel of this interpreter sees.

    Args:
        shown: further files and folders.
        hidden: folders that must stay hidden, besides those of `hidden_folders`.

    Raises:
        SandboxError: the interpreter doesn't run, or a folder in `shown` does not exist or must stay hidden.
    """
    variables = tuple((name, os.environ.get(name, "")) for name in _PYTHON_VARIABLES)
    report = _ask(interpreter, variables, _current_folder())
    secret = _secret(hidden)
    masked = _hidden_in_system(secret)
    found = [*_environment(interpreter, report, secret), *_given(shown, secret)]
    refused: dict[str, str] = {}
    for entry in [*report["path"], *_entries("LD_LIBRARY_PATH"), *_library_folders()]:
        path = _existing(entry)
        if path is None or all(_is_seen(Path(spelling), found, masked) for spelling in _spellings(path)):
            continue
        if reason := _refusal(path, secret):
            refused[entry] = reason
        else:
            found += _spellings(path)
    search = {
        name: os.pathsep.join(entry for entry in _entries(name) if _is_seen(Path(entry), found, masked))
        for name in ("PYTHONPATH", "LD_LIBRARY_PATH")
    }
    search |= {"PYTHONUSERBASE": report["user_base"]}
    search |= {"PYTHONNOUSERSITE": os.environ.get("PYTHONNOUSERSITE", "")}
    return View(
        tuple(_without_nested(found, masked)),
        tuple((name, value) for name, value in search.items() if value),
        tuple(refused.items()),
        masked,
    )


def program_view(program: str, folders: Iterable[str], hidden: Sequence[str] = ()) -> View:
    """Return what a kernel that is another program sees: the program, the folder where it is installed, and `folders`.

    Raises:
        SandboxError: one of the folders must stay hidden.
    """
    if python := _python_of(Path(program)):
        return python_view(python, list(folders), hidden)
    secret = _secret(hidden)
    masked = _hidden_in_system(secret)
    found = _given(folders, secret)
    for link in _links(Path(program)):
        installed = link.parent.parent if link.parent.name == "bin" else link.parent
        found.append(str(link) if _refusal(installed, secret) else str(installed))
    return View(tuple(_without_nested(found, masked)), hidden=masked)


def _secret(hidden: Iterable[str]) -> list[str]:
    return [folder for name in [*hidden, *hidden_folders()] for folder in _spellings(name)]


def _hidden_in_system(secret: Sequence[str]) -> tuple[str, ...]:
    """Return the hidden folders that are in a folder of the system, without those nested in another one."""
    found: list[str] = []
    for folder in sorted(set(secret)):
        exists = os.path.isdir(folder) and folder == os.path.realpath(folder)
        if (
            exists
            and folder not in SYSTEM
            and _is_in(Path(folder), SYSTEM)
            and not _is_in(Path(folder), found)
        ):
            found.append(folder)
    return tuple(found)


def _is_seen(path: Path, found: Sequence[str], masked: Sequence[str]) -> bool:
    """Whether a kernel that is shown `found` sees a file or folder."""
    return _is_in(path, found) or (_is_in(path, SYSTEM) and not _is_in(path, masked))


def _python_of(program: Path) -> str:
    """Return the program if it is a Python, or the Python of its environment; empty if there is none."""
    if program.name.startswith("python"):
        return str(program)
    python = program.parent / "python"
    environment = any((program.parent.parent / mark).exists() for mark in ("pyvenv.cfg", "conda-meta"))
    return str(python) if environment and python.exists() else ""


@cache
def _ask(interpreter: str, variables: tuple[tuple[str, str], ...], folder: str) -> _Report:
    """Ask an interpreter where it imports from; the answer depends on these variables and this folder."""
    text = Path(probe.__file__).read_text(encoding="utf-8")
    try:
        done = subprocess.run(
            [interpreter, "-c", text],
            cwd=folder,
            env=own_environment(),
            capture_output=True,
            text=True,
            timeout=_PROBE_SECONDS,
            check=True,
        )
        return cast(_Report, json.loads(done.stdout.splitlines()[-1]))
    except (OSError, subprocess.SubprocessError, ValueError, LookupError) as error:
        printed = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
        raise SandboxError(f"{interpreter} can't report where it imports from: {printed[-1]}") from error


def own_environment() -> dict[str, str]:
    """This process's variables, for a Python that imports nothing from the folder where it is started."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(_entries("PYTHONPATH"))}


def _current_folder() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:  # it has been removed
        return "/"


def _environment(interpreter: str, report: _Report, secret: Sequence[str]) -> list[str]:
    """List what belongs to the interpreter: whole folders, unless they contain something that must stay hidden."""
    found: list[str] = []
    for prefix in dict.fromkeys(report["prefixes"]):
        if not any(_holds_others(Path(spelling), secret) for spelling in _spellings(prefix)):
            found += _spellings(prefix)
        else:  # an environment made in a home folder, or in one that is hidden
            found += [f"{prefix}/pyvenv.cfg", *map(str, Path(prefix).glob("lib*/libpython*"))]
            found += report["own"]
    for link in _links(Path(interpreter)):
        installed = link.parent.parent
        found.append(str(link) if _holds_others(installed, secret) else str(installed))
    return found


def _given(paths: Iterable[str], secret: Sequence[str]) -> list[str]:
    found: list[str] = []
    for path in map(os.path.expanduser, paths):
        if not os.path.lexists(path):
            raise SandboxError(f"{os.path.abspath(path)} can't be shown to a kernel: it does not exist")
        if reason := _refusal(Path(path), secret):
            raise SandboxError(f"{path} can't be shown to a kernel: {reason}")
        found += _spellings(path)
    return found


def _refusal(path: Path, secret: Sequence[str]) -> str:
    """Return why a file or folder must stay hidden, to follow its name, or an empty string."""
    for spelling in map(Path, _spellings(path)):
        if _is_in(spelling, secret):
            return "it is in a folder that is hidden from kernels"
        if any(Path(folder).is_relative_to(spelling) for folder in secret):
            return "it contains a folder that is hidden from kernels"
        if _is_in(spelling, _NEVER):
            return "it belongs to the system"
        if _holds_others(spelling, ()):
            return "it is a home folder, or contains other people's files"
        if spelling.name.startswith(".") and spelling.parent in _homes():
            return "it is a folder of settings"
    return ""


def _holds_others(folder: Path, secret: Sequence[str]) -> bool:
    """Whether a folder is, or contains, a home folder, one for everybody's files, or one of `secret`."""
    places = [*_homes(), *map(Path, _SHARED), Path(tempfile.gettempdir()), *map(Path, secret)]
    return folder.parent == Path("/home") or any(place.is_relative_to(folder) for place in places)


@cache
def _homes() -> frozenset[Path]:
    people = [
        entry.pw_dir
        for entry in pwd.getpwall()
        if entry.pw_uid in (0, os.getuid()) or entry.pw_uid >= _FIRST_PERSON
    ]
    return frozenset(Path(spelling) for home in [*people, str(Path.home())] for spelling in _spellings(home))


@cache
def _library_folders() -> tuple[str, ...]:
    """The folders in which the system looks for shared libraries; none where it has no `ldconfig`."""
    ldconfig = shutil.which("ldconfig", path="/sbin:/usr/sbin")
    if ldconfig is None:
        return ()
    listed = subprocess.run([ldconfig, "-p"], capture_output=True, text=True, check=False).stdout.splitlines()
    return (*dict.fromkeys(os.path.dirname(line.split(" => ")[1]) for line in listed if " => " in line),)


def _entries(variable: str) -> list[str]:
    """The folders in a variable such as PYTHONPATH; an empty one, which is the current folder, is left out."""
    return [os.path.abspath(entry) for entry in os.environ.get(variable, "").split(os.pathsep) if entry]


def _existing(entry: str) -> Path | None:
    """The file or folder of an entry of sys.path; for one within an archive, the archive."""
    path = Path(entry)
    while not os.path.exists(path):  # Path.exists raises an exception if it has no permission
        path = path.parent
    return path if str(path) == entry or path.is_file() else None


def _links(path: Path) -> Iterator[Path]:
    """Yield a path, the path that it links to, and so on."""
    yield path
    while path.is_symlink():
        path = Path(os.path.normpath(path.parent / path.readlink()))
        yield path


def _spellings(path: str | Path) -> list[str]:
    """A path as it is written, and without symbolic links."""
    return list(dict.fromkeys([os.path.abspath(path), os.path.realpath(path)]))


def _is_in(path: Path, folders: Iterable[str]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def _without_nested(paths: Sequence[str], masked: Sequence[str]) -> Iterator[str]:
    """Leave out paths that are visible anyway: those in another folder, or in a system folder that isn't masked."""
    kept: list[str] = []
    for path in sorted(dict.fromkeys(paths)):
        if not _is_seen(Path(path), kept, masked):
            kept.append(path)
            yield path
