"""Comments of known answers are not taken for the answer to an empty question beside them."""

import json
from pathlib import Path

import pytest

from gradekit.checks.variants import Variant, alternatives_of, mistakes_of
from gradekit.course import Course, blank_copy, read_notebook
from gradekit.course.cells import find_cell, grade_id, without_markers
from gradekit.submission.restore import restored
from gradekit.submission.texts import is_written_answer

ASSIGNMENTS = Course(Path(__file__).parents[2]).assignments()
UNSEEN = Path(__file__).parent / "unseen"
#: checked in every run of the tests
EXAMPLE = "01_positional_encoding"


def known_answers(assignment):
    unseen = json.loads((UNSEEN / f"{assignment.name}.json").read_text())
    found = [Variant(one["name"], one["cell"], source=one["source"]) for one in unseen]
    return [*mistakes_of(assignment), *alternatives_of(assignment), *found]


@pytest.mark.slow
@pytest.mark.parametrize(
    "assignment",
    [
        pytest.param(a, id=a.name, marks=[] if a.name == EXAMPLE else pytest.mark.thorough)
        for a in ASSIGNMENTS
        if a.name != "00_warm_up"  # has no written answer
    ],
)
def test_nobody_has_to_look_at_an_empty_written_answer_beside_a_known_answer(assignment):
    (path,) = assignment.source_notebooks()
    source = read_notebook(path)
    released = blank_copy(source)
    written = [grade_id(cell) for cell in released.cells if grade_id(cell) and is_written_answer(cell)]
    assert written
    for answer in known_answers(assignment):
        submitted = answer.apply(source)
        for cell in submitted.cells:
            cell.source = without_markers(cell.source)
        for name in written:
            find_cell(submitted, name).source = find_cell(released, name).source
        found = restored(submitted, released)
        assert [doubt.why for doubt in found.doubts if doubt.grade_id in written] == [], answer.name
        for name in written:
            assert find_cell(found.notebook, name).source == find_cell(released, name).source, answer.name
