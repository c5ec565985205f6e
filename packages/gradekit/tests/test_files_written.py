"""Files that a notebook writes while it runs: they are in autograded/, as with nbgrader itself."""

import os
import stat
import threading

import nbformat
import pytest

from gradekit.session.files_written import MAX_WRITTEN_BYTES, MAX_WRITTEN_FILES, WrittenFiles, read_written

from .forked import run_forked
from .plain_course import PlainCourse


@pytest.fixture
def home(tmp_path):
    """A kernel's home folder, and a way to read what was written there."""
    folder = tmp_path / "home"
    folder.mkdir()

    def read(*known, left_out=()):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            return read_written(descriptor, known, left_out)
        finally:
            os.close(descriptor)

    return folder, read


def test_files_in_folders_are_read_and_those_that_were_there_are_not(home):
    folder, read = home
    (folder / "out" / "day1").mkdir(parents=True)
    for name in ("figure.png", "out/result.csv", "out/day1/log.txt", "data.csv", "module.pyc"):
        (folder / name).write_text(name)
    found = read("data.csv", left_out=["*.pyc"])
    assert found.contents == {n: n.encode() for n in ("figure.png", "out/result.csv", "out/day1/log.txt")}
    assert found.too_much == []


@pytest.mark.parametrize("name", [".bashrc", "p1.ipynb", "timestamp.txt", "submission_secret.txt"])
def test_what_means_something_beside_a_submission_is_never_read(home, name):
    folder, read = home
    (folder / name).write_text("x")
    assert read() == WrittenFiles()


@pytest.mark.parametrize("name", ["a\nb.txt", "\x1b[31mred.txt", "\udcff"])
def test_a_name_that_cannot_be_printed_is_not_kept_but_named(home, name):
    folder, read = home
    (folder / name).write_text("x")
    assert read() == WrittenFiles(odd=[name])
    (note,) = read().notes()
    assert note.isprintable()
    assert "names can't be printed" in note


def test_links_pipes_and_sockets_lead_nowhere(home, tmp_path):
    folder, read = home
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key.txt").write_text("secret")
    (folder / "file").symlink_to(secret / "key.txt")
    (folder / "folder").symlink_to(secret)
    (folder / "up").symlink_to("..")
    os.mkfifo(folder / "pipe")
    os.mknod(folder / "socket", stat.S_IFSOCK | 0o600)
    assert read() == WrittenFiles()


def test_a_name_that_changes_while_it_is_read_leads_nowhere(home, tmp_path):
    folder, read = home
    for place, text in ((folder / "real", "own"), (tmp_path / "secret", "secret")):
        place.mkdir()
        (place / "key.txt").write_text(text)
    (folder / "link").symlink_to(tmp_path / "secret")
    (folder / "out").mkdir()
    done = threading.Event()

    def swap():
        while not done.is_set():
            for name in ("real", "link"):
                exchange(folder / name, folder / "out")

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        contents = {data for _ in range(300) for data in read().contents.values()}
    finally:
        done.set()
        swapping.join()
    assert contents == {b"own"}


def exchange(one, other):
    """Exchange two names, in three steps."""
    spare = one.with_name("spare")
    one.rename(spare)
    other.rename(one)
    spare.rename(other)


def test_too_many_or_too_large_files_are_named_and_the_others_are_kept(home):
    folder, read = home
    (folder / "large.bin").write_bytes(bytes(MAX_WRITTEN_BYTES + 1))
    (folder / "small.txt").write_text("x")
    found = read()
    assert (list(found.contents), found.too_much) == (["small.txt"], ["large.bin"])
    assert found.notes() == ["The notebook wrote more than is kept for graders: `large.bin`."]
    for number in range(MAX_WRITTEN_FILES + 7):
        (folder / f"{number:03}.txt").write_text("x")
    found = read()
    assert len(found.contents) == MAX_WRITTEN_FILES
    assert found.notes()[0].endswith("`101.txt`, `102.txt`, `103.txt`, `104.txt` and 4 more.")


@pytest.mark.parametrize(("width", "depth"), [(1500, 1), (1, 30), (150, 2)])
def test_a_maze_of_folders_is_not_searched_to_its_end(home, width, depth):
    folder, read = home
    for number in range(width):
        folder.joinpath(*[f"{number}-{level}" for level in range(depth)]).mkdir(parents=True)
    assert read().too_much


def test_a_file_that_was_handed_in_or_handed_out_is_never_replaced(tmp_path):
    graded, handed_in, handed_out = (tmp_path / name for name in ("graded", "in", "out"))
    for folder in (graded, handed_in, handed_out):
        folder.mkdir()
    for name, place in (("mine.csv", handed_in), ("data.csv", handed_out)):
        (place / name).write_text("original")
        (graded / name).write_text("original")
    (graded / "old.csv").write_text("of the last run")
    (graded / "old.csv").chmod(0o444)
    (graded / "both").write_text("a file of another notebook")
    (graded / "folder").mkdir()
    written = dict.fromkeys(("mine.csv", "data.csv", "old.csv", "both/x", "folder", "new/a.csv"), b"new")
    WrittenFiles(written).put_into(graded, handed_in, handed_out)
    found = {str(p.relative_to(graded)): p.read_text() for p in graded.rglob("*") if p.is_file()}
    assert found == {
        "mine.csv": "original",
        "data.csv": "original",
        "old.csv": "new",
        "both": "a file of another notebook",
        "new/a.csv": "new",
    }


#: a notebook that saves a figure, changes a file of the instructor's, and tries to lead out of its folder
WRITES = """
from pathlib import Path

def times(x):
    return 2 * x

Path("out").mkdir(exist_ok=True)
Path("out", "result.csv").write_text("1,2")
Path("figure.png").write_bytes(bytes(range(256)))
Path("data.csv").write_text("changed")
Path("link.txt").symlink_to("/etc/passwd")
"""


@pytest.mark.thorough
def test_both_commands_leave_what_a_notebook_wrote_in_autograded_also_from_the_cache(tmp_path):
    course = PlainCourse(tmp_path / "course").write()
    (course.folder("source") / "data.csv").write_text("original")
    course.nbgrader("generate_assignment")
    course.hand_in("ada", 2)
    path = course.folder("submitted", "ada") / "p1.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[0].source = WRITES
    nbformat.write(notebook, path)
    cached = course.root / ".gradekit" / "results" / "ps1"
    for command in (["nbgrader", "autograde"], ["gradekit", "autograde"], ["nbgrader", "autograde"]):
        done = run_forked([*command, "ps1", "--force"], course.root)
        assert done.returncode == 0, done.stderr
        graded = course.folder("autograded", "ada")
        found = {str(p.relative_to(graded)): p.read_bytes() for p in graded.rglob("*") if p.is_file()}
        assert found.pop("p1.ipynb")
        assert found == {"out/result.csv": b"1,2", "figure.png": bytes(range(256)), "data.csv": b"original"}
        assert course.scores() == {"ada": 2}
        assert len(list(cached.iterdir())) == 1
        counts = [c.execution_count for c in nbformat.read(graded / "p1.ipynb", as_version=4).cells]
        assert counts == [1, None]  # the test cell has hidden checks, so it isn't run
