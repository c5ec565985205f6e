"""`gradekit lms sync`: what comes in and goes out, and what is left alone."""

import re
import shutil
from datetime import timedelta

import pytest

from ...gradekit.tests.tiny_course import RIGHT
from .downloads import zipped
from .lms_servers import HANDED_IN, HandedIn
from .sync_course import NOTHING, answer, everything, page_for, submitted, tree


def test_students_and_submissions_come_in_once(generated, lms, synced, monkeypatch):
    monkeypatch.setattr("gradekit_lms.sync.moodle._PAGE", 2)
    for number, login in enumerate(["ann", "ben", "eve"], 1):
        lms.enrol(number, login)
    notebook = answer(generated)
    lms.hand_ins[1] = HandedIn({"double.ipynb": notebook, "helper.py": b"x = 1\n"})
    lms.hand_ins[2] = HandedIn({"double-1.ipynb": answer(generated, "def double(x):\n    return 3 * x")})
    before = tree(generated)
    code, printed = synced("--dry-run")
    assert code == 0
    assert printed.splitlines() == [
        "students: 3 would be added: ann, ben, eve",
        "01_double: 2 would be collected: ann (2 files), ben (1 file)",
    ]
    assert tree(generated) == before

    code, printed = synced()
    assert printed.splitlines() == [
        "students: 3 added: ann, ben, eve",
        "01_double: 2 collected: ann, ben",
    ]
    assert submitted(generated, "ann") == {
        "double.ipynb": notebook,
        "helper.py": b"x = 1\n",
        "timestamp.txt": b"2026-01-01 12:00:05.000000 UTC",
    }
    with generated.gradebook() as gradebook:
        (ann,) = [student for student in gradebook.students if student.id == "ann"]
        assert (ann.first_name, ann.last_name, ann.email, ann.lms_user_id) == (
            *("Ann", "Fox", "ann@example.edu", "1"),
        )
    before = tree(generated)
    assert synced() == (0, f"{NOTHING}\n")
    assert tree(generated) == before


def test_results_go_out_once(graded, lms):
    sent = "01_double: 3 sent: floor (15), mistake (8), right (15)\n"
    assert graded("--dry-run")[1].startswith(sent.replace("sent", "would be sent"))
    assert lms.scores == {}
    assert graded()[1].startswith(sent)
    assert lms.scores == {1: 15, 2: 8, 3: 15}
    assert lms.comments[2][0].partition(" [")[0] == "8 of 20 points"
    assert lms.pages[2] == [("double.html", b"<!DOCTYPE html>mistake")]
    known, before = everything(lms), tree(graded.course)
    assert graded()[1].startswith(f"{NOTHING}\n")
    assert (everything(lms), tree(graded.course)) == (known, before)
    page = graded.course.root / "feedback" / "right" / "01_double" / "double.html"
    page.write_text("<!DOCTYPE html>another")
    assert graded()[1].startswith("01_double: 1 sent: right (15)\n")
    assert lms.pages[3][-1] == ("double.html", b"<!DOCTYPE html>another")
    state = graded.course.root / ".gradekit" / "lms" / "01_double.json"
    state.unlink()
    graded()
    if lms.product == "Canvas":  # the mark in a comment says that it is there
        assert {len(found) for found in lms.comments.values()} == {1, 2}


@pytest.mark.slow
@pytest.mark.parametrize("lms", ["canvas"], indirect=True)
def test_a_round_trip_with_the_pages_of_nbgrader(generated, lms, synced):
    for number, login in enumerate(["ann", "ben"], 1):
        lms.enrol(number, login)
    lms.hand_ins[1] = HandedIn({"double.ipynb": answer(generated)})
    lms.hand_ins[2] = HandedIn({"double-1.ipynb": answer(generated, "def double(x):\n    return 3 * x")})
    synced()
    generated.gradekit("autograde", "01_double", "--workers", "1", "--sandbox", "none")
    code, printed = synced()
    advice = "nbgrader generate_feedback 01_double"
    assert (code, f"Not sent: no page yet: `{advice}` (2):\n  ann\n  ben\n" in printed) == (1, True)
    assert generated.run(*advice.split()).returncode == 0
    code, printed = synced()
    assert (code, printed) == (0, "01_double: 2 sent: ann (10), ben (3)\n")
    assert lms.scores == {1: 10, 2: 3}
    assert [lms.comments[2][0].partition(" [")[0]] == ["3 of 15 points"]
    for student, number in {"ann": 1, "ben": 2}.items():
        page = generated.root / "feedback" / student / "01_double" / "double.html"
        assert lms.pages[number] == [("double.html", page.read_bytes())]


