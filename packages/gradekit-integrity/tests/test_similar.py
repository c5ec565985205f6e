"""Similar answers: which copies are found, and who isn't flagged."""

import random
import re
import time

import numpy as np
import pytest

from gradekit.course import Course
from gradekit.grading.running_course import RunningCourse
from gradekit_integrity.similar.alike import similarities
from gradekit_integrity.similar.fingerprints import fingerprints
from gradekit_integrity.similar.page import clusters_of, one_of
from gradekit_integrity.similar.surprise import (
    Comparison,
    SimilarPair,
    chances_of,
    compare_works,
    surprises_of,
)
from gradekit_integrity.similar.tokens import code_lines, text_lines
from gradekit_integrity.similar.works import Reader, Work

from .similar_class import EXERCISES, Answers, SimilarCourse, answers


@pytest.fixture
def course(tmp_path):
    """A course with a class of 40 who answer independently."""
    made = SimilarCourse(tmp_path)
    made.honest()
    return made


def compared(course: SimilarCourse, groups: dict[str, str] | None = None) -> Comparison:
    reader = Reader(Course(course.root).assignment("01_parts"), groups)
    return compare_works(list(reader.of_class(RunningCourse.open(course.root))))


def found(course: SimilarCourse) -> list[tuple[str, str]]:
    comparison = compared(course)
    return [(comparison.works[p.first].student, comparison.works[p.second].student) for p in comparison.pairs]


def each(change, found: Answers) -> Answers:
    return {exercise: change(source) for exercise, source in found.items()}


def prints(source: str) -> set[int]:
    return {one for line in code_lines(source) for one in fingerprints(line)}


# --------------------------------------------------------------------------------------------------- what is found


def test_nobody_in_an_independent_class_stands_out(course):
    assert found(course) == []


@pytest.mark.parametrize("seed", range(1000, 1005))
@pytest.mark.slow
def test_nor_in_other_independent_classes(tmp_path, seed):
    course = SimilarCourse(tmp_path)
    for number in range(30):
        course.hand_in(f"s{number:02}", answers(f"{seed} {number}"))
    assert found(course) == []


def test_an_unchanged_copy_is_found(course):
    course.hand_in("copy", answers(7))
    assert found(course) == [("copy", "s07")]


def test_renamed_variables_are_found(course):
    names = {
        "one": "uno",
        "two": "b2",
        "three": "my_list",
        "four": "q",
        "five": "result",
        "six": "six_",
        "x": "data",
    }
    course.hand_in("copy", each(lambda s: re.sub(r"\b\w+\b", lambda m: names.get(m[0], m[0]), s), answers(7)))
    assert found(course) == [("copy", "s07")]


def test_changed_comments_docstrings_and_layout_are_found(course):
    def change(source: str) -> str:
        head, *lines = source.split("\n")
        lines = [f"\n{line.replace('(', '(  ').replace(', ', ',')}  # my step" for line in lines]
        return "\n".join([head, '    """My own words."""', "    # first", *lines])

    course.hand_in("copy", each(change, answers(7)))
    assert found(course) == [("copy", "s07")]


def test_reordered_statements_are_found(course):
    def change(source: str) -> str:
        head, *lines, last = source.split("\n")
        return "\n".join([head, *reversed(lines), last])

    course.hand_in("copy", each(change, answers(7)))
    assert found(course) == [("copy", "s07")]


def test_statements_on_one_line_or_broken_over_several_are_found(course):
    def change(source: str) -> str:
        head, *lines = source.split("\n")
        joined = "; ".join(line.strip() for line in lines)
        return f"{head}\n    {joined}".replace("np.", "np.").replace("(", "(\n", 2)

    course.hand_in("copy", each(change, answers(7)))
    assert found(course) == [("copy", "s07")]


def test_a_work_merged_from_two_students_is_found_beside_both(course):
    one, other = answers(7), answers(8)
    course.hand_in("merged", {e: (one, other)[place % 2][e] for place, e in enumerate(EXERCISES)})
    assert sorted(found(course)) == [("merged", "s07"), ("merged", "s08")]


@pytest.mark.parametrize("taken", ["abc", "bde", "cef"])
def test_three_copied_exercises_of_six_are_found(course, taken):
    parts = {f"part_{letter}" for letter in taken}
    copied = {exercise: source for exercise, source in answers(7).items() if exercise in parts}
    course.hand_in("helped", answers("own") | copied)
    (pair,) = compared(course).pairs
    assert set(pair.exercises) == parts


