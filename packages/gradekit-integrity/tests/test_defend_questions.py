"""The questions that `gradekit defend` asks: each is true of the code, and none that other code answers is asked."""

from collections.abc import Sequence

import pytest

from gradekit_integrity.defend.closed import ClosedKind, ClosedQuestion
from gradekit_integrity.defend.knowledge import Knowledge, choose_closed
from gradekit_integrity.defend.probed import ProbedCode

from .test_defend import INPUTS, LONG, OTHER, course, defend, prepared, questions, sheet_of

__all__ = ["course"]  # a fixture


def test_each_question_has_one_right_option_and_others_that_differ_from_it(course):
    found = questions(course, LONG)
    assert {one.kind for one in found} >= {
        ClosedKind.SHAPE,
        ClosedKind.COUNT,
        ClosedKind.NEXT,
        ClosedKind.TAKEN_OUT,
    }
    for one in found:
        options = [one.right, *one.wrong]
        assert len(set(options)) == len(options) >= 3, one
    said = {(one.text, one.right) for one in found if one.calls == (("double(x)", ("x: 5",)),)}
    assert ("How often does the body of the loop in line 4 run?", "Once.") in said
    assert ("Which line runs right after line 6?", "Line 8.") in said
    assert ("When line 8 has run, what is the value of `total`?", "`10`") in said
    said |= {(one.text, one.right) for one in found}  # of the first call
    assert ("Line 8 is taken out. What does the call do then?", "It returns the same as before.") in said
    stops = (
        "Line 3 is taken out; the others keep their numbers. Where does the call then stop with an exception?"
    )
    assert (stops, "In line 5.") in said


def test_parts_of_lines_are_asked_about_and_lines_keep_their_numbers():
    code = ProbedCode(
        "def f(q, k):\n    s = q @ k.transpose(-2, -1) / q.shape[-1]\n    return [one for one in s]"
    )
    assert set(code.parts.values()) == {"q @ k.transpose(-2, -1)", "k.transpose(-2, -1)", "q.shape[-1]"}
    assert code.source.count("\n") == code.as_written.count("\n") and ":=" in code.source
    assert ProbedCode("def f(x):\n    return [(lambda y: y + 1)(z) for z in x]").parts == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    "source", ["random.randrange(9)", "int(torch.randint(9, ()))", "len({x, 3, 'a'})", "len(torch.empty(3))"]
)
def test_what_depends_on_chance_is_never_asked(source, course):
    found = questions(
        course, f"import random\ndef double(x):\n    y = {source}\n    z = y + 1\n    return z + x"
    )
    assert {one.kind for one in found}.isdisjoint({ClosedKind.VALUE, ClosedKind.NEXT})


GRAMS = """\
def double(x):
    found = 0
    for step in range(3):
        if step > 7:
            found = found + 1
    if found > 5:
        found = 0
    return 2 * x"""


def test_which_line_runs_after_the_body_of_a_loop_is_not_asked(course):
    asked = {(one.text, one.right) for one in questions(course, GRAMS) if one.kind == ClosedKind.NEXT}
    # whether `for` runs again, or the line behind it runs when it has ended, is a matter of words
    assert asked == {("Which line runs right after line 6?", "Line 8.")}


@pytest.mark.parametrize("made", ["", "    def __init__(self, width):\n        super().__init__(width)\n"])
def test_a_method_is_asked_about_only_if_the_page_shows_how_its_object_was_made(made, course):
    course.checks.with_name("viva.py").write_text(
        INPUTS.replace("two(double)", "two(Wider)").replace("double(torch", "Wider(2).double(torch")
    )
    found = questions(
        course,
        "class Wide:\n    def __init__(self, width):\n        self.width = width\n"
        f"class Wider(Wide):\n{made}    def double(self, x):\n        one = torch.ones(self.width, 3)\n"
        "        two = one.sum(dim=0)\n        return two + x[:, :1]\n"
        "def double(x):\n    return 2 * x",
    )
    about = [one for one in found if "`one`" in one.text]
    assert bool(about) == bool(made)
    assert all(one.calls[0][1] == ("width: 2",) for one in about)


