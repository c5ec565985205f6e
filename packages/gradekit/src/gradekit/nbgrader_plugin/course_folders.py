"""The course, its submission folders and its gradebook as nbgrader's settings have them, and how to stop nbgrader."""

import glob
import logging
import os
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NoReturn

from nbconvert.exporters.exporter import ResourcesDict
from nbgrader.api import Gradebook, Student
from nbgrader.coursedir import CourseDirectory
from nbgrader.dbutil import ALEMBIC_DIR
from sqlalchemy import create_engine, inspect, text
from sqlalchemy.engine import Connection, make_url
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from traitlets.config import Config

from gradekit.course import ANY, Assignment, Course, CourseError
from gradekit.course.configuration import course_in
from gradekit.course.printing import printable, quoted
from gradekit.submission.extra_files import ExtraFiles, handed_out_files, move_up, put_endings_right

#: a line break stops nbgrader's commands; the others would be HTML in formgrader, whose lists don't escape names
_REPLACED = str.maketrans({"\n": " ", "<": "‹", ">": "›", '"': "”"})
#: how long to wait for a program that is writing; nbgrader itself waits as long
_BUSY_SECONDS = 5
_SQLITE = b"SQLite format 3\0"
_RESTORE = "restore the gradebook from a backup"
#: in nbgrader's files for its own versions of the gradebook, the version before
_REVISED = re.compile(r"^down_revision = ['\"](\w+)['\"]", re.MULTILINE)


def configured_course(config: Config) -> Course:
    """The course in which nbgrader runs. While it converts, its working directory is the course's root."""
    return course_in(CourseDirectory(config=config), Path.cwd())


def source_converted(config: Config, resources: ResourcesDict) -> tuple[Assignment, Path]:
    """The assignment whose source nbgrader converts, and the path of the notebook below the course's folder."""
    names = resources["nbgrader"]
    assignment = configured_course(config).assignment(names["assignment"])
    return assignment, Path(assignment.course.source, assignment.name, f"{names['notebook']}.ipynb")


def beside_of(folders: CourseDirectory, folder: Path, assignment: str) -> ExtraFiles:
    """The files next to the notebooks in a submission folder."""
    source = Path(folders.format_path(folders.source_directory, ".", assignment))
    return ExtraFiles.in_course(Path(folders.root), folder, handed_out_files(source))


def handed_in(folders: CourseDirectory, assignment: str | None = None) -> list[str]:
    """The names of the students who have a submission folder for the assignment, or for any."""
    return sorted({student for _, student in _student_folders(folders, assignment or ANY)})


def rename_students(folders: CourseDirectory, assignment: str, gradebook: Gradebook) -> list[str]:
    """Rename the students' folders that nbgrader can't handle or would take for another student's; returns sentences.

    nbgrader's gradebook rejects names that aren't UTF-8, and its commands reject line breaks. An accent can be stored in
    two ways, and file systems and archives change one into the other.
    """
    entries = {student.id: student for student in gradebook.students}
    known = list(entries)
    sentences = list(_two_in_gradebook(folders, entries))
    expected = course_in(folders).assignment(assignment).released_names()
    for place, student in _student_folders(folders, assignment):
        submitted = folders.format_path(folders.submitted_directory, student, assignment)
        if os.path.islink(submitted):
            sentences.append(_linked(student, submitted))
        else:
            sentences += move_up(Path(submitted), expected) + put_endings_right(submitted)
        right = spelled_as(usable_name(student), known)
        if right != student:
            sentences.append(_rename(folders, assignment, place, student, right))
        if right not in known:
            sentences += _like_known(folders, assignment, right, known)
    return sentences


def _linked(student: str, folder: str) -> str:
    """What to do about a submission folder that is a link, as to that of a partner."""
    link, copied = in_shell(folder), in_shell(f"{folder}.copied")
    return (
        f"{printable(student)}: {printable(folder)} is a link to {printable(os.readlink(folder))}, and links are not followed. "
        f"If that is this student's work, replace it by a copy: `cp -rL {link} {copied} && rm {link} && mv {copied} {link}`. "
        "Then run gradekit autograde, or nbgrader autograde with --force"
    )