@pytest.mark.parametrize("lms", ["canvas"], indirect=True)
def test_a_student_with_a_new_number_is_matched_again_as_advised_and_keeps_the_name(
    generated, lms, synced, enrol
):
    enrol("ann", first_name="Ann", last_name="Abel", lms_user_id="77")
    lms.enrol(1, "ann")
    code, printed = synced()
    assert code == 1 and "  ann: 77 there, " in printed
    (command,) = re.findall("`(nbgrader db student import [^`]+)`", printed)
    (generated.root / "new.csv").write_text("id,lms_user_id\nann,1\n")
    assert generated.run(*command.split()).returncode == 0
    assert "Not matched" not in synced()[1]
    with generated.gradebook() as gradebook:
        found = gradebook.find_student("ann")
        assert (found.first_name, found.last_name, found.lms_user_id) == ("Ann", "Abel", "1")


def test_a_new_attempt_replaces_the_one_before_but_nothing_that_came_from_elsewhere(generated, lms, synced):
    for number, login in enumerate(["ann", "ben"], 1):
        lms.enrol(number, login)
        lms.hand_ins[number] = HandedIn({"double.ipynb": answer(generated)})
    generated.hand_in("ben", "from elsewhere")
    code, printed = synced()
    assert code == 1
    assert "01_double: 1 collected: ann\n" in printed
    assert re.search(r"submitted/ has another version.* \(1\):\n  ben\n", printed)
    assert submitted(generated, "ben") == {"double.ipynb": b"from elsewhere"}
    shutil.move(generated.root / "submitted" / "ben", generated.root / "ben")
    later = HANDED_IN + timedelta(days=1)
    lms.hand_ins[1] = HandedIn({"double.ipynb": answer(generated, "pass"), "new.py": b""}, 2, later)
    assert synced() == (0, "01_double: 2 collected: ann, ben\n")
    assert submitted(generated, "ann").keys() == {"double.ipynb", "new.py", "timestamp.txt"}
    assert submitted(generated, "ann")["timestamp.txt"] == b"2026-01-02 12:00:05.000000 UTC"
    (generated.root / "submitted" / "ann" / "01_double" / "new.py").write_text("the instructor's")
    lms.hand_ins[1] = HandedIn({"double.ipynb": answer(generated)}, 3, later)
    code, printed = synced()
    assert (code, "  ann\n" in printed, "collected:" in printed) == (1, True, False)


@pytest.mark.slow
def test_everything_that_is_not_collected_has_a_name(generated, lms, synced):
    config = generated.root / "nbgrader_config.py"
    config.write_text(f"{config.read_text()}\nc.LmsSync.max_megabytes = 1\n")
    notebook = answer(generated)
    for number, login in enumerate(["ann", "ben", "eve", "gil", "../hal"], 1):
        lms.enrol(number, login)
    files = {"double.ipynb": notebook, "large.bin": b"x" * 1_000_001, "../../ann.py": b"", "data.csv": b"1"}
    lms.hand_ins[1] = HandedIn(files)
    lms.hand_ins[2] = HandedIn({"essay.pdf": b"%PDF"})
    text = {"canvas": "online_text_entry", "moodle": "draft"}[lms.product.lower()]
    lms.hand_ins[3] = HandedIn({}, kind=text)
    packed = zipped(
        {"work/double.ipynb": notebook.decode(), "work/../../../up.py": "", "work/data/a.csv": "1"}
    )
    lms.hand_ins[4] = HandedIn({"work.zip": packed})
    lms.hand_ins[5] = lms.hand_ins[99] = HandedIn({"double.ipynb": notebook})
    code, printed = synced()
    assert code == 1
    assert "01_double: 2 collected: ann, gil\n" in printed
    assert submitted(generated, "ann").keys() == {"double.ipynb", "data.csv", "timestamp.txt"}
    assert submitted(generated, "gil").keys() == {"double.ipynb", "data/a.csv", "timestamp.txt"}
    for line in [
        "ann: large.bin (1 MB, more than c.LmsSync.max_megabytes)",
        "ann: ../../ann.py (its name can't be used: it is empty or too long, or points elsewhere)",
        "ben: ben/essay.pdf",
        {
            "canvas": "eve handed in without files (online text entry)",
            "moodle": "eve has only a draft so far",
        }[lms.product.lower()],
        "../Hal Fox (number 5) has the id '../hal', which can't name a folder",
        "number 5",
        "number 99",
    ]:
        assert f"\n  {line}\n" in printed, printed
    assert "up.py' points outside its folder" in printed
    assert not list(generated.root.parent.glob("*.py"))
    advice = re.search("`(nbgrader db student add .*)`", printed)[1]
    assert generated.run(*advice.replace("ID", "hal").replace("NUMBER", "5").split()).returncode == 0
    assert synced()[1].startswith("01_double: 1 collected: hal\n")
    asked = len(lms.asked)
    again = synced()[1]
    assert again.startswith(f"{NOTHING}\n")
    assert "large.bin" in again and "essay.pdf" in again
    assert not any("pluginfile" in line or "/files/" in line for line in lms.asked[asked:])


