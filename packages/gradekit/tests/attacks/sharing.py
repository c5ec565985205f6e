"""Attacks on what kernels share by being of one user, or on one machine: the system's quotas.

A kernel takes as much of one quota as it gets and holds it. Then the test looks from outside at the quota's count or
at the kernel's open files, or another student's kernel is started beside it and has to do an honest thing.
"""

import contextlib
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from nbformat import v4

from gradekit.session.limits import Limits
from gradekit.session.session import Session
from sandbox_kernel import users

from .attack import NBGRADER, NONE, Attack
from .course import KERNELS

_TOOLS = """
import array, ctypes, os, select, signal, socket, struct, threading, time
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(number, *values):
    return libc.syscall(ctypes.c_long(number), *(v if isinstance(v, bytes) else ctypes.c_long(v) for v in values))
def until_refused(action, count):
    kept = []
    try:
        for _ in range(count): kept.append(action())
    except OSError: pass
    return kept
def in_children(action, count):
    for _ in range(count):
        try:
            if os.fork() == 0:
                try:
                    libc.prctl(1, 9)  # it ends with its parent
                    kept = action()
                    ready[1].send(b"x")
                    time.sleep(60)
                finally:
                    os._exit(0)
        except OSError: break
        ready[0].recv(1)
ready = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
ready[0].settimeout(5)
"""

_SEND = """
def send(kind, nested=False):
    kept = []
    for _ in range(100):
        kept.append(socket.socketpair(socket.AF_UNIX, kind))
        for end in kept[-1]: end.setblocking(False)
        try:
            if nested and len(kept) > 1:  # each holds the one before, which holds others that are under way
                socket.send_fds(kept[-1][0], [b"x"], [end.fileno() for end in kept[-2]] * 100)
            socket.send_fds(kept[-1][0], [b"x"], [kept[-1][0].fileno()] * 200)
        except OSError: break
    return kept
"""

_SIGNALS = """
signal.pthread_sigmask(signal.SIG_BLOCK, range(34, 65))
def queue():
    info = struct.pack("iii4xii", 40, 0, -1, os.getpid(), os.getuid()).ljust(128, b"\\0")
    for _ in range(20_000):
        if call(297, os.getpid(), threading.get_native_id(), 40, info) != 0: break
"""

_CLONES = """
def sleep():
    libc.prctl(1, 9)
    time.sleep(60)
    os._exit(0)
"""

#: on x86_64; the calls of other machines have other numbers, and then these do nothing
_HOLD = {
    "descriptors-by-stream": _SEND + "kept = send(socket.SOCK_STREAM)",
    "descriptors-by-datagram": _SEND + "kept = send(socket.SOCK_DGRAM)",
    "descriptors-by-nesting": _SEND + "kept = send(socket.SOCK_SEQPACKET, nested=True)",
    "descriptors-by-processes": _SEND + "in_children(lambda: send(socket.SOCK_STREAM), 20)",
    "inotify": "kept = [call(294, 0) for _ in range(100)]",
    "fanotify": "kept = [call(300, 0x200, 0) for _ in range(20)]",
    "one-aio-context": "place = ctypes.create_string_buffer(8)\ncall(206, 5000, ctypes.addressof(place))",
    "many-aio-contexts": "places = [ctypes.create_string_buffer(8) for _ in range(200)]\nfor p in places: call(206, 50, ctypes.addressof(p))",
    "keys": "for n in range(60): call(248, b'user', b'key%d' % n, b'x' * 100, 100, -2)",
    "large-pipes": "import fcntl\ndef pipe():\n    ends = os.pipe()\n    with __import__('contextlib').suppress(OSError): fcntl.fcntl(ends[1], 1031, 1 << 20)\n    return ends\nkept = until_refused(pipe, 120)",
    "many-pipes": "in_children(lambda: until_refused(os.pipe, 100), 16)",
    "signals": _SIGNALS + "queue()",
    "timers": "for n in range(20_000):\n    if call(222, 0, 0, ctypes.addressof(ctypes.create_string_buffer(8))) != 0: break",
    "locks": "import fcntl\nfiles = [open(f'lock{n}', 'w') for n in range(50)]\nfor k in range(400):\n    for f in files: fcntl.lockf(f, fcntl.LOCK_EX, 1, 2 * (400 - k))",
    "processes": "import subprocess\nkept = until_refused(lambda: subprocess.Popen(['sleep', '60']), 300)",
    "terminals": "import pty\nkept = until_refused(pty.openpty, 100)",
    "terminals-by-processes": "import pty\nin_children(lambda: until_refused(pty.openpty, 50), 10)",
    "io-uring": "place = ctypes.create_string_buffer(120)\nkept = [call(425, 8, ctypes.addressof(place)) for _ in range(4)]",
    "vsock": "kept = until_refused(lambda: socket.socket(40, socket.SOCK_STREAM), 4)",
    "packet": "kept = until_refused(lambda: socket.socket(17, socket.SOCK_RAW), 4)",
    "alg": "kept = until_refused(lambda: socket.socket(38, socket.SOCK_SEQPACKET), 4)",
    "bluetooth": "kept = until_refused(lambda: socket.socket(31, socket.SOCK_RAW), 4)",
    "can": "kept = until_refused(lambda: socket.socket(29, socket.SOCK_RAW, 1), 4)",
    "clone": _CLONES + "if call(56, 0x10000000 | 17, 0, 0, 0, 0) == 0: sleep()",
    "unshare": "def alone():\n    libc.unshare(0x10000000)\nin_children(alone, 1)",
}  # fmt: skip

