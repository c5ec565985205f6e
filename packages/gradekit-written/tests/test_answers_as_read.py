"""What a person is shown of a written answer, whatever it is and wherever it is: nothing vanishes on the way."""

import csv
import re
import shutil
from functools import partial

import pytest
from nbformat import v4

from gradekit.page.displayed import Room
from gradekit.verdict.opened import open_notebook
from gradekit_written.answer_pages import AnswerOnPage, answer_as_html, class_room, page_of_answers
from gradekit_written.written_answers import AnswerAsRead, AnswerReader, Passage, answers_to_grade

from ...gradekit.tests.tiny_course import TinyCourse
from ...gradekit.tests.written_class import (
    ANSWERS,
    DEFENSE,
    FIRST,
    PASTED,
    SECOND,
    STEP,
    WHOLE,
    base64_png,
    make_class,
)

#: students whose answers are nothing but words
COMPARED = {
    *("ann", "bob", "table", "hidden in html", "half below", "half above", "half in the heading below"),
    *("half in the question", "photo in the question", "photo in the heading below"),
    *("very long", "very long with another end"),
    *("short and a defense",),
    *("did the task", "photo below", "drawn below"),
    *("text and photo", "text and other photo", "text and the same photo"),
}


@pytest.fixture(scope="module")
def written_original(made_once):
    return made_once("answers as read", make_class)


@pytest.fixture(scope="module")
def graded(written_original, tmp_path_factory) -> TinyCourse:
    return TinyCourse(shutil.copytree(written_original, tmp_path_factory.mktemp("read") / "course"))


@pytest.fixture(scope="module")
def read(graded) -> dict[tuple[str, str], AnswerAsRead]:
    """All answers, by student and cell."""
    reader = AnswerReader(graded.running, graded.assignment)
    found = answers_to_grade(graded.running, graded.assignment)
    return {(one.student, one.cell): reader.read(one) for one in found}


@pytest.fixture(scope="module")
def lists(graded) -> dict[str, dict[tuple[str, str], dict[str, str]]]:
    """The rows of second readers by student and answer, and those of first readers."""
    assert graded.gradekit("deal", "01_double", "--to", "gus,hal", "--twice", "100%") == 0
    answers = answers_to_grade(graded.running, graded.assignment)
    students = {one.submission: one.student for one in answers}
    found: dict[str, dict[tuple[str, str], dict[str, str]]] = {"first": {}, "second": {}}
    for path in (graded.root / "dealt" / "01_double").glob("*.csv"):
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                found[row["reading"]][students[row["submission"]], row["answer"]] = row | {"by": path.stem}
    return found


def test_every_answer_that_a_person_has_to_grade_is_there(read):
    assert {student for student, cell in read if cell == "why"} == {*ANSWERS}
    assert {student for student, cell in read if cell == "task"} == {*ANSWERS}


@pytest.mark.parametrize("student", sorted(ANSWERS))
def test_only_answers_of_which_everything_is_known_are_compared(read, student):
    assert (read[student, "why"].alone == "") == (student in COMPARED), read[student, "why"].alone


@pytest.mark.parametrize(
    "student",
    ["half below", "half above", "split with its mark", "half in the question", "half in the heading below"],
)
def test_both_halves_of_an_answer_are_shown_compared_and_dealt(read, lists, student):
    found = read[student, "why"]
    assert FIRST in found.text and SECOND in found.text
    html = answer_as_html(found, class_room())
    row = lists["second"][student, "why"]
    for half in (FIRST, SECOND):
        assert half in html and half in row["text"]
    assert "[The student's " in row["text"] and row["text"].index(FIRST) < row["text"].index(SECOND)


@pytest.mark.parametrize(
    ("student", "sentence"),
    [
        ("at the end", "something else may be its answer: the text in the cell number"),
        ("answer beside", "something else may be its answer: the file answer.txt"),
        ("pdf beside", "something else may be its answer: the file scan.pdf"),
        ("attached", "has no text, but a picture is attached to it"),
        ("split with its mark", "is in the notebook more than once"),
    ],
)
def test_both_readers_are_told_what_is_uncertain(read, lists, student, sentence):
    assert sentence in " ".join(read[student, "why"].notes)
    assert sentence in answer_as_html(read[student, "why"], class_room())
    for reading in ("first", "second"):
        assert sentence in lists[reading][student, "why"]["notes"]


