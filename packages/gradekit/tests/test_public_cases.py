"""What users of graders for notebooks have reported in public, tried as one class: each student is a case.

Each case names its source as project and number. The class has one assignment with a written answer and ordinary test
cells, so that plain nbgrader can grade it as well: nobody may have fewer points than there.
"""

import base64
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat import NotebookNode, v4
from nbgrader.api import Gradebook

from .forked import run_forked
from .odd_course import PYTHON, code, text

ASSIGNMENT, NOTEBOOK = "ps1", "p1"
RIGHT, READ = "def double(x):\n    return 2 * x", "def rows():\n    return len(open('data.csv').readlines())"
WRITTEN = "Since the sum of two even numbers is even."
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def source_notebook() -> NotebookNode:
    answer = "### BEGIN SOLUTION\n{}\n### END SOLUTION"
    tests = {"grade": True, "locked": True, "points": 2}
    cells = [
        v4.new_markdown_cell("# Numbers\n\n## Doubling"),
        code("double", answer.format(RIGHT), solution=True),
        code("test_double", "assert double(4) == 8", **tests),
        v4.new_markdown_cell("## Reading"),
        code("rows", answer.format(READ), solution=True),
        code("test_rows", "assert rows() == 3", **tests),
        v4.new_markdown_cell("## Why is the result even?"),
        text("why", grade=True, solution=True, points=3),
    ]
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    return v4.new_notebook(cells=cells, metadata={"kernelspec": PYTHON})


@dataclass
class HandIn:
    """A complete, right submission, which a case changes."""

    folder: Path
    notebook: NotebookNode
    name: str = f"{NOTEBOOK}.ipynb"
    as_text: Callable[[NotebookNode], str] = nbformat.writes

    def cell(self, name: str) -> NotebookNode:
        return next(c for c in self.notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == name)

    def add_first(self, source: str) -> None:
        self.notebook.cells.insert(0, v4.new_code_cell(source))

    def file(self, name: str, content: str | bytes) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


@dataclass(frozen=True)
class PublicCase:
    """A case, and what has to come of it.

    Args:
        source: project and number of the thread.
        points: what the test cells earn together, of 4.
        asks: whether a person has to grade something: here, at least the written answer.
        said: words that the student's page says.
        pictures: how many pictures the page shows.
    """

    source: str
    change: Callable[[HandIn], object]
    points: float = 4
    asks: bool = True
    said: list[str] = field(default_factory=list)
    pictures: int = 0


def _picture_attached(work: HandIn) -> None:
    cell = work.cell("why")
    cell.source = "![proof](attachment:proof.png)"
    cell.attachments = {"proof.png": {"image/png": PIXEL}}


def _picture_beside(work: HandIn) -> None:
    work.cell("why").source = 'See <img src="pics/my proof.png">'
    work.file("pics/my proof.png", base64.b64decode(PIXEL))


def _answers_below(work: HandIn) -> None:
    work.cell("why").source = "YOUR ANSWER HERE"
    work.notebook.cells.append(v4.new_markdown_cell(WRITTEN))


def _answers_in_the_question(work: HandIn) -> None:
    question = work.notebook.cells[-2]
    question.source += f"\n\n{WRITTEN}"
    work.notebook.cells.pop()


def _turns_the_written_answer_into_code(work: HandIn) -> None:
    old = work.cell("why")
    work.notebook.cells[-1] = v4.new_code_cell(f"# {WRITTEN}", metadata=old.metadata, id=old["id"])


def _deletes(name: str) -> Callable[[HandIn], None]:
    return lambda work: work.notebook.cells.remove(work.cell(name))


def _loses_marks(work: HandIn) -> None:
    for cell in work.notebook.cells:
        cell.metadata = NotebookNode()


def _duplicates_a_test(work: HandIn) -> None:
    place = work.notebook.cells.index(work.cell("test_double"))
    work.notebook.cells.insert(
        place + 1, nbformat.from_dict(dict(work.cell("test_double")) | {"id": "twice"})
    )


def _picture_written(work: HandIn) -> None:
    work.add_first(f"import base64\nopen('plot.png', 'wb').write(base64.b64decode({PIXEL!r}))")
    work.cell("why").source = "See ![](plot.png)"


def _own_modules_named_like_known_ones(work: HandIn) -> None:
    for name in ("random", "code", "json", "zmq", "numpy"):
        work.file(f"{name}.py", "def shadow():\n    return 1\n")


def _needs_a_window(work: HandIn) -> None:
    work.add_first("%matplotlib qt\nimport math")
    work.cell("double").source = "def double(x):\n    return math.ceil(2 * x)"


def _has_another_kernel(work: HandIn) -> None:
    work.notebook.metadata.kernelspec = {
        "name": "conda-env-stats-py",
        "display_name": "stats",
        "language": "python",
    }


def _merge_conflict(work: HandIn) -> None:
    work.as_text = lambda notebook: (
        "<<<<<<< HEAD\n" + nbformat.writes(notebook) + "\n=======\n{}\n>>>>>>> b\n"
    )