_HONEST = """
import fcntl, os, pty, select, socket, subprocess, threading
a, b = socket.socketpair()
send = (lambda: socket.send_fds(a, [b"x"], [a.fileno()])) if @OWN_USER@ else (lambda: None)
send()
ends = os.pipe()
if @OWN_USER@: assert fcntl.fcntl(ends[1], 1032) == 65536, "a smaller pipe"
with open("it", "w") as file: fcntl.lockf(file, fcntl.LOCK_EX)
select.epoll().register(a, select.EPOLLIN)
pty.openpty()
threads = [threading.Thread(target=print) for _ in range(20)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert subprocess.run(["true"]).returncode == 0
print("all is well")
"""


@contextlib.contextmanager
def _session(mode: str, source: str) -> Iterator[Session]:
    session = Session(v4.new_notebook(cells=[v4.new_code_cell(source)]), Limits(20, 5), KERNELS[mode])
    try:
        session.run_cells()
        yield session
    finally:
        session.close()


def pid_of(session: Session) -> int:
    """The process of a session's kernel, seen from outside of its sandbox."""
    provisioner: Any = session._kernel and session._kernel.provisioner
    return getattr(getattr(provisioner, "process", None), "pid", None) or provisioner._started.pid


def _another_kernel_suffers(mode: str, pid: int) -> str:
    """An honest kernel beside the other: does it start, and do what notebooks do?"""
    own_user = mode != NONE and not users.user_ids_problem()
    try:
        with _session(mode, _HONEST.replace("@OWN_USER@", str(own_user))) as honest:
            said = str(honest.notebook.cells[0].outputs)
    except Exception as error:
        return f"no other kernel started: {error}"[:200]
    return "" if "all is well" in said else f"another kernel suffered: {said}"[:200]


def _opens(kind: str, mode: str, pid: int) -> str:
    """Files of this kind that the kernel has open."""
    found = [link for link in _open_files(pid) if kind in link]
    return f"holds {len(found)} of {found[0]}" if found else ""


def _odd_sockets(mode: str, pid: int) -> str:
    """Sockets that are in none of the tables of the families that it may use."""
    held = {match[1] for link in _open_files(pid) if (match := re.match(r"socket:\[(\d+)\]", link))}
    tables = [Path(f"/proc/{pid}/net/{name}") for name in ("unix", "tcp", "tcp6", "udp", "udp6", "netlink")]
    tables.append(Path("/proc/self/net/unix"))  # the ends of the grader's connections
    words = {word for table in tables if table.exists() for word in table.read_text().split()}
    return f"holds {len(held - words)} odd sockets" if held - words else ""


def _open_files(pid: int) -> list[str]:
    links = []
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            links.append(str(path.readlink()))
    return links


def _pending_signals(mode: str, pid: int) -> str:
    (line,) = (
        line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("SigQ")
    )
    count = int(line.split()[1].split("/")[0])
    return f"has {count} signals pending" if count > 1000 else ""


def _other_namespaces(mode: str, pid: int) -> str:
    """User namespaces of the kernel's children other than its own."""
    own, made = Path(f"/proc/{pid}/ns/user").readlink(), 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):  # a thread or a child has just ended
            for child in (task / "children").read_text().split():
                made += Path(f"/proc/{child}/ns/user").readlink() != own
    return f"made {made} user namespaces" if made else ""


def _aio_events() -> int:
    path = Path("/proc/sys/fs/aio-nr")
    return int(path.read_text()) if path.exists() else 0


