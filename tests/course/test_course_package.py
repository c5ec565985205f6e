"""transformer-course: the course for somebody who has nothing but the package."""

import os
import runpy
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMES = sorted(path.name for path in (ROOT / "source").iterdir() if path.is_dir())


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the package lies, with the course packed as in the wheel."""
    folder = tmp_path_factory.mktemp("installed")
    copy = shutil.copytree(
        ROOT / "packages/transformer-course/src/transformer_course", folder / "transformer_course"
    )
    runpy.run_path(str(ROOT / "packages/dist.py"))["pack_course"](copy / "course.zip")
    return folder


@pytest.fixture
def learner(package: Path, tmp_path: Path):
    """Runs the command in a folder with a space, as a person whose data folder is empty."""
    place = tmp_path / "my course"
    place.mkdir()

    def run(*options: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "transformer_course", *options, "--no-open"],
            env=os.environ | {"PYTHONPATH": str(package), "XDG_DATA_HOME": str(tmp_path / "data")},
            cwd=place,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    run.folder = place / "transformers-from-scratch"
    return run


def test_it_has_notebooks_solutions_and_checks_of_all_assignments_and_nothing_else(package):
    files = zipfile.ZipFile(package / "transformer_course" / "course.zip").namelist()
    for name in NAMES:
        for step in ("source", "release", "tests"):
            assert any(path.startswith(f"{step}/{name}/") for path in files), (step, name)
    allowed = tuple(f"{step}/{name}/" for name in NAMES for step in ("source", "release", "tests"))
    rest = {path for path in files if not path.endswith("/") and not path.startswith(allowed)}
    assert rest <= {"nbgrader_config.py", "source/.gitkeep", "release/.gitkeep"}


@pytest.mark.slow
def test_the_first_notebook_appears_in_the_learners_folder_without_its_solution(learner):
    said = learner()
    assert [line.split()[0] for line in said.splitlines() if "not checked yet" in line] == NAMES
    assert f"transformer-course {NAMES[0]} --check" in said
    (notebook,) = (learner.folder / NAMES[0]).glob("*.ipynb")
    assert notebook.read_bytes() == (ROOT / "release" / NAMES[0] / notebook.name).read_bytes()


@pytest.mark.thorough
def test_a_right_notebook_has_all_points_of_the_hidden_checks(learner):
    learner("02")
    shutil.copy(ROOT / "source/02_attention/attention.ipynb", learner.folder / "02_attention")
    said = learner("02", "--check")
    assert "02_attention            90 of 90 points" in said
    page = Path(said.rpartition("Your page: ")[2].strip())
    assert "attention" in page.read_text(encoding="utf-8")
