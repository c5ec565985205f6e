"""Students object to a check with a file that comes with their next hand-in; the instructor answers once for all."""

import os
import re
import shlex
import subprocess
import time

import nbformat
import pytest

from gradekit.checks.variants import alternatives_of
from gradekit.course import read_notebook
from gradekit.course.cells import find_cell, grade_id
from gradekit.grading.running_course import RunningCourse
from gradekit.report.table import ClassTable
from gradekit_authoring.requests import RequestBook, parsed

NAME = "01_double"
ABOUT = "double::test_value"


def request(course, student: str, text: str, name: str = "requests.txt") -> None:
    path = course.root / "submitted" / student / NAME / name
    path.write_text(text)
    os.utime(path, (1, 1))  # it was there when the submission was graded


def book(course) -> RequestBook:
    opened = RunningCourse.open(course.root)
    (assignment,) = (each for each in opened.layout.assignments() if each.name == NAME)
    return RequestBook(opened, assignment)


def comment(course, student: str) -> str:
    with course.gradebook() as gradebook:
        return gradebook.find_comment("double", "double", NAME, student).manual_comment or ""


@pytest.mark.parametrize("line", ["\n", ":\n", "x\n"])
def test_a_large_file_of_one_student_takes_no_time(line):
    ids = {f"exercise_{number}::test": "x" for number in range(1000)}
    began = time.process_time()
    parsed("ada", line * 60_000, ids)
    assert time.process_time() - began < 1


def test_a_text_is_cut_at_the_names_of_checks_and_exercises():
    ids = {"double::test_value": "double::test_value", "double": "double", "test_double": "double"}
    text = "Hello\n- `double::test_value` : it is right,\n  I think.\n\ndouble: all of it\ndouble::other: x\ntest_double:\n"
    found = [(each.about, each.text) for each in parsed("ada", text, ids)]
    assert found == [
        ("", "Hello"),
        ("double::test_value", "it is right,\nI think."),
        ("double", "all of it"),
        ("", "double::other: x"),
        ("double", ""),
    ]


def test_a_name_of_a_check_is_known_without_its_colon_and_in_other_letters():
    ids = {name: name for name in ("double::test_value", "double::test_value_large", "double")}
    text = "Double::Test_Value - a dash\ndouble is an ordinary word\ndouble::test_value_large\nno colon\ndouble::test_values: x\ndouble\n"
    assert [(each.about, each.text) for each in parsed("ada", text, ids)] == [
        ("double::test_value", "a dash\ndouble is an ordinary word"),
        ("double::test_value_large", "no colon"),
        ("", "double::test_values: x"),
        ("double", ""),
    ]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_a_file_that_an_editor_wrote_is_read(graded_class, encoding):
    request(graded_class, "mistake", "")
    path = graded_class.root / "submitted" / "mistake" / NAME / "requests.txt"
    path.write_bytes(f"{ABOUT}: für mich richtig\n".encode(encoding))
    assert [(each.about, each.text) for each in book(graded_class).open] == [(ABOUT, "für mich richtig")]


def test_a_request_that_names_no_check_can_be_closed(graded_class, capfd):
    request(graded_class, "mistake", f"it is\nall wrong\n{ABOUT}: this too\n")
    assert graded_class.gradekit("requests", NAME) == 0
    out = capfd.readouterr().out
    assert "mistake: it is / all wrong\n" in out and f"gradekit requests {NAME} --close STUDENT" in out
    assert graded_class.gradekit("requests", NAME, "--close", "mistake") == 0
    assert "closed: 1 request of mistake" in capfd.readouterr().out
    assert [each.about for each in book(graded_class).open] == [ABOUT]
    assert graded_class.gradekit("requests", NAME, "--close", "mistake") == 2
    assert "has no open request without the name of a check" in capfd.readouterr().err


def test_a_cell_as_it_was_handed_out_does_not_become_an_alternative(graded_class, capfd):
    course = graded_class
    request(course, "mistake", f"{ABOUT}: it is right\n")
    opened = book(course)
    path = opened.course.autograded("mistake", NAME) / "double.ipynb"
    graded = read_notebook(path)
    cell = next(each for each in graded.cells if grade_id(each) == "double")
    cell.source = find_cell(opened.assignment.released("double"), "double").source
    nbformat.write(graded, path)
    assert course.gradekit("requests", NAME, "--uphold", ABOUT, "mistake") == 2
    assert "mistake has no answer in double" in capfd.readouterr().err