@pytest.mark.parametrize("lms", ["moodle"], indirect=True)  # Canvas lists the submission for each member
def test_members_of_a_group_each_have_the_submission(generated, synced, lms):
    for number, login in enumerate(["ann", "ben", "eve"], 1):
        lms.enrol(number, login, groups=[{"id": 4, "name": "A"}] if number < 3 else [])
    lms.hand_ins[1] = HandedIn({"double.ipynb": answer(generated)}, group=4)
    assert synced()[1].splitlines()[-1] == "01_double: 2 collected: ann, ben"
    assert submitted(generated, "ann") == submitted(generated, "ben")


def test_people_are_matched_with_the_gradebook_and_doubts_are_named(generated, lms, synced):
    with generated.gradebook() as gradebook:
        gradebook.add_student("a.fox", email="ann@example.edu")
        gradebook.add_student("ben", lms_user_id="222")
        gradebook.add_student("left")
        for student in ("eve1", "eve2"):
            gradebook.add_student(student, email="eve@example.edu")
    for number, login in enumerate(["ann", "ben", "eve"], 1):
        lms.enrol(number, login)
    code, printed = synced()
    assert (code, printed.splitlines()[0]) == (1, NOTHING)
    assert "  ben: 222 there, Ben Fox (number 2) in" in printed
    assert "Eve Fox (number 3) may be eve1 or eve2" in printed
    assert "  ben, eve1, eve2, left\n" in printed
    with generated.gradebook() as gradebook:
        numbers = {student.id: student.lms_user_id for student in gradebook.students}
    assert numbers == {"a.fox": "1", "ben": "222", "left": None, "eve1": None, "eve2": None}


def test_a_score_that_somebody_else_gave_is_left_alone(graded, lms):
    lms.scores[1] = 3.0
    code, printed = graded()
    assert (code, lms.scores[1]) == (1, 3.0)
    assert f"since {lms.product} has a score that didn't come from here" in printed
    assert "  floor has 3 there, 15 here\n" in printed
    assert lms.scores.keys() == {1, 2, 3}
    lms.scores[2] = 19.0  # changed by hand, after it was sent
    del lms.scores[1]
    code, printed = graded()
    assert (code, lms.scores[1], lms.scores[2]) == (1, 15, 19.0)


def test_what_is_uncertain_is_not_sent(graded, lms):
    course = graded.course
    lms.enrol(4, "loop")
    page_for(course, "loop")
    with course.gradebook() as gradebook:
        submission = gradebook.find_submission("01_double", "right")
        for grade in submission.notebooks[0].grades:
            if grade.name == "why":
                grade.needs_manual_grade, grade.auto_score = True, None
        gradebook.db.commit()
    path = course.hand_in("mistake", course.answer(RIGHT))
    path.with_name("timestamp.txt").write_text("2026-02-01 12:00:00 UTC")
    with course.gradebook() as gradebook:
        gradebook.remove_student("floor")
    code, printed = graded()
    assert "Not sent: awaiting manual grading (1):\n  right\n" in printed
    assert "handed in again since: `gradekit autograde 01_double` (1):\n  mistake\n" in printed
    assert code == 1


def test_other_maximum_points_need_a_decision(graded, lms):
    lms.maximum = 10.0
    code, printed = graded()
    assert (code, lms.scores) == (1, {})
    assert f"01_double has 20 points here and 10 in {lms.product}: change them there, or set" in printed
    config = graded.course.root / "nbgrader_config.py"
    config.write_text(f"{config.read_text()}\nc.LmsSync.scale = True\n")
    graded()
    assert lms.scores[3] == 7.5
    assert lms.comments[3][0].startswith("15 of 20 points")
