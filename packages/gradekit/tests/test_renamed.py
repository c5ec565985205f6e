"""Notebooks of an assignment under other names: what is recognized, and what is left to a person."""

import os
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

from gradekit.course import Assignment, Course
from gradekit.submission.extra_files import put_endings_right, recognize
from gradekit.submission.notebook_file import read_submitted

EXPECTED = {"attention": {"scores", "mask"}, "lab1": {"warm_up"}}


def found(
    files: dict[str, set[str]], expected: dict[str, set[str]] = EXPECTED, trusting: bool = False
) -> tuple:
    """Files by name with the grade_ids inside; gives what is recognized, unclear, and neither."""
    paths = {Path(name): name for name in files}
    known = recognize(paths, expected, lambda path: files[str(path)], trusting)
    notebooks, unclear = (
        {name: sorted(map(str, several)) for name, several in group.items()}
        for group in (known.notebooks, known.unclear)
    )
    return notebooks, unclear, sorted(map(str, known.others))


@pytest.mark.parametrize(
    "name",
    [
        *(
            "attention.ipynb",
            "Attention.ipynb",
            "attention (1).ipynb",
            "attention-2.ipynb",
            "attention(3).IPYNB",
        ),
        *("attention-final.ipynb", "attention_v2.ipynb", "my attention.ipynb", "Doe_Attention_2.ipynb"),
        *("attention.ipynb.txt", "attention.ipynb.json", "Copy of attention.ipynb", "attention2.ipynb"),
    ],
)
def test_a_similar_name_is_recognized(name):
    assert found({name: set()}) == ({"attention": [name]}, {}, [])


@pytest.mark.parametrize(
    "name", ["attentions.ipynb", "inattention.ipynb", "lab10.ipynb", "lab.ipynb", "-1.ipynb"]
)
def test_a_name_that_only_contains_the_letters_is_not_recognized(name):
    assert found({name: set()}) == ({}, {}, [name])


def test_grade_ids_say_more_than_names():
    files = {"lab1-attention.ipynb": {"mask"}, "attention-lab.ipynb": {"warm_up"}}
    assert found(files)[0] == {"attention": ["lab1-attention.ipynb"], "lab1": ["attention-lab.ipynb"]}


def test_a_number_in_a_name_is_compared_as_a_whole():
    assert found({"lab1_final.ipynb": set(), "lab10.ipynb": set()}) == (
        {"lab1": ["lab1_final.ipynb"]},
        {},
        ["lab10.ipynb"],
    )


def test_a_notebook_of_another_assignment_is_not_recognized_whatever_its_name():
    files = {"attention_modules.ipynb": {"multi_head"}}
    assert found(files)[2] == ["attention_modules.ipynb"]
    assert found(files, {"attention": {"mask"}}, trusting=True)[2] == ["attention_modules.ipynb"]


def test_an_exact_name_needs_no_look_inside():
    assert recognize({Path("a"): "lab1.ipynb"}, EXPECTED, {}.__getitem__).notebooks == {"lab1": [Path("a")]}


def test_grade_ids_in_two_notebooks_of_the_assignment_leave_it_to_the_name():
    expected = {"attention": {"f"}, "lab1": {"f"}}
    assert found({"lab1-final.ipynb": {"f"}}, expected)[0] == {"lab1": ["lab1-final.ipynb"]}
    assert found({"x.ipynb": {"f"}}, expected)[2] == ["x.ipynb"]


def test_the_right_name_counts_and_another_version_is_left_over():
    files = {"attention.ipynb": set(), "attention-old.ipynb": {"mask"}}
    assert found(files) == ({"attention": ["attention.ipynb"]}, {}, ["attention-old.ipynb"])


def test_copies_of_one_name_belong_together_and_different_names_are_unclear():
    copies = {"attention-final.ipynb": {"mask"}, "attention-final-1.ipynb": {"mask"}}
    assert found(copies)[0] == {"attention": sorted(copies)}
    versions = {"attention-final.ipynb": {"mask"}, "attention-old.ipynb": {"mask"}}
    assert found(versions) == ({}, {"attention": sorted(versions)}, [])


