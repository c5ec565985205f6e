"""Commands for authors of a course: audit, record, earlier, standalone, samples, new, doctor, adopt."""

import argparse
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from gradekit.cli import (
    Commands,
    course_and_assignments,
    course_of,
    print_json,
    print_lines,
    progress_bar,
)
from gradekit.course import CourseError
from gradekit.course.printing import printable, quoted
from gradekit_authoring.cli import add_arrays

if TYPE_CHECKING:
    from gradekit_authoring.grade_variants import Progress


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
            added.add_flag(
                "--mutants",
                "grade small machine-made edits of the solutions instead; fail if the checks miss one",
            )
            added.add_flag(
                "--standard",
                "grade standard faults around each solution, such as state kept between calls; fail if the checks miss one",
            )
            added.add_flag(
                "--names",
                "with --mutants: list those whose pages name a known mistake, for you to read whether that is true",
            )
            added.add_flag("--all", "with --mutants: all, instead of a sample")
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
    samples.add_argument(
        "--class",
        dest="typical",
        action="store_true",
        help="a class of thirty with the mistakes that a class makes, instead of one submission of each kind",
    )
    new = commands.add("new", _new, "write a small working assignment for you to change")
    new.add_argument("name", metavar="NAME", help="for example 08_my_topic")
    add_arrays(new)
    commands.add("doctor", _doctor, "check this machine and this folder, and say how to fix problems")
    adopt = commands.add_for_assignments(
        "adopt", _adopt, "list what an existing nbgrader course contains, and what gradekit would change"
    )
    what = adopt.add_mutually_exclusive_group()
    what.add_argument(
        "--write", action="store_true", help="add gradekit to nbgrader_config.py: one import and one line"
    )
    what.add_argument(
        "--compare",
        action="store_true",
        help="grade submitted/ with nbgrader and with gradekit, in temporary copies, and compare the scores; "
        "nbgrader runs the students' code without a sandbox, to which you agree with this option",
    )
    adopt.add_workers("with --compare: gradekit's number of processes")
    adopt.add_json()


def _audit(options: argparse.Namespace) -> int:
    if options.mutants and options.standard:
        raise CourseError("give either --mutants or --standard")
    if options.names and not options.mutants:
        raise CourseError("--names applies only to mutants: add --mutants")
    if options.names:
        return _audit_names(options)
    if options.mutants or options.standard:
        return _audit_mutants(options)
    if options.all:
        raise CourseError("--all applies only to mutants: add --mutants")
    from gradekit_authoring.audit import audit_lines, figures, run_audit

    audits = []
    for assignment in course_and_assignments(options)[1]:
        with _progress(assignment.name) as progress:
            audits.append(run_audit(assignment, options.workers, progress, options.only))
        print("\n".join(audit_lines(audits[-1])), end="\n\n")
    if len(audits) > 1:
        print(figures(audits))
    return int(any(audit.problems for audit in audits))


def _audit_mutants(options: argparse.Namespace) -> int:
    from gradekit_authoring.mutants.survivors import mutation_figures, mutation_lines, run_mutants

    tests = []
    for assignment in course_and_assignments(options)[1]:
        with _progress(assignment.name) as progress:
            everything = options.all or options.standard
            tests.append(
                run_mutants(assignment, options.workers, progress, options.only, everything, options.standard)
            )
        print("\n".join(mutation_lines(tests[-1])), end="\n\n", flush=True)
    if len(tests) > 1:
        print(mutation_figures(tests))
    return int(any(test.survivors or any(test.problems()) for test in tests))


def _audit_names(options: argparse.Namespace) -> int:
    from gradekit_authoring.mutants.survivors import name_lines, named_mutants

    for assignment in course_and_assignments(options)[1]:
        with _progress(assignment.name) as progress:
            named = named_mutants(assignment, options.workers, progress, options.only, options.all)
        print("\n".join([assignment.name, *name_lines(named)]), end="\n\n", flush=True)
    return 0


def _record(options: argparse.Namespace) -> None:
    from gradekit_authoring.grade_variants import record

    for assignment in course_and_assignments(options)[1]:
        with _progress(assignment.name) as progress:
            store = record(assignment, options.workers, progress)
        print(f"{store.path}: {len(store.tensors)} tensors")


def _earlier(options: argparse.Namespace) -> None:
    from gradekit_authoring.earlier import write_earlier

    for assignment in course_and_assignments(options)[1]:
        if path := write_earlier(assignment):
            print(path)


def _standalone(options: argparse.Namespace) -> None:
    from gradekit_authoring.standalone import write_standalone

    for assignment in course_and_assignments(options)[1]:
        for path in write_standalone(assignment):
            print(path)