def test_a_method_is_shown_with_the_call_that_made_its_own_object(course):
    driver = "first, second = Wide(2), Wide(3)\n    first.double(torch.ones(3, 2))"
    course.checks.with_name("viva.py").write_text(
        INPUTS.replace("two(double)", "two(Wide)").replace("double(torch.ones(3, 2))", driver)
    )
    found = questions(
        course,
        "class Wide:\n    def __init__(self, width):\n        self.width = width\n"
        "    def double(self, x):\n        one = torch.ones(self.width, 4)\n"
        "        two = one.sum(dim=1)\n        return two + x\ndef double(x):\n    return 2 * x",
    )
    about = [one for one in found if "`one`" in one.text]
    assert about and {(one.right, one.calls[0][1]) for one in about} == {("`(2, 4)`", ("width: 2",))}


@pytest.mark.parametrize(
    "remembering",
    [
        "class Wide:\n    def __init__(self, width):\n        self.mask = None\n"
        "    def double(self, x):\n        self.mask = x if self.mask is None else self.mask\n"
        "        one = torch.ones(3, len(self.mask))\n        two = one.sum(dim=0)\n        return two + len(x)",
        "class Wide:\n    masks = []\n    def __init__(self, width):\n        self.width = width\n"
        "    def double(self, x):\n        self.masks.append(x)\n"
        "        one = torch.ones(3, len(self.masks[0]))\n        two = one.sum(dim=0)\n        return two + len(x)",
    ],
    ids=["in its object", "in its class"],
)
def test_nothing_is_asked_about_a_call_that_may_follow_from_one_that_is_not_shown(remembering, course):
    driver = "wide = Wide(2)\n    wide.double(torch.ones(4, 2))\n    wide.double(torch.ones(5, 2))"
    course.checks.with_name("viva.py").write_text(
        INPUTS.replace("two(double)", "two(Wide)").replace("double(torch.ones(3, 2))", driver)
    )
    found = questions(course, f"{remembering}\ndef double(x):\n    return 2 * x")
    about = [one for one in found if "`one`" in one.text]
    assert about and {one.calls[-1][1][0] for one in about} == {
        "x: [[1, 1], [1, 1], [1, 1], [1, 1]] (shape (4, 2), float32)"
    }


@pytest.mark.parametrize("between", ["", "wide.training = False", "wide.other = 1"])
def test_nothing_is_asked_about_a_setting_that_was_changed_where_no_page_shows_it(between, course):
    """As `.eval()` does: the page shows how the object was made, and so somebody else would think of another branch."""
    course.checks.with_name("viva.py").write_text(
        INPUTS.replace("two(double)", "two(Wide)").replace(
            "double(torch.ones(3, 2))", f"wide = Wide(2); {between}\n    wide.double(torch.ones(3, 2))"
        )
    )
    found = questions(
        course,
        "class Wide:\n    def __init__(self, width):\n        self.training = True\n"
        "    def double(self, x):\n        one = torch.ones(3, 4)\n        if self.training:\n"
        "            two = one.sum(dim=0)\n        return one.sum() + x\ndef double(x):\n    return 2 * x",
    )
    kinds = {one.kind for one in found if len(one.calls) == 2 and one.line}
    about = [one for one in found if "`one`" in one.text]
    assert bool(about) == ("training" not in between)
    assert (ClosedKind.NEXT in kinds) == (between == "")


@pytest.mark.slow
@pytest.mark.parametrize(
    "between", ["", "wide.eval()", "wide.norm = torch.nn.Identity()", "wide.norm.eps = 1"]
)
def test_nothing_is_asked_about_a_module_of_which_a_part_was_replaced(between, course):
    course.checks.with_name("viva.py").write_text(
        INPUTS.replace("two(double)", "two(Wide)").replace(
            "double(torch.ones(3, 2))", f"wide = Wide(2); {between}\n    wide(torch.ones(3, 2))"
        )
    )
    found = questions(
        course,
        "class Wide(torch.nn.Module):\n    def __init__(self, width):\n        super().__init__()\n"
        "        self.norm = torch.nn.LayerNorm(width)\n    def forward(self, x):\n        one = x.sum(dim=0)\n"
        "        two = one.reshape(1, 2)\n        return two * self.norm.weight\ndef double(x):\n    return 2 * x",
    )
    about = [one for one in found if "`one`" in one.text]
    assert bool(about) == ("norm" not in between)


