"""The way to the agent in one kernel: requests and replies as comm messages of the Jupyter protocol."""

import inspect
import time
from collections.abc import AsyncIterator
from queue import Empty
from typing import Any

from jupyter_client.asynchronous import AsyncKernelClient
from jupyter_client.manager import AsyncKernelManager
from jupyter_core.utils import ensure_async

from coursekit import agent, messages

GRACE_SECONDS = 2.0
_POLL_SECONDS = 0.2
_COMM = "coursekit-1"


class KernelGone(Exception):
    """The kernel process has ended."""


class Unresponsive(Exception):
    """The kernel ignored the interrupt."""


class Channel:
    """Puts requests to the agent of one kernel, one at a time."""

    def __init__(self, manager: AsyncKernelManager, client: AsyncKernelClient) -> None:
        self._manager = manager
        self._client = client

    async def open(self, seconds: float) -> None:
        """Bring the agent into the kernel and open its comm."""
        await self.execute(_BOOTSTRAP, seconds)
        opening = {"comm_id": _COMM, "target_name": agent.TARGET, "data": {}}
        await self._wait_for_idle(self._send("comm_open", opening), seconds)

    async def execute(self, source: str, seconds: float) -> None:
        """Run code of the grader's own in the notebook's namespace."""
        identifier = self._client.execute(source, silent=True, store_history=False)
        await self._wait_for_idle(identifier, seconds)

    async def ask(self, buffers: list[bytes], seconds: float) -> list[Any]:
        """Put one request and wait for the buffers of the reply.

        Raises:
            TimeoutError: no reply in time; the request was interrupted and the kernel lives on.
            Unresponsive: no reply in time, and the kernel ignored the interrupt.
            KernelGone: the kernel process ended.
            messages.MessageError: the kernel was done without having replied.
        """
        identifier = self._send("comm_msg", {"comm_id": _COMM, "data": {}}, buffers)
        try:
            async for reply in self._replies(identifier, seconds):
                if reply["msg_type"] == "comm_msg" and reply["content"].get("comm_id") == _COMM:
                    await self._wait_for_idle(identifier, GRACE_SECONDS)
                    return reply["buffers"]
        except TimeoutError:
            await self._interrupt(identifier)
            raise
        raise messages.MessageError("the kernel gave no reply")

    def _send(self, kind: str, content: dict, buffers: list[bytes] | None = None) -> str:
        message = self._client.session.msg(kind, content)
        message["buffers"] = buffers or []
        self._client.shell_channel.send(message)
        return message["header"]["msg_id"]

    async def _interrupt(self, identifier: str) -> None:
        await ensure_async(self._manager.interrupt_kernel())
        try:
            await self._wait_for_idle(identifier, GRACE_SECONDS)
        except TimeoutError:
            raise Unresponsive from None

    async def _wait_for_idle(self, identifier: str, seconds: float) -> None:
        async for _ in self._replies(identifier, seconds):
            pass

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
