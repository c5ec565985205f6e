"""The class report as a TA sees it: a real class of thirty in two assignments."""

import csv
import re
import shutil
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbgrader.api import Gradebook

from gradekit.checks.variants import Variant, mistakes_of
from gradekit.cli import main
from gradekit.course import Assignment, Course
from gradekit.course.cells import find_cell
from gradekit.course.rubrics import rubric_items
from gradekit_authoring.samples import solved
from gradekit_written.rubrics import rubric_of

from ..forked import run_forked

pytestmark = pytest.mark.thorough
ROOT = Path(__file__).parents[4]
STUDENTS = [
    "ada", "anton", "bella", "ben", "carla", "chen", "dilan", "dora", "emil", "fatma",
    "greta", "hugo", "ines", "jonas", "karim", "lena", "marco", "nadia", "olga", "pavel",
    "quinn", "rosa", "samir", "tara", "umar", "vera", "wanda", "xenia", "yusuf", "zoe",
]  # fmt: skip
ATTENTION, POSITIONS = "02_attention", "01_positional_encoding"
#: a mistake that is not among the known ones
UNKNOWN = Variant("unknown", "attention", [(" / math.sqrt(d_k)", " / math.sqrt(2 * d_k)")])
#: what students have wrong, and how many have exactly that; the rest hands in nothing
KINDS = {
    POSITIONS: [
        ("", 13),
        ("base_1000", 6),
        ("sine_and_cosine_swapped one_speed", 5),
        ("positions_from_1", 4),
    ],
    ATTENTION: [
        ("", 6),
        ("no_scale masked_no_scale", 5),
        ("unknown", 4),
        ("no_scale masked_no_scale scaled_by_d_k padding_hides_rows_too", 3),
        ("pad_id_0_always", 3),
        ("mask_inverted causal_inverted padding_inverted by_hand_sigmoid uniform_vectors", 2),
        ("causal_one_too_far hidden_score_zero", 2),
        ("softmax_over_queries masked_softmax_over_queries by_hand_softmax_over_queries mean_distance", 2),
        ("blank", 1),
    ],
}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Two assignments of this course, handed in by thirty, and graded."""
    course = Course(tmp_path_factory.mktemp("report") / "course")
    for name in KINDS:
        for folder in ("source", "release", "tests"):
            ignored = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
            shutil.copytree(ROOT / folder / name, course.root / folder / name, ignore=ignored)
    shutil.copy(ROOT / "nbgrader_config.py", course.root)
    for name, kinds in KINDS.items():
        assignment = course.assignment(name)
        generate(assignment)
        answers = (answer for kind, count in kinds for answer in [answered(assignment, kind)] * count)
        for student, notebook in zip(in_order(name), answers, strict=False):
            folder = course.root / "submitted" / student / name
            folder.mkdir(parents=True)
            nbformat.write(notebook, folder / assignment.source_notebooks()[0].name)
        main(["--course-dir", str(course.root), "autograde", name, "--workers", "2"])
    return course


def generate(assignment: Assignment) -> None:
    """Make the assignment known to the gradebook."""
    done = run_forked(["nbgrader", "generate_assignment", assignment.name, "--force"], assignment.course.root)
    assert done.returncode == 0, done.stderr


def in_order(assignment: str) -> list[str]:
    """The students, the best first. Not the same are the best, or hand in nothing, each time."""
    students = sorted(STUDENTS, key=lambda name: name[::-1])
    return students[3:] + students[:3] if assignment == POSITIONS else students


def answered(assignment: Assignment, kind: str) -> NotebookNode:
    """The notebook of a student who has these mistakes, and everything else right."""
    (name,) = assignment.released_names()
    if kind == "blank":
        return assignment.released(name)
    known = {variant.name: variant for variant in [*mistakes_of(assignment), UNKNOWN]}
    source = nbformat.read(assignment.source_notebooks()[0], as_version=4)
    notebook = solved(assignment, name)
    for mistake in kind.split():
        variant = known[mistake]
        source = variant.apply(source)
        answer = find_cell(source, variant.cell).source.splitlines()
        find_cell(notebook, variant.cell).source = "\n".join(
            line for line in answer if not line.strip().startswith("### ")
        )
    return notebook


def score_answers(course: Course) -> None:
    """Ann and Bob tick ideas of the rubric; in a third of the answers, Bob doesn't find one that Ann finds."""
    lists = {path.stem: path for path in (course.root / "dealt" / ATTENTION).glob("*.csv")}
    items, _ = rubric_items(rubric_of(course.assignment(ATTENTION), "attention", "written_attention"))
    rows_of = {grader: list(csv.DictReader(path.open(newline=""))) for grader, path in lists.items()}
    submissions = sorted({row["submission"] for rows in rows_of.values() for row in rows})
    with Gradebook(f"sqlite:///{course.root / 'gradebook.db'}") as gradebook:
        for grader, rows in rows_of.items():
            for row in rows:
                number = submissions.index(row["submission"])
                given = [place for place in range(len(items)) if (number + place) % 4]
                if grader == "bob" and number % 3 == 0:
                    given = [place for place in given if place != 2]
                if row["reading"] == "second":
                    row["items"] = " ".join(str(place + 1) for place in given)
                    continue
                notebook = gradebook.find_submission_notebook_by_id(row["submission"])
                grade = next(grade for grade in notebook.grades if grade.name == row["answer"])
                grade.manual_score = sum(items[place].points for place in given)
                grade.needs_manual_grade = False
                comment = next(comment for comment in notebook.comments if comment.name == row["answer"])
                comment.manual_comment = "\n".join(items[place].line for place in given)
            with lists[grader].open("w", newline="") as file:
                table = csv.DictWriter(file, rows[0])
                table.writeheader()
                table.writerows(rows)
        gradebook.db.commit()


