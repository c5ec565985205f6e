"""A real JupyterHub, as deploy/jupyterhub sets it up: students hand in, read feedback, and reach only what is theirs."""

import os
import pwd
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import nbformat
import psutil
import pytest
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from playwright.sync_api import Browser, Page, expect

from gradekit.course import Course
from gradekit.course.cells import find_cell
from gradekit_authoring.samples import solved

from .hub import COURSE, Account, Hub, hub_problem, prepared, running
from .offline import take_offline
from .test_formgrader import type_and_leave, wait_until_it_stands_still

ROOT = Path(__file__).parents[4]
NAME, NOTEBOOK, WRITTEN = "02_attention", "attention", "written_attention"
NO_SCALE = "You left out the division by the square root of d_k."

pytestmark = [pytest.mark.hub, pytest.mark.thorough]


@pytest.fixture(scope="module")
def hub() -> Iterator[Hub]:
    """A running hub. Its course has one assignment, which is released."""
    if problem := hub_problem():
        pytest.skip(f"JupyterHub: {problem}")
    with prepared() as hub:
        for folder in ("source", "tests"):
            ignored = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
            shutil.copytree(ROOT / folder / NAME, hub.course / folder / NAME, ignore=ignored)
        shutil.copy(ROOT / "nbgrader_config.py", hub.course)
        for path in [hub.course, *hub.course.rglob("*")]:
            shutil.chown(path, hub.grader.name, hub.grader.name)
        as_grader(hub, "nbgrader", "generate_assignment", NAME)
        as_grader(hub, "nbgrader", "release_assignment", NAME)
        with running(hub):
            yield hub


def as_grader(hub: Hub, *command: str) -> str:
    done = hub.grader.run(*command, cwd=hub.course, role="grader")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def log_in(hub: Hub, browser: Browser) -> Iterator[Callable[[Account], Page]]:
    """Log in to the hub, each account in a browser of its own, and go on to a place in it."""
    contexts = []

    def open_hub(account: Account, place: str = "") -> Page:
        contexts.append(browser.new_context(viewport={"width": 1280, "height": 900}))
        take_offline(contexts[-1])
        page = contexts[-1].new_page()
        page.set_default_timeout(180_000)  # a server starts in 10 s on an idle machine
        page.goto(f"{hub.address}/{place}")
        page.get_by_label("Username").fill(account.name)
        page.get_by_label("Password").fill(account.password)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"**/{place}*" if place else "**/user/*/lab*")
        return page

    yield open_hub
    for context in contexts:
        context.close()


class AssignmentList:
    """What a student does in nbgrader's assignment list."""

    def __init__(self, page: Page) -> None:
        self.page = page
        expect(page.locator(".jp-Launcher")).to_be_visible(timeout=180_000)
        page.get_by_role("menuitem", name="Nbgrader").click()
        page.get_by_role("menuitem", name="Assignment List").click()
        self.submitted = page.locator("#submitted_assignments_list .nested_list_item")

    def fetch(self) -> None:
        self.page.get_by_role("button", name="Fetch", exact=True).click()
        expect(self.page.locator("#fetched_assignments_list")).to_contain_text(NAME)

    def submit(self) -> None:
        self.page.get_by_role("tab", name="Assignments").click()
        attempts = self.submitted.count()
        self.page.get_by_role("button", name="Submit").click()
        expect(self.submitted).to_have_count(attempts + 1)

    def wait_for_feedback(self) -> float:
        """Press the button that refreshes the list until it offers feedback; return the seconds."""
        start = time.monotonic()
        while "feedback available to fetch" not in self.submitted.last.inner_text():
            assert time.monotonic() < start + 300, self.submitted.all_inner_texts()
            self.page.wait_for_timeout(500)
            with self.page.expect_response("**/assignments?*"):
                self.page.locator("#refresh_assignments_list").click()
            self.page.wait_for_timeout(200)
        return time.monotonic() - start

    def open_feedback(self) -> Page:
        """Fetch the newest page and open it: the list shows its folder, and JupyterLab the file."""
        self.page.get_by_role("button", name="Fetch Feedback").click()
        self.submitted.last.get_by_text("view feedback").click()
        handed_in = self.submitted.last.inner_text().partition(" (")[0]
        expect(self.page.locator(".jp-BreadCrumbs:visible")).to_contain_text(handed_in)
        self.page.locator(".jp-DirListing-item", has_text=f"{NOTEBOOK}.html").dblclick()
        frame = self.page.locator(".jp-HTMLViewer:visible iframe").content_frame
        expect(frame.locator("h1").first).to_be_visible()
        return frame

    def open_in_new_tab(self) -> Page:
        """Open the page that was opened last in a tab of the browser, where its links work."""
        with self.page.expect_popup() as popup:
            self.page.locator(".jp-DirListing-item", has_text=f"{NOTEBOOK}.html").click(button="right")
            self.page.get_by_role("menuitem", name="Open in New Browser Tab").click()
        return popup.value


