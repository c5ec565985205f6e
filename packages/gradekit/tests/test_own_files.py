"""Files that students hand in beside their notebook are there when it is graded."""

import io
import os
import zipfile

import pytest

from gradekit.grading.cluster import zipped
from gradekit.submission.extra_files import own_files

ANSWER = """\
from factor import FACTOR

def double(x):
    with open("data/summand.txt") as file:
        return FACTOR * x + float(file.read())"""


def hand_in(course, factor: int = 2):
    folder = course.hand_in("ada", course.answer(ANSWER)).parent
    (folder / "factor.py").write_text(f"FACTOR = {factor}")
    (folder / "data").mkdir(exist_ok=True)
    (folder / "data" / "summand.txt").write_text("0")
    return folder


def points(course) -> float:
    return course.grades()["ada"]["test_double"][0]


@pytest.mark.slow
@pytest.mark.parametrize("command", ["nbgrader", "gradekit"])
def test_a_module_and_a_data_file_of_a_student_are_found_by_both_commands(generated, command):
    hand_in(generated)
    done = generated.run(command, "autograde", "01_double")
    assert done.returncode == 0, done.stderr
    assert points(generated) == 10


@pytest.mark.slow
def test_a_changed_file_is_graded_again(generated):
    hand_in(generated, factor=3)
    assert generated.gradekit("autograde", "01_double") == 0
    assert points(generated) < 10
    hand_in(generated)
    assert generated.gradekit("autograde", "01_double", "--force") == 0
    assert points(generated) == 10


@pytest.mark.slow
def test_a_hand_in_of_which_only_a_file_is_newer_is_graded_again(generated):
    """nbgrader#940, otter-grader#764"""
    notebook = hand_in(generated, factor=3) / "double.ipynb"
    assert generated.gradekit("autograde", "01_double") == 0
    before = notebook.stat()
    hand_in(generated)
    os.utime(notebook, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert generated.gradekit("autograde", "01_double") == 0
    assert points(generated) == 10


@pytest.mark.slow
def test_a_file_that_was_handed_out_replaces_the_student_s(generated):
    handed_out = generated.assignment.source_folder / "data"
    handed_out.mkdir()
    (handed_out / "summand.txt").write_text("0")
    folder = hand_in(generated)
    (folder / "data" / "summand.txt").write_text("7")
    assert generated.gradekit("autograde", "01_double") == 0
    assert points(generated) == 10
    named = "data/summand.txt is not the one that was handed out, which was used in its place."
    assert named in generated.running.result("ada", "01_double", "double").notes


@pytest.mark.parametrize("handed_in", [True, False])
@pytest.mark.slow
def test_a_submission_is_graded_once_whether_or_not_what_was_handed_out_lies_beside_it(generated, handed_in):
    (generated.assignment.source_folder / "data").mkdir()
    for name in ("factor.py", "data/summand.txt"):
        (generated.assignment.source_folder / name).write_text("FACTOR = 2" if name == "factor.py" else "0")
    folder = hand_in(generated)
    (folder / "data" / "own.txt").write_text("of ada")
    for name in ("__pycache__", "feedback"):  # nbgrader doesn't copy them
        (folder / name).mkdir()
        (folder / name / "factor.html").write_text("of earlier")
    if not handed_in:
        (folder / "factor.py").unlink()
        (folder / "data" / "summand.txt").unlink()
    assert generated.gradekit("autograde", "01_double") == 0
    assert points(generated) == 10
    assert len(list((generated.root / ".gradekit" / "results" / "01_double").iterdir())) == 1


@pytest.mark.slow
def test_without_a_sandbox_they_are_there_as_well(generated):
    (generated.assignment.source_folder / "data").mkdir()
    (generated.assignment.source_folder / "data" / "more.txt").write_text("0")
    hand_in(generated)
    assert generated.gradekit("autograde", "01_double", "--sandbox", "none") == 0
    assert points(generated) == 10


def test_notebooks_hidden_and_ignored_files_and_nbgraders_own_do_not_count(tmp_path):
    for name in ("a.ipynb", "timestamp.txt", "submission_secret.txt", ".profile", "helper.pyc", "helper.py"):
        (tmp_path / name).touch()
    (tmp_path / ".ipynb_checkpoints").mkdir()
    (tmp_path / "data").mkdir()
    assert [path.name for path in own_files(tmp_path, ["*.pyc"])] == ["data", "helper.py"]
    assert own_files(tmp_path / "nowhere", []) == ()


def test_a_cluster_gets_them_with_the_task(generated):
    folder = hand_in(generated)
    with zipfile.ZipFile(io.BytesIO(zipped(own_files(folder, [])))) as archive:
        assert archive.read("data/summand.txt") == b"0"
        assert archive.read("factor.py") == b"FACTOR = 2"