def test_answers_of_a_defense_and_requests_about_checks_belong_to_no_written_answer(read, lists, empty_class):
    assert "beside the notebook" not in lists["first"]["short and a defense", "why"]["notes"]
    path = empty_class.hand_in("ann", empty_class.assignment.released("double"))
    open_ann = partial(open_notebook, empty_class.assignment, path, empty_class.assignment.released("double"))
    path.with_name("defense.json.txt").write_bytes(DEFENSE.decode().encode("utf-16"))
    assert not any("why" in doubt.why for doubt in open_ann().result.doubts)
    path.with_name("requests.txt").write_text(
        "- `double::test_value`: my answer is right\n\nIt says so above.\n"
    )
    assert not any("why" in doubt.why for doubt in open_ann().result.doubts)
    path.with_name("requests.txt").write_text(f"Here is my answer: {WHOLE}")
    assert any("requests.txt" in doubt.why for doubt in open_ann().result.doubts)
    path.with_name("requests.txt").unlink()
    path.with_name("defense.txt").write_text(f"I answered on a sheet of paper: {WHOLE}")
    assert any("defense.txt" in doubt.why for doubt in open_ann().result.doubts)


def test_a_text_in_another_cell_or_file_can_be_read_where_the_answer_is(read, lists):
    assert WHOLE in lists["second"]["at the end", "why"]["text"]
    assert WHOLE in lists["second"]["short and elsewhere", "why"]["text"]
    for student in ("at the end", "short and elsewhere", "answer beside"):
        assert WHOLE in answer_as_html(read[student, "why"], class_room())


@pytest.mark.parametrize("student", ["pdf beside", "short and beside"])
def test_a_file_that_no_page_can_show_is_named(read, lists, student):
    row = lists["second"][student, "why"]
    assert "Handed in beside the notebook: scan.pdf" in answer_as_html(read[student, "why"], class_room())
    assert f"Handed in beside the notebook (see {row['by']}.html): scan.pdf." in row["notes"]


PICTURES = {
    **{"photo": (20, "image.png"), "other photo": (40, "image.png"), "attached": (80, "a b.png")},
    **{"photo in the text": (100, "a picture in the text itself"), "picture beside": (60, "mine.png")},
    **{"text and photo": (120, "image.png"), "photo below": (160, "image.png")},
    "drawn below": (180, "a picture that the code displayed"),
    **{
        f"photo {place}": (shade, "image.png")
        for place, shade in {
            "at the end": 190,
            "in the question": 200,
            "in the heading below": 210,
            "only in the question": 220,
        }.items()
    },
}


@pytest.mark.parametrize("student", PICTURES)
def test_pictures_are_on_the_page_and_named_in_the_list_with_their_page(graded, read, lists, student):
    shade, name = PICTURES[student]
    picture = f'src="data:image/png;base64,{base64_png(shade)}"'
    assert picture in answer_as_html(read[student, "why"], class_room())
    row = lists["second"][student, "why"]
    assert f"Pictures, which {row['by']}.html shows: {name}." in row["notes"]
    page = (graded.root / "dealt" / "01_double" / f"{row['by']}.html").read_text()
    assert picture in page and "data:image" not in row["text"]
    first = lists["first"][student, "why"]
    assert f"Pictures, which formgrader shows: {name}." in first["notes"]


@pytest.mark.parametrize(
    ("student", "sentence"),
    [
        ("photo lost", "The picture image.png is not shown: the notebook doesn't contain it"),
        ("picture on the web", "is not shown: pages load nothing from the web"),
    ],
)
def test_a_picture_that_is_not_there_is_missed_by_name(read, lists, student, sentence):
    found = read[student, "why"]
    assert sentence in answer_as_html(found, class_room())
    assert found.alone == "it shows a picture that was not handed in"
    row = lists["second"][student, "why"]
    assert "Pictures that were not handed in: " in row["notes"] and "shows" not in row["notes"]


def test_equal_words_with_other_pictures_are_another_kind_of_answer(read):
    one, other, same = (
        read[student, "why"].pictures
        for student in ("text and photo", "text and other photo", "text and the same photo")
    )
    assert one and one == same != other


def test_tables_and_formulas_are_shown_as_such_and_what_html_hides_as_it_was_typed(read):
    table = answer_as_html(read["table", "why"], class_room())
    assert "<td>one</td>" in table and "<math" in table and "| one | two |" in table
    assert f"&lt;!-- {WHOLE} --&gt;" in answer_as_html(read["hidden in html", "why"], class_room())


