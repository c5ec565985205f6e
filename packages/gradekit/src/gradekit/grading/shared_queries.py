"""SQLAlchemy compiles nbgrader's queries once per process.

nbgrader opens the gradebook nine times for each submission, each time with a new engine, which compiles every query
again. A plugin of SQLAlchemy, named in the URL of the gradebook, lets all engines for one database share the compiled queries.
"""

from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import URL, CreateEnginePlugin, Dialect, Engine, make_url

_PLUGIN = "gradekit"
#: how long SQLite waits while another process commits; its own default of 5 is for one or two processes
_BUSY_SECONDS = 60
#: by URL, what the first engine that could connect has found out about the database, and its compiled queries
_shared: dict[str, tuple[Dialect, dict[Any, Any]]] = {}


def sharing_queries(url: str) -> str:
    """The URL with the plugin, and for SQLite with a timeout that suits many processes taking turns to write."""
    parts = make_url(url).update_query_pairs([("plugin", _PLUGIN)], append=False)
    if parts.get_backend_name() == "sqlite" and "timeout" not in parts.query:
        parts = parts.update_query_pairs([("timeout", str(_BUSY_SECONDS))])
    return parts.render_as_string(hide_password=False)


class SharedQueries(CreateEnginePlugin):
    """The entry point `gradekit` of the group `sqlalchemy.plugins`."""

    def update_url(self, url: URL) -> URL:
        return url

    def engine_created(self, engine: Engine) -> None:
        url = engine.url.render_as_string(hide_password=False)
        if url not in _shared:
            compiled: dict[Any, Any] = {}
            engine.update_execution_options(compiled_cache=compiled)
            dialect = engine.dialect
            event.listen(engine, "connect", lambda *_: _shared.setdefault(url, (dialect, compiled)))
        else:  # compiled queries belong to a dialect
            engine.dialect, compiled = _shared[url]
            engine.update_execution_options(compiled_cache=compiled)
