"""A tiny course with a canary in everything that is secret, and what grading it in one mode shows."""

import contextlib
import hashlib
import os
import secrets
import shutil
import signal
import sqlite3
import subprocess
import sys
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode, v4

from .attack import NBGRADER_ALONE, NBGRADER_SANDBOXED
from .listeners import Listeners
from .watch import graded_class

SOURCES = Path(__file__).parents[2] / "src"
ASSIGNMENT, NOTEBOOK = "01_double", "double"
KERNELS = {"sandbox": "sandbox", "cold": "sandbox-cold", "none": "limited"}
HONEST = ("0-first", "zz-last")
RIGHT = "def double(x):\n    return 2 * x\n"
CELL_SECONDS, CALL_SECONDS, MEMORY = 3, 2, 768

_CANARIES = {name: f"canary-{name}-{secrets.token_hex(6)}" for name in (
    *("checks", "reference", "solution", "gradebook", "submission", "environment", "host"),
)}  # fmt: skip

_CHECKS = f'''
"""{_CANARIES["checks"]}"""
import torch
from gradekit.checks import assert_close, points


@points(5)
def test_value(student, reference):
    """The output is twice the input."""
    (x,) = reference.inputs("{_CANARIES["reference"]}", x=(3, 2))
    reference.assert_close(student.double(x), name="output")


@points(4)
def test_any_size(student, draw):
    """Any size will do."""
    x = draw.normal(*draw.sizes(2))
    assert_close(student.double(x), x + x, name="output")


@points(1)
def test_sum(student, draw):
    """Two outputs add up to four times the input."""
    x = draw.normal(3, 2)
    assert_close(student.double(x) + student.double(x), 4 * x, name="sum")
'''

_SOLUTION = f"""\
def double(x):
    ### BEGIN SOLUTION
    # {_CANARIES["solution"]}
    return 2 * x
    ### END SOLUTION"""

_MISTAKES = """
from gradekit.checks import Mistake

MISTAKES = [
    Mistake("square", cell="double", edits=[("2 * x", "x * x")], about=["test_value"],
            sentence="You multiplied the input by itself."),
]
"""

_VISIBLE = "assert double(1) == 2, 'Twice one is two.'"

_HIDDEN = f"""
### BEGIN HIDDEN TESTS
# {_CANARIES["checks"]}
x = torch.tensor([[1.0, -2.5], [3.0, 7.0]])
assert torch.allclose(double(x), x + x)
torch.testing.assert_close(double(x), x + x)
assert all(abs(a - 2 * b) < 1e-6 for a, b in zip(double(x).flatten(), x.flatten()))
### END HIDDEN TESTS"""


