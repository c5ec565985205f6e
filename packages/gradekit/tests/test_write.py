"""Writing the results of a class when grading or writing fails."""

import errno
import json
import os
import runpy
import shutil
from contextlib import closing
from dataclasses import replace

import pytest
from nbformat import v4

from gradekit.grading.autograde import ClassGrading, GradingOptions, SubmissionProgress
from gradekit.grading.running_course import RunningCourse
from gradekit.grading.workers import Task, carry_out
from gradekit.grading.write import AutogradeOne, Writer
from gradekit.nbgrader_plugin.converters import reason_of
from gradekit.report.table import class_table
from gradekit.verdict.opened import GradingJob
from gradekit.verdict.result_cache import CacheKey

from .needs import mostly_thorough
from .one_notebook import in_progress
from .tiny_course import RIGHT_HALF


def test_a_failure_of_the_grader_gets_a_row_without_points_and_a_sentence(generated):
    generated.hand_in("ann", generated.answer("def double(x): return 2 * x"))
    notebook = in_progress(generated.assignment, "double", v4.new_notebook(), failure="OSError: disk full")
    problems = Writer(RunningCourse.open(generated.root)).write(
        SubmissionProgress("ann", [notebook]), "01_double"
    )
    assert problems == []
    (row,) = class_table(generated.running, generated.assignment).rows
    assert (row.status, row.total) == ("kernel died", None)
    assert "disk full" in generated.autograded("ann").metadata["gradekit"]["notes"][0]


def test_an_exception_in_the_grader_is_reported_and_not_raised():
    nothing = GradingJob(None, "double", v4.new_notebook(), None)
    found = carry_out(Task("ann", nothing, CacheKey("", {}), None))
    assert found.cached is None
    assert "AttributeError" in found.failure


RIGHT = "def double(x):\n    return 2 * x"


def autograde(course):
    return course.gradekit("autograde", "01_double", "--workers", "1")


@pytest.mark.slow
def test_a_student_whose_folder_can_t_be_written_is_named_and_the_others_are_graded(generated, capfd):
    for student in ("ann", "ben"):
        generated.hand_in(student, generated.answer(RIGHT))
    (generated.root / "autograded").mkdir(exist_ok=True)
    (generated.root / "autograded" / "ann").write_text("in the way")
    assert autograde(generated) == 1
    output = capfd.readouterr()
    (line,) = [line for line in output.out.splitlines() if line.startswith("  ann: not written")]
    assert line.startswith("  ann: not written: Not a directory: ")
    assert "Traceback" not in output.out + output.err
    assert generated.grades()["ben"]["test_double"][0] == 10


@pytest.mark.slow
def test_what_can_t_be_set_aside_costs_its_student_alone_the_grades(generated, capfd):
    for student in ("ann", "ben"):
        generated.hand_in(student, generated.answer(RIGHT))
    os.mkfifo(generated.root / "submitted" / "ann" / "01_double" / "data")
    (generated.root / ".gradekit").mkdir(exist_ok=True)
    (generated.root / ".gradekit" / "set_aside").write_text("in the way")
    assert autograde(generated) == 1
    output = capfd.readouterr().out
    assert "can't be set aside" in output
    assert "remove it yourself" in output
    statuses = {row.student: row.status for row in class_table(generated.running, generated.assignment).rows}
    assert statuses == {"ann": "not autograded", "ben": "graded"}


def test_a_folder_in_which_nothing_can_be_written_ends_the_command_with_one_sentence(generated, capfd):
    generated.hand_in("ann", generated.answer(RIGHT))
    folder = generated.root / "autograded"
    if folder.exists():
        shutil.rmtree(folder)
    folder.write_text("not a folder")
    assert autograde(generated) == 2
    (line,) = [line for line in capfd.readouterr().err.splitlines() if line.startswith("gradekit: ")]
    assert line == f"gradekit: {folder} can't be written: File exists"


@pytest.mark.slow
def test_a_full_disk_ends_the_command_with_one_sentence(generated, capfd, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "autograded/ann")

    generated.hand_in("ann", generated.answer(RIGHT))
    monkeypatch.setattr(AutogradeOne, "write_single_notebook", full)
    assert autograde(generated) == 2
    (line,) = [line for line in capfd.readouterr().err.splitlines() if line.startswith("gradekit: ")]
    assert line.startswith("gradekit: No space left on device: autograded/ann. Free some space")


