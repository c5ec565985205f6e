"""What one process does once for a whole class: compiled queries, and valid metadata of cells."""

import pytest
from nbgrader.api import Gradebook
from nbgrader.nbgraderformat import ValidationError

from gradekit.grading.class_steps import CheckMetadata
from gradekit.grading.shared_queries import sharing_queries


def test_a_query_is_compiled_once_for_all_gradebooks_of_a_database(tmp_path):
    url = sharing_queries(f"sqlite:///{tmp_path}/gradebook.db")
    sizes = []
    for student in ("ann", "ben"):
        with Gradebook(url, "course") as gradebook:
            gradebook.update_or_create_student(student)
            sizes.append(len(gradebook.engine.get_execution_options()["compiled_cache"]))
    assert sizes[0] > 0
    assert sizes[1] - sizes[0] <= 1  # the database is empty for the first one only
    with Gradebook(url, "course") as gradebook:
        assert sorted(student.id for student in gradebook.students) == ["ann", "ben"]


def test_databases_share_nothing(tmp_path):
    books = [Gradebook(sharing_queries(f"sqlite:///{tmp_path}/{name}.db"), "course") for name in "ab"]
    caches = [book.engine.get_execution_options()["compiled_cache"] for book in books]
    assert caches[0] is not caches[1]
    books[0].add_student("ann")
    assert [len(book.students) for book in books] == [1, 0]
    for book in books:
        book.close()


def test_a_database_that_could_not_be_opened_leaves_nothing_behind(tmp_path):
    url = sharing_queries(f"sqlite:///{tmp_path}/missing/gradebook.db")
    with pytest.raises(Exception, match="unable to open"):
        Gradebook(url, "course")
    (tmp_path / "missing").mkdir()
    with Gradebook(url, "course") as gradebook:
        assert gradebook.students == []


def test_the_password_stays_in_the_url_and_other_parameters_too():
    assert sharing_queries("postgresql+psycopg2://me:secret@host/db?sslmode=require") == (
        "postgresql+psycopg2://me:secret@host/db?plugin=gradekit&sslmode=require"
    )


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