def _terminals() -> int:
    return int(Path("/proc/sys/kernel/pty/nr").read_text())


def _keys() -> int:
    path = Path("/proc/key-users")
    rows = path.read_text().splitlines() if path.exists() else []
    return sum(int(row.split()[3].split("/")[0]) for row in rows)


def _play(name: str, looks: tuple[Any, ...], course: Any, mode: str) -> str:
    counts = [look for look in looks if isinstance(look, tuple)]
    before = [count() for count, _ in counts]
    with _session(mode, _TOOLS + _HOLD[name]) as attacker:
        if not attacker.alive:
            return ""  # it ended itself, and with it what it held
        for (count, allowed), earlier in zip(counts, before, strict=True):
            if count() > earlier + allowed:
                return f"{count.__name__.strip('_')}: {earlier} became {count()}"
        pid = pid_of(attacker)
        return next((got for look in looks if callable(look) and (got := look(mode, pid))), "")


def _share(name: str, hold: str, aim: str, *looks: Any, **more: Any) -> Attack:
    play = partial(_play, hold, looks)
    return Attack(name, aim, play=play, **dict[str, Any](unfit=(NBGRADER,), alone=True) | more)


_PROVEN = {"proofs": (NONE,)}
_OTHERS = _another_kernel_suffers

ATTACKS = [
    *(
        _share(f"holds-{hold}", hold, f"Hold {what} that are sent and never received.", _OTHERS, harmful=True, kernel=kernel)
        for hold, what, kernel in (
            ("descriptors-by-stream", "descriptors in stream sockets", True),
            ("descriptors-by-datagram", "descriptors in datagram sockets", False),
            ("descriptors-by-nesting", "sockets that hold sockets", False),
            ("descriptors-by-processes", "descriptors of 20 processes", False),
        )
    ),
    _share("takes-inotify-instances", "inotify", "Take most of the user's inotify instances.", partial(_opens, "inotify"), **_PROVEN,),
    _share("takes-fanotify-groups", "fanotify", "Take fanotify groups.", partial(_opens, "fanotify")),
    _share("takes-one-large-aio-context", "one-aio-context", "Take 5,000 of the machine's AIO events.", (_aio_events, 100), **_PROVEN),
    _share("takes-many-aio-contexts", "many-aio-contexts", "Take AIO events in 200 contexts.", (_aio_events, 100), **_PROVEN),
    _share("takes-keys", "keys", "Take keys of the user's quota.", (_keys, 30), **_PROVEN),
    _share("holds-large-pipes", "large-pipes", "Take the pages for pipes by 120 of a mebibyte.", _OTHERS, harmful=True),
    _share("holds-many-pipes", "many-pipes", "Take the pages for pipes by 1,600 pipes.", _OTHERS, harmful=True),
    _share("queues-signals", "signals", "Have 20,000 signals pending.", _pending_signals, _OTHERS, harmful=True,),
    _share("makes-timers", "timers", "Make 20,000 timers, each with a signal set aside.", _pending_signals, _OTHERS, harmful=True),
    _share("takes-20000-locks", "locks", "Lock 20,000 places in files.", _OTHERS, harmful=True),
    _share("forks-beside-another", "processes", "Keep another kernel from forking.", _OTHERS, harmful=True),
    _share("takes-terminals", "terminals", "Take 100 pseudo-terminals.", (_terminals, 40), _OTHERS, kernel=True, **_PROVEN),
    _share("takes-terminals-by-processes", "terminals-by-processes", "Take 500 in ten processes.", (_terminals, 40), harmful=True),
    _share("makes-io-urings", "io-uring", "Make rings of io_uring.", partial(_opens, "io_uring")),
    _share("opens-a-vsock", "vsock", "Open a socket to the host of a virtual machine.", _odd_sockets,),
    _share("opens-a-packet-socket", "packet", "Open a socket for raw packets.", _odd_sockets),
    _share("opens-a-crypto-socket", "alg", "Open a socket to the kernel's ciphers.", _odd_sockets),
    _share("opens-a-bluetooth-socket", "bluetooth", "Open a bluetooth socket.", _odd_sockets),
    _share("opens-a-can-socket", "can", "Open a socket to a vehicle's bus.", _odd_sockets),
    _share("clones-into-a-user-namespace", "clone", "Make a user namespace by clone.", _other_namespaces, harmful=True,),
    _share("unshares-a-user-namespace", "unshare", "Make a user namespace by unshare.", _other_namespaces, harmful=True),
]  # fmt: skip
