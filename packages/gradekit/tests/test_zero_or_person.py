"""The table of what gives 0 and what goes to a person, in docs/grading.md: each row is what a test shows."""

import ast
import re
from pathlib import Path

import pytest

from .test_code_elsewhere import CASES
from .test_written_answers import FORMS

PACKAGES = Path(__file__).parents[2]
DOCS = Path(__file__).parents[3] / "docs" / "grading.md"
CODE = "test_code_elsewhere::test_the_score_is_that_of_the_tests_unless_something_is_uncertain"
WRITTEN = "test_written_answers::test_an_answer_in_an_odd_place_has_no_score_and_needs_manual_grading"
#: the test of each row, by the beginning of its situation; in brackets, a case of a test that has many
SHOWN = {
    "a check or a test fails": f"{CODE}[wrong]",
    "an answer is as it was handed out, or a code answer is empty": f"{CODE}[nothing]",
    "a written answer was emptied": "test_written_answers::test_an_emptied_answer_waits_for_a_person",
    "an answer cell was deleted": f"{CODE}[deleted and nowhere else]",
    "an answer cell is missing that": (
        "test_revise::test_who_handed_in_before_an_exercise_was_added_gets_no_0_for_it"
    ),
    "a written answer is in its cell": WRITTEN,
    "a written answer is empty, but": "test_written_answers::test_a_person_reads_the_answer_wherever_it_is[in the title]",
    "a code answer is empty, but": f"{CODE}[under another name next to it]",
    "nothing was answered in the notebook": (
        "test_code_elsewhere::test_a_file_beside_a_notebook_in_which_nothing_was_answered_may_have_the_answers"
    ),
    "an answer is empty, and another notebook of the assignment has its cell": (
        "test_several_notebooks::test_nobody_has_less_than_in_plain_nbgrader_without_a_person"
    ),
    "an answer is empty, and another notebook of the assignment has code": (
        "test_several_notebooks::test_nobody_has_less_than_in_plain_nbgrader_without_a_person"
    ),
    "a notebook is missing, but another": (
        "test_several_notebooks::test_nobody_has_less_than_in_plain_nbgrader_without_a_person"
    ),
    "an exercise loses points, and a file": (
        "test_several_notebooks::test_nobody_has_less_than_in_plain_nbgrader_without_a_person"
    ),
    "an answer is missing, and there is text or code": (
        "test_overlooked::test_nobody_has_less_than_in_plain_nbgrader_and_a_person_sees_what_it_overlooks"
    ),
    "the file has its cells": (
        "test_overlooked::test_nobody_has_less_than_in_plain_nbgrader_and_a_person_sees_what_it_overlooks"
    ),
    "most marked cells of the notebook": (
        "test_code_elsewhere::test_a_person_decides_on_a_notebook_of_another_assignment"
    ),
    "an exercise loses points, and its code needs": (
        "test_needed_code::test_a_right_answer_that_needs_other_code_gets_its_points_or_a_person"
    ),
    "an answer that was copied from another cell passes": f"{CODE}[below its test in a new cell]",
    "an answer that was copied from another cell, or": f"{CODE}[copied from another cell and wrong]",
    "a code answer is text that isn't code": f"{CODE}[prose in place of code]",
    "an answer cell is code but for lines": (
        "test_merged_cells::test_a_person_decides_on_an_answer_that_is_code_but_for_fences_and_prompts"
    ),
    "an edited test cell or given cell is too long": (
        "test_merged_cells::test_an_edit_that_is_too_long_to_be_searched_is_named_and_a_person_decides"
    ),
    "the notebook has two different answers": f"{CODE}[two answers the last of which is wrong]",
    "an ordinary test cell is above its answer": f"{CODE}[its own cell below its test]",
    "a cell below the test cell changes": (
        "test_changed_below::test_a_right_answer_that_a_later_cell_harms_goes_to_a_person"
    ),
    "a cell has a syntax error": f"{CODE}[a syntax error]",
    "code uses more CPU time": "test_tries::test_code_that_computes_past_its_limit_is_tried_once",
    "code sleeps too long or ends its process, in both": (
        "test_redraws::test_an_answer_that_always_dies_has_no_points_and_nobody_has_to_look"
    ),
    "code sleeps too long or ends its process, in one": (
        "test_redraws::test_an_answer_that_dies_at_first_and_is_right_then_is_undecided"
    ),
    "only one of two tries ended": (
        "test_redraws::test_giving_up_one_exercise_to_die_early_gains_the_others_little"
    ),
    "a test cell does better": (
        "test_redraws::test_a_later_test_that_ends_the_process_gives_an_earlier_one_no_second_draw"
    ),
    "no time is left": (
        "test_tries::test_without_time_for_a_second_try_a_result_says_so_and_is_graded_next_time"
    ),
    "the kernel failed to start twice": (
        "test_class::test_a_submission_on_which_the_grader_failed_is_graded_next_time"
    ),
    "the notebook is missing or unreadable": (
        "test_nbgrader::test_an_unreadable_notebook_awaits_manual_grading_instead_of_scoring_zero"
    ),
    "an ordinary test cell writes to stderr": (
        "test_ordinary::test_output_on_stderr_costs_the_points_unless_the_course_says_otherwise"
    ),
    "the value of an ordinary test cell": (
        "test_ordinary::test_the_value_of_a_test_cell_is_its_score_as_in_nbgrader"
    ),
}


def situations() -> list[str]:
    text = DOCS.read_text().partition("## What gives 0")[2].partition("\n## ")[0]
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    return [row.split("|")[1].strip() for row in rows[1:]]


def test_every_row_has_its_test():
    unmatched = [s for s in situations() if sum(map(s.startswith, SHOWN)) != 1]
    assert unmatched == []
    assert len(situations()) == len(SHOWN)


@pytest.mark.parametrize("shown", SHOWN.values(), ids=SHOWN.keys())
def test_the_test_is_there(shown):
    module, name, case = re.fullmatch(r"(\w+)::(\w+)(?:\[(.*)\])?", shown).groups()
    (file,) = PACKAGES.glob(f"*/tests/{module}.py")
    tree = ast.parse(file.read_text())
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert case is None or case in CASES or case in FORMS
