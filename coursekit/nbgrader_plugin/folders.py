"""The course as nbgrader's own settings describe it, and how to stop nbgrader with one sentence."""

import logging
from pathlib import Path
from typing import NoReturn

from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from coursekit.course import Course


def course_of(config: Config) -> Course:
    """The course in which nbgrader runs; it works in the course's root folder while it converts."""
    folders = CourseDirectory(config=config)
    return Course(Path.cwd(), folders.source_directory, folders.release_directory)


def stop(log: logging.Logger, sentence: str) -> NoReturn:
    """End the command with code 1. nbgrader prints a traceback for any exception but this one."""
    log.error(sentence)
    raise Stop(sentence)


class Stop(SystemExit):
    """An end with code 1 that knows its reason."""

    def __init__(self, sentence: str) -> None:
        super().__init__(1)
        self.sentence = sentence

    def __str__(self) -> str:
        return self.sentence
