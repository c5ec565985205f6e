"""Runs a kernel that is another program, in any language.

This process stays its parent. It connects the kernel's TCP ports, which are in the sandbox's own network namespace, to
the unix sockets that the client uses: both carry the same bytes, so a kernel need not know unix sockets. It also reads
what the kernel prints, to report why a kernel ended before it listened.
"""

import asyncio
import contextlib
import json
import os
import socket
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from sandbox_kernel.inside import isolate
    from sandbox_kernel.inside.places import CONNECTION
else:  # plain files in the same folder; the package can't be imported inside
    import isolate
    from places import CONNECTION

_HOST, _FIRST = "127.0.0.1", 50000
_RETRY_SECONDS = 0.02
_BLOCK = 1 << 16
_LAST_BYTES, _REASON_LENGTH = 4096, 500

#: the client's unix sockets, by the TCP port of the kernel
Listeners = dict[int, socket.socket]


def run(
    argv: list[str],
    connection: dict[str, Any],
    limits: dict[str, int],
    prepare: Callable[[], None],
    answers: socket.socket,
) -> None:
    """Start the program and relay its messages until it ends.

    The first answer is a pidfd. The program is run when the client, which may move it to a cgroup first, sends a byte.
    The second answer says that it listens, or why it doesn't.

    Args:
        limits: the limits that apply only to the program.
        prepare: called just before the program is run.
    """
    listeners = _listen(connection)
    printed, output = os.pipe()
    kernel = os.fork()
    if kernel == 0:
        _become(argv, limits, prepare, answers, output)
    os.close(output)
    isolate.hide_memory()  # the kernel runs as the same user
    ended = os.pidfd_open(kernel)
    socket.send_fds(answers, [json.dumps({"ok": True}).encode()], [ended])
    asyncio.run(_supervise(listeners, printed, ended, answers))


def _listen(connection: dict[str, Any]) -> Listeners:
    """Bind the client's sockets, and write the connection file of the kernel."""
    numbers = {name: number for name, number in connection.items() if name.endswith("_port")}
    listeners = {}
    for number in numbers.values():
        listeners[_FIRST + number] = unix = socket.socket(socket.AF_UNIX)
        unix.bind(f"{connection['ip']}-{number}")
        unix.listen()
    ports = {name: _FIRST + number for name, number in numbers.items()}
    with open(CONNECTION, "w") as file:
        json.dump(connection | ports | {"transport": "tcp", "ip": _HOST}, file)
    return listeners


def _become(
    argv: list[str],
    limits: dict[str, int],
    prepare: Callable[[], None],
    answers: socket.socket,
    output: int,
) -> NoReturn:
    """Run the program in a new process group, to which interrupts are sent."""
    try:
        os.setsid()
        os.dup2(output, 1)
        os.dup2(output, 2)
        if answers.recv(1):  # nothing if the client has ended
            answers.close()  # a received descriptor would stay open in the program
            prepare()
            isolate.limit(limits)
            os.execv(argv[0], argv)
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror}".encode())
    finally:
        os._exit(1)


async def _supervise(listeners: Listeners, printed: int, ended: int, answers: socket.socket) -> None:
    last = bytearray()
    loop = asyncio.get_running_loop()
    end = asyncio.Event()
    loop.add_reader(ended, end.set)
    loop.add_reader(printed, _read, printed, last)
    relaying = [await asyncio.start_unix_server(_relay(port), sock=unix) for port, unix in listeners.items()]
    ending = asyncio.ensure_future(end.wait())
    listening = asyncio.ensure_future(_wait_for_ports(listeners))
    await asyncio.wait([ending, listening], return_when=asyncio.FIRST_COMPLETED)
    answer: dict[str, Any] = {"ok": True}
    if end.is_set():
        os.set_blocking(printed, False)
        with contextlib.suppress(BlockingIOError):
            while _read(printed, last):
                pass
        answer = {"ok": False, "error": _last_line(last)}
    with contextlib.suppress(OSError):  # the client has ended, and soon the sandbox will
        answers.sendall(json.dumps(answer).encode())
    answers.close()
    await ending
    for server in relaying:
        server.close()


def _read(printed: int, last: bytearray) -> bool:
    """Read a block of the kernel's output, and keep the end of it. Returns False after the last block."""
    block = os.read(printed, _BLOCK)
    last += block
    del last[:-_LAST_BYTES]
    if not block:
        asyncio.get_running_loop().remove_reader(printed)
    return bool(block)


def _last_line(printed: bytearray) -> str:
    lines = printed.decode(errors="replace").strip().splitlines()
    return f"it ended at once: {lines[-1][:_REASON_LENGTH]}" if lines else "it ended at once"


async def _wait_for_ports(ports: Listeners) -> None:
    for port in ports:
        while True:
            try:
                _, writer = await asyncio.open_connection(_HOST, port)
            except OSError:
                await asyncio.sleep(_RETRY_SECONDS)
            else:
                writer.close()
                break


def _relay(port: int) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    async def connected(client_reader: asyncio.StreamReader, client_writer: asyncio.StreamWriter) -> None:
        try:
            reader, writer = await asyncio.open_connection(_HOST, port)
        except OSError:
            client_writer.close()
            return
        await asyncio.gather(_copy(client_reader, writer), _copy(reader, client_writer))

    return connected


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while block := await reader.read(_BLOCK):
            writer.write(block)
            await writer.drain()  # so a fast sender waits for a slow receiver
    writer.close()
