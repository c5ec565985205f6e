"""The sandbox sees what Python sees: the same imports work inside and outside, and nothing beside them is visible."""

import ast
import json
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from nbclient import NotebookClient
from nbformat import v4

from sandbox_kernel import COLD, SANDBOX, start
from sandbox_kernel.bubblewrap import bubblewrap_command
from sandbox_kernel.view import HIDDEN, program_view, python_view

README = Path(__file__).parents[1] / "README.md"
BASES = [sysconfig.get_path("purelib"), str(Path(sysconfig.get_path("data")) / "share" / "jupyter")]

_IMPORTS = """
import importlib, json
def found(name):
    try:
        return importlib.import_module(name).VALUE
    except ImportError:
        return ""
print(json.dumps({name: found(name) for name in NAMES}))
"""

_READS = """
def read(path):
    try:
        return open(path).read()
    except OSError:
        return ""
print([path for path in PATHS if read(path)])
"""

_CLIENT = """
import json, sys
from jupyter_client.manager import KernelManager
from traitlets.config import Config
name, settings, sources = json.loads(sys.argv[1])
manager = KernelManager(kernel_name=name, config=Config(SandboxProvisioner=settings))
manager.start_kernel()
client = manager.client()
client.start_channels()
client.wait_for_ready(timeout=60)
for source in sources:
    client.execute_interactive(source, timeout=60)
client.stop_channels()
manager.shutdown_kernel(now=True)
"""


def module(path: Path, value: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"VALUE = {value!r}\n")
    return path


@dataclass
class Host:
    """A folder with a Python environment, packages in many places that it imports from, and secrets beside them."""

    root: Path
    python: Path
    modules: list[str]
    secrets: list[str]

    def environment(self, **changes: str) -> dict[str, str]:
        """The variables of a user whose home folder is `home`."""
        paths = [
            self.root / name for name in ("named", "link", "packed.egg", "missing", "course/lib", "home")
        ]
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.root / "home"),
            "JUPYTER_PATH": BASES[1],
            "PYTHONPATH": os.pathsep.join(map(str, paths)),
            "PYTHONUSERBASE": str(self.root / "home" / ".local"),
            "LD_LIBRARY_PATH": str(self.root / "libraries"),
            HIDDEN: str(self.root / "course"),
        } | changes

    def run(self, *arguments: str, **changes: str) -> str:
        """What the environment's Python prints."""
        done = subprocess.run(
            [str(self.python), *arguments],
            env=self.environment(**changes),
            cwd=self.root,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def run_inside(self, kernel: str, *sources: str, **settings: object) -> str:
        """What a kernel prints that a program in this environment starts."""
        return self.run("-c", _CLIENT, json.dumps([kernel, {"modules": []} | settings, sources]))

    def imports(self) -> str:
        return _IMPORTS.replace("NAMES", repr(self.modules))

    def reads(self, *paths: object) -> str:
        return _READS.replace("PATHS", repr([str(path) for path in paths or self.secrets]))


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Host:
    root = tmp_path_factory.mktemp("host")
    root.chmod(0o755)
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", str(root / "venv")],
        check=True,
    )
    packages = root / "venv" / "lib" / Path(BASES[0]).parts[-2] / "site-packages"
    module(packages / "installed.py", "in the environment")
    module(root / "pth" / "lib" / "by_pth.py", "by a .pth file")
    module(root / "pth" / "lib" / "parts" / "one.py", "a part of a namespace package")
    module(root / "other" / "parts" / "two.py", "another part")
    module(root / "course" / "lib" / "of_course.py", "in the course")
    module(root / "course" / "own" / "editable_in_course.py", "in the course")
    targets = [BASES[0], root / "pth" / "lib", root / "other", root / "course" / "own", root / "gone"]
    (packages / "more.pth").write_text("\n".join(map(str, targets)))
    user_site = root / "home" / ".local" / "lib" / packages.parts[-2] / "site-packages"
    module(user_site / "of_user.py", "installed by the user")
    module(root / "named" / "by_variable.py", "by PYTHONPATH")
    module(root / "behind" / "linked.py", "behind a symbolic link")
    (root / "link").symlink_to("behind")
    module(root / "home" / "at_home.py", "in a home folder")
    with zipfile.ZipFile(root / "packed.egg", "w") as egg:
        egg.writestr("packed.py", "VALUE = 'in an archive'")
    (root / "libraries").mkdir()
    (root / "libraries" / "libown.so").write_text("a library")
    _install_editable(root / "project", root / "venv")
    secrets = [
        *("pth/secret", "project/secret", "home/secret", "home/.ssh/id_rsa", "home/.local/share/secret"),
        *("course/secret", "course/own/secret", "named-not/secret"),
    ]
    for name in secrets:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("it")
    modules = ["installed", "by_pth", "parts.one", "parts.two", "of_user", "by_variable", "linked", "packed"]
    modules += ["editable", "of_course", "editable_in_course", "at_home"]
    return Host(root, root / "venv" / "bin" / "python", modules, [str(root / name) for name in secrets])


