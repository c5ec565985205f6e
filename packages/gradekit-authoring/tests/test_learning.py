"""`gradekit learn`: a person who takes a course alone, in a copy of the course."""

import re
import shutil
from pathlib import Path

import nbformat
import pytest

from gradekit.cli import main

from ...gradekit.tests.forked import run_forked

RIGHT, TRIPLE = "def double(x):\n    return 2 * x", "def double(x):\n    return 3 * x"


@pytest.fixture
def forked(monkeypatch):
    """Commands that `learn` runs are forked from a process that has imported everything."""

    def run(root, *command):
        done = run_forked(command, root)
        assert done.returncode == 0, done.stderr

    monkeypatch.setattr("gradekit_authoring.cli.learning.run_quietly", run)


def own_notebook(course) -> Path:
    return course.root / "my" / "01_double" / "double.ipynb"


def write(course, source: str) -> None:
    nbformat.write(course.answer(source, "def half(x):\n    return x / 2"), own_notebook(course))


def learn(course, capsys, *options: str) -> tuple[int, str, str]:
    code = course.gradekit("learn", *options, "--no-open")
    said = capsys.readouterr()
    return code, said.out, said.err


def test_the_next_notebook_is_put_into_a_folder_of_its_own_with_its_files(generated, capsys):
    (generated.root / "release/01_double/data.csv").write_text("1,2")
    code, out, _ = learn(generated, capsys)
    assert code == 0
    assert (
        own_notebook(generated).read_bytes()
        == (generated.root / "release/01_double/double.ipynb").read_bytes()
    )
    assert (own_notebook(generated).parent / "data.csv").exists()
    assert "01_double  not checked yet" in out
    assert str(own_notebook(generated)) in out


def test_without_a_desktop_the_command_to_open_it_needs_no_browser(generated, capsys, monkeypatch):
    for desktop in (False, True):
        monkeypatch.setattr("gradekit_authoring.cli.learning.has_desktop", lambda desktop=desktop: desktop)
        _, out, _ = learn(generated, capsys)
        assert ("--no-browser" in out.partition("To open it:")[2]) != desktop


def test_a_number_is_that_of_an_assignment_and_not_the_beginning_of_another(generated, capsys):
    shutil.copytree(generated.root / "release/01_double", generated.root / "release/10_other")
    shutil.copytree(generated.root / "source/01_double", generated.root / "source/10_other")
    _, out, _ = learn(generated, capsys, "1")
    assert str(own_notebook(generated)) in out
    _, out, _ = learn(generated, capsys, "10")
    assert "10_other/double.ipynb" in out


def test_what_was_written_is_never_replaced(generated, capsys):
    learn(generated, capsys)
    learn(generated, capsys, "--solution")
    notebooks = [own_notebook(generated), own_notebook(generated).with_name("double-solution.ipynb")]
    for notebook in notebooks:
        notebook.write_text("mine")
    learn(generated, capsys, "01")
    learn(generated, capsys, "01", "--solution")
    assert [notebook.read_text() for notebook in notebooks] == ["mine", "mine"]


@pytest.mark.slow
@pytest.mark.usefixtures("forked")
def test_a_student_s_hand_in_is_not_touched_in_the_course_of_an_instructor_who_tries_it(generated, capsys):
    theirs = generated.hand_in("me", generated.answer(TRIPLE))
    before = theirs.read_bytes()
    learn(generated, capsys)
    _, out, _ = learn(generated, capsys, "--check")
    assert theirs.read_bytes() == before
    assert "me" not in generated.grades() and "learning-alone" in generated.grades()
    (advice,) = re.findall("`(nbgrader db student remove .*)`", out)
    generated.run(*advice.split())
    assert "learning-alone" not in generated.grades()


@pytest.mark.slow
def test_a_check_grades_shows_the_page_and_keeps_the_best_result(generated, capsys):
    learn(generated, capsys)
    write(generated, RIGHT)
    code, out, _ = learn(generated, capsys, "01_double", "--check")
    assert code == 0
    page = Path(out.rpartition("Your page: ")[2].strip())
    assert "double" in page.read_text()
    assert "01_double  10 of 10 points" in out
    write(generated, TRIPLE)
    _, out, _ = learn(generated, capsys, "01_double", "--check")
    assert "01_double  10 of 10 points" in out, "the best one counts"
    assert re.search(r"This time: \d of 10 points. The best result is kept.", out)


