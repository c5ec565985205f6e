"""`gradekit adopt` says what is in the folder of an nbgrader course, however odd it is, and changes nothing."""

import json
import shutil
from pathlib import Path

import pytest
from nbformat import v3, v4

from gradekit.cli import main
from gradekit.course import Course
from gradekit_authoring.adopt.survey import notes_on_code

from ...gradekit.tests.odd_course import OddCourse, code, marked, ordinary, text


@pytest.fixture
def course(tmp_path):
    return OddCourse(tmp_path)


def test_every_kind_of_cell_is_recognized(course):
    course.write(
        "source/ps1/a.ipynb",
        v4.new_code_cell("x = 1"),
        code("answer", solution=True),
        ordinary("ordinary"),
        ordinary("bound"),
        code("program", grade=True, solution=True, points=3),
        text("essay", grade=True, solution=True, points=4),
        text("given", locked=True),
        text("task", task=True, points=5),
    )
    course.check_file("ps1/bound.py")
    assert course.kinds() == {
        "answer": "answer",
        "ordinary": "ordinary",
        "bound": "bound",
        "program": "manual",
        "essay": "manual",
        "given": "given",
        "task": "task",
    }
    (assignment,) = course.look().assignments
    cells = assignment.notebooks[0].cells
    assert [(cell.position, cell.points) for cell in cells] == [
        (2, None), (3, 2), (4, 2), (5, 3), (6, 4), (7, None), (8, 5),
    ]  # fmt: skip
    assert course.look().problems == []


@pytest.mark.parametrize(
    ("cell", "why"),
    [
        (text("words", grade=True, points=1), "is not marked as a solution cell"),
        (code("", grade=True, points=1), "grade_id"),
        (code("no_points", grade=True), "does not have points"),
        (code("negative", grade=True, points=-1), "-1"),
        (code("a task", task=True, points=1), "only letters, digits"),
        (code("task_in_code", task=True, points=1), "Task cells have to be markdown"),
        (marked(v4.new_code_cell(""), "odd", grade="yes"), "'yes' is not of type 'boolean'"),
        (marked(v4.new_code_cell(""), "more", grade=True, points=1, lock=True), "lock"),
    ],
    ids=lambda value: value.metadata.nbgrader.grade_id if hasattr(value, "metadata") else "",
)
def test_a_cell_that_nbgrader_rejects_is_unsupported_and_its_sentence_names_it(course, cell, why):
    path = course.write("source/ps1/a.ipynb", v4.new_markdown_cell("Hello."), cell)
    (problem,) = course.look().problems
    assert problem.startswith(f"{path}, cell 2")
    assert why in problem
    assert [cell.kind for cell in course.look().assignments[0].notebooks[0].cells] == ["unsupported"]


def test_equal_grade_ids_in_one_notebook_are_unsupported_and_in_two_they_are_not(course):
    course.write("source/ps1/a.ipynb", ordinary("same"), ordinary("same"))
    course.write("source/ps2/a.ipynb", ordinary("same"))
    course.write("source/ps2/b.ipynb", ordinary("same"))
    first, second = course.look("ps1").problems
    assert "cell 1 (`same`): 2 cells of this notebook have the grade_id `same`" in first
    assert "cell 2 (`same`)" in second
    assert course.look("ps2").problems == []


def test_a_check_file_binds_none_of_two_equal_test_cells_unless_it_is_in_the_notebook_s_folder(course):
    course.write("source/ps2/a.ipynb", ordinary("same"))
    course.write("source/ps2/b.ipynb", ordinary("same"))
    course.check_file("ps2/same.py")
    (problem,) = course.look().problems
    assert "2 notebooks have a test cell `same`, so this file binds none" in problem
    (course.root / "tests/ps2/same.py").unlink()
    course.check_file("ps2/b/same.py")
    assert [notebook.cells[0].kind for notebook in course.look().assignments[0].notebooks] == [
        "ordinary",
        "bound",
    ]


