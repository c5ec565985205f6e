"""A real JupyterHub for the tests: users of this system, made and removed, and the files of deploy/jupyterhub."""

import contextlib
import grp
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

DEPLOY = Path(__file__).parents[4] / "deploy" / "jupyterhub"
PROXY = Path(sys.prefix, "node_modules", ".bin", "configurable-http-proxy")
COURSE = "transformers"
_NOBODY = 65534


def hub_problem() -> str:
    """Why a hub can't be tried on this machine, or an empty string."""
    if os.geteuid() != 0:
        return "only root can make the users that log in"
    if missing := [name for name in ("useradd", "userdel", "chpasswd") if not shutil.which(name)]:
        return f"there is no {' and no '.join(missing)}"
    if not PROXY.exists() or not shutil.which("node"):
        return "its proxy needs Node.js: apt-get install npm, then make test"
    if not _public_python() or not _runs_as_nobody("/bin/ls", sysconfig.get_path("purelib")):
        return f"other users can't read {sys.prefix}, or the Python in it"
    return ""


def _runs_as_nobody(*command: str | Path) -> bool:
    try:
        done = subprocess.run(
            command, cwd="/", user=_NOBODY, group=_NOBODY, extra_groups=[], capture_output=True, check=False
        )
    except PermissionError:
        return False
    return done.returncode == 0


def _public_python() -> Path | None:
    """A Python of this version that every user may run: that of this environment, or the system's."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    places = (Path(sys.executable), Path("/usr/bin", name), Path("/usr/local/bin", name))
    return next(
        (path for path in places if path.exists() and _runs_as_nobody(path, "-c", "import venv")), None
    )


def _public_environment(folder: Path) -> None:
    """Make this environment available as `folder`, under the system's Python if that of this one is private."""
    python = _public_python()
    assert python  # the hub's tests are skipped without it
    if python == Path(sys.executable):
        folder.symlink_to(sys.prefix)
        return
    _system(python, "-m", "venv", "--without-pip", folder)
    (site_packages,) = folder.glob("lib/python*/site-packages")
    (site_packages / "shared.pth").write_text(sysconfig.get_path("purelib") + "\n")
    for name in ("etc", "share", "node_modules"):
        (folder / name).symlink_to(Path(sys.prefix, name))
    for script in Path(sys.prefix, "bin").iterdir():
        first, _, rest = script.read_bytes().partition(b"\n")
        # in a folder with a space, pip writes scripts that the shell hands on to Python, which can read them as well
        by_the_shell = first == b"#!/bin/sh" and sys.prefix.encode() in rest[:300]
        if by_the_shell or first.startswith(f"#!{sys.prefix}/bin/python".encode()):
            (folder / "bin" / script.name).write_bytes(f"#!{folder}/bin/python\n".encode() + rest)
            (folder / "bin" / script.name).chmod(0o755)


