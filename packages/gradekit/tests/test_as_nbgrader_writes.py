"""gradekit leaves what plain nbgrader leaves: files, permissions and rows, also with unusual settings and own steps."""

import json
import shutil
import sqlite3
import stat
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from .beside_plain import ASSIGNMENT, NOTEBOOK, BothSides, Side, source_notebook
from .tiny_course import code

pytestmark = pytest.mark.slow  # test_write.py shows in parts what is written

SECOND = "p2"
#: steps and hooks of the course write down when they are called, and what they are told
SETTINGS = """
import os
from pathlib import Path
from nbgrader.converters import Autograde
from nbgrader.preprocessors import NbGraderPreprocessor

def told(what, **more):
    with Path("told.txt").open("a") as file:
        file.write(f"{what} {sorted(more.items())}\\n")

class Counting(NbGraderPreprocessor):
    count = 0

    def preprocess(self, nb, resources):
        self.count += 1
        place = Path(resources["metadata"]["path"])
        told(type(self).__name__, names=resources["nbgrader"]["notebook"], student=resources["nbgrader"]["student"],
             count=self.count, step=place.parts[-3:], how=os.environ.get("NBGRADER_EXECUTION"))
        for cell in nb.cells:
            cell.metadata.setdefault("tags", []).append(type(self).__name__)
        return nb, resources

class Later(Counting):
    def preprocess(self, nb, resources):
        Path(resources["metadata"]["path"], "by_a_step.txt").write_text("made while it was graded")
        return super().preprocess(nb, resources)

def before(assignment, student, notebooks):
    told("before", assignment=assignment, notebooks=[Path(path).name for path in notebooks])

def after(assignment, student, notebooks):
    told("after", assignment=assignment, notebooks=[Path(path).name for path in notebooks])

c = get_config()
c.CourseDirectory.course_id = "c42"
c.CourseDirectory.groupshared = True
c.CourseDirectory.ignore.append("*.tmp")
c.CourseDirectory.submitted_directory = "handed in"
c.CourseDirectory.directory_structure = "{nbgrader_step}/{student_id}/{assignment_id}"
c.Autograde.permissions = 640
c.Autograde.exclude_overwriting = {"a1": ["own.py"]}
first, second = (getattr(Autograde, half).default_args[0] for half in ("sanitize_preprocessors", "autograde_preprocessors"))
c.Autograde.sanitize_preprocessors = [*first, Counting]  # nbgrader reads this file twice, and would append it twice
c.Autograde.autograde_preprocessors = [second[0], Later, *second[1:]]
c.Autograde.pre_convert_hook = before
c.BaseConverter.post_convert_hook = after
c.IgnorePattern.enabled = True
c.IgnorePattern.pattern = "harmless"
c.LimitOutput.max_lines = 5
c.LateSubmissionPlugin.penalty_method = "zero"
c.ClearMetadataPreprocessor.enabled = True
c.ClearMetadataPreprocessor.preserve_cell_metadata_mask = {"nbgrader", "tags"}
c.ClearMetadataPreprocessor.clear_notebook_metadata = False
"""
RIGHT = "import sys\nprint(*range(20), sep='\\n')\nprint('harmless', file=sys.stderr)\ndef double(x):\n    return 2 * x"
ANSWERS = {
    "ada": (RIGHT, "Long."),
    "ben": ("def double(x):\n    return x", None),
    "cyd": (RIGHT, "Too late."),
}


@pytest.fixture(scope="module")
def sides(made_once, tmp_path_factory) -> tuple[Side, Side]:
    """The class, graded by `nbgrader autograde` without gradekit, and by `gradekit autograde`."""

    def make(course):
        both = BothSides(course.root)
        second = source_notebook()
        second.cells.append(code("import warnings", {}, "unmarked"))
        both.write(source_notebook(), others={SECOND: second})
        for side in both.sides:
            config = side.root / "nbgrader_config.py"
            config.write_text(SETTINGS + config.read_text().removeprefix("c = get_config()\n"))
            given = side.root / "source" / ASSIGNMENT
            for name, text in (("given.csv", "1,2"), ("own.py", "theirs = 1"), ("deep/in/it.txt", "deep")):
                (given / name).parent.mkdir(parents=True, exist_ok=True)
                (given / name).write_text(text)
            with Gradebook(f"sqlite:///{side.root / 'gradebook.db'}", "c42") as book:
                book.update_or_create_assignment(ASSIGNMENT, duedate="2026-03-01 12:00:00")
                book.add_student("ben", first_name="Ben")
                book.add_submission(ASSIGNMENT, "ben")
                grade = book.find_grade("why", NOTEBOOK, ASSIGNMENT, "ben")
                grade.manual_score, grade.extra_credit = 2.5, 0.5
                book.find_comment("why", NOTEBOOK, ASSIGNMENT, "ben").manual_comment = "Nearly."
                book.db.commit()
            for student, (answer, why) in ANSWERS.items():
                _hand_in(side, student, both.released(answer, why))
        both.plain.run("nbgrader", "autograde", ASSIGNMENT)
        both.ours.run("gradekit", "autograde", ASSIGNMENT, "--workers", "1")

    root = made_once("as-nbgrader-writes", make)
    return BothSides(root).sides


