"""The machine: Python, packages, commands, the sandbox, a real start of each kernel, room."""

import importlib.metadata
import os
import platform
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
from nbformat import v4
from packaging.requirements import Requirement

from coursekit.doctor.finding import MISSING, NOTE, OK, OPTIONAL, Finding
from coursekit.kernels import COLD, LIMITED, SANDBOX
from coursekit.student.session import Session
from sandbox_kernel import bubblewrap, cgroup, users
from sandbox_kernel.inside import calls
from sandbox_kernel.start import cold_because

_GIB = 2**30
_SPARE = 2  # GiB of memory, and of disk
_EXTRAS = {
    "distributed": "a class graded by several machines (docs/scaling.md)",
    "psycopg2-binary": "a gradebook in PostgreSQL (docs/scaling.md)",
    "transformers": "real models in assignment 07",
    "playwright": "the browser tests",
}


def examine_machine(root: Path) -> Iterator[Finding]:
    """What grading needs, whatever the course."""
    yield _python()
    yield _packages()
    yield from map(_command, ("nbgrader", "alembic"))
    yield from _sandbox_and_kernels()
    yield from _room(root)


def examine_extras() -> Iterator[Finding]:
    """What only some need."""
    yield from map(_extra, _EXTRAS)
    yield _browser()


def _python() -> Finding:
    return Finding("Python", OK, f"{'.'.join(map(str, sys.version_info[:3]))}, {sys.prefix}")


def _packages() -> Finding:
    required = [Requirement(line) for line in importlib.metadata.requires("coursekit") or []]
    required = [each for each in required if not each.marker or each.marker.evaluate({"extra": ""})]
    wrong = []
    for requirement in required:
        version = _version(requirement.name)
        if version is None or not requirement.specifier.contains(version, prereleases=True):
            wanted = f"{requirement.name}{requirement.specifier}"
            wrong.append(f"{wanted} ({version or 'not installed'})")
    if wrong:
        return Finding("packages", MISSING, ", ".join(wrong), "`make setup`, or `pip install .`")
    return Finding("packages", OK, f"all {len(required)} as needed, torch {_version('torch')}")


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _command(name: str) -> Finding:
    place = shutil.which(name)
    if place is None:
        return Finding(name, MISSING, "not on PATH", "`source .venv/bin/activate`")
    if Path(place).parent != Path(sys.executable).parent:
        return Finding(name, MISSING, f"{place} is of another environment", "`source .venv/bin/activate`")
    return Finding(name, OK, place)


def _sandbox_and_kernels() -> Iterator[Finding]:
    problem = bubblewrap.sandbox_problem()
    if problem:
        yield Finding(
            "sandbox", MISSING, problem, "or choose `--sandbox none` where all code is to be trusted"
        )
    else:
        yield Finding("sandbox", OK, f"bubblewrap, {shutil.which('bwrap')}")
        yield from _layers()
    for name in (SANDBOX, COLD, LIMITED):
        if name == LIMITED or not problem:
            yield _kernel(name)


def _layers() -> Iterator[Finding]:
    """What the sandbox has here beside bubblewrap; docs/security.md says what each adds."""
    machine = platform.machine()
    if calls.known(machine):
        found = f"{len(calls.numbers(machine))} calls are allowed on {machine}, the others refused"
        yield Finding("system calls", OK, found)
    else:
        found = f"there is no list for {machine}: none is refused"
        yield Finding("system calls", NOTE, found, "grade on x86_64 or aarch64, or only code that you trust")
    if users.user_ids_problem():
        yield Finding(
            "user ids",
            NOTE,
            f"one for all kernels: {users.user_ids_problem()}",
            "see docs/security.md, Quotas",
        )
    else:
        yield Finding("user ids", OK, f"one for each kernel, from {users.FIRST} on")
    if cgroup.cgroups_problem():
        yield Finding("cgroups", OPTIONAL, f"none for kernels: {cgroup.cgroups_problem()}")
    else:
        made = cgroup.cgroups()
        yield Finding("cgroups", OK, f"one for each kernel ({', '.join(made.controllers)}) in {made.folder}")


def _kernel(name: str) -> Finding:
    try:
        KernelSpecManager().get_kernel_spec(name)
    except NoSuchKernel:
        return Finding(name, MISSING, "no kernelspec of that name", "`make setup`, or `pip install .`")
    try:
        seconds = [_seconds_to_start(name) for _ in range(2 if name == SANDBOX else 1)]
    except Exception as error:  # whatever keeps a kernel from starting is the finding
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        return Finding(name, MISSING, f"does not start: {reason}", "see docs/grading.md and docs/security.md")
    found = f"kernel, ran a cell after {seconds[0]:.1f} s" + "".join(
        f", the next after {s:.2f} s" for s in seconds[1:]
    )
    if name == SANDBOX and cold_because:
        found += f"; started cold, since {cold_because[0]}"
    return Finding(name, OK, found)


def _seconds_to_start(kernel: str) -> float:
    before = time.monotonic()
    session = Session(v4.new_notebook(cells=[v4.new_code_cell("1 + 1")]), kernel_name=kernel)
    try:
        session.run_cells()
        if session.runs[0].state != "ok":
            raise RuntimeError(session.runs[0].error)
    finally:
        session.close()
    return time.monotonic() - before


def _room(root: Path) -> Iterator[Finding]:
    cores, memory = os.cpu_count() or 1, psutil.virtual_memory()
    found = f"{memory.available / _GIB:.1f} of {memory.total / _GIB:.1f} GiB free, {cores} cores"
    if memory.available < _SPARE * _GIB:
        yield Finding("memory", NOTE, found, "a student kernel may take 2 GiB: close other programs")
    else:
        yield Finding("memory", OK, found)
    free = shutil.disk_usage(root).free / _GIB
    if free < _SPARE:
        yield Finding("disk", NOTE, f"{free:.1f} GiB free in {root}", "make room: results are kept there")
    else:
        yield Finding("disk", OK, f"{free:.0f} GiB free")


def _extra(package: str) -> Finding:
    version = _version(package)
    if version is None:
        return Finding(package, OPTIONAL, f"not installed; for {_EXTRAS[package]}")
    return Finding(package, OK, version)


def _browser() -> Finding:
    names = ("chromium", "chromium-browser", "google-chrome")
    place = next(filter(None, map(shutil.which, names)), None)
    if place is None:
        return Finding("chromium", OPTIONAL, "not installed; for the browser tests")
    return Finding("chromium", OK, place)
