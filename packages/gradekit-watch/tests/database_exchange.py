"""An exchange that isn't a folder: nbgrader's abstract classes over an SQLite database, which can be told to fail."""

import json
import os
import signal
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from nbgrader.exchange import abc
from traitlets import Unicode

_TABLES = """
CREATE TABLE submissions (assignment, student, timestamp, files);
CREATE TABLE pages (assignment, student, timestamp, name, page, submitted);
CREATE TABLE faults (call, student, kind);
"""


class Database:
    """The exchange as tests see it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.exists():
            with closing(sqlite3.connect(path)) as database:
                database.executescript(_TABLES)

    def rows(self, query: str, *values: object) -> list[Any]:
        if not self.path.exists():
            raise ConnectionError(f"no exchange at {self.path}")
        with closing(sqlite3.connect(self.path, timeout=60)) as database, database:
            return database.execute(query, values).fetchall()

    def submit(self, assignment: str, student: str, timestamp: str, files: dict[str, str]) -> None:
        self.rows(
            "INSERT INTO submissions VALUES (?, ?, ?, ?)", assignment, student, timestamp, json.dumps(files)
        )

    def pages(self, student: str) -> list[tuple[str, str]]:
        """The times and the pages, as they came."""
        return self.rows("SELECT timestamp, page FROM pages WHERE student = ? ORDER BY rowid", student)

    def fault(self, call: str, kind: str, student: str = "") -> None:
        """Have a call fail: before all students, or at one."""
        self.rows("INSERT INTO faults VALUES (?, ?, ?)", call, student, kind)

    def mend(self) -> None:
        self.rows("DELETE FROM faults")


class DatabaseExchange(abc.Exchange):
    path = Unicode().tag(config=True)

    @property
    def database(self) -> Database:
        return Database(Path(self.path))

    def init_src(self) -> None:
        """Nothing to look for."""

    def init_dest(self) -> None:
        if not Path(self.path).exists():
            raise ConnectionError(f"no exchange at {self.path}")

    def misbehave(self, call: str, student: str = "") -> bool:
        """Fail as a test wants it; true if an error was logged."""
        query = "SELECT kind FROM faults WHERE call = ? AND student = ?"
        for (kind,) in self.database.rows(query, call, student):
            if kind == "fails":
                self.fail("The exchange is tired.")
            elif kind == "raises":
                raise RuntimeError("what nobody has thought of")
            elif kind == "exits":
                sys.exit("the exchange gives up")
            elif kind == "hangs":
                time.sleep(1000)
            elif kind == "dies":
                os.kill(os.getpid(), signal.SIGKILL)
            elif kind == "logs":
                self.log.error("An error occurred.")
                return True
        return False


class ExchangeCollect(DatabaseExchange, abc.ExchangeCollect):
    def copy_files(self) -> None:
        if self.misbehave("collect"):
            return
        query = "SELECT student, timestamp, files FROM submissions WHERE assignment = ? ORDER BY student, timestamp"
        newest = {row[0]: row for row in self.database.rows(query, self.coursedir.assignment_id)}
        for student, timestamp, files in newest.values():
            place = self.coursedir.format_path(
                self.coursedir.submitted_directory, student, self.coursedir.assignment_id
            )
            os.makedirs(os.path.dirname(place), exist_ok=True)
            if os.path.isdir(place):
                existing = self.coursedir.get_existing_timestamp(place)
                if existing and f"{existing:%Y-%m-%d %H:%M:%S.%f}" >= timestamp.removesuffix(" UTC"):
                    continue
                for name in os.listdir(place):
                    os.unlink(os.path.join(place, name))
            os.makedirs(place, exist_ok=True)
            Path(place, "timestamp.txt").write_text(timestamp)
            if self.misbehave("collect", student):
                continue
            for name, text in json.loads(files).items():
                Path(place, name).write_text(text)


class ExchangeList(DatabaseExchange, abc.ExchangeList):
    def copy_files(self) -> None:
        self.misbehave("list")

    def list_files(self) -> list[dict[str, Any]]:
        if not self.inbound:
            return [{"assignment_id": "01_double", "course_id": "tiny", "status": "released"}]
        query = "SELECT student, timestamp FROM submissions WHERE assignment = ? AND student = ?"
        found = self.database.rows(query, self.coursedir.assignment_id, self.coursedir.student_id)
        return [
            {
                "submissions": [
                    {"student_id": student, "timestamp": when, "notebooks": []} for student, when in found
                ]
            }
        ]


class ExchangeReleaseFeedback(DatabaseExchange, abc.ExchangeReleaseFeedback):
    def copy_files(self) -> None:
        self.misbehave("release")
        name = self.coursedir.assignment_id
        for place in Path(self.coursedir.root, self.coursedir.feedback_directory).glob(f"*/{name}"):
            student = place.parent.name
            self.misbehave("release", student)
            notebook = self.coursedir.format_path(self.coursedir.submitted_directory, student, name)
            timestamp = (place / "timestamp.txt").read_text()
            for page in place.glob("*.html"):
                submitted = Path(notebook, f"{page.stem}.ipynb").read_text()
                values = name, student, timestamp, page.stem, page.read_text(), submitted
                self.database.rows(
                    "DELETE FROM pages WHERE student = ? AND timestamp = ?", student, timestamp
                )
                self.database.rows("INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?)", *values)
