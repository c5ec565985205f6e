"""How long SQLite is locked: CPU time of the transactions that change something."""

import sqlite3
import time
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Engine

_CHANGES = ("INSERT", "UPDATE", "DELETE")


class Transactions:
    """Counts this process's transactions from their first change to the end of the commit."""

    def __init__(self) -> None:
        self.count, self.seconds = 0, 0.0
        self._start: float | None = None
        event.listen(Engine, "before_cursor_execute", self._before)
        event.listen(Engine, "do_connect", self._connecting)

    def stop(self) -> None:
        event.remove(Engine, "before_cursor_execute", self._before)
        event.remove(Engine, "do_connect", self._connecting)

    def _before(self, connection: object, cursor: object, statement: str, *_: object) -> None:
        if self._start is None and statement.startswith(_CHANGES):
            self._start = time.process_time()

    def _connecting(
        self, dialect: object, record: object, arguments: object, options: dict[str, Any]
    ) -> None:
        ended = self._ended

        class Connection(sqlite3.Connection):
            def commit(self) -> None:
                super().commit()
                ended()

            def rollback(self) -> None:
                super().rollback()
                ended()

        options["factory"] = Connection

    def _ended(self) -> None:
        if self._start is not None:
            self.count += 1
            self.seconds += time.process_time() - self._start
            self._start = None