def _hand_in(side: Side, student: str, notebook) -> None:
    place = side.root / "handed in" / student / ASSIGNMENT
    place.mkdir(parents=True)
    for name in (NOTEBOOK, SECOND):
        nbformat.write(notebook if name == NOTEBOOK else _second(side, notebook), place / f"{name}.ipynb")
    nbformat.write(notebook, place / "unknown.ipynb")
    day = "02" if student == "cyd" else "01"
    (place / "timestamp.txt").write_text(f"2026-03-{day} 11:00:00 UTC")
    for name in ("given.csv", "own.py", "notes.tmp", "data/mine.csv"):
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text(f"of {student}")
    (place / "own.py").chmod(0o700)


def _second(side: Side, notebook):
    released = nbformat.read(side.root / "release" / ASSIGNMENT / f"{SECOND}.ipynb", as_version=4)
    for cell, answered in zip(released.cells, notebook.cells, strict=False):
        cell.source = answered.source
    return released


def test_the_folders_have_the_same_files_and_permissions(sides):
    plain, ours = (_tree(side.root / "autograded") for side in sides)
    assert ours == plain
    assert {"cyd/a1/own.py", "ada/a1/deep/in/it.txt", "ben/a1/by_a_step.txt"} <= plain.keys()


def _tree(folder: Path) -> dict[str, tuple[str, str]]:
    """By path, the permissions and the content of a file; that of notebooks is compared by another test."""
    return {
        str(path.relative_to(folder)): (
            stat.filemode(path.stat().st_mode),
            path.read_text() if path.is_file() and path.suffix != ".ipynb" else "",
        )
        for path in [folder, *folder.rglob("*")]
    }


@pytest.mark.parametrize("student", ANSWERS)
@pytest.mark.parametrize("name", [NOTEBOOK, SECOND])
def test_the_notebooks_have_the_same_cells_except_for_the_results(sides, student, name):
    plain, ours = (
        json.loads((side.folder("autograded", student) / f"{name}.ipynb").read_text()) for side in sides
    )
    assert ours["metadata"].pop("gradekit")["status"] == "graded"
    assert plain["metadata"].pop("language_info")  # nbgrader asks the kernel for it
    assert ours["metadata"] == plain["metadata"]
    assert [_without_outputs(cell) for cell in ours["cells"]] == [
        _without_outputs(cell) for cell in plain["cells"]
    ]
    answer, same = ours["cells"][1], plain["cells"][1]
    assert [output["text"] for output in answer["outputs"]] == [output["text"] for output in same["outputs"]]
    assert ("... Output truncated ..." in str(same["outputs"])) == (student != "ben")


def _without_outputs(cell):
    return {name: value for name, value in cell.items() if name not in ("outputs", "execution_count")}


def test_the_gradebooks_have_the_same_rows(sides):
    plain, ours = (_rows(side.root / "gradebook.db") for side in sides)
    for table in plain:
        assert ours[table] == plain[table], table
    penalties = [row for row in plain["submitted_notebook"] if row[-1]]
    assert [row[0] for row in penalties] == ["cyd", "cyd"]
    assert len(plain["grade"]) == 12


#: rows without their random ids
_QUERIES = {
    "course": "SELECT id FROM course",
    "student": "SELECT id, first_name, last_name, email FROM student",
    "submitted_assignment": "SELECT student_id, timestamp, extension FROM submitted_assignment",
    "submitted_notebook": """SELECT a.student_id, n.name, s.flagged, s.late_submission_penalty FROM submitted_notebook s
        JOIN submitted_assignment a ON a.id = s.assignment_id JOIN notebook n ON n.id = s.notebook_id""",
    "grade": """SELECT a.student_id, n.name, c.name, g.auto_score, g.manual_score, g.extra_credit, g.needs_manual_grade
        FROM grade g JOIN base_cell c ON c.id = g.cell_id JOIN submitted_notebook s ON s.id = g.notebook_id
        JOIN submitted_assignment a ON a.id = s.assignment_id JOIN notebook n ON n.id = s.notebook_id""",
    "comment": """SELECT a.student_id, n.name, c.name, g.auto_comment, g.manual_comment
        FROM comment g JOIN base_cell c ON c.id = g.cell_id JOIN submitted_notebook s ON s.id = g.notebook_id
        JOIN submitted_assignment a ON a.id = s.assignment_id JOIN notebook n ON n.id = s.notebook_id""",
}


def _rows(gradebook: Path) -> dict[str, list[tuple]]:
    with sqlite3.connect(gradebook) as connection:
        return {
            table: sorted(connection.execute(query).fetchall(), key=str) for table, query in _QUERIES.items()
        }


def test_own_steps_and_hooks_are_called_as_often_and_told_the_same(sides):
    plain, ours = ((side.root / "told.txt").read_text().splitlines() for side in sides)
    assert sorted(ours) == sorted(plain)
    assert len(plain) == len(ANSWERS) * (2 + 2 * 2)


def test_without_leave_to_add_students_an_unknown_one_is_named(sides, tmp_path):
    course = Side(Path(shutil.copytree(sides[1].root, tmp_path / "course")))
    config = course.root / "nbgrader_config.py"
    config.write_text(
        config.read_text().replace("c.Autograde.permissions", "c.Autograde.create_student = False\n#")
    )
    shutil.copytree(course.root / "handed in" / "ada", course.root / "handed in" / "dan")
    printed = course.run("gradekit", "autograde", ASSIGNMENT, "--workers", "1", succeeds=False)
    assert "dan: not written: NbGraderException: No such student: dan" in printed
    assert not (course.root / "autograded" / "dan" / ASSIGNMENT).exists()
    assert ("dan",) not in [row[:1] for row in _rows(course.root / "gradebook.db")["student"]]
