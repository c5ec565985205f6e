"""`gradekit adopt --compare` grades the submissions with both graders, in copies, and says why scores differ."""

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat import v4
from nbgrader.api import Gradebook

from gradekit.cli import main
from gradekit.course.cells import grade_id
from gradekit.grading.running_course import RunningCourse
from gradekit.session.values import CheckOutcome
from gradekit.verdict.results import CheckResult, ExerciseResult, Status, SubmissionResult
from gradekit_authoring.adopt.autograder_comparison import (
    AutograderComparison,
    GradedNotebook,
    ScorePair,
    failed_submissions,
    first_error,
    reason,
)
from gradekit_authoring.adopt.copies import generated, plain_copy
from gradekit_authoring.adopt.text import comparison_lines

CHECK = '''
from gradekit.checks import points


@points(3)
def test_negative(student):
    """The double of -2 is -4."""
    assert student.double(-2) == -4, f"`double(-2)` returned {student.double(-2)}."
'''
RIGHT, WRONG = "def double(x):\n    return 2 * x", "def double(x):\n    return x + 2"


def marked(cell, name, **values):
    base = {"grade": False, "locked": False, "schema_version": 3, "solution": False, "task": False}
    cell.metadata["nbgrader"] = {**base, "grade_id": name, **values}
    return cell


def notebook(answer, first="pass"):
    solution = f"### BEGIN SOLUTION\n{answer}\n### END SOLUTION"
    tests = {"grade": True, "locked": True}
    cells = [
        v4.new_code_cell(first),
        marked(v4.new_code_cell(solution), "double", solution=True),
        marked(v4.new_code_cell("assert double(2) == 4"), "correct", points=2, **tests),
        marked(v4.new_code_cell("assert double(2) == 4"), "hidden", points=3, **tests),
        marked(v4.new_code_cell("assert len(lines) == 1"), "reads", points=1, **tests),
        marked(v4.new_markdown_cell("Because."), "why", grade=True, solution=True, points=4),
    ]
    kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return v4.new_notebook(cells=cells, metadata={"kernelspec": kernelspec})


def files(root: Path) -> dict[Path, tuple[int, bytes]]:
    found = sorted(path for path in root.rglob("*") if path.is_file())
    return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in found}


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """A course with odd names and settings, what `gradekit adopt --compare` printed, and whether files changed."""
    root = tmp_path_factory.mktemp("compare") / "Kurs für 1"
    outside = tmp_path_factory.mktemp("elsewhere") / "data.txt"
    outside.write_text("one line\n")
    (root / "tests" / "woche 1").mkdir(parents=True)
    (root / "tests" / "woche 1" / "hidden.py").write_text(CHECK)
    reads = f"lines = open({str(outside)!r}).readlines()"
    places = {
        "source": notebook(RIGHT, reads),
        "handed in/ada": notebook(RIGHT, reads),
        "handed in/dee": notebook(RIGHT, "import os\nos._exit(1)"),
        "handed in/zoë b": notebook(WRONG, "lines = [1]"),
    }
    for place, content in places.items():
        path = root / place / "woche 1" / "a.b.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(content, path)
    broken = root / "handed in" / "cy" / "woche 1" / "a.b.ipynb"
    broken.parent.mkdir(parents=True)
    broken.write_text("{")
    (root / "nbgrader_config.py").write_text(
        "from gradekit.nbgrader_plugin import configure\nc = get_config()\n"
        f"c.CourseDirectory.submitted_directory = {str(root / 'handed in')!r}\n"
        "c.CourseDirectory.autograded_directory = 'graded'\nconfigure(c)\n"
    )
    (root / "graded").mkdir()
    (root / "graded" / "mine.txt").write_text("not to be touched")
    before = files(root)
    command = [sys.executable, "-m", "gradekit", "--course-dir", str(root), "adopt", "--compare", "--json"]
    done = subprocess.run([*command, "--workers", "2"], capture_output=True, text=True, check=False, cwd=root)
    assert done.returncode == 1, done.stderr
    return json.loads(done.stdout), done.stderr, before == files(root)


