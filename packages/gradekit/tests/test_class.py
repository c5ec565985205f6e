"""`gradekit autograde` on a tiny class in which everything happens."""

import csv
import json
import shutil
from datetime import datetime
from pathlib import Path

import nbformat
import pytest

from gradekit.cli import main
from gradekit.grading.workers import Workers
from gradekit.report.table import class_table
from gradekit.verdict.results import SubmissionResult

DOCS = Path(__file__).parents[3] / "docs"
RIGHT = "def double(x):\n    return 2 * x"
TRIPLE = "def double(x):\n    return 3 * x"
HALF = "def half(x):\n    return x / 2"
STATUSES = {
    "blank": "graded",
    "broken": "unreadable",
    "exception": "partly graded",
    "exits": "kernel died",
    "floor": "graded",
    "loop": "timed out",
    "missing": "missing",
    "mistake": "graded",
    "right": "graded",
}


def result_of(course, student):
    return SubmissionResult.from_dict(course.autograded(student).metadata["gradekit"])


def when_autograded(course):
    return {path.parts[-3]: path.stat().st_mtime_ns for path in course.root.glob("autograded/*/*/*.ipynb")}


def statuses(course):
    return {row.student: row.status for row in class_table(course.running, course.assignment).rows}


def autograde(course, *options):
    return course.gradekit("autograde", "01_double", "--workers", "2", *options)


def hand_in_again(course, student, source, time):
    path = course.hand_in(student, course.answer(source, HALF))
    path.with_name("timestamp.txt").write_text(time)


@pytest.mark.thorough
def test_the_grades_equal_nbgrader_s(graded_class, empty_class):
    shutil.copytree(graded_class.root / "submitted", empty_class.root / "submitted")
    done = empty_class.run("nbgrader", "autograde", "01_double")
    assert done.returncode == 0, done.stderr
    assert empty_class.grades() == graded_class.grades()
    for student in graded_class.grades():
        results = [result_of(course, student) for course in (graded_class, empty_class)]
        for timed in [check for result in results for e in result.exercises for check in e.checks] + results:
            timed.seconds = 0
        assert results[0] == results[1]


def test_every_student_has_one_row_with_a_status_and_points(graded_class):
    rows = class_table(graded_class.running, graded_class.assignment).rows
    assert [row.student for row in rows] == sorted(STATUSES)
    assert {row.student: row.status for row in rows} == STATUSES
    points = {row.student: (row.points["test_double"], row.points["test_half"]) for row in rows}
    assert points == {
        "blank": (0, 0),
        "broken": (None, None),
        "exception": (0, 5),
        "exits": (0, 5),
        "floor": (10, 5),
        "loop": (0, 5),
        "missing": (None, None),
        "mistake": (3, 5),
        "right": (10, 5),
    }


def test_the_command_names_submissions_that_need_a_person_and_exits_with_0(graded_class):
    code, counts, *lines = (graded_class.root / "autograde.txt").read_text().splitlines()
    assert code == "0"
    assert counts.startswith("01_double: 4 graded, ")
    end = lines.index("")
    expected = {f"  {name}: {state}" for name, state in STATUSES.items() if state != "graded"}
    assert {line.split(". ")[0] for line in lines[:end]} == expected
    assert "  missing: missing. No notebook of this assignment, but notes.txt" in lines
    assert "  broken: unreadable. double.ipynb can't be read as a notebook (" in "\n".join(lines)
    assert "Traceback" not in "".join(lines)


