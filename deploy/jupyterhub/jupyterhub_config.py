"""One course on one machine: system users, the assignment list, formgrader, and feedback seconds after hand-in.

Copy this file to /srv/jupyterhub and change the names below. README.md has the steps.
"""

import pwd
import sys
from pathlib import Path

c = get_config()  # noqa: F821  (JupyterHub provides it)

COURSE = "transformers"  # course_id in nbgrader's configuration
GRADER = "grader-transformers"  # owns the course's folder, the gradebook and the exchange
FOLDER = "/home/grader-transformers/transformers"
INSTRUCTORS = ["instructor"]  # they open formgrader, and act as GRADER there
GROUPS = {"students", "instructors"}  # the system's groups whose members may log in
JUPYTER = "/etc/jupyter"  # where the folder `jupyter` beside this file was copied to
FORMGRADER = "http://127.0.0.1:9999"

BIN = Path(sys.prefix, "bin")  # the environment that runs this hub also has nbgrader, JupyterLab and gradekit


def environment(role: str) -> dict[str, str]:
    """Variables for everything that runs as `role`, one of the folders in JUPYTER."""
    return {
        "PATH": f"{BIN}:/usr/local/bin:/usr/bin:/bin",
        "JUPYTER_CONFIG_PATH": f"{JUPYTER}/{role}:{JUPYTER}",
        "LANG": "C.UTF-8",
    }


def close_home(spawner: object) -> None:
    """Keep others out of a student's home: on Debian, everybody may read a new one."""
    Path(pwd.getpwnam(spawner.user.name).pw_dir).chmod(0o700)


# A web server with TLS belongs in front of this address.
c.JupyterHub.bind_url = "http://127.0.0.1:8000"
c.ConfigurableHTTPProxy.command = [f"{sys.prefix}/node_modules/.bin/configurable-http-proxy"]

c.JupyterHub.authenticator_class = "pam"
c.PAMAuthenticator.open_sessions = False
c.LocalAuthenticator.allowed_groups = GROUPS
c.Authenticator.blocked_users = {GRADER}
if Path(__file__).with_name("lti_login.py").exists():
    load_subconfig("lti_login.py")  # noqa: F821  (JupyterHub provides it)

c.JupyterHub.spawner_class = "jupyterhub.spawner.LocalProcessSpawner"
c.Spawner.cmd = [f"{BIN}/jupyterhub-singleuser"]
c.Spawner.default_url = "/lab"
c.Spawner.start_timeout = c.Spawner.http_timeout = 120
c.Spawner.environment = environment("students")
c.Spawner.pre_spawn_hook = close_home

c.JupyterHub.load_roles = [
    {
        "name": f"formgrade-{COURSE}",
        "users": INSTRUCTORS,  # exactly these, also after a name was removed
        "scopes": [f"access:services!service={COURSE}", f"read:services!service={COURSE}", "list:services"],
    }
]
c.JupyterHub.services = [
    {
        "name": COURSE,  # in the hub's menu "Services"
        "url": FORMGRADER,
        "command": [f"{BIN}/jupyterhub-singleuser"],
        "user": GRADER,
        "cwd": FOLDER,
        "environment": environment("grader") | {"JUPYTERHUB_DEFAULT_URL": "/formgrader/manage_assignments"},
        "oauth_no_confirm": True,
        "timeout": 300,  # seconds to start in: the hub ends if it takes longer, as it may on a busy machine
    },
    {
        "name": f"watch-{COURSE}",
        "command": [f"{BIN}/gradekit", "watch"],
        "user": GRADER,
        "cwd": FOLDER,
        "environment": environment("grader"),
    },
]
