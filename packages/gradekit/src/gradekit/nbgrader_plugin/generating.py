"""In generate_assignment: nothing in release/ is lost if it fails, and what can't be released is named before it starts.

That is, cells that can't change, and a solution that fails its checks. Pictures of solutions are removed.

nbgrader removes release/<assignment> before it converts anything, and again after an error. Its exporter is made before
that, and when it has finished, it sets the directory's `student_id` back, whatever happened. In between, the release
is kept beside itself.
"""

import contextlib
import os
import re
import shutil
import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from nbconvert.exporters import NotebookExporter
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode, v4
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.preprocessors import NbGraderPreprocessor, SaveCells
from traitlets import Enum

from gradekit.checks.variants import mistakes_of
from gradekit.course import Assignment, CourseError, blank_copy, read_notebook
from gradekit.course.cells import Record, grade_id, nbgrader_metadata, remember
from gradekit.course.files import STATE_FOLDER
from gradekit.course.kernels import LIMITED, SANDBOX
from gradekit.course.operating_system import locked_file
from gradekit.course.printing import listed, printable, quoted
from gradekit.nbgrader_plugin.bind import CellChanges, cells_in, recorded_cells
from gradekit.nbgrader_plugin.converters import reason_of
from gradekit.nbgrader_plugin.course_folders import (
    require_gradebook,
    source_converted,
    sqlite_file,
    stop,
    url_in,
)
from gradekit.nbgrader_plugin.steps import RunChecks
from gradekit.session.values import CheckOutcome
from gradekit.submission.names import squeezed

if TYPE_CHECKING:
    from gradekit.verdict.results import SubmissionResult

#: a slow or busy machine can cause them
_UNCERTAIN = (CheckOutcome.TIMED_OUT, CheckOutcome.KERNEL_DIED)


