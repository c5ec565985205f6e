"""The way to the agent in one kernel: requests and replies on a unix socket beside the kernel's own.

Jupyter's messages would do, but each costs milliseconds on both sides, and a check makes many calls.
"""

import inspect
import socket
import time
from collections.abc import AsyncIterator, Sequence
from queue import Empty

from jupyter_client.asynchronous import AsyncKernelClient
from jupyter_client.manager import AsyncKernelManager
from jupyter_core.utils import ensure_async, run_sync

from coursekit import agent, arrays, guard, messages
from coursekit.course import CourseError
from coursekit.student.stopwatch import Stopwatch

#: what code that was interrupted may use of its time to end
GRACE_SECONDS = 2.0
_POLL_SECONDS = 0.1
_SOCKET = "agent"


class KernelGone(Exception):
    """The kernel process has ended, or has closed the way to it."""


class Unresponsive(Exception):
    """The kernel ignored the interrupt."""


class Channel:
    """Puts requests to the agent of one kernel, one at a time."""

    def __init__(self, manager: AsyncKernelManager, client: AsyncKernelClient) -> None:
        self._manager = manager
        self._client = client
        self._connection: socket.socket | None = None
        self._serving = ""
        self._number = 0

    def open(self, seconds: float, preload: Sequence[str] = ()) -> None:
        """Bring the agent into the kernel and connect to it.

        Later, when the student's code has run, something else could be found at the path of the socket.

        Args:
            seconds: wall time that each step may take.
            preload: statements to run first, which cost nothing where the kernel's server has run them.

        Raises:
            CourseError: one of the statements raised.
        """
        for statement in preload:
            error = run_sync(self.execute)(f"exec({statement!r}, {{}})", seconds)
            if error:
                raise CourseError(f"c.RunChecks.preload: `{statement}` stops with {error}")
        run_sync(self.execute)(_BOOTSTRAP, seconds)
        self._connection = socket.socket(socket.AF_UNIX)
        self._connection.connect(f"{self._manager.ip}-{_SOCKET}")

    async def execute(self, source: str, seconds: float) -> str:
        """Run trusted code in the notebook's namespace; returns the error it stopped with, or nothing."""
        identifier = self._client.execute(source, silent=True, store_history=False)
        return await self._wait_for_idle(identifier, seconds)

    def ask(self, buffers: list[bytes], watch: Stopwatch) -> list[bytes]:
        """Put one request and wait for the buffers of the reply. No cell can be run from then on.

        Raises:
            TimeoutError: `watch` ran out; the request was interrupted and the kernel lives on.
            Unresponsive: no reply in time, and the kernel ignored the interrupt.
            KernelGone: the kernel process ended.
            messages.MessageError: the reply is too large; the kernel is of no more use.
        """
        try:
            if not self._serving:
                self._serving = self._client.execute(_SERVE, silent=True, store_history=False)
            self._number += 1
            self._send(buffers, watch)
            return self._reply(watch)
        except TimeoutError:
            run_sync(self._interrupt)(watch)
            raise
        except (OSError, EOFError):
            raise KernelGone from None

    def hang_up(self, seconds: float) -> None:
        """End the agent's work, so that the kernel can run cells again."""
        if self._serving:
            messages.send(self._connection, 0, [b"", b""])
            run_sync(self._wait_for_idle)(self._serving, seconds)
            self._serving = ""

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _send(self, buffers: list[bytes], watch: Stopwatch) -> None:
        """Put the request on the stream, in pieces if the kernel is slow to take it."""
        left = memoryview(messages.packed(self._number, buffers))
        self._connection.settimeout(_POLL_SECONDS)
        while left:
            try:
                left = left[self._connection.send(left) :]
            except TimeoutError:
                if watch.over():  # half a request is on its way, so no other can follow
                    raise Unresponsive from None

    def _reply(self, watch: Stopwatch) -> list[bytes]:
        self._connection.settimeout(_POLL_SECONDS)

        def recv(count: int) -> bytes:
            while True:
                try:
                    return self._connection.recv(count)
                except TimeoutError:
                    if watch.over():
                        raise

        while True:  # replies that come too late are passed over
            number, buffers = messages.receive(recv)
            if number == self._number:
                return buffers

    async def _interrupt(self, watch: Stopwatch) -> None:
        await ensure_async(self._manager.interrupt_kernel())
        try:
            self._reply(watch.again(GRACE_SECONDS))
        except TimeoutError:
            raise Unresponsive from None
        except (OSError, EOFError, messages.MessageError):
            raise KernelGone from None

    async def _wait_for_idle(self, identifier: str, seconds: float) -> str:
        error = ""
        async for reply in self._replies(identifier, seconds):
            if reply["msg_type"] == "error":
                error = f"{reply['content'].get('ename')}: {reply['content'].get('evalue')}"
        return error

    async def _replies(self, identifier: str, seconds: float) -> AsyncIterator[dict]:
        """What the kernel publishes about one request, until it is idle again."""
        deadline = time.monotonic() + seconds
        while True:
            if time.monotonic() > deadline:
                raise TimeoutError
            try:
                reply = await ensure_async(self._client.iopub_channel.get_msg(timeout=_POLL_SECONDS))
            except Empty:
                if not await ensure_async(self._manager.is_alive()):
                    raise KernelGone from None
                continue
            if reply["parent_header"].get("msg_id") != identifier:
                continue
            yield reply
            if reply["msg_type"] == "status" and reply["content"].get("execution_state") == "idle":
                return


_PARTS = (arrays, messages, guard, agent)
_BOOTSTRAP = f"""
def _():
    import sys, types
    from ipykernel.kernelapp import IPKernelApp
    package = types.ModuleType("coursekit")
    package.__path__ = []
    sys.modules["coursekit"] = package
    for name, text in {[(part.__name__.split(".")[1], inspect.getsource(part)) for part in _PARTS]!r}:
        module = types.ModuleType("coursekit." + name)
        sys.modules[module.__name__] = module
        exec(compile(text, f"<coursekit.{{name}}>", "exec"), module.__dict__)
    module.start(IPKernelApp.instance().ip + "-{_SOCKET}", get_ipython())
_()
del _
"""
_SERVE = "__import__('sys').modules['coursekit.agent'].serve()"
