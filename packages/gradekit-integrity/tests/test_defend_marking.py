"""What becomes of answers that can't be marked as they are: nothing costs a point by chance, and everything is named."""

import json
import re
from pathlib import Path

import pytest

from gradekit_integrity.defend.closed import ClosedKind
from gradekit_integrity.defend.marking import ANSWER_FILE, Unusable, read_answers
from gradekit_integrity.defend.records import read_key

from ...gradekit.tests.needs import mostly_thorough
from ...gradekit.tests.tiny_course import TinyCourse
from .test_defend import (
    LONG,
    OTHER,
    answers_for,
    asked,
    asked_original,
    course,
    defend,
    feedback_page,
    hand_in_answers,
    prepared,
    questions,
    rows,
    scores,
    sheet_of,
)

pytestmark = pytest.mark.slow

__all__ = ["asked", "asked_original", "course"]  # fixtures


def answers_in(top: Path, **files: str) -> str:
    folder = top / "answers"
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.json").write_text(text)
    return str(folder)


def test_no_option_is_the_number_that_a_line_has_once_the_other_is_deleted(course):
    """Students may run their code: without line 2, Python names line 4 for what is line 5 on the page."""
    code = "def double(x):\n    one = x * 2\n    two = x * 3\n    three = two - x\n    four = one + three\n    return four - x"
    found = [one for one in questions(course, code) if one.kind == ClosedKind.STOPS and one.line == 2]
    assert found and {one.right for one in found} == {"In line 5."}
    for one in found:
        assert "In line 4." not in one.wrong and "the others keep their numbers" in one.text


@pytest.mark.parametrize("share", ["0.5", "50%"])
def test_of_files_that_come_together_none_counts_as_the_first(asked, tmp_path, capsys, share):
    """By the names, the copy of a friend, or a browser's second download, would come first."""
    sheet = sheet_of(asked, "bob")
    before = scores(asked)
    folder = answers_in(tmp_path, ann=answers_for(sheet, wrong=3), bob=answers_for(sheet))
    assert defend(asked, "--collect", "--answers", folder, "--share", share) == 0
    assert "nothing says which came first" in capsys.readouterr().out
    assert rows(asked)["bob"]["outcome"] == "" and "a person has to ask" in rows(asked)["bob"]["note"]
    assert scores(asked) == before
    (tmp_path / "answers" / "ann.json").unlink()
    assert defend(asked, "--collect", "--answers", folder) == 0
    assert (rows(asked)["bob"]["outcome"], rows(asked)["bob"]["note"]) == ("defended", "")
    answers_in(tmp_path, ann=answers_for(sheet, wrong=3))  # later than the other
    assert defend(asked, "--collect", "--answers", folder) == 0
    assert rows(asked)["bob"]["outcome"] == "defended"


@pytest.mark.parametrize("answers", ["[]", "null", "{", '{"1": NaN}', '{"1": 7}'])
def test_a_file_with_the_id_of_a_page_and_unusable_answers_is_named_for_its_student(asked, tmp_path, answers):
    """Wherever it is, and not as if no file had come."""
    text = f'{{"sheet": "{sheet_of(asked, "ann").id}", "answers": {answers}}}'
    assert defend(asked, "--collect", "--answers", answers_in(tmp_path, upload=text)) == 0
    assert rows(asked)["ann"]["note"] == (
        "upload.json isn't a file of answers as the page saves it, so a person has to ask."
    )
    assert "No file" in rows(asked)["bob"]["note"]


def test_a_usable_file_counts_beside_a_damaged_one_and_leaves_no_note(asked, tmp_path):
    text = answers_for(sheet_of(asked, "ann"))
    opened = json.dumps(json.loads(text) | {"answers": {"1": "A"}})
    assert defend(asked, "--collect", "--answers", answers_in(tmp_path, a=opened, b=text)) == 0
    assert (rows(asked)["ann"]["outcome"], rows(asked)["ann"]["note"]) == ("defended", "")


@pytest.mark.parametrize("name", ["defense (1).json", "Defense.JSON", "defense.json.txt", "sub/defense.json"])
def test_answers_beside_the_notebook_are_found_under_the_names_that_browsers_and_editors_make(asked, name):
    path = asked.root / "submitted" / "ann" / "01_double" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(answers_for(sheet_of(asked, "ann")))
    assert defend(asked, "--collect") == 0
    assert rows(asked)["ann"]["outcome"] == "defended"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8", "utf-8-sig"])
def test_a_file_that_an_editor_wrote_is_read(tmp_path, encoding):
    path = tmp_path / ANSWER_FILE
    path.write_bytes('{“sheet”: “1”, „answers“: {"1": "a"}}'.encode(encoding))
    assert read_answers(path) == ("1", {"1": "A"})
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(Unusable):
        read_answers(path)


