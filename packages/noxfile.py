"""The packages' tests with each version of Python and of nbgrader, and with the oldest dependencies that are declared.

Each environment gets the packages from their wheels, as a user does, and has no torch: `make test-pythons` makes all of them,
`make test-ends` the oldest and the newest. Versions of Python that are not installed are named and left out.
"""

import os
import shutil
import subprocess
import tomllib
from pathlib import Path

import nox

ROOT = Path(__file__).resolve().parents[1]
WHEELS = ROOT / "build" / "dist"
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
NBGRADER = ["0.9.5", "0.9.6"]
#: all but the course's package, which needs torch
OURS = sorted(
    path.parent.name
    for path in ROOT.glob("packages/*/pyproject.toml")
    if path.parent.name != "transformer-course"
)
EXTRAS = ["pandas", "report", "lti"]
KERNELS, ORDINARY = "sandbox-kernel/tests/test_kernels.py", "gradekit/tests/test_ordinary.py"
WATCH = "gradekit-watch/tests/test_watch.py"
#: wheels as a stranger installs them and a class in the sandbox, nbgrader's private parts, and some of LONG: `.ci/run` takes time for
#: these with two versions of Python
SHORT = [
    "test_as_installed.py",
    "gradekit/tests/test_nbgrader_parts.py",
    f"{KERNELS}::test_any_nbclient_program_can_use_it_by_name",
    f"{KERNELS}::test_the_kernel_has_no_privileges_and_sees_no_other_process",
    f"{KERNELS}::test_an_interrupt_and_a_restart_do_what_they_should",
    f"{KERNELS}::test_where_no_warm_start_is_possible_kernels_start_cold",
    f"{ORDINARY}::test_bound_and_ordinary_cells_in_one_notebook_have_any_grade_id",
    f"{ORDINARY}::test_a_test_that_misses_what_a_broken_cell_defines_is_blocked_and_the_notebook_partly_graded",
    f"{WATCH}::test_hand_ins_are_graded_in_order_and_each_gets_its_page",
    "gradekit/tests/test_feedback.py",
    "gradekit-authoring/tests/test_adopt.py",
]
#: also other kernels, warm and cold; ordinary cells, cells that change what is below a check, watch, feedback, adopt; what depends on
#: the parsers and the code objects of a version
LONG = [
    *(each for each in SHORT if "::" not in each),
    KERNELS,
    ORDINARY,
    "gradekit/tests/test_changed_below.py",
    "gradekit/tests/test_name_history.py",
    WATCH,
    "gradekit/tests/test_snippets.py",
    "gradekit/tests/test_names.py",
    "gradekit/tests/test_restore_answers.py",
    "gradekit-data/tests/test_pandas.py",
    "gradekit-lms/tests/test_exports.py",
]

# pyenv's own commands, such as python3.12, refuse to start a version that isn't chosen
_PYENV = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
os.environ["PATH"] = os.pathsep.join([*map(str, sorted(_PYENV.glob("3.*/bin"))), os.environ["PATH"]])

nox.options.default_venv_backend = "uv"
nox.options.error_on_missing_interpreters = False  # in CI, too
nox.options.envdir = str(ROOT / "build" / "environments")


def _starts(python: str) -> bool:
    command = shutil.which(f"python{python}")
    return command is not None and subprocess.run([command, "-c", ""], check=False).returncode == 0


INSTALLED = [python for python in PYTHONS if _starts(python)]


def _declared() -> list[str]:
    """What the packages need beside each other: named one by one, so that uv takes the oldest of each."""
    lines = set()
    for name in OURS:
        path = ROOT / "packages" / name / "pyproject.toml"
        project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
        extras = project.get("optional-dependencies", {})
        lines |= {*project["dependencies"], *(line for extra in EXTRAS for line in extras.get(extra, []))}
    return sorted(line for line in lines if not line.startswith(("gradekit", "sandbox-kernel")))


def _test(session: nox.Session, files: list[str], *wanted: str) -> None:
    metadata = tomllib.loads((ROOT / "packages/gradekit/pyproject.toml").read_text(encoding="utf-8"))
    tools = metadata["dependency-groups"]["test"]
    refresh = [f"--refresh-package={name}" for name in OURS]  # built again, they have the same version
    # compiled now, in parallel: in the sandbox, each process would compile what it imports again
    session.install(
        "--compile-bytecode",
        *refresh,
        "--find-links",
        str(WHEELS),
        "gradekit[all]",
        "gradekit-lms[lti]",
        *tools,
        *wanted,
    )
    session.chdir(ROOT / "packages")
    session.run("pytest", "-q", "-rs", "--numprocesses=2", "--dist=loadfile", *(session.posargs or files))


@nox.session(python=PYTHONS)
@nox.parametrize("nbgrader", NBGRADER)
def installed(session: nox.Session, nbgrader: str) -> None:
    """Each Python with each nbgrader."""
    _test(session, LONG, f"nbgrader=={nbgrader}")


@nox.session(python=INSTALLED[:1])
def oldest(session: nox.Session) -> None:
    """The oldest Python, and the oldest version of each package that the metadata allows."""
    _test(session, SHORT, "--resolution=lowest-direct", *_declared())


@nox.session(python=INSTALLED[1:][-1:])
def newest(session: nox.Session) -> None:
    """The newest Python, unless it is the only one, and the newest version of each package."""
    _test(session, SHORT)


@nox.session(python=False)
@nox.parametrize("end", ["oldest", "newest"])
def ends(session: nox.Session, end: str) -> None:
    """The oldest or the newest, of two that are installed at least."""
    if len(INSTALLED) < 2:
        session.skip(
            f"Python {', '.join(INSTALLED)} is the only one of {', '.join(PYTHONS)} that is installed"
        )
    session.log(
        f"Python: {', '.join(INSTALLED)}; not installed: {sorted({*PYTHONS} - {*INSTALLED}) or 'none'}"
    )
    session.notify(f"{end}-{INSTALLED[0 if end == 'oldest' else -1]}", session.posargs)
