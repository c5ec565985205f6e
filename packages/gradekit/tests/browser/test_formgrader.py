"""A TA opens nbgrader's formgrader, sees the class, and grades a written answer."""

import re
import shutil
from pathlib import Path

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from nbgrader.api import Gradebook
from playwright.sync_api import Route, expect

from gradekit.checks.variants import mistakes_of
from gradekit.course import Course
from gradekit.course.cells import find_cell
from gradekit.course.rubrics import RUBRIC, rubric_items
from gradekit_authoring.samples import Sample, write_class

from ..forked import run_forked

pytestmark = pytest.mark.thorough
ROOT = Path(__file__).parents[4]
NAME, NOTEBOOK, WRITTEN = "02_attention", "attention", "written_attention"
NAMES = {
    "ada": ("Ada", "Lovelace"),
    "emmy": ("Emmy", "Noether"),
    "alan": ("Alan", "Turing"),
    "eve": ('Eve"><img src=x onerror="window.evil = 6">', "Mallory"),
}
ANSWER = """\
The scores have a variance of $d_k$, because each is a sum of $d_k$ terms. So the softmax is nearly one-hot
when the width is large, and hardly any gradient comes through.

Without the causal mask the model copies the next token, so the training loss is close to 0. When it writes,
there is no next token to copy."""
ATTACK = "To be graded by hand. <script>window.evil = 1</script><img src='x' onerror='window.evil = 2'>"
BY_HAND = """\
q = k = v = x = torch.randn(1, 1, 4, 8, generator=torch.Generator().manual_seed(42)) * 0.5
scores = q @ k.transpose(-2, -1) / math.sqrt(8)
weights = torch.softmax(scores, dim=-1)
result = weights @ v"""
SHOWN = """\
from IPython.display import HTML, Javascript, display

display(HTML("<script>window.evil = 3</script><img src='x' onerror='window.evil = 4'>"))
display(Javascript("window.evil = 5"))
"""


def run(root: Path, *command: str) -> None:
    done = run_forked(command, root)
    assert done.returncode == 0, done.stdout + done.stderr


def write_answers(root: Path, student: str, answers: dict[str, str]) -> None:
    path = root / "submitted" / student / NAME / f"{NOTEBOOK}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    for cell, source in answers.items():
        find_cell(notebook, cell).source = source
    nbformat.write(notebook, path)


@pytest.fixture(scope="module")
def course_folder(tmp_path_factory):
    """This course with three students in its gradebook, graded automatically."""
    root = tmp_path_factory.mktemp("ta") / "course"
    for folder in ("source", "release", "tests"):
        shutil.copytree(ROOT / folder / NAME, root / folder / NAME)
    shutil.copy(ROOT / "nbgrader_config.py", root)
    assignment = Course(root).assignment(NAME)
    run(root, "nbgrader", "generate_assignment", NAME, "--force")
    mistake = next(mistake for mistake in mistakes_of(assignment) if mistake.name == "no_scale")
    samples = [
        Sample("ada", variants=(mistake,)),
        Sample("emmy"),
        Sample("alan", answered=False),
        Sample("eve"),
    ]
    write_class(assignment, root / "submitted", samples)
    write_answers(root, "ada", {WRITTEN: ANSWER})
    write_answers(root, "eve", {WRITTEN: ATTACK, "by_hand": SHOWN})
    for number, student in enumerate(NAMES):
        (root / "submitted" / student / NAME / "timestamp.txt").write_text(
            f"2026-03-0{number + 2} 14:05:00 UTC"
        )
    run(root, "gradekit", "autograde", NAME)
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}", "transformers") as book:
        for student, (first, last) in NAMES.items():
            book.update_or_create_student(student, first_name=first, last_name=last)
    return root


@pytest.fixture(scope="module")
def formgrader(course_folder, jupyter_lab):
    """The address of formgrader, served from the course folder."""
    with jupyter_lab(course_folder) as address:
        yield lambda place: address(f"formgrader/{place}")


def open_class(page, formgrader) -> None:
    page.goto(formgrader("manage_assignments"))
    page.locator("tr", has_text=NAME).locator(".num-submissions a").click()