def _like_known(
    folders: CourseDirectory, assignment: str, student: str, known: Collection[str]
) -> Iterator[str]:
    """A sentence if the gradebook has not this student, but one whose name looks alike."""
    here = Path(folders.format_path(folders.submitted_directory, student, assignment))
    for like in (name for name in known if _key(name) == _key(student)):
        there = Path(folders.format_path(folders.submitted_directory, like, assignment))
        if there.exists():
            what = f"keep the right hand-in; to put this one aside: `mv {quoted(here)} {quoted(f'{here}-aside')}`"
        else:
            what = f"`mkdir -p {quoted(there.parent)} && mv {quoted(here)} {quoted(there)}`"
        yield (
            f"{student!r} is not in the gradebook, but {like!r} is, so this was not graded. If they are the same, {what}; "
            f"if not, `nbgrader db student add {in_shell(student)}`. Then autograde again"
        )


def in_doubt(students: Iterable[str], gradebook: Gradebook) -> set[str]:
    """Those whom the gradebook has not, while it has one whose name looks alike: a person decides who they are."""
    known = {student.id for student in gradebook.students}
    keys = set(map(_key, known))
    return {name for name in students if name not in known and _key(name) in keys}


def _rename(folders: CourseDirectory, assignment: str, place: Path, student: str, right: str) -> str:
    """Rename a student's folder or, if that name exists already, move the submission there; returns a sentence."""
    why = "its accents are stored in another way than elsewhere"
    if usable_name(student) != student:
        why = "nbgrader can't handle the name of this folder"
    shown = f"{printable(student)}: {why}"
    source, target = place, place.with_name(place.name.replace(student, right))
    if target.exists():
        source = Path(folders.format_path(folders.submitted_directory, student, assignment))
        target = Path(folders.format_path(folders.submitted_directory, right, assignment))
    if target.exists():
        return (
            f"{shown}, and there is a second folder {printable(right)}. Keep the right one; to put the other aside: "
            f"`mv {in_shell(source)} {in_shell(f'{source}-aside')}`"
        )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        os.rename(source, target)
    except OSError as error:
        return f"{shown}, and renaming it failed ({error.strerror}). Rename it yourself."
    return f"{shown}, so it was renamed to {printable(right)}."


def spelled_as(name: str, known: Collection[str]) -> str:
    """The student in the gradebook with this name, however its accents are stored; the usual way for a new one."""
    composed = unicodedata.normalize("NFC", name)
    same = [student for student in known if unicodedata.normalize("NFC", student) == composed]
    return name if name in same else same[0] if len(same) == 1 else composed


def look_alike(names: Iterable[str]) -> list[list[str]]:
    """Names that differ only in case, in spaces around them, or in how their accents are stored."""
    alike: dict[str, list[str]] = {}
    for name in sorted(names):
        alike.setdefault(_key(name), []).append(name)
    return [found for found in alike.values() if len(found) > 1]


def _key(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name.strip()).casefold())


def _two_in_gradebook(folders: CourseDirectory, entries: Mapping[str, Student]) -> Iterator[str]:
    """A sentence for students whose names look alike. It says how to remove one only if nothing is lost with it."""
    there = set(handed_in(folders))
    for names in look_alike(entries):
        owned = {name: _possessions(entries[name], name in there) for name in names}
        empty = [name for name in names if not owned[name]]
        alike = f"The gradebook has students whose names look alike: {' and '.join(map(ascii, names))}. If they are one, "
        if len(empty) == len(names) - 1:
            for name in empty:
                yield (
                    f"{alike}remove the one that has no name, address, folder in submitted/ or grades of a person: "
                    f"`nbgrader db student remove {in_shell(name)} --force`, and autograde again"
                )
            continue
        has = "; ".join(f"{name!a} has {', '.join(owned[name]) or 'none of this'}" for name in names)
        yield f"{alike}decide which one stays, and give it what the other has before you remove that one ({has})"


