"""Sample pages of the grader: a class of thirty in the small assignment of `gradekit demo`, graded by the commands themselves.

Not an assignment of this course, since pages show students' answers, and most of those are right.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from gradekit.checks.variants import Variant
from gradekit.grading.generate import generate
from gradekit.grading.running_course import RunningCourse
from gradekit_authoring.grade_variants import record
from gradekit_authoring.new import write_assignment, write_course
from gradekit_authoring.samples import frequent_mistake, typical_class, write_class
from sandbox_kernel.bubblewrap import sandbox_problem

ROOT = Path(__file__).resolve().parents[2]
ASSIGNMENT = "01_standardized"
_CELL = "standardized"
_CELL_SECONDS = 3
#: not among the known mistakes
_UNKNOWN = Variant(
    "unknown", _CELL, [("return (table - mean) / spread", "return abs(table - mean) / spread")]
)
#: the pages: what the site calls them, and where the commands write them
PAGES = {
    "feedback.html": "feedback/{mistaken}/01_standardized/standardized.html",
    "report.html": "reports/01_standardized/report.html",
    "viva.html": "reports/01_standardized/viva/{mistaken}.html",
}


def sample_pages(cache: Path) -> Path:
    """The folder with the pages, from `cache` or by grading the class."""
    folder = cache / f"samples-{_digest()}"
    if not folder.exists():
        with tempfile.TemporaryDirectory() as temporary:
            pages = _graded(Path(temporary) / "sample-class")
            for old in cache.glob("samples-*"):
                shutil.rmtree(old)
            folder.mkdir(parents=True)
            for name, page in pages.items():
                shutil.copy(page, folder / name)
    return folder


def _digest() -> str:
    """Of the packages that make the pages, and of this file."""
    files = [Path(__file__), ROOT / "requirements" / "course.lock"]
    for package in sorted((ROOT / "packages").glob("*/src")):
        files += sorted(path for path in package.rglob("*") if path.is_file() and path.suffix != ".pyc")
    digest = hashlib.sha256()
    for file in files:
        digest.update(str(file.relative_to(ROOT)).encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def _graded(root: Path) -> dict[str, Path]:
    """Grade the class in a new course, and return the pages."""
    write_course(root, "sample-class", _CELL_SECONDS)
    course = RunningCourse.open(root)
    assignment = write_assignment(course.layout, ASSIGNMENT, "numpy")
    record(assignment, workers=1)
    generate(course, assignment)
    samples = list(typical_class(assignment, _UNKNOWN))
    write_class(assignment, root / "submitted", samples)
    sandbox = ["--sandbox", "none"] if sandbox_problem() else []
    _run(root, "gradekit", "autograde", ASSIGNMENT, *sandbox)
    _run(root, "nbgrader", "generate_feedback", ASSIGNMENT)
    _run(root, "gradekit", "report", ASSIGNMENT)
    mistaken = frequent_mistake(samples)
    _run(root, "gradekit", "viva", ASSIGNMENT, mistaken, *sandbox)
    return {name: root / page.format(mistaken=mistaken) for name, page in PAGES.items()}


def _run(root: Path, program: str, *arguments: str) -> None:
    command = [str(Path(sys.executable).with_name(program)), *arguments]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, env=os.environ)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