@dataclass(frozen=True)
class Account:
    """A user of this system, whose home is below the folder of the test."""

    name: str
    base: Path
    password: str = field(default_factory=lambda: secrets.token_urlsafe(12), repr=False)

    @property
    def home(self) -> Path:
        return self.base / "home" / self.name

    def run(
        self, *command: str | Path, cwd: Path | None = None, role: str = "students"
    ) -> subprocess.CompletedProcess[str]:
        """Run a command as this user, as in a terminal of the hub."""
        groups = [group.gr_gid for group in grp.getgrall() if self.name in group.gr_mem]
        variables = {
            "HOME": str(self.home),
            "USER": self.name,
            "PATH": f"{self.base}/env/bin:/usr/local/bin:/usr/bin:/bin",
            "JUPYTER_CONFIG_PATH": f"{self.base}/jupyter/{role}:{self.base}/jupyter",
            "LANG": "C.UTF-8",
        }
        return subprocess.run(
            command,
            cwd=cwd or self.home,
            env=variables,
            user=self.name,
            group=self.name,
            extra_groups=groups,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            check=False,
        )

    def processes(self) -> list[psutil.Process]:
        """What runs as this user at the moment."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.NoSuchProcess):
                if process.username() == self.name:
                    found.append(process)
        return found

    def pids(self, program: str) -> list[int]:
        """The processes of this user whose command line ends with `program`."""
        found = psutil.process_iter(["username", "cmdline"])
        mine = [process for process in found if process.info["username"] == self.name]
        return [process.pid for process in mine if " ".join(process.info["cmdline"] or ()).endswith(program)]


@dataclass(frozen=True)
class Hub:
    """Two students, an instructor, the account that grades, and what they share. `running` starts the hub itself."""

    base: Path
    address: str
    grader: Account
    ada: Account
    ben: Account
    instructor: Account

    @property
    def course(self) -> Path:
        return self.grader.home / COURSE

    @property
    def exchange(self) -> Path:
        return self.base / "exchange" / COURSE

    def log(self) -> str:
        return (self.base / "srv" / "hub.log").read_text()


@contextmanager
def prepared() -> Iterator[Hub]:
    """Make users, the exchange by prepare.sh, and the configuration with the names of this test. All is removed after."""
    base = Path(tempfile.mkdtemp(prefix="hub-"))
    mark = secrets.token_hex(2)
    with ExitStack() as undo:
        undo.callback(shutil.rmtree, base)
        base.chmod(0o755)
        (base / "home").mkdir()
        (base / "srv").mkdir(mode=0o700)
        _public_environment(base / "env")
        _system("groupadd", f"hub-{mark}")
        undo.callback(_system, "groupdel", f"hub-{mark}")

        def account(name: str, *options: str) -> Account:
            made = Account(f"{name}-{mark}", base)
            _system("useradd", "--create-home", "--home-dir", made.home, *options, made.name)
            undo.callback(_system, "userdel", made.name)
            undo.callback(_end_processes, made)
            _system("chpasswd", stdin=f"{made.name}:{made.password}\n")
            return made

        members = f"--groups=hub-{mark}"
        hub = Hub(
            base,
            f"http://127.0.0.1:{free_port()}",
            account("grader"),
            account("ada", members),
            account("ben", members),
            account("grace", members),
        )
        _system(DEPLOY / "prepare.sh", COURSE, hub.grader.name, base / "exchange")
        shutil.copytree(DEPLOY / "jupyter", base / "jupyter")
        _set(base / "jupyter" / "nbgrader_config.py", {"c.Exchange.root": str(base / "exchange")})
        shutil.copy(DEPLOY / "jupyterhub_config.py", base / "srv")
        names = {
            "GRADER": hub.grader.name,
            "FOLDER": str(hub.course),
            "INSTRUCTORS": [hub.instructor.name],
            "GROUPS": {f"hub-{mark}"},
            "JUPYTER": str(base / "jupyter"),
            "FORMGRADER": f"http://127.0.0.1:{free_port()}",
        }
        _set(base / "srv" / "jupyterhub_config.py", names)
        yield hub


def _set(path: Path, values: Mapping[str, object]) -> None:
    """Change assignments in a configuration, as somebody who copied it would."""
    text = path.read_text()
    for name, value in values.items():
        text, count = re.subn(rf"^{re.escape(name)} = [^#\n]+", f"{name} = {value!r}  ", text, flags=re.M)
        assert count == 1, name
    path.write_text(text)


def _system(*command: str | Path, stdin: str = "") -> None:
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stderr}"


def _end_processes(account: Account) -> None:
    """End what still runs as this user; `userdel` would refuse."""
    end = time.monotonic() + 30
    while processes := account.processes():
        for process in processes:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        assert time.monotonic() < end, processes
        time.sleep(0.1)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextmanager
def running(hub: Hub) -> Iterator[None]:
    """Start the hub, with everything on 127.0.0.1, and end it."""
    folder = hub.base / "srv"
    command = [
        str(hub.base / "env" / "bin" / "jupyterhub"),
        f"--config={folder / 'jupyterhub_config.py'}",
        f"--JupyterHub.bind_url={hub.address}",
        f"--JupyterHub.hub_bind_url=http://127.0.0.1:{free_port()}",
        f"--ConfigurableHTTPProxy.api_url=http://127.0.0.1:{free_port()}",
    ]
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8"}
    with (folder / "hub.log").open("w") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=env, stdout=log, stderr=log, start_new_session=True
        )
    try:
        _wait_for(f"{hub.address}/hub/health", process, hub)
        yield
    finally:
        process.terminate()  # it ends its proxy, its services and the users' servers
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(60)
        process.kill()
        process.wait()
        _end_proxy(folder)


def _end_proxy(folder: Path) -> None:
    """End the proxy of a hub that crashed. Everything else runs as users that are about to be removed."""
    with contextlib.suppress(FileNotFoundError, psutil.NoSuchProcess):
        proxy = psutil.Process(int((folder / "jupyterhub-proxy.pid").read_text()))
        if str(folder.parent) in " ".join(proxy.cmdline()):
            proxy.kill()


def _wait_for(address: str, process: subprocess.Popen[bytes], hub: Hub) -> None:
    end = time.monotonic() + 300
    while True:
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except OSError:
            assert process.poll() is None and time.monotonic() < end, hub.log()[-3000:]
            time.sleep(0.2)