def _possessions(student: Student, handed_in: bool) -> list[str]:
    """What would be lost or graded under another name without this student, in words."""
    notebooks = [notebook for work in student.submissions for notebook in work.notebooks]
    graded = any(g.manual_score is not None or g.extra_credit for book in notebooks for g in book.grades)
    owned = {
        "a name": student.first_name or student.last_name,
        "an email address": student.email,
        "an LMS id": student.lms_user_id,
        "a folder in submitted/": handed_in,
        "grades or comments of a person": graded
        or any(c.manual_comment for b in notebooks for c in b.comments),
    }
    return [what for what, is_there in owned.items() if is_there]


def in_shell(name: object) -> str:
    """The name for bash, in which one sees how its accents are stored."""
    text = str(name)
    return quoted(text) if text.isascii() else "$" + ascii(text)


def student_of(folders: CourseDirectory, step: str, path: str) -> str | None:
    """The student whose folder in a step of the assignment this is; None if it is no such folder."""
    pattern = folders.format_path(step, "(?P<student>.*)", folders.assignment_id, escape=True)
    match = re.fullmatch(pattern, path, re.DOTALL)
    return match["student"] if match else None


def misplaced_notebooks(folders: CourseDirectory, assignments: Iterable[str]) -> Iterator[str]:
    """A sentence for each notebook above the submission folders, and for each of these whose names seem misspelt or swapped.

    nbgrader sees none of them.
    """
    step, written = folders.submitted_directory, {_squeezed(name): name for name in assignments}
    place, every = folders.format_path(step, "STUDENT", "ASSIGNMENT"), Path(_pattern(folders, ANY))
    top = [every.parent.parent / "*.ipynb"] if step in every.parent.parent.parts else []
    for path in sorted(path for above in (*top, every.parent / "*.ipynb") for path in glob.glob(str(above))):
        yield f"{printable(path)} is in no submission folder, so it was not graded. Move it to {place}."
    parts = folders.format_path(step, "(?P<student>[^/]+)", "(?P<assignment>[^/]+)", escape=True)
    for path in sorted(glob.glob(str(every))):
        match = re.fullmatch(parts, path)
        if match is None or match["assignment"] in written.values() or not any(Path(path).glob("*.ipynb")):
            continue
        student, name = match["student"], match["assignment"]
        student, name = (
            (name, student) if student in written.values() else (student, written.get(_squeezed(name)))
        )
        if name is not None:
            right = printable(folders.format_path(step, student, name))
            yield f"{printable(path)} is the folder of no assignment, so it was not graded. Move it to {right}."


def _squeezed(name: str) -> str:
    return re.sub(r"[\W_]+|(?<!\d)0+(?=\d)", "", name.casefold())


def usable_name(name: str) -> str:
    """The name without what nbgrader can't handle."""
    try:
        name.encode()
    except UnicodeEncodeError:  # bytes that aren't UTF-8, as Python's file functions return them
        name = os.fsencode(name).decode("cp1252", errors="replace")
    return name.translate(_REPLACED)


def _student_folders(folders: CourseDirectory, assignment: str) -> Iterator[tuple[Path, str]]:
    """The folder named after each student, which may be above that of the submission, and the student's name."""
    student = f"{ANY}student"  # the assignment may be `ANY`
    parts = Path(folders.format_path(folders.submitted_directory, student, assignment)).parts
    depth = next(index for index, part in enumerate(parts) if student in part)
    name = re.compile(re.escape(parts[depth]).replace(student, "(.*)", 1).replace(ANY, ".*"), re.DOTALL)
    for path in map(Path, sorted(glob.glob(_pattern(folders, assignment)))):
        folder = Path(*path.parts[: depth + 1])
        if path.is_dir() and (match := name.fullmatch(folder.name)):
            yield folder, match[1]


def _pattern(folders: CourseDirectory, assignment: str) -> str:
    """A pattern for `glob` of the submission folders of all students."""
    path = Path(folders.format_path(folders.submitted_directory, ANY, assignment))
    return glob.escape(str(path)).replace(ANY, "*")


class Stop(SystemExit):
    """Ends the command with exit code 1; its text is the reason."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.code = 1


def stop(log: logging.Logger, sentence: str) -> NoReturn:
    """End the command with exit code 1 and one sentence. For any other exception nbgrader prints a traceback."""
    log.error(sentence)
    raise Stop(sentence)


def require_gradebook(log: logging.Logger, folders: CourseDirectory, writing: bool) -> None:
    """Stop an nbgrader command with a sentence if the gradebook can't be used."""
    try:
        problem = gradebook_problem(url_in(folders), writing)
    except CourseError as error:
        problem = str(error)
    if problem:
        stop(log, problem)


