"""The course and its submission folders as nbgrader's settings describe them, and how to stop nbgrader."""

import glob
import logging
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from coursekit.configuration import course_in
from coursekit.course import ANY, Course
from coursekit.printing import printable
from coursekit.student.extra_files import ExtraFiles, handed_out_files
from coursekit.student.renamed import put_endings_right


def configured_course(config: Config) -> Course:
    """The course in which nbgrader runs. While it converts, its working directory is the course's root."""
    return course_in(CourseDirectory(config=config), Path.cwd())


def beside_of(folders: CourseDirectory, folder: Path, assignment: str) -> ExtraFiles:
    """The files next to the notebooks in a submission folder."""
    source = Path(folders.format_path(folders.source_directory, ".", assignment))
    return ExtraFiles.in_course(Path(folders.root), folder, handed_out_files(source))


def handed_in(folders: CourseDirectory, assignment: str | None = None) -> list[str]:
    """The names of the students who have a submission folder for the assignment, or for any."""
    place = _submission_folder(folders, assignment or ANY)
    return sorted({name for _, name in place.found()})


def rename_students(folders: CourseDirectory, assignment: str) -> list[str]:
    """Rename the students' folders that nbgrader can't handle; returns a sentence for each.

    nbgrader's gradebook rejects names that aren't UTF-8, and its commands reject line breaks.
    """
    sentences = []
    for place, student in _submission_folder(folders, assignment).found():
        sentences += put_endings_right(folders.format_path(folders.submitted_directory, student, assignment))
        usable = usable_name(student)
        if usable == student:
            continue
        renamed = place.with_name(place.name.replace(student, usable))
        shown = f"{printable(student)}: nbgrader can't handle the name of this folder"
        if renamed.exists():
            sentences.append(f"{shown}, and a folder {printable(usable)} already exists. Rename one of them.")
            continue
        try:
            os.rename(place, renamed)
            sentences.append(f"{shown}, so it was renamed to {printable(usable)}.")
        except OSError as error:
            sentences.append(f"{shown}, and renaming it failed ({error.strerror}). Rename it yourself.")
    return sentences


def student_of(folders: CourseDirectory, step: str, path: str) -> str | None:
    """The student whose folder in a step of the assignment this is; None if it is no such folder."""
    pattern = folders.format_path(step, "(?P<student>.*)", folders.assignment_id, escape=True)
    match = re.fullmatch(pattern, path, re.DOTALL)
    return match["student"] if match else None


def misplaced_notebooks(folders: CourseDirectory) -> list[str]:
    """A sentence for each notebook that lies above the submission folders, so that nbgrader does not see it."""
    above = Path(_submission_folder(folders, ANY).pattern).parent
    place = folders.format_path(folders.submitted_directory, "STUDENT", "ASSIGNMENT")
    return [
        f"{printable(path)} is in no submission folder, so it was not graded. Move it to {place}."
        for path in sorted(glob.glob(str(above / "*.ipynb")))
    ]


def usable_name(name: str) -> str:
    """The name without what nbgrader can't handle."""
    try:
        name.encode()
    except UnicodeEncodeError:  # bytes that aren't UTF-8, as Python's file functions return them
        name = os.fsencode(name).decode("cp1252", errors="replace")
    return name.replace("\n", " ")


@dataclass(frozen=True)
class _StudentFolders:
    """A pattern for paths of submissions, with any student's name, and perhaps any assignment's.

    Args:
        pattern: for `glob`.
        depth: index of the part with the student's name.
        name: matches this part; its group is the name.
    """

    pattern: str
    depth: int
    name: re.Pattern[str]

    def found(self) -> Iterator[tuple[Path, str]]:
        """The folder named after each student, which may be above that of the submission, and the student's name."""
        for path in sorted(glob.glob(self.pattern)):
            folder = Path(*Path(path).parts[: self.depth + 1])
            if Path(path).is_dir() and (match := self.name.fullmatch(folder.name)):
                yield folder, match[1]


def _submission_folder(folders: CourseDirectory, assignment: str) -> _StudentFolders:
    student = f"{ANY}student"
    parts = Path(folders.format_path(folders.submitted_directory, student, assignment)).parts
    depth = next(index for index, part in enumerate(parts) if student in part)
    patterns = (glob.escape(part).replace(student, "*").replace(ANY, "*") for part in parts)
    name = re.escape(parts[depth]).replace(student, "(.*)", 1).replace(ANY, ".*")
    return _StudentFolders(str(Path(*patterns)), depth, re.compile(name, re.DOTALL))


def stop(log: logging.Logger, sentence: str) -> NoReturn:
    """End the command with exit code 1 and one sentence. For any other exception nbgrader prints a traceback."""
    log.error(sentence)
    raise Stop(sentence)


class Stop(SystemExit):
    """Ends the command with exit code 1; its text is the reason."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.code = 1
