"""The parts of the benchmark: `python -m bench --help`."""

import argparse
import os
import tempfile
from pathlib import Path

from bench import known_load, otter
from bench.compare import compare, scale
from bench.large import large
from bench.parts import parts


def main() -> None:
    options = _parser().parse_args()
    print(f"{os.cpu_count()} cores; load before: {os.getloadavg()[0]:.2f}")
    with tempfile.TemporaryDirectory(prefix="coursekit-bench-") as folder:
        options.run(Path(folder), options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description="What grading a class costs.")
    commands = parser.add_subparsers(required=True, metavar="part")
    against = commands.add_parser("class", help="a class beside plain nbgrader and Otter, and larger classes")
    against.add_argument("--count", type=int, default=48, help="submissions of the class")
    against.add_argument("--plain", type=int, help="how many of them plain nbgrader grades; default: all")
    against.add_argument("--turns", type=int, default=3)
    against.add_argument("--otter", type=int, default=6, help="how many of them Otter grades")
    against.add_argument("--scale", type=int, nargs="*", default=[48, 96, 192], help="sizes of other classes")
    against.set_defaults(run=_class)
    many = commands.add_parser("large", help="a large class, with a worker killed in the midst of it")
    many.add_argument("--count", type=int, default=2000)
    many.set_defaults(run=lambda scratch, options: large(scratch, options.count))
    one = commands.add_parser("parts", help="where the time of one submission goes")
    one.add_argument("--times", type=int, default=20)
    one.set_defaults(run=lambda scratch, options: parts(scratch, options.times))
    return parser


def _class(scratch: Path, options: argparse.Namespace) -> None:
    print("\n".join(known_load.report(scratch)), flush=True)
    compare(scratch, options.count, min(options.plain or options.count, options.count), options.turns)
    otter.beside(scratch, options.otter)
    scale(scratch, options.scale)


if __name__ == "__main__":
    main()
