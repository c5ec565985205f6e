"""Snippets: a few lines that fail on a wrong answer, for the student to try."""

import re

import pytest

from gradekit.attempts import Shows
from gradekit.checks.snippets import not_shown, snippets_of
from gradekit.course import CourseError, blank_copy, read_notebook
from gradekit.page.check_table import checks_as_html, result_as_shown
from gradekit.page.headings import headings
from gradekit.session.limits import Limits
from gradekit.verdict.grade import Offer, grade
from gradekit.verdict.opened import GradingJob, HowToRun
from gradekit_authoring.audit import audit_lines, run_audit

from .needs import needs_torch
from .tiny_course import code

HEAD = "from gradekit.checks import try_it\n\n"
TWO = '''
@try_it("test_double", "test_value", "test_any_size")
def twice_two(double):
    """Twice two is four."""
    import torch

    number = torch.tensor([2.0])
    print("double(2) should be 4.")
    assert double(number) == 4, f"double(2) is {double(number).item():g}."
'''
GRADIENT = '''
@try_it("test_double", "test_gradient")
def slope_of_two(double):
    """The slope of a function that doubles is 2."""
    import torch

    at = torch.ones(1, requires_grad=True)
    assert double(at).requires_grad, "No gradient reaches the input."
'''
#: it fails for nothing
EMPTY = '@try_it("test_double")\ndef empty(double):\n    """An empty tensor."""\n    import torch\n\n    double(torch.ones(0))\n'
#: squares are right for 2, and triples for 0
AT_THREE = TWO.replace("twice_two", "at_three").replace("[2.0]", "3").replace("== 4", "== 6")


@pytest.fixture
def declare(tiny_course):
    def write(*snippets):
        tiny_course.checks.with_name("try_it.py").write_text("\n\n".join([HEAD, *snippets]))
        return tiny_course.assignment

    return write


def problems(assignment):
    return run_audit(assignment, workers=1, degenerate=False).problems


def graded(course, answer, limits=None, **options):
    notebook = course.answer(answer)
    released = blank_copy(read_notebook(course.assignment.source_notebooks()[0]))
    job = GradingJob(course.assignment, "double", notebook, released, HowToRun(limits or Limits()))
    return notebook, grade(job, **options).result


@needs_torch
def test_a_course_whose_snippets_show_all_mistakes_passes_the_audit(declare):
    assignment = declare(AT_THREE, GRADIENT)
    audit = run_audit(assignment, workers=1, degenerate=False)
    assert audit.problems == []
    (row,) = [line for line in audit_lines(audit) if "triple" in line]
    assert row.endswith("yes    yes")


@needs_torch
def test_the_audit_names_a_mistake_that_no_snippet_shows(declare):
    assert problems(declare(TWO, GRADIENT)) == ["no snippet shows square for test_value, test_any_size."]


@needs_torch
def test_the_audit_accepts_a_reason_and_names_one_that_is_out_of_date(declare):
    reasons = "NOT_SHOWN = {'Only at other numbers than 2.': ['square', 'triple', 'cube']}"
    assert problems(declare(TWO, GRADIENT, reasons)) == [
        "NOT_SHOWN names cube: no such mistake",
        "NOT_SHOWN names triple, but a snippet shows it",
    ]


@needs_torch
def test_the_audit_names_a_snippet_that_fails_for_a_right_answer(declare):
    wrong = AT_THREE.replace("== 6", "== 7")
    found = problems(declare(wrong, GRADIENT))
    assert [problem.split(".")[0] for problem in found] == [
        "false alarm: the snippet `at_three` fails for solution",
        "false alarm: the snippet `at_three` fails for sum",
    ]
    assert "double(2) is 6." in found[0]


@needs_torch
def test_the_audit_names_a_snippet_for_a_check_that_does_not_exist(declare):
    found = problems(declare(AT_THREE, GRADIENT, EMPTY.replace('"test_double"', '"test_double", "test_old"')))
    assert found == ["the snippet `empty` is for test_double::test_old: no such check"]


@needs_torch
def test_the_audit_names_a_snippet_that_overwrites_what_the_notebook_needs(declare, tiny_course, tiny_source):
    tiny_source.cells += [code("number = 5"), code("print(number)")]
    tiny_course.write_source(tiny_source)
    assert problems(declare(AT_THREE, GRADIENT)) == [
        "the snippet `at_three` assigns `number`, which the notebook needs: use another name"
    ]


