"""The class report: its figures against those computed by hand, and its page and data for classes of any size."""

import csv
import json
import re
import shutil
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from nbgrader.api import Grade, Student, SubmittedAssignment, SubmittedNotebook

from gradekit.course import CourseError
from gradekit.report.charts import outcome_map, progress_chart, score_distribution
from gradekit.report.class_report import ClassReport, make_report, report_as_html, summary_lines
from gradekit.report.pages import DefendedExercise, DefenseFound, SimilarityFound
from gradekit.report.statistics import (
    AssignmentScores,
    check_statistics,
    exercise_outcomes,
    fell_behind,
    named_mistakes,
    point_biserial,
    progress,
)
from gradekit.report.table import ClassTable, Row, class_table
from gradekit.verdict.results import CheckResult, ExerciseResult, SubmissionResult

from .forked import run_forked
from .tiny_course import RIGHT, RIGHT_HALF


def class_with(rows: dict[str, str], points: tuple[float, ...] = ()) -> ClassTable:
    """A class by student: `x` failed, `.` passed, `-` not answered."""
    points = points or (1.0,) * len(next(iter(rows.values())))
    outcomes = {"x": "failed", ".": "passed", "-": "not answered"}
    members = []
    for student, marks in rows.items():
        exercise = ExerciseResult(
            "test_x",
            [
                CheckResult(f"test_{number}", f"Check {number}.", points[number], outcomes[mark])
                for number, mark in enumerate(marks)
            ],
        )
        row = Row(student, "graded", {"test_x": exercise.earned}, out_of=sum(points))
        row.exercises = [("test_x", exercise)]
        members.append(row)
    return ClassTable("01_x", {"test_x": sum(points)}, members)


def scored(assignment: str, scores: dict[str, float | None]) -> ClassTable:
    rows = [
        Row(student, "missing" if score is None else "graded", {"test_x": score}, out_of=100)
        for student, score in scores.items()
    ]
    return ClassTable(assignment, {"test_x": 100}, rows)


# --------------------------------------------------------------------------------------------------- statistics


def test_the_point_biserial_correlation_is_as_lord_and_novick_define_it():
    random = np.random.default_rng(3)
    passed, scores = random.random(40) < 0.6, random.normal(size=40)
    gap = scores[passed].mean() - scores[~passed].mean()
    expected = gap / scores.std() * (passed.mean() * (1 - passed.mean())) ** 0.5
    assert point_biserial(passed, scores) == pytest.approx(expected)
    # by hand: means 4 and 1, deviation of 1, 1, 3, 5 is √2.75, half passed
    assert point_biserial([False, False, True, True], [1, 1, 3, 5]) == pytest.approx(3 / 2.75**0.5 / 2)


def test_an_undefined_correlation_is_none():
    assert point_biserial([True, True], [1, 2]) is None
    assert point_biserial([False, True], [2, 2]) is None
    assert point_biserial([], []) is None


def test_a_check_is_correlated_with_the_score_in_all_other_checks():
    results = class_with({"a": "...", "b": "..x", "c": "x.x", "d": ".xx"}, points=(1, 2, 4))
    (first, _, third) = check_statistics(results)
    assert first.difficulty == 0.75
    assert first.discrimination == pytest.approx(np.corrcoef([1, 1, 0, 1], [6, 2, 2, 0])[0, 1])
    assert third.discrimination == pytest.approx(np.corrcoef([1, 0, 0, 0], [3, 3, 2, 1])[0, 1])


def repeated(*marks: str, times: int = 6) -> dict[str, str]:
    return {f"{number}-{copy}": row for number, row in enumerate(marks) for copy in range(times)}


def test_checks_that_do_not_discriminate_get_a_warning():
    found = check_statistics(class_with(repeated("..x.", "..x.", ".xxx", ".xxx")))
    assert [statistics.warning.split(":")[0] for statistics in found] == [
        "Everybody passes",
        "",
        "Nobody passes",
        "",
    ]
    same_everywhere = check_statistics(class_with(repeated(".xx", "xxx", "..x", "x.x")))
    assert same_everywhere[0].warning == "Doesn't discriminate: students who pass do no better elsewhere."


