"""The course and its submission folders as nbgrader's settings describe them, and how to stop nbgrader."""

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
from coursekit.student.renamed import put_endings_right


def course_of(config: Config) -> Course:
    """The course in which nbgrader runs. While it converts, its working directory is the course's root."""
    folders = CourseDirectory(config=config)
    return Course(Path.cwd(), folders.source_directory, folders.release_directory)


def beside_of(folders: CourseDirectory, folder: Path, assignment: str) -> ExtraFiles:
    """The files next to the notebooks in a submission folder."""
    source = Path(folders.format_path(folders.source_directory, ".", assignment))
    return ExtraFiles.in_course(Path(folders.root), folder, handed_out_files(source))


def handed_in(folders: CourseDirectory, assignment: str = "*") -> list[str]:
    """The names of the students who have a submission folder for the assignment, or for any."""
    pattern, depth = _student_pattern(folders, assignment)
    return sorted({Path(path).parts[depth] for path in glob.glob(str(pattern)) if Path(path).is_dir()})


def rename_students(folders: CourseDirectory, assignment: str = "*") -> list[str]:
    """Rename the students' folders that nbgrader can't handle; returns a sentence for each.

    nbgrader's gradebook rejects names that aren't UTF-8, and its commands reject line breaks.
    """
    pattern, depth = _student_pattern(folders, assignment)
    sentences = []
    for student in handed_in(folders, assignment):
        sentences += put_endings_right(folders.format_path(folders.submitted_directory, student, assignment))
        usable = usable_name(student)
        if usable == student:
            continue
        place = Path(*pattern.parts[:depth], student)
        shown = f"{printable(student)}: nbgrader can't handle the name of this folder"
        if place.with_name(usable).exists():
            sentences.append(f"{shown}, and a folder {printable(usable)} already exists. Rename one of them.")
            continue
        try:
            os.rename(place, place.with_name(usable))
            sentences.append(f"{shown}, so it was renamed to {printable(usable)}.")
        except OSError as error:
            sentences.append(f"{shown}, and renaming it failed ({error.strerror}). Rename it yourself.")
    return sentences


def usable_name(name: str) -> str:
    """The name without what nbgrader can't handle."""
    try:
        name.encode()
    except UnicodeEncodeError:  # bytes that aren't UTF-8, as Python's file functions return them
        name = os.fsencode(name).decode("cp1252", errors="replace")
    return name.replace("\n", " ")


def _student_pattern(folders: CourseDirectory, assignment: str) -> tuple[Path, int]:
    """A pattern for submission folders, and the index of the part that is the student's name."""
    pattern = Path(folders.format_path(folders.submitted_directory, "*", assignment))
    return pattern, pattern.parts.index("*")


def stop(log: logging.Logger, sentence: str) -> NoReturn:
    """End the command with exit code 1 and one sentence. For any other exception nbgrader prints a traceback."""
    log.error(sentence)
    raise Stop(sentence)


class Stop(SystemExit):
    """Ends the command with exit code 1; its text is the reason."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.code = 1