def url_in(folders: CourseDirectory) -> str:
    """The gradebook's URL. nbgrader converts in the course's folder, so a relative path starts there."""
    url: str = folders.db_url
    path = sqlite_file(url)
    if path is None or path.is_absolute():
        return url
    return make_url(url).set(database=str(Path(folders.root, path))).render_as_string(hide_password=False)


def gradebook_problem(url: str, writing: bool) -> str:
    """What is wrong with the gradebook, and what to do; empty if nothing is, or if it doesn't exist yet.

    Args:
        writing: whether it will be written to.

    Raises:
        CourseError: the driver of the database is not installed.
    """
    path = sqlite_file(url)
    if path is not None:
        if not path.exists():
            return ""
        if problem := _file_problem(path, writing):
            return problem
    place = str(path or shown_url(url))
    try:
        options = {"connect_args": {"timeout": _BUSY_SECONDS}} if path else {}
        engine = create_engine(url, **options)
        try:
            with engine.connect() as connection:
                if path and writing:
                    connection.exec_driver_sql("BEGIN IMMEDIATE")  # waits for others, and changes nothing
                return _version_problem(connection, place)
        finally:
            engine.dispose()
    except DBAPIError as error:
        reason = " ".join(str(error.orig).split())
        if path and "locked" in reason:
            return (
                f"{place} is locked: another program is writing to it. Wait until it has finished, or end it, and run "
                "the command again."
            )
        if path and ("malformed" in reason or "not a database" in reason):
            return f"{place} is damaged ({reason}): {_RESTORE}."
    except SQLAlchemyError as error:
        reason = str(error).splitlines()[0]
    except ImportError as error:
        raise CourseError(
            f"the gradebook can't be opened, since c.CourseDirectory.db_url needs a driver that is not installed ({error}): for "
            'postgresql+psycopg2://… `pip install "gradekit[postgres]"`'
        ) from error
    return (
        f"the gradebook {place} can't be opened ({reason}): see whether its database runs, and check "
        "c.CourseDirectory.db_url."
    )


def sqlite_file(url: str) -> Path | None:
    """The file of an SQLite database; None for other databases."""
    try:
        parts = make_url(url)
    except SQLAlchemyError:  # opening it reports what is wrong
        return None
    if parts.get_backend_name() != "sqlite" or parts.database in (None, "", ":memory:"):
        return None
    return Path(str(parts.database))


def shown_url(url: str) -> str:
    """The URL without its password."""
    try:
        return make_url(url).render_as_string(hide_password=True)
    except SQLAlchemyError:
        return url


def _file_problem(path: Path, writing: bool) -> str:
    if path.is_dir():
        return f"{path} is a folder: move it away, and {_RESTORE}."
    if not os.access(path, os.R_OK):
        return f"{path} can't be read: change its permissions."
    if writing and not os.access(path, os.W_OK):
        return f"{path} can't be written: change its permissions."
    if writing and not os.access(path.parent, os.W_OK | os.X_OK):
        return (
            f"{path.parent} can't be written, and SQLite needs a file there while it writes to {path.name}: change the "
            "permissions of the folder."
        )
    with path.open("rb") as file:
        start = file.read(len(_SQLITE))
    return "" if start in (b"", _SQLITE) else f"{path} isn't a database: {_RESTORE}."


def _version_problem(connection: Connection, place: str) -> str:
    tables = inspect(connection).get_table_names()
    if not tables:
        return ""  # nbgrader fills it
    version = None
    if "alembic_version" in tables:
        version = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    # read from the files: importing alembic takes longer than everything else here
    sources = (path.read_text(encoding="utf-8") for path in Path(ALEMBIC_DIR, "versions").glob("*.py"))
    older = {name for source in sources for name in _REVISED.findall(source)}
    if version is None or version in older:
        return f"{place} was made by an older version of nbgrader: run `nbgrader db upgrade`."
    return ""  # a newer one has more columns, which this one leaves alone