@pytest.mark.slow
def test_an_autograded_notebook_is_written_once_and_atomically(generated, monkeypatch):
    """Another command may read it, or this one be killed, at any moment."""
    folder = generated.root / "autograded" / "ann" / "01_double"
    write = AutogradeOne.write_single_notebook
    seen = []

    def watched(self, output, resources):
        before = [path.name for path in folder.iterdir()] if folder.exists() else []
        write(self, output, resources)
        seen.append((before, [path.name for path in folder.iterdir()]))
        json.loads((folder / "double.ipynb").read_text())

    monkeypatch.setattr(AutogradeOne, "write_single_notebook", watched)
    generated.hand_in("ann", generated.answer(RIGHT))
    assert autograde(generated) == 0
    assert seen == [([], ["double.ipynb"])]


# ------------------------------------------------------------------- is what is written the one that was graded?

#: a step that repairs an answer before it is graded
STEP = """
from nbgrader.preprocessors import NbGraderPreprocessor

class Doubling(NbGraderPreprocessor):
    def preprocess(self, nb, resources):
        for cell in nb.cells:
            cell.source = cell.source.replace("return 3 * x", "return 2 * x")
        return nb, resources

c.Autograde.sanitize_preprocessors.append(Doubling)
"""


def graded(course, student):
    """The student's results, which have not been written."""
    with closing(ClassGrading(course.running, course.assignment, GradingOptions(1))) as run:
        (submission,) = run.grade([student])
    return submission


@pytest.mark.slow
def test_a_result_is_written_and_not_computed_again(empty_class):
    empty_class.hand_in("ann", empty_class.answer(RIGHT, RIGHT_HALF))
    submission = graded(empty_class, "ann")
    assert empty_class.gradings().total() == 2
    cache = empty_class.root / ".gradekit" / "results"
    cache.rename(aside := cache.with_name("aside"))
    assert Writer(empty_class.running).write(submission, "01_double") == []
    assert empty_class.gradings().total() == 0
    assert empty_class.grades()["ann"]["test_double"] == (10, None, False)
    written = (empty_class.root / "autograded/ann/01_double/double.ipynb").read_text()
    aside.rename(cache)
    assert empty_class.gradekit("autograde", "01_double", "--force", "--workers", "1") == 0
    assert (empty_class.root / "autograded/ann/01_double/double.ipynb").read_text() == written


@pytest.mark.slow
@pytest.mark.parametrize("suspect", mostly_thorough([[], ["it took too long"]]))
def test_what_was_handed_in_while_the_class_was_graded_is_graded_and_named(empty_class, capfd, suspect):
    empty_class.hand_in("ann", empty_class.answer(RIGHT, RIGHT_HALF))
    submission = graded(empty_class, "ann")
    (notebook,) = submission.notebooks
    notebook.cached.result = replace(notebook.cached.result, suspect=suspect)
    empty_class.hand_in("ann", empty_class.answer("pass", RIGHT_HALF))
    assert Writer(empty_class.running).write(submission, "01_double") == []
    assert "ann: double.ipynb was graded again, since it is not what was graded before" in (
        sentence := capfd.readouterr().err
    )
    assert "(different: submission)" in sentence
    assert empty_class.grades()["ann"]["test_double"] == (0, None, False)


@pytest.mark.slow
def test_a_step_that_changes_cells_counts_and_is_named(empty_class):
    config = empty_class.root / "nbgrader_config.py"
    config.write_text(config.read_text() + STEP)
    for student, answer in (("ann", RIGHT), ("ben", "def double(x):\n    return 3 * x")):
        empty_class.hand_in(student, empty_class.answer(answer, RIGHT_HALF))
    done = empty_class.run("gradekit", "autograde", "01_double", "--workers", "1")
    assert (done.returncode, done.stdout) == (0, "01_double: 2 graded\n"), done.stderr
    sentences = [line for line in done.stderr.splitlines() if "graded again" in line]
    assert [line.split(":")[0] for line in sentences] == ["ben"]
    assert {grades["test_double"][0] for grades in empty_class.grades().values()} == {10}


def test_an_error_of_the_course_s_own_code_is_named_with_its_place(tmp_path):
    path = tmp_path / "late.py"
    path.write_text("def penalty():\n    raise ValueError('of mine')\n")
    with pytest.raises(ValueError, match="of mine") as own:
        runpy.run_path(str(path))["penalty"]()
    assert reason_of(own.value) == f"ValueError: of mine ({path}, line 2)"