def _samples(options: argparse.Namespace) -> None:
    from gradekit_authoring.samples import ODD_CLASS, ordinary_class, typical_class, write_class
    from sandbox_kernel.folders import HeldFolder

    course, assignments = course_and_assignments(options)
    for assignment in assignments:
        odd = ODD_CLASS if assignment.name in options.odd else []
        ordinary = typical_class(assignment) if options.typical else ordinary_class(assignment)
        samples = [*ordinary, *odd]
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
    from gradekit_authoring.grade_variants import record
    from gradekit_authoring.new import write_assignment

    course = course_of(options)
    assignment = write_assignment(course.layout, options.name, options.arrays)
    record(assignment)
    (notebook,) = assignment.source_notebooks()
    print(f"The notebook: {_below(course.root, notebook)}")
    for path in sorted(assignment.checks.glob("*.*")):
        print(f"              {_below(course.root, path)}")
    print("It already works. Change it step by step (see `gradekit help checks`), and after each step run:")
    print(
        f"    gradekit record {quoted(assignment.name)}   # record the values of the solution and the mistakes"
    )
    print(f"    gradekit audit {quoted(assignment.name)}    # prove that the checks are right")
    print("When it is done:")
    print(f"    nbgrader generate_assignment {quoted(assignment.name)}")


def _doctor(options: argparse.Namespace) -> int:
    from gradekit_authoring.doctor import examine

    missing = False
    for finding in examine(_root_of(options)):
        missing = missing or finding.needed
        print(finding, flush=True)
    return int(missing)


def _below(root: Path, path: Path) -> Path:
    return path.relative_to(root) if path.is_relative_to(root) else path


@contextmanager
def _progress(title: str) -> "Iterator[Progress]":
    """A progress bar on stderr, moved by what is yielded."""
    with progress_bar(title, "notebook") as bar:

        def report(name: str, done: int, total: int) -> None:
            bar.total = total
            bar.set_postfix_str(name, refresh=False)
            bar.update(done - bar.n)

        yield report


def _adopt(options: argparse.Namespace) -> int:
    run = _write if options.write else _compare if options.compare else _look
    return run(_root_of(options).resolve(), options)


def _root_of(options: argparse.Namespace) -> Path:
    """The course's folder, whatever is wrong in it: that is among the findings."""
    try:
        return course_of(options).root
    except CourseError:
        return options.course_dir or Path.cwd()


def _look(root: Path, options: argparse.Namespace) -> int:
    from gradekit_authoring.adopt.survey import survey
    from gradekit_authoring.adopt.text import report_lines

    report = survey(root, options.assignments)
    if options.json:
        print_json(report.as_dict())
    else:
        print_lines(report_lines(report))
    return int(bool(report.problems))


def _write(root: Path, options: argparse.Namespace) -> int:
    from gradekit_authoring.adopt.config_file import addition_to
    from gradekit_authoring.adopt.survey import EmptyCourse, may_become_course, survey

    report = None
    try:
        report = survey(root, options.assignments)
    except EmptyCourse:
        if options.assignments or not may_become_course(root):
            raise
    addition = addition_to(root)
    addition.write()
    if options.json:
        print_json({"file": addition.file.path, "written": bool(addition.lines), "diff": addition.diff()})
        return 0
    if not addition.lines:
        print_lines([f"{addition.file.path} already uses gradekit; nothing was written."])
        return 0
    print_lines([*addition.diff(), "", f"{addition.file.path} has been changed as shown."])
    print_lines(["To undo this, remove the line that calls `configure`."])
    if report is None:
        print_lines(["There is no assignment yet: `gradekit new NAME` writes one."])
    elif count := len(report.problems):
        things = "One thing has" if count == 1 else f"{count} things have"
        print_lines([f"{things} to be fixed before grading: `gradekit adopt` lists them."])
    return 0


def _compare(root: Path, options: argparse.Namespace) -> int:
    from gradekit_authoring.adopt.autograder_comparison import compare_autograders
    from gradekit_authoring.adopt.survey import survey
    from gradekit_authoring.adopt.text import comparison_lines

    _note(
        "nbgrader now runs the students' code on this machine without a sandbox, as `nbgrader autograde` always "
        "does. Everything is done in temporary copies; the course is not changed."
    )
    names = options.assignments or [assignment.name for assignment in survey(root).assignments]
    found = []
    for comparison in compare_autograders(root, names, options.workers, _note):
        found.append(comparison)
        if not options.json:
            print_lines(comparison_lines(comparison))
    if options.json:
        print_json({"assignments": [comparison.as_dict() for comparison in found]})
    return int(any(comparison.different for comparison in found))


def _note(text: str) -> None:
    print(printable(text, None), file=sys.stderr, flush=True)
