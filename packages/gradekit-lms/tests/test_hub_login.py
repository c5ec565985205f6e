"""Logging in to a JupyterHub from an LMS, with deploy/jupyterhub/lti_login.py. The LMS is lti1p3platform's."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from traitlets.config import Config, PyFileConfigLoader

pytest.importorskip("ltiauthenticator", reason="JupyterHub: make hub installs what logging in by LTI needs")

from ...gradekit.tests.browser.hub import DEPLOY, Hub, _set, hub_problem, prepared, running
from .lti_platform import CLAIM, CLIENT, LEARNER, Link, Lms, _Conf

pytestmark = pytest.mark.hub


def settings(folder: Path) -> Config:
    """The hub's configuration in a folder."""
    return PyFileConfigLoader("jupyterhub_config.py", str(folder)).load_config()


def test_the_file_beside_the_hub_s_configuration_replaces_passwords_and_nothing_else(tmp_path):
    shutil.copy(DEPLOY / "jupyterhub_config.py", tmp_path)
    before = settings(tmp_path)
    shutil.copy(DEPLOY / "lti_login.py", tmp_path)
    after = settings(tmp_path)
    own, login = after.pop("LTI13Authenticator"), after.JupyterHub.pop("authenticator_class")
    assert before.JupyterHub.pop("authenticator_class") == "pam"
    for config in (before, after):
        assert config.LocalAuthenticator.allowed_groups and config.Spawner.pop("pre_spawn_hook")
    assert before == after
    assert set(own) < set(login.class_traits(config=True))
    made = login(config=Config(LTI13Authenticator=own))  # raises TraitError for a value of another type
    assert {name: getattr(made, name) for name in own} == own


@pytest.mark.parametrize(
    ("custom", "name"),
    [({"login": "root"}, "root"), ({"login": "daemon"}, None), ({"login": "no-such-account"}, None)],
)
def test_only_accounts_in_the_groups_get_in(tmp_path, custom, name):
    shutil.copy(DEPLOY / "lti_login.py", tmp_path / "jupyterhub_config.py")
    config = settings(tmp_path)
    config.LocalAuthenticator.allowed_groups = {"root"}
    login = config.JupyterHub.authenticator_class(config=config)
    found = asyncio.run(login.get_authenticated_user(None, {f"{CLAIM}custom": custom, "sub": "root"}))
    assert (found and found["name"]) == name


@pytest.mark.parametrize("token", [{}, {f"{CLAIM}custom": {"login": ""}}, {"login": "root", "email": "root"}])
def test_a_message_without_a_name_lets_nobody_in_under_the_number_in_the_lms(tmp_path, token):
    shutil.copy(DEPLOY / "lti_login.py", tmp_path / "jupyterhub_config.py")
    login = settings(tmp_path).JupyterHub.authenticator_class(config=settings(tmp_path))
    with pytest.raises(Exception, match="does not say who you are: its message has no custom_login"):
        login.get_username(token | {"sub": "root"})


class HubLms(Lms):
    """An LMS with a hub as its tool."""

    @property
    def conf(self) -> _Conf:
        conf = super().conf
        registration = conf._registration
        registration.set_launch_url(f"{self.tool}/hub/lti13/oauth_callback")
        registration.set_oidc_login_url(f"{self.tool}/hub/lti13/oauth_login")
        return conf


@pytest.fixture(scope="module")
def hub() -> Iterator[tuple[Hub, Lms]]:
    if problem := hub_problem():
        pytest.skip(f"JupyterHub: {problem}")
    with prepared() as hub, HubLms(hub.address).running() as lms:
        shutil.copy(DEPLOY / "lti_login.py", hub.base / "srv")
        values: dict[str, Any] = {
            "issuer": lms.address,
            "client_id": {CLIENT},
            "authorize_url": f"{lms.address}/auth",
            "jwks_endpoint": f"{lms.address}/keys",
        }
        names = {f"c.LTI13Authenticator.{name}": value for name, value in values.items()}
        _set(hub.base / "srv" / "lti_login.py", names)
        with (hub.base / "srv" / "jupyterhub_config.py").open(
            "a"
        ) as file:  # no course, so nothing that grades it
            file.write("c.JupyterHub.services, c.JupyterHub.load_roles = [], []\n")
        with running(hub):
            yield hub, lms


def open_link(lms: Lms, login: str, user: str = "7") -> httpx.Response:
    """Click on a link to the hub; the LMS says that the user's name is `login`."""
    lms.users[user], lms.links["1"] = [LEARNER], Link({"login": login} if login else {})
    with httpx.Client(timeout=60) as browser:
        start = httpx.URL(lms.start_of(user)).copy_set_param("target_link_uri", f"{lms.tool}/hub")
        asked = browser.get(start)
        assert asked.status_code == 302, asked.text
        message = lms.message(dict(httpx.URL(asked.headers["location"]).params))
        fields = {name: message[name] for name in ("id_token", "state")}
        answer = browser.post(message["launch_url"], data=fields, headers={"Origin": lms.address})
        if answer.status_code != 302:
            return answer
        return browser.get(f"{lms.tool}/hub/home", follow_redirects=True)


@pytest.mark.thorough
def test_a_student_logs_in_from_the_lms_and_nobody_without_a_name_or_as_the_grader(hub):
    hub, lms = hub
    home = open_link(lms, hub.ada.name)
    assert home.status_code == 200 and hub.ada.name in home.text, home.text
    assert open_link(lms, hub.grader.name).status_code == 403
    assert open_link(lms, "").status_code == 400
