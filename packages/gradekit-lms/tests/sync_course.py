"""A course that is exchanged with an LMS, and what tests of `gradekit lms sync` look at."""

import nbformat
import pytest

from ...gradekit.tests.tiny_course import RIGHT
from .lms_servers import LMS_TOKEN, SERVERS

NOTHING = "nothing to do: all that can be exchanged was exchanged before"

CONFIG = """
c = get_config()
c.LmsSync.product = "{product}"
c.LmsSync.address = "{address}"
c.LmsSync.course = 7
c.LmsSync.assignments = {{"01_double": 11}}
"""


@pytest.fixture(params=SERVERS)
def lms(request):
    if request.param == "canvas":
        pytest.importorskip("canvasapi", reason="canvasapi is not installed")
    found = SERVERS[request.param](15)
    yield found
    found.close()
    assert found.errors == []


def configure(course, lms, *more: str) -> None:
    config = course.root / "nbgrader_config.py"
    text = CONFIG.format(product=lms.product.lower(), address=lms.address)
    config.write_text("\n".join([config.read_text(), text, *more]))


@pytest.fixture
def synced(generated, lms, monkeypatch, capsys):
    """Run the command; returns its exit code, and what it printed on both streams."""
    configure(generated, lms)

    def run(*options: str, token: str = LMS_TOKEN) -> tuple[int, str]:
        monkeypatch.setenv("GRADEKIT_LMS_TOKEN", token)
        capsys.readouterr()
        code = generated.gradekit("lms", "sync", *options)
        return code, "".join(capsys.readouterr())

    return run


def answer(course, source: str = RIGHT) -> bytes:
    return nbformat.writes(course.answer(source)).encode()


def tree(course) -> dict[str, bytes]:
    """All files of the course that have content: locks have none."""
    return {
        str(path.relative_to(course.root)): path.read_bytes()
        for path in course.root.rglob("*")
        if path.is_file() and path.stat().st_size
    }


def submitted(course, student: str) -> dict[str, bytes]:
    folder = course.root / "submitted" / student / "01_double"
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def everything(lms) -> str:
    """What the LMS knows about results."""
    return repr([lms.scores, lms.comments, lms.pages])


def page_for(course, student: str) -> None:
    page = course.root / "feedback" / student / "01_double" / "double.html"
    page.parent.mkdir(parents=True)
    page.write_text(f"<!DOCTYPE html>{student}")


@pytest.fixture
def graded(graded_class, lms, monkeypatch, capsys):
    """A graded class with pages, whose students are in the LMS; run the command in it."""
    lms.maximum = 20.0
    configure(graded_class, lms)
    for number, student in enumerate(["floor", "mistake", "right"], 1):
        lms.enrol(number, student)
        page_for(graded_class, student)

    def run(*options: str) -> tuple[int, str]:
        monkeypatch.setenv("GRADEKIT_LMS_TOKEN", LMS_TOKEN)
        capsys.readouterr()
        code = graded_class.gradekit("lms", "sync", *options)
        return code, "".join(capsys.readouterr())

    run.course = graded_class
    return run
