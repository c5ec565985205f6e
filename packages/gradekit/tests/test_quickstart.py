"""Any nbgrader course: `nbgrader quickstart`, and one with all that nbgrader knows, graded by both graders."""

import contextlib
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import nbformat
import nbgrader
import pytest
from bs4 import BeautifulSoup
from nbformat import NotebookNode, v4
from nbgrader.api import Gradebook

from gradekit.cli import main
from gradekit.course import Course
from gradekit.course.cells import find_cell

from .forked import run_forked

pytestmark = pytest.mark.slow

EXAMPLES = Path(nbgrader.__file__).parent / "docs" / "source" / "user_guide"
ADOPTING = Path(__file__).parents[3] / "docs" / "adopting.md"
CONFIGURE = "\nfrom gradekit.nbgrader_plugin import configure\nconfigure(c)\n"
SOLUTION = "def mean(xs):\n    ### BEGIN SOLUTION\n    return sum(xs) / len(xs)\n    ### END SOLUTION"
HIDDEN = """\
"Check some means"
assert mean([1, 3]) == 2
### BEGIN HIDDEN TESTS
secret = [2, 2, 5]
assert mean(secret) == 3, "three numbers"
### END HIDDEN TESTS"""
PARTIAL = "int(mean([1, 3]) == 2) + int(mean([4]) == 4) + int(mean([-1]) == -1)"
AUTOTEST = "### AUTOTEST mean([2])\n### HASHED AUTOTEST mean([2, 3])"

BOUND = '''
from gradekit.checks import points


@points(2)
def test_value(student):
    """The mean of a number is the number."""
    assert student.call("mean", [7]).value == 7
'''

#: by student, the answers of the notebooks `a` and `b`
ANSWERS = {
    "ada": ("def mean(xs):\n    return sum(xs) / len(xs)", "def mean(xs):\n    return 2.0"),
    "ben": (
        "def mean(xs):\n    return abs(sum(xs) / len(xs))",
        "import sys\ndef mean(xs):\n    print('hm', file=sys.stderr)\n    return sum(xs) / len(xs)",
    ),
    "cleo": (
        "def mean(xs):\n    return float('nan')",
        "def mean(xs):\n    print('x' * 150_000)\n    return sum(xs) / len(xs)",
    ),
}
Grades = dict[tuple[str, str, str], tuple[float | None, float | None, bool, float, float]]


def run(root: Path, *command: str) -> subprocess.CompletedProcess[str]:
    done = run_forked(command, root)
    assert done.returncode == 0, done.stderr
    return done


def mark(name: str, **values: object) -> dict:
    base = {"grade": False, "locked": False, "schema_version": 3, "solution": False, "task": False}
    return {"nbgrader": {**base, "grade_id": name, **values}}


def every_kind_of_cell() -> NotebookNode:
    def graded(source: str, name: str, points: float) -> NotebookNode:
        return v4.new_code_cell(source, metadata=mark(name, grade=True, locked=True, points=points))

    return v4.new_notebook(
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        cells=[
            v4.new_markdown_cell("Locked.", metadata=mark("cell-0", locked=True)),
            v4.new_code_cell(SOLUTION, metadata=mark("mean", solution=True)),
            graded(HIDDEN, "cell-1a2b3c", 2),
            graded(PARTIAL, "partial", 3),
            graded("mean([1, 0])", "value", 4),
            graded("assert mean([2]) == 2", "nothing", 0),
            graded(AUTOTEST, "auto", 1),
            v4.new_code_cell("my = 1", metadata=mark("own", grade=True, solution=True, points=2)),
            v4.new_markdown_cell("Why?", metadata=mark("why", grade=True, solution=True, points=5)),
            v4.new_markdown_cell(
                "Draw.\n\n=== BEGIN MARK SCHEME ===\n1 point\n=== END MARK SCHEME ===",
                metadata=mark("task", locked=True, task=True, points=4),
            ),
        ],
    )


