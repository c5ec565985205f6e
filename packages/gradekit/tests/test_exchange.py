"""nbgrader's exchange between an instructor and two students, each with their own folders."""

import os
import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import nbformat
import pytest
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import ExchangeReleaseFeedback
from nbgrader.preprocessors import AssignLatePenalties
from nbgrader.utils import notebook_hash
from traitlets.config import Config

from gradekit.grading.running_course import RunningCourse
from gradekit.nbgrader_plugin.collecting import NamedReleaseFeedback
from gradekit.nbgrader_plugin.late import LatePenalty
from gradekit.submission.extra_files import SECRET, TIMESTAMP

from .forked import run_forked

RIGHT = "def double(x):\n    return 2 * x"
TRIPLE = "def double(x):\n    return 3 * x"
LATE = 'c.AssignLatePenalties.plugin_class = "gradekit.nbgrader_plugin.late.LatePenalty"\n'


@dataclass
class Person:
    """A user with their own home folder, who runs commands in `folder`."""

    folder: Path

    def run(self, *command: str) -> str:
        """Run a console script, which must succeed; returns its output."""
        own = {
            name: str(self.folder / ".home" / name.lower())
            for name in ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")
        }
        done = run_forked(command, self.folder, os.environ | own)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    def write_answer(self, source: str) -> None:
        path = self.folder / "01_double" / "double.ipynb"
        notebook = nbformat.read(path, as_version=4)
        next(cell for cell in notebook.cells if cell["id"] == "answer").source = source
        nbformat.write(notebook, path)

    def fetched_pages(self) -> list[str]:
        """The feedback pages that were fetched, oldest first."""
        pages = sorted((self.folder / "01_double" / "feedback").glob("*/double.html"))
        return [" ".join(page.read_text().split()) for page in pages]


@pytest.fixture
def exchange(generated, tmp_path):
    """Instructor, Ada and Ben, who share only the settings of the exchange."""
    shared = tmp_path / "exchange"
    shared.mkdir(mode=0o777)
    shared.chmod(0o777)
    settings = f'c.CourseDirectory.course_id = "tiny"\nc.Exchange.root = "{shared}"\n'
    with (generated.root / "nbgrader_config.py").open("a") as file:
        file.write("c = get_config()\n" + settings + LATE)
    people = [Person(generated.root)]
    for name in ("ada", "ben"):
        people.append(Person(tmp_path / name))
        people[-1].folder.mkdir()
        (people[-1].folder / "nbgrader_config.py").write_text(
            f'c = get_config()\n{settings}c.CourseDirectory.student_id = "{name}"\n'
        )
    return people


def set_deadline_to_now(instructor: Person) -> None:
    now = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f} UTC"
    instructor.run("nbgrader", "db", "assignment", "add", "01_double", f"--duedate={now}")


def penalty(course, student: str) -> float:
    with course.gradebook() as book:
        return book.find_submission("01_double", student).late_submission_penalty


