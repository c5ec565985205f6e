"""Commands for authors of a course: new, doctor, audit, record, earlier, standalone, samples."""

import argparse
import shutil
from pathlib import Path

from gradekit.cli.common import Commands, assignments_of, chosen_from, course_of, progress_bar
from gradekit.course import CourseError
from gradekit.course.printing import quoted
from sandbox_kernel.folders import HeldFolder


def add(commands: Commands) -> None:
    for name, run, text in [
        ("audit", _audit, "grade all known mistakes and right answers; fail if the checks judge one wrongly"),
        ("record", _record, "record the values of the solutions and mistakes (reference.safetensors)"),
    ]:
        added = commands.add_for_assignments(name, run, text)
        added.add_workers("number of processes")
        if run is _audit:
            added.add_argument(
                "--only", default="*", metavar="PATTERN", help="mistakes and answers whose names match"
            )
            added.add_argument(
                "--mutants",
                action="store_true",
                help="grade small machine-made edits of the solutions instead; fail if the checks miss one",
            )
            added.add_argument("--all", action="store_true", help="with --mutants: all, instead of a sample")
    commands.add_for_assignments(
        "earlier", _earlier, "write earlier.py: the code that an assignment imports from earlier ones"
    )
    commands.add_for_assignments(
        "standalone",
        _standalone,
        "write released notebooks that set up their files and packages, for Colab and Binder",
    )
    samples = commands.add_for_assignments("samples", _samples, "write a sample class into submitted/")
    samples.add_argument(
        "--odd", action="append", default=[], metavar="ASSIGNMENT", help="add all unusual submissions"
    )
    new = commands.add("new", _new, "write a small working assignment for you to change")
    new.add_argument("name", metavar="NAME", help="for example 08_my_topic")
    new.add_argument(
        "--arrays",
        choices=("numpy", "torch"),
        help="the library it computes with; default: torch, if it is installed",
    )
    commands.add("doctor", _doctor, "check this machine and this folder, and say how to fix problems")


def _audit(options: argparse.Namespace) -> int:
    if options.mutants:
        return _audit_mutants(options)
    if options.all:
        raise CourseError("--all applies only to mutants: add --mutants")
    from gradekit.authoring.audit import run_audit
    from gradekit.cli.matrix import audit_lines, figures

    audits = []
    for assignment in assignments_of(options):
        with _Progress(assignment.name) as progress:
            audits.append(run_audit(assignment, options.workers, progress, options.only))
        print("\n".join(audit_lines(audits[-1])), end="\n\n")
    if len(audits) > 1:
        print(figures(audits))
    return int(any(audit.problems for audit in audits))


def _audit_mutants(options: argparse.Namespace) -> int:
    from gradekit.authoring.mutants.survivors import run_mutants
    from gradekit.cli.matrix import mutation_figures, mutation_lines

    tests = []
    for assignment in assignments_of(options):
        with _Progress(assignment.name) as progress:
            tests.append(run_mutants(assignment, options.workers, progress, options.only, options.all))
        print("\n".join(mutation_lines(tests[-1])), end="\n\n", flush=True)
    if len(tests) > 1:
        print(mutation_figures(tests))
    return int(any(test.survivors or any(test.problems()) for test in tests))


def _record(options: argparse.Namespace) -> None:
    from gradekit.authoring.recording import record

    for assignment in assignments_of(options):
        with _Progress(assignment.name) as progress:
            store = record(assignment, options.workers, progress)
        print(f"{store.path}: {len(store.tensors)} tensors")


def _earlier(options: argparse.Namespace) -> None:
    from gradekit.authoring.earlier import write_earlier

    for assignment in assignments_of(options):
        if path := write_earlier(assignment):
            print(path)


def _standalone(options: argparse.Namespace) -> None:
    from gradekit.authoring.standalone import write_standalone

    for assignment in assignments_of(options):
        for path in write_standalone(assignment):
            print(path)


def _samples(options: argparse.Namespace) -> None:
    from gradekit.authoring.samples import ODD_CLASS, ordinary_class, write_class

    course = course_of(options)
    for assignment in chosen_from(course, options.assignments):
        odd = ODD_CLASS if assignment.name in options.odd else []
        samples = [*ordinary_class(assignment), *odd]
        with HeldFolder(".gradekit-samples-", course.root) as written:
            write_class(assignment, written, samples)
            for sample in samples:
                _replace(
                    course.submitted(sample.student, assignment.name),
                    written / sample.student / assignment.name,
                )
        print(f"{assignment.name}: {len(samples)} sample submissions")


def _replace(folder: Path, new: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(new, folder)


def _new(options: argparse.Namespace) -> None:
    from gradekit.authoring.new import write_assignment
    from gradekit.authoring.recording import record

    course = course_of(options)
    assignment = write_assignment(course.layout, options.name, options.arrays)
    record(assignment)
    (notebook,) = assignment.source_notebooks()
    print(f"The notebook: {_below(course.root, notebook)}")
    for path in sorted(assignment.checks.glob("*.*")):
        print(f"              {_below(course.root, path)}")
    print("It already works. Change it step by step (see docs/writing-checks.md), and after each step run:")
    print(
        f"    gradekit record {quoted(assignment.name)}   # record the values of the solution and the mistakes"
    )
    print(f"    gradekit audit {quoted(assignment.name)}    # prove that the checks are right")
    print("When it is done:")
    print(f"    nbgrader generate_assignment {quoted(assignment.name)}")


def _doctor(options: argparse.Namespace) -> int:
    from gradekit.authoring.doctor import examine

    try:
        root = course_of(options).root
    except CourseError:  # it is among the findings
        root = options.course_dir or Path.cwd()
    missing = False
    for finding in examine(root):
        missing = missing or finding.needed
        print(finding, flush=True)
    return int(missing)


def _below(root: Path, path: Path) -> Path:
    """The path, relative to `root` if it is below it."""
    return path.relative_to(root) if path.is_relative_to(root) else path


class _Progress:
    """A progress bar on stderr; call it with the name of a notebook, how many are done, and how many there are."""

    def __init__(self, title: str) -> None:
        self._bar = progress_bar(title, "notebook")

    def __enter__(self) -> "_Progress":
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def __call__(self, name: str, done: int, total: int) -> None:
        self._bar.total = total
        self._bar.set_postfix_str(name, refresh=False)
        self._bar.update(done - self._bar.n)