def test_metadata_of_an_older_nbgrader_is_named_with_nbgrader_s_own_remedy(course):
    path = course.write("source/ps1/a.ipynb", code("old", grade=True, schema_version=1, points=1), ordinary())
    assert course.look().problems == [
        f"{path}: 1 cell with nbgrader metadata of version 1; nbgrader reads version 3. "
        f"Run `nbgrader update {path.parent}`."
    ]
    assert course.kinds() == {"old": "ordinary", "correct": "ordinary"}


def test_a_notebook_of_format_3_says_how_to_convert_it(course):
    path = course.root / "source" / "ps1" / "old.ipynb"
    path.parent.mkdir(parents=True)
    worksheet = v3.new_worksheet(cells=[v3.new_code_cell(input="x = 1")])
    path.write_text(json.dumps(v3.new_notebook(worksheets=[worksheet])))
    assert course.look().problems == [
        f"{path}: a notebook of format 3, from before 2015. Open it in Jupyter and save it, which converts it."
    ]


@pytest.mark.slow
@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"cells": 3}', "\x00", '{"nbformat": 99}'])
def test_a_damaged_notebook_gets_one_sentence_and_the_others_are_reported(course, content, capsys):
    course.write("source/ps1/good.ipynb", ordinary("fine"))
    damaged = course.root / "source" / "ps1" / "damaged.ipynb"
    damaged.write_text(content)
    course.check_file("ps1/fine.py")
    (problem,) = course.look().problems
    assert problem.startswith(f"{damaged} can't be read as a notebook: restore it (")
    assert len(problem.splitlines()) == 1
    assert course.kinds() == {"fine": "bound"}
    assert main(["--course-dir", str(course.root), "adopt"]) == 1
    assert "Traceback" not in capsys.readouterr().err


def test_a_notebook_in_another_language_needs_its_kernel_and_takes_no_hidden_checks(course):
    kernel = {"name": "ir", "display_name": "R", "language": "R"}
    path = course.write("source/ps1/stats.ipynb", ordinary("one"), ordinary("two"), kernel=kernel)
    course.check_file("ps1/two.py")
    missing, bound = course.look().problems
    assert missing == (
        f"{path}: its kernel `ir` (R) isn't installed here. Install it, so that `jupyter kernelspec list` shows it."
    )
    assert "(`two`): its hidden checks need a Python notebook, but this one is in R." in bound
    assert course.kinds() == {"one": "ordinary", "two": "unsupported"}


@pytest.mark.parametrize(
    "kernel",
    [
        {"name": "python", "display_name": "Python"},
        {"name": "conda-env-x-py", "display_name": "x", "language": "python"},
        {},
    ],
)
def test_a_python_notebook_needs_no_kernelspec_of_its_own(course, kernel):
    course.write("source/ps1/a.ipynb", ordinary(), kernel=kernel)
    assert course.look().problems == []


def test_jupyter_s_name_for_its_own_python_is_not_a_missing_kernel(course):
    course.write(
        "source/ps1/a.ipynb",
        ordinary(),
        kernel={"name": "python", "display_name": "Python", "language": "python"},
    )
    assert "plain nbgrader can't run it" not in " ".join(course.look().changes)


@pytest.mark.parametrize("name", ["an-ide-1f8f", "python2"])
def test_a_python_notebook_whose_kernel_is_missing_runs_with_gradekit_only(course, name):
    kernel = {"name": name, "display_name": "x", "language": "python"}
    path = course.write("source/ps1/a.ipynb", ordinary(), kernel=kernel)
    assert f"{path}: its kernel `{name}` isn't installed here, so plain nbgrader can't run it." in " ".join(
        course.look().changes
    )


