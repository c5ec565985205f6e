"""The checks of one notebook, collected by pytest once and run on one submission after another.

pytest collects, runs and ends within one call, which would import the check files again for every submission. Its hook for
the loop over the collected checks is where this can be changed: there, the call waits in a greenlet for the next submission.
A check sees no difference, except that the top level of its module runs only once: fixtures of every scope are set up
and torn down for each submission.
"""

import atexit
import contextvars
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, suppress
from itertools import zip_longest
from pathlib import Path
from types import ModuleType

import pytest
from greenlet import GreenletExit, getcurrent, greenlet

from gradekit.checks.variants import importable
from gradekit.course import Assignment, CourseError
from gradekit.course.files import file_stamp
from gradekit.verdict.plugin import CHECKINGS, Checking

_UNUSED = (
    *("terminal", "cacheprovider", "faulthandler", "warnings", "logging", "junitxml", "pastebin", "doctest"),
    *("debugging", "setuponly", "setupplan", "stepwise", "legacypath", "unittest"),
    *("unraisableexception", "threadexception"),  # they collect garbage five times per run, which takes 0.4 s
)
_PLUGIN = "gradekit.verdict.plugin"
#: the most notebooks whose checks are kept
_KEPT = 4


#: torch records up to 64 C frames of each error it raises; each level has at least two
_LEVELS = 32


def _far_from_the_start(call: Callable[[], int], levels: int = _LEVELS) -> int:
    """Call with so many C frames in between that torch, when it raises an error, doesn't walk past the start of the greenlet.

    What lies beyond the start has changed when the greenlet goes on, so the process would crash there.
    """
    return call() if not levels else next(map(lambda left: _far_from_the_start(call, left), [levels - 1]))


class GraderCrash(Exception):
    """The grader itself failed on one submission, which must not keep the others from being graded."""