def test_a_copy_with_some_edited_lines_is_found(course):
    course.hand_in("copy", each(lambda source: re.sub(r"two = np\.\w+", "two = np.exp2", source), answers(7)))
    assert found(course) == [("copy", "s07")]


def test_an_answer_moved_to_a_cell_of_its_own_is_found(course):
    path = course.hand_in("copy", answers(7))
    path.write_text(re.sub(r'"nbgrader": \{[^}]*\}', "", path.read_text()))
    assert found(course) == [("copy", "s07")]


def test_a_cluster_is_found_whole(course):
    for number in range(4):
        course.hand_in(f"copy{number}", answers(7))
    comparison = compared(course)
    (cluster,) = clusters_of(comparison.pairs)
    assert [comparison.works[place].student for place in cluster] == [
        "copy0",
        "copy1",
        "copy2",
        "copy3",
        "s07",
    ]


def test_copied_sentences_are_found(course):
    words = [
        "scale",
        "width",
        "softmax",
        "saturates",
        "gradient",
        "mask",
        "future",
        "token",
        "copies",
        "loss",
        "small",
        "large",
        "key",
        "query",
    ]
    for number in range(40):
        draw = random.Random(number)
        text = " ".join(f"{' '.join(draw.choices(words, k=9)).capitalize()}." for _ in range(6))
        course.hand_in(f"s{number:02}", answers(number) | {"why": text})
        if number == 3:
            course.hand_in("copy", answers("own") | answers(3) | {"why": text})
    pair = compared(course).pairs[0]
    assert "why" in pair.exercises


# ----------------------------------------------------------------------------------------------- what explains it


def test_two_students_with_the_common_solution_are_not_flagged(course):
    common = answers("common")
    for number in range(25):
        course.hand_in(f"s{number:02}", common)
    assert found(course) == []


def test_blank_and_given_answers_are_not_alike(course):
    for student in ("blank1", "blank2"):
        course.hand_in(student, {})
    assert found(course) == []


def test_the_solution_of_the_course_is_nobody_s_own(course):
    solution = {exercise: f"def {exercise}(x):\n    return np.sort(x)" for exercise in EXERCISES}
    for student in ("right1", "right2"):
        course.hand_in(student, solution)
    assert found(course) == []


def test_one_exercise_that_is_alike_is_not_enough_where_each_is_short(course):
    course.hand_in("helped", answers("own") | {"part_a": answers(7)["part_a"]})
    assert found(course) == []


def test_a_group_s_work_is_not_listed_as_suspicious(course):
    course.hand_in("mate", answers(7))
    comparison = compared(course, {"mate": "group 1", "s07": "group 1"})
    assert comparison.pairs == []
    assert len(comparison.same_owner) == 1


def test_a_copy_of_a_group_s_work_is_listed_for_each_member(course):
    course.hand_in("mate", answers(7))
    course.hand_in("copy", answers(7))
    comparison = compared(course, {"mate": "group 1", "s07": "group 1"})
    names = sorted(
        (comparison.works[p.first].student, comparison.works[p.second].student) for p in comparison.pairs
    )
    assert names == [("copy", "mate"), ("copy", "s07")]


# ------------------------------------------------------------------------------------------------- how it is compared


def test_names_that_the_cell_binds_are_alike_and_those_of_libraries_are_not():
    assert prints("w = torch.softmax(s, dim=-1)") != prints("w = torch.sigmoid(s, dim=-1)")
    assert prints("def f(a):\n    b = a @ a\n    return b") == prints(
        "def f(x):\n    y = x @ x\n    return y"
    )
    assert prints("def f(a, b):\n    return a @ b @ b @ a") != prints(
        "def f(a, b):\n    return a @ b @ a @ b"
    )


def test_spelling_quotes_and_numbers_do_not_matter():
    assert prints("x = f('a', 10_000)") == prints('x = f(\n    "a",\n    10000,\n)')


def test_parentheses_that_only_group_do_not_matter():
    assert prints("s = (q @ k) / d") == prints("s = q @ k / d")
    assert prints("return (a, b)") == prints("return a, b")
    assert prints("(a, b) = f(x)\n(c) = 1") == prints("a, b = f(x)\nc = 1")
    assert prints("x = f(a)(b)[0](c)") != prints("x = f(a)[0](c)")
    assert prints("x = f(())") == prints("x = f()")


