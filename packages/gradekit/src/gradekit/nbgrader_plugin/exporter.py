"""In autograde, around the steps: opens each notebook of a submission once."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbconvert.exporters import NotebookExporter
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode, v4
from nbgrader.api import Gradebook
from nbgrader.converters import BaseConverter

from gradekit.course import read_notebook
from gradekit.nbgrader_plugin.converters import OneFolder, make_ready, removing_unfinished
from gradekit.nbgrader_plugin.course_folders import stop

if TYPE_CHECKING:  # the configuration imports this module in every command
    from gradekit.verdict.opened import OpenedNotebook
    from gradekit.verdict.progress import NotebookProgress


class SubmissionExporter(NotebookExporter):
    """Exports the notebook that `RepairCells` wrote. Before that, it exports an empty one for `RepairCells` to fill.

    So nbgrader never reads a submitted file itself, and an unreadable one can't stop the class. `opened` is the notebook
    under way, of which `RepairCells` makes a note here for `RunChecks`: nbgrader itself passes on only what it writes.
    `faults` are the students for whom a check is at fault, by what is wrong with it; they end the command, after all students.
    """

    parent: BaseConverter
    opened: "OpenedNotebook"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.faults: dict[str, list[str]] = {}
        make_ready(self.parent)
        if not self.for_command:
            self.parent.convert_notebooks = self._convert_all

    def _convert_all(self) -> None:
        type(self.parent).convert_notebooks(self.parent)
        if self.faults:
            from gradekit.verdict.progress import fault_lines

            stop(self.parent.log, "\n".join(fault_lines(self.faults, self.parent.coursedir.assignment_id)))

    def from_filename(
        self, filename: str, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[NotebookNode, dict[str, Any]]:
        path = Path(filename)
        resources = ResourcesDict() if resources is None else resources
        resources["metadata"] = ResourcesDict(name=path.stem, path=str(path.parent))
        notebook = read_notebook(path) if self._is_repaired(path, resources) else v4.new_notebook()
        with removing_unfinished(self.parent, resources["nbgrader"]):
            exported: tuple[NotebookNode, dict[str, Any]] = self.from_notebook_node(notebook, resources, **kw)
        return exported

    @property
    def for_command(self) -> bool:
        """True if a command of gradekit converts, which has graded before and reports what goes wrong."""
        return isinstance(self.parent, OneFolder)

    def graded(self, name: str) -> "NotebookProgress | None":
        """The notebook as the command has graded it; None if it has not."""
        found: NotebookProgress | None = self.parent.graded.get(name) if self.for_command else None
        return found

    @contextlib.contextmanager
    def gradebook(self, url: str) -> Iterator[Gradebook]:
        """The gradebook that the command has open for the submission, or a new one."""
        if self.for_command:
            yield self.parent.gradebook
        else:
            with Gradebook(url) as gradebook:
                yield gradebook

    def _is_repaired(self, path: Path, resources: dict[str, Any]) -> bool:
        """True in nbgrader's second step, which reads from autograded/ what the first one wrote."""
        folders, names = self.parent.coursedir, resources["nbgrader"]
        written = folders.format_path(folders.autograded_directory, names["student"], names["assignment"])
        return path.parent == Path(written)
