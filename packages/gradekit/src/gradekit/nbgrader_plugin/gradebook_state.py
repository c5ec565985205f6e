"""Whether the gradebook can be used. It is asked before any work is done, and says in one sentence what is wrong."""

import logging
import os
import re
from pathlib import Path

from nbgrader.coursedir import CourseDirectory
from nbgrader.dbutil import ALEMBIC_DIR
from sqlalchemy import create_engine, inspect, text
from sqlalchemy.engine import URL, Connection, make_url
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from gradekit.nbgrader_plugin.course_folders import stop

#: how long to wait for a program that is writing; nbgrader itself waits as long
_BUSY_SECONDS = 5
_SQLITE = b"SQLite format 3\0"
_RESTORE = "restore the gradebook from a backup"


def require_gradebook(log: logging.Logger, folders: CourseDirectory, writing: bool) -> None:
    """Stop an nbgrader command with a sentence if the gradebook can't be used."""
    try:
        problem = gradebook_problem(url_in(folders), writing)
    except ImportError as error:
        problem = no_driver(error)
    if problem:
        stop(log, problem)


def url_in(folders: CourseDirectory) -> str:
    """The gradebook's URL. nbgrader converts in the course's folder, so a relative path starts there."""
    url: str = folders.db_url
    path = sqlite_file(url)
    if path is None or path.is_absolute():
        return url
    return make_url(url).set(database=str(Path(folders.root, path))).render_as_string(hide_password=False)


def no_driver(error: ImportError) -> str:
    return (
        f"the gradebook can't be opened, since c.CourseDirectory.db_url needs a driver that is not installed ({error}): for "
        'postgresql+psycopg2://… `pip install "gradekit[postgres]"`'
    )


def gradebook_problem(url: str, writing: bool) -> str:
    """What is wrong with the gradebook, and what to do; empty if nothing is, or if it doesn't exist yet.

    Args:
        writing: whether it will be written to.

    Raises:
        ImportError: the driver of the database is not installed.
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
        return _unopened(place, reason)
    except SQLAlchemyError as error:
        return _unopened(place, str(error).splitlines()[0])


def _unopened(place: str, reason: str) -> str:
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
        parts: URL = make_url(url)
    except SQLAlchemyError:
        return url
    return parts.render_as_string(hide_password=True)


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
    if version is None or version in _older_revisions():
        return f"{place} was made by an older version of nbgrader: run `nbgrader db upgrade`."
    return ""  # a newer one has more columns, which this one leaves alone


def _older_revisions() -> set[str]:
    """The revisions that the installed nbgrader knows, apart from its own.

    Read from the files: importing alembic takes longer than everything else here.
    """
    found = [path.read_text(encoding="utf-8") for path in Path(ALEMBIC_DIR, "versions").glob("*.py")]
    return {
        name
        for source in found
        for name in re.findall(r"^down_revision = ['\"](\w+)['\"]", source, re.MULTILINE)
    }