def _install_editable(project: Path, environment: Path) -> None:
    """Install a package whose folder has another name, for which setuptools needs an import hook."""
    module(project / "code" / "__init__.py", "an editable install")
    (project / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
        '[project]\nname = "editable"\nversion = "1"\n'
        '[tool.setuptools]\npackages = ["editable"]\npackage-dir = {editable = "code"}\n'
    )
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    options = ["--no-deps", "--no-build-isolation", "--prefix", str(environment), "--editable", str(project)]
    subprocess.run([*pip, "install", *options], check=True)
    assert list(environment.glob("lib/*/site-packages/__editable___*_finder.py"))


@pytest.mark.parametrize("kernel", [SANDBOX, pytest.param(COLD, marks=pytest.mark.thorough)])
def test_what_can_be_imported_outside_can_be_imported_inside_and_nothing_beside_it_is_visible(host, kernel):
    outside = json.loads(host.run("-c", host.imports()))
    assert all(outside.values())
    assert ast.literal_eval(host.run("-c", host.reads())) == host.secrets
    lines = host.run_inside(
        kernel,
        host.imports(),
        host.reads(),
        f"import os; print(os.environ['LD_LIBRARY_PATH'] == {str(host.root / 'libraries')!r})",
        host.reads(host.root / "libraries" / "libown.so"),
    ).splitlines()
    hidden = {"of_course", "editable_in_course", "at_home"}
    assert json.loads(lines[0]) == outside | dict.fromkeys(hidden, "")
    assert lines[1:3] == ["[]", "True"]
    assert "libown.so" in lines[3]


@pytest.mark.parametrize("kernel", [SANDBOX, pytest.param(COLD, marks=pytest.mark.thorough)])
def test_a_kernel_starts_in_an_environment_that_is_the_course_folder_itself(host, kernel, tmp_path):
    course = tmp_path / "course"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(course)], check=True)
    (packages,) = course.glob("lib/*/site-packages")
    (packages / "more.pth").write_text(BASES[0])
    module(packages / "installed.py", "in the environment")
    (course / "gradebook.db").write_text("it")
    lines = (
        replace(host, python=course / "bin" / "python")
        .run_inside(kernel, host.imports(), host.reads(course / "gradebook.db"), hidden=[str(course)])
        .splitlines()
    )
    assert (json.loads(lines[0])["installed"], lines[1]) == ("in the environment", "[]")


@pytest.mark.parametrize("kernel", [SANDBOX, pytest.param(COLD, marks=pytest.mark.thorough)])
def test_nothing_of_it_can_be_changed(host, kernel):
    source = """
import os
def writable(folder):
    try:
        open(f"{folder}/it", "w").close()
    except OSError:
        return False
    return True
print([folder for folder in FOLDERS if writable(folder)])
"""
    folders = ["venv", "pth/lib", "named", "link", "behind", "project/code"]
    folders += [str(path.relative_to(host.root)) for path in host.root.rglob("site-packages")]
    assert len(folders) == 8  # those of the environment and of the user
    paths = [str(host.root / name) for name in folders]
    assert ast.literal_eval(host.run("-c", source.replace("FOLDERS", repr(paths)))) == paths
    for path in paths:
        (Path(path) / "it").unlink(missing_ok=True)  # one is a link to another
    assert ast.literal_eval(host.run_inside(kernel, source.replace("FOLDERS", repr(paths)))) == []


