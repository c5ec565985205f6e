"""`gradekit lms sync` when something fails: the LMS, the network, a setting, the command itself; and where the token is not sent."""

import logging
import os
import re
import signal
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

from gradekit.course.operating_system import locked_file

from .lms_servers import LMS_TOKEN, SERVERS, Answer, HandedIn
from .sync_course import NOTHING, answer, submitted, tree

BUSY = {"Canvas": Answer(403, "403 Forbidden (Rate Limit Exceeded)", {"X-Rate-Limit-Remaining": "0.0"})}


def test_the_command_waits_where_the_lms_is_busy(generated, lms, synced, monkeypatch):
    waited: list[float] = []
    monkeypatch.setattr("gradekit_lms.sync.connection.time.sleep", waited.append)
    lms.enrol(1, "ann")
    lms.hand_ins[1] = HandedIn({"double.ipynb": answer(generated)})
    lms.faults = [
        (".", Answer(429, {}, {"Retry-After": "7"})),
        (".", Answer(503, b"<html>")),
        (".", BUSY.get(lms.product, Answer(429, {}))),
        ("/files/|pluginfile", None),
    ]
    assert synced() == (0, "students: 1 added: ann\n01_double: 1 collected: ann\n")
    assert waited == [7, 2, 4, 1]
    lms.faults = [(".", Answer(429, {}))] * 9
    code, printed = synced()
    assert (code, printed.count("\n")) == (2, 1)
    assert f"{lms.product} is overloaded: run the command again" in printed


def test_after_a_network_failure_midway_the_next_command_goes_on(generated, lms, synced, monkeypatch):
    monkeypatch.setattr("gradekit_lms.sync.connection.time.sleep", lambda seconds: None)
    for number, login in enumerate(["ann", "ben"], 1):
        lms.enrol(number, login)
        lms.hand_ins[number] = HandedIn({"double.ipynb": answer(generated)})
    lms.faults = [("/files/2|pluginfile.php/2", None)] * 6
    code, printed = synced()
    assert code == 2
    assert "01_double: 1 collected: ann\n" in printed
    assert re.search(
        r"gradekit: 127\.0\.0\.1:\d+ can't be reached \(ConnectionError\): run the command again", printed
    )
    assert synced() == (0, "01_double: 1 collected: ben\n")


def test_a_file_that_arrives_incomplete_is_not_collected(generated, lms, synced):
    lms.enrol(1, "ann")
    lms.hand_ins[1] = HandedIn({"double.ipynb": answer(generated)})
    lms.faults = [("/files/|pluginfile", Answer(200, b"short"))]
    code, printed = synced()
    assert code == 1 and "Not collected: " in printed
    assert not (generated.root / "submitted" / "ann").exists()
    assert synced()[0] == 0


def test_the_token_is_nowhere_in_what_is_written(generated, lms, synced, caplog):
    caplog.set_level(logging.DEBUG)
    lms.enrol(1, "ann")
    lms.hand_ins[1] = HandedIn({"double.ipynb": answer(generated)})
    lms.faults = [("/files/|pluginfile", Answer(500, {"message": f"no {LMS_TOKEN} here"}))]
    printed = synced()[1] + synced()[1]
    lms.token = "another"
    code, refused = synced()
    assert (code, refused.count("\n")) == (2, 1)
    assert "the token is refused" in refused and "make a new one" in refused
    texts = [printed, refused, caplog.text, repr(os.environ)]
    texts += [content.decode(errors="replace") for content in tree(generated).values()]
    assert [text for text in texts if LMS_TOKEN in text] == []
    assert "127.0.0.1" in caplog.text


@pytest.mark.parametrize("lms", ["canvas"], indirect=True)
def test_a_file_on_another_server_is_fetched_without_the_token(generated, lms, synced):
    lms.enrol(1, "ann")
    lms.hand_ins[1] = HandedIn({"double.ipynb": answer(generated)})
    storage = SERVERS["canvas"](0)
    storage.hand_ins = lms.hand_ins
    lms.faults = [("/files/", Answer(302, b"", {"Location": f"{storage.address}/files/1/0/download"}))]
    assert synced()[0] == 0
    storage.close()
    assert (storage.with_token, lms.with_token) == ([False], [True] * len(lms.asked))


