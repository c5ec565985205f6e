"""`gradekit doctor`: examine this machine and this course folder, and say how to fix what is wrong."""

import os
import platform
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
from nbformat import v4

from gradekit.checks.reference import Store
from gradekit.checks.variants import mistakes_of
from gradekit.course import Course, CourseError, refuse_pattern
from gradekit.course.kernels import COLD, LIMITED, SANDBOX, is_installed, require_kernel
from gradekit.course.printing import quoted
from gradekit.grading.running_course import RunningCourse
from gradekit.nbgrader_plugin.bind import require_bound
from gradekit.nbgrader_plugin.course_folders import shown_url
from gradekit.nbgrader_plugin.steps import RunChecks
from gradekit.session.runner import CellState
from gradekit.session.session import Session
from gradekit.verdict.result_cache import installed_version
from gradekit_authoring.environment import activation
from gradekit_authoring.standalone import requirements_of
from sandbox_kernel import bubblewrap, cgroup, users
from sandbox_kernel.compare import missing_inside
from sandbox_kernel.inside import calls
from sandbox_kernel.start import cold_because
from sandbox_kernel.view import hide, python_view

#: "note" is worth a look; "optional" is needed only for the feature that it names
OK, MISSING, NOTE, OPTIONAL = "ok", "missing", "note", "optional"
_CONFIGURATION = "nbgrader_config.py"
_INSTALL = "`make setup`, or `pip install .`"
_SEE_SANDBOX = "see `gradekit help sandbox`"
_NO_COURSE = "`gradekit init` begins a course here; if you have one, run this in its folder"
_WITHOUT_SANDBOX = (
    "none but a memory limit, a clean environment and a scratch folder: code can read what the grader can read, "
    "and reach the network"
)
_GIB = 2**30
_SPARE = 2  # GiB of memory, and of disk
_EXTRAS = {
    "distributed": "grading on several machines (`gradekit help scaling`)",
    "psycopg2-binary": "a gradebook in PostgreSQL (`gradekit help scaling`)",
    "gradekit-data": "checks that compare values of pandas or look at figures",
    "seaborn": '`gradekit report`; `pip install "gradekit[report]"`',
}


@dataclass(frozen=True)
class Finding:
    """The result of one examination: its subject, its state, and what to do about it."""

    what: str
    state: str
    found: str
    remedy: str = ""

    @property
    def needed(self) -> bool:
        """True if grading does not work without it."""
        return self.state == MISSING

    def __str__(self) -> str:
        remedy = f"\n{'':27}→ {self.remedy}" if self.remedy else ""
        return f"{self.state:8}  {self.what:15}  {self.found}{remedy}"


#: in the name of an assignment, which formgrader looks for by a regular expression
_OF_PATTERNS = frozenset("()[]{}*?|^$\\")


def examine(root: Path) -> Iterator[Finding]:
    """Examine the machine, the course in `root`, and the optional packages; yields each finding at once."""
    yield from examine_machine(root)
    yield from examine_course(root)
    yield from map(_extra, _EXTRAS)


def examine_machine(root: Path) -> Iterator[Finding]:
    """Examine what every course needs: Python, packages, commands, sandbox, kernels, memory and disk."""
    yield Finding("Python", OK, f"{platform.python_version()}, {sys.prefix}")
    yield _packages()
    yield from map(_command, ("nbgrader", "alembic"))
    yield from _sandbox_and_kernels(root.resolve())
    yield from _memory_and_disk(root)


def examine_course(root: Path) -> Iterator[Finding]:
    """Examine the course folder, without changing it: configuration, assignments, gradebook."""
    try:
        refuse_pattern(root)
        course = RunningCourse.open(root)
    except CourseError as error:
        yield Finding("course", MISSING, str(error), "fix this")
        return
    root = course.root
    if not course.files and not (root / _CONFIGURATION).exists():
        yield Finding("course", MISSING, f"{root} has no {_CONFIGURATION}", _NO_COURSE)
        return
    if not course.plugged_in:
        remedy = "end it with configure(c), after `from gradekit.nbgrader_plugin import configure`"
        yield Finding("course", MISSING, f"{course.last_file} does not plug gradekit in", remedy)
        return
    checks = RunChecks(config=course.config)
    try:
        require_kernel(checks.student_kernel)
    except CourseError as error:
        yield Finding("course", MISSING, str(error), "fix this")
    if checks.student_kernel == SANDBOX:
        allowed = "start cold, which is slower" if checks.cold_fallback else "don't start"
        yield Finding("fallback", OK, f"kernels that can't be forked {allowed} (c.RunChecks.cold_fallback)")
    limits = f"{checks.limits_of('').cell_seconds:g} s for a cell, {checks.memory_limit} MiB for a kernel"
    yield Finding("course", OK, f"{course.folders.course_id or 'without course_id'}, {limits}")
    yield from _assignments(course)
    yield _gradebook(course)


