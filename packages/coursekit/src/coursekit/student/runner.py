"""Executing the cells of a submission: nbclient, with bounds on what a cell may use and put out."""

import asyncio
import contextlib
import logging
import re
from dataclasses import dataclass
from typing import Any

from jupyter_core.utils import ensure_async, run_sync
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionComplete, DeadKernelError
from nbformat import NotebookNode

from coursekit.printing import shortened
from coursekit.student.channel import GRACE_SECONDS, KernelGone, Unresponsive
from coursekit.student.stopwatch import Stopwatch

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
_POLL_SECONDS = 0.1
_FOREVER = 10**6
#: how long a kernel that was killed may take to be gone
_END_SECONDS = 60


@dataclass(frozen=True)
class Limits:
    """What a submission may use, and what its kernel starts with.

    Seconds are processor time of the kernel's processes (see `coursekit.student.stopwatch`), those of the start
    wall time; memory is in MiB, output in characters. A call of a check's own helper code, which calls the
    student's, has `helper_seconds` more. `preload` are statements that are run before the notebook's.
    """

    cell_seconds: float = 30
    call_seconds: float = 5
    helper_seconds: float = 30
    submission_seconds: float = 600
    startup_seconds: float = 300
    memory: int = 2048
    cell_output: int = 100_000
    preload: tuple[str, ...] = ()


_TOLD = {
    "error": "stopped with",
    "timed out": "took too long:",
    "kernel died": "broke off:",
}


@dataclass(frozen=True)
class CellRun:
    """How one cell of the notebook went; `index` counts all cells from 0."""

    index: int
    state: str  # "ok", "error", "timed out", "kernel died" or "left out"
    error: str = ""  # "NameError: name 'x' is not defined"
    line: int = 0

    @property
    def told(self) -> str:
        """How it ended, to go on from "the cell `name`"."""
        line = f" (line {self.line})" if self.line else ""
        return f"{_TOLD[self.state]} {self.error}{line}"


class CellRunner(NotebookClient):
    """A NotebookClient that keeps text and PNG outputs only, and of each cell no more than `cell_output`.

    HTML and JavaScript that a student's code displays never get into a page that a TA opens.
    """

    def __init__(self, nb: NotebookNode, km: Any, limits: Limits) -> None:
        super().__init__(
            nb,
            km=km,
            timeout=None,  # and none for the output: `run_cell` watches the processor time instead
            iopub_timeout=_FOREVER,
            allow_errors=True,
            startup_timeout=limits.startup_seconds,
            coalesce_streams=True,
            log=_log,
        )
        self._limit = limits.cell_output
        self._written = 0
        self._pictures = 0
        self._errors = 0
        self._cell_index = -1

    def run_cell(self, index: int, watch: Stopwatch) -> CellRun:
        """Execute a cell until it ends or `watch` runs out.

        Raises:
            KernelGone: the kernel process ended.
            Unresponsive: the cell was interrupted and went on; the kernel has been killed.
        """
        replies: list[dict] = []
        self.on_cell_executed = lambda cell, cell_index, execute_reply: replies.append(execute_reply)
        try:
            run_sync(self._execute_within)(index, watch)
        except DeadKernelError:
            raise KernelGone from None
        content = replies[-1]["content"] if replies and replies[-1] else {"status": "ok"}
        if content.get("status") != "error":
            return CellRun(index, "ok")
        if watch.breach:
            return CellRun(index, "timed out", error=f"it {watch.reason}")
        # a SyntaxError has its place in the text, with a file name that only IPython knows
        said = f"{content.get('ename')}: {content.get('evalue')}"[:MAX_ERROR]
        text = re.sub(r" \(\d+\.py, line \d+\)$", "", said)
        return CellRun(index, "error", error=shortened(text), line=_line_of(content.get("traceback", [])))

    def lives_for(self, seconds: float) -> bool:
        """Wait, and see whether the kernel is still there."""
        return run_sync(self._lives_for)(seconds)

    async def _lives_for(self, seconds: float) -> bool:
        await asyncio.sleep(seconds)
        return await ensure_async(self.km.is_alive())

    async def _execute_within(self, index: int, watch: Stopwatch) -> None:
        running = asyncio.ensure_future(self.async_execute_cell(self.nb.cells[index], index))
        if await _ended(running, watch):
            return running.result()
        await ensure_async(self.km.interrupt_kernel())
        if await _ended(running, watch.again(GRACE_SECONDS)):
            return running.result()
        await ensure_async(self.km.provisioner.kill())
        with contextlib.suppress(DeadKernelError, TimeoutError):  # nbclient notices within a second
            await asyncio.wait_for(running, _END_SECONDS)
        raise Unresponsive

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


async def _ended(running: asyncio.Future, watch: Stopwatch) -> bool:
    """Wait for the end of what runs, or for the end of its time."""
    while not running.done():
        await asyncio.wait({running}, timeout=_POLL_SECONDS)
        if not running.done() and watch.over():
            return False
    return True


def _line_of(traceback: object) -> int:
    """The line of the student's cell in which an error arose, from IPython's traceback; 0 if unknown."""
    lines = traceback[-MAX_TRACEBACK:] if isinstance(traceback, list) else []
    text = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(_text(line)[:MAX_ERROR] for line in lines))
    found = re.findall(r"(?:Cell In\[\d+\], |In\[\d+\]:? )line (\d+)", text)
    return int(found[-1]) if found else 0
