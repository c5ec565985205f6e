"""Log in from the LMS, by LTI 1.3, in place of passwords. docs/hub.md has the steps.

Copy this file beside jupyterhub_config.py, which then loads it, and change the values below. It needs
jupyterhub-ltiauthenticator. Who gets in is up to jupyterhub_config.py, as before: members of GROUPS with an account here.
"""

from jupyterhub.auth import LocalAuthenticator
from ltiauthenticator.lti13.auth import LTI13Authenticator
from ltiauthenticator.lti13.error import LoginError

c = get_config()  # noqa: F821  (JupyterHub provides it)

# what the LMS shows for this tool, which is registered separately from `gradekit lti`
c.LTI13Authenticator.issuer = "https://moodle.example.edu"  # Platform ID
c.LTI13Authenticator.client_id = {"gHiJkL789012"}  # Client ID
c.LTI13Authenticator.authorize_url = "https://moodle.example.edu/mod/lti/auth.php"  # Authentication request
c.LTI13Authenticator.jwks_endpoint = "https://moodle.example.edu/mod/lti/certs.php"  # Public keyset URL
# the custom parameter `login` of the tool, which is the name of the user's account
c.LTI13Authenticator.username_key = "custom_login"


class LmsLogin(LocalAuthenticator, LTI13Authenticator):
    """LTI for users who have an account on this machine."""

    def get_username(self, token: dict[str, object]) -> str:
        """The name in the message. Without one, nobody gets in; the package would take the user's number in the LMS."""
        key = self.username_key
        claim = "https://purl.imsglobal.org/spec/lti/claim/custom"
        named = token.get(claim, {}) if key.startswith("custom_") else token
        if not named.get(key.removeprefix("custom_")):
            raise LoginError(f"The LMS does not say who you are: its message has no {key}")
        return super().get_username(token)

    def check_allowed(self, username: str, authentication: object = None) -> bool:
        """Whether the user is in one of the groups; False if there is no such account."""
        try:
            return super().check_allowed(username, authentication)
        except KeyError:
            return False


c.JupyterHub.authenticator_class = LmsLogin