class CollectedChecks:
    """The checks in `files`, in this order; they belong to the notebook called `name`.

    Raises (from every method):
        CourseError: pytest can't run the checks.
        GraderCrash: pytest itself failed.
    """

    def __init__(self, assignment: Assignment, name: str, files: Sequence[Path]) -> None:
        self.items: list[pytest.Item] = []
        self._assignment, self._name, self._files = assignment, name, list(files)
        self._problems: dict[Path, str] = {}
        self._crash = ""
        self._modules: dict[str, ModuleType] = {}
        self._config: pytest.Config | None = None
        self._job: tuple[Sequence[Path], bool] = ((), False)
        self._failed = False
        self._pytest = greenlet(lambda: _far_from_the_start(self._main))
        self._go_on()
        self._read = {path: file_stamp(path) for path in self._sources()}

    def are_of(self, files: Sequence[Path]) -> bool:
        """True if these are the checks in `files`, as they are now, and pytest still runs."""
        unchanged = all(file_stamp(path) == stamp for path, stamp in self._read.items())
        return not self._pytest.dead and self._files == list(files) and unchanged

    def have_imported(self, files: Sequence[Path]) -> None:
        """Raise CourseError if one of these files can't be imported."""
        places = {place for file in files for place in (file, *file.parents)}
        if problems := [problem for place, problem in self._problems.items() if place in places]:
            raise self._error(problems)

    def run(self, checking: Checking, files: Sequence[Path], first_failure: bool = False) -> None:
        """Run the checks in these of the files on one submission; the results are in `checking` afterwards.

        With `first_failure`, stop at the first check that fails.
        """
        self.have_imported(files)
        assert self._config is not None
        if not any(item.path in files for item in self.items):
            raise self._error([f"{', '.join(file.name for file in files)}: no check found"])
        self._config.stash[CHECKINGS] = {(self._assignment.checks, self._name): checking}
        self._job = files, first_failure
        try:
            self._go_on()
        finally:
            self._config.stash[CHECKINGS] = {}

    def close(self) -> None:
        """Let pytest end."""
        if not self._pytest.dead:
            with chdir(os.curdir):  # pytest changes to the folder in which it was started
                self._pytest.throw()

    def _go_on(self) -> None:
        """Let pytest continue until it has collected the checks, or run them on one submission."""
        self._pytest.gr_context = contextvars.copy_context()  # a greenlet would otherwise have its own
        course = self._assignment.course
        folders = dict.fromkeys([*(file.parent for file in self._files), self._assignment.checks])
        others = [course.root / course.tests, course.root / "conftest.py"]
        with importable(folders, others, self._modules), chdir(os.curdir):
            code = self._pytest.switch()
        if self._crash:
            raise GraderCrash(f"grading the checks of {self._assignment.name} crashed: {self._crash}")
        if self._pytest.dead:
            raise self._error([*self._problems.values()] or [str(code)])

    def _error(self, problems: list[str]) -> CourseError:
        return CourseError(f"The checks of {self._assignment.name} can't run. " + "; ".join(problems))

    def _main(self) -> int:
        root = str(self._assignment.course.root)
        # neither other installed plugins nor settings of the course's own tests may affect a grade
        options = ["--disable-plugin-autoload", "-p", _PLUGIN]
        options += [part for name in _UNUSED for part in ("-p", f"no:{name}")]
        options += ["-c", os.devnull, "--rootdir", root, "--confcutdir", root, "--import-mode=importlib"]
        options += ["-o", "python_files=*.py"]  # a check file has the name of its test cell, whatever that is
        # given single files, pytest would search the folder for each of them
        options += ["--assert=plain", "--capture=no", str(self._assignment.checks)]
        return pytest.main(options, plugins=[self])

    def _sources(self) -> Iterator[Path]:
        """The files that pytest has imported, or would have if they existed, and those that the modules may have read."""
        yield from (*self._files, *self._assignment.data_of_checks())
        yield from (Path(str(module.__file__)) for module in self._modules.values())
        root = self._assignment.course.root
        folders = {folder for file in self._files for folder in file.parents if folder.is_relative_to(root)}
        yield from (folder / "conftest.py" for folder in folders)

    def _run(self, files: Sequence[Path], first_failure: bool) -> None:
        chosen = [item for item in self.items if item.path in files]
        self._failed = False
        for item, following in zip_longest(chosen, chosen[1:]):
            # any check may be the last one, so each has to tear down all fixtures
            following = None if first_failure else following
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self._failed and first_failure:
                break

    # pytest's hooks

    def pytest_configure(self, config: pytest.Config) -> None:
        self._config = config
        config.option.tbstyle = "line"  # nobody sees the traceback, and formatting a long one is slow

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        wanted = any(collection_path == file or collection_path in file.parents for file in self._files)
        return True if self._assignment.checks in collection_path.parents and not wanted else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: self._files.index(item.path))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            place = self._assignment.course.root / report.nodeid.partition("::")[0]
            self._problems[place] = _in_a_line(report)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._failed = self._failed or report.failed

    def pytest_internalerror(self, excrepr: object) -> None:
        self._crash = str(excrepr).strip().splitlines()[-1]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.items = session.items
        caller = getcurrent().parent
        assert caller is not None
        with suppress(GreenletExit):
            while True:
                caller.switch()
                self._run(*self._job)
        return True


_collected: dict[tuple[Path, str], CollectedChecks] = {}


def collected_checks(assignment: Assignment, name: str, files: Sequence[Path]) -> CollectedChecks:
    """The checks in these files, which belong to the notebook called `name`; collected if they aren't yet.

    Raises:
        CourseError: pytest can't collect them.
        GraderCrash: pytest itself failed.
    """
    key = assignment.checks, name
    checks = _collected.pop(key, None)
    if checks is None or not checks.are_of(files):
        if checks:
            checks.close()
        while len(_collected) >= _KEPT:
            _collected.pop(next(iter(_collected))).close()
        checks = CollectedChecks(assignment, name, files)
    _collected[key] = checks  # the last one used is the last to be removed
    return checks


@atexit.register
def _close_all() -> None:
    for checks in _collected.values():
        checks.close()


def _in_a_line(report: pytest.CollectReport) -> str:
    """One line that says where and why a check file can't be imported."""
    text = str(report.longrepr)
    name = re.escape(Path(report.nodeid).name)
    lines = re.findall(rf'{name}(?:", line |:)(\d+)', text)
    place = f"{report.nodeid}, line {lines[-1]}" if lines else report.nodeid
    return f"{place}: {text.strip().splitlines()[-1].removeprefix('E').strip()}"
