"""Every known mistake is caught and every other right answer accepted.

`make audit` also grades the exercises that build on a mistaken one.
"""

from pathlib import Path

import pytest

from coursekit.audit import run_audit
from coursekit.checks.variants import alternatives_of, mistakes_of
from coursekit.course import Course

ROOT = Path(__file__).parents[2]
each_assignment = pytest.mark.parametrize(
    "assignment", Course(ROOT).assignments(), ids=lambda assignment: assignment.name
)


@each_assignment
def test_the_checks_are_right_about_every_known_answer(assignment):
    assert run_audit(assignment, workers=1, thorough=False).problems == []


@each_assignment
def test_there_are_enough_known_answers(assignment):
    assert len(mistakes_of(assignment)) >= 11
    assert len(alternatives_of(assignment)) >= 8


@each_assignment
def test_each_mistake_has_one_sentence_that_a_student_reads(assignment):
    for mistake in mistakes_of(assignment):
        assert mistake.sentence[0].isupper() or mistake.sentence[0] == "`", mistake.name
        assert mistake.sentence.endswith((".", "?")), mistake.name
