"""Runs one submission in one kernel: first its cells, then the grader's requests to the agent.

If a cell or a call ends the kernel, the session continues in a new kernel, without that cell.
"""

from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from nbformat import NotebookNode

from gradekit.course import CourseError
from gradekit.course.cells import grade_id, is_demo, is_test_cell
from gradekit.course.kernels import SANDBOX
from gradekit.inside import messages
from gradekit.session.channel import KernelGone, Unresponsive
from gradekit.session.files_written import WrittenFiles
from gradekit.session.kernel import ImplementationProcess, NotStarted, StudentKernel
from gradekit.session.limits import Limits
from gradekit.session.replies import Failure, Reply, read_reply
from gradekit.session.runner import CellRun, CellState
from gradekit.session.values import Implemented
from sandbox_kernel.environment import NO_FILES, WorkingFiles
from sandbox_kernel.stopwatch import Breach, Stopwatch
from sandbox_kernel.usage import Usage, time_in_this_thread


class ImplementationEnded(Exception):
    """The process of the implementations failed to start, or has ended; the message says why."""


class ImplementationRunner:
    """Runs one implementation at a time, and calls it with what a student's test chooses.

    Its process has the limits of a submission, since the arguments can make a call large or endless. It is started when it
    is first needed, and again after it has ended. The `files` in its working folder are not the student's.
    """

    def __init__(self, limits: Limits, kernel_name: str, files: WorkingFiles = NO_FILES) -> None:
        self._limits, self._kernel_name, self._files = limits, kernel_name, files
        self._process: ImplementationProcess | None = None
        self._used_before = Usage()
        #: why the process ended while it ran an implementation; empty if it didn't
        self.ended = ""

    def load(self, implementation: Implemented) -> None:
        """Make this the implementation that stubs stand for.

        Raises:
            CourseError: its code raises an exception.
            ImplementationEnded: the process failed to start.
        """
        self.ended = ""
        name, methods = implementation.name, list(implementation.methods)
        request = {"source": implementation.source, "function": name, "methods": methods}
        watch = Stopwatch(lambda: None, self._limits.startup_seconds)
        try:
            if self._process is None:
                self._process = ImplementationProcess.start(self._limits, self._kernel_name, self._files)
            reply = read_reply(self._process.line.ask(messages.encode(request), watch), lambda _: None)
        except NotStarted as error:
            raise ImplementationEnded(str(error)) from None
        except (TimeoutError, Unresponsive, KernelGone, messages.MessageError) as error:
            self.close()
            raise ImplementationEnded(
                f"an implementation could not be loaded: {type(error).__name__}"
            ) from None
        if isinstance(reply, Failure):
            what = f"{reply.error.type}: {reply.error.message}"
            raise CourseError(f"an implementation of `{name}` can't be run: {what}")

    def answer(self, buffers: list[bytes], watch: Stopwatch) -> list[bytes]:
        """Answer what a stub asks.

        Raises:
            TimeoutError: the time of the student's call is up, or the process has ended.
        """
        if self._process is None:
            raise TimeoutError
        try:
            return self._process.line.ask(buffers, watch, mark=messages.FROM_STUB)
        except (KernelGone, Unresponsive, messages.MessageError):
            reason = self._process.ended_because or "it ended its process"
            self.ended = "" if watch.breach else reason
            self.close()
            raise TimeoutError from None

    def usage(self) -> Usage | None:
        """The time that this runner's processes have used; None if it can't be measured."""
        if self._process is None:
            return self._used_before
        used = self._process.usage()
        return None if used is None else self._used_before + used

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            process, self._used_before = self._process, self.usage() or self._used_before
            self._process = None
            process.close()


#: how many ordinary test cells may end the kernel, each of which costs a new one
_MAX_FATAL_TESTS = 10
#: how many kernels other cells and calls may end, within the time of the submission
MAX_DEATHS = 10
#: how long a wary session waits after each cell for a kernel that ends a moment later
_WARY_SECONDS = 0.5


class KernelDied(Exception):
    """The kernel has ended, or `hung` and was ended. The message tells the student why."""

    def __init__(self, reason: str, hung: bool = False) -> None:
        super().__init__(reason)
        self.hung = hung


class CallTimeout(Exception):
    """A call exceeded its limit. The message continues a sentence that begins with the name of the function."""


