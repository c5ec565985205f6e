"""One submission in one kernel: its cells are run, then the grader's requests are put to the agent.

If a cell or a call ends the kernel, the session goes on once more in a new kernel, without that cell.
"""

import contextlib
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from jupyter_client.manager import AsyncKernelManager
from jupyter_core.utils import ensure_async, run_sync
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from traitlets.config import Config

from coursekit import messages
from coursekit.course import is_demo, is_test_cell
from coursekit.kernels import SANDBOXED
from coursekit.kernels.installed import require_kernel
from coursekit.student.channel import Channel, KernelGone, Unresponsive
from coursekit.student.client import StudentClient, bounded_context
from coursekit.student.replies import Reply, read_reply
from coursekit.student.runner import TIMEOUT, CellRunner, Limits

# Flushing IPython's cache of outputs would collect garbage, which takes 0.1 s.
_FORGET = "get_ipython().displayhook.do_full_cache = False; get_ipython().reset(new_session=False)"


class KernelDied(Exception):
    """The kernel is gone. `reason` is a sentence for the student."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class CallTimeout(Exception):
    """A call ran past `Limits.call_seconds`."""


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


class Session:
    """Runs `notebook` (in place: outputs and execution counts are filled in) and answers requests about it.

    Args:
        notebook: the cells to run. Test cells are skipped, since the hidden checks say more, and so are cells
            tagged `demo`.
        limits: what the submission may use.
        kernel_name: the kernelspec to start; its provisioner decides what surrounds the process.
        files: what the notebook finds in its working folder (copies).
    """

    def __init__(
        self,
        notebook: NotebookNode,
        limits: Limits | None = None,
        kernel_name: str = SANDBOXED,
        files: Sequence[Path] = (),
    ) -> None:
        self.limits = limits or Limits()
        self._files = [str(path) for path in files]
        self.kernel_name = kernel_name
        self._runner: CellRunner | None = None
        self._channel: Channel | None = None
        self._folder: Path | None = None
        self._take(notebook)

    def _take(self, notebook: NotebookNode) -> None:
        self.notebook = notebook
        self.runs: dict[int, CellRun] = {}
        self.deaths: list[str] = []
        self.timed_out = False
        self.crashed = False
        self._left_out: set[int] = set()
        self._deadline = time.monotonic() + self.limits.submission_seconds

    @property
    def alive(self) -> bool:
        return self._runner is not None

    @property
    def _late(self) -> bool:
        return time.monotonic() > self._deadline

    @property
    def _too_long(self) -> str:
        return f"the whole submission ran past {self.limits.submission_seconds:g} s"

    def run_cells(self) -> None:
        """Run the cells, in a new kernel if there is none. One that ends the kernel is left out of a second try."""
        if not self.alive:
            self._start()
        for index, cell in enumerate(self.notebook.cells):
            skipped = is_test_cell(cell) or is_demo(cell) or index in self._left_out
            if cell.cell_type != "code" or skipped:
                continue
            if self._late:
                self.timed_out = True
                self.runs[index] = CellRun(index, "timed out", error=self._too_long)
                return
            try:
                self.runs[index] = self._run_cell(index, cell)
            except KernelDied as died:
                state = "kernel died" if self.crashed else "timed out"
                self.runs[index] = CellRun(index, state, error=died.reason)
                if len(self.deaths) == 1:
                    self._left_out.add(index)
                    self.run_cells()
                return

    def restart_without(self, index: int | None, because: str = "") -> bool:
        """After a death in a call: run the other cells in a new kernel. False if no more is tried."""
        if len(self.deaths) > 1 or self._late:
            return False
        if index is not None:
            self._left_out.add(index)
            self.runs[index] = CellRun(index, "left out", error=because)
        self.run_cells()
        return self.alive

    def exchange(
        self, requests: list[dict], restore: Callable[[Any], Any], describe: Callable, seconds: float
    ) -> Reply:
        """Put some requests to the agent, in one message, and wait for the reply to the last.

        Raises:
            KernelDied: the kernel ended, or had to be ended because it ignored the interrupt.
            CallTimeout: no reply within `seconds`; the kernel was interrupted and lives on.
            messages.MessageError: the reply doesn't keep to the format.
        """
        if not self.alive:
            raise KernelDied(self.deaths[-1])
        if self._late:
            self.timed_out = True
            self._died(self._too_long, hung=True)
        try:
            buffers = self._channel.ask(messages.encode(requests, describe), seconds)
        except TimeoutError:
            self.timed_out = True
            raise CallTimeout from None
        except Unresponsive:
            self.timed_out = True
            self._died("it ran past its time and ignored the interrupt", hung=True)
        except KernelGone:
            self._died("it ended the Python process")
        except messages.MessageError as error:
            self._died(f"what it sent can't be read: {error}")
        return read_reply(buffers, restore)

    def reuse(self, notebook: NotebookNode) -> None:
        """Take another notebook into the same kernel, where names are forgotten and imported modules are not.

        Only for code that is trusted: whatever the last notebook did to the process stays done.
        """
        self._take(notebook)
        if self.alive:
            self._runner.nb = notebook
            self._channel.hang_up(self.limits.startup_seconds)
            run_sync(self._channel.execute)(_FORGET, self.limits.startup_seconds)

    def close(self) -> None:
        """End the kernel and remove its folder."""
        run_sync(self._close)()

    def _start(self) -> None:
        require_kernel(self.kernel_name)
        self._folder = Path(tempfile.mkdtemp(prefix="coursekit-"))
        manager = AsyncKernelManager(
            kernel_name=self.kernel_name,
            client_factory=StudentClient,
            context=bounded_context(),
            transport="ipc",
            connection_file=str(self._folder / "kernel.json"),
            config=Config(
                StudentProvisioner={"memory_limit": self.limits.memory, "working_files": self._files}
            ),
        )
        self._runner = CellRunner(self.notebook, manager, self.limits)
        try:
            self._runner.start_new_kernel()
            self._runner.start_new_kernel_client()
            self._channel = Channel(manager, self._runner.kc)
            self._channel.open(self.limits.startup_seconds)
        except BaseException:
            self.close()
            raise

    def _run_cell(self, index: int, cell: NotebookNode) -> CellRun:
        replies: list[dict] = []
        self._runner.on_cell_executed = lambda cell, cell_index, execute_reply: replies.append(execute_reply)
        late = f"it ran past {self.limits.cell_seconds:g} s"
        try:
            self._runner.execute_cell(cell, index)
        except CellTimeoutError:
            self.timed_out = True
            self._died(f"{late} and ignored the interrupt", hung=True)
        except DeadKernelError:
            self._died("it ended the Python process")
        content = replies[-1]["content"] if replies and replies[-1] else {"status": "ok"}
        if content["status"] != "error":
            return CellRun(index, "ok")
        if content.get("ename") == TIMEOUT:
            self.timed_out = True
            return CellRun(index, "timed out", error=late)
        # a SyntaxError has its place in the text, with a file name that only IPython knows
        text = re.sub(r" \(\d+\.py, line \d+\)$", "", f"{content.get('ename')}: {content.get('evalue')}")
        return CellRun(index, "error", error=text[:500], line=_line_of(content.get("traceback", [])))

    def _died(self, reason: str, hung: bool = False) -> NoReturn:
        because = getattr(self._runner.km.provisioner, "ended_because", "")
        if because:
            reason = f"{because}, so the process was ended"
            hung = False
        self.crashed = self.crashed or not hung
        self.deaths.append(reason)
        self.close()
        raise KernelDied(reason)

    async def _close(self) -> None:
        if self._runner is None:
            return
        runner, self._runner = self._runner, None
        if self._channel is not None:
            self._channel.close()
        with contextlib.suppress(RuntimeError):
            await ensure_async(runner.km.shutdown_kernel(now=True))
        if runner.kc is not None:
            runner.kc.stop_channels()
        shutil.rmtree(self._folder, ignore_errors=True)


def _line_of(traceback: list[str]) -> int:
    """The line of the student's cell in which an error arose, from IPython's traceback; 0 if unknown."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(traceback))
    found = re.findall(r"(?:Cell In\[\d+\], |In\[\d+\]:? )line (\d+)", text)
    return int(found[-1]) if found else 0
