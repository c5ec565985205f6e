"""Starts a kernel with a submission's notebook, connects it to the grader, and removes it."""

import contextlib
import os
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from queue import Empty
from typing import Any

import zmq
import zmq.asyncio
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.channels import AsyncZMQSocketChannel
from jupyter_client.manager import AsyncKernelManager
from jupyter_core.utils import run_sync
from nbformat import NotebookNode
from traitlets import Type
from traitlets.config import Config

from gradekit.course import CourseError
from gradekit.course.files import files_in
from gradekit.course.kernels import COLD, LIMITED, other_language, require_kernel
from gradekit.inside.messages import MAX_BYTES
from gradekit.session.channel import IMPLEMENTATIONS, Channel, KernelGone, RequestLine, agent_code
from gradekit.session.files_written import WrittenFiles, read_written
from gradekit.session.limits import Limits
from gradekit.session.runner import QUIET, CellRunner
from sandbox_kernel.bubblewrap import SandboxError
from sandbox_kernel.environment import NO_FILES, WorkingFiles
from sandbox_kernel.folders import HeldFolder
from sandbox_kernel.sandboxed import SandboxProvisioner
from sandbox_kernel.start import StartFailed
from sandbox_kernel.usage import Usage
from sandbox_kernel.view import hide
from sandbox_kernel.watched import WatchedProvisioner

_POLL_SECONDS = 0.2
#: whether a socket takes descriptors, which the grader would have to close; Python 3.11 has no name for it
_SO_PASSRIGHTS = 83
# flushing IPython's cache of outputs would collect garbage, which takes 0.1 s
_FORGET = "get_ipython().displayhook.do_full_cache = False; get_ipython().reset(new_session=False)"


class NotStarted(Exception):
    """The kernel failed to start; the message says why. This says nothing about the submission."""


@dataclass(frozen=True)
class Confined:
    """A running process that answers requests; `close` ends it and removes its files."""

    provisioner: object  # jupyter_client's handle on the process
    _cleanup: contextlib.ExitStack

    def close(self) -> None:
        self._cleanup.close()

    def usage(self) -> Usage | None:
        """The time that the process has used so far, with those that it started; None if that can't be measured."""
        return self.provisioner.usage() if isinstance(self.provisioner, WatchedProvisioner) else None

    @property
    def ended_because(self) -> str:
        """Why the provisioner ended the process; empty if it did not."""
        return self.provisioner.ended_because if isinstance(self.provisioner, WatchedProvisioner) else ""


@dataclass(frozen=True)
class ImplementationProcess(Confined):
    """A process confined as a kernel is, without IPython: it runs implementations that a student's test is tried on."""

    line: RequestLine

    @classmethod
    def start(cls, limits: Limits, kernel_name: str, files: WorkingFiles) -> "ImplementationProcess":
        """Start a process; raises what `StudentKernel.start` raises."""
        with contextlib.ExitStack() as cleanup, _start_errors():
            ours, theirs = _sockets(cleanup)
            with theirs:
                code = IMPLEMENTATIONS.format(theirs.fileno())
                manager = _manager(cleanup, limits, kernel_name, files, code=code)
                run_sync(manager.start_kernel)(pass_fds=[theirs.fileno()])
            return cls(manager.provisioner, cleanup.pop_all(), RequestLine(manager, ours))


@dataclass(frozen=True)
class StudentKernel(Confined):
    """A running kernel with the agent inside."""

    runner: CellRunner
    channel: Channel

    @classmethod
    def start(
        cls, notebook: NotebookNode, limits: Limits, kernel_name: str, files: WorkingFiles = NO_FILES
    ) -> "StudentKernel":
        """Start a kernel.

        A notebook that is not in Python runs in its own language's kernel, cold and without the agent.

        Raises:
            CourseError: the kernel or the sandbox is not installed, or a statement of `limits.preload` failed.
            NotStarted: this one kernel failed to start.
        """
        if language := other_language(notebook.metadata):
            if kernel_name == LIMITED:
                raise CourseError(
                    f"The kernel `{language}` of a notebook runs in the sandbox only: grade without `--sandbox none`"
                )
            kernel_name = COLD
        with contextlib.ExitStack() as cleanup, _start_errors():
            manager = _manager(cleanup, limits, kernel_name, files, language)
            runner = CellRunner(notebook, manager, limits)
            ours, theirs = _sockets(cleanup)
            inherited = theirs.fileno()
            with theirs:
                runner.start_new_kernel(**({} if language else {"pass_fds": [inherited]}))
            client = runner.start_new_kernel_client()
            assert isinstance(client, StudentClient)
            cleanup.callback(client.stop_channels)
            channel = Channel(manager, client, ours, inherited)
            if not language:
                channel.open(limits.startup_seconds, limits.preload, limits.torch)
            return cls(manager.provisioner, cleanup.pop_all(), runner, channel)

    def read_written(self, files: WorkingFiles) -> WrittenFiles:
        """Read the files that are in the kernel's home folder and not among `files`, with which it started."""
        home = self.provisioner.open_home() if isinstance(self.provisioner, WatchedProvisioner) else None
        if home is None:
            return WrittenFiles()
        given = ((path, file) for path in map(Path, files.paths) for file in files_in(path, files.left_out))
        known = {str(file.relative_to(path.parent)) for path, file in given}
        try:
            return read_written(home, known, files.left_out)
        finally:
            os.close(home)

    @property
    def cold_because(self) -> str:
        """Why the kernel could not be forked, and so was started cold; empty if that wasn't so."""
        return self.provisioner.cold_because if isinstance(self.provisioner, SandboxProvisioner) else ""

    def reuse(self, notebook: NotebookNode, seconds: float) -> None:
        """Forget all names, but not the imported modules, and continue with another notebook."""
        self.runner.nb = notebook
        self.channel.hang_up(seconds)
        run_sync(self.channel.execute)(_FORGET, seconds)