class ReleaseExporter(NotebookExporter):
    """nbgrader's exporter. When it is made, it looks at all that can be known before nbgrader removes the release."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        if not isinstance(self.parent, GenerateAssignment):
            return
        converter, folders = self.parent, self.parent.coursedir
        notebooks = {
            _name_in(converter, path): list(map(Path, found)) for path, found in converter.assignments.items()
        }
        for path in chain(*notebooks.values()):
            try:
                read_notebook(path)
            except CourseError as error:
                stop(converter.log, str(error))
        if not converter.no_database:
            require_gradebook(self.log, folders, writing=True)
            if folders.notebook_id == "*":
                for name, paths in notebooks.items():
                    _require_same_notebooks(converter, name, {path.stem for path in paths})
        KeptReleases(converter, {name: [path.name for path in paths] for name, paths in notebooks.items()})


class KeptReleases:
    """The releases as they were, beside the new ones; put back when nbgrader ends without having written them.

    A killed command leaves them there, and the next one puts them back before it begins.
    """

    def __init__(self, converter: GenerateAssignment, notebooks: dict[str, list[str]]) -> None:
        folders = converter.coursedir
        self._whole = folders.notebook_id == "*"
        self._before = sys.exception()
        #: the assignments that are released, by the folders
        self._assignments: dict[Path, str] = {}
        self._root = root = Path(folders.root)
        try:
            self._lock = locked_file(root / STATE_FOLDER / "generating")
            for assignment, names in notebooks.items():
                release = root / folders.format_path(folders.release_directory, ".", assignment)
                for whole in (True, False):  # after a command that was killed
                    _put_back(release, whole)
                if converter.force or not release.exists():  # or nbgrader leaves it alone
                    self._assignments[release] = assignment
                    self._keep(release, names)
        except OSError as error:
            stop(converter.log, f"{', '.join(notebooks)} can't be released: {reason_of(error)}")
        folders.observe(self._ended, "student_id")

    def _keep(self, release: Path, notebooks: list[str]) -> None:
        kept = _kept(release, self._whole)
        if self._whole and release.is_dir() and not release.is_symlink():
            os.rename(release, kept)
        elif not self._whole and release.is_dir():
            kept.mkdir()
            for name in notebooks:
                if (release / name).exists():
                    os.rename(release / name, kept / name)

    def _ended(self, change: Any) -> None:
        change.owner.unobserve(self._ended, "student_id")
        error = sys.exception()
        # NbGraderException: nbgrader has gone through all assignments, and removed what it could not convert
        stopped = error is not self._before and not isinstance(error, NbGraderException)
        try:
            for release in self._assignments:
                if stopped and self._whole:
                    shutil.rmtree(release, ignore_errors=True)
                elif not stopped:
                    self._remember(release)
                if stopped or not release.exists() or not self._whole:
                    _put_back(release, self._whole, over=stopped)
                shutil.rmtree(_kept(release, self._whole), ignore_errors=True)
        finally:
            self._lock.close()

    def _remember(self, release: Path) -> None:
        """Record which cells the notebooks have that they did not have before, and the texts of those that are gone."""
        found: dict[Record, dict[str, set[str]]] = {record: {} for record in Record}
        dropped = self._whole and release.exists()
        for path in _kept(release, self._whole).glob("*.ipynb"):
            with contextlib.suppress(CourseError):  # a release from before could not be read
                before, written = read_notebook(path), release / path.name
                now = read_notebook(written) if written.exists() or not dropped else v4.new_notebook()
                found[Record.ADDED][path.stem] = _marks(now) - _marks(before)
                found[Record.REMOVED][path.stem] = _marks(before) - _marks(now)
                found[Record.REMOVED_TEXTS][path.stem] = _texts(before) - _texts(now)
        for record, by_notebook in found.items():
            if any(by_notebook.values()):
                remember(self._root, self._assignments[release], record, by_notebook)


def _marks(notebook: NotebookNode) -> set[str]:
    return {name for cell in notebook.cells if (name := grade_id(cell))}


def _texts(notebook: NotebookNode) -> set[str]:
    return {squeezed(cell.source) for cell in notebook.cells}


def _put_back(release: Path, whole: bool, over: bool = True) -> None:
    """Put back what was kept; with `over`, in place of what has been written since."""
    kept = _kept(release, whole)
    if not kept.is_dir():
        return
    if whole:
        shutil.rmtree(release, ignore_errors=True)
        os.rename(kept, release)
        return
    release.mkdir(parents=True, exist_ok=True)
    for path in kept.iterdir():
        if over or not (release / path.name).exists():
            os.replace(path, release / path.name)
    shutil.rmtree(kept)


def _kept(release: Path, whole: bool) -> Path:
    """A path next to the release, so that moving it is one step."""
    return release.with_name(f".{release.name}.{'replaced' if whole else 'notebooks'}")


class RequireSameCells(NbGraderPreprocessor):
    """Stops the command if cells were added, removed or retyped, and there are submissions, for which nbgrader prints a traceback."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        names = resources["nbgrader"]
        if SaveCells(config=self.config, parent=self.parent).enabled:
            with Gradebook(names["db_url"]) as gradebook, contextlib.suppress(MissingEntry):
                found = gradebook.find_notebook(names["notebook"], names["assignment"])
                changes = CellChanges(recorded_cells(found), cells_in(nb))
                if changes and found.submissions:
                    stop(
                        self.log,
                        f"{names['notebook']}: {changes}, and there are submissions, for which nbgrader can't change cells. "
                        f"{_remedy(names['assignment'])}",
                    )
        return nb, resources


def _require_same_notebooks(converter: GenerateAssignment, assignment: str, now: set[str]) -> None:
    url = url_in(converter.coursedir)
    file = sqlite_file(url)
    if file is not None and not file.exists():
        return
    with Gradebook(url, converter.coursedir.course_id) as gradebook:
        try:
            entry = gradebook.find_assignment(assignment)
        except MissingEntry:
            return
        before = {notebook.name for notebook in entry.notebooks}
        if before == now or not entry.submissions:
            return
    changes = (now - before, "added"), (before - now, "removed")
    what = [f"{', '.join(sorted(names))} {change}" for names, change in changes if names]
    stop(
        converter.log,
        f"{assignment}: notebooks changed ({'; '.join(what)}), and there are submissions, for which nbgrader can't change "
        f"notebooks. {_remedy(assignment)}",
    )


