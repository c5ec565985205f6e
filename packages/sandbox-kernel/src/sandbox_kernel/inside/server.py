"""Starts kernels, inside the sandbox.

    server.py warm MODULE...   import the modules once, then fork a kernel for every request
    server.py cold             become the kernel of the first request

A request arrives on standard input: one JSON object with three file descriptors: a socket to answer on, an
archive of files for the working folder, and where standard output and error go. The answer is `{"ok": true}` with
a pidfd of the kernel, once its sockets are bound, or `{"ok": false, "error": …}`. Nothing else ever goes in or
out this way: the kernel holds neither of the two sockets. When the other end of the answering socket is closed, a
warm kernel is ended.
"""

import contextlib
import errno
import importlib
import io
import json
import os
import select
import signal
import socket
import sys
import tarfile

import calls
import isolate
import preloading
from places import HOME, PROGRAM, RUN

CONNECTION = f"{RUN}/connection.json"
_MAX_REQUEST = 1 << 16


def main(mode: str, modules: list[str]) -> None:
    sys.path.remove(PROGRAM)  # the kernel's user has no use for these modules
    control = socket.socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    root = os.getuid() == 0 and os.environ.pop("SANDBOX_KERNEL_USER", "")
    if root:
        isolate.mount_proc()  # bubblewrap's own can't be mounted again by an ordinary user
    if mode == "warm":
        if root:
            isolate.serve_as(int(root))
        for name in modules:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
        preloading.share()
    while received := _receive(control):
        request, files = received
        if mode == "warm":
            preloading.run(request["preload"])
        if mode == "warm" and _fork(files[0]) != 0:
            for descriptor in files:
                os.close(descriptor)
            _reap()
            continue
        control.close()
        _serve(mode, bool(root), request, *files)


def _fork(answer: int) -> int:
    """Fork; where the system refuses, say so and go on, since the next request may be luckier."""
    try:
        return os.fork()
    except OSError as error:
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(answer)) as reply:
            reply.send(json.dumps({"ok": False, "error": f"no further process ({error.strerror})"}).encode())
        return -1


def _reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _receive(control: socket.socket) -> tuple[dict, list[int]] | None:
    while True:
        data, files, _, _ = socket.recv_fds(control, _MAX_REQUEST, 3)
        if not data:
            return None
        if len(files) == 3:
            return json.loads(data), files
        for descriptor in files:  # the system refused some, and the client sees its end of the answer closed
            os.close(descriptor)


def _serve(mode: str, was_root: bool, request: dict, answer: int, archive: int, output: int) -> None:
    """Become the kernel; never returns."""
    reply = socket.socket(fileno=answer)
    try:
        os.setsid()
        if was_root and mode == "cold":
            isolate.private_terminals()
        if was_root:
            isolate.become(request["user"])
        if mode == "warm":
            isolate.enter_namespaces(isolate.EVERYTHING)
            kernel = os.fork()
            if kernel != 0:
                _watch(kernel, reply, archive, output)
            isolate.mount_proc()
            isolate.private_folders(request["writable"], request["scratch"])
            isolate.private_terminals()
            isolate.forbid_user_namespaces()
            socket.sethostname("sandbox")
        elif was_root:
            with contextlib.suppress(OSError):  # where the system allows none, there is nothing to forbid
                isolate.enter_namespaces(isolate.CLONE_NEWUSER)
                isolate.forbid_user_namespaces()
        isolate.drop_privileges()
        calls.refuse_calls()
        limits = request["limits"]
        # the pidfd is refused to whoever has this many files under way already, and another kernel of the same
        # user may have them
        open_files = {"NOFILE": limits.pop("NOFILE")}
        isolate.limit(limits)
        with os.fdopen(archive, "rb") as stream, tarfile.open(fileobj=io.BytesIO(stream.read())) as files:
            files.extractall(HOME, filter="data")
        os.chdir(HOME)
        os.environ.update(request["environment"])
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.close(output)
        app = _kernel(request["connection"])
        socket.send_fds(reply, [json.dumps({"ok": True}).encode()], [os.pidfd_open(os.getpid())])
        isolate.limit(open_files)
    except BaseException as error:
        reply.sendall(json.dumps({"ok": False, "error": _reason(error)}).encode())
        os._exit(1)
    reply.close()
    try:
        app.start()
    finally:
        os._exit(0)


def _reason(error: BaseException) -> str:
    if isinstance(error, OSError) and error.errno == errno.ETOOMANYREFS:
        return "too many files are under way between processes of this user"
    return f"{type(error).__name__}: {error}"


def _watch(kernel: int, reply: socket.socket, *unused: int) -> None:
    """End the kernel as soon as nobody holds the other end of `reply`; never returns.

    Whoever had it started may be killed, and could not end it then.
    """
    try:
        isolate.drop_privileges()
        for descriptor in unused:
            os.close(descriptor)
        ended = os.pidfd_open(kernel)
        events = select.poll()
        events.register(ended, select.POLLIN)
        events.register(reply, 0)  # only the end of it
        events.poll()
    finally:
        os.kill(kernel, signal.SIGKILL)
        os.waitpid(kernel, 0)
        os._exit(0)


def _kernel(connection: dict) -> "IPKernelApp":  # noqa: F821
    from ipykernel.kernelapp import IPKernelApp

    with open(CONNECTION, "w") as file:
        json.dump(connection, file)
    # whatever was in the way of SIGINT while the server ran
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["ipykernel_launcher", "-f", CONNECTION, "--HistoryManager.enabled=False"]
    app = IPKernelApp.instance()
    app.initialize(sys.argv[1:])
    return app


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