@pytest.mark.parametrize("lms", ["moodle"], indirect=True)
def test_the_token_is_not_sent_to_where_moodle_has_moved(generated, lms, synced):
    lms.faults = [(".", Answer(301, b"", {"Location": "https://new.example.edu/webservice/rest/server.php"}))]
    code, printed = synced()
    assert (code, printed.count("\n")) == (2, 1)
    assert "it has moved to https://new.example.edu: correct c.LmsSync.address" in printed


def test_a_crash_shows_no_token(generated, lms, synced, monkeypatch):
    monkeypatch.setattr("gradekit_lms.sync.syncing.match_people", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError) as crashed:
        synced()
    text = "".join(traceback.format_exception(crashed.value))
    assert "match_people" in text
    assert LMS_TOKEN not in text


def test_a_token_in_a_file_that_others_can_read_is_refused(generated, lms, synced):
    lms.enrol(1, "ann")
    code, printed = synced(token="")
    assert (code, printed.count("\n")) == (2, 1)
    assert "needs a token: in $GRADEKIT_LMS_TOKEN, or in a file that only you can read" in printed
    file = generated.root / "token.txt"
    file.write_text(f"{LMS_TOKEN}\n")
    config = generated.root / "nbgrader_config.py"
    config.write_text(f"{config.read_text()}\nc.LmsSync.token_file = 'token.txt'\n")
    file.chmod(0o640)
    code, printed = synced(token="")
    assert (code, printed.count("\n"), lms.asked) == (2, 1, [])
    advice = re.search("`(chmod 600 .*)`", printed)[1]
    assert subprocess.run(advice, shell=True, check=False).returncode == 0
    assert synced(token="") == (0, "students: 1 added: ann\n")


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("product = ''", 'must say where to exchange: c.LmsSync.product = "canvas"'),
        ("address = 'http://canvas.example.edu'", "c.LmsSync.address must begin with https://"),
        ("adress = 'x'", "there is no setting c.LmsSync.adress. Did you mean `address`?"),
        (
            "assignments = {'02_double': 5}",
            "c.LmsSync.assignments has 02_double, which the course doesn't have",
        ),
        ("assignments = {'01_double': 12}", "no .*assignment 12 "),
        ("course = 8", "no course 8|find data record"),
    ],
    ids=lambda text: text.split()[0],
)
def test_a_wrong_setting_is_one_sentence(generated, lms, synced, setting, sentence):
    lms.enrol(1, "ann")
    config = generated.root / "nbgrader_config.py"
    config.write_text(f"{config.read_text()}\nc.LmsSync.{setting}\n")
    code, printed = synced()
    assert code == 2
    assert re.search(sentence, printed.splitlines()[-1]), printed


def test_what_the_assignment_must_have_in_the_lms_is_said(graded, lms):
    if lms.product == "Canvas":
        lms.assignment = {"anonymize_students": True}
        expected = "the names are hidden; run this again when anonymous grading is over"
    else:
        lms.assignment = {"configs": []}
        expected = (
            "takes no Feedback comments and no Feedback files: tick these feedback types in its settings"
        )
    code, printed = graded()
    assert (code, lms.scores) == (2 if lms.product == "Canvas" else 1, {})
    assert expected in printed


def test_a_page_of_html_in_place_of_an_answer_is_one_sentence(generated, lms, synced):
    lms.faults = [(".", Answer(200, b"<html>Log in</html>"))]
    code, printed = synced()
    assert (code, printed.count("\n")) == (2, 1)
    assert "can't be understood" in printed
    assert f"is c.LmsSync.address that of {lms.product}" in printed


@pytest.mark.parametrize("lms", ["canvas"], indirect=True)
def test_without_the_package_for_canvas_or_beside_another_command_it_says_what_to_do(
    generated, lms, synced, monkeypatch
):
    folder = generated.root / ".gradekit" / "lms"
    folder.mkdir(parents=True)
    with locked_file(folder / "lock"):
        assert "another `gradekit lms sync` works in this course: wait" in synced()[1]
    monkeypatch.delitem(sys.modules, "gradekit_lms.sync.canvas")
    monkeypatch.setitem(sys.modules, "canvasapi", None)
    code, printed = synced()
    assert (code, printed.count("\n")) == (2, 1)
    assert "Canvas needs the package canvasapi" in printed
    assert "`pip install canvasapi`" in printed


