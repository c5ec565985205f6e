"""A sample class of two assignments: every way to grade a submission gives the same points.

One assignment has all odd cases, the other one files beside its notebook.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from gradekit.course import Course
from gradekit.grading.running_course import RunningCourse
from gradekit.report.table import class_table, table_lines
from gradekit.session.values import CheckOutcome
from gradekit.verdict.plugin import CHECKINGS
from gradekit.verdict.results import SubmissionResult
from gradekit_authoring.samples import ODD_CLASS, Sample, ordinary_class, write_class

pytestmark = pytest.mark.thorough
ROOT = Path(__file__).parents[2]
ODD = "02_attention"
ASSIGNMENTS = [ODD, "07_inside_pretrained"]
#: which limit stops code first, of memory or of time, depends on how fast the machine is
STOPPED = (CheckOutcome.TIMED_OUT, CheckOutcome.KERNEL_DIED)


class SampleCourse:
    """A copy of this course in which the sample class was graded by nbgrader's command, then by gradekit's."""

    def __init__(self, root: Path) -> None:
        self.course = Course(root)
        for folder in ("source", "release", "tests"):
            for name in ASSIGNMENTS:
                shutil.copytree(ROOT / folder / name, root / folder / name)
        shutil.copy(ROOT / "nbgrader_config.py", root)
        self.samples: dict[str, list[Sample]] = {}
        self.log = ""
        for name in ASSIGNMENTS:
            assignment = self.course.assignment(name)
            self._nbgrader("generate_assignment", name, "--force")
            self.samples[name] = [*ordinary_class(assignment), *(ODD_CLASS if name == ODD else [])]
            write_class(assignment, root / "submitted", self.samples[name])
            self._nbgrader("autograde", name)
        self.by_nbgrader = {
            (name, sample.student): self.verdict(name, sample) for name, sample in self.every()
        }
        for name in ASSIGNMENTS:
            options = ("--force", "--fresh", "--workers", "2")
            self._run("gradekit", "autograde", name, *options)
            self._nbgrader("generate_feedback", name)
        running = RunningCourse.open(root)
        self.tables = {name: class_table(running, self.course.assignment(name)) for name in ASSIGNMENTS}

    def _nbgrader(self, *command: str) -> None:
        self._run("nbgrader", *command)

    def _run(self, program: str, *command: str) -> None:
        script = Path(sys.executable).with_name(program)
        done = subprocess.run(
            [script, *command], cwd=self.course.root, capture_output=True, text=True, check=False
        )
        self.log += done.stdout + done.stderr
        assert done.returncode == 0, self.log[-5000:]

    def every(self) -> list[tuple[str, Sample]]:
        return [(name, sample) for name in ASSIGNMENTS for sample in self.samples[name]]

    def verdict(self, name: str, sample: Sample) -> dict | None:
        """What a person sees of a grading, without times."""
        if sample.student == "no-notebook":
            return None
        result = self.result(name, sample.student)
        return {
            "status": result.status,
            "outcomes": {
                f"{e.grade_id}::{c.name}": "stopped" if c.outcome in STOPPED else c.outcome
                for e in result.exercises
                for c in e.checks
            },
            "mistakes": {c.mistake for e in result.exercises for c in e.checks},
        }

    def row(self, name: str, student: str):
        return next(row for row in self.tables[name].rows if row.student == student)

    def result(self, name: str, student: str) -> SubmissionResult:
        (path,) = (self.course.root / "autograded" / student / name).glob("*.ipynb")
        return SubmissionResult.from_dict(nbformat.read(path, as_version=4).metadata["gradekit"])

    def page(self, name: str, student: str) -> str:
        (path,) = (self.course.root / "feedback" / student / name).glob("*.html")
        return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> SampleCourse:
    return SampleCourse(tmp_path_factory.mktemp("class"))


def test_a_class_graded_by_several_workers_has_the_grades_that_nbgrader_s_command_gives(graded):
    verdicts = {(name, sample.student): graded.verdict(name, sample) for name, sample in graded.every()}
    assert verdicts == graded.by_nbgrader


def test_every_submission_has_the_status_that_belongs_to_it(graded):
    found = {
        (name, sample.student): graded.row(name, sample.student).status for name, sample in graded.every()
    }
    assert found == {(name, sample.student): sample.status for name, sample in graded.every()}


def test_everybody_stands_in_the_table_of_every_assignment(graded):
    for name in ASSIGNMENTS:
        students = {sample.student for samples in graded.samples.values() for sample in samples}
        assert {row.student for row in graded.tables[name].rows} == students
        _, _, _, *lines = table_lines(graded.tables[name])
        assert {line.split("  ")[0] for line in lines[: len(students)]} == students


def test_full_marks_go_to_those_who_have_everything_right_and_to_nobody_else(graded):
    full = {
        (name, sample.student)
        for name, sample in graded.every()
        if sample.status not in ("unreadable", "missing") and graded.result(name, sample.student).earned == 90
    }
    assert full == {(name, sample.student) for name, sample in graded.every() if sample.full}


def test_a_mistake_in_one_exercise_costs_no_points_in_the_others(graded):
    for sample in graded.samples[ODD]:
        if sample.status != "graded" or sample.student == "blank":
            continue
        exercises = graded.result(ODD, sample.student).exercises
        assert sum(exercise.earned < exercise.points for exercise in exercises) <= 1, sample.student


@pytest.mark.parametrize(
    "student", [s.student for s in ODD_CLASS if s.status in ("timed out", "kernel died", "partly graded")]
)
def test_what_breaks_one_exercise_leaves_the_points_of_the_others(graded, student):
    assert graded.result(ODD, student).earned >= 60 - 1e-9


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_what_was_not_answered_is_told_of_its_own_cell(graded, name):
    for exercise in graded.result(name, "blank").exercises:
        own = exercise.grade_id.removeprefix("test_")
        assert {check.message for check in exercise.checks} == {
            f"Not answered: the cell `{own}` is as it was handed out."
        }


def test_unreadable_and_missing_submissions_have_no_points_instead_of_zero(graded):
    for sample in graded.samples[ODD]:
        if sample.status in ("unreadable", "missing"):
            row = graded.row(ODD, sample.student)
            assert row.total is None
            assert set(row.points.values()) <= {None}


@pytest.mark.parametrize(
    ("student", "words"),
    [
        ("syntax-error", "stopped with SyntaxError: invalid syntax (line 26)."),
        ("exception", "raised ValueError: this does not work yet"),
        ("wrong-type", "a str"),
        ("wrong-shape", "has shape"),
        ("endless-loop-in-a-cell", "it ran for more than 20 s"),
        ("endless-loop-in-a-call", "ran for more than 5 s and was stopped"),
        ("endless-loop-that-ignores-interrupts", "ignored the interrupt"),
        ("os-exit-in-a-cell", "ended the Python process"),
        ("os-exit-in-a-call", "ended the Python process"),
        ("memory-hog", "used more than 2048 MiB of memory"),
        ("sys-exit", "SystemExit"),
        ("test-cell-deleted", "Deleted cells were put back"),
        ("test-cell-edited", "was edited, so it was restored"),
        ("test-cell-doubled", "more than once: one copy was removed"),
        ("marks-stripped", "Marks that nbgrader needs were missing"),
        ("answer-doubled", "more than once: the last one counts"),
        ("other-kernel", "saved with another kernel (R)"),
        ("other-name", "it was graded as attention.ipynb"),
        ("invalid-json", "can't be read as a notebook"),
        ("empty-file", "is an empty file"),
        ("not-a-notebook", "can't be read as a notebook"),
        ("blank", "Not answered"),
    ],
)
def test_the_page_says_what_was_the_matter(graded, student, words):
    page = graded.page(ODD, student)
    assert words in page
    assert f"Status: {graded.row(ODD, student).status}." in page


def test_no_command_printed_a_traceback_or_an_error(graded):
    assert "Traceback" not in graded.log
    assert "| ERROR" not in graded.log
    assert "| CRITICAL" not in graded.log


def test_a_file_with_50_MB_of_output_leaves_a_small_page(graded):
    assert len(graded.page(ODD, "50-MB-of-output")) < 2_000_000
    assert len(graded.page(ODD, "prints-50-MB")) < 2_000_000


def test_no_other_page_is_larger_than_150_kB(graded):
    pages = [
        (name, sample.student, graded.page(name, sample.student))
        for name, sample in graded.every()
        if sample.status != "missing" and sample.student != "prints-50-MB"
    ]
    assert [(*which, len(page)) for *which, page in pages if len(page.encode()) > 150_000] == []


def test_pytest_on_one_submission_gives_the_same_points_as_nbgrader(graded, monkeypatch):
    """Every sample that could be graded, through `pytest tests/<assignment> --submission PATH`."""
    differing = {}
    for name, sample in graded.every():
        if sample.status != "graded":
            continue
        (path,) = (graded.course.root / "submitted" / sample.student / name).glob("*.ipynb")
        points = _points_by_pytest(graded.course.root / "tests" / name, path)
        if points != {e.grade_id: e.earned for e in graded.result(name, sample.student).exercises}:
            differing[name, sample.student] = points
    assert differing == {}


def _points_by_pytest(folder: Path, submission: Path) -> dict[str, float]:
    points: dict[str, float] = {}

    class Collector:
        def pytest_unconfigure(self, config: pytest.Config) -> None:
            for run in config.stash[CHECKINGS].values():
                points.update({name: exercise.earned for name, exercise in run.exercises.items()})

    quiet = [part for name in ("terminal", "cacheprovider", "xdist") for part in ("-p", f"no:{name}")]
    root = str(folder.parents[1])
    own = [
        "-c",
        "/dev/null",
        "--rootdir",
        root,
        "--confcutdir",
        root,
        "--import-mode=importlib",
        "--capture=no",
    ]
    pytest.main([*quiet, *own, str(folder), "--submission", str(submission)], plugins=[Collector()])
    return points


def test_the_printed_points_of_pytest_are_those_of_nbgrader(graded):
    """The command as the README has it, in a process of its own, for one submission."""
    student = next(sample.student for sample in graded.samples[ODD] if sample.student.startswith("mistake"))
    path = graded.course.root / "submitted" / student / ODD / "attention.ipynb"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", f"tests/{ODD}", "--submission", path],
        cwd=graded.course.root,
        capture_output=True,
        text=True,
        check=False,
    )
    for exercise in graded.result(ODD, student).exercises:
        assert f"{exercise.grade_id}: {exercise.earned:g} of {exercise.points:g} points" in done.stdout
