"""One submission in one kernel: its cells are run, then the grader's requests are put to the agent.

If a cell or a call ends the kernel, the session goes on once more in a new kernel, without that cell.
"""

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from jupyter_client.manager import AsyncKernelManager
from jupyter_core.utils import ensure_async, run_sync
from nbformat import NotebookNode
from traitlets.config import Config

from coursekit import messages
from coursekit.course import CourseError, is_demo, is_test_cell
from coursekit.kernels import SANDBOX, require_kernel
from coursekit.student.channel import Channel, KernelGone, Unresponsive
from coursekit.student.client import StudentClient, bounded_context
from coursekit.student.replies import Reply, read_reply
from coursekit.student.runner import CellRun, CellRunner, Limits
from coursekit.student.stopwatch import Breach, Stopwatch
from sandbox_kernel.bubblewrap import SandboxError
from sandbox_kernel.start import StartFailed
from sandbox_kernel.usage import Usage
from sandbox_kernel.watched import WatchedProvisioner

# Flushing IPython's cache of outputs would collect garbage, which takes 0.1 s.
_FORGET = "get_ipython().displayhook.do_full_cache = False; get_ipython().reset(new_session=False)"
#: how often the limit of a submission may pass on the clock on the wall
_SUBMISSION_SLEEP, _SUBMISSION_WALL = 1.0, 3.0
#: how long a wary session waits behind each cell for a kernel that ends a moment later
_WARY_SECONDS = 0.5


