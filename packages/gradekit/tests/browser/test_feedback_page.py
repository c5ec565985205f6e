"""The feedback page in a browser: a class of assignment 2, and what a hostile student hands in."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from playwright.sync_api import Page

from gradekit.attempts import AttemptRecord, Attempts, outcomes_of
from gradekit.attempts import Page as PageState
from gradekit.course import Assignment, Course
from gradekit.course.cells import find_cell
from gradekit.grading.running_course import RunningCourse
from gradekit_authoring.samples import ODD_CLASS, ordinary_class, solved, write_class

from ..forked import run_forked

pytestmark = pytest.mark.slow  # what the pages say is tested in test_feedback.py

ROOT = Path(__file__).parents[4]
NAME, NOTEBOOK = "02_attention", "attention"
#: the students whose pages every test run looks at, and those who hand in when all tests are run
FEW = ("right", "blank", "not-a-notebook")
MORE = (
    "mistake",
    "alternative",
    "syntax-error",
    "wrong-type",
    "os-exit-in-a-call",
    "extra-cell",
    "other-kernel",
)
#: with mistakes, attempts, hostile text, and unreadable
EACH_KIND = ("ada", "bea", "mallory", "not-a-notebook")
each_kind_or_all = pytest.mark.parametrize(
    "chosen", [EACH_KIND, pytest.param((), marks=pytest.mark.thorough)], ids=["each kind", "all"]
)
#: in the future, so that the attempts of its period are not over
HANDED_IN = datetime(2040, 3, 2, 10, 5, tzinfo=UTC)
DESK, PHONE, PAPER = 1280, 360, 720

_HOSTILE_CODE = """
from IPython.display import HTML, SVG, Javascript, Markdown, display
for shown in (HTML("<script>document.title = 'stolen'</script><img src=x onerror=alert(1)>"), Javascript("alert(1)"),
              Markdown("<script>alert(1)</script>"), SVG("<svg xmlns='http://www.w3.org/2000/svg'></svg>")):
    display(shown)