def test_a_task_is_answered_in_the_student_s_own_cells_and_not_by_its_own_text(read, lists):
    assert read["did the task", "task"].text.strip() == STEP
    assert STEP in lists["second"]["did the task", "task"]["text"]
    assert not read["did the task", "task"].alone
    untouched = read["ann", "task"]
    assert "Make a plan" not in untouched.text and untouched.alone == "nothing is next to the task"


def test_a_page_has_no_names_all_second_readings_and_the_first_ones_with_files_that_formgrader_lacks(
    graded, lists
):
    pages = {name: (graded.root / "dealt/01_double" / f"{name}.html").read_text() for name in ("gus", "hal")}
    for reading in ("first", "second"):
        for (student, cell), row in lists[reading].items():
            page = pages[row["by"]]
            needed = reading == "second" or (student, cell) in {
                *(("answer beside", "why"), ("pdf beside", "why"))
            }
            line = f"{reading.capitalize()} reading of the submission {row['submission']}"
            assert line in page or not needed
            assert f">{student}<" not in page
    assert f"First reading of the submission {lists['first']['ann', 'why']['submission']}" not in str(pages)


@pytest.mark.slow
def test_a_student_whose_notebook_is_gone_or_unreadable_is_named(written_original, tmp_path, capsys):
    course = TinyCourse(shutil.copytree(written_original, tmp_path / "course"))
    course.hand_in("eve", "this is no notebook")
    assert course.gradekit("autograde", "01_double", "--workers", "1") == 0
    gone = course.root / "autograded" / "ann" / "01_double" / "double.ipynb"
    gone.parent.chmod(0o755)
    gone.unlink()
    capsys.readouterr()
    assert course.gradekit("deal", "01_double", "--to", "gus") == 0
    said = "left out, since no notebook of theirs could be graded (`gradekit table 01_double` says why): eve"
    assert said in capsys.readouterr().out
    assert course.gradekit("table", "01_double") == 0
    assert re.search(r"^eve +unreadable", capsys.readouterr().out, re.MULTILINE)
    list_of_gus = course.root / "dealt" / "01_double" / "gus.csv"
    assert "the notebook is gone: run `gradekit autograde` again" in list_of_gus.read_text()
    assert course.gradekit("autograde") == 0 and gone.is_file()
    assert course.gradekit("deal", "01_double", "--to", "gus") == 0
    assert "the notebook is gone" not in list_of_gus.read_text()


HOSTILE = (
    '<script>alert(1)</script><img src=x onerror="alert(2)"><a href="javascript:alert(3)">a</a>\x1b\u202e'
)


def test_nothing_of_a_stranger_s_runs_or_hides_on_a_page(tmp_path):
    name = '"><img src=x onerror=alert(4)>.png'
    (tmp_path / "a<b>.txt").write_text(HOSTILE)
    outputs = [
        v4.new_output("display_data", data={"text/html": HOSTILE}),
        v4.new_output("stream", text=HOSTILE),
        v4.new_output("error", ename=HOSTILE, evalue=HOSTILE, traceback=[]),
    ]
    cells = [
        v4.new_markdown_cell(
            f"| a |\n|---|\n| {HOSTILE} |", attachments={name: {"image/png": base64_png(1)}}
        ),
        v4.new_code_cell(HOSTILE, outputs=outputs),
    ]
    files = ["a<b>.txt", name, "none.pdf"]
    read = AnswerAsRead([Passage(cell, HOSTILE) for cell in cells], [HOSTILE], files, tmp_path)
    page = page_of_answers(
        HOSTILE, {HOSTILE: ""}, [AnswerOnPage("First", "id", "why", answer_as_html(read, class_room()))]
    )
    assert not re.search(r"<script|<[^>]*\bonerror=(?!alert)[^>]*>", page)
    assert re.findall(r"<img [^>]*src=\"(?!data:image/)", page) == []
    assert "<a href" not in page and "\\x1b\\u202e" in page
    assert base64_png(1) in page and "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_pictures_of_a_class_share_the_room_of_a_page():
    room = Room(10**6, 10**6, 1)
    cell = v4.new_markdown_cell(PASTED, attachments={"image.png": {"image/png": base64_png(1)}})
    first, second = (answer_as_html(AnswerAsRead([Passage(cell)]), room) for _ in range(2))
    assert base64_png(1) in first and base64_png(1) not in second
    assert "The picture image.png is not shown: the pictures of this page are too many" in second