def open_submission(page, formgrader, student: str) -> None:
    """From the list of assignments to one submission, by its links."""
    page.goto(formgrader("gradebook"))
    page.get_by_role("link", name=NAME).click()
    page.get_by_role("link", name=NOTEBOOK).click()
    page.locator("tr", has_text=NAMES[student][1]).locator("a:visible").first.click()
    page.wait_for_function("window.formgrader && formgrader.grades?.loaded && formgrader.comments?.loaded")
    wait_until_it_stands_still(page)


def wait_until_it_stands_still(page) -> None:
    """formgrader scrolls to a field by itself."""
    page.wait_for_function("formgrader.loaded && $(':animated').length == 0")


def type_and_leave(page, field, text: str, kind: str) -> None:
    """Type into a field and leave it by the tab key, by which formgrader saves it."""
    field.fill(text)
    with page.expect_response(lambda answer: f"/api/{kind}/" in answer.url) as saved:
        field.press("Tab")
    assert saved.value.ok


def scroll_to(element) -> None:
    """Scroll until it is the first thing below formgrader's bar."""
    element.evaluate("it => window.scrollBy(0, it.getBoundingClientRect().top - 70)")


def feedback_page(root: Path, student: str) -> str:
    return (root / "feedback" / student / NAME / f"{NOTEBOOK}.html").read_text()


def test_a_ta_sees_the_class_grades_a_written_answer_and_generates_feedback(
    page, formgrader, course_folder, picture
):
    open_class(page, formgrader)
    expect(page.locator("tr", has_text="Lovelace, Ada")).to_contain_text("needs manual grading")
    expect(page.locator("tr", has_text="Noether, Emmy")).to_contain_text("needs manual grading")
    expect(page.locator("tr", has_text="Turing, Alan")).to_contain_text("graded0 / 100")  # not answered
    picture(page, "formgrader-class", clip={"x": 0, "y": 0, "width": 1280, "height": 480})

    open_submission(page, formgrader, "ada")
    checks = page.locator("table.gradekit-checks", has_text="You left out the division by the square root")
    expect(checks).to_contain_text("✗ failed")
    expect(checks).to_contain_text("12 of 21 points")
    scroll_to(checks)
    picture(page, "formgrader-checks", clip={"x": 0, "y": 0, "width": 1280, "height": 480})
    answer = page.locator(".nbgrader_cell", has=page.locator(f"#{WRITTEN}"))
    type_and_leave(page, answer.locator(".score"), "7.5", "grade")
    type_and_leave(page, answer.locator(".comment"), "Say why the gradient is small.", "comment")
    with Gradebook(f"sqlite:///{course_folder / 'gradebook.db'}") as book:
        grade = book.find_grade(WRITTEN, NOTEBOOK, NAME, "ada")
        assert (grade.manual_score, grade.needs_manual_grade) == (7.5, False)
        comment = book.find_comment(WRITTEN, NOTEBOOK, NAME, "ada")
        assert comment.comment == "Say why the gradient is small."

    open_class(page, formgrader)
    row = page.locator("tr", has_text="Lovelace, Ada")
    expect(row).to_contain_text("graded88.5 / 100")
    row.locator(".generate-feedback a").click()
    expect(page.locator("#success-modal")).to_contain_text("Successfully generated feedback")
    for words in ("88.5", "7.5", "Say why the gradient is small."):
        assert words in feedback_page(course_folder, "ada")


def test_the_rubric_stands_beside_the_answer_for_the_grader_and_for_nobody_else(
    page, formgrader, course_folder
):
    open_submission(page, formgrader, "emmy")
    (rubric,) = page.get_by_label("Rubric").all()
    expect(rubric).to_contain_text("gradients through a saturated softmax are nearly 0")
    expect(rubric.get_by_text("A dot product of two vectors")).to_be_hidden()
    rubric.get_by_text("Model answer").click()
    expect(rubric.get_by_text("A dot product of two vectors")).to_be_visible()

    run(course_folder, "nbgrader", "generate_feedback", NAME, "--student", "emmy")
    notebook = course_folder / "autograded" / "emmy" / NAME / f"{NOTEBOOK}.ipynb"
    for text in (feedback_page(course_folder, "emmy"), notebook.read_text()):
        assert "Rubric" not in text
        assert "A dot product of two vectors" not in text