@pytest.mark.parametrize(
    ("snippet", "words"),
    [
        (TWO.replace("    import torch\n", ""), "`twice_two` uses torch: import what it needs"),
        (TWO.replace("def twice_two(double)", "def twice_two()"), "`twice_two` uses double"),
        (TWO.replace('    """Twice two is four."""\n', ""), "`twice_two` needs a docstring"),
        (TWO + "    number += 1\n" * 30, "must have 1 to 25"),
        ("def broken(:", "SyntaxError"),
    ],
)
def test_a_snippet_that_would_not_run_in_a_cell_is_named(declare, snippet, words):
    with pytest.raises(CourseError, match=r"try_it\.py can't be read") as error:
        snippets_of(declare(snippet))
    assert words in str(error.value)


def test_a_snippet_begins_with_the_imports_of_the_file_that_it_needs_which_are_not_run_here(declare):
    body = TWO.replace("    import torch\n\n", "").replace(
        "torch.tensor([2.0])", "no_such_module.two(half, pi)"
    )
    imports = (
        "import no_such_module, sys\nfrom math import pi as pi, tau\n\nfrom fractions import Fraction as half"
    )
    (snippet,) = snippets_of(declare(imports, body))
    assert snippet.text.startswith(
        "# Twice two is four.\nimport no_such_module\nfrom math import pi as pi\n\n"
        "from fractions import Fraction as half\n\nnumber = no_such_module.two(half, pi)\n"
    )


def test_what_the_file_itself_uses_is_imported(declare):
    reasons = (
        "import math\n\ndef word(n):\n    return str(math.ceil(n))\n\nNOT_SHOWN = {word(1.5): ['square']}"
    )
    assert not_shown(declare(TWO, reasons)) == {"square": "2"}


def test_a_module_beside_the_file_is_not_imported_by_students(declare, tiny_course):
    tiny_course.checks.with_name("shared.py").write_text("TWO = 2.0\n")
    with pytest.raises(CourseError, match=r"`twice_two` uses TWO: import what it needs"):
        snippets_of(declare("from shared import TWO", TWO.replace("[2.0]", "[TWO]")))


@needs_torch
def test_failed_checks_offer_the_first_snippet_that_fails_on_this_answer(declare, tiny_course):
    (two, gradient, three) = snippets_of(declare(TWO, GRADIENT, AT_THREE))
    assert two.text.startswith("# Twice two is four.\nimport torch\n\nnumber = torch.tensor([2.0])\nprint(")
    _, result = graded(tiny_course, "def double(x):\n    return x * x")
    assert [check.try_it for check in result.exercises[0].checks] == [three.text] * 2 + ["", ""]
    _, result = graded(tiny_course, "def double(x):\n    return 3 * x.detach()")
    assert [check.try_it for check in result.exercises[0].checks] == [two.text] * 2 + [gradient.text, ""]


def test_the_page_shows_the_snippets_of_failed_checks_only_and_in_every_mode_with_sentences(
    declare, tiny_course
):
    declare(TWO, GRADIENT)
    notebook, result = graded(tiny_course, "def double(x):\n    return 3 * x")

    def page(shows):
        exercise = result_as_shown(result, shows).exercises[0]
        return checks_as_html(exercise, notebook, headings(notebook))

    for shows in (Shows.EVERYTHING, Shows.SENTENCES):
        assert page(shows).count("<summary>Try it yourself</summary>") == 1
        assert page(shows).count("Twice two is four.") == 1
        address = re.search(r'<details class="try" id="(\S+)"', page(shows))[1]
        assert page(shows).count(f'<a href="#{address}">the lines above</a>') == 1
        assert "The slope" not in page(shows)
    assert "Try it" not in page(Shows.EXERCISES)


def test_without_a_file_nothing_is_offered_and_nothing_is_run(tiny_course):
    _, result = graded(tiny_course, "def double(x):\n    return 3 * x", offer=Offer.ALL)
    assert [check.try_it for check in result.exercises[0].checks] == [""] * 4


@pytest.mark.parametrize("ending", ["while True: pass", "import os; os._exit(1)"])
def test_a_snippet_that_loops_or_ends_the_kernel_ends_and_costs_nothing(declare, tiny_course, ending):
    """The answer does so for the number of the snippet, which is none of the check's."""
    declare(TWO.replace("import torch", "import numpy as np").replace("torch.tensor", "np.array"))
    answer = f"def double(x):\n    if x.shape == (1,):\n        {ending}\n    return 3 * x"
    _, result = graded(tiny_course, answer, limits=Limits(call_seconds=0.5))
    assert (result.status, result.suspect) == ("graded", [])
    assert [check.outcome for check in result.exercises[0].checks] == ["failed", "failed", "passed", "passed"]
    assert [check.try_it for check in result.exercises[0].checks] == [""] * 4