@pytest.fixture(scope="module")
def report(course: Course) -> Path:
    """The page of the class report of the second assignment, whose written answers two people have graded."""
    assert (
        main(["--course-dir", str(course.root), "deal", ATTENTION, "--to", "ann,bob", "--twice", "80%"]) == 0
    )
    score_answers(course)
    assert main(["--course-dir", str(course.root), "report", ATTENTION]) == 0
    return course.root / "reports" / ATTENTION / "report.html"


def test_everybody_can_read_the_report(page, report, picture, accessibility_problems):
    page.goto(report.as_uri())
    assert page.locator("h1").inner_text() == "02_attention: class report"
    assert accessibility_problems(page) == []
    assert page.refused == []
    picture(page, "report", clip={"x": 0, "y": 0, "width": 1280, "height": 1500}, full_page=True)
    picture(page.locator("#map"), "report-map")
    picture(page.locator("#graders"), "report-graders")
    picture(page.locator("#groups article", has_text="No diagnosis yet"), "report-group")


def test_the_report_compares_the_graders_idea_by_idea(page, report):
    page.goto(report.as_uri())
    ideas = page.get_by_role("region", name="Agreement in each idea").locator("tbody tr")
    assert ideas.count() == 6
    saturates, gradients = ideas.nth(1).inner_text(), ideas.nth(2).inner_text()
    assert "κ 1.00" in saturates and "ann, bob" in saturates
    count, same, value = re.search(r"(\d+)\s+(\d+)\s+κ (0\.\d+)", gradients).groups()
    assert 20 <= int(count) <= 24 and int(same) < int(count) and 0 < float(value) < 1


def test_the_report_fits_on_a_phone(page, report, picture):
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(report.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    picture(page, "report-phone")


def test_the_report_prints_without_what_is_only_for_the_screen(page, report):
    page.goto(report.as_uri())
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()
    assert page.locator("#map img").is_visible()


def test_the_report_names_the_mistake_that_most_have_made(page, report):
    page.goto(report.as_uri())
    first = page.locator("#re-teach ol li").first.inner_text()
    assert "divi" in first and "8 of 28 students" in first


def test_students_who_share_an_unknown_mistake_are_a_group_with_a_stub(page, report):
    page.goto(report.as_uri())
    group = page.locator("#groups article", has_text="No diagnosis yet").first
    assert "4 students" in group.locator("h3").inner_text()
    assert "math.sqrt(2 * d_k)" in group.locator("pre").first.inner_text()
    group.locator("summary").click()
    assert "wrong.about(" in group.locator("details pre").inner_text()
