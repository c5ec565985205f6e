"""The list of system calls: a kernel makes each call of a table, and the answers are compared."""

import json
import platform
from pathlib import Path

import pytest

from sandbox_kernel import COLD, SANDBOX
from sandbox_kernel.inside import calls

EPERM, ENOSYS, ENOTTY = "EPERM", "ENOSYS", "ENOTTY"
OK = "ok"
PASSES = "passes the filter, and may fail later"

# (call, its arguments, its answer). Closed files and null pointers make calls that pass the filter fail in another way.
ALLOWED = [
    *(("socket", (family, 1, 0), OK) for family in (1, 2)),
    ("socket", (10, 1, 0), PASSES),
    ("socket", (16, 3, 0), OK),  # netlink, about routes
    ("socket", (1 | 5 << 32, 1, 0), OK),  # the upper half of an int argument is ignored
    *((name, (), OK) for name in ("getpid", "gettid", "sched_yield", "getuid", "fork_and_wait")),
    *(("eventfd2", (0, 0), OK), ("timerfd_create", (1, 0), OK), ("epoll_create1", (0,), OK)),
    *(("signalfd4", (-1, "sigset", 8, 0), OK), ("pidfd_open", ("pid", 0), OK)),
    *(("fcntl", ("pipe", 1032, 0), OK), ("getrandom", ("buffer", 8, 0), OK)),  # F_GETPIPE_SZ
    *(("ioctl", ("pipe", 0x541B, "buffer"), OK), ("ioctl", ("pipe", 0x5401, "buffer"), ENOTTY)),
    *(("madvise", (0, 0, 4), OK), ("membarrier", (0, 0, 0), PASSES), ("prctl", (3, 0, 0, 0, 0), OK)),
    *(
        ("openat", (-100, 0, 0, 0), "EFAULT"),
        ("close", (9999,), "EBADF"),
        ("futex", (0, 1, 0, 0, 0, 0), "EFAULT"),
    ),
    *(("setsockopt", (9999, 1, 2, "buffer", 4), "EBADF"), ("setsockopt", (9999, 6, 7, "buffer", 4), "EBADF")),
    ("setsockopt", (9999, 1, 13, "buffer", 8), OK),  # SO_LINGER: nothing is done
    *(("flock", (9999, 1), "EBADF"), ("copy_file_range", (9999, 0, 9999, 0, 1, 0), "EBADF")),
]
REFUSED = [
    # socket families that a network namespace does not cover, or that are not needed
    *(("socket", (family, kind, 0), EPERM) for family, kind in (
        (40, 1), (17, 3), (38, 5), (31, 3), (29, 3), (21, 5), (30, 1), (41, 5), (44, 3), (9, 5), (0, 1), (45, 1))),
    *(("socket", (16, 3, protocol), EPERM) for protocol in (4, 9, 15, 16)),
    *(("socketpair", (family, 1, 0, "buffer"), EPERM) for family in (2, 30, 40)),
    # quotas of the user or of the machine
    *(("io_setup", (1, "buffer"), EPERM), ("inotify_init1", (0,), EPERM), ("inotify_add_watch", (0, 0, 0), EPERM)),
    *(("fanotify_init", (0, 0), EPERM), ("add_key", (0, 0, 0, 0, 0), EPERM), ("keyctl", (0, -3, 1), EPERM)),
    *(("request_key", (0, 0, 0, 0), EPERM), ("mq_open", (0, 0o102, 0, 0), EPERM), ("quotactl", (0, 0, 0, 0), EPERM)),
    *(("shmget", (0, 4096, 0o1600), EPERM), ("msgget", (0, 0o1600), EPERM), ("semget", (0, 1, 0o1600), EPERM)),
    *(("fcntl", ("pipe", 1031, 1 << 20), EPERM), ("fcntl", ("pipe", 1024, 0), EPERM), ("fcntl", ("pipe", 1026, 0), EPERM)),
    # memory outside of any process
    *(("setsockopt", (9999, 1, option, "buffer", 4), EPERM) for option in (7, 8, 32, 33)),
    *(("memfd_create", (0, 0), EPERM), ("memfd_secret", (0,), EPERM), ("vmsplice", (0, 0, 0, 0), EPERM)),
    *(("splice", (0, 0, 0, 0, 0, 0), EPERM), ("tee", (0, 0, 0, 0), EPERM), ("userfaultfd", (0,), EPERM)),
    # other processes
    *(("ptrace", (0, 0, 0, 0), EPERM), ("process_vm_readv", (0,) * 6, EPERM), ("process_vm_writev", (0,) * 6, EPERM)),
    *(("pidfd_getfd", (0, 0, 0), EPERM), ("process_madvise", (0,) * 5, EPERM), ("kcmp", (0,) * 5, EPERM)),
    # namespaces and mounts
    *(("unshare", (flag,), EPERM) for flag in (0, 0x10000000, 0x20000, 0x40000000, 0x80)),
    *(("clone", (flag | 17, 0, 0, 0, 0), EPERM) for flag in (0x10000000, 0x20000, 0x2000000, 0x40000000)),
    ("clone3", (0, 0), ENOSYS),
    *((name, (0,) * 5, EPERM) for name in (
        *("setns", "mount", "umount2", "pivot_root", "chroot", "fsopen", "fsmount", "fsconfig", "fspick", "open_tree"),
        *("move_mount", "mount_setattr", "name_to_handle_at", "open_by_handle_at"))),
    # the machine
    *((name, (0,) * 5, EPERM) for name in (
        *("io_uring_setup", "io_uring_enter", "io_uring_register", "bpf", "perf_event_open", "personality", "acct"),
        *("swapon", "swapoff", "reboot", "kexec_load", "kexec_file_load", "init_module", "finit_module", "syslog"),
        *("delete_module", "settimeofday", "clock_settime", "adjtimex", "sethostname", "setdomainname", "sync", "syncfs"),
        *("seccomp", "lookup_dcookie", "vhangup", "landlock_create_ruleset", "move_pages", "migrate_pages"))),
    ("ioctl", ("pipe", 0x5412, "buffer"), EPERM),  # TIOCSTI
    ("ioctl", ("pipe", 0x541C, "buffer"), EPERM),  # TIOCLINUX
    ("9999", (), ENOSYS),  # newer than the list
]  # fmt: skip
#: on x86_64, those that are not on the list
REFUSED_NUMBERS = {
    "acct": 163, "add_key": 248, "adjtimex": 159, "bpf": 321, "chroot": 161, "clock_settime": 227,
    "delete_module": 176, "fanotify_init": 300, "finit_module": 313, "fsconfig": 431, "fsmount": 432,
    "fsopen": 430, "fspick": 433, "init_module": 175, "inotify_add_watch": 254, "inotify_init1": 294,
    "io_setup": 206, "io_uring_enter": 426, "io_uring_register": 427, "io_uring_setup": 425,
    "kcmp": 312, "kexec_file_load": 320, "kexec_load": 246, "keyctl": 250,
    "landlock_create_ruleset": 444, "lookup_dcookie": 212, "memfd_create": 319, "memfd_secret": 447,
    "migrate_pages": 256, "mount": 165, "mount_setattr": 442, "move_mount": 429, "move_pages": 279,
    "mq_open": 240, "msgget": 68, "name_to_handle_at": 303, "open_by_handle_at": 304, "open_tree": 428,
    "perf_event_open": 298, "personality": 135, "pidfd_getfd": 438, "pivot_root": 155,
    "process_madvise": 440, "process_vm_readv": 310, "process_vm_writev": 311, "ptrace": 101,
    "quotactl": 179, "reboot": 169, "request_key": 249, "seccomp": 317, "semget": 64,
    "setdomainname": 171, "sethostname": 170, "setns": 308, "settimeofday": 164, "shmget": 29,
    "splice": 275, "swapoff": 168, "swapon": 167, "sync": 162, "syncfs": 306, "syslog": 103, "tee": 276,
    "umount2": 166, "unshare": 272, "userfaultfd": 323, "vhangup": 153, "vmsplice": 278,
}  # fmt: skip
#: 39 is getpid, as a call of x32; the other is `mov eax, 20; int 0x80; ret`, getpid of i386
OTHER_TABLES = [(str(0x40000000 + 39), (), EPERM), ("machine code", "b814000000cd80c3", EPERM)]