def test_requests_are_listed_by_check_and_answered_once_for_all(graded_class, capfd):
    course = graded_class
    ada, ben, eve, zoe = "mistake", "exception", "floor", "right"
    request(course, ada, f"{ABOUT}: rounding\n")
    request(course, ben, f"Dear all,\n{ABOUT}: I rounded, too\x1b[2J", "Requests.TXT")
    request(course, eve, "it is all wrong")
    (course.root / "submitted" / zoe / NAME / "requests.txt").symlink_to("/etc/passwd")
    assert course.gradekit("requests") == 0
    out = capfd.readouterr().out
    assert f"{NAME}: 4 open requests\n" in out
    assert f"  {ABOUT}  The output is twice the input.\n    {ben}: I rounded, too" in out
    assert f"    {ada}: rounding\n" in out
    assert "\x1b" not in out and f"    {eve}: it is all wrong\n" in out
    assert re.search(f"  {zoe}: .*requests.txt isn't a file of its own\n", out) and "root:" not in out

    assert course.gradekit("requests", NAME, "--answer", "double::test_valeu", "Sorry.") == 2
    assert "has no open request about" in capfd.readouterr().err
    assert course.gradekit("requests", NAME, "--answer", ABOUT, "Your values were not rounded alike.") == 0
    assert f"answered: {ben}, {ada}\n" in capfd.readouterr().out
    assert [comment(course, name) for name in (ada, ben)] == [
        f"{ABOUT}: Your values were not rounded alike."
    ] * 2
    (course.root / "submitted" / eve / NAME / "requests.txt").unlink()  # handed in again without the file
    again = book(course)
    assert [(each.student, each.about) for each in again.open] == [(ben, ""), (eve, "")]
    assert next(again.lines()) == f"{NAME}: 2 open requests, 2 answered"
    request(course, ada, f"{ABOUT}: but why?\n")
    assert [each.text for each in book(course).about(ABOUT)] == ["but why?"]


def test_many_requests_of_one_student_are_summed_up_and_keep_no_other_from_being_seen(graded_class, capfd):
    request(
        graded_class, "mistake", "".join(f"{ABOUT}: {number}\n" for number in range(7000)) + "double: too\n"
    )
    request(graded_class, "floor", f"{ABOUT}: once\n")
    assert graded_class.gradekit("requests", NAME) == 0
    out = capfd.readouterr().out
    assert f"{NAME}: 7002 open requests\n" in out and len(out.splitlines()) < 40
    assert "    mistake: 19\n" in out and "    mistake: 20\n" not in out
    assert "    mistake: 6,980 more\n" in out and "    floor (passes it now): once\n" in out
    path = graded_class.root / ".gradekit" / "requests" / f"{NAME}.json"
    assert f"  mistake: 7,001 requests, the first 20 are shown; all are in {path}\n" in out
    assert "6999" in path.read_text()


@pytest.mark.parametrize(
    ("content", "why"), [("", "is empty, or can't be read"), ("x" * 200_001, "has more than 200,000 bytes")]
)
def test_a_file_without_requests_is_named_with_the_reason(graded_class, capfd, content, why):
    request(graded_class, "mistake", content)
    request(graded_class, "mistake", f"{ABOUT}: fine\n", "requests.md")
    assert graded_class.gradekit("requests", NAME) == 0
    out = capfd.readouterr().out
    assert f"requests.txt {why}\n" in out and "    mistake: fine\n" in out


def test_who_passes_the_check_by_now_is_listed_as_such(graded_class, capfd):
    for student in ("right", "mistake"):
        request(graded_class, student, f"{ABOUT}: unclear\ndouble: unclear\n")
    assert graded_class.gradekit("requests", NAME) == 0
    out = capfd.readouterr().out
    assert out.count("    right (passes it now): unclear\n") == 2 == out.count("    mistake: unclear\n")


@pytest.mark.slow
def test_the_page_says_how_to_object_if_the_course_wants_it(graded_class):
    course = graded_class
    with (course.root / "nbgrader_config.py").open("a") as file:
        file.write("get_config().FeedbackPage.requests = True\n")
    done = course.run("nbgrader", "generate_feedback", NAME, "--student", "mistake", "--force")
    assert done.returncode == 0, done.stderr
    page = (course.root / "feedback" / "mistake" / NAME / "double.html").read_text()
    assert page.count("I think this check is wrong") == page.count("double::test_") == 2  # of four checks
    assert f"{ABOUT}: " in page


