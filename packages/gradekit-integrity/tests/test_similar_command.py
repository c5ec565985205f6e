"""`gradekit similar`: its page and table, earlier classes, groups, and whatever strangers hand in."""

import csv
import re
from html.parser import HTMLParser

import pytest

from gradekit.cli import main
from gradekit.course import Course
from gradekit.report.pages import SimilarityFound

from .similar_class import EXERCISES, SimilarCourse, answers

FOLDER = "reports/01_parts"


@pytest.fixture
def course(tmp_path):
    made = SimilarCourse(tmp_path / "course")
    made.honest(30)
    return made


def similar(course: SimilarCourse, *options: object) -> int:
    return main(["--course-dir", str(course.root), "similar", "01_parts", *map(str, options)])


def page(course: SimilarCourse) -> str:
    return (course.root / FOLDER / "similar.html").read_text()


def rows(course: SimilarCourse) -> list[dict[str, str]]:
    with (course.root / FOLDER / "similar.csv").open(newline="") as file:
        return list(csv.DictReader(file))


class Checked(HTMLParser):
    """Notes what a page has, and that its elements are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.marked = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.marked += data if "mark" in self.open else ""


@pytest.mark.slow
def test_the_page_shows_a_copy_with_what_is_alike_marked(course, capsys):
    course.hand_in("copy", answers(7) | {"part_b": answers(7)["part_b"] + "\n    # mine\n    print('hello')"})
    assert similar(course) == 0
    assert "pairs that stand out: 1, clusters: 0" in capsys.readouterr().out
    seen = Checked(page(course))
    assert seen.open == []
    assert answers(7)["part_a"].split("\n")[2].strip() in seen.marked
    assert "hello" in page(course) and "hello" not in seen.marked
    assert {"h1", "h2", "h3", "caption", "mark"} <= set(seen.tags)
    assert "proves nothing about a person" in page(course)
    (row,) = rows(course)
    assert (row["first"], row["second"], row["note"]) == ("copy", "s07", "")
    assert set(row["exercises"].split()) <= set(EXERCISES)
    assert float(row["expected_by_chance"]) < 0.05


@pytest.mark.slow
def test_a_class_without_copies_gets_a_page_that_says_so(course):
    assert similar(course) == 0
    assert "No pair stands out." in page(course)
    assert rows(course) == []


def test_the_numbers_are_stored_for_the_class_report(course):
    assignment = Course(course.root).assignment("01_parts")
    assert SimilarityFound.read(assignment) is None
    for number in range(3):
        course.hand_in(f"copy{number}", answers(7))
    similar(course)
    assert SimilarityFound.read(assignment) == SimilarityFound(33, 6, 1, "similar.html")
    (course.root / FOLDER / "similar.json").write_text("[")
    assert SimilarityFound.read(assignment) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "layout", ["{}/01_parts/parts.ipynb", "{}/parts.ipynb", "{}.ipynb", "submitted/{}/01_parts/x.ipynb"]
)
def test_copies_from_an_earlier_class_are_found(course, tmp_path, layout):
    for number in range(5):
        path = tmp_path / "last year" / layout.format(f"old{number}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(course.hand_in("unused", answers(f"old{number}")).read_text())
    course.hand_in("unused", answers("unused"))
    course.hand_in("copy", answers("old3"))
    assert similar(course, "--against", tmp_path / "last year") == 0
    (row,) = rows(course)
    assert (row["first"], row["second"]) == ("copy", f"old3 ({tmp_path / 'last year'})")


def test_two_works_of_an_earlier_class_are_not_listed(course, tmp_path):
    for name in ("old1", "old2"):
        course.hand_in(name, answers("old"), tmp_path / "before")
    assert similar(course, "--against", tmp_path / "before") == 0
    assert rows(course) == []


def test_a_student_s_own_earlier_work_is_listed_apart(course, tmp_path):
    course.hand_in("s07", answers(7), tmp_path / "before")
    assert similar(course, "--against", tmp_path / "before") == 0
    assert [row["note"] for row in rows(course)] == ["the same student"]
    assert "No pair stands out." in page(course) and "Alike, and not counted" in page(course)


def test_members_of_a_group_are_listed_apart(course):
    course.hand_in("mate", answers(7))
    groups = course.root / "groups.csv"
    groups.write_text("group,student\nA,mate\nA,s07\n")
    assert similar(course, "--groups", groups) == 0
    assert [row["note"] for row in rows(course)] == ["one group"]


def test_the_groups_that_work_was_collected_with_are_known(course):
    course.hand_in("mate", answers(7))
    (course.root / "groups.csv").write_text("group,student\nA,mate\nA,s07\n")
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write("c.Collector.groups = 'groups.csv'\n")
    assert similar(course) == 0
    assert [row["note"] for row in rows(course)] == ["one group"]


# ------------------------------------------------------------------------------------------------------ bad input


def test_what_cannot_be_read_is_named_and_the_others_are_compared(course, capsys):
    course.hand_in("copy", answers(7))
    course.hand_in("broken", '{"cells": [')
    course.hand_in("empty", "")
    assert similar(course) == 0
    out = capsys.readouterr().out
    assert "broken is not compared: parts.ipynb can't be read as a notebook" in out
    assert "empty is not compared: parts.ipynb is an empty file" in out
    assert len(rows(course)) == 1
    assert "broken is not compared" in page(course)


def test_code_that_python_cannot_tokenize_is_compared(course):
    broken = {exercise: f"{source}\n    y = (((" for exercise, source in answers("x").items()}
    course.hand_in("one", broken)
    course.hand_in("two", broken)
    assert similar(course) == 0
    assert [(row["first"], row["second"]) for row in rows(course)] == [("one", "two")]


def test_a_very_long_cell_is_compared_in_part(course, capsys):
    course.hand_in("long", answers(7) | {"part_f": "x = [1,\n" * 20_000})
    assert similar(course) == 0
    assert "long is compared in part: part_f is very long." in capsys.readouterr().out
    assert [(row["first"], row["second"]) for row in rows(course)] == [("long", "s07")]


def test_html_in_code_and_names_is_text_on_the_page(course):
    course.hand_in(
        "<b>bold</b>&amp;".replace("/", "\\"),
        {e: f"{s}\n    # </td><script>alert(1)</script>" for e, s in answers(7).items()},
    )
    assert similar(course) == 0
    assert len(rows(course)) == 1
    assert "<script" not in page(course) and "<b>bold" not in page(course)
    assert Checked(page(course)).open == []


def test_escapes_in_names_and_code_reach_neither_the_terminal_nor_the_page(course, capsys):
    course.hand_in("\x1b[31mcrimson", {e: f"{s}\n    print('\x1b[2J\u202e')" for e, s in answers(7).items()})
    course.hand_in("\x1b[32memerald", "")
    assert similar(course) == 0
    for text in (capsys.readouterr().out, page(course), (course.root / FOLDER / "similar.csv").read_text()):
        assert "\x1b" not in text and "\u202e" not in text
        assert "crimson" in text or "emerald" in text


def test_a_name_that_a_spreadsheet_takes_for_a_formula_is_defused(course):
    course.hand_in("=1+1", answers(7))
    similar(course)
    assert rows(course)[0]["first"] == "'=1+1"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--against", "nowhere"], "--against nowhere: there is no such folder"),
        (["--against", "{root}/tests"], "has no notebooks of 01_parts: name a folder with"),
        (["--groups", "nowhere.csv"], "nowhere.csv can't be read"),
    ],
)
def test_a_wrong_option_gets_one_sentence(course, capsys, options, message):
    (course.root / "tests").mkdir()
    assert similar(course, *(option.format(root=course.root) for option in options)) == 2
    error = capsys.readouterr().err
    assert message in error and "Traceback" not in error
    assert len(re.findall("gradekit: ", error)) == 1


def test_a_class_that_handed_in_nothing_gets_one_sentence(tmp_path, capsys):
    assert similar(SimilarCourse(tmp_path)) == 2
    assert "nobody has handed in a readable notebook of 01_parts" in capsys.readouterr().err


def test_an_unknown_assignment_gets_one_sentence(course, capsys):
    assert main(["--course-dir", str(course.root), "similar", "02_other"]) == 2
    assert "has no 02_other; it has 01_parts" in capsys.readouterr().err