def test_a_check_that_better_students_fail_gets_a_warning():
    found = check_statistics(class_with(repeated("x...", "x...", ".xxx", ".xx.")))
    assert found[0].warning == "Students who do better elsewhere fail it: look at the check."


def test_small_classes_get_no_judgment():
    found = check_statistics(class_with(repeated("..", ".x", "xx", times=2)))
    assert {statistics.warning for statistics in found} == {"Too few students to judge."}


@pytest.mark.parametrize("students", [2, 3, 19, 20])
def test_in_every_class_of_two_or_more_it_is_said_that_nobody_passes_a_check(students):
    (passed, failed) = check_statistics(class_with({f"s{number}": ".x" for number in range(students)}))
    assert failed.never_passed and failed.warning.startswith("Nobody passes")
    assert not passed.never_passed


def test_one_student_who_fails_says_nothing_about_the_check():
    assert not check_statistics(class_with({"a": "x"}))[0].never_passed


def test_mistakes_are_counted_once_per_student_and_by_their_sentence():
    results = class_with({"a": "xx", "b": "x.", "c": ".."})
    for member, check, name in [("a", 0, "swap"), ("a", 1, "swap"), ("b", 0, "swapped")]:
        found = next(m for m in results.members if m.student == member)
        found.outcomes[f"test_x::test_{check}"].mistake = name
        found.outcomes[f"test_x::test_{check}"].diagnosis = "You swapped them."
    (mistake,) = named_mistakes(results)
    assert mistake.students == ("a", "b")
    assert mistake.names == ("swap", "swapped")


def test_missing_students_have_no_score():
    stages = progress([scored("01", {"a": 50, "b": 100, "c": None}), scored("02", {"a": None})])
    assert [(stage.assignment, stage.scores, stage.missing) for stage in stages] == [("01", (50, 100), 1)]
    assert stages[0].quartiles == (62.5, 75, 87.5)


def test_each_exercise_has_those_who_passed_and_defended_it_or_the_scores_that_people_gave():
    results = class_with({"ann": "..", "bob": ".x", "cy": "--", "dan": ".."})
    results.maximum["why"] = 5
    for row, score in zip(results.rows, (4, None, 0, 3), strict=True):
        row.points["why"] = score
        row.waiting = ["why"] if score is None else []
    code, written = exercise_outcomes(results, {"x": 1})
    assert (code.passed, code.defended, code.scores, code.waiting) == (2, 1, (), 0)
    assert (written.passed, written.defended, written.scores, written.waiting) == (None, None, (4, 0, 3), 1)
    assert written.quartiles == (1.5, 3, 3.5) and code.quartiles is None


def test_students_fall_behind_if_they_do_worse_while_the_class_does_not():
    before = scored("01", {"a": 90, "b": 80, "c": 95, "d": 85, "e": 90})
    harder = scored("02", {"a": 50, "b": 45, "c": 55, "d": 50, "e": 10})
    assert [one.student for one in fell_behind([before, harder])] == ["e"]
    gone = scored("02", {"a": 90, "b": 80, "c": None, "d": 85, "new": None})
    assert [(one.student, one.before, one.score) for one in fell_behind([before, gone])] == [("c", 95, None)]


# ------------------------------------------------------------------------------------------------------ figures


def test_a_figure_is_described_in_words():
    results = class_with({"a": "....", "b": "...x", "c": "..xx", "d": "--xx"})
    text = score_distribution(results).text
    assert text.startswith("Histogram of the scores of 4 students: median 62 %")
    assert "lowest 0, highest 100" in text
    assert "Missed by most: x: 3 (75%)" in outcome_map(results).text


def test_a_score_above_a_hundred_percent_is_drawn_at_the_edge():
    extra, full = (scored("01_x", {"ada": 50, "ben": 50, "cleo": last}) for last in (120, 100))
    assert score_distribution(extra).address == score_distribution(full).address
    assert "highest 120" in score_distribution(extra).text
    one, other = ([AssignmentScores("01_x", (50, 50, last), 0)] for last in (120, 100))
    assert progress_chart(one).address == progress_chart(other).address