def in_gradebook(root: Path, student: str) -> tuple[float | None, bool, str | None]:
    """The score that a person gave, whether one is still needed, and the comment."""
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        grade = book.find_grade(WRITTEN, NOTEBOOK, NAME, student)
        comment = book.find_comment(WRITTEN, NOTEBOOK, NAME, student)
        return grade.manual_score, grade.needs_manual_grade, comment.manual_comment


def test_a_tick_at_an_idea_of_the_rubric_gives_its_points_and_says_so_in_the_comment(
    page, formgrader, course_folder, picture
):
    open_submission(page, formgrader, "eve")
    rubric = page.get_by_label("Rubric")
    answer = page.locator(".nbgrader_cell", has=page.locator(f"#{WRITTEN}"))
    score, comment = answer.locator(".score"), answer.locator(".comment")
    status = rubric.get_by_role("status")
    expect(status).to_have_text("0 of 6 ticked, 0 of 10 points.")
    assert Axe().run(page, context=".gradekit-rubric").response["violations"] == []

    saturates = rubric.get_by_role("checkbox", name="(1) the softmax saturates: nearly all weight on one key")
    gradients = rubric.get_by_role("checkbox", name="gradients through a saturated softmax")
    saturates.click()
    expect(status).to_have_text("1 of 6 ticked, 1 of 10 points.")
    page.keyboard.press("Tab")  # formgrader's own keys reach the next idea
    expect(gradients).to_be_focused()
    page.keyboard.press("Space")
    expect(status).to_have_text("2 of 6 ticked, 3 of 10 points.")
    expect(score).to_have_value("3")
    lines = (
        "* +1: the softmax saturates: nearly all weight on one key\n"
        "* +2: gradients through a saturated softmax are nearly 0, so learning is slow or stops"
    )
    assert in_gradebook(course_folder, "eve") == (3, False, lines)

    own = "Good. <script>window.evil = 7</script><img src=x onerror='window.evil = 8'>"
    type_and_leave(page, comment, f"{own}\n\n{lines} Well said!", "comment")
    expect(gradients).to_be_checked()
    gradients.click()  # takes the points and the line back, not what was written behind it
    expect(status).to_have_text("1 of 6 ticked, 1 of 10 points.")
    without = f"{own}\n\n{lines.splitlines()[0]}\nWell said!"
    assert in_gradebook(course_folder, "eve") == (1, False, without)
    saturates.click()
    expect(status).to_have_text("0 of 6 ticked, 0 of 10 points.")
    assert in_gradebook(course_folder, "eve") == (None, True, f"{own}\n\nWell said!")

    held: list[Route] = []
    page.route("**/api/comment/*", lambda route: route.continue_() if held else held.append(route))
    with page.expect_response(lambda answer: "/api/grade/" in answer.url):
        saturates.click()
    gradients.click()  # while the first is being saved
    before = page.url
    page.keyboard.press("Control+.")
    page.wait_for_timeout(500)
    assert page.url == before
    held[0].continue_()
    expect(page).not_to_have_url(before)  # once both are saved
    page.unroute("**/api/comment/*")
    assert in_gradebook(course_folder, "eve") == (3, False, f"{own}\n\nWell said!\n\n{lines}")

    open_submission(page, formgrader, "eve")  # the ticks come from the gradebook
    expect(rubric.get_by_role("checkbox", checked=True)).to_have_count(2)
    type_and_leave(page, score, "6.5", "grade")
    rubric.get_by_role("checkbox", name="the future does not exist").click()
    expect(status).to_have_text("3 of 6 ticked, 5 of 10 points. The typed score, 6.5, stays.")
    assert in_gradebook(course_folder, "eve")[:2] == (6.5, False)
    page.route("**/api/comment/*", lambda route: route.abort())
    rubric.get_by_role("checkbox", name="the training loss").click()
    expect(status).to_contain_text("Not saved: reload the page.")
    page.unroute("**/api/comment/*")

    run(course_folder, "nbgrader", "generate_feedback", NAME, "--student", "eve")
    page.goto((course_folder / "feedback" / "eve" / NAME / f"{NOTEBOOK}.html").as_uri())
    shown = page.locator(".comment", has_text="Well said!")
    expect(shown.get_by_role("listitem").first).to_have_text(
        "+1: the softmax saturates: nearly all weight on one key"
    )
    expect(page.get_by_text("6.5").first).to_be_visible()
    assert page.evaluate("typeof window.evil") == "undefined"

    open_submission(page, formgrader, "ada")
    expect(status).to_have_text("0 of 6 ticked, 0 of 10 points.")
    if score.input_value():
        type_and_leave(page, score, "", "grade")
    for idea in ("the spread", "the softmax saturates", "gradients", "the training loss", "when writing"):
        rubric.get_by_role("checkbox", name=idea).click()
    expect(status).to_have_text("5 of 6 ticked, 8 of 10 points.")
    ideas = comment.input_value()[comment.input_value().index("* +") :]
    type_and_leave(page, comment, f"Say why it can see the next token.\n\n{ideas}", "comment")
    wait_until_it_stands_still(page)
    scroll_to(rubric)
    picture(page, "formgrader-submission")


