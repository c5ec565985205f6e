"""Requests to the agent in one kernel, and its replies, on a socket that the kernel inherits.

Jupyter's messages would work, but each costs milliseconds on both sides, and a check makes many calls.
"""

import base64
import socket
import time
import zlib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from queue import Empty

from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.manager import AsyncKernelManager
from jupyter_core.utils import run_sync

from gradekit import inside
from gradekit.codecs import absent_libraries, kernel_texts
from gradekit.course import CourseError
from gradekit.inside import messages
from sandbox_kernel.stopwatch import Stopwatch

#: CPU time that interrupted code has to end
GRACE_SECONDS = 2.0
_POLL_SECONDS = 0.1
#: the reply to a stub that no longer gets one: it ends the call
_NO_REPLY = [b"", b""]

#: answers what a stub asks; raises TimeoutError once the time of the call is up
AnswerStub = Callable[[list[bytes], Stopwatch], list[bytes]]
_MARKS = messages.APART | messages.FROM_STUB


class KernelGone(Exception):
    """The kernel process has ended, or has closed the connection."""


class Unresponsive(Exception):
    """The kernel ignored the interrupt."""


class RequestLine:
    """Sends requests to one process in the sandbox, one at a time.

    It inherits the other end of the `connection`, which has no name that code in there could give to something else.
    """

    def __init__(self, manager: AsyncKernelManager, connection: socket.socket) -> None:
        self._manager = manager
        self._connection = connection
        self._number = 0

    def ask(
        self, buffers: list[bytes], watch: Stopwatch, answer_stub: AnswerStub | None = None, mark: int = 0
    ) -> list[bytes]:
        """Send a request and return the buffers of the reply.

        With `answer_stub`, the request may ask about a stub. The `mark` is `messages.APART` if a forked process of the
        kernel should handle it, and `messages.FROM_STUB` if it is what a stub in a kernel asks.

        Raises:
            TimeoutError: time ran out; the request was interrupted, and the kernel is still usable.
            Unresponsive: time ran out, and the kernel ignored the interrupt.
            KernelGone: the kernel process ended.
            messages.MessageError: the reply is too large; the kernel can no longer be used.
        """
        try:
            self._number = (self._number & ~_MARKS) + 1 | mark
            self._send(self._number, buffers, watch)
            return self._reply(watch, answer_stub)
        except TimeoutError:
            run_sync(self._interrupt)(watch)
            raise
        except (OSError, EOFError):
            raise KernelGone from None

    def _send(self, number: int, buffers: list[bytes], watch: Stopwatch) -> None:
        """Send a message, in pieces if the kernel is slow to read it."""
        left = memoryview(messages.packed(number, buffers))
        self._connection.settimeout(_POLL_SECONDS)
        while left:
            try:
                left = left[self._connection.send(left) :]
            except TimeoutError:
                if watch.is_over():  # a request that was sent in part can't be followed by another
                    raise Unresponsive from None

    def _reply(self, watch: Stopwatch, answer_stub: AnswerStub | None = None) -> list[bytes]:
        self._connection.settimeout(_POLL_SECONDS)

        def recv(count: int) -> bytes:
            while True:
                try:
                    return self._connection.recv(count)
                except TimeoutError:
                    if watch.is_over():
                        raise

        while True:  # skips the late replies to earlier requests
            number, buffers = messages.receive(recv)
            if number == self._number:
                return buffers
            answer = _NO_REPLY
            try:
                if watch.is_over():
                    raise TimeoutError
                if answer_stub and number == self._number | messages.FROM_STUB:
                    answer = answer_stub(buffers, watch)
            finally:
                if number & messages.FROM_STUB:
                    self._send(number, answer, watch)
                    self._connection.settimeout(_POLL_SECONDS)

    async def _interrupt(self, watch: Stopwatch) -> None:
        await self._manager.interrupt_kernel()
        try:
            self._reply(watch.follow_up(GRACE_SECONDS))
        except TimeoutError:
            raise Unresponsive from None
        except (OSError, EOFError, messages.MessageError):
            raise KernelGone from None