@pytest.mark.slow
@pytest.mark.usefixtures("forked")
def test_a_written_answer_is_left_to_the_learner(generated, capsys):
    learn(generated, capsys)
    notebook = generated.answer(RIGHT, "def half(x):\n    return x / 2")
    next(cell for cell in notebook.cells if cell["id"] == "why").source = "Because."
    nbformat.write(notebook, own_notebook(generated))
    _, out, _ = learn(generated, capsys, "--check")
    assert "01_double  10 of 10 points" in out
    assert "For you to judge: why. `gradekit learn 01_double --solution`" in out


@pytest.mark.thorough
@pytest.mark.usefixtures("forked")
def test_a_course_that_was_never_generated_is_made_ready(generated, capsys):
    (generated.root / "gradebook.db").unlink()
    learn(generated, capsys)
    _, out, _ = learn(generated, capsys, "--check")
    assert "Getting 01_double ready" in out and "01_double  0 of 10 points" in out


@pytest.mark.slow
@pytest.mark.usefixtures("forked")
def test_the_solution_is_shown_only_to_those_who_ask_and_is_not_handed_in(generated, capsys):
    learn(generated, capsys)
    assert "return 2 * x" not in own_notebook(generated).read_text()
    _, out, _ = learn(generated, capsys, "--solution")
    solution = own_notebook(generated).with_name("double-solution.ipynb")
    assert str(solution) in out and "BEGIN SOLUTION" in solution.read_text()
    learn(generated, capsys, "--check")
    assert not list((generated.root / "submitted").rglob("*solution*"))


@pytest.mark.slow
@pytest.mark.usefixtures("forked")
def test_a_written_question_without_an_answer_keeps_nobody_from_having_all_points(generated, capsys):
    learn(generated, capsys)
    write(generated, RIGHT)
    _, out, _ = learn(generated, capsys, "--check")
    assert "01_double  10 of 10 points" in out


def test_it_finds_the_course_from_the_folder_of_a_notebook(generated, capsys, monkeypatch):
    learn(generated, capsys)
    monkeypatch.chdir(own_notebook(generated).parent)
    assert main(["learn", "--no-open"]) == 0
    assert "01_double" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.usefixtures("forked")
def test_a_notebook_that_is_damaged_or_gone_is_no_assignment_that_is_done(generated, capsys):
    learn(generated, capsys)
    own_notebook(generated).write_text("{")
    _, out, _ = learn(generated, capsys, "01_double", "--check")
    assert "01_double  not checked yet" in out
    own_notebook(generated).unlink()
    code, _, err = learn(generated, capsys, "01_double", "--check")
    assert code != 0
    assert (
        f"{own_notebook(generated)} isn't there: `gradekit learn 01_double` copies the one that was handed out"
        in err
    )
    learn(generated, capsys, "01_double")
    assert own_notebook(generated).exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["02"], "no assignment begins with '02'; there are 01_double"),
        (["01", "--check"], "isn't there: `gradekit learn 01_double` makes it"),
    ],
)
def test_what_can_t_be_done_is_one_sentence(generated, capsys, options, sentence):
    code, _, err = learn(generated, capsys, *options)
    assert code != 0
    assert sentence in err and "Traceback" not in err


def test_a_damaged_record_is_named_and_not_replaced(generated, capsys):
    learn(generated, capsys)
    record = generated.root / "my/progress.json"
    record.write_text("{")
    code, _, err = learn(generated, capsys)
    assert code != 0 and f"{record} can't be read" in err and "move it away" in err
    assert record.read_text() == "{"


def test_outside_of_a_course_it_says_so(tmp_path, capsys):
    assert main(["--course-dir", str(tmp_path), "learn"]) != 0
    assert "Traceback" not in capsys.readouterr().err