def grades(root: Path, assignment: str) -> Grades:
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        return {
            (submission.student_id, notebook.name, grade.cell.name): (
                grade.auto_score,
                grade.manual_score,
                grade.needs_manual_grade,
                grade.score,
                grade.max_score,
            )
            for submission in gradebook.assignment_submissions(assignment)
            for notebook in submission.notebooks
            for grade in notebook.grades
        }


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The course as nbgrader alone has graded it."""
    root = tmp_path_factory.mktemp("quickstart") / "course101"
    run(root.parent, "nbgrader", "quickstart", "course101")
    shutil.copytree(EXAMPLES / "submitted", root / "submitted")
    shutil.copy(EXAMPLES / "autotests.yml", root)
    (root / "source" / "ps2").mkdir()
    for name in ("a", "b"):
        nbformat.write(every_kind_of_cell(), root / "source" / "ps2" / f"{name}.ipynb")
    for assignment in ("ps1", "ps2"):
        run(root, "nbgrader", "generate_assignment", assignment)
    for student, answers in ANSWERS.items():
        folder = root / "submitted" / student / "ps2"
        folder.mkdir(parents=True)
        for name, source in zip("ab", answers, strict=True):
            notebook = Course(root).assignment("ps2").released(name)
            answer = find_cell(notebook, "mean")
            assert answer is not None
            answer.source = source
            nbformat.write(notebook, folder / f"{name}.ipynb")
    shutil.copytree(root, root.with_name("ungraded"))
    run(root, "nbgrader", "autograde", "ps2")
    return root


@pytest.fixture(scope="module")
def adopted(plain: Path) -> Callable[[str], Path]:
    """A copy of the ungraded course, unchanged but for `configure(c)`."""

    def copy(name: str) -> Path:
        root = Path(shutil.copytree(plain.with_name("ungraded"), plain.with_name(name)))
        with (root / "nbgrader_config.py").open("a") as file:
            file.write(CONFIGURE)
        return root

    return copy


@pytest.fixture(scope="module")
def graded(adopted: Callable[[str], Path]) -> Path:
    """The course as `gradekit autograde` has graded it, with feedback pages."""
    root = adopted("adopted")
    done = run_forked(["gradekit", "autograde", "ps2"], root)
    assert done.returncode == 0, done.stderr
    run(root, "nbgrader", "generate_feedback", "ps2")
    return root


def test_gradekit_autograde_gives_the_scores_of_plain_nbgrader_cell_by_cell(plain, graded):
    expected = grades(plain, "ps2")
    assert len(expected) == 48
    assert grades(graded, "ps2") == expected


@pytest.mark.thorough
def test_so_it_does_for_nbgrader_s_own_example(plain, adopted):
    with_nbgrader = Path(shutil.copytree(plain, plain.with_name("own-example-with-nbgrader")))
    run(with_nbgrader, "nbgrader", "autograde", "ps1")
    root = adopted("own-example")
    assert run_forked(["gradekit", "autograde", "ps1"], root).returncode == 0
    expected = grades(with_nbgrader, "ps1")
    assert len(expected) == 18
    # the student wrote text into other cells, so a person decides; nbgrader gives 0
    undecided = ("bitdiddle", "problem1", "sum_of_squares_application")
    assert expected[undecided] == (0, None, False, 0, 2)
    assert grades(root, "ps1") == expected | {undecided: (None, None, True, 0, 2)}


def test_the_answers_of_this_class_earn_all_part_and_none_of_the_points(plain):
    found = {key: grade[0] for key, grade in grades(plain, "ps2").items()}
    assert found["ada", "a", "cell-1a2b3c"] == 2
    assert found["ada", "b", "cell-1a2b3c"] == 0  # only the hidden test fails
    assert found["ben", "a", "partial"] == 2
    assert found["ben", "b", "nothing"] == found["ben", "b", "value"] == 0  # stderr
    assert found["ada", "b", "value"] == 2
    assert found["cleo", "a", "value"] == 4  # nan is no score
    assert found["cleo", "b", "value"] == 0.5  # after a flood of output
    assert found["ada", "a", "auto"] == 1 and found["cleo", "a", "auto"] == 0
    assert found["ada", "a", "own"] == 0  # nobody changed the cell
    assert found["ada", "a", "task"] is None


def test_nbgrader_autograde_gives_the_same_scores_and_finds_them_in_the_cache(plain, graded):
    (graded / "gradebook.db").rename(graded / "earlier.db")
    shutil.copy(plain.with_name("ungraded") / "gradebook.db", graded)
    try:
        before = {path: path.stat().st_mtime_ns for path in (graded / ".gradekit").rglob("*.json")}
        run(graded, "nbgrader", "autograde", "ps2", "--force")
        assert grades(graded, "ps2") == grades(plain, "ps2")
        after = {path: path.stat().st_mtime_ns for path in (graded / ".gradekit").rglob("*.json")}
        assert len(before) == 6 and after == before
    finally:
        (graded / "earlier.db").replace(graded / "gradebook.db")


def test_the_table_has_a_column_for_each_cell_of_each_notebook_and_nbgrader_s_totals(plain, graded):
    from gradekit.grading.running_course import RunningCourse
    from gradekit.report.table import class_table

    table = class_table(RunningCourse.open(graded), Course(graded).assignment("ps2"))
    assert table.maximum["a/partial"] == 3 and table.maximum["b/task"] == 4
    assert sum(table.maximum.values()) == 42
    ben = next(row for row in table.rows if row.student == "ben")
    assert (ben.points["a/partial"], ben.points["b/partial"], ben.points["a/task"]) == (2, 0, None)
    with Gradebook(f"sqlite:///{plain / 'gradebook.db'}") as gradebook:
        expected = {entry.student_id: entry.score for entry in gradebook.assignment_submissions("ps2")}
    assert {row.student: row.total for row in table.rows if row.student in expected} == expected


def test_the_feedback_page_shows_what_failed_but_neither_hidden_tests_nor_marking_schemes(graded):
    html = (graded / "feedback" / "ada" / "ps2" / "b.html").read_text(encoding="utf-8")
    text = BeautifulSoup(html, "html.parser").get_text()
    assert "AssertionError: three numbers" in text
    assert "assert mean([1, 3]) == 2" in text
    assert "secret" not in html and "MARK SCHEME" not in html
    notebook = nbformat.read(graded / "autograded" / "ada" / "ps2" / "b.ipynb", 4)
    assert "secret" in find_cell(notebook, "cell-1a2b3c").source  # a grader sees them


@pytest.mark.thorough
def test_a_cell_of_one_notebook_is_bound_and_the_others_stay_as_they_are(plain, graded, tmp_path):
    root = Path(shutil.copytree(graded, tmp_path / "mixed"))
    checks = root / "tests" / "ps2" / "b" / "cell-1a2b3c.py"
    checks.parent.mkdir(parents=True)
    checks.write_text(BOUND)
    assert main(["--course-dir", str(root), "regrade", "ps2"]) == 0
    found, before = grades(root, "ps2"), grades(plain, "ps2")
    changed = {key: grade[0] for key, grade in found.items() if grade != before[key]}
    # `mean` of ben writes to stderr, which costs nothing in a check; the hidden test of cell-1a2b3c costs ada nothing
    assert changed == {("ben", "b", "cell-1a2b3c"): 2}


@pytest.mark.thorough
def test_who_follows_the_page_about_adopting_sees_what_it_shows(adopted):
    root = adopted("followed")
    with contextlib.chdir(root):
        main(["autograde", "ps1"])
    section = ADOPTING.read_text().split("## Write hidden checks")[1].split("\n## ")[0]
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    checks, mistakes = (text for kind, text in blocks if kind == "python")
    folder = root / "tests" / "ps1"
    folder.mkdir(parents=True)
    (folder / "correct_squares.py").write_text(checks)
    (folder / "mistakes.py").write_text(mistakes)
    shown = "".join(text for kind, text in blocks if not kind)
    for line in shown.replace("/home/you/course101", str(root)).splitlines():
        if line.startswith("$ "):
            done = run(root, *line.removeprefix("$ ").split())
            said = f"{done.stdout}\n{done.stderr}"
        else:
            assert line in said


def test_a_generation_that_fails_leaves_the_release_as_it_was(adopted):
    root = adopted("failing")
    checks = root / "tests" / "ps2" / "b" / "partial.py"
    checks.parent.mkdir(parents=True)
    checks.write_text(BOUND)
    done = run_forked(["nbgrader", "generate_assignment", "ps2", "--force"], root)
    assert done.returncode == 1
    assert "`partial` is worth 3 points, but the checks in tests/ps2/b/partial.py add up to 2" in done.stderr
    assert (root / "release" / "ps2" / "b.ipynb").exists()