def test_an_only_file_is_trusted_only_when_told_to_and_when_one_is_expected():
    one = {"attention": {"mask"}}
    assert found({"Untitled.ipynb": set()}, one, trusting=True)[0] == {"attention": ["Untitled.ipynb"]}
    assert found({"Untitled.ipynb": set()}, one)[2] == ["Untitled.ipynb"]
    assert found({"Untitled.ipynb": set()}, trusting=True)[2] == ["Untitled.ipynb"]
    assert found({"a.ipynb": set(), "b.ipynb": set()}, one, trusting=True)[2] == ["a.ipynb", "b.ipynb"]
    assert found({"attention.ipynb": set(), "b.ipynb": set()}, one, trusting=True)[2] == ["b.ipynb"]


def write(path: Path, *grade_ids: str) -> None:
    cells = [v4.new_code_cell("x", metadata={"nbgrader": {"grade_id": name}}) for name in grade_ids]
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(v4.new_notebook(cells=cells), path)


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    found = Course(tmp_path).assignment("01")
    for name, grade_ids in EXPECTED.items():
        write(found.release_folder / f"{name}.ipynb", *sorted(grade_ids))
    return found


def test_each_notebook_in_a_submission_folder_is_read_under_its_other_name(assignment, tmp_path):
    write(tmp_path / "jane" / "one.ipynb", "mask")
    write(tmp_path / "jane" / "two.ipynb", "warm_up")
    for name, other in [("attention", "one"), ("lab1", "two")]:
        submitted = read_submitted(tmp_path / "jane" / f"{name}.ipynb", assignment)
        assert submitted.notes == [f"Handed in as {other}.ipynb; it was graded as {name}.ipynb."]


def test_two_versions_in_a_submission_folder_are_left_to_a_person(assignment, tmp_path):
    for name in ("attention-a", "attention-b"):
        write(tmp_path / "jane" / f"{name}.ipynb", "mask")
    submitted = read_submitted(tmp_path / "jane" / "attention.ipynb", assignment)
    assert submitted.missing
    assert submitted.problem == (
        "attention.ipynb was not handed in: "
        "rename the right one of attention-a.ipynb, attention-b.ipynb to attention.ipynb."
    )


def test_many_unrelated_notebooks_in_a_submission_folder_are_not_read(assignment, tmp_path):
    for number in range(11):
        write(tmp_path / "jane" / f"attention-{number}x.ipynb", "mask")
    submitted = read_submitted(tmp_path / "jane" / "attention.ipynb", assignment)
    assert submitted.missing
    assert "and 6 more" in submitted.problem


def test_of_many_notebooks_beside_the_right_one_some_are_named(assignment, tmp_path):
    write(tmp_path / "jane" / "attention.ipynb", "mask")
    for number in range(11):
        write(tmp_path / "jane" / f"x{number}.ipynb", "of another course")
    submitted = read_submitted(tmp_path / "jane" / "attention.ipynb", assignment)
    assert submitted.notes[-1] == (
        "These notebooks were not graded: x0.ipynb, x1.ipynb, x10.ipynb, x2.ipynb, x3.ipynb and 6 more."
    )


def test_endings_that_nbgrader_does_not_read_are_put_right(tmp_path):
    for name in ("a.ipynb.txt", "b.IPYNB", "c.ipynb", "c.ipynb.json", "notes.txt"):
        (tmp_path / "jane" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "jane" / name).write_text(name)
    sentences = put_endings_right(str(tmp_path / "jane"))
    assert len(sentences) == 3
    files = {path.name: path.read_text() for path in (tmp_path / "jane").iterdir()}
    renamed = {"a.ipynb": "a.ipynb.txt", "b.ipynb": "b.IPYNB", "c (1).ipynb": "c.ipynb.json"}
    assert files == renamed | {"c.ipynb": "c.ipynb", "notes.txt": "notes.txt"}


def test_the_newer_of_two_versions_may_get_the_right_name(tmp_path):
    for name, time in (("a.ipynb", 1), ("a.ipynb.txt", 2), ("b.ipynb.txt", 1), ("b.ipynb", 2)):
        (tmp_path / name).write_text(name)
        os.utime(tmp_path / name, (time, time))
    assert len(put_endings_right(str(tmp_path), newest=True)) == 3
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "a.ipynb": "a.ipynb.txt",
        "a (1).ipynb": "a.ipynb",
        "b.ipynb": "b.ipynb",
        "b (1).ipynb": "b.ipynb.txt",
    }


def test_nothing_is_renamed_behind_a_link(tmp_path):
    (tmp_path / "a.ipynb.txt").touch()
    (tmp_path / "jane").symlink_to(tmp_path)
    assert put_endings_right(str(tmp_path / "jane")) == []
