"""The guides: what stands after `$` is run as it stands, in one small term, and prints what stands below it."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from coursekit.course import Course
from coursekit.samples import ordinary_class, write_class

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
#: commands that take long, or never end, and the test that runs them
ELSEWHERE = {
    "coursekit audit 02_attention": "test_course_audit.py",
    "jupyter lab": "browser/test_formgrader.py",
    "coursekit new 08_my_topic": "test_new.py",
    "coursekit doctor": "test_doctor.py",
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
    """Somebody who works in `folder`, with settings of their own. `after` is called after a command."""

    folder: Path
    after: dict[str, Callable[[], None]] = field(default_factory=dict)

    def follow(self, commands: Iterator[tuple[str, list[str]]], until: str = "") -> None:
        """Run commands as they stand; the one that begins with `until` is the last."""
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
        # coursekit ends with 1 where somebody's work could not be graded, such as what is missing
        ok = (0, 1) if command.startswith("coursekit autograde") else (0,)
        assert done.returncode in ok, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def term(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Person]:
    """The course folder, an exchange, and students: Ada, who reads her guide, and two others who hand in; Dan does not."""
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
    """Ada follows her guide and has everything right; Ben and Carla make the same mistake."""
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


def test_what_the_guides_leave_to_other_tests_is_run_there():
    for command, test in ELSEWHERE.items():
        assert command in "".join((DOCS / name).read_text() for name in ("instructor.md", "ta.md")), command
        assert (Path(__file__).parent / test).exists()


@pytest.mark.parametrize("path", sorted([ROOT / "README.md", *DOCS.glob("*.md")]), ids=lambda path: path.name)
def test_every_link_of_a_page_leads_somewhere(path):
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text()):
        assert "://" in target or (path.parent / target).exists(), target
