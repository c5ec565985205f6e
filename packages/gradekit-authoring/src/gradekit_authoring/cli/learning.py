"""Takes a course alone: opens the next notebook, checks it, and shows the page; and what `demo` also needs for that."""

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from gradekit.cli import Commands, course_of, print_lines
from gradekit.course import Assignment, CourseError
from gradekit.course.cells import grade_id, is_graded_cell, is_test_cell
from gradekit.course.files import write_json
from gradekit.course.printing import quoted
from gradekit_authoring.environment import as_typed

if TYPE_CHECKING:
    from gradekit.grading.running_course import RunningCourse
    from gradekit.report.table import Row


def show_page(page: Path) -> None:
    if has_desktop():
        import webbrowser

        webbrowser.open(page.as_uri())


def run_quietly(root: Path, command: str, *arguments: str) -> None:
    """Run a command in the course.

    Raises:
        CourseError: it failed. Its own message is above.
    """
    sys.stdout.flush()
    # -m: `uvx gradekit demo` has no `nbgrader` on PATH
    done = subprocess.run([sys.executable, "-m", command, *arguments], cwd=root, check=False)
    if done.returncode:
        raise CourseError(f"`{command_line(command, *arguments)}` failed in {root}")


def command_line(command: str, *arguments: str) -> str:
    return " ".join([command, *map(quoted, arguments)])


def has_desktop() -> bool:
    """True if a person sees this and has a browser beside it."""
    windows = sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return bool(windows) and sys.stdout.isatty()


#: in the gradebook; no student has this name, whose hand-in would be replaced
LEARNER = "learning-alone"
_PROGRESS = "progress.json"
_NOT_HANDED_IN = shutil.ignore_patterns(".ipynb_checkpoints", "__pycache__", "*-solution.ipynb")


class Reached(msgspec.Struct):
    """The most points that were reached in an assignment, of those that need no person."""

    points: float
    maximum: float


def add(commands: Commands) -> None:
    learn = commands.add("learn", _learn, "take the course alone: open the next notebook, or check it")
    learn.add_argument(
        "assignment", nargs="?", metavar="ASSIGNMENT", default="", help="default: the next one"
    )
    done = learn.add_mutually_exclusive_group()
    done.add_argument(
        "--check", action="store_true", help="grade your notebook with the hidden checks, and show the page"
    )
    done.add_argument("--solution", action="store_true", help="write the solution beside your notebook")
    learn.add_argument(
        "--folder",
        type=Path,
        metavar="DIR",
        help="where your notebooks are, and what you have reached; default: my/ in the course",
    )
    learn.add_flag("--no-open", "open neither JupyterLab nor a browser")
    # the command that a package with a course has for this one
    learn.add_argument("--called", default="gradekit learn", help=argparse.SUPPRESS)


@dataclass(frozen=True)
class _Desk:
    """Where the learner works, and what was reached in each assignment."""

    course: "RunningCourse"
    folder: Path
    command: str
    reached: dict[str, Reached]

    @classmethod
    def of(cls, options: argparse.Namespace) -> "_Desk":
        if options.course_dir is None:
            options.course_dir = _course_above(Path.cwd())
        course = course_of(options)
        folder = (options.folder or course.root / "my").resolve()
        return cls(course, folder, options.called, _progress(folder / _PROGRESS))

    def assignments(self) -> list[Assignment]:
        """Those that are released.

        Raises:
            CourseError: there is none.
        """
        found = [found for found in self.course.layout.assignments() if found.released_names()]
        if not found:
            raise CourseError(
                f"{self.course.root} has no released notebooks: run this in the folder of a course"
            )
        return found

    def chosen(self, wanted: str) -> Assignment:
        """The assignment with this name, number or beginning; without one, the first whose points aren't all reached.

        Raises:
            CourseError: there is none.
        """
        known = self.assignments()
        if not wanted:
            return next((found for found in known if not self._is_done(found.name)), known[-1])
        fitting = [found for found in known if found.name == wanted]
        if not fitting and wanted.isdecimal():  # `1` means 01, not 10
            fitting = [found for found in known if _number(found.name) == int(wanted)]
        fitting = fitting or [found for found in known if found.name.startswith(wanted)]
        if len(fitting) != 1:
            what = "more than one assignment" if fitting else "no assignment"
            names = ", ".join(found.name for found in known)
            raise CourseError(f"{what} begins with {wanted!r}; there are {names}")
        return fitting[0]

    def _is_done(self, name: str) -> bool:
        reached = self.reached.get(name)
        return reached is not None and reached.points >= reached.maximum > 0

    def table(self) -> Iterator[str]:
        names = [found.name for found in self.assignments()]
        width = max(map(len, names))
        for name in names:
            found = self.reached.get(name)
            shown = f"{found.points:g} of {found.maximum:g} points" if found else "not checked yet"
            yield f"  {name:{width}}  {shown}"

    def keep(self, name: str, now: Reached) -> None:
        """Make a note of it, unless something better was reached before, or the notebook could not be read."""
        before = self.reached.get(name)
        if now.maximum and (before is None or (now.points, -now.maximum) > (before.points, -before.maximum)):
            self.reached[name] = now
            write_json(self.folder / _PROGRESS, self.reached)


def _course_above(folder: Path) -> Path | None:
    """The course that a folder is in, such as that of a notebook; None in the course's own folder, or in none."""
    above = (each for each in folder.parents if (each / "nbgrader_config.py").is_file())
    return None if (folder / "nbgrader_config.py").is_file() else next(above, None)


def _number(name: str) -> int | None:
    digits = re.match("[0-9]+", name)
    return int(digits[0]) if digits else None