@dataclass
class CanaryCourse:
    """A course folder in which one class is graded in one mode."""

    root: Path
    mode: str
    canaries: dict[str, str] = field(default_factory=lambda: _CANARIES)

    def hand_in(self, student: str, notebook: NotebookNode | str | bytes, name: str = "") -> Path:
        path = self.folder(student) / (name or f"{NOTEBOOK}.ipynb")
        path.parent.mkdir(parents=True, exist_ok=True)
        text = notebook if isinstance(notebook, str | bytes) else nbformat.writes(notebook)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def folder(self, student: str) -> Path:
        return self.root / "submitted" / student / ASSIGNMENT

    @cached_property
    def released(self) -> NotebookNode:
        return nbformat.read(self.root / "release" / ASSIGNMENT / f"{NOTEBOOK}.ipynb", as_version=4)

    def answer(self, source: str, student: str = "") -> NotebookNode:
        """The released notebook with this answer, facts filled in."""
        notebook = deepcopy(self.released)
        for name, value in self.facts(student).items():
            source = source.replace(f"@{name}@", str(value))
        next(cell for cell in notebook.cells if cell["id"] == "answer").source = source
        return notebook

    def facts(self, student: str) -> dict[str, object]:
        return {
            "COURSE": self.root,
            "HOST": self.host,
            "MARK": self.mark(student),
            "PORT": self.listeners.port,
            "SOCKET": self.listeners.path,
            "VICTIM": self.victim.pid,
            "PREFIX": sys.prefix,
        }

    def mark(self, student: str) -> str:
        """A word that nothing else on this machine holds."""
        return "mark" + hashlib.sha256(f"{self.root}{student}".encode()).hexdigest()[:12]

    def fill(self) -> None:
        """The other students, and what lies about."""
        for student in HONEST:
            self.hand_in(student, self.answer(RIGHT))
        self.hand_in("bob", self.answer(f"# {self.canaries['submission']}\n{RIGHT}"))
        self._before = self._digests()
        for name in ("lib/outside_package.py", "home/.local/lib/packages/user_package.py"):
            (self.host / name).parent.mkdir(parents=True)
            (self.host / name).write_text("VALUE = 1\n")
        for name in ("secret.txt", "home/.ssh/id_rsa", "home/.local/share/secret.txt"):
            (self.host / name).parent.mkdir(parents=True, exist_ok=True)
            (self.host / name).write_text(self.canaries["host"])

    @property
    def host(self) -> Path:
        """A folder of the grader's, with packages that Python imports and files that are none of the students' business."""
        return self.root.parent / "host"

    def _python_path(self) -> str:
        """Where the grader's Python imports from; with nbgrader alone, nobody says what the course's folder is."""
        course = [] if self.mode in NBGRADER_ALONE else [self.root]
        return os.pathsep.join(
            map(
                str, [SOURCES, *course, self.host / "lib", self.host / "home" / ".local" / "lib" / "packages"]
            )
        )

    def grade(self, seconds: float = 300) -> dict[str, Any]:
        """Autograde the class and write its feedback; gives each student's turn."""
        turns = graded_class(self.command("autograde"), self.root, self.environment(), seconds)
        with contextlib.suppress(subprocess.TimeoutExpired):  # then pages are missing, as witnesses see
            self.run("generate_feedback", seconds=600)
        return turns

    def command(self, name: str) -> list[str]:
        return [sys.executable, "-m", "nbgrader", name, ASSIGNMENT, "--force", "--log-level=ERROR"]

    def run(self, name: str, seconds: float = 900) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(name), cwd=self.root, env=self.environment(), capture_output=True, text=True,
            timeout=seconds, check=False, start_new_session=True,
        )  # fmt: skip

    def run_gradekit(self) -> subprocess.CompletedProcess[str]:
        """The same class by gradekit's own command, with its workers."""
        command = [sys.executable, "-m", "gradekit", "autograde", ASSIGNMENT, "--workers", "1"]
        return subprocess.run(
            command, cwd=self.root, env=self.environment(), capture_output=True, text=True,
            timeout=900, check=False, start_new_session=True,
        )  # fmt: skip

    def all_honest(self) -> bool:
        return all(self.points(student) == 10 for student in HONEST)

    def environment(self) -> dict[str, str]:
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        own = {"PYTHONPATH": self._python_path(), "PATH": path, "GRADER_SECRET": self.canaries["environment"]}
        return os.environ | own | {"PYTHONWARNINGS": "ignore", "OMP_NUM_THREADS": "1"}

    def points(self, student: str) -> float:
        query = """
            select coalesce(grade.auto_score, 0) from grade
            join submitted_notebook on submitted_notebook.id = grade.notebook_id
            join submitted_assignment on submitted_assignment.id = submitted_notebook.assignment_id
            join base_cell on base_cell.id = grade.cell_id
            where submitted_assignment.student_id = ? and base_cell.name = 'test_double'"""
        with sqlite3.connect(self.root / "gradebook.db") as book:
            rows = book.execute(query, (student,)).fetchall()
        return sum(value for (value,) in rows)

    def changed(self, pattern: str) -> list[str]:
        """Files of the course that are not as they were before the class was graded."""
        now = self._digests()
        mine = {name for name in {*now, *self._before} if Path(name).match(pattern)}
        return sorted(name for name in mine if now.get(name) != self._before.get(name))

    def _digests(self) -> dict[str, str]:
        folders = [
            self.root / name for name in ("tests", "source", "release", "submitted/bob", "submitted/zz-last")
        ]
        files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
        kept = [path for path in files if "__pycache__" not in path.parts]
        return {str(p.relative_to(self.root)): hashlib.sha256(p.read_bytes()).hexdigest() for p in kept}

    @cached_property
    def listeners(self) -> Listeners:
        return Listeners()

    @cached_property
    def victim(self) -> subprocess.Popen[bytes]:
        """A process of the grader's user that has nothing to do with grading."""
        return subprocess.Popen(["sleep", "3600"], env=self.environment(), start_new_session=True)

    def heard(self, student: str) -> str:
        return self.listeners.heard.get(self.mark(student), "")

    def victim_ended(self) -> bool:
        return self.victim.poll() is not None

    def processes_left(self, student: str) -> list[int]:
        """Processes that carry the student's mark; they are ended, since the test started them."""
        found = []
        for entry in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if self.mark(student).encode() in entry.read_bytes():
                    found.append(int(entry.parent.name))
                    os.kill(found[-1], signal.SIGKILL)
            except OSError:
                continue
        return found

    def files_left(self, student: str) -> list[str]:
        """Files of the host that carry the student's mark in their name; they are removed."""
        places = [Path("/tmp"), Path("/dev/shm"), Path(sys.prefix), Path.home()]
        found = [path for place in places for path in place.glob(f"*{self.mark(student)}*")]
        for path in found:
            path.unlink(missing_ok=True)
        return [str(path.parent) for path in found]

    def close(self) -> None:
        if "victim" in self.__dict__:
            self.victim.kill()
            self.victim.wait()
        if "listeners" in self.__dict__:
            self.listeners.close()