def _remedy(assignment: str) -> str:
    return (
        f"`gradekit revise {quoted(assignment)}` changes the gradebook and keeps the grades, or undo the change. release/ "
        "was not changed."
    )


def _name_in(converter: GenerateAssignment, path: str) -> str:
    """The assignment whose source folder this is, as nbgrader finds it out."""
    folders = converter.coursedir
    pattern = folders.format_path(folders.source_directory, ".*", "(?P<name>.*)", escape=True)
    found = re.match(pattern, path)
    return found["name"] if found else Path(path).name


class SolutionPasses(NbGraderPreprocessor):
    """Stops the command if the solution fails a hidden check. The release stays as it was then."""

    otherwise = Enum(
        ["refuse", "warn"], "refuse", help="what generate_assignment does if the solution loses points"
    ).tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """`nb` has no solutions any more, so the source is read again."""
        assignment, path = source_converted(self.config, resources)
        self._require_known_mistakes(assignment)
        try:
            result = self._result(assignment, path)
        except CourseError as error:
            self.log.warning(f"{path}: the checks could not be run on the solution. {error}")
            return nb, resources
        if result is None:
            return nb, resources
        lost = [(name, check) for name, check in result.named_checks() if check.earned < check.points]
        lines = [
            f"{path}: the solution doesn't pass {name} ({c.outcome}). {c.message}".rstrip()
            for name, c in lost
        ]
        if any(check.outcome not in _UNCERTAIN for _, check in lost) and self.otherwise == "refuse":
            lines.append(
                "Nothing was released: correct the solution or the check. To be warned only: "
                'c.SolutionPasses.otherwise = "warn"'
            )
            stop(self.log, "\n".join(lines))
        for line in lines:
            self.log.warning(line)
        return nb, resources

    def _require_known_mistakes(self, assignment: Assignment) -> None:
        """Grading reads them, too: without this, the first hand-in would show that they can't be read."""
        try:
            mistakes_of(assignment)
        except CourseError as error:
            if self.otherwise == "refuse":
                stop(self.log, f"{error}. Nothing was released.")
            self.log.warning(error)

    def _result(self, assignment: Assignment, path: Path) -> "SubmissionResult | None":
        """The graded solution, or None if the notebook has no hidden checks."""
        from gradekit.verdict.grade import grade
        from gradekit.verdict.opened import GradingJob
        from sandbox_kernel.bubblewrap import sandbox_problem

        source = read_notebook(path)
        if not assignment.bound_cells(path.stem, source.cells):
            return None
        checks = RunChecks(config=self.config)
        trusted = LIMITED if checks.student_kernel == SANDBOX and sandbox_problem() else ""
        how = checks.how_to_run(assignment.name, trusted)
        return grade(GradingJob(assignment, path.stem, source, blank_copy(source), how)).result


class RemoveSolutionPictures(NbGraderPreprocessor):
    """Removes the attachments of answers and tasks to which the released text no longer refers.

    nbgrader clears the text of a solution, but leaves the picture in the file (nbgrader#1782).
    """

    def preprocess_cell(
        self, cell: NotebookNode, resources: ResourcesDict, index: int
    ) -> tuple[NotebookNode, ResourcesDict]:
        marks = nbgrader_metadata(cell)
        if "attachments" in cell and (marks.get("solution") or marks.get("task")):
            removed = [name for name in cell.attachments if not _is_shown(name, cell.source)]
            for name in removed:
                del cell.attachments[name]
            if not cell.attachments:
                del cell["attachments"]
            if removed:
                self.log.info(
                    "The cell `%s` is released without %s: only the solution or the marking scheme shows it.",
                    printable(grade_id(cell) or "", 80),
                    listed(printable(name, 80) for name in removed),
                )
        return cell, resources


def _is_shown(name: str, source: str) -> bool:
    return any(f"attachment:{written}" in source for written in (name, quote(name)))
