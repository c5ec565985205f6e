"""A gradebook in PostgreSQL, which several commands may write at once. The tests start their own server."""

import os
import pwd
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

RIGHT, HALF = "def double(x):\n    return 2 * x", "def half(x):\n    return x / 2"
STUDENTS = [f"student-{number:02}" for number in range(10)]


def program(name: str) -> str | None:
    places = [*Path("/usr/lib/postgresql").glob("*/bin"), Path("/usr/local/bin")]
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(map(str, places)))


pytest.importorskip("psycopg2", reason="psycopg2 is not installed (`make test` installs it)")
pytestmark = pytest.mark.skipif(
    not (program("initdb") and program("postgres")), reason="no PostgreSQL server is installed here"
)


def unprivileged() -> Callable[[], None] | None:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    nobody = pwd.getpwnam("nobody")

    def become() -> None:
        os.setgroups([])
        os.setgid(nobody.pw_gid)
        os.setuid(nobody.pw_uid)

    return become


@pytest.fixture(scope="module")
def server():
    """Yields a function from the name of a database to its URL. The server listens on a unix socket only."""
    # a short path, since that of a socket has at most 107 characters, and one that `nobody` can reach
    folder = Path(subprocess.check_output(["mktemp", "-d", "/tmp/gradekit-pg-XXXXXX"], text=True).strip())
    if os.geteuid() == 0:
        shutil.chown(folder, "nobody")
    user = {"preexec_fn": unprivileged(), "cwd": folder}
    data = folder / "data"
    done = subprocess.run(
        [
            program("initdb"),
            "-D",
            data,
            "-U",
            "grader",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
        ],
        **user,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    log = (folder / "log.txt").open("w")
    options = ["-k", folder, "-c", "listen_addresses=", "-c", "fsync=off"]
    process = subprocess.Popen([program("postgres"), "-D", data, *options], **user, stdout=log, stderr=log)
    try:
        wait_for(folder)
        yield lambda name: database(folder, name)
    finally:
        process.terminate()
        process.wait(timeout=30)
        shutil.rmtree(folder)


def connect(folder: Path):
    import psycopg2

    return psycopg2.connect(host=str(folder), user="grader", dbname="postgres")


def wait_for(folder: Path) -> None:
    import psycopg2

    deadline = time.monotonic() + 30
    while True:
        try:
            return connect(folder).close()
        except psycopg2.OperationalError:
            assert time.monotonic() < deadline, (folder / "log.txt").read_text()
            time.sleep(0.05)


def database(folder: Path, name: str) -> str:
    connection = connect(folder)
    connection.autocommit = True
    connection.cursor().execute(f"CREATE DATABASE {name}")
    connection.close()
    return f"postgresql+psycopg2://grader@/{name}?host={folder}"


@pytest.fixture
def course(empty_class, server, request):
    """A class of ten whose gradebook is in PostgreSQL, at `url`."""
    url = server(f"class_{request.node.name[-20:].lower()}".replace("-", "_"))
    config = empty_class.root / "nbgrader_config.py"
    settings = f'c.CourseDirectory.db_url = "{url}"\nc.CourseDirectory.course_id = "tiny"\n'
    config.write_text(config.read_text() + settings)
    (empty_class.root / "gradebook.db").unlink()
    done = empty_class.run("nbgrader", "generate_assignment", "01_double", "--force")
    assert done.returncode == 0, done.stderr
    for number, student in enumerate(STUDENTS):
        answer = RIGHT if number % 3 else "def double(x):\n    return 3 * x"
        empty_class.hand_in(student, empty_class.answer(f"# {number}\n{answer}", HALF))
    empty_class.url = url
    return empty_class


def start(course, *options):
    script = Path(sys.executable).with_name("gradekit")
    command = [script, "autograde", "01_double", "--workers", "1", *options]
    return subprocess.Popen(
        command, cwd=course.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def everybody_has_what_belongs_to_them(course):
    grades = course.grades(Gradebook(course.url))
    assert sorted(grades) == STUDENTS
    for number, student in enumerate(STUDENTS):
        assert grades[student]["test_double"] == (10 if number % 3 else 3, None, False)
        assert grades[student]["test_half"] == (5, None, False)
        assert "gradekit" in course.autograded(student).metadata
    assert not (course.root / "gradebook.db").exists()


@pytest.mark.thorough
def test_two_commands_at_once_on_the_same_class_lose_and_duplicate_nothing(course):
    commands = [start(course), start(course)]
    for command in commands:
        out, err = command.communicate()
        assert (command.returncode, out) == (0, "01_double: 10 graded\n"), err
        assert "Traceback" not in err
    everybody_has_what_belongs_to_them(course)


@pytest.mark.thorough
def test_table_and_regrade_read_the_same_gradebook(course, capsys):
    assert course.gradekit("autograde", "01_double", "--workers", "1") == 0
    capsys.readouterr()
    assert course.gradekit("table", "01_double") == 0
    assert len(capsys.readouterr().out.splitlines()) == 3 + len(STUDENTS) + 1
    assert course.gradekit("regrade", "01_double", "--workers", "1") == 0
    assert "the scores of 0 of 10 students changed" in capsys.readouterr().out
    everybody_has_what_belongs_to_them(course)
