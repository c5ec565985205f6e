"""Misuse of `gradekit lti`: clocks, settings and messages that a platform, a person or a disk got wrong."""

import errno
import os
import re
import shlex
import time
from typing import Any

import pytest

from gradekit.course import CourseError
from gradekit_lms.lti.launches import Tool, _Requests
from gradekit_lms.lti.lti_settings import LtiHandIns, origin_of
from gradekit_lms.lti.lti_store import Class, Target
from gradekit_lms.lti.pages import SignedIn

from .lti_platform import CLIENT, NAME, TEACHER, Browser, Link, said, serving
from .test_lti_launch import lti, refused, stopped

__all__ = ["lti", "stopped"]  # fixtures


def test_a_key_that_the_disk_has_no_room_for_leaves_nothing(stopped, monkeypatch):
    settings = LtiHandIns.of(stopped.course.running)
    monkeypatch.setattr("gradekit_lms.lti.launches.os.replace", no_space)
    with pytest.raises(CourseError, match="No space") as why:
        Tool(settings, stopped.store.key)
    monkeypatch.undo()
    assert "`" not in str(why.value) and not list(stopped.store.folder.glob("key*"))
    assert Tool(settings, stopped.store.key).jwks


def no_space(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_clock_that_is_put_back_keeps_nobody_out(lti, monkeypatch):
    sessions, clock = lti.service()._sessions, time.time
    sessions.end_all("ada")
    monkeypatch.setattr("time.time", lambda: clock() - 3600)
    began = sessions._seals.now()
    assert sessions.unsealed(sessions.sealed(SignedIn("ada", NAME, Target("i", "c", "u"), began))) is not None


def test_keys_that_cannot_be_read_are_named_to_whom_they_concern(lti, monkeypatch, capfd):
    real = _Requests.request

    def elsewhere(self: Any, method: str, url: str, **more: Any) -> Any:
        return real(self, method, url.replace("/keys", place), **more)

    monkeypatch.setattr(_Requests, "request", elsewhere)
    for place in ("/nothing", "/auth", "/auth?"):  # noqa: B007
        refused(Browser(lti.lms, "ada").open(), 400, "the keys of the LMS can't be read now")
        assert f"can't be read at {lti.lms.address}/keys: see key_set_url" in capfd.readouterr().err
    monkeypatch.undo()
    assert Browser(lti.lms, "ada").open().status_code == 200


def test_an_address_is_that_of_browsers_however_it_is_written():
    for address in ("https://Tool.example.edu/lti", "https://tool.example.edu:443/lti"):
        assert origin_of(address) == "https://tool.example.edu"
    assert origin_of("http://tool.example.edu:443/lti") == "http://tool.example.edu:443"


def test_a_page_that_reloads_itself_has_no_form_to_lose_a_chosen_file_from(lti):
    ada = Browser(lti.lms, "ada")
    done = ada.hand_in(ada.open(), lti.notebook())
    assert 'http-equiv="refresh"' in done.text and 'type="file"' not in done.text
    again = ada.get(lti.lms.tool + re.search('<a href="([^"]+)">Hand in again', done.text)[1])
    assert 'http-equiv="refresh"' not in again.text and 'type="file"' in again.text
    waiting = re.search('<a href="([^"]+)">wait for', again.text)[1]
    assert 'http-equiv="refresh"' in ada.get(lti.lms.tool + waiting).text


def test_a_link_without_a_way_back_is_refused(lti):
    lti.lms.links["9"] = Link(deep=True)
    claim = "https://purl.imsglobal.org/spec/lti-dl/claim/deep_linking_settings"

    def without(message: dict[str, Any]) -> str:
        del message[claim]["deep_link_return_url"]
        return lti.lms.sign(message)

    refused(Browser(lti.lms, "tea", TEACHER).open("9", without), 400, "doesn't say where the link goes")


def test_the_token_of_one_platform_goes_to_no_other_with_the_same_client_id(stopped):
    issuers = ["https://one.example.edu", "https://two.example.edu"]
    (about,) = stopped.lms.settings.values()
    stopped.settings(f"c.LtiHandIns.platforms = {dict.fromkeys(issuers, about)!r}")
    tool = Tool(LtiHandIns.of(stopped.course.running), stopped.store.key)
    first, second = (tool.connector(issuer, CLIENT) for issuer in issuers)
    first._cache_access_token("score", "of the first", 3600)
    assert first._get_cached_access_token("score") == "of the first"
    assert second._get_cached_access_token("score") is None


def test_a_user_with_a_name_like_one_in_the_gradebook_is_settled_by_the_command(stopped):
    with stopped.course.gradebook() as book:
        book.add_student("Ada")
    with serving(stopped.service().application(), stopped.port):
        ada = Browser(stopped.lms, "ada")
        reason = ada.open()
        refused(reason, 403, "the gradebook has a student Ada, who may be somebody else")
        command = shlex.split(re.search("`(gradekit lti --user .*?)`", said(reason))[1])
        assert stopped.course.gradekit(*command[1:]) == 0
        assert "Handed in" in said(ada.hand_in(ada.open(), stopped.notebook()))
    assert [student for student, _ in stopped.uploads()] == ["Ada"]


def test_a_roster_that_the_lms_does_not_give_is_a_failure(stopped, capfd):
    stopped.store.opened_from(Class(stopped.lms.address, CLIENT, "T", f"{stopped.lms.address}/members"))
    assert (
        stopped.course.gradekit("lti", "--roster") == 1
    )  # the service doesn't run, so the LMS finds no keys
    assert "T: no roster" in capfd.readouterr().out
