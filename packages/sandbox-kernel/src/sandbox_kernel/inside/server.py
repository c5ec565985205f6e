"""Starts kernels, inside the sandbox.

    server.py warm MODULE...   import the modules once, then fork a kernel for every request
    server.py cold             become the kernel of the first request

A request arrives on standard input: one JSON object (`places.Request`) with file descriptors: a socket to answer on, an
archive of files for the home folder, where standard output and error go, and those that the kernel inherits. The answer
is `{"ok": true}` with a pidfd of the kernel, once its sockets are bound, or `{"ok": false, "error": …}`. The client now
opens these sockets, and then sends a byte: only after it are the files unpacked, and importable. (If the request names
another program than ipykernel, kernel_program.py runs it after this byte; code in its place is run in the same process,
which binds no sockets.) The second answer says that the kernel is
ready, or why it isn't. Nothing else is sent this way, and the kernel then holds neither of the two sockets. A warm kernel
is ended when the other end of the answering socket is closed.

The order matters. The server imports, makes what a kernel needs besides sockets (prepared.py) and preloads first, as one
thread, and exempts all this from garbage collection: forks then share this memory. The first fork keeps the server free
for the next request. The fork becomes an ordinary user and enters its namespaces; as a process namespace begins with the next child, it forks again. The parent
becomes the watcher, and the child the kernel. It first does what needs privileges (its own /proc, its folders, the
network), then drops them, and then refuses system calls, since the steps before need some of them. Limits come after
that. Only now are the files of the kernel's user unpacked, so that nothing of theirs can run or be imported while the
kernel isn't shut in yet. The limit on open files is last, as it could keep the pidfd from being sent.
"""

import contextlib
import errno
import fcntl
import gc
import importlib
import io
import json
import os
import select
import signal
import socket
import sys
import tarfile
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ipykernel.kernelapp import IPKernelApp

    from sandbox_kernel.inside import calls, isolate, kernel_program
    from sandbox_kernel.inside.places import CONNECTION, HOME, MAX_INHERITED, MAX_REQUEST, PROGRAM, Request
else:  # plain files in the same folder; the package can't be imported inside
    import calls
    import isolate
    import kernel_program
    from places import CONNECTION, HOME, MAX_INHERITED, MAX_REQUEST, PROGRAM

#: the current folder isn't importable until the files of the kernel's user are unpacked
_ARGUMENTS = ["-f", CONNECTION, "--HistoryManager.enabled=False", "--ignore-cwd"]


def main(mode: str, modules: list[str]) -> None:
    sys.path.remove(PROGRAM)  # hide these files from the kernel's user
    control = socket.socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.close(null)
    root = os.getuid() == 0 and os.environ.pop("SANDBOX_KERNEL_USER", "")
    if root:
        isolate.mount_proc()  # an ordinary user can't mount bubblewrap's own again
    app = None
    if mode == "warm":
        if root:
            isolate.serve_as(int(root))
        with _shared_memory():
            for name in modules:
                with contextlib.suppress(ImportError):
                    importlib.import_module(name)
            app = _prepare()
            if calls.known(machine := os.uname().machine):
                calls.filter_of(machine)
    preloaded: set[str] = set()
    while received := _receive(control):
        request, files = received
        if mode == "warm":
            _preload(request["preload"], preloaded)
        if mode == "warm" and _fork(files[0]) != 0:
            for descriptor in files:
                os.close(descriptor)
            _reap()
            continue
        control.close()
        _serve(mode, bool(root), request, files, app)


def _preload(statements: list[str], preloaded: set[str]) -> None:
    """Run the new statements. The kernel runs a failed statement again, so that the client sees the error."""
    new = [statement for statement in statements if statement not in preloaded]
    if not new:
        return
    with _shared_memory():
        for statement in new:
            with contextlib.suppress(Exception):
                exec(statement, {})
    preloaded.update(new)


