"""The command `coursekit`; flags are named as nbgrader names them."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from coursekit.course import Assignment, Course, CourseError
from coursekit.earlier import FILE, write_earlier


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        return options.run(options) or 0
    except CourseError as error:
        print(f"coursekit: {error}", file=sys.stderr)
        return 2
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
    command("earlier", _earlier, f"write {FILE}: what an assignment imports from those before it")
    samples = command("samples", _samples, "write a sample class into submitted/")
    samples.add_argument(
        "--odd", action="append", default=[], metavar="ASSIGNMENT", help="with all odd cases"
    )
    command("table", _table, "show status and points of every student")
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


def _table(options: argparse.Namespace) -> int:
    from coursekit.report.table import class_table, table_lines

    for assignment in _assignments(options):
        print("\n".join(table_lines(class_table(assignment))), end="\n\n")
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