def test_a_folder_can_be_shown_and_hidden_by_traits(host):
    shown, secret = host.root / "shown", host.root / "shown" / "file.txt"
    shown.mkdir()
    secret.write_text("it")
    lines = host.run_inside(
        "sandbox-cold",
        host.imports(),
        host.reads(secret),
        shown=[str(shown)],
        hidden=[str(host.root / "pth")],
    ).splitlines()
    assert (json.loads(lines[0])["by_pth"], lines[1]) == ("", str([str(secret)]))


@pytest.mark.slow
def test_the_readme_s_example_names_the_packages_that_are_missing_inside(host):
    information = host.root / "course" / "lib" / "of_course-1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: of-course\nVersion: 1\n")
    (information / "top_level.txt").write_text("of_course")
    section = README.read_text().partition("## What a kernel sees")[2]
    program = re.search(r"```python\n(.*?)```", section, flags=re.DOTALL)[1]
    place = host.root / "course" / "lib" / "of_course.py"
    assert host.run("-c", program) == f"of-course {place} it is in a folder that is hidden from kernels\n"


def test_a_kernelspec_s_own_environment_is_seen(host, start_kernel, tmp_path, monkeypatch):
    spec = {"argv": [str(host.python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]}
    folder = tmp_path / "jupyter" / "kernels" / "other"
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text(json.dumps(spec | {"display_name": "other", "language": "python"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    kernel = start_kernel("sandbox-cold", kernelspec="other")
    found = json.loads(kernel.run(host.imports()))
    assert found["installed"] and found["by_pth"] and found["editable"]
    assert kernel.run(host.reads(*host.secrets[:2])) == "[]"


def test_a_program_in_an_environment_is_seen_with_that_environment(host):
    script = host.python.parent / "some-kernel"
    script.write_text(f"#!{host.python}\n")
    found = program_view(str(script), [])
    assert {str(host.root / "venv"), str(host.root / "pth" / "lib")} <= set(found.paths)


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, to make a folder in /usr/local")
def test_of_a_hidden_folder_of_the_system_only_the_environment_in_it_is_seen():
    with tempfile.TemporaryDirectory(dir="/usr/local", prefix="hidden-") as course:
        Path(course).chmod(0o755)
        Path(course, "gradebook.db").write_text("it")
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", f"{course}/.venv"], check=True)
        found = python_view(f"{course}/.venv/bin/python", hidden=[course])
        command = bubblewrap_command("cold", 1, found)[:-1]
        code = f"import os, sys; print(sys.prefix, os.listdir({course!r}))"
        done = subprocess.run(
            [*command, f"{course}/.venv/bin/python", "-c", code], capture_output=True, text=True, check=False
        )
        assert (done.stdout, done.stderr) == (f"{course}/.venv ['.venv']\n", "")


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, to make a folder in /usr/local")
@pytest.mark.parametrize("kernel", [SANDBOX, pytest.param(COLD, marks=pytest.mark.thorough)])
@pytest.mark.slow
def test_a_hidden_folder_of_the_system_is_empty_inside(kernel, monkeypatch):
    with tempfile.TemporaryDirectory(dir="/usr/local", prefix="hidden-") as folder:
        Path(folder).chmod(0o755)
        secret = Path(folder, "secret")
        secret.write_text("a secret")
        monkeypatch.setenv(HIDDEN, f"{folder}{os.pathsep}{folder}/exchange")
        Path(folder, "exchange").mkdir()
        cells = [
            v4.new_code_cell(f"import os; print(os.listdir({folder!r}), os.path.exists('/usr/local/lib'))")
        ]
        notebook = v4.new_notebook(cells=cells)
        NotebookClient(notebook, kernel_name=kernel, timeout=60).execute()
    for kind in [kind for kind in start._warm if folder in kind.view.hidden]:
        start._warm.pop(kind).close()
    assert notebook.cells[0].outputs[0].text.strip() == "[] True"