def right_answers() -> NotebookNode:
    return solved(Course(ROOT).assignment(NAME), NOTEBOOK)


def without_scale() -> NotebookNode:
    notebook = right_answers()
    cell = find_cell(notebook, "attention")
    assert " / math.sqrt(d_k)" in cell.source
    cell.source = cell.source.replace(" / math.sqrt(d_k)", "")
    return notebook


def write(account: Account, notebook: NotebookNode) -> None:
    """Fill in the student's notebook, which is there already and stays theirs."""
    path = account.home / NAME / f"{NOTEBOOK}.ipynb"
    assert path.owner() == account.name
    nbformat.write(notebook, path)


@pytest.fixture(scope="module")
def students(hub: Hub, log_in: Callable[[Account], Page]) -> tuple[AssignmentList, AssignmentList]:
    """The assignment lists of Ada, who forgot something, and of Ben. Both have handed in, and feedback is offered."""
    lists = []
    for account, notebook in ((hub.ada, without_scale()), (hub.ben, right_answers())):
        student = AssignmentList(log_in(account))
        student.fetch()
        write(account, notebook)
        student.submit()
        lists.append(student)
    for student in lists:
        print(f"feedback after {student.wait_for_feedback():.1f} s")
    return lists[0], lists[1]


def test_feedback_names_the_mistake_seconds_after_hand_in(students, picture):
    ada, ben = students
    picture(ada.page, "hub-assignments", clip={"x": 0, "y": 0, "width": 1280, "height": 400})
    feedback = ada.open_feedback()
    expect(feedback.locator("body")).to_contain_text(NO_SCALE)
    picture(ada.page, "hub-feedback")
    tab = ada.open_in_new_tab()
    tab.get_by_role(
        "link", name="Exercise 2: attention(q, k, v)", exact=True
    ).first.click()  # a place on the same page
    expect(tab.locator("table", has_text=NO_SCALE).last).to_be_in_viewport()
    tab.close()
    expect(ben.open_feedback().locator("body")).not_to_contain_text(NO_SCALE)


def test_the_feedback_on_a_corrected_answer_says_what_changed(hub, students, picture):
    ada, _ = students
    write(hub.ada, right_answers())
    ada.submit()
    ada.wait_for_feedback()
    page = ada.open_feedback().locator("body")
    expect(page).to_contain_text("What changed since attempt 1")
    expect(page).to_contain_text("9 points more.")
    expect(page).not_to_contain_text(NO_SCALE)
    picture(ada.page, "hub-changed")


def test_an_instructor_grades_a_written_answer_in_formgrader(hub, students, log_in, picture):
    page = log_in(hub.instructor, f"services/{COURSE}/formgrader/manage_assignments")
    expect(page.locator("tr", has_text=NAME)).to_contain_text("released")
    picture(page, "hub-formgrader", clip={"x": 0, "y": 0, "width": 1280, "height": 480})
    page.goto(f"{hub.address}/services/{COURSE}/formgrader/gradebook/{NAME}/{NOTEBOOK}")
    page.locator("tbody tr a:visible").first.click()
    page.wait_for_function("window.formgrader && formgrader.grades?.loaded && formgrader.comments?.loaded")
    wait_until_it_stands_still(page)
    answer = page.locator(".nbgrader_cell", has=page.locator(f"#{WRITTEN}"))
    type_and_leave(page, answer.locator(".score"), "7.5", "grade")
    with Gradebook(f"sqlite:///{hub.course / 'gradebook.db'}") as book:
        grades = [book.find_grade(WRITTEN, NOTEBOOK, NAME, each.name) for each in (hub.ada, hub.ben)]
        assert sorted(grade.manual_score or 0 for grade in grades) == [0, 7.5]


def test_an_instructor_has_a_terminal_in_the_course_s_folder(hub, log_in):
    page = log_in(hub.instructor, f"services/{COURSE}/lab")
    page.locator(".jp-LauncherCard", has_text="Terminal").click()
    page.locator(".jp-Terminal .xterm-screen").click()
    status = hub.course / "status.txt"

    def has_answered() -> bool:
        page.keyboard.type(f"export PATH={hub.base}/env/bin:$PATH; gradekit watch --status > status.txt\n")
        page.wait_for_timeout(2_000)
        return status.is_file() and status.read_text().startswith("running since")

    wait_until(has_answered)


def test_a_student_opens_neither_formgrader_nor_the_server_of_another(hub, log_in):
    page = log_in(hub.ben)
    for place in (f"services/{COURSE}/", f"user/{hub.ada.name}/api/contents", "hub/admin"):
        answer = page.goto(f"{hub.address}/{place}")
        assert answer.status in (403, 404), place
    assert page.goto(f"{hub.address}/user/{hub.ben.name}/api/contents").ok