@pytest.mark.thorough
def test_an_assignment_goes_to_two_students_and_their_feedback_comes_back(generated, exchange):
    instructor, ada, ben = exchange
    instructor.run("nbgrader", "release_assignment", "01_double")
    for student in (ada, ben):
        student.run("nbgrader", "fetch_assignment", "01_double")
        assert sorted(path.name for path in (student.folder / "01_double").iterdir()) == ["double.ipynb"]

    ada.write_answer(TRIPLE)
    ada.run("nbgrader", "submit", "01_double")
    set_deadline_to_now(instructor)
    ben.write_answer(RIGHT)
    ben.run("nbgrader", "submit", "01_double")
    instructor.run("nbgrader", "collect", "01_double")
    instructor.run("gradekit", "autograde", "01_double")
    assert (penalty(generated, "ada"), penalty(generated, "ben")) == (0, 1.5)
    table = [line.split() for line in instructor.run("gradekit", "table", "01_double").splitlines()]
    assert ["student", "status", "double", "why", "late", "total"] in table
    assert ["ben", "graded", "10", "0", "-1.5", "8.5"] in table

    instructor.run("nbgrader", "generate_feedback", "01_double")
    instructor.run("nbgrader", "release_feedback", "01_double")
    for student in (ada, ben):
        student.run("nbgrader", "fetch_feedback", "01_double")
    (page_of_ada,), (page_of_ben,) = ada.fetched_pages(), ben.fetched_pages()
    assert "3 of 15 points" in page_of_ada
    assert "You took three times the input." in page_of_ada
    assert "8.5 of 15 points" in page_of_ben
    assert "late penalty" in page_of_ben
    assert "late penalty" not in page_of_ada

    # Ada hands in again, late by now
    ada.write_answer(RIGHT)
    ada.run("nbgrader", "submit", "01_double")
    assert "use --update" in instructor.run("nbgrader", "collect", "01_double")
    instructor.run("nbgrader", "collect", "01_double", "--update")
    instructor.run("gradekit", "autograde", "01_double")
    assert penalty(generated, "ada") == 1.5
    instructor.run("nbgrader", "generate_feedback", "01_double")
    instructor.run("nbgrader", "release_feedback", "01_double")
    ada.run("nbgrader", "fetch_feedback", "01_double")
    first, second = ada.fetched_pages()
    assert "3 of 15 points" in first
    assert "8.5 of 15 points" in second


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["double (1)", "my-double-final", "Kopie von double"])
def test_a_student_who_renamed_the_notebook_fetches_its_page_under_that_name(exchange, name):
    instructor, ada, _ = exchange
    instructor.run("nbgrader", "release_assignment", "01_double")
    ada.run("nbgrader", "fetch_assignment", "01_double")
    ada.write_answer(TRIPLE)
    folder = ada.folder / "01_double"
    (folder / "double.ipynb").rename(folder / f"{name}.ipynb")
    ada.run("nbgrader", "submit", "01_double")
    for command in ("collect", "autograde", "generate_feedback", "release_feedback"):
        instructor.run("nbgrader", command, "01_double")
    ada.run("nbgrader", "fetch_feedback", "01_double")
    (page,) = (folder / "feedback").glob("*/*.html")
    assert page.stem == name and "You took three times the input." in page.read_text()


def test_pages_are_released_under_the_students_own_names_too(generated, tmp_path):
    shared = tmp_path / "exchange"
    shared.mkdir()
    config = RunningCourse.open(generated.root).config
    config.Exchange.root, config.CourseDirectory.course_id = str(shared), "tiny"
    config.CourseDirectory.assignment_id = "01_double"
    for student, name in (("ada", "double (1)"), ("ben", "double")):
        generated.hand_in(student, generated.answer(RIGHT), f"{name}.ipynb")
        folder = generated.root / "feedback" / student / "01_double"
        folder.mkdir(parents=True)
        for file, text in (
            (SECRET, student),
            (TIMESTAMP, "2026-01-10"),
            ("double.html", f"page of {student}"),
        ):
            (folder / file).write_text(text)
    for kind in (ExchangeReleaseFeedback, NamedReleaseFeedback):  # nbgrader's own finds nothing for ada
        kind(coursedir=CourseDirectory(config=config), config=config, authenticator=None).start()
        pages = {path.name: path.read_text() for path in (shared / "tiny" / "feedback").iterdir()}
        fetched = {
            who: pages.get(f"{notebook_hash(secret=who, notebook_id=name)}.html")
            for who, name in (("ada", "double (1)"), ("ben", "double"))
        }
        ours = kind is NamedReleaseFeedback
        assert fetched == {"ada": "page of ada" if ours else None, "ben": "page of ben"}


@pytest.mark.thorough
@pytest.mark.parametrize(("of", "points"), [("maximum", 15), ("earned", 10)])
def test_both_grading_commands_deduct_the_same_for_lateness(generated, of, points):
    rules = f"c.LatePenalty.per_day = 0.2\nc.LatePenalty.at_most = 0.5\nc.LatePenalty.of = {of!r}\n"
    with (generated.root / "nbgrader_config.py").open("a") as file:
        file.write("c = get_config()\n" + LATE + rules)
    days = ("in-time", "a-minute", "two-days", "a-week")
    generated.run("nbgrader", "db", "assignment", "add", "01_double", "--duedate=2026-01-10 12:00:00 UTC")
    when = ("10 11:59:00", "10 12:01:00", "12 12:00:00", "17 12:00:00")
    for student, time in zip(days, when, strict=True):
        path = generated.hand_in(student, generated.answer(RIGHT))
        path.with_name("timestamp.txt").write_text(f"2026-01-{time} UTC")
    costs = {"in-time": 0, "a-minute": 0.2 * points, "two-days": 0.4 * points, "a-week": 0.5 * points}
    for command in ("nbgrader", "gradekit"):
        generated.run(command, "autograde", "01_double", "--force")
        assert {student: penalty(generated, student) for student in days} == costs

    with generated.gradebook() as book:
        book.grant_extension("01_double", "two-days", days=1)
    generated.run("gradekit", "autograde", "01_double", "--force")
    assert penalty(generated, "two-days") == 0.2 * points