def _progress(path: Path) -> dict[str, Reached]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Reached])
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.DecodeError) as error:
        raise CourseError(f"{path} can't be read ({error}): move it away to begin a new one") from error


def _learn(options: argparse.Namespace) -> int:
    desk = _Desk.of(options)
    assignment = desk.chosen(options.assignment)
    own = desk.folder / assignment.name
    if options.solution:
        print_lines(_with_solution(own, assignment))
    elif options.check:
        page = _check(desk, own, assignment)
        if not options.no_open:
            show_page(page)
    else:
        _open(desk, own, assignment, not options.no_open)
    return 0


def _open(desk: _Desk, own: Path, assignment: Assignment, opening: bool) -> None:
    for path in sorted(assignment.release_folder.rglob("*")):
        copy = own / path.relative_to(assignment.release_folder)
        if path.is_file() and not copy.exists():  # what the learner has written is never replaced
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
    notebook = own / f"{assignment.released_names()[0]}.ipynb"
    command = f"{desk.command} {quoted(assignment.name)}"
    width = len(command) + len(" --solution")
    print_lines([*desk.table(), "", f"Your notebook: {notebook}"])
    print_lines(
        [
            f"  {f'{command} --check':{width}}   # after saving: grade it with the hidden checks, and show the page",
            f"  {command} --solution   # when you have given up",
            f"Solutions and checks are in {desk.course.root}; nothing hides them from you.",
        ]
    )
    if opening and has_desktop() and importlib.util.find_spec("jupyterlab"):
        print_lines(["JupyterLab runs until you press Ctrl-C. Type these commands in a second terminal."])
        subprocess.run([sys.executable, "-m", "jupyterlab", str(notebook)], cwd=own, check=False)
    else:
        options = " --allow-root" if os.path.expanduser("~") == "/root" else ""
        options += "" if has_desktop() else " --no-browser"  # without it, a browser for terminals could open
        print_lines(
            [f"To open it:  {as_typed('jupyter-lab')}{options} {quoted(str(notebook))}   # or in VS Code"]
        )


def _check(desk: _Desk, own: Path, assignment: Assignment) -> Path:
    """Grade the notebook, keep what was reached, and return the page."""
    from gradekit.grading.generate import generate
    from gradekit.page.headings import page_titles
    from gradekit.report.table import locked_class_table
    from sandbox_kernel.bubblewrap import sandbox_problem

    course, name = desk.course, assignment.name
    command = f"{desk.command} {quoted(name)}"
    if not own.is_dir():
        raise CourseError(f"{own} isn't there: `{command}` makes it")
    for path in (own / f"{stem}.ipynb" for stem in assignment.released_names()):
        if not path.is_file():
            raise CourseError(f"{path} isn't there: `{command}` copies the one that was handed out")
    book = course.gradebook_file
    if (book and not book.exists()) or name not in course.assignments():
        print_lines([f"Getting {name} ready, which may take a minute; this is needed only once."])
        generate(course, assignment)
    handed_in = course.submitted(LEARNER, name)
    shutil.rmtree(handed_in, ignore_errors=True)
    shutil.copytree(own, handed_in, ignore=_NOT_HANDED_IN)
    sandbox = ["--sandbox", "none"] if sandbox_problem() else []  # it is the learner's own code
    print_lines(["Running your notebook and its hidden checks."])
    run_quietly(
        course.root, "gradekit", "autograde", name, "--student", LEARNER, "--force", "--quiet", *sandbox
    )
    # a warning would say that the page of the last time is replaced
    pages = [f"--student={LEARNER}", "--force", "--log-level=ERROR"]
    run_quietly(course.root, "nbgrader", "generate_feedback", name, *pages)
    table = locked_class_table(course, assignment)
    (row,) = (row for row in table.rows if row.student == LEARNER)
    now = _reached(row, table.maximum, assignment)
    desk.keep(name, now)
    page = course.folders.format_path(course.folders.feedback_directory, LEARNER, name)
    shown = Path(course.root, page, f"{assignment.released_names()[0]}.html")
    print_lines(["", *desk.table(), ""])
    if now.points < desk.reached.get(name, now).points:
        print_lines([f"This time: {now.points:g} of {now.maximum:g} points. The best result is kept."])
    if row.waiting:
        titles = page_titles(assignment.released(assignment.released_names()[0]))
        waiting = ", ".join(titles.get(label, label) for label in row.waiting)
        print_lines([f"For you to judge: {waiting}. `{command} --solution` shows what could be said."])
    print_lines([f"Your page: {shown}"])
    if len(table.rows) > 1:
        print_lines(
            [
                f"You are a student of this class now, {LEARNER}. To remove it: `nbgrader db student remove {LEARNER} --force`"
            ]
        )
    return shown


def _reached(row: "Row", maximum: dict[str, float], assignment: Assignment) -> Reached:
    """The points of the cells that need no person, whether or not the others have an answer."""
    cells = [cell for name in assignment.released_names() for cell in assignment.released(name).cells]
    by_hand = {grade_id(cell) for cell in cells if is_graded_cell(cell) and not is_test_cell(cell)}
    points = {
        label: value
        for label, value in row.points.items()
        if value is not None and label.split("/")[-1] not in by_hand
    }
    return Reached(sum(points.values()), sum(maximum[label] for label in points))


def _with_solution(own: Path, assignment: Assignment) -> Iterator[str]:
    own.mkdir(parents=True, exist_ok=True)
    for source in assignment.source_notebooks():
        copy = own / f"{source.stem}-solution.ipynb"
        if not copy.exists():
            shutil.copy(source, copy)
        yield f"The solution: {copy}"