def _manager(
    cleanup: contextlib.ExitStack,
    limits: Limits,
    kernel_name: str,
    files: WorkingFiles,
    language: str = "",
    code: str = "",
) -> AsyncKernelManager:
    """What starts a process: a kernel, in Python or another `language`, or one that runs `code`."""
    require_kernel(kernel_name)
    hide(*files.hidden)
    folder = HeldFolder("gradekit-kernel-")
    cleanup.callback(folder.remove)
    context = _bounded_context()
    # garbage collection may be late, and each holds five descriptors
    cleanup.callback(context.destroy, 0)
    manager = AsyncKernelManager(
        kernel_name=kernel_name,
        client_factory=StudentClient,
        context=context,
        transport="ipc",
        connection_file=str(folder.path / "kernel.json"),
        log=QUIET,
        config=Config(
            WatchedProvisioner={
                "memory_limit": limits.memory,
                "working_files": list(files.paths),
                "left_out": list(files.left_out),
                "preload": [] if language else [agent_code(limits.torch), *limits.preload],
                "code": code,
                "environment": {
                    "NBGRADER_EXECUTION": "autograde",
                    "PYTEST_ADDOPTS": "-p no:gradekit",  # gradekit's plugin can't be imported there
                },
            },
            SandboxProvisioner={"cold_fallback": limits.cold_fallback}
            | ({"kernelspec": language} if language else {}),
        ),
    )
    cleanup.callback(_shut_down, manager)
    return manager


def _sockets(cleanup: contextlib.ExitStack) -> tuple[socket.socket, socket.socket]:
    """Two connected sockets: the grader's, and the one that the process inherits."""
    ours, theirs = socket.socketpair()
    cleanup.callback(ours.close)
    with contextlib.suppress(OSError):  # Linux before 6.16
        ours.setsockopt(socket.SOL_SOCKET, _SO_PASSRIGHTS, 0)
    return ours, theirs


@contextlib.contextmanager
def _start_errors() -> Iterator[None]:
    try:
        yield
    except SandboxError as error:
        raise CourseError(
            f"Nothing was graded: {error}. If all code is trusted, choose `--sandbox none`, or "
            "`--RunChecks.student_kernel=limited` for nbgrader."
        ) from error
    except (StartFailed, RuntimeError, OSError, KernelGone) as error:
        reason = str(error) or type(error).__name__
        raise NotStarted(f"the kernel failed to start: {reason}") from error


def _shut_down(manager: AsyncKernelManager) -> None:
    with contextlib.suppress(RuntimeError):
        run_sync(manager.shutdown_kernel)(now=True)


def _bounded_context() -> zmq.asyncio.Context:
    """A context whose sockets refuse frames above `MAX_BYTES` and never reconnect.

    After the student's code has run, something else could be listening at the same path.
    """
    context = zmq.asyncio.Context()
    context.setsockopt(zmq.MAXMSGSIZE, MAX_BYTES)
    context.setsockopt(zmq.RECONNECT_IVL, -1)
    return context


class StudentChannel(AsyncZMQSocketChannel):
    """A channel that replaces malformed messages with meaningless ones: the student's code can sign messages, too."""

    async def _recv(self, **kwargs: Any) -> dict[str, Any]:  # type: ignore[override]  # as in the base class
        try:
            message = await super()._recv(**kwargs)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            return dict(_NOISE)
        sound = all(isinstance(message.get(part), dict) for part in _PARTS)
        return message if sound and isinstance(message.get("msg_type"), str) else dict(_NOISE)


_PARTS = ("header", "parent_header", "metadata", "content")
_NOISE: dict[str, Any] = {"msg_type": "noise", "buffers": [], **{part: {} for part in _PARTS}}


class StudentClient(AsyncKernelClient):
    """jupyter_client's client, but ready as soon as the kernel is, instead of after 0.2 s of silence."""

    shell_channel_class = Type(StudentChannel)
    iopub_channel_class = Type(StudentChannel)
    stdin_channel_class = Type(StudentChannel)
    control_channel_class = Type(StudentChannel)

    def start_channels(self, *args: Any, **kwargs: Any) -> None:
        # The heartbeat would reconnect later, when its path may be a link to a socket of the host.
        super().start_channels(*args, **kwargs | {"hb": False})

    async def wait_for_ready(self, timeout: float | None = None) -> None:
        """Return once the kernel has answered on the shell channel and its output arrives.

        Raises:
            RuntimeError: the kernel ended, or did not answer within `timeout` seconds.
        """
        deadline = time.monotonic() + (timeout or 60)
        while time.monotonic() < deadline:
            request = self.kernel_info()
            try:
                while (await self.get_shell_msg(timeout=1))["parent_header"].get("msg_id") != request:
                    pass
                while not _is_idle(await self.get_iopub_msg(timeout=_POLL_SECONDS), request):
                    pass
            except Empty:
                if not await self.is_alive():
                    raise RuntimeError("the kernel ended before it was ready") from None
            else:
                return
        raise RuntimeError(f"the kernel was not ready within {timeout} s")


def _is_idle(message: dict[str, Any], request: str) -> bool:
    answers = message["parent_header"].get("msg_id") == request and message["msg_type"] == "status"
    return answers and bool(message["content"].get("execution_state") == "idle")
