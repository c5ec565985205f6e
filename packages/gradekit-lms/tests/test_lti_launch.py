"""Launches, sessions and pages of `gradekit lti`, and attacks on them. The LMS is lti1p3platform's."""

import hashlib
import hmac
import json
import re
import shlex
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest

from gradekit.course import CourseError
from gradekit_lms.lti.launches import SKEW_SECONDS, Seals, Tool
from gradekit_lms.lti.lti_settings import LtiHandIns
from gradekit_lms.lti.lti_store import LtiStore

from ...gradekit.tests.ports import free_port
from ...gradekit.tests.tiny_course import TinyCourse
from .lti_platform import (
    CLAIM,
    CLIENT,
    LEARNER,
    NAME,
    TEACHER,
    Browser,
    Course,
    Link,
    Lms,
    field_of,
    key_pair,
    said,
    serving,
    value_of,
)


@pytest.fixture(scope="module")
def shared(generated_original, tmp_path_factory):
    """A course and an LMS for requests that leave nothing behind."""
    course = TinyCourse(Path(shutil.copytree(generated_original, tmp_path_factory.mktemp("lti") / "course")))
    port = free_port()
    with Lms(f"http://127.0.0.1:{port}").running() as lms:
        found = Course(course, lms, port)
        with serving(found.service().application(), port):
            yield found


@pytest.fixture
def stopped(generated):
    """The course and the LMS; the service doesn't run."""
    port = free_port()
    with Lms(f"http://127.0.0.1:{port}").running() as lms:
        yield Course(generated, lms, port)


@pytest.fixture
def lti(stopped):
    with serving(stopped.service().application(), stopped.port):
        yield stopped


def refused(answer: httpx.Response, status: int, reason: str) -> bool:
    assert (answer.status_code, reason in said(answer)) == (status, True), (answer.status_code, said(answer))
    return True


def test_a_student_opens_the_assignment_and_hands_in_once(lti):
    ada = Browser(lti.lms, "ada")
    page = ada.open()
    assert page.url.path == f"/assignments/{NAME}" and "None yet." in page.text
    done = ada.hand_in(page, lti.notebook(), ("data.csv", b"1,2"))
    assert said(done).startswith("Handed in at 20") and "data.csv, double.ipynb" in said(done)
    assert lti.uploads() == [("ada", ["data.csv", "double.ipynb"])]
    again = ada.hand_in(page, lti.notebook(), ("data.csv", b"1,2"))  # a double click
    assert "were handed in" in said(again) and len(lti.uploads()) == 1
    waiting = ada.hand_in(page, lti.notebook("def double(x):\n    return x"))
    assert len(lti.uploads()) == 2 and not any(lti.store.unfinished.glob("*"))
    assert waiting.text.count("no feedback yet") == 2 and 'http-equiv="refresh"' in waiting.text
    (_, first), (_, second) = lti.store.of("ada", NAME)
    assert first.handed_in < second.handed_in and abs(second.handed_in.timestamp() - time.time()) < 20
    assert (first.target.user, first.target.lineitem) == ("ada", f"{lti.lms.address}/lineitems/1")


def test_no_frame_of_others_no_script_and_no_cookie_for_other_addresses(shared):
    ada = Browser(shared.lms, "ada")
    page = ada.open()
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy and f"frame-ancestors 'self' {shared.lms.address}" in policy
    assert page.headers["referrer-policy"] == "same-origin" and page.headers["cache-control"] == "no-store"
    (session,) = [each for each in ada.cookies.jar if each.name == "gradekit"]
    assert session.path == f"/assignments/{NAME}" and session.has_nonstandard_attr("HttpOnly")


def test_with_tls_cookies_are_secure_and_work_in_a_frame(stopped):
    stopped.settings('c.LtiHandIns.address = "https://lti.example.edu/grader"')
    with serving(stopped.service().application(), stopped.port):
        start = stopped.lms.tool + "/grader" + stopped.lms.start_of("ada").removeprefix(stopped.lms.tool)
        answer = httpx.get(start, follow_redirects=False)
    cookie = answer.headers["set-cookie"]
    assert all(
        each in cookie for each in ("Secure", "HttpOnly", "SameSite=none", "Partitioned", "Path=/grader/")
    )
    assert (
        httpx.URL(answer.headers["location"]).params["redirect_uri"]
        == "https://lti.example.edu/grader/launch"
    )


