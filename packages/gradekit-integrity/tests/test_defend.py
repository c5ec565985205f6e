"""Questions with options about a student's own code, in a tiny course: given out, answered, marked, scored, and attacked."""

import csv
import json
import os
import re
import shutil
from collections.abc import Callable
from html import escape, unescape
from pathlib import Path

import pytest

from gradekit_integrity.defend.closed import ClosedQuestion
from gradekit_integrity.defend.marking import ANSWER_FILE, Unusable, read_answers
from gradekit_integrity.defend.proving import prove
from gradekit_integrity.defend.records import Issued, key_path, read_key
from gradekit_integrity.viva.sheets import tasks_of

from ...gradekit.tests.tiny_course import RIGHT_HALF, TinyCourse

INPUTS = '''
from gradekit.checks import try_it


@try_it("test_double")
def three_by_two(double):
    """A tensor of 3 × 2."""
    import torch

    double(torch.ones(3, 2))


@try_it("test_double")
def number(double):
    """A number."""
    double(5)
'''
#: right, with a loop, a branch, and markup in it
LONG = """\
def double(x):
    text = '</div><script>alert(1)</script>'
    total = x
    for step in range(1):
        total = total + x
    if len(text) > 100:
        total = total - x
    total = total * 1
    return total"""
#: right, in another way
OTHER = "def double(x):\n    one = x * 4\n    two = one / 2\n    three = two - x\n    return three + x"
PLACE = ("double", "double")


@pytest.fixture
def course(empty_class: TinyCourse) -> TinyCourse:
    empty_class.checks.with_name("viva.py").write_text(INPUTS)
    return empty_class


def prepared(course: TinyCourse, **answers: str) -> None:
    for student, answer in answers.items():
        course.hand_in(student, course.answer(answer, RIGHT_HALF))


def defend(course: TinyCourse, *options: str) -> int:
    return course.gradekit("defend", "01_double", *options, "--workers", "1")


def sheet_of(course: TinyCourse, student: str) -> Issued:
    return read_key(course.assignment).latest()[student]


def answers_for(sheet: Issued, wrong: int = 0) -> str:
    """The file that the page saves, with so many wrong answers."""
    letters = {str(number): one.right for number, one in enumerate(sheet.questions, 1)}
    for number in list(letters)[:wrong]:
        letters[number] = next(letter for letter in "AB" if letter != letters[number])
    return json.dumps({"sheet": sheet.id, "answers": letters})


def hand_in_answers(course: TinyCourse, student: str, text: str) -> Path:
    path = course.root / "submitted" / student / "01_double" / ANSWER_FILE
    path.write_text(text)
    return path


def rows(course: TinyCourse) -> dict[str, dict[str, str]]:
    with (course.root / "reports" / "01_double" / "defense.csv").open() as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def questions(course: TinyCourse, answer: str) -> list[ClosedQuestion]:
    prepared(course, ann=answer)
    (task,) = tasks_of(course.running, course.assignment, ["ann"])
    return prove(course.assignment, [PLACE], task).questions.get(PLACE, [])


# -------------------------------------------------------------------------------------------------------- sheets


