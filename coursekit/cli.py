"""The command `coursekit`; flags are named as nbgrader names them."""

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from coursekit.course import Assignment, Course, CourseError
from coursekit.kernels import KERNELS, NONE

if TYPE_CHECKING:
    from coursekit.grading.autograde import ClassRun
    from coursekit.grading.folders import RunningCourse
    from coursekit.report.table import ClassTable


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        return options.run(options) or 0
    except CourseError as error:
        print(f"coursekit: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(
            "coursekit: stopped. What is done is kept; the same command goes on from here.", file=sys.stderr
        )
        return 130
    except BrokenPipeError:  # whoever read the output, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="coursekit", description="Grading of notebook courses by hidden checks."
    )
    parser.add_argument("--course-dir", type=Path, default=Path.cwd(), help="folder with nbgrader_config.py")
    commands = parser.add_subparsers(required=True, metavar="command")

    def command(name: str, run: object, text: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, description=text)
        added.set_defaults(run=run)
        added.add_argument("assignments", nargs="*", metavar="ASSIGNMENT", help="default: all")
        return added

    for name, run, text in [
        ("audit", _audit, "grade all known mistakes and right answers, and fail where the checks are wrong"),
        ("record", _record, "record anew what the solutions and mistakes give (reference.safetensors)"),
    ]:
        added = command(name, run, text)
        added.add_argument("--workers", type=int, help="default: the number of cores")
        if run is _audit:
            added.add_argument("--only", default="*", metavar="PATTERN", help="of the names of variants")
    command("earlier", _earlier, "write earlier.py: what an assignment imports from those before it")
    samples = command("samples", _samples, "write a sample class into submitted/")
    samples.add_argument(
        "--odd", action="append", default=[], metavar="ASSIGNMENT", help="with all odd cases"
    )
    for name, run, text in [
        ("autograde", _autograde, "grade what is new in submitted/, several submissions at a time"),
        ("regrade", _regrade, "grade everybody again where checks have changed, and tell whose points move"),
    ]:
        added = command(name, run, text)
        added.add_argument(
            "--workers", type=int, help="processes on this machine; default: the number of cores"
        )
        added.add_argument("--scheduler", default="", metavar="ADDRESS", help="of a Dask cluster that grades")
        added.add_argument(
            "--sandbox",
            choices=KERNELS,
            help="`none` for code one trusts; default: as configured",
        )
        added.add_argument("--fresh", action="store_true", help="take no result from those that were kept")
        if run is _autograde:
            added.add_argument("--force", action="store_true", help="also what was autograded already")
        else:
            added.add_argument("--dry-run", action="store_true", help="only tell")
    table = command("table", _table, "show status and points of every student")
    table.add_argument("--csv", type=Path, metavar="FILE", help="write it there, for one assignment")
    return parser


def _assignments(options: argparse.Namespace) -> list[Assignment]:
    course = Course(options.course_dir.resolve())
    known = {assignment.name: assignment for assignment in course.assignments()}
    unknown = [name for name in options.assignments if name not in known]
    if unknown:
        raise CourseError(
            f"{course.root / course.source} has no {', '.join(unknown)}; it has {', '.join(known)}"
        )
    return [known[name] for name in options.assignments or known]


def _audit(options: argparse.Namespace) -> int:
    from coursekit.audit import run_audit
    from coursekit.report.matrix import audit_lines, figures

    audits = []
    for assignment in _assignments(options):
        with _Progress(assignment.name) as progress:
            audits.append(run_audit(assignment, options.workers, progress, options.only))
        print("\n".join(audit_lines(audits[-1])), end="\n\n")
    if len(audits) > 1:
        print(figures(audits))
    return int(any(audit.problems for audit in audits))


def _record(options: argparse.Namespace) -> int:
    from coursekit.audit import record

    for assignment in _assignments(options):
        with _Progress(assignment.name) as progress:
            store = record(assignment, options.workers, progress)
        print(f"{store.path}: {len(store.tensors)} tensors")
    return 0


def _earlier(options: argparse.Namespace) -> int:
    from coursekit.earlier import write_earlier

    for assignment in _assignments(options):
        path = write_earlier(assignment)
        if path:
            print(path)
    return 0


