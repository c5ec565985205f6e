"""Every known mistake is caught and every other right answer accepted.

`make audit` also grades the exercises that build on a mistaken one.
"""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from gradekit.checks.variants import alternatives_of, equivalents_of, mistakes_of
from gradekit.course import Course
from gradekit_authoring.audit import run_audit
from gradekit_authoring.mutants.make import is_standard, mutants_of
from gradekit_authoring.mutants.survivors import MutationTest, run_mutants

ROOT = Path(__file__).parents[2]
made_of = cache(mutants_of)
ASSIGNMENTS = Course(ROOT).assignments()
each_assignment = pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda assignment: assignment.name)
#: audited in every test run
EXAMPLE = "00_warm_up"
example_or_thorough = pytest.mark.parametrize(
    "assignment",
    [
        pytest.param(a, id=a.name, marks=[] if a.name == EXAMPLE else pytest.mark.thorough)
        for a in ASSIGNMENTS
    ],
)
mostly_slow = pytest.mark.parametrize(
    "assignment",
    [pytest.param(a, id=a.name, marks=[] if a.name == EXAMPLE else pytest.mark.slow) for a in ASSIGNMENTS],
)

#: answers that compute nothing are graded here for one assignment, by `make audit` for all
WITH_DEGENERATE = "02_attention"
#: its checks of a shape, of a type, or of a value that is a constant in the right answer, too
NOT_OF_VALUES = {
    *("test_shape", "test_is_boolean", "test_returns_a_float", "test_inputs_unchanged", "test_ids_unchanged"),
    *("test_sees_itself", "test_with_the_scale"),
}


@pytest.mark.slow
@example_or_thorough
def test_the_checks_are_right_about_every_known_answer(assignment):
    with_degenerate = assignment.name == WITH_DEGENERATE
    audit = run_audit(assignment, workers=1, thorough=False, degenerate=with_degenerate)
    assert audit.problems == []
    assert bool(audit.given_away()) == with_degenerate
    passed = {check.split()[0] for checks in audit.given_away().values() for check in checks}
    assert passed <= NOT_OF_VALUES


@each_assignment
def test_there_are_enough_known_answers(assignment):
    assert len(mistakes_of(assignment)) >= 11
    assert len(alternatives_of(assignment)) >= 8


@each_assignment
def test_each_mistake_has_one_sentence_that_a_student_reads(assignment):
    for mistake in mistakes_of(assignment):
        assert mistake.sentence[0].isupper() or mistake.sentence[0] == "`", mistake.name
        assert mistake.sentence.endswith((".", "?")), mistake.name


@mostly_slow
def test_each_mutant_that_may_survive_can_be_made(assignment):
    entries = [entry for entry in equivalents_of(assignment) if not is_standard(entry)]
    made = MutationTest(assignment, made_of(assignment), {}, entries)
    assert list(made.problems()) == []


@pytest.mark.slow
@each_assignment
def test_the_page_about_the_course_has_the_number_of_mutants_of_each_exercise(assignment):
    page = (ROOT / "docs" / "course.md").read_text(encoding="utf-8")
    found = re.findall(
        rf"^\| `{assignment.name}` \| `(\w+)` \| (\d+) \| (\d+) \| (\d+) \|$", page, re.MULTILINE
    )
    made = Counter(mutant.cell for mutant in made_of(assignment))
    assert {cell: int(number) for cell, number, _, _ in found} == made
    assert all(int(number) == int(killed) + int(rest) for _, number, killed, rest in found)


@example_or_thorough
@pytest.mark.slow
def test_no_mutant_of_a_sample_survives_without_a_reason(assignment):
    run = run_mutants(assignment, workers=1)
    assert [mutant.diff() for mutant in run.survivors] == []
    assert list(run.problems()) == []


@pytest.mark.thorough
@example_or_thorough
def test_no_standard_mutant_survives_without_a_reason(assignment):
    run = run_mutants(assignment, workers=1, standard=True, everything=True)
    assert [mutant.diff() for mutant in run.survivors] == []
    assert list(run.problems()) == []
