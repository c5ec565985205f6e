"""A submission folder that is a link, as to that of a partner with whom somebody hands in."""

import re
import subprocess

import pytest

from .tiny_course import RIGHT


@pytest.mark.slow
@pytest.mark.parametrize("command", ["gradekit", "nbgrader"])
def test_a_folder_that_is_a_link_is_named_with_a_command_that_replaces_it_by_a_copy(command, generated):
    notebook = generated.hand_in("ann", generated.answer(RIGHT))
    link = generated.root / "submitted/bob/01_double"
    link.parent.mkdir()
    link.symlink_to("../../submitted/ann/01_double")
    done = generated.run(command, "autograde", "01_double")
    printed = done.stdout + done.stderr
    assert "double.ipynb is in a folder that is a link" in printed
    assert "Hand in the notebook itself" not in printed
    (advice,) = re.findall("`(cp -rL .*?)`", printed)
    subprocess.run(["bash", "-c", advice], check=True, cwd=generated.root)
    assert not link.is_symlink()
    assert notebook.exists()
    done = generated.run(command, "autograde", "01_double", *(["--force"] if command == "nbgrader" else []))
    assert "a link" not in done.stdout + done.stderr
    grades = generated.grades()
    assert grades["bob"] == grades["ann"]


@pytest.mark.slow
def test_the_student_reads_nothing_about_the_folders_of_the_course(generated):
    generated.hand_in("ann", generated.answer(RIGHT))
    link = generated.root / "submitted/bob/01_double"
    link.parent.mkdir()
    link.symlink_to("../ann/01_double")
    generated.run("gradekit", "autograde", "01_double")
    generated.run("nbgrader", "generate_feedback", "01_double")
    page = (generated.root / "feedback/bob/01_double/double.html").read_text()
    assert "A person decides about it." in page
    assert str(generated.root) not in page