def build(folder: Path, mode: str) -> Path:
    """The course before anything was handed in, released and with its gradebook."""
    course = CanaryCourse(folder, mode)
    for name in ("source", "tests"):
        (folder / name / ASSIGNMENT).mkdir(parents=True)
    hidden = _HIDDEN if mode in NBGRADER_ALONE else ""
    nbformat.write(_notebook(hidden), folder / "source" / ASSIGNMENT / f"{NOTEBOOK}.ipynb")
    (folder / "tests" / ASSIGNMENT / "test_double.py").write_text(_CHECKS)
    (folder / "tests" / ASSIGNMENT / "mistakes.py").write_text(_MISTAKES)
    (folder / "nbgrader_config.py").write_text(_config(mode))
    if mode not in NBGRADER_ALONE:
        from gradekit.course import Course
        from gradekit_authoring.grade_variants import record

        record(Course(folder).assignment(ASSIGNMENT), workers=1)
    done = course.run("generate_assignment")
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    with sqlite3.connect(folder / "gradebook.db") as book:
        book.execute("insert into student (id, first_name) values ('bob', ?)", (_CANARIES["gradebook"],))
    return folder


def copy(original: Path, folder: Path, mode: str, slack: int = 1) -> CanaryCourse:
    """The course for one class; a cell may take `slack` times as long as usual."""
    course = CanaryCourse(Path(shutil.copytree(original, folder)), mode)
    (course.root / "nbgrader_config.py").write_text(_config(mode, slack))
    return course


def _config(mode: str, slack: int = 1) -> str:
    lines = ["c = get_config()", f"c.Execute.timeout = {CELL_SECONDS * slack}"]
    lines += ["c.CourseDirectory.student_id_exclude = ''", "c.ExportApp.log_level = 'ERROR'"]
    if mode == NBGRADER_SANDBOXED:
        lines.append("c.Execute.kernel_name = 'sandbox'")
    if mode not in NBGRADER_ALONE:
        lines += [
            f"c.RunChecks.call_timeout = {CALL_SECONDS}",
            f"c.RunChecks.memory_limit = {MEMORY}",
            f"c.RunChecks.student_kernel = {KERNELS[mode]!r}",
            "from gradekit.nbgrader_plugin import configure",
            "configure(c)",
        ]
    return "\n".join(lines) + "\n"


def _notebook(hidden: str) -> NotebookNode:
    def mark(name: str, **values: object) -> dict[str, Any]:
        base = {"grade": False, "locked": False, "schema_version": 3, "solution": False, "task": False}
        return {"nbgrader": {**base, "grade_id": name, **values}}

    kernelspec = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    test = mark("test_double", grade=True, locked=True, points=10)
    why = mark("why", grade=True, solution=True, points=5)
    cells = [
        v4.new_code_cell("import torch", id="imports"),
        v4.new_code_cell(_SOLUTION, metadata=mark("double", solution=True), id="answer"),
        v4.new_code_cell(_VISIBLE + hidden, metadata=test, id="test"),
        v4.new_markdown_cell("Because.", metadata=why, id="why"),
    ]
    return v4.new_notebook(cells=cells, metadata={"kernelspec": kernelspec})