CASES = {
    "attached": PublicCase("nbgrader#950", _picture_attached, pictures=1),
    "beside": PublicCase("nbgrader#218", _picture_beside, pictures=1),
    "written": PublicCase("nbgrader#229", _picture_written, pictures=1),
    "shadows": PublicCase("nbgrader#1842", _own_modules_named_like_known_ones),
    "conda": PublicCase("nbgrader#1375", _has_another_kernel),
    "input": PublicCase(
        "nbgrader#1844", lambda work: work.add_first("name = input('Your name')"), said=["input"]
    ),
    "magics": PublicCase("otter-grader#604", lambda work: work.add_first("%%writefile helper.py\nvalue = 1")),
    "await": PublicCase(
        "analysis-grand-challenge#93", lambda work: work.add_first("import asyncio\nawait asyncio.sleep(0)")
    ),
    "html": PublicCase("nbgrader#1211", lambda work: work.file(f"{NOTEBOOK}.html", "<p>saved as a page</p>")),
    "extra": PublicCase("nbgrader#258", lambda work: work.file("scratch.ipynb", "{}")),
    "copied": PublicCase(
        "nbgrader#1302", lambda work: setattr(work, "name", f"WMS {NOTEBOOK}.ipynb"), said=[f"WMS {NOTEBOOK}"]
    ),
    "below": PublicCase("resonance#109", _answers_below),
    "merged": PublicCase("resonance#109, an answer in the question", _answers_in_the_question),
    "retyped": PublicCase("nbgrader#92", _turns_the_written_answer_into_code),
    "no-test": PublicCase("nbgrader#1682", _deletes("test_double"), said=["test_double"]),
    "unmarked": PublicCase("nbgrader#424", _loses_marks),
    "twice": PublicCase("resonance#109, a test cell twice", _duplicates_a_test),
    "interactive": PublicCase("resonance#40", lambda work: work.add_first("%matplotlib notebook")),
    "window": PublicCase("vscode-jupyter#17115", _needs_a_window, said=["matplotlib"]),
    "desktop": PublicCase("nbgrader#1211, .DS_Store", lambda work: work.file(".DS_Store", b"\0\0\0\1Bud1")),
    "apple": PublicCase("nwbinspector#469", lambda work: work.file(f"._{NOTEBOOK}.ipynb", b"\0\5\26\7")),
    "conflict": PublicCase("jupyter/help#67", _merge_conflict, points=0),
    "silent": PublicCase(
        "nbgrader#993", lambda work: setattr(work.cell("why"), "source", "YOUR ANSWER HERE"), asks=False
    ),
}


def _write_class(root: Path, settings: str) -> None:
    (root / "source" / ASSIGNMENT).mkdir(parents=True)
    nbformat.write(source_notebook(), root / "source" / ASSIGNMENT / f"{NOTEBOOK}.ipynb")
    (root / "source" / ASSIGNMENT / "data.csv").write_text("a\nb\nc\n")
    (root / "nbgrader_config.py").write_text(settings)
    done = run_forked(["nbgrader", "generate_assignment", ASSIGNMENT], root)
    assert done.returncode == 0, done.stderr
    released = nbformat.read(root / "release" / ASSIGNMENT / f"{NOTEBOOK}.ipynb", as_version=4)
    for student, case in CASES.items():
        folder = root / "submitted" / student / ASSIGNMENT
        folder.mkdir(parents=True)
        work = HandIn(folder, nbformat.from_dict(released))
        for name, answer in {"double": RIGHT, "rows": READ, "why": WRITTEN}.items():
            work.cell(name).source = answer
        case.change(work)
        (folder / work.name).write_text(work.as_text(work.notebook))


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The class, graded by gradekit, with its pages."""
    root = tmp_path_factory.mktemp("public") / "course"
    _write_class(root, "from gradekit.nbgrader_plugin import configure\n\nconfigure(get_config())\n")
    for command in (["gradekit", "autograde", ASSIGNMENT], ["nbgrader", "generate_feedback", ASSIGNMENT]):
        done = run_forked(command, root)
        (root / f"{command[1]}.txt").write_text(f"{done.returncode}\n{done.stdout}\n{done.stderr}")
    return root


def points(root: Path) -> dict[str, float]:
    """What the test cells earned, for each student in the gradebook."""
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        return {
            found.student_id: sum(
                g.auto_score or 0 for n in found.notebooks for g in n.grades if g.name != "why"
            )
            for found in gradebook.assignment_submissions(ASSIGNMENT)
        }


def page(root: Path, student: str) -> BeautifulSoup:
    path = root / "feedback" / student / ASSIGNMENT / f"{NOTEBOOK}.html"
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def asks(root: Path, student: str) -> bool:
    """Whether formgrader lists the submission for manual grading."""
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        found = gradebook.find_submission(ASSIGNMENT, student)
        return any(grade.needs_manual_grade for notebook in found.notebooks for grade in notebook.grades)


@pytest.mark.parametrize("student", CASES)
@pytest.mark.slow
def test_the_case_earns_its_points(graded, student):
    assert points(graded)[student] == CASES[student].points, CASES[student].source


@pytest.mark.parametrize("student", CASES)
@pytest.mark.slow
def test_a_person_is_asked_where_one_is_needed(graded, student):
    assert asks(graded, student) == CASES[student].asks, CASES[student].source


@pytest.mark.parametrize("student", CASES)
@pytest.mark.slow
def test_everybody_gets_a_page_that_shows_and_says_what_was_found(graded, student):
    case, shown = CASES[student], page(graded, student)
    assert all(words in shown.get_text() for words in case.said), case.source
    pictures = [image for image in shown.find_all("img") if image["src"].startswith("data:image/png")]
    assert len(pictures) == case.pictures, case.source


@pytest.mark.thorough
def test_nobody_has_fewer_points_than_with_plain_nbgrader(graded, tmp_path):
    _write_class(tmp_path / "plain", "c = get_config()\n")
    run_forked(["nbgrader", "autograde", ASSIGNMENT], tmp_path / "plain")
    ours = points(graded)
    worse = {name: found for name, found in points(tmp_path / "plain").items() if found > ours[name]}
    assert worse == {}
