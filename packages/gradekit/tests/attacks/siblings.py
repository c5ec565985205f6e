"""Attacks on another student's kernel: two are open at once, forked from the same server."""

import contextlib
import socket
import tempfile
import threading
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from nbformat import v4

from gradekit.session.kernel import NotStarted
from gradekit.session.limits import Limits
from gradekit.session.session import Session
from sandbox_kernel.environment import WorkingFiles

from .attack import NBGRADER, NONE, Attack
from .course import KERNELS
from .sharing import pid_of

# What the other student's kernel holds.
_VICTIM = """
import ctypes, os, pathlib, socket, threading
pathlib.Path("/tmp/@WORD@").write_text("@WORD@")
os.environ["HELD"] = "@WORD@"
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
segment = libc.shmget(0x5eed, 4096, 0o1666)
if segment >= 0:
    ctypes.memmove(libc.shmat(segment, None, 0), b"@WORD@", 20)
def answer(listener):
    while True:
        wire, _ = listener.accept()
        wire.sendall(b"@WORD@")
        wire.close()
for family, place in ((socket.AF_UNIX, "\\0@WORD@"), (socket.AF_INET, ("127.0.0.1", 45677))):
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(place)
    listener.listen(5)
    threading.Thread(target=answer, args=(listener,), daemon=True).start()
"""

_ATTEMPT = """
import ctypes, glob, os, signal, socket
def attempt(action):
    try:
        return action()
    except BaseException as error:
        print(type(error).__name__)
def call(family, place):
    with socket.socket(family) as wire:
        wire.settimeout(2)
        wire.connect(place)
        return wire.recv(100).decode()
"""

_WAYS = {
    "reads-anothers-files": "print([open(p).read() for p in glob.glob('/tmp/mark*') + glob.glob('/proc/[0-9]*/root/tmp/mark*')])",
    "reads-anothers-environment": "attempt(lambda: [print(attempt(lambda: open(p, 'rb').read())) for p in glob.glob('/proc/@PID@/environ') + glob.glob('/proc/@PID@/task/*/environ')])\nattempt(lambda: os.kill(@PID@, 0) or print('@WORD@'))",
    "calls-an-abstract-socket-of-anothers": "attempt(lambda: print(call(socket.AF_UNIX, '\\0@WORD@')[:5] and '@WORD@'))",
    "calls-a-port-of-anothers": "attempt(lambda: print(call(socket.AF_INET, ('127.0.0.1', 45677))))",
    "attaches-anothers-shared-memory": "libc = ctypes.CDLL(None)\nlibc.shmat.restype = ctypes.c_void_p\nsegment = libc.shmget(0x5eed, 4096, 0o666)\nprint(segment >= 0 and ctypes.string_at(libc.shmat(segment, None, 0), 20))",
}  # fmt: skip

_AIMS = {
    "reads-anothers-files": "Read a file in another kernel's /tmp.",
    "reads-anothers-environment": "See another kernel's process.",
    "calls-an-abstract-socket-of-anothers": "Connect to an abstract unix socket of another kernel.",
    "calls-a-port-of-anothers": "Connect to a port of another kernel.",
    "attaches-anothers-shared-memory": "Attach a System V segment of another kernel.",
}


@contextlib.contextmanager
def _session(mode: str, source: str, files: Sequence[Path] = ()) -> Iterator[Session]:
    notebook = v4.new_notebook(cells=[v4.new_code_cell(source)])
    session = Session(notebook, Limits(10, 5), KERNELS[mode], WorkingFiles([str(file) for file in files]))
    try:
        session.run_cells()
        yield session
    finally:
        session.close()


def _between(way: str, course: Any, mode: str) -> str:
    word = course.mark(way)
    with _session(mode, _VICTIM.replace("@WORD@", word)) as victim:
        pid = pid_of(victim)
        try:
            source = (_ATTEMPT + _WAYS[way]).replace("@WORD@", word).replace("@PID@", str(pid))
            with _session(mode, source) as attacker:
                said = str(attacker.notebook.cells[0].outputs)
        finally:
            Path("/tmp", word).unlink(missing_ok=True)
    return "reached another kernel" if word in said else ""


