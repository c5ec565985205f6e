"""Commands about the checks of a course: audit, record, earlier, samples."""

import argparse

from tqdm import tqdm

from coursekit.cli.common import Commands, assignments_of, at_least_one


def add(commands: Commands) -> None:
    for name, run, text in [
        ("audit", _audit, "grade all known mistakes and right answers, and fail where the checks are wrong"),
        ("record", _record, "record anew what the solutions and mistakes give (reference.safetensors)"),
    ]:
        added = commands.add_for_assignments(name, run, text)
        added.add_argument("--workers", type=at_least_one, help="default: the number of cores")
        if run is _audit:
            added.add_argument("--only", default="*", metavar="PATTERN", help="of the names of variants")
    commands.add_for_assignments(
        "earlier", _earlier, "write earlier.py: what an assignment imports from those before it"
    )
    samples = commands.add_for_assignments("samples", _samples, "write a sample class into submitted/")
    samples.add_argument(
        "--odd", action="append", default=[], metavar="ASSIGNMENT", help="with all odd cases"
    )


def _audit(options: argparse.Namespace) -> int:
    from coursekit.audit import run_audit
    from coursekit.cli.matrix import audit_lines, figures

    audits = []
    for assignment in assignments_of(options):
        with _Progress(assignment.name) as progress:
            audits.append(run_audit(assignment, options.workers, progress, options.only))
        print("\n".join(audit_lines(audits[-1])), end="\n\n")
    if len(audits) > 1:
        print(figures(audits))
    return int(any(audit.problems for audit in audits))


def _record(options: argparse.Namespace) -> int:
    from coursekit.audit import record

    for assignment in assignments_of(options):
        with _Progress(assignment.name) as progress:
            store = record(assignment, options.workers, progress)
        print(f"{store.path}: {len(store.tensors)} tensors")
    return 0


def _earlier(options: argparse.Namespace) -> int:
    from coursekit.earlier import write_earlier

    for assignment in assignments_of(options):
        path = write_earlier(assignment)
        if path:
            print(path)
    return 0


def _samples(options: argparse.Namespace) -> int:
    from coursekit.samples import ODD_CLASS, ordinary_class, write_class

    for assignment in assignments_of(options):
        odd = ODD_CLASS if assignment.name in options.odd else []
        samples = [*ordinary_class(assignment), *odd]
        write_class(assignment, assignment.course.root / "submitted", samples)
        print(f"{assignment.name}: {len(samples)} sample submissions")
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
