"""The README's settings and examples. The examples run as its users run them: from the wheel, in a new environment."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from sandbox_kernel.sandboxed import SandboxProvisioner
from sandbox_kernel.start import MODULES
from sandbox_kernel.watched import LimitedProvisioner, WatchedProvisioner

PACKAGE = Path(__file__).parents[1]
README = (PACKAGE / "README.md").read_text()
SECTIONS = {text.partition("\n")[0]: text for text in re.split(r"^#+ ", README, flags=re.MULTILINE)}
SOURCE = """
import os, resource, socket
print(socket.gethostname(), os.getcwd(), resource.getrlimit(resource.RLIMIT_NOFILE)[1])
"""


def example(title: str) -> str:
    """The first command or program in a section of the README."""
    found = re.search(r"```(?:bash|python)\n(.*?)```", SECTIONS[title], flags=re.DOTALL)
    assert found is not None
    return found[1]


def traits(kind: type) -> dict[str, tuple[object, str]]:
    return {name: (trait.default(), trait.help) for name, trait in kind.class_own_traits(config=True).items()}


@pytest.mark.parametrize("kind", [WatchedProvisioner, SandboxProvisioner])
def test_the_readme_lists_every_trait_with_its_default_and_its_help(kind):
    section = README.partition(f"`{kind.__name__}`")[2].partition("\n\n")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `(\w+)` \| `(.+?)` \| (.+?) \|$", section, flags=re.MULTILINE)
    found = {name: (default, meaning) for name, default, meaning in rows}
    assert found == {
        name: ("sandbox_kernel.start.MODULES" if default == MODULES else repr(default), meaning)
        for name, (default, meaning) in traits(kind).items()
    }


def test_a_limited_kernel_has_no_traits_of_its_own():
    assert traits(LimitedProvisioner) == {}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder outside of this repository, with a new environment in `venv` and a notebook."""
    folder = tmp_path_factory.mktemp("readme")
    shutil.copytree(
        PACKAGE, folder / "package", ignore=shutil.ignore_patterns("build", "*.egg-info", "tests")
    )
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    options = ["--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
    subprocess.run([*pip, "wheel", *options, str(folder / "package")], check=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], check=True)
    (wheel,) = folder.glob("*.whl")
    python = ["--python", str(folder / "venv" / "bin" / "python")]
    programs = ["nbclient", "nbconvert", "papermill"]
    subprocess.run([*pip, *python, "install", "--no-compile", str(wheel), *programs], check=True)
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(SOURCE)],
        metadata={"language_info": {"name": "python"}},  # papermill asks for it
    )
    nbformat.write(notebook, folder / "nb.ipynb")
    return folder


def run(folder: Path, *command: str) -> str:
    """What a command prints in the new environment."""
    environment = {
        "PATH": os.pathsep.join([str(folder / "venv" / "bin"), os.environ["PATH"]]),
        "HOME": str(folder),
    }
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def printed(notebook: Path) -> str:
    return nbformat.read(notebook, as_version=4).cells[0].outputs[0]["text"].strip()


@pytest.mark.thorough
def test_nbconvert_runs_a_notebook_by_kernel_name_with_a_setting(folder):
    (line,) = example("nbconvert").splitlines()
    run(folder, *line.split(), "--SandboxProvisioner.open_file_limit=200")
    assert printed(folder / "nb.nbconvert.ipynb") == "sandbox /home/user 200"


@pytest.mark.thorough
def test_papermill_runs_a_notebook_by_kernel_name_with_a_parameter(folder):
    (line,) = example("papermill").splitlines()
    run(folder, *line.split(), "--no-progress-bar")
    injected, cell = nbformat.read(folder / "executed.ipynb", as_version=4).cells
    assert "terms = 1000" in injected.source
    assert cell.outputs[0]["text"].strip() == "sandbox /home/user 256"


@pytest.mark.thorough
def test_nbclient_runs_a_notebook_by_kernel_name(folder):
    run(folder, "python", "-c", example("nbclient"))
    assert printed(folder / "executed.ipynb") == "sandbox /home/user 256"


@pytest.mark.thorough
def test_a_program_reads_the_usage_and_why_the_kernel_was_ended(folder):
    total, usage, reason = run(folder, "python", "-c", example("A program with jupyter_client")).splitlines()
    assert total == str(sum(range(10**6)))
    assert re.fullmatch(r"Usage\(cpu=\d+\.\d+, queued=\d+\.\d+\)", usage)
    assert reason == "it used more than 512 MiB of memory"


@pytest.mark.thorough
def test_the_layers_of_the_machine_and_the_costs_of_a_start_are_printed(folder):
    assert run(folder, "python", "-c", example("What it keeps out")).startswith("the sandbox works\n")
    lines = run(folder, "python", "-c", example("What it costs")).splitlines()
    assert [line.split()[0] for line in lines] == ["sandbox", "sandbox", "sandbox-cold", "limited"]