class Channel(RequestLine):
    """Sends requests to the agent of one kernel, where no cells can be run from the first one until `hang_up`.

    `inherited` is the number of the other socket in the kernel.
    """

    def __init__(
        self,
        manager: AsyncKernelManager,
        client: AsyncKernelClient,
        connection: socket.socket,
        inherited: int,
    ) -> None:
        super().__init__(manager, connection)
        self._client = client
        self._start = _START.format(inherited)
        self._serving = ""

    def open(self, seconds: float, preload: Sequence[str] = (), torch: bool = True) -> None:
        """Start the agent in the kernel.

        Args:
            seconds: wall time that each step may take.
            preload: statements to run first; they cost nothing if the server of warm kernels has run them.
            torch: whether calls may need torch.

        Raises:
            CourseError: one of the statements raised.
            RuntimeError: the agent can't start.
        """
        for statement in preload:
            if error := run_sync(self.execute)(f"exec({statement!r}, {{}})", seconds):
                raise CourseError(f"c.RunChecks.preload: `{statement}` stops with {error}")
        if run_sync(self.execute)(self._start, seconds):  # the kernel doesn't run `preload` itself
            run_sync(self.execute)(f"exec({agent_code(torch)!r}, {{}})", seconds)
            if error := run_sync(self.execute)(self._start, seconds):
                raise RuntimeError(f"the grader's part in the kernel stops with {error}")

    async def execute(self, source: str, seconds: float) -> str:
        """Run trusted code in the notebook's namespace and return its error, or an empty string."""
        identifier = self._client.execute(source, silent=True, store_history=False)
        return await self._wait_for_idle(identifier, seconds)

    def _send(self, number: int, buffers: list[bytes], watch: Stopwatch) -> None:
        if not self._serving:
            self._serving = self._client.execute(_SERVE, silent=True, store_history=False)
        super()._send(number, buffers, watch)

    def hang_up(self, seconds: float) -> None:
        """Stop the agent, so that the kernel can run cells again."""
        if self._serving:
            messages.send(self._connection, 0, [b"", b""])
            run_sync(self._wait_for_idle)(self._serving, seconds)
            self._serving = ""

    async def _wait_for_idle(self, identifier: str, seconds: float) -> str:
        """Wait until a request has been processed, and return its error, or an empty string."""
        error, deadline = "", time.monotonic() + seconds
        while time.monotonic() <= deadline:
            try:
                reply = await self._client.get_iopub_msg(timeout=_POLL_SECONDS)
            except Empty:
                if not await self._manager.is_alive():
                    raise KernelGone from None
                continue
            if reply["parent_header"].get("msg_id") != identifier:
                continue
            kind, content = reply["msg_type"], reply["content"]
            if kind == "error":
                error = f"{content.get('ename')}: {content.get('evalue')}"
            elif kind == "status" and content.get("execution_state") == "idle":
                return error
        raise TimeoutError


#: the modules of `gradekit.inside` that are sent, each after those that it imports; the grader imports only some of them
PARTS = (
    *("arrays", "packing", "messages", "payload", "kernel_process", "cell_figures", "name_history"),
    *("graph", "stub", "implementation", "agent"),
)
_START = "__import__('sys').modules['gradekit.inside.agent'].start({}, get_ipython())"
#: what a process runs that answers for implementations, instead of a kernel
IMPLEMENTATIONS = "__import__('sys').modules['gradekit.inside.implementation'].serve_stubs({})"
_SERVE = "__import__('sys').modules['gradekit.inside.agent'].serve()"


@cache
def agent_code(torch: bool) -> str:
    """A statement that defines the agent's modules, and imports torch if calls may need it. A packer is compiled only once its library has created a value.

    It is compressed, since it is sent with every request for a kernel.
    """
    folder = Path(inside.__path__[0])
    texts = [(f"gradekit.inside.{name}", (folder / f"{name}.py").read_text("utf-8")) for name in PARTS]
    source = f"""
import sys, types
for name in ("gradekit", "gradekit.inside"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = []

def define(name, text):
    if name not in sys.modules:
        sys.modules[name] = types.ModuleType(name)
        exec(compile(text, f"<{{name}}>", "exec"), sys.modules[name].__dict__)
    return sys.modules[name]

def packer(kind, modules):
    return [getattr(define(*module), kind, None) for module in modules][-1]()

parts = [define(*part) for part in {texts!r}]
for library, (kind, modules) in {kernel_texts()!r}.items():
    parts[1].add_packer(library, lambda kind=kind, modules=modules: packer(kind, modules))
for library in {absent_libraries()!r}:
    parts[1].add_packer(library, lambda library=library: parts[1].AbsentPacker(library))
parts[-1].import_early({torch})
"""
    packed = base64.b64encode(zlib.compress(source.encode())).decode()
    return f"exec(__import__('zlib').decompress(__import__('base64').b64decode({packed!r})))"