@pytest.mark.slow
def test_a_class_gets_sheets_answers_them_and_the_report_says_who_defended(course, capsys):
    # cho's other answer is as short
    prepared(course, ann=LONG, bob=OTHER, cho="def double(x):\n    return 2 * x", dan=OTHER, eve="{{{")
    assert course.gradekit("autograde", "01_double") == 0
    assert defend(course) == 0
    printed = capsys.readouterr().out
    assert (
        "3 pages about double" in printed
        and "cho: no page about double. Too few questions are left" in printed
    )
    folder = course.root / "reports" / "01_double" / "defense"
    assert sorted(path.name for path in folder.iterdir()) == ["ann.html", "bob.html", "dan.html"]
    page = (folder / "ann.html").read_text()
    assert page.count("<fieldset>") == page.count("<legend>") == 3 and 'type="radio"' in page
    assert "<script>alert" not in page and "&lt;script&gt;alert" in page
    assert key_path(course.assignment).stat().st_mode & 0o77 == 0
    sheet = sheet_of(course, "ann")
    assert "right" not in re.sub("<style>.*</style>", "", page, flags=re.S).replace(
        "right answer", ""
    ).replace("right after", "")
    assert sheet.id in page and sheet.seed not in page

    assert defend(course) == 0  # the others have theirs
    printed = capsys.readouterr().out
    assert "0 pages" in printed and sheet_of(course, "ann").id == sheet.id
    assert "other exercises may have enough questions: --exercise with one of half" in printed

    feedback = feedback_page(course, "ann")
    for one in sheet.questions:
        assert all(
            escape(option.replace("`", "")) in feedback.replace("<code>", "").replace("</code>", "")
            for option in one.options
        )
    assert f'"sheet": "{sheet.id}"' in unescape(feedback) and "<script" not in feedback
    assert "Questions about your code" not in feedback_page(course, "cho"), "who has no sheet"

    hand_in_answers(course, "ann", answers_for(sheet))
    hand_in_answers(course, "bob", answers_for(sheet_of(course, "bob"), wrong=2))
    assert defend(course, "--collect") == 0
    assert "Your answers have arrived: 3 of 3 are right." in feedback_page(course, "ann")
    printed = capsys.readouterr().out
    assert "answers of 2 students marked; no points depend on them" in printed
    assert "no file defense.json has come yet from: dan\n" in printed
    outcomes = rows(course)
    assert (outcomes["ann"]["right"], outcomes["ann"]["outcome"]) == ("3", "defended")
    assert (outcomes["bob"]["right"], outcomes["bob"]["outcome"]) == ("1", "not defended")
    assert (outcomes["dan"]["right"], outcomes["dan"]["outcome"]) == ("", "")
    before = scores(course)
    assert course.gradekit("report", "01_double") == 0
    assert (
        "double: 3 asked about their code, 2 with marked answers: 1 passed and defended it, 1 passed and could not"
        in capsys.readouterr().out
    )
    report = (course.root / "reports" / "01_double" / "report.html").read_text()
    row = report[report.index("<td>double</td>") :].split("\n")
    assert re.findall(r">([^<]*)</td>", row[0]) == ["double", "10", "4", "1"]  # points, passed, defended
    section = report[report.index('id="defense"') :]
    assert "<td>bob</td><td>dan</td>" in section and "not an accusation" in section

    assert defend(course, "--collect", "--share", "0.3") == 0
    assert "they decide 30 % of the exercise" in capsys.readouterr().out
    assert scores(course) == before | {"bob": before["bob"] - 2}  # 0.3 of 10 points, two of three wrong
    assert defend(course, "--collect", "--share", "0.3") == 0  # again: the same
    assert scores(course) == before | {"bob": before["bob"] - 2}
    assert defend(course, "--collect", "--share", "0") == 0
    assert scores(course) == before


@pytest.mark.thorough
def test_a_new_answer_that_earns_less_than_was_taken_off_has_0_points_and_not_fewer(asked, capsys):
    bob = sheet_of(asked, "bob")
    hand_in_answers(asked, "bob", answers_for(bob, wrong=3))
    before = scores(asked)["bob"]
    assert defend(asked, "--collect", "--share", "0.5") == 0
    assert scores(asked)["bob"] == before - 5
    for answer, points in (("def double(x):\n    return x.nothing", 0), (OTHER, 10)):
        asked.hand_in("bob", asked.answer(answer, RIGHT_HALF))
        assert asked.gradekit("autograde", "01_double") == 0
        assert scores(asked)["bob"] == before - 10 + points
    capsys.readouterr()
    assert defend(asked, "--collect", "--share", "0.5") == 0
    assert "left alone" not in capsys.readouterr().out
    assert scores(asked)["bob"] == before - 5


@pytest.mark.thorough
def test_a_new_answer_leaves_what_a_person_took_off(asked):
    with asked.running.gradebook() as gradebook:
        gradebook.find_grade("test_double", "double", "01_double", "bob").extra_credit = -20
        gradebook.db.commit()
    asked.hand_in("bob", asked.answer("def double(x):\n    return x.nothing", RIGHT_HALF))
    assert asked.gradekit("autograde", "01_double") == 0
    with asked.running.gradebook() as gradebook:
        assert gradebook.find_grade("test_double", "double", "01_double", "bob").extra_credit == -20


