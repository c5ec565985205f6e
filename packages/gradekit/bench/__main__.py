"""The parts of the benchmark: `python -m bench --help`."""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from bench import known_load, otter
from bench.compare import alone, compare, scale
from bench.defend import Plan as DefensePlan
from bench.defend import defend
from bench.large import large
from bench.meter import ROOT
from bench.ordinary import ordinary
from bench.parts import parts
from bench.scaling import scaling
from bench.similar.evaluate import WAYS, evaluate
from bench.stress import HOGS, KINDS, Plan, stress
from bench.watch import watch
from gradekit.course import Course


def main() -> int:
    options = _parser().parse_args()
    print(f"{os.cpu_count()} cores; load before: {os.getloadavg()[0]:.2f}")
    with tempfile.TemporaryDirectory(prefix="gradekit-bench-") as folder:
        return options.run(Path(folder), options) or 0


def _at_least_two(text: str) -> int:
    if not text.isdecimal() or int(text) < 2:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number of at least 2")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure the cost of grading.")
    commands = parser.add_subparsers(required=True, metavar="part")
    against = commands.add_parser("class", help="compared with plain nbgrader and Otter; larger classes")
    against.add_argument("--count", type=int, default=48, help="submissions of the class")
    against.add_argument("--plain", type=int, help="how many of them plain nbgrader grades (default: all)")
    against.add_argument("--turns", type=int, default=3)
    against.add_argument("--otter", type=int, default=6, help="how many of them Otter grades")
    against.add_argument("--scale", type=int, nargs="*", default=[48, 96, 192], help="sizes of other classes")
    against.set_defaults(run=_class)
    single = commands.add_parser(
        "alone", help="one submission by a command of its own, compared with nbgrader"
    )
    single.add_argument("--turns", type=int, default=3)
    single.set_defaults(run=_alone)
    numpy = commands.add_parser("ordinary", help="an ordinary NumPy assignment, compared with plain nbgrader")
    numpy.add_argument("--count", type=int, default=48, help="submissions of the class")
    numpy.add_argument("--turns", type=int, default=3)
    numpy.set_defaults(run=lambda scratch, options: ordinary(scratch, options.count, options.turns))
    many = commands.add_parser("large", help="a large class, with two workers killed")
    many.add_argument("--count", type=int, default=2000)
    many.set_defaults(run=lambda scratch, options: large(scratch, options.count))
    one = commands.add_parser("parts", help="where the time of one submission goes")
    one.add_argument("--times", type=_at_least_two, default=20, help="submissions that are measured")
    one.set_defaults(run=lambda scratch, options: parts(scratch, options.times))
    under_load = commands.add_parser("stress", help="do right answers keep their points on a busy machine?")
    names = [assignment.name for assignment in Course(ROOT).assignments()]
    under_load.add_argument("--assignments", nargs="+", choices=names, default=names, metavar="NAME")
    under_load.add_argument("--busy", type=int, nargs="+", default=[8, 16], help="numbers of busy processes")
    under_load.add_argument("--rounds", type=int, default=20, help="how often each solution is graded")
    under_load.add_argument("--alternatives", type=int, help="alternatives of each assignment (default: all)")
    under_load.add_argument("--kinds", nargs="+", choices=KINDS, default=["busy", "hogs"], help="of load")
    under_load.add_argument("--hogs", nargs="+", choices=list(HOGS), default=list(HOGS), help="kinds of hogs")
    under_load.add_argument("--hog-seconds", type=int, default=120, help="how long a hog runs at most")
    under_load.set_defaults(run=_stress)
    waiting = commands.add_parser("watch", help="how long do students wait for their pages?")
    waiting.add_argument(
        "--assignments", nargs="+", choices=names, default=["02_attention", "05_seq2seq"], metavar="NAME"
    )
    waiting.add_argument("--together", action="store_true", help="in one course, in turn")
    waiting.add_argument("--many", type=int, default=1000, help="submissions in all, for the memory")
    waiting.set_defaults(run=_watch)
    bend = commands.add_parser("scaling", help="how many workers pay off? with workers that only sleep")
    bend.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 8, 16, 32, 64])
    bend.add_argument("--picture", type=Path, help="draw the result into this file")
    bend.set_defaults(run=lambda scratch, options: scaling(scratch, options.workers, options.picture))
    alike = commands.add_parser("similar", help="which copies does `gradekit similar` find?")
    alike.add_argument("--assignments", nargs="+", choices=list(WAYS), default=list(WAYS), metavar="NAME")
    alike.add_argument("--seeds", type=int, nargs="+", default=list(range(11, 16)), help="one class each")
    alike.add_argument("--count", type=int, default=200, help="students of a class who don't copy")
    alike.set_defaults(
        run=lambda scratch, options: evaluate(options.assignments, options.seeds, options.count)
    )
    asked = commands.add_parser(
        "defend", help="can other code answer the questions of `gradekit defend`, and are they true?"
    )
    asked.add_argument(
        "--assignments",
        nargs="+",
        choices=names,
        default=["02_attention", "03_attention_modules"],
        metavar="NAME",
    )
    asked.add_argument("--variants", type=int, default=5, help="alternatives and mistakes of each exercise")
    asked.add_argument("--unseen", type=int, default=2, help="right and wrong answers that outsiders wrote")
    asked.add_argument(
        "--written", type=int, default=3, help="answers written independently, where there are any"
    )
    asked.add_argument("--workers", type=int, default=2)
    asked.add_argument("--keep", type=Path, help="a file for the questions of each assignment, with its name")
    asked.set_defaults(run=_defend)
    return parser


def _defend(scratch: Path, options: argparse.Namespace) -> int:
    plan = DefensePlan(options.variants, options.unseen, options.written, options.workers, options.keep)
    return defend(options.assignments, plan)


def _class(scratch: Path, options: argparse.Namespace) -> None:
    print("\n".join(known_load.report(scratch)), flush=True)
    compare(scratch, options.count, min(options.plain or options.count, options.count), options.turns)
    otter.beside(scratch, options.otter)
    scale(scratch, options.scale)


def _alone(scratch: Path, options: argparse.Namespace) -> None:
    alone(scratch, options.turns)
    ordinary(scratch / "ordinary", 1, options.turns)


def _stress(scratch: Path, options: argparse.Namespace) -> int:
    plan = Plan(options.rounds, options.alternatives, options.hogs, options.hog_seconds)
    passed = [stress(scratch, name, options.busy, options.kinds, plan) for name in options.assignments]
    return 0 if all(passed) else 1


def _watch(scratch: Path, options: argparse.Namespace) -> int:
    names = options.assignments
    passed = [watch(scratch, group, options.many) for group in ([names] if options.together else zip(names))]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