PROBE = """
import ctypes, errno, json, mmap, os, select
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
numbers, buffer, pipe = {numbers}, ctypes.create_string_buffer(4096), os.pipe()
known = {{"buffer": ctypes.addressof(buffer), "sigset": ctypes.addressof(buffer), "pid": os.getpid(), "pipe": pipe[0]}}
def ask(name, arguments):
    if name == "fork_and_wait":
        child = os.fork()
        if child == 0: os._exit(0)
        return os.waitpid(child, 0)[1]
    if name == "machine code":
        area = mmap.mmap(-1, 4096, prot=7)
        area.write(bytes.fromhex(arguments))
        child = os.fork()
        if child == 0:
            os._exit(-ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(area)))() & 0xFF)
        status = os.waitpid(child, 0)[1]
        return -os.WEXITSTATUS(status) if os.WIFEXITED(status) else -errno.EPERM  # a system without i386 ends it
    values = [ctypes.c_long(known.get(value, value)) for value in arguments]
    ctypes.set_errno(0)
    found = libc.syscall(ctypes.c_long(numbers.get(name) or int(name)), *values)
    return -ctypes.get_errno() if found == -1 else found
answers = []
for name, arguments in {table}:
    found = ask(name, arguments)
    answers.append("ok" if found >= 0 else errno.errorcode[-found])
print(json.dumps(answers))
"""