def _packages() -> Finding:
    required = requirements_of("gradekit")
    wrong = []
    for requirement in required:
        version = installed_version(requirement.name)
        if not version or not requirement.specifier.contains(version, prereleases=True):
            wrong.append(f"{requirement.name}{requirement.specifier} ({version or 'not installed'})")
    if wrong:
        return Finding("packages", MISSING, ", ".join(wrong), _INSTALL)
    torch = f"torch {installed_version('torch') or 'not installed'}"
    return Finding("packages", OK, f"all {len(required)} as required, {torch}")


def _command(name: str) -> Finding:
    place = shutil.which(name)
    if place is None:
        return Finding(name, MISSING, "not on PATH", f"`{activation()}`")
    if Path(place).parent != Path(sys.executable).parent:
        return Finding(name, MISSING, f"{place} belongs to another environment", f"`{activation()}`")
    return Finding(name, OK, place)


def _sandbox_and_kernels(root: Path) -> Iterator[Finding]:
    if problem := bubblewrap.sandbox_problem():
        yield Finding("sandbox", MISSING, problem, "or use `--sandbox none` if you trust all the code")
        yield Finding("isolation", NOTE, _WITHOUT_SANDBOX, _SEE_SANDBOX)
        yield _kernel(LIMITED)
        return
    yield Finding("sandbox", OK, f"bubblewrap, {shutil.which('bwrap')}")
    yield from _layers()
    yield from map(_kernel, (SANDBOX, COLD, LIMITED))
    yield from _imports(root)


def _layers() -> Iterator[Finding]:
    """The sandbox's other layers on this machine; docs/security.md explains each."""
    machine = platform.machine()
    if calls.known(machine):
        allowed = f"{len(calls.numbers(machine))} calls are allowed on {machine}, all others are refused"
        yield Finding("system calls", OK, allowed)
    else:
        nothing = f"there is no list for {machine}, so no call is refused"
        yield Finding("system calls", NOTE, nothing, "grade on x86_64 or aarch64, or only trusted code")
    if problem := users.user_ids_problem():
        yield Finding("user ids", NOTE, f"one for all kernels: {problem}", _SEE_SANDBOX)
    else:
        yield Finding("user ids", OK, f"one for each kernel, from {users.FIRST} on")
    if problem := cgroup.cgroups_problem():
        yield Finding("cgroups", OPTIONAL, f"none for kernels: {problem}")
    else:
        made = cgroup.cgroups()
        yield Finding("cgroups", OK, f"one for each kernel ({', '.join(made.controllers)}) in {made.folder}")


def _kernel(name: str) -> Finding:
    """Start the kernel and run a cell; the sandbox twice, since the first start includes that of its server."""
    if not is_installed(name):
        return Finding(name, MISSING, "there is no kernelspec with this name", _INSTALL)
    try:
        first, *more = [_seconds_to_start(name) for _ in range(2 if name == SANDBOX else 1)]
    except Exception as error:  # anything that keeps a kernel from starting
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        return Finding(name, MISSING, f"does not start: {reason}", _SEE_SANDBOX)
    found = f"kernel, ran a cell after {first:.1f} s"
    found += "".join(f", the next after {seconds:.2f} s" for seconds in more)
    if name == SANDBOX and cold_because:
        found += f"; started cold, since {cold_because[0]}"
    return Finding(name, OK, found)


def _seconds_to_start(kernel: str) -> float:
    before = time.monotonic()
    session = Session(v4.new_notebook(cells=[v4.new_code_cell("1 + 1")]), kernel_name=kernel)
    try:
        session.run_cells()
        if session.runs[0].state != CellState.OK:
            raise RuntimeError(session.runs[0].error)
    finally:
        session.close()
    return time.monotonic() - before