@pytest.mark.thorough
def test_each_score_is_equal_or_different_with_a_reason(compared):
    (found,) = compared[0]["assignments"]
    scores = {(row["student"], row["cell"]): row for row in found["scores"]}
    shown = {key: (row["nbgrader"], row["gradekit"]) for key, row in scores.items()}
    assert shown == {
        ("ada", "correct"): (2, 2),
        ("ada", "hidden"): (3, 3),
        ("ada", "reads"): (1, 0),
        ("ada", "why"): (None, None),
        ("cy", "correct"): (None, None),
        ("cy", "hidden"): (None, None),
        ("cy", "reads"): (None, None),
        ("cy", "why"): (None, None),
        ("dee", "correct"): (None, 2),
        ("dee", "hidden"): (None, 3),
        ("dee", "reads"): (None, 0),
        ("dee", "why"): (None, None),
        ("zoë b", "correct"): (2, 2),
        ("zoë b", "hidden"): (3, 0),
        ("zoë b", "reads"): (1, 1),
        ("zoë b", "why"): (None, None),
    }
    different = {key: row["why"] for key, row in scores.items() if not row["equal"]}
    stopped = different.pop(("dee", "correct"))
    assert stopped.startswith("nbgrader has not graded this notebook; it stopped with ")
    assert "DeadKernelError: Kernel died" in stopped
    assert {different.pop(("dee", cell)) for cell in ("hidden", "reads")} == {stopped}
    assert different.keys() == {("ada", "reads"), ("zoë b", "hidden")}
    assert "Cell 1 opens a file that the sandbox doesn't have (FileNotFoundError" in different["ada", "reads"]
    assert different["zoë b", "hidden"] == "gradekit graded it with hidden checks. `double(-2)` returned 0."


@pytest.mark.thorough
def test_both_graders_are_timed(compared):
    (found,) = compared[0]["assignments"]
    assert found["nbgrader_seconds"] > 0 and found["gradekit_seconds"] > 0
    assert found["workers"] == 2


@pytest.mark.thorough
def test_the_command_first_says_that_nbgrader_has_no_sandbox(compared):
    assert compared[1].startswith("nbgrader now runs the students' code on this machine without a sandbox")


@pytest.mark.thorough
def test_no_file_of_the_course_is_changed_added_or_removed(compared):
    assert compared[2]


def test_without_submissions_there_is_nothing_to_compare(tmp_path, capsys):
    path = tmp_path / "source" / "ps1" / "a.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(notebook(RIGHT), path)
    assert main(["--course-dir", str(tmp_path), "adopt", "--compare"]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert f"{tmp_path / 'submitted'} has no submission to compare: copy some there" in error
    assert os.listdir(tmp_path) == ["source"]


@pytest.mark.thorough
def test_a_course_that_nbgrader_can_t_grade_here_has_gradekit_s_scores_and_the_reason(tmp_path, capsys):
    content = notebook(RIGHT)
    content.metadata["kernelspec"]["name"] = "an-ide-1f8f"
    for place in ("source/ps1", "submitted/ada/ps1"):
        path = tmp_path / place / "a.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(content, path)
    assert main(["--course-dir", str(tmp_path), "adopt", "--compare", "--workers", "1"]) == 1
    rows = capsys.readouterr().out.splitlines()
    (row,) = [row for row in rows if "stopped" in row]
    assert row.split()[:6] == ["ada", "a", "3", "cells", "-", "5"]
    assert "NoSuchKernel: No such kernel named an-ide-1f8f" in row


@pytest.mark.slow
def test_a_course_plugged_in_through_another_file_is_not_compared(tmp_path, capsys):
    for place in ("source/ps1", "submitted/ada/ps1"):
        path = tmp_path / place / "a.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(notebook(RIGHT), path)
    (tmp_path / "base.py").write_text(
        "from gradekit.nbgrader_plugin import configure\nconfigure(get_config())\n"
    )
    (tmp_path / "nbgrader_config.py").write_text("load_subconfig('base.py')\n")
    assert main(["--course-dir", str(tmp_path), "adopt", "--compare"]) == 2
    assert "is configured for gradekit in a file other than nbgrader_config.py" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("encoding", "config"),
    [
        ("utf-8", "c = get_config()\nc.CourseDirectory.course_id = 'é'\n"),
        ("latin-1", "# -*- coding: latin-1 -*-\nc = get_config()\nc.CourseDirectory.course_id = 'é'"),
        ("utf-8-sig", "c = get_config()\r\nc.CourseDirectory.course_id = 'é'\r\n"),
        (
            "utf-8",
            "from gradekit.nbgrader_plugin import configure\nc = get_config()\n"
            "c.CourseDirectory.course_id = 'é'\nif c:\n    configure(\n        c,\n    )\n",
        ),
    ],
)
def test_the_copies_have_the_course_s_settings_and_gradebook_without_earlier_scores(
    tmp_path, encoding, config, monkeypatch
):
    course = tmp_path / "zoë's course"
    for place in ("source/ps1", "release/ps1", "submitted/ada/ps1", "autograded/ada/ps1", "data"):
        path = course / place / "a.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(notebook(RIGHT), path)
    (course / "nbgrader_config.py").write_bytes(config.encode(encoding))
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        gradebook.add_assignment("ps1")
        gradebook.add_notebook("a", "ps1")
        gradebook.add_student("ada")
        gradebook.add_submission("ps1", "ada")
    before = files(course)
    plain = plain_copy(RunningCourse.open(course), tmp_path / "größe", ["ps1"])
    ours = plain.plug_in(tmp_path / "ours")
    assert files(course) == before
    for copy, adopted in [(plain, False), (ours, True)]:
        opened = RunningCourse.open(copy.root)
        assert ("Autograde" in opened.config) is adopted
        assert opened.folders.course_id == "é"
        assert opened.folders.db_url == f"sqlite:///{copy.root / 'gradebook.db'}"
        assert sorted(path.name for path in copy.root.iterdir()) == [
            "data", "gradebook.db", "nbgrader_config.py", "release", "source", "submitted",
        ]  # fmt: skip
        monkeypatch.chdir(course)  # nbgrader reads the configuration in the working directory, too
        assert ("Autograde" in copy.course.config) is adopted
        assert generated(copy, "ps1", "é")
        with Gradebook(copy.gradebook_url) as gradebook:
            assert gradebook.find_assignment("ps1").submissions == []


