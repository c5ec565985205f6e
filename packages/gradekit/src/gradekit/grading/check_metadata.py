"""Speeds up nbgrader's check of its metadata by remembering valid cells: most are the same in all submissions."""

import json
from collections.abc import Hashable
from functools import cache

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.nbgraderformat import MetadataValidator, ValidationError
from nbgrader.preprocessors import CheckCellMetadata

#: how many cells are remembered; a class whose students change their metadata must not fill the memory
_MOST = 10_000


class CheckMetadata(CheckCellMetadata):
    """Replaces CheckCellMetadata where one process converts a whole class."""

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