def feedback_page(course: TinyCourse, student: str) -> str:
    """The student's page, written by `nbgrader generate_feedback`."""
    done = course.run("nbgrader", "generate_feedback", "01_double", "--student", student, "--force")
    assert done.returncode == 0, done.stderr
    return (course.root / "feedback" / student / "01_double" / "double.html").read_text()


def scores(course: TinyCourse) -> dict[str, float]:
    with course.running.gradebook() as gradebook:
        found = gradebook.assignment_submissions("01_double")
        return {one.student.id: one.score for one in found}


@pytest.mark.slow
def test_a_feedback_page_asks_only_about_the_code_on_it_and_outlives_a_damaged_key(asked):
    assert "Questions about your code" in feedback_page(asked, "ann")
    asked.hand_in("ann", asked.answer(OTHER, RIGHT_HALF))
    assert asked.gradekit("autograde", "01_double") == 0
    assert "Questions about your code" not in feedback_page(asked, "ann")
    key_path(asked.assignment).write_text("{")
    assert "Points" in feedback_page(asked, "bob")


# ------------------------------------------------------------------------------------------------------- answers


@pytest.fixture(scope="session")
def asked_original(class_original: Path, made_once: Callable[..., Path]) -> Path:
    return made_once("asked", _ask_two, class_original)


def _ask_two(course: TinyCourse) -> None:
    course.checks.with_name("viva.py").write_text(INPUTS)
    prepared(course, ann=LONG, bob=OTHER)
    assert course.gradekit("autograde", "01_double") == 0
    assert defend(course) == 0