@pytest.mark.parametrize("rows", [{"a": "."}, {"a": "xx", "b": ".."}, repeated("...", "...", times=5)])
def test_a_class_may_be_small_or_identical(rows):
    results = class_with(rows)
    assert outcome_map(results).address.startswith("data:image/png;base64,")
    assert score_distribution(results).address.startswith("data:image/png;base64,")


# -------------------------------------------------------------------------------------- a class that was graded


def report_of(course) -> ClassReport:
    running = course.running
    return make_report(running, class_table(running, course.assignment))


def test_the_report_of_a_class_in_which_everything_happens(graded_class, capsys):
    assert graded_class.gradekit("report", "01_double") == 0
    printed = capsys.readouterr().out
    assert "01_double: 4 graded, 1 unreadable" in printed
    assert (
        "awaiting manual grading" not in printed
    )  # nobody answered `why`, and an unreadable notebook is no answer

    folder = graded_class.root / "reports" / "01_double"
    assert printed.split()[-1] == str(folder / "report.html")
    data = json.loads((folder / "report.json").read_text())
    assert sum(data["statuses"].values()) == 9
    with (folder / "students.csv").open(newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert rows["right"]["test_double::test_value"] == "passed"
    assert rows["mistake"]["test_double::test_value"] == "failed"
    assert rows["missing"]["score"] == rows["broken"]["score"] == ""
    with (folder / "checks.csv").open(newline="") as file:
        checks = {row["check"]: row for row in csv.DictReader(file)}
    # 7 have results: right and floor pass; mistake, blank, exception, loop, and exits do not
    assert (checks["test_value"]["students"], checks["test_value"]["passed"]) == ("7", "2")

    page = (folder / "report.html").read_text()
    assert "You took three times the input." in page
    for student in ("missing", "broken", "loop", "exits"):
        assert student in page


def test_the_page_loads_nothing_and_runs_no_script(graded_class):
    graded_class.gradekit("report", "01_double")
    page = (graded_class.root / "reports/01_double/report.html").read_text()
    assert "default-src 'none'; img-src data:; style-src 'unsafe-inline'" in page
    assert "<script" not in page and "javascript:" not in page
    assert re.findall(r'(?:src|href)="(?!data:image/png;|#)', page) == []
    assert page.count("<img") == page.count(' alt="') > 0


@pytest.mark.slow
def test_text_from_students_is_escaped_on_the_page(four_times):
    evil = "def double(x):\n    '</pre><script>alert(1)</script>'\n    return 5 * x"
    for student in ("<b>yan", "<b>zoe", "=1+1\x1b[31m", "$x^$"):
        four_times.hand_in(student, four_times.answer(evil, "def half(x):\n    return x / 2"))
    assert four_times.gradekit("autograde", "01_double", "--workers", "1", "--strict") == 1, (
        "two folders were renamed"
    )
    assert four_times.gradekit("report", "01_double") == 0
    page = (four_times.root / "reports/01_double/report.html").read_text()
    assert "&lt;script&gt;alert(1)" in page and "<script" not in page
    assert "‹b›zoe" in page and "<b>zoe" not in page
    assert r"=1+1\x1b[31m" in page and "\x1b" not in page
    table = (four_times.root / "reports/01_double/students.csv").read_text()
    assert "\n'=1+1\\x1b[31m," in table and "\x1b" not in table


def test_without_grades_the_report_says_what_to_do(empty_class, capsys):
    assert empty_class.gradekit("report", "01_double") == 2
    assert "nothing in 01_double was graded: run `gradekit autograde 01_double` first" in (
        capsys.readouterr().err
    )
    with pytest.raises(CourseError, match="nothing in 01_double was graded"):
        report_of(empty_class)


def test_the_score_is_in_percent_of_what_has_been_graded(graded_class):
    def score(automatic: float | None, manual: float | None) -> float:
        with graded_class.gradebook() as gradebook:
            grade = gradebook.find_grade("why", "double", "01_double", "right")
            grade.auto_score, grade.manual_score = automatic, manual
            gradebook.db.commit()
        members = class_table(graded_class.running, graded_class.assignment).members
        return next(member.score for member in members if member.student == "right")

    assert score(None, None) == 100  # 15 of 15; `why`, 5 points, is awaiting manual grading
    assert score(None, 1) == 80


#: hides the libraries of the extra `report`, then loads the exports and runs two commands
WITHOUT_FIGURES = """
import sys


class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("matplotlib", "scipy", "seaborn"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Hidden())
import gradekit_lms
from gradekit.cli import main

for command in ("table", "report"):
    print(command, main([command, "01_double"]))
"""


@pytest.mark.slow
def test_only_the_report_needs_matplotlib_and_says_how_to_install_it(graded_class):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_FIGURES],
        cwd=graded_class.root,
        capture_output=True,
        text=True,
        check=False,
    )
    needed = "the class report needs matplotlib, which is not installed: pip install"
    assert f'gradekit: {needed} "gradekit[report]"\n' in done.stderr
    assert "table 0\n" in done.stdout and "report 2\n" in done.stdout
    assert not (graded_class.root / "reports").exists()


