"""A course into which `nbgrader zip_collect` collects what an LMS has packed."""

import re
from collections.abc import Callable
from importlib.util import find_spec

import pytest

from ...gradekit.tests.conftest import (
    class_original,
    elsewhere,
    generated,
    generated_original,
    graded_class,
    graded_original,
    made_once,
    tiny_original,
)
from .downloads import Collected, Content, zipped
from .sync_course import graded, lms, synced

#: `make test` installs both sides of LTI, which other environments don't need
collect_ignore_glob = [] if find_spec("lti1p3platform") and find_spec("pylti1p3") else ["test_lti_*.py"]

STUDENTS = """
jane Jane,Doe 101|jorg Jörg,Müller 102|han Han,Lee 103|mary Mary_Ann,O'Hara 104|fang 芳,王 105|rita Rita,Rose 106
sam Sam,Smith,_Jr. 107|zoe Zoë_🎉,Faß 108|anna Anna-Lena,Groß 109|lena Lena,Groß 110|kim1 Kim,Park 111
kim2 Kim,Park 112|omar Omar,Al 113|pia Pia,Diaz 114|quin Quin,Rey 115|ugo Ugo,Neri 116|vera Vera,Wolf 117
tom Tom,Pool 119|nina Nina,Bay 120|leo Leo,Fox 121|max Max,Hunt 122|ida Ida,Low 123
"""


@pytest.fixture
def collect(generated) -> Callable[..., Collected]:
    """Run `nbgrader zip_collect` on one download that holds these files; None: on what is unpacked already."""

    def collect(product: str, files: dict[str, Content] | None, *options: str) -> Collected:
        archive = generated.root / "downloaded" / "01_double" / "archive"
        if files is not None:
            archive.mkdir(parents=True, exist_ok=True)
            (archive / "submissions.zip").write_bytes(zipped(files))
        collector = f"--collector=gradekit_lms.{product}Collector"
        run = generated.run("nbgrader", "zip_collect", "01_double", collector, *options)
        done = Collected(run.stderr, run.returncode)
        assert "Traceback" not in done.stderr
        return done

    return collect


@pytest.fixture
def handed_in(generated) -> Callable[[], dict[tuple[str, str], str]]:
    """The notebooks in submitted/: their text by student and name."""

    def look() -> dict[tuple[str, str], str]:
        files = (generated.root / "submitted").glob("*/01_double/*.ipynb")
        return {(path.parts[-3], path.stem): path.read_text() for path in files}

    return look


@pytest.fixture
def enrol(generated) -> Callable[..., None]:
    """Put students into the gradebook, as `nbgrader db student import` does."""

    def add(student: str, **values: str) -> None:
        with generated.gradebook() as gradebook:
            gradebook.add_student(student, **values)

    return add


@pytest.fixture
def enrolled(generated) -> None:
    """The students of the class are in the gradebook."""
    with generated.gradebook() as gradebook:
        for line in re.split(r"[|\n]", STUDENTS.strip()):
            student, name, number = line.split(" ")
            first, last = name.replace("_", " ").split(",", 1)
            gradebook.add_student(
                student, first_name=first, last_name=last, lms_user_id=number, email=f"{student}@example.edu"
            )