def _samples(options: argparse.Namespace) -> int:
    from coursekit.samples import ODD_CLASS, ordinary_class, write_class

    for assignment in _assignments(options):
        odd = ODD_CLASS if assignment.name in options.odd else []
        samples = [*ordinary_class(assignment), *odd]
        write_class(assignment, assignment.course.root / "submitted", samples)
        print(f"{assignment.name}: {len(samples)} sample submissions")
    return 0


def _autograde(options: argparse.Namespace) -> int:
    _get_ready(options)
    from coursekit.grading.write import Writer
    from coursekit.report.table import class_table

    worst = 0
    for run, course in _class_runs(options):
        students = course.handed_in(run.assignment.name) if options.force else run.to_do()
        writer = Writer(course)
        problems = []
        with tqdm(total=len(students), desc=run.assignment.name, unit=" submissions") as bar:
            for submission in run.grade(students):
                problems += writer.write(submission, run.assignment.name)
                bar.update()
        with course.alone():  # or a folder might be missing that another command is writing anew
            table = class_table(run.assignment)
        worst = max(worst, _conclude(table, problems))
    return worst


def _regrade(options: argparse.Namespace) -> int:
    _get_ready(options)
    from coursekit.grading.regrade import Move, move_lines, moves
    from coursekit.grading.write import Writer

    for run, course in _class_runs(options):
        students = course.handed_in(run.assignment.name)
        writer = Writer(course)
        moved: list[Move] = []
        problems: list[str] = []
        with tqdm(total=len(students), desc=run.assignment.name, unit=" submissions") as bar:
            for found in moves(course, run, students):
                if isinstance(found, Move):
                    moved.append(found)
                    continue
                if not options.dry_run:
                    problems += writer.write(found, run.assignment.name)
                bar.update()
        print("\n".join([*move_lines(moved), *problems]))
        count = len({move.student for move in moved})
        verb = "would move" if options.dry_run else "moved"
        print(f"{run.assignment.name}: the points of {count} of {len(students)} students {verb}.")
    return 0


def _get_ready(options: argparse.Namespace) -> None:
    """Before anything large is imported: let the server in the sandbox import what it needs at the same time."""
    _assignments(options)
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # grading is parallel anyway, and one thread can be forked
    if not options.scheduler and options.sandbox != NONE:
        from coursekit.kernels.start import launch_server

        launch_server()


def _class_runs(options: argparse.Namespace) -> "Iterator[tuple[ClassRun, RunningCourse]]":
    from coursekit.grading.autograde import ClassRun
    from coursekit.grading.folders import RunningCourse

    kernel = KERNELS.get(options.sandbox, "")
    workers = options.workers or os.cpu_count() or 1
    for assignment in _assignments(options):
        course = RunningCourse.open(assignment.course.root)
        own = course.assignment(assignment.name)
        yield ClassRun(course, own, workers, options.scheduler, kernel, options.fresh), course


def _conclude(table: "ClassTable", problems: list[str]) -> int:
    """Count the statuses, and name those whose work a person has to look at; 1 if not all are graded."""
    from coursekit.checks.results import GRADED, MISSING

    counts = Counter(row.status for row in table.rows)
    print(f"{table.assignment}: " + ", ".join(f"{count} {status}" for status, count in counts.most_common()))
    lines = [f"  {row.student}: {row.status}" for row in table.rows if row.status not in (GRADED, MISSING)]
    lines += [f"  {problem}" for problem in problems]
    print("".join(f"{line}\n" for line in lines), end="")
    return int(counts[GRADED] < len(table.rows) or bool(problems))


def _table(options: argparse.Namespace) -> int:
    from coursekit.report.table import class_table, table_lines, write_csv

    assignments = _assignments(options)
    if options.csv and len(assignments) != 1:
        raise CourseError("--csv writes the table of one assignment: name it")
    for assignment in assignments:
        table = class_table(assignment)
        if options.csv:
            write_csv(table, options.csv)
            print(f"{options.csv}: {len(table.rows)} students")
        else:
            print("\n".join(table_lines(table)), end="\n\n")
    return 0


class _Progress:
    """A bar on stderr: called with a name, how many are done, and of how many."""

    def __init__(self, title: str) -> None:
        self._bar = tqdm(desc=title, unit="notebook")

    def __enter__(self) -> "_Progress":
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def __call__(self, name: str, done: int, total: int) -> None:
        self._bar.total = total
        self._bar.set_postfix_str(name, refresh=False)
        self._bar.update(done - self._bar.n)