#: what Ben tries in a terminal, and who may do it
FORBIDDEN = {
    "list Ada's home": ("ada", "ls {ada}"),
    "read Ada's notebook": ("ada", "cat {ada}/02_attention/attention.ipynb"),
    "read Ada's feedback": ("ada", "cat {ada}/02_attention/feedback/*/attention.html"),
    "read the secrets of Ada's hand-ins": (
        "ada",
        "cat {ada}/.local/share/jupyter/nbgrader_cache/transformers/*/submission_secret.txt",
    ),
    "list what was handed in": ("grader", "ls {exchange}/inbound"),
    "read what was handed in": ("grader", "cat {exchange}/inbound/*/attention.ipynb"),
    "list the feedback pages": ("grader", "ls {exchange}/feedback"),
    "read the feedback pages": ("grader", "cat {exchange}/feedback/*.html"),
    "add a feedback page": ("grader", "touch {exchange}/feedback/forged.html"),
    "change what is released": ("grader", "touch {exchange}/outbound/02_attention/attention.ipynb"),
    "list the course": ("grader", "ls {course}"),
    "read the checks": ("grader", "cat {course}/tests/02_attention/test_attention.py"),
    "read the solutions": ("grader", "cat {course}/source/02_attention/attention.ipynb"),
    "read the gradebook": ("grader", "cat {course}/gradebook.db"),
    "read collected work": ("grader", "cat {course}/submitted/*/02_attention/attention.ipynb"),
    "read the environment of the grader's processes": ("grader", "cat /proc/{grader_process}/environ"),
    "stop the grader's processes": ("grader", "kill -0 {grader_process}"),
    "read the environment of Ada's server": ("ada", "cat /proc/{ada_process}/environ"),
    "stop Ada's server": ("ada", "kill -0 {ada_process}"),
    "read the hub's database": ("root", "cat {base}/srv/jupyterhub.sqlite"),
    "read the hub's cookie secret": ("root", "cat {base}/srv/jupyterhub_cookie_secret"),
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_in_a_terminal_a_student_can_not(hub, students, what):
    owner, command = FORBIDDEN[what]
    places = {"base": hub.base, "course": hub.course, "exchange": hub.exchange, "ada": hub.ada.home}
    servers = {name: getattr(hub, name).pids("jupyterhub-singleuser")[0] for name in ("ada", "grader")}
    processes = {f"{name}_process": pid for name, pid in servers.items()}
    shell = ("sh", "-c", command.format(**places, **processes))
    assert hub.ben.run(*shell).returncode != 0
    allowed = (
        subprocess.run(shell, capture_output=True) if owner == "root" else getattr(hub, owner).run(*shell)
    )
    assert allowed.returncode == 0, allowed.stderr  # the command is right, and only Ben is refused


def test_a_student_can_not_take_the_place_of_the_course_in_the_exchange(hub):
    assert hub.ben.run("mv", hub.exchange, f"{hub.exchange}-old").returncode != 0
    assert hub.ben.run("rmdir", hub.exchange / "inbound").returncode != 0


def test_a_hand_in_in_the_name_of_another_is_refused(hub, students):
    now = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f} UTC"
    forged = hub.exchange / "inbound" / f"{hub.ada.name}+{NAME}+{now}+forged"
    notebook = hub.exchange / "outbound" / NAME / f"{NOTEBOOK}.ipynb"
    script = (
        'mkdir "$1" && cp "$2" "$1" && echo "$3" > "$1/timestamp.txt" && echo x > "$1/submission_secret.txt"'
    )
    done = hub.ben.run("sh", "-c", script, "sh", forged, notebook, now)
    assert done.returncode == 0, done.stderr
    sentence = f"is in the name of {hub.ada.name} but belongs to {hub.ben.name}"
    wait_until(lambda: sentence in as_grader(hub, "gradekit", "watch", "--status"))


def test_the_hub_starts_the_watcher_again_when_it_was_killed(hub):
    def watchers() -> set[int]:
        found = set(hub.grader.pids("gradekit watch"))  # its workers have its command line, too
        return {
            p.pid for p in psutil.process_iter(["ppid"]) if p.pid in found and p.info["ppid"] not in found
        }

    wait_until(watchers)
    (before,) = watchers()
    os.kill(before, signal.SIGKILL)
    wait_until(lambda: watchers() - {before})


def wait_until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 240
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.5)


def test_everything_that_the_tests_start_ends_with_them():
    if problem := hub_problem():
        pytest.skip(f"JupyterHub: {problem}")
    with prepared() as hub:
        hub.ben.run("sh", "-c", "sleep 600 > /dev/null 2>&1 &")
        (process,) = hub.ben.processes()
    assert not process.is_running()
    assert not hub.base.exists()
    for account in (hub.ada, hub.ben, hub.instructor, hub.grader):
        with pytest.raises(KeyError):
            pwd.getpwnam(account.name)