class KernelDied(Exception):
    """The kernel is gone. `reason` is a sentence for the student."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class CallTimeout(Exception):
    """A call ran past its limit; the message says which, to go on from the name of what was called."""


class NotStarted(Exception):
    """No kernel could be started; the message says why. It says nothing about the submission."""


def longest_seconds(limits: Limits) -> float:
    """How long a submission may take on the clock on the wall, with both starts of its kernel."""
    return _SUBMISSION_WALL * limits.submission_seconds + 2 * limits.startup_seconds


class Session:
    """Runs `notebook` (in place: outputs and execution counts are filled in) and answers requests about it.

    Args:
        notebook: the cells to run. Test cells are skipped, since the hidden checks say more, and so are cells
            tagged `demo`.
        limits: what the submission may use.
        kernel_name: the kernelspec to start; its provisioner decides what surrounds the process.
        files: what the notebook finds in its working folder (copies).
        wary: wait a moment behind each cell, so that the cell is named whose thread ends the kernel.
    """

    def __init__(
        self,
        notebook: NotebookNode,
        limits: Limits | None = None,
        kernel_name: str = SANDBOX,
        files: Sequence[Path] = (),
        wary: bool = False,
    ) -> None:
        self.limits = limits or Limits()
        self._files = [str(path) for path in files]
        self.kernel_name = kernel_name
        self._wary = wary
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
        #: why the result should be repeated before it counts: what was stopped by another limit than that of
        #: processor time, or ended its kernel, may go well on a machine that has nothing else to do
        self.suspect: list[str] = []
        self._left_out: set[int] = set()
        self._used_before = Usage()
        self._watch = Stopwatch(
            self._usage, self.limits.submission_seconds, _SUBMISSION_SLEEP, _SUBMISSION_WALL
        ).begin()

    @property
    def alive(self) -> bool:
        return self._runner is not None

    def _usage(self) -> Usage | None:
        """What this session's kernels have used; None where nothing is known of their processes."""
        provisioner = self._runner.km.provisioner if self._runner is not None else None
        if provisioner is None:
            return self._used_before
        if not isinstance(provisioner, WatchedProvisioner):
            return None
        return self._used_before + provisioner.usage()

    def _is_late(self) -> bool:
        """True once the whole submission has had its time."""
        if self._watch.breach is None and self._watch.over():
            self._mark(self._watch, self._too_long)
        return self._watch.breach is not None

    @property
    def _too_long(self) -> str:
        return f"the whole submission {self._watch.reason}"

    def _mark(self, watch: Stopwatch, reason: str) -> None:
        self.timed_out = True
        if watch.breach is not Breach.CPU:
            self.suspect.append(reason)

    def run_cells(self) -> None:
        """Run the cells, in a new kernel if there is none. One that ends the kernel is left out of a second try."""
        if not self.alive:
            self._start()
        for index, cell in enumerate(self.notebook.cells):
            skipped = is_test_cell(cell) or is_demo(cell) or index in self._left_out
            if cell.cell_type != "code" or skipped:
                continue
            if self._is_late():
                self.runs[index] = CellRun(index, "timed out", error=self._too_long)
                return
            try:
                self.runs[index] = self._run_cell(index)
            except KernelDied as died:
                state = "kernel died" if self.crashed else "timed out"
                self.runs[index] = CellRun(index, state, error=died.reason)
                if len(self.deaths) == 1:
                    self._left_out.add(index)
                    self._run_again()
                return

    def restart_without(self, index: int | None, because: str = "") -> bool:
        """After a death in a call: run the other cells in a new kernel. False if no more is tried."""
        if len(self.deaths) > 1 or self._is_late():
            return False
        if index is not None:
            self._left_out.add(index)
            self.runs[index] = CellRun(index, "left out", error=because)
        self._run_again()
        return self.alive

    def _run_again(self) -> None:
        try:
            self.run_cells()
        except NotStarted as error:
            self.suspect.append(str(error))
            self.deaths.append(str(error))

    def exchange(
        self, requests: list[dict], restore: Callable[[Any], Any], describe: Callable, seconds: float
    ) -> Reply:
        """Put some requests to the agent, in one message, and wait for the reply to the last.

        Raises:
            KernelDied: the kernel ended, or had to be ended because it ignored the interrupt.
            CallTimeout: no reply within `seconds` of processor time, or many times that on the clock; the
                kernel was interrupted and lives on.
            messages.MessageError: the reply doesn't keep to the format.
        """
        if not self.alive:
            raise KernelDied(self.deaths[-1])
        if self._is_late():
            self._died(self._too_long, hung=True)
        watch = Stopwatch(self._usage, seconds)
        try:
            buffers = self._channel.ask(messages.encode(requests, describe), watch)
        except TimeoutError:
            self._mark(watch, f"a call {watch.reason}")
            raise CallTimeout(watch.reason) from None
        except Unresponsive:
            self._mark(watch, f"a call {watch.reason}")
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
        """Start a kernel, with the agent inside.

        Raises:
            CourseError: this machine has no sandbox.
            NotStarted: this one kernel did not start.
        """
        require_kernel(self.kernel_name)
        self._folder = Path(tempfile.mkdtemp(prefix="coursekit-"))
        manager = AsyncKernelManager(
            kernel_name=self.kernel_name,
            client_factory=StudentClient,
            context=bounded_context(),
            transport="ipc",
            connection_file=str(self._folder / "kernel.json"),
            config=Config(
                WatchedProvisioner={
                    "memory_limit": self.limits.memory,
                    "working_files": self._files,
                    "preload": list(self.limits.preload),
                    "environment": {"NBGRADER_EXECUTION": "autograde"},
                }
            ),
        )
        self._runner = CellRunner(self.notebook, manager, self.limits)
        try:
            self._runner.start_new_kernel()
            self._runner.start_new_kernel_client()
            self._channel = Channel(manager, self._runner.kc)
            self._channel.open(self.limits.startup_seconds, self.limits.preload)
        except (StartFailed, SandboxError, RuntimeError, OSError, KernelGone) as error:
            self.close()
            if isinstance(error, SandboxError):
                raise CourseError(
                    f"Nothing was graded: {error}. If all code is trusted, choose `--sandbox none`."
                ) from error
            reason = str(error) or type(error).__name__
            raise NotStarted(f"the kernel failed to start: {reason}") from error
        except BaseException:
            self.close()
            raise

    def _run_cell(self, index: int) -> CellRun:
        watch = Stopwatch(self._usage, self.limits.cell_seconds)
        try:
            run = self._runner.run_cell(index, watch)
        except Unresponsive:
            self._mark(watch, f"a cell {watch.reason}")
            self._died(f"it {watch.reason} and ignored the interrupt", hung=True)
        except KernelGone:
            self._died("it ended the Python process")
        if run.state == "timed out":
            self._mark(watch, f"a cell {watch.reason}")
        if self._wary and not self._runner.lives_for(_WARY_SECONDS):
            self._died("it ended the Python process")
        return run

    def _died(self, reason: str, hung: bool = False) -> NoReturn:
        because = getattr(self._runner.km.provisioner, "ended_because", "")
        if because:
            reason = f"{because}, so the process was ended"
            hung = False
        self.crashed = self.crashed or not hung
        if not hung:
            self.suspect.append(reason)
        self.deaths.append(reason)
        self.close()
        raise KernelDied(reason)

    async def _close(self) -> None:
        if self._runner is None:
            return
        self._used_before = self._usage() or self._used_before
        runner, self._runner = self._runner, None
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        with contextlib.suppress(RuntimeError):
            await ensure_async(runner.km.shutdown_kernel(now=True))
        if runner.kc is not None:
            runner.kc.stop_channels()
        shutil.rmtree(self._folder, ignore_errors=True)