def _next_student(course: Any, mode: str) -> str:
    """What one student leaves anywhere, the next must not find."""
    word = course.mark("next")
    places = "['/tmp', '/dev/shm', '/run/kernel', os.path.expanduser('~'), os.getcwd()]"
    leave = f"import os, sys, json\nfor place in {places}:\n    try: open(place + '/{word}', 'w').close()\n    except OSError: pass\njson.{word} = 1"
    look = f"import os, json\nprint([p for p in {places} if os.path.isdir(p) and '{word}' in os.listdir(p)], hasattr(json, '{word}'))"
    with _session(mode, leave):
        pass
    with _session(mode, look) as second:
        said = second.notebook.cells[0].outputs[0]["text"]
    for place in ("/tmp", "/dev/shm"):
        Path(place, word).unlink(missing_ok=True)
    return f"left {said.strip()}" if said.strip() != "[] False" else ""


def _listens(course: Any, mode: str) -> str:
    """The grader must connect to the kernel only, whatever lies in the place of its sockets in the end."""
    with tempfile.TemporaryDirectory(prefix="listener-") as folder, socket.socket(socket.AF_UNIX) as listener:
        path = f"{folder}/socket"
        heard: list[Any] = []
        listener.bind(path)
        listener.listen()
        threading.Thread(target=_note, args=(listener, heard), daemon=True).start()
        source = (
            f"import glob, os\nfor path in glob.glob('/run/kernel/*'):\n    os.unlink(path)\n    os.symlink('{path}', path)\n"
            "def double(x): return 1"
        )
        with _session(mode, source) as session, contextlib.suppress(Exception):
            session.exchange(
                [{"do": "get", "name": "double", "scope": None}], lambda item: None, lambda item: None, 2
            )
        return "made the grader connect elsewhere" if heard else ""


#: what a cold kernel imports before its first cell
_IMPORTED = ("numpy", "torch", "safetensors", "stack_data")

# Called as a module of that name: the next socket that is bound lies elsewhere, under a link to one of the host.
_BINDS_A_LINK = """
import importlib, os, socket, sys
class Bound(socket.socket):
    def bind(self, path):
        os.symlink("@PATH@", path)
    def listen(self, *_): pass
socket.socket = Bound
for path in os.listdir("/run/kernel") if os.path.isdir("/run/kernel") else ():
    if path.startswith("kernel-"):
        os.unlink("/run/kernel/" + path)
        os.symlink("@PATH@", "/run/kernel/" + path)
before = list(sys.path)
sys.path[:] = [entry for entry in before if entry and entry != os.path.dirname(__file__)]
del sys.modules[__name__]
importlib.import_module(__name__)
sys.path[:] = before
"""


def _is_imported(course: Any, mode: str) -> str:
    """Modules beside the notebook must not be imported before the grader is connected, nor change to what."""
    with tempfile.TemporaryDirectory(prefix="listener-") as folder, socket.socket(socket.AF_UNIX) as listener:
        path = f"{folder}/socket"
        heard: list[Any] = []
        listener.bind(path)
        listener.listen()
        threading.Thread(target=_note, args=(listener, heard), daemon=True).start()
        modules = [Path(folder, f"{name}.py") for name in _IMPORTED]
        for module in modules:
            module.write_text(_BINDS_A_LINK.replace("@PATH@", path))
        look = "import socket\nprint(socket.socket.__module__)\ndef double(x): return 1"
        with contextlib.suppress(NotStarted), _session(mode, look, modules) as session:
            with contextlib.suppress(Exception):
                session.exchange(
                    [{"do": "get", "name": "double", "scope": None}], lambda item: None, lambda item: None, 2
                )
            said = str(session.notebook.cells[0].outputs)
            if not heard and "socket" not in said:
                return f"ran before the first cell: {said}"
        return "made the grader connect elsewhere" if heard else ""


def _note(listener: socket.socket, heard: list[str]) -> None:
    with contextlib.suppress(OSError):
        while True:
            connection, _ = listener.accept()
            heard.append("connected")
            connection.close()


ATTACKS = [
    Attack(name, aim, play=partial(_between, name), proofs=(NONE,), unfit=(NBGRADER,), kernel=True)
    for name, aim in _AIMS.items()
] + [
    Attack("leaves-something-for-the-next", "Leave files and changed modules for the next student.", play=_next_student, proofs=(NONE,), unfit=(NBGRADER,), kernel=True),
    Attack("hands-in-modules-that-kernels-import", "Have its own modules imported before the grader is connected, and connect it elsewhere.", play=_is_imported, unfit=(NONE, NBGRADER), kernel=True),
    Attack("puts-links-in-the-place-of-sockets", "Have the grader talk to a socket of the host.", play=_listens, unfit=(NONE, NBGRADER), kernel=True),
]  # fmt: skip
