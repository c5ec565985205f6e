"""The option of `gradekit watch` for its way `--lti`."""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradekit.grading.running_course import RunningCourse
    from gradekit_watch.ways import Way


def add_by_lti(parser: argparse.ArgumentParser, where: argparse._MutuallyExclusiveGroup) -> None:
    """Add the option of `gradekit watch` for hand-ins by LTI."""
    where.add_argument(
        "--lti",
        dest="way",
        action="store_const",
        const=_by_lti,
        help="grade what `gradekit lti` has taken from an LMS",
    )


def _by_lti(course: "RunningCourse") -> "Way":
    from gradekit_lms.lti.lti_way import open_lti_way

    return open_lti_way(course)