print("</pre><script>document.title = 'stolen'</script>")
plt.plot([1, 2]); plt.show()
"""
_HOSTILE_TEXT = r"""
# A heading far too large
<script>document.title = 'stolen'</script> <img src="https://example.org/x.png" onerror="document.title = 'stolen'">
[look](javascript:document.title='stolen') <iframe src="https://example.org"></iframe>
<style>body { display: none }</style> <link rel="stylesheet" href="https://example.org/x.css">
![from elsewhere](https://example.org/y.png) ![pasted](attachment:z.png)

The variance of $q \cdot k$ is $d_k$, so $\href{javascript:document.title='stolen'}{x}$ and $\oops{x$ remain.
"""


def ada(assignment: Assignment) -> nbformat.NotebookNode:
    """Two mistakes that have a name, one that has none, and an exercise that was left out."""
    notebook = solved(assignment, NOTEBOOK)
    for name, old, new in [
        ("attention", " / math.sqrt(d_k)", ""),
        ("masked_attention", " / math.sqrt(d_k)", ""),
        ("padding_mask", "ids != pad_idx", "ids == pad_idx"),
        ("causal_mask", "torch.ones(length, length", "torch.ones(length, length + 1"),
    ]:
        cell = find_cell(notebook, name)
        assert old in cell.source
        cell.source = cell.source.replace(old, new)
    find_cell(notebook, "score_std").source = find_cell(assignment.released(NOTEBOOK), "score_std").source
    find_cell(notebook, "test_causal_mask").source = "print('all tests pass')"
    return notebook


def mallory(assignment: Assignment) -> nbformat.NotebookNode:
    notebook = solved(assignment, NOTEBOOK)
    find_cell(notebook, "attention").source += _HOSTILE_CODE
    find_cell(notebook, "written_attention").source = _HOSTILE_TEXT
    return notebook


def bea(assignment: Assignment) -> nbformat.NotebookNode:
    """One mistake is left."""
    notebook = solved(assignment, NOTEBOOK)
    cell = find_cell(notebook, "causal_mask")
    cell.source = cell.source.replace("torch.ones(length, length", "torch.ones(length, length + 1")
    return notebook


#: wrong answers to `attention` of an older set of unseen ones, as edits of the solution
UNSEEN = {
    "keys": ("math.sqrt(d_k)", "math.sqrt(k.shape[-2])"),
    "turned": ("return output, weights", "return output, weights.mT"),
    "cosine": (
        "q @ k.transpose(-2, -1)",
        "torch.nn.functional.normalize(q, dim=-1) @ torch.nn.functional.normalize(k, dim=-1).mT",
    ),
}


def with_edit(assignment: Assignment, old: str, new: str) -> nbformat.NotebookNode:
    """The solution with an edit in the answer cell `attention`."""
    notebook = solved(assignment, NOTEBOOK)
    cell = find_cell(notebook, "attention")
    assert old in cell.source
    cell.source = cell.source.replace(old, new)
    return notebook


class GradedClass:
    """A course folder with assignment 2, in which a class was graded by the commands that people use."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for folder in ("source", "release", "tests"):
            shutil.copytree(ROOT / folder / NAME, root / folder / NAME)
        shutil.copy(ROOT / "nbgrader_config.py", root)
        self.run("nbgrader", "generate_assignment", NAME, "--force")
        assignment = Course(root).assignment(NAME)
        self.hand_in(FEW)
        handed_in = {
            student: make(assignment) for student, make in (("ada", ada), ("bea", bea), ("mallory", mallory))
        }
        self.write(handed_in)
        (root / "submitted" / "bea" / NAME / "timestamp.txt").write_text(f"{HANDED_IN:%Y-%m-%d %H:%M:%S} UTC")
        self.run("gradekit", "autograde", NAME, "--workers", "2")
        with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
            book.find_grade("written_attention", NOTEBOOK, NAME, "ada").manual_score = 7
            book.find_grade("written_attention", NOTEBOOK, NAME, "ada").needs_manual_grade = False
            comment = book.find_comment("written_attention", NOTEBOOK, NAME, "ada")
            comment.manual_comment = "Say **why** it gets worse with $d_k$."
            book.find_comment("attention", NOTEBOOK, NAME, "ada").manual_comment = "See my mail."
            book.find_submission_notebook(NOTEBOOK, NAME, "ada").late_submission_penalty = 2
            book.db.commit()
        self.write_attempts()
        with (root / "nbgrader_config.py").open("a") as file:
            file.write("c = get_config()\nc.AttemptRules.attempts = 5\n")
        self.run("nbgrader", "generate_feedback", NAME)

    def write(self, notebooks: Mapping[str, nbformat.NotebookNode]) -> None:
        for student, notebook in notebooks.items():
            folder = self.root / "submitted" / student / NAME
            folder.mkdir(parents=True)
            nbformat.write(notebook, folder / f"{NOTEBOOK}.ipynb")

    def hand_in(self, students: Sequence[str]) -> None:
        assignment = Course(self.root).assignment(NAME)
        samples = [*ordinary_class(assignment), *ODD_CLASS]
        chosen = [sample for sample in samples if sample.student in students]
        assert len(chosen) == len(students)
        write_class(assignment, self.root / "submitted", chosen)

    def grade_more(self) -> None:
        self.hand_in(MORE)
        assignment = Course(self.root).assignment(NAME)
        self.write({student: with_edit(assignment, *edit) for student, edit in UNSEEN.items()})
        self.run("gradekit", "autograde", NAME, "--workers", "2")
        self.run("nbgrader", "generate_feedback", NAME)

    def write_attempts(self) -> None:
        """Three attempts of Bea's. In the second, two exercises were wrong that are right now, and the mask was right."""
        result = RunningCourse.open(self.root).result("bea", NAME, NOTEBOOK)
        earned, now = result.earned, outcomes_of(result)
        gained = sum(result.exercise(name).earned for name in ("test_padding_mask", "test_score_std"))
        lost = result.exercise("test_causal_mask").points - result.exercise("test_causal_mask").earned
        assert now["test_causal_mask"] != dict.fromkeys(now["test_causal_mask"], "passed")
        before = {name: dict.fromkeys(checks, "passed") for name, checks in now.items()}
        before["test_padding_mask"] = dict.fromkeys(now["test_padding_mask"], "failed")
        before["test_score_std"] = dict.fromkeys(now["test_score_std"], "failed")
        attempts = Attempts.load(self.root, NAME, "bea")
        for minutes, points, outcomes in (
            (55, 0, {}),
            (25, earned - gained + lost, before),
            (0, earned, now),
        ):
            time = HANDED_IN - timedelta(minutes=minutes)
            attempts.add(
                AttemptRecord(time, {NOTEBOOK: points}, 90, 0, {NOTEBOOK: outcomes}, time, PageState.RELEASED)
            )
        attempts.store()

    def run(self, program: str, *options: str, code: int = 0) -> None:
        done = run_forked([program, *options], self.root)
        assert done.returncode == code, done.stdout + done.stderr

    def open(self, page: Page, student: str, width: int = DESK) -> Page:
        page.set_viewport_size({"width": width, "height": 900})
        page.goto((self.root / "feedback" / student / NAME / f"{NOTEBOOK}.html").as_uri())
        return page

    @property
    def students(self) -> list[str]:
        return sorted(path.parts[-3] for path in (self.root / "feedback").glob("*/*/*.html"))


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> GradedClass:
    return GradedClass(tmp_path_factory.mktemp("pages") / "course")


def everybody(graded: GradedClass) -> list[str]:
    if not set(MORE) <= set(graded.students):
        graded.grade_more()
    assert {*FEW, *MORE, *EACH_KIND} < set(graded.students)
    return graded.students


def is_wider_than_the_window(page: Page) -> bool:
    return page.evaluate("document.documentElement.scrollWidth > innerWidth")


def unfold(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")


def texts(page: Page, selector: str) -> list[str]:
    return [" ".join(text.split()) for text in page.locator(selector).all_inner_texts()]


@each_kind_or_all
def test_every_page_passes_the_accessibility_check_and_needs_no_network(
    graded, page, accessibility_problems, chosen
):
    for student in chosen or everybody(graded):
        graded.open(page, student)
        assert (student, accessibility_problems(page)) == (student, [])
        assert page.refused == []


@pytest.mark.thorough
@pytest.mark.parametrize("width", [DESK, PHONE])
def test_what_is_folded_is_accessible_too(graded, page, accessibility_problems, width):
    graded.open(page, "ada", width)
    unfold(page)
    assert accessibility_problems(page) == []


@each_kind_or_all
def test_nothing_is_cut_off_on_a_phone_or_on_paper(graded, page, chosen):
    for student in chosen or everybody(graded):
        graded.open(page, student, PHONE)
        unfold(page)
        assert (student, is_wider_than_the_window(page)) == (student, False)
        page.emulate_media(media="print")
        page.set_viewport_size({"width": PAPER, "height": 900})
        assert (student, is_wider_than_the_window(page)) == (student, False)
        page.emulate_media(media="screen")


def test_on_a_phone_no_word_of_a_title_is_broken(graded, page):
    """Each word has one box; a broken one has two."""
    graded.open(page, "ada", PHONE)
    broken = page.evaluate(
        """() => [...document.querySelectorAll(".points a, .first a, caption, .points th, .gradekit-checks b")].flatMap(
            element => [...element.childNodes].filter(node => node.nodeType === 3).flatMap(text =>
                [...text.data.matchAll(/[\\w.]+/g)].filter(word => {
                    const range = document.createRange();
                    range.setStart(text, word.index);
                    range.setEnd(text, word.index + word[0].length);
                    return range.getClientRects().length > 1;
                }).map(word => word[0])))"""
    )
    assert broken == []


def test_on_a_phone_every_check_is_a_block_of_its_own(graded, page):
    graded.open(page, "ada", PHONE)
    row = page.locator("#test_attention tbody tr").first
    lefts = {round(cell.bounding_box()["x"]) for cell in row.locator("td").all()}
    assert len(lefts) == 1


def test_paper_shows_answers_and_verdicts_and_leaves_out_what_was_handed_out(graded, page):
    graded.open(page, "ada")
    page.emulate_media(media="print")
    assert page.locator("#test_attention table").is_visible()
    assert page.locator("#attention pre").first.is_visible()
    assert not page.locator("details.given").first.is_visible()


def test_the_top_says_total_status_repairs_and_what_to_look_at_first(graded, page):
    graded.open(page, "ada")
    assert texts(page, ".total") == ["61 of 100 points"]
    (status,) = texts(page, ".status")
    assert status.startswith("Status: graded.")
    assert "Notes: The test cell test_causal_mask was edited" in status
    first = texts(page, ".first li")
    assert len(first) == 3
    assert "You left out the division by the square root" in first[0]
    assert page.locator("h1").count() == 1
    assert "late penalty −2 handed in late" in texts(page, ".points tr")


def test_a_mistake_that_costs_points_in_two_exercises_is_told_once(graded, page):
    graded.open(page, "ada")
    told = [text for text in texts(page, ".first li") if "division by the square root" in text]
    assert told == [
        "Exercise 2: attention(q, k, v), 9 points; Exercise 4: masked_attention(q, k, v, mask=None), 9 points: You left out the division by the square root of d_k."
    ]


def test_the_top_says_which_attempt_it_is_and_what_changed(graded, page):
    graded.open(page, "bea")
    assert texts(page, ".attempt") == [
        "Attempt 3. 2 of 5 left until 09:10 UTC on 3 March. This attempt counts unless you hand in again."
    ]
    assert "8 points more" in texts(page, ".changes")[0]
    names = {text.split(":")[0] for text in texts(page, ".now-passed li")}
    assert names == {"Exercise 3a", "Exercise 5"}
    assert {text.split(":")[0] for text in texts(page, ".now-failed li")} == {"Exercise 3b"}


def test_with_full_marks_there_is_nothing_to_look_at_first(graded, page):
    graded.open(page, "right")
    assert page.get_by_text("Nothing: every check passed.").is_visible()
    assert texts(page, ".total") == ["90 of 100 points, and 10 more awaiting manual grading"]


def test_what_was_not_answered_comes_last(graded, page):
    graded.open(page, "ada")
    assert [text for text in texts(page, ".first li") if "Not answered" in text] == []
    graded.open(page, "blank")
    assert all(text.endswith("Not answered.") for text in texts(page, ".first li"))


def test_every_link_within_the_page_leads_somewhere(graded, page):
    for student in ("ada", "mallory", "blank", "not-a-notebook"):
        graded.open(page, student)
        links = page.eval_on_selector_all("a[href^='#']", "all => all.map(a => a.getAttribute('href'))")
        ids = page.eval_on_selector_all("[id]", "all => all.map(element => '#' + element.id)")
        assert set(links) <= set(ids)
        assert len(ids) == len(set(ids))


def test_a_failed_check_says_what_was_tried_what_should_hold_what_came_out_and_where_that_is_explained(
    graded, page
):
    graded.open(page, "ada")
    assert page.locator("#test_attention tbody tr").count() == 8
    row = texts(page, "#test_attention tbody tr")[0]
    labels = ("Tried:", "Should hold:", "Came out:", "Likely mistake:", "Explained in:")
    places = [row.find(label) for label in labels]
    assert places[0] > -1 and places == sorted(places), row
    for part in ("softmax", "q (3, 4, 6)", "failed", "0 / 6", "2 Attention as a function"):
        assert part in row
    page.get_by_role("link", name="5 Why divide by the root?").first.click()
    assert page.locator(":target").inner_text() == "5 Why divide by the root?"


def test_scores_and_comments_of_graders_stand_at_the_answer(graded, page):
    graded.open(page, "ada")
    written = texts(page, "#written_attention")[0]
    assert "7 of 10 points, graded manually." in written
    assert "Say why it gets worse with" in written
    assert page.locator("#written_attention .comment math").count() == 1
    assert "See my mail." in texts(page, "#attention")[0]


def test_nothing_that_a_student_handed_in_runs_or_loads(graded, page):
    messages: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.on("dialog", lambda dialog: messages.append(dialog.message))
    graded.open(page, "mallory")
    unfold(page)
    page.get_by_text("look", exact=True).first.click()
    assert page.title() == "02_attention: feedback for mallory"
    assert (messages, page.refused) == ([], [])
    assert page.locator("script, iframe, svg, object, embed, link, base, form").count() == 0
    assert page.locator("body").is_visible()
    on = "all => all.filter(e => e.getAttributeNames().some(name => name.startsWith('on'))).length"
    assert page.eval_on_selector_all("*", on) == 0


def test_formulas_are_shown_without_a_script_and_those_that_are_none_as_they_were_written(graded, page):
    graded.open(page, "mallory")
    assert page.locator("#written_attention math").count() == 3
    assert "\\oops{x" in texts(page, "#written_attention code")
    assert page.locator("#2-Attention-as-a-function + details math".replace("#2", "#\\32 ")).count() > 0


def test_figures_say_what_drew_them(graded, page):
    graded.open(page, "mallory")
    alt = page.locator("#attention img[src*=png]").get_attribute("alt")
    assert alt.endswith("drawn by the cell above, under the heading “Exercise 2: attention(q, k, v)”")


@pytest.mark.thorough
def test_a_wrong_answer_gets_a_name_or_else_a_relation_or_else_the_difference(graded, page):
    assert set(UNSEEN) <= set(everybody(graded))
    said = {student: " ".join(texts(graded.open(page, student), "#test_attention")) for student in UNSEEN}
    assert "You divided by the square root of the number of keys." in said["keys"]
    assert "It is right, with axis 1 and the last axis exchanged." in said["turned"]
    assert "differs by up to" in said["cosine"]
    assert "Likely" not in said["cosine"] + said["turned"]


@pytest.mark.thorough
def test_pictures_for_the_docs(graded, page, picture: Callable[..., Path]):
    assert set(UNSEEN) <= set(everybody(graded))
    graded.open(page, "ada")
    page.set_viewport_size({"width": 1000, "height": 960})
    assert picture(page, "feedback").stat().st_size > 10_000
    picture(page.locator("#test_attention"), "feedback-checks")
    for student in UNSEEN:
        graded.open(page, student)
        page.set_viewport_size({"width": 1000, "height": 960})
        picture(page.locator("#test_attention"), f"unseen-{student}")
    graded.open(page, "bea")
    page.set_viewport_size({"width": 1000, "height": 760})
    picture(page, "feedback-attempt")
    graded.open(page, "ada", PHONE)
    page.locator("#test_padding_mask").evaluate("element => element.scrollIntoView()")
    picture(page, "feedback-phone")
