"""Odd data of an LMS in `gradekit lms sync`: names, attachments, attempts and answers that nobody expects."""

import errno
import os
from datetime import UTC, datetime
from typing import Any

import pytest

from gradekit_lms.sync import incoming
from gradekit_lms.sync.incoming import _digest
from gradekit_lms.sync.lms import State, Taken

from .lms_servers import Answer, HandedIn
from .sync_course import answer, graded, lms, submitted, synced

__all__ = ["graded", "lms", "synced"]  # fixtures
LATER = datetime(2026, 2, 1, tzinfo=UTC)


def class_of_three(course, lms) -> None:
    for number, login in enumerate(("ann", "ben", "cyd"), 1):
        lms.enrol(number, login)
        lms.hand_ins[number] = HandedIn({"double.ipynb": answer(course)})


def with_attachment(lms, change: Any) -> None:
    """Change the attachment of the first student in what the LMS says."""
    real = lms.answer

    def answered(method: str, path: str, *rest: Any) -> Answer:
        found = real(method, path, *rest)
        for each in _submissions(found.body):
            if each.get("userid", each.get("user_id")) == 1:
                for file in each.get("attachments") or _files(each):
                    change(file)
        return found

    lms.answer = answered


def _submissions(body: Any) -> list[dict[str, Any]]:
    if isinstance(body, dict):
        assignments = body.get("assignments", ())
        return [found for each in assignments for found in each.get("submissions", ())]
    return [each for each in body if isinstance(each, dict)] if isinstance(body, list) else []


def _files(submission: dict[str, Any]) -> list[dict[str, Any]]:
    areas = [area for plugin in submission.get("plugins", ()) for area in plugin.get("fileareas", ())]
    return [file for area in areas for file in area.get("files", ())]


@pytest.mark.slow
@pytest.mark.parametrize(
    "missing", [("url", "fileurl"), ("size", "filesize"), ("size", "filesize", "url", "fileurl")]
)
@pytest.mark.parametrize("value", ["", None, "no key"])
def test_an_attachment_that_the_lms_keeps_back_costs_nobody_else_anything(
    generated, lms, synced, missing, value
):
    def change(file: dict[str, Any]) -> None:
        for name in missing & file.keys():
            file.pop(name) if value == "no key" else file.update({name: value})

    missing = set(missing)
    class_of_three(generated, lms)
    with_attachment(lms, change)
    code, printed = synced()
    assert code == 1 and "01_double: 2 collected: ben, cyd\n" in printed
    assert "double.ipynb can't be downloaded now" in printed and "  ann\n" in printed


def test_a_login_like_one_of_the_gradebook_is_not_added_unasked(generated, lms, synced):
    with generated.gradebook() as book:
        book.add_student("ada")
    lms.enrol(1, "Ada", email="")
    code, printed = synced()
    assert (
        code == 1
        and "the gradebook has a name like theirs" in printed
        and "Ada, Ada Fox (number 1): ada" in printed
    )
    with generated.gradebook() as book:
        assert [(student.id, student.lms_user_id) for student in book.students] == [("ada", None)]
    (generated.root / "new.csv").write_text("id,lms_user_id\nada,1\n")
    assert generated.run("nbgrader", "db", "student", "import", "new.csv").returncode == 0
    assert "name like" not in synced()[1]


def test_a_person_on_two_pages_of_a_list_is_one(generated, lms, synced):
    class_of_three(generated, lms)
    lms.people[4] = dict(lms.people[1])
    assert "01_double: 3 collected: ann, ben, cyd\n" in synced()[1]


def newer_attempt(lms, kind: str) -> None:
    if kind == "removed":
        return
    files = {"double.ipynb": b"{}"} if kind == "lost" else {}
    what = {"lost": "online_upload", "text": "online_text_entry", "draft": "draft"}[kind]
    lms.hand_ins[1] = HandedIn(files, 2, LATER, what)
    lms.faults = [("/files/1|pluginfile.php/1", Answer(404, b"<html>gone"))] * (kind == "lost")


@pytest.mark.parametrize("kind", ["lost", "text", "draft", "removed"])
def test_a_result_is_not_sent_to_an_attempt_that_it_does_not_belong_to(graded, lms, kind):
    course = graded.course
    state = State.of(course.root, "01_double")
    folder = course.root / "submitted" / "floor" / "01_double"
    state.taken["floor"] = Taken("1 collected before", 1, _digest(folder))
    state.save(course.root, "01_double")
    newer_attempt(lms, kind)
    code, printed = graded()
    reason = (
        "no longer has the submission"
        if kind == "removed"
        else "has a newer attempt, which was not collected"
    )
    assert code == 1 and reason in printed and 1 not in lms.scores and lms.scores.keys() == {2, 3}
    assert "are its web services enabled" not in printed


def test_a_time_with_another_offset_is_written_in_utc(generated, lms, synced):
    class_of_three(generated, lms)
    if lms.product == "Canvas":
        real = lms._submission
        lms._submission = lambda number: real(number) | {"submitted_at": "2026-01-01T14:00:05+02:00"}
    synced()
    assert submitted(generated, "ann")["timestamp.txt"].startswith(b"2026-01-01 12:00:05")


@pytest.mark.parametrize("body", [None, [], {}, [[]], "text", 7, {"assignments": None}, [{"roles": None}]])
@pytest.mark.parametrize("place", ["users", "submissions"])
def test_an_answer_of_another_form_is_one_sentence(generated, lms, synced, body, place):
    class_of_three(generated, lms)
    lms.faults = [(place, Answer(200, body))]
    code, printed = synced("--dry-run")
    if body in ([], {}) and (place, lms.product) != ("submissions", "Moodle"):  # a list without entries
        assert code == (place == "users") and "understood" not in printed
        assert ("number 1" in printed) == (place == "users")
    else:
        last = printed.splitlines()[-1]
        assert code == 2 and last.startswith("gradekit: ") and "can't be understood" in last


def test_a_disk_without_room_is_said_with_what_was_done(generated, lms, synced, monkeypatch):
    class_of_three(generated, lms)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as filled:
        filled.setattr(incoming.shutil, "copyfile", full)
        code, printed = synced()
    assert code == 2 and "students: 3 added" in printed and "No space left" in printed
    assert synced() == (0, "01_double: 3 collected: ann, ben, cyd\n")


def test_an_assignment_without_points_is_not_scaled(graded, lms):
    lms.maximum = 0.0
    code, printed = graded()
    assert code in (1, 2) and "scale" not in printed and lms.scores == {}
    assert "change them there" in printed or "choose the grade type Point" in printed


def test_after_a_failure_of_canvas_the_command_is_run_again(generated, lms, synced):
    class_of_three(generated, lms)
    lms.faults = [("users|enrolled", Answer(500, {"errors": []}))]
    code, printed = synced()
    assert lms.product == "Moodle" or (code == 2 and "run the command again" in printed)
    assert "3 collected" in printed + synced()[1]
