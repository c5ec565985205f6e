"""The course as nbgrader's own settings describe it, and how to stop nbgrader with one sentence."""

import glob
import logging
import os
from pathlib import Path
from typing import NoReturn

from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from coursekit.course import Course
from coursekit.printing import printable
from coursekit.student.extra_files import ExtraFiles, handed_out_files


def course_of(config: Config) -> Course:
    """The course in which nbgrader runs; it works in the course's root folder while it converts."""
    folders = CourseDirectory(config=config)
    return Course(Path.cwd(), folders.source_directory, folders.release_directory)


def beside_of(folders: CourseDirectory, folder: Path, assignment: str) -> ExtraFiles:
    """What lies beside the notebooks in a submission folder."""
    source = Path(folders.format_path(folders.source_directory, ".", assignment))
    return ExtraFiles.in_course(Path(folders.root), folder, handed_out_files(source))


def handed_in(folders: CourseDirectory, assignment: str = "*") -> list[str]:
    """Everybody with a folder for the assignment among the submissions, or for any, whatever it is called."""
    pattern, depth = _students(folders, assignment)
    return sorted({Path(path).parts[depth] for path in glob.glob(str(pattern)) if Path(path).is_dir()})


def rename_students(folders: CourseDirectory, assignment: str = "*") -> list[str]:
    """Give folders of students a name that nbgrader can keep, and a sentence for each.

    Its gradebook takes no name that isn't UTF-8, and its commands none with a line break.
    """
    pattern, depth = _students(folders, assignment)
    told = []
    for student in handed_in(folders, assignment):
        usable = usable_name(student)
        if usable == student:
            continue
        place = Path(*pattern.parts[:depth], student)
        shown = f"{printable(student)}: nbgrader can't keep the name of this folder"
        if place.with_name(usable).exists():
            told.append(f"{shown}, and there is a folder {printable(usable)} already. Rename one of them.")
            continue
        try:
            os.rename(place, place.with_name(usable))
            told.append(f"{shown}, so it was renamed to {printable(usable)}.")
        except OSError as error:
            told.append(f"{shown}, and it can't be renamed ({error.strerror}). Rename it by hand.")
    return told


def usable_name(name: str) -> str:
    try:
        name.encode()
    except UnicodeEncodeError:  # not UTF-8, as Python's file functions give it
        name = os.fsencode(name).decode("cp1252", errors="replace")
    return name.replace("\n", " ")


def _students(folders: CourseDirectory, assignment: str) -> tuple[Path, int]:
    """A pattern for submission folders, and which of its parts is the student."""
    pattern = Path(folders.format_path(folders.submitted_directory, "*", assignment))
    return pattern, pattern.parts.index("*")


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
