"""One submission in one kernel: its cells are run, then the grader's requests are put to the agent.

If a cell or a call ends the kernel, the session goes on once more in a new kernel, without that cell.
"""

import contextlib
import inspect
import re
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from queue import Empty
from typing import Any, NoReturn

from jupyter_client.manager import AsyncKernelManager
from jupyter_core.utils import ensure_async, run_sync
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from traitlets.config import Config

from coursekit import agent, messages
from coursekit.course import is_test_cell
from coursekit.student.runner import TIMEOUT, CellRunner, Limits

SKIPPED_TAG = "demo"
_POLL_SECONDS = 0.2
_GRACE_SECONDS = 2.0


class KernelDied(Exception):
    """The kernel is gone. `reason` is a sentence for the student."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class CallTimeout(Exception):
    """A call ran past `Limits.call_seconds`."""


@dataclass(frozen=True)
class CellRun:
    """How one cell of the notebook went; `index` counts all cells from 0."""

    index: int
    state: str  # "ok", "error", "timed out", "kernel died" or "left out"
    error: str = ""  # "NameError: name 'x' is not defined"
    line: int = 0


class Session:
    """Runs `notebook` (in place: outputs and execution counts are filled in) and answers requests about it.

    Args:
        notebook: the cells to run. Test cells are skipped, since the hidden checks say more, and so are cells
            tagged `demo`.
        limits: what the submission may use.
        kernel_name: the kernelspec to start; its provisioner decides what surrounds the process.
    """

    def __init__(
        self, notebook: NotebookNode, limits: Limits | None = None, kernel_name: str = "coursekit"
    ) -> None:
        self.limits = limits or Limits()
        self._kernel_name = kernel_name
        self._runner: CellRunner | None = None
        self._comm_id = "coursekit-1"
        self._folder: Path | None = None
        self._take(notebook)

    def _take(self, notebook: NotebookNode) -> None:
        self.notebook = notebook
        self.runs: dict[int, CellRun] = {}
        self.deaths: list[str] = []
        self.timed_out = False
        self.crashed = False
        self._left_out: set[int] = set()

    def __enter__(self) -> "Session":
        self.run_cells()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def alive(self) -> bool:
        return self._runner is not None

    def run_cells(self) -> None:
        """Run the cells, in a new kernel if there is none. One that ends the kernel is left out of a second try."""
        if not self.alive:
            self._start()
        for index, cell in enumerate(self.notebook.cells):
            skipped = is_test_cell(cell) or SKIPPED_TAG in cell.metadata.get("tags", [])
            if cell.cell_type != "code" or skipped or index in self._left_out:
                continue
            try:
                self.runs[index] = self._run_cell(index, cell)
            except KernelDied as died:
                state = "kernel died" if self.crashed else "timed out"
                self.runs[index] = CellRun(index, state, error=died.reason)
                self._close_kernel()
                if len(self.deaths) == 1:
                    self._left_out.add(index)
                    self.run_cells()
                return

    def restart_without(self, index: int | None) -> bool:
        """After a death in a call: run the other cells in a new kernel. False if that was done before."""
        if len(self.deaths) > 1:
            return False
        if index is not None:
            self._left_out.add(index)
            self.runs[index] = CellRun(index, "left out", error=self.deaths[-1])
        self.run_cells()
        return self.alive

    def exchange(self, request: dict, restore: Callable[[dict], Any], describe: Callable) -> dict:
        """Put one request to the agent and wait for its reply.

        Raises:
            KernelDied: the kernel ended, or had to be ended because it ignored the interrupt.
            CallTimeout: no reply within `limits.call_seconds`; the kernel was interrupted and lives on.
            messages.MessageError: the reply is not a message.
        """
        if not self.alive:
            raise KernelDied(self.deaths[-1])
        reply = messages.decode(run_sync(self._exchange)(messages.encode(request, describe)), restore)
        if not isinstance(reply, dict):
            raise messages.MessageError("the reply is not a dict")
        return reply

    def reuse(self, notebook: NotebookNode) -> None:
        """Take another notebook into the same kernel, where names are forgotten and imported modules are not.

        Only for code that is trusted: whatever the last notebook did to the process stays done.
        """
        self._take(notebook)
        if self.alive:
            self._runner.nb = notebook
            run_sync(self._forget_names)()

    def close(self) -> None:
        self._close_kernel()

    def _start(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="coursekit-"))
        manager = AsyncKernelManager(
            kernel_name=self._kernel_name,
            transport="ipc",
            connection_file=str(self._folder / "kernel.json"),
            config=Config(PlainProvisioner={"memory_limit": self.limits.memory}),
        )
        self._runner = CellRunner(self.notebook, manager, self.limits)
        try:
            self._runner.start_new_kernel()
            self._runner.start_new_kernel_client()
            run_sync(self._install_agent)()
        except BaseException:
            self._close_kernel()
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
        text = f"{content.get('ename')}: {content.get('evalue')}"
        return CellRun(index, "error", error=text[:500], line=_line_of(content.get("traceback", [])))

    def _died(self, reason: str, hung: bool = False) -> NoReturn:
        if self._runner.km.provisioner is not None and self._runner.km.provisioner.memory_exceeded:
            reason = f"it used more than {self.limits.memory} MiB of memory, so the process was ended"
            hung = False
        self.crashed = self.crashed or not hung
        self.deaths.append(reason)
        raise KernelDied(reason)

    async def _install_agent(self) -> None:
        client = self._runner.kc
        identifier = client.execute(_BOOTSTRAP, silent=True, store_history=False)
        await self._wait_for_idle(identifier, self.limits.startup_seconds)
        message = client.session.msg(
            "comm_open", {"comm_id": self._comm_id, "target_name": agent.TARGET, "data": {}}
        )
        client.shell_channel.send(message)
        await self._wait_for_idle(message["header"]["msg_id"], self.limits.startup_seconds)

    async def _forget_names(self) -> None:
        identifier = self._runner.kc.execute("get_ipython().reset()", silent=True, store_history=False)
        await self._wait_for_idle(identifier, self.limits.startup_seconds)

    async def _exchange(self, buffers: list[bytes]) -> list[Any]:
        client = self._runner.kc
        message = client.session.msg("comm_msg", {"comm_id": self._comm_id, "data": {}})
        message["buffers"] = buffers
        client.shell_channel.send(message)
        identifier = message["header"]["msg_id"]
        try:
            async for reply in self._replies(identifier, self.limits.call_seconds):
                if reply["msg_type"] == "comm_msg" and reply["content"].get("comm_id") == self._comm_id:
                    await self._wait_for_idle(identifier, _GRACE_SECONDS)
                    return reply["buffers"]
        except TimeoutError:
            self.timed_out = True
            if not await self._interrupt(identifier):
                await self._kill("it ran past its time and ignored the interrupt", hung=True)
            raise CallTimeout from None
        raise messages.MessageError("the kernel gave no reply")

    async def _replies(self, identifier: str, seconds: float) -> Any:
        """What the kernel publishes about one request, until it is idle again.

        Raises:
            KernelDied, TimeoutError
        """
        deadline = time.monotonic() + seconds
        while True:
            if time.monotonic() > deadline:
                raise TimeoutError
            try:
                reply = await ensure_async(self._runner.kc.iopub_channel.get_msg(timeout=_POLL_SECONDS))
            except Empty:
                if not await ensure_async(self._runner.km.is_alive()):
                    await self._kill("it ended the Python process")
                continue
            if reply["parent_header"].get("msg_id") != identifier:
                continue
            yield reply
            if reply["msg_type"] == "status" and reply["content"].get("execution_state") == "idle":
                return

    async def _wait_for_idle(self, identifier: str, seconds: float) -> None:
        async for _ in self._replies(identifier, seconds):
            pass

    async def _interrupt(self, identifier: str) -> bool:
        """Interrupt a request. True if the kernel is idle again."""
        await ensure_async(self._runner.km.interrupt_kernel())
        try:
            await self._wait_for_idle(identifier, _GRACE_SECONDS)
        except TimeoutError:
            return False
        return True

    async def _kill(self, reason: str, hung: bool = False) -> None:
        try:
            self._died(reason, hung)
        finally:
            await self._close_kernel_now()

    async def _close_kernel_now(self) -> None:
        if self._runner is None:
            return
        runner, self._runner = self._runner, None
        with contextlib.suppress(RuntimeError):
            await ensure_async(runner.km.shutdown_kernel(now=True))
        if runner.kc is not None:
            runner.kc.stop_channels()
        shutil.rmtree(self._folder, ignore_errors=True)

    _close_kernel = run_sync(_close_kernel_now)


def _line_of(traceback: list[str]) -> int:
    """The line of the student's cell in which an error arose, from IPython's traceback; 0 if unknown."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(traceback))
    found = re.findall(r"(?:Cell In\[\d+\], |In\[\d+\]:? )line (\d+)", text)
    return int(found[-1]) if found else 0


_BOOTSTRAP = f"""
def _():
    import sys, types
    package = types.ModuleType("coursekit")
    package.__path__ = []
    sys.modules["coursekit"] = package
    for name, text in {[("messages", inspect.getsource(messages)), ("agent", inspect.getsource(agent))]!r}:
        module = types.ModuleType("coursekit." + name)
        sys.modules[module.__name__] = module
        exec(compile(text, f"<coursekit.{{name}}>", "exec"), module.__dict__)
    module.start()
_()
del _
"""