def test_a_line_whose_names_the_notebook_also_has_is_not_taken_out(course):
    lines = "    {two}, three = x * 2, x * 3\n    four = {two} + x\n    return four + three - x * 4"
    asked = [
        {one.text for one in questions(course, f"two = 7\ndef double(x):\n{lines.format(two=name)}")}
        for name in ("one", "two")
    ]
    text = (
        "Line 3 is taken out; the others keep their numbers. Where does the call then stop with an exception?"
    )
    assert [text in one for one in asked] == [True, False]


def test_a_call_that_stops_inside_a_with_or_finally_is_not_one_that_works(course):
    """The exception leaves the block by a line that runs, so it looked as if it had been caught."""
    course.checks.with_name("viva.py").write_text(
        INPUTS.replace("three_by_two(double)", "pair(total)").replace(
            "double(torch.ones(3, 2))", "total(*torch.ones(4, 2))"
        )
    )
    found = questions(
        course,
        "def total(one, two, three, four):\n    with torch.no_grad():\n        first = one + two\n"
        "    try:\n        second = two + three\n    finally:\n        done = True\n    return first + second + four\n"
        "def double(x):\n    return 2 * x",
    )
    assert found and ClosedKind.FAILS not in {one.kind for one in found}  # with any other size it stops


@pytest.mark.parametrize("kind", ["lambda", "helper", "comprehension"])
def test_an_exception_stops_the_call_in_the_line_that_raises_it_and_no_option_is_a_line_it_goes_through(
    kind, course
):
    """Python names both the line of the lambda or helper and the one that calls it."""
    inner = {
        "lambda": "    tripled = lambda s: s * factor\n",
        "helper": "    def tripled(s):\n        return s * factor\n",
        "comprehension": "    one = x * 2\n",
    }[kind]
    last = "sum([\n        s * factor for s in [x]])" if kind == "comprehension" else "tripled(x)"
    found = questions(
        course,
        f"def double(x):\n    factor = 3\n{inner}    two = x - x\n    four = two + {last}\n    return four - x",
    )
    raising, through = {"lambda": (3, 5), "helper": (4, 6), "comprehension": (6, 5)}[kind]
    stops = [one for one in found if one.kind == ClosedKind.STOPS and one.line == 2]
    assert {one.right for one in stops} == (set() if kind == "comprehension" else {f"In line {raising}."})
    assert not any(f"In line {through}." in one.wrong for one in stops)


def test_a_call_with_ten_inputs_is_asked_about(course):
    names = [f"size_{number}" for number in range(9)]
    course.checks.with_name("viva.py").write_text(
        INPUTS.replace("double(5)", f"double(5, {', '.join(f'{one}=2' for one in names)})")
    )
    found = questions(
        course, f"def double(x, {', '.join(f'{one}=1' for one in names)}):\n    y = x * size_8\n    return y"
    )
    assert ("When line 2 has run, what is the value of `y`?", "`10`") in {
        (one.text, one.right) for one in found
    }


def test_nothing_is_asked_about_a_call_if_the_page_would_only_name_an_input(course):
    """Which shape something has may depend on what is in a module, of which the page says nothing."""
    course.checks.with_name("viva.py").write_text(
        INPUTS.replace("double(torch.ones(3, 2))", "double(torch.nn.Linear(2, 3))")
    )
    found = questions(
        course,
        "def double(x):\n    y = x.weight if hasattr(x, 'weight') else torch.ones(x, 3)\n"
        "    z = y.sum(dim=0)\n    return z * 2",
    )
    inputs = {shown for one in found for _, inputs in one.calls for shown in inputs}
    assert "x: 5" in inputs and not any("module" in shown for shown in inputs)


def test_which_line_is_the_first_is_not_asked_where_another_function_of_the_cell_assigns_too(course):
    lines = (
        "    y = {}\n    z = y.reshape(2, 3)\n    w = z.reshape(1, 6)\n    v = w.reshape(6)\n    return v * 2"
    )
    alone = "def double(x):\n" + lines.format("x * 2")
    helped = "def twice(x):\n    y = x + x\n    return y\ndef double(x):\n" + lines.format("twice(x)")
    assert ClosedKind.FIRST in {one.kind for one in questions(course, alone)}
    assert ClosedKind.FIRST not in {one.kind for one in questions(course, helped)}


