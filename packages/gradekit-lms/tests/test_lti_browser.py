"""`gradekit lti` in a real browser, which says of a form where it comes from, and keeps cookies by its own rules."""

import json
import shutil

import pytest

from .lti_platform import LEARNER, NAME, TEACHER, Link
from .test_lti_launch import lti, stopped  # noqa: F401  (fixtures)

pytestmark = pytest.mark.browser
_CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome") or ""
#: what the page of an LMS does
_SEND = """message => {
    const form = document.createElement("form")
    form.method = "post"
    form.action = message.launch_url
    for (const name of ["id_token", "state"]) {
        const field = document.createElement("input")
        field.name = name
        field.value = message[name]
        form.append(field)
    }
    document.body.append(form)
    form.submit()
}"""


@pytest.mark.slow
@pytest.mark.skipif(not _CHROMIUM, reason="Chromium is not installed")
def test_a_student_hands_in_and_leaves_and_an_instructor_makes_a_link(lti, tmp_path):  # noqa: F811
    playwright = pytest.importorskip("playwright.sync_api")
    name, content = lti.notebook()
    (tmp_path / name).write_bytes(content)
    lti.lms.users |= {"ada": [LEARNER], "tina": [TEACHER]}
    lti.lms.links["2"] = Link(deep=True)
    with playwright.sync_playwright() as running:
        # --no-sandbox: as root, Chromium starts in no other way; it opens no page from elsewhere
        chromium = running.chromium.launch(executable_path=_CHROMIUM, args=["--no-sandbox"])
        page = chromium.new_page()
        page.set_default_timeout(60_000)  # the machine may be busy with other tests
        page.goto(lti.lms.start_of("ada"))
        page.evaluate(_SEND, json.loads(page.inner_text("body")))
        page.set_input_files("#files", str(tmp_path / name))
        page.click("button")
        assert page.inner_text("[role=status]").startswith("Handed in at 20")
        page.click("text=Leave")
        assert page.inner_text("[role=status]").startswith("You have left")
        page.goto(f"{lti.lms.tool}/assignments/{NAME}")  # as the history has it
        assert page.inner_text("[role=status]").startswith("Your session is over")
        page.goto(lti.lms.start_of("tina", "2"))
        page.evaluate(_SEND, json.loads(page.inner_text("body")))
        page.check(f"[value='{NAME}']")
        page.click("button")
        page.click("text=Add it to the course")
        page.wait_for_url("**/linked")
        chromium.close()
    assert lti.uploads() == [("ada", [name])]
    assert [each["title"] for each in lti.lms.linked] == [NAME]