def test_table_and_csv_have_the_same_rows(graded_class, tmp_path, capsys):
    assert graded_class.gradekit("table", "01_double") == 0
    printed = capsys.readouterr().out
    assert graded_class.gradekit("table", "01_double", "--csv", str(tmp_path / "class.csv")) == 0
    with (tmp_path / "class.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["student"]: row["status"] for row in rows} == STATUSES
    assert len(rows) == len(STATUSES)
    for row in rows:
        (line,) = [line for line in printed.splitlines() if line.startswith(f"{row['student']:11}")]
        assert row["status"] in line
        assert line.split()[-1] == (f"{float(row['total']):g}" if row["total"] else "-")


def test_a_second_run_grades_nothing(graded_class, capsys):
    cached, written = graded_class.cached(), when_autograded(graded_class)
    assert autograde(graded_class) == 0
    assert "01_double: nothing new to grade; 4 graded, " in capsys.readouterr().out
    assert (graded_class.cached(), when_autograded(graded_class)) == (cached, written)
    assert not graded_class.gradings()


@pytest.mark.thorough
def test_force_writes_everybody_again_and_grades_only_what_was_stopped(graded_class):
    grades, cached, written = graded_class.grades(), graded_class.cached(), when_autograded(graded_class)
    autograde(graded_class, "--force")
    assert graded_class.grades() == grades
    assert all(time > written[student] for student, time in when_autograded(graded_class).items())
    stopped = [state for state in STATUSES.values() if state in ("timed out", "kernel died")]
    assert sum(time > cached[name] for name, time in graded_class.cached().items()) == len(stopped)
    assert graded_class.gradings()["test_half"] == 3  # the death is tried twice


@pytest.mark.slow
def test_fresh_takes_nothing_from_the_cache(graded_class):
    for student in STATUSES:
        if student not in ("right", "mistake"):
            shutil.rmtree(graded_class.root / "submitted" / student)
    grades, cached = graded_class.grades(), graded_class.cached()
    autograde(graded_class, "--force", "--fresh")
    assert graded_class.gradings() == {"test_double": 2, "test_half": 2}
    assert graded_class.grades() == grades
    assert sum(time > cached[name] for name, time in graded_class.cached().items()) == 2


@pytest.mark.slow
def test_a_file_that_was_replaced_by_hand_is_graded_again(graded_class):
    before = when_autograded(graded_class)
    graded_class.hand_in("mistake", graded_class.answer(RIGHT, HALF))
    autograde(graded_class)
    after = when_autograded(graded_class)
    assert {student for student in before if before[student] != after[student]} == {"mistake"}
    assert result_of(graded_class, "mistake").earned == result_of(graded_class, "right").earned


@pytest.mark.slow
def test_a_newer_submission_is_graded_and_no_other(graded_class):
    written = when_autograded(graded_class)
    hand_in_again(graded_class, "mistake", RIGHT.replace("2 * x", "x + x"), "2026-01-02 12:00:00 UTC")
    hand_in_again(graded_class, "right", TRIPLE, "2025-12-31 12:00:00 UTC")
    autograde(graded_class)
    assert graded_class.gradings() == {"test_double": 1, "test_half": 1}
    assert {s for s, time in when_autograded(graded_class).items() if time != written[s]} == {"mistake"}
    assert graded_class.grades()["mistake"]["test_double"][0] == 10
    with graded_class.gradebook() as book:
        assert book.find_submission("01_double", "mistake").timestamp == datetime(2026, 1, 2, 12)


@pytest.mark.slow
def test_all_graded_exits_with_0(empty_class, capsys):
    empty_class.hand_in("ada", empty_class.answer(RIGHT, HALF))
    assert autograde(empty_class) == 0
    assert capsys.readouterr().out == "01_double: 1 graded\n"


@pytest.mark.slow
def test_a_student_s_mistake_stops_no_make_and_no_cron_job_unless_it_is_strict(empty_class, capsys):
    empty_class.hand_in("ada", empty_class.answer(RIGHT, HALF))
    empty_class.hand_in("bob", empty_class.answer("def double(x) return", HALF))
    assert autograde(empty_class) == 0
    assert "bob: partly graded" in capsys.readouterr().out
    assert autograde(empty_class, "--force", "--strict") == 1
    assert autograde(empty_class, "--strict") == 0, "nothing is new"


@pytest.mark.slow
def test_only_the_students_that_are_named_are_graded_and_the_others_are_not_mentioned(empty_class, capsys):
    for student in ("ada", "adam", "bob", "eve"):
        empty_class.hand_in(student, empty_class.answer(RIGHT, HALF))
    assert autograde(empty_class, "--student", "bob") == 0
    assert capsys.readouterr().out == "01_double: 1 graded\n"
    assert autograde(empty_class, "--student", "a*,bob") == 0, "a pattern, as in nbgrader"
    assert capsys.readouterr().out == "01_double: 3 graded\n"
    assert set(empty_class.grades()) == {"ada", "adam", "bob"}
    assert autograde(empty_class, "--student", "bob", "--student", "eva") == 2
    assert (
        "no student eva is in the gradebook, or in submitted/. Did you mean `eve`?" in capsys.readouterr().err
    )


@pytest.mark.slow
def test_a_program_reads_one_document_about_what_was_graded_now(empty_class, capsys):
    empty_class.hand_in("ada", empty_class.answer(RIGHT, HALF))
    assert autograde(empty_class) == 0
    empty_class.hand_in("bob", empty_class.answer("def double(x) return", HALF))
    place = empty_class.root / "submitted" / "double.ipynb"
    shutil.copy(empty_class.root / "submitted" / "bob" / "01_double" / "double.ipynb", place)
    capsys.readouterr()
    assert autograde(empty_class, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    (assignment,) = document["assignments"]
    assert assignment["new"] == ["bob"] and assignment["not_graded"] == []
    assert assignment["notes"] == ["bob: partly graded"]
    assert [row["status"] for row in assignment["students"]] == ["graded", "partly graded"]
    assert autograde(empty_class, "--quiet") == 0
    assert "01_double" not in capsys.readouterr().out, "nothing is new"


def test_the_table_for_programs_has_the_keys_of_the_docs_and_the_numbers_of_the_table(graded_class, capsys):
    assert graded_class.gradekit("table", "01_double", "--json") == 0
    (shown,) = json.loads(capsys.readouterr().out)["assignments"]
    docs = (DOCS / "grading.md").read_text()
    for key in {*shown, *(key for row in shown["students"] for key in row)}:
        assert f"| `{key}` |" in docs
    table = class_table(graded_class.running, graded_class.assignment)
    assert shown["maximum"] == table.maximum
    assert {row["student"]: row["status"] for row in shown["students"]} == STATUSES
    for row, known in zip(shown["students"], table.rows, strict=True):
        assert (row["total"], row["points"]) == (known.total, known.points)


@pytest.mark.slow
def test_without_a_sandbox_the_table_says_so(empty_class, capsys):
    empty_class.hand_in("ada", empty_class.answer(RIGHT, HALF))
    assert autograde(empty_class, "--sandbox", "none") == 0
    empty_class.gradekit("table", "01_double")
    assert "1 graded without a sandbox" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("answer", ["", pytest.param("import os\nos._exit(1)", marks=pytest.mark.thorough)])
def test_equal_submissions_each_have_their_row(empty_class, answer):
    for student in ("ada", "bob", "eve"):
        empty_class.hand_in(student, empty_class.answer(answer or RIGHT, HALF))
    autograde(empty_class)
    grades = empty_class.grades()
    assert set(grades) == {"ada", "bob", "eve"}
    assert grades["ada"] == grades["bob"] == grades["eve"]


@pytest.mark.slow
def test_notebooks_in_folders_that_are_misspelt_or_swapped_are_named(empty_class, capsys):
    there = empty_class.hand_in("ada", empty_class.answer(RIGHT, HALF)).parent
    submitted, name = there.parents[1], there.name
    moves = {"ivo/1-DOUBLE": f"ivo/{name}", f"{name}/zed": f"zed/{name}"}
    for place in (*moves, "mia/essay"):
        shutil.copytree(there, submitted / place)
    shutil.copy(there / "double.ipynb", submitted / "double_kim.ipynb")
    assert autograde(empty_class, "--strict") == 1
    said = capsys.readouterr().out
    for place, right in moves.items():
        what = f"{submitted / place} is the folder of no assignment, so it was not graded. Move it to {submitted / right}."
        assert what in said
    assert f"{submitted / 'double_kim.ipynb'} is in no submission folder" in said
    assert "essay" not in said  # there may be hand-ins of assignments that are gone


@pytest.mark.slow
def test_a_notebook_above_the_submission_folders_is_named(empty_class, capsys):
    place = empty_class.root / "submitted" / "ivo" / "double.ipynb"
    empty_class.hand_in("ada", empty_class.answer(RIGHT, HALF)).parent.parent.with_name("ivo").mkdir()
    nbformat.write(empty_class.answer(RIGHT, HALF), place)
    assert autograde(empty_class, "--strict") == 1
    said = capsys.readouterr().out
    assert (
        f"{place} is in no submission folder, so it was not graded. Move it to {place.parents[1]}/STUDENT/ASSIGNMENT."
        in said
    )
    assert "1 graded" in said


@pytest.mark.slow
def test_students_with_odd_names_have_their_row(empty_class):
    names = [
        *(
            "ada lovelace",
            "Zoë Ünal",
            "Łukasz",
            "李雷",
            "o'neill",
            'the "one"',
            "a*b?",
            "[ab]",
            "{student_id}",
        ),
        *("$HOME", "-rf", "a;b", "%s", "a\\b", "+", "(.*)", " eve "),
    ]
    for name in names:
        empty_class.hand_in(name, empty_class.answer(RIGHT, HALF))
    assert autograde(empty_class, "--strict") == 1, (
        "one was renamed, since formgrader would take its name for HTML"
    )
    names = [name.replace('the "one"', "the ”one”") for name in names]
    assert statuses(empty_class) == dict.fromkeys(sorted(names), "graded")
    assert set(empty_class.grades()) == set(names)
    assert {result_of(empty_class, name).earned for name in names} == {15}


def test_points_that_do_not_add_up_end_the_command_before_anything_is_graded(empty_class, capsys):
    checks = empty_class.checks.with_name("test_half.py")
    checks.write_text(checks.read_text().replace("@points(2)", "@points(4)"))
    empty_class.hand_in("ada", empty_class.answer(RIGHT, HALF))
    assert autograde(empty_class) == 2
    assert "add up to 7" in capsys.readouterr().err


def test_without_generate_assignment_one_sentence_says_what_to_do(tiny_course, empty_class, capsys):
    tiny_course.hand_in("ada", tiny_course.answer(RIGHT))
    assert autograde(tiny_course) == 2
    assert (
        "gradebook.db does not exist: run `nbgrader generate_assignment NAME --force`"
        in capsys.readouterr().err
    )
    shutil.copytree(empty_class.root / "source" / "01_double", empty_class.root / "source" / "02_other")
    assert empty_class.gradekit("autograde", "02_other") == 2
    assert "run `nbgrader generate_assignment 02_other --force` first" in capsys.readouterr().err


@pytest.mark.slow
def test_an_assignment_that_was_not_generated_yet_does_not_keep_the_others_from_being_graded(
    empty_class, capsys
):
    shutil.copytree(empty_class.root / "source" / "01_double", empty_class.root / "source" / "00_draft")
    empty_class.hand_in("ada", empty_class.answer(RIGHT, HALF))
    assert empty_class.gradekit("autograde") == 0
    output = capsys.readouterr()
    assert output.out == "01_double: 1 graded\n"
    assert "00_draft: skipped" in output.err


@pytest.mark.slow
def test_a_submission_on_which_the_grader_failed_is_graded_next_time(empty_class, monkeypatch):
    empty_class.hand_in("ada", empty_class.answer(RIGHT, HALF))
    with monkeypatch.context() as patch:
        patch.setattr(Workers, "run", lambda self, tasks: ((task, None) for task in tasks))
        assert autograde(empty_class) == 1
    assert statuses(empty_class) == {"ada": "kernel died"}
    assert autograde(empty_class) == 0
    assert statuses(empty_class) == {"ada": "graded"}


@pytest.mark.parametrize("words", [("autograde",), ("table",), ("report",), ("audit",)])
def test_outside_of_a_course_one_sentence_says_so(tmp_path, capsys, words):
    assert main(["--course-dir", str(tmp_path), *words]) == 2
    assert "has no assignments" in capsys.readouterr().err


def test_no_workers_are_refused(empty_class, capsys):
    for number in ("0", "many"):
        with pytest.raises(SystemExit):
            autograde(empty_class, "--workers", number)
        assert f"{number} is not a whole number of at least 1" in capsys.readouterr().err


def test_a_folder_that_nbgrader_would_take_for_a_pattern_is_refused(tmp_path, capsys):
    assert main(["--course-dir", str(tmp_path / "course [2026]"), "autograde"]) == 2
    assert "rename the folder" in capsys.readouterr().err


@pytest.mark.slow
def test_without_its_release_an_assignment_s_results_stay(empty_class, capsys):
    empty_class.hand_in("ada", empty_class.answer(RIGHT, HALF))
    assert autograde(empty_class) == 0
    before = when_autograded(empty_class)
    shutil.rmtree(empty_class.root / "release" / "01_double")
    assert autograde(empty_class, "--force") == 2
    assert "run `nbgrader generate_assignment 01_double --force` first" in capsys.readouterr().err
    assert when_autograded(empty_class) == before


@pytest.mark.slow
def test_a_kernel_that_is_not_installed_ends_the_command_before_anything_is_written(empty_class, capsys):
    empty_class.hand_in("ada", empty_class.answer(RIGHT, HALF))
    assert autograde(empty_class) == 0
    before = when_autograded(empty_class)
    with (empty_class.root / "nbgrader_config.py").open("a") as file:
        file.write("\nget_config().RunChecks.student_kernel = 'nope'\n")
    assert autograde(empty_class, "--force") == 2
    assert "names the kernel `nope`, which is not installed" in capsys.readouterr().err
    assert when_autograded(empty_class) == before


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("source/01_double/double.ipynb", "can't be read as a notebook: restore it"),
        ("release/01_double/double.ipynb", "can't be read as a notebook: restore it"),
        ("tests/01_double/reference.safetensors", "run `gradekit record 01_double`"),
    ],
)
def test_a_damaged_instructor_file_is_named(empty_class, capsys, place, words):
    empty_class.hand_in("ada", empty_class.answer(RIGHT, HALF))
    path = empty_class.root / place
    path.write_bytes(path.read_bytes()[:100])
    assert autograde(empty_class) == 2
    output = capsys.readouterr().err
    assert str(path) in output
    assert words in output
    assert statuses(empty_class) == {"ada": "not autograded"}


@pytest.mark.parametrize(
    "setting",
    [
        "c.RunChecks.memory_limit = '2048'",
        "c.RunChecks.memory_limit = 0",
        "c.Execute.timeout = -3",
        "c.CourseDirectory.db_url = 'sqlite:////no/x.db'",
        "c.CourseDirectory.db_url = 'mysql+mysqldb://nobody@localhost/x'",
    ],
)
def test_a_setting_that_can_t_be_used_gets_one_sentence(empty_class, capsys, setting):
    with (empty_class.root / "nbgrader_config.py").open("a") as file:
        file.write(f"\n{setting}\n")
    assert autograde(empty_class) == 2
    assert capsys.readouterr().err.count("\n") == 1
