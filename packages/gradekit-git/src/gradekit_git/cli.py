"""The options of `gradekit watch` for its ways: `--git` and `--http`."""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from gradekit_git import TOKEN, WEBHOOK_SECRET

if TYPE_CHECKING:
    from gradekit.grading.running_course import RunningCourse
    from gradekit_watch.ways import OpensWay, Way


def add_git(parser: argparse.ArgumentParser, where: argparse._MutuallyExclusiveGroup) -> None:
    """Add the option of `gradekit watch` for hand-ins by Git."""
    where.add_argument(
        "--git",
        dest="way",
        type=_by_git,
        metavar="ROSTER",
        help="fetch the repositories in this CSV file with the columns student and remote; results and pages are written "
        "to returned/<student>/<assignment>/<commit>/",
    )


def _by_git(roster: str) -> "OpensWay":
    # now, before any process is started for students' code
    given = {name: os.environ.pop(name, "") for name in (TOKEN, WEBHOOK_SECRET)}

    def opens(course: "RunningCourse") -> "Way":
        from gradekit_git.way import open_way

        return open_way(course, Path(roster), given)

    return opens


def add_http(parser: argparse.ArgumentParser, where: argparse._MutuallyExclusiveGroup) -> None:
    """Add the option of `gradekit watch` for hand-ins from CI jobs."""
    where.add_argument(
        "--http",
        dest="way",
        type=_by_http,
        metavar="KEYS",
        help="take what CI jobs send by HTTP, signed with the keys in this CSV file with the columns student and key; "
        "results and pages are sent back, and written to returned/<student>/<assignment>/<id>/",
    )


def _by_http(keys: str) -> "OpensWay":
    def opens(course: "RunningCourse") -> "Way":
        from gradekit_git.runner.http_way import open_http_way

        return open_http_way(course, Path(keys))

    return opens