# ----------------------------------------------------------------------------------------- several assignments

#: in nbgrader_config.py: notes each time that it is read, and each time that the result of a student is
NOTING = """
import sys
from pathlib import Path

course = Path(__file__).parent
noted, autograded = course / "noted.txt", f"{course / 'autograded'}/"

def note(what):
    with noted.open("a") as file:
        print(what, file=file)

def hook(event, arguments):
    path = str(arguments[0]) if event == "open" else ""
    if path.startswith(autograded) and path.endswith(".ipynb"):
        note(Path(path.removeprefix(autograded)).parent)

if not noted.exists():
    sys.addaudithook(hook)
note("configuration")
"""
TERM = ("01_double", "02_double", "03_double")


@pytest.fixture(scope="module")
def term(class_original, course_at, tmp_path_factory):
    """A course with three assignments, in each of which two students were graded."""
    course = course_at(shutil.copytree(class_original, tmp_path_factory.mktemp("term") / "course"))
    for name in TERM[1:]:
        for folder in (course.root / "source", course.root / "tests"):
            shutil.copytree(folder / TERM[0], folder / name)
        done = course.run("nbgrader", "generate_assignment", name)
        assert done.returncode == 0, done.stderr
    for student in ("ada", "ben"):
        path = course.hand_in(student, course.answer(f"{RIGHT}  # {student}", RIGHT_HALF))
        for name in TERM[1:]:
            shutil.copytree(path.parent, path.parent.with_name(name))
    assert course.gradekit("autograde", "--workers", "1") == 0
    with (course.root / "nbgrader_config.py").open("a") as file:
        file.write(NOTING)
    return course


@pytest.mark.parametrize(
    ("command", "times"),
    [("report", 1), ("table", 1), ("autograde", 2)],  # the last one looks for new work, and counts statuses
)
@pytest.mark.slow
def test_a_command_reads_the_configuration_and_each_result_once(term, tmp_path, command, times):
    (term.root / "noted.txt").unlink(missing_ok=True)
    # elsewhere, since nbgrader reads the file in the working directory and then the one in the course
    done = run_forked(["gradekit", "--course-dir", str(term.root), command], tmp_path)
    assert done.returncode == 0, done.stderr
    noted = Counter((term.root / "noted.txt").read_text().splitlines())
    results = {f"{student}/{name}": times for student in ("ada", "ben") for name in TERM}
    assert noted == {"configuration": 1} | results


# ------------------------------------------------------------------------------------------------- a large class

CHECKS = 35


def write_large_class(course, count: int) -> None:
    """Write a class with results in the form that grading writes; nothing is run."""
    random = np.random.default_rng(7)
    hard = random.normal(size=CHECKS)
    released = course.assignment.released("double")
    with course.gradebook() as gradebook, gradebook.db.no_autoflush:
        assignment = gradebook.find_assignment("01_double")
        (notebook,) = assignment.notebooks
        cells = list(notebook.grade_cells)
        for number in range(count):
            student = Student(id=f"student{number:04}")
            result = synthetic(random, hard, random.normal())
            released.metadata.gradekit = result.as_dict()
            folder = course.root / "autograded" / student.id / "01_double"
            folder.mkdir(parents=True)
            (folder / "double.ipynb").write_text(json.dumps(released))
            submission = SubmittedAssignment(assignment=assignment, student=student)
            handed_in = SubmittedNotebook(notebook=notebook, assignment=submission)
            points = {"test_double": result.earned}
            gradebook.db.add_all(
                Grade(cell_id=cell.id, notebook=handed_in, auto_score=points.get(cell.name)) for cell in cells
            )
        gradebook.db.commit()