def test_everything_that_was_left_alone_or_not_used_is_named(asked, tmp_path, capsys):
    names = [f"file_{number}" for number in range(30)]
    folder = answers_in(
        tmp_path, **dict.fromkeys(names, "{"), ann=answers_for(sheet_of(asked, "ann"), wrong=3)
    )
    (tmp_path / "answers" / "answers.docx").write_text("A B C")
    with asked.running.gradebook() as gradebook:
        gradebook.find_grade("test_double", "double", "01_double", "ann").extra_credit = 1
        gradebook.db.commit()
    assert defend(asked, "--collect", "--answers", folder, "--share", "0.5") == 0
    out = capsys.readouterr().out
    assert (
        "ann: double has extra credit" in out
        and "and 10 more files" in out
        and "1 file without answers" in out
    )
    table = (asked.root / "reports" / "01_double" / "defense.csv").read_text()
    assert all(name in table for name in (*names, "answers.docx", "ann: double has extra credit"))


def test_the_command_and_the_page_say_which_points_are_off(asked, capsys):
    hand_in_answers(asked, "ann", answers_for(sheet_of(asked, "ann"), wrong=1))
    assert defend(asked, "--collect", "--share", "0.3") == 0
    page = re.sub(r"\s+", " ", feedback_page(asked, "ann"))
    assert "2 of 3 are right. For the others, 1 point of your score was taken off." in page
    capsys.readouterr()
    assert defend(asked, "--collect") == 0
    out = capsys.readouterr().out
    assert "points that --share took off before stay off" in out and "no points depend" not in out
    assert defend(asked, "--collect", "--share", "0") == 0
    assert "no points depend on them" in capsys.readouterr().out
    assert "taken off" not in feedback_page(asked, "ann")


def test_the_page_says_that_a_file_has_come_and_was_not_marked(asked):
    assert defend(asked, "--collect") == 0
    assert "couldn't be marked" not in feedback_page(asked, "ann")
    hand_in_answers(asked, "ann", "{")
    assert defend(asked, "--collect") == 0
    assert "couldn't be marked" in feedback_page(asked, "ann")


#: a right answer to the other exercise
LINES = "def half(x):\n    one = x * 4\n    two = one / 2\n    three = two - x\n    return x - three / 2"


@pytest.fixture
def both(course: TinyCourse) -> TinyCourse:
    """Both exercises can be asked about."""
    course.checks.with_name("viva.py").write_text(
        "from gradekit.checks import try_it\n\n\n"
        + "\n\n".join(
            f'@try_it("test_{name}")\ndef with_{name}({name}):\n    """Some."""\n    import torch\n\n    {name}(torch.ones(3, 2))\n'
            for name in ("double", "half")
        )
    )
    with course.checks.with_name("alternatives.py").open("a") as file:  # as with one answer, nothing is asked
        file.write('ALTERNATIVES.append(Alternative("times", cell="half", edits=[("x / 2", "x * 0.5")]))\n')
    return course


@pytest.mark.thorough
def test_a_page_about_other_exercises_is_not_replaced_unless_asked_for_and_then_named(both, capsys):
    course = both
    course.hand_in("ann", course.answer(LONG, LINES))
    assert course.gradekit("autograde", "01_double") == 0
    assert defend(course, "ann", "--exercise", "half") == 0
    sheet = sheet_of(course, "ann")
    capsys.readouterr()
    assert defend(course) == 0
    assert "0 pages" in capsys.readouterr().out and sheet_of(course, "ann").id == sheet.id
    assert defend(course, "--exercise", "double") == 0
    assert "answers to their earlier pages don't count any more: ann\n" in capsys.readouterr().out
    course.hand_in("ann", course.answer(OTHER, LINES))
    assert course.gradekit("autograde", "01_double") == 0
    assert defend(course) == 0 and len(read_key(course.assignment).sheets) == 3


@pytest.mark.parametrize("due", mostly_thorough(["2026-03-01 12:00", "2099-03-01 12:00", ""]))
def test_a_new_page_is_about_the_exercise_of_the_present_one_and_due_when_that_was(both, capsys, due):
    both.hand_in("ann", both.answer(LONG, LINES))
    assert defend(both, "--exercise", "half", *(["--due", due] if due else [])) == 0
    both.hand_in("ann", both.answer(LONG, LINES + " + 0"))
    capsys.readouterr()
    assert defend(both, "ann") == 0
    printed, page = capsys.readouterr().out, sheet_of(both, "ann")
    assert "1 page about half," in printed and {one.cell for one in page.questions} == {"half"}
    if due.startswith("2099"):
        assert "ann: due 2099-03-01 12:00 UTC, as on the earlier page" in printed and page.due
    else:
        assert "ann: the new page names no time by which answers are due" in printed and not page.due