def test_parts_that_always_come_together_say_no_more_than_one_of_them():
    def alike(*have: set[int]) -> float:
        works = [
            Work(f"s{number}", f"s{number}", fingerprints={"e": found}) for number, found in enumerate(have)
        ]
        owners = np.arange(len(works))
        return float(similarities(works, "e", owners, np.array([0]), np.array([1]))[0])

    others = [{number} for number in range(100, 140)]
    one = alike({1}, {1}, {1}, {1}, *others)
    assert alike({1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}, *others) == pytest.approx(one)
    apart = alike({1, 2}, {1, 2}, {1}, {1}, {2}, {2}, *others)
    assert apart > 1.5 * alike({1, 2}, {1, 2}, {1, 2}, {1, 2}, *others)
    assert 0 < alike({1, 5, 6}, {1, 7, 8}, {1}, {1}, *others) < one, (
        "what only one of them has speaks against it"
    )


def test_a_pair_is_not_compared_with_itself():
    values = np.array([*np.zeros(99), 5.0])
    trusted = np.ones(100, dtype=bool)
    assert surprises_of(values, trusted)[-1] == pytest.approx(np.log(100))
    trusted[-1] = False
    assert surprises_of(values, trusted)[-1] >= np.log(100) - 1e-9


def test_the_chance_of_a_sum_is_that_of_independent_exercises():
    draw = np.random.default_rng(0)
    parts = [draw.exponential(size=2000) * (draw.random(2000) < 0.3) for _ in range(4)]
    found = chances_of(parts, 1.0)
    sums = sum(draw.choice(values, 200_000) for values in parts)
    for total in (1, 2, 4, 6):
        seen = np.mean(sums >= total)
        assert seen <= found[int(total / 0.05)] <= 1.5 * seen


def test_attributes_that_a_class_sets_may_have_any_name():
    source = "class A:\n    def __init__(self):\n        self.{0} = nn.Linear(3, 4)\n        self.b = self.{0}.weight"
    assert prints(source.format("head")) == prints(source.format("out"))


@pytest.mark.parametrize(
    "source",
    ["def broken(:\n    x = (1,\n", "%%bash\nls 'a", "  x = 1\n y = '''", "!pip install x", "\0", ""],
)
def test_any_text_has_lines(source):
    assert len(code_lines(source)) <= 3


def test_a_line_knows_its_place():
    lines = code_lines("a = f(\n    1,\n)\n\nif a: b = 2; c = 3")
    assert [(line.first, line.last) for line in lines] == [(1, 3), (5, 5), (5, 5), (5, 5)]
    assert len(code_lines("while any(map(lambda x: x, y)) or (lambda: 1): b = lambda: 2")) == 2
    assert len(code_lines("if lambda: 1: b = 2")) == 2
    assert [(line.first, line.last) for line in text_lines("One two. Three\nfour.\n\n- five")] == [
        (1, 1),
        (1, 2),
        (4, 4),
    ]


@pytest.mark.parametrize(
    "source",
    [
        "\n" * 50_000,
        "\n" + " " * 50_000,
        "a. " * 17_000,
        "if " + "lambda:" * 7_000,
        "a;" * 25_000,
        "(" * 50_000,
        "f(" * 25_000,
    ],
    ids=["blank lines", "spaces", "sentences", "lambdas", "statements", "brackets", "calls"],
)
@pytest.mark.slow
def test_no_text_of_the_largest_size_takes_long(source):
    begin = time.process_time()
    lines = [*code_lines(source), *text_lines(source)]
    assert len(lines) <= 50_000
    assert time.process_time() - begin < 10


def test_an_expectation_is_said_with_one_digit():
    assert one_of(0.05) == "about 20"
    assert one_of(0.00123) == "about 800"
    assert one_of(0) == "more than 10,000"


def test_clusters_have_three_or_more():
    pairs = [SimilarPair(a, b, 0.0, {}) for a, b in [(0, 1), (2, 3), (3, 4), (5, 6), (6, 2)]]
    assert clusters_of(pairs) == [[2, 3, 4, 5, 6]]


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_a_tiny_class_is_compared_without_an_error(count):
    works = [Work(f"s{number}", f"s{number}") for number in range(count)]
    assert compare_works(works).pairs == []


@pytest.mark.thorough
def test_a_thousand_works_take_less_than_a_minute(tmp_path):
    course = SimilarCourse(tmp_path)
    course.honest(1000)
    begin = time.process_time()
    assert found(course) == []
    assert time.process_time() - begin < 60