@pytest.mark.slow
@pytest.mark.parametrize(("number", "exact"), [("0.5", True), ("1 / 3", False), ("12.345", False)])
def test_values_and_branches_are_asked_about_only_if_the_page_shows_all_digits_of_the_inputs(
    number, exact, course
):
    course.checks.with_name("viva.py").write_text(INPUTS.replace("double(5)", f"double({number})"))
    found = questions(
        course,
        "def double(x):\n    y = 8\n    if x < 0.4:\n        y = 3\n    z = y + 1\n    y = y * 1\n    return x * 2",
    )
    asked = {(one.kind, one.right) for one in found if f"x: {eval(number):.4g}" in str(one.calls)}
    assert asked
    kinds = {kind for kind, _ in asked}
    assert (
        ({ClosedKind.VALUE, ClosedKind.NEXT} <= kinds)
        == exact
        == bool(kinds & {ClosedKind.VALUE, ClosedKind.NEXT})
    )
    assert ((ClosedKind.TAKEN_OUT, "It returns the same as before.") in asked) == exact


def with_code(code: str, *rights: str) -> Knowledge:
    """An answer that leads to these options of as many questions about lines; `?` for none."""
    call = (("f(x)", ("x: 1",)),)
    found = [
        ClosedQuestion(
            ClosedKind.SHAPE, "nb", "f", line, f"{line}?", right, call, ("`(1,)`", "`(2,)`"), f"v{line}"
        )
        for line, right in enumerate(rights, 2)
        if right != "?"
    ]
    return Knowledge(tuple(code), found)


THREE, FOUR, FIVE, SIX = (f"`({size},)`" for size in range(3, 7))
#: none of them has a statement in common with another, nor anything to say about a line
STRANGERS = [with_code(name * 6) for name in "vwxyz"]


def lines_asked(own: Knowledge, others: Sequence[Knowledge], count: int) -> set[int]:
    """The lines of which one is asked about with one of these seeds."""
    return {one.line for seed in "abcdefgh" for one in choose_closed(own, others, count, seed)}


def test_a_question_that_other_code_answers_is_left_out():
    own = with_code("abcdef", THREE, FOUR, FIVE)
    assert lines_asked(own, STRANGERS, 1) == {2, 3, 4}
    assert lines_asked(own, [*STRANGERS, with_code("gggggg", THREE), with_code("hhhhhh", THREE)], 1) == {3, 4}


def test_nothing_is_asked_where_too_little_other_code_is_known_or_only_just_enough_questions_are_left():
    own = with_code("abcdef", THREE, FOUR, FIVE)
    assert lines_asked(own, [own, *STRANGERS[:1]], 1) == set()
    assert len(choose_closed(own, STRANGERS[:2], 2, "")) == 2
    assert choose_closed(own, STRANGERS, 3, "") == []


def test_answers_that_resemble_each_other_judge_a_question_as_one():
    """What nine copies of one solution don't know may well be what another solution knows: one of three did."""
    own = with_code("abcdef", THREE, FOUR, FIVE, SIX)
    copies = [with_code(f"ggggg{number}") for number in range(9)]
    judges = [*copies, STRANGERS[0], with_code("yyyyyy", THREE)]
    assert choose_closed(own, judges, 3, "") == []
    apart = [with_code(str(number) * 6) for number in range(9)]
    assert len(choose_closed(own, [*apart, *judges[-2:]], 3, "")) == 3


def test_an_option_that_is_right_in_most_lines_is_not_asked_about():
    """Somebody with any code names it, whichever line the question is about."""
    own = with_code("abcdef", THREE, FOUR, FIVE, *[SIX] * 9)
    assert lines_asked(own, STRANGERS, 2) == {2, 3, 4}