def synthetic(random: np.random.Generator, hard: np.ndarray, ability: float) -> SubmissionResult:
    """A student who passes what is easy enough, and makes one of three mistakes in the rest."""
    passed = ability + random.logistic(scale=0.4, size=CHECKS) > hard
    checks = []
    for number in range(CHECKS):
        check = CheckResult(f"test_{number}", f"Check {number}.", 1, "passed" if passed[number] else "failed")
        if not passed[number]:
            kind = int(random.integers(3))
            check.message = "`output` differs."
            check.fingerprint, check.fingerprint_numbers = (
                "`output` of shape (2, 3)",
                [1000.0 * kind + random.normal() / 50],
            )
            if kind == 0:
                check.mistake, check.diagnosis = f"mistake_{number}", f"You made mistake {number}."
        checks.append(check)
    exercise = ExerciseResult("test_double", checks)
    return SubmissionResult("graded", exercises=[exercise], seconds=float(random.gamma(4)))


@pytest.mark.parametrize("count", [200, pytest.param(1000, marks=pytest.mark.thorough)])
@pytest.mark.slow
def test_the_report_of_a_large_class_stays_small_enough_to_read(empty_class, capsys, count):
    write_large_class(empty_class, count)
    assert empty_class.gradekit("report", "01_double") == 0
    assert f"01_double: {count} graded" in capsys.readouterr().out
    folder = empty_class.root / "reports" / "01_double"
    page = (folder / "report.html").read_text()
    assert len(page) < 3_000_000
    assert page.count("<article") == 30
    data = json.loads((folder / "report.json").read_text())
    assert len(data["students"]) == count
    assert {s["warning"] for s in data["checks"]} == {""}
    # three answers for each check, at random
    assert len(data["groups"]) >= 2 * CHECKS


@pytest.mark.slow
def test_the_same_class_gives_the_same_page(four_times):
    report = report_of(four_times)
    assert report_as_html(report) == report_as_html(report_of(four_times))


@pytest.mark.slow
def test_the_report_says_how_many_answers_are_similar(four_times):
    assert "Not compared yet" in report_as_html(report_of(four_times))
    SimilarityFound(works=5, pairs=2, clusters=1, page="similar.html").store(four_times.assignment)
    report = report_of(four_times)
    shown = " ".join(report_as_html(report).split())
    assert "5 works were compared: 2 pairs stand out, in 1 cluster of three or more" in shown
    assert '<a href="similar.html">' in shown
    assert "  similar answers, pairs that stand out: 2" in list(summary_lines(report))


@pytest.mark.slow
def test_the_report_says_how_many_were_asked_and_answered_and_passed_means_one_thing(graded_class):
    for marked, defended, waiting, said, row in [
        (0, 0, ("ann", "bob"), "2 asked about their code, no answers marked yet", ["2", "0", "0"]),
        (
            *(2, 1, ("ann",)),
            "3 asked about their code, 2 with marked answers: 1 passed and defended it, 1 passed and could not",
            ["3", "2", "1"],
        ),
    ]:
        talk = ("cy",) if marked else ()
        DefenseFound((DefendedExercise("double", 7, marked, defended, talk, waiting),)).store(
            graded_class.assignment
        )
        report = report_of(graded_class)
        assert f"  double: {said}" in list(summary_lines(report))
        upper, lower = report_as_html(report).split('<section id="exercises">')[1].split('id="defense"')
        assert re.findall(r">([^<]*)</td>", lower.split("<td>double</td>")[1])[:3] == row
        assert upper.count(">Passed<") == 1 and ">Passed<" not in lower
        shown = re.findall(r">([^<]*)</td>", upper.split("<td>double</td>")[1])[2]
        assert shown == (str(defended) if marked else "–")
