"""What one process does once for a whole class: it looks at valid metadata of cells."""

import pytest
from nbgrader.nbgraderformat import ValidationError

from gradekit.grading.write import CheckMetadata


def change_id(metadata):
    metadata["grade_id"] = "no id at all"


def drop_points(metadata):
    del metadata["points"]


@pytest.mark.parametrize("change", [change_id, drop_points])
def test_valid_cells_are_remembered_and_changed_ones_still_refused(tiny_source, change):
    step = CheckMetadata()
    assert step.preprocess(tiny_source, {}) == (tiny_source, {})
    (cell,) = [
        cell
        for cell in tiny_source.cells
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "test_double"
    ]
    change(cell.metadata["nbgrader"])
    with pytest.raises(ValidationError):
        step.preprocess(tiny_source, {})


def test_doubled_ids_are_refused_although_each_cell_is_valid(tiny_source):
    step = CheckMetadata()
    step.preprocess(tiny_source, {})
    tiny_source.cells.append(tiny_source.cells[-1].copy())
    with pytest.raises(ValidationError):
        step.preprocess(tiny_source, {})
