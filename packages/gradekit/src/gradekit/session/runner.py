"""Runs the cells of a submission: nbclient, with limits on the time and the output of each cell."""

import asyncio
import json
import logging
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from jupyter_client.manager import AsyncKernelManager
from jupyter_core.utils import run_sync
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionComplete, DeadKernelError
from nbformat import NotebookNode

from gradekit.course.cells import PLAIN_TEXT, picture_in
from gradekit.course.printing import listed, shortened
from gradekit.session.channel import GRACE_SECONDS, KernelGone, Unresponsive
from gradekit.session.limits import Limits
from sandbox_kernel.stopwatch import Stopwatch

#: characters in all data of a notebook besides plain text
MAX_DATA = 20_000_000
#: types in an output, levels of lists and dictionaries in JSON, and points of a picture's width and height
_MAX_TYPES, _MAX_DEPTH, _MAX_SIZE = 20, 50, 10_000
_TYPE = re.compile(r"[a-z]+/[A-Za-z0-9][\w.+-]{0,80}")


class KeptData:
    """Keeps the data of the outputs of one notebook, which are limited together."""

    def __init__(self) -> None:
        self._left = MAX_DATA

    def of(self, data: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
        """The data besides plain text, and a remark about those that are too large; empty if there are none."""
        kept: dict[str, Any] = {}
        too_large = []
        for kind in list(data)[:_MAX_TYPES]:
            if kind == PLAIN_TEXT or not _TYPE.fullmatch(kind):
                continue
            value, length = _measured(kind, data[kind])
            if length > self._left:
                too_large.append(kind)
            elif value is not None:
                self._left -= length
                kept[kind] = value
        return kept, f" (too large to keep: {listed(too_large)})" if too_large else ""


def _measured(kind: str, value: object) -> tuple[object, int]:
    """The value as notebooks have it, and its length as text; None if notebooks can't have it."""
    if isinstance(value, str):
        return value, len(value)
    if kind.endswith("json"):
        with suppress(ValueError):  # NaN, which JupyterLab can't read
            if _is_shallow(value, _MAX_DEPTH):
                return value, len(json.dumps(value, allow_nan=False))
    elif isinstance(value, list) and all(isinstance(line, str) for line in value):
        text = "".join(value)
        return text, len(text)
    return None, 0


def _is_shallow(value: object, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return True
    inside = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(_is_shallow(item, levels - 1) for item in inside)


def sizes_in(metadata: object) -> dict[str, dict[str, int]]:
    """The widths and heights of pictures, which are all that is kept of an output's metadata."""
    found = metadata if isinstance(metadata, dict) else {}
    sizes = {
        kind: {
            name: bundle[name]
            for name in ("width", "height")
            if type(bundle.get(name)) is int and 0 < bundle[name] <= _MAX_SIZE
        }
        for kind, bundle in list(found.items())[:_MAX_TYPES]
        if _TYPE.fullmatch(str(kind)) and isinstance(bundle, dict)
    }
    return {kind: size for kind, size in sizes.items() if size}


#: nbclient and jupyter_client log errors with tracebacks; here, a page or the command's last lines report them
QUIET = logging.getLogger(__name__)
QUIET.addHandler(logging.NullHandler())
QUIET.propagate = False

#: characters in a line of an error, lines in its traceback, errors in a cell
MAX_ERROR, MAX_TRACEBACK, MAX_ERRORS = 2_000, 100, 10
#: what Python 3.13 and later raise for a cell that ends in the middle of a statement
_PUBLIC_NAMES = {"_IncompleteInputError": "SyntaxError"}
#: results of a cell, and characters in each, that are kept however much it has printed: they may be its score
MAX_RESULTS, MAX_RESULT = 10, 1_000
#: characters that a message counts in addition to its text
_COST = 20
_OUTPUTS = ("stream", "display_data", "execute_result", "update_display_data")
#: what `input()` raises, since nobody can answer it, and what to do
NO_STDIN = "StdinNotImplementedError"
NO_INPUT = "`input()` can't be answered while grading: write a value in its place, or remove the call"
_POLL_SECONDS = 0.1
_FOREVER = 10**6
#: how long a killed kernel may take to end
_END_SECONDS = 60


class KeptOutputs:
    """Keeps at most `limit` characters of the text of each cell of a notebook, and bounded other data."""

    def __init__(self, limit: int) -> None:
        self._limit, self._data = limit, KeptData()
        self.begin_cell()

    def begin_cell(self) -> None:
        self._written = self._errors = self._results = 0
        self._wrote_errors = False

    def takes(self, kind: str, content: Mapping[str, Any]) -> bool:
        """False for an output beyond the limits, unless the score of its cell may depend on it."""
        if kind == "error":
            return self._errors < MAX_ERRORS
        if self._written <= self._limit or kind not in _OUTPUTS:
            return True
        if kind == "stream":  # the first one on stderr
            return content.get("name") == "stderr" and not self._wrote_errors
        return kind == "execute_result" and self._results < MAX_RESULTS

    def plain(self, kind: str, content: Mapping[str, Any]) -> dict[str, Any]:
        """The content of an output, in the form that it must have, and cut to the limits."""
        match kind:
            case "stream":
                self._written += _COST
                name = "stderr" if content.get("name") == "stderr" else "stdout"
                self._wrote_errors |= name == "stderr"
                return {"name": name, "text": self._cut(_text(content.get("text")))}
            case "error":
                self._errors += 1
                traceback = content.get("traceback")
                lines = traceback[-MAX_TRACEBACK:] if isinstance(traceback, list) else []
                return {
                    "ename": _name(content)[:MAX_ERROR],
                    "evalue": _text(_reason(content))[:MAX_ERROR],
                    "traceback": [_text(line)[:MAX_ERROR] for line in lines],
                }
            case "display_data" | "update_display_data" | "execute_result":
                data = self._displayed(content.get("data"), kind == "execute_result")
                return {"data": data, "metadata": sizes_in(content.get("metadata"))}
        return {}

    def _displayed(self, data: object, is_result: bool) -> dict[str, Any]:
        found = data if isinstance(data, dict) else {}
        text = _text(found.get(PLAIN_TEXT))
        self._written += _COST
        if is_result and len(text) <= MAX_RESULT and self._results < MAX_RESULTS:
            self._written = min(self._written, self._limit - len(text))  # so that it is kept whole
        self._results += is_result
        kept, remark = self._data.of(found)
        return {**kept, PLAIN_TEXT: self._cut(f"{text[:MAX_ERROR]}{remark}" if remark else text)}

    def _cut(self, text: str) -> str:
        room = max(self._limit - self._written, 0)
        self._written += len(text)
        return text if len(text) <= room else text[:room] + "\n… further output was cut off\n"


class CellState(StrEnum):
    OK = "ok"
    ERROR = "error"
    TIMED_OUT = "timed out"
    KERNEL_DIED = "kernel died"
    LEFT_OUT = "left out"


_VERBS = {
    CellState.ERROR: "stopped with",
    CellState.TIMED_OUT: "took too long:",
    CellState.KERNEL_DIED: "crashed:",
}


@dataclass(frozen=True)
class CellRun:
    """The run of one cell of the notebook; `index` counts all cells from 0."""

    index: int
    state: CellState
    error: str = ""  # "NameError: name 'x' is not defined"
    line: int = 0

    @property
    def description(self) -> str:
        """The end of a sentence that begins with "The cell `name`"; only for a run that failed."""
        line = f" (line {self.line})" if self.line else ""
        return f"{_VERBS[self.state]} {self.error}{line}"


class CellRunner(NotebookClient):
    """A NotebookClient that keeps at most `limits.cell_output` of the text of each cell, and bounded other data.

    The data are what the student's code sent: pages that a TA opens must sanitize them.
    """

    def __init__(self, nb: NotebookNode, manager: AsyncKernelManager, limits: Limits) -> None:
        super().__init__(
            nb,
            km=manager,
            timeout=None,  # `run_cell` watches the CPU time instead
            iopub_timeout=_FOREVER,
            allow_errors=True,
            startup_timeout=limits.startup_seconds,
            coalesce_streams=False,  # it takes seconds for a long line; see `_joined`
            log=QUIET,
        )
        self._manager = manager
        self._kept = KeptOutputs(limits.cell_output)
        self._cell_index = -1

    def run_cell(self, index: int, watch: Stopwatch) -> CellRun:
        """Execute a cell until it ends or its time is up.

        Raises:
            KernelGone: the kernel process ended.
            Unresponsive: the cell ignored the interrupt; the kernel has been killed.
        """
        replies: list[dict[str, Any]] = []
        self.on_cell_executed = lambda cell, cell_index, execute_reply: replies.append(execute_reply)
        try:
            run_sync(self._execute_within)(index, watch)
        except DeadKernelError:
            raise KernelGone from None
        finally:
            cell = self.nb.cells[index]
            cell.outputs = _joined(cell.outputs)
        content = replies[-1]["content"] if replies and replies[-1] else {"status": "ok"}
        if content.get("status") != "error":
            return CellRun(index, CellState.OK)
        if watch.breach:
            return CellRun(index, CellState.TIMED_OUT, error=f"it {watch.reason}")
        message = f"{_name(content)}: {_reason(content)}"[:MAX_ERROR]
        text = re.sub(r" \(\d+\.py, line \d+\)$", "", message)  # IPython's file name, in a SyntaxError
        line = _line_of(content.get("traceback", []))
        return CellRun(index, CellState.ERROR, error=shortened(text), line=line)

    def lives_for(self, seconds: float) -> bool:
        """True if the kernel is still alive after `seconds`."""
        time.sleep(seconds)
        alive: bool = run_sync(self._manager.is_alive)()
        return alive

    async def _execute_within(self, index: int, watch: Stopwatch) -> None:
        running = asyncio.ensure_future(self.async_execute_cell(self.nb.cells[index], index))
        if not await _ended(running, watch):
            await self._manager.interrupt_kernel()
            if not await _ended(running, watch.follow_up(GRACE_SECONDS)):
                if self._manager.provisioner is not None:
                    await self._manager.provisioner.kill()
                with suppress(DeadKernelError, TimeoutError):  # nbclient notices within a second
                    await asyncio.wait_for(running, _END_SECONDS)
                raise Unresponsive
        running.result()

    def process_message(
        self, msg: dict[str, Any], cell: NotebookNode, cell_index: int
    ) -> NotebookNode | None:
        if cell_index != self._cell_index:
            self._cell_index = cell_index
            self._kept.begin_cell()
        kind, content = msg["msg_type"], msg["content"]
        # no page shows widgets, so their state is of no use
        if kind.startswith("comm") or not self._kept.takes(kind, content):
            return None
        msg["content"] = _about(content) | self._kept.plain(kind, content)
        try:
            return super().process_message(msg, cell, cell_index)
        except CellExecutionComplete:
            raise
        except Exception:  # a forged message can provoke anything
            return None


def _about(content: Mapping[str, Any]) -> dict[str, Any]:
    """What a message says besides an output, as far as nbclient reads it."""
    plain = {name: content[name] for name in ("execution_state", "wait") if name in content}
    if isinstance(content.get("execution_count"), int):
        plain["execution_count"] = content["execution_count"]
    transient = content.get("transient")
    if isinstance(transient, dict) and isinstance(transient.get("display_id"), str):
        plain["transient"] = {"display_id": transient["display_id"]}
    return plain


def _joined(outputs: Sequence[NotebookNode]) -> list[NotebookNode]:
    """The outputs with one stream of each name, as a terminal would show it; stdout comes before stderr."""
    joined: list[NotebookNode] = []
    texts: dict[str, list[str]] = {}
    for output in outputs:
        if output.output_type != "stream":
            joined.append(output)
        elif output.name in texts:
            texts[output.name].append(output.text)
        else:
            texts[output.name] = [output.text]
            joined.append(output)
    for index, output in enumerate(joined):
        if output.output_type == "stream":
            lines = "".join(texts[output.name]).split("\n")
            output.text = "\n".join(map(_after_carriage_return, lines))
            if index and output.name == "stdout" and joined[index - 1].get("name") == "stderr":
                joined[index - 1], joined[index] = output, joined[index - 1]
    return joined


def _after_carriage_return(line: str) -> str:
    """The part of a line that is visible after its carriage returns, such as the last state of a progress bar."""
    end = "\r" if line.endswith("\r") else ""
    return line.removesuffix(end).rpartition("\r")[2] + end


def _name(error: Mapping[str, Any]) -> str:
    name = _text(error.get("ename"))
    return _PUBLIC_NAMES.get(name, name)


def _reason(error: Mapping[str, Any]) -> object:
    """The text of an exception, in a student's words where IPython speaks of frontends."""
    return NO_INPUT if error.get("ename") == NO_STDIN else error.get("evalue")


def _text(value: object) -> str:
    """Text, which a notebook may hold as a list of lines."""
    lines = value if isinstance(value, list) else [value]
    return "".join(line for line in lines if isinstance(line, str))


async def _ended(running: asyncio.Future[Any], watch: Stopwatch) -> bool:
    """Wait until the cell has ended or its time is up; False if it is still running."""
    while not running.done():
        await asyncio.wait({running}, timeout=_POLL_SECONDS)
        if not running.done() and watch.is_over():
            return False
    return True


def _line_of(traceback: object) -> int:
    """The line of the cell where an error occurred, from IPython's traceback; 0 if unknown."""
    lines = traceback[-MAX_TRACEBACK:] if isinstance(traceback, list) else []
    text = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(_text(line)[:MAX_ERROR] for line in lines))
    found = re.findall(r"(?:Cell In\[\d+\], |In\[\d+\]:? )line (\d+)", text)
    return int(found[-1]) if found else 0


def text_of(cell: Any) -> str:
    """What the cell printed, and the text of what it displayed, in order; pictures and stderr are left out.

    Its length is bounded by the limit on a cell's output (see `Limits.cell_output`).
    """
    texts = []
    for output in cell.get("outputs", []):
        match output:
            case {"output_type": "stream", "name": "stdout", "text": str(text)}:
                texts.append(text)
            case {"output_type": "display_data" | "execute_result", "data": dict(data)}:
                texts.append("" if picture_in(data) else f"{data.get(PLAIN_TEXT, '')}\n")
    return "".join(texts)