class Session:
    """Runs `notebook` (in place: fills in outputs and execution counts) and answers requests about it.

    Args:
        notebook: the cells to run. Demo cells are skipped, and so are test cells, unless there are ordinary ones.
        kernel_name: the kernelspec to start; its provisioner decides how the process is confined.
        files: copied into the notebook's working folder; no kernel sees the folders that they hide.
        wary: wait a moment after each cell, to find out which cell started the thread that ends the kernel.
        ordinary: grade_ids of the test cells that have no hidden checks, and so are run.
        handed_out: the files that none of the student's are among, for the process of implementations (see `ImplementationRunner`).

    Reasons to repeat the run before its result counts are in `suspect`: code that exceeded a limit other than CPU
    time, or ended its kernel, may succeed on an idle machine. `earlier` has the outputs of ordinary test cells that were
    run again, by index: code that ends the kernel gets no second draw. `not_reached` are the answer cells of checks that
    could not be run. `counts` are the execution counts of the cells that ran in this kernel, by index.
    """

    def __init__(
        self,
        notebook: NotebookNode,
        limits: Limits | None = None,
        kernel_name: str = SANDBOX,
        files: WorkingFiles = NO_FILES,
        wary: bool = False,
        ordinary: Container[str] = (),
        handed_out: WorkingFiles = NO_FILES,
    ) -> None:
        self.limits = limits or Limits()
        self._implementation = ImplementationRunner(self.limits, kernel_name, handed_out)
        self.kernel_name = kernel_name
        self._files = files
        self._wary = wary
        self._ordinary, self._tests_run = ordinary, bool(ordinary)
        self._kernel: StudentKernel | None = None
        self._take(notebook)

    def _take(self, notebook: NotebookNode) -> None:
        self.notebook = notebook
        self.runs: dict[int, CellRun] = {}
        self.deaths: list[str] = []
        self.suspect: list[str] = []
        self.earlier: dict[int, list[list[NotebookNode]]] = {}
        self.not_reached: set[str] = set()
        self.counts: dict[int, int] = {}
        self.timed_out = False
        self.crashed = False
        self.cold_because = ""
        self._left_out: set[int] = set()
        self._fatal_tests = 0
        self._used_before = Usage()
        self._watch = self.limits.stopwatch(self._usage)

    @property
    def alive(self) -> bool:
        return self._kernel is not None

    def _usage(self) -> Usage | None:
        """The time that this session's kernels have used; None if their processes can't be measured."""
        used = self._kernel.usage() if self._kernel else Usage()
        runner = self._implementation.usage()
        return None if used is None or runner is None else self._used_before + used + runner

    def _usage_with_grader(self) -> Usage | None:
        """The same while the kernel waits for this process to pass on what a stub asks: that is no sleep."""
        used = self._usage()
        return None if used is None else used + time_in_this_thread()

    def _is_late(self) -> bool:
        """True once the time of the whole submission is up."""
        if self._watch.breach is None and self._watch.is_over():
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
        """Run the cells, in a new kernel if there is none. If a cell ends the kernel, run the others in another one.

        That one begins at the top, so that the cells below find the same names as before. Each round leaves out one more
        cell, and there are at most `MAX_DEATHS` of them. A death in a test cell is counted apart and forgiven, because
        it must not cost the test cells below it their kernel.

        Raises:
            CourseError: the kernel or the sandbox is not installed.
            NotStarted: the first kernel failed to start.
        """
        kernel = self._kernel
        if kernel is None:
            kernel = StudentKernel.start(self.notebook, self.limits, self.kernel_name, self._files)
            self._kernel = kernel
            self.counts.clear()
            self.cold_because = self.cold_because or kernel.cold_because
        for index, cell in enumerate(self.notebook.cells):
            bound = is_test_cell(cell) and not self._is_ordinary(cell)
            skipped = bound and not self._tests_run  # later cells may use what a test cell defines
            if cell.cell_type != "code" or skipped or is_demo(cell) or index in self._left_out:
                continue
            if self._is_late():
                self.runs[index] = CellRun(index, CellState.TIMED_OUT, error=self._too_long)
                return
            try:
                scored = cell.outputs if index in self.runs else []
                run = self._run_cell(kernel, index)
                self.counts[index] = cell.execution_count or 0
                if bound:
                    cell.outputs = scored
                else:
                    self.runs[index] = run
            except KernelDied as died:
                state = CellState.TIMED_OUT if died.hung else CellState.KERNEL_DIED
                self.runs[index] = CellRun(index, state, error=str(died))
                if is_test_cell(cell) and self._fatal_tests < _MAX_FATAL_TESTS:
                    self._fatal_tests += 1
                    self.deaths.pop()  # the failure of one test cell must not affect the next
                elif len(self.deaths) >= MAX_DEATHS:
                    return
                self._left_out.add(index)
                self._run_again()
                return

    def read_written(self) -> WrittenFiles:
        """Read the files that the cells wrote; none if the kernel has ended."""
        return self._kernel.read_written(self._files) if self._kernel else WrittenFiles()

    def restart_without(self, index: int | None, because: str = "") -> bool:
        """After a call has ended the kernel: run the other cells in a new one, unless there were too many already.

        Ordinary test cells keep the results that they have.
        """
        if len(self.deaths) >= MAX_DEATHS or self._is_late():
            return False
        self._ordinary = ()
        if index is not None:
            self._left_out.add(index)
            self.runs[index] = CellRun(index, CellState.LEFT_OUT, error=because)
        self._run_again()
        return self.alive

    def _is_ordinary(self, cell: NotebookNode) -> bool:
        return is_test_cell(cell) and grade_id(cell) in self._ordinary

    def _run_again(self) -> None:
        for index in self.runs.keys() - self._left_out:
            cell = self.notebook.cells[index]
            if self._is_ordinary(cell):
                self.earlier.setdefault(index, []).append(cell.outputs)
                cell.outputs = []
        try:
            self.run_cells()
        except NotStarted as error:
            self.suspect.append(str(error))
            self.deaths.append(str(error))

    def exchange(
        self,
        requests: list[dict[str, Any]],
        restore: Callable[[Any], Any],
        describe: Callable[[Any], dict[str, Any] | None],
        seconds: float,
        implementation: Implemented | None = None,
        apart: bool = False,
        answering: float | None = None,
    ) -> Reply:
        """Send some requests to the agent, in one message, and return the reply to the last one.

        With an `implementation`, stubs among the arguments stand for it. Its time counts like the student's, who chooses
        its arguments. `answering` is the CPU time that the grader may take to answer for it. With `apart`, the kernel is the
        same afterwards as before.

        Raises:
            ImplementationEnded: the process of the implementation ended.
            KernelDied: the kernel ended, or was killed because it ignored the interrupt.
            CallTimeout: time ran out (`seconds` of CPU time, or much more wall time); the call was interrupted,
                and the kernel is still usable.
            messages.MessageError: the reply is malformed.
        """
        if self._kernel is None:
            raise KernelDied(self.deaths[-1])
        if self._is_late():
            self._died(self._kernel, self._too_long, hung=True)
        if implementation:
            self._implementation.load(implementation)
        answer_stub = self._implementation.answer if implementation else None
        usage = self._usage_with_grader if implementation else self._usage
        watch = Stopwatch(usage, seconds, answering=answering)
        mark = messages.APART if apart else 0
        try:
            buffers = self._kernel.channel.ask(messages.encode(requests, describe), watch, answer_stub, mark)
        except TimeoutError:
            if self._implementation.ended:
                self.crashed = True
                self.suspect.append(self._implementation.ended)
                raise ImplementationEnded(self._implementation.ended) from None
            self._mark(watch, f"a call {watch.reason}")
            raise CallTimeout(watch.reason) from None
        except Unresponsive:
            self._mark(watch, f"a call {watch.reason}")
            self._died(self._kernel, "it exceeded its time limit and ignored the interrupt", hung=True)
        except KernelGone:
            self._died(self._kernel, "it ended the Python process")
        except messages.MessageError as error:
            self._died(self._kernel, f"what it sent can't be read: {error}")
        return read_reply(buffers, restore)

    @contextmanager
    def off_the_record(self) -> Iterator[None]:
        """A block that does not count: nothing in it affects the outcome of the submission."""
        before = self.timed_out, self.crashed, list(self.suspect), set(self.not_reached)
        try:
            yield
        finally:
            self.timed_out, self.crashed, self.suspect, self.not_reached = before

    def reuse(self, notebook: NotebookNode) -> None:
        """Continue with another notebook in the same kernel, which forgets all names but not the imported modules.

        Only for trusted code: other changes that the last notebook made to the process remain.
        """
        self._take(notebook)
        if self._kernel is not None:
            self._kernel.reuse(notebook, self.limits.startup_seconds)

    def close(self) -> None:
        """End the kernels and remove their folders."""
        self._implementation.close()
        if self._kernel is not None:
            kernel, self._used_before = self._kernel, self._used_before + (self._kernel.usage() or Usage())
            self._kernel = None
            kernel.close()

    def _run_cell(self, kernel: StudentKernel, index: int) -> CellRun:
        watch = Stopwatch(self._usage, self.limits.cell_seconds)
        try:
            run = kernel.runner.run_cell(index, watch)
        except Unresponsive:
            self._mark(watch, f"a cell {watch.reason}")
            self._died(kernel, f"it {watch.reason} and ignored the interrupt", hung=True)
        except KernelGone:
            self._died(kernel, "it ended the Python process")
        if watch.breach and self._is_ordinary(self.notebook.cells[index]):
            # a test cell that swallowed the interrupt has not passed
            run = CellRun(index, CellState.TIMED_OUT, error=f"it {watch.reason}")
        if run.state is CellState.TIMED_OUT:
            self._mark(watch, f"a cell {watch.reason}")
        if self._wary and not kernel.runner.lives_for(_WARY_SECONDS):
            self._died(kernel, "it ended the Python process")
        return run

    def _died(self, kernel: StudentKernel, reason: str, hung: bool = False) -> NoReturn:
        if kernel.ended_because:
            reason = f"{kernel.ended_because}, so the process was ended"
            hung = False
        if not hung:
            self.crashed = True
            self.suspect.append(reason)
        self.deaths.append(reason)
        self.close()
        raise KernelDied(reason, hung)
