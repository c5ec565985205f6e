"""Executing the cells of a submission: nbclient, with bounds on what a cell may put out."""

import logging
from dataclasses import dataclass
from typing import Any

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionComplete
from nbformat import NotebookNode

# nbclient reports a timeout as an error of the program's; here the feedback page tells it
_log = logging.getLogger(__name__)
_log.addHandler(logging.NullHandler())
_log.propagate = False

#: characters of all pictures of a notebook
MAX_PICTURES = 20_000_000
#: characters of a line of an error, lines of its traceback, errors of a cell
MAX_ERROR, MAX_TRACEBACK, MAX_ERRORS = 2_000, 100, 10
#: what a message counts beside its text, since it takes room as well
_COST = 20
_OUTPUTS = ("stream", "display_data", "execute_result", "update_display_data")
TIMEOUT = "CellTimeoutError"
#: how long a cell's output may go on arriving after its end, or after an interrupt
OUTPUT_SECONDS = 10


@dataclass(frozen=True)
class Limits:
    """What a submission may use; seconds of wall time, MiB of memory, characters of output."""

    cell_seconds: float = 30
    call_seconds: float = 5
    submission_seconds: float = 600
    startup_seconds: float = 60
    memory: int = 2048
    cell_output: int = 100_000


class CellRunner(NotebookClient):
    """A NotebookClient that keeps text and PNG outputs only, and of each cell no more than `cell_output`.

    HTML and JavaScript that a student's code displays never get into a page that a TA opens.
    """

    def __init__(self, nb: NotebookNode, km: Any, limits: Limits) -> None:
        super().__init__(
            nb,
            km=km,
            timeout=None,
            allow_errors=True,
            interrupt_on_timeout=True,
            error_on_timeout={"ename": TIMEOUT, "evalue": "", "traceback": []},
            iopub_timeout=OUTPUT_SECONDS,
            raise_on_iopub_timeout=True,
            startup_timeout=limits.startup_seconds,
            coalesce_streams=True,
            log=_log,
        )
        self.timeout_func = lambda cell: limits.cell_seconds
        self._limit = limits.cell_output
        self._written = 0
        self._pictures = 0
        self._errors = 0
        self._cell_index = -1

    def process_message(self, msg: dict, cell: NotebookNode, cell_index: int) -> NotebookNode | None:
        if cell_index != self._cell_index:
            self._cell_index, self._written, self._errors = cell_index, 0, 0
        if msg["msg_type"].startswith("comm"):
            return None  # widgets have no place on a feedback page
        kind = msg["msg_type"]
        if (self._written > self._limit and kind in _OUTPUTS) or (
            self._errors >= MAX_ERRORS and kind == "error"
        ):
            return None
        msg["content"] = self._plain(kind, msg["content"])
        try:
            return super().process_message(msg, cell, cell_index)
        except CellExecutionComplete:
            raise
        except Exception:  # whatever else a forged message provokes
            return None

    def _plain(self, kind: str, content: dict) -> dict:
        """The content of a message without what a page must not show, and no more of it than is allowed."""
        kept = {name: content[name] for name in ("execution_state", "wait") if name in content}
        if isinstance(content.get("execution_count"), int):
            kept["execution_count"] = content["execution_count"]
        transient = content.get("transient")
        if isinstance(transient, dict) and isinstance(transient.get("display_id"), str):
            kept["transient"] = {"display_id": transient["display_id"]}
        match kind:
            case "stream":
                self._written += _COST
                name = "stderr" if content.get("name") == "stderr" else "stdout"
                kept |= {"name": name, "text": self._cut(_text(content.get("text")))}
            case "error":
                traceback = content.get("traceback")
                lines = traceback[-MAX_TRACEBACK:] if isinstance(traceback, list) else []
                kept |= {name: _text(content.get(name))[:MAX_ERROR] for name in ("ename", "evalue")}
                kept["traceback"] = [_text(line)[:MAX_ERROR] for line in lines]
                self._errors += 1
            case "display_data" | "update_display_data" | "execute_result":
                kept |= {"data": self._data(content.get("data")), "metadata": {}}
        return kept

    def _data(self, data: object) -> dict[str, str]:
        found = data if isinstance(data, dict) else {}
        picture, text = found.get("image/png"), _text(found.get("text/plain"))
        self._written += _COST
        if not isinstance(picture, str):
            return {"text/plain": self._cut(text)}
        if len(picture) + self._pictures > MAX_PICTURES:
            return {"text/plain": self._cut(f"{text[:MAX_ERROR]} (a picture too large to be shown)")}
        self._pictures += len(picture)
        return {"image/png": picture, "text/plain": self._cut(text)}

    def _cut(self, text: str) -> str:
        room = max(self._limit - self._written, 0)
        self._written += len(text)
        return text if len(text) <= room else text[:room] + "\n… further output was cut off\n"


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