@pytest.mark.thorough
def test_who_has_no_page_is_offered_one_about_a_longer_answer_which_the_advice_gives(both, capsys):
    short = "def double(x):\n    return 2 * x"
    both.hand_in("ann", both.answer(short, LINES))
    both.hand_in("bob", both.answer(short, short.replace("double", "half")))
    assert defend(both) == 0
    printed = capsys.readouterr().out
    advice = "gradekit defend 01_double ann --exercise half"
    assert f"`{advice}`" in printed and "bob" not in printed[printed.index("another exercise") :]
    assert defend(both, *advice.split()[3:]) == 0
    assert "1 page about half" in capsys.readouterr().out


@pytest.mark.thorough
def test_an_exercise_that_a_page_leaves_out_is_named(course, capsys):
    prepared(course, ann=LONG)
    assert defend(course, "--exercise", "double", "--exercise", "half") == 0
    assert "ann: no questions about half on the page." in capsys.readouterr().out


def test_who_left_the_course_is_left_out_and_named(asked, capsys):
    hand_in_answers(asked, "bob", answers_for(sheet_of(asked, "bob"), wrong=3))
    with asked.running.gradebook() as gradebook:
        gradebook.remove_student("bob")
    assert defend(asked, "--collect", "--share", "0.5") == 0
    out = capsys.readouterr().out
    assert "not in the gradebook anymore: bob\n" in out and "answers of 0 students" in out
    assert "bob" not in rows(asked)


def test_options_that_do_nothing_with_collect_are_refused(asked, capsys):
    for options in (("ann",), ("--due", "2026-03-01 12:00"), ("--exercise", "half")):
        for order in ((*options, "--collect"), ("--collect", *options)):
            assert defend(asked, *order) == 2
            assert "can't be used with --collect" in capsys.readouterr().err


def test_notes_stay_when_answers_are_read_from_the_other_place(asked, tmp_path, capsys):
    """Until a file there, or answers that can be marked, resolve them."""
    sheet = sheet_of(asked, "ann")
    hand_in_answers(asked, "ann", "{")
    folder = answers_in(
        tmp_path, x=answers_for(sheet).replace('"3"', '"7"'), stranger='{"sheet": "1", "answers": {}}'
    )
    for options in ((), ("--answers", folder), ()):
        assert defend(asked, "--collect", *options) == 0
    note = rows(asked)["ann"]["note"]
    assert "defense.json isn't a file of answers" in note and "x.json has no such option" in note
    assert rows(asked)[""]["note"].startswith("stranger.json names a page that was not given out")
    hand_in_answers(asked, "ann", answers_for(sheet))
    assert defend(asked, "--collect") == 0
    assert (rows(asked)["ann"]["outcome"], rows(asked)["ann"]["note"]) == ("defended", "")
    hand_in_answers(asked, "ann", answers_for(sheet, wrong=1))
    for options in ((), ("--answers", folder)):
        assert defend(asked, "--collect", *options) == 0
        assert "has other answers than the first time" in rows(asked)["ann"]["note"]


@pytest.mark.thorough
def test_that_a_file_was_late_is_still_said_when_the_same_answers_count_from_elsewhere(asked, tmp_path):
    assert defend(asked, "ann", "--due", "2026-03-01 12:00") == 0
    text = answers_for(sheet_of(asked, "ann"))
    path = hand_in_answers(asked, "ann", text)
    path.with_name("timestamp.txt").write_text("2026-03-02 10:00:00 UTC")
    folder = answers_in(tmp_path, ann=text)
    for options in ((), ("--answers", folder), ()):
        assert defend(asked, "--collect", *options) == 0
    assert rows(asked)["ann"]["outcome"] == "defended"
    assert rows(asked)["ann"]["note"] == (
        "defense.json came after the time that the page names, so a person has to decide."
    )


@pytest.mark.thorough
def test_a_file_that_was_marked_in_time_is_not_late_after_another_hand_in(asked):
    assert defend(asked, "ann", "--due", "2026-03-01 12:00") == 0
    path = hand_in_answers(asked, "ann", answers_for(sheet_of(asked, "ann")))
    for day in (1, 2):
        path.with_name("timestamp.txt").write_text(f"2026-03-0{day} 10:00:00 UTC")
        assert defend(asked, "--collect") == 0
    assert (rows(asked)["ann"]["outcome"], rows(asked)["ann"]["note"]) == ("defended", "")


@pytest.mark.thorough
def test_who_answered_an_earlier_page_reads_so_and_that_the_new_questions_can_be_answered(asked):
    hand_in_answers(asked, "ann", answers_for(sheet_of(asked, "ann")))
    assert defend(asked, "ann") == 0 and defend(asked, "--collect") == 0
    page = re.sub(r"\s+", " ", feedback_page(asked, "ann"))
    assert (
        "A file with answers to earlier questions has come." in page and "You can still answer these." in page
    )
    assert "couldn't be marked" not in page
