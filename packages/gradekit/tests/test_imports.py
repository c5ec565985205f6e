"""What commands import: most of the time of a command that grades nothing goes into imports."""

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

PACKAGES = Path(__file__).parents[2]
#: packages that `gradekit table` may import in addition to what `nbgrader.api` imports; add one only for a reason
ALLOWED = {
    *(path.name for path in PACKAGES.glob("*/src/*")),  # those that depend on gradekit add their commands
    "msgspec",  # reads results
    "argcomplete",  # by traitlets, where it is installed
    "latex2mathml",  # with nh3: imported by nbgrader_config.py, which sets the filters of feedback pages
    "nh3",
}
#: what takes longest to import, and only grading or drawing needs
LARGE = {"torch", "numpy", "pandas", "scipy", "matplotlib", "seaborn", "_pytest", "distributed"}
#: commands that grade nothing in a class that has been graded
WITHOUT_GRADING = [
    "table 01_double",
    "table 01_double --csv table.csv",
    "adopt",
    "autograde 01_double",
    "regrade 01_double --dry-run",
]
#: modules of gradekit that the process of `gradekit autograde` may import, with all that check files can use
MOST_MODULES = 80
_SCRIPT = """
import json, sys
found = []
for statement in {}:
    exec(statement)
    loaded = {{name.split(".")[0] for name in sys.modules}} - sys.stdlib_module_names
    found.append([name for name in loaded if name == "_pytest" or not name.startswith("_")])
print(json.dumps(found))
"""


def imported(cwd: Path, statements: Sequence[str]) -> list[set[str]]:
    """The packages outside of Python's library that are imported after each statement in a new process."""
    script = _SCRIPT.format(statements)
    done = subprocess.run([sys.executable, "-c", script], cwd=cwd, capture_output=True, text=True, check=True)
    return [set(names) for names in json.loads(done.stdout.splitlines()[-1])]


@pytest.fixture(scope="module")
def imports(four_times_original, tmp_path_factory) -> dict[str, set[str]]:
    """What is imported after each command and those before it."""
    course = Path(shutil.copytree(four_times_original, tmp_path_factory.mktemp("imports") / "course"))
    run = "from gradekit.cli import main\nassert main({}) in (0, 1)"
    found = imported(course, [run.format(command.split()) for command in WITHOUT_GRADING])
    return dict(zip(WITHOUT_GRADING, found, strict=True))


@pytest.mark.slow
def test_the_table_imports_nothing_new(imports, tmp_path):
    (by_nbgrader,) = imported(tmp_path, ["import nbgrader.api"])
    new = imports[WITHOUT_GRADING[0]] - by_nbgrader - ALLOWED
    assert new == set(), "a package was added to what every command imports: import it where it is used"


@pytest.mark.parametrize("command", WITHOUT_GRADING)
def test_a_command_that_grades_nothing_imports_nothing_large(imports, command):
    assert imports[command] & LARGE == set()


@pytest.mark.slow
def test_a_class_is_graded_with_few_modules(generated):
    generated.hand_in("ada", generated.answer("def double(x):\n    return 2 * x"))
    script = """
import sys
from gradekit import checks
from gradekit.cli import main
assert main(["autograde", "01_double"]) == 0
used = [getattr(checks, name) for name in checks.__all__]
print(*(name for name in sys.modules if name.startswith("gradekit")))
"""
    run = [sys.executable, "-c", script]
    done = subprocess.run(run, cwd=generated.root, capture_output=True, text=True, check=True)
    names = done.stdout.splitlines()[-1].split()
    assert "gradekit.verdict.grade" in names
    names.remove("gradekit.nbgrader_plugin.generating")  # because of a setting of this course
    assert len(names) <= MOST_MODULES, " ".join(sorted(names))
    others = ("gradekit_", "gradekit.cli.reporting")
    assert [name for name in names if name.startswith(others)] == []