def test_a_kernel_that_nbgrader_s_settings_replace_is_not_said_to_stop_it(course):
    kernel = {"name": "python2", "display_name": "x", "language": "python"}
    course.write("source/ps1/a.ipynb", ordinary(), kernel=kernel)
    course.config("c.ExecutePreprocessor.kernel_name = 'python3'")
    assert "plain nbgrader can't run it" not in " ".join(course.look().changes)
    course.config("c.ExecutePreprocessor.kernel_name = 'python2'")
    assert "plain nbgrader can't run it" in " ".join(course.look().changes)


def test_25_equal_findings_are_one_line_that_says_where_they_are(course, capsys):
    kernel = {"name": "python2", "display_name": "x", "language": "python"}
    for number in range(25):
        cells = [ordinary(source="assert True")] * (number % 2) + [code("answer", "import nothing_like_it")]
        course.write(f"source/ps{number:02}/a.ipynb", *cells, kernel=kernel)
    assert main(["--course-dir", str(course.root), "adopt"]) == 0
    out = capsys.readouterr().out
    paths = [f"{course.root}/source/ps{number:02}/a.ipynb" for number in range(25)]
    (line,) = [line for line in out.splitlines() if "its kernel `python2` isn't installed" in line]
    assert line.startswith(f"  - {paths[0]}; {paths[1]}; {paths[2]} and 22 more: its kernel `python2` isn't")
    (line,) = [line for line in out.splitlines() if "`nothing_like_it`" in line]
    assert line.startswith(
        f"  - {paths[0]}, cell 1; {paths[1]}, cell 2; {paths[2]}, cell 1 and 22 more: imports `nothing_like_it`"
    )
    assert len(course.look().changes) == 50, "a program gets them one by one"


def test_a_graded_raw_cell_is_refused_as_nbgrader_does(course):
    path = course.write(
        "source/ps1/a.ipynb",
        ordinary(),
        marked(v4.new_raw_cell("Because."), "why", grade=True, solution=True, points=1),
    )
    assert course.look().problems == [
        f"{path}, cell 2 (`why`): it is a raw cell, which nbgrader's gradebook can't store. "
        "Make it a Markdown or a code cell."
    ]


def test_points_that_old_metadata_have_as_text_are_counted(course):
    course.write("source/ps1/a.ipynb", code("correct", grade=True, points="1.5", schema_version=1))
    ((cell,),) = [notebook.cells for notebook in course.look().assignments[0].notebooks]
    assert cell.points == 1.5


def test_a_course_with_released_notebooks_only_is_read_from_there(course):
    course.write("release/ps1/a.ipynb", ordinary())
    (assignment,) = course.look().assignments
    assert assignment.folder == course.root / "release" / "ps1"
    assert "has no notebook, so" in course.look().problems[0]
    assert course.kinds() == {"correct": "ordinary"}


def test_an_empty_folder_is_named_and_hidden_ones_are_not(course):
    course.write("source/ps1/a.ipynb", ordinary())
    for name in ("empty", ".ipynb_checkpoints", "__pycache__"):
        (course.root / "source" / name).mkdir()
    assert [assignment.name for assignment in course.look().assignments] == ["empty", "ps1"]
    assert course.look().problems == [
        f"{course.root / 'source' / 'empty'} has no notebook: add one, or remove the folder."
    ]


def test_a_folder_of_shared_data_is_not_to_be_removed_and_the_advice_works(course):
    """Notebooks read it as `../data/rain.csv`."""
    course.write("source/ps1/a.ipynb", ordinary())
    (course.root / "source" / "data").mkdir()
    (course.root / "source" / "data" / "rain.csv").write_text("1,2")
    (problem,) = course.look().problems
    assert "remove" not in problem and "move them into the folder of each assignment" in problem
    (course.root / "source" / "data").rename(course.root / "source" / "ps1" / "data")
    assert course.look().problems == []
    (assignment,) = course.look().assignments
    files = Course(course.root).assignment(assignment.name).working_files().paths
    assert "data" in {Path(path).name for path in files}