@contextlib.contextmanager
def _shared_memory() -> "Iterator[None]":
    """Exempt objects that are created inside from garbage collection, which would write to memory that forks share.

    Imports create hardly any garbage, but spend a sixth of their time searching for it.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()
        isolate.use_huge_pages()


def _fork(answer: int) -> int:
    """Fork. If the system refuses, report it on the socket `answer` and return -1; the next request may succeed."""
    try:
        return os.fork()
    except OSError as error:
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(answer)) as reply:
            reply.send(
                json.dumps({"ok": False, "error": f"can't start another process ({error.strerror})"}).encode()
            )
        return -1


def _reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _receive(control: socket.socket) -> "tuple[Request, list[int]] | None":
    while True:
        data, files, _, _ = socket.recv_fds(control, MAX_REQUEST, 3 + MAX_INHERITED)
        if not data:
            return None
        request: Request = json.loads(data)
        if len(files) == 3 + len(request.get("inherited", ())):
            return request, files
        for descriptor in files:  # the system refused some; the client sees its socket closed
            os.close(descriptor)


def _serve(
    mode: str, was_root: bool, request: "Request", files: list[int], app: "IPKernelApp | None"
) -> None:
    """Become the kernel; never returns."""
    answer, archive, output, *inherited = _moved_above(request.get("inherited", []), files)
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
                _watch(kernel, reply, archive, output, *inherited)
            isolate.mount_proc()
            isolate.private_folders(request["writable"], request["scratch"], request["kept"])
            isolate.private_terminals()
            isolate.bring_up_loopback()
            isolate.forbid_user_namespaces()
            socket.sethostname("sandbox")
        elif was_root:
            with contextlib.suppress(OSError):  # a system without user namespaces has nothing to forbid
                isolate.enter_namespaces(isolate.CLONE_NEWUSER)
                isolate.forbid_user_namespaces()
        isolate.drop_privileges()
        calls.refuse_calls()
        limits = request["limits"]
        # set last: a process with this many files in flight can't send the pidfd, and another kernel of the same user
        # may have that many
        open_files = {"NOFILE": limits.pop("NOFILE")}
        isolate.limit(limits)
        os.chdir(HOME)
        os.environ.update(request["environment"])
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.close(output)
        _inherit(request["inherited"], inherited)
        if request["argv"]:
            unpack = partial(_unpack, archive)
            kernel_program.run(request["argv"], request["connection"], open_files, unpack, reply)
            os._exit(0)
        if mode == "cold":
            _preload(request["preload"], set())
        app = None if request["code"] else _kernel(request["connection"], app)
        socket.send_fds(reply, [json.dumps({"ok": True}).encode()], [os.pidfd_open(os.getpid())])
        if not reply.recv(1):
            os._exit(0)  # the client has ended
        _unpack(archive)
        if app is None:
            sys.path.insert(0, "")
        else:
            app.ignore_cwd = False
            app.init_path()
        isolate.limit(open_files)
        reply.sendall(json.dumps({"ok": True}).encode())
    except BaseException as error:
        reply.sendall(json.dumps({"ok": False, "error": _reason(error)}).encode())
        os._exit(1)
    reply.close()
    try:
        if app is None:
            exec(request["code"], {})
        else:
            app.start()
    finally:
        os._exit(0)


def _moved_above(numbers: list[int], descriptors: list[int]) -> list[int]:
    """Move descriptors out of the way of these numbers."""
    moved = [fcntl.fcntl(old, fcntl.F_DUPFD_CLOEXEC, max([2, *numbers]) + 1) for old in descriptors]
    for old in descriptors:
        os.close(old)
    return moved


def _inherit(numbers: list[int], descriptors: list[int]) -> None:
    """Give the descriptors these numbers, as `subprocess.Popen` does with `pass_fds`."""
    for number, descriptor in zip(numbers, descriptors, strict=True):
        with contextlib.suppress(OSError):
            os.fstat(number)
            raise ValueError(f"`pass_fds`: {number} is in use in the kernel")
        os.dup2(descriptor, number)
        os.close(descriptor)


def _unpack(archive: int) -> None:
    try:
        with os.fdopen(archive, "rb") as stream, tarfile.open(fileobj=io.BytesIO(stream.read())) as files:
            # Python 3.11.4 is the first with filters
            files.extraction_filter = getattr(tarfile, "data_filter", None)
            files.extractall(HOME)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise OSError(error.errno, "`working_files` take more than `scratch_limit` allows") from None
        raise


def _reason(error: BaseException) -> str:
    if isinstance(error, OSError) and error.errno == errno.ETOOMANYREFS:
        return "too many files are in flight between processes of this user"
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return str(error.strerror)
    return f"{type(error).__name__}: {error}"


def _watch(kernel: int, reply: socket.socket, *unused: int) -> None:
    """End the kernel as soon as the other end of `reply` is closed; never returns.

    A client that is killed can't end the kernel itself.
    """
    try:
        isolate.drop_privileges()
        for descriptor in unused:
            os.close(descriptor)
        ended = os.pidfd_open(kernel)
        events = select.poll()
        events.register(ended, select.POLLIN)
        events.register(reply, 0)  # reports only that it was closed
        events.poll()
    finally:
        os.kill(kernel, signal.SIGKILL)
        os.waitpid(kernel, 0)
        os._exit(0)


def _prepare() -> "IPKernelApp | None":
    """The part of a kernel that all forks can share."""
    sys.path.insert(0, PROGRAM)
    try:
        prepared = importlib.import_module("prepared")  # not with the others, since it imports ipykernel
    finally:
        sys.path.remove(PROGRAM)
    made: IPKernelApp | None = prepared.prepare(_ARGUMENTS)
    return made


def _kernel(connection: dict[str, Any], app: "IPKernelApp | None") -> "IPKernelApp":
    with open(CONNECTION, "w") as file:
        json.dump(connection, file)
    # the server or a preloaded module may have changed this handler
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["ipykernel_launcher", *_ARGUMENTS]
    if app is not None:
        sys.modules.pop("prepared").finish(app, _ARGUMENTS)
        return app
    from ipykernel.kernelapp import IPKernelApp

    app = IPKernelApp.instance()
    app.initialize(_ARGUMENTS)
    return app


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