def test_an_upheld_answer_becomes_an_alternative_and_then_the_class_is_graded_again(
    graded_class, capfd, monkeypatch
):
    course = graded_class
    student = "mistake"
    request(course, student, f"{ABOUT}: it is right\n")
    before = [each.name for each in alternatives_of(book(course).assignment)]
    assert course.gradekit("requests", NAME, "--uphold", ABOUT, student) == 0
    out = capfd.readouterr().out
    assert "the alternative double_asked_1 in" in out
    assert f"gradekit requests {NAME} --uphold {ABOUT} {student}" in out
    *others, written = alternatives_of(book(course).assignment)
    assert [each.name for each in others] == before
    assert (written.name, written.cell) == ("double_asked_1", "double") and "def double" in written.source
    text = (course.checks.parent / "alternatives.py").read_text()
    assert student not in text and "    return 3 * x\n" in text

    ran: list[list[str]] = []
    codes = iter([1, 0, 0])

    def run(command: list[str], **_: object) -> "subprocess.CompletedProcess[bytes]":
        ran.append(command[3:])
        return subprocess.CompletedProcess(command, next(codes))

    monkeypatch.setattr("gradekit_authoring.cli.answering.subprocess.run", run)
    assert course.gradekit("requests", NAME, "--uphold", ABOUT, student) == 1  # the check still refuses it
    assert len(book(course).open) == 1
    assert course.gradekit("requests", NAME, "--uphold", ABOUT, student) == 0
    assert ran == [["audit", NAME]] * 2 + [["regrade", NAME]]
    assert book(course).open == []


@pytest.mark.parametrize("source", ['x = """a"""', "y = '\\\\n'", 'z = "\\"'])
def test_any_source_survives_being_written_as_an_alternative(source):
    from gradekit_authoring.requests import _escaped

    assert eval(f'"""\n{_escaped(source)}\n"""') == f"\n{source}\n"


def test_what_another_answers_meanwhile_stays_answered(graded_class):
    request(graded_class, "mistake", f"{ABOUT}: it is right\n")
    request(graded_class, "floor", "half::test_half_of_even: this too\n")
    upholding, other = book(graded_class), book(graded_class)
    other.answer("half::test_half_of_even", "See section 2.")
    request(graded_class, "right", f"{ABOUT}: a new one\n")
    book(graded_class)
    upholding.close(upholding.about(ABOUT), "upheld")
    assert [each.student for each in book(graded_class).open] == ["right"]
    assert book(graded_class).lines().__next__().endswith("1 open request, 2 answered")


def test_a_request_about_a_check_that_was_taken_out_because_of_it_stays_answered(graded_class, monkeypatch):
    request(graded_class, "mistake", f"{ABOUT}: it is right\n")
    first = book(graded_class)
    first.close(first.about(ABOUT), "upheld")

    checks = ClassTable.checks.func
    without = property(lambda table: [check for check in checks(table) if check.id != ABOUT])
    monkeypatch.setattr(ClassTable, "checks", without)
    assert book(graded_class).open == []
    request(graded_class, "floor", f"{ABOUT}: mine too\n")
    later = book(graded_class)
    assert [each.about for each in later.open] == [ABOUT]
    assert later.answer(ABOUT, "It was taken out.").written == ["floor"]


@pytest.mark.parametrize(
    "name", ["requests (1).txt", "requests-1.txt", "request.txt", "Requests.md", "requests .txt"]
)
def test_a_letter_is_read_under_the_names_that_browsers_and_people_give_it(graded_class, name):
    request(graded_class, "mistake", f"{ABOUT}: it is right\n", name)
    assert [each.about for each in book(graded_class).open] == [ABOUT]


def test_a_letter_of_a_word_processor_is_named(graded_class):
    request(graded_class, "mistake", "{\\rtf1 it is right}", "requests.rtf")
    request(graded_class, "floor", "import http", "requests.py")
    found = book(graded_class)
    assert found.open == [] and len(found.problems) == 1
    assert "requests.rtf isn't a plain text: read it" in found.problems[0]


def test_messages_about_requests_have_a_remedy_that_works(graded_class, capfd):
    request(graded_class, "mistake", f"{ABOUT}: it is right\n")
    assert graded_class.gradekit("requests", NAME, "--answer", ABOUT, " ") == 2
    assert (
        f'the answer is empty: gradekit requests {NAME} --answer {ABOUT} "the answer"'
        in capfd.readouterr().err
    )
    (graded_class.root / ".gradekit" / "requests" / f"{NAME}.json").write_bytes(b"")
    assert graded_class.gradekit("requests", NAME) == 2
    remedy = re.search("`(rm .*?)`", capfd.readouterr().err)[1]
    subprocess.run(shlex.split(remedy), check=True)
    assert graded_class.gradekit("requests", NAME) == 0 and ABOUT in capfd.readouterr().out
