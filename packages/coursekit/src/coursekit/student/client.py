"""The grader's end of the Jupyter protocol: bounded, and ready as soon as the kernel is."""

import time
from queue import Empty
from typing import Any

import zmq
import zmq.asyncio
from jupyter_client.asynchronous import AsyncKernelClient
from jupyter_client.channels import AsyncZMQSocketChannel
from traitlets import Type

from coursekit.messages import MAX_BYTES

_POLL_SECONDS = 0.2


def bounded_context() -> zmq.asyncio.Context:
    """For sockets that take no frame above `MAX_BYTES`, and that stay with the peer they found first."""
    context = zmq.asyncio.Context()
    context.setsockopt(zmq.MAXMSGSIZE, MAX_BYTES)
    context.setsockopt(zmq.RECONNECT_IVL, -1)
    return context


class StudentChannel(AsyncZMQSocketChannel):
    """Whoever runs in the kernel can sign messages: what is none, or has parts of the wrong type, counts as noise."""

    async def _recv(self, **kwargs: Any) -> dict[str, Any]:
        try:
            message = await super()._recv(**kwargs)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            return dict(_NOISE)
        parts = (message.get(name) for name in ("header", "parent_header", "metadata", "content"))
        sound = all(isinstance(part, dict) for part in parts) and isinstance(message.get("msg_type"), str)
        return message if sound else dict(_NOISE)


_NOISE = {
    "msg_type": "noise",
    "header": {},
    "parent_header": {},
    "metadata": {},
    "content": {},
    "buffers": [],
}


class StudentClient(AsyncKernelClient):
    """jupyter_client's own client waits for 0.2 s of silence before it calls a kernel ready."""

    shell_channel_class = Type(StudentChannel)
    iopub_channel_class = Type(StudentChannel)
    stdin_channel_class = Type(StudentChannel)
    control_channel_class = Type(StudentChannel)

    def start_channels(self, *args: Any, **kwargs: Any) -> None:
        # The heartbeat would connect anew later on, when a link to a socket of the host may lie in its place.
        super().start_channels(*args, **kwargs | {"hb": False})

    async def wait_for_ready(self, timeout: float | None = None) -> None:
        """Return once the kernel has answered on the shell channel and its output arrives.

        Raises:
            RuntimeError: the kernel ended, or gave no answer within `timeout` seconds.
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


def _is_idle(message: dict, request: str) -> bool:
    return (
        message["parent_header"].get("msg_id") == request
        and message["msg_type"] == "status"
        and message["content"].get("execution_state") == "idle"
    )