@pytest.fixture
def asked(asked_original: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> TinyCourse:
    """Two students have a sheet."""
    capsys.readouterr()  # of what was graded now or in an earlier test
    return TinyCourse(Path(shutil.copytree(asked_original, tmp_path / "asked" / "course")))


@pytest.mark.slow
def test_no_file_that_students_write_costs_a_point_or_stops_the_command(asked, capsys):
    """Each goes to a person, with one sentence; a usable one counts afterwards."""
    ann, bob = sheet_of(asked, "ann"), sheet_of(asked, "bob")
    right = json.loads(answers_for(ann))
    said = {
        "x" * 20_000: "is 20,000 bytes long",
        "[" * 9_000: "isn't a file of answers",
        "A B C": "isn't a file of answers",
        "": "isn't a file of answers",
        '{"sheet": 3, "answers": []}': "isn't a file of answers",
        json.dumps(right | {"answers": {"1": "A"}}): "leaves 2 of 3 questions open",
        json.dumps(right | {"answers": right["answers"] | {"1": "Z"}}): "has no such option as Z",
        json.dumps(right | {"answers": right["answers"] | {"99": "A"}}): "has no such option as A",
        json.dumps(right | {"sheet": "0" * 16}): "names a page that was not given out",
        answers_for(bob): "answers the page of bob",
    }
    before = scores(asked)
    for text, why in said.items():
        hand_in_answers(asked, "ann", text)
        assert defend(asked, "--collect", "--share", "1") == 0
        assert f"ann: {ANSWER_FILE} {why}" in capsys.readouterr().out
        assert rows(asked)["ann"]["right"] == "" and why in rows(asked)["ann"]["note"]
    assert scores(asked) == before and sheet_of(asked, "bob").right is None
    hand_in_answers(asked, "ann", answers_for(ann))
    assert defend(asked, "--collect") == 0
    assert rows(asked)["ann"]["outcome"] == "defended"


@pytest.mark.slow
def test_links_and_pipes_are_not_read(asked, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text(answers_for(sheet_of(asked, "ann")))
    link, pipe = tmp_path / "link.json", tmp_path / "pipe.json"
    link.symlink_to(secret)
    os.mkfifo(pipe)
    for path in (link, pipe, tmp_path):
        with pytest.raises(Unusable):
            read_answers(path)


@pytest.mark.thorough
def test_the_first_answers_count_and_those_to_an_earlier_sheet_dont(asked, capsys):
    first = sheet_of(asked, "ann")
    hand_in_answers(asked, "ann", answers_for(first, wrong=3))
    defend(asked, "--collect")
    hand_in_answers(asked, "ann", answers_for(first))
    capsys.readouterr()
    defend(asked, "--collect")
    assert "has other answers than the first time, which count" in capsys.readouterr().out
    assert rows(asked)["ann"]["right"] == "0"
    assert defend(asked, "ann") == 0  # an instructor lets her try again
    second = sheet_of(asked, "ann")
    assert second.id != first.id and second.seed != first.seed
    defend(asked, "--collect")
    assert "answers an earlier page" in rows(asked)["ann"]["note"]
    hand_in_answers(asked, "ann", answers_for(second))
    defend(asked, "--collect")
    assert rows(asked)["ann"]["right"] == "3"


@pytest.mark.thorough
def test_a_new_page_asks_nothing_that_an_earlier_one_about_the_same_code_asked(asked, capsys):
    """When too few other questions are left, the page stays, and the command says why."""
    pages = [sheet_of(asked, "ann")]
    for _ in range(9):
        assert defend(asked, "ann") == 0
        page, printed = sheet_of(asked, "ann"), capsys.readouterr().out
        if page.id == pages[-1].id:
            break
        pages.append(page)
    asked_about = [(one.kind, one.line, one.about) for page in pages for one in page.questions]
    texts = [one.text for page in pages for one in page.questions]
    assert len(pages) > 1 and len({*asked_about}) == len(asked_about) and len({*texts}) == len(texts)
    assert "ann: no new page, since too few other questions about double are left" in printed
    assert (
        "The present page stays" in printed and "0 pages" in printed and "don't count any more" not in printed
    )
    asked.hand_in("ann", asked.answer(LONG + " + 0", RIGHT_HALF))
    assert defend(asked) == 0  # other code is asked about as if it were the first
    assert sheet_of(asked, "ann").id != pages[-1].id


@pytest.mark.thorough
def test_late_answers_and_changed_code_go_to_a_person(course, capsys):
    prepared(course, ann=LONG, bob=OTHER)
    course.gradekit("autograde", "01_double")
    assert defend(course, "--due", "2026-03-01 12:00") == 0
    page = (course.root / "reports" / "01_double" / "defense" / "ann.html").read_text()
    assert "by 2026-03-01 12:00 UTC" in page
    for student in ("ann", "bob"):
        path = hand_in_answers(course, student, answers_for(sheet_of(course, student)))
        path.with_name("timestamp.txt").write_text(f"2026-03-0{1 if student == 'bob' else 2} 10:00:00 UTC")
    course.hand_in("bob", course.answer(OTHER + " + 0", RIGHT_HALF))
    defend(course, "--collect")
    assert "came after the time that the page names" in rows(course)["ann"]["note"]
    assert "is about code that has changed since" in rows(course)["bob"]["note"]


@pytest.mark.slow
def test_files_from_an_lms_are_found_by_their_sheet(asked, tmp_path, capsys):
    folder = tmp_path / "uploads"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "ann_1234_defense.json").write_text(answers_for(sheet_of(asked, "ann")))
    (folder / "notes.txt").write_text("hello")
    (folder / "double.ipynb").write_text("{}" * 9_000)
    assert defend(asked, "--collect", "--answers", str(folder)) == 0
    assert rows(asked)["ann"]["outcome"] == "defended"
    assert f"2 files without answers in {folder}: double.ipynb, notes.txt\n" in capsys.readouterr().out
    assert "double.ipynb, notes.txt" in rows(asked)[""]["note"] and "a person" not in rows(asked)[""]["note"]


@pytest.mark.slow
def test_extra_credit_that_a_person_typed_in_stays(asked, capsys):
    with asked.running.gradebook() as gradebook:
        grade = gradebook.find_grade("test_double", "double", "01_double", "ann")
        grade.extra_credit = 1
        gradebook.db.commit()
    before = scores(asked)
    hand_in_answers(asked, "ann", answers_for(sheet_of(asked, "ann"), wrong=3))
    assert defend(asked, "--collect", "--share", "0.5") == 0
    assert (
        "ann: double has extra credit that a person typed in, so it was left alone" in capsys.readouterr().out
    )
    assert scores(asked) == before


@pytest.mark.slow
def test_a_score_that_a_person_types_counts_as_it_is(asked, capsys):
    """What was taken off before is given back by the next command, also without a share."""
    hand_in_answers(asked, "ann", answers_for(sheet_of(asked, "ann"), wrong=3))
    for share in (["--share", "0.5"], []):
        assert defend(asked, "--collect", "--share", "0.5") == 0
        before = scores(asked)["ann"]
        type_in(asked, 9)
        assert scores(asked)["ann"] == before - 1  # the deduction of 5 is still below it
        capsys.readouterr()
        assert defend(asked, "--collect", *share) == 0
        assert "ann: double has a score that a person typed in, which counts" in capsys.readouterr().out
        assert scores(asked)["ann"] == before + 4 and rows(asked)["ann"]["points"] == ""
        type_in(asked, None)


def type_in(course: TinyCourse, score: float | None) -> None:
    with course.running.gradebook() as gradebook:
        gradebook.find_grade("test_double", "double", "01_double", "ann").manual_score = score
        gradebook.db.commit()


@pytest.mark.slow
def test_whose_points_went_is_said_by_the_command_and_its_table(asked, capsys):
    hand_in_answers(asked, "ann", answers_for(sheet_of(asked, "ann"), wrong=1))
    hand_in_answers(asked, "bob", answers_for(sheet_of(asked, "bob")))
    assert defend(asked, "--collect", "--share", "0.3") == 0
    printed = capsys.readouterr().out
    assert (
        "  ann: 2 of 3 right, 1 point off\n" in printed and "  bob: 3 of 3 right, 0 points off\n" in printed
    )
    assert [rows(asked)[name]["points"] for name in ("ann", "bob")] == ["-1", ""]


@pytest.mark.slow
def test_bad_input_gets_one_sentence(course, capsys):
    prepared(course, ann=LONG)
    for options, sentence in {
        ("--collect",): "no pages of 01_double were given out",
        ("--share", "0.5"): "belong to --collect",
        ("--exercise", "zoe"): "has no exercise zoe in code with tests; it has double, half",
        ("zoe",): "zoe handed in nothing",
        ("--due", "soon"): "isn't a date and a time",
    }.items():
        assert defend(course, *options) == 2
        assert sentence in capsys.readouterr().err


# ------------------------------------------------------------------------------------------------------- hostile

HOSTILE = {
    "prints a sheet": "print('{\"sheet\": \"1\", \"answers\": {}}')\n" + OTHER,
    "forges replies": "import sys\nsys.modules['gradekit.inside.agent'].Agent.do_call = lambda *_, **__: {'value': {'calls': 3}}\n" + OTHER,
    "hangs": "def double(x):\n    while True:\n        x = x + 0\n    return x",
    "reads the key": "import glob, os\nfound = [p for top in ('/', os.getcwd()) for p in glob.glob(top + '/**/defense/*.json', recursive=top != '/')]\n"
    "def double(x):\n    y = x * 4\n    size = torch.ones(len(found) + 7, 2)\n    z = y / 2\n    return z",
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.slow
def test_hostile_code_gets_true_questions_or_none(name, course):
    prepared(course, bob=OTHER)
    course.hand_in("ann", course.answer(HOSTILE[name], RIGHT_HALF))
    running = course.running
    running.config.Execute.timeout = running.config.RunChecks.call_timeout = 1
    if name == "reads the key":
        assert defend(course, "bob") == 0
        assert key_path(course.assignment).exists()
    (task,) = tasks_of(running, course.assignment, ["ann"])
    proven = prove(course.assignment, [PLACE], task)
    found = proven.questions.get(PLACE, [])
    if name in ("hangs", "forges replies"):
        assert not found and proven.problem
    if name == "prints a sheet":
        assert "`20`" in {one.right for one in found}
    if name == "reads the key":  # 7, so it found none
        assert {one.right for one in found if "`size`" in one.text} <= {"`(7, 2)`"} and found
