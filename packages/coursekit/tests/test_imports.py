"""What commands import: most of the time of a command that grades nothing goes into imports."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

#: packages that `coursekit table` may import in addition to what `nbgrader.api` imports; add one only for a reason
ALLOWED = {
    "coursekit",
    "sandbox_kernel",
    "msgspec",  # reads results
    "latex2mathml",  # with nh3: imported by nbgrader_config.py, which sets the filters of feedback pages
    "nh3",
}
#: what takes longest to import, and only grading or drawing needs
LARGE = {"torch", "numpy", "pandas", "scipy", "matplotlib", "seaborn", "_pytest", "distributed"}
#: commands that grade nothing in a class that has been graded
WITHOUT_GRADING = [
    ["table", "01_double"],
    ["table", "01_double", "--csv", "table.csv"],
    ["adopt"],
    ["autograde", "01_double"],
    ["regrade", "01_double", "--dry-run"],
]
_SCRIPT = """
import json, sys
{}
loaded = {{name.split(".")[0] for name in sys.modules}} - sys.stdlib_module_names
print(json.dumps(sorted(name for name in loaded if name == "_pytest" or not name.startswith("_"))))
"""


def imported(cwd: Path, statements: str) -> set[str]:
    """The packages outside of Python's library that are imported after some statements in a new process."""
    script = _SCRIPT.format(statements)
    done = subprocess.run([sys.executable, "-c", script], cwd=cwd, capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def imported_by(cwd: Path, arguments: list[str]) -> set[str]:
    """The same for a command of coursekit."""
    return imported(cwd, f"from coursekit.cli import main\nassert main({arguments!r}) in (0, 1)")


@pytest.fixture(scope="module")
def graded(four_times_original, tmp_path_factory):
    return Path(shutil.copytree(four_times_original, tmp_path_factory.mktemp("imports") / "course"))


def test_the_table_imports_nothing_new(graded):
    new = imported_by(graded, ["table", "01_double"]) - imported(graded, "import nbgrader.api") - ALLOWED
    assert new == set(), "a package was added to what every command imports: import it where it is used"


@pytest.mark.parametrize("arguments", WITHOUT_GRADING, ids=" ".join)
def test_a_command_that_grades_nothing_imports_nothing_large(graded, arguments):
    assert imported_by(graded, arguments) & LARGE == set()
