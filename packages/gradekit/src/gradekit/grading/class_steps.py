"""nbgrader's steps where one process converts a class: they do the same with less, and have the settings of nbgrader's.

Those that look into the gradebook use the rows that have been read for the submission.
"""

import json
from collections.abc import Hashable
from functools import cache
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.api import (
    BaseCell,
    Gradebook,
    GradeCell,
    MissingEntry,
    Notebook,
    SourceCell,
    SubmittedNotebook,
    TaskCell,
)
from nbgrader.nbgraderformat import MetadataValidator, ValidationError
from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    NbGraderPreprocessor,
    OverwriteCells,
    OverwriteKernelspec,
)

from gradekit.nbgrader_plugin.steps import SubmissionExporter

#: how many cells are remembered; a class whose students change their metadata must not fill the memory
_MOST = 10_000


class CheckMetadata(CheckCellMetadata):
    """Remembers valid cells: most are the same in all submissions."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        try:
            _validator().validate_nb(nb)
        except ValidationError:
            super().preprocess(nb, resources)  # it says what is wrong, and raises the same error
        return nb, resources


class _Validator(MetadataValidator):
    """Validates each cell once."""

    def __init__(self) -> None:
        super().__init__()
        self._valid: set[Hashable] = set()

    def validate_cell(self, cell: NotebookNode) -> None:
        if "nbgrader" not in cell.metadata:
            return
        key = cell.cell_type, json.dumps(cell.metadata["nbgrader"], sort_keys=True)
        if key not in self._valid:
            super().validate_cell(cell)
            if len(self._valid) < _MOST:
                self._valid.add(key)


@cache
def _validator() -> _Validator:
    return _Validator()


class SetKernelspec(OverwriteKernelspec):
    """Takes it from the row of the notebook."""

    parent: SubmissionExporter

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        source = _row(self.parent, resources).notebook
        if source.kernelspec and (kernelspec := json.loads(source.kernelspec)):
            nb.metadata["kernelspec"] = kernelspec
        return nb, resources


class SetCells(OverwriteCells):
    """Reads the rows of all cells at once."""

    parent: SubmissionExporter

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        names = resources["nbgrader"]
        self.notebook_id, self.assignment_id = names["notebook"], names["assignment"]
        self.gradebook = _Cells(self.parent.parent.gradebook, _row(self.parent, resources).notebook)
        nb, resources = NbGraderPreprocessor.preprocess(self, nb, resources)
        if self.add_missing_cells:
            nb, resources = self.add_missing_grade_cells(nb, resources)
            nb, resources = self.add_missing_task_cells(nb, resources)
        return nb, resources


class _Cells:
    """A notebook's cells in the gradebook, by the methods with which OverwriteCells asks for them."""

    def __init__(self, gradebook: Gradebook, notebook: Notebook) -> None:
        self._notebook = notebook
        self._sources, graded, tasks = (
            {cell.name: cell for cell in gradebook.db.query(kind).filter(kind.notebook_id == notebook.id)}
            for kind in (SourceCell, GradeCell, TaskCell)
        )
        self._graded = tasks | graded

    def find_notebook(self, notebook: str, assignment: str) -> Notebook:
        return self._notebook

    def find_source_cell(self, name: str, notebook: str, assignment: str) -> SourceCell:
        return _found(self._sources, name)

    def find_graded_cell(self, name: str, notebook: str, assignment: str) -> BaseCell:
        return _found(self._graded, name)


def _found(cells: dict[str, Any], name: str) -> Any:
    if name not in cells:
        raise MissingEntry(f"the gradebook has no cell {name}")
    return cells[name]


class SetLatePenalties(AssignLatePenalties):
    """Leaves out what has no effect: a submission in time has no penalty, unless it had one before."""

    parent: SubmissionExporter

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        found = _row(self.parent, resources)
        if found.late_submission_penalty is not None or found.assignment.total_seconds_late > 0:
            super().preprocess(nb, resources)  # it leaves the notebook as it is
        return nb, resources


def _row(exporter: SubmissionExporter, resources: ResourcesDict) -> SubmittedNotebook:
    """The row of the notebook that is converted."""
    found: SubmittedNotebook = exporter.parent.submitted[resources["nbgrader"]["notebook"]]
    return found


#: what is used for a step of nbgrader
IN_A_CLASS: dict[type, type] = {
    CheckCellMetadata: CheckMetadata,
    OverwriteKernelspec: SetKernelspec,
    OverwriteCells: SetCells,
    AssignLatePenalties: SetLatePenalties,
}