def changed(lms: Lms, change: dict[str, Any], **headers: Any) -> Any:
    """Signs a message after changing it; a value of None removes a claim."""

    def sign(message: dict[str, Any]) -> str:
        found = {name: value for name, value in (message | change).items() if value is not None}
        return lms.sign(found, **headers)

    return sign


NOW = int(time.time())
ATTACKS = {
    "wrong audience": ({"aud": "other-tool", "azp": "other-tool"}, "not found in settings"),
    "no audience": ({"aud": None}, "Client id not registered"),
    "several audiences, meant for another": ({"aud": [CLIENT, "other"], "azp": "other"}, "for another tool"),
    "wrong issuer": ({"iss": "https://evil.example"}, "iss https://evil.example not found in settings"),
    "unknown deployment": ({f"{CLAIM}deployment_id": "deployment-2"}, "deployment-2"),
    "no deployment": ({f"{CLAIM}deployment_id": None}, "deployment_id"),
    "expired": ({"exp": NOW - SKEW_SECONDS - 60, "iat": NOW - 600}, "expired"),
    "never expires": ({"exp": None}, '"exp"'),
    "from the future": ({"iat": NOW + 3600, "exp": NOW + 7200}, "not yet valid"),
    "nobody": ({"sub": None}, '"sub"'),
    "nonce of somebody else": ({"nonce": "6f9c.00"}, "Nonce"),
    "no nonce": ({"nonce": None}, "nonce"),
    "another version": ({f"{CLAIM}version": "1.1"}, "version"),
    "no message": ({f"{CLAIM}message_type": "Nothing"}, "message type"),
    "a user who is a number": ({"sub": 5}, "must be a string"),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_message_that_is_not_for_this_tool_now_is_refused(shared, attack):
    change, reason = ATTACKS[attack]
    answer = Browser(shared.lms, "mallory").open(sign=changed(shared.lms, change))
    refused(answer, 400, reason)
    assert not any(person.user == "mallory" for person in shared.store.people())


def test_a_clock_may_be_a_little_off(lti):
    soon = changed(lti.lms, {"iat": int(time.time()) + SKEW_SECONDS // 2})
    assert Browser(lti.lms, "ada").open(sign=soon).status_code == 200
    late = changed(lti.lms, {"exp": int(time.time()) - SKEW_SECONDS // 2})
    assert Browser(lti.lms, "ben").open(sign=late).status_code == 200


def test_only_the_keys_of_the_platform_count(shared):
    ada, lms = Browser(shared.lms, "ada"), shared.lms
    other = key_pair()[0]
    refused(ada.open(sign=lambda message: lms.sign(message, other)), 400, "Signature verification failed")
    refused(ada.open(sign=lambda message: lms.sign(message, kid="unknown")), 400, "Unable to find public key")

    def unsigned(message: dict[str, Any]) -> str:
        kid = jwt.get_unverified_header(lms.sign(message))["kid"]
        return jwt.encode(message, None, algorithm="none", headers={"kid": kid})

    refused(ada.open(sign=unsigned), 400, "Unable to find public key")

    def symmetric(message: dict[str, Any]) -> str:  # with what everybody knows, the public key, as the secret
        head, body = (
            jwt.utils.base64url_encode(json.dumps(each).encode())
            for each in (
                {"alg": "HS256", "typ": "JWT", "kid": jwt.get_unverified_header(lms.sign(message))["kid"]},
                message,
            )
        )
        mac = hmac.new(lms.public.encode(), head + b"." + body, hashlib.sha256).digest()
        return (head + b"." + body + b"." + jwt.utils.base64url_encode(mac)).decode()

    refused(ada.open(sign=symmetric), 400, "Unable to find public key")
    assert ada.open().status_code == 200


def test_a_platform_may_change_its_key(lti, monkeypatch):
    assert Browser(lti.lms, "ada").open().status_code == 200
    lti.lms.private, lti.lms.public = key_pair()
    monkeypatch.setattr("gradekit_lms.lti.launches._KEYS_AGAIN_SECONDS", 0.0)
    assert Browser(lti.lms, "ada").open().status_code == 200


def test_a_message_counts_once(shared):
    ada = Browser(shared.lms, "ada")
    message = shared.lms.message(ada.asked())
    assert ada.send_message(message).status_code == 200
    refused(ada.send_message(message), 400, "has been used before")


def test_a_message_belongs_to_the_browser_and_the_login_that_asked_for_it(shared):
    ada, eve = Browser(shared.lms, "ada"), Browser(shared.lms, "eve")
    message = shared.lms.message(ada.asked())
    refused(eve.send_message(message), 400, "State not found")
    other = shared.lms.message(eve.asked())
    refused(eve.send_message(other | {"id_token": message["id_token"]}), 400, "Nonce")
    refused(eve.send_message(other | {"state": "state-made-up"}), 400, "State not found")
    refused(eve.send_message(other | {"state": ""}), 400, "Missing state")
    refused(eve.send_message(other | {"id_token": "a.b"}), 400, "3 parts")
    refused(eve.send_message(other | {"id_token": "é.b.c"}), 400, "can't be decoded")


def test_a_login_from_nowhere_is_refused(shared):
    eve = Browser(shared.lms, "eve")
    start = shared.lms.start_of("eve")
    wrong = start.replace("iss=http", "iss=https")
    refused(eve.get(wrong), 400, "The LMS isn't known here")
    refused(eve.get(f"{shared.lms.tool}/login"), 400, "Could not find issuer")
    refused(eve.post(f"{shared.lms.tool}/login", data={"iss": "x" * 300_000}), 413, "")


def test_an_upload_needs_a_session_and_its_own_form(lti):
    ada, eve = Browser(lti.lms, "ada"), Browser(lti.lms, "eve")
    page, others = ada.open(), eve.open()
    refused(httpx.get(page.url), 403, "Your session is over")
    refused(httpx.post(page.url, data={"seal": value_of(page, "seal")}), 403, "Your session is over")
    refused(eve.hand_in(page, lti.notebook()), 403, "The form isn't yours")  # ada's seal
    refused(eve.hand_in(others, lti.notebook(), Origin="https://evil.example"), 403, "sent from https://evil")
    refused(eve.hand_in(others, lti.notebook(), Origin="null"), 403, "sent from null")
    without = eve.post(others.url, files=[("files", lti.notebook())])
    refused(without, 403, "The form isn't yours")
    for forged in (ada.cookies["gradekit"][:-8] + "00000000", ada.cookies["gradekit"][8:], "a.b", "é.f"):
        refused(httpx.get(page.url, headers={"Cookie": f"gradekit={forged}".encode()}), 403, "Your session")
    assert lti.uploads() == []


def test_a_session_ends_with_the_browser_and_when_nothing_is_done(lti, monkeypatch):
    ada = Browser(lti.lms, "ada")
    page, now = ada.open(), time.monotonic()
    (session,) = [each for each in ada.cookies.jar if each.name == "gradekit"]
    assert session.discard and session.expires is None

    def after(minutes: float, place: object = page.url) -> int:
        monkeypatch.setattr(Seals, "now", lambda self: now + 60 * minutes)
        return ada.get(place).status_code

    assert [after(minutes) for minutes in (90, 180)] == [200, 200]  # each use makes it longer
    waiting = re.search('url=([^"]+)"', ada.hand_in(page, lti.notebook()).text)[1]
    assert waiting.endswith(f"/{NAME}?waits")
    assert [after(minutes, page.url.join(waiting)) for minutes in (250, 290, 310)] == [200, 200, 403]
    monkeypatch.undo()
    assert ada.open().status_code == 200
    assert [after(minutes) for minutes in (100, 200, 300, 400, 475, 485)] == [200] * 5 + [403]  # 8 hours


def test_who_leaves_is_not_let_in_again_by_any_browser(lti):
    ada, home, eve = (Browser(lti.lms, name) for name in ("ada", "ada", "eve"))
    page, others = ada.open(), eve.open()
    home.open()
    place, own = f"{page.url}/leave", {"Origin": lti.lms.tool}
    refused(ada.post(place, headers=own), 403, "The form isn't yours")
    refused(ada.post(place, data={"seal": value_of(others, "seal")}, headers=own), 403, "isn't yours")
    seal = {"seal": value_of(page, "seal")}
    refused(ada.post(place, data=seal, headers={"Origin": "https://evil.example"}), 403, "sent from")
    old = dict(ada.cookies)
    assert said(ada.post(place, data=seal, headers=own)).startswith("You have left")
    assert not any(each.name == "gradekit" for each in ada.cookies.jar)
    refused(httpx.get(page.url, cookies=old), 403, "Your session is over")
    refused(home.get(page.url), 403, "Your session is over")
    assert eve.get(page.url).status_code == ada.open().status_code == 200


def test_only_the_courses_in_the_settings_may_use_the_tool(stopped, capfd):
    settings = stopped.lms.settings
    settings[stopped.lms.address]["context_ids"] = ["course-2"]
    stopped.settings(f"c.LtiHandIns.platforms = {settings!r}")
    stopped.lms.links["new"] = Link({}, deep=True)
    with serving(stopped.service().application(), stopped.port):
        for user, role, link in (("ada", LEARNER, "1"), ("tina", TEACHER, "1"), ("tina", TEACHER, "new")):
            page = Browser(stopped.lms, user, role).open(link)
            refused(page, 403, "The course Transformers of your LMS doesn't hand in here. Ask your")
    assert not stopped.store.people() and not stopped.store.classes.exists()
    logged = capfd.readouterr().err
    where = f"the context_ids of c.LtiHandIns.platforms['{stopped.lms.address}']"
    assert logged.count(f"To allow it, add 'course-1' to {where}, and start `gradekit lti` again") == 1
    settings[stopped.lms.address]["context_ids"] = []
    settings[stopped.lms.address]["context_ids"].append("course-1")
    stopped.settings(f"c.LtiHandIns.platforms = {settings!r}")
    with serving(stopped.service().application(), stopped.port):
        assert Browser(stopped.lms, "ada").open().status_code == 200
        assert Browser(stopped.lms, "tina", TEACHER).open("new").status_code == 200
        assert Browser(stopped.lms, "tina", TEACHER).open().status_code == 200
        assert stopped.course.gradekit("lti", "--roster") == 0
        assert "Transformers: 0 members" in capfd.readouterr().out
        settings[stopped.lms.address]["context_ids"] = ["course-2"]  # last year's was taken out
        stopped.settings(f"c.LtiHandIns.platforms = {settings!r}")
        assert stopped.course.gradekit("lti", "--roster") == 0
        assert "Transformers: left out, since it is not in the context_ids" in capfd.readouterr().out


def test_nobody_sees_a_page_of_somebody_else(lti):
    ada, eve = Browser(lti.lms, "ada"), Browser(lti.lms, "eve")
    ada.hand_in(ada.open(), lti.notebook())
    ((_, kept),) = lti.store.of("ada", NAME)
    place = lti.store.pages("ada", NAME, kept.handed_in)
    place.mkdir(parents=True)
    (place / "double.html").write_text("<p>ada's</p>")
    (place / "score.json").write_text("{}")
    address = ada.open().url.join(re.findall(r'href="([^"]+)"', ada.open().text)[0])
    seen = ada.get(address)
    assert "ada's" in seen.text and seen.headers["content-security-policy"].startswith(
        "sandbox; default-src 'none'"
    )
    eve.open()
    refused(eve.get(address), 404, "no such page")
    refused(httpx.get(address), 403, "Your session is over")
    for odd in ("score.json", "..%2fdouble.html", "%2e%2e%2f%2e%2e%2fhand-in.json", "double.html%00"):
        assert ada.get(str(address).replace("double.html", odd)).status_code == 404
    assert eve.get(str(address).replace(NAME, "..%2f" + NAME)).status_code in (403, 404)


@pytest.mark.slow
def test_who_a_user_is_stays_and_must_be_certain(lti, enrol):
    enrol("jane", lms_user_id="41")
    enrol("43", first_name="Not", last_name="User43", email="43@example.edu")
    assert "Hand-ins of jane" in Browser(lti.lms, "41").open().text
    settle_as_told(lti, Browser(lti.lms, "43").open())
    assert "Hand-ins of 43" in Browser(lti.lms, "43").open().text
    with lti.course.gradebook() as book:
        student = book.find_student("43")
        assert (student.first_name, student.last_name, student.email) == ("Not", "User43", "43@example.edu")
    refused(Browser(lti.lms, "jane").open(), 403, "the gradebook has a student jane")
    assert "Hand-ins of 44" in Browser(lti.lms, "44").open().text
    for name in ("..", "a/b", ".x", " x", "x" * 200):
        refused(Browser(lti.lms, name).open(), 403, "can't handle a student named")


def settle_as_told(lti: Course, page: httpx.Response) -> None:
    """Run the command that a page has."""
    command = re.search("`(.*)`", said(page))[1]
    run = subprocess.run(command, shell=True, cwd=lti.course.root, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@pytest.mark.slow
def test_an_id_of_another_kind_is_not_taken_for_the_number_of_a_user(stopped, enrol):
    stopped.settings("c.LtiHandIns.student = 'custom.login'")
    enrol("jane", lms_user_id="77")
    enrol("ben")
    with serving(stopped.service().application(), stopped.port):
        for link, login in (("2", "77"), ("3", "jane.doe"), ("4", "ben")):
            stopped.lms.links[link] = Link({"assignment": NAME, "login": login})
        assert "Hand-ins of 77" in Browser(stopped.lms, "u-1").open("2").text  # and not Jane
        assert "Hand-ins of jane" in Browser(stopped.lms, "77").open("3").text
        settle_as_told(stopped, Browser(stopped.lms, "u-2").open("4"))
        assert "Hand-ins of ben" in Browser(stopped.lms, "u-2").open("4").text


@pytest.mark.thorough
def test_a_student_with_a_new_id_in_the_lms_gets_in_again_and_the_old_one_does_not(stopped, enrol, capfd):
    stopped.settings("c.LtiHandIns.student = 'custom.login'")
    enrol("jane", lms_user_id="77")
    with serving(stopped.service().application(), stopped.port):
        stopped.lms.links["2"] = Link({"assignment": NAME, "login": "ada"})
        assert "Hand-ins of ada" in Browser(stopped.lms, "u-1").open("2").text  # not in the gradebook yet
        before = Browser(stopped.lms, "u-1")
        opened = before.open("2")
        page = Browser(stopped.lms, "u-2").open("2")
        refused(page, 403, "another user of the LMS hands in as ada. If it is the same person")
        settle_as_told(stopped, page)
        assert "Hand-ins of ada" in Browser(stopped.lms, "u-2").open("2").text
        refused(before.get(opened.url), 403, "Your session is over")
        refused(Browser(stopped.lms, "u-1").open("2"), 403, "another user of the LMS hands in as ada")
        # without a login, a new id is a new student, who can be put right
        stopped.lms.links["3"] = Link({"assignment": NAME, "login": "jane.doe"})
        assert "Hand-ins of jane" in Browser(stopped.lms, "77").open("3").text
        assert "Hand-ins of jane.doe" in Browser(stopped.lms, "u-3").open("3").text
        assert stopped.course.gradekit("lti", "--user", "jane", stopped.lms.address, "u-3") == 0
        assert "it was 77; until now, that was jane.doe" in capfd.readouterr().out
        assert "Hand-ins of jane" in Browser(stopped.lms, "u-3").open("3").text
    for wrong, why in (
        (("jan", stopped.lms.address), "no student jan. Did you mean `jane`"),
        (("jane", "http://x"), "platforms has no http://x"),
    ):
        assert stopped.course.gradekit("lti", "--user", *wrong, "u-3") == 2
        assert why in capfd.readouterr().err


def test_a_hand_in_that_comes_while_a_page_is_made_does_no_harm(lti, monkeypatch):
    ada = Browser(lti.lms, "ada")
    page = ada.hand_in(ada.open(), lti.notebook())
    found, answers = lti.store.of("ada", NAME), iter([[]])
    monkeypatch.setattr(LtiStore, "of", lambda *_: next(answers, found))
    assert ada.get(page.url).status_code == 200


def test_an_id_can_come_from_a_custom_parameter(stopped, enrol):
    stopped.settings("c.LtiHandIns.student = 'custom.login'")
    enrol("jane", lms_user_id="77")
    with serving(stopped.service().application(), stopped.port):
        links, assignment = stopped.lms.links, {"assignment": NAME}
        links["2"], links["3"] = (
            Link(assignment | {"login": "ada1"}),
            Link(assignment | {"login": "$User.username"}),
        )
        assert "Hand-ins of ada1" in Browser(stopped.lms, "u-1").open("2").text
        refused(Browser(stopped.lms, "u-2").open("2"), 403, "another user of the LMS hands in as ada1")
        refused(Browser(stopped.lms, "u-3").open("3"), 403, "custom.login is missing")
        assert "Hand-ins of jane" in Browser(stopped.lms, "77").open("3").text


def test_a_link_needs_an_assignment_and_a_student(lti):
    lti.lms.links |= {"2": Link({}), "3": Link({"assignment": "../01_double"})}
    ada = Browser(lti.lms, "ada")
    refused(ada.open("2"), 400, "custom parameter assignment")
    refused(ada.open("3"), 400, "which the course doesn't have")
    ada.hand_in(ada.open(), lti.notebook())
    teacher = Browser(lti.lms, "tina", TEACHER).open()
    assert said(teacher).startswith("1 students have handed in") and 'type="file"' not in teacher.text
    anywhere = "http://purl.imsglobal.org/vocab/lis/v2/institution/person#Student"
    assert "aren't a student" in said(Browser(lti.lms, "guest", anywhere).open())


def test_an_instructor_makes_a_link_and_students_do_not(lti):
    lti.lms.links["new"] = Link({}, deep=True)
    refused(Browser(lti.lms, "ada").open("new"), 403, "Only instructors")
    tina = Browser(lti.lms, "tina", TEACHER)
    page = tina.open("new")
    assert f'value="{NAME}"' in page.text
    fields = {"seal": value_of(page, "seal"), "assignment": NAME}
    place, own = f"{lti.lms.tool}/link", {"Origin": lti.lms.tool}
    refused(tina.post(place, data=fields, headers={"Origin": "https://evil.example"}), 403, "sent from")
    refused(tina.post(place, data=fields | {"assignment": "x"}, headers=own), 403, "too old")
    refused(tina.post(place, data=fields | {"seal": "e30.00"}, headers=own), 403, "too old")
    ready = tina.post(place, data=fields, headers=own)
    assert f"form-action 'self' {lti.lms.address}" in ready.headers["content-security-policy"]
    done = tina.post(field_of(ready, "action"), data={"JWT": value_of(ready, "JWT")})
    assert done.text == "linked"
    (made,) = lti.lms.linked
    assert made["custom"] == {"assignment": NAME} and made["url"] == f"{lti.lms.tool}/launch"
    assert made["lineItem"] == {"scoreMaximum": 15.0, "label": NAME, "resourceId": NAME, "tag": NAME}


def test_the_key_is_made_once_and_only_its_owner_can_read_it(stopped):
    settings = LtiHandIns.of(stopped.course.running)
    made = Tool(settings, stopped.store.key).jwks
    assert (
        Tool(settings, stopped.store.key).jwks == made and stopped.store.key.stat().st_mode & 0o777 == 0o600
    )
    (public,) = made["keys"]
    assert (public["kty"], public["alg"], public["use"], "d" in public) == ("RSA", "RS256", "sig", False)
    stopped.store.key.chmod(0o644)
    with pytest.raises(CourseError, match="others can read"):
        Tool(settings, stopped.store.key)
    stopped.store.key.unlink()
    assert Tool(settings, stopped.store.key).jwks != made
    stopped.store.key.write_text("no key")
    with pytest.raises(CourseError, match=r"isn't a key .*`rm") as why:
        Tool(settings, stopped.store.key)
    subprocess.run(shlex.split(str(why.value).split("`")[1]), check=True)
    assert Tool(settings, stopped.store.key).jwks


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("c.LtiHandIns.adress = 'x'", "there is no setting c.LtiHandIns.adress. Did you mean `address`"),
        ("c.LtiHandIns.address = 'http://lti.example.edu'", "address must be"),
        ("c.LtiHandIns.listen = 'somewhere'", "listen must be"),
        ("c.LtiHandIns.student = 'email'", "student must be"),
        ("c.LtiHandIns.platforms = {}", "platforms has no platform"),
        ("c.LtiHandIns.platforms = {'https://a': {'client_id': '1'}}", "needs client_id, auth_login_url"),
    ],
)
def test_wrong_settings_are_named(stopped, line, reason, capfd):
    stopped.settings(line)
    assert stopped.course.gradekit("lti") == 2
    assert reason in capfd.readouterr().err
