"""Runs another project's own tests, as its source distribution holds them, with the sandbox as the kernel `python3`."""

import importlib.metadata
import json
import os
import subprocess
import sys
import tarfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import pytest

_LOCK = Path(__file__).parents[4] / "requirements/peers.lock"
_SPEC = {
    "argv": ["python", "-m", "ipykernel_launcher", "-f", "{connection_file}"],
    "display_name": "Python 3",
    "language": "python",
    "metadata": {"kernel_provisioner": {"provisioner_name": "sandbox-kernel"}},
}
_OPTIONS = [
    *("-q", "-p", "no:cacheprovider", "-o", "addopts=", "-o", "asyncio_default_fixture_loop_scope=function"),
    *("-W", "ignore::pytest.PytestDeprecationWarning", "--timeout=100"),
]
_SECONDS = 1500


@dataclass(frozen=True)
class Differences:
    """What is written down about one project's tests.

    Args:
        files: the test files to run.
        differ: the tests that fail with the sandbox, each with the reason.
        flaky: those that may pass or fail, each with the reason.
    """

    files: list[str]
    differ: dict[str, str]
    flaky: dict[str, str]

    @classmethod
    def read(cls, path: Path) -> "Differences":
        found = tomllib.loads(path.read_text())
        return cls(found["files"], found.get("differ", {}), found.get("flaky", {}))


def _pip(*arguments: str, tools: Path) -> str:
    """Run pip, and return the last line of what it prints if it fails; `tools` has what builds and tests the projects."""
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    environment = os.environ | {"PYTHONPATH": str(tools)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=_SECONDS)
    return (done.stderr.strip().splitlines() or ["pip failed"])[-1] if done.returncode else ""


def install_tools(folder: Path) -> None:
    """Install what the tests need besides the course's environment, in a folder; skips if there is no index."""
    if problem := _pip("install", "--no-deps", "--target", str(folder), "-r", str(_LOCK), tools=folder):
        pytest.skip(f"{_LOCK.name} can't be installed: {problem}")


def unpacked(project: str, tools: Path, folder: Path) -> Path:
    """The source of the installed version of a project; skips if there is no index."""
    name = f"{project}=={importlib.metadata.version(project)}"
    options = ["--no-binary", ":all:", "--no-deps", "--no-build-isolation", "--dest", str(folder)]
    if problem := _pip("download", *options, name, tools=tools):
        pytest.skip(f"the source of {name} can't be downloaded: {problem}")
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        files.extraction_filter = getattr(tarfile, "data_filter", None)  # as in the sandbox
        files.extractall(folder)
    (source,) = (path for path in folder.iterdir() if path.is_dir())
    return source


def outcomes(source: Path, files: list[str], tools: Path, folder: Path) -> dict[str, bool]:
    """Run a project's tests; whether each passed, by its name. Skipped ones are left out."""
    spec = folder / "jupyter" / "kernels" / "python3"
    spec.mkdir(parents=True)
    (spec / "kernel.json").write_text(json.dumps(_SPEC))
    environment = os.environ | {"JUPYTER_PATH": str(spec.parents[1]), "PYTHONPATH": str(tools)}
    report = folder / "report.xml"
    command = [sys.executable, "-m", "pytest", *files, *_OPTIONS, f"--junitxml={report}"]
    done = subprocess.run(
        command, cwd=source, env=environment, capture_output=True, text=True, timeout=_SECONDS
    )
    assert report.exists(), done.stdout[-2000:] + done.stderr[-2000:]
    found = {}
    for case in ElementTree.parse(report).iter("testcase"):
        if case.find("skipped") is None:
            failed = case.find("failure") is not None or case.find("error") is not None
            found[f"{case.get('classname')}::{case.get('name')}".removeprefix("tests.")] = not failed
    return found
