"""Commands with which a course begins: demo, init."""

import argparse
import time
from importlib.util import find_spec
from pathlib import Path

from gradekit.cli import Commands, print_lines
from gradekit.course import CourseError
from gradekit.course.printing import quoted
from gradekit_authoring.cli import add_arrays
from gradekit_authoring.cli.learning import command_line, run_quietly, show_page
from gradekit_authoring.environment import activation

_FOLDER = Path("gradekit-demo")
#: what the sandbox protects from, said where there is none
_WITHOUT_SANDBOX = (
    "So the demo's code, which is harmless, runs without it. Code of students should not: it could read the hidden "
    "checks, other students' work and the network. `gradekit doctor` says whether the sandbox works."
)


def add(commands: Commands) -> None:
    demo = commands.add("demo", _demo, "write a small course with five submissions, and grade it")
    demo.add_argument(
        "folder",
        nargs="?",
        type=Path,
        default=_FOLDER,
        metavar="FOLDER",
        help=f"a new folder; default: {_FOLDER}",
    )
    demo.add_flag("--no-open", "don't open a page in the browser")
    init = commands.add("init", _init, "begin a course in a new folder, with one small assignment that works")
    init.add_argument(
        "folder", nargs="?", type=Path, default=Path(), metavar="FOLDER", help="default: this folder"
    )
    init.add_argument("--course-id", default="", metavar="ID", help="default: the folder's name")
    init.add_argument("--first", default="01_first", metavar="NAME", help="the assignment; default: 01_first")
    add_arrays(init)


def _init(options: argparse.Namespace) -> None:
    from gradekit.grading.running_course import RunningCourse
    from gradekit_authoring.grade_variants import record
    from gradekit_authoring.new import write_assignment, write_course

    folder = (options.course_dir or Path()) / options.folder
    root = folder.resolve()
    written = write_course(root, options.course_id)
    try:
        course = RunningCourse.open(root)
        assignment = write_assignment(course.layout, options.first, options.arrays)
    except BaseException:
        written.unlink()  # so that the command can be repeated
        raise
    record(assignment)
    notebook = assignment.source_notebooks()[0]
    hand_in = Path("submitted", "STUDENT", assignment.name, notebook.name)
    lines = [f"A course in {root}:"]
    lines += [f"  {path.relative_to(root)}" for path in (written, notebook, assignment.checks)]
    lines += ["The assignment works. Release it, then change it piece by piece (`gradekit help checks`):"]
    lines += [f"  cd {quoted(str(folder))}"] * (folder != Path())
    lines += _activating()
    lines += [
        f"  nbgrader generate_assignment {quoted(assignment.name)}   # the notebook for students, in release/"
    ]
    lines += [f"  gradekit audit {quoted(assignment.name)}   # are the checks right?"]
    lines += [f"  gradekit autograde {quoted(assignment.name)}   # grade {quoted(hand_in)}"]
    print_lines(lines)


def _demo(options: argparse.Namespace) -> int:
    before = time.monotonic()
    from gradekit_authoring.samples import write_demo
    from sandbox_kernel.bubblewrap import sandbox_problem

    if options.course_dir is not None:
        raise CourseError("the demo is a course of its own: leave out --course-dir")
    if problem := sandbox_problem():
        print_lines([f"Without a sandbox: {problem}.", _WITHOUT_SANDBOX, ""])
    root = options.folder.resolve()
    assignment, students = write_demo(root)
    name = assignment.name
    width = max(map(len, students))
    print_lines([f"A course in {root}, with one assignment and five submissions:"])
    print_lines(f"  {student:{width}}  {what}" for student, what in students.items())
    sandbox = ["--sandbox", "none"] if problem else []
    run_shown(root, "gradekit", "autograde", name, *sandbox)
    run_shown(root, "nbgrader", "generate_feedback", name, "--log-level=WARN")
    run_shown(root, "gradekit", "table", name)
    page = root / "feedback" / "mistake" / assignment.name / f"{assignment.released_names()[0]}.html"
    print_lines(
        ["", "What students read:", f"  {page.parents[1].parent}/STUDENT/{assignment.name}/{page.name}"]
    )
    if not find_spec("seaborn"):  # of the extra `report`
        print_lines(['For a report on the class: `pip install "gradekit[report]"`, then `gradekit report`.'])
    else:
        run_shown(root, "gradekit", "report", name)
        page = root / "reports" / assignment.name / "report.html"
    print_lines(["", f"This took {time.monotonic() - before:.0f} s. What to do next:"])
    folder = quoted(str(options.folder))
    print_lines(
        [
            *_activating(),
            f"  cd {folder} && gradekit audit {quoted(name)}   # are the checks right? grade every known mistake",
            "  gradekit adopt   # what gradekit would do with an nbgrader course, such as this one",
            "  cd .. && gradekit init my-course   # a course of your own",
        ]
    )
    if not options.no_open:
        show_page(page)
    return 0


def _activating() -> list[str]:
    """The line that comes before commands, if the shell doesn't find them."""
    command = activation()
    return [f"  {command}   # so that your shell finds the commands below"] * bool(command)


def run_shown(root: Path, command: str, *arguments: str) -> None:
    """Show a command, and run it as `run_quietly` does."""
    print_lines(["", f"$ {command_line(command, *arguments)}"])
    run_quietly(root, command, *arguments)
