"""The class of thirty of `make demo` and of the sample pages."""

import re
import sys
from collections import Counter
from pathlib import Path

import nbformat
import pytest

from gradekit.checks.variants import Mistake
from gradekit.course import Course
from gradekit_authoring.samples import frequent_mistake, typical_class, write_class

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))

from building.samples import sample_pages  # noqa: E402

COURSE = Course(ROOT)
MAKEFILE = (ROOT / "Makefile").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("assignment", COURSE.assignments(), ids=lambda assignment: assignment.name)
def test_a_class_of_any_assignment_has_a_frequent_mistake_and_many_right_answers(assignment):
    samples = list(typical_class(assignment))
    assert len({sample.student for sample in samples}) == len(samples) == 30
    made = Counter(v.name for s in samples for v in s.variants if isinstance(v, Mistake))
    assert max(made.values()) >= 7
    assert sum(sample.full for sample in samples) >= 7


def test_make_demo_points_to_the_page_of_a_student_with_the_most_frequent_mistake(tmp_path):
    (name,) = re.findall(r"^DEMO_OF \?= (\S+)$", MAKEFILE, re.MULTILINE)
    (student,) = re.findall(r"^DEMO_STUDENT := (\S+)$", MAKEFILE, re.MULTILINE)
    samples = list(typical_class(COURSE.assignment(name)))
    assert student == frequent_mistake(samples)
    write_class(COURSE.assignment(name), tmp_path, samples)
    written = {path.parts[-3]: path.read_text() for path in tmp_path.glob("*/*/*.ipynb")}
    assert len(written) == 30
    assert len(set(written.values())) > 20
    wrong = nbformat.read(tmp_path / student / name / "attention.ipynb", as_version=4)
    (answer,) = (c.source for c in wrong.cells if "def masked_attention(" in c.source)
    assert "sqrt" not in answer


@pytest.mark.thorough
def test_the_report_on_the_class_says_what_to_teach_again_and_has_a_group_without_a_diagnosis(tmp_path):
    folder = sample_pages(tmp_path)
    report = re.sub(r"<[^>]+>|\s+", " ", (folder / "report.html").read_text())
    assert re.search(r"Re-teach this .*\(\s*[78] of 29 students", report)
    assert re.search(r": 3 students .{0,80}No diagnosis yet", report)
    assert "the number of rows minus 1" in (folder / "feedback.html").read_text()
