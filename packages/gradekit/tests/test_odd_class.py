"""A class in which all but two students hand in something odd, graded once by each command."""

import csv
import json
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode, v4

from gradekit.report.table import class_table

RIGHT = "def double(x):\n    return 2 * x"
HALF = "def half(x):\n    return x / 2"
LATIN = os.fsdecode(b"J\xf6rg")
ESCAPE = "\x1b[31mred"
Put = Callable[[Path], object]


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_socket(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # the name of a socket may not be long
    try:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(path.name)
    finally:
        os.chdir(here)


def a_huge_file(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2**30)


def a_folder(path: Path) -> None:
    (path / "inside").mkdir(parents=True)


def a_link(target: str) -> Put:
    return lambda path: path.symlink_to(target)


def content(data: bytes) -> Put:
    return lambda path: path.write_bytes(data)


def many_files(path: Path) -> None:
    path.mkdir()
    for number in range(2100):
        (path / str(number)).touch()


def deep_folders(path: Path) -> None:
    path.joinpath(*["x"] * 60).mkdir(parents=True)


#: beside a right notebook: the name of a file, how it gets there, and what is said about it
BESIDE: dict[str, tuple[str, Put, str]] = {
    "time-garbage": ("timestamp.txt", content(b"yesterday"), "isn't a time"),
    "time-of-which-day": ("timestamp.txt", content(b"09.03.2026 22:00"), "can be read as more than one time"),
    "time-in-git-s-zone": (
        "timestamp.txt",
        content(b"2026-03-09 23:30:00 +0100"),
        "can be read as more than one time",
    ),
    "time-binary": ("timestamp.txt", content(bytes(range(256))), "isn't a time"),
    "time-far": ("timestamp.txt", content(b"99999-01-01 00:00:00 UTC"), "isn't a time"),
    "time-long-ago": ("timestamp.txt", content(b"0001-01-01 00:00:00"), "has a year out of range"),
    "time-zone-is-a-file": ("timestamp.txt", content(b"2026-01-01 12:00:00 /dev/zero"), "isn't a time"),
    "time-folder": ("timestamp.txt", a_folder, "is a folder where a file belongs"),
    "time-dangling": ("timestamp.txt", a_link("nowhere"), "is a link"),
    "time-endless": ("timestamp.txt", a_link("/dev/zero"), "is a link"),
    "time-pipe": ("timestamp.txt", a_pipe, "is a pipe"),
    "time-socket": ("timestamp.txt", a_socket, "is a socket"),
    "time-huge": ("timestamp.txt", a_huge_file, "is 1,073,741,824 bytes long"),
    "secret-folder": ("submission_secret.txt", a_folder, "is a folder where a file belongs"),
    "pipe": ("data.csv", a_pipe, "is a pipe"),
    "link": ("data.csv", a_link("../../ann/01_double/double.ipynb"), "is a link"),
    "huge": ("data.csv", a_huge_file, "is 1,073 MB large"),
    "file-for-folder": ("tables", content(b"x"), "is a file where a folder belongs"),
    "folder-for-file": ("given.csv", a_folder, "is a folder where a file belongs"),
    "many-files": ("many", many_files, "holds a folder of more than 2,000 files"),
    "deep-folders": ("deep", deep_folders, "is nested more than 20 folders deep"),
    "escape-in-a-file-name": ("\x1b[31m\n", a_pipe, r"\x1b[31m\x0a is a pipe"),
}
#: in place of the notebook
UNREADABLE: dict[str, tuple[Put, str]] = {
    "book-folder": (a_folder, "isn't a file"),
    "book-pipe": (a_pipe, "isn't a file"),
    "book-socket": (a_socket, "isn't a file"),
    "book-dangling": (a_link("nowhere"), "is a link"),
    "book-endless": (a_link("/dev/zero"), "is a link"),
    "book-of-ann": (a_link("../../ann/01_double/double.ipynb"), "is a link"),
    "book-huge": (a_huge_file, "is 1,024 MiB large"),
    "book-brackets": (content(b'{"cells": [' + b"[]," * 300_000 + b"[]]}"), "has 300,003 brackets"),
}
NAMES = {
    LATIN: "Jörg",
    ESCAPE: ESCAPE,
    "new\nline": "new line",
    "=1+1": "=1+1",
    "[ab]": "[ab]",
    "dots...": "dots...",
}


def source_of(notebook: NotebookNode, name: str) -> NotebookNode:
    return next(cell for cell in notebook.cells if cell["id"] == name)


def as_raw(notebook: NotebookNode) -> None:
    source_of(notebook, "answer")["cell_type"] = "raw"


def as_prose(notebook: NotebookNode) -> None:
    source_of(notebook, "answer").update(cell_type="markdown", source="It doubles.")


def merged(notebook: NotebookNode) -> None:
    source_of(notebook, "answer").source += f"\n\n\n{HALF}"
    notebook.cells.remove(source_of(notebook, "half"))


def with_nul(notebook: NotebookNode) -> None:
    source_of(notebook, "answer").source += "\n# \0"


def without_marks(notebook: NotebookNode) -> None:
    for cell in notebook.cells:
        cell.metadata = NotebookNode()
        cell["id"] = v4.new_raw_cell()["id"]


#: a right notebook, changed; what the checks give it, and what is noted
CHANGED: dict[str, tuple[Callable[[NotebookNode], object], float, str]] = {
    "raw": (as_raw, 15, "was handed in as a raw cell; it was turned back into a code cell."),
    "prose": (as_prose, 5, "its text isn't code that defines `double`"),
    "merged": (merged, 15, "The answer to `half` was found in the cell `double`"),
    "nul": (with_nul, 15, "The cell `double` contained NUL characters"),
    "no-marks": (without_marks, 15, "Marks that nbgrader needs were missing"),
}
HONEST = ("ann", "zoe")
#: of each kind one that nbgrader itself reads, copies or looks for, for its own command
BY_NBGRADER = {
    "ann",
    "zoe",
    "time-garbage",
    "time-folder",
    "time-pipe",
    "pipe",
    "folder-for-file",
    "book-pipe",
}
BY_NBGRADER |= {"book-brackets", "raw", LATIN, ESCAPE, "new\nline", "[ab]"}
#: a name that can't be kept, beside the one that would be put in its place
TAKEN, KEPT = os.fsdecode(b"Ren\xe9"), "René"
READABLE = {KEPT, *HONEST, *BESIDE, *CHANGED, *NAMES.values(), "utf-16"}


def hand_in_class(course, chosen: set[str] | None = None) -> None:
    """All students, or the chosen ones."""
    right = nbformat.writes(course.answer(RIGHT, HALF))

    def among(students):
        return [student for student in students if chosen is None or student in chosen]

    for student in among((*HONEST, *BESIDE, *NAMES, TAKEN, KEPT)):
        course.hand_in(student, right)
    for student in among(BESIDE):
        name, put, _ = BESIDE[student]
        put(course.root / "submitted" / student / "01_double" / name)
    for student in among(UNREADABLE):
        path = course.hand_in(student, right)
        path.unlink()
        UNREADABLE[student][0](path)
    for student in among(CHANGED):
        notebook = course.answer(RIGHT, HALF)
        CHANGED[student][0](notebook)
        course.hand_in(student, json.dumps(notebook))
    for student in among(["utf-16"]):
        course.hand_in(student, "").write_bytes(right.encode("utf-16"))


@pytest.fixture(scope="module")
def graded(class_original, course_at, tmp_path_factory):
    """The class, graded by `gradekit autograde`, with its output and the rows of the table."""
    course = course_at(Path(shutil.copytree(class_original, tmp_path_factory.mktemp("odd") / "course")))
    for place in ("source", "release"):
        (course.root / place / "01_double" / "tables").mkdir()
        (course.root / place / "01_double" / "tables" / "x.csv").write_text("1")
        (course.root / place / "01_double" / "given.csv").write_text("1")
    hand_in_class(course)
    course.done = course.run("gradekit", "autograde", "01_double", "--workers", "2")
    course.rows = {row.student: row for row in class_table(course.running, course.assignment).rows}
    return course


def notes(course, student) -> list[str]:
    return course.autograded(student).metadata["gradekit"]["notes"]


def test_everybody_has_a_row_with_the_right_status(graded):
    statuses = {student: row.status for student, row in graded.rows.items()}
    assert statuses.pop(TAKEN) == "not autograded"
    assert statuses == dict.fromkeys(READABLE, "graded") | dict.fromkeys(UNREADABLE, "unreadable")


def test_what_can_be_read_has_its_points(graded):
    points = {student: CHANGED[student][1] if student in CHANGED else 15 for student in READABLE}
    found = {student: graded.rows[student].earned for student in READABLE}
    assert found == points
    assert {graded.rows[student].total for student in UNREADABLE} == {None}


@pytest.mark.parametrize("student", BESIDE)
def test_student_and_instructor_learn_what_was_set_aside(graded, student):
    name, _, words = BESIDE[student]
    (note,) = notes(graded, student)
    assert words in note
    assert f"  {student}: {note}" in graded.done.stdout.splitlines()
    assert not os.path.lexists(graded.root / "autograded" / student / "01_double" / "data.csv")
    place = graded.root / ".gradekit" / "set_aside" / "submitted" / student / "01_double" / name
    assert os.path.lexists(place)


def test_files_that_were_handed_out_are_copied_anyway(graded):
    for student in ("file-for-folder", "folder-for-file"):
        folder = graded.root / "autograded" / student / "01_double"
        assert (folder / "tables" / "x.csv").read_text() == (folder / "given.csv").read_text() == "1"


@pytest.mark.parametrize("student", UNREADABLE)
def test_the_reason_why_a_notebook_can_t_be_read_is_reported(graded, student):
    words = UNREADABLE[student][1]
    assert words in notes(graded, student)[0]
    assert f"  {student}: unreadable. {notes(graded, student)[0]}" in graded.done.stdout.splitlines()


@pytest.mark.parametrize("student", CHANGED)
def test_repairs_are_noted(graded, student):
    assert any(CHANGED[student][2] in note for note in notes(graded, student))


def test_the_command_ends_with_0_and_prints_no_traceback_and_no_escape(graded):
    assert graded.done.returncode == 0
    said = graded.done.stdout + graded.done.stderr
    assert "Traceback" not in said
    assert "Notebook JSON is invalid" not in said
    assert "\x1b[31m" not in said
    assert r"J\xf6rg: nbgrader can't handle the name of this folder, so it was renamed to Jörg." in said
    assert (
        r"Ren\xe9: nbgrader can't handle the name of this folder, and there is a second folder René." in said
    )


def test_nothing_unfinished_is_left(graded):
    assert [path for path in graded.root.rglob("*.unfinished")] == []


def test_tables_and_csv_name_everybody(graded, tmp_path):
    printed = graded.run("gradekit", "table", "01_double")
    assert printed.returncode == 0, printed.stderr
    assert "\x1b" not in printed.stdout
    students = sorted([*(READABLE - {ESCAPE}), *UNREADABLE, r"\x1b[31mred", r"Ren\xe9"])
    *lines, code, text = printed.stdout.strip().splitlines()[3:]
    assert code.startswith("prose: double is undecided.")
    assert text.startswith("prose: why is undecided.") and "the text in the cell `double`" in text
    assert sorted(line.split("  ")[0] for line in lines) == students
    written = graded.run("gradekit", "table", "01_double", "--csv", str(tmp_path / "class.csv"))
    assert written.returncode == 0, written.stderr
    with (tmp_path / "class.csv").open(newline="", encoding="utf-8") as file:
        named = [row["student"] for row in csv.DictReader(file)]
    assert sorted(name.removeprefix("'") for name in named) == students
    assert "'=1+1" in named  # no formula


@pytest.mark.thorough
def test_nbgrader_s_own_command_gives_the_same_statuses_and_points(
    graded, class_original, tmp_path, course_at
):
    course = course_at(Path(shutil.copytree(class_original, tmp_path / "course")))
    for place in ("source", "release", ".gradekit/results"):
        shutil.copytree(graded.root / place, course.root / place, dirs_exist_ok=True)
    hand_in_class(course, BY_NBGRADER)
    done = course.run("nbgrader", "autograde", "01_double")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert "Notebook JSON is invalid" not in done.stderr
    assert "\x1b[31m" not in done.stderr
    drawn = course.run("nbgrader", "generate_feedback", "01_double")
    assert drawn.returncode == 0, drawn.stderr
    assert "\x1b[31m" not in drawn.stderr
    pages = {path.parts[-3] for path in course.root.glob("feedback/*/01_double/double.html")}
    assert pages == {NAMES.get(student, student) for student in BY_NBGRADER}
    rows = {row.student: row for row in class_table(course.running, course.assignment).rows}
    assert rows.keys() == {NAMES.get(student, student) for student in BY_NBGRADER}
    for student, row in rows.items():
        expected = graded.rows[student]
        assert (row.status, row.earned) == (expected.status, expected.earned), student
        assert notes(course, student) == notes(graded, student)
