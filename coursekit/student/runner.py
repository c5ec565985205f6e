"""Executing the cells of a submission: nbclient, with bounds on what a cell may put out."""

import logging
from dataclasses import dataclass
from typing import Any

from nbclient import NotebookClient
from nbformat import NotebookNode

# nbclient reports a timeout as an error of the program's; here the feedback page tells it
_log = logging.getLogger(__name__)
_log.addHandler(logging.NullHandler())
_log.propagate = False

SHOWN_TYPES = ("text/plain", "image/png")
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
        self._cell_index = -1

    def output(
        self, outs: list[NotebookNode], msg: dict, display_id: str | None, cell_index: int
    ) -> NotebookNode | None:
        if cell_index != self._cell_index:
            self._cell_index, self._written = cell_index, 0
        content = msg["content"]
        data = content.get("data")
        if isinstance(data, dict):
            content["data"] = {kind: data[kind] for kind in SHOWN_TYPES if isinstance(data.get(kind), str)}
            if "image/png" not in content["data"]:
                content["data"] = {kind: self._cut(text) for kind, text in content["data"].items()}
            content["metadata"] = {}
        elif isinstance(content.get("text"), str):
            if self._written > self._limit:
                return None
            content["text"] = self._cut(content["text"])
        return super().output(outs, msg, display_id, cell_index)

    def _cut(self, text: str) -> str:
        room = max(self._limit - self._written, 0)
        self._written += len(text)
        return text if len(text) <= room else text[:room] + "\n… further output was cut off\n"