def error(ename, evalue=""):
    return v4.new_output("error", ename=ename, evalue=evalue, traceback=[])


def stderr(text):
    return v4.new_output("stream", name="stderr", text=text)


def graded(first=(), test=(), *checks, status=Status.GRADED, notes=()):
    """A graded notebook: outputs of an early cell and of the test cell, and gradekit's checks of that."""
    content = notebook(RIGHT)
    content.cells[0].outputs, content.cells[2].outputs = list(first), list(test)
    exercises = [ExerciseResult("correct", list(checks))] if status is Status.GRADED else []
    return GradedNotebook(content, SubmissionResult(status, notes=list(notes), exercises=exercises))


def check(outcome, message):
    return CheckResult("correct", "A sentence.", 2, outcome, message)


FAILED = check(CheckOutcome.FAILED, "NameError: name 'x' is not defined")
PASSED = check(CheckOutcome.PASSED, "")


@pytest.mark.parametrize(
    ("nbgrader", "gradekit", "said"),
    [
        (graded(), graded([], [], check(CheckOutcome.TIMED_OUT, "The cell ran for more than 30 s.")),
         "With gradekit it ran out of time. The cell ran for more than 30 s."),
        (graded([], [error("CellTimeoutError")]), graded([], [], PASSED), "With nbgrader it ran out of time."),
        (graded([], [stderr("\nWarning: deprecated\n")]), graded([], [], PASSED),
         "With nbgrader it wrote to stderr, which costs its points: Warning: deprecated"),
        (graded(), graded([], [stderr("new\n")], FAILED),
         "With gradekit it wrote to stderr, which costs its points: new"),
        (graded(), graded([error("URLError", "<urlopen error [Errno -3] Temporary failure in name resolution>")],
                          [error("NameError")], FAILED),
         "Cell 1 uses the network, which the sandbox doesn't have (URLError)."),
        (graded(), graded([error("ModuleNotFoundError", "No module named 'foo'")], [error("NameError")], FAILED),
         "Cell 1: No module named 'foo' in the sandbox. Install the package in gradekit's environment (see `gradekit doctor`)."),
        (graded(), graded([], [error("MemoryError")], FAILED),
         "Cell 3 needs more memory than the sandbox allows; raise c.RunChecks.memory_limit."),
        (graded(), graded([error("OSError", "other")], [error("KeyError", "1")], FAILED),
         "With gradekit, cell 3 raises KeyError: 1."),
        (graded(), graded([error("OSError", "other")], [error("NameError", "name 'double' is not defined")], FAILED),
         "With gradekit, cell 3 raises NameError: name 'double' is not defined."),
        (graded(), graded([error("FileNotFoundError", "No such file: 'ps1.ipynb'")], [error("NameError")], FAILED),
         "Cell 1 opens a notebook (FileNotFoundError: No such file: 'ps1.ipynb'). The sandbox has none, not even the "
         "one that is run."),
        (GradedNotebook(None, failure="DeadKernelError: Kernel died"), graded([], [], PASSED),
         "nbgrader has not graded this notebook; it stopped with DeadKernelError: Kernel died."),
        (graded(), graded([], [error("KeyError", "1")], FAILED), "With gradekit, cell 3 raises KeyError: 1."),
        (graded([error("OSError", "busy")]), graded([], [], PASSED), "With nbgrader, cell 1 raises OSError: busy."),
        (graded(), graded([], [], check(CheckOutcome.KERNEL_DIED, "The cell ended it.")),
         "With gradekit it ended its Python process. The cell ended it."),
        (graded(), graded(status=Status.UNREADABLE, notes=["It is empty."]),
         "For gradekit its status is unreadable, without a score; a person decides. It is empty."),
        (GradedNotebook(None, failure="ValidationError: Corrupted."), graded([], [], PASSED),
         "nbgrader has not graded this notebook; it stopped with ValidationError: Corrupted."),
        (GradedNotebook(None), graded([], [], PASSED), "nbgrader has not graded this notebook; it stopped with an error."),
        (graded(), GradedNotebook(None), "gradekit has not graded this notebook."),
        (graded(), graded([], [], FAILED),
         "gradekit: no error; nbgrader: no error. The code may be random; compare again."),
    ],
)  # fmt: skip
def test_the_reason_for_a_difference_is_named(nbgrader, gradekit, said):
    assert reason("correct", nbgrader, gradekit, is_bound=False) == said


