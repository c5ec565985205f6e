"""The command `gradekit watch`, which grades hand-ins as they arrive."""

import argparse
from collections.abc import Iterator
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from gradekit.cli import Commands, course_and_assignments, course_of, not_installed, print_lines
from gradekit.cli.autograding import require_plugged_in, start_server
from gradekit.course import CourseError
from gradekit.course.kernels import KERNELS

if TYPE_CHECKING:
    from gradekit.grading.running_course import RunningCourse

#: entry points of packages that bring hand-ins in other ways, as described in `gradekit_watch.ways`
_WAYS = "gradekit.ways"
#: ways that pages name, and the packages that bring them
_COMPANIONS = {"git": "gradekit-git", "http": "gradekit-git", "lti": "gradekit-lms"}
_DESCRIPTION = """\
Grade each hand-in when it arrives, write it into the gradebook, and release its feedback page.

Hand-ins are collected from nbgrader's exchange, oldest first for each assignment; students take turns. The command can be killed at any
moment: the next start continues where it left off. SIGTERM and Ctrl-C end it after the current hand-in. It rereads changed
checks, assignments and settings. Rules of attempts are set with c.AttemptRules in nbgrader_config.py."""


def add(commands: Commands) -> None:
    added = commands.add_for_assignments(
        "watch", _watch, "grade hand-ins as they arrive, and release their feedback"
    )
    added.description = _DESCRIPTION
    added.formatter_class = argparse.RawDescriptionHelpFormatter
    where = added.add_mutually_exclusive_group()
    where.add_argument(
        "--folder",
        action="store_true",
        help="watch submitted/ instead of the exchange: a submission is graded when nothing in its folder has changed "
        "for 5 seconds, and its page is written to feedback/",
    )
    added.add_flag(
        "--once",
        "grade what has arrived, then exit; the exit code is 1 if something was refused or could not be graded",
    )
    added.add_flag("--status", "show what the running command is doing, and exit")
    added.add_flag("--json", "print one JSON object per line")
    added.set_defaults(way=None)
    points = {point.name: point for point in entry_points(group=_WAYS)}
    for name in sorted({*points, *_COMPANIONS}):
        if name in points:
            points[name].load()(added, where)
        else:
            where.add_argument(f"--{name}", nargs="?", action=_Missing, help=argparse.SUPPRESS)
    added.add_workers("submissions graded at a time", at_most=4)
    added.add_sandbox()


class _Missing(argparse.Action):
    """Says which package brings this option, whatever else the command line has."""

    def __call__(
        self, parser: object, options: argparse.Namespace, value: object, option: Any = None
    ) -> None:
        def refuse(_: argparse.Namespace) -> NoReturn:
            raise not_installed(f"{option} is an option", _COMPANIONS[self.dest])

        options.run = refuse


def _watch(options: argparse.Namespace) -> int:
    course = course_of(options)
    if options.status:
        return _show_status(course, options.json)
    named = course_and_assignments(options)[1] if options.assignments else ()
    chosen = tuple(assignment.name for assignment in named)
    require_plugged_in(course)
    start_server(course, named or course.layout.assignments(), options.sandbox)
    from gradekit.grading.autograde import GradingOptions
    from gradekit_watch.loop import Watch
    from gradekit_watch.status import Event
    from gradekit_watch.waiting import WatchOptions

    def report(event: Event) -> None:
        print(event.as_json() if options.json else event.line(), flush=True)

    grading = GradingOptions(options.workers, kernel_name=KERNELS.get(options.sandbox, ""))
    watch = Watch(
        course, WatchOptions(options.course_dir, chosen, options.folder, grading, options.way), report
    )
    return watch.run(options.once)


def _show_status(course: "RunningCourse", as_json: bool) -> int:
    from gradekit_watch.status import is_watched, read_status, status_lines

    status, running = read_status(course.root), is_watched(course.root)
    if as_json:
        print(msgspec.json.encode({"running": running} | msgspec.to_builtins(status)).decode())
    else:
        print_lines([*status_lines(status, running), *_deadlines(course)])
    return int(not running or bool(status.blocked or status.on_hold or status.not_graded))


def _deadlines(course: "RunningCourse") -> Iterator[str]:
    from gradekit.course.course_time import CourseTime
    from gradekit.grading.grades import deadline_lines

    clock = CourseTime(config=course.config)
    try:
        with course.gradebook() as gradebook:
            for name in sorted(entry.name for entry in gradebook.assignments):
                yield from (f"{name}: {line.strip()}" for line in deadline_lines(gradebook, name, clock))
    except CourseError as error:
        yield str(error)
