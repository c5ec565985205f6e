"""Runs the tests of nbgrader's commands, which its wheel holds, with or without gradekit's configuration.

Its other tests call functions and preprocessors directly and read no configuration, so they can't differ; those of its
JupyterLab extensions aren't in the wheel.
"""

import getpass
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable
from pathlib import Path

import nbgrader.tests.apps

CONFIGURE = "from gradekit.nbgrader_plugin import configure\n\nconfigure(get_config())\n"
APPS = Path(next(iter(nbgrader.tests.apps.__path__)))
FILES = sorted(path.stem for path in APPS.glob("test_*.py"))
#: seconds for one of nbgrader's tests, on a busy machine
_SECONDS = 300


def outcomes(file: str, folder: Path, configured: bool, only: Iterable[str] = ()) -> dict[str, str]:
    """How each test of a file ends, by its name: "passed", "skipped" or "failed".

    Args:
        folder: an empty one for everything that the tests write.
        only: names of tests to run; by default all.
    """
    for name in ("home", "tmp", "jupyter", "work"):
        (folder / name).mkdir(parents=True)
    if configured:
        (folder / "jupyter" / "nbgrader_config.py").write_text(CONFIGURE)
    report = folder / "report.xml"
    places = {
        "HOME": folder / "home",
        "USER": getpass.getuser(),
        "TMPDIR": folder / "tmp",
        "JUPYTER_CONFIG_PATH": folder / "jupyter",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
    }
    command = [sys.executable, "-m", "pytest", "--quiet", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command += ["-c", os.devnull, f"--rootdir={folder}", f"--timeout={_SECONDS}", f"--junitxml={report}"]
    names = sorted({name.partition("::")[2].partition("[")[0] for name in only})
    command += ["-k", " or ".join(names)] if names else []
    done = subprocess.run(
        [*command, "--pyargs", f"nbgrader.tests.apps.{file}"],
        cwd=folder / "work",
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        | {name: str(value) for name, value in places.items()},
        capture_output=True,
        text=True,
        check=False,
    )
    if not report.exists():
        raise RuntimeError(f"{file} could not be run: {done.stdout}{done.stderr}")
    return {
        f"{file}::{case.get('name')}": _outcome(case) for case in ElementTree.parse(report).iter("testcase")
    }


def _outcome(case: ElementTree.Element) -> str:
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    return "skipped" if case.find("skipped") is not None else "passed"
