"""`nbgrader generate_assignment` runs the hidden checks on the solution first."""

import pytest

from .conftest import QUICK


@pytest.fixture
def course(tiny_course):
    """A course whose release exists, with the setting as nbgrader has it."""
    path = tiny_course.root / "nbgrader_config.py"
    path.write_text(path.read_text().replace(QUICK, ""))
    return tiny_course


def release(course):
    return {path.name: path.read_bytes() for path in (course.root / "release" / "01_double").iterdir()}


def wrong_check(course):
    course.checks.write_text(course.checks.read_text().replace("x + x", "x + x + 1"))


def test_a_solution_that_fails_a_check_is_refused_and_the_release_stays(course):
    before = release(course)
    wrong_check(course)
    done = course.run("nbgrader", "generate_assignment", "01_double", "--force")
    assert done.returncode == 1
    assert "test_any_size (failed)" in done.stderr
    assert 'c.SolutionPasses.otherwise = "warn"' in done.stderr
    assert "Traceback" not in done.stderr
    assert release(course) == before


@pytest.mark.slow
def test_by_a_setting_it_is_a_warning(course):
    wrong_check(course)
    with (course.root / "nbgrader_config.py").open("a") as file:
        file.write('get_config().SolutionPasses.otherwise = "warn"\n')
    done = course.run("nbgrader", "generate_assignment", "01_double", "--force")
    assert done.returncode == 0, done.stderr
    assert "test_any_size (failed)" in done.stderr


@pytest.mark.slow
def test_a_solution_that_passes_is_released_without_a_word_about_it(course):
    done = course.run("nbgrader", "generate_assignment", "01_double", "--force")
    assert done.returncode == 0, done.stderr
    assert "the solution doesn't pass" not in done.stderr and "on the solution" not in done.stderr
    assert b"YOUR CODE HERE" in release(course)["double.ipynb"]


@pytest.mark.slow
def test_checks_without_recorded_values_are_only_a_warning(course):
    (course.assignment.checks / "reference.safetensors").unlink()
    done = course.run("nbgrader", "generate_assignment", "01_double", "--force")
    assert done.returncode == 0, done.stderr
    assert "the checks could not be run on the solution" in done.stderr


def test_known_mistakes_that_can_t_be_read_are_refused_before_anybody_hands_in(course):
    before = release(course)
    (course.assignment.checks / "mistakes.py").write_text(
        "from gradekit.checks import Mistake\nMISTAKES = [1]\n"
    )
    done = course.run("nbgrader", "generate_assignment", "01_double", "--force")
    assert done.returncode == 1
    assert "an entry of MISTAKES is a int" in done.stderr and "Nothing was released" in done.stderr
    assert release(course) == before


@pytest.mark.slow
def test_an_audit_without_mistakes_says_that_it_shows_little(tiny_course, capsys):
    (tiny_course.assignment.checks / "mistakes.py").unlink()
    tiny_course.gradekit("record", "01_double", "--workers", "1")
    tiny_course.gradekit("audit", "01_double", "--workers", "1")
    assert "NOTE there are no known mistakes" in capsys.readouterr().out