def test_a_submission_that_was_handed_in_anew_is_autograded_from_formgrader(page, formgrader, course_folder):
    write_answers(course_folder, "alan", {"by_hand": BY_HAND})
    open_class(page, formgrader)
    row = page.locator("tr", has_text="Turing, Alan")
    expect(row).to_contain_text("graded0 / 100")
    row.locator(".autograde a").click()
    expect(page.locator("#success-modal")).to_contain_text("Successfully autograded", timeout=60_000)
    expect(row).to_contain_text("10 / 100")


def test_nothing_that_a_student_handed_in_runs_in_the_browser_of_a_grader(page, formgrader):
    def nothing_ran():
        page.wait_for_timeout(500)
        assert page.evaluate("typeof window.evil") == "undefined"

    for place in ("manage_students", f"manage_submissions/{NAME}", f"gradebook/{NAME}/{NOTEBOOK}"):
        page.goto(formgrader(place))
        expect(page.get_by_text("Mallory").first).to_be_attached()
        nothing_ran()
    open_submission(page, formgrader, "eve")
    expect(page.get_by_text("To be graded by hand.")).to_be_visible()
    nothing_ran()
    page.locator(".glyphicon-eye-open").first.click()
    expect(page.locator("a.name-shown")).to_contain_text('Mallory, Eve"><img')


def test_formgrader_works_without_network(page, formgrader):
    open_submission(page, formgrader, "alan")
    assert {re.sub(r"//([^/]+)/.*", r"//\1", url) for url in page.refused} <= {"https://cdnjs.cloudflare.com"}
    answer = page.locator(".nbgrader_cell", has=page.locator(f"#{WRITTEN}"))
    type_and_leave(page, answer.locator(".score"), "0", "grade")
    before = page.url
    page.keyboard.press("Control+.")  # the next submission, or back to the list after the last
    expect(page).not_to_have_url(before)
    assert "index=" in page.url or page.url.endswith(f"{NAME}/{NOTEBOOK}")


@pytest.mark.parametrize("assignment", Course(ROOT).assignments(), ids=lambda assignment: assignment.name)
def test_every_answer_that_a_person_grades_has_a_rubric_that_adds_up(assignment):
    for path in assignment.source_notebooks():
        for cell in nbformat.read(path, as_version=4).cells:
            mark = cell.metadata.get("nbgrader", {})
            if mark.get("grade") and mark.get("solution"):
                rubric = cell.source.partition(RUBRIC)[2]
                items, _ = rubric_items(RUBRIC + rubric)
                assert sum(item.points for item in items) == mark.points, rubric
                assert len({item.line for item in items}) == len(items)