pytestmark = pytest.mark.skipif(not calls.known(platform.machine()), reason="no list for this machine")


def all_numbers() -> dict[str, int]:
    """The numbers of the calls in the table; refused ones are known for x86_64 only."""
    return calls.numbers(platform.machine()) | (REFUSED_NUMBERS if platform.machine() == "x86_64" else {})


@pytest.mark.parametrize("kernel", [SANDBOX, COLD])
def test_each_call_gets_its_answer(kernel, shared):
    numbers = all_numbers()
    table = [
        row for row in ALLOWED + REFUSED if row[0] in numbers or not row[0].isidentifier() or "fork" in row[0]
    ]
    if platform.machine() == "x86_64":
        table += OTHER_TABLES
    source = PROBE.format(numbers=numbers, table=[row[:2] for row in table])
    answers = json.loads(shared(kernel).run(source))
    wrong = [(row, answer) for row, answer in zip(table, answers, strict=True) if not _fits(row[2], answer)]
    assert wrong == []
    assert len(table) > 40


_LINGERS = """
import array, os, socket, struct
server = socket.create_server(("127.0.0.1", 0))
full = socket.create_connection(server.getsockname())
kept, _ = server.accept()
full.setblocking(False)
try:
    while True: full.send(bytes(65536))
except BlockingIOError: pass
full.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 3))
print(struct.unpack("ii", full.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8)))
ours, theirs = socket.socketpair()
socket.send_fds(theirs, [b"x"], [full.fileno()])
full.close()
import time
start = time.monotonic()
ours.recv(1)  # closes what was passed
print(time.monotonic() - start < 1)
"""


@pytest.mark.parametrize("kernel", [SANDBOX, COLD])
def test_nobody_waits_for_a_socket_that_was_passed_on(kernel, shared):
    assert shared(kernel).run(_LINGERS).splitlines() == ["(0, 0)", "True"]


def _fits(expected: str, answer: str) -> bool:
    return answer not in (EPERM, ENOSYS) if expected == PASSES else answer == expected


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_every_step_of_the_filter_leads_to_another_and_the_last_one_refuses(machine):
    steps = calls.program(machine)
    assert len(steps) < 4096  # what the system takes
    assert all(place + 1 + max(yes, no) < len(steps) for place, (_, yes, no, _) in enumerate(steps[:-1]))
    assert steps[-1] == (0x06, 0, 0, 0x00050001)


def test_no_refused_call_is_on_the_list():
    looked_at = {"socket", "socketpair", "clone", "clone3", "fcntl", "ioctl", "setsockopt"}
    refused = {name for name, *_ in REFUSED} - looked_at
    for machine in ("x86_64", "aarch64"):
        assert refused & set(calls.numbers(machine)) == set()


def test_a_machine_without_a_list_refuses_nothing_and_goes_on(monkeypatch):
    monkeypatch.setattr("os.uname", lambda: type("Name", (), {"machine": "riscv64"}))
    before = _filters()
    calls.refuse_calls()
    assert _filters() == before


def _filters() -> list[str]:
    """What the system reports about filters of this process, which may run in a container that has one."""
    return [line for line in Path("/proc/self/status").read_text().splitlines() if "Seccomp" in line]


_WORKS = """
import multiprocessing, os, pty, socket, sqlite3, subprocess, tempfile, threading
import matplotlib.pyplot as plt, numpy, torch, zmq
def double(x): return 2 * x
with multiprocessing.get_context("fork").Pool(2) as pool: print(pool.map(double, [1, 2]))
print(subprocess.run(["echo", "a program"], capture_output=True, text=True).stdout.strip())
loader = torch.utils.data.DataLoader(torch.arange(4.0), batch_size=2, num_workers=2)
print(sum(batch.sum().item() for batch in loader))
threads = [threading.Thread(target=print, args=("a thread",)) for _ in range(2)]
[thread.start() or thread.join() for thread in threads]
with sqlite3.connect("it.db") as book: print(book.execute("select 1").fetchall())
server = zmq.Context.instance().socket(zmq.REP); server.bind("ipc://here")
client = zmq.Context.instance().socket(zmq.REQ); client.connect("ipc://here"); client.send(b"over zmq")
print(server.recv().decode())
plt.plot([1, 2]); plt.savefig("figure.png"); print(os.path.getsize("figure.png") > 1000)
torch.save(torch.ones(2), "it.pt"); print(torch.load("it.pt"), torch.ones(2).share_memory_().is_shared())
first, second = pty.openpty(); print(os.ttyname(second))
"""


def test_what_notebooks_use_still_works(start_kernel):
    assert start_kernel(SANDBOX).run(_WORKS).splitlines() == [
        *("[2, 4]", "a program", "6.0", "a thread", "a thread", "[(1,)]", "over zmq", "True"),
        *("tensor([1., 1.]) True", "/dev/pts/0"),
    ]
