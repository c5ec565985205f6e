"""The docs: links lead somewhere, and the commands of the guides run in one small term and print what is shown."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gradekit.course import Course
from gradekit_authoring.samples import ordinary_class, write_class

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
#: slow or endless commands, and the test that runs them instead
ELSEWHERE = {
    "gradekit audit 02_attention": "tests/course/test_audit.py",
    "jupyter lab": "packages/gradekit/tests/browser/test_formgrader.py",
    "gradekit new 08_my_topic": "packages/gradekit-authoring/tests/test_new.py",
    "gradekit doctor": "packages/gradekit-authoring/tests/test_doctor.py",
}


def commands_of(guide: str) -> list[tuple[str, list[str]]]:
    """The commands of a guide, each with the output that the guide shows."""
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"^```console\n(.*?)^```", (DOCS / guide).read_text(), re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line.removeprefix("$ "), []))
            else:
                found[-1][1].append(line)
    return found


@dataclass
class Person:
    """Somebody who works in `folder` with their own settings. `after` holds what to call after a command."""

    folder: Path
    after: dict[str, Callable[[], None]] = field(default_factory=dict)

    def follow(self, commands: Iterator[tuple[str, list[str]]], until: str = "") -> None:
        """Run commands and compare their output, up to the one that begins with `until`."""
        for command, expected in commands:
            if command not in ELSEWHERE:
                said = self.run(command)
                for line in expected:
                    assert line in said, command
                self.after.get(command, lambda: None)()
            if until and command.startswith(until):
                return

    def run(self, command: str) -> str:
        home = self.folder / ".home"
        own = {"HOME": home, "JUPYTER_CONFIG_DIR": home / "jupyter", "IPYTHONDIR": home / "ipython"}
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=os.environ | {name: str(place) for name, place in own.items()} | {"PATH": path},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def term(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Person]:
    """A course folder, an exchange, and students: Ada follows her guide, Ben and Carla just hand in, Dan does not."""
    base = tmp_path_factory.mktemp("term")
    exchange = base / "exchange"
    exchange.mkdir()
    exchange.chmod(0o777)
    people = {name: Person(base / name) for name in ("instructor", "ada", "ben", "carla")}
    for name, person in people.items():
        settings = person.folder / ".home" / "jupyter"
        settings.mkdir(parents=True)
        text = f'c = get_config()\nc.Exchange.root = "{exchange}"\n'
        if name != "instructor":
            text += f'c.CourseDirectory.student_id = "{name}"\nc.CourseDirectory.course_id = "transformers"\n'
            text += "c.Execute.timeout = 600\n"  # of `nbgrader validate`: on a busy machine, imports alone take 30 s
        (settings / "nbgrader_config.py").write_text(text)
    course = people["instructor"].folder
    shutil.copy(ROOT / "nbgrader_config.py", course)
    for folder in ("source", "tests"):
        shutil.copytree(ROOT / folder / "02_attention", course / folder / "02_attention")
    (course / "students.csv").write_text(
        "id,first_name,last_name,email\nada,Ada,A,a@example.org\nben,Ben,B,b@example.org\n"
        "carla,Carla,C,c@example.org\ndan,Dan,D,d@example.org\n"
    )
    return people


def hand_in(people: dict[str, Person], guide: Iterator[tuple[str, list[str]]]) -> None:
    """Hand in for Ada, who has everything right, and for Ben and Carla, who make the same mistake."""
    assignment = Course(people["instructor"].folder).assignment("02_attention")
    samples = {sample.student: sample for sample in ordinary_class(assignment)}
    answers = people["instructor"].folder.parent / "answers"
    write_class(assignment, answers, list(samples.values()))
    answer_of = {"ada": samples["right"], "ben": samples["mistake"], "carla": samples["mistake"]}
    for name, sample in answer_of.items():
        person = people[name]
        notebook = answers / sample.student / "02_attention" / "attention.ipynb"
        if name == "ada":
            person.follow(guide, until="nbgrader fetch_assignment")
            shutil.copy(notebook, person.folder / "02_attention")
            person.follow(guide, until="nbgrader submit")
        else:
            person.run("nbgrader fetch_assignment 02_attention")
            shutil.copy(notebook, person.folder / "02_attention")
            person.run("nbgrader submit 02_attention")


@pytest.mark.thorough
def test_a_term_goes_as_the_guides_say(term):
    instructor, ada = term["instructor"], term["ada"]
    students_guide = iter(commands_of("student.md"))
    instructor.after = {
        "nbgrader release_assignment 02_attention --log-level=WARN": lambda: hand_in(term, students_guide),
        "nbgrader release_feedback 02_attention --log-level=WARN": lambda: ada.follow(students_guide),
    }
    instructor.follow(iter(commands_of("instructor.md")))
    assert list(students_guide) == []
    (page,) = (ada.folder / "02_attention" / "feedback").glob("*/attention.html")
    assert "90 of 100 points" in " ".join(page.read_text().split())
    instructor.follow(iter(commands_of("ta.md")))
    instructor.follow(iter(commands_of("tasks.md")))


def test_commands_left_to_other_tests_appear_in_the_guides():
    for command, test in ELSEWHERE.items():
        assert command in "".join((DOCS / name).read_text() for name in ("instructor.md", "ta.md")), command
        assert (ROOT / test).exists()


PAGES = sorted(
    path
    for places in ("*.md", ".github/*.md", "docs/*.md", "packages/*/*.md", "deploy/*/*.md", "release/*/*.md")
    for path in ROOT.glob(places)
)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and the documentation site make them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_of_a_page_leads_somewhere(path):
    for link in re.findall(r"\]\(([^)\s]+)[^)]*\)", path.read_text()):
        if "://" in link or link.startswith(
            "generated/"
        ):  # `make docs` makes these, and fails if one is missing
            continue
        name, _, anchor = link.partition("#")
        target = path.parent / name if name else path
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_every_guide_is_in_the_contents_of_the_site():
    contents = re.findall(r"^([a-z-]+)$", (DOCS / "index.md").read_text(), re.MULTILINE)
    assert sorted(contents) == sorted(path.stem for path in DOCS.glob("*.md") if path.stem != "index")