@pytest.mark.slow
def test_what_a_single_friend_with_nearly_the_same_code_knows_counts_in_a_large_class():
    call = (("f(x)", ("x: 1",)),)
    wrong = ("`(1,)`", "`(2,)`")
    first, second = [
        ClosedQuestion(ClosedKind.SHAPE, "nb", "f", line, f"{name}?", f"`({line},)`", call, wrong, name, name)
        for line, name in enumerate("st", 3)
    ]
    own = Knowledge(("a", "b", "c", "d"), [first, second])
    friend = Knowledge(("a", "b", "c", "e"), [first])
    others = [Knowledge((f"other {number}",), []) for number in range(200)]
    for seed in "abcdefgh":
        assert choose_closed(own, [friend, *others], 1, seed) == [second]


def test_no_two_questions_of_a_page_have_the_same_right_option():
    """Else "always line 3" would be a defense, whatever the questions are."""
    call = (("f(x)", ("x: 1",)),)
    lines = {"Which line is first?": "Line 3.", "Which line is next?": "Line 3.", "Where does it stop?": "In line 3.",
             "Of which type?": "`TypeError`, in line 3.", "Which shape?": "`(3,)`", "How often?": "Twice."}  # fmt: skip
    found = [
        ClosedQuestion(kind, "nb", "f", line, text, right, call, ("Line 1.", "Line 2."), text, text)
        for line, (kind, (text, right)) in enumerate(zip(ClosedKind, lines.items(), strict=False), 2)
    ]
    for seed in "abcdefgh":
        chosen = choose_closed(Knowledge(("a",), found), STRANGERS, 2, seed)
        assert len(chosen) == 2 and len([one for one in chosen if "ine 3." in one.right]) <= 1
        assert choose_closed(Knowledge(("a",), found), STRANGERS, 3, seed) == []  # a fourth would be needed


def test_with_little_other_code_what_nearly_the_same_code_answers_is_left_out():
    """Only two others have different code, so what edits of this code answer counts, too."""
    own = with_code("abcdef", THREE, FOUR, FIVE, SIX)
    edits = [with_code(f"abcde{other}", "?", FOUR) for other in "ghij"]
    assert lines_asked(own, [*edits, *STRANGERS[:2]], 2) == {2, 4, 5}
    assert len(choose_closed(own, [*edits, *STRANGERS], 3, "")) == 3


def test_nothing_is_asked_where_each_other_code_would_know_too_much_if_it_were_not_known():
    """Each of them answers two of eight questions, and no two the same, so what is left out says nothing about another."""
    rights = [f"`({size},)`" for size in range(3, 11)]
    own = with_code("abcdef", *rights)
    others = [
        with_code(other * 6, *(right if place // 2 == number else "?" for place, right in enumerate(rights)))
        for number, other in enumerate("wxyz")
    ]
    assert choose_closed(own, others[:2], 3, "") != []
    for seed in "abc":
        assert choose_closed(own, others, 3, seed) == []


@pytest.mark.slow
def test_what_the_course_s_own_answers_say_is_not_asked(course):
    """Also in a class where nobody else has handed in; they get no page themselves."""
    answer = (
        "def double(x):\n    y = x.clone()\n    for step in range(1):\n        y = y + x\n    z = y.reshape(-1)\n"
        "    if len(z) > 100:\n        z = z * 1\n    return z.reshape(x.shape)"
    )
    assert any("`y`" in one.text and one.kind == ClosedKind.SHAPE for one in questions(course, answer))
    prepared(course, ann=answer)
    assert defend(course) == 0
    asked = sheet_of(course, "ann").questions
    assert len(asked) == 3 and not any("shape does `y` have" in one.text for one in asked)
    folder = course.root / "reports" / "01_double" / "defense"
    assert [path.name for path in folder.iterdir()] == ["ann.html"]


@pytest.mark.slow
def test_a_faulty_catalog_of_the_course_is_named_and_stops_nothing(course, capsys):
    prepared(course, ann=LONG, bob=OTHER, cho="def double(x):\n    return 2 * x")
    path = course.assignment.checks / "mistakes.py"
    path.write_text(path.read_text().replace('("2 * x", "x * x")', '("3 * y", "x")'))
    assert defend(course) == 0
    out = capsys.readouterr().out
    assert len(sheet_of(course, "ann").questions) == 3 and "The course's own answers were left out: " in out