@pytest.mark.slow
@pytest.mark.parametrize("command", ["nbgrader", "gradekit"])
def test_points_that_a_person_gave_where_nothing_could_be_graded_are_not_lessened_for_lateness(
    generated, command
):
    with (generated.root / "nbgrader_config.py").open("a") as file:
        file.write("c = get_config()\n" + LATE)
    generated.run("nbgrader", "db", "assignment", "add", "01_double", "--duedate=2026-01-10 12:00:00 UTC")
    readable = generated.hand_in("ada", generated.answer(RIGHT))
    broken = generated.hand_in("ben", generated.answer(RIGHT))
    broken.write_text("{")
    for path in (readable, broken):
        path.with_name("timestamp.txt").write_text("2026-01-11 11:00:00 UTC")
    generated.run(command, "autograde", "01_double")
    with generated.gradebook() as book:
        for student in ("ada", "ben"):
            grade = book.find_grade("why", "double", "01_double", student)
            grade.manual_score, grade.needs_manual_grade = 4, False  # as formgrader does
        book.db.commit()
    generated.run(command, "autograde", "01_double", "--force")
    assert {student: penalty(generated, student) for student in ("ada", "ben")} == {"ada": 1.5, "ben": 0}


def test_the_grace_period_is_free_and_after_it_the_first_day_counts(generated):
    due = datetime(2026, 1, 10, 12)

    def cost(late: timedelta) -> float | None:
        with generated.gradebook() as gradebook:
            gradebook.update_or_create_student("ada")
            gradebook.update_or_create_assignment("01_double", duedate=due)
            gradebook.update_or_create_submission("01_double", "ada", timestamp=due + late)
            step = AssignLatePenalties(config=Config({"LatePenalty": {"grace_minutes": 30}}))
            step.gradebook, step.assignment_id, step.notebook_id = gradebook, "01_double", "double"
            return LatePenalty(parent=step).late_submission_penalty("ada", 15, late.total_seconds())

    assert cost(timedelta(minutes=30)) is None
    assert cost(timedelta(minutes=30, seconds=1)) == 1.5
    assert cost(timedelta(days=1, seconds=1)) == 3


@pytest.mark.thorough
def test_a_share_of_the_points_earned_leaves_the_rest_and_is_never_more_than_one_of_the_maximum(generated):
    due, drawn = datetime(2026, 10, 24, 21, 59), random.Random(39)
    with generated.gradebook() as gradebook:
        gradebook.update_or_create_student("ada")
        gradebook.update_or_create_assignment("01_double", duedate=due)

        def cost(of: str, score: float, days: float) -> float:
            gradebook.update_or_create_submission("01_double", "ada", timestamp=due + timedelta(days=days))
            rules = Config({"LatePenalty": {"of": of, "per_day": per_day, "at_most": at_most}})
            step = AssignLatePenalties(config=rules)
            step.gradebook, step.assignment_id, step.notebook_id = gradebook, "01_double", "double"
            found = LatePenalty(parent=step).late_submission_penalty("ada", score, 86400 * days)
            assert found is not None
            return found

        for _ in range(100):
            per_day, at_most = drawn.random(), drawn.random()
            score, days, later = drawn.uniform(0, 15), drawn.uniform(0.01, 9), drawn.uniform(0, 9)
            earned = cost("earned", score, days)
            assert 0 <= earned <= at_most * score
            assert earned <= cost("maximum", score, days)
            assert earned <= cost("earned", score, days + later)
            assert cost("earned", 0, days) == 0
            assert cost("earned", 15, days) == pytest.approx(cost("maximum", 15, days))
            assert cost("earned", score / 2, days) == pytest.approx(earned / 2)


def test_the_course_itself_deducts_nothing_for_lateness():
    settings = RunningCourse.open(Path(__file__).parents[3]).config
    assert "plugin_class" not in settings.AssignLatePenalties