def _imports(root: Path) -> Iterator[Finding]:
    """Name packages that submissions can't import, and folders of sys.path that they don't see."""
    hide(*Course(root).hidden)
    try:
        missing, refused = missing_inside(), python_view(sys.executable).refused
    except Exception as error:  # why the kernel did not start has been reported already
        yield Finding("imports", NOTE, f"not examined: {str(error) or type(error).__name__}")
        return
    packages = {each.place: f"the package {each.package} ({each.place})" for each in missing}
    empty = [Path(entry) for entry, _ in refused]
    empty = [entry for entry in empty if not any(place.is_relative_to(entry) for place in packages)]
    reasons = {each.place: each.reason for each in missing} | {Path(entry): text for entry, text in refused}
    for place in [*packages, *empty]:
        what = packages.get(place, f"{place}, from which Python imports,")
        if place.resolve().is_relative_to(root):
            found = f"{what} is in the course's folder, which submissions must not see"
            remedy = "move it elsewhere, or `pip install` it as a copy, without --editable"
            yield Finding("imports", NOTE, found, remedy)
        else:
            yield Finding(
                "imports", NOTE, f"{what} is missing in the sandbox: {reasons[place]}", _SEE_SANDBOX
            )
    if not packages and not empty:
        yield Finding("imports", OK, "the sandbox finds every installed package")


def _memory_and_disk(root: Path) -> Iterator[Finding]:
    cores, memory = os.cpu_count() or 1, psutil.virtual_memory()
    found = f"{memory.available / _GIB:.1f} of {memory.total / _GIB:.1f} GiB free, {cores} cores"
    enough = memory.available >= _SPARE * _GIB
    remedy = "" if enough else "a student kernel may use 2 GiB: close other programs"
    yield Finding("memory", OK if enough else NOTE, found, remedy)
    free = shutil.disk_usage(root).free / _GIB
    if free < _SPARE:
        yield Finding(
            "disk", NOTE, f"{free:.1f} GiB free in {root}", "free up space: results are stored there"
        )
    else:
        yield Finding("disk", OK, f"{free:.0f} GiB free")


def _assignments(course: RunningCourse) -> Iterator[Finding]:
    source = course.layout.folder(course.folders.source_directory, ".")
    names = [assignment.name for assignment in course.layout.assignments()]
    if not names:
        yield Finding("assignments", NOTE, f"{source} has none", "`gradekit new 01_my_topic` writes one")
    for name in RunChecks(config=course.config).per_assignment.keys() - set(names):
        found = f"c.RunChecks.per_assignment has limits for {name}, but {source} has no such assignment"
        yield Finding("assignment", NOTE, found)
    for name in names:
        if odd := "".join(sorted(_OF_PATTERNS & set(name))):
            found = f"{name}: formgrader lists it with 0 submissions, since nbgrader takes names with {odd} for patterns"
            yield Finding("assignment", NOTE, found, "rename it before you release it")
        assignment = course.assignment(name)
        if not assignment.released_names():
            command = f"`nbgrader generate_assignment {quoted(name)} --force`"
            yield Finding("assignment", NOTE, f"{name} has no release", command)
            continue
        try:
            require_bound(assignment)
            Store.load(assignment.checks)
            mistakes_of(assignment)
        except CourseError as error:
            first, *more = str(error).splitlines()
            found = f"{first} (and {len(more)} more)" if more else first
            yield Finding("assignment", MISSING, found, "fix this")
        else:
            yield Finding(
                "assignment", OK, f"{name}: check files belong to test cells, and their points agree"
            )


def _gradebook(course: RunningCourse) -> Finding:
    path = course.gradebook_file
    if path is not None and not path.exists():
        return Finding(
            "gradebook", NOTE, "none yet", "`nbgrader generate_assignment NAME --force` creates it"
        )
    try:
        course.require_gradebook(writing=True)
        with course.gradebook() as gradebook:
            students = len(gradebook.students)
    except CourseError as error:
        found, _, remedy = str(error).rstrip(".").rpartition(": ")
        return Finding("gradebook", MISSING, found, remedy)
    return Finding("gradebook", OK, f"{shown_url(course.folders.db_url)}, {students} students")


def _extra(package: str) -> Finding:
    if version := installed_version(package):
        return Finding(package, OK, version)
    return Finding(package, OPTIONAL, f"not installed; for {_EXTRAS[package]}")