@pytest.mark.slow
def test_a_command_that_is_killed_loses_and_doubles_nothing(graded, lms):
    """It is killed after a download, and when the LMS has taken a result but not answered."""
    course = graded.course
    for number, student in enumerate(["ann", "ben"], 11):
        lms.enrol(number, student)
        lms.hand_ins[number] = HandedIn({"double.ipynb": answer(course)})
    places = ["/files/12|pluginfile.php/12", "^PUT|save_grade"]
    kills = 0
    for place in places:
        environment = os.environ | {"GRADEKIT_LMS_TOKEN": LMS_TOKEN}
        command = [str(Path(sys.executable).with_name("gradekit")), "lms", "sync"]
        process = subprocess.Popen(command, cwd=course.root, env=environment, stdout=subprocess.DEVNULL)
        lms.after = lambda line, place=place, process=process: (
            process.kill() if re.search(place, line) else None
        )
        process.wait(60)
        kills += process.returncode == -signal.SIGKILL
    lms.after = lambda line: None
    assert kills == 2
    assert synced_at_last(graded) == NOTHING
    assert (
        submitted(course, "ann").keys()
        == submitted(course, "ben").keys()
        == {"double.ipynb", "timestamp.txt"}
    )
    assert lms.scores == {1: 15, 2: 8, 3: 15}
    assert {len(found) for found in lms.comments.values()} == {1}
    assert {len(found) for found in lms.pages.values()} == {1}


def synced_at_last(graded) -> str:
    graded()
    return graded()[1].splitlines()[0]


def test_one_file_that_cannot_be_downloaded_keeps_nobody_else_waiting(generated, lms, synced):
    for number, login in enumerate(["ann", "ben", "cid"], 1):
        lms.enrol(number, login)
        lms.hand_ins[number] = HandedIn({"double.ipynb": answer(generated)})
    lms.faults = [("/files/1/|pluginfile.php/1/", Answer(404, {}))]
    code, printed = synced()
    assert (code, "01_double: 2 collected: ben, cid\n" in printed) == (1, True)
    assert re.search(r"Not collected: .* can't be downloaded \(404\) \(1\):\n  ann\n", printed)
    assert synced() == (0, "01_double: 1 collected: ann\n")


def test_one_result_that_is_refused_keeps_no_other_back(graded, lms):
    refusal = {"canvas": Answer(400, {"errors": [{"message": "locked"}]})}.get(
        lms.product.lower(), Answer(body={"errorcode": "locked", "message": "locked"})
    )
    lms.faults = [("PUT .*/submissions/1$|mod_assign_save_grade", refusal)]
    code, printed = graded()
    assert (code, sorted(lms.scores)) == (1, [2, 3])
    assert re.search(r"Not sent: .*locked \(1\):\n  floor\n", printed)
    graded()
    assert sorted(lms.scores) == [1, 2, 3]


def test_a_student_who_is_excused_stays_so(graded, lms, monkeypatch):
    if lms.product != "Canvas":
        pytest.skip("Moodle has no such state")
    ordinary = lms._submission
    monkeypatch.setattr(lms, "_submission", lambda number: ordinary(number) | {"excused": number == 1})
    code, printed = graded()
    assert (code, sorted(lms.scores)) == (1, [2, 3])
    assert "Not sent, since they are excused in Canvas (1):\n  floor\n" in printed


def test_a_hand_in_of_a_group_without_students_is_named(generated, lms, synced):
    if lms.product != "Moodle":
        pytest.skip("Canvas has a submission for each member")
    lms.enrol(1, "ann")
    lms.hand_ins[1] = HandedIn({"double.ipynb": answer(generated)}, group=99)
    code, printed = synced()
    assert code == 1 and "no student of the course is in the group (1):" in printed
    assert "handed in at 2026-01-01 12:00:05 UTC: double.ipynb" in printed
