"""A student who leaves the course, and one who comes back: docs/instructor.md, "A student who leaves"."""

import csv
import re
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

from gradekit.cli import main

from .tiny_course import mark

GUIDE = Path(__file__).parents[3] / "docs" / "instructor.md"


def commands() -> list[list[str]]:
    """The commands of the section: who leaves, and who comes back."""
    (section,) = re.findall(
        r"^## A student who leaves\n(.*?)^## ", GUIDE.read_text(), re.MULTILINE | re.DOTALL
    )
    blocks = re.findall(r"^```console\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    return [re.findall(r"^\$ (.*)", block, re.MULTILINE) for block in blocks]


LEAVES, RETURNS = commands()


@pytest.fixture
def follow(graded_class):
    """Run commands of the section about the student `right` of the graded class."""

    def run(lines: list[str]) -> None:
        for line in lines:
            words = line.replace("ada", "right").replace("02_attention", "01_double").split()
            done = graded_class.run(*words)
            assert "Traceback" not in done.stderr, done.stderr
            assert done.returncode == 0, done.stderr

    return run


def exported(course, kind: str) -> tuple[list[list[str]], str]:
    done = course.run("nbgrader", "export", f"--exporter=gradekit_lms.{kind}Export", "--to", "out.csv")
    with (course.root / "out.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file)), done.stderr


@pytest.mark.slow
def test_a_student_who_left_counts_nowhere_and_is_named(graded_class, follow):
    before = graded_class.run("gradekit", "report", "01_double").stdout
    assert "awaiting manual grading" not in before and "4 graded" in before
    follow(LEAVES)
    remedy = "`nbgrader db student add right`, then `gradekit autograde 01_double --force`"
    for command in (["table"], ["autograde", "--workers", "1"], ["autograde", "--force", "--workers", "1"]):
        said = graded_class.run("gradekit", *command, "01_double").stdout
        assert (
            f"right was removed from the gradebook, and doesn't count. A student who comes back: {remedy}"
            in said
        )
    assert "right" not in graded_class.grades()
    said = graded_class.run("gradekit", "report", "01_double").stdout
    assert "3 graded" in said and "awaiting manual grading" not in said
    assert "left out, since they are not in the gradebook anymore: right" in said
    for kind in ("Table", "Canvas", "Moodle"):
        rows, log = exported(graded_class, kind)
        assert not any("right" in row for row in rows)
        assert re.search(r"Left out, since they are not in the gradebook \(\d\): .*right", log)
        assert any("mistake" in row for row in rows)


@pytest.mark.slow
def test_pages_of_the_others_are_written_when_a_student_has_left(graded_class, follow):
    follow(LEAVES)
    done = graded_class.run("nbgrader", "generate_feedback", "01_double")
    assert done.returncode == 0 and "Traceback" not in done.stderr
    assert "right: the gradebook has no grades, so there is no page." in done.stderr
    pages = {path.parts[-3] for path in (graded_class.root / "feedback").glob("*/*/*.html")}
    assert "mistake" in pages and "right" not in pages


@pytest.mark.thorough
def test_nobody_asks_or_regrades_a_student_who_left(graded_class, follow):
    follow(LEAVES)
    checks = graded_class.checks
    checks.write_text(
        checks.read_text().replace("@points(4)", "@points(3)").replace("@points(1)", "@points(2)")
    )
    done = graded_class.run("gradekit", "regrade", "01_double", "--workers", "1")
    assert "right" not in graded_class.grades()
    assert "Traceback" not in done.stderr
    done = graded_class.run("gradekit", "viva", "01_double", "right")
    assert "`right` handed in nothing for 01_double" in done.stderr


@pytest.mark.thorough
def test_a_student_who_comes_back_has_the_automatic_scores_again(graded_class, follow):
    before = graded_class.grades()["right"]
    follow(LEAVES)
    follow(RETURNS)
    assert graded_class.grades()["right"] == before
    assert "not in the gradebook" not in graded_class.run("gradekit", "table", "01_double").stdout


@pytest.mark.thorough
def test_in_a_new_gradebook_nobody_has_left(graded_class):
    """It was deleted and made again: everything can be graded."""
    (graded_class.root / "gradebook.db").unlink()
    graded_class.run("nbgrader", "generate_assignment", "01_double", "--force")
    graded_class.run("gradekit", "autograde", "01_double", "--force", "--workers", "1")
    assert "right" in graded_class.grades()


@pytest.mark.slow
def test_an_assignment_with_written_answers_only_has_a_report(generated, capsys):
    source = v4.new_notebook(
        cells=[v4.new_markdown_cell("Because.", metadata=mark("why", grade=True, solution=True, points=5))]
    )
    folder = generated.root / "source" / "02_essay"
    folder.mkdir()
    nbformat.write(source, folder / "essay.ipynb")
    generated.run("nbgrader", "generate_assignment", "02_essay")
    notebook = nbformat.read(generated.root / "release" / "02_essay" / "essay.ipynb", as_version=4)
    notebook.cells[0].source = "My own reason."
    handed_in = generated.root / "submitted" / "ann" / "02_essay"
    handed_in.mkdir(parents=True)
    nbformat.write(notebook, handed_in / "essay.ipynb")
    generated.gradekit("autograde", "02_essay", "--workers", "1")
    capsys.readouterr()
    assert main(["--course-dir", str(generated.root), "report", "02_essay"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["02_essay: 1 graded", "  awaiting manual grading: 1 answer"]
    page = (generated.root / "reports" / "02_essay" / "report.html").read_text()
    assert "The assignment has no checks" in page
    with generated.gradebook() as gradebook:
        gradebook.find_grade("why", "essay", "02_essay", "ann").manual_score = 4
        gradebook.db.commit()
    assert main(["--course-dir", str(generated.root), "report", "02_essay"]) == 0
    assert "scores: median 80 %" in capsys.readouterr().out
