"""Attacks on the machine: more processes, memory, disk, output or time than a submission may have.

Each has a bound of its own, so that it does no harm even where nothing stops it.
"""

from typing import Any

from .attack import (
    WRONG,
    Attack,
    Witness,
    any_of,
    goes_ungraded,
    takes,
)

_START = """
import ctypes, mmap, os, signal, sys, threading, time
def attempt(action):
    try:
        return action()
    except BaseException as error:
        print(type(error).__name__, error)
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
MIB = 1 << 20
"""

_FORKS = """
for _ in range(2000):
    try:
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)
    except OSError as error:
        print(error)
        break
time.sleep(0.5)
"""

_THREADS = """
def wait():
    while True: time.sleep(1)
for _ in range(2000):
    try:
        threading.Thread(target=wait, daemon=False).start()
    except RuntimeError as error:
        print(error)
        break
time.sleep(0.5)
"""

_BYTES = """
kept = []
for _ in range(64):
    kept.append(bytearray(os.urandom(1) * (64 * MIB)))
    time.sleep(0.02)
time.sleep(1)
"""

_MMAP = """
kept = []
for _ in range(64):
    area = mmap.mmap(-1, 64 * MIB)
    area.write(b"x" * (64 * MIB))
    kept.append(area)
    time.sleep(0.02)
time.sleep(1)
"""

_ONE_BIG = """
attempt(lambda: bytearray(16 << 30))
kept = [attempt(lambda: bytearray(1 << 30)) for _ in range(4)]
time.sleep(1)
"""

_MANY_PROCESSES = """
for _ in range(40):
    if os.fork() == 0:
        os.setsid()
        kept = bytearray(b"x" * (100 * MIB))
        time.sleep(20)
        os._exit(0)
time.sleep(2)
"""

_ORPHANS = """
for _ in range(40):
    if os.fork() == 0:
        if os.fork() == 0:
            os.setsid()
            kept = bytearray(b"x" * (100 * MIB))
            time.sleep(20)
        os._exit(0)
    os.wait()
time.sleep(3)
"""

# Memory that belongs to no process: a file without a folder, written and not mapped.
_MEMFD = """
kept = []
for number in range(16):
    def fill():
        file = os.memfd_create(f"m{number}")
        kept.append(file)
        for _ in range(250):
            os.write(file, b"x" * MIB)
    attempt(fill)
time.sleep(1)
"""

_SYSTEM_V = """
for number in range(16):
    segment = libc.shmget(0, ctypes.c_size_t(250 * MIB), 0o1600)
    if segment < 0:
        print("no segment", ctypes.get_errno())
        break
    place = libc.shmat(segment, None, 0)
    if place not in (None, ctypes.c_void_p(-1).value):
        ctypes.memset(place, 1, 250 * MIB)
        libc.shmdt(ctypes.c_void_p(place))
time.sleep(1)
"""

_PIPES = """
import fcntl, socket
kept = []
def child():
    ends = []
    try:
        while True:
            a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
            ends += [a, b]
            for end in (a, b):
                end.setblocking(False)
                if LARGER: end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8 * MIB)
                try:
                    while True: end.send(b"x" * 65536)
                except BlockingIOError: pass
    except OSError as error:
        pass
    time.sleep(20)
for _ in range(16):
    if os.fork() == 0:
        child()
        os._exit(0)
time.sleep(3)
"""

_DISK = """
def fill(folder):
    for number in range(4):
        with open(f"{folder}/f{number}", "wb", 0) as file:
            for _ in range(512):
                file.write(b"x" * MIB)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for folder in ("FOLDER",):
    attempt(lambda: fill(os.path.expanduser(folder)))
print(sum(os.path.getsize(os.path.join(os.path.expanduser("FOLDER"), f"f{n}")) for n in range(4)
          if os.path.exists(os.path.join(os.path.expanduser("FOLDER"), f"f{n}"))) // MIB, "MiB")
time.sleep(0.5)
"""

_INODES = """
def fill():
    for number in range(400_000):
        os.mkdir(f"/tmp/d{number}")
attempt(fill)
"""


def exhaust(name: str, aim: str, source: str, witness: Witness, **more: Any) -> Attack:
    more = {"harmful": True, "slow": True} | more
    return Attack(name, aim, any_of(witness, goes_ungraded), _START + WRONG + source, **more)


#: wall time, so with room for a busy machine; a class of which nothing is heard for five minutes is ended
SECONDS = takes(seconds=240)
#: the limits of the kernel's memory and files together, the server's and the grader's own growth, and some room
_MEMORY = takes(memory=2300)


ATTACKS = [
    exhaust("forks-2000-times", "A fork bomb.", _FORKS, takes(processes=150), kernel=True),
    exhaust("starts-2000-threads", "As many threads.", _THREADS, SECONDS),
    exhaust("fills-memory-with-bytes", "4 GB in the kernel's process.", _BYTES, _MEMORY, kernel=True),
    exhaust("fills-memory-with-maps", "4 GB in shared mappings.", _MMAP, _MEMORY),
    exhaust("asks-for-much-at-once", "16 GB in one allocation, then 4 times 1 GB.", _ONE_BIG, _MEMORY),
    exhaust("fills-memory-in-many-processes", "4 GB in 40 processes.", _MANY_PROCESSES, _MEMORY, kernel=True),
    exhaust(
        "fills-memory-in-orphans",
        "4 GB in 40 processes that left the kernel's family.",
        _ORPHANS,
        _MEMORY,
        kernel=True,
        slow=False,
    ),
    exhaust(
        "fills-memory-with-files-of-no-folder",
        "4 GB in memfd files, which belong to no process.",
        _MEMFD,
        _MEMORY,
        kernel=True,
    ),
    exhaust(
        "fills-memory-with-system-v-segments",
        "4 GB in shared segments that nobody has attached.",
        _SYSTEM_V,
        _MEMORY,
        kernel=True,
    ),
    exhaust(
        "fills-memory-with-socket-buffers",
        "Gigabytes in the buffers of socket pairs.",
        _PIPES.replace("LARGER", "False"),
        _MEMORY,
        kernel=True,
    ),
    exhaust(
        "fills-memory-with-larger-socket-buffers",
        "More gigabytes, since the buffers are made as large as the system allows.",
        _PIPES.replace("LARGER", "True"),
        _MEMORY,
        kernel=True,
    ),
    *(
        exhaust(f"fills-{name}", f"2 GB of files in {folder}.", _DISK.replace("FOLDER", folder), _MEMORY)
        for name, folder in (
            ("its-home", "~"),
            ("tmp", "/tmp"),
            ("shared-memory", "/dev/shm"),
            ("the-folder-of-its-sockets", "/run/kernel"),
        )
    ),
    exhaust("makes-400000-folders", "Use up the inodes.", _INODES, _MEMORY),
]