@pytest.mark.parametrize("name", ["week 1", "v1.2", "leçon", "a-b_c", "日本"])
def test_names_with_spaces_dots_and_accents_are_read(course, name):
    course.write(f"source/{name}/my {name}.ipynb", ordinary())
    course.write(f"submitted/Zoë B./{name}/my {name}.ipynb", ordinary())
    (assignment,) = course.look(name).assignments
    assert (assignment.name, assignment.submissions) == (name, 1)
    assert assignment.notebooks[0].name == f"my {name}"


def test_a_name_that_nbgrader_refuses_is_named(course):
    course.write("source/a+b/a.ipynb", ordinary())
    assert course.look().problems == [
        f"{course.root / 'source' / 'a+b'}: nbgrader refuses a `+` in the name of an assignment. Rename it."
    ]


def test_a_name_that_nbgrader_takes_for_a_pattern_is_named(course):
    course.write("source/a[1]/a.ipynb", ordinary())
    assert course.look().problems == [
        f"{course.root / 'source' / 'a[1]'}: nbgrader reads `*`, `?`, `[` and `]` in the name of an assignment as a "
        "pattern. Rename it."
    ]


@pytest.mark.parametrize("line", ["%run p0.ipynb", "import import_ipynb", "import nbimporter"])
def test_code_that_opens_other_notebooks_is_named(line):
    notebook = v4.new_notebook(cells=[v4.new_code_cell(line)])
    assert list(notes_on_code(notebook, {"import_ipynb", "nbimporter"})) == [
        "cell 1 mentions notebooks. A submission finds those that were handed in with it, up to 20 MiB each."
    ]


@pytest.mark.parametrize("folder", [".", "source", "source/ps1"])
def test_a_folder_without_a_notebook_is_no_course(tmp_path, folder, capsys):
    (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    assert main(["--course-dir", str(tmp_path), "adopt"]) == 2
    assert (
        "has no assignment with a notebook: run this in the folder of an nbgrader course"
        in capsys.readouterr().err
    )


def test_an_unknown_assignment_is_named_with_those_that_exist(course, capsys):
    course.write("source/ps1/a.ipynb", ordinary())
    assert main(["--course-dir", str(course.root), "adopt", "ps9"]) == 2
    assert "has no assignment ps9; it has ps1" in capsys.readouterr().err


def test_looking_runs_no_cell_and_no_check_file(course):
    fires = f"open({str(course.root / 'fired')!r}, 'w')"
    course.write("source/ps1/a.ipynb", v4.new_code_cell(fires), ordinary(source=fires))
    course.write("submitted/ada/ps1/a.ipynb", v4.new_code_cell(fires))
    course.check_file("ps1/correct.py")
    (course.root / "tests/ps1/correct.py").write_text(fires)
    course.look()
    assert not (course.root / "fired").exists()


def test_the_report_for_a_person_and_for_a_program_say_the_same(course, capsys):
    course.write(
        "source/ps1/a.ipynb",
        code("answer", solution=True),
        ordinary("correct", 2.5),
        text("bad", grade=True),
    )
    course.write("submitted/ada/ps1/a.ipynb")
    shutil.copytree(course.root / "submitted/ada", course.root / "submitted/ben")
    assert main(["--course-dir", str(course.root), "adopt"]) == 1
    printed = capsys.readouterr().out
    assert "ps1, 2 submissions\n" in printed
    assert "       2  ordinary        2.5  correct\n" in printed
    assert "What will be different:\n  - A notebook that is missing" in printed
    assert "What has to be fixed first:\n" in printed
    assert "Next: `gradekit adopt --compare`" in printed
    assert main(["--course-dir", str(course.root), "adopt", "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["adopted"] is False
    (assignment,) = data["assignments"]
    assert assignment["submissions"] == 2
    cells = assignment["notebooks"][0]["cells"]
    assert [(cell["grade_id"], cell["kind"]) for cell in cells] == [
        ("answer", "answer"),
        ("correct", "ordinary"),
        ("bad", "unsupported"),
    ]
    assert data["problems"][0] in " ".join(printed.split())