def test_a_test_cell_that_the_student_deleted_is_the_reason():
    without = graded()
    without.content.cells = [cell for cell in without.content.cells if grade_id(cell) != "correct"]
    assert reason("correct", without, graded([], [], PASSED), is_bound=False).startswith(
        "The student deleted this cell. gradekit restores it"
    )


def test_a_cell_below_is_never_the_reason():
    below = graded([], [], FAILED)
    below.content.cells[4].outputs = [error("OSError", "later")]
    assert reason("correct", graded(), below, is_bound=False).startswith(
        "gradekit: no error; nbgrader: no error."
    )


LOG = """\
[AutogradeApp | INFO] Converting notebook /c/submitted/ada b/ps1/a.ipynb
[AutogradeApp | INFO] Pre-convert hook failed
Traceback (most recent call last):
ValueError: harmless
[AutogradeApp | ERROR] There was an error processing assignment: /c/submitted/ada b/ps1
[AutogradeApp | ERROR] Traceback (most recent call last):
      File "execute.py", line 1, in preprocess
        raise DeadKernelError("Kernel died")
    nbclient.exceptions.DeadKernelError: Kernel died

[AutogradeApp | WARNING] Removing failed assignment: /c/autograded/ada b/ps1
[AutogradeApp | ERROR] While processing assignment /c/submitted/ben/ps1, the kernel became unresponsive and we
[AutogradeApp | ERROR] Please see the error log (.nbgrader.log) for details on the specific errors.
"""


def test_why_nbgrader_stopped_is_read_from_its_log():
    assert failed_submissions(LOG) == {
        "/c/submitted/ada b/ps1": "nbclient.exceptions.DeadKernelError: Kernel died",
        "/c/submitted/ben/ps1": "a kernel that ignored the interrupt after the time limit",
    }
    assert first_error(LOG) == "nbclient.exceptions.DeadKernelError: Kernel died"


@pytest.mark.parametrize(
    "line", ["pkg.kernelspec.NoSuchKernel: No such kernel named x", "sqlite3.OperationalError: locked"]
)
def test_an_exception_of_a_package_is_found_whatever_its_class_is_called(line):
    log = LOG.replace("nbclient.exceptions.DeadKernelError: Kernel died", line)
    assert failed_submissions(log)["/c/submitted/ada b/ps1"] == line


def test_an_error_without_a_traceback_is_its_own_reason():
    assert first_error("[A | INFO] x\n[A | ERROR] No notebooks were matched\n[A | INFO] y\n") == (
        "No notebooks were matched"
    )
    assert first_error("Segmentation fault\n") == "Segmentation fault"
    assert first_error("") == "it printed nothing"


def test_equal_cells_of_a_notebook_share_a_row_and_so_do_those_that_differ_for_one_reason():
    scores = [
        ScorePair("ada", "a", "one", 2, 2, 2),
        ScorePair("ada", "a", "two", 1, 0.5, 0.5),
        ScorePair("ada", "a", "three", 3, 3, 0, "The reason."),
        ScorePair("ben", "a", "one", 2, None, None),
        *(ScorePair("ben", "a", cell, 2, None, 1, "nbgrader stopped.") for cell in ("two", "three")),
        *(ScorePair("cy", "a", cell, 2, None, 1, "nbgrader stopped.") for cell in ("one", "two", "three")),
    ]
    found = AutograderComparison("ps1", 1, scores, 61.24, 5.0, ("big",))
    assert list(comparison_lines(found)) == [
        "ps1",
        "  student  notebook  cell          nbgrader  gradekit  why",
        "  ada      a         2 of 3 cells       2.5       2.5  equal",
        "  ada      a         three                3         0  The reason.",
        "  ben      a         1 of 3 cells         -         -  equal",
        "  ben      a         two, three           -         2  nbgrader stopped.",
        "  cy       a         3 cells              -         3  nbgrader stopped.",
        "  3 of 9 scores are equal.",
        "  nbgrader took 61.2 s in one process, gradekit 5.0 s with 1 worker.",
        "  Left out of the copies, since they are large: big",
    ]
